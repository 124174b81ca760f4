#include <algorithm>

#include "absl/strings/str_cat.h"
#include "engine/constrain/grammar.h"
#include "engine/constrain/json_document.h"

// Of FinishGrammar.
namespace superfluid {
namespace {

using Kind = GrammarNode::Kind;

template <typename Use>
void ForEachChild(const GrammarNode& node, Use use) {
  for (const uint32_t child : node.alternatives) use(child);
  for (const uint32_t child : node.prefix) use(child);
  if (node.items != kNoNode) use(node.items);
  if (node.tags != nullptr) {
    for (const uint32_t child : node.tags->values) use(child);
  }
  if (node.object == nullptr) return;
  for (const ObjectShape::Property& property : node.object->properties) use(property.node);
  if (node.object->extra != kNoNode) use(node.object->extra);
}

class Finisher {
 public:
  Finisher(Grammar& grammar, CompileBudget& budget)
      : grammar_(grammar), nodes_(grammar.nodes), budget_(budget) {}

  void Run() {
    const uint32_t root = grammar_.root;
    FindHeights();
    if (budget_.failed()) return;
    if (nodes_[root].height >= kMaxValueDepth) {
      const bool deep = nodes_[root].height < kNoLimit;
      return budget_.Fail(
          BadSchema(deep ? "its values are nested too deep" : "no value can match it"));
    }
    for (GrammarNode& node : nodes_) {
      if (IsFinite(node)) grammar_.tallest = std::max(grammar_.tallest, node.height);
      if (node.kind == Kind::kTags) CheckTags(*node.tags);
      if (node.kind == Kind::kArray && IsFinite(node)) PruneArray(node);
      if (node.kind == Kind::kObject && IsFinite(node)) FinishObject(node);
      if (node.kind != Kind::kAlternatives) FindFirst(node);
    }
    FindStarts(root);
  }

 private:
  static bool IsFinite(const GrammarNode& node) { return node.height < kNoLimit; }
  uint32_t HeightOf(uint32_t node) const {
    return node == kNoNode ? kNoLimit : nodes_[node].height;
  }

  void CheckTags(const TagShape& tags) {
    for (const uint32_t value : tags.values) {
      if (HeightOf(value) >= kMaxValueDepth) {
        budget_.Fail(BadSchema("no value can match a structure's schema"));
      }
    }
  }

  // Each round looks again at the nodes above those whose height became known, or less.
  void FindHeights() {
    std::vector<std::vector<uint32_t>> users(nodes_.size());
    std::vector<uint32_t> work;
    for (uint32_t i = 0; i < nodes_.size(); ++i) {
      ForEachChild(nodes_[i], [&users, i](uint32_t child) { users[child].push_back(i); });
      work.push_back(i);
    }
    while (!work.empty() && !budget_.failed()) {
      std::vector<uint32_t> next;
      for (const uint32_t i : work) {
        const uint32_t height = FindHeight(nodes_[i]);
        if (height >= nodes_[i].height) continue;
        nodes_[i].height = height;
        next.insert(next.end(), users[i].begin(), users[i].end());
        if (!budget_.Spend(users[i].size() + 1)) return;
      }
      std::sort(next.begin(), next.end());
      next.erase(std::unique(next.begin(), next.end()), next.end());
      work = std::move(next);
    }
  }

  uint32_t FindHeight(const GrammarNode& node) {
    uint32_t height = 0;
    switch (node.kind) {
      case Kind::kAutomaton:
      case Kind::kString:
      case Kind::kTags:
        return node.min > node.max ? kNoLimit : 0;
      case Kind::kAlternatives:
        height = kNoLimit;
        for (const uint32_t child : node.alternatives) height = std::min(height, HeightOf(child));
        budget_.Spend(node.alternatives.size());
        return height;
      case Kind::kArray: {
        if (node.min > node.max) return kNoLimit;
        const auto first = std::min<size_t>(node.min, node.prefix.size());
        for (size_t i = 0; i < first; ++i) height = std::max(height, HeightOf(node.prefix[i]));
        if (node.min > node.prefix.size()) height = std::max(height, HeightOf(node.items));
        budget_.Spend(first);
        break;
      }
      case Kind::kObject:
        height = FindObjectHeight(node);
        break;
    }
    return height >= kNoLimit ? kNoLimit : height + 1;
  }

  uint32_t FindObjectHeight(const GrammarNode& node) {
    uint32_t height = 0;
    size_t required = 0;
    size_t finite = 0;
    for (const ObjectShape::Property& property : node.object->properties) {
      const uint32_t own = HeightOf(property.node);
      if (own < kNoLimit) ++finite;
      if (!property.required) continue;
      ++required;
      height = std::max(height, own);
    }
    budget_.Spend(node.object->properties.size());
    const bool too_many = required > node.max || node.min > node.max;
    const bool too_few = node.object->extra == kNoNode && finite < node.min;
    return too_many || too_few ? kNoLimit : height;
  }

