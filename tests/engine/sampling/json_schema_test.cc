#include "engine/sampling/json_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/sampling/schema_graph.h"
#include "engine/sampling/tag_spec.h"

namespace superfluid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = SchemaNode::Kind;

absl::StatusCode CodeOf(const std::string& schema) {
  return ParseJsonSchema(schema).status().code();
}

SchemaNode Root(const std::string& schema) {
  const auto parsed = ParseJsonSchema(schema);
  EXPECT_TRUE(parsed.ok()) << schema << parsed.status();
  return parsed.ok() ? parsed->nodes[parsed->root] : SchemaNode();
}

void ExpectUnsupported(const std::string& keyword, const std::string& schema) {
  const auto parsed = ParseJsonSchema(schema);
  EXPECT_EQ(parsed.status().code(), absl::StatusCode::kUnimplemented) << schema << parsed.status();
  EXPECT_THAT(std::string(parsed.status().message()), HasSubstr(absl::StrCat("'", keyword, "'")));
}

TEST(JsonSchemaTest, AnnotationsChangeNothing) {
  const SchemaNode node = Root(R"({"type":"string","title":"t","description":"d","default":1,
      "examples":[],"deprecated":true,"readOnly":true,"writeOnly":true,"$schema":"s","$id":"i",
      "$comment":"c","$defs":{"unused":{"pattern":"a"}},"definitions":{}})");
  EXPECT_EQ(node.kind, Kind::kString);
}

TEST(JsonSchemaTest, WhatIsNotEnforcedIsRefusedByName) {
  for (const char* keyword : {"pattern",
                              "patternProperties",
                              "multipleOf",
                              "contains",
                              "minContains",
                              "minProperties",
                              "maxProperties",
                              "propertyNames",
                              "dependentRequired",
                              "dependentSchemas",
                              "not",
                              "if",
                              "then",
                              "else",
                              "unevaluatedProperties",
                              "unevaluatedItems",
                              "$dynamicRef",
                              "nullable",
                              "contentEncoding",
                              "no keyword"}) {
    for (const char* type : {"object", "array", "string", "number", "null"}) {
      ExpectUnsupported(keyword, absl::StrCat(R"({"type":")", type, R"(",")", keyword, "\":1}"));
    }
    ExpectUnsupported(keyword, absl::StrCat(R"({"type":"array","items":{"type":"object",
        "properties":{"a":{")",
                                            keyword, "\":1}}}}"));
  }
}

TEST(JsonSchemaTest, AKeywordOfAnotherTypeHasNoMeaning) {
  EXPECT_EQ(Root(R"({"type":"null","minLength":3,"minimum":7,"items":5})").kind, Kind::kLiterals);
  EXPECT_EQ(CodeOf(R"({"type":"string","minimum":5,"uniqueItems":true})"), absl::StatusCode::kOk);
}

TEST(JsonSchemaTest, BoundsAreOfIntegersOnly) {
  for (const char* bound : {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}) {
    ExpectUnsupported(bound, absl::StrCat(R"({"type":"number",")", bound, "\":1}"));
    ExpectUnsupported(bound, absl::StrCat(R"({"type":["integer","number"],")", bound, "\":1}"));
    EXPECT_EQ(CodeOf(absl::StrCat(R"({"type":"integer",")", bound, "\":true}")),
              absl::StatusCode::kInvalidArgument);
  }
}

TEST(JsonSchemaTest, BoundsAreRoundedInwards) {
  const SchemaNode node = Root(R"({"type":"integer","minimum":-2.5,"exclusiveMinimum":-9,
      "maximum":7.5,"exclusiveMaximum":7.0})");
  EXPECT_EQ(node.least, -2);
  EXPECT_EQ(node.most, 6);
  const SchemaNode open = Root(R"({"type":"integer","minimum":-1e300,"maximum":1e300})");
  EXPECT_EQ(open.least, INT64_MIN);
  EXPECT_EQ(open.most, INT64_MAX);
  EXPECT_EQ(Root(R"({"type":"integer","minimum":9223372036854775807})").least, INT64_MAX);
}

