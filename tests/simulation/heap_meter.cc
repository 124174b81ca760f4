#include "tests/simulation/heap_meter.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace superfluid::simulation {
namespace {

std::atomic<int64_t> live_bytes{0};

}  // namespace

int64_t LiveHeapBytes() { return live_bytes.load(std::memory_order_relaxed); }

}  // namespace superfluid::simulation

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {

void* Allocate(size_t bytes) {
  void* const memory = std::malloc(bytes);  // NOLINT(cppcoreguidelines-no-malloc)
  if (memory == nullptr) throw std::bad_alloc();
  superfluid::simulation::live_bytes.fetch_add(static_cast<int64_t>(malloc_usable_size(memory)),
                                               std::memory_order_relaxed);
  return memory;
}

void Release(void* memory) {
  if (memory == nullptr) return;
  superfluid::simulation::live_bytes.fetch_sub(static_cast<int64_t>(malloc_usable_size(memory)),
                                               std::memory_order_relaxed);
  std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc)
}

}  // namespace

void* operator new(size_t bytes) { return Allocate(bytes == 0 ? 1 : bytes); }
void operator delete(void* memory) noexcept { Release(memory); }
void operator delete(void* memory, size_t /*bytes*/) noexcept { Release(memory); }

#endif
