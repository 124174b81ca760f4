#ifndef SUPERFLUID_ACTORS_STATE_OPS_IMPORT_COPY_H_
#define SUPERFLUID_ACTORS_STATE_OPS_IMPORT_COPY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/state_job.h"
#include "protocol/codec/state_envelope.h"

struct XXH3_state_s;

namespace superfluid {

// Whether `envelope` may be state of `space`, by its range and the payload's size: before memory is
// taken for a payload that costs its peer nothing (a file of holes). `context_tokens`: a sequence's
// most; 0: not known. Errors: ENVELOPE_MISMATCH.
absl::Status CheckImportSize(const linkw::StateEnvelope& envelope, const StateSpace& space,
                             uint64_t context_tokens);

// A pass over a state's payload, a bounded part at a time: takes its checksum, and copies it first
// where the peer may still change it. Threads: one at a time. Lifetime: the memory outlives it.
class PayloadPass {
 public:
  // Hashes `from` where it is.
  explicit PayloadPass(absl::Span<const std::byte> from) : PayloadPass(from, {}) {}
  // Copies `from` to `to`, which is as long, and hashes the copy.
  PayloadPass(absl::Span<const std::byte> from, absl::Span<std::byte> to);

  // Goes on for about `most_bytes`; returns whether it is done. Asks `stopped` between pieces that
  // take microseconds. Errors: Cancelled (`stopped` said so), OUT_OF_MEMORY.
  absl::StatusOr<bool> Step(size_t most_bytes, const std::function<bool()>& stopped);

  // REQUIRES: Step returned true.
  uint64_t hash() const;

 private:
  struct FreeHash {
    void operator()(XXH3_state_s* state) const;
  };

  const absl::Span<const std::byte> from_;
  const absl::Span<std::byte> to_;  // empty: nothing is copied
  size_t at_ = 0;
  std::unique_ptr<XXH3_state_s, FreeHash> hash_;  // null: there was no memory
};

// Returns ENVELOPE_MISMATCH if a payload does not have the checksum of its envelope: it is damaged,
// or changed while it was copied.
absl::Status CheckPayload(const linkw::StateEnvelope& envelope, const PayloadPass& pass);

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_STATE_OPS_IMPORT_COPY_H_
