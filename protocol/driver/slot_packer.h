#ifndef SUPERFLUID_PROTOCOL_DRIVER_SLOT_PACKER_H_
#define SUPERFLUID_PROTOCOL_DRIVER_SLOT_PACKER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "protocol/messages/ids.h"

namespace superfluid::linkw {

// Where the inputs of one tick go: several share a slot, so that 256 lanes do not overwrite each
// other in a ring of 64 slots. Pure.
struct PackedInputs {
  struct Place {
    size_t slot = 0;  // index into `slots`; of an empty input without meaning
    uint32_t offset = 0;
  };
  std::vector<std::vector<Token>> slots;  // what each has to hold
  std::vector<Place> places;              // of each input, in order
};

// Packs `inputs`, in order, into slots of `slot_tokens`. Equal neighbours (the same memory) are put
// there once. Errors: InvalidArgument (an input that is longer than a slot), ResourceExhausted
// (they take more than `max_slots`).
absl::StatusOr<PackedInputs> PackInputs(absl::Span<const absl::Span<const Token>> inputs,
                                        size_t slot_tokens, size_t max_slots);

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_DRIVER_SLOT_PACKER_H_
