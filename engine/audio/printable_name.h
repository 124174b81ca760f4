#ifndef SUPERFLUID_ENGINE_AUDIO_PRINTABLE_NAME_H_
#define SUPERFLUID_ENGINE_AUDIO_PRINTABLE_NAME_H_

#include <string>
#include <string_view>

namespace superfluid {

// A name that a peer gave, in double quotes, fit for an error text: valid UTF-8 whatever the bytes
// were (control characters, and all of what is not UTF-8, become \xNN), and cut after about 200
// bytes. Threads: any.
std::string PrintableName(std::string_view name);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_AUDIO_PRINTABLE_NAME_H_
