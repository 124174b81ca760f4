#include "engine/sampling/json_schema.h"

#include <algorithm>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "engine/sampling/json_depth.h"
#include "engine/sampling/schema_graph.h"
#include "engine/sampling/schema_members.h"

namespace superfluid {
namespace {

using Json = nlohmann::ordered_json;  // properties come in the order given
using Kind = SchemaNode::Kind;

constexpr size_t kMaxBytes = size_t{32} << 10U;
constexpr size_t kMaxDepth = 32;

// Reads the nodes of one document. A definition is read once, after what refers to it, so that
// recursion is as deep as the text is nested.
class Reader {
 public:
  explicit Reader(const Json& root) : root_(root) {}

  absl::StatusOr<JsonSchema> Run();

 private:
  using NodeOr = absl::StatusOr<size_t>;

  size_t Add(SchemaNode node) {
    schema_.nodes.push_back(std::move(node));
    return schema_.nodes.size() - 1;
  }
  size_t AddAlternatives(std::vector<size_t> children, std::string keyword) {
    SchemaNode node;
    node.kind = Kind::kAnyOf;
    node.children = std::move(children);
    node.keyword = std::move(keyword);
    return Add(std::move(node));
  }
  NodeOr Read(const Json& schema);
  NodeOr ReadAlone(const Json& schema, const std::string& keyword);
  NodeOr ReadRef(const Json& value);
  NodeOr ReadLiterals(const Json& schema);
  NodeOr ReadTypes(const Json& schema, const Words& types);
  NodeOr ReadUntyped(const Json& schema);
  NodeOr ReadType(const Json& schema, absl::string_view type);
  NodeOr ReadObject(const Json& schema);
  NodeOr ReadMap(const Json& schema);
  NodeOr ReadArray(const Json& schema);
  NodeOr ReadTuple(const Json& schema, const Json& items, const char* keyword);
  NodeOr ReadString(const Json& schema);
  NodeOr ReadInteger(const Json& schema);
  absl::Status ReadProperties(const Json& properties, SchemaNode& node);

