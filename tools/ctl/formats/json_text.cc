#include "tools/ctl/formats/json_text.h"

#include <cmath>

namespace superfluid::ctl {
namespace {

constexpr int kMaxDepth = 32;

std::string Dump(const Json& json, int indent) {
  return json.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string JsonDocument(const Json& json) { return Dump(json, 2); }

std::string JsonLine(const Json& json) { return Dump(json, -1); }

double JsonMs(absl::Duration duration) {
  return std::round(absl::ToDoubleMicroseconds(duration)) / 1000;
}

double JsonFloat(float value) { return std::round(static_cast<double>(value) * 1e6) / 1e6; }

Json JsonOrText(const std::string& text) {
  bool too_deep = false;
  const auto watch_depth = [&too_deep](int depth, Json::parse_event_t, Json&) {
    too_deep = too_deep || depth > kMaxDepth;
    return !too_deep;
  };
  Json json = Json::parse(text, watch_depth, /*allow_exceptions=*/false);
  if (too_deep || json.is_discarded()) return Json(text);
  return json;
}

}  // namespace superfluid::ctl
