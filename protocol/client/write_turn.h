#ifndef SUPERFLUID_PROTOCOL_CLIENT_WRITE_TURN_H_
#define SUPERFLUID_PROTOCOL_CLIENT_WRITE_TURN_H_

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace superfluid::linkw {

// A lock for whoever writes the next frame, with two classes of waiters: an urgent one is next,
// however many ordinary ones wait. Whoever has the turn keeps it until the frame is out.
//
// Threads: any; not recursive. It is as fair as absl::Mutex within a class. Ordinary waiters starve
// only while urgent ones keep coming.
class ABSL_LOCKABLE WriteTurn {
 public:
  WriteTurn() = default;
  WriteTurn(const WriteTurn&) = delete;
  WriteTurn& operator=(const WriteTurn&) = delete;

  void Take(bool urgent) ABSL_EXCLUSIVE_LOCK_FUNCTION();
  void Give() ABSL_UNLOCK_FUNCTION();

  bool HasUrgentWaiter() const;

 private:
  bool IsFree() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !taken_; }
  bool IsFreeAndCalm() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !taken_ && urgent_waiting_ == 0;
  }

  mutable absl::Mutex mutex_;
  bool taken_ ABSL_GUARDED_BY(mutex_) = false;
  int urgent_waiting_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Has the turn while it lives.
class ABSL_SCOPED_LOCKABLE WriteTurnHolder {
 public:
  explicit WriteTurnHolder(WriteTurn& turn, bool urgent) ABSL_EXCLUSIVE_LOCK_FUNCTION(turn)
      : turn_(turn) {
    turn_.Take(urgent);
  }
  WriteTurnHolder(const WriteTurnHolder&) = delete;
  WriteTurnHolder& operator=(const WriteTurnHolder&) = delete;
  ~WriteTurnHolder() ABSL_UNLOCK_FUNCTION() { turn_.Give(); }

 private:
  WriteTurn& turn_;
};

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_CLIENT_WRITE_TURN_H_
