#include "shm/control.h"

#include <atomic>
#include <utility>

#include "absl/strings/str_cat.h"
#include "shm/shared_word.h"

namespace superfluid {
namespace {

constexpr uint32_t kMagic = 0x434C4653;  // "SFLC"
constexpr size_t kMagicAt = 0;
constexpr size_t kVersionAt = 4;
constexpr size_t kSizeAt = 8;
constexpr size_t kLanesAt = 16;
constexpr size_t kSlotsAt = 20;
constexpr size_t kSequenceAt = 64;
constexpr size_t kTickIdAt = 72;
constexpr size_t kMonotonicAt = 80;
constexpr size_t kStopBitsAt = 128;
constexpr size_t kStopWordsAt = 192;
constexpr size_t kWordBytes = 8;
static_assert(kStopWordsAt + kControlTranscriptionSlots * kWordBytes == kControlBytes);
static_assert(kStopBitsAt + kControlLanes / 8 <= kStopWordsAt);

// Room for peers that round up to a huge page, no more.
constexpr uint64_t kMaxControlBytes = uint64_t{2} << 20;
constexpr int kHeartbeatAttempts = 64;

size_t StopBitWordAt(uint32_t lane) { return kStopBitsAt + lane / 64 * kWordBytes; }
uint64_t StopBit(uint32_t lane) { return uint64_t{1} << (lane % 64); }
size_t StopWordAt(uint32_t slot) { return kStopWordsAt + slot * kWordBytes; }

void WriteHeader(std::byte* data) {
  StoreShared<uint32_t>(data + kMagicAt, kMagic);
  StoreShared<uint32_t>(data + kVersionAt, kControlVersion);
  StoreShared<uint64_t>(data + kSizeAt, kControlBytes);
  StoreShared<uint32_t>(data + kLanesAt, kControlLanes);
  StoreShared<uint32_t>(data + kSlotsAt, kControlTranscriptionSlots);
}

absl::Status CheckHeader(const std::byte* data) {
  if (LoadShared<uint32_t>(data + kMagicAt) != kMagic) {
    return absl::InvalidArgumentError("the segment is not a control segment");
  }
  if (const auto version = LoadShared<uint32_t>(data + kVersionAt); version != kControlVersion) {
    return absl::InvalidArgumentError(
        absl::StrCat("the control segment has version ", version, ", not ", kControlVersion));
  }
  if (LoadShared<uint64_t>(data + kSizeAt) != kControlBytes ||
      LoadShared<uint32_t>(data + kLanesAt) != kControlLanes ||
      LoadShared<uint32_t>(data + kSlotsAt) != kControlTranscriptionSlots) {
    return absl::InvalidArgumentError("the control segment has another layout");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<WorkerControl> WorkerControl::Attach(OwnedFd fd, uint64_t bytes) {
  if (bytes < kControlBytes) {
    return absl::InvalidArgumentError(absl::StrCat("a control segment has ", kControlBytes,
                                                   " bytes, ", bytes, " were announced"));
  }
  absl::StatusOr<Segment> segment = Segment::Attach(std::move(fd), bytes, SegmentAccess::kReadWrite,
                                                    {.max_bytes = kMaxControlBytes});
  if (!segment.ok()) return segment.status();
  if (absl::Status status = CheckHeader(segment->data()); !status.ok()) return status;
  return WorkerControl(*std::move(segment));
}

void WorkerControl::Beat(const Heartbeat& heartbeat) {
  std::byte* data = segment_.data();
  StoreShared<uint64_t>(data + kSequenceAt, ++sequence_);
  StoreShared<uint64_t>(data + kTickIdAt, heartbeat.tick_id);
  StoreShared<uint64_t>(data + kMonotonicAt, heartbeat.monotonic_ns);
  StoreShared<uint64_t>(data + kSequenceAt, ++sequence_);
}

bool WorkerControl::LaneStopped(uint32_t lane) const {
  if (lane >= kControlLanes) return false;
  return (LoadShared<uint64_t>(segment_.data() + StopBitWordAt(lane)) & StopBit(lane)) != 0;
}

bool WorkerControl::TranscriptionStopped(uint32_t slot, uint64_t request_seq) const {
  if (slot >= kControlTranscriptionSlots || request_seq == 0) return false;
  return LoadShared<uint64_t>(segment_.data() + StopWordAt(slot)) == request_seq;
}

absl::StatusOr<DaemonControl> DaemonControl::Create() {
  absl::StatusOr<Segment> segment = Segment::Create(kControlBytes, "superfluid-control");
  if (!segment.ok()) return segment.status();
  WriteHeader(segment->data());
  return DaemonControl(*std::move(segment));
}

absl::Status DaemonControl::SetLaneStop(uint32_t lane, bool stop) {
  if (lane >= kControlLanes) return absl::OutOfRangeError(absl::StrCat("no lane ", lane));
  auto* word = reinterpret_cast<uint64_t*>(segment_.data() + StopBitWordAt(lane));
  const std::atomic_ref<uint64_t> bits(*word);
  if (stop) {
    bits.fetch_or(StopBit(lane), std::memory_order_acq_rel);
  } else {
    bits.fetch_and(~StopBit(lane), std::memory_order_acq_rel);
  }
  return absl::OkStatus();
}

absl::Status DaemonControl::StopTranscription(uint32_t slot, uint64_t request_seq) {
  if (slot >= kControlTranscriptionSlots) {
    return absl::OutOfRangeError(absl::StrCat("no transcription slot ", slot));
  }
  StoreShared<uint64_t>(segment_.data() + StopWordAt(slot), request_seq);
  return absl::OkStatus();
}

absl::StatusOr<Heartbeat> DaemonControl::ReadHeartbeat() const {
  const std::byte* data = segment_.data();
  for (int attempt = 0; attempt < kHeartbeatAttempts; ++attempt) {
    const auto before = LoadShared<uint64_t>(data + kSequenceAt);
    const Heartbeat heartbeat = {LoadShared<uint64_t>(data + kTickIdAt),
                                 LoadShared<uint64_t>(data + kMonotonicAt)};
    if (before % 2 == 0 && LoadShared<uint64_t>(data + kSequenceAt) == before) return heartbeat;
  }
  return absl::UnavailableError("the worker keeps writing its heartbeat");
}

}  // namespace superfluid