  const Json& root_;
  JsonSchema schema_;
  std::map<std::string, size_t> references_;
  std::deque<std::pair<size_t, const Json*>> unread_;  // the node of a reference, its definition
  std::vector<std::vector<size_t>> one_ofs_;
};

absl::StatusOr<JsonSchema> Reader::Run() {
  const NodeOr root = Read(root_);
  if (!root.ok()) return root.status();
  schema_.root = *root;
  while (!unread_.empty()) {
    const auto [node, definition] = unread_.front();
    unread_.pop_front();
    const NodeOr target = Read(*definition);
    if (!target.ok()) return target.status();
    schema_.nodes[node].children = {*target};
  }
  if (absl::Status status = FlattenAlternatives(schema_); !status.ok()) return status;
  if (absl::Status status = CheckOneOfs(schema_, one_ofs_); !status.ok()) return status;
  if (absl::Status status = PruneEndless(schema_); !status.ok()) return status;
  return std::move(schema_);
}

Reader::NodeOr Reader::Read(const Json& schema) {  // NOLINT(misc-no-recursion)
  if (schema.is_boolean()) {
    if (schema.get<bool>()) return Add({});
    return AddAlternatives({}, "false");
  }
  if (!schema.is_object()) return BadSchema("a schema is not an object");
  absl::Status status = CheckKeywords(schema, /*root=*/&schema == &root_);
  if (!status.ok()) return status;
  for (const std::string& keyword : AloneKeywords()) {
    if (schema.contains(keyword)) return ReadAlone(schema, keyword);
  }
  if (schema.contains("enum") || schema.contains("const")) return ReadLiterals(schema);
  const absl::StatusOr<Words> types = superfluid::ReadTypes(schema);
  if (!types.ok()) return types.status();
  return types->empty() ? ReadUntyped(schema) : ReadTypes(schema, *types);
}

// NOLINTNEXTLINE(misc-no-recursion)
Reader::NodeOr Reader::ReadAlone(const Json& schema, const std::string& keyword) {
  absl::Status status = CheckNothingBeside(schema, {keyword}, absl::StrCat("'", keyword, "'"));
  if (!status.ok()) return status;
  const Json& value = schema[keyword];
  if (keyword == "$ref") return ReadRef(value);
  if (!value.is_array() || value.empty()) {
    return BadSchema(absl::StrCat("'", keyword, "' is not a list of schemas"));
  }
  if (keyword == "allOf" && value.size() > 1) return UnsupportedKeyword("allOf", " of several");
  std::vector<size_t> children;
  for (const Json& alternative : value) {
    const NodeOr child = Read(alternative);
    if (!child.ok()) return child.status();
    children.push_back(*child);
  }
  if (keyword == "oneOf") one_ofs_.push_back(children);
  return AddAlternatives(std::move(children), keyword);
}

Reader::NodeOr Reader::ReadRef(const Json& value) {
  const auto* reference = value.get_ptr<const std::string*>();
  if (reference == nullptr) return BadSchema("'$ref' is not a text");
  const auto known = references_.find(*reference);
  if (known != references_.end()) return known->second;
  for (const std::string& where : RootKeywords()) {
    absl::string_view name = *reference;
    if (!absl::ConsumePrefix(&name, absl::StrCat("#/", where, "/"))) continue;
    if (name.find_first_of("/~%") != absl::string_view::npos) break;
    const auto definitions = root_.find(where);
    const std::string key(name);
    const bool there =
        definitions != root_.end() && definitions->is_object() && definitions->contains(key);
    if (!there) return BadSchema(absl::StrCat("'$ref': there is no ", *reference));
    const size_t node = AddAlternatives({}, "$ref");
    references_[*reference] = node;
    unread_.emplace_back(node, &definitions->at(key));
    return node;
  }
  return UnsupportedKeyword("$ref", " to anything but #/$defs/NAME and #/definitions/NAME");
}

Reader::NodeOr Reader::ReadLiterals(const Json& schema) {
  absl::Status status = CheckNothingBeside(schema, ValueKeywords(), "enum or const");
  if (!status.ok()) return status;
  const absl::StatusOr<Words> types = superfluid::ReadTypes(schema);
  if (!types.ok()) return types.status();
  const auto listed = schema.find("enum");
  if (listed != schema.end() && !listed->is_array()) return BadSchema("'enum' is not an array");
  const auto only = schema.find("const");
  if (only != schema.end() && listed != schema.end() &&
      std::find(listed->begin(), listed->end(), *only) == listed->end()) {
    return BadSchema("const is not in enum");
  }
  SchemaNode node;
  node.kind = Kind::kLiterals;
  node.keyword = only != schema.end() ? "const" : "enum";
  for (const Json& value : only != schema.end() ? Json::array({*only}) : *listed) {
    const bool typed = types->empty() ||
                       std::any_of(types->begin(), types->end(), [&value](const std::string& type) {
                         return IsOfType(value, type);
                       });
    if (typed) node.texts.push_back(value.dump());
  }
  if (node.texts.empty()) return BadSchema("enum and type leave no value");
  std::sort(node.texts.begin(), node.texts.end());
  node.texts.erase(std::unique(node.texts.begin(), node.texts.end()), node.texts.end());
  return Add(std::move(node));
}

// NOLINTNEXTLINE(misc-no-recursion)
Reader::NodeOr Reader::ReadTypes(const Json& schema, const Words& types) {
  if (types.size() == 1) return ReadType(schema, types[0]);
  std::vector<size_t> children;
  for (const std::string& type : types) {
    const NodeOr child = ReadType(schema, type);
    if (!child.ok()) return child.status();
    children.push_back(*child);
  }
  return AddAlternatives(std::move(children), "type");
}

Reader::NodeOr Reader::ReadUntyped(const Json& schema) {  // NOLINT(misc-no-recursion)
  for (const auto& [type, keywords] : TypeKeywords()) {
    const bool meant =
        std::any_of(keywords.begin(), keywords.end(),
                    [&schema](const std::string& word) { return schema.contains(word); });
    if (!meant) continue;
    NodeOr node = ReadType(schema, type);
    if (node.ok()) schema_.nodes[*node].untyped = true;
    return node;
  }
  return Add({});
}

// NOLINTNEXTLINE(misc-no-recursion)
Reader::NodeOr Reader::ReadType(const Json& schema, absl::string_view type) {
  if (type == "object") return ReadObject(schema);
  if (type == "array") return ReadArray(schema);
  if (type == "string") return ReadString(schema);
  if (type == "integer") return ReadInteger(schema);
  SchemaNode node;
  if (type == "number") {
    for (const std::string& bound : TypeKeywords().back().second) {
      if (schema.contains(bound)) return UnsupportedKeyword(bound, " for the type number");
    }
    node.kind = Kind::kNumber;
    return Add(std::move(node));
  }
  node.kind = Kind::kLiterals;
  node.texts =
      type == "null" ? std::vector<std::string>{"null"} : std::vector<std::string>{"false", "true"};
  return Add(std::move(node));
}

// NOLINTNEXTLINE(misc-no-recursion)
absl::Status Reader::ReadProperties(const Json& properties, SchemaNode& node) {
  for (const auto& item : properties.items()) {
    const NodeOr child = Read(item.value());
    if (!child.ok()) return child.status();
    node.texts.push_back(Json(item.key()).dump());
    node.children.push_back(*child);
  }
  return absl::OkStatus();
}

Reader::NodeOr Reader::ReadObject(const Json& schema) {  // NOLINT(misc-no-recursion)
  const auto properties = schema.find("properties");
  if (properties != schema.end() && !properties->is_object()) {
    return BadSchema("'properties' is not an object");
  }
  const auto others = schema.find("additionalProperties");
  if (others != schema.end() && !others->is_boolean() && !others->is_object()) {
    return BadSchema("'additionalProperties' is not a schema");
  }
  SchemaNode node;
  node.kind = Kind::kObject;
  if (properties != schema.end()) {
    if (absl::Status status = ReadProperties(*properties, node); !status.ok()) return status;
  }
  if (absl::Status status = ReadRequired(schema, node); !status.ok()) return status;
  const bool closed = others != schema.end() && others->is_boolean() && !others->get<bool>();
  if (!node.texts.empty() || closed) return Add(std::move(node));
  const NodeOr value = others == schema.end() ? Add({}) : Read(*others);
  if (!value.ok()) return value.status();
  node.kind = Kind::kMap;
  node.children = {*value};
  return Add(std::move(node));
}

// NOLINTNEXTLINE(misc-no-recursion)
Reader::NodeOr Reader::ReadTuple(const Json& schema, const Json& items, const char* keyword) {
  SchemaNode node;
  if (absl::Status status = ReadCounts(schema, "minItems", "maxItems", node); !status.ok()) {
    return status;
  }
  for (const char* count : {"minItems", "maxItems"}) {
    const bool met = node.min <= items.size() && items.size() <= node.max;
    if (!met && schema.contains(count)) {
      return UnsupportedKeyword(count, absl::StrCat(" for another number than in '", keyword, "'"));
    }
  }
  node.kind = Kind::kTuple;
  node.keyword = keyword;
  for (const Json& item : items) {
    const NodeOr child = Read(item);
    if (!child.ok()) return child.status();
    node.children.push_back(*child);
  }
  return Add(std::move(node));
}

Reader::NodeOr Reader::ReadArray(const Json& schema) {  // NOLINT(misc-no-recursion)
  const auto unique = schema.find("uniqueItems");
  if (unique != schema.end() && *unique != false) return UnsupportedKeyword("uniqueItems");
  const auto first = schema.find("prefixItems");
  if (first != schema.end() && !first->is_array()) return BadSchema("'prefixItems' is no array");
  if (first != schema.end() && !first->empty()) return ReadTuple(schema, *first, "prefixItems");
  const auto items = schema.find("items");
  if (items != schema.end() && items->is_array()) return ReadTuple(schema, *items, "items");
  SchemaNode node;
  node.kind = Kind::kArray;
  const NodeOr child = items == schema.end() ? Add({}) : Read(*items);
  if (!child.ok()) return child.status();
  node.children = {*child};
  if (absl::Status status = ReadCounts(schema, "minItems", "maxItems", node); !status.ok()) {
    return status;
  }
  return Add(std::move(node));
}

Reader::NodeOr Reader::ReadString(const Json& schema) {
  SchemaNode node;
  node.kind = Kind::kString;
  if (absl::Status status = ReadCounts(schema, "minLength", "maxLength", node); !status.ok()) {
    return status;
  }
  const auto format = schema.find("format");
  if (format == schema.end()) return Add(std::move(node));
  const auto* name = format->get_ptr<const std::string*>();
  if (name == nullptr) return BadSchema("'format' is not a text");
  if (*name != "date" && *name != "time" && *name != "date-time" && *name != "uuid") {
    return UnsupportedKeyword("format", absl::StrCat(" '", *name, "'"));
  }
  for (const char* length : {"minLength", "maxLength"}) {
    if (schema.contains(length)) return UnsupportedKeyword(length, " beside 'format'");
  }
  node.keyword = "format";
  node.format = *name;
  return Add(std::move(node));
}

Reader::NodeOr Reader::ReadInteger(const Json& schema) {
  SchemaNode node;
  node.kind = Kind::kInteger;
  if (absl::Status status = ReadBounds(schema, node); !status.ok()) return status;
  return Add(std::move(node));
}

}  // namespace

absl::Status BadSchema(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("the grammar's schema: ", what));
}

absl::Status UnsupportedKeyword(absl::string_view keyword, absl::string_view where) {
  return absl::UnimplementedError(
      absl::StrCat("the schema keyword '", keyword, "'", where, " is not supported"));
}

absl::StatusOr<Json> ParseSchemaText(absl::string_view text) {
  if (text.size() > kMaxBytes) return BadSchema(absl::StrCat("more than ", kMaxBytes, " bytes"));
  if (JsonDepth(text) > kMaxDepth) return BadSchema(absl::StrCat("nested deeper than ", kMaxDepth));
  Json json = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object()) return BadSchema("not a JSON object");
  return json;
}

absl::StatusOr<JsonSchema> ReadJsonSchema(const Json& schema) { return Reader(schema).Run(); }

absl::StatusOr<JsonSchema> ParseJsonSchema(absl::string_view text) {
  const absl::StatusOr<Json> schema = ParseSchemaText(text);
  if (!schema.ok()) return schema.status();
  return ReadJsonSchema(*schema);
}

}  // namespace superfluid
