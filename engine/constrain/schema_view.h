#ifndef SUPERFLUID_ENGINE_CONSTRAIN_SCHEMA_VIEW_H_
#define SUPERFLUID_ENGINE_CONSTRAIN_SCHEMA_VIEW_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "engine/constrain/decimal.h"
#include "engine/constrain/json_document.h"

namespace superfluid {

// The keywords that are enforced; those up to kOneOf combine schemas.
enum class Keyword : uint8_t {
  kRef,
  kAllOf,
  kNullable,
  kAnyOf,
  kOneOf,
  kType,
  kEnum,
  kConst,
  kProperties,
  kRequired,
  kAdditionalProperties,
  kMinProperties,
  kMaxProperties,
  kItems,
  kPrefixItems,
  kMinItems,
  kMaxItems,
  kUniqueItems,
  kMinLength,
  kMaxLength,
  kPattern,
  kFormat,
  kMinimum,
  kMaximum,
  kExclusiveMinimum,
  kExclusiveMaximum,
  kMultipleOf,
  kCount
};
inline constexpr size_t kKeywordCount = static_cast<size_t>(Keyword::kCount);
using KeywordSet = uint32_t;  // a bit for each
inline constexpr KeywordSet BitOf(Keyword keyword) {
  return KeywordSet{1} << static_cast<unsigned>(keyword);
}
absl::string_view NameOf(Keyword keyword);

// Types of values as bits. Integers are numbers, too: a schema for numbers has both bits.
enum ValueType : unsigned {
  kNullType = 1,
  kBooleanType = 2,
  kIntegerType = 4,
  kFractionType = 8,
  kStringType = 16,
  kArrayType = 32,
  kObjectType = 64,
  kNumberTypes = kIntegerType | kFractionType,
  kAllTypes = 127
};
unsigned TypeOf(const JsonValue& value);

// The keywords of one schema, their values checked for form. Booleans have none.
struct SchemaView {
  const JsonValue* Get(Keyword keyword) const { return values.at(static_cast<size_t>(keyword)); }
  bool Has(Keyword keyword) const { return (present & BitOf(keyword)) != 0; }

  KeywordSet present = 0;  // without those that constrain nothing
  std::array<const JsonValue*, kKeywordCount> values{};
};

// The schemas of one document, each looked at once. Threads: one. Lifetime: the document and the
// budget outlive it.
class SchemaViews {
 public:
  SchemaViews(const JsonValue& root, CompileBudget& budget) : root_(root), budget_(budget) {}

  // Returns the view of a schema. After a failure of the budget (malformed, an unknown keyword) it
  // has no meaning. REQUIRES: `schema` is no boolean.
  const SchemaView& Of(const JsonValue& schema);
  // Returns the schema that a $ref names; null after a failure of the budget.
  const JsonValue* Resolve(const JsonValue& reference);

 private:
  void Fill(const JsonValue& schema, SchemaView& view);
  void CheckForms(const SchemaView& view);
  void CheckOrder(const SchemaView& view);

  const JsonValue& root_;
  CompileBudget& budget_;
  absl::flat_hash_map<const JsonValue*, std::unique_ptr<SchemaView>> views_;
};

// Read the values of keywords whose form was checked.

unsigned ReadTypes(const JsonValue& type);
// Returns `none` without a value.
uint32_t ReadCount(const JsonValue* value, uint32_t none);
// Returns the values of const, or of enum; null if there are neither.
std::optional<std::vector<const JsonValue*>> ReadValues(const SchemaView& view);
bool Requires(const SchemaView& view, absl::string_view name);

}  // namespace superfluid

#endif  // SUPERFLUID_ENGINE_CONSTRAIN_SCHEMA_VIEW_H_
