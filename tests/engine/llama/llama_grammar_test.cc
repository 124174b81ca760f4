#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llama.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/llama/llama_tokens.h"
#include "tests/engine/llama/library_alone.h"
#include "tests/engine/llama/llama_fixture.h"

namespace superfluid::testing {
namespace {

using Json = nlohmann::json;

constexpr char kPerson[] = R"({"type": "object", "properties": {
    "name": {"type": "string", "maxLength": 8}, "age": {"type": "integer", "minimum": 0,
    "maximum": 120}, "kind": {"enum": ["cat", "dog"]}}, "required": ["name", "age", "kind"],
    "additionalProperties": false})";
constexpr char kTags[] = R"({"structures": [
    {"begin": "<tool>", "schema": {"type": "integer", "minimum": 0, "maximum": 99},
     "end": "</tool>"},
    {"begin": "<to", "schema": {"type": "boolean"}, "end": ">"}], "triggers": ["<to"]})";

// Every '<' begins "<n>", one or two digits and "</n>", with spaces between, but for one that the
// end of the text cuts off.
bool EveryTagIsWhole(absl::string_view text) {
  const auto skip = [&text](absl::string_view what) {
    while (!what.empty() && !text.empty() && what[0] == text[0]) {
      what.remove_prefix(1);
      text.remove_prefix(1);
    }
    return what.empty() || text.empty();
  };
  for (size_t open = text.find('<'); open != absl::string_view::npos; open = text.find('<')) {
    text.remove_prefix(open);
    if (!skip("<n>")) return false;
    text = absl::StripLeadingAsciiWhitespace(text);
    size_t digits = 0;
    while (digits < text.size() && absl::ascii_isdigit(static_cast<unsigned char>(text[digits]))) {
      ++digits;
    }
    if (digits > 2 || (digits == 0 && !text.empty())) return false;
    text = absl::StripLeadingAsciiWhitespace(text.substr(digits));
    if (!skip("</n>")) return false;
  }
  return true;
}

class LlamaGrammarTest : public LlamaFixture {
 protected:
  void SetUp() override {
    Start();
    library_ = std::make_unique<LibraryAlone>(ModelFile("tiny_llama.gguf"));
    ASSERT_TRUE(library_->good());
  }

  // The text drawn under the grammar, with its end.
  LaneResult DrawText(GrammarHandle grammar, uint64_t seed, float temperature, uint32_t draws,
                      uint32_t top_k = 0) {
    Script script = Greedy(Prompt(6, seed), draws);
    script.grammar = grammar;
    script.sampling.temperature = temperature;
    script.sampling.seed = seed;
    script.sampling.top_k = top_k;
    auto result = driver().Plain(script);
    EXPECT_TRUE(result.ok()) << result.status();
    if (!result.ok()) return {};
    EXPECT_TRUE(driver().Free(result->sequence).ok());
    return *std::move(result);
  }

  std::unique_ptr<LibraryAlone> library_;
};

TEST_F(LlamaGrammarTest, WhatIsDrawnParsesAndFollowsTheSchema) {
  const auto grammar = generation().CreateGrammar(kPerson, {});
  ASSERT_TRUE(grammar.ok()) << grammar.status();
  int complete = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const LaneResult result =
        DrawText(*grammar, seed, seed % 2 == 0 ? 0 : 1.2F, 200, seed % 3 == 0 ? 20 : 0);
    if (result.finish != FinishReason::kStopToken) continue;
    ++complete;
    const std::string text = library_->Text(result.tokens);
    const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    ASSERT_TRUE(json.is_object()) << text;
    EXPECT_EQ(json.size(), 3U);
    EXPECT_TRUE(json["name"].is_string());
    EXPECT_TRUE(json["age"].is_number_integer() && json["age"] >= 0 && json["age"] <= 120) << text;
    EXPECT_TRUE(json["kind"] == "cat" || json["kind"] == "dog");
  }
  EXPECT_GT(complete, 10);
}

TEST_F(LlamaGrammarTest, TagsConstrainWhatFollowsATriggerOnly) {
  const std::string spec = R"({"structures": [{"begin": "<n>", "schema": {"type": "integer",
      "minimum": 0, "maximum": 99}, "end": "</n>"}], "triggers": ["<"]})";
  const auto grammar = generation().CreateStructuralGrammar(spec, {});
  ASSERT_TRUE(grammar.ok()) << grammar.status();
  // A token of free text that is a trigger is made likely.
  const std::vector<Token> less = library_->Tokens("<");
  const auto bias = generation().CreateLogitBias({less.back()}, {6.0F});
  ASSERT_TRUE(bias.ok());
  int tags = 0;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    Script script = Greedy(Prompt(6, seed), 60);
    script.grammar = *grammar;
    script.bias = *bias;
    script.sampling.temperature = 1;
    script.sampling.seed = seed;
    const std::string text = library_->Text(Draw(script));
    EXPECT_TRUE(EveryTagIsWhole(text)) << text;
    tags += text.find("</n>") != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(tags, 3);
}

