// Schemas that are refused, and those that would cost too much.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/constrain/compile_budget.h"
#include "engine/constrain/json_grammar.h"

namespace superfluid {
namespace {

using ::testing::HasSubstr;

absl::Status StatusOf(const std::string& schema) { return CompileJsonSchema(schema, {}).status(); }

void ExpectUnsupported(const std::string& keyword, const std::string& schema) {
  for (const std::string& whole :
       {schema, absl::StrCat(R"({"type":"array","items":{"type":"object","properties":{"a":)",
                             schema, "}}}")}) {
    if (whole != schema && schema.find("\"#") != std::string::npos) continue;
    const absl::Status status = StatusOf(whole);
    EXPECT_TRUE(absl::IsUnimplemented(status)) << whole << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(absl::StrCat("'", keyword, "'")));
  }
  const absl::Status tags = CompileTags(absl::StrCat(R"({"structures":[{"begin":"<a>","schema":)",
                                                     schema, R"(,"end":"x"}],"triggers":["<a"]})"),
                                        {})
                                .status();
  EXPECT_TRUE(absl::IsUnimplemented(tags)) << schema << tags;
}

TEST(GrammarRefusalsTest, UnknownKeywordsAreRefusedByName) {
  for (const char* keyword :
       {"patternProperties", "propertyNames", "dependentRequired", "dependentSchemas", "contains",
        "minContains", "not", "if", "then", "else", "unevaluatedProperties", "unevaluatedItems",
        "$dynamicRef", "$anchor", "contentEncoding", "additionalItems", "minlength", "id",
        "no keyword"}) {
    for (const char* type : {"object", "array", "string", "number", "null"}) {
      ExpectUnsupported(keyword, absl::StrCat(R"({"type":")", type, R"(",")", keyword, "\":1}"));
    }
  }
}

TEST(GrammarRefusalsTest, WhatIsNotEnforcedIsRefusedByName) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"uniqueItems", R"({"type":"array","items":{"type":"integer"},"uniqueItems":true})"},
      {"minProperties", R"({"type":"object","minProperties":2})"},
      {"minProperties", R"({"type":"object","required":["a"],"minProperties":2})"},
      {"multipleOf", R"({"type":"number","multipleOf":0.3})"},
      {"multipleOf", R"({"type":"integer","multipleOf":5001})"},
      {"format", R"({"type":"string","format":"uri"})"},
      {"format", R"({"format":"regex"})"},
      {"pattern", R"({"type":"string","pattern":"^(?!a)b$"})"},
      {"pattern", R"({"type":"string","pattern":"(?<=a)b"})"},
      {"pattern", R"({"type":"string","pattern":"^(a)\\1$"})"},
      {"pattern", R"({"type":"string","pattern":"\\bword\\b"})"},
      {"pattern", R"({"type":"string","pattern":"^\\p{L}+$"})"},
      {"pattern", R"({"type":"string","pattern":"a++"})"},
      {"pattern", R"({"type":"string","pattern":"a^b"})"},
      {"$ref", R"({"$ref":"other.json"})"},
      {"$ref", R"({"$ref":"#a"})"},
      {"$ref", R"({"$ref":"urn:a#/$defs/a"})"},
      {"$id", R"({"type":"array","items":{"$id":"x","type":"null"}})"},
      {"oneOf", R"({"oneOf":[{"type":"integer"},{"type":"number"}]})"},
      {"oneOf", R"({"oneOf":[true,{"type":"null"}]})"},
      {"oneOf", R"({"oneOf":[{"enum":["a","b"]},{"enum":["b","c"]}]})"},
      {"oneOf", R"({"oneOf":[{"const":1},{"const":1.0}]})"},
      {"oneOf", R"({"oneOf":[{"const":{"a":1,"b":2}},{"const":{"b":2,"a":1}}]})"},
      {"oneOf", R"({"oneOf":[{"type":"string"},{"properties":{"a":true}}]})"},
      {"oneOf", R"({"oneOf":[{"type":"string","maxLength":3},{"type":"string","minLength":3}]})"},
      {"oneOf", R"({"oneOf":[{"type":"object","properties":{"k":{"const":"a"}}},
          {"type":"object","properties":{"k":{"const":"b"}}}]})"},
      {"oneOf", R"({"oneOf":[{"type":"object","properties":{"a":true},"required":["a"]},
          {"type":"object","properties":{"b":true},"required":["b"]}]})"},
      {"properties", R"({"enum":[{"a":1}],"properties":{"a":{"const":2}}})"},
      {"items", R"({"const":[1],"items":{"const":2}})"}};
  for (const auto& [name, schema] : cases) ExpectUnsupported(name, schema);
}

