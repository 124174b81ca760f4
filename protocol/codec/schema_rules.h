#ifndef SUPERFLUID_PROTOCOL_CODEC_SCHEMA_RULES_H_
#define SUPERFLUID_PROTOCOL_CODEC_SCHEMA_RULES_H_

#include <google/protobuf/descriptor.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

// The rules that linkw.proto states, in the form that the wire scan reads. Internal to the codecs.
namespace superfluid::linkw {

enum class WireKind : uint8_t { kVarint, kFixed32, kFixed64, kBytes, kMessage };

struct MessageRules;

struct FieldRules {
  std::string name;
  WireKind kind = WireKind::kVarint;
  bool repeated = false;
  bool required = false;
  bool no_nul = false;
  bool utf8 = false;
  bool finite = false;     // of kFixed32, which is then a float
  uint64_t max_value = 0;  // of kVarint
  uint32_t max_count = 0;
  uint32_t min_bytes = 0;  // of kBytes
  uint32_t max_bytes = 0;
  const MessageRules* message = nullptr;  // of kMessage
  // The named values of a closed enum, sorted; empty: every value is allowed.
  std::vector<uint64_t> enum_values;
};

inline constexpr uint32_t kMaxFieldNumber = 63;
inline constexpr uint32_t kMaxUnknownFields = 1024;

struct MessageRules {
  std::string name;
  uint32_t max_submessages = 0;
  uint64_t required = 0;                             // bit n: field n
  std::vector<FieldRules> fields;                    // in the order of the schema
  std::array<uint8_t, kMaxFieldNumber + 1> index{};  // 1 + position in `fields`; 0: unknown

  const FieldRules* Find(uint32_t number) const {
    if (number > kMaxFieldNumber || index[number] == 0) return nullptr;
    return &fields[index[number] - size_t{1}];
  }
};

// Of a message type of linkw.proto; built at its first use and kept for ever. Any thread.
const MessageRules& RulesOf(const google::protobuf::Descriptor& descriptor);

// What the schema forgot to say: a repeated field without max_count, text without max_bytes, a
// field number that is too high. For tests; the scan refuses such fields whatever they hold.
std::vector<std::string> SchemaMistakes(const google::protobuf::FileDescriptor& file);

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_CODEC_SCHEMA_RULES_H_
