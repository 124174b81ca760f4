#ifndef SUPERFLUID_ENGINE_ABI_HANDLE_LEDGER_H_
#define SUPERFLUID_ENGINE_ABI_HANDLE_LEDGER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_set>

#include "absl/status/status.h"

namespace superfluid {

// The handles of one kind that a plug-in handed out: which may be passed to it, and whether it
// hands one out a second time. A second time is found out while the first is alive, and for the
// last kRemembered that are gone.
//
// Threads: one at a time.
class HandleLedger {
 public:
  static constexpr size_t kRemembered = 4096;

  // `kind` is for messages: "sequence".
  explicit HandleLedger(std::string kind) : kind_(std::move(kind)) {}

  // A handle that `call` handed out. Internal: zero, or handed out before; nothing is noted then.
  absl::Status Add(const std::string& call, uint64_t handle);
  // The same without noting it.
  absl::Status CheckNew(const std::string& call, uint64_t handle) const;
  // NotFound: not handed out, or gone.
  absl::Status CheckLive(uint64_t handle) const;
  bool live(uint64_t handle) const { return live_.contains(handle); }

  void Remove(uint64_t handle);
  void RemoveAll();

 private:
  void Remember(uint64_t handle);

  const std::string kind_;
  std::unordered_set<uint64_t> live_;
  std::unordered_set<uint64_t> gone_;
  std::deque<uint64_t> gone_in_order_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_ABI_HANDLE_LEDGER_H_
