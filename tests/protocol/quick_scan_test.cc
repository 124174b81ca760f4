// The quick scan gives the verdict of the wire scan, for every message type of the schema, on
// payloads that obey it, that break it here and there, and that are damaged.

#include "protocol/codec/quick_scan.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "gtest/gtest.h"
#include "protocol/codec/wire_scan.h"
#include "protocol/linkw.pb.h"
#include "tests/fuzz/mutator.h"
#include "tests/protocol/random_proto.h"
#include "tests/protocol/random_wire.h"
#include "tests/protocol/seed_of_test.h"
#include "tests/protocol/wire_builder.h"

namespace superfluid::linkw {
namespace {

using google::protobuf::Descriptor;

std::vector<const Descriptor*> AllMessages() {
  const google::protobuf::FileDescriptor& file = *v8::Hello::descriptor()->file();
  std::vector<const Descriptor*> all;
  for (int i = 0; i < file.message_type_count(); ++i) {
    if (file.message_type(i) != v8::Rule::descriptor()) all.push_back(file.message_type(i));
  }
  return all;
}

// Counts what was accepted, so that a test can tell that both verdicts occurred.
class Comparison {
 public:
  void Compare(const MessageRules& rules, const std::string& payload) {
    const absl::Status scanned = ScanPayload(rules, payload);
    ASSERT_EQ(QuickScan(QuickTableOf(rules), payload), scanned.ok())
        << rules.name << ": " << scanned << "\n"
        << absl::BytesToHexString(payload);
    ++(scanned.ok() ? accepted : refused);
  }

  int accepted = 0;
  int refused = 0;
};

std::string RandomPayload(const Descriptor& type, RandomProto& random) {
  const std::unique_ptr<google::protobuf::Message> message(
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(&type)->New());
  random.Fill(*message);
  return message->SerializeAsString();
}

class QuickScanTest : public testing::Test {
 protected:
  const uint64_t seed_ = SeedOfTest();
  testing::ScopedTrace trace_{__FILE__, __LINE__, "LINKW_SEED=" + std::to_string(seed_)};
  Comparison comparison_;
};

TEST_F(QuickScanTest, AcceptsWhatObeysTheSchema) {
  RandomProto random(seed_);
  for (const Descriptor* type : AllMessages()) {
    for (int i = 0; i < 100; ++i) comparison_.Compare(RulesOf(*type), RandomPayload(*type, random));
  }
  EXPECT_EQ(comparison_.refused, 0);
}

TEST_F(QuickScanTest, AgreesOnFieldsInAnyOrderAndNumber) {
  RandomWire wire(seed_);
  for (const Descriptor* type : AllMessages()) {
    for (int i = 0; i < 200; ++i) {
      comparison_.Compare(RulesOf(*type),
                          wire.Payload(RulesOf(*type), static_cast<uint32_t>(i % 40)));
    }
  }
  EXPECT_GT(comparison_.accepted, 1000);
  EXPECT_GT(comparison_.refused, 1000);
}

TEST_F(QuickScanTest, AgreesOnDamage) {
  RandomProto random(seed_);
  fuzz::Mutator mutator(seed_);
  std::vector<std::string> others;
  for (const Descriptor* type : AllMessages()) others.push_back(RandomPayload(*type, random));
  for (const Descriptor* type : AllMessages()) {
    for (int i = 0; i < 200; ++i) {
      comparison_.Compare(RulesOf(*type), mutator.Mutate(RandomPayload(*type, random), others));
    }
  }
  EXPECT_GT(comparison_.accepted, 1000);
  EXPECT_GT(comparison_.refused, 1000);
}

TEST_F(QuickScanTest, AgreesAtTheLimits) {
  const MessageRules& submit = RulesOf(*v8::TickSubmit::descriptor());
  const std::string lane = BytesField(4, VarintField(4, 2));
  for (const size_t lanes : {256, 257}) {
    comparison_.Compare(submit, BytesField(1, Repeat(lane, lanes)));
  }
  EXPECT_EQ(comparison_.refused, 1);
  for (const size_t unknown : {1024, 1025}) {
    comparison_.Compare(submit, BytesField(1, lane) + Repeat(VarintField(63, 1), unknown));
  }
  EXPECT_EQ(comparison_.refused, 2);
  const MessageRules& emit = RulesOf(*v8::TickEmit::descriptor());
  for (const size_t tokens : {4096, 4097}) {
    comparison_.Compare(emit, BytesField(3, Repeat(Varint(300), tokens)));
    comparison_.Compare(emit, Repeat(VarintField(3, 300), tokens));
  }
  EXPECT_EQ(comparison_.refused, 4);
}

// The largest field number has a tag of two bytes.
TEST_F(QuickScanTest, KnowsFieldsWithTagsOfTwoBytes) {
  const MessageRules& request = RulesOf(*v8::StateSyncReq::descriptor());
  uint32_t largest = 0;
  for (uint32_t number = 1; number <= kMaxFieldNumber; ++number) {
    if (request.Find(number) != nullptr) largest = number;
  }
  ASSERT_GT(largest, 15u);
  comparison_.Compare(request, VarintField(largest, 1));
  EXPECT_EQ(comparison_.refused, 1) << "a message field that comes as a number";
}

}  // namespace
}  // namespace superfluid::linkw
