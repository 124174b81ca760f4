#include "tests/engine/constrain/random_schema.h"

#include <cstdlib>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace superfluid::testing {
namespace {

constexpr int kMaxDepth = 4;

class Maker {
 public:
  explicit Maker(std::mt19937_64& random) : random_(random) {}

  // Returns the members of a schema, without braces.
  std::string Schema(int depth) {
    const uint64_t kind = Below(depth > kMaxDepth - 1 ? 45 : 100);
    if (kind < 12) return Number("integer");
    if (kind < 20) return Number("number");
    if (kind < 34) return String();
    if (kind < 39) return Values();
    if (kind < 42) return absl::StrCat(R"("type":")", Chance(50) ? "null" : "boolean", "\"");
    if (kind < 45) return Chance(50) ? "" : R"("$ref":"#/$defs/r")";
    if (kind < 68) return Object(depth);
    if (kind < 80) return Array(depth);
    if (kind < 88) return List("anyOf", 1 + Below(3), depth);
    if (kind < 91) return List("oneOf", 2, depth);
    if (kind < 94) return absl::StrCat(R"("allOf":[{)", Object(depth), "},{", Object(depth), "}]");
    if (kind < 96) return absl::StrCat(String(), R"(,"allOf":[{)", String(), "}]");
    return R"("type":["string","integer","array"],"minLength":2,"minimum":3,"minItems":1)";
  }

 private:
  uint64_t Below(uint64_t end) { return random_() % end; }
  bool Chance(uint64_t percent) { return Below(100) < percent; }

  std::string Number(const std::string& type) {
    std::string schema = absl::StrCat(R"("type":")", type, "\"");
    const auto add = [&](const char* keyword, int64_t value) {
      absl::StrAppend(&schema, ",\"", keyword, "\":", value);
      if (type == "number" && Chance(50)) absl::StrAppend(&schema, ".", 1 + Below(99));
    };
    if (Chance(30)) add("minimum", static_cast<int64_t>(Below(600)) - 500);
    if (Chance(20)) add("exclusiveMinimum", static_cast<int64_t>(Below(600)) - 500);
    if (Chance(30)) add("maximum", static_cast<int64_t>(Below(100'000)) + 90);
    if (Chance(20)) add("exclusiveMaximum", static_cast<int64_t>(Below(900)) + 120);
    if (type == "integer" && Chance(20))
      absl::StrAppend(&schema, R"(,"multipleOf":)", 2 + Below(9));
    return schema;
  }

  std::string String() {
    static const char* const kPatterns[] = {"^[a-z]+$",
                                            "^\\\\d{3}-\\\\d{4}$",
                                            "foo|bar",
                                            "^(a|bc)*d?$",
                                            "^.{2,5}$",
                                            "^\\\\S+@x$",
                                            "^[A-Z][a-z]*( [A-Z][a-z]*){0,3}$",
                                            "^$|^x",
                                            "\\\"",
                                            "\\\\\\\\",
                                            "^(ab)+$",
                                            "^[あ-ん]{1,3}$",
                                            "^[^\\\\x00-\\\\x7f]?$"};
    std::string schema = R"("type":"string")";
    if (Chance(40)) absl::StrAppend(&schema, R"(,"minLength":)", Below(6));
    if (Chance(40)) absl::StrAppend(&schema, R"(,"maxLength":)", 5 + Below(20));
    if (Chance(35)) {
      absl::StrAppend(&schema, R"(,"pattern":")", kPatterns[Below(std::size(kPatterns))], "\"");
    } else if (Chance(20)) {
      return absl::StrCat(R"("type":"string","format":")",
                          Chance(50)   ? "date"
                          : Chance(50) ? "uuid"
                                       : "ipv4",
                          "\"");
    }
    return schema;
  }

  std::string Values() {
    static const char* const kValues[] = {"1",         "2.5",       "\"a\"",    "\"ab\"", "null",
                                          "true",      "\"é\"",     "-7",       "12",     "1200",
                                          "\"q\\\"\"", "[1,\"x\"]", "{\"a\":1}"};
    std::vector<std::string> values;
    for (uint64_t i = 0; i <= Below(5); ++i) values.push_back(kValues[Below(std::size(kValues))]);
    return absl::StrCat(R"("enum":[)", absl::StrJoin(values, ","), "]");
  }

  std::string Object(int depth) {
    static const char* const kNames[] = {"a",    "ab",    "abc",        "id",    "name", "x y",
                                         "type", "count", "na\u00efve", "q\\\"", "日本", "n\\nl"};
    std::vector<std::string> properties;
    std::vector<std::string> required;
    for (const char* name : kNames) {
      if (!Chance(25)) continue;
      properties.push_back(absl::StrCat("\"", name, "\":{", Schema(depth + 1), "}"));
      if (Chance(50)) required.push_back(absl::StrCat("\"", name, "\""));
    }
    const bool closed = Chance(50);
    if (!closed && Chance(10)) required.emplace_back("\"other\"");
    std::string schema =
        absl::StrCat(R"("type":"object","properties":{)", absl::StrJoin(properties, ","),
                     R"(},"required":[)", absl::StrJoin(required, ","), "]");
    if (closed) absl::StrAppend(&schema, R"(,"additionalProperties":false)");
    if (!closed && Chance(40)) {
      absl::StrAppend(&schema, R"(,"additionalProperties":{)", Schema(depth + 1), "}");
    }
    if (Chance(20)) absl::StrAppend(&schema, R"(,"maxProperties":)", required.size() + Below(3));
    if (closed && Chance(20)) {
      absl::StrAppend(&schema, R"(,"minProperties":)", Below(properties.size() + 1));
    }
    return schema;
  }

  std::string Array(int depth) {
    std::string schema = R"("type":"array")";
    if (Chance(25)) {
      absl::StrAppend(&schema, R"(,"prefixItems":[{)", Schema(depth + 1), "},{", Schema(depth + 1),
                      "}]");
    }
    absl::StrAppend(&schema, R"(,"items":{)", Schema(depth + 1), "}");
    if (Chance(40)) absl::StrAppend(&schema, R"(,"minItems":)", Below(3));
    if (Chance(40)) absl::StrAppend(&schema, R"(,"maxItems":)", 2 + Below(5));
    return schema;
  }

  std::string List(const char* keyword, uint64_t count, int depth) {
    std::vector<std::string> cases;
    for (uint64_t i = 0; i < count; ++i) cases.push_back(absl::StrCat("{", Schema(depth + 1), "}"));
    return absl::StrCat("\"", keyword, "\":[", absl::StrJoin(cases, ","), "]");
  }

  std::mt19937_64& random_;
};

}  // namespace

std::string RandomSchema(std::mt19937_64& random) {
  Maker maker(random);
  const std::string schema = maker.Schema(0);
  const std::string shared = maker.Schema(2);
  return absl::StrCat("{", schema, schema.empty() ? "" : ",", R"("$defs":{"r":{)", shared, "}}}");
}

uint64_t SeedOfTest(uint64_t usual) {
  const char* given = std::getenv("SUPERFLUID_SEED");
  uint64_t seed = usual;
  if (given != nullptr && !absl::SimpleAtoi(given, &seed)) seed = usual;
  return seed;
}

}  // namespace superfluid::testing
