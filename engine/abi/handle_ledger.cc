#include "engine/abi/handle_ledger.h"

#include "absl/strings/str_cat.h"
#include "engine/abi/plugin_call.h"

namespace superfluid {

absl::Status HandleLedger::CheckNew(const std::string& call, uint64_t handle) const {
  if (handle == 0) return BrokenRule(call, "handed out 0 as a ", kind_);
  if (live(handle) || gone_.contains(handle)) {
    return BrokenRule(call, "handed out ", kind_, " ", handle, " a second time");
  }
  return absl::OkStatus();
}

absl::Status HandleLedger::Add(const std::string& call, uint64_t handle) {
  if (absl::Status status = CheckNew(call, handle); !status.ok()) return status;
  live_.insert(handle);
  return absl::OkStatus();
}

absl::Status HandleLedger::CheckLive(uint64_t handle) const {
  if (live(handle)) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("no ", kind_, " has the handle ", handle));
}

void HandleLedger::Remove(uint64_t handle) {
  if (live_.erase(handle) > 0) Remember(handle);
}

void HandleLedger::RemoveAll() {
  for (const uint64_t handle : live_) Remember(handle);
  live_.clear();
}

void HandleLedger::Remember(uint64_t handle) {
  if (!gone_.insert(handle).second) return;
  gone_in_order_.push_back(handle);
  if (gone_in_order_.size() <= kRemembered) return;
  gone_.erase(gone_in_order_.front());
  gone_in_order_.pop_front();
}

}  // namespace superfluid
