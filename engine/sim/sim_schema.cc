#include "engine/sim/sim_schema.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/sampling/json_depth.h"

namespace superfluid {
namespace {

using Json = nlohmann::ordered_json;  // properties come in the order given
using Kind = SimGrammarNode::Kind;

constexpr size_t kMaxBytes = size_t{32} << 10U;
constexpr size_t kMaxDepth = 32;
constexpr size_t kMaxTags = 64;
constexpr size_t kMaxTagBytes = 256;
constexpr uint64_t kMaxCount = 1U << 30U;

constexpr std::array<absl::string_view, 11> kKnown = {
    "type",      "properties", "required", "additionalProperties",
    "items",     "minItems",   "maxItems", "minLength",
    "maxLength", "enum",       "const"};
constexpr std::array<absl::string_view, 7> kAnnotations = {
    "title", "description", "default", "examples", "$schema", "$id", "$comment"};

template <typename List>
bool Has(const List& list, absl::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

absl::Status Bad(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("the grammar's schema: ", what));
}

absl::StatusOr<Json> ParseJson(absl::string_view text) {
  if (text.size() > kMaxBytes) return Bad(absl::StrCat("more than ", kMaxBytes, " bytes"));
  if (JsonDepth(text) > kMaxDepth) return Bad(absl::StrCat("nested deeper than ", kMaxDepth));
  Json json = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object()) return Bad("not a JSON object");
  return json;
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

// A member that is a text; null if it is none.
const std::string* Text(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return nullptr;
  return found->get_ptr<const std::string*>();
}

class Compiler {
 public:
  absl::StatusOr<size_t> Compile(const Json& schema);
  size_t Add(SimGrammarNode node) {
    grammar_.nodes.push_back(std::move(node));
    return grammar_.nodes.size() - 1;
  }
  SimGrammar Finish(size_t root) {
    grammar_.root = root;
    return std::move(grammar_);
  }

 private:
  absl::StatusOr<size_t> CompileType(const Json& schema, absl::string_view type);
  absl::StatusOr<size_t> CompileObject(const Json& schema);
  absl::StatusOr<size_t> CompileArray(const Json& schema);
  absl::StatusOr<size_t> CompileLiterals(const Json& schema);
  absl::StatusOr<size_t> CompileCounted(const Json& schema, const char* min, const char* max,
                                        SimGrammarNode node);
  size_t AddLiterals(std::vector<std::string> texts);

