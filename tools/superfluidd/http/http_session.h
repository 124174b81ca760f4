#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_HTTP_HTTP_SESSION_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_HTTP_HTTP_SESSION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "absl/time/time.h"
#include "tools/superfluidd/http/exchange.h"
#include "tools/superfluidd/http/outbox.h"
#include "tools/superfluidd/http/request_parser.h"
#include "tools/superfluidd/net/io_loop.h"
#include "tools/superfluidd/net/net_stream.h"
#include "tools/superfluidd/upload/upload_budget.h"
#include "tools/superfluidd/upload/upload_form.h"

namespace superfluid::daemon {

struct SessionLimits {
  size_t head_bytes = size_t{16} << 10;
  size_t outbox_bytes = size_t{8} << 20;            // of a response that the client does not take
  size_t pipelined_bytes = size_t{16} << 10;        // read ahead while a response is made
  absl::Duration open_timeout = absl::Seconds(10);  // a TLS handshake
  absl::Duration head_timeout = absl::Seconds(5);   // from the head's first byte to its last
  absl::Duration idle_timeout = absl::Seconds(75);  // between requests
  // A body must have arrived by its start + grace + bytes so far / rate.
  absl::Duration body_grace = absl::Seconds(5);
  uint64_t body_bytes_per_second = 4096;
  absl::Duration write_stall = absl::Seconds(10);  // for each write
  absl::Duration linger = absl::Seconds(2);        // for a client that still sends
};

class HttpSession;

// What the sessions of a daemon share. Used on the loop's thread.
struct SessionContext {
  IoLoop* loop = nullptr;
  HttpHandler* handler = nullptr;
  SessionLimits limits;
  std::shared_ptr<UploadBudget> uploads;
  std::set<std::shared_ptr<HttpSession>> open;  // keeps them alive
  bool draining = false;
};

// One connection of a client: requests one after the other, pipelined ones included.
//
//   opening -> idle -> head -> body -> responding -> idle ...
//                        \________________/  \-> upgraded
//                 any of them -> lingering -> closed
//
// A read is pending at all times, so that a client that hangs up is known at once, whatever the
// session does; its exchange is told then. A half-closed connection counts as gone. All of it is a
// reaction to an event of the loop, on the loop's thread; nothing blocks.
class HttpSession final : public std::enable_shared_from_this<HttpSession> {
 public:
  // REQUIRES: `context` outlives the session.
  HttpSession(SessionContext& context, std::unique_ptr<NetStream> stream);
  HttpSession(const HttpSession&) = delete;
  HttpSession& operator=(const HttpSession&) = delete;

  void Start();
  // No further request: an idle session ends now, another after its response.
  void Drain();
  // Ends now; the exchange is told.
  void Close();

 private:
  enum class State { kOpening, kIdle, kHead, kBody, kResponding, kUpgraded, kLingering, kClosed };

  // ---- Reading
  void ReadMore();
  void OnRead(std::error_code error, size_t bytes);
  void OnBytes(std::string_view bytes);
  void Process();
  bool ProcessIdle();
  bool ProcessHead();
  bool ProcessBody();
  size_t ParseBody(std::string_view bytes);
  void OnHeadDone();
  void ReceiveBody(const BodyPlan& plan);
  bool TakeBody(std::string_view bytes);
  void SetBodyTimer();
  void RefuseBody(const absl::Status& status);
  void OnBodyDone();
  void OnProblem();
  void BeginRequest();

  // ---- Responding
  void MakeOutbox();
  void RefuseAndClose(int status, std::string_view message);
  void ReplyNow(HttpReply reply);
  void Upgrade(UpgradePlan plan);
  void OnOutbox(const Outbox* outbox);
  void Format(Outbox::Item item);
  void WriteNext();
  void OnWritten(std::error_code error);
  void OnResponseDone();
  void Finish();

  // ---- The end
  void Linger();
  void OnTimer();

  SessionContext& context_;
  std::unique_ptr<NetStream> stream_;
  std::unique_ptr<LoopTimer> timer_;        // of the state
  std::unique_ptr<LoopTimer> write_timer_;  // of the write under way
  State state_ = State::kOpening;

  std::vector<char> read_buffer_;
  bool reading_ = false;
  bool input_ended_ = false;
  std::string input_;  // read, and not yet used

  // Of the current request.
  std::unique_ptr<RequestParser> parser_;
  RequestHead head_;
  bool has_head_ = false;
  BodyPlan plan_;
  std::optional<FormReader> form_;
  std::string text_;
  absl::Status body_status_;
  uint64_t bytes_in_ = 0;
  absl::Duration started_;
  bool keep_alive_ = true;
  std::shared_ptr<Outbox> outbox_;
  std::shared_ptr<Exchange> exchange_;
  std::shared_ptr<UpgradedSocket> socket_;

  // Of its response.
  std::string output_;   // to be written next
  std::string writing_;  // being written; empty: nothing is
  bool chunked_ = false;
  bool response_ended_ = false;
  int status_ = 0;
  uint64_t bytes_out_ = 0;
};

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_HTTP_HTTP_SESSION_H_
