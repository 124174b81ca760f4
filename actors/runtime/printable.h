#ifndef SUPERFLUID_ACTORS_RUNTIME_PRINTABLE_H_
#define SUPERFLUID_ACTORS_RUNTIME_PRINTABLE_H_

#include <string>
#include <string_view>

#include "absl/strings/string_view.h"

namespace superfluid {

// Returns the text for a quoted value of a log line, as readers of JSON strings and of logfmt take
// it: whatever a peer or a library wrote stays on one line and inside the quotes. Quotes,
// backslashes and control characters (C1, too) are escaped; other characters stay as they are, and
// bytes that are no UTF-8 become U+FFFD.
std::string Printable(std::string_view text);
inline std::string Printable(absl::string_view text) {
  return Printable(std::string_view(text.data(), text.size()));
}
inline std::string Printable(const std::string& text) { return Printable(std::string_view(text)); }

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_RUNTIME_PRINTABLE_H_
