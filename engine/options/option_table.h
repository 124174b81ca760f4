#ifndef SUPERFLUID_ENGINE_OPTIONS_OPTION_TABLE_H_
#define SUPERFLUID_ENGINE_OPTIONS_OPTION_TABLE_H_

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/options/option_text.h"

namespace superfluid {

// What an engine takes of `--engine-option name=value`, a row an option, written down once: it is
// parsed, refused, explained (`--engine-option help`) and documented (README.md) from this.
// option_kinds.h makes rows. `Options`: a struct whose initial values are the defaults.

// One option of an engine whose options are an `Options`.
template <class Options>
struct Option {
  OptionRow row;
  // Errors: InvalidArgument; the text says what the value must be.
  std::function<absl::Status(absl::string_view value, Options& options)> set;
};

// All options of one engine. Constant; threads: any.
template <class Options>
class OptionTable {
 public:
  enum class Repeated { kRefused, kLastCounts };

  OptionTable(std::string engine, std::vector<Option<Options>> options,
              Repeated repeated = Repeated::kRefused)
      : engine_(std::move(engine)), options_(std::move(options)), repeated_(repeated) {}

  // Errors: InvalidArgument naming the option: unknown (the text suggests one and lists all), with
  // a wrong value, or given twice.
  absl::StatusOr<Options> Parse(
      const std::vector<std::pair<std::string, std::string>>& given) const {
    Options parsed;
    std::set<std::string> seen;
    for (const auto& [name, value] : given) {
      if (repeated_ == Repeated::kRefused && !seen.insert(name).second) {
        return absl::InvalidArgumentError(absl::StrCat("engine option ", name, " is given twice"));
      }
      if (absl::Status status = Set(name, value, parsed); !status.ok()) return status;
    }
    return parsed;
  }

  // Sets one option. Errors: as Parse.
  absl::Status Set(absl::string_view name, absl::string_view value, Options& options) const {
    for (const Option<Options>& option : options_) {
      if (option.row.name == name) return option.set(value, options);
    }
    return UnknownOption(engine_, name, Rows());
  }

  bool Has(absl::string_view name) const {
    for (const Option<Options>& option : options_) {
      if (option.row.name == name) return true;
    }
    return false;
  }

  const std::string& engine() const { return engine_; }
  std::vector<OptionRow> Rows() const {
    std::vector<OptionRow> rows;
    for (const Option<Options>& option : options_) rows.push_back(option.row);
    return rows;
  }

 private:
  const std::string engine_;
  const std::vector<Option<Options>> options_;
  const Repeated repeated_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_OPTIONS_OPTION_TABLE_H_
