#include "protocol/codec/state_envelope.h"

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "protocol/messages/status.h"
#include "tests/protocol/sealed_state.h"

namespace superfluid::linkw {
namespace {

constexpr char kPayload[] = "the state of a sequence";

StateEnvelope Sample() {
  StateEnvelope envelope;
  envelope.compat_key.fill(1);
  envelope.provenance.fill(2);
  envelope.space_id = SpaceId{3};
  envelope.encoding = 4;
  envelope.range = {16, 48};
  return envelope;
}

void ExpectMismatch(const std::string& sealed, const std::string& text) {
  const absl::Status status = CheckSealedState(AsBytes(sealed)).status();
  EXPECT_EQ(FromAbsl(status), Status::kEnvelopeMismatch) << status;
  EXPECT_NE(std::string(status.message()).find(text), std::string::npos) << status;
}

TEST(StateEnvelopeTest, ReadsEveryField) {
  const std::string sealed = SealState(Sample(), kPayload);
  const auto envelope = CheckSealedState(AsBytes(sealed));
  ASSERT_TRUE(envelope.ok()) << envelope.status();
  StateEnvelope expected = Sample();
  expected.payload_bytes = sizeof(kPayload) - 1;
  expected.payload_hash = StateHash(AsBytes(kPayload).first(sizeof(kPayload) - 1));
  EXPECT_EQ(*envelope, expected);
  EXPECT_EQ(envelope->sealed_bytes(), sealed.size());
}

TEST(StateEnvelopeTest, IsSealedAsItIsLaidOut) {
  StateEnvelope envelope;
  envelope.compat_key.fill(1);
  envelope.provenance.fill(2);
  envelope.space_id = SpaceId{3};
  envelope.encoding = 4;
  envelope.range = {5, 60};
  envelope.payload_bytes = 7;
  envelope.payload_hash = StateHash(AsBytes("payload"));
  const StateEnvelopeBytes bytes = SealStateEnvelope(envelope);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()) + "payload",
            SealState(envelope, "payload"));
}

TEST(StateEnvelopeTest, ABufferMayBeLongerThanWhatIsInIt) {
  const std::string sealed = SealState(Sample(), kPayload) + std::string(100, 'x');
  EXPECT_TRUE(CheckSealedState(AsBytes(sealed)).ok());
}

TEST(StateEnvelopeTest, AnEmptyPayloadIsOne) {
  EXPECT_TRUE(CheckSealedState(AsBytes(SealState(Sample(), ""))).ok());
}

TEST(StateEnvelopeTest, EveryBitOfItCounts) {
  const std::string sealed = SealState(Sample(), kPayload);
  for (size_t at = 0; at < sealed.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = sealed;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      EXPECT_EQ(FromAbsl(CheckSealedState(AsBytes(flipped)).status()), Status::kEnvelopeMismatch)
          << "byte " << at << " bit " << bit;
    }
  }
}

TEST(StateEnvelopeTest, IsRefusedHoweverItIsCut) {
  const std::string sealed = SealState(Sample(), kPayload);
  for (size_t length = 0; length < sealed.size(); ++length) {
    ExpectMismatch(sealed.substr(0, length), "shorter than its envelope");
  }
}

TEST(StateEnvelopeTest, IsRefusedThoughItsChecksumIsRight) {
  struct Lie {
    const char* says;
    std::function<void(std::string&)> tell;
  };
  const std::vector<Lie> lies = {
      {"another version", [](std::string& s) { PutAt(s, 8, uint32_t{2}); }},
      {"another length", [](std::string& s) { PutAt(s, 12, uint32_t{152}); }},
      {"reserved", [](std::string& s) { PutAt(s, 144, uint64_t{1}); }},
      {"ends before", [](std::string& s) { PutAt(s, 88, uint64_t{49}); }},
      {"shorter", [](std::string& s) { PutAt(s, 104, uint64_t{24}); }},
      {"shorter", [](std::string& s) { PutAt(s, 104, std::numeric_limits<uint64_t>::max()); }},
      {"shorter",
       [](std::string& s) { PutAt(s, 104, std::numeric_limits<uint64_t>::max() - 159); }},
      {"payload is damaged", [](std::string& s) { PutAt(s, 104, uint64_t{22}); }},
      {"payload is damaged", [](std::string& s) { PutAt(s, 112, uint64_t{0}); }}};
  for (const Lie& lie : lies) {
    std::string sealed = SealState(Sample(), kPayload);
    lie.tell(sealed);
    FixEnvelope(sealed);
    ExpectMismatch(sealed, lie.says);
  }
}

}  // namespace
}  // namespace superfluid::linkw