TEST(GrammarRefusalsTest, CasesThatExcludeEachOtherAreTaken) {
  for (const char* schema :
       {R"({"oneOf":[{"type":"string"},{"type":["integer","null"]},{"const":true}]})",
        R"({"oneOf":[{"enum":["a","b"]},{"const":"c"}]})",
        R"({"oneOf":[{"type":"integer","maximum":3},{"type":"integer","minimum":4}]})",
        R"({"oneOf":[{"type":"number","exclusiveMaximum":3},{"type":"number","minimum":3}]})",
        R"({"oneOf":[{"type":"object","properties":{"k":{"const":"a"}},"required":["k"]},
            {"type":"object","properties":{"k":{"const":"b"}},"required":["k"]}]})",
        R"({"oneOf":[{"type":"object","properties":{"a":true},"required":["a"],
            "additionalProperties":false},{"type":"object","required":["b"]}]})",
        R"({"oneOf":[{"$ref":"#/$defs/a"},{"type":"null"}],"$defs":{"a":{"type":"string"}}})"}) {
    EXPECT_TRUE(StatusOf(schema).ok()) << schema << StatusOf(schema);
  }
}

TEST(GrammarRefusalsTest, MalformedSchemasAreRefused) {
  for (const char* bad : {"",
                          "7",
                          "{",
                          "[]",
                          "true",
                          "{\"a\":1}x",
                          R"({"type":"null","type":"null"})",
                          R"({"type":"string","minLength":1.5})",
                          R"({"type":"string","minLength":-1})",
                          R"({"type":"array","maxItems":1e10})",
                          R"({"type":5})",
                          R"({"type":[]})",
                          R"({"type":["null","null"]})",
                          R"({"type":["null",5]})",
                          R"({"type":"nothing"})",
                          R"({"enum":3})",
                          R"({"enum":[]})",
                          R"({"properties":[]})",
                          R"({"properties":{"a":1}})",
                          R"({"required":"a"})",
                          R"({"required":[5]})",
                          R"({"additionalProperties":5})",
                          R"({"anyOf":[]})",
                          R"({"oneOf":{}})",
                          R"({"allOf":3})",
                          R"({"$ref":5})",
                          R"({"$ref":"#/$defs/a"})",
                          R"({"$ref":"#/$defs/a","$defs":5})",
                          R"({"type":"string","format":5})",
                          R"({"type":"string","pattern":"("})",
                          R"j({"type":"string","pattern":")"})j",
                          R"({"type":"string","pattern":"["})",
                          R"({"type":"string","pattern":"*"})",
                          R"({"type":"string","pattern":"a{3,2}"})",
                          R"({"type":"string","pattern":"\\"})",
                          R"({"type":"string","pattern":"[z-a]"})",
                          R"({"type":"string","pattern":"\\u12"})",
                          R"({"type":"number","multipleOf":0})",
                          R"({"type":"integer","minimum":true})",
                          R"({"type":"integer","exclusiveMinimum":true})",
                          R"({"type":"integer","minimum":1e999})",
                          R"({"items":5})",
                          R"({"nullable":1})",
                          R"({"prefixItems":{}})"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(StatusOf(bad))) << bad << StatusOf(bad);
  }
}

TEST(GrammarRefusalsTest, WhatNoValueCanMatchIsRefused) {
  for (const char* bad :
       {R"({"type":"string","minLength":5,"maxLength":3})",
        R"({"type":"object","properties":{"a":{"type":"array","minItems":5,"maxItems":3}}})",
        R"({"type":"integer","minimum":5,"maximum":3})",
        R"({"type":["null","integer"],"minimum":5,"maximum":3})",
        R"({"type":"integer","minimum":0.2,"maximum":0.8})",
        R"({"type":"integer","exclusiveMinimum":7,"exclusiveMaximum":8})",
        R"({"type":"number","exclusiveMinimum":5,"maximum":5})",
        R"({"type":"integer","multipleOf":7,"minimum":1,"maximum":6})",
        R"({"$ref":"#"})",
        R"({"anyOf":[{"$ref":"#"},{"$ref":"#"}]})",
        R"({"allOf":[{"$ref":"#"},{"type":"object"}]})",
        R"({"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]})",
        R"({"$ref":"#/$defs/a","$defs":{"a":{"items":{"$ref":"#/$defs/a"},"minItems":1,
            "type":"array"}}})",
        R"({"const":1,"enum":[2]})",
        R"({"type":"string","enum":[1]})",
        R"({"type":"array","prefixItems":[false],"minItems":1})",
        R"({"type":"object","required":["a"],"additionalProperties":false})",
        R"({"type":"object","required":["a","b"],"maxProperties":1})",
        R"({"type":"string","pattern":"^(ab)*$","minLength":3,"maxLength":3})",
        R"({"allOf":[{"type":"string"},{"type":"null"}]})",
        R"({"allOf":[{"pattern":"^a"},{"pattern":"^b"}],"type":"string"})"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(StatusOf(bad))) << bad << StatusOf(bad);
  }
}

