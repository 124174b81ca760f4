#include "engine/whisper/library_state.h"

#include <algorithm>
#include <exception>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/whisper/backend_capture.h"

namespace superfluid {

absl::StatusOr<std::unique_ptr<LibraryState>> LibraryState::Create(whisper_context* context) {
  std::unique_ptr<LibraryState> state(new LibraryState);
  const BackendCapture capture;
  try {
    state->state_ = whisper_init_state(context);
  } catch (const std::exception& exception) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the library cannot make a state: ", exception.what()));
  }
  if (state->state_ == nullptr) {
    return absl::ResourceExhaustedError("the library cannot make a state for a transcription");
  }
  for (GgmlBackend const backend : capture.backends()) {
    if (SetAbortCallback(backend, &LibraryState::MustStop, state.get())) {
      state->stops_inside_ = true;
    }
  }
  return state;
}

LibraryState::~LibraryState() { whisper_free_state(state_); }

void LibraryState::ForgetLogits(whisper_context* context) {
  float* const logits = whisper_get_logits_from_state(state_);
  if (was_used_ && logits != nullptr) std::fill_n(logits, whisper_n_vocab(context), 0.0F);
  was_used_ = true;
}

bool LibraryState::MustStop(void* self) {
  const CancelToken* const token =
      static_cast<LibraryState*>(self)->token_.load(std::memory_order_relaxed);
  return token != nullptr && token->cancelled();
}

}  // namespace superfluid
