#include "engine/constrain/schema_exclusion.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "engine/constrain/number_automaton.h"

namespace superfluid {
namespace {

constexpr int kMaxReferences = 20;
constexpr int kMaxDepth = 8;  // of required properties within each other

class Exclusion {
 public:
  Exclusion(SchemaViews& views, CompileBudget& budget) : views_(views), budget_(budget) {}

  bool Exclude(const JsonValue& first, const JsonValue& second, unsigned among, int depth) {
    const JsonValue* a = Follow(first);
    const JsonValue* b = Follow(second);
    if (a == nullptr || b == nullptr || depth > kMaxDepth || !budget_.Spend()) return false;
    if (a->IsFalse() || b->IsFalse()) return true;
    if (a->IsTrue() || b->IsTrue()) return false;
    const SchemaView& x = views_.Of(*a);
    const SchemaView& y = views_.Of(*b);
    if (budget_.failed() || x.Has(Keyword::kNullable) || y.Has(Keyword::kNullable)) return false;
    const unsigned types = among & Types(x) & Types(y);
    if (types == 0 || ValuesExclude(x, y)) return true;
    if ((types & ~unsigned{kObjectType}) == 0) return ObjectsExclude(x, y, depth);
    return (types & ~unsigned{kNumberTypes}) == 0 && RangesExclude(x, y);
  }

 private:
  // Follows a reference; keywords beside it only narrow what it names.
  const JsonValue* Follow(const JsonValue& schema) {
    const JsonValue* at = &schema;
    for (int i = 0; i < kMaxReferences && at != nullptr && at->IsObject(); ++i) {
      const SchemaView& view = views_.Of(*at);
      if (budget_.failed()) return nullptr;
      if (!view.Has(Keyword::kRef)) return at;
      at = views_.Resolve(*view.Get(Keyword::kRef));
    }
    return at != nullptr && at->IsObject() && views_.Of(*at).Has(Keyword::kRef) ? nullptr : at;
  }

  static unsigned Types(const SchemaView& view) {
    unsigned types = kAllTypes;
    if (view.Has(Keyword::kType)) types &= ReadTypes(*view.Get(Keyword::kType));
    const auto values = ReadValues(view);
    if (!values.has_value()) return types;
    unsigned listed = 0;
    for (const JsonValue* value : *values) listed |= TypeOf(*value);
    return types & listed;
  }

  bool ValuesExclude(const SchemaView& x, const SchemaView& y) {
    const auto of_x = ReadValues(x);
    const auto of_y = ReadValues(y);
    if (!of_x.has_value() || !of_y.has_value()) return false;
    budget_.Spend(of_x->size() + of_y->size());
    absl::flat_hash_set<std::string> texts;
    for (const JsonValue* value : *of_x) texts.insert(CanonicalJson(*value));
    return std::none_of(of_y->begin(), of_y->end(), [&texts](const JsonValue* value) {
      return texts.contains(CanonicalJson(*value));
    });
  }

  bool ObjectsExclude(const SchemaView& x, const SchemaView& y, int depth) {
    if (ForbidsRequired(x, y) || ForbidsRequired(y, x)) return true;
    if (!x.Has(Keyword::kProperties) || !y.Has(Keyword::kProperties)) return false;
    const JsonValue& others = *y.Get(Keyword::kProperties);
    for (const JsonValue::Member& member : x.Get(Keyword::kProperties)->members) {
      if (!budget_.Spend()) return false;
      const JsonValue* other = others.Find(member.name);
      if (other == nullptr || !Requires(x, member.name) || !Requires(y, member.name)) continue;
      if (Exclude(*member.value, *other, kAllTypes, depth + 1)) return true;
    }
    return false;
  }

  // Returns whether `closed` allows no member of a name that `other` requires.
  static bool ForbidsRequired(const SchemaView& closed, const SchemaView& other) {
    if (!closed.Has(Keyword::kAdditionalProperties) || !other.Has(Keyword::kRequired)) return false;
    if (!closed.Get(Keyword::kAdditionalProperties)->IsFalse()) return false;
    const JsonValue* names =
        closed.Has(Keyword::kProperties) ? closed.Get(Keyword::kProperties) : nullptr;
    const auto& required = other.Get(Keyword::kRequired)->items;
    return std::any_of(required.begin(), required.end(), [names](const JsonValue* name) {
      return names == nullptr || names->Find(name->text) == nullptr;
    });
  }

  static bool RangesExclude(const SchemaView& x, const SchemaView& y) {
    return IsBelow(x, y) || IsBelow(y, x);
  }

  static bool IsBelow(const SchemaView& x, const SchemaView& y) {
    for (const Keyword high : {Keyword::kMaximum, Keyword::kExclusiveMaximum}) {
      for (const Keyword low : {Keyword::kMinimum, Keyword::kExclusiveMinimum}) {
        if (!x.Has(high) || !y.Has(low)) continue;
        const int order =
            CompareDecimals(*ParseDecimal(x.Get(high)->text), *ParseDecimal(y.Get(low)->text));
        const bool both = high == Keyword::kMaximum && low == Keyword::kMinimum;
        if (order < 0 || (order == 0 && !both)) return true;
      }
    }
    return false;
  }

  SchemaViews& views_;
  CompileBudget& budget_;
};

}  // namespace

bool ExcludeEachOther(const JsonValue& a, const JsonValue& b, unsigned types, SchemaViews& views,
                      CompileBudget& budget) {
  return Exclusion(views, budget).Exclude(a, b, types, 0);
}

}  // namespace superfluid
