#include "engine/sampling/schema_graph.h"

#include <algorithm>
#include <utility>

#include "absl/strings/string_view.h"

namespace superfluid {
namespace {

using Kind = SchemaNode::Kind;

constexpr size_t kMaxAlternatives = 256;
constexpr size_t kMaxComparisons = size_t{1} << 18U;  // of alternatives, names and literals
constexpr int kDepthCompared = 2;

// The alternatives below a node in the order of the text, found without recursion.
std::vector<size_t> ConcreteBelow(const JsonSchema& schema, size_t node) {
  std::vector<bool> seen(schema.nodes.size());
  std::vector<size_t> stack = {node};
  std::vector<size_t> found;
  while (!stack.empty() && found.size() <= kMaxAlternatives) {
    const size_t next = stack.back();
    stack.pop_back();
    if (seen[next]) continue;
    seen[next] = true;
    if (schema.nodes[next].kind != Kind::kAnyOf) {
      found.push_back(next);
      continue;
    }
    const std::vector<size_t>& children = schema.nodes[next].children;
    stack.insert(stack.end(), children.rbegin(), children.rend());
  }
  return found;
}

unsigned TypeOfText(absl::string_view text) {
  if (text[0] == '"') return kStringType;
  if (text[0] == '{') return kObjectType;
  if (text[0] == '[') return kArrayType;
  return text[0] == 't' || text[0] == 'f' || text[0] == 'n' ? kWordType : kNumberType;
}

// Whether equal values have equal texts: not so for 1 and 1.0, nor for members in another order.
bool HasOneText(const std::string& text) {
  const unsigned type = TypeOfText(text);
  if (type == kNumberType) return text.find_first_of(".eE") == std::string::npos;
  return type == kStringType || type == kWordType;
}

bool LiteralsDiffer(const SchemaNode& a, const SchemaNode& b) {
  for (const SchemaNode* node : {&a, &b}) {
    if (!std::all_of(node->texts.begin(), node->texts.end(), HasOneText)) return false;
  }
  return std::none_of(a.texts.begin(), a.texts.end(), [&b](const std::string& text) {
    return std::binary_search(b.texts.begin(), b.texts.end(), text);
  });
}

// Compares what one node describes with what another allows.
class Comparison {
 public:
  explicit Comparison(const JsonSchema& schema) : schema_(schema) {}

  // Whether no value that `described` describes is allowed by the schema that `allowing` was made
  // of. False also where that would be too deep or too dear to find out.
  bool NoneAllowed(size_t described, size_t allowing, int depth);
  bool exhausted() const { return left_ == 0; }

 private:
  bool Spend(size_t cost) {
    left_ -= std::min(left_, cost);
    return left_ > 0;
  }
  bool ObjectsDiffer(const SchemaNode& described, const SchemaNode& allowing, int depth);

