#ifndef SUPERFLUID_TOOLS_CTL_FORMATS_PLAIN_TEXT_H_
#define SUPERFLUID_TOOLS_CTL_FORMATS_PLAIN_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

// Text that comes from elsewhere (a model, a worker, a file name) made safe for a terminal. Pure
// functions over UTF-8; bytes that are not UTF-8 pass as they are.
namespace superfluid::ctl {

// `text` on one line: runs of white space and control characters (escape sequences would drive the
// terminal) become one space; none at the ends.
std::string OneLine(std::string_view text);

// Returns the columns that `text` takes on a terminal: two for a wide character (CJK, most emoji),
// none for a combining one.
size_t ColumnsOf(std::string_view text);

// Returns the last characters of `text` that take at most `columns`. Combining characters stay with
// the one that they follow.
std::string LastColumns(std::string_view text, size_t columns);

// Returns the first characters of `text` that take at most `columns`.
std::string FirstColumns(std::string_view text, size_t columns);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_FORMATS_PLAIN_TEXT_H_
