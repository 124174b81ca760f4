#include "tools/superfluidd/api/api_error.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "tools/superfluidd/api/public_text.h"

namespace superfluid::daemon {
namespace {

constexpr const char* kServerError = "server_error";

Json OrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

struct StatusRule {
  linkw::Status status;
  int http;
  const char* type;
  const char* code;
};

// Any other status is a fault of ours: 500.
constexpr StatusRule kRules[] = {
    {linkw::Status::kInvalidArgument, 400, "invalid_request_error", "invalid_request"},
    {linkw::Status::kUnsupported, 400, "invalid_request_error", "unsupported"},
    {linkw::Status::kNotFound, 400, "invalid_request_error", "invalid_request"},
    {linkw::Status::kTooLarge, 413, "invalid_request_error", "too_large"},
    {linkw::Status::kBusy, 429, "rate_limit_error", "queue_full"},
    {linkw::Status::kCancelled, 499, "cancelled", "cancelled"},
    {linkw::Status::kDeadlineExceeded, 504, kServerError, "deadline_exceeded"},
    {linkw::Status::kDraining, 503, kServerError, "shutting_down"},
    {linkw::Status::kLinkClosed, 503, kServerError, "worker_lost"},
    {linkw::Status::kEngineFailed, 503, kServerError, "worker_lost"},
    {linkw::Status::kOutOfMemory, 503, kServerError, "out_of_memory"},
};

std::string MessageOf(const RequestOutcome& outcome) {
  if (!outcome.message.empty()) return outcome.message;
  if (outcome.status == linkw::Status::kCancelled && outcome.figures.cause.has_value()) {
    const std::string_view cause = CancelCauseName(*outcome.figures.cause);
    return absl::StrCat("the request was cancelled: ",
                        absl::string_view(cause.data(), cause.size()));
  }
  const std::string_view name = linkw::StatusName(outcome.status);
  return absl::StrCat("the request failed: ", absl::string_view(name.data(), name.size()));
}

}  // namespace

Json ErrorJson(const ApiError& error) {
  return {{"error",
           {{"message", error.message},
            {"type", error.type},
            {"param", OrNull(error.param)},
            {"code", OrNull(error.code)}}}};
}

HttpReply ErrorReply(const ApiError& error) { return JsonReply(error.status, ErrorJson(error)); }

HttpReply JsonReply(int status, const Json& json) {
  return {.status = status,
          .content_type = "application/json",
          .body = ctl::JsonLine(json),
          .headers = {}};
}

ApiError ErrorOf(const RequestOutcome& outcome) {
  if (outcome.status == linkw::Status::kNotFound && outcome.param == "model") {
    return ModelNotFound(outcome.message);
  }
  const auto rule = std::find_if(std::begin(kRules), std::end(kRules),
                                 [&](const StatusRule& r) { return r.status == outcome.status; });
  ApiError error = {.status = 500,
                    .message = MessageOf(outcome),
                    .type = kServerError,
                    .code = "internal",
                    .param = outcome.param};
  if (rule == std::end(kRules)) return error;
  error.status = rule->http;
  error.type = rule->type;
  error.code = rule->code;
  if (rule->http >= 500 || outcome.message.empty()) return error;
  PublicText text = InWordsOfTheApi(outcome.message);
  error.message = std::move(text.message);
  const bool is_wrong = rule->http == 400 || rule->http == 413;
  if (is_wrong && error.param.empty()) error.param = std::move(text.param);
  return error;
}

ApiError ModelNotFound(std::string message) {
  return {.status = 404,
          .message = std::move(message),
          .type = "invalid_request_error",
          .code = "model_not_found",
          .param = "model"};
}

}  // namespace superfluid::daemon
