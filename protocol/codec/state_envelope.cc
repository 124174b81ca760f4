#include "protocol/codec/state_envelope.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "protocol/messages/status.h"
#include "protocol/messages/text.h"

namespace superfluid::linkw {
namespace {

constexpr std::string_view kMagic = "SFLSTATE";
constexpr uint32_t kVersion = 1;
constexpr size_t kVersionAt = 8;
constexpr size_t kHeaderBytesAt = 12;
constexpr size_t kCompatKeyAt = 16;
constexpr size_t kProvenanceAt = 48;
constexpr size_t kSpaceAt = 80;
constexpr size_t kEncodingAt = 84;
constexpr size_t kRangeStartAt = 88;
constexpr size_t kRangeEndAt = 96;
constexpr size_t kPayloadBytesAt = 104;
constexpr size_t kPayloadHashAt = 112;
constexpr size_t kReservedAt = 120;
constexpr size_t kHeaderHashAt = 152;
static_assert(std::endian::native == std::endian::little);

using Bytes = absl::Span<const std::byte>;

template <typename T>
void Store(StateEnvelopeBytes& bytes, size_t at, const T& value) {
  std::memcpy(bytes.data() + at, &value, sizeof(value));
}

template <typename T>
T Load(Bytes bytes, size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

absl::Status Mismatch(std::string_view what) {
  return MakeStatus(Status::kEnvelopeMismatch, absl::StrCat("no sealed state: ", AbslView(what)));
}

bool IsZero(Bytes bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

// Before a field is believed.
absl::Status CheckHeader(Bytes sealed) {
  if (std::memcmp(sealed.data(), kMagic.data(), kMagic.size()) != 0) return Mismatch("bad magic");
  if (Load<uint32_t>(sealed, kVersionAt) != kVersion) return Mismatch("another version");
  if (Load<uint32_t>(sealed, kHeaderBytesAt) != kStateEnvelopeBytes) {
    return Mismatch("another length of the envelope");
  }
  if (Load<uint64_t>(sealed, kHeaderHashAt) != StateHash(sealed.first(kHeaderHashAt))) {
    return Mismatch("the envelope is damaged");
  }
  if (!IsZero(sealed.subspan(kReservedAt, kHeaderHashAt - kReservedAt))) {
    return Mismatch("reserved bytes are not zero");
  }
  return absl::OkStatus();
}

}  // namespace

uint64_t StateHash(Bytes bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

StateEnvelopeBytes SealStateEnvelope(const StateEnvelope& envelope) {
  StateEnvelopeBytes bytes{};
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  Store(bytes, kVersionAt, kVersion);
  Store(bytes, kHeaderBytesAt, static_cast<uint32_t>(kStateEnvelopeBytes));
  Store(bytes, kCompatKeyAt, envelope.compat_key);
  Store(bytes, kProvenanceAt, envelope.provenance);
  Store(bytes, kSpaceAt, envelope.space_id);
  Store(bytes, kEncodingAt, envelope.encoding);
  Store(bytes, kRangeStartAt, envelope.range.start);
  Store(bytes, kRangeEndAt, envelope.range.end);
  Store(bytes, kPayloadBytesAt, envelope.payload_bytes);
  Store(bytes, kPayloadHashAt, envelope.payload_hash);
  Store(bytes, kHeaderHashAt, StateHash(Bytes(bytes).first(kHeaderHashAt)));
  return bytes;
}

absl::StatusOr<StateEnvelope> ParseStateEnvelope(const StateEnvelopeBytes& bytes,
                                                 uint64_t sealed_bytes) {
  if (absl::Status status = CheckHeader(bytes); !status.ok()) return status;
  StateEnvelope envelope;
  envelope.compat_key = Load<Hash>(bytes, kCompatKeyAt);
  envelope.provenance = Load<Hash>(bytes, kProvenanceAt);
  envelope.space_id = Load<SpaceId>(bytes, kSpaceAt);
  envelope.encoding = Load<uint32_t>(bytes, kEncodingAt);
  envelope.range = {Load<uint64_t>(bytes, kRangeStartAt), Load<uint64_t>(bytes, kRangeEndAt)};
  envelope.payload_bytes = Load<uint64_t>(bytes, kPayloadBytesAt);
  envelope.payload_hash = Load<uint64_t>(bytes, kPayloadHashAt);
  if (envelope.range.start > envelope.range.end) return Mismatch("its range ends before it starts");
  // Subtraction, not addition: the sum may wrap around.
  if (sealed_bytes < kStateEnvelopeBytes ||
      envelope.payload_bytes > sealed_bytes - kStateEnvelopeBytes) {
    return Mismatch("it is shorter than its envelope says");
  }
  return envelope;
}

absl::StatusOr<StateEnvelope> ParseStateEnvelope(Bytes sealed) {
  if (sealed.size() < kStateEnvelopeBytes) return Mismatch("it is shorter than its envelope");
  StateEnvelopeBytes bytes;
  std::memcpy(bytes.data(), sealed.data(), bytes.size());
  return ParseStateEnvelope(bytes, sealed.size());
}

absl::StatusOr<StateEnvelope> CheckSealedState(Bytes sealed) {
  absl::StatusOr<StateEnvelope> envelope = ParseStateEnvelope(sealed);
  if (!envelope.ok()) return envelope;
  const Bytes payload =
      sealed.subspan(kStateEnvelopeBytes, static_cast<size_t>(envelope->payload_bytes));
  if (StateHash(payload) != envelope->payload_hash) return Mismatch("the payload is damaged");
  return envelope;
}

}  // namespace superfluid::linkw
