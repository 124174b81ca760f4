#include "tools/superfluidd/api/router.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/superfluidd/api/fleet_json.h"
#include "tools/superfluidd/api/realtime_socket.h"
#include "tools/superfluidd/api/trace_context.h"
#include "tools/superfluidd/console/console_reply.h"
#include "tools/superfluidd/http/websocket.h"

namespace superfluid::daemon {
namespace {

constexpr std::string_view kModels = "/v1/models/";
constexpr std::string_view kRequests = "/v1/requests/";
constexpr size_t kIdBytes = 12;
constexpr uint64_t kSmallBody = uint64_t{64} << 10;

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

// What a client sent, cut to a length that a message bears.
std::string Shown(std::string_view text) {
  constexpr size_t kMost = 100;
  return std::string(text.substr(0, kMost)) + (text.size() > kMost ? "..." : "");
}

ApiError NotFound(std::string message, std::string code) {
  return {.status = 404,
          .message = std::move(message),
          .type = "invalid_request_error",
          .code = std::move(code),
          .param = {}};
}

ApiError NoSuchModel(std::string_view name) {
  return ModelNotFound(absl::StrCat("there is no model '", Shown(name), "'"));
}

void AddRetryAfter(HttpReply& reply, absl::Duration after) {
  reply.headers.emplace_back("Retry-After",
                             std::to_string(std::max<int64_t>(absl::ToInt64Seconds(after), 1)));
}

// The deadline that a client sets for its request with X-Deadline-Ms.
std::variant<absl::Duration, ApiError> DeadlineOf(const RequestHead& head, absl::Duration longest) {
  const std::string_view text = head.Header("x-deadline-ms");
  int64_t ms = 0;
  if (text.empty()) return longest;
  if (!absl::SimpleAtoi(View(text), &ms) || ms <= 0) {
    return ApiError{.status = 400,
                    .message = "X-Deadline-Ms is no number of milliseconds above 0",
                    .code = "invalid_value",
                    .param = "X-Deadline-Ms"};
  }
  return std::min(absl::Milliseconds(ms), longest);
}

}  // namespace

Router::Router(RouterParts parts, std::shared_ptr<const ApiConfig> config)
    : parts_(std::move(parts)), config_(std::move(config)) {}

const std::vector<Router::Route>& Router::Routes() {
  static const std::vector<Route> routes = {
      {"POST", "/v1/audio/transcriptions", true, BodyKind::kForm, &Router::Transcribe},
      {"POST", "/v1/audio/translations", true, BodyKind::kForm, &Router::Translate},
      {"GET", "/v1/models", true, BodyKind::kNone, &Router::ListModels},
      {"GET", "/v1/models/*", true, BodyKind::kNone, &Router::ShowModel},
      {"DELETE", "/v1/requests/*", true, BodyKind::kNone, &Router::CancelRequest},
      {"GET", "/v1/status", true, BodyKind::kNone, &Router::Status},
      {"GET", "/v1/realtime", true, BodyKind::kNone, nullptr},
      {"GET", "/metrics", false, BodyKind::kNone, &Router::Metrics},
      {"GET", "/", false, BodyKind::kNone, &Router::Console},
      {"GET", "/console/*", false, BodyKind::kNone, &Router::Console},
      {"GET", "/health", false, BodyKind::kNone, &Router::Health},
      {"GET", "/ready", false, BodyKind::kNone, &Router::Ready},
  };
  return routes;
}

const Router::Route* Router::Find(std::string_view method, std::string_view path) {
  if (method == "HEAD") method = "GET";
  for (const Route& route : Routes()) {
    if (route.method != method) continue;
    const bool prefix = route.path.back() == '*';
    const std::string_view begin = route.path.substr(0, route.path.size() - (prefix ? 1 : 0));
    if (prefix ? path.size() > begin.size() && path.substr(0, begin.size()) == begin
               : path == route.path) {
      return &route;
    }
  }
  return nullptr;
}

HttpReply Router::NoSuchRoute(const RequestHead& head) {
  std::vector<std::string_view> allowed;
  for (const std::string_view method : {"GET", "HEAD", "POST", "DELETE"}) {
    if (Find(method, head.path()) != nullptr) allowed.push_back(method);
  }
  const std::string path = Shown(head.path());
  if (allowed.empty()) {
    return ErrorReply(NotFound(absl::StrCat("there is nothing at ", path), "unknown_url"));
  }
  const std::string methods =
      absl::StrJoin(allowed, ", ", [](std::string* out, auto method) { out->append(method); });
  HttpReply reply = ErrorReply(
      {.status = 405,
       .message = absl::StrCat(path, " takes no ", Shown(head.method), ": it takes ", methods),
       .code = "method_not_allowed"});
  reply.headers.emplace_back("Allow", methods);
  return reply;
}

void Router::Identify(RequestHead& head) {
  const std::string_view id = head.Header("x-request-id");
  head.request_id = IsRequestId(id) ? std::string(id) : absl::StrCat("req_", RandomHex(kIdBytes));
  head.trace = TraceContextOf(head.Header("traceparent"));
}

std::variant<HttpReply, BodyPlan, UpgradePlan> Router::OnHead(const RequestHead& head) {
  const Route* route = Find(head.method, head.path());
  if (route == nullptr) return NoSuchRoute(head);
  if (route->needs_key && !config_->keys.Identify(head).has_value()) {
    HttpReply reply = ErrorReply(
        {.status = 401, .message = "the API key is missing or unknown", .code = "invalid_api_key"});
    reply.headers.emplace_back("WWW-Authenticate", "Bearer");
    return reply;
  }
  if (route->answer == nullptr) return RealtimeHead(head);
  HttpReply refusal;
  if (route->body == BodyKind::kForm && QueueIsFull(&refusal)) return refusal;
  const uint64_t most = route->body == BodyKind::kForm ? config_->max_upload_bytes : kSmallBody;
  return BodyPlan{.kind = route->body, .max_bytes = most};
}

// Said before the upload, which would be for nothing.
bool Router::QueueIsFull(HttpReply* reply) const {
  const FleetSummary summary = parts_.service->Summary();
  if (!summary.queue_full && !summary.draining) return false;
  *reply = summary.draining ? ErrorReply({.status = 503,
                                          .message = "the daemon is shutting down",
                                          .type = "server_error",
                                          .code = "shutting_down"})
                            : ErrorReply({.status = 429,
                                          .message = "too many requests wait already",
                                          .type = "rate_limit_error",
                                          .code = "queue_full"});
  AddRetryAfter(*reply, summary.retry_after);
  return true;
}

std::shared_ptr<Exchange> Router::OnRequest(const RequestHead& head, RequestBody body,
                                            std::shared_ptr<ResponseSink> sink) {
  const Route* route = Find(head.method, head.path());
  return (this->*route->answer)(head, std::move(body), std::move(sink));
}

std::variant<HttpReply, BodyPlan, UpgradePlan> Router::RealtimeHead(const RequestHead& head) const {
  if (!IsWebSocketUpgrade(head)) {
    HttpReply reply = ErrorReply(
        {.status = 426, .message = "this address speaks WebSocket", .code = "upgrade_required"});
    reply.headers.emplace_back("Upgrade", "websocket");
    return reply;
  }
  const std::string model = head.Query("model").value_or("");
  if (!config_->models.Resolve(model).has_value()) {
    return ErrorReply(NoSuchModel(model));
  }
  return UpgradePlan{WebSocketUpgrade(head, ChooseProtocol(head))};
}

std::shared_ptr<UpgradedSocket> Router::OnUpgrade(const RequestHead& head,
                                                  std::shared_ptr<ResponseSink> sink) {
  auto socket = std::make_shared<RealtimeSocket>(
      RealtimeContext{.loop = parts_.loop,
                      .service = parts_.service,
                      .observer = parts_.observer,
                      .models = config_->models,
                      .caller = config_->keys.Identify(head).value_or(Caller{}),
                      .session_id = head.request_id,
                      .trace = head.trace,
                      .model = head.Query("model").value_or("")},
      std::move(sink));
  socket->Start();
  return socket;
}

HttpReply Router::Refusal(int status, std::string_view message) {
  ApiError error = {.status = status, .message = std::string(message), .code = "invalid_request"};
  if (status >= 500) error.type = "server_error";
  HttpReply reply = ErrorReply(error);
  if (status == 503) AddRetryAfter(reply, absl::Seconds(1));
  return reply;
}

void Router::OnFinished(const AccessRecord& record) {
  const std::optional<Caller> caller = config_->keys.Identify(*record.head);
  parts_.access_log(record, caller.has_value() ? caller->tenant : "");
  parts_.metrics->OnHttpFinished(record);
}

// ---- Speech

std::shared_ptr<Exchange> Router::Transcribe(const RequestHead& head, RequestBody body, Sink sink) {
  return Speech(SpeechTask::kTranscribe, head, std::move(body), sink);
}

std::shared_ptr<Exchange> Router::Translate(const RequestHead& head, RequestBody body, Sink sink) {
  return Speech(SpeechTask::kTranslate, head, std::move(body), sink);
}

std::shared_ptr<Exchange> Router::Speech(SpeechTask task, const RequestHead& head, RequestBody body,
                                         const Sink& sink) {
  const auto refuse = [&](const ApiError& error) {
    sink->Reply(ErrorReply(error));
    return nullptr;
  };
  auto parsed = ParseSpeechForm(task, body.form);
  if (const auto* error = std::get_if<ApiError>(&parsed)) return refuse(*error);
  auto& form = std::get<SpeechForm>(parsed);
  const std::optional<std::string> model = config_->models.Resolve(form.model);
  if (!model.has_value()) {
    return refuse(NoSuchModel(form.model));
  }
  const auto deadline = DeadlineOf(head, config_->max_deadline);
  if (const auto* error = std::get_if<ApiError>(&deadline)) return refuse(*error);
  const Caller caller = config_->keys.Identify(head).value_or(Caller{});
  SpeechRequest request;
  request.id = head.request_id;
  request.trace_id = head.trace.trace_id;
  request.span_id = head.trace.span_id;
  request.tenant = caller.tenant;
  request.priority = caller.priority;
  request.model = *model;
  request.audio = body.form.file;
  request.language = form.language;
  request.prompt = form.prompt;
  request.translate = task == SpeechTask::kTranslate;
  request.stream = form.stream;
  request.deadline = std::get<absl::Duration>(deadline);
  auto exchange =
      std::make_shared<SpeechExchange>(std::move(form), std::move(request), sink, parts_.observer);
  exchange->Start(*parts_.service);
  return exchange;
}

std::shared_ptr<Exchange> Router::CancelRequest(const RequestHead& head, RequestBody, Sink sink) {
  const std::string id(head.path().substr(kRequests.size()));
  const Caller caller = config_->keys.Identify(head).value_or(Caller{});
  parts_.service->CancelById(
      id, caller.tenant, CancelCause::kDeleted, [sink = std::move(sink), id](bool found) {
        sink->Reply(found ? JsonReply(202, {{"id", id}, {"object", "request"}, {"cancelled", true}})
                          : ErrorReply(NotFound("there is no open request with this id of yours",
                                                "request_not_found")));
      });
  return nullptr;
}

// ---- The rest

Json Router::ModelJson(const ModelCatalog::Model& model) const {
  return {{"id", model.name},
          {"object", "model"},
          {"created", parts_.started_unix},
          {"owned_by", "superfluid"}};
}

std::shared_ptr<Exchange> Router::ListModels(const RequestHead&, RequestBody, Sink sink) {
  Json list = Json::array();
  for (const auto& model : config_->models.models()) list.push_back(ModelJson(model));
  sink->Reply(JsonReply(200, {{"object", "list"}, {"data", list}}));
  return nullptr;
}

std::shared_ptr<Exchange> Router::ShowModel(const RequestHead& head, RequestBody, Sink sink) {
  const std::string name = DecodeUrl(head.path().substr(kModels.size()));
  for (const auto& model : config_->models.models()) {
    if (model.name != name) continue;
    sink->Reply(JsonReply(200, ModelJson(model)));
    return nullptr;
  }
  sink->Reply(ErrorReply(NoSuchModel(name)));
  return nullptr;
}

std::shared_ptr<Exchange> Router::Health(const RequestHead&, RequestBody, Sink sink) {
  sink->Reply(JsonReply(200, {{"status", "ok"}}));
  return nullptr;
}

std::shared_ptr<Exchange> Router::Ready(const RequestHead&, RequestBody, Sink sink) {
  const FleetSummary summary = parts_.service->Summary();
  const bool ready = summary.ready > 0 && !summary.draining;
  sink->Reply(JsonReply(ready ? 200 : 503, SummaryJson(summary)));
  return nullptr;
}

std::shared_ptr<Exchange> Router::Status(const RequestHead&, RequestBody, Sink sink) {
  parts_.service->Describe([sink = std::move(sink)](const FleetView& view) {
    sink->Reply(JsonReply(200, FleetJson(view)));
  });
  return nullptr;
}

std::shared_ptr<Exchange> Router::Metrics(const RequestHead&, RequestBody, Sink sink) {
  parts_.service->Describe([sink = std::move(sink), metrics = parts_.metrics,
                            uploads = parts_.uploads](const FleetView& view) {
    sink->Reply({.status = 200,
                 .content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8",
                 .body = metrics->Text(view, uploads->used()),
                 .headers = {}});
  });
  return nullptr;
}

std::shared_ptr<Exchange> Router::Console(const RequestHead& head, RequestBody, Sink sink) {
  std::optional<HttpReply> reply = ConsoleReply(head);
  if (reply.has_value()) {
    sink->Reply(*std::move(reply));
  } else {
    sink->Reply(ErrorReply(NotFound("the console has no such file", "unknown_url")));
  }
  return nullptr;
}

}  // namespace superfluid::daemon
