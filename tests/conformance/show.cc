#include "tests/conformance/show.h"

#include <algorithm>
#include <variant>

#include "absl/strings/escaping.h"
#include "absl/strings/str_join.h"

namespace superfluid::conformance {
namespace {

constexpr size_t kShown = 16;

// The status and text that a typed reply has; empty for messages without.
template <class T>
std::string Outcome(const T& message) {
  if constexpr (requires { message.status; }) {
    return absl::StrCat(" ", Show(message.status), " ", Show(message.message));
  }
  return "";
}

}  // namespace

std::string Show(linkw::Status status) {
  const std::string_view name = linkw::StatusName(status);
  return {name.data(), name.size()};
}

std::string Show(linkw::FinishReason reason) {
  switch (reason) {
    case linkw::FinishReason::kNotFinished:
      return "NOT_FINISHED";
    case linkw::FinishReason::kStopToken:
      return "STOP_TOKEN";
    case linkw::FinishReason::kLength:
      return "LENGTH";
    case linkw::FinishReason::kStopped:
      return "STOPPED";
    case linkw::FinishReason::kError:
      return "LANE_ERROR";
  }
  return "?";
}

std::string Show(linkw::OpState state) {
  switch (state) {
    case linkw::OpState::kDone:
      return "DONE";
    case linkw::OpState::kFailed:
      return "FAILED";
    case linkw::OpState::kCancelled:
      return "CANCELLED";
  }
  return "?";
}

std::string Show(linkw::EngineState state) {
  return absl::StrCat("engine state ", static_cast<int>(state));
}

std::string Show(const std::vector<linkw::Token>& tokens) {
  const size_t shown = std::min(tokens.size(), kShown);
  return absl::StrCat(
      tokens.size(), " tokens [",
      absl::StrJoin(tokens.begin(), tokens.begin() + static_cast<int64_t>(shown), " "),
      shown < tokens.size() ? " ...]" : "]");
}

std::string Show(std::string_view text) {
  constexpr size_t most = 200;
  return absl::StrCat("\"", absl::CHexEscape(View(text.substr(0, most))),
                      text.size() > most ? "...\"" : "\"");
}

std::string Show(const linkw::WorkerMessage& message) {
  const std::string_view name = linkw::MessageTypeName(linkw::TypeOf(message));
  return absl::StrCat(View(name),
                      std::visit([](const auto& content) { return Outcome(content); }, message));
}

}  // namespace superfluid::conformance
