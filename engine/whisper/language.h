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

// Codes of the languages that a model knows, such as "en" and "yue", sorted.
std::vector<std::string> LanguagesOf(const WhisperModelFile& model);

// The library's code for a BCP-47 tag ("en-US" is "en"); empty for an empty tag and a model of
// several languages, which then detects it. Errors: InvalidArgument, with a list of those known,
// for what is no language of Whisper's; Unimplemented for one that the model lacks.
absl::StatusOr<std::string> ResolveLanguage(std::string_view tag, const WhisperModelFile& model);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_WHISPER_LANGUAGE_H_
