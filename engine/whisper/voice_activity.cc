#include "engine/whisper/voice_activity.h"

#include <exception>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/whisper/model_file.h"
#include "engine/whisper/speech_finder.h"

namespace superfluid {

absl::StatusOr<std::unique_ptr<VoiceActivity>> VoiceActivity::Load(const std::string& path,
                                                                   LibraryLog& log) {
  if (absl::Status status = CheckVadModel(path); !status.ok()) return status;
  whisper_vad_context_params params = whisper_vad_default_context_params();
  params.n_threads = 1;
  params.use_gpu = false;
  whisper_vad_context* context = nullptr;
  std::string reason;
  try {
    context = whisper_vad_init_from_file_with_params(path.c_str(), params);
  } catch (const std::exception& exception) {
    reason = exception.what();
  }
  if (context == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("the voice activity model ", path,
                     " cannot be loaded: ", reason.empty() ? log.TakeFirstError() : reason));
  }
  std::unique_ptr<VoiceActivity> activity(new VoiceActivity(context));
  activity->Reset();
  return activity;
}

absl::StatusOr<std::vector<float>> VoiceActivity::Hear(absl::Span<const float> samples) {
  if (samples.empty()) return std::vector<float>();
  if (!whisper_vad_detect_speech_no_reset(context_.get(), samples.data(),
                                          static_cast<int>(samples.size()))) {
    return absl::InternalError("the library failed to detect speech");
  }
  const float* const first = whisper_vad_probs(context_.get());
  return std::vector<float>(first, first + whisper_vad_n_probs(context_.get()));
}

void VoiceActivity::Reset() { whisper_vad_reset_state(context_.get()); }

}  // namespace superfluid
