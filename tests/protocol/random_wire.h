#ifndef SUPERFLUID_TESTS_PROTOCOL_RANDOM_WIRE_H_
#define SUPERFLUID_TESTS_PROTOCOL_RANDOM_WIRE_H_

#include <cstdint>
#include <random>
#include <string>

#include "protocol/codec/schema_rules.h"

namespace superfluid::linkw {

// Makes payloads that no encoder would write and that mostly hold together: fields in any order and
// any number, values at the limits, overlong varints, lists packed and not, wrong wire types,
// unknown fields. Lengths fit, so that what is odd inside a message is reached.
class RandomWire {
 public:
  explicit RandomWire(uint64_t seed) : random_(seed) {}

  // `trouble` in a thousand choices break something.
  std::string Payload(const MessageRules& rules, uint32_t trouble) {
    trouble_ = trouble;
    made_ = 0;
    return Message(rules, 0);
  }

 private:
  std::string Message(const MessageRules& rules, int depth);
  std::string Field(const FieldRules& field, uint32_t number, int depth);
  std::string Elements(const FieldRules& field, uint32_t number);
  std::string Odd(uint32_t number);
  std::string Element(const FieldRules& field);
  std::string Text(const FieldRules& field);
  std::string VarintOf(uint64_t value);
  std::string Delimited(uint32_t number, const std::string& bytes);
  uint64_t Number(const FieldRules& field);

  uint64_t Below(uint64_t below) { return random_() % below; }
  bool Trouble() { return Below(1000) < trouble_; }
  // Something as large as it may be: now and then, while the payload is small.
  bool FillUp(uint64_t size) { return Trouble() && made_ < kMostBytes && size < kMostBytes; }

  static constexpr size_t kMostBytes = 10000;

  std::mt19937_64 random_;
  uint32_t trouble_ = 0;
  size_t made_ = 0;  // bytes of this payload, roughly
};

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_TESTS_PROTOCOL_RANDOM_WIRE_H_