  SimGrammar grammar_;
};

absl::Status CheckKeywords(const Json& schema) {
  if (!schema.is_object()) return Bad("a schema is not an object");
  for (const auto& item : schema.items()) {
    if (Has(kKnown, item.key()) || Has(kAnnotations, item.key())) continue;
    return absl::UnimplementedError(
        absl::StrCat("the schema keyword '", item.key(), "' is not supported"));
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> Compiler::Compile(const Json& schema) {
  if (absl::Status status = CheckKeywords(schema); !status.ok()) return status;
  if (schema.contains("enum") || schema.contains("const")) return CompileLiterals(schema);
  const std::string* type = Text(schema, "type");
  if (type == nullptr) return Bad("a schema without one type, enum or const");
  return CompileType(schema, *type);
}

absl::StatusOr<size_t> Compiler::CompileType(const Json& schema, absl::string_view type) {
  SimGrammarNode node;
  if (type == "object") return CompileObject(schema);
  if (type == "array") return CompileArray(schema);
  if (type == "boolean") return AddLiterals({"false", "true"});
  if (type == "null") return AddLiterals({"null"});
  if (type == "integer" || type == "number") {
    node.kind = Kind::kNumber;
    node.integer = type == "integer";
    return Add(std::move(node));
  }
  if (type != "string") return Bad(absl::StrCat("no type '", type, "'"));
  node.kind = Kind::kString;
  return CompileCounted(schema, "minLength", "maxLength", std::move(node));
}

size_t Compiler::AddLiterals(std::vector<std::string> texts) {
  SimGrammarNode node;
  node.kind = Kind::kLiterals;
  node.texts = std::move(texts);
  std::sort(node.texts.begin(), node.texts.end());
  return Add(std::move(node));
}

absl::StatusOr<size_t> Compiler::CompileLiterals(const Json& schema) {
  Json values = Json::array();
  for (const auto& item : schema.items()) {
    if (item.key() == "enum") {
      if (!item.value().is_array()) return Bad("'enum' is not an array");
      values = item.value();
    } else if (Has(kKnown, item.key()) && item.key() != "const" && item.key() != "type") {
      return absl::UnimplementedError(
          absl::StrCat("the schema keyword '", item.key(), "' beside enum or const"));
    }
  }
  if (schema.contains("const")) {
    const Json& only = schema["const"];
    if (schema.contains("enum") && std::find(values.begin(), values.end(), only) == values.end()) {
      return Bad("const is not in enum");
    }
    values = Json::array({only});
  }
  const std::string* type = Text(schema, "type");
  if (schema.contains("type") && type == nullptr) return Bad("'type' is not one type");
  std::vector<std::string> texts;
  for (const Json& value : values) {
    if (type == nullptr || IsOfType(value, *type)) texts.push_back(value.dump());
  }
  if (texts.empty()) return Bad("enum and type leave no value");
  return AddLiterals(std::move(texts));
}

absl::StatusOr<size_t> Compiler::CompileCounted(const Json& schema, const char* min,
                                                const char* max, SimGrammarNode node) {
  for (const char* key : {min, max}) {
    const auto found = schema.find(key);
    if (found == schema.end()) continue;
    if (!found->is_number_unsigned() || found->get<uint64_t>() > kMaxCount) {
      return Bad(absl::StrCat("'", key, "' is not a whole number up to ", kMaxCount));
    }
    (key == min ? node.min : node.max) = found->get<uint64_t>();
  }
  if (node.min > node.max) return Bad(absl::StrCat(min, " is more than ", max));
  return Add(std::move(node));
}

absl::StatusOr<size_t> Compiler::CompileArray(const Json& schema) {
  SimGrammarNode node;
  node.kind = Kind::kArray;
  const auto items = schema.find("items");
  if (items == schema.end()) return Bad("an array without items");
  const absl::StatusOr<size_t> child = Compile(*items);
  if (!child.ok()) return child.status();
  node.children = {*child};
  return CompileCounted(schema, "minItems", "maxItems", std::move(node));
}

absl::Status SetRequired(const Json& names, SimGrammarNode& node) {
  if (!names.is_array()) return Bad("'required' is not an array");
  for (const Json& name : names) {
    const auto found = std::find(node.texts.begin(), node.texts.end(), name.dump() + ":");
    if (found == node.texts.end()) {
      return Bad(absl::StrCat("the required ", name.dump(), " is no property"));
    }
    node.required[static_cast<size_t>(found - node.texts.begin())] = true;
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> Compiler::CompileObject(const Json& schema) {
  SimGrammarNode node;
  node.kind = Kind::kObject;
  const auto properties = schema.find("properties");
  if (properties != schema.end() && !properties->is_object()) {
    return Bad("'properties' is not an object");
  }
  if (properties != schema.end()) {
    for (const auto& item : properties->items()) {
      const absl::StatusOr<size_t> child = Compile(item.value());
      if (!child.ok()) return child.status();
      node.texts.push_back(Json(item.key()).dump() + ":");
      node.children.push_back(*child);
    }
  }
  node.required.resize(node.texts.size());
  const auto required = schema.find("required");
  if (required != schema.end()) {
    if (absl::Status status = SetRequired(*required, node); !status.ok()) return status;
  }
  return Add(std::move(node));
}

absl::Status CheckTagText(const std::string* text, const char* what) {
  if (text == nullptr || text->empty() || text->size() > kMaxTagBytes) {
    return Bad(absl::StrCat("'", what, "' is not a text of 1 to ", kMaxTagBytes, " bytes"));
  }
  if (text->find('\0') != std::string::npos) return Bad(absl::StrCat("a NUL in '", what, "'"));
  return absl::OkStatus();
}

// The member that is an array of 1 to kMaxTags; null if it is none.
const Json* List(const Json& json, const char* key) {
  const auto found = json.find(key);
  const bool good = found != json.end() && found->is_array() && !found->empty();
  return good && found->size() <= kMaxTags ? &*found : nullptr;
}

absl::Status AddStructure(const Json& structure, Compiler& compiler, SimGrammarNode& tags) {
  if (!structure.is_object() || !structure.contains("schema")) {
    return Bad("a structure without a schema");
  }
  const std::string* begin = Text(structure, "begin");
  const std::string* end = Text(structure, "end");
  if (absl::Status status = CheckTagText(begin, "begin"); !status.ok()) return status;
  if (absl::Status status = CheckTagText(end, "end"); !status.ok()) return status;
  const absl::StatusOr<size_t> value = compiler.Compile(structure["schema"]);
  if (!value.ok()) return value.status();
  tags.texts.push_back(*begin);
  tags.ends.push_back(*end);
  tags.children.push_back(*value);
  return absl::OkStatus();
}

bool StartsOneOf(const std::string& start, const std::vector<std::string>& texts) {
  return std::any_of(texts.begin(), texts.end(),
                     [&start](const std::string& text) { return text.rfind(start, 0) == 0; });
}

absl::Status CheckTags(const SimGrammarNode& tags) {
  for (const std::string& trigger : tags.triggers) {
    if (!StartsOneOf(trigger, tags.texts)) return Bad("a trigger starts no begin");
  }
  for (size_t i = 0; i < tags.texts.size(); ++i) {
    const std::string& begin = tags.texts[i];
    const bool triggered =
        std::any_of(tags.triggers.begin(), tags.triggers.end(),
                    [&begin](const std::string& start) { return begin.rfind(start, 0) == 0; });
    if (!triggered) return Bad("a begin starts with no trigger");
    for (size_t j = 0; j < tags.texts.size(); ++j) {
      if (i != j && tags.texts[j].rfind(begin, 0) == 0) return Bad("a begin starts another");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SimGrammar> CompileSimSchema(absl::string_view json) {
  const absl::StatusOr<Json> schema = ParseJson(json);
  if (!schema.ok()) return schema.status();
  Compiler compiler;
  const absl::StatusOr<size_t> root = compiler.Compile(*schema);
  if (!root.ok()) return root.status();
  return compiler.Finish(*root);
}

absl::StatusOr<SimGrammar> CompileSimTags(absl::string_view json) {
  const absl::StatusOr<Json> spec = ParseJson(json);
  if (!spec.ok()) return spec.status();
  const Json* structures = List(*spec, "structures");
  const Json* triggers = List(*spec, "triggers");
  if (structures == nullptr || triggers == nullptr) {
    return Bad(absl::StrCat("'structures' and 'triggers' are arrays of 1 to ", kMaxTags));
  }
  Compiler compiler;
  SimGrammarNode tags;
  tags.kind = Kind::kTags;
  for (const Json& structure : *structures) {
    absl::Status status = AddStructure(structure, compiler, tags);
    if (!status.ok()) return status;
  }
  for (const Json& trigger : *triggers) {
    const auto* text = trigger.get_ptr<const std::string*>();
    if (absl::Status status = CheckTagText(text, "triggers"); !status.ok()) return status;
    tags.triggers.push_back(*text);
  }
  if (absl::Status status = CheckTags(tags); !status.ok()) return status;
  return compiler.Finish(compiler.Add(std::move(tags)));
}

}  // namespace superfluid
