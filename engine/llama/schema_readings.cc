#include "engine/llama/schema_readings.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "engine/llama/gbnf_text.h"
#include "engine/sampling/schema_graph.h"

namespace superfluid {
namespace {

using Kind = SchemaNode::Kind;

constexpr size_t kMaxReadings = 256;
constexpr size_t kMaxComparisons = size_t{1} << 20U;  // of names
constexpr size_t kMaxVisits = size_t{1} << 23U;       // of nodes and alternatives
// Those of a number, of any value, of a number with bounds, and of blanks between values.
constexpr size_t kNumber = 4;
constexpr size_t kAnyValue = 16;
constexpr size_t kBounded = 24;
constexpr size_t kBlanks = 8;

// The names that may be an object's first, sorted.
std::vector<std::string> FirstNames(const SchemaNode& object) {
  std::vector<std::string> names;
  for (size_t i = 0; i < object.texts.size(); ++i) {
    names.push_back(object.texts[i]);
    if (object.required[i]) break;
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool Disjoint(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::string> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both.empty();
}

class Counter {
 public:
  explicit Counter(const JsonSchema& schema)
      : schema_(schema), start_(schema.nodes.size(), 1), most_(schema.nodes.size(), 1) {}

  absl::StatusOr<SchemaReadings> Run();

 private:
  size_t StartOf(const SchemaNode& node) const;
  size_t MostOf(size_t index) const;
  size_t SumOf(const std::vector<size_t>& counts, const std::vector<size_t>& nodes) const;
  bool ToldApart(size_t a, size_t b) const;
  absl::Status FindMates();
  absl::Status Grow();

  const JsonSchema& schema_;
  std::vector<size_t> start_;
  std::vector<size_t> most_;
  std::vector<std::vector<std::string>> first_names_;
  // For each kAnyOf, for each of its alternatives: those that are read beside it, itself included.
  std::vector<std::vector<std::vector<size_t>>> mates_;
};

size_t Counter::SumOf(const std::vector<size_t>& counts, const std::vector<size_t>& nodes) const {
  size_t sum = 0;
  for (const size_t node : nodes) sum += counts[node];
  return sum;
}

size_t Counter::StartOf(const SchemaNode& node) const {
  switch (node.kind) {
    case Kind::kAny:
      return kAnyValue;
    case Kind::kLiterals:
      return GbnfOneOf(node.texts).widest;
    case Kind::kInteger:
      return node.least == INT64_MIN && node.most == INT64_MAX ? kNumber : kBounded;
    case Kind::kNumber:
      return kNumber;
    default:
      return 1;
  }
}

// Bounds the readings inside of a node by those of its parts as known so far.
size_t Counter::MostOf(size_t index) const {
  const SchemaNode& node = schema_.nodes[index];
  size_t most = start_[index];
  if (SchemaTypes(node) == kArrayType || SchemaTypes(node) == kObjectType) {
    most = std::max({most, kBlanks, node.texts.size()});
  }
  if (node.kind != Kind::kAnyOf) {
    for (const size_t child : node.children) most = std::max(most, most_[child]);
    return most;
  }
  for (const std::vector<size_t>& mates : mates_[index]) {
    most = std::max(most, SumOf(most_, mates));
  }
  return most;
}

// Whether the two are never read side by side below their first member or its value.
bool Counter::ToldApart(size_t a, size_t b) const {
  const SchemaNode& one = schema_.nodes[a];
  const SchemaNode& other = schema_.nodes[b];
  if ((SchemaTypes(one) & SchemaTypes(other)) == 0) return true;
  if (one.kind != Kind::kObject || other.kind != Kind::kObject) return false;
  if (one.texts.empty() || other.texts.empty()) return true;
  if (Disjoint(first_names_[a], first_names_[b])) return true;
  if (one.texts[0] != other.texts[0] || !one.required[0] || !other.required[0]) return false;
  const SchemaNode& value = schema_.nodes[one.children[0]];
  const SchemaNode& other_value = schema_.nodes[other.children[0]];
  return value.kind == Kind::kLiterals && other_value.kind == Kind::kLiterals &&
         Disjoint(value.texts, other_value.texts);
}

absl::Status Counter::FindMates() {
  mates_.resize(schema_.nodes.size());
  size_t left = kMaxComparisons;
  for (size_t i = 0; i < schema_.nodes.size(); ++i) {
    const SchemaNode& node = schema_.nodes[i];
    if (node.kind != Kind::kAnyOf) continue;
    for (const size_t a : node.children) {
      std::vector<size_t>& mates = mates_[i].emplace_back();
      for (const size_t b : node.children) {
        const size_t cost = 1 + schema_.nodes[a].texts.size() + schema_.nodes[b].texts.size();
        if (cost > left) return BadSchema("too many alternatives");
        left -= cost;
        if (a == b || !ToldApart(a, b)) mates.push_back(b);
      }
    }
  }
  return absl::OkStatus();
}

// Goes over all nodes until nothing changes. Alternatives that multiply in a circle would grow
// without end.
absl::Status Counter::Grow() {
  size_t pass = schema_.nodes.size();
  for (const auto& alternatives : mates_) {
    for (const auto& mates : alternatives) pass += mates.size();
  }
  bool changed = true;
  for (size_t left = kMaxVisits; changed; left -= pass) {
    if (left < pass) return BadSchema("too many alternatives");
    changed = false;
    for (size_t i = 0; i < most_.size(); ++i) {
      const size_t most = MostOf(i);
      if (most > kMaxReadings) return BadSchema("its alternatives are told apart too late");
      changed = changed || most != most_[i];
      most_[i] = most;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<SchemaReadings> Counter::Run() {
  for (const SchemaNode& node : schema_.nodes) {
    first_names_.push_back(node.kind == Kind::kObject ? FirstNames(node)
                                                      : std::vector<std::string>());
  }
  if (absl::Status status = FindMates(); !status.ok()) return status;
  for (const bool alternatives : {false, true}) {
    for (size_t i = 0; i < start_.size(); ++i) {
      const SchemaNode& node = schema_.nodes[i];
      if ((node.kind == Kind::kAnyOf) != alternatives) continue;
      start_[i] = alternatives ? SumOf(start_, node.children) : StartOf(node);
    }
  }
  if (absl::Status status = Grow(); !status.ok()) return status;
  return SchemaReadings{start_[schema_.root], most_[schema_.root]};
}

}  // namespace

absl::StatusOr<SchemaReadings> CountReadings(const JsonSchema& schema) {
  return Counter(schema).Run();
}

}  // namespace superfluid
