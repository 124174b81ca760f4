#include "engine/constrain/json_grammar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/engine/constrain/grammar_reader.h"

namespace superfluid {
namespace {

using superfluid::testing::Read;

struct Texts {
  std::string schema;
  std::vector<std::string> taken;
  std::vector<std::string> refused;
};

std::shared_ptr<const Grammar> Compile(const std::string& schema) {
  auto grammar = CompileJsonSchema(schema, {});
  EXPECT_TRUE(grammar.ok()) << schema << grammar.status();
  return grammar.ok() ? *std::move(grammar) : nullptr;
}

void Check(const std::vector<Texts>& cases) {
  for (const Texts& texts : cases) {
    const auto grammar = Compile(texts.schema);
    ASSERT_NE(grammar, nullptr);
    for (const std::string& text : texts.taken) {
      EXPECT_EQ(Read(grammar, text), ".") << texts.schema << "\n" << text.substr(0, 200);
    }
    for (const std::string& text : texts.refused) {
      const std::string read = Read(grammar, text);
      EXPECT_TRUE(read != "." && read != "?") << texts.schema << "\n"
                                              << text.substr(0, 200) << " " << read;
    }
  }
}

// "A object": closed, of these properties and required names.
std::string Closed(const std::string& properties, const std::string& required,
                   const std::string& more = "") {
  return absl::StrCat(R"({"type":"object","properties":{)", properties, R"(},"required":[)",
                      required, R"(],"additionalProperties":false)", more, "}");
}

std::string Repeat(const std::string& text, int times, const std::string& between = "") {
  std::string all;
  for (int i = 0; i < times; ++i) absl::StrAppend(&all, i == 0 ? "" : between, text);
  return all;
}

TEST(JsonGrammarTest, Integers) {
  Check({
      {R"({"type":"integer"})",
       {"0", "-1", "120", "9007199254740993"},
       {"01", "-0", "+1", "1.0", "1e1", "-", "", "--1", "1 ", "\"1\"", "12345678901234567"}},
      {R"({"type":"integer","minimum":-5,"maximum":117})",
       {"-5", "-1", "0", "7", "99", "100", "117"},
       {"-6", "118", "1170", "01", "-0", "1.0", "+1", "1e1", "-", "-10"}},
      {R"({"type":"integer","exclusiveMinimum":9,"exclusiveMaximum":1000})",
       {"10", "999"},
       {"9", "1000", "5", "-3", "99999"}},
      {R"({"type":"integer","minimum":18446744073709551610,"maximum":18446744073709551615})",
       {"18446744073709551610", "18446744073709551615"},
       {"18446744073709551616", "-1", "1", "18446744073709551609"}},
      {R"({"type":"integer","minimum":-2.5,"maximum":7.5})", {"-2", "7", "0"}, {"-3", "8"}},
      {R"({"type":"integer","minimum":1e3,"maximum":1.5e3})", {"1000", "1500"}, {"999", "1501"}},
      {R"({"type":"integer","maximum":-100})", {"-100", "-101", "-99999"}, {"-99", "0", "100"}},
      {R"({"type":"integer","multipleOf":7})",
       {"0", "7", "-14", "700"},
       {"8", "-1", "71", "1", "-"}},
      {R"({"type":"integer","multipleOf":4,"minimum":5,"maximum":13})",
       {"8", "12"},
       {"4", "16", "5", "13", "10"}},
      {R"({"allOf":[{"type":"integer","multipleOf":4},{"multipleOf":6}]})",
       {"12", "24", "0"},
       {"4", "6", "8"}},
      {R"({"type":"integer","multipleOf":2.0})", {"4"}, {"3"}},
  });
}

TEST(JsonGrammarTest, Numbers) {
  Check({
      {R"({"type":"number"})",
       {"0", "-0.5", "1.25e10", "3E-7", "1e+05", "0.0", "123456789012345"},
       {"-0", ".5", "5.", "1e", "1e123", "01.5", "NaN", "Infinity", "0x1"}},
      {R"({"type":"number","exclusiveMinimum":0,"maximum":1})",
       {"0.1", "1", "1.0", "0.000001"},
       {"0", "0.0", "1.1", "1.00001", "-0.1", "2", "0.", "1e-1"}},
      {R"({"type":"number","minimum":-2.5,"exclusiveMaximum":-1.25})",
       {"-2.5", "-2.50", "-1.26", "-1.2500001", "-2"},
       {"-1.25", "-1.250", "-2.51", "-1", "0", "2"}},
      {R"({"type":"number","minimum":0})", {"0", "0.5", "1000"}, {"-1", "-0.1"}},
      {R"({"type":"number","multipleOf":0.01})",
       {"3.14", "2", "-0.1", "2.50"},
       {"3.141", "0.001", "1e2"}},
      {R"({"type":"number","multipleOf":5})", {"10", "-5", "0"}, {"7", "5.5"}},
      {R"({"type":"number","minimum":0.1,"maximum":0.3})",
       {"0.1", "0.10", "0.2999", "0.3"},
       {"0.09", "0.31", "0", "1"}},
      {R"({"type":["integer","number"],"minimum":1})", {"1.5", "2"}, {"0.5"}},
  });
}

TEST(JsonGrammarTest, Strings) {
  Check({
      {R"({"type":"string"})",
       {R"("")", R"("a\n\u00e9\/\"\\")", "\"é日🙂\"", R"("\uD7FF")", "\"\x7F\""},
       {"\"a", "a", "\"\n\"", R"("\x")", R"("\ud800")", R"("\u12")", "\"\xC0\x80\"",
        "\"\xED\xA0\x80\"", "\"\xF4\x90\x80\x80\"", "\"\xFF\"", "'a'"}},
      {R"({"type":"string","minLength":2,"maxLength":3})",
       {R"("ab")", "\"é日🙂\"", R"("\n\u00e9")", R"("\"\\")"},
       {R"("a")", R"("abcd")", "\"é\"", R"("\u00e9")", "\"🙂\"", "ab", R"("a)"}},
      {R"({"type":"string","maxLength":0})", {R"("")"}, {R"("a")", R"("\n")"}},
      {R"({"type":"string","minLength":3999,"maxLength":4000})",
       {absl::StrCat("\"", Repeat("é", 4000), "\""), absl::StrCat("\"", Repeat("a", 3999), "\"")},
       {absl::StrCat("\"", Repeat("é", 3998), "\""), absl::StrCat("\"", Repeat("é", 4001), "\"")}},
  });
}

TEST(JsonGrammarTest, Patterns) {
  Check({
      {R"({"type":"string","pattern":"^a+b$"})",
       {R"("ab")", R"("aaab")"},
       {R"("b")", R"("abc")", R"("xab")", R"("")"}},
      {R"j({"type":"string","pattern":"(foo|bar)"})j",
       {R"("foo")", R"("xbary")", "\"é bar\""},
       {R"("fo")", R"("ba r")"}},
      {R"({"type":"string","pattern":"^(ab)*$","minLength":3,"maxLength":5})",
       {R"("abab")"},
       {R"("ab")", R"("aba")", R"("ababab")"}},
      {R"({"type":"string","pattern":"^\\d{3}-\\d{4}$"})",
       {R"("555-1234")"},
       {R"("5555-123")", R"("555-12345")"}},
      {R"({"type":"string","pattern":"^[^a-y]$"})",
       {R"("z")", "\"日\"", R"("\n")", R"("\"")"},
       {R"("b")", R"("zz")"}},
      {R"({"type":"string","pattern":"^\\w+@\\S+$"})",
       {R"("a@b")", "\"a_9@é\""},
       {R"("@b")", R"("a@b c")"}},
      {R"({"type":"string","pattern":"^(?:a|b(?<n>c))?.x??$"})",
       {R"("ax")", R"("bcqx")", R"("q")"},
       {R"("bcqxx")"}},
      {R"({"type":"string","pattern":"^$|^x"})", {R"("")", R"("xy")"}, {R"("yx")"}},
      {R"({"type":"string","pattern":"^a|b$"})", {R"("ax")", R"("xb")"}, {R"("xa")", R"("bx")"}},
      {R"({"type":"string","pattern":"^(a|bc)$"})", {R"("a")", R"("bc")"}, {R"("abc")"}},
      {R"({"type":"string","pattern":"\\u00e9\\x41[\\u4e00-\\u9fff]"})",
       {"\"éA日\""},
       {"\"eA日\""}},
      {R"({"type":"string","pattern":"^\\ud83d\\ude42$"})", {"\"🙂\""}, {"\"🙃\""}},
      {R"({"type":"string","pattern":"^.{2,5}$"})",
       {R"("ab")", "\"日本é🙂x\""},
       {R"("a")", R"("abcdef")", R"("a\n")"}},
      {R"({"type":"string","pattern":"\\\\|\""})", {R"("\\")", R"("a\"")"}, {R"("a")"}},
      {R"({"type":"string","pattern":"^{a}$"})", {R"("{a}")"}, {R"("a")"}},
      {R"({"allOf":[{"type":"string","pattern":"^a"},{"pattern":"z$"},{"maxLength":3}]})",
       {R"("az")", R"("abz")"},
       {R"("a")", R"("z")", R"("abcz")"}},
      {R"({"type":"string","pattern":"^[a-z]*$","minLength":900,"maxLength":1000})",
       {absl::StrCat("\"", Repeat("a", 900), "\""), absl::StrCat("\"", Repeat("z", 1000), "\"")},
       {absl::StrCat("\"", Repeat("a", 899), "\""), absl::StrCat("\"", Repeat("z", 1001), "\"")}},
  });
}

TEST(JsonGrammarTest, Formats) {
  Check({
      {R"({"type":"string","format":"date"})",
       {R"("2024-01-31")", R"("1999-02-28")"},
       {R"("2024-02-30")", R"("2024-13-01")", R"("24-01-01")", R"("2024-04-31")",
        R"("0000-01-01")"}},
      {R"({"type":"string","format":"time"})",
       {R"("23:59:59Z")", R"("00:00:00.5+01:30")"},
       {R"("24:00:00Z")", R"("12:00Z")", R"("12:00:00")"}},
      {R"({"type":"string","format":"date-time"})",
       {R"("2024-01-31T10:00:00Z")"},
       {R"("2024-01-31 10:00:00Z")", R"("2024-01-31")"}},
      {R"({"type":"string","format":"uuid"})",
       {R"("123e4567-e89b-12d3-a456-426614174000")"},
       {R"("123e4567e89b12d3a456426614174000")"}},
      {R"({"type":"string","format":"ipv4"})",
       {R"("127.0.0.1")", R"("255.255.255.255")"},
       {R"("256.0.0.1")", R"("1.2.3")", R"("01.2.3.4")"}},
      {R"({"type":"string","format":"email"})",
       {R"("a.b+c@d-e.example.org")"},
       {R"("a@b")", R"("a b@c.de")", R"("@c.de")"}},
      {R"({"type":"string","format":"date","pattern":"^2024"})",
       {R"("2024-05-06")"},
       {R"("2023-05-06")"}},
      {R"({"type":"integer","format":"int32"})", {"5"}, {R"("a")"}},
  });
}

TEST(JsonGrammarTest, Values) {
  Check({
      {R"({"enum":["a","ab",1,12,null]})",
       {R"("a")", R"("ab")", "1", "12", "null"},
       {R"("abc")", "2", "123", "true", R"("b")"}},
      {R"({"type":["string","null"],"enum":["x",5,null]})", {R"("x")", "null"}, {"5"}},
      {R"({"const":{"k":[1,2]}})",
       {R"({"k":[1,2]})"},
       {R"({"k":[1]})", R"({"k":[2,1]})", R"({"k": [1,2]})"}},
      {R"({"const":"x\u0000\t\"\\é😀"})", {R"("x\u0000\t\"\\é😀")"}, {R"("x")"}},
      {R"({"enum":[1,5,10.5,"abcd","e"],"minimum":4,"maxLength":3})",
       {"5", "10.5", R"("e")"},
       {"1", R"("abcd")"}},
      {R"({"enum":[2,3,4,5.5],"multipleOf":2})", {"2", "4"}, {"3", "5.5"}},
      {R"({"enum":["ab","ba"],"pattern":"^a"})", {R"("ab")"}, {R"("ba")"}},
      {R"({"const":2,"enum":[1,2.0]})", {"2"}, {"1"}},
      {R"({"type":"integer","enum":[1.0,1.5]})", {"1.0"}, {"1.5", "1"}},
      {R"({"type":"boolean"})", {"true", "false"}, {"null", "1", "True"}},
      {R"({"type":"null"})", {"null"}, {"0", "nul"}},
      {R"({"type":"string","nullable":true})", {R"("a")", "null"}, {"1"}},
      {R"({"type":"string","nullable":false})", {R"("a")"}, {"null"}},
      {R"({})",
       {"1", R"("x")", R"({"a":[null,{"b":1e5}]})", "-0.5", "[]", "{}", "true"},
       {"01", "tru", "{a:1}", "'x'", "[1 .5 \"\\x\"", "NaN", "[1,]", "{\"a\" 1}", " 1"}},
  });
}

