#include "engine/llama/llama_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llama.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/llama/gbnf_text.h"
#include "engine/llama/llama_grammar.h"
#include "tests/engine/llama/library_alone.h"
#include "tests/engine/llama/schema_checker.h"

namespace superfluid::testing {
namespace {

using Json = nlohmann::json;

constexpr char kModel[] = "tools/models/tiny_llama.gguf";
constexpr int kDraws = 30;
constexpr int kMaxTokens = 400;

// Draws texts of grammars, each next token being any that is allowed.
class LlamaSchemaTest : public ::testing::Test {
 protected:
  LlamaSchemaTest() : library_(kModel) {}

  void SetUp() override {
    ASSERT_TRUE(library_.good());
    vocab_ = llama_model_get_vocab(library_.model());
    const auto size = static_cast<Token>(llama_vocab_n_tokens(vocab_));
    for (Token token = 0; token < size; ++token) pieces_.push_back(PieceOf(token));
  }

  // The token's bytes as they are; "": it is no text.
  std::string PieceOf(Token token) const {
    std::array<char, 64> bytes{};
    const int size =
        llama_token_to_piece(vocab_, static_cast<llama_token>(token), bytes.data(), bytes.size(),
                             /*lstrip=*/0, /*special=*/false);
    return {bytes.data(), static_cast<size_t>(std::max(size, 0))};
  }

  absl::StatusOr<LlamaGrammar> Compile(const absl::StatusOr<std::string>& gbnf) const {
    if (!gbnf.ok()) return gbnf.status();
    return LlamaGrammar::Compile(vocab_, *gbnf, /*spelled=*/"");
  }

  // Drawn only where there is nothing else: the library takes overlong forms, which are no UTF-8.
  static bool IsPartOfCharacter(const std::string& piece) {
    return piece.size() == 1 && static_cast<uint8_t>(piece[0]) >= 0x80;
  }

  // A whole text; "": it did not end in time. Some preference for what ends values.
  std::string Draw(const LlamaGrammar& grammar, std::mt19937_64& random) const {
    const auto matcher = grammar.NewMatcher();
    std::string text;
    for (int i = 0; i < kMaxTokens; ++i) {
      std::vector<TokenLogit> candidates;
      for (Token token = 0; token < pieces_.size(); ++token) candidates.push_back({token, 0});
      matcher->Filter(absl::MakeSpan(candidates));
      std::vector<Token> allowed;
      std::vector<Token> closing;
      std::vector<Token> parts;
      for (const TokenLogit& candidate : candidates) {
        if (std::isinf(candidate.logit)) continue;
        if (llama_vocab_is_eog(vocab_, static_cast<llama_token>(candidate.token))) return text;
        const std::string& piece = pieces_[candidate.token];
        (IsPartOfCharacter(piece) ? parts : allowed).push_back(candidate.token);
        if (piece.find_first_of("\"}]") != std::string::npos) closing.push_back(candidate.token);
      }
      if (allowed.empty()) allowed = parts;
      EXPECT_FALSE(allowed.empty()) << "nothing may follow " << text;
      if (allowed.empty()) return "";
      const std::vector<Token>& from = !closing.empty() && random() % 3 == 0 ? closing : allowed;
      const Token token = from[random() % from.size()];
      EXPECT_TRUE(matcher->Accept(token));
      text += pieces_[token];
    }
    return "";
  }

