#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/llama/llama_schema.h"
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
  const auto grammar = generation().CreateGrammar(kPerson);
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
  const auto grammar = generation().CreateStructuralGrammar(spec);
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
  const auto grammar = generation().CreateGrammar(R"({"enum": ["cat", "dog", "cow"]})");
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
  const auto grammar = generation().CreateGrammar(R"({"const": 7})");
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
    const auto grammar = generation().CreateGrammar(bad);
    EXPECT_TRUE(absl::IsInvalidArgument(grammar.status())) << bad << grammar.status();
  }
  for (const char* bad :
       {"{}", R"({"structures": [], "triggers": ["<"]})", R"({"structures": 1, "triggers": 2})",
        R"({"structures": [{"begin": "a", "schema": {}, "end": ""}], "triggers": ["a"]})",
        R"({"structures": [{"begin": "a", "schema": {}, "end": "b"}], "triggers": ["c"]})",
        R"({"structures": [{"begin": "a", "schema": 1, "end": "b"}], "triggers": ["a"]})",
        kTags}) {  // one begin starts the other
    const auto grammar = generation().CreateStructuralGrammar(bad);
    EXPECT_TRUE(absl::IsInvalidArgument(grammar.status())) << bad << grammar.status();
  }
  EXPECT_TRUE(absl::IsUnimplemented(
      generation().CreateGrammar(R"({"type": "string", "pattern": "^((a*)*)*$"})").status()));
  EXPECT_TRUE(
      absl::IsUnimplemented(generation().CreateGrammar(R"({"$ref": "other.json#/a"})").status()));
}

TEST_F(LlamaGrammarTest, ASchemaThatNoValueCanMatchIsRefusedAtOnce) {
  for (const char* bad :
       {R"({"type":"string","minLength":5,"maxLength":3})",
        R"({"type":"array","items":{"type":"null"},"minItems":5,"maxItems":3})",
        R"({"type":"integer","minimum":5,"maximum":3})", R"({"type":"integer","minimum":1e300})",
        R"({"type":"integer","maximum":-1e300})",
        R"({"type":"integer","exclusiveMinimum":7,"exclusiveMaximum":8})",
        R"({"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"required":["a"],
            "$defs":{"a":{"type":"array","items":{"$ref":"#/$defs/a"},"minItems":1}}})",
        R"({"const":1,"enum":[2]})", R"({"type":"string","enum":[1]})"}) {
    const auto grammar = generation().CreateGrammar(bad);
    EXPECT_TRUE(absl::IsInvalidArgument(grammar.status())) << bad << grammar.status();
  }
}

TEST_F(LlamaGrammarTest, AKeywordThatIsNotEnforcedIsRefusedByName) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"minimum", R"({"type":"number","minimum":0})"},
      {"exclusiveMaximum", R"({"type":["number","null"],"exclusiveMaximum":1})"},
      {"multipleOf", R"({"type":"integer","multipleOf":3})"},
      {"uniqueItems", R"({"type":"array","items":{"type":"integer"},"uniqueItems":true})"},
      {"contains", R"({"type":"array","contains":{"const":1}})"},
      {"minProperties", R"({"type":"object","minProperties":2})"},
      {"properties", R"({"properties":{"a":{"type":"null"}},"anyOf":[{"type":"object"}]})"},
      {"oneOf", R"({"oneOf":[{"type":"integer"},{"type":"number"}]})"},
      {"minimum", R"({"$ref":"#/$defs/n","minimum":5,"$defs":{"n":{"type":"integer"}}})"},
      {"if", R"({"type":"object","if":{"required":["a"]},"then":{"required":["b"]}})"},
      {"not", R"({"type":"integer","not":{"const":1}})"},
      {"format", R"({"type":"string","format":"email"})"},
      {"maxLength", R"({"type":"string","format":"date","maxLength":3})"},
      {"allOf", R"({"allOf":[{"type":"string"},{"minLength":3}]})"},
      {"allOf", R"({"type":"string","allOf":[{"minLength":3}]})"},
      {"minItems", R"({"type":"array","prefixItems":[{"type":"null"}],"minItems":2})"},
      {"a word nobody knows", R"({"type":"string","a word nobody knows":1})"}};
  for (const auto& [name, schema] : cases) {
    const auto grammar = generation().CreateGrammar(schema);
    EXPECT_TRUE(absl::IsUnimplemented(grammar.status())) << schema << grammar.status();
    EXPECT_THAT(std::string(grammar.status().message()), ::testing::HasSubstr(name)) << schema;
    const auto tags = generation().CreateStructuralGrammar(
        absl::StrCat(R"({"structures":[{"begin":"<a>","schema":)", schema,
                     R"(,"end":"x"}],"triggers":["<a"]})"));
    EXPECT_TRUE(absl::IsUnimplemented(tags.status())) << schema << tags.status();
  }
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
    const auto grammar = generation().CreateGrammar(schema);
    if (!grammar.ok()) continue;
    const LaneResult result = DrawText(*grammar, 1, 0, 8);
    EXPECT_FALSE(result.tokens.empty()) << schema.substr(0, 80);
    EXPECT_TRUE(generation().FreeGrammar(*grammar).ok());
  }
}

}  // namespace
}  // namespace superfluid::testing
