#ifndef SUPERFLUID_ENGINE_CONSTRAIN_SCHEMA_EXCLUSION_H_
#define SUPERFLUID_ENGINE_CONSTRAIN_SCHEMA_EXCLUSION_H_

#include "engine/constrain/schema_view.h"

namespace superfluid {

// Returns whether no value can match both schemas, as far as that can be seen: from their types;
// from const and enum; from bounds of numbers; from a property that both require and whose schemas
// exclude each other; from a name that one requires and the other does not allow. Keywords that are
// not looked at only narrow a schema. `types`: those of the values in question (ValueType). Cost: a
// unit a comparison.
bool ExcludeEachOther(const JsonValue& a, const JsonValue& b, unsigned types, SchemaViews& views,
                      CompileBudget& budget);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_CONSTRAIN_SCHEMA_EXCLUSION_H_
