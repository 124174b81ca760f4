#include "actors/state_envelope.h"

#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "protocol/status.h"

namespace superfluid {
namespace {

StateEnvelope Sample() {
  StateEnvelope envelope;
  envelope.compat_key.fill(1);
  envelope.provenance.fill(2);
  envelope.space = SpaceId{3};
  envelope.encoding = 4;
  envelope.range = {5, 60};
  envelope.payload_bytes = 700;
  envelope.payload_checksum = 8;
  return envelope;
}

constexpr uint64_t kBuffer = kStateEnvelopeBytes + 700;

void ExpectMismatch(const absl::Status& status) {
  EXPECT_EQ(linkw::FromAbsl(status), linkw::Status::kEnvelopeMismatch) << status;
}

TEST(StateEnvelopeTest, OpensWhatWasSealed) {
  const absl::StatusOr<StateEnvelope> opened = OpenEnvelope(SealEnvelope(Sample()), kBuffer);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(*opened, Sample());
}

TEST(StateEnvelopeTest, HasTheDocumentedLayout) {
  const StateEnvelopeBytes bytes = SealEnvelope(Sample());
  EXPECT_EQ(std::memcmp(bytes.data(), "SFLSTATE\1\0\0\0\xa0\0\0\0", 16), 0);
  EXPECT_EQ(bytes[16], std::byte{1});
  EXPECT_EQ(bytes[48], std::byte{2});
  EXPECT_EQ(bytes[80], std::byte{3});
  EXPECT_EQ(bytes[84], std::byte{4});
  EXPECT_EQ(bytes[88], std::byte{5});
  EXPECT_EQ(bytes[96], std::byte{60});
  EXPECT_EQ(bytes[104], std::byte{700 & 255});
  EXPECT_EQ(bytes[112], std::byte{8});
}

TEST(StateEnvelopeTest, RefusesEveryFlippedBit) {
  const StateEnvelopeBytes good = SealEnvelope(Sample());
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    StateEnvelopeBytes bytes = good;
    bytes.at(bit / 8) ^= std::byte{1} << (bit % 8);
    ExpectMismatch(OpenEnvelope(bytes, kBuffer).status());
  }
}

TEST(StateEnvelopeTest, RefusesAPayloadBeyondItsBuffer) {
  ExpectMismatch(OpenEnvelope(SealEnvelope(Sample()), kBuffer - 1).status());
  ExpectMismatch(OpenEnvelope(SealEnvelope(Sample()), 0).status());
}

TEST(StateEnvelopeTest, RefusesLengthsThatOverflow) {
  StateEnvelope envelope = Sample();
  for (const uint64_t bytes : {~uint64_t{0}, ~uint64_t{0} - kStateEnvelopeBytes + 1}) {
    envelope.payload_bytes = bytes;
    ExpectMismatch(OpenEnvelope(SealEnvelope(envelope), kBuffer).status());
  }
}

TEST(StateEnvelopeTest, RefusesAReversedRange) {
  StateEnvelope envelope = Sample();
  envelope.range = {6, 5};
  ExpectMismatch(OpenEnvelope(SealEnvelope(envelope), kBuffer).status());
}

TEST(StateEnvelopeTest, CopiesAndChecksThePayload) {
  // More than one block of the copy, and not a whole number of them.
  std::vector<std::byte> payload(200'001);
  for (size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<std::byte>(i * 7);
  StateEnvelope envelope = Sample();
  envelope.payload_bytes = payload.size();
  envelope.payload_checksum = PayloadChecksum(payload);
  std::vector<std::byte> copy(payload.size());
  EXPECT_TRUE(CopyPayload(envelope, payload, absl::MakeSpan(copy)).ok());
  EXPECT_EQ(copy, payload);
  for (const size_t at : {size_t{0}, size_t{65'536}, size_t{200'000}}) {
    payload[at] ^= std::byte{1};
    ExpectMismatch(CopyPayload(envelope, payload, absl::MakeSpan(copy)));
    payload[at] ^= std::byte{1};
  }
}

}  // namespace
}  // namespace superfluid
