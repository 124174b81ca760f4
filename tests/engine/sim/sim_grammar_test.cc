#include "engine/sim/sim_grammar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/sim/sim_schema.h"

namespace superfluid {
namespace {

absl::StatusCode CodeOf(const std::string& schema) {
  return CompileSimSchema(schema).status().code();
}

// How much of the text is read, and whether it may end there.
std::string Read(const SimGrammar& grammar, const std::string& text) {
  SimMatcher matcher(grammar);
  std::string read;
  for (const char c : text) {
    const SimByteSet allowed = matcher.Allowed();
    const bool taken = matcher.Advance(static_cast<uint8_t>(c));
    EXPECT_EQ(taken, allowed[static_cast<uint8_t>(c)]) << text;
    if (!taken) return read + "|";
    read += c;
  }
  return matcher.Complete() ? read + "." : read;
}
std::string Read(const std::string& schema, const std::string& text) {
  const auto grammar = CompileSimSchema(schema);
  EXPECT_TRUE(grammar.ok()) << grammar.status();
  return grammar.ok() ? Read(*grammar, text) : "";
}

// A text of the grammar, made of random allowed bytes; the end is taken when it may be, mostly.
std::string RandomText(const SimGrammar& grammar, std::mt19937_64& random) {
  SimMatcher matcher(grammar);
  std::string text;
  while (text.size() < 3000) {
    std::vector<Token> allowed;
    const SimByteSet set = matcher.Allowed();
    for (Token token = 0; token < set.size(); ++token) {
      if (set[token]) allowed.push_back(token);
    }
    EXPECT_FALSE(allowed.empty()) << text;
    if (allowed.empty()) return text;
    if (set[kSimEndOfText] && (allowed.size() == 1 || random() % 3 == 0)) return text;
    const Token token = allowed[random() % allowed.size()];
    if (token == kSimEndOfText) continue;
    EXPECT_TRUE(matcher.Advance(token));
    text += static_cast<char>(token);
  }
  return text;
}

TEST(SimGrammarTest, ReadsNumbers) {
  const std::string integer = R"({"type":"integer"})";
  EXPECT_EQ(Read(integer, "0"), "0.");
  EXPECT_EQ(Read(integer, "-120"), "-120.");
  EXPECT_EQ(Read(integer, "-"), "-");
  EXPECT_EQ(Read(integer, "01"), "0|");
  EXPECT_EQ(Read(integer, "1.5"), "1|");
  EXPECT_EQ(Read(integer, "1e5"), "1|");
  EXPECT_EQ(Read(integer, std::string(19, '9')), std::string(18, '9') + "|");
  const std::string number = R"({"type":"number"})";
  EXPECT_EQ(Read(number, "-0.50e-12"), "-0.50e-12.");
  EXPECT_EQ(Read(number, "1."), "1.");  // "1." read, not complete
  EXPECT_EQ(Read(number, "1e"), "1e");
  EXPECT_EQ(Read(number, "1E+7"), "1E+7.");
  EXPECT_EQ(Read(number, "1e123"), "1e12|");
  EXPECT_EQ(Read(number, "+1"), "|");
}

TEST(SimGrammarTest, ReadsStrings) {
  const std::string schema = R"({"type":"string","minLength":1,"maxLength":3})";
  EXPECT_EQ(Read(schema, R"("abc")"), R"("abc".)");
  EXPECT_EQ(Read(schema, R"("abcd")"), R"("abc|)");
  EXPECT_EQ(Read(schema, R"("")"), R"("|)");
  EXPECT_EQ(Read(schema, R"("\n\"a")"), R"("\n\"a".)");
  EXPECT_EQ(Read(schema, R"("\x")"), R"("\|)");
  EXPECT_EQ(Read(schema, "\"a\n"), "\"a|");
  EXPECT_EQ(Read(schema, "\"\xC3"), "\"|");
}

TEST(SimGrammarTest, ReadsLiterals) {
  EXPECT_EQ(Read(R"({"type":"boolean"})", "true"), "true.");
  EXPECT_EQ(Read(R"({"type":"boolean"})", "tru"), "tru");
  EXPECT_EQ(Read(R"({"type":"null"})", "null"), "null.");
  const std::string some = R"({"enum":[1,12,"a",{"k":[null]}]})";
  EXPECT_EQ(Read(some, "1"), "1.");
  EXPECT_EQ(Read(some, "12"), "12.");
  EXPECT_EQ(Read(some, "123"), "12|");
  EXPECT_EQ(Read(some, R"({"k":[null]})"), R"({"k":[null]}.)");
  EXPECT_EQ(Read(R"({"const":"x"})", R"("x")"), R"("x".)");
  EXPECT_EQ(Read(R"({"type":"integer","enum":[1,"a"]})", "\""), "|");
  EXPECT_EQ(Read(R"({"const":2,"enum":[1,2]})", "2"), "2.");
}

TEST(SimGrammarTest, ReadsObjectsInTheOrderGiven) {
  const std::string schema = R"({"type":"object","properties":{"b":{"type":"integer"},
      "a":{"type":"boolean"},"bc":{"type":"null"}},"required":["a"]})";
  EXPECT_EQ(Read(schema, R"({"b":1,"a":true,"bc":null})"), R"({"b":1,"a":true,"bc":null}.)");
  EXPECT_EQ(Read(schema, R"({"a":true})"), R"({"a":true}.)");
  EXPECT_EQ(Read(schema, R"({"b":1})"), R"({"b":1|)");
  EXPECT_EQ(Read(schema, "{}"), "{|");
  EXPECT_EQ(Read(schema, R"({"bc":)"), R"({"b|)");  // "a" cannot be left out
  EXPECT_EQ(Read(schema, R"({"a":true,"b":)"), R"({"a":true,"b|)");
  EXPECT_EQ(Read(schema, R"({"a":true,})"), R"({"a":true,|)");
  EXPECT_EQ(Read(R"({"type":"object"})", "{}"), "{}.");
}

