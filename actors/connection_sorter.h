#ifndef SUPERFLUID_ACTORS_CONNECTION_SORTER_H_
#define SUPERFLUID_ACTORS_CONNECTION_SORTER_H_

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "protocol/ids.h"
#include "protocol/transport/unix_listener.h"
#include "shm/owned_fd.h"

namespace superfluid {

// Takes the connections of a listening worker and finds out what each is for, by its first bytes:
// a frame's magic makes it a frames connection (nothing is consumed), any other 16 bytes are taken
// for a link's token. Both are handed on; what a token is worth is the receiver's business.
//
// A peer of another user than those allowed is closed at once; so is one that says nothing for
// `patience`, and the oldest silent one when there are more than `max_silent`.
//
// Threads: Run blocks the thread that calls it until Shutdown of the listener (any thread); the
// callbacks run on it.
class ConnectionSorter {
 public:
  struct Options {
    std::vector<uid_t> allowed_uids;
    absl::Duration patience = absl::Seconds(5);
    size_t max_silent = 32;
  };
  struct Callbacks {
    std::function<void(OwnedFd socket)> on_frames;
    std::function<void(const linkw::LinkToken& token, OwnedFd socket)> on_descriptors;
  };

  ConnectionSorter(UnixListener& listener, Options options, Callbacks callbacks);

  void Run();

 private:
  struct Silent {
    OwnedFd socket;
    int64_t deadline_ns = 0;
  };
  enum class Verdict { kWait, kHandled };

  void AcceptAll();
  void Add(AcceptedConnection connection);
  Verdict Sort(Silent& silent);
  void DropOverdue();
  int PollTimeoutMs() const;

  UnixListener& listener_;
  const Options options_;
  const Callbacks callbacks_;
  std::list<Silent> silent_;    // oldest first
  bool accept_paused_ = false;  // out of descriptors: wait before the next try
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_CONNECTION_SORTER_H_
