// The layout by which ticks are read and written without Protobuf says what linkw.proto says: each
// field is held against the schema, and set once through Protobuf.

#include "protocol/codec/tick_layout.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "protocol/codec/direct_tick.h"
#include "protocol/codec/schema_rules.h"
#include "protocol/codec/tick_convert.h"
#include "protocol/linkw.pb.h"

namespace superfluid::linkw {
namespace {

using direct::Form;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

WireKind KindOf(Form form) {
  switch (form) {
    case Form::kFloat:
      return WireKind::kFixed32;
    case Form::kText:
      return WireKind::kBytes;
    case Form::kMessage:
    case Form::kMessages:
      return WireKind::kMessage;
    default:
      return WireKind::kVarint;
  }
}

bool IsList(Form form) { return form == Form::kTokens || form == Form::kMessages; }

template <class F>
void ExpectAsInSchema(const FieldDescriptor* field, const FieldRules* rules) {
  SCOPED_TRACE(testing::Message() << "field " << F::kNumber);
  ASSERT_NE(field, nullptr);
  ASSERT_NE(rules, nullptr);
  EXPECT_EQ(rules->kind, KindOf(F::kForm));
  EXPECT_EQ(rules->repeated, IsList(F::kForm));
  EXPECT_EQ(rules->required, F::kBounds.required);
  EXPECT_EQ(field->type() == FieldDescriptor::TYPE_BOOL, F::kForm == Form::kBool);
  if (IsList(F::kForm)) {
    EXPECT_EQ(rules->max_count, F::kBounds.max_count);
  }
  if (F::kForm == Form::kText) {
    EXPECT_EQ(field->type(), FieldDescriptor::TYPE_STRING);
    EXPECT_EQ(rules->max_bytes, F::kBounds.max_bytes);
    EXPECT_EQ(rules->min_bytes, 0u);
    EXPECT_FALSE(rules->no_nul);
  }
  EXPECT_EQ(rules->finite, F::kForm == Form::kFloat);
  const bool narrow = F::kForm == Form::kNumber32 || F::kForm == Form::kTokens;
  EXPECT_EQ(field->type() == FieldDescriptor::TYPE_UINT32, narrow);
  EXPECT_EQ(field->type() == FieldDescriptor::TYPE_UINT64, F::kForm == Form::kNumber64);
  std::vector<uint64_t> values;
  if (F::kForm == Form::kClosedEnum) {
    values.resize(F::kBounds.most - F::kBounds.least + 1);
    std::iota(values.begin(), values.end(), F::kBounds.least);
  }
  EXPECT_EQ(rules->enum_values, values);
  const bool is_status = field->type() == FieldDescriptor::TYPE_ENUM && values.empty();
  EXPECT_EQ(is_status, F::kForm == Form::kStatus);
}

template <class... F>
std::vector<int> NumbersOf(direct::FieldList<F...> /*fields*/) {
  return {static_cast<int>(F::kNumber)...};
}

template <class... F>
void ExpectEachAsInSchema(const google::protobuf::Descriptor& type,
                          direct::FieldList<F...> /*fields*/) {
  const MessageRules& rules = RulesOf(type);
  (ExpectAsInSchema<F>(type.FindFieldByNumber(F::kNumber), rules.Find(F::kNumber)), ...);
}

template <class Struct, class Proto>
void ExpectLayout() {
  const google::protobuf::Descriptor& type = *Proto::descriptor();
  SCOPED_TRACE(type.name());
  const std::vector<int> numbers = NumbersOf(direct::FieldsOf<Struct>{});
  EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end())) << "a writer has them in order";
  EXPECT_EQ(static_cast<int>(numbers.size()), type.field_count()) << "a field is missing";
  ExpectEachAsInSchema(type, direct::FieldsOf<Struct>{});
}

TEST(TickLayoutTest, EveryFieldIsAsInTheSchema) {
  ExpectLayout<TokenSpan, v8::TokenSpan>();
  ExpectLayout<Sampling, v8::Sampling>();
  ExpectLayout<Lane, v8::Lane>();
  ExpectLayout<TickPlan, v8::TickPlan>();
  ExpectLayout<TickSubmit, v8::TickSubmit>();
  ExpectLayout<LaneEvent, v8::LaneEvent>();
  ExpectLayout<StateOpDone, v8::StateOpDone>();
  ExpectLayout<MemCounters, v8::MemCounters>();
  ExpectLayout<TickTimings, v8::TickTimings>();
  ExpectLayout<TickEvents, v8::TickEvents>();
  ExpectLayout<TickResult, v8::TickResult>();
  ExpectLayout<TickEmit, v8::TickEmit>();
}