TEST(SimGrammarTest, ReadsArrays) {
  const std::string schema = R"({"type":"array","items":{"type":"integer"},"minItems":1,
      "maxItems":2})";
  EXPECT_EQ(Read(schema, "[1,22]"), "[1,22].");
  EXPECT_EQ(Read(schema, "[]"), "[|");
  EXPECT_EQ(Read(schema, "[1,2,"), "[1,2|");
  EXPECT_EQ(Read(schema, "[1,]"), "[1,|");
  EXPECT_EQ(Read(R"({"type":"array","items":{"type":"null"},"maxItems":0})", "[]"), "[].");
  EXPECT_EQ(Read(R"({"type":"array","items":{"type":"null"}})", "[]"), "[].");
}

TEST(SimGrammarTest, NothingFollowsTheEndOfText) {
  const auto grammar = CompileSimSchema(R"({"type":"integer"})");
  ASSERT_TRUE(grammar.ok());
  SimMatcher matcher(*grammar);
  EXPECT_FALSE(SimMatcher(matcher).Advance(kSimEndOfText));
  ASSERT_TRUE(matcher.Advance('4'));
  EXPECT_TRUE(matcher.Allowed()[kSimEndOfText]);
  ASSERT_TRUE(matcher.Advance(kSimEndOfText));
  EXPECT_EQ(matcher.Allowed(), SimByteSet().set(kSimEndOfText));
  EXPECT_FALSE(SimMatcher(matcher).Advance('4'));
  EXPECT_FALSE(SimMatcher(*grammar).Advance(300));
}

TEST(SimGrammarTest, RandomTextsAreJson) {
  const auto grammar = CompileSimSchema(R"({"type":"object","properties":{
      "list":{"type":"array","items":{"type":"object","properties":{"x":{"type":"number"},
      "y":{"type":"string","maxLength":5}},"required":["x"]},"maxItems":4},
      "deep":{"type":"array","items":{"type":"array","items":{"type":"boolean"},"maxItems":2},
      "maxItems":2},"kind":{"enum":["a","ab",3,null]}},"required":["list"]})");
  ASSERT_TRUE(grammar.ok()) << grammar.status();
  std::mt19937_64 random(1);
  for (int i = 0; i < 300; ++i) {
    const std::string text = RandomText(*grammar, random);
    const auto json = nlohmann::json::parse(text, nullptr, false);
    ASSERT_TRUE(json.is_object()) << text;
    ASSERT_TRUE(json.contains("list")) << text;
    EXPECT_LE(json["list"].size(), 4U);
  }
}

TEST(SimGrammarTest, ReadsTagsInFreeText) {
  const auto grammar = CompileSimTags(R"({"structures":[
      {"begin":"<num>","schema":{"type":"integer"},"end":"</num>"},
      {"begin":"<str>","schema":{"type":"string"},"end":"!"},
      {"begin":"CALL","schema":{"type":"null"},"end":";"}],"triggers":["<","CALL"]})");
  ASSERT_TRUE(grammar.ok()) << grammar.status();
  EXPECT_EQ(Read(*grammar, "free text"), "free text.");
  EXPECT_EQ(Read(*grammar, ""), ".");
  EXPECT_EQ(Read(*grammar, "a<num>12</num>b"), "a<num>12</num>b.");
  EXPECT_EQ(Read(*grammar, "a<x"), "a<|");
  EXPECT_EQ(Read(*grammar, "<num>x"), "<num>|");
  EXPECT_EQ(Read(*grammar, "<num>1</x"), "<num>1</|");
  EXPECT_EQ(Read(*grammar, "<num>1"), "<num>1");
  EXPECT_EQ(Read(*grammar, "CACALLnull;<str>\"\"!CAL"), "CACALLnull;<str>\"\"!CAL.");
}

