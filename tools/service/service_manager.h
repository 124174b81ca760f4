#ifndef SUPERFLUID_TOOLS_SERVICE_SERVICE_MANAGER_H_
#define SUPERFLUID_TOOLS_SERVICE_SERVICE_MANAGER_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace superfluid {

// Takes the sockets that a service manager opened for this process (socket activation:
// $LISTEN_FDS and $LISTEN_PID), close-on-exec from now on, in the unit's order. Empty: there are
// none, or they are another process's. Removes the variables, so that no child takes them for its
// own. REQUIRES: called from main, while there is no other thread.
std::vector<int> TakeActivatedSockets();

// Tells a service manager how the process is, in the protocol of sd_notify(3): lines in a datagram
// to the socket that $NOTIFY_SOCKET names. Without a manager nothing is told.
//
// Threads: any. Lifetime: of the process.
class ServiceManager {
 public:
  // Reads $NOTIFY_SOCKET, and $WATCHDOG_USEC if $WATCHDOG_PID is this process or unset; removes
  // all three, so that no child speaks in this process's name. REQUIRES: called from main, while
  // there is no other thread.
  static ServiceManager FromEnvironment();

  // `socket`: a path, or '@' and an abstract name; empty: there is no manager. `watchdog`: the
  // manager ends the process after so long without a sign of life; zero: it does not.
  ServiceManager(std::string socket, absl::Duration watchdog)
      : socket_(std::move(socket)), watchdog_(watchdog) {}
  ServiceManager(ServiceManager&& other) noexcept
      : socket_(std::move(other.socket_)), watchdog_(other.watchdog_) {}
  ServiceManager(const ServiceManager&) = delete;
  ServiceManager& operator=(const ServiceManager&) = delete;

  bool present() const { return !socket_.empty(); }
  absl::Duration watchdog() const { return watchdog_; }

  // The process does its work now: it has started, or has read its configuration again.
  // `status`: a line for people, or empty.
  void Ready(absl::string_view status) const;
  // The process still starts: `permille` of what it loads is loaded; 0: it cannot tell. Has the
  // manager wait on, and tells it so once a second at most. Never blocks.
  void Loading(uint32_t permille);
  void Reloading() const;
  void Stopping() const;
  void Status(absl::string_view status) const;

  // Keeps the watchdog quiet for another while. Callers see progress before they call. Cheap: it
  // tells the manager four times in the watchdog's time at most. Never blocks.
  void Alive();

 private:
  void Send(absl::string_view lines, int flags) const;

  std::string socket_;
  absl::Duration watchdog_;
  std::atomic<int64_t> told_ns_{0};     // when Alive told the manager last; 0: never
  std::atomic<int64_t> loading_ns_{0};  // the same of Loading
};

}  // namespace superfluid

#endif  // SUPERFLUID_TOOLS_SERVICE_SERVICE_MANAGER_H_
