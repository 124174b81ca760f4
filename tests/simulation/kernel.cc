#include "tests/simulation/kernel.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/types.h>

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstddef>

namespace superfluid::simulation {
namespace {

KernelFaults faults;
bool worker_runs = false;
KernelHoldings held;
int64_t refusals = 0;
std::array<bool, 65536> is_held{};  // descriptors, by number

// Counts a call down; returns whether it is the one that fails.
bool IsTheBadOne(uint32_t& countdown) { return countdown > 0 && --countdown == 0; }

bool RefusesDescriptor() {
  if (!worker_runs) return false;
  const bool refused = IsTheBadOne(faults.bad_descriptor) || faults.no_descriptors;
  if (refused) ++refusals;
  return refused;
}

bool RefusesMapping() {
  const bool refused = worker_runs && IsTheBadOne(faults.bad_mapping);
  if (refused) ++refusals;
  return refused;
}

int Hold(int fd) {
  if (fd < 0 || static_cast<size_t>(fd) >= is_held.size()) return fd;
  is_held.at(static_cast<size_t>(fd)) = true;
  ++held.descriptors;
  return fd;
}

}  // namespace

void SetKernelFaults(const KernelFaults& the_faults) { faults = the_faults; }
WorkerRuns::WorkerRuns() { worker_runs = true; }
WorkerRuns::~WorkerRuns() { worker_runs = false; }
KernelHoldings HeldOfKernel() { return held; }
int64_t KernelRefusals() { return refusals; }

}  // namespace superfluid::simulation

using namespace superfluid::simulation;  // NOLINT(google-build-using-namespace): C names below

// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,readability-identifier-naming)
extern "C" {

int __real_memfd_create(const char* name, unsigned flags);
int __real_fcntl(int fd, int command, ...);
int __real_close(int fd);
void* __real_mmap(void* address, size_t size, int protection, int flags, int fd, off_t offset);
int __real_munmap(void* address, size_t size);

int __wrap_memfd_create(const char* name, unsigned flags) {
  if (RefusesDescriptor()) {
    errno = EMFILE;
    return -1;
  }
  return Hold(__real_memfd_create(name, flags));
}

int __wrap_fcntl(int fd, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  // The kernel ignores it where the command has none.
  const long argument = va_arg(arguments, long);
  va_end(arguments);
  if (command != F_DUPFD_CLOEXEC) return __real_fcntl(fd, command, argument);
  if (RefusesDescriptor()) {
    errno = EMFILE;
    return -1;
  }
  return Hold(__real_fcntl(fd, command, argument));
}

int __wrap_close(int fd) {
  if (fd >= 0 && static_cast<size_t>(fd) < is_held.size() && is_held.at(static_cast<size_t>(fd))) {
    is_held.at(static_cast<size_t>(fd)) = false;
    --held.descriptors;
  }
  return __real_close(fd);
}

void* __wrap_mmap(void* address, size_t size, int protection, int flags, int fd, off_t offset) {
  if ((flags & MAP_SHARED) == 0) {
    return __real_mmap(address, size, protection, flags, fd, offset);
  }
  if (RefusesMapping()) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  void* const mapped = __real_mmap(address, size, protection, flags, fd, offset);
  if (mapped != MAP_FAILED) ++held.mappings;
  return mapped;
}

// REQUIRES: of a mapping that mmap above counted, as all of the project's own are.
int __wrap_munmap(void* address, size_t size) {
  --held.mappings;
  return __real_munmap(address, size);
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,readability-identifier-naming)
