#include "protocol/codec/schema_rules.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "protocol/linkw.pb.h"

namespace superfluid::linkw {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

constexpr uint32_t kDefaultMaxSubmessages = 4096;
constexpr uint32_t kUnlimited = std::numeric_limits<uint32_t>::max();

WireKind KindOf(const FieldDescriptor& field) {
  switch (field.type()) {
    case FieldDescriptor::TYPE_FLOAT:
    case FieldDescriptor::TYPE_FIXED32:
    case FieldDescriptor::TYPE_SFIXED32:
      return WireKind::kFixed32;
    case FieldDescriptor::TYPE_DOUBLE:
    case FieldDescriptor::TYPE_FIXED64:
    case FieldDescriptor::TYPE_SFIXED64:
      return WireKind::kFixed64;
    case FieldDescriptor::TYPE_STRING:
    case FieldDescriptor::TYPE_BYTES:
      return WireKind::kBytes;
    case FieldDescriptor::TYPE_MESSAGE:
      return WireKind::kMessage;
    default:
      return WireKind::kVarint;
  }
}

// A singular message may occur once: occurrences would be merged, past the caps of each. Of a
// singular number or text the last occurrence simply wins.
uint32_t MaxCountOf(const FieldDescriptor& field, const v8::Rule& rule) {
  if (field.is_repeated()) return rule.max_count();
  return field.type() == FieldDescriptor::TYPE_MESSAGE ? 1 : kUnlimited;
}

// A value of more than 32 bits would be cut to something else.
uint64_t MaxValueOf(const FieldDescriptor& field) {
  return field.type() == FieldDescriptor::TYPE_UINT32 ? std::numeric_limits<uint32_t>::max()
                                                      : std::numeric_limits<uint64_t>::max();
}

std::vector<uint64_t> EnumValuesOf(const FieldDescriptor& field, const v8::Rule& rule) {
  std::vector<uint64_t> values;
  if (field.type() != FieldDescriptor::TYPE_ENUM || rule.open()) return values;
  for (int i = 0; i < field.enum_type()->value_count(); ++i) {
    const int number = field.enum_type()->value(i)->number();
    if (number != 0 || !rule.required()) values.push_back(static_cast<uint64_t>(number));
  }
  std::sort(values.begin(), values.end());
  return values;
}

FieldRules MakeFieldRules(const FieldDescriptor& field) {
  const v8::Rule& rule = field.options().GetExtension(v8::rule);
  FieldRules result;
  result.name = field.name();
  result.kind = KindOf(field);
  result.repeated = field.is_repeated();
  result.required = rule.required();
  result.no_nul = rule.no_nul();
  result.utf8 = rule.utf8() || field.type() == FieldDescriptor::TYPE_STRING;
  result.finite = rule.finite();
  result.max_value = MaxValueOf(field);
  result.max_count = MaxCountOf(field, rule);
  result.min_bytes = rule.exact_bytes();
  result.max_bytes = rule.exact_bytes() > 0 ? rule.exact_bytes() : rule.max_bytes();
  result.enum_values = EnumValuesOf(field, rule);
  return result;
}

// Owns the rules of every type that was asked for, and of what those contain.
class Registry {
 public:
  const MessageRules& Get(const Descriptor& descriptor) {
    absl::MutexLock lock(&mutex_);
    return *Find(descriptor);
  }

 private:
  const MessageRules* Find(const Descriptor& descriptor) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    std::unique_ptr<MessageRules>& rules = rules_[&descriptor];
    if (rules == nullptr) {
      rules = std::make_unique<MessageRules>();
      Fill(descriptor, *rules);
    }
    return rules.get();
  }

  void Fill(const Descriptor& descriptor, MessageRules& rules)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    rules.name = descriptor.name();
    rules.max_submessages = descriptor.options().HasExtension(v8::max_submessages)
                                ? descriptor.options().GetExtension(v8::max_submessages)
                                : kDefaultMaxSubmessages;
    for (int i = 0; i < descriptor.field_count(); ++i) {
      const FieldDescriptor& field = *descriptor.field(i);
      const auto number = static_cast<uint32_t>(field.number());
      if (number > kMaxFieldNumber) continue;  // SchemaMistakes says so; read as unknown
      rules.fields.push_back(MakeFieldRules(field));
      rules.index[number] = static_cast<uint8_t>(rules.fields.size());
      if (rules.fields.back().required) rules.required |= uint64_t{1} << number;
      if (field.message_type() != nullptr) {
        rules.fields.back().message = Find(*field.message_type());
      }
    }
  }

  absl::Mutex mutex_;
  std::map<const Descriptor*, std::unique_ptr<MessageRules>> rules_ ABSL_GUARDED_BY(mutex_);
};

void CheckField(const FieldDescriptor& field, std::vector<std::string>& mistakes) {
  const FieldRules rules = MakeFieldRules(field);
  const auto complain = [&](const char* what) {
    mistakes.push_back(absl::StrCat(field.full_name(), ": ", what));
  };
  if (field.number() > static_cast<int>(kMaxFieldNumber)) complain("number above 63");
  if (rules.max_count == 0) complain("repeated without max_count");
  if (rules.kind == WireKind::kBytes && rules.max_bytes == 0) complain("text without a limit");
  if (rules.finite && field.type() != FieldDescriptor::TYPE_FLOAT) complain("finite, not a float");
}

}  // namespace

const MessageRules& RulesOf(const Descriptor& descriptor) {
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): locked inside, never freed
  static auto* const kRegistry = new Registry;
  return kRegistry->Get(descriptor);
}

std::vector<std::string> SchemaMistakes(const google::protobuf::FileDescriptor& file) {
  std::vector<std::string> mistakes;
  for (int i = 0; i < file.message_type_count(); ++i) {
    const Descriptor& message = *file.message_type(i);
    if (message.full_name() == v8::Rule::descriptor()->full_name()) continue;
    for (int j = 0; j < message.field_count(); ++j) CheckField(*message.field(j), mistakes);
  }
  return mistakes;
}

}  // namespace superfluid::linkw