  void PruneArray(GrammarNode& node) {
    const auto endless = std::find_if(node.prefix.begin(), node.prefix.end(),
                                      [this](uint32_t item) { return HeightOf(item) >= kNoLimit; });
    if (endless != node.prefix.end()) {
      node.prefix.erase(endless, node.prefix.end());
      node.items = kNoNode;
    }
    if (HeightOf(node.items) >= kNoLimit) node.items = kNoNode;
    if (node.items == kNoNode) {
      node.max = std::min(node.max, static_cast<uint32_t>(node.prefix.size()));
    }
  }

  // Names whose values have no end stay forbidden where others may come.
  void FinishObject(GrammarNode& node) {
    ObjectShape& object = *node.object;
    if (HeightOf(object.extra) >= kNoLimit) object.extra = kNoNode;
    auto& properties = object.properties;
    const auto is_endless = [this](const ObjectShape::Property& property) {
      return HeightOf(property.node) >= kNoLimit;
    };
    for (const ObjectShape::Property& property : properties) {
      if (object.extra == kNoNode || !is_endless(property)) continue;
      object.keys.Add(QuotedJson(property.name).substr(1), KeyTrie::kForbidden, budget_);
    }
    properties.erase(std::remove_if(properties.begin(), properties.end(), is_endless),
                     properties.end());
    const size_t count = properties.size();
    object.next_required.assign(count + 1, static_cast<uint32_t>(count));
    object.required_left.assign(count + 1, 0);
    for (size_t i = count; i-- > 0;) {
      const bool required = properties[i].required;
      object.next_required[i] = required ? static_cast<uint32_t>(i) : object.next_required[i + 1];
      object.required_left[i] = object.required_left[i + 1] + (required ? 1 : 0);
    }
    for (size_t i = 0; i < count && !budget_.failed(); ++i) {
      object.keys.Add(QuotedJson(properties[i].name).substr(1), static_cast<int32_t>(i), budget_);
    }
  }

  static void FindFirst(GrammarNode& node) {
    if (node.kind == Kind::kString) node.first.set('"');
    if (node.kind == Kind::kArray) node.first.set('[');
    if (node.kind == Kind::kObject) node.first.set('{');
    if (node.kind != Kind::kAutomaton) return;
    for (size_t byte = 0; byte < 256; ++byte) {
      const ByteDfa& dfa = *node.automaton;
      if (dfa.Next(dfa.start(), static_cast<uint8_t>(byte)) != ByteDfa::kNone) node.first.set(byte);
    }
  }

  // Only of nodes that a value is opened as: alternatives of alternatives have none of their own.
  void FindStarts(uint32_t root) {
    std::vector<bool> opened(nodes_.size());
    opened[root] = true;
    for (const GrammarNode& node : nodes_) {
      if (node.kind == Kind::kAlternatives) continue;
      ForEachChild(node, [&opened](uint32_t child) { opened[child] = true; });
    }
    std::vector<uint32_t> seen(nodes_.size(), kNoNode);
    for (uint32_t i = 0; i < nodes_.size() && !budget_.failed(); ++i) {
      if (opened[i]) CollectStarts(i, seen);
    }
  }

  void CollectStarts(uint32_t from, std::vector<uint32_t>& seen) {
    std::vector<uint32_t> work = {from};
    auto& starts = nodes_[from].starts;
    while (!work.empty() && budget_.Spend()) {
      const uint32_t node = work.back();
      work.pop_back();
      if (seen[node] == from || HeightOf(node) >= kNoLimit) continue;
      seen[node] = from;
      const auto& alternatives = nodes_[node].alternatives;
      work.insert(work.end(), alternatives.begin(), alternatives.end());
      if (nodes_[node].kind != Kind::kAlternatives) starts.push_back(node);
    }
    std::sort(starts.begin(), starts.end());
    CheckAlike(starts);
    budget_.Hold(starts.size() * sizeof(uint32_t));
  }

  // Alternatives that begin alike are read side by side; more than there are stacks would be lost.
  void CheckAlike(const std::vector<uint32_t>& starts) {
    if (starts.size() <= kMaxStacks) return;
    for (size_t byte = 0; byte < 256; ++byte) {
      const auto alike = std::count_if(starts.begin(), starts.end(), [this, byte](uint32_t node) {
        return nodes_[node].first.test(byte);
      });
      if (alike <= static_cast<ptrdiff_t>(kMaxStacks)) continue;
      return budget_.Fail(
          BadSchema(absl::StrCat("more than ", kMaxStacks, " alternatives that begin alike")));
    }
  }

  Grammar& grammar_;
  std::vector<GrammarNode>& nodes_;
  CompileBudget& budget_;
};

}  // namespace

void FinishGrammar(Grammar& grammar, CompileBudget& budget) {
  if (budget.failed() || !budget.Hold(grammar.nodes.size() * sizeof(GrammarNode))) return;
  Finisher(grammar, budget).Run();
  grammar.bytes = budget.held();
}

}  // namespace superfluid
