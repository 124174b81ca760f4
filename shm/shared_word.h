#ifndef SUPERFLUID_SHM_SHARED_WORD_H_
#define SUPERFLUID_SHM_SHARED_WORD_H_

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace superfluid {

// Words of shared memory, which a peer may write at any moment. Going through atomics keeps that
// from being undefined behaviour here; loads acquire and stores release, so that one thread's
// stores are seen in order by a peer that loads in order (what the rings and the heartbeat need)
// without fences, which ThreadSanitizer does not understand. Layouts are little-endian, as is every
// machine this runs on.
//
// `at` must lie in mapped memory and be aligned to the word: callers check bounds beforehand. The
// memory may be mapped read-only for loads.
static_assert(std::endian::native == std::endian::little);
static_assert(std::atomic_ref<uint32_t>::is_always_lock_free);
static_assert(std::atomic_ref<uint64_t>::is_always_lock_free);

template <typename Word>
inline Word LoadShared(const std::byte* at) {
  // atomic_ref<const T> is C++26; a load does not write.
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
  auto* word = reinterpret_cast<Word*>(const_cast<std::byte*>(at));
  return std::atomic_ref<Word>(*word).load(std::memory_order_acquire);
}

template <typename Word>
inline void StoreShared(std::byte* at, Word value) {
  auto* word = reinterpret_cast<Word*>(at);
  std::atomic_ref<Word>(*word).store(value, std::memory_order_release);
}

}  // namespace superfluid

#endif  // SUPERFLUID_SHM_SHARED_WORD_H_
