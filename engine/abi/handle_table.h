#ifndef SUPERFLUID_ENGINE_ABI_HANDLE_TABLE_H_
#define SUPERFLUID_ENGINE_ABI_HANDLE_TABLE_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace superfluid {

// Objects of the host that a plug-in refers to by the `user` value of a callback. The value is a
// number dressed as a pointer, never reused and never dereferenced: a null, stale or made-up one is
// simply not found, where a real pointer would be used after it was freed.
//
// Threads: any. Lifetime: an object found stays alive until its finder lets go of it.
template <typename T>
class HandleTable {
 public:
  void* Add(std::shared_ptr<T> object) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const uintptr_t handle = ++last_;
    objects_.emplace(handle, std::move(object));
    // Never turned back into an object.
    return reinterpret_cast<void*>(handle);  // NOLINT(performance-no-int-to-ptr)
  }

  // Null if there is no such object.
  std::shared_ptr<T> Find(void* handle) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = objects_.find(reinterpret_cast<uintptr_t>(handle));
    return found == objects_.end() ? nullptr : found->second;
  }

  void Remove(void* handle) {
    std::shared_ptr<T> removed;  // let go of only after the lock
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = objects_.find(reinterpret_cast<uintptr_t>(handle));
    if (found == objects_.end()) return;
    removed = std::move(found->second);
    objects_.erase(found);
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<uintptr_t, std::shared_ptr<T>> objects_;
  uintptr_t last_ = 0;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_ABI_HANDLE_TABLE_H_