TEST(JsonGrammarTest, Objects) {
  Check({
      {Closed(R"("a":{"type":"integer"},"b":{"type":"string"})", R"("b")"),
       {R"({"a":1,"b":"x"})", R"({"b":""})", "{ \"b\" : \"\" }", "{\n  \"b\":\n\t\"\"\n}"},
       {R"({"a":1})", "{}", R"({"b":"x","b":"y"})", R"({"c":1,"b":""})", R"({"b":1})",
        R"({"b":"","a":1})", "{  \"b\":\"\"}", R"({"b":"",})", R"({,"b":""})"}},
      {Closed(R"("a":{},"b":{},"c":{})", "", R"(,"minProperties":2,"maxProperties":2)"),
       {R"({"a":1,"b":1})", R"({"a":1,"c":1})", R"({"b":1,"c":1})"},
       {R"({"a":1})", "{}", R"({"a":1,"b":1,"c":1})"}},
      {Closed(R"("a":{},"b":{},"c":{})", R"("c")", R"(,"maxProperties":2)"),
       {R"({"a":1,"c":1})", R"({"c":1})"},
       {R"({"a":1,"b":1,"c":1})", R"({"a":1,"b":1})"}},
      {R"({"type":"object","required":["z"],"properties":{"a":{"type":"integer"}}})",
       {R"({"z":1})", R"({"a":1,"z":[],"more":{}})"},
       {"{}", R"({"a":1})", R"({"a":"x","z":1})", R"({"more":1,"z":1})"}},
      {R"({"type":"object","additionalProperties":{"type":"integer"},
          "properties":{"s":{"type":"string"}}})",
       {R"({"s":"x","t":1})", R"({"q":2})", R"({"st":1,"":2})", R"({"t\"":1})"},
       {R"({"s":1})", R"({"t":"x"})", R"({"\u0073":1})", R"({"t":1,"s":"x"})"}},
      {R"({"type":"object","properties":{"a":false,"b":{"type":"null"}}})",
       {R"({"b":null})", R"({"b":null,"c":1})", "{}"},
       {R"({"a":1})", R"({"b":null,"a":1})"}},
      {R"({"type":"object","maxProperties":1})", {"{}", R"({"a":1})"}, {R"({"a":1,"b":2})"}},
      {R"({"type":"object","additionalProperties":false})", {"{}"}, {R"({"a":1})"}},
      {Closed("\"q\\\"\":{\"type\":\"null\"},\"日本\":{\"type\":\"null\"},\"n\\nl\":{\"type\":"
              "\"null\"}",
              ""),
       {R"({"q\"":null})", "{\"日本\":null}", R"({"n\nl":null})"},
       {R"({"q":null})", R"({"n":null})"}},
      {R"({"properties":{"a":{"type":"null"}}})", {R"({"a":null})", "5", "[]"}, {R"({"a":1})"}},
  });
}