TEST(SimSchemaTest, NamesKeywordsThatItLacks) {
  for (const auto& [keyword, schema] : std::vector<std::pair<std::string, std::string>>{
           {"pattern", R"({"type":"string","pattern":"a"})"},
           {"minimum", R"({"type":"integer","minimum":1})"},
           {"anyOf", R"({"anyOf":[{"type":"null"}]})"},
           {"format", R"({"type":"string","format":"date"})"},
           {"prefixItems", R"({"type":"array","prefixItems":[{"type":"null"}]})"},
           {"type", R"({"type":["string","null"]})"},
           {"$ref", R"({"$ref":"#/$defs/a","$defs":{"a":{"type":"null"}}})"},
           {"maxLength", R"({"enum":["a"],"maxLength":3})"}}) {
    const auto grammar = CompileSimSchema(schema);
    EXPECT_EQ(grammar.status().code(), absl::StatusCode::kUnimplemented) << schema;
    EXPECT_THAT(std::string(grammar.status().message()), ::testing::HasSubstr(keyword)) << schema;
  }
  EXPECT_EQ(CodeOf(R"({"type":"null","title":"t","description":"d","default":null,
      "$schema":"s","additionalProperties":false})"),
            absl::StatusCode::kOk);
}

TEST(SimSchemaTest, RefusesWhatMakesNoSense) {
  for (const char* schema : {"",
                             "[]",
                             "1",
                             "{",
                             R"({"type":"string"} x)",
                             "{}",
                             R"({"type":"text"})",
                             R"({"type":5})",
                             R"({"enum":[]})",
                             R"({"enum":3})",
                             R"({"type":"null","enum":[1]})",
                             R"({"const":1,"enum":[2]})",
                             R"({"type":"string","maxLength":-1})",
                             R"({"type":"string","maxLength":1.5})",
                             R"({"type":"string","maxLength":99999999999})",
                             R"({"type":"string","minLength":3,"maxLength":2})",
                             R"({"type":"array"})",
                             R"({"type":"array","items":5})",
                             R"({"type":"array","items":{}})",
                             R"({"type":"object","properties":[]})",
                             R"({"type":"object","properties":{"a":1}})",
                             R"({"type":"object","required":["a"]})",
                             R"({"type":"object","required":"a"})",
                             R"({"type":"object","required":[5]})",
                             "{\"const\":\"\xFF\"}"}) {
    EXPECT_EQ(CodeOf(schema), absl::StatusCode::kInvalidArgument) << schema;
  }
}

TEST(SimSchemaTest, RefusesWhatIsTooBig) {
  std::string deep = R"({"type":"null"})";
  for (int i = 0; i < 15; ++i) deep = absl::StrCat(R"({"type":"array","items":)", deep, "}");
  EXPECT_EQ(CodeOf(deep), absl::StatusCode::kOk);
  for (int i = 0; i < 20; ++i) deep = absl::StrCat(R"({"type":"array","items":)", deep, "}");
  EXPECT_EQ(CodeOf(deep), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(std::string(30'000, '[')), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(R"({"const":")" + std::string(40'000, 'a') + "\"}"),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(R"({"const":"[[[[\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["})"),
            absl::StatusCode::kOk);
}

TEST(SimSchemaTest, RefusesBadTags) {
  const auto code = [](const std::string& json) { return CompileSimTags(json).status().code(); };
  const std::string null = R"("schema":{"type":"null"})";
  for (const std::string& bad :
       {std::string("{}"), std::string(R"({"structures":[],"triggers":["<"]})"),
        absl::StrCat(R"({"structures":[{"begin":"<a>",)", null, R"(,"end":"x"}],"triggers":[]})"),
        absl::StrCat(R"({"structures":[{"begin":"<a>",)", null,
                     R"(,"end":"x"}],"triggers":["b"]})"),
        absl::StrCat(R"({"structures":[{"begin":"<a>",)", null, R"(,"end":"x"}],"triggers":[5]})"),
        absl::StrCat(R"({"structures":[{"begin":"<a>",)", null, R"(,"end":""}],"triggers":["<"]})"),
        absl::StrCat(R"({"structures":[{"begin":"",)", null, R"(,"end":"x"}],"triggers":["<"]})"),
        absl::StrCat(R"({"structures":[{"begin":"<\u0000",)", null,
                     R"(,"end":"x"}],"triggers":["<"]})"),
        std::string(R"({"structures":[{"begin":"<a>","end":"x"}],"triggers":["<"]})"),
        absl::StrCat(R"({"structures":[{"begin":"<a>",)", null, R"(,"end":"x"},{"begin":"<ab",)",
                     null) +
            absl::StrCat(R"(,"end":"x"},{"begin":"b",)", null, R"(,"end":"x"}],"triggers":["<"]})"),
        absl::StrCat(R"({"structures":[{"begin":"<a",)", null, R"(,"end":"x"},{"begin":"<ab",)",
                     null) +
            R"(,"end":"x"}],"triggers":["<"]})"}) {
    EXPECT_EQ(code(bad), absl::StatusCode::kInvalidArgument) << bad;
  }
  EXPECT_EQ(code(R"({"structures":[{"begin":"<","schema":{"pattern":"a"},"end":"x"}],
      "triggers":["<"]})"),
            absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace superfluid
