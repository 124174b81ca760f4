#include "engine/llama/schema_check.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/sampling/json_depth.h"

namespace superfluid {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxBytes = size_t{32} << 10U;
constexpr size_t kMaxDepth = 32;
constexpr size_t kMaxProperties = 256;
constexpr size_t kMaxOptional = 64;
constexpr size_t kMaxTags = 64;
constexpr size_t kMaxTagBytes = 256;
constexpr double kMaxCount = 1000;

constexpr std::array<absl::string_view, 4> kCounts = {"minItems", "maxItems", "minLength",
                                                      "maxLength"};

absl::Status Bad(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("the grammar's schema: ", what));
}

absl::Status CheckCount(absl::string_view key, const Json& value) {
  if (value.is_number() && value.get<double>() >= 0 && value.get<double>() <= kMaxCount) {
    return absl::OkStatus();
  }
  return Bad(absl::StrCat("'", key, "' is not a number from 0 to ", kMaxCount));
}

// Each optional property may be the next or not, so the grammar grows with their square.
absl::Status CheckProperties(const Json& schema, const Json& properties) {
  const auto required = schema.find("required");
  const size_t needed =
      required != schema.end() && required->is_array() ? required->size() : size_t{0};
  if (properties.size() > kMaxProperties || properties.size() > needed + kMaxOptional) {
    return Bad(absl::StrCat("an object of ", properties.size(), " properties; up to ",
                            kMaxProperties, " may be, ", kMaxOptional, " of them optional"));
  }
  return absl::OkStatus();
}

absl::Status CheckKeyword(const Json& schema, const std::string& key, const Json& value) {
  if (key == "pattern" || key == "patternProperties") {
    return absl::UnimplementedError(
        absl::StrCat("the schema keyword '", key, "' is not supported"));
  }
  if (key == "$ref" &&
      (!value.is_string() || !value.get_ref<const std::string&>().starts_with("#"))) {
    return absl::UnimplementedError("a $ref out of the document is not supported");
  }
  if (std::find(kCounts.begin(), kCounts.end(), key) != kCounts.end()) {
    return CheckCount(key, value);
  }
  if (key == "properties" && value.is_object()) return CheckProperties(schema, value);
  return absl::OkStatus();
}

// What is in these is no schema.
bool IsData(const std::string& key) {
  return key == "const" || key == "enum" || key == "default" || key == "examples" ||
         key == "required" || key == "title" || key == "description";
}

// Properties of a schema are named freely, so a property "pattern" is no keyword.
absl::Status CheckPart(const Json& part, bool names_are_keywords) {  // NOLINT(misc-no-recursion)
  for (const auto& item : part.items()) {
    const Json& value = item.value();
    if (part.is_object() && names_are_keywords) {
      absl::Status status = CheckKeyword(part, item.key(), value);
      if (!status.ok()) return status;
      if (IsData(item.key())) continue;
    }
    if (!value.is_structured()) continue;
    const bool names =
        part.is_object() && names_are_keywords &&
        (item.key() == "properties" || item.key() == "$defs" || item.key() == "definitions");
    if (absl::Status status = CheckPart(value, !names); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// A member that is a text of a tag.
absl::StatusOr<std::string> TagText(const Json& value, const char* what) {
  const auto* text = value.get_ptr<const std::string*>();
  if (text == nullptr || text->empty() || text->size() > kMaxTagBytes) {
    return Bad(absl::StrCat("'", what, "' is not a text of 1 to ", kMaxTagBytes, " bytes"));
  }
  if (text->find('\0') != std::string::npos) return Bad(absl::StrCat("a NUL in '", what, "'"));
  return *text;
}

absl::StatusOr<TagStructure> ParseStructure(const Json& json) {
  if (!json.is_object() || !json.contains("schema") || !json["schema"].is_object()) {
    return Bad("a structure without a schema");
  }
  TagStructure structure;
  for (auto [key, field] :
       {std::pair{"begin", &structure.begin}, std::pair{"end", &structure.end}}) {
    absl::StatusOr<std::string> text = TagText(json.value(key, Json()), key);
    if (!text.ok()) return text.status();
    *field = *std::move(text);
  }
  if (absl::Status status = CheckSchema(json["schema"]); !status.ok()) return status;
  structure.schema = json["schema"].dump();
  return structure;
}

// The member that is an array of 1 to kMaxTags; null if it is none.
const Json* List(const Json& json, const char* key) {
  const auto found = json.find(key);
  const bool good = found != json.end() && found->is_array() && !found->empty();
  return good && found->size() <= kMaxTags ? &*found : nullptr;
}

absl::Status CheckTags(const TagSpec& tags) {
  for (const std::string& trigger : tags.triggers) {
    const bool starts =
        std::any_of(tags.structures.begin(), tags.structures.end(),
                    [&](const TagStructure& tag) { return tag.begin.starts_with(trigger); });
    if (!starts) return Bad("a trigger starts no begin");
  }
  for (const TagStructure& tag : tags.structures) {
    const bool triggered =
        std::any_of(tags.triggers.begin(), tags.triggers.end(),
                    [&](const std::string& trigger) { return tag.begin.starts_with(trigger); });
    if (!triggered) return Bad("a begin starts with no trigger");
    for (const TagStructure& other : tags.structures) {
      if (&other != &tag && other.begin.starts_with(tag.begin))
        return Bad("a begin starts another");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Json> ParseSchemaJson(absl::string_view text) {
  if (text.size() > kMaxBytes) return Bad(absl::StrCat("more than ", kMaxBytes, " bytes"));
  if (JsonDepth(text) > kMaxDepth) return Bad(absl::StrCat("nested deeper than ", kMaxDepth));
  Json json = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object()) return Bad("not a JSON object");
  return json;
}

absl::Status CheckSchema(const Json& schema) {
  return CheckPart(schema, /*names_are_keywords=*/true);
}

absl::StatusOr<TagSpec> ParseTags(absl::string_view text) {
  const absl::StatusOr<Json> json = ParseSchemaJson(text);
  if (!json.ok()) return json.status();
  const Json* structures = List(*json, "structures");
  const Json* triggers = List(*json, "triggers");
  if (structures == nullptr || triggers == nullptr) {
    return Bad(absl::StrCat("'structures' and 'triggers' are arrays of 1 to ", kMaxTags));
  }
  TagSpec tags;
  for (const Json& structure : *structures) {
    absl::StatusOr<TagStructure> parsed = ParseStructure(structure);
    if (!parsed.ok()) return parsed.status();
    tags.structures.push_back(*std::move(parsed));
  }
  for (const Json& trigger : *triggers) {
    absl::StatusOr<std::string> parsed = TagText(trigger, "triggers");
    if (!parsed.ok()) return parsed.status();
    tags.triggers.push_back(*std::move(parsed));
  }
  if (absl::Status status = CheckTags(tags); !status.ok()) return status;
  return tags;
}

}  // namespace superfluid
