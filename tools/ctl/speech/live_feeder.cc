#include "tools/ctl/speech/live_feeder.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "tools/ctl/base/monotonic.h"

namespace superfluid::ctl {
namespace {

constexpr absl::Duration kChunk = absl::Milliseconds(100);
constexpr absl::Duration kLookAgain = absl::Milliseconds(20);
// Well below what a frame may carry, and enough for any sensible format's chunk.
constexpr uint64_t kMaxChunkBytes = 32u << 10;

size_t ChunkBytes(const PcmReader& reader) {
  const auto per_chunk = static_cast<uint64_t>(absl::ToDoubleSeconds(kChunk) *
                                               static_cast<double>(reader.bytes_per_second()));
  return std::clamp<uint64_t>(per_chunk, 1, kMaxChunkBytes);
}

}  // namespace

LiveFeeder::LiveFeeder(PcmReader& reader, double speed, PushSamples push,
                       std::function<absl::Duration()> consumed,
                       std::function<void(const absl::Status&)> on_error)
    : reader_(reader),
      speed_(speed),
      push_(std::move(push)),
      consumed_(std::move(consumed)),
      on_error_(std::move(on_error)),
      start_(MonotonicNow()),
      stop_(eventfd(0, EFD_CLOEXEC)),
      thread_([this] { Feed(); }) {}

LiveFeeder::~LiveFeeder() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(stop_.get(), &one, sizeof(one));
  thread_.join();
}

void LiveFeeder::Feed() {
  const size_t chunk_bytes = ChunkBytes(reader_);
  uint64_t sent_bytes = 0;
  while (true) {
    absl::StatusOr<std::string> samples = reader_.Read(chunk_bytes, stop_.get());
    if (!samples.ok()) {
      if (!absl::IsCancelled(samples.status())) on_error_(samples.status());
      return;
    }
    const bool end = samples->empty();
    sent_bytes += samples->size();
    if (!WaitUntilSpoken(sent_bytes) || !WaitUntilWanted(sent_bytes)) return;
    if (!push_(*std::move(samples), end).ok() || end) return;
  }
}

absl::Duration LiveFeeder::LengthOf(uint64_t bytes) const {
  return absl::Seconds(static_cast<double>(bytes) /
                       static_cast<double>(reader_.bytes_per_second()));
}

// Until the last of `bytes` would have been said. False: the feeder is being destroyed.
bool LiveFeeder::WaitUntilSpoken(uint64_t bytes) const {
  if (speed_ <= 0) return Wait(absl::ZeroDuration());
  return Wait(start_ + LengthOf(bytes) / speed_ - MonotonicNow());
}

// Until the last of `bytes` is near enough to what has been consumed. Only another thread hears of
// that, so the figure is looked at again and again. False: the feeder is being destroyed.
bool LiveFeeder::WaitUntilWanted(uint64_t bytes) const {
  const absl::Duration length = LengthOf(bytes);
  while (length - consumed_() > kMaxLiveLead) {
    if (!Wait(kLookAgain)) return false;
  }
  return true;
}

bool LiveFeeder::Wait(absl::Duration duration) const {
  pollfd stop = {.fd = stop_.get(), .events = POLLIN, .revents = 0};
  const int64_t ms = std::clamp<int64_t>(absl::ToInt64Milliseconds(duration), 0, 60'000);
  return poll(&stop, 1, static_cast<int>(ms)) <= 0;
}

}  // namespace superfluid::ctl
