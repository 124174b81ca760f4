#include "engine/llama/free_text.h"

#include <gtest/gtest.h>

#include <string>

namespace superfluid {
namespace {

// Where the first trigger ends in a text, found by the automaton; npos: nowhere.
size_t FindEnd(const FreeText& free_text, const std::u32string& text, std::u32string& found) {
  size_t state = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    size_t next = 0;
    for (const FreeText::Edge& edge : free_text.states[state]) {
      if (edge.character != text[i]) continue;
      if (edge.found != nullptr) {
        found = *edge.found;
        return i + 1;
      }
      next = edge.state;
    }
    state = next;
  }
  return std::u32string::npos;
}

TEST(FreeTextTest, FindsTheFirstTriggerOfEveryText) {
  const std::vector<std::vector<std::u32string>> sets = {
      {U"ab"}, {U"aab", U"ab"}, {U"aba", U"bab"}, {U"a"}, {U"abab", U"bb", U"aa"}};
  for (const auto& triggers : sets) {
    const FreeText free_text = MakeFreeText(triggers);
    for (uint32_t bits = 0; bits < 729; ++bits) {
      std::u32string text;
      for (uint32_t rest = bits, i = 0; i < 6; ++i, rest /= 3) text.push_back(U'a' + rest % 3);
      // The definition: the shortest beginning that ends with a trigger, and the longest of those.
      size_t end = std::u32string::npos;
      std::u32string longest;
      for (size_t length = 1; length <= text.size() && end == std::u32string::npos; ++length) {
        for (const std::u32string& trigger : triggers) {
          if (!text.substr(0, length).ends_with(trigger)) continue;
          end = length;
          if (trigger.size() > longest.size()) longest = trigger;
        }
      }
      std::u32string found;
      EXPECT_EQ(FindEnd(free_text, text, found), end);
      EXPECT_EQ(found, longest);
    }
  }
}

TEST(FreeTextTest, ReadsCodePoints) {
  EXPECT_EQ(CodePoints("a\u00e9\u20ac\U0001F600"), U"a\u00e9\u20ac\U0001F600");
  EXPECT_EQ(CodePoints(""), U"");
}

}  // namespace
}  // namespace superfluid
