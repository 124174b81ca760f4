#ifndef SUPERFLUID_ACTORS_PRINTABLE_H_
#define SUPERFLUID_ACTORS_PRINTABLE_H_

#include <string>
#include <string_view>

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"

namespace superfluid {

// Text for a quoted value of a log line: whatever a peer or a library wrote stays on one line and
// inside the quotes.
inline std::string Printable(absl::string_view text) { return absl::CHexEscape(text); }
inline std::string Printable(std::string_view text) {
  return absl::CHexEscape(absl::string_view(text.data(), text.size()));
}
inline std::string Printable(const std::string& text) { return absl::CHexEscape(text); }

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_PRINTABLE_H_
