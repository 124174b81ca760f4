#ifndef SUPERFLUID_ENGINE_CONSTRAIN_TAG_SPEC_H_
#define SUPERFLUID_ENGINE_CONSTRAIN_TAG_SPEC_H_

#include <memory>
#include <string>
#include <vector>

#include "engine/constrain/grammar.h"
#include "engine/constrain/json_document.h"

namespace superfluid {

// Free text with tags in it.
struct TagSpec {
  struct Structure {
    std::string begin;
    std::string end;
    const JsonValue* schema = nullptr;
  };
  std::vector<Structure> structures;
  std::vector<std::string> triggers;
};

// Reads {"structures": [{"begin": TEXT, "schema": SCHEMA, "end": TEXT}, ...], "triggers": [TEXT,
// ...]}: text is free until it ends with a trigger; then a begin that starts with that trigger, a
// value of its schema and its end must follow, and text is free again. Every begin starts with a
// trigger and every trigger starts a begin; no begin starts another. A "$ref" refers to the schema
// that it stands in.
//
// After a failure of the budget the result has no meaning. InvalidArgument: not 1 to 64 of each, a
// text that is not 1 to 256 bytes without NUL.
TagSpec ReadTagSpec(const JsonValue& value, CompileBudget& budget);

// Makes the automaton that finds the triggers (Aho and Corasick's: its states are the prefixes of
// triggers), and the begins behind them. `values`: the node of each structure's schema.
std::unique_ptr<TagShape> MakeTagShape(const TagSpec& spec, std::vector<uint32_t> values,
                                       CompileBudget& budget);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_CONSTRAIN_TAG_SPEC_H_
