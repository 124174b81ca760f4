#ifndef SUPERFLUID_ENGINE_WHISPER_VAD_POOL_H_
#define SUPERFLUID_ENGINE_WHISPER_VAD_POOL_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/whisper/voice_activity.h"

namespace superfluid {

// Voice activity models of an engine: one a transcription, used again. Threads: one.
class VadPool {
 public:
  // `log` outlives the pool. An empty path: there is no model, and Take must not be called.
  VadPool(std::string path, LibraryLog* log) : path_(std::move(path)), log_(log) {}

  bool has_model() const { return !path_.empty(); }

  // One that has heard nothing. Errors: those of loading it.
  absl::StatusOr<std::unique_ptr<VoiceActivity>> Take() {
    if (free_.empty()) return VoiceActivity::Load(path_, *log_);
    std::unique_ptr<VoiceActivity> activity = std::move(free_.back());
    free_.pop_back();
    return activity;
  }

  void GiveBack(std::unique_ptr<VoiceActivity> activity) {
    if (activity == nullptr) return;
    activity->Reset();
    free_.push_back(std::move(activity));
  }

 private:
  std::string path_;
  LibraryLog* log_;
  std::vector<std::unique_ptr<VoiceActivity>> free_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_WHISPER_VAD_POOL_H_