TEST(JsonGrammarTest, Arrays) {
  Check({
      {R"({"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":3})",
       {"[1,2]", "[1,2,3]", "[ 1 , 2 ]", "[\n  1,\n  2\n]"},
       {"[1]", "[1,2,3,4]", R"([1,"x"])", "[1,2,]", "[,1]", "[]"}},
      {R"({"type":"array","prefixItems":[{"type":"string"}],"items":{"type":"integer"}})",
       {R"(["a",1,2])", "[]", R"(["a"])"},
       {"[1]", R"(["a","b"])"}},
      {R"({"type":"array","items":[{"type":"string"},{"type":"null"}]})",
       {R"(["a",null,5])"},
       {R"(["a",1])"}},
      {R"({"type":"array","prefixItems":[{"type":"null"}],"items":false})",
       {"[]", "[null]"},
       {"[null,null]"}},
      {R"({"type":"array","items":false})", {"[]"}, {"[1]"}},
      {R"({"type":"array","maxItems":3000,"minItems":2000,"items":{"const":1}})",
       {absl::StrCat("[", Repeat("1", 2000, ","), "]"),
        absl::StrCat("[", Repeat("1", 3000, ","), "]")},
       {absl::StrCat("[", Repeat("1", 1999, ","), "]"),
        absl::StrCat("[", Repeat("1", 3001, ","), "]")}},
      {R"({"type":"array","uniqueItems":false,"items":{"type":"null"}})", {"[null,null]"}, {"[1]"}},
      {R"({"type":"array","uniqueItems":true,"maxItems":1})", {"[1]"}, {"[1,2]"}},
  });
}

