#include "actors/import_copy.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "protocol/status.h"

namespace superfluid {
namespace {

// Small enough to be in the cache when it is hashed after it was copied.
constexpr size_t kPieceBytes = size_t{64} << 10;

struct FreeHash {
  void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
};

}  // namespace

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
