#include "engine/sampling/schema_members.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kMaxCount = 1U << 30U;
constexpr double kTwoTo63 = 9223372036854775808.0;
constexpr std::array<absl::string_view, 7> kTypes = {"object",  "array",   "string", "number",
                                                     "integer", "boolean", "null"};

bool Has(const Words& words, absl::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

const Words& Annotations() {
  static const auto* const words =
      new Words{"title",    "description", "default", "examples", "deprecated",
                "readOnly", "writeOnly",   "$schema", "$id",      "$comment"};
  return *words;
}

bool IsTypeKeyword(absl::string_view word) {
  return std::any_of(TypeKeywords().begin(), TypeKeywords().end(),
                     [word](const auto& type) { return Has(type.second, word); });
}

// A bound of integers, rounded towards the integers that it allows.
struct Bound {
  bool none = false;   // it excludes no integer of 64 bits
  bool empty = false;  // it excludes all of them
  int64_t value = 0;
};

// A number as an integer; with a fraction, or outside of 64 bits, as the double that it is.
absl::StatusOr<Bound> ReadBound(const Json& value, const std::string& key, bool lower,
                                bool exclusive) {
  if (!value.is_number()) return BadSchema(absl::StrCat("'", key, "' is not a number"));
  Bound bound;
  const bool large = value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{INT64_MAX};
  if (value.is_number_float() || large) {
    const auto given = value.get<double>();
    const double rounded = lower ? std::ceil(given) : std::floor(given);
    if (rounded >= kTwoTo63 || rounded < -kTwoTo63) {
      bound.none = (rounded > 0) != lower;
      bound.empty = !bound.none;
      return bound;
    }
    exclusive = exclusive && rounded == given;
    bound.value = static_cast<int64_t>(rounded);
  } else {
    bound.value = value.get<int64_t>();
  }
  if (!exclusive) return bound;
  bound.empty = bound.value == (lower ? INT64_MAX : INT64_MIN);
  if (!bound.empty) bound.value += lower ? 1 : -1;
  return bound;
}

absl::Status ReadCount(const Json& schema, const char* key, uint64_t& count) {
  const auto found = schema.find(key);
  if (found == schema.end()) return absl::OkStatus();
  if (!found->is_number_unsigned() || found->get<uint64_t>() > kMaxCount) {
    return BadSchema(absl::StrCat("'", key, "' is not a whole number up to ", kMaxCount));
  }
  count = found->get<uint64_t>();
  return absl::OkStatus();
}

}  // namespace

const Words& ValueKeywords() {
  static const auto* const words = new Words{"type", "enum", "const"};
  return *words;
}

const Words& AloneKeywords() {
  static const auto* const words = new Words{"$ref", "anyOf", "oneOf", "allOf"};
  return *words;
}

const Words& RootKeywords() {
  static const auto* const words = new Words{"$defs", "definitions"};
  return *words;
}

const std::vector<std::pair<std::string, Words>>& TypeKeywords() {
  static const auto* const words = new std::vector<std::pair<std::string, Words>>{
      {"object", {"properties", "required", "additionalProperties"}},
      {"array", {"items", "prefixItems", "minItems", "maxItems", "uniqueItems"}},
      {"string", {"minLength", "maxLength", "format"}},
      {"integer", {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}}};
  return *words;
}

absl::Status CheckKeywords(const Json& schema, bool root) {
  for (const auto& item : schema.items()) {
    const std::string& word = item.key();
    if (Has(RootKeywords(), word)) {
      if (!root) return UnsupportedKeyword(word, " below the root");
      continue;
    }
    if (!Has(Annotations(), word) && !Has(ValueKeywords(), word) && !Has(AloneKeywords(), word) &&
        !IsTypeKeyword(word)) {
      return UnsupportedKeyword(word);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckNothingBeside(const Json& schema, const Words& allowed, absl::string_view what) {
  for (const auto& item : schema.items()) {
    if (Has(allowed, item.key()) || Has(Annotations(), item.key()) ||
        Has(RootKeywords(), item.key())) {
      continue;
    }
    return UnsupportedKeyword(item.key(), absl::StrCat(" beside ", what));
  }
  return absl::OkStatus();
}

bool IsOfType(const Json& value, absl::string_view type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_boolean();
  return type == "null" && value.is_null();
}

absl::StatusOr<Words> ReadTypes(const Json& schema) {
  const auto found = schema.find("type");
  if (found == schema.end()) return Words();
  const Json list = found->is_array() ? *found : Json::array({*found});
  std::set<std::string> types;
  for (const Json& entry : list) {
    const auto* name = entry.get_ptr<const std::string*>();
    if (name == nullptr) return BadSchema("'type' is not a name or a list of names");
    if (std::find(kTypes.begin(), kTypes.end(), *name) == kTypes.end()) {
      return BadSchema(absl::StrCat("no type '", *name, "'"));
    }
    if (!types.insert(*name).second) return BadSchema("'type' names a type twice");
  }
  if (types.empty()) return BadSchema("'type' is an empty list");
  if (types.count("number") > 0) types.erase("integer");
  return Words(types.begin(), types.end());
}

absl::Status ReadCounts(const Json& schema, const char* min, const char* max, SchemaNode& node) {
  if (absl::Status status = ReadCount(schema, min, node.min); !status.ok()) return status;
  if (absl::Status status = ReadCount(schema, max, node.max); !status.ok()) return status;
  if (node.min > node.max) return BadSchema(absl::StrCat(min, " is more than ", max));
  return absl::OkStatus();
}

absl::Status ReadBounds(const Json& schema, SchemaNode& node) {
  for (const std::string& key : TypeKeywords().back().second) {
    const auto found = schema.find(key);
    if (found == schema.end()) continue;
    const bool lower = key == "minimum" || key == "exclusiveMinimum";
    const bool exclusive = key == "exclusiveMinimum" || key == "exclusiveMaximum";
    const absl::StatusOr<Bound> bound = ReadBound(*found, key, lower, exclusive);
    if (!bound.ok()) return bound.status();
    if (bound->empty) return BadSchema(absl::StrCat("'", key, "' leaves no integer of 64 bits"));
    node.keyword = key;
    if (bound->none) continue;
    if (lower) node.least = std::max(node.least, bound->value);
    if (!lower) node.most = std::min(node.most, bound->value);
  }
  if (node.least > node.most) return BadSchema("minimum and maximum leave no integer");
  return absl::OkStatus();
}

absl::Status ReadRequired(const Json& schema, SchemaNode& node) {
  node.required.assign(node.texts.size(), false);
  const auto names = schema.find("required");
  if (names == schema.end()) return absl::OkStatus();
  if (!names->is_array()) return BadSchema("'required' is not an array");
  std::map<std::string, size_t> properties;
  for (size_t i = 0; i < node.texts.size(); ++i) properties[node.texts[i]] = i;
  for (const Json& name : *names) {
    if (!name.is_string()) return BadSchema("'required' has what is no name");
    const auto found = properties.find(name.dump());
    if (found == properties.end()) {
      return BadSchema(absl::StrCat("the required ", name.dump(), " is no property"));
    }
    node.required[found->second] = true;
  }
  return absl::OkStatus();
}

}  // namespace superfluid
