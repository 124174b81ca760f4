#ifndef SUPERFLUID_TOOLS_WORKER_JSON_LINE_H_
#define SUPERFLUID_TOOLS_WORKER_JSON_LINE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/types/span.h"

namespace superfluid {

// A line of the log, "time level event key=value ...", as one JSON object on one line:
// {"time":"...","level":"...","event":"...","key":value,...}.
//
// A bare value that is a whole number is a number, any other value a string (`worker` always: it is
// a name). A quoted one keeps its escapes, which are those of JSON. The object is JSON whatever the
// line is: what breaks its form is the member "text", to the end; bytes that are no UTF-8 become
// U+FFFD, bare control characters are escaped.

// Returns an upper bound of the JSON of a line.
constexpr size_t MostJsonBytes(size_t line_bytes) { return 6 * line_bytes + 64; }

// Writes the object of `line` (with or without its newline) and a newline into `out`; returns it.
// No heap, no lock, no locale: a signal handler may. REQUIRES: `out` has
// MostJsonBytes(line.size()).
std::string_view WriteJsonLine(std::string_view line, absl::Span<char> out);

// The same, as a text of its own.
std::string ToJsonLine(std::string_view line);

}  // namespace superfluid

#endif  // SUPERFLUID_TOOLS_WORKER_JSON_LINE_H_
