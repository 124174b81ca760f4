#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_HTTP_EXCHANGE_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_HTTP_EXCHANGE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "absl/time/time.h"
#include "tools/superfluidd/http/http_message.h"
#include "tools/superfluidd/upload/upload_form.h"

// What a session and the API say to each other. No socket and no actor is seen from here.
namespace superfluid::daemon {

// Where the response of one request goes. Thread-safe; never blocks. What comes after the end of
// the response, or after the client has gone, is dropped.
class ResponseSink {
 public:
  virtual ~ResponseSink() = default;
  // The whole response.
  virtual void Reply(HttpReply reply) = 0;
  // Or its head, then pieces of its body, then its end.
  virtual void Begin(HttpReply head) = 0;
  virtual void Write(std::string bytes) = 0;
  virtual void End() = 0;
};

// A request whose response is not complete. Called on the loop's thread.
class Exchange {
 public:
  virtual ~Exchange() = default;
  // The client has gone. Not called after the end of the response.
  virtual void OnHangUp() = 0;
};

// A connection that is no HTTP any more. It writes to a ResponseSink: bytes as they are; End closes
// the connection once they are written. Called on the loop's thread.
class UpgradedSocket {
 public:
  virtual ~UpgradedSocket() = default;
  virtual void OnBytes(std::string_view bytes) = 0;
  // The client has gone, or the daemon closed the connection.
  virtual void OnHangUp() = 0;
  // The daemon ends: finish soon.
  virtual void OnDrain() = 0;
};

enum class BodyKind { kNone, kForm, kText };

// How the body of a request is received.
struct BodyPlan {
  BodyKind kind = BodyKind::kNone;
  uint64_t max_bytes = 0;
};

// The request leaves HTTP: `reply` is its head with status 101.
struct UpgradePlan {
  HttpReply reply;
};

struct RequestBody {
  UploadForm form;   // BodyKind::kForm
  std::string text;  // BodyKind::kText
};

// What became of a request, for logs and metrics.
struct AccessRecord {
  const RequestHead* head = nullptr;
  int status = 0;  // 499: the client had gone before the response began
  bool hung_up = false;
  uint64_t bytes_in = 0;  // of the body
  uint64_t bytes_out = 0;
  absl::Duration duration;
};

// What is behind the sessions. Called on the loop's thread; must not block.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;

  // Gives the request its id and its place in a trace: what it brought, or new ones.
  virtual void Identify(RequestHead& head) = 0;

  // Decides by the head alone: a refusal costs no upload.
  virtual std::variant<HttpReply, BodyPlan, UpgradePlan> OnHead(const RequestHead& head) = 0;

  // Answers the request through `sink`, now or later. Returns null if it has already.
  virtual std::shared_ptr<Exchange> OnRequest(const RequestHead& head, RequestBody body,
                                              std::shared_ptr<ResponseSink> sink) = 0;

  // After UpgradePlan.
  virtual std::shared_ptr<UpgradedSocket> OnUpgrade(const RequestHead& head,
                                                    std::shared_ptr<ResponseSink> sink) = 0;

  // Returns the answer for a request that could not be received.
  virtual HttpReply Refusal(int status, std::string_view message) = 0;

  virtual void OnFinished(const AccessRecord& record) = 0;
};

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_HTTP_EXCHANGE_H_
