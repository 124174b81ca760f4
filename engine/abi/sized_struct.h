#ifndef SUPERFLUID_ENGINE_ABI_SIZED_STRUCT_H_
#define SUPERFLUID_ENGINE_ABI_SIZED_STRUCT_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace superfluid {

// Copies of structs of the C interface that were allocated by the other side, which may know a
// shorter or a longer T than this side. Nothing outside the first struct_size bytes is read or
// written. REQUIRES of every `raw`: at least 4 bytes, which are its struct_size.

template <typename T>
concept SizedStruct =
    std::is_trivially_copyable_v<T> && std::is_same_v<decltype(T::struct_size), uint32_t>;

template <SizedStruct T>
uint32_t SizeInBoth(const T* raw) {
  uint32_t size;
  std::memcpy(&size, raw, sizeof size);
  return std::min<uint32_t>(size, sizeof(T));
}

// The fields of *raw, zero where *raw has none. The copy's struct_size is what both sides know.
// `raw` need not be aligned.
template <SizedStruct T>
T CopyIn(const T* raw) {
  T copy;
  std::memset(static_cast<void*>(&copy), 0, sizeof copy);
  const uint32_t size = SizeInBoth(raw);
  std::memcpy(&copy, raw, size);
  copy.struct_size = size;
  return copy;
}

// Writes `value` to *raw as far as *raw goes; the struct_size there stays as it is.
template <SizedStruct T>
void CopyOut(const T& value, T* raw) {
  const uint32_t size = SizeInBoth(raw);
  constexpr size_t kHeader = sizeof value.struct_size;
  if (size <= kHeader) return;
  std::memcpy(reinterpret_cast<unsigned char*>(raw) + kHeader,
              reinterpret_cast<const unsigned char*>(&value) + kHeader, size - kHeader);
}

// Lets `fill(T&)` change a copy of *raw, and writes the copy back.
template <SizedStruct T, typename Fill>
void FillIn(T* raw, Fill&& fill) {
  T copy = CopyIn(raw);
  fill(copy);
  CopyOut(copy, raw);
}

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_ABI_SIZED_STRUCT_H_
