#include "protocol/client/write_turn.h"

namespace superfluid::linkw {

void WriteTurn::Take(bool urgent) {
  absl::MutexLock lock(&mutex_);
  if (urgent) {
    ++urgent_waiting_;
    mutex_.Await(absl::Condition(this, &WriteTurn::IsFree));
    --urgent_waiting_;
  } else {
    mutex_.Await(absl::Condition(this, &WriteTurn::IsFreeAndCalm));
  }
  taken_ = true;
}

void WriteTurn::Give() {
  absl::MutexLock lock(&mutex_);
  taken_ = false;
}

bool WriteTurn::HasUrgentWaiter() const {
  absl::MutexLock lock(&mutex_);
  return urgent_waiting_ > 0;
}

}  // namespace superfluid::linkw
