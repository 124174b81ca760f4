#ifndef SUPERFLUID_ENGINE_ABI_GUARDED_VALUE_H_
#define SUPERFLUID_ENGINE_ABI_GUARDED_VALUE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "engine/abi/guarded_buffer.h"
#include "engine/abi/superfluid_engine.h"

namespace superfluid {

// One value that a plug-in fills in, followed by guard bytes. T is a struct or number of the C
// interface; a T with a struct_size gets it set. Threads: one at a time.
template <typename T>
class GuardedValue {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit GuardedValue(const T& initial = {}) : buffer_(sizeof(T)) {
    std::memcpy(buffer_.data(), &initial, sizeof(T));
    if constexpr (requires { initial.struct_size; }) get()->struct_size = sizeof(T);
  }

  // To hand to the plug-in.
  T* get() { return reinterpret_cast<T*>(buffer_.data()); }
  // What is there now.
  T value() const {
    T copy{};
    std::memcpy(&copy, buffer_.data(), sizeof(T));
    return copy;
  }
  // False once something wrote past the value.
  bool intact() const { return buffer_.intact(); }

 private:
  GuardedBuffer buffer_;
};

// Room for an array that a plug-in fills in, as an sfl_list, followed by guard bytes. Whatever the
// plug-in writes into the sfl_list but `count`, the host uses its own. Threads: one at a time.
template <typename T>
class GuardedList {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit GuardedList(size_t capacity) : buffer_(capacity * sizeof(T)), capacity_(capacity) {
    if constexpr (requires(T element) { element.struct_size; }) {
      for (size_t i = 0; i < capacity; ++i)
        reinterpret_cast<T*>(buffer_.data())[i].struct_size = sizeof(T);
    }
  }

  // To hand to the plug-in. `count` starts at 0.
  sfl_list abi() { return {buffer_.data(), sizeof(T), capacity_, 0}; }
  size_t capacity() const { return capacity_; }
  bool intact() const { return buffer_.intact(); }

  // The first `count` elements, at most the capacity.
  std::vector<T> Take(size_t count) const {
    std::vector<T> elements(count);
    if (count > 0) std::memcpy(elements.data(), buffer_.data(), count * sizeof(T));
    return elements;
  }

 private:
  GuardedBuffer buffer_;
  size_t capacity_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_ABI_GUARDED_VALUE_H_
