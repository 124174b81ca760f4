#include "actors/state_envelope.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <string>

#include "protocol/status.h"

namespace superfluid {
namespace {

static_assert(std::endian::native == std::endian::little, "the layout is written as it lies");

constexpr std::array<char, 8> kMagic = {'S', 'F', 'L', 'S', 'T', 'A', 'T', 'E'};
constexpr uint32_t kVersion = 1;
constexpr size_t kSealedBytes = 152;
constexpr size_t kReservedAt = 120;
// Small enough to be in the cache when it is hashed after it was copied.
constexpr size_t kCopyBytes = size_t{64} << 10;

template <class T>
void Put(StateEnvelopeBytes& bytes, size_t at, const T& value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

template <class T>
T Get(const StateEnvelopeBytes& bytes, size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

absl::Status Mismatch(const char* what) {
  return linkw::MakeStatus(linkw::Status::kEnvelopeMismatch, std::string("sealed state: ") + what);
}

struct FreeHash {
  void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
};

}  // namespace

StateEnvelopeBytes SealEnvelope(const StateEnvelope& envelope) {
  StateEnvelopeBytes bytes{};
  Put(bytes, 0, kMagic);
  Put(bytes, 8, kVersion);
  Put(bytes, 12, static_cast<uint32_t>(kStateEnvelopeBytes));
  Put(bytes, 16, envelope.compat_key);
  Put(bytes, 48, envelope.provenance);
  Put(bytes, 80, envelope.space);
  Put(bytes, 84, envelope.encoding);
  Put(bytes, 88, envelope.range.start);
  Put(bytes, 96, envelope.range.end);
  Put(bytes, 104, envelope.payload_bytes);
  Put(bytes, 112, envelope.payload_checksum);
  Put(bytes, kSealedBytes, uint64_t{XXH3_64bits(bytes.data(), kSealedBytes)});
  return bytes;
}

absl::StatusOr<StateEnvelope> OpenEnvelope(const StateEnvelopeBytes& bytes, uint64_t buffer_bytes) {
  if (Get<std::array<char, 8>>(bytes, 0) != kMagic) return Mismatch("it has no envelope");
  if (Get<uint32_t>(bytes, 8) != kVersion || Get<uint32_t>(bytes, 12) != kStateEnvelopeBytes) {
    return Mismatch("its envelope has another version");
  }
  if (Get<uint64_t>(bytes, kSealedBytes) != XXH3_64bits(bytes.data(), kSealedBytes)) {
    return Mismatch("its envelope is damaged");
  }
  if (!std::all_of(bytes.begin() + kReservedAt, bytes.begin() + kSealedBytes,
                   [](std::byte byte) { return byte == std::byte{0}; })) {
    return Mismatch("its envelope has fields of a later version");
  }
  StateEnvelope envelope{.compat_key = Get<Digest>(bytes, 16),
                         .provenance = Get<Digest>(bytes, 48),
                         .space = Get<SpaceId>(bytes, 80),
                         .encoding = Get<uint32_t>(bytes, 84),
                         .range = {Get<uint64_t>(bytes, 88), Get<uint64_t>(bytes, 96)},
                         .payload_bytes = Get<uint64_t>(bytes, 104),
                         .payload_checksum = Get<uint64_t>(bytes, 112)};
  if (envelope.range.start > envelope.range.end) return Mismatch("its token range is reversed");
  if (buffer_bytes < kStateEnvelopeBytes ||
      envelope.payload_bytes > buffer_bytes - kStateEnvelopeBytes) {
    return Mismatch("it is longer than its buffer");
  }
  return envelope;
}

uint64_t PayloadChecksum(absl::Span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

absl::Status CopyPayload(const StateEnvelope& envelope, absl::Span<const std::byte> from,
                         absl::Span<std::byte> to) {
  const std::unique_ptr<XXH3_state_t, FreeHash> hash(XXH3_createState());
  if (hash == nullptr || XXH3_64bits_reset(hash.get()) == XXH_ERROR) {
    return linkw::MakeStatus(linkw::Status::kOutOfMemory, "no memory for a checksum");
  }
  for (size_t at = 0; at < to.size(); at += kCopyBytes) {
    const size_t bytes = std::min(kCopyBytes, to.size() - at);
    std::memcpy(to.data() + at, from.data() + at, bytes);
    XXH3_64bits_update(hash.get(), to.data() + at, bytes);
  }
  if (XXH3_64bits_digest(hash.get()) == envelope.payload_checksum) return absl::OkStatus();
  return Mismatch("its contents are damaged");
}

}  // namespace superfluid
