#ifndef SUPERFLUID_ENGINE_WHISPER_LIBRARY_STATE_H_
#define SUPERFLUID_ENGINE_WHISPER_LIBRARY_STATE_H_

#include <atomic>
#include <memory>

#include "absl/status/statusor.h"
#include "engine/cancel_token.h"
#include "engine/whisper/ggml_names.h"

namespace superfluid {

// One of the library's states: caches, buffers and results of one transcription, on a context with
// the weights that several share. What it computes on the CPU stops when a token says so.
//
// Threads: one at a time. Lifetime: within its context.
class LibraryState {
 public:
  // Takes 30 to 100 ms. Errors: ResourceExhausted.
  static absl::StatusOr<std::unique_ptr<LibraryState>> Create(whisper_context* context);

  ~LibraryState();
  LibraryState(const LibraryState&) = delete;
  LibraryState& operator=(const LibraryState&) = delete;

  whisper_state* get() const { return state_; }

  // The library freed the state itself, which it does after one of its errors.
  void Abandon() { state_ = nullptr; }

  // The token that computations ask from here on; null for none. It must live until the next call.
  void SetToken(const CancelToken* token) { token_.store(token, std::memory_order_relaxed); }

  // Makes the state forget its last logits, as a new one has none. The library takes its
  // probability of "no speech" from a row of them that a decode of several tokens does not write,
  // so that it would depend on what was transcribed before. To be called before each run.
  void ForgetLogits(whisper_context* context);

  // Whether a computation can be stopped in its middle; see BackendCapture.
  bool stops_inside() const { return stops_inside_; }

 private:
  LibraryState() = default;
  static bool MustStop(void* self);

  whisper_state* state_ = nullptr;
  std::atomic<const CancelToken*> token_ = nullptr;
  bool stops_inside_ = false;
  bool was_used_ = false;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_WHISPER_LIBRARY_STATE_H_
