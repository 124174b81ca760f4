// The wire form of one message of every kind, as text and as bytes, against a committed file: a
// field that is renumbered, renamed or mixed up with another shows here. After a wanted change,
// copy the file that the failure names over the committed one.

#include <google/protobuf/message.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <variant>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "protocol/codec/codec.h"
#include "protocol/linkw.pb.h"
#include "protocol/messages/text.h"
#include "tests/protocol/samples.h"

namespace superfluid::linkw {
namespace {

constexpr char kGoldenFile[] = "tests/protocol/testdata/wire_golden.txt";

// The wire type of each message type, by the name that MessageTypeName's row has in linkw.proto.
std::string ProtoNameOf(MessageType type) {
  std::string name;
  bool start = true;
  for (const char c : MessageTypeName(type)) {
    if (c == '_') {
      start = true;
      continue;
    }
    name.push_back(start ? c : static_cast<char>(std::tolower(c)));
    start = false;
  }
  return absl::StrCat("superfluid.linkw.v8.", name);
}

std::string AsText(const EncodedMessage& encoded) {
  const google::protobuf::Descriptor* descriptor =
      v8::Hello::descriptor()->file()->pool()->FindMessageTypeByName(ProtoNameOf(encoded.type));
  if (descriptor == nullptr) return "no such message";
  std::unique_ptr<google::protobuf::Message> proto(
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(descriptor)->New());
  EXPECT_TRUE(proto->ParseFromString(encoded.payload));
  return proto->ShortDebugString();
}

template <typename Message>
void AppendTo(std::string& golden, const std::vector<Message>& samples) {
  for (const Message& sample : samples) {
    const EncodedMessage encoded = Serialize(sample);
    absl::StrAppend(&golden, AbslView(MessageTypeName(encoded.type)), " { ", AsText(encoded),
                    " }\n", "  ", absl::BytesToHexString(encoded.payload), "\n");
  }
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(GoldenTest, TheWireFormNeverChanges) {
  std::string actual;
  AppendTo(actual, DriverSamples());
  AppendTo(actual, WorkerSamples());
  if (actual == ReadFile(kGoldenFile)) return;
  const char* outputs = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  const std::string copy =
      absl::StrCat(outputs != nullptr ? outputs : testing::TempDir(), "/wire_golden.txt");
  std::ofstream(copy) << actual;
  FAIL() << "differs from " << kGoldenFile << "; this run's is in " << copy << "\n" << actual;
}

TEST(GoldenTest, SamplesComeBackAsTheyWere) {
  for (const DriverMessage& sample : DriverSamples()) {
    const EncodedMessage encoded = Serialize(sample);
    const auto parsed = ParseDriverMessage(encoded.type, encoded.payload);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_TRUE(*parsed == sample) << AsText(encoded);
  }
  for (const WorkerMessage& sample : WorkerSamples()) {
    const EncodedMessage encoded = Serialize(sample);
    const auto parsed = ParseWorkerMessage(encoded.type, encoded.payload);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_TRUE(*parsed == sample) << AsText(encoded);
  }
}

// Every alternative of every variant is among the samples.
template <typename Variant, typename Messages>
void ExpectAllAlternatives(const Messages& messages) {
  std::vector<bool> seen(std::variant_size_v<Variant>);
  for (const Variant& message : messages) seen[message.index()] = true;
  for (size_t i = 0; i < seen.size(); ++i) EXPECT_TRUE(seen[i]) << "alternative " << i;
}

TEST(GoldenTest, SamplesCoverEveryMessageCallAndReply) {
  std::vector<StateSyncCall> calls;
  std::vector<StateSyncReply> replies;
  for (const DriverMessage& m : DriverSamples()) {
    if (const auto* request = std::get_if<StateSyncRequest>(&m)) calls.push_back(request->call);
  }
  for (const WorkerMessage& m : WorkerSamples()) {
    if (const auto* result = std::get_if<StateSyncResult>(&m)) replies.push_back(result->reply);
  }
  ExpectAllAlternatives<DriverMessage>(DriverSamples());
  ExpectAllAlternatives<WorkerMessage>(WorkerSamples());
  ExpectAllAlternatives<StateSyncCall>(calls);
  ExpectAllAlternatives<StateSyncReply>(replies);
}

}  // namespace
}  // namespace superfluid::linkw
