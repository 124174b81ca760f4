#ifndef SUPERFLUID_ACTORS_ENGINE_HANDLE_BOOK_H_
#define SUPERFLUID_ACTORS_ENGINE_HANDLE_BOOK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "absl/status/status.h"

namespace superfluid {

enum class HandleKind : uint8_t {
  kSequence,
  kGrammar,
  kLogitBias,
  kMedia,
  kSeed,
  kStrategy,
};
inline constexpr size_t kHandleKinds = 6;

// The handles that the engine gave to one driver and that are still good. An engine may use its own
// pointers as handles: one that it did not give, or has taken back, must never reach it.
//
// A lease ends in the engine when it is adopted or expires, which nobody tells: it stays here until
// it is released, the link ends, or kMost newer ones were given. How many are alive is the engine's
// to bound. Threads: one.
class HandleBook {
 public:
  // Of one kind.
  static constexpr size_t kMost = 65536;

  // Returns whether one more may be made; leases make room themselves. Errors: OUT_OF_MEMORY.
  absl::Status CheckRoom(HandleKind kind) const;

  // Notes what the engine returned, other than a lease. Errors: Internal if it is 0 or in use
  // already.
  absl::Status Add(HandleKind kind, uint64_t handle);

  // Notes a lease, and forgets the oldest if there are more than kMost. A handle that is noted
  // already is the engine's to give again: the lease that had it is over. Errors: Internal if it is
  // 0.
  absl::Status AddLease(uint64_t seed);

  bool Knows(HandleKind kind, uint64_t handle) const { return Of(kind).contains(handle); }
  // Errors: UNKNOWN_HANDLE.
  absl::Status Check(HandleKind kind, uint64_t handle) const;

  void Remove(HandleKind kind, uint64_t handle);
  size_t size(HandleKind kind) const { return Of(kind).size(); }
  bool empty() const;

 private:
  using Set = std::unordered_set<uint64_t>;
  const Set& Of(HandleKind kind) const { return sets_.at(static_cast<size_t>(kind)); }
  Set& Of(HandleKind kind) { return sets_.at(static_cast<size_t>(kind)); }

  std::array<Set, kHandleKinds> sets_;
  // The leases of sets_ in the order given, by number, and the number of each.
  std::map<uint64_t, uint64_t> leases_;
  std::unordered_map<uint64_t, uint64_t> lease_numbers_;
  uint64_t leases_given_ = 0;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_ENGINE_HANDLE_BOOK_H_
