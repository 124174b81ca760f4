#include "tests/protocol/random_wire.h"

#include <algorithm>
#include <vector>

#include "tests/protocol/wire_builder.h"

namespace superfluid::linkw {
namespace {

constexpr int kMaxDepth = 4;

std::string Fixed(uint64_t value, size_t size) {
  std::string bytes;
  for (size_t i = 0; i < size; ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
  return bytes;
}

}  // namespace

std::string RandomWire::Message(const MessageRules& rules, int depth) {
  std::vector<uint32_t> numbers;
  for (uint32_t number = 1; number <= kMaxFieldNumber; ++number) {
    const FieldRules* field = rules.Find(number);
    if (field == nullptr || Trouble()) continue;
    if (field->required || Below(3) != 0) numbers.push_back(number);
    if (Trouble() || (field->kind != WireKind::kMessage && Below(8) == 0)) {
      numbers.push_back(number);
    }
  }
  if (Below(4) == 0) std::shuffle(numbers.begin(), numbers.end(), random_);
  std::string bytes;
  for (const uint32_t number : numbers) {
    bytes += Field(*rules.Find(number), number, depth);
    if (Below(40) == 0) bytes += Odd(20 + static_cast<uint32_t>(Below(60)));
    if (Trouble()) bytes += Odd(static_cast<uint32_t>(Below(70)));
  }
  if (Trouble()) bytes.resize(Below(bytes.size() + 1));
  return bytes;
}

std::string RandomWire::Field(const FieldRules& field, uint32_t number, int depth) {
  if (Trouble()) return Odd(number);
  if (field.kind == WireKind::kMessage) {
    if (depth == kMaxDepth && !field.required) return "";
    std::string bytes;
    const uint64_t count = !field.repeated           ? 1
                           : FillUp(field.max_count) ? field.max_count + uint64_t{1}
                                                     : Below(4);
    for (uint64_t i = 0; i < count && made_ < 2 * kMostBytes; ++i) {
      bytes += Delimited(number, Message(*field.message, depth + 1));
    }
    return bytes;
  }
  if (field.kind == WireKind::kBytes) return Delimited(number, Text(field));
  return Elements(field, number);
}

std::string RandomWire::Elements(const FieldRules& field, uint32_t number) {
  const uint32_t type = field.kind == WireKind::kVarint    ? 0
                        : field.kind == WireKind::kFixed32 ? 5
                                                           : 1;
  if (!field.repeated) return VarintOf(number << 3 | type) + Element(field);
  const uint64_t count = FillUp(field.max_count) ? field.max_count + Below(2) : Below(5);
  const bool packed = Below(3) != 0;
  std::string bytes;
  for (uint64_t i = 0; i < count; ++i) {
    if (!packed) bytes += VarintOf(number << 3 | type);
    bytes += Element(field);
  }
  return packed ? Delimited(number, bytes) : bytes;
}

// A field of any wire type, groups included.
std::string RandomWire::Odd(uint32_t number) {
  const auto type = static_cast<uint32_t>(Trouble() ? Below(8) : std::vector{0, 1, 2, 5}[Below(4)]);
  const std::string tag = VarintOf(uint64_t{number} << 3 | type);
  if (type == 0) return tag + VarintOf(random_() >> Below(64));
  if (type == 1) return tag + Fixed(random_(), 8);
  if (type == 5) return tag + Fixed(random_(), 4);
  const std::string text(Below(4), static_cast<char>(Below(256)));
  return tag + VarintOf(text.size()) + text;
}

std::string RandomWire::Element(const FieldRules& field) {
  switch (field.kind) {
    case WireKind::kFixed32:
      return Fixed(Trouble() ? 0x7f800000 | random_() : random_() & 0xbfffffff, 4);
    case WireKind::kFixed64:
      return Fixed(random_(), 8);
    default:
      return VarintOf(Number(field));
  }
}

uint64_t RandomWire::Number(const FieldRules& field) {
  if (Trouble()) return random_() >> Below(64);
  if (!field.enum_values.empty()) return field.enum_values[Below(field.enum_values.size())];
  const std::vector<uint64_t> limits = {0, 1, 0x7f, 0x80, 0x3fff, 0x4000, field.max_value};
  return Below(2) == 0 ? limits[Below(limits.size())] : field.max_value & (random_() >> Below(64));
}

std::string RandomWire::Text(const FieldRules& field) {
  if (field.min_bytes > 0) return std::string(field.min_bytes - (Trouble() ? 1 : 0), 'h');
  if (FillUp(field.max_bytes)) return std::string(size_t{field.max_bytes} + Below(2), 'x');
  std::string text(Below(6), 'a');
  if (Below(4) == 0) text += "\xE2\x82\xAC";
  if (Trouble()) text += "\xC3";
  if (Trouble()) text.push_back('\0');
  return text;
}

// Overlong now and then: more bytes than needed mean the same, up to ten.
std::string RandomWire::VarintOf(uint64_t value) {
  std::string bytes = Varint(value);
  if (Below(50) != 0) return bytes;
  for (uint64_t more = 1 + Below(10 - std::min<size_t>(bytes.size(), 9)); more > 0; --more) {
    bytes.back() = static_cast<char>(bytes.back() | 0x80);
    bytes.push_back('\0');
  }
  return bytes;
}

std::string RandomWire::Delimited(uint32_t number, const std::string& bytes) {
  made_ += bytes.size();
  return VarintOf(uint64_t{number} << 3 | 2) + VarintOf(bytes.size()) + bytes;
}

}  // namespace superfluid::linkw
