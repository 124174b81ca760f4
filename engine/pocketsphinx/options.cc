#include "engine/pocketsphinx/options.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

struct NumberOption {
  const char* name;
  int PocketsphinxOptions::*field;
  int least;
  int most;
};

constexpr NumberOption kNumbers[] = {
    {"pool", &PocketsphinxOptions::pool, 1, 64},
    {"warm", &PocketsphinxOptions::warm, 1, 64},
    {"pause_ms", &PocketsphinxOptions::pause_ms, 100, 2000},
    {"max_segment_ms", &PocketsphinxOptions::max_segment_ms, 3000, 30000},
    {"max_hmms", &PocketsphinxOptions::max_hmms, 500, 30000},
};

// Names and longer codes of the languages that there are models of.
constexpr std::pair<std::string_view, std::string_view> kNames[] = {
    {"english", "en"}, {"eng", "en"},     {"french", "fr"},  {"fra", "fr"},     {"fre", "fr"},
    {"german", "de"},  {"deu", "de"},     {"ger", "de"},     {"spanish", "es"}, {"spa", "es"},
    {"italian", "it"}, {"ita", "it"},     {"russian", "ru"}, {"rus", "ru"},     {"mandarin", "zh"},
    {"cmn", "zh"},     {"chinese", "zh"}, {"zho", "zh"},     {"dutch", "nl"},   {"nld", "nl"},
};

std::string KnownNames() {
  std::string names = "language";
  for (const NumberOption& option : kNumbers) absl::StrAppend(&names, ", ", option.name);
  return names;
}

absl::Status SetNumber(const NumberOption& option, const std::string& value,
                       PocketsphinxOptions& parsed) {
  int number = 0;
  if (!absl::SimpleAtoi(value, &number) || number < option.least || number > option.most) {
    return absl::InvalidArgumentError(absl::StrCat("engine option ", option.name, "=", value,
                                                   ": must be a number from ", option.least, " to ",
                                                   option.most));
  }
  parsed.*option.field = number;
  return absl::OkStatus();
}

// Letters, digits and hyphens, as in a BCP-47 tag; "_" is what some systems write for the hyphen.
bool IsLanguageTag(std::string_view tag) {
  const auto allowed = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_';
  };
  return tag.size() <= 35 && std::all_of(tag.begin(), tag.end(), allowed) &&
         !PrimaryLanguage(tag).empty();
}

absl::Status SetOption(const std::string& name, const std::string& value,
                       PocketsphinxOptions& parsed) {
  for (const NumberOption& option : kNumbers) {
    if (name == option.name) return SetNumber(option, value, parsed);
  }
  if (name != "language") {
    return absl::InvalidArgumentError(absl::StrCat("the pocketsphinx engine has no option \"", name,
                                                   "\"; it has ", KnownNames()));
  }
  if (!IsLanguageTag(value)) {
    return absl::InvalidArgumentError(
        absl::StrCat("engine option language=", value, ": not a language tag such as en-US"));
  }
  parsed.language = value;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PocketsphinxOptions> ParsePocketsphinxOptions(
    const std::vector<std::pair<std::string, std::string>>& options) {
  PocketsphinxOptions parsed;
  std::set<std::string> seen;
  for (const auto& [name, value] : options) {
    if (!seen.insert(name).second) {
      return absl::InvalidArgumentError(absl::StrCat("engine option ", name, " is given twice"));
    }
    if (absl::Status status = SetOption(name, value, parsed); !status.ok()) return status;
  }
  if (parsed.warm > parsed.pool) {
    return absl::InvalidArgumentError(absl::StrCat(
        "engine option warm=", parsed.warm, ": must not exceed pool, which is ", parsed.pool));
  }
  return parsed;
}

std::string PrimaryLanguage(std::string_view tag) {
  const std::string_view primary = tag.substr(0, tag.find_first_of("-_"));
  std::string lower(primary);
  for (char& c : lower) c = absl::ascii_tolower(static_cast<unsigned char>(c));
  for (const auto& [name, code] : kNames) {
    if (lower == name) return std::string(code);
  }
  return lower;
}

absl::Status CheckLanguage(std::string_view wanted, std::string_view model) {
  // There is one language, so it is what would be detected.
  if (wanted.empty() || PrimaryLanguage(wanted) == "auto") return absl::OkStatus();
  if (!IsLanguageTag(wanted)) {
    return absl::InvalidArgumentError("the language is not a language tag such as en-US");
  }
  if (PrimaryLanguage(wanted) == PrimaryLanguage(model)) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat("the language ", std::string(wanted),
                                               " is not supported; this worker's model "
                                               "speaks ",
                                               std::string(model)));
}

}  // namespace superfluid
