#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_UPLOAD_UPLOAD_BUDGET_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_UPLOAD_UPLOAD_BUDGET_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace superfluid::daemon {

// How much memory all uploads together may take: what is received lies in memory until its request
// has ended. Thread-safe.
class UploadBudget {
 public:
  explicit UploadBudget(uint64_t bytes) : limit_(bytes) {}

  // Takes `bytes`, or nothing and returns false if so much is not free.
  bool Take(uint64_t bytes) {
    uint64_t used = used_.load();
    while (bytes <= limit_ && used <= limit_ - bytes) {
      if (used_.compare_exchange_weak(used, used + bytes)) return true;
    }
    return false;
  }

  // Takes `bytes` even if not so much is free: new uploads have to wait for it then.
  void TakeAnyway(uint64_t bytes) { used_ += bytes; }

  // REQUIRES: so much was taken.
  void Return(uint64_t bytes) { used_ -= bytes; }

  uint64_t used() const { return used_; }
  uint64_t limit() const { return limit_; }

 private:
  const uint64_t limit_;
  std::atomic<uint64_t> used_{0};
};

// A share of the budget that grows and is returned when it goes.
class BudgetShare {
 public:
  BudgetShare() = default;
  explicit BudgetShare(std::shared_ptr<UploadBudget> budget) : budget_(std::move(budget)) {}
  BudgetShare(BudgetShare&& other) noexcept
      : budget_(std::move(other.budget_)), bytes_(std::exchange(other.bytes_, 0)) {}
  BudgetShare& operator=(BudgetShare&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  BudgetShare(const BudgetShare&) = delete;
  BudgetShare& operator=(const BudgetShare&) = delete;
  ~BudgetShare() {
    if (budget_ != nullptr) budget_->Return(bytes_);
  }

  // Returns false if so much is not free. A share of no budget grows as it likes.
  bool Grow(uint64_t bytes) {
    if (budget_ != nullptr && !budget_->Take(bytes)) return false;
    bytes_ += bytes;
    return true;
  }

  void GrowAnyway(uint64_t bytes) {
    if (budget_ != nullptr) budget_->TakeAnyway(bytes);
    bytes_ += bytes;
  }

 private:
  std::shared_ptr<UploadBudget> budget_;
  uint64_t bytes_ = 0;
};

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_UPLOAD_UPLOAD_BUDGET_H_
