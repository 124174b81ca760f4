#ifndef SUPERFLUID_TESTS_SHM_FD_TEST_UTIL_H_
#define SUPERFLUID_TESTS_SHM_FD_TEST_UTIL_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "shm/owned_fd.h"

namespace superfluid::testing {

// Descriptors that this process has open now.
size_t CountOpenFds();

// Whether two descriptors name the same file.
bool SameFile(int a, int b);

bool HasCloseOnExec(int fd);

// An unsealed memfd of `bytes` with the seals `seals` (F_SEAL_*).
OwnedFd MakeMemfd(uint64_t bytes, int seals);

// Two connected Unix stream sockets.
std::pair<OwnedFd, OwnedFd> MakeSocketPair();

// Makes every call that needs a new descriptor fail with EMFILE while it lives.
class NoMoreFds {
 public:
  NoMoreFds();
  ~NoMoreFds();
  NoMoreFds(const NoMoreFds&) = delete;
  NoMoreFds& operator=(const NoMoreFds&) = delete;

 private:
  uint64_t old_limit_;
};

// Returns once thread `thread` of this process sleeps in the kernel (or is gone), so that a test
// can act upon a thread that really waits.
void AwaitBlocked(pid_t thread);
pid_t ThisThread();

}  // namespace superfluid::testing

#endif  // SUPERFLUID_TESTS_SHM_FD_TEST_UTIL_H_
