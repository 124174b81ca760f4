#include "actors/state_ops/import_copy.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <memory>
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

struct FreeHash {
  void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
};

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

absl::Status CopyImport(const linkw::StateEnvelope& envelope, absl::Span<const std::byte> from,
                        absl::Span<std::byte> to, const CancelToken& token) {
  const std::unique_ptr<XXH3_state_t, FreeHash> hash(XXH3_createState());
  if (hash == nullptr || XXH3_64bits_reset(hash.get()) == XXH_ERROR) {
    return linkw::MakeStatus(linkw::Status::kOutOfMemory, "no memory for a checksum");
  }
  for (size_t at = 0; at < to.size(); at += kPieceBytes) {
    if (token.cancelled()) return absl::CancelledError("cancelled");
    const size_t bytes = std::min(kPieceBytes, to.size() - at);
    std::memcpy(to.data() + at, from.data() + at, bytes);
    XXH3_64bits_update(hash.get(), to.data() + at, bytes);
  }
  if (XXH3_64bits_digest(hash.get()) == envelope.payload_hash) return absl::OkStatus();
  return linkw::MakeStatus(linkw::Status::kEnvelopeMismatch,
                           "sealed state: its contents are damaged");
}

}  // namespace superfluid
