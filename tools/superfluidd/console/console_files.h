#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_CONSOLE_CONSOLE_FILES_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_CONSOLE_CONSOLE_FILES_H_

#include <string_view>

#include "absl/types/span.h"

namespace superfluid::daemon {

// A file of the console, as it was when the program was built.
struct ConsoleFile {
  std::string_view name;  // "main.js"
  std::string_view type;  // for Content-Type
  std::string_view etag;  // with its quotes
  std::string_view content;
};

// Returns all of them, by name. They live as long as the program.
absl::Span<const ConsoleFile> ConsoleFiles();

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_CONSOLE_CONSOLE_FILES_H_
