#include "engine/sim/sim_schema.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/sampling/json_schema.h"
#include "engine/sampling/tag_spec.h"

namespace superfluid {
namespace {

using Kind = SchemaNode::Kind;

// Makes nodes of the grammar of those of a schema. References make kAnyOf nodes, which are
// refused, so what is compiled is a tree, as deep as the schema's text is nested.
class Compiler {
 public:
  absl::StatusOr<size_t> Compile(const JsonSchema& schema, size_t from);
  size_t Add(SimGrammarNode node) {
    grammar_.nodes.push_back(std::move(node));
    return grammar_.nodes.size() - 1;
  }
  SimGrammar Finish(size_t root) {
    grammar_.root = root;
    return std::move(grammar_);
  }

 private:
  absl::StatusOr<size_t> CompileParts(const JsonSchema& schema, const SchemaNode& from);

  SimGrammar grammar_;
};

absl::Status CheckKind(const SchemaNode& node) {
  if (node.kind == Kind::kAny) return BadSchema("a schema without one type, enum or const");
  const bool unbounded = node.least == INT64_MIN && node.most == INT64_MAX;
  if (node.kind == Kind::kAnyOf || node.kind == Kind::kTuple || !node.format.empty() ||
      !unbounded) {
    return UnsupportedKeyword(node.keyword, node.keyword == "type" ? " of several types" : "");
  }
  return absl::OkStatus();
}

SimGrammarNode::Kind KindOf(Kind kind) {
  switch (kind) {
    case Kind::kObject:
    case Kind::kMap:  // no names are given, so no member comes
      return SimGrammarNode::Kind::kObject;
    case Kind::kArray:
      return SimGrammarNode::Kind::kArray;
    case Kind::kString:
      return SimGrammarNode::Kind::kString;
    case Kind::kInteger:
    case Kind::kNumber:
      return SimGrammarNode::Kind::kNumber;
    default:
      return SimGrammarNode::Kind::kLiterals;
  }
}

// NOLINTNEXTLINE(misc-no-recursion)
absl::StatusOr<size_t> Compiler::Compile(const JsonSchema& schema, size_t from) {
  const SchemaNode& node = schema.nodes[from];
  if (absl::Status status = CheckKind(node); !status.ok()) return status;
  return CompileParts(schema, node);
}

// NOLINTNEXTLINE(misc-no-recursion)
absl::StatusOr<size_t> Compiler::CompileParts(const JsonSchema& schema, const SchemaNode& from) {
  SimGrammarNode node;
  node.kind = KindOf(from.kind);
  node.integer = from.kind == Kind::kInteger;
  node.texts = from.texts;
  node.required = from.required;
  node.min = from.min;
  node.max = from.max;
  if (from.kind == Kind::kMap) return Add(std::move(node));
  if (from.kind == Kind::kObject) {
    for (std::string& name : node.texts) name += ":";
  }
  for (const size_t part : from.children) {
    const absl::StatusOr<size_t> child = Compile(schema, part);
    if (!child.ok()) return child.status();
    node.children.push_back(*child);
  }
  return Add(std::move(node));
}

}  // namespace

absl::StatusOr<SimGrammar> CompileSimSchema(absl::string_view json) {
  const absl::StatusOr<JsonSchema> schema = ParseJsonSchema(json);
  if (!schema.ok()) return schema.status();
  Compiler compiler;
  const absl::StatusOr<size_t> root = compiler.Compile(*schema, schema->root);
  if (!root.ok()) return root.status();
  return compiler.Finish(*root);
}

absl::StatusOr<SimGrammar> CompileSimTags(absl::string_view json) {
  absl::StatusOr<TagSpec> spec = ParseTagSpec(json);
  if (!spec.ok()) return spec.status();
  Compiler compiler;
  SimGrammarNode tags;
  tags.kind = SimGrammarNode::Kind::kTags;
  for (TagStructure& structure : spec->structures) {
    const absl::StatusOr<size_t> value = compiler.Compile(structure.schema, structure.schema.root);
    if (!value.ok()) return value.status();
    tags.texts.push_back(std::move(structure.begin));
    tags.ends.push_back(std::move(structure.end));
    tags.children.push_back(*value);
  }
  tags.triggers = std::move(spec->triggers);
  return compiler.Finish(compiler.Add(std::move(tags)));
}

}  // namespace superfluid
