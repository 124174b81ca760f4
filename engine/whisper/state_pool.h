#ifndef SUPERFLUID_ENGINE_WHISPER_STATE_POOL_H_
#define SUPERFLUID_ENGINE_WHISPER_STATE_POOL_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/whisper/library_state.h"

namespace superfluid {

// The states of an engine. One that was used is as good as new unless random numbers were drawn on
// it: the library's generator goes on from transcription to transcription and cannot be reset, and
// results must not depend on what came before. Such a state is freed and made anew when needed.
//
// Threads: one. Lifetime: within the context; every state is given back or destroyed before.
class StatePool {
 public:
  explicit StatePool(whisper_context* context) : context_(context) {}
  StatePool(const StatePool&) = delete;
  StatePool& operator=(const StatePool&) = delete;

  // A state that behaves like a new one. Errors: those of making one.
  absl::StatusOr<std::unique_ptr<LibraryState>> Take();

  // `as_new`: no random numbers were drawn on it.
  void GiveBack(std::unique_ptr<LibraryState> state, bool as_new);

  // States that exist, taken ones included.
  int count() const { return count_; }
  int taken() const { return count_ - static_cast<int>(free_.size()); }

 private:
  whisper_context* context_;
  std::vector<std::unique_ptr<LibraryState>> free_;
  int count_ = 0;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_WHISPER_STATE_POOL_H_