  const JsonSchema& schema_;
  size_t left_ = kMaxComparisons;
};

// NOLINTNEXTLINE(misc-no-recursion)
bool Comparison::NoneAllowed(size_t described, size_t allowing, int depth) {
  const SchemaNode& a = schema_.nodes[described];
  const SchemaNode& b = schema_.nodes[allowing];
  if (!Spend(1 + a.texts.size() + b.texts.size()) || depth == 0) return false;
  const auto none = [&](const std::vector<size_t>& children, const auto& excludes) {
    return std::all_of(children.begin(), children.end(), excludes);
  };
  if (a.kind == Kind::kAnyOf) {
    return none(a.children, [&](size_t child) { return NoneAllowed(child, allowing, depth); });
  }
  if (b.kind == Kind::kAnyOf) {
    return none(b.children, [&](size_t child) { return NoneAllowed(described, child, depth); });
  }
  if (b.untyped) return false;
  if ((SchemaTypes(a) & SchemaTypes(b)) == 0) return true;
  if (a.kind == Kind::kLiterals && b.kind == Kind::kLiterals) return LiteralsDiffer(a, b);
  if (a.kind == Kind::kInteger && b.kind == Kind::kInteger) {
    return a.least > b.most || a.most < b.least;
  }
  return a.kind == Kind::kObject && b.kind == Kind::kObject && ObjectsDiffer(a, b, depth);
}

// NOLINTNEXTLINE(misc-no-recursion)
bool Comparison::ObjectsDiffer(const SchemaNode& described, const SchemaNode& allowing, int depth) {
  for (size_t i = 0; i < allowing.texts.size(); ++i) {
    if (!Spend(described.texts.size())) return false;
    const auto found = std::find(described.texts.begin(), described.texts.end(), allowing.texts[i]);
    if (found == described.texts.end()) {
      if (allowing.required[i]) return true;
      continue;
    }
    const auto same = static_cast<size_t>(found - described.texts.begin());
    if (described.required[same] &&
        NoneAllowed(described.children[same], allowing.children[i], depth - 1)) {
      return true;
    }
  }
  return false;
}

// Whether some finite text completes the node, as far as `finite` knows about its children.
bool IsFinite(const SchemaNode& node, const std::vector<bool>& finite) {
  const auto known = [&finite](size_t child) { return finite[child]; };
  switch (node.kind) {
    case Kind::kArray:
      return node.min == 0 || known(node.children[0]);
    case Kind::kTuple:
      return std::all_of(node.children.begin(), node.children.end(), known);
    case Kind::kAnyOf:
      return std::any_of(node.children.begin(), node.children.end(), known);
    case Kind::kObject:
      for (size_t i = 0; i < node.children.size(); ++i) {
        if (node.required[i] && !known(node.children[i])) return false;
      }
      return true;
    default:
      return true;
  }
}

void DropProperties(SchemaNode& object, const std::vector<bool>& finite) {
  SchemaNode kept;
  for (size_t i = 0; i < object.children.size(); ++i) {
    if (!finite[object.children[i]]) continue;
    kept.texts.push_back(std::move(object.texts[i]));
    kept.children.push_back(object.children[i]);
    kept.required.push_back(object.required[i]);
  }
  object.texts = std::move(kept.texts);
  object.children = std::move(kept.children);
  object.required = std::move(kept.required);
}

void DropEndless(SchemaNode& node, const std::vector<bool>& finite) {
  const auto endless = [&finite](size_t child) { return !finite[child]; };
  if (node.kind == Kind::kObject) DropProperties(node, finite);
  if (node.kind == Kind::kAnyOf) {
    node.children.erase(std::remove_if(node.children.begin(), node.children.end(), endless),
                        node.children.end());
  }
  if (node.kind == Kind::kArray && endless(node.children[0])) node.max = 0;
  if (node.kind == Kind::kMap && endless(node.children[0])) {
    node.kind = Kind::kObject;
    node.children.clear();
  }
}

}  // namespace

unsigned SchemaTypes(const SchemaNode& node) {
  switch (node.kind) {
    case Kind::kLiterals: {
      unsigned types = 0;
      for (const std::string& text : node.texts) types |= TypeOfText(text);
      return types;
    }
    case Kind::kInteger:
    case Kind::kNumber:
      return kNumberType;
    case Kind::kString:
      return kStringType;
    case Kind::kArray:
    case Kind::kTuple:
      return kArrayType;
    case Kind::kObject:
    case Kind::kMap:
      return kObjectType;
    default:
      return kAllTypes;
  }
}

absl::Status FlattenAlternatives(JsonSchema& schema) {
  std::vector<std::pair<size_t, std::vector<size_t>>> flat;
  for (size_t i = 0; i < schema.nodes.size(); ++i) {
    if (schema.nodes[i].kind != Kind::kAnyOf) continue;
    flat.emplace_back(i, ConcreteBelow(schema, i));
    if (flat.back().second.size() > kMaxAlternatives) return BadSchema("too many alternatives");
  }
  for (auto& [node, children] : flat) schema.nodes[node].children = std::move(children);
  return absl::OkStatus();
}

absl::Status PruneEndless(JsonSchema& schema) {
  std::vector<bool> finite(schema.nodes.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = schema.nodes.size(); i-- > 0;) {
      if (finite[i] || !IsFinite(schema.nodes[i], finite)) continue;
      finite[i] = true;
      changed = true;
    }
  }
  if (!finite[schema.root]) return BadSchema("no value can match it");
  for (SchemaNode& node : schema.nodes) DropEndless(node, finite);
  return absl::OkStatus();
}

absl::Status CheckOneOfs(const JsonSchema& schema,
                         const std::vector<std::vector<size_t>>& one_ofs) {
  Comparison comparison(schema);
  for (const std::vector<size_t>& alternatives : one_ofs) {
    for (size_t i = 0; i < alternatives.size(); ++i) {
      for (size_t j = 0; j < alternatives.size(); ++j) {
        if (i == j || comparison.NoneAllowed(alternatives[i], alternatives[j], kDepthCompared)) {
          continue;
        }
        if (comparison.exhausted()) return BadSchema("too many alternatives of oneOf");
        return UnsupportedKeyword("oneOf", " of alternatives that may match the same value");
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace superfluid
