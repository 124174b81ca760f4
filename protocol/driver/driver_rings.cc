#include "protocol/driver/driver_rings.h"

#include <bit>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "protocol/driver/expect_reply.h"
#include "protocol/driver/slot_packer.h"
#include "protocol/messages/status.h"
#include "shm/owned_fd.h"
#include "shm/segment.h"

namespace superfluid::linkw {
namespace {

// What a worker may make us allocate for a ring.
constexpr uint64_t kMaxRingBytes = uint64_t{1} << 30;

uint32_t Raw(RingId id) { return static_cast<uint32_t>(id); }

absl::Status Missing(RingId id, const std::string& why) {
  return MakeStatus(Status::kFailedPrecondition,
                    absl::StrCat("the worker announced ", why, " ring ", Raw(id)));
}

absl::StatusOr<RingSpec> FindSpec(const Limits& limits, RingId id) {
  for (const RingSpec& spec : limits.ring_specs) {
    if (spec.ring_id == id) return spec;
  }
  return Missing(id, "no");
}

superfluid::RingSpec ToShm(const RingSpec& spec) {
  return {.id = Raw(spec.ring_id), .slot_bytes = spec.slot_bytes, .slots = spec.slots};
}

absl::StatusOr<Segment> MakeRing(const RingSpec& spec) {
  const absl::StatusOr<uint64_t> bytes = RingBytes(ToShm(spec));
  if (!bytes.ok() || *bytes > kMaxRingBytes) return Missing(spec.ring_id, "an impossible");
  return Segment::Create(*bytes, absl::StrCat("superfluid-ring-", Raw(spec.ring_id)));
}

struct AttachedRing {
  Segment segment;
  superfluid::RingSpec spec;
};

absl::StatusOr<AttachedRing> AttachRing(LinkClient& client, RingId id) {
  const absl::StatusOr<RingSpec> spec = FindSpec(client.hello_ack().limits, id);
  if (!spec.ok()) return spec.status();
  absl::StatusOr<Segment> segment = MakeRing(*spec);
  if (!segment.ok()) return segment.status();
  const absl::StatusOr<OwnedFd> fd = segment->DuplicateFd();
  if (!fd.ok()) return fd.status();
  if (absl::Status status = client.SendFd(Raw(id), fd->get()); !status.ok()) return status;
  const absl::StatusOr<RingAck> ack =
      ExpectReply<RingAck>(client.Request(RingAttach{.ring_id = id, .layout = *spec}));
  if (!ack.ok()) return ack.status();
  return AttachedRing{*std::move(segment), ToShm(*spec)};
}

absl::StatusOr<RingReader> AttachReader(LinkClient& client, RingId id) {
  absl::StatusOr<AttachedRing> ring = AttachRing(client, id);
  if (!ring.ok()) return ring.status();
  return RingReader::Open(std::move(ring->segment), ring->spec);
}

absl::StatusOr<DaemonControl> AttachControl(LinkClient& client) {
  absl::StatusOr<DaemonControl> control = DaemonControl::Create();
  if (!control.ok()) return control.status();
  const absl::StatusOr<OwnedFd> fd = control->DuplicateFd();
  if (!fd.ok()) return fd.status();
  if (absl::Status status = client.SendFd(kControlTag, fd->get()); !status.ok()) return status;
  const absl::StatusOr<ControlAck> ack =
      ExpectReply<ControlAck>(client.Request(ControlAttach{.bytes = kControlBytes}));
  if (!ack.ok()) return ack.status();
  return control;
}

// The count is the worker's: it is held against the ring before anything is allocated for it.
absl::StatusOr<std::vector<uint32_t>> ReadWords(const RingReader& ring, const TokenSpan& span) {
  if (span.count == 0) return std::vector<uint32_t>();
  if (span.count > ring.spec().WordsPerSlot()) {
    return absl::OutOfRangeError(
        absl::StrCat("a span of ", span.count, " words in a slot of ", ring.spec().WordsPerSlot()));
  }
  std::vector<uint32_t> words(span.count);
  const absl::StatusOr<uint32_t> flags =
      ring.Read({Raw(span.ring_id), span.slot, span.generation, span.offset, span.count},
                absl::MakeSpan(words));
  if (flags.ok()) return words;
  if (!absl::IsFailedPrecondition(flags.status())) return flags.status();
  return MakeStatus(Status::kRejectBadRefGeneration, std::string(flags.status().message()));
}

TokenSpan SpanOf(const SpanRef& slot, const PackedInputs::Place& place, size_t count) {
  return {.ring_id = RingId{slot.ring},
          .slot = slot.slot,
          .generation = slot.generation,
          .offset = place.offset,
          .count = static_cast<uint32_t>(count)};
}

}  // namespace

DriverRings::DriverRings(RingWriter in, RingReader out, RingReader logits, DaemonControl control)
    : in_spec_(in.spec()),
      in_(std::move(in)),
      out_(std::move(out)),
      logits_(std::move(logits)),
      control_(std::move(control)) {}

absl::StatusOr<std::unique_ptr<DriverRings>> DriverRings::Attach(LinkClient& client) {
  absl::StatusOr<DaemonControl> control = AttachControl(client);
  if (!control.ok()) return control.status();
  absl::StatusOr<AttachedRing> in_ring = AttachRing(client, linkw::kTokenInRing);
  if (!in_ring.ok()) return in_ring.status();
  absl::StatusOr<RingWriter> in = RingWriter::Open(std::move(in_ring->segment), in_ring->spec);
  if (!in.ok()) return in.status();
  absl::StatusOr<RingReader> out = AttachReader(client, linkw::kTokenOutRing);
  if (!out.ok()) return out.status();
  absl::StatusOr<RingReader> logits = AttachReader(client, linkw::kLogitsRing);
  if (!logits.ok()) return logits.status();
  return absl::WrapUnique(
      new DriverRings(*std::move(in), *std::move(out), *std::move(logits), *std::move(control)));
}

absl::StatusOr<TokenSpan> DriverRings::WriteTokens(absl::Span<const Token> tokens) {
  absl::StatusOr<std::vector<TokenSpan>> spans = WriteInputs(absl::MakeConstSpan(&tokens, 1));
  if (!spans.ok()) return spans.status();
  return spans->front();
}

absl::StatusOr<std::vector<TokenSpan>> DriverRings::WriteInputs(
    absl::Span<const absl::Span<const Token>> inputs) {
  const absl::StatusOr<PackedInputs> packed =
      PackInputs(inputs, max_input_tokens(), in_spec_.slots);
  if (!packed.ok()) return packed.status();
  std::vector<SpanRef> slots;
  {
    absl::MutexLock lock(&mutex_);
    for (const std::vector<Token>& words : packed->slots) {
      const absl::StatusOr<SpanRef> slot = in_.Write(next_slot_, words, /*flags=*/0);
      if (!slot.ok()) return slot.status();
      next_slot_ = (next_slot_ + 1) % in_spec_.slots;
      slots.push_back(*slot);
    }
  }
  std::vector<TokenSpan> spans;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const PackedInputs::Place& place = packed->places[i];
    spans.push_back(inputs[i].empty() ? TokenSpan{}
                                      : SpanOf(slots[place.slot], place, inputs[i].size()));
  }
  return spans;
}

absl::StatusOr<std::vector<Token>> DriverRings::ReadTokens(const TokenSpan& span) const {
  return ReadWords(out_, span);
}

absl::StatusOr<std::vector<TokenLogit>> DriverRings::ReadLogits(const TokenSpan& span) const {
  const absl::StatusOr<std::vector<uint32_t>> words = ReadWords(logits_, span);
  if (!words.ok()) return words.status();
  if (words->size() % 2 != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(words->size(), " words are not pairs of a token and its logit"));
  }
  std::vector<TokenLogit> logits;
  for (size_t i = 0; i < words->size(); i += 2) {
    logits.push_back({(*words)[i], std::bit_cast<float>((*words)[i + 1])});
  }
  return logits;
}

absl::Status DriverRings::SetLaneStop(uint32_t stop_slot, bool stop) {
  if (stop_slot == 0) return absl::OutOfRangeError("stop slots count from 1");
  return control_.SetLaneStop(stop_slot - 1, stop);
}

}  // namespace superfluid::linkw
