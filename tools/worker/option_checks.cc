#include "tools/worker/option_checks.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace superfluid {
namespace {

constexpr size_t kMostNameBytes = 128;

}  // namespace

CLI::Validator WholeNumber(int64_t least, int64_t most, const std::string& what) {
  const std::string range = absl::StrCat(least, " to ", most);
  const std::string kind = what.empty() ? "a whole number" : absl::StrCat("a number ", what);
  return {[least, most, kind, range](const std::string& text) -> std::string {
            int64_t number = 0;
            if (absl::SimpleAtoi(text, &number) && number >= least && number <= most) return {};
            return absl::StrCat("'", text, "' is not ", kind, " from ", range);
          },
          range};
}

CLI::Validator OneOf(const std::vector<std::string>& choices) {
  return {[choices](const std::string& text) -> std::string {
            if (std::find(choices.begin(), choices.end(), text) != choices.end()) return {};
            return absl::StrCat("'", text, "' is none of ", absl::StrJoin(choices, ", "));
          },
          absl::StrJoin(choices, "|")};
}

CLI::Validator AbsolutePath() {
  return {[](const std::string& text) -> std::string {
            if (!text.empty() && text.front() == '/') return {};
            return absl::StrCat("'", text, "' is not an absolute path");
          },
          ""};
}

CLI::Validator PlainName() {
  return {[](const std::string& text) -> std::string {
            const bool plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
              return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.';
            });
            if (plain && !text.empty() && text.size() <= kMostNameBytes) return {};
            return absl::StrCat("'", text, "' is not a plain name: letters, digits, -, _ and ., ",
                                kMostNameBytes, " at most");
          },
          ""};
}

}  // namespace superfluid
