#include "protocol/driver/slot_packer.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace superfluid::linkw {
namespace {

bool IsSameMemory(absl::Span<const Token> a, absl::Span<const Token> b) {
  return a.data() == b.data() && a.size() == b.size();
}

}  // namespace

absl::StatusOr<PackedInputs> PackInputs(absl::Span<const absl::Span<const Token>> inputs,
                                        size_t slot_tokens, size_t max_slots) {
  PackedInputs packed;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const absl::Span<const Token> input = inputs[i];
    if (input.size() > slot_tokens) {
      return absl::InvalidArgumentError(absl::StrCat(input.size(),
                                                     " tokens do not fit into a slot of ",
                                                     slot_tokens, ": send them in chunks"));
    }
    if (i > 0 && IsSameMemory(input, inputs[i - 1])) {
      packed.places.push_back(packed.places.back());
      continue;
    }
    if (input.empty()) {
      packed.places.emplace_back();
      continue;
    }
    if (packed.slots.empty() || packed.slots.back().size() + input.size() > slot_tokens) {
      packed.slots.emplace_back();
    }
    std::vector<Token>& slot = packed.slots.back();
    packed.places.push_back({packed.slots.size() - 1, static_cast<uint32_t>(slot.size())});
    slot.insert(slot.end(), input.begin(), input.end());
  }
  if (packed.slots.size() > max_slots) {
    return absl::ResourceExhaustedError(absl::StrCat("the inputs of a tick take ",
                                                     packed.slots.size(), " slots of ", max_slots,
                                                     ": use shorter chunks"));
  }
  return packed;
}

}  // namespace superfluid::linkw
