#include "engine/constrain/schema_compiler.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "engine/constrain/schema_exclusion.h"

namespace superfluid {
namespace {

using Kind = GrammarNode::Kind;

constexpr Keyword kCombining[] = {Keyword::kRef, Keyword::kAllOf, Keyword::kNullable,
                                  Keyword::kAnyOf, Keyword::kOneOf};

bool ComesBefore(const SchemaPart& a, const SchemaPart& b) {
  if (a.schema->order != b.schema->order) return a.schema->order < b.schema->order;
  return a.done < b.done;
}

bool IsSame(const SchemaPart& a, const SchemaPart& b) {
  return a.schema == b.schema && a.done == b.done;
}

}  // namespace

SchemaCompiler::SchemaCompiler(const JsonValue& root, JsonDocument& document, Grammar& grammar,
                               CompileBudget& budget)
    : root_(root), grammar_(grammar), budget_(budget), views_(root, budget), scalars_(budget) {
  JsonValue* type = document.Add(JsonValue::Kind::kString);
  type->text = "null";
  JsonValue* null = document.Add(JsonValue::Kind::kObject);
  null->members.push_back({"type", type});
  null->by_name.push_back(0);
  null_schema_ = null;
  JsonValue* any = document.Add(JsonValue::Kind::kBoolean);
  any->boolean = true;
  any_schema_ = any;
}

uint32_t SchemaCompiler::Compile() {
  const uint32_t root = NodeOf({{&root_, 0}});
  while (!unexpanded_.empty() && budget_.Spend()) {
    const auto [node, set] = std::move(unexpanded_.front());
    unexpanded_.pop_front();
    Expand(node, set);
  }
  return root;
}

uint32_t SchemaCompiler::AddNode(GrammarNode node) {
  budget_.Hold(sizeof(GrammarNode));
  grammar_.nodes.push_back(std::move(node));
  return static_cast<uint32_t>(grammar_.nodes.size() - 1);
}

KeywordSet SchemaCompiler::Pending(const SchemaPart& part) {
  return views_.Of(*part.schema).present & ~part.done;
}

uint32_t SchemaCompiler::NodeOf(PartSet set) {
  std::sort(set.begin(), set.end(), &ComesBefore);
  set.erase(std::unique(set.begin(), set.end(), &IsSame), set.end());
  std::vector<uint64_t> key;
  PartSet kept;
  for (const SchemaPart& part : set) {
    if (part.schema->IsTrue()) continue;
    const bool constrains = part.schema->IsFalse() || Pending(part) != 0;  // Keeps invariant 1.
    if (!constrains) continue;
    kept.push_back(part);
    key.push_back(uint64_t{part.schema->order} << 32U | part.done);
  }
  if (!budget_.Spend(set.size() + 1)) return 0;
  const auto [at, fresh] = nodes_.try_emplace(std::move(key), 0);
  if (!fresh) return at->second;
  const uint32_t node = AddNode({});
  at->second = node;  // Keeps invariant 2: AddNode makes no node of a set.
  unexpanded_.emplace_back(node, std::move(kept));
  return node;
}

void SchemaCompiler::Expand(uint32_t node, const PartSet& set) {
  const bool none = std::any_of(set.begin(), set.end(),
                                [](const SchemaPart& part) { return part.schema->IsFalse(); });
  if (none || ExpandCombination(node, set)) return;
  ExpandTypes(node, set);
}

// Deals with the first keyword that combines schemas. Returns false if there is none.
bool SchemaCompiler::ExpandCombination(uint32_t node, const PartSet& set) {
  for (const Keyword keyword : kCombining) {
    const auto found = std::find_if(set.begin(), set.end(), [&](const SchemaPart& part) {
      return (Pending(part) & BitOf(keyword)) != 0;
    });
    if (found == set.end()) continue;
    PartSet others = set;
    others.erase(others.begin() + (found - set.begin()));
    ExpandPart(node, others, *found, keyword);
    return true;
  }
  return false;
}

void SchemaCompiler::ExpandPart(uint32_t node, const PartSet& others, const SchemaPart& part,
                                Keyword keyword) {
  const JsonValue& value = *views_.Of(*part.schema).Get(keyword);
  const SchemaPart rest{part.schema, part.done | BitOf(keyword)};
  std::vector<PartSet> sets;
  const auto add = [&](std::initializer_list<SchemaPart> parts) {
    sets.push_back(others);
    sets.back().insert(sets.back().end(), parts);
  };
  switch (keyword) {
    case Keyword::kRef: {
      const JsonValue* target = views_.Resolve(value);
      if (target == nullptr) return;
      add({rest, {target, 0}});
      break;
    }
    case Keyword::kAllOf:
      add({rest});
      for (const JsonValue* item : value.items) sets.back().push_back({item, 0});
      break;
    case Keyword::kNullable:
      add({rest});
      add({{null_schema_, 0}});
      break;
    case Keyword::kOneOf:
      CheckOneOf(part, value);
      [[fallthrough]];
    default:
      for (const JsonValue* item : value.items) add({rest, {item, 0}});
  }
  for (PartSet& next : sets) {
    const uint32_t alternative = NodeOf(std::move(next));
    if (budget_.failed() || !budget_.Hold(sizeof(uint32_t))) return;
    grammar_.nodes[node].alternatives.push_back(alternative);
  }
}

void SchemaCompiler::CheckOneOf(const SchemaPart& part, const JsonValue& cases) {
  if (!compared_.insert(&cases).second) return;
  const JsonValue* type = views_.Of(*part.schema).Get(Keyword::kType);
  const unsigned types = type == nullptr ? unsigned{kAllTypes} : ReadTypes(*type);
  for (size_t i = 0; i < cases.items.size(); ++i) {
    for (size_t j = 0; j < i && !budget_.failed(); ++j) {
      if (ExcludeEachOther(*cases.items[i], *cases.items[j], types, views_, budget_)) continue;
      return budget_.Fail(UnsupportedKeyword("oneOf", " of cases that may both hold"));
    }
  }
}

unsigned SchemaCompiler::TypesOf(const PartSet& set) {
  unsigned types = kAllTypes;
  ForEach(set, Keyword::kType, [&](const JsonValue& value) { types &= ReadTypes(value); });
  return types;
}

void SchemaCompiler::ExpandTypes(uint32_t node, const PartSet& set) {
  std::vector<uint32_t> alternatives;
  for (const SchemaPart& part : set) {
    const auto values = ReadValues(views_.Of(*part.schema));
    if (!values.has_value()) continue;
    grammar_.nodes[node].alternatives = {AddLiterals(set, part, *values)};
    return;
  }
  const unsigned types = TypesOf(set);
  const auto allows = [types](unsigned type) { return (types & type) != 0; };
  if (allows(kObjectType)) alternatives.push_back(AddObject(set));
  if (allows(kArrayType)) alternatives.push_back(AddArray(set));
  if (allows(kStringType)) alternatives.push_back(AddString(set));
  if (allows(kNumberTypes)) alternatives.push_back(AddNumber(set, !allows(kFractionType)));
  for (const auto& [type, texts] :
       {std::pair<unsigned, std::vector<std::string>>{kBooleanType, {"true", "false"}},
        {kNullType, {"null"}}}) {
    if (!allows(type)) continue;
    const std::string key = absl::StrCat("literals", texts.size());
    const auto known = scalar_nodes_.find(key);
    std::optional<ByteDfa> dfa;
    if (known == scalar_nodes_.end()) dfa = LiteralDfa(texts, budget_);
    if (budget_.failed()) return;
    alternatives.push_back(known != scalar_nodes_.end()
                               ? known->second
                               : NodeOfAutomaton(key, std::make_shared<const ByteDfa>(*dfa)));
  }
  grammar_.nodes[node].alternatives = std::move(alternatives);
}

// Adds the node of an automaton; of none, a node without values.
uint32_t SchemaCompiler::NodeOfAutomaton(const std::string& key,
                                         std::shared_ptr<const ByteDfa> automaton) {
  GrammarNode node;
  if (automaton != nullptr) node.kind = Kind::kAutomaton;
  node.automaton = std::move(automaton);
  const uint32_t added = AddNode(std::move(node));
  scalar_nodes_.emplace(key, added);
  return added;
}

// Adds the values that one of the parts lists, and all parts allow.
uint32_t SchemaCompiler::AddLiterals(const PartSet& set, const SchemaPart& listing,
                                     const std::vector<const JsonValue*>& values) {
  const bool by_const = views_.Of(*listing.schema).Has(Keyword::kConst);
  const Keyword listed = by_const ? Keyword::kConst : Keyword::kEnum;
  std::vector<std::string> texts;
  for (const JsonValue* value : values) {
    const bool allowed = std::all_of(set.begin(), set.end(), [&](const SchemaPart& part) {
      return scalars_.Allows(views_.Of(*part.schema), *value,
                             IsSame(part, listing) ? listed : Keyword::kCount);
    });
    if (!budget_.Spend()) return 0;
    if (allowed) texts.push_back(CompactJson(*value));
  }
  std::optional<ByteDfa> dfa = LiteralDfa(texts, budget_);
  GrammarNode node;
  if (dfa.has_value()) {
    node.kind = Kind::kAutomaton;
    node.automaton = std::make_shared<const ByteDfa>(*std::move(dfa));
  }
  return AddNode(std::move(node));
}

uint32_t SchemaCompiler::MaxCount(const PartSet& set, Keyword keyword) {
  uint32_t count = kNoLimit;
  ForEach(set, keyword,
          [&](const JsonValue& value) { count = std::min(count, ReadCount(&value, kNoLimit)); });
  return count;
}

uint32_t SchemaCompiler::MinCount(const PartSet& set, Keyword keyword) {
  uint32_t count = 0;
  ForEach(set, keyword,
          [&](const JsonValue& value) { count = std::max(count, ReadCount(&value, 0)); });
  return count;
}

uint32_t SchemaCompiler::AddArray(const PartSet& set) {
  GrammarNode node;
  node.kind = Kind::kArray;
  node.min = MinCount(set, Keyword::kMinItems);
  node.max = MaxCount(set, Keyword::kMaxItems);
  ForEach(set, Keyword::kUniqueItems, [&](const JsonValue& value) {
    if (value.IsTrue() && node.max > 1) budget_.Fail(UnsupportedKeyword("uniqueItems"));
  });
  size_t prefix = 0;
  for (const Keyword keyword : {Keyword::kPrefixItems, Keyword::kItems}) {
    ForEach(set, keyword,
            [&](const JsonValue& value) { prefix = std::max(prefix, value.items.size()); });
  }
  for (size_t i = 0; i < prefix && !budget_.failed(); ++i) node.prefix.push_back(ItemNode(set, i));
  node.items = ItemNode(set, SIZE_MAX);
  return AddNode(std::move(node));
}

// Returns the node of the item at an index; of SIZE_MAX, that of those behind all prefixes.
uint32_t SchemaCompiler::ItemNode(const PartSet& set, size_t index) {
  PartSet item = {{any_schema_, 0}};
  for (const SchemaPart& part : set) {
    const SchemaView& view = views_.Of(*part.schema);
    const JsonValue* rest = view.Has(Keyword::kItems) ? view.Get(Keyword::kItems) : nullptr;
    const JsonValue* first =
        view.Has(Keyword::kPrefixItems) ? view.Get(Keyword::kPrefixItems) : nullptr;
    if (rest != nullptr && rest->IsArray()) {
      first = first == nullptr ? rest : first;
      rest = nullptr;
    }
    if (first != nullptr && index < first->items.size()) {
      item.push_back({first->items[index], 0});
    } else if (rest != nullptr) {
      item.push_back({rest, 0});
    }
  }
  return NodeOf(std::move(item));
}

uint32_t SchemaCompiler::AddString(const PartSet& set) {
  StringRules rules;
  for (const SchemaPart& part : set) ScalarAutomata::AddTo(views_.Of(*part.schema), rules);
  rules.max = std::min(rules.max, kNoLimit);
  const std::string key = absl::StrCat("s", rules.Key());
  const auto known = scalar_nodes_.find(key);
  if (known != scalar_nodes_.end()) return known->second;
  GrammarNode node;
  node.min = rules.min;
  node.max = rules.max;
  if (rules.min > rules.max) return AddNode({});
  if (rules.patterns.empty() && rules.formats.empty()) {
    node.kind = Kind::kString;
  } else {
    node.automaton = scalars_.OfStrings(rules);
    if (node.automaton != nullptr) node.kind = Kind::kAutomaton;
    if (node.automaton != nullptr && (rules.min > 0 || rules.max < kNoLimit)) {
      node.lengths = LengthTable::Make(*node.automaton, rules.min, rules.max, budget_);
      if (node.lengths == nullptr) node.kind = Kind::kAlternatives;
    }
  }
  const uint32_t added = AddNode(std::move(node));
  scalar_nodes_.emplace(key, added);
  return added;
}

uint32_t SchemaCompiler::AddNumber(const PartSet& set, bool integers) {
  NumberRange range;
  if (integers) range.fraction = 0;
  for (const SchemaPart& part : set) scalars_.AddTo(views_.Of(*part.schema), range);
  const std::string key = absl::StrCat("n", range.Key());
  const auto known = scalar_nodes_.find(key);
  if (known != scalar_nodes_.end()) return known->second;
  return NodeOfAutomaton(key, scalars_.OfNumbers(range));
}

uint32_t SchemaCompiler::PropertyNode(const PartSet& set, const std::string& name) {
  PartSet value = {{any_schema_, 0}};
  for (const SchemaPart& part : set) {
    const SchemaView& view = views_.Of(*part.schema);
    const JsonValue* named =
        view.Has(Keyword::kProperties) ? view.Get(Keyword::kProperties)->Find(name) : nullptr;
    if (named == nullptr && view.Has(Keyword::kAdditionalProperties)) {
      named = view.Get(Keyword::kAdditionalProperties);
    }
    if (named != nullptr) value.push_back({named, 0});
  }
  return NodeOf(std::move(value));
}

void SchemaCompiler::AddProperties(const PartSet& set, ObjectShape& object) {
  absl::flat_hash_map<std::string, size_t> positions;
  const auto add = [&](const std::string& name, bool required) {
    if (!budget_.Spend()) return;
    const auto [at, fresh] = positions.try_emplace(name, object.properties.size());
    if (fresh) object.properties.push_back({name, PropertyNode(set, name), false});
    if (required) object.properties[at->second].required = true;
    if (fresh) budget_.Hold(sizeof(ObjectShape::Property) + name.size());
  };
  ForEach(set, Keyword::kProperties, [&](const JsonValue& properties) {
    for (const JsonValue::Member& member : properties.members) add(member.name, false);
  });
  ForEach(set, Keyword::kRequired, [&](const JsonValue& required) {
    for (const JsonValue* name : required.items) add(name->text, true);
  });
}

uint32_t SchemaCompiler::AddObject(const PartSet& set) {
  GrammarNode node;
  node.kind = Kind::kObject;
  node.min = MinCount(set, Keyword::kMinProperties);
  node.max = MaxCount(set, Keyword::kMaxProperties);
  node.object = std::make_unique<ObjectShape>();
  AddProperties(set, *node.object);
  PartSet others = {{any_schema_, 0}};
  ForEach(set, Keyword::kAdditionalProperties, [&](const JsonValue& value) {
    others.push_back({&value, 0});
  });
  const bool closed = std::any_of(others.begin(), others.end(),
                                  [](const SchemaPart& part) { return part.schema->IsFalse(); });
  if (!closed) node.object->extra = NodeOf(std::move(others));
  const auto& properties = node.object->properties;
  const auto required = static_cast<uint32_t>(
      std::count_if(properties.begin(), properties.end(),
                    [](const ObjectShape::Property& property) { return property.required; }));
  if (!closed && node.min > required) {
    budget_.Fail(UnsupportedKeyword("minProperties",
                                    " above the required ones, where other members may come,"));
  }
  return AddNode(std::move(node));
}

}  // namespace superfluid