TEST(JsonGrammarTest, Combinations) {
  Check({
      {R"({"minimum":3,"minLength":2})",
       {"3", R"("ab")", "true", "null", "[]", "{}"},
       {"2", R"("a")"}},
      {R"({"minimum":3,"anyOf":[{"type":"integer"},{"type":"string"}]})",
       {"4", R"("x")"},
       {"1", "2", "null"}},
      {R"({"$defs":{"p":{"type":"integer"}},"$ref":"#/$defs/p","minimum":10})",
       {"10", "11"},
       {"9", "0"}},
      {R"({"oneOf":[)" + Closed(R"("t":{"const":"a"},"x":{"type":"integer"})", R"("t","x")") + "," +
           Closed(R"("t":{"const":"b"})", R"("t")") + "]}",
       {R"({"t":"a","x":1})", R"({"t":"b"})"},
       {R"({"t":"a"})", R"({"t":"b","x":1})", R"({"t":"c"})"}},
      {R"({"allOf":[)" + Closed(R"("a":{"type":"integer"})", R"("a")") +
           R"(,{"properties":{"a":{"minimum":5}}}]})",
       {R"({"a":5})"},
       {R"({"a":4})", "{}"}},
      {R"({"allOf":[{"properties":{"a":{"type":"null"}},"required":["a"]},
          {"properties":{"b":{"type":"null"}},"additionalProperties":{"type":"null"}}],
          "type":"object"})",
       {R"({"a":null})", R"({"a":null,"b":null,"c":null})"},
       {R"({"b":null})", R"({"a":null,"c":1})"}},
      {R"({"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#"}}},
          "additionalProperties":false})",
       {R"({"kids":[{},{"kids":[]}]})"},
       {R"({"kids":[1]})", R"({"kids":{}})"}},
      {R"({"anyOf":[{"$ref":"#"},{"type":"null"}]})", {"null"}, {"1"}},
      {R"({"$ref":"#/$defs/a~1b/properties/c%20d","$defs":{"a/b":{"properties":{"c d":
          {"type":"null"}}}}})",
       {"null"},
       {"1"}},
      {R"({"type":"array","prefixItems":[{"type":"null"},{"$ref":"#/prefixItems/0"}]})",
       {"[null,null]"},
       {"[null,1]"}},
      {R"({"anyOf":[{"type":"string","maxLength":2},{"type":"string","minLength":4}]})",
       {R"("ab")", R"("abcd")", R"("")"},
       {R"("abc")"}},
      {R"({"type":"array","items":{"anyOf":[{"$ref":"#"},{"type":"string"},
          {"type":"array","items":{"type":"string"}}]}})",
       {R"([["a"],[["b"]],[]])"},
       {"[1]"}},
      {R"({"anyOf":[{"items":{"type":"null"},"type":"array"},false]})", {"[null]"}, {"1"}},
      {R"({"allOf":[{"anyOf":[{"type":"null"},{"type":"integer"}]},
          {"anyOf":[{"type":"integer"},{"type":"string"}]}]})",
       {"5"},
       {"null", R"("a")"}},
      {R"({"type":"object","properties":{"a":{"type":"null"}},"required":["a"],
          "oneOf":[{"properties":{"n":{"const":1}},"required":["n"]},
                   {"properties":{"n":{"const":2}},"required":["n"]}]})",
       {R"({"a":null,"n":1})", R"({"a":null,"n":2,"o":0})"},
       {R"({"a":null})", R"({"a":null,"n":3})", R"({"n":1})"}},
  });
}

TEST(JsonGrammarTest, NestingIsBounded) {
  const auto grammar = Compile(R"({"type":"array","items":{"$ref":"#"}})");
  const int most = static_cast<int>(kMaxValueDepth);
  EXPECT_EQ(Read(grammar, Repeat("[", most - 1) + Repeat("]", most - 1)), ".");
  EXPECT_EQ(Read(grammar, Repeat("[", most + 1)), "|[");
}

TEST(JsonGrammarTest, ManyNamesCostNoTime) {
  std::string schema = R"({"type":"object","additionalProperties":false,"properties":{)";
  for (int i = 0; i < 5000; ++i) {
    absl::StrAppend(&schema, i == 0 ? "" : ",", "\"name", i, R"(":{"type":"null"})");
  }
  const auto grammar = Compile(schema + "}}");
  EXPECT_EQ(Read(grammar, R"({"name7":null,"name4999":null})"), ".");
  EXPECT_EQ(Read(grammar, R"({"name4999":null,"name7":null})"), "|,");
}

}  // namespace
}  // namespace superfluid
