#ifndef SUPERFLUID_TOOLS_CTL_PLAIN_TEXT_H_
#define SUPERFLUID_TOOLS_CTL_PLAIN_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

// Text that comes from elsewhere (a model, a worker, a file name) made safe for a terminal. Pure
// functions over UTF-8; bytes that are not UTF-8 pass as they are.
namespace superfluid::ctl {

// `text` on one line: runs of white space and control characters (escape sequences would drive the
// terminal) become one space; none at the ends.
std::string OneLine(std::string_view text);

// Columns that `text` takes, one a character: wide characters count as one.
size_t ColumnsOf(std::string_view text);

// The last `columns` characters of `text`, cut between characters.
std::string LastColumns(std::string_view text, size_t columns);

// The first `columns` characters of `text`, cut between characters.
std::string FirstColumns(std::string_view text, size_t columns);

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TOOLS_CTL_PLAIN_TEXT_H_
