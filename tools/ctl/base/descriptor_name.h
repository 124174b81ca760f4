#ifndef SUPERFLUID_TOOLS_CTL_BASE_DESCRIPTOR_NAME_H_
#define SUPERFLUID_TOOLS_CTL_BASE_DESCRIPTOR_NAME_H_

#include <sys/stat.h>

#include <optional>
#include <string_view>

namespace superfluid::ctl {

// Returns the descriptor of this process that `path` is a name for: /dev/stdin, /dev/stdout,
// /dev/stderr, /dev/fd/N and /proc/self/fd/N. nullopt for other paths. Looks at the text only, so
// that it works without /proc, and for sockets, which cannot be opened by such a name.
std::optional<int> DescriptorNamed(std::string_view path);

// Returns a descriptor of this process that is open for writing on `file`; nullopt if there is
// none.
std::optional<int> DescriptorWriting(const struct stat& file);

// Whether `fd` is open for writing.
bool IsWritable(int fd);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_BASE_DESCRIPTOR_NAME_H_
