#include "engine/pocketsphinx/options.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "engine/options/option_kinds.h"

namespace superfluid {
namespace {

using Options = PocketsphinxOptions;

Option<Options> Whole(const char* name, int low, int high, int PocketsphinxOptions::*field,
                      const char* help) {
  return WholeOption<Options>(
      name, low, high, [field](Options & o) -> auto& { return o.*field; }, help);
}

// Names and longer codes of the languages that there are models of.
constexpr std::pair<std::string_view, std::string_view> kNames[] = {
    {"english", "en"}, {"eng", "en"},     {"french", "fr"},  {"fra", "fr"},     {"fre", "fr"},
    {"german", "de"},  {"deu", "de"},     {"ger", "de"},     {"spanish", "es"}, {"spa", "es"},
    {"italian", "it"}, {"ita", "it"},     {"russian", "ru"}, {"rus", "ru"},     {"mandarin", "zh"},
    {"cmn", "zh"},     {"chinese", "zh"}, {"zho", "zh"},     {"dutch", "nl"},   {"nld", "nl"},
};

// Letters, digits and hyphens, as in a BCP-47 tag; "_" is what some systems write for the hyphen.
bool IsLanguageTag(absl::string_view text) {
  const std::string_view tag(text.data(), text.size());
  const auto allowed = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_';
  };
  return tag.size() <= 35 && std::all_of(tag.begin(), tag.end(), allowed) &&
         !PrimaryLanguage(tag).empty();
}

}  // namespace

const OptionTable<PocketsphinxOptions>& PocketsphinxOptionTable() {
  static const auto* const kTable = new OptionTable<Options>(
      "pocketsphinx", {
                          Whole("pool", 1, 64, &Options::pool,
                                "transcriptions at once; each has a decoder, about 90 MB"),
                          Whole("warm", 1, 64, &Options::warm,
                                "decoders made before the engine is ready, no more than pool"),
                          Whole("pause_ms", 100, 2000, &Options::pause_ms,
                                "a silence of this length ends a segment"),
                          Whole("max_segment_ms", 3000, 30'000, &Options::max_segment_ms,
                                "a segment is cut here even without a pause"),
                          Whole("max_hmms", 500, 30'000, &Options::max_hmms,
                                "hypotheses kept per 10 ms; more is slower, seldom better"),
                          TextOption<Options>(
                              "language", "a language tag such as en-US", IsLanguageTag,
                              [](Options & o) -> auto& { return o.language; },
                              "of the model: what a client may ask for"),
                      });
  return *kTable;
}

absl::StatusOr<PocketsphinxOptions> ParsePocketsphinxOptions(
    const std::vector<std::pair<std::string, std::string>>& options) {
  absl::StatusOr<PocketsphinxOptions> parsed = PocketsphinxOptionTable().Parse(options);
  if (!parsed.ok()) return parsed;
  if (parsed->warm > parsed->pool) {
    return absl::InvalidArgumentError(absl::StrCat(
        "engine option warm=", parsed->warm, ": must not exceed pool, which is ", parsed->pool));
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
  if (!IsLanguageTag({wanted.data(), wanted.size()})) {
    return absl::InvalidArgumentError("the language is not a language tag such as en-US");
  }
  if (PrimaryLanguage(wanted) == PrimaryLanguage(model)) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat("the language ", std::string(wanted),
                                               " is not supported; this worker's model "
                                               "speaks ",
                                               std::string(model)));
}

}  // namespace superfluid