TEST_F(LlamaGrammarTest, GreedyUnderAGrammarIsTheBestThatIsAllowed) {
  const auto grammar = generation().CreateGrammar(R"({"enum": ["cat", "dog", "cow"]})", {});
  ASSERT_TRUE(grammar.ok()) << grammar.status();
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const LaneResult greedy = DrawText(*grammar, seed, 0, 30);
    const LaneResult first = DrawText(*grammar, seed, 1, 30, /*top_k=*/1);
    EXPECT_EQ(greedy.tokens, first.tokens);
    EXPECT_EQ(greedy.finish, FinishReason::kStopToken);
    const std::string text = library_->Text(greedy.tokens);
    EXPECT_TRUE(text == "\"cat\"" || text == "\"dog\"" || text == "\"cow\"") << text;
  }
}

TEST_F(LlamaGrammarTest, NothingFollowsTheEndAndWhatIsNotOfTheGrammarIsRefused) {
  const auto grammar = generation().CreateGrammar(R"({"const": 7})", {});
  ASSERT_TRUE(grammar.ok());
  Script script = Greedy(Prompt(5), 20);
  script.grammar = *grammar;
  const auto ended = driver().Plain(script);
  ASSERT_TRUE(ended.ok());
  ASSERT_EQ(ended->finish, FinishReason::kStopToken);
  const auto after = driver().RunLane(driver().LaneFor(script, ended->sequence, {}, 3));
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ(after->tokens.size(), 1U);
  EXPECT_EQ(after->finish, FinishReason::kStopToken);
  // Drawn without the grammar, so not one of its texts.
  Script free = Greedy(Prompt(5), 4);
  const auto drawn = driver().Plain(free);
  ASSERT_TRUE(drawn.ok());
  free.grammar = *grammar;
  const auto refused = driver().RunLane(driver().LaneFor(free, drawn->sequence, {}, 1));
  EXPECT_TRUE(absl::IsInvalidArgument(refused.status())) << refused.status();
  ASSERT_TRUE(generation().FreeGrammar(*grammar).ok());
  EXPECT_TRUE(absl::IsNotFound(generation().FreeGrammar(*grammar)));
}

