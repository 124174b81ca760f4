#include "tools/bench/raw_peer.h"

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <utility>

#include "absl/memory/memory.h"
#include "tools/bench/listen.h"
#include "tools/bench/wire_client.h"

namespace superfluid::bench {
namespace {

using Lengths = std::array<uint64_t, 2>;  // of a request and of its answer, the first bytes sent

void ServeOne(int fd) {
  Lengths lengths = {};
  if (!ReadAll(fd, reinterpret_cast<char*>(lengths.data()), sizeof(lengths)).ok()) return;
  std::string request(lengths[0], 0);
  const std::string answer(lengths[1], 'a');
  while (ReadAll(fd, request.data(), request.size()).ok()) {
    if (!WriteAll(fd, answer).ok()) return;
  }
}

}  // namespace

absl::Status ServeRaw(const std::string& path) {
  const absl::StatusOr<OwnedFd> listener = ListenBlocking(path);
  if (!listener.ok()) return listener.status();
  while (true) {
    const OwnedFd peer(accept4(listener->get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (peer.get() >= 0) ServeOne(peer.get());
  }
}

absl::StatusOr<std::unique_ptr<RawContestant>> RawContestant::Connect(std::string name,
                                                                      const std::string& path,
                                                                      size_t request,
                                                                      size_t answer) {
  absl::StatusOr<OwnedFd> fd = ConnectBlocking(path);
  if (!fd.ok()) return fd.status();
  const Lengths lengths = {request, answer};
  absl::Status status =
      WriteAll(fd->get(), {reinterpret_cast<const char*>(lengths.data()), sizeof(lengths)});
  if (!status.ok()) return status;
  return absl::WrapUnique(new RawContestant(std::move(name), *std::move(fd), request, answer));
}

absl::Status RawContestant::RoundTrip() {
  absl::Status status = WriteAll(fd_.get(), request_);
  if (!status.ok()) return status;
  return ReadAll(fd_.get(), answer_.data(), answer_.size());
}

}  // namespace superfluid::bench
