#include "engine/options/option_text.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

constexpr size_t kSharedBeginning = 4;  // of two names that are alike for that

size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
}

size_t SharedBeginning(absl::string_view a, absl::string_view b) {
  const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<size_t>(in_a - a.begin());
}

// A cell of a table in Markdown.
std::string Cell(absl::string_view text) {
  std::string cell;
  for (const char c : text) absl::StrAppend(&cell, c == '|' ? "\\" : "", std::string(1, c));
  return cell;
}

}  // namespace

std::string ValuesOf(const OptionRow& row) {
  if (row.kind == "switch") return "true or false";
  if (row.kind == "text") return row.range.empty() ? "a text" : absl::StrCat("a text: ", row.range);
  if (row.kind == "one of") return absl::StrCat("one of ", row.range);
  return absl::StrCat(
      "a ", row.kind == "number" ? "" : "whole ", "number ",
      row.kind == "number" || row.kind == "whole number" ? "" : absl::StrCat("of ", row.kind, " "),
      "from ", row.range);
}

absl::Status WrongValue(const OptionRow& row, absl::string_view value) {
  return absl::InvalidArgumentError(
      absl::StrCat("engine option ", row.name, "=", value, ": must be ", ValuesOf(row)));
}

std::string NearestName(absl::string_view name, const std::vector<std::string>& names) {
  std::string nearest;
  size_t least = std::max<size_t>(name.size() / 3, 1) + 1;
  for (const std::string& other : names) {
    const size_t distance = EditDistance(name, other);
    if (distance >= least) continue;
    least = distance;
    nearest = other;
  }
  if (!nearest.empty()) return nearest;
  size_t most = kSharedBeginning - 1;
  for (const std::string& other : names) {
    const size_t shared = SharedBeginning(name, other);
    if (shared <= most) continue;
    most = shared;
    nearest = other;
  }
  return nearest;
}

absl::Status UnknownOption(absl::string_view engine, absl::string_view name,
                           const std::vector<OptionRow>& rows) {
  std::vector<std::string> names;
  std::string list;
  for (const OptionRow& row : rows) {
    absl::StrAppend(&list, names.empty() ? "" : ", ", row.name);
    names.push_back(row.name);
  }
  const std::string nearest = NearestName(name, names);
  return absl::InvalidArgumentError(absl::StrCat(
      "the ", engine, " engine has no option \"", name, "\"",
      nearest.empty() ? "" : absl::StrCat(" (is \"", nearest, "\" meant?)"), "; it has ", list));
}

bool AsksForHelp(const std::vector<std::pair<std::string, std::string>>& given) {
  return std::any_of(given.begin(), given.end(),
                     [](const auto& option) { return option.first == kHelpOption; });
}

absl::Status SayHelp(absl::string_view engine, const std::vector<OptionRow>& rows,
                     const std::function<void(absl::string_view line)>& say) {
  if (say) {
    say(absl::StrCat("options of the engine ", engine, ", each --engine-option NAME=VALUE:"));
    for (const OptionRow& row : rows) {
      const std::string initial =
          row.initial.empty() ? "" : absl::StrCat("; default ", row.initial);
      say(absl::StrCat(row.name, ": ", row.help, " (", ValuesOf(row), initial, ")"));
    }
  }
  return absl::CancelledError("the engine was asked for its options only");
}

std::string MarkdownTable(const std::vector<OptionRow>& rows) {
  std::string table = "| option | value | default | meaning |\n|---|---|---|---|\n";
  for (const OptionRow& row : rows) {
    std::string values = ValuesOf(row);
    for (const char* article : {"a whole number ", "a number ", "a text: ", "a text"}) {
      if (values.rfind(article, 0) != 0) continue;
      values = values.substr(2);
      break;
    }
    absl::StrAppend(&table, "| `", row.name, "` | ", Cell(values), " | ",
                    row.initial.empty() ? "" : absl::StrCat("`", row.initial, "`"), " | ",
                    Cell(row.help), " |\n");
  }
  return table;
}

}  // namespace superfluid
