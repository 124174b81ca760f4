#include "tools/decode/decode_feed.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <utility>

namespace superfluid::decode {
namespace {

constexpr uint64_t kBytesPerSecond = 16000 * sizeof(float);
constexpr size_t kChunkBytes = 32u << 10;  // half a second
constexpr int kLookAgainMs = 20;

absl::Duration LengthOf(uint64_t bytes) {
  return absl::Seconds(static_cast<double>(bytes) / kBytesPerSecond);
}

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

absl::Status DecodeFeed::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void DecodeFeed::Run(const OwnedFd& recording) {
  auto process = pool_.Begin(recording.get(), limits_);
  const absl::Status status = process.ok() ? Feed(**process) : process.status();
  if (status.ok()) return;
  {
    const std::lock_guard lock(mutex_);
    failure_ = status;
  }
  target_.failed();
}

// OK too if it was stopped, or the target wants no more; the process is killed then.
absl::Status DecodeFeed::Feed(DecodeProcess& process) {
  uint64_t sent = 0;
  while (WaitForSamples(process.pcm_fd())) {
    std::string samples(kChunkBytes, '\0');
    const ssize_t got = read(process.pcm_fd(), samples.data(), samples.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      if (absl::Status status = process.Finish().status(); !status.ok()) return status;
      target_.push("", true).IgnoreError();
      return absl::OkStatus();
    }
    samples.resize(static_cast<size_t>(got));
    sent += samples.size();
    if (!WaitUntilWanted(sent) || !target_.push(std::move(samples), false).ok()) break;
  }
  return absl::OkStatus();
}

// True: samples or their end are there. False: stop.
bool DecodeFeed::WaitForSamples(int fd) const {
  std::array<pollfd, 2> fds = {pollfd{.fd = fd, .events = POLLIN, .revents = 0},
                               pollfd{.fd = stop_.get(), .events = POLLIN, .revents = 0}};
  while (poll(fds.data(), fds.size(), -1) < 0 && errno == EINTR) {
  }
  return fds[1].revents == 0;
}

// Only another thread hears of what was used, so that is looked at again and again. False: stop.
bool DecodeFeed::WaitUntilWanted(uint64_t bytes) const {
  pollfd stop = {.fd = stop_.get(), .events = POLLIN, .revents = 0};
  while (LengthOf(bytes) - target_.consumed() > kMaxLead) {
    if (poll(&stop, 1, kLookAgainMs) > 0) return false;
  }
  return true;
}

}  // namespace superfluid::decode