TEST(JsonSchemaTest, AMinimumAboveItsMaximumIsRefused) {
  for (const char* bad : {R"({"type":"string","minLength":5,"maxLength":3})",
                          R"({"type":"array","minItems":5,"maxItems":3})",
                          R"({"type":"array","prefixItems":[true],"minItems":5,"maxItems":3})",
                          R"({"type":"integer","minimum":5,"maximum":3})",
                          R"({"type":"integer","minimum":0.2,"maximum":0.8})",
                          R"({"type":"integer","exclusiveMinimum":7,"exclusiveMaximum":8})",
                          R"({"type":"integer","minimum":9223372036854775808})",
                          R"({"type":"integer","exclusiveMinimum":9223372036854775807})",
                          R"({"type":"integer","maximum":-1e300})", R"({"minimum":5,"maximum":3})",
                          R"({"type":["null","integer"],"minimum":5,"maximum":3})"}) {
    EXPECT_EQ(CodeOf(bad), absl::StatusCode::kInvalidArgument) << bad;
  }
}

TEST(JsonSchemaTest, MalformedSchemasAreRefused) {
  for (const char* bad : {R"({"type":"string","minLength":1.5})",
                          R"({"type":"string","minLength":-1})",
                          R"({"type":"array","maxItems":1e10})",
                          R"({"type":5})",
                          R"({"type":[]})",
                          R"({"type":["null","null"]})",
                          R"({"type":["null",5]})",
                          R"({"type":"text"})",
                          R"({"enum":3})",
                          R"({"enum":[]})",
                          R"({"properties":[]})",
                          R"({"properties":{"a":1}})",
                          R"({"required":["a"]})",
                          R"({"properties":{"a":true},"required":[5]})",
                          R"({"additionalProperties":5})",
                          R"({"anyOf":[]})",
                          R"({"oneOf":{}})",
                          R"({"allOf":3})",
                          R"({"$ref":5})",
                          R"({"$ref":"#/$defs/a"})",
                          R"({"$ref":"#/$defs/a","$defs":5})",
                          R"({"type":"string","format":5})",
                          R"({"items":5})",
                          R"({"prefixItems":{}})"}) {
    EXPECT_EQ(CodeOf(bad), absl::StatusCode::kInvalidArgument) << bad;
  }
}

TEST(JsonSchemaTest, NothingButAnnotationsStandsBesideAReferenceOrAlternatives) {
  ExpectUnsupported("minimum", R"({"$ref":"#/$defs/a","minimum":5,"$defs":{"a":true}})");
  ExpectUnsupported("properties", R"({"anyOf":[{"type":"object"}],"properties":{}})");
  ExpectUnsupported("type", R"({"type":"string","allOf":[{"minLength":3}]})");
  ExpectUnsupported("allOf", R"({"allOf":[{"type":"string"},{"minLength":3}]})");
  ExpectUnsupported("anyOf", R"({"oneOf":[{"type":"string"}],"anyOf":[true]})");
  ExpectUnsupported("maxLength", R"({"enum":["a"],"maxLength":3})");
  ExpectUnsupported("maxLength", R"({"format":"date","maxLength":3})");
  EXPECT_EQ(Root(R"({"title":"t","allOf":[{"type":"null"}]})").kind, Kind::kAnyOf);
}

TEST(JsonSchemaTest, ReferencesAreResolvedWithinTheDocument) {
  for (const char* reference : {"other.json", "#", "#/properties/a", "#/$defs/a/items",
                                "#/$defs/a~1b", "urn:a#/$defs/a", "#/$defs/a%20b"}) {
    ExpectUnsupported("$ref", absl::StrCat(R"({"$ref":")", reference, R"(","$defs":{"a":true}})"));
  }
  ExpectUnsupported("$defs", R"({"type":"array","items":{"$defs":{"a":true},"$ref":"#/$defs/a"}})");
  const auto schema = ParseJsonSchema(R"({"$ref":"#/definitions/list","definitions":{"list":
      {"type":"array","items":{"$ref":"#/definitions/list"}}}})");
  ASSERT_TRUE(schema.ok()) << schema.status();
  const SchemaNode& root = schema->nodes[schema->root];
  ASSERT_EQ(root.children.size(), 1U);
  const SchemaNode& list = schema->nodes[root.children[0]];
  EXPECT_EQ(list.kind, Kind::kArray);
  EXPECT_EQ(schema->nodes[list.children[0]].children, root.children);
}

TEST(JsonSchemaTest, WhatNoFiniteTextCompletesIsTakenOutOrRefused) {
  for (const char* bad : {R"({"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/a"}}})",
                          R"({"$ref":"#/$defs/a","$defs":{"a":{"items":{"$ref":"#/$defs/a"},
                              "minItems":1}}})",
                          R"({"$ref":"#/$defs/a","$defs":{"a":{"properties":{"b":
                              {"$ref":"#/$defs/a"}},"required":["b"]}}})",
                          R"({"prefixItems":[false]})"}) {
    EXPECT_EQ(CodeOf(bad), absl::StatusCode::kInvalidArgument) << bad;
  }
  EXPECT_THAT(Root(R"({"properties":{"a":false,"b":true}})").texts, ElementsAre("\"b\""));
  EXPECT_EQ(Root(R"({"items":false})").max, 0U);
  EXPECT_EQ(Root(R"({"anyOf":[false,{"type":"null"}]})").children.size(), 1U);
}

