// Tags and regular expressions.

#include <gtest/gtest.h>

#include <string>

#include "engine/constrain/json_grammar.h"
#include "tests/engine/constrain/grammar_reader.h"

namespace superfluid {
namespace {

using superfluid::testing::Read;

TEST(TagGrammarTest, TagsConstrainBehindATriggerOnly) {
  const auto tags = CompileTags(R"({"structures":[
      {"begin":"<num>","schema":{"type":"integer","maximum":99},"end":"</num>"},
      {"begin":"<str>","schema":{"type":"string"},"end":"!"},
      {"begin":"CALL","schema":{"type":"null"},"end":";"}],"triggers":["<","CALL"]})",
                                {});
  ASSERT_TRUE(tags.ok()) << tags.status();
  const std::string any("any \x00\xFF \" text CAL", 17);
  for (const std::string& text :
       {std::string(""), any, std::string("<num>12</num>"),
        std::string("x<num>-1</num>y<str>\"<\"!z"), std::string("CALLnull;CALLnull;"),
        std::string("CACALLnull; ok")}) {
    EXPECT_EQ(Read(*tags, text), ".") << text;
  }
  EXPECT_EQ(Read(*tags, "a < b"), "| ");
  EXPECT_EQ(Read(*tags, "<num>100"), "|0");
  EXPECT_EQ(Read(*tags, "<num>1"), "...");
  EXPECT_EQ(Read(*tags, "CALL1"), "|1");
  EXPECT_EQ(Read(*tags, "CALLnull"), "...");
}

TEST(TagGrammarTest, TheLongestTriggerCounts) {
  const auto tags = CompileTags(R"({"structures":[
      {"begin":"bc!","schema":{"const":1},"end":"."},
      {"begin":"abc?","schema":{"const":2},"end":"."}],"triggers":["bc","abc"]})",
                                {});
  ASSERT_TRUE(tags.ok()) << tags.status();
  EXPECT_EQ(Read(*tags, "xbc!1."), ".");
  EXPECT_EQ(Read(*tags, "abc?2."), ".");
  EXPECT_EQ(Read(*tags, "abc!"), "|!");
}

TEST(TagGrammarTest, MalformedTagsAreRefused) {
  for (
      const char* bad :
      {"", "7", "{", "[]", "{}", R"({"structures": [], "triggers": ["<"]})",
       R"({"structures": 1, "triggers": 2})",
       R"({"structures": [{"begin": "a", "schema": {}, "end": ""}], "triggers": ["a"]})",
       R"({"structures": [{"begin": "a", "schema": {}, "end": "b"}], "triggers": ["c"]})",
       R"({"structures": [{"begin": "a", "schema": 1, "end": "b"}], "triggers": ["a"]})",
       R"({"structures": [{"begin": "a\u0000", "schema": {}, "end": "b"}], "triggers": ["a"]})",
       R"({"structures": [{"begin": "a", "schema": {"$ref":"#"}, "end": "b"}], "triggers": ["a"]})",
       R"({"structures": [{"begin": "ab", "schema": {}, "end": "b"},
            {"begin": "a", "schema": {}, "end": "b"}], "triggers": ["a"]})"}) {
    const auto tags = CompileTags(bad, {});
    EXPECT_TRUE(absl::IsInvalidArgument(tags.status())) << bad << tags.status();
  }
  const auto tags = CompileTags(
      R"({"structures":[{"begin":"<a>","schema":{"$ref":"#/$defs/a","$defs":{"a":{"type":"null"}}},
      "end":"x"}],"triggers":["<"]})",
      {});
  EXPECT_TRUE(tags.ok()) << tags.status();
}

TEST(ExpressionGrammarTest, ExpressionsTakeWholeTexts) {
  const auto words = CompileExpression("(ja|nein|é+)( \\d{1,2})?", {});
  ASSERT_TRUE(words.ok()) << words.status();
  for (const char* text : {"ja", "nein 7", "éé 42"}) EXPECT_EQ(Read(*words, text), ".") << text;
  EXPECT_EQ(Read(*words, "jan"), "|n");
  EXPECT_EQ(Read(*words, "ja "), "...");
  EXPECT_EQ(Read(*words, "ja 123"), "|3");
  EXPECT_EQ(Read(*CompileExpression("a*", {}), ""), ".");
  EXPECT_EQ(Read(*CompileExpression("^x$", {}), "x"), ".");
  EXPECT_TRUE(absl::IsInvalidArgument(CompileExpression("[]", {}).status()));
}

}  // namespace
}  // namespace superfluid
