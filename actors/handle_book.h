#ifndef SUPERFLUID_ACTORS_HANDLE_BOOK_H_
#define SUPERFLUID_ACTORS_HANDLE_BOOK_H_

#include <array>
#include <cstddef>
#include <cstdint>
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
// Leases may have expired in the engine and stay here until they are released or the link ends.
// Threads: one.
class HandleBook {
 public:
  // Of one kind.
  static constexpr size_t kMost = 65536;

  // Whether one more may be made. Errors: OUT_OF_MEMORY.
  absl::Status CheckRoom(HandleKind kind) const;

  // Notes what the engine returned. Errors: Internal if it is 0 or in use already.
  absl::Status Add(HandleKind kind, uint64_t handle);

  bool Knows(HandleKind kind, uint64_t handle) const { return Of(kind).contains(handle); }
  // Errors: UNKNOWN_HANDLE.
  absl::Status Check(HandleKind kind, uint64_t handle) const;

  void Remove(HandleKind kind, uint64_t handle) { Of(kind).erase(handle); }
  size_t size(HandleKind kind) const { return Of(kind).size(); }
  bool empty() const;

 private:
  using Set = std::unordered_set<uint64_t>;
  const Set& Of(HandleKind kind) const { return sets_.at(static_cast<size_t>(kind)); }
  Set& Of(HandleKind kind) { return sets_.at(static_cast<size_t>(kind)); }

  std::array<Set, kHandleKinds> sets_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_HANDLE_BOOK_H_
