#ifndef SUPERFLUID_ENGINE_CONSTRAIN_SCHEMA_COMPILER_H_
#define SUPERFLUID_ENGINE_CONSTRAIN_SCHEMA_COMPILER_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "engine/constrain/grammar.h"
#include "engine/constrain/json_document.h"
#include "engine/constrain/scalar_automata.h"
#include "engine/constrain/schema_view.h"

namespace superfluid {

// A schema of which some keywords were dealt with.
struct SchemaPart {
  const JsonValue* schema = nullptr;
  KeywordSet done = 0;
};

// Makes the nodes of one schema document.
//
// A node is made for a *set* of parts that must all hold: what $ref, allOf, anyOf and members add
// up to. So nothing is merged as JSON, and a set that comes up again is the node that it was,
// which closes circles. Sets wait in a queue: nothing recurses, however schemas refer to each
// other. Threads: one. Lifetime: all arguments outlive it.
//
// Invariants:
//  1. Sets are sorted, and hold no part that constrains nothing.
//  2. Each set of parts has one node; what only leads to another set is a node of alternatives.
class SchemaCompiler {
 public:
  SchemaCompiler(const JsonValue& root, JsonDocument& document, Grammar& grammar,
                 CompileBudget& budget);

  // Returns the root's node. After a failure of the budget it has no meaning.
  uint32_t Compile();

 private:
  using PartSet = std::vector<SchemaPart>;

  uint32_t AddNode(GrammarNode node);
  uint32_t NodeOf(PartSet set);
  uint32_t NodeOfAutomaton(const std::string& key, std::shared_ptr<const ByteDfa> automaton);
  KeywordSet Pending(const SchemaPart& part);
  void Expand(uint32_t node, const PartSet& set);
  bool ExpandCombination(uint32_t node, const PartSet& set);
  void ExpandPart(uint32_t node, const PartSet& others, const SchemaPart& part, Keyword keyword);
  void CheckOneOf(const SchemaPart& part, const JsonValue& cases);
  void ExpandTypes(uint32_t node, const PartSet& set);
  unsigned TypesOf(const PartSet& set);

  // Each adds a node for the values of one type, or returns one that there is.
  uint32_t AddLiterals(const PartSet& set, const SchemaPart& listing,
                       const std::vector<const JsonValue*>& values);
  uint32_t AddObject(const PartSet& set);
  uint32_t AddArray(const PartSet& set);
  uint32_t AddString(const PartSet& set);
  uint32_t AddNumber(const PartSet& set, bool integers);
  void AddProperties(const PartSet& set, ObjectShape& object);
  uint32_t PropertyNode(const PartSet& set, const std::string& name);
  uint32_t ItemNode(const PartSet& set, size_t index);

  // Calls `use` with the keyword's value in each part that has it.
  template <typename Use>
  void ForEach(const PartSet& set, Keyword keyword, Use use) {
    for (const SchemaPart& part : set) {
      const SchemaView& view = views_.Of(*part.schema);
      if (view.Has(keyword) && (part.done & BitOf(keyword)) == 0) use(*view.Get(keyword));
    }
  }
  uint32_t MaxCount(const PartSet& set, Keyword keyword);
  uint32_t MinCount(const PartSet& set, Keyword keyword);

  const JsonValue& root_;
  Grammar& grammar_;
  CompileBudget& budget_;
  SchemaViews views_;
  ScalarAutomata scalars_;
  const JsonValue* null_schema_;
  const JsonValue* any_schema_;
  absl::flat_hash_map<std::vector<uint64_t>, uint32_t> nodes_;
  absl::flat_hash_map<std::string, uint32_t> scalar_nodes_;
  absl::flat_hash_set<const JsonValue*> compared_;  // oneOfs whose cases exclude each other
  std::deque<std::pair<uint32_t, PartSet>> unexpanded_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_CONSTRAIN_SCHEMA_COMPILER_H_
