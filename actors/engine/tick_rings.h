#ifndef SUPERFLUID_ACTORS_ENGINE_TICK_RINGS_H_
#define SUPERFLUID_ACTORS_ENGINE_TICK_RINGS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/handles.h"
#include "engine/tick.h"
#include "protocol/messages/token_span.h"
#include "shm/ring.h"
#include "shm/segment.h"

namespace superfluid {

// The three rings of one link, as the worker uses them. Slots for output are taken in turn over all
// ticks, so a span stays readable until its ring has gone round once. Threads: one.
class TickRings {
 public:
  // Errors: those of RingReader and RingWriter.
  static absl::StatusOr<TickRings> Open(Segment in, Segment out, Segment logits);

  // The tokens of a span that the peer named, copied. Nothing is read for a span of 0 tokens.
  // Errors: REJECT_BAD_REF_GENERATION (the slot was written again), InvalidArgument (no such ring,
  // slot or words).
  absl::StatusOr<std::vector<Token>> ReadTokens(const linkw::TokenSpan& span) const;
  // The same, appended; after an error `to` is as before.
  absl::Status ReadTokens(const linkw::TokenSpan& span, std::vector<Token>& to) const;

  // A span of 0 tokens takes no slot. InvalidArgument: more than a slot holds.
  absl::StatusOr<linkw::TokenSpan> WriteTokens(absl::Span<const Token> tokens);

  // As pairs of a token and the bits of its logit.
  absl::StatusOr<linkw::TokenSpan> WriteLogits(absl::Span<const TokenLogit> logits);

 private:
  TickRings(RingReader in, RingWriter out, RingWriter logits)
      : in_(std::move(in)), out_(std::move(out)), logits_(std::move(logits)) {}

  RingReader in_;
  RingWriter out_;
  RingWriter logits_;
  uint32_t next_out_ = 0;
  uint32_t next_logits_ = 0;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_ENGINE_TICK_RINGS_H_
