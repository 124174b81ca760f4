#include "engine/whisper/language.h"

#include <whisper.h>

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace superfluid {
namespace {

constexpr char kEnglish[] = "en";
constexpr char kDetect[] = "auto";

std::vector<std::string> First(int count) {
  std::vector<std::string> codes;
  codes.reserve(static_cast<size_t>(count));
  for (int id = 0; id < count; ++id) codes.emplace_back(whisper_lang_str(id));
  std::sort(codes.begin(), codes.end());
  return codes;
}

// Names and codes that people use beside those of the library (whisper_lang_id knows "german").
struct Alias {
  std::string_view tag;
  std::string_view code;
};
constexpr Alias kAliases[] = {
    // Codes that were replaced, or that the library has by another one.
    {"iw", "he"},
    {"in", "id"},
    {"ji", "yi"},
    {"jv", "jw"},
    {"jav", "jw"},
    {"mo", "ro"},
    {"nb", "no"},
    {"nob", "no"},
    {"nno", "nn"},
    {"fil", "tl"},
    {"cmn", "zh"},
    {"fra", "fr"},
    {"fre", "fr"},
    {"deu", "de"},
    {"ger", "de"},
    {"eng", "en"},
    {"spa", "es"},
    {"ita", "it"},
    {"por", "pt"},
    {"rus", "ru"},
    {"zho", "zh"},
    {"chi", "zh"},
    {"jpn", "ja"},
    {"kor", "ko"},
    {"ara", "ar"},
    {"hin", "hi"},
    {"nld", "nl"},
    {"dut", "nl"},
    {"pol", "pl"},
    {"ukr", "uk"},
    {"tur", "tr"},
    // Other names.
    {"burmese", "my"},
    {"valencian", "ca"},
    {"flemish", "nl"},
    {"haitian", "ht"},
    {"letzeburgesch", "lb"},
    {"pushto", "ps"},
    {"panjabi", "pa"},
    {"moldavian", "ro"},
    {"moldovan", "ro"},
    {"sinhalese", "si"},
    {"castilian", "es"},
    {"mandarin", "zh"},
    {"farsi", "fa"},
    {"filipino", "tl"},
    {"bokmal", "no"},
};

// The library's code for a tag, a name or an alias of one in lower case; "": there is none.
std::string CodeOf(const std::string& tag) {
  for (const std::string& name : {tag, tag.substr(0, tag.find_first_of("-_"))}) {
    for (const Alias& alias : kAliases) {
      if (name == alias.tag) return std::string(alias.code);
    }
    const int id = whisper_lang_id(name.c_str());
    if (id >= 0) return whisper_lang_str(id);
  }
  return "";
}

bool Contains(const std::vector<std::string>& sorted, const std::string& code) {
  return std::binary_search(sorted.begin(), sorted.end(), code);
}

}  // namespace

int LanguageCount(const WhisperModelFile& model) {
  return std::min(model.languages(), whisper_lang_max_id() + 1);
}

std::vector<std::string> LanguagesOf(const WhisperModelFile& model) {
  if (!model.multilingual()) return {kEnglish};
  return First(LanguageCount(model));
}

absl::StatusOr<std::string> ResolveLanguage(std::string_view tag, const WhisperModelFile& model) {
  std::string wanted(tag);
  absl::AsciiStrToLower(&wanted);
  if (wanted.empty() || wanted == kDetect) return model.multilingual() ? std::string() : kEnglish;
  std::string code = CodeOf(wanted);
  if (code.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the language is none that Whisper knows: ",
                     absl::StrJoin(First(whisper_lang_max_id() + 1), " ")));
  }
  if (!Contains(LanguagesOf(model), code)) {
    const char* const what = model.multilingual() ? "lacks it" : "knows English only";
    return absl::UnimplementedError(absl::StrCat(
        "the language ", code, " is not supported: the model ", model.name, " ", what));
  }
  return code;
}

}  // namespace superfluid
