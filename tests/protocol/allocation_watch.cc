#include "tests/protocol/allocation_watch.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace superfluid {
namespace {

std::atomic<size_t> live{0};
std::atomic<size_t> peak{0};
std::atomic<size_t> count{0};

void* Allocate(size_t size) {
  void* memory = std::malloc(size);  // NOLINT(cppcoreguidelines-no-malloc): new is made of it
  if (memory == nullptr) throw std::bad_alloc();
  count.fetch_add(1);
  const size_t now = live.fetch_add(malloc_usable_size(memory)) + malloc_usable_size(memory);
  size_t before = peak.load();
  while (before < now && !peak.compare_exchange_weak(before, now)) {
  }
  return memory;
}

void Free(void* memory) {
  if (memory != nullptr) live.fetch_sub(malloc_usable_size(memory));
  std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc)
}

}  // namespace

AllocationWatch::AllocationWatch() : base_(live.load()), base_count_(count.load()) {
  peak.store(base_);
}

size_t AllocationWatch::Peak() const { return peak.load() - base_; }

size_t AllocationWatch::Count() const { return count.load() - base_count_; }

size_t AllocationWatch::Live() { return live.load(); }

}  // namespace superfluid

void* operator new(size_t size) { return superfluid::Allocate(size); }
void* operator new[](size_t size) { return superfluid::Allocate(size); }
void operator delete(void* memory) noexcept { superfluid::Free(memory); }
void operator delete[](void* memory) noexcept { superfluid::Free(memory); }
void operator delete(void* memory, size_t /*size*/) noexcept { superfluid::Free(memory); }
void operator delete[](void* memory, size_t /*size*/) noexcept { superfluid::Free(memory); }
