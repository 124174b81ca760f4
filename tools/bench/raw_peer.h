#ifndef SUPERFLUID_TOOLS_BENCH_RAW_PEER_H_
#define SUPERFLUID_TOOLS_BENCH_RAW_PEER_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "shm/owned_fd.h"
#include "tools/bench/turns.h"

namespace superfluid::bench {

// Serves one connection after the other, for ever: reads so many bytes and answers with so many.
// The limit that the machine sets: nothing is decoded and nobody else is woken.
absl::Status ServeRaw(const std::string& path);

// Goes to such a server and back with a request and an answer of given lengths.
class RawContestant : public Contestant {
 public:
  static absl::StatusOr<std::unique_ptr<RawContestant>> Connect(std::string name,
                                                                const std::string& path,
                                                                size_t request, size_t answer);
  std::string name() const override { return name_; }
  absl::Status RoundTrip() override;

 private:
  RawContestant(std::string name, OwnedFd fd, size_t request, size_t answer)
      : name_(std::move(name)), fd_(std::move(fd)), request_(request, 'q'), answer_(answer, 0) {}
  const std::string name_;
  const OwnedFd fd_;
  const std::string request_;
  std::string answer_;
};

}  // namespace superfluid::bench

#endif  // SUPERFLUID_TOOLS_BENCH_RAW_PEER_H_
