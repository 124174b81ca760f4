#ifndef SUPERFLUID_ACTORS_LINK_CONNECTION_SORTER_H_
#define SUPERFLUID_ACTORS_LINK_CONNECTION_SORTER_H_

#include <poll.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "actors/link/first_bytes.h"
#include "protocol/messages/ids.h"
#include "protocol/transport/unix_listener.h"
#include "shm/owned_fd.h"

namespace superfluid {

// Takes the connections of a listening worker and finds out what each is for, by its first bytes
// (FirstBytes has the rules): a frames connection is handed on with its first frame whole, a
// descriptors connection with its token. What either is worth is the receiver's business.
//
// A peer of another user than those allowed is told so and closed. A connection that is undecided
// after `patience` is closed, and when there are more than `max_undecided` the oldest one is told
// BUSY and closed: neither holds a thread or a place among the worker's links.
//
// Threads: Run blocks the thread that calls it until Shutdown of the listener (any thread); the
// callbacks run on it.
class ConnectionSorter {
 public:
  struct Options {
    std::vector<uid_t> allowed_uids;
    bool any_uid = false;  // the mode of the socket's file says who may connect
    absl::Duration patience = absl::Seconds(5);
    size_t max_undecided = 32;
  };
  struct Callbacks {
    // `received` is what was read of the socket so far.
    std::function<void(AcceptedConnection connection, std::string received)> on_frames;
    std::function<void(const linkw::LinkToken& token, OwnedFd socket)> on_descriptors;
  };

  ConnectionSorter(UnixListener& listener, Options options, Callbacks callbacks);

  void Run();

 private:
  struct Undecided {
    AcceptedConnection connection;
    int64_t deadline_ns = 0;
    FirstBytes first;
  };
  enum class Verdict { kWait, kHandled };

  void HandleReady(const std::vector<pollfd>& polled);
  void AcceptAll();
  void Add(AcceptedConnection connection);
  static void RefuseUser(const AcceptedConnection& connection);
  Verdict Sort(Undecided& undecided);
  void DropOverdue();
  void DropOldest();
  int PollTimeoutMs() const;

  UnixListener& listener_;
  const Options options_;
  const Callbacks callbacks_;
  std::list<Undecided> undecided_;  // oldest first
  bool accept_paused_ = false;      // out of descriptors: wait before the next try
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_LINK_CONNECTION_SORTER_H_
