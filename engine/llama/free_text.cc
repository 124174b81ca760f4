#include "engine/llama/free_text.h"

#include <algorithm>
#include <cstdint>
#include <set>

namespace superfluid {
namespace {

// The prefixes of the triggers that can be a state: none that a trigger is found in.
std::vector<std::u32string> StatesOf(const std::vector<std::u32string>& triggers) {
  std::set<std::u32string> prefixes = {U""};
  for (const std::u32string& trigger : triggers) {
    for (size_t length = 1; length < trigger.size(); ++length) {
      prefixes.insert(trigger.substr(0, length));
    }
  }
  return {prefixes.begin(), prefixes.end()};  // the empty one is the first
}

// The longest trigger that the text ends with.
const std::u32string* Found(const std::u32string& text,
                            const std::vector<std::u32string>& triggers) {
  const std::u32string* longest = nullptr;
  for (const std::u32string& trigger : triggers) {
    if (text.ends_with(trigger) && (longest == nullptr || trigger.size() > longest->size())) {
      longest = &trigger;
    }
  }
  return longest;
}

// The longest state that the text ends with.
size_t StateOf(const std::u32string& text, const std::vector<std::u32string>& states) {
  size_t best = 0;
  for (size_t i = 0; i < states.size(); ++i) {
    if (text.ends_with(states[i]) && states[i].size() > states[best].size()) best = i;
  }
  return best;
}

}  // namespace

std::u32string CodePoints(absl::string_view text) {
  std::u32string points;
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<uint8_t>(text[i]);
    const size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    char32_t point = length == 1 ? first : first & (0xFFU >> (length + 1));
    for (size_t k = 1; k < length && i + k < text.size(); ++k) {
      point = (point << 6U) | (static_cast<uint8_t>(text[i + k]) & 0x3FU);
    }
    points.push_back(point);
    i += length;
  }
  return points;
}

FreeText MakeFreeText(const std::vector<std::u32string>& triggers) {
  std::set<char32_t> characters;
  for (const std::u32string& trigger : triggers) characters.insert(trigger.begin(), trigger.end());
  const std::vector<std::u32string> states = StatesOf(triggers);
  FreeText text;
  text.states.resize(states.size());
  for (size_t i = 0; i < states.size(); ++i) {
    for (const char32_t character : characters) {
      const std::u32string next = states[i] + character;
      const std::u32string* found = Found(next, triggers);
      const size_t state = found == nullptr ? StateOf(next, states) : 0;
      if (found == nullptr && state == 0) continue;  // as any other character
      text.states[i].push_back({character, state, found});
    }
  }
  return text;
}

}  // namespace superfluid
