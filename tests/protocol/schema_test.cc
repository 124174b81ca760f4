#include <google/protobuf/descriptor.h>

#include <string>

#include "gtest/gtest.h"
#include "protocol/codec/schema_rules.h"
#include "protocol/linkw.pb.h"
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
