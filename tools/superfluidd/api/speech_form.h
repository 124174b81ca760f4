#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_API_SPEECH_FORM_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_API_SPEECH_FORM_H_

#include <string>
#include <variant>

#include "tools/superfluidd/api/api_error.h"
#include "tools/superfluidd/upload/upload_form.h"

namespace superfluid::daemon {

enum class SpeechTask { kTranscribe, kTranslate };
enum class AnswerFormat { kJson, kText, kSrt, kVtt, kVerboseJson };

// What a form of /v1/audio/transcriptions or translations asks for, checked.
struct SpeechForm {
  SpeechTask task = SpeechTask::kTranscribe;
  std::string model;  // as the client named it
  std::string language;
  std::string prompt;
  AnswerFormat format = AnswerFormat::kJson;
  bool stream = false;
  bool words = false;     // word times in verbose_json
  bool segments = true;   // segments in verbose_json
  bool logprobs = false;  // include[]=logprobs
};

// Fields that are not known are ignored, as OpenAI's servers do. `temperature` is checked, and has
// no meaning for the engines here.
std::variant<SpeechForm, ApiError> ParseSpeechForm(SpeechTask task, const UploadForm& form);

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_API_SPEECH_FORM_H_
