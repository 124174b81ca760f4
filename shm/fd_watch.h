#ifndef SUPERFLUID_SHM_FD_WATCH_H_
#define SUPERFLUID_SHM_FD_WATCH_H_

#include <functional>
#include <memory>

namespace superfluid {

// Tells when one descriptor can be read or written, and blocks nobody meanwhile: some other thread
// waits for many of them at once.
//
// Threads: any. Lifetime: Stop comes before the descriptor is closed.
class FdWatch {
 public:
  virtual ~FdWatch() = default;

  // Calls `ready` once, on a thread of the watch's own, when the descriptor can be read, has failed
  // or has ended. One callback at a time: a second call replaces one that still waits.
  virtual void WhenReadable(std::function<void()> ready) = 0;

  // The same for writing.
  virtual void WhenWritable(std::function<void()> ready) = 0;

  // Calls `gone` once, likewise, when the other side has closed both directions or the descriptor
  // has failed, whatever can be read still. Null: takes a callback that waits back.
  virtual void WhenGone(std::function<void()> gone) = 0;

  // Drops callbacks that still wait and forgets the descriptor. A callback that runs on another
  // thread at this moment may end later.
  virtual void Stop() = 0;
};

// Null: the socket's methods block the thread that waits.
using SharedFdWatch = std::shared_ptr<FdWatch>;

}  // namespace superfluid

#endif  // SUPERFLUID_SHM_FD_WATCH_H_
