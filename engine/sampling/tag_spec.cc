#include "engine/sampling/tag_spec.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace superfluid {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxTags = 64;
constexpr size_t kMaxTagBytes = 256;

absl::StatusOr<std::string> ReadText(const Json& value, const char* what) {
  const auto* text = value.get_ptr<const std::string*>();
  if (text == nullptr || text->empty() || text->size() > kMaxTagBytes) {
    return BadSchema(absl::StrCat("'", what, "' is not a text of 1 to ", kMaxTagBytes, " bytes"));
  }
  if (text->find('\0') != std::string::npos)
    return BadSchema(absl::StrCat("a NUL in '", what, "'"));
  return *text;
}

absl::StatusOr<TagStructure> ReadStructure(const Json& json) {
  if (!json.is_object() || !json.contains("schema") || !json["schema"].is_object()) {
    return BadSchema("a structure without a schema");
  }
  TagStructure structure;
  for (auto [key, field] :
       {std::pair{"begin", &structure.begin}, std::pair{"end", &structure.end}}) {
    absl::StatusOr<std::string> text = ReadText(json.value(key, Json()), key);
    if (!text.ok()) return text.status();
    *field = *std::move(text);
  }
  absl::StatusOr<JsonSchema> schema = ReadJsonSchema(json["schema"]);
  if (!schema.ok()) return schema.status();
  structure.schema = *std::move(schema);
  return structure;
}

// Returns the member that is an array of 1 to kMaxTags; null if there is none.
const Json* FindList(const Json& json, const char* key) {
  const auto found = json.find(key);
  const bool good = found != json.end() && found->is_array() && !found->empty();
  return good && found->size() <= kMaxTags ? &*found : nullptr;
}

absl::Status CheckTags(const TagSpec& tags) {
  for (const std::string& trigger : tags.triggers) {
    const bool starts =
        std::any_of(tags.structures.begin(), tags.structures.end(),
                    [&](const TagStructure& tag) { return absl::StartsWith(tag.begin, trigger); });
    if (!starts) return BadSchema("a trigger starts no begin");
  }
  for (const TagStructure& tag : tags.structures) {
    const bool triggered = std::any_of(
        tags.triggers.begin(), tags.triggers.end(),
        [&](const std::string& trigger) { return absl::StartsWith(tag.begin, trigger); });
    if (!triggered) return BadSchema("a begin starts with no trigger");
    for (const TagStructure& other : tags.structures) {
      if (&other != &tag && absl::StartsWith(other.begin, tag.begin)) {
        return BadSchema("a begin starts another");
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TagSpec> ParseTagSpec(absl::string_view text) {
  const absl::StatusOr<Json> json = ParseSchemaText(text);
  if (!json.ok()) return json.status();
  const Json* structures = FindList(*json, "structures");
  const Json* triggers = FindList(*json, "triggers");
  if (structures == nullptr || triggers == nullptr) {
    return BadSchema(absl::StrCat("'structures' and 'triggers' are arrays of 1 to ", kMaxTags));
  }
  TagSpec tags;
  for (const Json& structure : *structures) {
    absl::StatusOr<TagStructure> read = ReadStructure(structure);
    if (!read.ok()) return read.status();
    tags.structures.push_back(*std::move(read));
  }
  for (const Json& trigger : *triggers) {
    absl::StatusOr<std::string> read = ReadText(trigger, "triggers");
    if (!read.ok()) return read.status();
    tags.triggers.push_back(*std::move(read));
  }
  if (absl::Status status = CheckTags(tags); !status.ok()) return status;
  return tags;
}

}  // namespace superfluid