  LibraryAlone library_;
  const llama_vocab* vocab_ = nullptr;
  std::vector<std::string> pieces_;
};

constexpr const char* kSchemas[] = {
    R"({"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string"},
        "c":{"type":"boolean"}},"required":["b"]})",
    R"({"type":"object","properties":{"a":{"type":"null"},"b":{"type":"null"}}})",
    R"({"type":"object","properties":{"]":{"type":"null"},"^a\\":true,"é\"":{"const":"ü\n"}},
        "required":["]","é\""],"additionalProperties":true})",
    R"({"type":"object","properties":{"decimal_part":{"type":"string"},"date_time":
        {"type":"null"},"when":{"format":"date-time"},"n":{"type":"number"}},
        "required":["decimal_part","date_time","when","n"]})",
    R"({"properties":{"ref--defs-a":{"type":"null"},"b":{"$ref":"#/$defs/a"},"c":
        {"$ref":"#/$defs/a_"}},"required":["ref--defs-a","b","c"],
        "$defs":{"a":{"type":"integer"},"a_":{"type":"boolean"}}})",
    R"({"type":"object","additionalProperties":{"type":"integer","minimum":3,"maximum":1234}})",
    R"({"type":"object","additionalProperties":false})",
    R"({"type":"array","items":{"type":"integer","minimum":-12,"maximum":7},"minItems":2,
        "maxItems":4})",
    R"({"type":"array","items":true,"maxItems":3})",
    R"({"type":"array","minItems":1,"items":{"enum":[1,12,123,"1","12",null,{"a":[1]}]}})",
    R"({"prefixItems":[{"type":"integer","exclusiveMinimum":1.5},{"type":"null"}]})",
    R"({"type":"string","minLength":2,"maxLength":5})",
    R"({"type":"string","maxLength":0})",
    R"({"type":"string","minLength":7})",
    R"({"format":"date"})",
    R"({"format":"time"})",
    R"({"format":"uuid"})",
    R"({"type":"number"})",
    R"({"type":"integer","minimum":1600000000000000000})",
    R"({"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775807})",
    R"({"type":"integer","maximum":-99})",
    R"({"type":["string","null","array"],"maxLength":3,"maxItems":1,"items":{"const":0}})",
    R"({"anyOf":[{"type":"object","properties":{"k":{"const":"a"},"v":{"type":"null"}},
        "required":["k","v"]},{"type":"object","properties":{"k":{"const":"b"},
        "w":{"type":"integer"}},"required":["k"]},{"type":"null"}]})",
    R"({"oneOf":[{"type":"string","maxLength":2},{"type":"integer","maximum":9}]})",
    R"({"allOf":[{"type":"string","maxLength":2}]})",
    R"({"$ref":"#/$defs/tree","$defs":{"tree":{"type":"object","properties":{"v":{"type":"integer",
        "minimum":0,"maximum":9},"next":{"anyOf":[{"$ref":"#/$defs/tree"},{"type":"null"}]}},
        "required":["v"]}}})",
    R"({"enum":["a","ab","abc","äb","ä",-1,-12,1.5,true]})",
    R"({"const":{"a":[1,"x\u0000\t\"\\é😀"],"b":{}}})",
};

TEST_F(LlamaSchemaTest, WhateverIsDrawnFollowsTheSchema) {
  std::mt19937_64 random(5);
  for (const char* schema : kSchemas) {
    const auto grammar = Compile(GbnfOfSchema(schema));
    ASSERT_TRUE(grammar.ok()) << schema << grammar.status();
    const Json parsed = Json::parse(schema);
    int whole = 0;
    for (int i = 0; i < kDraws; ++i) {
      const std::string text = Draw(*grammar, random);
      if (text.empty()) continue;
      ++whole;
      const Json value = Json::parse(text, nullptr, /*allow_exceptions=*/false);
      ASSERT_FALSE(value.is_discarded()) << schema << "\n" << text;
      ASSERT_EQ(BrokenKeyword(parsed, parsed, value), "") << schema << "\n" << text;
    }
    EXPECT_GT(whole, kDraws / 3) << schema;
  }
}

TEST_F(LlamaSchemaTest, RangesOfIntegersAreExact) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 300; ++i) {
    const int span = i < 100 ? 30 : 3000;
    const auto a = static_cast<int64_t>(random() % 5000) - 2500;
    const int64_t b = a + static_cast<int64_t>(random() % static_cast<uint64_t>(span));
    // The two notations agree on what is used here, but for blanks and quotes.
    std::string text = GbnfIntegers(a, b);
    text.erase(
        std::remove_if(text.begin(), text.end(), [](char c) { return c == ' ' || c == '"'; }),
        text.end());
    const std::regex range(text);
    for (int64_t value = a - 40; value <= b + 40; ++value) {
      ASSERT_EQ(std::regex_match(absl::StrCat(value), range), a <= value && value <= b)
          << a << " to " << b << ": " << value << " " << text;
    }
    ASSERT_FALSE(std::regex_match("007", range));
  }
}

