#ifndef SUPERFLUID_ACTORS_DISPATCH_DESCRIPTOR_TABLE_H_
#define SUPERFLUID_ACTORS_DISPATCH_DESCRIPTOR_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>

#include "absl/time/time.h"
#include "shm/owned_fd.h"

namespace superfluid {

// The descriptors of one link that arrived and that no message has claimed yet. The two sockets of
// a link are not ordered with each other, so either may come first.
//
// Bounded by the credit of the FdReceiver, and by time: what stays unclaimed for `patience` is
// closed. Where one is awaited and there is no room, the oldest that no message names goes. Two
// descriptors with one tag are claimed in the order of their arrival. Threads: one.
class DescriptorTable {
 public:
  explicit DescriptorTable(absl::Duration patience)
      : patience_ns_(absl::ToInt64Nanoseconds(patience)) {}

  void Add(uint64_t tag, OwnedFd fd, int64_t now_ns);

  // The oldest descriptor with this tag, or nullopt.
  std::optional<OwnedFd> Claim(uint64_t tag);

  // Closes what waited too long and returns how many that were.
  size_t DropOverdue(int64_t now_ns);

  // Closes the oldest that is not among `named`, where each occurrence of a tag names one. Returns
  // false if all are.
  bool DropOldestBut(std::multiset<uint64_t> named);

  // When the oldest is overdue. REQUIRES: size() > 0.
  int64_t next_overdue_ns() const { return waiting_.front().since_ns + patience_ns_; }

  size_t size() const { return waiting_.size(); }

 private:
  struct Waiting {
    uint64_t tag = 0;
    OwnedFd fd;
    int64_t since_ns = 0;
  };

  const int64_t patience_ns_;
  std::deque<Waiting> waiting_;  // oldest first
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_DISPATCH_DESCRIPTOR_TABLE_H_
