#ifndef SUPERFLUID_ENGINE_WHISPER_LANGUAGE_H_
#define SUPERFLUID_ENGINE_WHISPER_LANGUAGE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/whisper/model_file.h"

namespace superfluid {

// What is reported for audio whose language was not detected yet, or that says nothing: the BCP-47
// tag for "undetermined".
inline constexpr char kUndetermined[] = "und";

// Returns how many languages of the library a model knows: tokens that a fine-tune has beyond them
// are none.
int LanguageCount(const WhisperModelFile& model);

// Codes of the languages that a model knows, such as "en" and "yue", sorted.
std::vector<std::string> LanguagesOf(const WhisperModelFile& model);

// Returns the library's code for a BCP-47 tag ("en-US" is "en"), an English name ("Norwegian") or
// an older or longer code of a common language ("iw", "nb", "deu"). Empty for an empty tag or
// "auto" and a model of several languages, which then detects it. Errors: InvalidArgument, with a
// list of the codes known, for what is no language of Whisper's; Unimplemented for one that the
// model lacks.
absl::StatusOr<std::string> ResolveLanguage(std::string_view tag, const WhisperModelFile& model);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_WHISPER_LANGUAGE_H_
