#include "tools/worker/outcome.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "actors/runtime/status_error.h"

namespace superfluid {

void Outcome::Set(ExitCode code, std::string reason) {
  if (said_.exchange(true)) return;
  code_ = code;
  reason_ = std::move(reason);
  exited_.store(true, std::memory_order_release);
  signals_.Wake();
}

void SetAtEndOf(const Supervisor& supervisor, Outcome& outcome) {
  supervisor->attach_functor([&outcome](const caf::error& reason) {
    outcome.Set(ExitCode::kEngineFailed,
                absl::StrCat("the supervisor failed: ", ToStatus(reason).message()));
  });
}

}  // namespace superfluid
