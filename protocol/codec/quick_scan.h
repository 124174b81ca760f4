#ifndef SUPERFLUID_PROTOCOL_CODEC_QUICK_SCAN_H_
#define SUPERFLUID_PROTOCOL_CODEC_QUICK_SCAN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "protocol/codec/schema_rules.h"

// The wire scan without texts, from a table by tag. Internal to the codecs.
namespace superfluid::linkw {

// The rules of a message type, by the tag that a field comes with.
struct QuickTable {
  enum class Check : uint8_t {
    kUnknown,  // no field of the message
    kRefused,  // a field of it that has another wire type, or too many lists for the counters
    kNumber,
    kSmallNumber,  // has a largest value
    kEnum,
    kFixed,
    kFloats,  // of the elements, each is to be finite
    kText,
    kMessage,
    kPackedNumbers,
    kPackedFixed,
  };
  struct Entry {
    Check check = Check::kUnknown;
    uint8_t number = 0;   // of the field
    uint8_t counter = 0;  // of a list: which of the counters is its
    uint8_t size = 0;     // of kFixed and kFloats: bytes of an element
    const FieldRules* rules = nullptr;
    const QuickTable* message = nullptr;  // of kMessage
  };

  static constexpr size_t kTags = (size_t{kMaxFieldNumber} + 1) << 3;
  static constexpr size_t kCounters = 8;  // the first is no list's

  std::vector<Entry> entries;
  std::array<uint8_t, kTags> by_tag{};  // position in `entries`; the first is kUnknown
  uint64_t required = 0;                // bit n: field n
  uint32_t max_submessages = 0;
};

// Returns the table of `rules`; made at its first use and kept for ever. Any thread.
const QuickTable& QuickTableOf(const MessageRules& rules);

// Returns whether ScanPayload would find nothing, with the same verdict on any bytes.
bool QuickScan(const QuickTable& table, std::string_view payload);

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_PROTOCOL_CODEC_QUICK_SCAN_H_