TEST(JsonSchemaTest, OneOfWantsAlternativesThatExcludeEachOther) {
  const std::string good[] = {
      R"({"oneOf":[{"type":"string"},{"type":["integer","null"]},{"const":true}]})",
      R"({"oneOf":[{"enum":["a","b"]},{"const":"c"}]})",
      R"({"oneOf":[{"type":"integer","maximum":3},{"type":"integer","minimum":4}]})",
      R"({"oneOf":[{"type":"object","properties":{"k":{"const":"a"}},"required":["k"]},
          {"type":"object","properties":{"k":{"const":"b"}},"required":["k"]}]})",
      R"({"oneOf":[{"type":"object","properties":{"a":true},"required":["a"]},
          {"type":"object","properties":{"b":true},"required":["b"]}]})"};
  for (const std::string& schema : good) EXPECT_EQ(CodeOf(schema), absl::StatusCode::kOk) << schema;
  const std::string overlapping[] = {
      R"({"oneOf":[{"type":"integer"},{"type":"number"}]})",
      R"({"oneOf":[true,{"type":"null"}]})",
      R"({"oneOf":[{"enum":["a","b"]},{"enum":["b","c"]}]})",
      R"({"oneOf":[{"const":1},{"const":1.0}]})",
      R"({"oneOf":[{"const":{"a":1,"b":2}},{"const":{"b":2,"a":1}}]})",
      R"({"oneOf":[{"type":"string"},{"properties":{"a":true}}]})",
      R"({"oneOf":[{"type":"object","properties":{"a":true}},
          {"type":"object","properties":{"b":true},"required":["b"]}]})",
      R"({"oneOf":[{"type":"string","maxLength":3},{"type":"string","minLength":3}]})",
      R"({"oneOf":[{"type":"object","properties":{"k":{"const":"a"}}},
          {"type":"object","properties":{"k":{"const":"b"}}}]})"};
  for (const std::string& schema : overlapping) ExpectUnsupported("oneOf", schema);
}

TEST(JsonSchemaTest, TuplesHaveTheirItemsAndNoOthers) {
  EXPECT_EQ(Root(R"({"prefixItems":[true,true],"items":{"type":"null"},"minItems":1})").kind,
            Kind::kTuple);
  ExpectUnsupported("minItems", R"({"prefixItems":[true],"minItems":2})");
  ExpectUnsupported("maxItems", R"({"items":[true,true],"maxItems":1})");
  ExpectUnsupported("uniqueItems", R"({"items":true,"uniqueItems":true})");
}

TEST(JsonSchemaTest, EnumIsNarrowedToItsType) {
  EXPECT_THAT(Root(R"({"type":["string","null"],"enum":["b",1,"a",null,"a"]})").texts,
              ElementsAre("\"a\"", "\"b\"", "null"));
  EXPECT_EQ(CodeOf(R"({"type":"string","enum":[1]})"), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(R"({"const":1,"enum":[2]})"), absl::StatusCode::kInvalidArgument);
}

TEST(JsonSchemaTest, AlternativesAreBounded) {
  std::string refs = R"({"$ref":"#/$defs/a0","$defs":{)";
  for (int i = 0; i < 400; ++i) {
    absl::StrAppend(&refs, "\"a", i, R"(":{"anyOf":[{"const":)", i, R"(},{"$ref":"#/$defs/a)",
                    i + 1, "\"}]},");
  }
  absl::StrAppend(&refs, R"("a400":true}})");
  EXPECT_EQ(CodeOf(refs), absl::StatusCode::kInvalidArgument);
}

TEST(TagSpecTest, SchemasOfTagsAreCheckedAsOthers) {
  const auto tags = [](const std::string& schema) {
    return ParseTagSpec(absl::StrCat(R"({"structures":[{"begin":"<a>","schema":)", schema,
                                     R"(,"end":"x"}],"triggers":["<"]})"));
  };
  EXPECT_TRUE(tags(R"({"$ref":"#/$defs/a","$defs":{"a":{"type":"null"}}})").ok());
  EXPECT_EQ(tags(R"({"pattern":"a"})").status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(tags(R"({"minLength":2,"maxLength":1})").status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace superfluid
