#ifndef SUPERFLUID_ENGINE_ABI_ARENA_H_
#define SUPERFLUID_ENGINE_ABI_ARENA_H_

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <vector>

#include "absl/types/span.h"

namespace superfluid {

// One piece of memory cut into rooms that a plug-in writes to, each followed by guard bytes. Kept
// from one use to the next, so that a tick allocates nothing. Threads: one at a time.
template <typename T>
class Arena {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  // Cuts the memory anew: room i has capacities[i] elements. Only guards and first elements are
  // written; the rest is what was there before.
  void Cut(absl::Span<const size_t> capacities) {
    offsets_.clear();
    size_t end = 0;
    for (const size_t capacity : capacities) {
      offsets_.push_back(end);
      end += capacity + kGuardElements;
    }
    offsets_.push_back(end);
    if (elements_.size() < end) elements_.resize(end);
    for (size_t i = 0; i < capacities.size(); ++i) {
      if (capacities[i] > 0) elements_[offsets_[i]] = T{};
      std::memset(static_cast<void*>(guard(i)), kGuard, kGuardElements * sizeof(T));
    }
  }

  size_t capacity(size_t i) const { return offsets_[i + 1] - offsets_[i] - kGuardElements; }
  T* data(size_t i) { return elements_.data() + offsets_[i]; }
  const T* data(size_t i) const { return elements_.data() + offsets_[i]; }

  // False once something wrote past room i.
  bool intact(size_t i) const {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(guard(i));
    return std::all_of(bytes, bytes + kGuardElements * sizeof(T),
                       [](unsigned char byte) { return byte == kGuard; });
  }

 private:
  static constexpr size_t kGuardElements = std::max<size_t>(64 / sizeof(T), 1);
  static constexpr unsigned char kGuard = 0x5A;

  T* guard(size_t i) { return elements_.data() + offsets_[i + 1] - kGuardElements; }
  const T* guard(size_t i) const { return elements_.data() + offsets_[i + 1] - kGuardElements; }

  std::vector<T> elements_;
  std::vector<size_t> offsets_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_ABI_ARENA_H_
