#ifndef SUPERFLUID_ENGINE_CONSTRAIN_SCALAR_AUTOMATA_H_
#define SUPERFLUID_ENGINE_CONSTRAIN_SCALAR_AUTOMATA_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "engine/constrain/byte_automaton.h"
#include "engine/constrain/number_automaton.h"
#include "engine/constrain/schema_view.h"

namespace superfluid {

// What a string must be like, gathered from several schemas.
struct StringRules {
  uint32_t min = 0;
  uint32_t max = UINT32_MAX;
  std::vector<std::string> patterns;
  std::vector<std::string> formats;

  // Returns a text that is equal for equal rules.
  std::string Key() const;
};

// The automata of strings and numbers of one grammar: equal ones are made once. Threads: one.
// Lifetime: the budget outlives it.
class ScalarAutomata {
 public:
  explicit ScalarAutomata(CompileBudget& budget) : budget_(budget) {}

  // Adds the keywords of a schema for strings or numbers to the rules.
  static void AddTo(const SchemaView& view, StringRules& rules);
  void AddTo(const SchemaView& view, NumberRange& range);

  // Return the automaton; null: nothing matches, or the budget has failed.
  std::shared_ptr<const ByteDfa> OfStrings(const StringRules& rules);
  std::shared_ptr<const ByteDfa> OfNumbers(const NumberRange& range);

  // Returns whether a schema's keywords allow a value of an enum; all but `listed`, which the value
  // comes from (kCount: all). Fails the budget with a keyword's name if that is not known.
  bool Allows(const SchemaView& view, const JsonValue& value, Keyword listed);

 private:
  std::shared_ptr<const ByteDfa> OfPattern(const std::string& pattern);
  bool AllowsString(const SchemaView& view, const JsonValue& value);
  bool AllowsNumber(const SchemaView& view, const JsonValue& value);

  CompileBudget& budget_;
  absl::flat_hash_map<std::string, std::shared_ptr<const ByteDfa>> made_;
};

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_CONSTRAIN_SCALAR_AUTOMATA_H_
