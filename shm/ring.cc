#include "shm/ring.h"

#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "shm/shared_word.h"

namespace superfluid {
namespace {

constexpr size_t kGenerationAt = 0;
constexpr size_t kCountAt = 8;
constexpr size_t kFlagsAt = 12;
constexpr size_t kWordBytes = sizeof(uint32_t);

// The callers have checked `slot` against the spec, whose rings fit into their segments.
std::byte* SlotAt(const Segment& segment, const RingSpec& spec, uint32_t slot) {
  return segment.data() + size_t{slot} * spec.slot_bytes;
}

absl::Status CheckSegment(const Segment& segment, const RingSpec& spec) {
  const absl::StatusOr<uint64_t> bytes = RingBytes(spec);
  if (!bytes.ok()) return bytes.status();
  if (segment.size() >= *bytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("ring ", spec.id, " needs ", *bytes,
                                                 " bytes, its segment has ", segment.size()));
}

absl::Status Stale(const SpanRef& span) {
  return absl::FailedPreconditionError(absl::StrCat("slot ", span.slot, " of ring ", span.ring,
                                                    " does not hold generation ", span.generation,
                                                    " any more"));
}

}  // namespace

absl::StatusOr<uint64_t> RingBytes(const RingSpec& spec) {
  if (spec.slots == 0 || spec.slot_bytes <= kRingSlotHeaderBytes || spec.slot_bytes % 8 != 0) {
    return absl::InvalidArgumentError(absl::StrCat("ring ", spec.id, " cannot have ", spec.slots,
                                                   " slots of ", spec.slot_bytes, " bytes"));
  }
  // Two 32-bit factors: the product cannot overflow 64 bits.
  static_assert(sizeof(spec.slots) == 4 && sizeof(spec.slot_bytes) == 4);
  return uint64_t{spec.slots} * spec.slot_bytes;
}

RingWriter::RingWriter(Segment segment, const RingSpec& spec)
    : segment_(std::move(segment)), spec_(spec), generations_(spec.slots, 0) {
  for (uint32_t slot = 0; slot < spec.slots; ++slot) {
    StoreShared<uint64_t>(SlotAt(segment_, spec_, slot) + kGenerationAt, 0);
  }
}

absl::StatusOr<RingWriter> RingWriter::Open(Segment segment, const RingSpec& spec) {
  if (absl::Status status = CheckSegment(segment, spec); !status.ok()) return status;
  if (!segment.writable()) {
    return absl::InvalidArgumentError("a ring's writer needs a writable segment");
  }
  return RingWriter(std::move(segment), spec);
}

absl::StatusOr<SpanRef> RingWriter::Write(uint32_t slot, absl::Span<const uint32_t> words,
                                          uint32_t flags) {
  if (slot >= spec_.slots) {
    return absl::OutOfRangeError(absl::StrCat("ring ", spec_.id, " has no slot ", slot));
  }
  if (words.size() > spec_.WordsPerSlot()) {
    return absl::InvalidArgumentError(
        absl::StrCat(words.size(), " words do not fit into a slot of ", spec_.WordsPerSlot()));
  }
  std::byte* at = SlotAt(segment_, spec_, slot);
  uint64_t& generation = generations_[slot];
  StoreShared<uint64_t>(at + kGenerationAt, generation + 1);
  StoreShared<uint32_t>(at + kCountAt, static_cast<uint32_t>(words.size()));
  StoreShared<uint32_t>(at + kFlagsAt, flags);
  std::byte* to = at + kRingSlotHeaderBytes;
  for (size_t i = 0; i < words.size(); ++i) StoreShared<uint32_t>(to + i * kWordBytes, words[i]);
  generation += 2;
  StoreShared<uint64_t>(at + kGenerationAt, generation);
  return SpanRef{spec_.id, slot, generation, 0, static_cast<uint32_t>(words.size())};
}

RingReader::RingReader(Segment segment, const RingSpec& spec)
    : segment_(std::move(segment)), spec_(spec) {}

absl::StatusOr<RingReader> RingReader::Open(Segment segment, const RingSpec& spec) {
  if (absl::Status status = CheckSegment(segment, spec); !status.ok()) return status;
  return RingReader(std::move(segment), spec);
}

absl::Status RingReader::CheckSpan(const SpanRef& span, size_t out_size) const {
  if (span.ring != spec_.id) {
    return absl::InvalidArgumentError(
        absl::StrCat("a span of ring ", span.ring, " does not belong to ring ", spec_.id));
  }
  if (span.slot >= spec_.slots) {
    return absl::OutOfRangeError(absl::StrCat("ring ", spec_.id, " has no slot ", span.slot));
  }
  if (span.generation < kRingGenerationBase || span.generation % 2 != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("no whole slot has generation ", span.generation));
  }
  if (uint64_t{span.offset} + span.count > spec_.WordsPerSlot()) {
    return absl::OutOfRangeError(absl::StrCat(span.count, " words at offset ", span.offset,
                                              " do not lie in a slot of ", spec_.WordsPerSlot()));
  }
  if (out_size != span.count) {
    return absl::InvalidArgumentError(
        absl::StrCat("room for ", out_size, " words, a span of ", span.count));
  }
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> RingReader::Read(const SpanRef& span, absl::Span<uint32_t> out) const {
  if (absl::Status status = CheckSpan(span, out.size()); !status.ok()) return status;
  const std::byte* at = SlotAt(segment_, spec_, span.slot);
  if (LoadShared<uint64_t>(at + kGenerationAt) != span.generation) return Stale(span);
  // Each word is read once; whether all were of one version shows only afterwards.
  const auto count = LoadShared<uint32_t>(at + kCountAt);
  const auto flags = LoadShared<uint32_t>(at + kFlagsAt);
  const std::byte* from = at + kRingSlotHeaderBytes + size_t{span.offset} * kWordBytes;
  for (size_t i = 0; i < out.size(); ++i) out[i] = LoadShared<uint32_t>(from + i * kWordBytes);
  if (LoadShared<uint64_t>(at + kGenerationAt) != span.generation) return Stale(span);
  if (uint64_t{span.offset} + span.count > count) {
    return absl::OutOfRangeError(absl::StrCat(
        "the span ends at word ", uint64_t{span.offset} + span.count, ", its slot holds ", count));
  }
  return flags;
}

}  // namespace superfluid