TEST_F(LlamaSchemaTest, AControlTokenIsNoTextUnlessItIsSpelled) {
  const llama_token control = llama_vocab_bos(vocab_);
  const std::string name = llama_vocab_get_text(vocab_, control);
  const auto gbnf = GbnfOfSchema(R"({"type":"string"})");
  ASSERT_TRUE(gbnf.ok());
  for (const bool spelled : {false, true}) {
    const auto grammar = LlamaGrammar::Compile(vocab_, *gbnf, spelled ? name : "");
    ASSERT_TRUE(grammar.ok());
    const auto matcher = grammar->NewMatcher();
    ASSERT_TRUE(matcher->Accept(library_.Tokens("\"").back()));
    EXPECT_EQ(matcher->Accept(static_cast<Token>(control)), spelled) << name;
  }
}

std::string Nested(int levels, const std::string& before, std::string inner,
                   const std::string& after) {
  for (int i = 0; i < levels; ++i) inner = absl::StrCat(before, inner, after);
  return inner;
}

// $defs in a chain, each of which is `part` with every % replaced by a reference to the next.
std::string Chain(int length, const std::string& part) {
  std::string text = R"({"$ref":"#/$defs/d0","$defs":{)";
  for (int i = 0; i < length; ++i) {
    absl::StrAppend(&text, "\"d", i, "\":");
    for (const char c : part) {
      if (c != '%') text += c;
      if (c == '%') absl::StrAppend(&text, R"({"$ref":"#/$defs/d)", i + 1, "\"}");
    }
    text += ",";
  }
  return absl::StrCat(text, "\"d", length, R"(":{"type":"null"}}})");
}