TEST(GrammarRefusalsTest, AKeywordOfAnotherTypeHasNoMeaning) {
  for (const char* good : {R"({"type":"null","minLength":3,"minimum":7,"items":5})",
                           R"({"type":"string","minimum":5,"uniqueItems":true})",
                           R"j({"type":"integer","pattern":"(?!a)","format":"int64"})j",
                           R"({"type":"string","title":"t","description":"d","default":1,
                              "examples":[],"deprecated":true,"readOnly":true,"writeOnly":true,
                              "$schema":"s","$id":"i","$comment":"c","$defs":{"unused":{"not":1}},
                              "definitions":{}})"}) {
    EXPECT_TRUE(StatusOf(good).ok()) << good << StatusOf(good);
  }
}

// ---- Work ----

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

std::string Listed(const std::string& before, int count, const std::string& after,
                   const std::function<std::string(int)>& part) {
  std::string text = before;
  for (int i = 0; i < count; ++i) absl::StrAppend(&text, i == 0 ? "" : ",", part(i));
  return text + after;
}

std::string Pattern(const std::string& pattern, const std::string& more = "") {
  return absl::StrCat(R"({"type":"string","pattern":")", pattern, "\"", more, "}");
}

std::vector<std::string> Hostile() {
  return {
      Pattern("^.*a.{20}$"),
      Pattern("(a|b)*a(a|b){18}$"),
      Pattern("^(((a{1,100}){1,100}){1,100})$"),
      Pattern("^((((){1000}){1000}){1000}){1000}$"),
      Pattern("^a{100000}$"),
      Pattern("^([\\\\u0000-\\\\uffff]{1,300}x){1,300}$"),
      Pattern("^[a-z ,.]*$", R"(,"maxLength":4000)"),
      Pattern("^.*foo.*$", R"(,"maxLength":100000)"),
      Pattern("^(.{7}.{11})*$", R"(,"minLength":900000000)"),
      Pattern(Nested(100, "(", "a", ")*")),
      Pattern(Listed("", 2000, "", [](int i) { return absl::StrCat(".*", i, "|"); })),
      R"({"type":"string","minLength":1000000000})",
      R"({"type":"array","items":{"type":"integer"},"maxItems":1000000000})",
      Nested(60, R"({"type":"array","minItems":1,"items":)", "true", "}"),
      Nested(500, R"({"type":"array","items":)", "true", "}"),
      Nested(100, R"({"anyOf":[{"type":"null"},)", "true", "]}"),
      R"({"type":"integer","multipleOf":4999,"minimum":1,"maximum":1000000000})",
      R"({"type":"integer","multipleOf":4999,"minimum":1,"maximum":1e300})",
      R"({"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775807})",
      R"({"type":"integer","minimum":1e308})",
      R"({"type":"number","minimum":1e-300,"maximum":1e300})",
      R"({"$ref":"#"})",
      R"({"allOf":[{"$ref":"#"},{"$ref":"#"}]})",
      R"({"anyOf":[{"$ref":"#"},{"type":"null"}]})",
      Chain(300, R"({"anyOf":[%,%]})"),
      Chain(300, R"({"type":["object","array"],"properties":{"a":%},"items":%})"),
      Chain(30, R"({"allOf":[{"properties":{"x":%}},{"properties":{"x":%,"y":%}}]})"),
      Chain(200, R"({"oneOf":[{"const":1},%]})"),
      Chain(3000, R"({"anyOf":[%]})"),
      Listed(R"({"allOf":[)", 12, "]}",
             [](int i) {
               return Listed(R"({"anyOf":[)", 16, "]}",
                             [i](int j) { return absl::StrCat(R"({"minimum":)", i * j, "}"); });
             }),
      Listed(R"({"type":"object","additionalProperties":false,"properties":{)", 10'000, "}}",
             [](int i) { return absl::StrCat("\"property_number_", i, R"(":{"type":"string"})"); }),
      Listed(R"({"enum":[)", 20'000, "]}",
             [](int i) { return absl::StrCat("\"value ", i * 7919 % 20'000, "\""); }),
      Listed(R"({"anyOf":[)", 2000, "]}",
             [](int i) {
               return absl::StrCat(R"({"type":"object","properties":{"k)", i,
                                   R"(":{"type":"integer"}},"required":["k)", i, "\"]}");
             }),
      Listed(R"({"oneOf":[)", 300, "]}",
             [](int i) {
               return absl::StrCat(R"({"type":"object","properties":{"n":{"const":"k)", i,
                                   R"("}},"required":["n"]})");
             }),
      Listed(R"({"oneOf":[)", 3000, "]}",
             [](int i) { return absl::StrCat(R"({"const":")", i, "\"}"); }),
      Listed(R"({"allOf":[)", 200, "]}",
             [](int i) {
               return Listed(R"({"enum":[)", 200, "]}",
                             [i](int j) { return absl::StrCat(i * 0 + j); });
             }),
      std::string(40'000, '['),
      std::string(2'000'000, ' '),
      absl::StrCat("{\"const\":\"", std::string(900'000, 'a'), "\"}"),
  };
}

// Units are what compiling counts; the bound holds on any machine.
TEST(GrammarRefusalsTest, AHostileSchemaIsBuiltOrRefusedWithinItsBudget) {
  for (const std::string& schema : Hostile()) {
    int looks = 0;
    const CancelToken token;
    const CallControl control(token, [&looks] { ++looks; });
    const auto grammar = CompileJsonSchema(schema, control);
    const bool expected = grammar.ok() || absl::IsInvalidArgument(grammar.status()) ||
                          absl::IsUnimplemented(grammar.status());
    EXPECT_TRUE(expected) << schema.substr(0, 80) << grammar.status();
    EXPECT_LE(static_cast<uint64_t>(looks), CompileBudget::kMaxUnits / CompileBudget::kUnitsALook);
    if (grammar.ok()) {
      EXPECT_LE((*grammar)->bytes, CompileBudget::kMaxBytes) << schema.substr(0, 80);
    }
  }
}

TEST(GrammarRefusalsTest, OrdinarySchemasAreNotTakenForCostlyOnes) {
  const std::string tools = Listed(R"({"anyOf":[)", 300, "]}", [](int i) {
    return absl::StrCat(R"({"type":"object","properties":{"name":{"const":"tool_)", i,
                        R"("},"arguments":{"type":"object","properties":{"path":{"type":"string",
                        "maxLength":100},"depth":{"type":"integer","minimum":0,"maximum":9}},
                        "required":["path"]}},"required":["name","arguments"]})");
  });
  const std::string optional = Listed(R"({"type":"object","properties":{)", 500, "}}", [](int i) {
    return absl::StrCat("\"property", i, R"(":{"type":"string"})");
  });
  for (const std::string& schema : {tools, optional}) {
    EXPECT_TRUE(StatusOf(schema).ok()) << StatusOf(schema);
  }
}

TEST(GrammarRefusalsTest, CompilingStopsWhenItsTokenIsSet) {
  const std::string schema = Pattern("^.*a.{20}$");
  int all = 0;
  const CancelToken never;
  (void)CompileJsonSchema(schema, CallControl(never, [&all] { ++all; }));
  ASSERT_GT(all, 3);
  for (int stop_at : {1, 2, all - 1}) {
    int signs = 0;
    CancelToken token;
    const CallControl control(token, [&] {
      if (++signs == stop_at) token.Cancel(CancelReason::kDeadline, 1);
    });
    const absl::Status status = CompileJsonSchema(schema, control).status();
    EXPECT_TRUE(absl::IsCancelled(status)) << status;
    EXPECT_EQ(signs, stop_at);
  }
}

}  // namespace
}  // namespace superfluid
