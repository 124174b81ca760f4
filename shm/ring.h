#ifndef SUPERFLUID_SHM_RING_H_
#define SUPERFLUID_SHM_RING_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "shm/segment.h"

namespace superfluid {

// A ring is an array of slots in a segment, written by one process and read by the other. Bytes of
// a slot: 0 u64 generation, 8 u32 count, 12 u32 flags, 16 the words (32 bits: tokens or the bits of
// a float). The generation is odd while the slot is written and even when it is whole; the first
// write makes it 1, then 2. A SpanRef, sent over the frames, says what to read.
inline constexpr uint32_t kRingSlotHeaderBytes = 16;
inline constexpr uint64_t kRingGenerationBase = 1;

struct RingSpec {
  uint32_t id = 0;
  uint32_t slot_bytes = 0;  // header included; a multiple of 8, more than 16
  uint32_t slots = 0;       // at least 1

  uint32_t WordsPerSlot() const {
    return slot_bytes < kRingSlotHeaderBytes ? 0 : (slot_bytes - kRingSlotHeaderBytes) / 4;
  }
  friend bool operator==(const RingSpec&, const RingSpec&) = default;
};

inline constexpr RingSpec kTokenInRing = {1, 16 + 4096 * 4, 64};
inline constexpr RingSpec kTokenOutRing = {2, 16 + 1024 * 4, 256};
inline constexpr RingSpec kLogitsRing = {3, 16 + 64 * 4, 32};

// The bytes that a ring takes. InvalidArgument if the spec breaks the rules above.
absl::StatusOr<uint64_t> RingBytes(const RingSpec& spec);

// `count` words from word `offset` of one version of a slot. Nothing in it is to be believed.
struct SpanRef {
  uint32_t ring = 0;
  uint32_t slot = 0;
  uint64_t generation = 0;
  uint32_t offset = 0;
  uint32_t count = 0;
  friend bool operator==(const SpanRef&, const SpanRef&) = default;
};

// The writing end. It trusts nothing in the memory: geometry and generations are its own copies.
// Threads: one at a time. Lifetime: owns its segment.
class RingWriter {
 public:
  // Starts every slot afresh. InvalidArgument: bad spec, segment too small or not writable.
  static absl::StatusOr<RingWriter> Open(Segment segment, const RingSpec& spec);

  // Replaces what slot `slot` holds; spans of its old contents become stale. Errors: OutOfRange (no
  // such slot), InvalidArgument (more words than a slot holds).
  absl::StatusOr<SpanRef> Write(uint32_t slot, absl::Span<const uint32_t> words, uint32_t flags);

  const RingSpec& spec() const { return spec_; }
  const Segment& segment() const { return segment_; }

 private:
  RingWriter(Segment segment, const RingSpec& spec);

  Segment segment_;
  RingSpec spec_;
  std::vector<uint64_t> generations_;  // of each slot's last write, even
};

// The reading end. Threads: const, so several may read. Lifetime: owns its segment.
class RingReader {
 public:
  // The segment may be mapped read-only. InvalidArgument: bad spec, segment too small.
  static absl::StatusOr<RingReader> Open(Segment segment, const RingSpec& spec);

  // Copies the span into `out` and returns the slot's flags. The copy is whole if this succeeds,
  // whatever the writer does meanwhile; on error `out` holds rubbish. Errors:
  //   FailedPrecondition  the slot holds another generation, or got one while we read: the span is
  //                       stale (Link W's REJECT_BAD_REF_GENERATION)
  //   OutOfRange          no such slot, or the span goes beyond what the slot holds
  //   InvalidArgument     another ring's span, a generation that no whole slot has (0 or odd), or
  //                       out.size() is not span.count
  absl::StatusOr<uint32_t> Read(const SpanRef& span, absl::Span<uint32_t> out) const;

  const RingSpec& spec() const { return spec_; }
  const Segment& segment() const { return segment_; }

 private:
  RingReader(Segment segment, const RingSpec& spec);
  absl::Status CheckSpan(const SpanRef& span, size_t out_size) const;

  Segment segment_;
  RingSpec spec_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_SHM_RING_H_
