#include "actors/engine/tick_rings.h"

#include <bit>
#include <string>

#include "absl/status/status.h"
#include "protocol/messages/status.h"

namespace superfluid {
namespace {

linkw::TokenSpan ToWire(const SpanRef& span) {
  return {.ring_id = linkw::RingId(span.ring),
          .slot = span.slot,
          .generation = span.generation,
          .offset = span.offset,
          .count = span.count};
}

SpanRef FromWire(const linkw::TokenSpan& span) {
  return {.ring = static_cast<uint32_t>(span.ring_id),
          .slot = span.slot,
          .generation = span.generation,
          .offset = span.offset,
          .count = span.count};
}

absl::StatusOr<linkw::TokenSpan> WriteNext(RingWriter& ring, uint32_t& next,
                                           absl::Span<const uint32_t> words) {
  if (words.empty()) return linkw::TokenSpan{.ring_id = linkw::RingId(ring.spec().id)};
  const absl::StatusOr<SpanRef> written = ring.Write(next, words, 0);
  if (!written.ok()) return written.status();
  next = (next + 1) % ring.spec().slots;
  return ToWire(*written);
}

}  // namespace

absl::StatusOr<TickRings> TickRings::Open(Segment in, Segment out, Segment logits) {
  absl::StatusOr<RingReader> reader = RingReader::Open(std::move(in), kTokenInRing);
  if (!reader.ok()) return reader.status();
  absl::StatusOr<RingWriter> out_writer = RingWriter::Open(std::move(out), kTokenOutRing);
  if (!out_writer.ok()) return out_writer.status();
  absl::StatusOr<RingWriter> logits_writer = RingWriter::Open(std::move(logits), kLogitsRing);
  if (!logits_writer.ok()) return logits_writer.status();
  return TickRings(*std::move(reader), *std::move(out_writer), *std::move(logits_writer));
}

absl::StatusOr<std::vector<Token>> TickRings::ReadTokens(const linkw::TokenSpan& span) const {
  std::vector<Token> tokens;
  if (absl::Status read = ReadTokens(span, tokens); !read.ok()) return read;
  return tokens;
}

absl::Status TickRings::ReadTokens(const linkw::TokenSpan& span, std::vector<Token>& to) const {
  if (span.count == 0) return absl::OkStatus();
  // Before anything is allocated for it: the count is the peer's.
  if (span.count > in_.spec().WordsPerSlot()) {
    return absl::InvalidArgumentError("the token span is longer than a slot");
  }
  const size_t before = to.size();
  to.resize(before + span.count);
  const absl::StatusOr<uint32_t> read =
      in_.Read(FromWire(span), absl::MakeSpan(to).subspan(before));
  if (read.ok()) return absl::OkStatus();
  to.resize(before);
  const std::string text(read.status().message());
  if (absl::IsFailedPrecondition(read.status())) {
    return linkw::MakeStatus(linkw::Status::kRejectBadRefGeneration, text);
  }
  return linkw::MakeStatus(linkw::Status::kInvalidArgument, text);
}

absl::StatusOr<linkw::TokenSpan> TickRings::WriteTokens(absl::Span<const Token> tokens) {
  return WriteNext(out_, next_out_, tokens);
}

absl::StatusOr<linkw::TokenSpan> TickRings::WriteLogits(absl::Span<const TokenLogit> logits) {
  std::vector<uint32_t> words;
  words.reserve(2 * logits.size());
  for (const TokenLogit& logit : logits) {
    words.push_back(logit.token);
    words.push_back(std::bit_cast<uint32_t>(logit.logit));
  }
  return WriteNext(logits_, next_logits_, words);
}

}  // namespace superfluid
