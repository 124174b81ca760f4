#ifndef SUPERFLUID_ENGINE_ABI_TEXT_H_
#define SUPERFLUID_ENGINE_ABI_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/abi/superfluid_engine.h"

namespace superfluid {

// `text` with each byte that is not part of a well-formed UTF-8 character, and each NUL, replaced
// by U+FFFD. The result is at most three times as long. Threads: any.
std::string ValidUtf8(absl::string_view text);

// A copy of a plug-in's string, valid UTF-8. Errors: InvalidArgument (null data with a size, a size
// over `max_bytes`); nothing is read then.
absl::StatusOr<std::string> CopyText(sfl_string text, size_t max_bytes);

// A view as the C interface wants it. `text` must be NUL-terminated at its end and outlive it.
inline sfl_string AbiString(const std::string& text) { return {text.c_str(), text.size()}; }

// The text in a fixed array that should be, but may not be, NUL-terminated.
absl::string_view TextOfArray(const char* array, size_t capacity);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_ABI_TEXT_H_
