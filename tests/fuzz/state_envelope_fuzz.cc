// A sealed state, as a daemon puts it into a buffer: the envelope and its payload.

#include <cstring>
#include <string_view>

#include "absl/types/span.h"
#include "protocol/codec/state_envelope.h"
#include "tests/fuzz/target.h"

namespace superfluid::fuzz {

void FuzzOne(std::string_view bytes) {
  const absl::Span<const std::byte> sealed(reinterpret_cast<const std::byte*>(bytes.data()),
                                           bytes.size());
  const auto parsed = linkw::ParseStateEnvelope(sealed);
  const auto checked = linkw::CheckSealedState(sealed);
  if (!parsed.ok()) {
    Require(!checked.ok() && !parsed.status().message().empty());
    return;
  }
  Require(parsed->sealed_bytes() >= linkw::kStateEnvelopeBytes);
  Require(parsed->sealed_bytes() <= bytes.size());
  if (checked.ok()) Require(*checked == *parsed);
  // What was accepted is what we would write.
  const linkw::StateEnvelopeBytes again = linkw::SealStateEnvelope(*parsed);
  Require(std::memcmp(again.data(), bytes.data(), again.size()) == 0);
}

}  // namespace superfluid::fuzz
