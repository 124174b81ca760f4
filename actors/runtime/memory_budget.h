#ifndef SUPERFLUID_ACTORS_RUNTIME_MEMORY_BUDGET_H_
#define SUPERFLUID_ACTORS_RUNTIME_MEMORY_BUDGET_H_

#include <cstdint>
#include <memory>
#include <mutex>

namespace superfluid {

// The memory that copies of one kind take together, whoever made them and whoever holds them.
// Threads: any. Lifetime: shared with what was taken out of it.
class MemoryBudget : public std::enable_shared_from_this<MemoryBudget> {
 public:
  explicit MemoryBudget(uint64_t bytes) : left_(bytes) {}

  // Returns the right to `bytes`, given back with the last reference to it; null if there is no
  // room for them.
  std::shared_ptr<const void> Take(uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    if (bytes > left_) return nullptr;
    left_ -= bytes;
    return {static_cast<const void*>(this),
            [self = shared_from_this(), bytes](const void*) { self->Give(bytes); }};
  }

 private:
  void Give(uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    left_ += bytes;
  }

  std::mutex mutex_;
  uint64_t left_;  // guarded by mutex_
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_RUNTIME_MEMORY_BUDGET_H_
