#ifndef SUPERFLUID_SHM_OWNED_FD_H_
#define SUPERFLUID_SHM_OWNED_FD_H_

#include <unistd.h>

#include <utility>

namespace superfluid {

// A file descriptor that is closed when its owner goes. Move-only; a moved-from one is empty.
//
// Threads: as a plain int; the owner decides. Errors of close(2) are ignored: nothing that we hold
// this way (sockets, memfds, eventfds) can lose data in it.
class OwnedFd {
 public:
  OwnedFd() = default;
  // Takes ownership of `fd`; a negative one makes an empty object.
  explicit OwnedFd(int fd) : fd_(fd) {}
  ~OwnedFd() { Reset(); }

  OwnedFd(OwnedFd&& other) noexcept : fd_(other.Release()) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept {
    if (this != &other) Reset(other.Release());
    return *this;
  }
  OwnedFd(const OwnedFd&) = delete;
  OwnedFd& operator=(const OwnedFd&) = delete;

  // The descriptor, still owned here; -1 if empty.
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

  // Gives the descriptor away; the caller closes it.
  int Release() { return std::exchange(fd_, -1); }

  // Closes what is held and takes ownership of `fd`.
  void Reset(int fd = -1) {
    const int old = std::exchange(fd_, fd);
    if (old >= 0) ::close(old);
  }

 private:
  int fd_ = -1;
};

}  // namespace superfluid

#endif  // SUPERFLUID_SHM_OWNED_FD_H_
