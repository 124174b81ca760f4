#ifndef SUPERFLUID_ACTORS_RUNTIME_SOCKET_WATCH_H_
#define SUPERFLUID_ACTORS_RUNTIME_SOCKET_WATCH_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "absl/status/statusor.h"
#include "actors/runtime/descriptor_poller.h"
#include "actors/runtime/hosted_thread.h"
#include "shm/fd_watch.h"

namespace superfluid {

// The watch of one socket: by a poller's thread, and, once it floats, for reading by a second
// thread as well, in turns. That one reads the socket itself while it has nothing else to do, and
// hands it over to the poller for its steps; neither wakes the other for that.
//
//   poller reads --BeginIdle--> second thread reads --HandOver--> poller reads
//
// Invariants:
//  1. While a reader waits, the poller is armed for it, or the second thread polls the socket, or
//     will before it sleeps or steps. Both may be: the first that sees bytes takes the callback.
//  2. A callback is called once.
//  3. While somebody waits for the end, the poller is armed, if for no event: it hears of that.
//
// Threads: any; IdleWatch's methods the second thread.
class SocketWatch final : public FdWatch,
                          public IdleWatch,
                          public std::enable_shared_from_this<SocketWatch> {
 public:
  // Errors: as DescriptorPoller::Add.
  static absl::StatusOr<std::shared_ptr<SocketWatch>> Make(DescriptorPoller& poller, int socket);

  void WhenReadable(std::function<void()> ready) override;
  void WhenWritable(std::function<void()> ready) override;
  void WhenGone(std::function<void()> gone) override;
  void Stop() override;

  // From now on `thread` reads while it is idle. At most once. REQUIRES: `thread` outlives this
  // watch's callbacks.
  void FloatTo(HostedThread& thread);
  // Whether it floats: those who run with it read this (compat::Home).
  std::shared_ptr<const std::atomic<bool>> floats() const { return floats_; }

  int BeginIdle() override;
  void OnReady() override;
  void HandOver() override;

 private:
  explicit SocketWatch(int socket) : socket_(socket) {}

  void OnPolled(uint32_t events);
  // REQUIRES: mutex_ is held, entry_ is not null.
  void Arm();

  const int socket_;
  const std::shared_ptr<std::atomic<bool>> floats_ = std::make_shared<std::atomic<bool>>(false);

  std::mutex mutex_;
  std::unique_ptr<DescriptorPoller::Entry> entry_;  // this and below: guarded by mutex_
  std::function<void()> readable_;
  std::function<void()> writable_;
  std::function<void()> gone_;
  bool poller_reads_ = false;  // it is armed for reading
  HostedThread* second_ = nullptr;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_RUNTIME_SOCKET_WATCH_H_
