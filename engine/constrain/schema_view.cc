#include "engine/constrain/schema_view.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "engine/constrain/grammar.h"

namespace superfluid {
namespace {

// In the order of Keyword.
constexpr std::array<absl::string_view, kKeywordCount> kNames = {"$ref",
                                                                 "allOf",
                                                                 "nullable",
                                                                 "anyOf",
                                                                 "oneOf",
                                                                 "type",
                                                                 "enum",
                                                                 "const",
                                                                 "properties",
                                                                 "required",
                                                                 "additionalProperties",
                                                                 "minProperties",
                                                                 "maxProperties",
                                                                 "items",
                                                                 "prefixItems",
                                                                 "minItems",
                                                                 "maxItems",
                                                                 "uniqueItems",
                                                                 "minLength",
                                                                 "maxLength",
                                                                 "pattern",
                                                                 "format",
                                                                 "minimum",
                                                                 "maximum",
                                                                 "exclusiveMinimum",
                                                                 "exclusiveMaximum",
                                                                 "multipleOf"};

constexpr std::array<absl::string_view, 11> kAnnotations = {
    "title",     "description", "default",  "examples", "deprecated", "readOnly",
    "writeOnly", "$schema",     "$comment", "$defs",    "definitions"};

constexpr std::array<std::pair<absl::string_view, unsigned>, 7> kTypes = {
    {{"null", kNullType},
     {"boolean", kBooleanType},
     {"integer", kIntegerType},
     {"number", kNumberTypes},
     {"string", kStringType},
     {"array", kArrayType},
     {"object", kObjectType}}};

unsigned TypeNamed(absl::string_view name) {
  for (const auto& [known, bits] : kTypes) {
    if (known == name) return bits;
  }
  return 0;
}

bool IsSchema(const JsonValue* value) {
  return value->IsObject() || value->kind == JsonValue::Kind::kBoolean;
}

bool IsTypes(const JsonValue& type) {
  if (type.IsString()) return TypeNamed(type.text) != 0;
  if (!type.IsArray() || type.items.empty()) return false;
  std::vector<std::string> names;
  for (const JsonValue* item : type.items) {
    if (!item->IsString() || TypeNamed(item->text) == 0) return false;
    names.push_back(item->text);
  }
  std::sort(names.begin(), names.end());
  return std::adjacent_find(names.begin(), names.end()) == names.end();
}

bool IsCount(const JsonValue& value) {
  if (!value.IsNumber()) return false;
  const std::optional<Decimal> number = ParseDecimal(value.text);
  uint32_t count = 0;
  return number.has_value() && !number->negative && number->IsInteger() &&
         absl::SimpleAtoi(DecimalText(*number), &count) && count <= kNoLimit;
}

bool IsSchemas(const JsonValue& list) {
  return list.IsArray() && std::all_of(list.items.begin(), list.items.end(), IsSchema);
}

// Returns whether a keyword's value has the form that JSON schema asks for.
bool HasForm(Keyword keyword, const JsonValue& value) {
  switch (keyword) {
    case Keyword::kRef:
    case Keyword::kPattern:
    case Keyword::kFormat:
      return value.IsString();
    case Keyword::kAllOf:
    case Keyword::kAnyOf:
    case Keyword::kOneOf:
      return IsSchemas(value) && !value.items.empty();
    case Keyword::kNullable:
    case Keyword::kUniqueItems:
      return value.kind == JsonValue::Kind::kBoolean;
    case Keyword::kType:
      return IsTypes(value);
    case Keyword::kEnum:
      return value.IsArray() && !value.items.empty();
    case Keyword::kConst:
      return true;
    case Keyword::kProperties:
      return value.IsObject() &&
             std::all_of(value.members.begin(), value.members.end(),
                         [](const JsonValue::Member& member) { return IsSchema(member.value); });
    case Keyword::kRequired:
      return value.IsArray() && std::all_of(value.items.begin(), value.items.end(),
                                            [](const JsonValue* name) { return name->IsString(); });
    case Keyword::kAdditionalProperties:
      return IsSchema(&value);
    case Keyword::kItems:
      return IsSchema(&value) || IsSchemas(value);
    case Keyword::kPrefixItems:
      return IsSchemas(value);
    case Keyword::kMinimum:
    case Keyword::kMaximum:
    case Keyword::kExclusiveMinimum:
    case Keyword::kExclusiveMaximum:
      return value.IsNumber() && ParseDecimal(value.text).has_value();
    case Keyword::kMultipleOf: {
      const auto number = value.IsNumber() ? ParseDecimal(value.text) : std::nullopt;
      return number.has_value() && !number->negative && !number->IsZero();
    }
    default:
      return IsCount(value);
  }
}

// Returns the keywords that have a meaning for a value of the given types.
KeywordSet KeywordsOf(unsigned types) {
  const auto range = [](Keyword first, Keyword last) {
    return (BitOf(last) * 2 - 1) & ~(BitOf(first) - 1);
  };
  KeywordSet set = range(Keyword::kRef, Keyword::kConst);
  if ((types & kObjectType) != 0) set |= range(Keyword::kProperties, Keyword::kMaxProperties);
  if ((types & kArrayType) != 0) set |= range(Keyword::kItems, Keyword::kUniqueItems);
  if ((types & kStringType) != 0) set |= range(Keyword::kMinLength, Keyword::kFormat);
  if ((types & kNumberTypes) != 0) set |= range(Keyword::kMinimum, Keyword::kMultipleOf);
  return set;
}

// Returns one step of a JSON pointer, unescaped.
std::string Unescaped(absl::string_view step) {
  std::string name;
  for (size_t i = 0; i < step.size(); ++i) {
    int code = 0;
    if (step[i] == '~' && i + 1 < step.size()) {
      name += step[++i] == '1' ? '/' : '~';
    } else if (step[i] == '%' && i + 2 < step.size() &&
               absl::SimpleHexAtoi(step.substr(i + 1, 2), &code)) {
      name += static_cast<char>(code);
      i += 2;
    } else {
      name += step[i];
    }
  }
  return name;
}

const JsonValue* StepInto(const JsonValue& value, const std::string& name) {
  if (!value.IsArray()) return value.Find(name);
  size_t index = 0;
  const bool good = absl::SimpleAtoi(name, &index) && index < value.items.size();
  return good ? value.items[index] : nullptr;
}

}  // namespace

absl::string_view NameOf(Keyword keyword) { return kNames.at(static_cast<size_t>(keyword)); }

unsigned TypeOf(const JsonValue& value) {
  switch (value.kind) {
    case JsonValue::Kind::kNull:
      return kNullType;
    case JsonValue::Kind::kBoolean:
      return kBooleanType;
    case JsonValue::Kind::kString:
      return kStringType;
    case JsonValue::Kind::kArray:
      return kArrayType;
    case JsonValue::Kind::kObject:
      return kObjectType;
    case JsonValue::Kind::kNumber:
      break;
  }
  const std::optional<Decimal> number = ParseDecimal(value.text);
  return number.has_value() && number->IsInteger() ? kIntegerType : kFractionType;
}

unsigned ReadTypes(const JsonValue& type) {
  if (type.IsString()) return TypeNamed(type.text);
  unsigned types = 0;
  for (const JsonValue* item : type.items) types |= TypeNamed(item->text);
  return types;
}

uint32_t ReadCount(const JsonValue* value, uint32_t none) {
  uint32_t count = none;
  if (value != nullptr && !absl::SimpleAtoi(DecimalText(*ParseDecimal(value->text)), &count)) {
    return none;
  }
  return count;
}

std::optional<std::vector<const JsonValue*>> ReadValues(const SchemaView& view) {
  if (view.Has(Keyword::kConst)) return std::vector{view.Get(Keyword::kConst)};
  if (view.Has(Keyword::kEnum)) return view.Get(Keyword::kEnum)->items;
  return std::nullopt;
}

bool Requires(const SchemaView& view, absl::string_view name) {
  if (!view.Has(Keyword::kRequired)) return false;
  const auto& names = view.Get(Keyword::kRequired)->items;
  return std::any_of(names.begin(), names.end(),
                     [name](const JsonValue* item) { return item->text == name; });
}

const SchemaView& SchemaViews::Of(const JsonValue& schema) {
  auto& view = views_[&schema];
  if (view == nullptr) {
    view = std::make_unique<SchemaView>();
    Fill(schema, *view);
  }
  return *view;
}

void SchemaViews::Fill(const JsonValue& schema, SchemaView& view) {
  if (!schema.IsObject()) return budget_.Fail(BadSchema("a schema is no object"));
  for (const JsonValue::Member& member : schema.members) {
    if (!budget_.Spend(kKeywordCount)) return;
    const auto* const known = std::find(kNames.begin(), kNames.end(), member.name);
    if (known != kNames.end()) {
      const auto index = static_cast<size_t>(known - kNames.begin());
      view.values.at(index) = member.value;
      view.present |= BitOf(static_cast<Keyword>(index));
      continue;
    }
    const bool annotation =
        std::find(kAnnotations.begin(), kAnnotations.end(), member.name) != kAnnotations.end();
    if (annotation || (member.name == "$id" && &schema == &root_)) continue;
    return budget_.Fail(
        UnsupportedKeyword(member.name, member.name == "$id" ? " below the root" : ""));
  }
  // Keywords of types that the schema does not allow have no meaning, whatever they say.
  const JsonValue* type = view.Get(Keyword::kType);
  const bool typed = type != nullptr && IsTypes(*type);
  const bool nullable = view.Has(Keyword::kNullable);
  view.present &= KeywordsOf(typed ? ReadTypes(*type) : unsigned{kAllTypes});
  if (nullable && view.Get(Keyword::kNullable)->IsFalse()) {
    view.present &= ~BitOf(Keyword::kNullable);
  }
  CheckForms(view);
  if (!budget_.failed()) CheckOrder(view);
}

void SchemaViews::CheckForms(const SchemaView& view) {
  for (size_t i = 0; i < kKeywordCount; ++i) {
    const auto keyword = static_cast<Keyword>(i);
    if (!view.Has(keyword) || HasForm(keyword, *view.values.at(i))) continue;
    budget_.Fail(BadSchema(absl::StrCat("'", kNames.at(i), "' has no value of the right form")));
  }
}

void SchemaViews::CheckOrder(const SchemaView& view) {
  for (const auto& [low, high] : {std::pair{Keyword::kMinLength, Keyword::kMaxLength},
                                  {Keyword::kMinItems, Keyword::kMaxItems},
                                  {Keyword::kMinProperties, Keyword::kMaxProperties},
                                  {Keyword::kMinimum, Keyword::kMaximum},
                                  {Keyword::kMinimum, Keyword::kExclusiveMaximum},
                                  {Keyword::kExclusiveMinimum, Keyword::kMaximum},
                                  {Keyword::kExclusiveMinimum, Keyword::kExclusiveMaximum}}) {
    if (!view.Has(low) || !view.Has(high)) continue;
    const int order =
        CompareDecimals(*ParseDecimal(view.Get(low)->text), *ParseDecimal(view.Get(high)->text));
    const bool exclusive = low == Keyword::kExclusiveMinimum || high == Keyword::kExclusiveMaximum;
    if (order < 0 || (order == 0 && !exclusive)) continue;
    budget_.Fail(BadSchema(absl::StrCat("'", NameOf(low), "' is above '", NameOf(high), "'")));
  }
}

const JsonValue* SchemaViews::Resolve(const JsonValue& reference) {
  absl::string_view rest = reference.text;
  if (rest != "#" && !absl::StartsWith(rest, "#/")) {
    budget_.Fail(UnsupportedKeyword("$ref", " to anything but '#' and '#/...'"));
    return nullptr;
  }
  const JsonValue* at = &root_;
  rest.remove_prefix(1);
  while (at != nullptr && !rest.empty() && budget_.Spend()) {
    rest.remove_prefix(1);
    const size_t end = std::min(rest.find('/'), rest.size());
    at = StepInto(*at, Unescaped(rest.substr(0, end)));
    rest.remove_prefix(end);
  }
  if (at != nullptr && IsSchema(at)) return at;
  budget_.Fail(BadSchema(absl::StrCat("'$ref': there is no schema ", reference.text)));
  return nullptr;
}

}  // namespace superfluid
