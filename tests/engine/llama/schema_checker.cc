#include "tests/engine/llama/schema_checker.h"

#include <algorithm>
#include <cmath>
#include <regex>

namespace superfluid::testing {
namespace {

using Json = nlohmann::json;

size_t Characters(const std::string& text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) >> 6U) != 2; }));
}

bool IsOfType(const Json& value, const std::string& type) {
  if (type == "integer") {
    return value.is_number_integer() ||
           (value.is_number() && std::floor(value.get<double>()) == value.get<double>());
  }
  if (type == "number") return value.is_number();
  if (type == "string") return value.is_string();
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "boolean") return value.is_boolean();
  return type == "null" && value.is_null();
}

bool HasFormat(const std::string& text, const std::string& format) {
  static const std::string date = R"(\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01]))";
  static const std::string time =
      R"(([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[-+]([01]\d|2[0-3]):[0-5]\d))";
  static const std::regex late_february(R"(.*-02-(29|3\d).*|.*-(0[469]|11)-31.*)");
  if (format == "uuid") {
    return std::regex_match(text, std::regex("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"));
  }
  if (format == "time") return std::regex_match(text, std::regex(time));
  const std::string whole = format == "date" ? date : date + "T" + time;
  return std::regex_match(text, std::regex(whole)) && !std::regex_match(text, late_february);
}

std::string BrokenInString(const Json& schema, const std::string& text) {
  if (Characters(text) < schema.value("minLength", size_t{0})) return "minLength";
  if (Characters(text) > schema.value("maxLength", SIZE_MAX)) return "maxLength";
  if (schema.contains("format") && !HasFormat(text, schema["format"])) return "format";
  return "";
}

std::string BrokenInNumber(const Json& schema, const Json& value) {
  if (schema.contains("minimum") && value < schema["minimum"]) return "minimum";
  if (schema.contains("maximum") && value > schema["maximum"]) return "maximum";
  if (schema.contains("exclusiveMinimum") && value <= schema["exclusiveMinimum"]) {
    return "exclusiveMinimum";
  }
  if (schema.contains("exclusiveMaximum") && value >= schema["exclusiveMaximum"]) {
    return "exclusiveMaximum";
  }
  return "";
}

std::string BrokenInArray(const Json& root, const Json& schema, const Json& value) {
  if (value.size() < schema.value("minItems", size_t{0})) return "minItems";
  if (value.size() > schema.value("maxItems", SIZE_MAX)) return "maxItems";
  const Json first = schema.value("prefixItems", Json::array());
  for (size_t i = 0; i < value.size(); ++i) {
    const Json& item = i < first.size() ? first[i] : schema.value("items", Json(true));
    std::string broken = BrokenKeyword(root, item, value[i]);
    if (!broken.empty()) return broken;
  }
  return "";
}

std::string BrokenInObject(const Json& root, const Json& schema, const Json& value) {
  for (const Json& name : schema.value("required", Json::array())) {
    if (!value.contains(name)) return "required";
  }
  const Json properties = schema.value("properties", Json::object());
  for (const auto& member : value.items()) {
    const Json others = schema.value("additionalProperties", Json(true));
    const Json& part = properties.contains(member.key()) ? properties[member.key()] : others;
    std::string broken = BrokenKeyword(root, part, member.value());
    if (!broken.empty()) return broken;
  }
  return "";
}

std::string BrokenAlternatives(const Json& root, const Json& schema, const Json& value) {
  for (const char* keyword : {"anyOf", "oneOf", "allOf"}) {
    if (!schema.contains(keyword)) continue;
    const Json& parts = schema[keyword];
    const auto good =
        static_cast<size_t>(std::count_if(parts.begin(), parts.end(), [&](const Json& part) {
          return BrokenKeyword(root, part, value).empty();
        }));
    const std::string word = keyword;
    const bool met = word == "anyOf" ? good > 0 : good == (word == "oneOf" ? 1 : parts.size());
    if (!met) return word;
  }
  return "";
}

bool TypeMet(const Json& type, const Json& value) {
  if (type.is_string()) return IsOfType(value, type);
  return std::any_of(type.begin(), type.end(),
                     [&value](const Json& name) { return IsOfType(value, name); });
}

}  // namespace

std::string BrokenKeyword(const Json& root, const Json& schema, const Json& value) {
  if (schema.is_boolean()) return schema.get<bool>() ? "" : "false";
  if (schema.contains("$ref")) {
    const std::string pointer = schema["$ref"].get<std::string>().substr(1);
    std::string broken = BrokenKeyword(root, root.at(Json::json_pointer(pointer)), value);
    if (!broken.empty()) return broken;
  }
  if (schema.contains("type") && !TypeMet(schema["type"], value)) return "type";
  if (schema.contains("const") && value != schema["const"]) return "const";
  if (schema.contains("enum")) {
    const Json& list = schema["enum"];
    if (std::find(list.begin(), list.end(), value) == list.end()) return "enum";
  }
  std::string broken = BrokenAlternatives(root, schema, value);
  if (!broken.empty()) return broken;
  if (value.is_string()) return BrokenInString(schema, value);
  if (value.is_number()) return BrokenInNumber(schema, value);
  if (value.is_array()) return BrokenInArray(root, schema, value);
  return value.is_object() ? BrokenInObject(root, schema, value) : "";
}

}  // namespace superfluid::testing