TEST_F(LlamaGrammarTest, RefusesWhatIsNoSchema) {
  for (const char* bad : {"", "7", "{", "[]", R"({"type": "nothing"})", R"({"type": 5})",
                          R"({"enum": 3})", R"({"$ref": "#/$defs/nowhere"})"}) {
    const auto grammar = generation().CreateGrammar(bad, {});
    EXPECT_TRUE(absl::IsInvalidArgument(grammar.status())) << bad << grammar.status();
  }
  for (const char* bad :
       {"{}", R"({"structures": [], "triggers": ["<"]})", R"({"structures": 1, "triggers": 2})",
        R"({"structures": [{"begin": "a", "schema": {}, "end": ""}], "triggers": ["a"]})",
        R"({"structures": [{"begin": "a", "schema": {}, "end": "b"}], "triggers": ["c"]})",
        R"({"structures": [{"begin": "a", "schema": 1, "end": "b"}], "triggers": ["a"]})",
        kTags}) {  // one begin starts the other
    const auto grammar = generation().CreateStructuralGrammar(bad, {});
    EXPECT_TRUE(absl::IsInvalidArgument(grammar.status())) << bad << grammar.status();
  }
  EXPECT_TRUE(absl::IsUnimplemented(
      generation().CreateGrammar(R"j({"type": "string", "pattern": "^(?!a)"})j", {}).status()));
  EXPECT_TRUE(absl::IsUnimplemented(
      generation().CreateGrammar(R"({"$ref": "other.json#/a"})", {}).status()));
}

TEST_F(LlamaGrammarTest, ASchemaIsRefusedAsInEveryEngine) {
  const auto none =
      generation().CreateGrammar(R"({"type":"string","minLength":5,"maxLength":3})", {});
  EXPECT_TRUE(absl::IsInvalidArgument(none.status())) << none.status();
  const auto unknown = generation().CreateGrammar(R"({"type":"integer","not":{"const":1}})", {});
  EXPECT_TRUE(absl::IsUnimplemented(unknown.status())) << unknown.status();
  EXPECT_THAT(std::string(unknown.status().message()), ::testing::HasSubstr("'not'"));
}

TEST_F(LlamaGrammarTest, CompilingStopsWhenItsTokenIsSet) {
  CancelToken token;
  token.Cancel(CancelReason::kDeadline, 1);
  const CallControl control(token, nullptr);
  const auto grammar =
      generation().CreateGrammar(R"({"type":"string","pattern":"^.*a.{20}$"})", control);
  EXPECT_TRUE(absl::IsCancelled(grammar.status())) << grammar.status();
}

// A token's bytes are those that it adds to a text, and every control token is one by its name
// only.
TEST_F(LlamaGrammarTest, TokensAreTheBytesThatTheLibrarySays) {
  const llama_vocab* vocab = llama_model_get_vocab(library_->model());
  const TokenTexts tokens = ReadTokenTexts(vocab);
  ASSERT_EQ(tokens.texts.size(), static_cast<size_t>(llama_vocab_n_tokens(vocab)));
  std::string joined;
  for (const Token token : library_->Tokens("ein Text, 3 \u00e9")) joined += tokens.texts[token];
  EXPECT_THAT(joined, ::testing::HasSubstr("ein Text, 3 \u00e9"));
  EXPECT_FALSE(tokens.ends.empty());
  for (const Token token : tokens.ends) EXPECT_EQ(tokens.texts[token], "");
  for (const auto& [token, name] : tokens.named) EXPECT_EQ(tokens.texts[token], "") << name;
}

// What is drawn under a pattern and bounds that the library's own grammars know nothing of.
TEST_F(LlamaGrammarTest, PatternsAndBoundsAreKept) {
  const auto grammar = generation().CreateGrammar(R"({"type":"object","properties":{
      "code":{"type":"string","pattern":"^[A-Z]{2}-\\d{3}$"},
      "share":{"type":"number","minimum":0,"exclusiveMaximum":1}},
      "required":["code","share"],"additionalProperties":false})",
                                                  {});
  ASSERT_TRUE(grammar.ok()) << grammar.status();
  int complete = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const LaneResult result = DrawText(*grammar, seed, 1.0F, 120, seed % 2 == 0 ? 40 : 0);
    if (result.finish != FinishReason::kStopToken) continue;
    ++complete;
    const std::string text = library_->Text(result.tokens);
    const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    ASSERT_TRUE(json.is_object()) << text;
    const std::string code = json["code"];
    EXPECT_EQ(code.size(), 6U) << text;
    EXPECT_EQ(code[2], '-') << text;
    EXPECT_TRUE(json["share"] >= 0 && json["share"] < 1) << text;
  }
  EXPECT_GT(complete, 5);
}

// Each of these would cost without measure, or recurse without end, if it were just converted.
TEST_F(LlamaGrammarTest, HostileSchemasAreRefusedOrCheap) {
  std::string deep = R"({"type": "integer"})";
  for (int i = 0; i < 500; ++i) deep = absl::StrCat(R"({"type":"array","items":)", deep, "}");
  std::string wide = R"({"type":"object","properties":{)";
  for (int i = 0; i < 1200; ++i) absl::StrAppend(&wide, i == 0 ? "" : ",", "\"", i, "\":{}");
  absl::StrAppend(&wide, "}}");
  const std::vector<std::string> hostile = {
      deep,
      wide,
      R"({"type":"string","maxLength":1000000000})",
      R"({"type":"array","items":{"type":"array","items":{"type":"string","minLength":1000},
          "minItems":1000},"minItems":1000})",
      R"({"type":"array","items":{},"minItems":1e300})",
      R"({"type":"string","minLength":-5})",
      R"({"$ref":"#"})",
      R"({"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"})",
      R"({"allOf":[{"$ref":"#"},{"$ref":"#"}]})",
      R"({"anyOf":[{"$ref":"#"},{"type":"null"}]})",
      R"({"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775807})",
      R"({"type":"integer","minimum":1e308})",
      std::string(40'000, ' '),
      std::string("{\"enum\":[\"a\0b\"]}", 16),
  };
  for (const std::string& schema : hostile) {
    const auto grammar = generation().CreateGrammar(schema, {});
    if (!grammar.ok()) continue;
    const LaneResult result = DrawText(*grammar, 1, 0, 8);
    EXPECT_FALSE(result.tokens.empty()) << schema.substr(0, 80);
    EXPECT_TRUE(generation().FreeGrammar(*grammar).ok());
  }
}

}  // namespace
}  // namespace superfluid::testing