// Schemas that cost the library's own converter, its parser of grammars, its check for left
// recursion or its reading of texts more than can be spent.
std::vector<std::string> Costly() {
  std::string properties = R"({"type":"object","properties":{)";
  std::string others = properties;
  for (int i = 0; i < 3000; ++i) absl::StrAppend(&properties, "\"", i, "\":{},");
  for (int i = 0; i < 250; ++i) absl::StrAppend(&others, "\"é", i, R"(":{"enum":["ü"]},)");
  std::string values = R"({"enum":[)";
  for (int i = 0; i < 5000; ++i) absl::StrAppend(&values, i, ",");
  std::string firsts = R"({"enum":[)";
  for (int i = 0; i < 2000; ++i) {
    absl::StrAppend(&firsts, "\"", std::string(1, static_cast<char>(0xE4 + i / 4096)),
                    std::string(1, static_cast<char>(0x80 + i / 64)),
                    std::string(1, static_cast<char>(0x80 + i % 64)), "\",");
  }
  const std::string two = R"({"anyOf":[{"type":"array","items":%},{"type":"array","items":%}]})";
  return {
      absl::StrCat(properties, R"("x":{}}})"),
      absl::StrCat(others, R"("x":{}}})"),
      absl::StrCat(values, "0]}"),
      absl::StrCat(firsts, "0]}"),
      R"({"type":"string","minLength":1000000000})",
      R"({"type":"string","maxLength":2000})",
      R"({"type":"string","maxLength":2001})",
      R"({"type":"array","items":{"type":"string","maxLength":2000},"maxItems":2000})",
      Nested(15, R"({"type":"array","minItems":2000,"items":)", "true", "}"),
      Nested(500, R"({"type":"array","items":)", "true", "}"),
      Nested(14, R"({"anyOf":[{"type":"null"},)", "true", "]}"),
      Chain(300, R"({"anyOf":[%,%]})"),
      Chain(300, R"({"type":["object","array"],"properties":{"a":%},"items":%})"),
      Chain(20, two),
      Chain(3, two),
      Chain(200, R"({"oneOf":[{"const":1},%]})"),
      R"({"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"items":{"$ref":"#/$defs/a"}},
          {"items":{"$ref":"#/$defs/a"},"minItems":1},{"type":"null"}]}}})",
      R"({"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"},{"type":"null"}]}}})",
      R"({"type":"integer","minimum":-9223372036854775808})",
      R"({"type":"integer","maximum":1e308})",
      std::string(32'000, '['),
      absl::StrCat("{\"const\":\"", std::string(32'000, 'a'), "\"}"),
  };
}

TEST_F(LlamaSchemaTest, ACostlySchemaIsRefusedOrCheap) {
  std::mt19937_64 random(1);
  for (const std::string& schema : Costly()) {
    const auto gbnf = GbnfOfSchema(schema);
    if (!gbnf.ok()) {
      EXPECT_TRUE(absl::IsInvalidArgument(gbnf.status()) || absl::IsUnimplemented(gbnf.status()))
          << gbnf.status();
      continue;
    }
    EXPECT_LT(gbnf->size(), size_t{1} << 19U) << schema.substr(0, 80);
    const auto grammar = Compile(gbnf);
    EXPECT_TRUE(grammar.ok()) << schema.substr(0, 80) << grammar.status();
    if (grammar.ok()) Draw(*grammar, random);
  }
}

TEST_F(LlamaSchemaTest, OrdinarySchemasAreNotTakenForCostlyOnes) {
  std::string tools = R"({"anyOf":[)";
  for (int i = 0; i < 80; ++i) {
    absl::StrAppend(&tools, i == 0 ? "" : ",",
                    R"({"type":"object","properties":{"name":{"const":"t)", i,
                    R"("},"arguments":{"type":"object","properties":{"path":{"type":"string",
                    "maxLength":100},"depth":{"type":"integer","minimum":0,"maximum":9}},
                    "required":["path"]}},"required":["name","arguments"]})");
  }
  std::string optional = R"({"type":"object","properties":{)";
  for (int i = 0; i < 70; ++i) {
    absl::StrAppend(&optional, i == 0 ? "" : ",", "\"property", i, R"(":{"type":"string"})");
  }
  std::string words = R"({"anyOf":[)";
  for (int i = 0; i < 100; ++i)
    absl::StrAppend(&words, i == 0 ? "" : ",", R"({"const":"w)", i, "\"}");
  for (const std::string& schema :
       {absl::StrCat(tools, "]}"), absl::StrCat(optional, "}}"), absl::StrCat(words, "]}")}) {
    EXPECT_TRUE(Compile(GbnfOfSchema(schema)).ok()) << GbnfOfSchema(schema).status();
  }
}

TEST_F(LlamaSchemaTest, CostlyTagsAreRefusedOrCheap) {
  std::string many = R"({"structures":[{"begin":"aaaa","schema":{"type":"null"},"end":"x"}],
      "triggers":[)";
  for (int i = 0; i < 60; ++i) absl::StrAppend(&many, i == 0 ? "" : ",", R"("aaaa")");
  std::string wide = R"({"structures":[)";
  std::string triggers;
  for (int i = 0; i < 60; ++i) {
    absl::StrAppend(&wide, i == 0 ? "" : ",", R"({"begin":"<)", i,
                    std::string(200, static_cast<char>('a' + i % 26)),
                    R"(>","schema":{"type":"null"},"end":"x"})");
    absl::StrAppend(&triggers, i == 0 ? "" : ",", R"("<)", i, "\"");
  }
  for (const std::string& tags :
       {absl::StrCat(many, "]}"), absl::StrCat(wide, R"(],"triggers":["<"]})"),
        absl::StrCat(wide, R"(],"triggers":[)", triggers, "]}")}) {
    const auto gbnf = GbnfOfTags(tags);
    if (!gbnf.ok()) {
      EXPECT_TRUE(absl::IsInvalidArgument(gbnf.status())) << gbnf.status();
      continue;
    }
    EXPECT_TRUE(Compile(gbnf).ok()) << tags.substr(0, 80);
  }
}

}  // namespace
}  // namespace superfluid::testing
