#include "engine/whisper/utf8_carry.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace superfluid {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// What may follow a first byte: how many bytes, and the range of the first of them (the others are
// 0x80 to 0xBF). No surrogates, nothing overlong, nothing above U+10FFFF.
struct Follow {
  size_t count = 0;
  uint8_t least = 0x80;
  uint8_t most = 0xBF;
};

bool IsFirst(uint8_t byte) { return byte < 0x80 || (byte >= 0xC2 && byte <= 0xF4); }

Follow FollowOf(uint8_t first) {
  if (first < 0x80) return {0};
  if (first < 0xE0) return {1};
  if (first == 0xE0) return {2, 0xA0, 0xBF};
  if (first == 0xED) return {2, 0x80, 0x9F};
  if (first < 0xF0) return {2};
  if (first == 0xF0) return {3, 0x90, 0xBF};
  if (first == 0xF4) return {3, 0x80, 0x8F};
  return {3};
}

// How many bytes at the front are a character or the beginning of one, and whether it is complete.
struct Character {
  size_t bytes = 0;
  bool complete = false;
};

Character CharacterAt(std::string_view text) {
  const auto byte = [&text](size_t i) { return static_cast<uint8_t>(text[i]); };
  if (!IsFirst(byte(0))) return {};
  const Follow follow = FollowOf(byte(0));
  size_t used = 1;
  while (used <= follow.count && used < text.size()) {
    const uint8_t least = used == 1 ? follow.least : uint8_t{0x80};
    const uint8_t most = used == 1 ? follow.most : uint8_t{0xBF};
    if (byte(used) < least || byte(used) > most) return {};
    ++used;
  }
  return {used, used == follow.count + 1};
}

}  // namespace

std::string Utf8Carry::Add(std::string_view bytes) {
  const std::string all = rest_ + std::string(bytes);
  rest_.clear();
  std::string whole;
  whole.reserve(all.size());
  std::string_view left = all;
  while (!left.empty()) {
    const Character character = CharacterAt(left);
    if (character.bytes > 0 && !character.complete) {
      rest_ = left;
      break;
    }
    whole += character.complete ? left.substr(0, character.bytes) : kReplacement;
    left.remove_prefix(std::max<size_t>(character.bytes, 1));
  }
  return whole;
}

}  // namespace superfluid
