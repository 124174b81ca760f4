#include "actors/state_ops/import_copy.h"

#include <xxhash.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "protocol/messages/status.h"

namespace superfluid {
namespace {

// Small enough to be in the cache when it is hashed after it was copied.
constexpr size_t kPieceBytes = size_t{64} << 10;

// What a state may have besides its tokens' bytes: headers, tables, and where nothing grows by
// token the whole of it.
constexpr uint64_t kFixedBytes = uint64_t{64} << 20;
constexpr uint64_t kFixedBytesOnly = uint64_t{1} << 30;
// More than any context has, where the engine does not say.
constexpr uint64_t kMostTokens = uint64_t{1} << 32;

absl::Status Mismatch(const std::string& what) {
  return linkw::MakeStatus(linkw::Status::kEnvelopeMismatch, what);
}

}  // namespace

absl::Status CheckImportSize(const linkw::StateEnvelope& envelope, const StateSpace& space,
                             uint64_t context_tokens) {
  const uint64_t most_tokens = context_tokens == 0 ? kMostTokens : context_tokens;
  if (envelope.range.end > most_tokens) {
    return Mismatch(absl::StrCat("the state ends at token ", envelope.range.end,
                                 ", a sequence has at most ", most_tokens));
  }
  const uint64_t tokens = envelope.range.end - envelope.range.start;
  const uint64_t fixed = space.bytes_per_token == 0 ? kFixedBytesOnly : kFixedBytes;
  if (envelope.payload_bytes <= fixed) return absl::OkStatus();
  const uint64_t growing = envelope.payload_bytes - fixed;
  if (tokens > 0 && (growing - 1) / tokens < space.bytes_per_token) return absl::OkStatus();
  return Mismatch(absl::StrCat(envelope.payload_bytes, " bytes are more than the state of ", tokens,
                               " tokens has"));
}

void PayloadPass::FreeHash::operator()(XXH3_state_s* state) const { XXH3_freeState(state); }

PayloadPass::PayloadPass(absl::Span<const std::byte> from, absl::Span<std::byte> to)
    : from_(from), to_(to), hash_(XXH3_createState()) {
  assert(to.empty() || to.size() == from.size());
  if (hash_ != nullptr && XXH3_64bits_reset(hash_.get()) == XXH_ERROR) hash_.reset();
}

absl::StatusOr<bool> PayloadPass::Step(size_t most_bytes, const std::function<bool()>& stopped) {
  if (hash_ == nullptr) {
    return linkw::MakeStatus(linkw::Status::kOutOfMemory, "no memory for a checksum");
  }
  const size_t end = at_ + std::min(most_bytes, from_.size() - at_);
  while (at_ < end) {
    if (stopped()) return absl::CancelledError("cancelled");
    const size_t bytes = std::min(kPieceBytes, end - at_);
    if (!to_.empty()) std::memcpy(to_.data() + at_, from_.data() + at_, bytes);
    XXH3_64bits_update(hash_.get(), (to_.empty() ? from_.data() : to_.data()) + at_, bytes);
    at_ += bytes;
  }
  return at_ == from_.size();
}

uint64_t PayloadPass::hash() const { return XXH3_64bits_digest(hash_.get()); }

absl::Status CheckPayload(const linkw::StateEnvelope& envelope, const PayloadPass& pass) {
  if (pass.hash() == envelope.payload_hash) return absl::OkStatus();
  return Mismatch("sealed state: its contents are damaged");
}

}  // namespace superfluid
