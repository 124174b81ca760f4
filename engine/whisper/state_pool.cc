#include "engine/whisper/state_pool.h"

#include <utility>

namespace superfluid {

absl::StatusOr<std::unique_ptr<LibraryState>> StatePool::Take() {
  if (!free_.empty()) {
    std::unique_ptr<LibraryState> state = std::move(free_.back());
    free_.pop_back();
    return state;
  }
  absl::StatusOr<std::unique_ptr<LibraryState>> state = LibraryState::Create(context_);
  if (state.ok()) ++count_;
  return state;
}

void StatePool::GiveBack(std::unique_ptr<LibraryState> state, bool as_new) {
  if (state == nullptr) return;
  state->SetToken(nullptr);
  if (as_new && state->get() != nullptr) {
    free_.push_back(std::move(state));
  } else {
    --count_;
  }
}

}  // namespace superfluid
