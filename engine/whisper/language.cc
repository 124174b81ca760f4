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

std::vector<std::string> First(int count) {
  std::vector<std::string> codes;
  codes.reserve(static_cast<size_t>(count));
  for (int id = 0; id < count; ++id) codes.emplace_back(whisper_lang_str(id));
  std::sort(codes.begin(), codes.end());
  return codes;
}

bool Contains(const std::vector<std::string>& sorted, const std::string& code) {
  return std::binary_search(sorted.begin(), sorted.end(), code);
}

}  // namespace

std::vector<std::string> LanguagesOf(const WhisperModelFile& model) {
  if (!model.multilingual()) return {kEnglish};
  return First(std::min(model.languages(), whisper_lang_max_id() + 1));
}

absl::StatusOr<std::string> ResolveLanguage(std::string_view tag, const WhisperModelFile& model) {
  if (tag.empty()) return model.multilingual() ? std::string() : kEnglish;
  std::string code(tag.substr(0, tag.find_first_of("-_")));
  absl::AsciiStrToLower(&code);
  const std::vector<std::string> known = First(whisper_lang_max_id() + 1);
  if (!Contains(known, code)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the language is none that Whisper knows: ", absl::StrJoin(known, " ")));
  }
  if (!Contains(LanguagesOf(model), code)) {
    const char* const what = model.multilingual() ? "lacks it" : "knows English only";
    return absl::UnimplementedError(absl::StrCat(
        "the language ", code, " is not supported: the model ", model.name, " ", what));
  }
  return code;
}

}  // namespace superfluid