// The scan counts parts; the direct reader relies on the counts of lists alone.
TEST(TickLayoutTest, ListsBoundThePartsOfAPayload) {
  EXPECT_LT(1 + 3 * 256, RulesOf(*v8::TickSubmit::descriptor()).max_submessages);
  EXPECT_LT(3 + 3 * 256 + 256, RulesOf(*v8::TickResult::descriptor()).max_submessages);
}

// ---- Each field alone

void SetNumber(Message& message, const FieldDescriptor& field) {
  using Reflection = google::protobuf::Reflection;
  const Reflection& reflection = *message.GetReflection();
  const auto put = [&](auto set, auto add, auto value) {
    field.is_repeated() ? (reflection.*add)(&message, &field, value)
                        : (reflection.*set)(&message, &field, value);
  };
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_UINT32:
      return put(&Reflection::SetUInt32, &Reflection::AddUInt32, uint32_t{0xfedcba98});
    case FieldDescriptor::CPPTYPE_UINT64:
      return put(&Reflection::SetUInt64, &Reflection::AddUInt64, uint64_t{0xfedcba9876543210});
    case FieldDescriptor::CPPTYPE_FLOAT:
      return reflection.SetFloat(&message, &field, -0.25F);
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.SetBool(&message, &field, true);
    case FieldDescriptor::CPPTYPE_ENUM:
      return reflection.SetEnumValue(&message, &field, 3);
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection.SetString(&message, &field, "text");
    default:
      FAIL() << field.full_name() << ": a type that no message of a tick has";
  }
}

// Hands each field of `part`, set alone, to `check`; then goes on inside of it.
template <class Check>
void WalkFields(Message& part, const Check& check) {
  const google::protobuf::Descriptor& type = *part.GetDescriptor();
  const google::protobuf::Reflection& reflection = *part.GetReflection();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    const std::unique_ptr<Message> before(part.New());
    before->CopyFrom(part);
    if (field.message_type() != nullptr) {
      Message& inner = field.is_repeated() ? *reflection.AddMessage(&part, &field)
                                           : *reflection.MutableMessage(&part, &field);
      if (const FieldDescriptor* kind = inner.GetDescriptor()->FindFieldByName("kind")) {
        inner.GetReflection()->SetEnumValue(&inner, kind, 2);
      }
      if (const FieldDescriptor* state = inner.GetDescriptor()->FindFieldByName("state")) {
        inner.GetReflection()->SetEnumValue(&inner, state, 1);
      }
      check(field);
      WalkFields(inner, check);
    } else {
      SetNumber(part, field);
      check(field);
    }
    part.CopyFrom(*before);
  }
}

template <class Proto, class Struct>
int CheckEachField() {
  int fields = 0;
  Proto root;
  WalkFields(root, [&](const FieldDescriptor& field) {
    SCOPED_TRACE(field.full_name());
    ++fields;
    Struct read;
    ASSERT_TRUE(ReadDirect(root.SerializeAsString(), read)) << root.ShortDebugString();
    EXPECT_EQ(ToProto(read).SerializeAsString(),
              ToProto(FromProto(Proto(root))).SerializeAsString());
    Proto back;
    ASSERT_TRUE(back.ParseFromString(WriteDirect(read, 0)));
    EXPECT_EQ(back.SerializeAsString(), ToProto(read).SerializeAsString());
    if (field.message_type() != nullptr) return;  // its fields show that it came back
    EXPECT_NE(back.ShortDebugString().find(field.name()), std::string::npos)
        << "it did not come back: " << back.ShortDebugString();
  });
  return fields;
}

TEST(TickLayoutTest, EveryFieldComesBack) {
  EXPECT_EQ((CheckEachField<v8::TickSubmit, TickSubmit>()), 1 + 4 + 13 + 5 + 6);
  EXPECT_EQ((CheckEachField<v8::TickResult, TickResult>()), 3 + 6 + 9 + 5 + 5 + 5 + 6 + 2);
  EXPECT_EQ((CheckEachField<v8::TickEmit, TickEmit>()), 4);
}

}  // namespace
}  // namespace superfluid::linkw
