#ifndef SUPERFLUID_PROTOCOL_DRIVER_DRIVER_RINGS_H_
#define SUPERFLUID_PROTOCOL_DRIVER_DRIVER_RINGS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "protocol/client/link_client.h"
#include "protocol/messages/messages.h"
#include "shm/control.h"
#include "shm/ring.h"

namespace superfluid::linkw {

struct TokenLogit {
  Token token = 0;
  float logit = 0;
  friend bool operator==(const TokenLogit&, const TokenLogit&) = default;
};

// A driver's end of the shared memory that ticks need: the three rings and the control segment.
//
// Slots of the in ring are used round robin, so what was written stays readable until as many slots
// as the ring has were written after it: submit a tick before you write the next one's input.
//
// Threads: any may call any method; writes take a lock, and reads, stops and the heartbeat none.
// Lifetime: independent of the client once it is attached.
class DriverRings {
 public:
  // Makes the four segments, as the worker announced them, and attaches them. Errors:
  // FailedPrecondition (no fds connection; the worker announced no such ring, or one that makes no
  // sense), ResourceExhausted (memory), what the worker answers, those of a link.
  static absl::StatusOr<std::unique_ptr<DriverRings>> Attach(LinkClient& client);

  // What one input may have. Longer ones go in chunks, a tick each.
  size_t max_input_tokens() const { return in_spec_.WordsPerSlot(); }

  // Puts tokens into the next slot; none give an empty span and use no slot. InvalidArgument: more
  // than max_input_tokens().
  absl::StatusOr<TokenSpan> WriteTokens(absl::Span<const Token> tokens);

  // The inputs of one tick's lanes, together in as few slots as they need. Errors: InvalidArgument
  // (one is too long), ResourceExhausted (all together are more than the ring holds).
  absl::StatusOr<std::vector<TokenSpan>> WriteInputs(
      absl::Span<const absl::Span<const Token>> inputs);

  // What the worker drew; of an empty span nothing. Errors: kRejectBadRefGeneration (the slot was
  // used again: read before later ticks overwrite it), OutOfRange or InvalidArgument (no such span:
  // the worker is wrong).
  absl::StatusOr<std::vector<Token>> ReadTokens(const TokenSpan& span) const;

  // The same for logits: most likely first.
  absl::StatusOr<std::vector<TokenLogit>> ReadLogits(const TokenSpan& span) const;

  // Sets or clears the stop bit that a lane names as its `stop_slot`, so 1 to 256. Takes effect
  // within a micro-step, without a system call. OutOfRange: no such slot.
  absl::Status SetLaneStop(uint32_t stop_slot, bool stop);

  // The worker's last heartbeat; zeros before the first. Unavailable: the worker died in the middle
  // of one, or plays tricks.
  absl::StatusOr<Heartbeat> ReadHeartbeat() const { return control_.ReadHeartbeat(); }

 private:
  DriverRings(RingWriter in, RingReader out, RingReader logits, DaemonControl control);

  const superfluid::RingSpec in_spec_;
  absl::Mutex mutex_;
  RingWriter in_ ABSL_GUARDED_BY(mutex_);
  uint32_t next_slot_ ABSL_GUARDED_BY(mutex_) = 0;
  const RingReader out_;
  const RingReader logits_;
  DaemonControl control_;
};

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_DRIVER_DRIVER_RINGS_H_
