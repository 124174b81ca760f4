#ifndef SUPERFLUID_PROTOCOL_CODEC_DIRECT_READER_H_
#define SUPERFLUID_PROTOCOL_CODEC_DIRECT_READER_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/codec/schema_rules.h"
#include "protocol/codec/tick_layout.h"
#include "protocol/codec/wire_cursor.h"
#include "protocol/messages/text.h"

namespace superfluid::linkw::direct {

// Reads a payload into a struct that has a layout, in one pass, by the rules of the wire scan. It
// says only yes or no, and may say no to what is good: then the scan says what is wrong, and
// Protobuf reads what is not. It says yes only if those two would, and gives the same struct.
//
// A pass over the fields in their order takes all that a writer wrote in order; what came out of
// order takes another pass. Internal to the codecs.
class DirectReader {
 public:
  // REQUIRES: `message` is as its default. What it is after a no is unspecified.
  template <class Message>
  bool Read(std::string_view payload, Message& message) {
    return Fields(payload.data(), payload.data() + payload.size(), message, FieldsOf<Message>{});
  }

 private:
  // What stands in place of a tag where a message ends: no tag, since it has no wire type.
  static constexpr uint32_t kEnd = 0xffffffff;
  // The fields that have to be there, as bits.
  template <class... F>
  static constexpr uint32_t kRequired = (0u | ... | (F::kBounds.required ? 1u << F::kNumber : 0u));
  // Protobuf reads no more of a tag or a length.
  static constexpr ptrdiff_t kMaxShortBytes = 5;

  // Reads a tag. One byte is taken as it is: what equals no field's tag is checked as unknown.
  static const char* NextTag(const char* at, const char* end, uint32_t& tag) {
    if (at == end) {
      tag = kEnd;
      return at;
    }
    tag = static_cast<unsigned char>(*at);
    if (tag < 0x80) [[likely]]
      return at + 1;
    const char* const after = cursor::Tag(at, end, tag);
    return after != nullptr && after - at <= kMaxShortBytes ? after : nullptr;
  }
  static const char* Length(const char* at, const char* end, const char*& part_end) {
    const char* const after = cursor::Length(at, end, part_end);
    return after != nullptr && after - at <= kMaxShortBytes ? after : nullptr;
  }

  template <class Message, class... F>
  bool Fields(const char* at, const char* end, Message& message, FieldList<F...> /*fields*/) {
    uint32_t seen = 0;  // bit n: field n
    uint32_t tag = kEnd;
    at = NextTag(at, end, tag);
    if (at == nullptr) return false;
    while (tag != kEnd) {
      const char* const before = at;
      if (!(Take<F>(at, end, tag, message, seen) && ...)) return false;
      if (at == before && !PassUnknown<F...>(at, end, tag)) return false;
    }
    return (seen & kRequired<F...>) == kRequired<F...>;
  }

  // Takes the field as often as it comes now, and the tag behind it.
  template <class F, class Message>
  bool Take(const char*& at, const char* end, uint32_t& tag, Message& message, uint32_t& seen) {
    while (F::HasTag(tag)) {
      if constexpr (F::kForm == Form::kMessage) {
        if ((seen & 1u << F::kNumber) != 0) return false;
      }
      seen |= 1u << F::kNumber;
      at = Value<F>(at, end, tag, message.*F::kMember);
      if (at == nullptr) return false;
      at = NextTag(at, end, tag);
      if (at == nullptr) return false;
    }
    return true;
  }

  template <class... F>
  bool PassUnknown(const char*& at, const char* end, uint32_t& tag) {
    if (tag >> 3 == 0) return false;                      // no field
    if (((tag >> 3 == F::kNumber) || ...)) return false;  // of another wire type
    if (++unknown_fields_ > kMaxUnknownFields) return false;
    const char* const value = at;
    at = cursor::Skip(at, end, tag);
    if (at == nullptr) return false;
    // A length of more bytes than Protobuf reads is left to Protobuf.
    if ((tag & 7) == static_cast<uint32_t>(WireType::kDelimited)) {
      const char* part_end = nullptr;
      if (Length(value, end, part_end) == nullptr) return false;
    }
    at = NextTag(at, end, tag);
    return at != nullptr;
  }

