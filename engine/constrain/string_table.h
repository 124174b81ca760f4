#ifndef SUPERFLUID_ENGINE_CONSTRAIN_STRING_TABLE_H_
#define SUPERFLUID_ENGINE_CONSTRAIN_STRING_TABLE_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace superfluid {

// How the inside of any JSON string is read: a state before the first quote, one between
// characters, and those inside of an escape or of a character's UTF-8.
class StringTable {
 public:
  static constexpr uint8_t kBeforeQuote = 0;
  static constexpr uint8_t kBetween = 1;
  static constexpr uint8_t kClosed = 254;  // the quote that ends the string
  static constexpr uint8_t kNone = 255;    // nothing continues so

  // Of values, and of names that stand beside named members: those have one spelling for each name,
  // so that none of the named ones comes in disguise.
  static const StringTable& OfValues();
  static const StringTable& OfNames();

  uint8_t Next(uint8_t state, uint8_t byte) const { return next_[state][byte]; }

 private:
  enum class Escapes : uint8_t { kAll, kShortOnly };
  explicit StringTable(Escapes escapes);
  void Set(uint8_t from, unsigned low, unsigned high, uint8_t to);

  static constexpr size_t kStates = 15;
  std::array<std::array<uint8_t, 256>, kStates> next_{};
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_CONSTRAIN_STRING_TABLE_H_
