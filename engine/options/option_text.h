#ifndef SUPERFLUID_ENGINE_OPTIONS_OPTION_TEXT_H_
#define SUPERFLUID_ENGINE_OPTIONS_OPTION_TEXT_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace superfluid {

// One option as people read it.
struct OptionRow {
  std::string name;
  std::string kind;     // "whole number", "number", "switch", "one of", "text", "milliseconds"
  std::string range;    // "1 to 64"; "f16, f32"; empty: any
  std::string initial;  // the value without it; empty: none
  std::string help;     // "transcriptions at once"
};

// What a value must be: "a whole number from 1 to 64".
std::string ValuesOf(const OptionRow& row);

// "engine option states=0: must be a whole number from 1 to 64"
absl::Status WrongValue(const OptionRow& row, absl::string_view value);

// Names the option that was probably meant, if there is one, and all that there are.
absl::Status UnknownOption(absl::string_view engine, absl::string_view name,
                           const std::vector<OptionRow>& rows);

// The name among `names` that is most like `name`; empty: none is.
std::string NearestName(absl::string_view name, const std::vector<std::string>& names);

// The name of the option by which an engine is asked what it takes: `--engine-option help`. An
// engine that is given it logs what it has to say, a line an option, and is not made.
inline constexpr char kHelpOption[] = "help";

bool AsksForHelp(const std::vector<std::pair<std::string, std::string>>& given);

// Says each line of the help to `say`. Returns the error that the engine's factory returns then:
// Cancelled.
absl::Status SayHelp(absl::string_view engine, const std::vector<OptionRow>& rows,
                     const std::function<void(absl::string_view line)>& say);

// The rows as a table in Markdown.
std::string MarkdownTable(const std::vector<OptionRow>& rows);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_OPTIONS_OPTION_TEXT_H_