  template <class F>
  const char* Value(const char* at, const char* end, uint32_t tag, typename F::Type& to) {
    if constexpr (F::kForm == Form::kFloat) {
      uint32_t bits = 0;
      at = cursor::Fixed32(at, end, bits);
      to = std::bit_cast<float>(bits);
      return cursor::IsFiniteFloat(bits) ? at : nullptr;
    } else if constexpr (F::kForm == Form::kTokens) {
      return tag == F::kTag ? Packed<F>(at, end, to) : Element<F>(at, end, to);
    } else if constexpr (WireTypeOf(F::kForm) == WireType::kDelimited) {
      const char* part_end = nullptr;
      const char* const part = Length(at, end, part_end);
      if (part == nullptr || !Part<F>(at, end, part, part_end, to)) return nullptr;
      return part_end;
    } else {
      return Number<F>(at, end, to);
    }
  }

  template <class F>
  static const char* Number(const char* at, const char* end, typename F::Type& to) {
    uint64_t value = 0;
    at = cursor::Varint(at, end, value);
    if constexpr (F::kForm == Form::kBool) {
      to = value != 0;
    } else if constexpr (F::kForm == Form::kStatus) {
      to = StatusFromWire(static_cast<uint32_t>(value));
    } else {
      to = static_cast<typename F::Type>(value);
    }
    if constexpr (F::kForm == Form::kNumber32) {
      if (value > 0xffffffff) return nullptr;
    } else if constexpr (F::kForm == Form::kClosedEnum) {
      if (value < F::kBounds.least || value > F::kBounds.most) return nullptr;
    }
    return at;
  }

  // Reads what lies between `part` and `part_end`; `at` is where its length began.
  template <class F>
  bool Part(const char* at, const char* end, const char* part, const char* part_end,
            typename F::Type& to) {
    if constexpr (F::kForm == Form::kText) {
      const std::string_view text = cursor::Between(part, part_end);
      if (text.size() > F::kBounds.max_bytes || !IsUtf8(text)) return false;
      to.assign(text);
      return true;
    } else if constexpr (F::kForm == Form::kMessage) {
      return Fields(part, part_end, to, FieldsOf<typename F::Type>{});
    } else {
      if (to.size() == F::kBounds.max_count) return false;
      if (to.empty()) to.reserve(CountRun<F>(at, end));
      return Fields(part, part_end, to.emplace_back(), FieldsOf<typename F::Type::value_type>{});
    }
  }

  // Returns how many elements of a list follow each other, up to as many as it may have; `at` is
  // where the length of the first begins.
  template <class F>
  static size_t CountRun(const char* at, const char* end) {
    size_t count = 0;
    while (count < F::kBounds.max_count) {
      const char* part_end = nullptr;
      if (cursor::Length(at, end, part_end) == nullptr) break;
      ++count;
      if (part_end == end || static_cast<unsigned char>(*part_end) != F::kTag) break;
      at = part_end + 1;
    }
    return count;
  }

  template <class F>
  static const char* Packed(const char* at, const char* end, std::vector<Token>& to) {
    const char* part_end = nullptr;
    at = Length(at, end, part_end);
    if (at == nullptr) return nullptr;
    const size_t count = cursor::CountVarints(at, part_end);
    if (count > F::kBounds.max_count - to.size()) return nullptr;
    if (to.empty()) to.reserve(count);
    while (at != part_end) {
      uint64_t token = 0;
      at = cursor::Varint(at, part_end, token);
      if (at == nullptr || token > 0xffffffff) return nullptr;
      to.push_back(static_cast<Token>(token));
    }
    return at;
  }

  template <class F>
  static const char* Element(const char* at, const char* end, std::vector<Token>& to) {
    uint64_t token = 0;
    at = cursor::Varint(at, end, token);
    if (to.size() == F::kBounds.max_count || token > 0xffffffff) return nullptr;
    to.push_back(static_cast<Token>(token));
    return at;
  }

  uint32_t unknown_fields_ = 0;
};

}  // namespace superfluid::linkw::direct

#endif  // SUPERFLUID_PROTOCOL_CODEC_DIRECT_READER_H_
