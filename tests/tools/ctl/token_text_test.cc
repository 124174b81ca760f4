#include "tools/ctl/generation/token_text.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/tools/ctl/string_output.h"
#include "tools/ctl/generation/generation_printer.h"
#include "tools/ctl/generation/vocabulary.h"

namespace superfluid::ctl {
namespace {

std::vector<linkw::Token> Bytes(std::string_view text) {
  std::vector<linkw::Token> tokens;
  for (const char c : text) tokens.push_back(static_cast<unsigned char>(c));
  return tokens;
}

std::string Whole(std::string_view text) {
  ByteTokenText shown;
  const std::string first = shown.Push(Bytes(text));
  return first + shown.Finish();
}

TEST(TokenTextTest, ListsIds) {
  EXPECT_EQ(TokenIdsText({}), "");
  EXPECT_EQ(TokenIdsText(std::vector<linkw::Token>{1, 22, 4'000'000'000}), "1 22 4000000000");
}

TEST(ByteTokenTextTest, ShowsTextAsItIs) {
  EXPECT_EQ(Whole("a line\n\tand \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"),
            "a line\n\tand \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80");
}

TEST(ByteTokenTextTest, KeepsACharacterUntilItIsWhole) {
  ByteTokenText text;
  EXPECT_EQ(text.Push(Bytes("a\xE2")), "a");
  EXPECT_EQ(text.Push(Bytes("\x82")), "");
  EXPECT_EQ(text.Push(Bytes("\xAC!")), "\xE2\x82\xAC!");
  EXPECT_EQ(text.Finish(), "");
  EXPECT_EQ(text.Push(Bytes("\xE2\x82")), "");
  EXPECT_EQ(text.Finish(), "\\xE2\\x82");
}

TEST(ByteTokenTextTest, EscapesWhatDrivesATerminalOrIsNoCharacter) {
  EXPECT_EQ(Whole("\x1b[31m\x07\x7F\r"), "\\x1B[31m\\x07\\x7F\\x0D");
  EXPECT_EQ(Whole("\xC2\x9B"), "\\xC2\\x9B");
  EXPECT_EQ(Whole("\xFF\xC0\xAF"), "\\xFF\\xC0\\xAF");
  EXPECT_EQ(Whole("\xE2(\xA1"), "\\xE2(\\xA1");
  EXPECT_EQ(Whole("\xED\xA0\x80"), "\\xED\\xA0\\x80") << "half of a surrogate pair";
}

TEST(ByteTokenTextTest, NamesTokensThatAreNoBytes) {
  ByteTokenText text;
  EXPECT_EQ(text.Push(std::vector<linkw::Token>{'a', 256, 0xE2, 300}), "a<256>\\xE2<300>");
}

TEST(VocabularyTest, KnowsByteTokensByTheirNumber) {
  EXPECT_FALSE(Vocabulary{.size = 0}.HasByteTokens());
  EXPECT_FALSE(Vocabulary{.size = 255}.HasByteTokens());
  EXPECT_TRUE(Vocabulary{.size = 256}.HasByteTokens());
  EXPECT_TRUE(Vocabulary{.size = 1023}.HasByteTokens());
  EXPECT_FALSE(Vocabulary{.size = 1024}.HasByteTokens());
}

TEST(VocabularyTest, BelievesAnEngineThatSaysWhatItsTokensAre) {
  linkw::HelloAck hello;
  hello.capabilities_json = R"({"vocab_size":512,"byte_tokens":false})";
  EXPECT_FALSE(VocabularyOf(hello).HasByteTokens());
  hello.capabilities_json = R"({"vocab_size":32000,"byte_tokens":true})";
  EXPECT_TRUE(VocabularyOf(hello).HasByteTokens());
  hello.capabilities_json = R"({"vocab_size":512,"byte_tokens":"no"})";
  EXPECT_TRUE(VocabularyOf(hello).HasByteTokens());
}

TEST(VocabularyTest, BelievesNumbersOnly) {
  linkw::HelloAck hello;
  for (const char* capabilities :
       {"", "[]", R"({"vocab_size":-1})", R"({"vocab_size":"300"})", R"({"vocab_size":1e300})"}) {
    hello.capabilities_json = capabilities;
    EXPECT_EQ(VocabularyOf(hello).size, 0u) << capabilities;
  }
  hello.capabilities_json = R"({"vocab_size":300,"context_tokens":7})";
  EXPECT_EQ(VocabularyOf(hello).size, 300u);
  EXPECT_EQ(VocabularyOf(hello).context_tokens, 7u);
}

GenerationOutcome OneLane(std::vector<linkw::Token> tokens, linkw::FinishReason finish) {
  GenerationOutcome outcome;
  outcome.lanes.resize(1);
  outcome.lanes[0].tokens = std::move(tokens);
  outcome.lanes[0].finish = finish;
  return outcome;
}

// What is printed of one lane whose tokens come one by one.
std::string Printed(const GenerationOutcome& outcome, bool stream) {
  StringOutput out;
  GenerationPrinter printer({.stream = stream, .as_text = true}, 1, &out,
                            [](const absl::Status&) {});
  for (const linkw::Token token : outcome.lanes[0].tokens) {
    printer.OnTokens(0, 0, absl::MakeConstSpan(&token, 1));
  }
  printer.OnEnd(outcome);
  return out.text;
}

// A program reads the text as JSON: what ended it is no part of it.
TEST(GenerationTextTest, AStopTokenThatIsNoCharacterIsNotShown) {
  for (const linkw::Token end : {0U, 256U, 4U}) {
    const auto outcome = OneLane({'{', '}', end}, linkw::FinishReason::kStopToken);
    EXPECT_EQ(Printed(outcome, true), "{}\n") << end;
    EXPECT_EQ(Printed(outcome, false), "{}\n") << end;
    EXPECT_EQ(GenerationJson(outcome, true)["lanes"][0]["text"], "{}") << end;
  }
}

TEST(GenerationTextTest, AllElseIsShown) {
  using linkw::FinishReason;
  EXPECT_EQ(Printed(OneLane({'a', '.'}, FinishReason::kStopToken), true), "a.\n");
  EXPECT_EQ(Printed(OneLane({'a', 0}, FinishReason::kNotFinished), true), "a\\x00\n");
  EXPECT_EQ(Printed(OneLane({0, 'a', 0, 0}, FinishReason::kStopToken), true), "\\x00a\\x00\n");
  EXPECT_EQ(Printed(OneLane({0}, FinishReason::kStopToken), true), "\n");
  EXPECT_EQ(Printed(OneLane({'a', 0xC3}, FinishReason::kLength), true), "a\\xC3\n");
}

}  // namespace
}  // namespace superfluid::ctl
