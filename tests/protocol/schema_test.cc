#include <google/protobuf/descriptor.h>

#include <cctype>
#include <string>

#include "gtest/gtest.h"
#include "protocol/codec/schema_rules.h"
#include "protocol/linkw.pb.h"
#include "protocol/messages/message_type.h"
#include "protocol/messages/status.h"

namespace superfluid::linkw {
namespace {

TEST(SchemaTest, EveryListAndEveryTextHasALimit) {
  EXPECT_EQ(SchemaMistakes(*v8::Hello::descriptor()->file()), std::vector<std::string>());
}

TEST(SchemaTest, StatusIsTheSameHereAndOnTheWire) {
  const google::protobuf::EnumDescriptor& wire = *v8::Status_descriptor();
  for (int i = 0; i < wire.value_count(); ++i) {
    const auto number = static_cast<uint32_t>(wire.value(i)->number());
    EXPECT_EQ(StatusName(StatusFromWire(number)), wire.value(i)->name());
  }
  EXPECT_EQ(StatusName(static_cast<Status>(wire.value_count())), "UNKNOWN") << "not on the wire";
}

TEST(SchemaTest, MessageTypeIsTheSameHereAndOnTheWire) {
  const google::protobuf::EnumDescriptor& wire = *v8::MessageType_descriptor();
  for (int i = 0; i < wire.value_count(); ++i) {
    const int number = wire.value(i)->number();
    if (number == v8::MESSAGE_TYPE_UNSPECIFIED) continue;
    EXPECT_EQ(MessageTypeName(static_cast<MessageType>(number)), wire.value(i)->name()) << number;
  }
  for (int number = 0; number <= 0xffff; ++number) {
    EXPECT_EQ(IsKnown(static_cast<uint16_t>(number)),
              number != 0 && wire.FindValueByNumber(number) != nullptr)
        << number;
  }
}

// The payload of HELLO_ACK_W is HelloAckW: readers in other languages find it by its name.
TEST(SchemaTest, EveryMessageTypeHasAPayloadOfItsName) {
  const google::protobuf::FileDescriptor& file = *v8::Hello::descriptor()->file();
  for (int number = 1; number <= 0xffff; ++number) {
    if (!IsKnown(static_cast<uint16_t>(number))) continue;
    std::string name;
    bool start = true;
    for (const char c : MessageTypeName(static_cast<MessageType>(number))) {
      if (c != '_') name.push_back(start ? c : static_cast<char>(std::tolower(c)));
      start = c == '_';
    }
    EXPECT_NE(file.FindMessageTypeByName(name), nullptr) << name;
  }
}

TEST(SchemaTest, RulesFollowTheSchema) {
  const MessageRules& rules = RulesOf(*v8::Transcribe::descriptor());
  const FieldRules* language = rules.Find(v8::Transcribe::kLanguageFieldNumber);
  ASSERT_NE(language, nullptr);
  EXPECT_EQ(language->name, "language");
  EXPECT_EQ(language->max_bytes, 64u);
  EXPECT_TRUE(language->utf8 && language->no_nul);
  EXPECT_EQ(rules.Find(40), nullptr);
  EXPECT_EQ(rules.Find(1u << 20), nullptr);
}

}  // namespace
}  // namespace superfluid::linkw
