#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_API_ROUTER_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_API_ROUTER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tools/superfluidd/api/api_keys.h"
#include "tools/superfluidd/api/daemon_metrics.h"
#include "tools/superfluidd/api/model_catalog.h"
#include "tools/superfluidd/api/speech_exchange.h"
#include "tools/superfluidd/fleet/speech_service.h"
#include "tools/superfluidd/http/exchange.h"
#include "tools/superfluidd/net/io_loop.h"

namespace superfluid::daemon {

// What of the API can be changed while the daemon runs.
struct ApiConfig {
  ModelCatalog models;
  ApiKeys keys;
  uint64_t max_upload_bytes = uint64_t{512} << 20;
  absl::Duration max_deadline = absl::Hours(24);  // of any request
};

struct RouterParts {
  IoLoop* loop = nullptr;  // these three outlive the router
  SpeechService* service = nullptr;
  std::shared_ptr<RequestObserver> observer;
  DaemonMetrics* metrics = nullptr;
  std::shared_ptr<UploadBudget> uploads;
  std::function<void(const AccessRecord&, const std::string& tenant)> access_log;
  int64_t started_unix = 0;  // when the daemon was started
};

// The routes of the API: decides by path and method, checks keys, and hands requests on. On the
// loop's thread.
class Router final : public HttpHandler {
 public:
  Router(RouterParts parts, std::shared_ptr<const ApiConfig> config);

  // For the requests to come.
  void SetConfig(std::shared_ptr<const ApiConfig> config) { config_ = std::move(config); }

  void Identify(RequestHead& head) override;
  std::variant<HttpReply, BodyPlan, UpgradePlan> OnHead(const RequestHead& head) override;
  std::shared_ptr<Exchange> OnRequest(const RequestHead& head, RequestBody body,
                                      std::shared_ptr<ResponseSink> sink) override;
  std::shared_ptr<UpgradedSocket> OnUpgrade(const RequestHead& head,
                                            std::shared_ptr<ResponseSink> sink) override;
  HttpReply Refusal(int status, std::string_view message) override;
  void OnFinished(const AccessRecord& record) override;

 private:
  using Sink = std::shared_ptr<ResponseSink>;
  using Answer = std::shared_ptr<Exchange> (Router::*)(const RequestHead&, RequestBody, Sink);

  struct Route {
    std::string_view method;
    std::string_view path;  // with a * at its end: a prefix
    bool needs_key = true;
    BodyKind body = BodyKind::kNone;
    Answer answer = nullptr;
  };

  static const std::vector<Route>& Routes();
  static const Route* Find(std::string_view method, std::string_view path);
  static HttpReply NoSuchRoute(const RequestHead& head);
  bool QueueIsFull(HttpReply* reply) const;
  std::variant<HttpReply, BodyPlan, UpgradePlan> RealtimeHead(const RequestHead& head) const;

  std::shared_ptr<Exchange> Transcribe(const RequestHead& head, RequestBody body, Sink sink);
  std::shared_ptr<Exchange> Translate(const RequestHead& head, RequestBody body, Sink sink);
  std::shared_ptr<Exchange> Speech(SpeechTask task, const RequestHead& head, RequestBody body,
                                   const Sink& sink);
  std::shared_ptr<Exchange> CancelRequest(const RequestHead& head, RequestBody body, Sink sink);
  std::shared_ptr<Exchange> ListModels(const RequestHead& head, RequestBody body, Sink sink);
  std::shared_ptr<Exchange> ShowModel(const RequestHead& head, RequestBody body, Sink sink);
  std::shared_ptr<Exchange> Health(const RequestHead& head, RequestBody body, Sink sink);
  std::shared_ptr<Exchange> Ready(const RequestHead& head, RequestBody body, Sink sink);
  std::shared_ptr<Exchange> Status(const RequestHead& head, RequestBody body, Sink sink);
  std::shared_ptr<Exchange> Metrics(const RequestHead& head, RequestBody body, Sink sink);
  std::shared_ptr<Exchange> Console(const RequestHead& head, RequestBody body, Sink sink);
  Json ModelJson(const ModelCatalog::Model& model) const;

  const RouterParts parts_;
  std::shared_ptr<const ApiConfig> config_;
};

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_API_ROUTER_H_
