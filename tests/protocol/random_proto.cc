#include "tests/protocol/random_proto.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "protocol/linkw.pb.h"

namespace superfluid::linkw {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

void RandomProto::Fill(Message& message) {
  const google::protobuf::Descriptor& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    if (type.field(i)->containing_oneof() == nullptr) FillField(message, *type.field(i));
  }
  for (int i = 0; i < type.oneof_decl_count(); ++i) {
    const google::protobuf::OneofDescriptor& oneof = *type.oneof_decl(i);
    const auto member = Below(static_cast<uint64_t>(oneof.field_count()));
    FillField(message, *oneof.field(static_cast<int>(member)));
  }
}

void RandomProto::FillField(Message& message, const FieldDescriptor& field) {
  if (!field.is_repeated()) {
    FillElement(message, field);
    return;
  }
  const uint64_t count =
      std::min<uint64_t>(Below(4), field.options().GetExtension(v8::rule).max_count());
  for (uint64_t i = 0; i < count; ++i) FillElement(message, field);
}

void RandomProto::FillElement(Message& message, const FieldDescriptor& field) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  const auto put = [&](auto set, auto add, auto value) {
    if (field.is_repeated()) {
      (reflection.*add)(&message, &field, value);
    } else {
      (reflection.*set)(&message, &field, value);
    }
  };
  using Reflection = google::protobuf::Reflection;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_UINT32:
      put(&Reflection::SetUInt32, &Reflection::AddUInt32, static_cast<uint32_t>(Number(32)));
      break;
    case FieldDescriptor::CPPTYPE_UINT64:
      put(&Reflection::SetUInt64, &Reflection::AddUInt64, Number(64));
      break;
    case FieldDescriptor::CPPTYPE_INT64:
      put(&Reflection::SetInt64, &Reflection::AddInt64, static_cast<int64_t>(Number(64)));
      break;
    case FieldDescriptor::CPPTYPE_FLOAT:
      put(&Reflection::SetFloat, &Reflection::AddFloat, Float());
      break;
    case FieldDescriptor::CPPTYPE_BOOL:
      put(&Reflection::SetBool, &Reflection::AddBool, Below(2) == 1);
      break;
    case FieldDescriptor::CPPTYPE_ENUM:
      put(&Reflection::SetEnumValue, &Reflection::AddEnumValue, EnumNumber(field));
      break;
    case FieldDescriptor::CPPTYPE_STRING:
      put(&Reflection::SetString, &Reflection::AddString, Text(field));
      break;
    case FieldDescriptor::CPPTYPE_MESSAGE:
      Fill(field.is_repeated() ? *reflection.AddMessage(&message, &field)
                               : *reflection.MutableMessage(&message, &field));
      break;
    default:
      std::abort();  // the schema has no such fields
  }
}

// Of any magnitude, not only huge ones.
uint64_t RandomProto::Number(int bits) {
  return (random_() >> (64 - bits)) >> Below(static_cast<uint64_t>(bits));
}

float RandomProto::Float() {
  return static_cast<float>(static_cast<int64_t>(Below(2000001)) - 1000000) / 1024.0F;
}

int RandomProto::EnumNumber(const FieldDescriptor& field) {
  const google::protobuf::EnumDescriptor& type = *field.enum_type();
  const int first = field.options().GetExtension(v8::rule).required() ? 1 : 0;
  const auto choices = static_cast<uint64_t>(type.value_count() - first);
  return type.value(first + static_cast<int>(Below(choices)))->number();
}

std::string RandomProto::Text(const FieldDescriptor& field) {
  const v8::Rule& rule = field.options().GetExtension(v8::rule);
  std::string text;
  if (rule.exact_bytes() > 0) {
    for (uint32_t i = 0; i < rule.exact_bytes(); ++i) text.push_back(static_cast<char>(Below(256)));
    return text;
  }
  static constexpr std::array<const char*, 6> kCharacters = {
      "a", "Z", " ", "\xC3\xBC", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
  for (uint64_t i = Below(12); i > 0; --i) text += kCharacters[Below(kCharacters.size())];
  return text;
}

}  // namespace superfluid::linkw
