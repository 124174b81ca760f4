#include "tools/decode/decode_feed.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace superfluid::decode {
namespace {

constexpr size_t kChunkBytes = size_t{128} << 10;  // two seconds

}  // namespace

DecodeFeed::DecodeFeed(DecoderPool& pool, OwnedFd recording, const DecodeLimits& limits,
                       Target target)
    : pool_(pool),
      limits_(limits),
      target_(std::move(target)),
      stop_(eventfd(0, EFD_CLOEXEC)),
      thread_([this, fd = std::move(recording)] { Run(fd); }) {}

DecodeFeed::~DecodeFeed() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(stop_.get(), &one, sizeof(one));
  thread_.join();
}

void DecodeFeed::Run(const OwnedFd& recording) {
  const absl::StatusOr<DecodeSummary> outcome = Decode(recording.get());
  if (!absl::IsCancelled(outcome.status())) target_.ended(outcome);
}

// Cancelled: the feed is being destroyed. The process is gone in any case.
absl::StatusOr<DecodeSummary> DecodeFeed::Decode(int recording) const {
  const auto process = pool_.Begin(recording, limits_);
  if (!process.ok()) {
    return absl::UnavailableError(
        absl::StrCat("no decoder can be started: ", process.status().message()));
  }
  if (absl::Status status = PushAll((*process)->pcm_fd()); !status.ok()) return status;
  return (*process)->Finish();
}

absl::Status DecodeFeed::PushAll(int samples_fd) const {
  std::vector<char> block(kChunkBytes);
  while (WaitForSamples(samples_fd)) {
    const ssize_t got = read(samples_fd, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return absl::OkStatus();
    absl::Status status = target_.push({block.data(), static_cast<size_t>(got)});
    if (!status.ok()) return status;
  }
  return absl::CancelledError("stopped");
}

// True: samples or their end are there. False: stop.
bool DecodeFeed::WaitForSamples(int fd) const {
  std::array<pollfd, 2> fds = {pollfd{.fd = fd, .events = POLLIN, .revents = 0},
                               pollfd{.fd = stop_.get(), .events = POLLIN, .revents = 0}};
  while (poll(fds.data(), fds.size(), -1) < 0 && errno == EINTR) {
  }
  return fds[1].revents == 0;
}

}  // namespace superfluid::decode
