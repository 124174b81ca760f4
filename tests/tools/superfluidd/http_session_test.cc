#include "tools/superfluidd/http/http_session.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/tools/superfluidd/fake_net.h"

namespace superfluid::daemon {
namespace {

// Notes what the session says, and answers when the test wants it.
class FakeHandler final : public HttpHandler {
 public:
  struct FakeExchange final : Exchange {
    explicit FakeExchange(int* count) : hang_ups(count) {}
    void OnHangUp() override { ++*hang_ups; }
    int* hang_ups;
  };

  void Identify(RequestHead& head) override {
    const std::string_view id = head.Header("x-request-id");
    head.request_id = IsRequestId(id) ? std::string(id) : absl::StrCat("id", ++ids);
  }
  std::variant<HttpReply, BodyPlan, UpgradePlan> OnHead(const RequestHead& head) override {
    if (head.path() == "/refuse") return Refusal(401, "no");
    if (head.path() == "/form") return BodyPlan{BodyKind::kForm, 1000};
    return BodyPlan{BodyKind::kText, 100};
  }
  std::shared_ptr<Exchange> OnRequest(const RequestHead& head, RequestBody body,
                                      std::shared_ptr<ResponseSink> to) override {
    heads.push_back(head);
    bodies.push_back(std::move(body));
    sink = std::move(to);
    return std::make_shared<FakeExchange>(&hang_ups);
  }
  std::shared_ptr<UpgradedSocket> OnUpgrade(const RequestHead&,
                                            std::shared_ptr<ResponseSink>) override {
    return nullptr;
  }
  HttpReply Refusal(int status, std::string_view message) override {
    return {.status = status,
            .content_type = "text/plain",
            .body = std::string(message),
            .headers = {}};
  }
  void OnFinished(const AccessRecord& record) override {
    statuses.push_back(record.status);
    hung_up.push_back(record.hung_up);
  }

  int ids = 0;
  int hang_ups = 0;
  std::vector<RequestHead> heads;
  std::vector<RequestBody> bodies;
  std::shared_ptr<ResponseSink> sink;
  std::vector<int> statuses;
  std::vector<bool> hung_up;
};

class HttpSessionTest : public testing::Test {
 protected:
  HttpSessionTest() {
    context_.loop = &loop_;
    context_.handler = &handler_;
    context_.uploads = std::make_shared<UploadBudget>(1 << 20);
    std::make_shared<HttpSession>(context_, std::make_unique<FakeStream>(peer_))->Start();
    loop_.RunPosted();
  }
  ~HttpSessionTest() override {
    while (!context_.open.empty()) (*context_.open.begin())->Close();
    loop_.RunPosted();
  }

  void Reply(int status, const std::string& body) {
    handler_.sink->Reply(
        {.status = status, .content_type = "text/plain", .body = body, .headers = {}});
    loop_.RunPosted();
  }
  void ExpectReceived(const std::string& text) {
    const std::string received = peer_->Received();
    EXPECT_NE(received.find(text), std::string::npos) << received;
  }

  FakeLoop loop_;
  FakeHandler handler_;
  SessionContext context_;
  std::shared_ptr<FakePeer> peer_ = std::make_shared<FakePeer>(loop_);
};

TEST_F(HttpSessionTest, AnswersOneRequestAfterTheOther) {
  peer_->Send("GET /a?x=1 HTTP/1.1\r\nHost: h\r\n\r\n");
  ASSERT_EQ(handler_.heads.size(), 1u);
  EXPECT_EQ(handler_.heads[0].path(), "/a");
  EXPECT_EQ(handler_.heads[0].Query("x"), "1");
  Reply(200, "one");
  ExpectReceived(
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n"
      "X-Request-Id: id1\r\n\r\none");
  peer_->Send("POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello");
  ASSERT_EQ(handler_.bodies.size(), 2u);
  EXPECT_EQ(handler_.bodies[1].text, "hello");
  Reply(404, "two");
  ExpectReceived("404 Not Found");
  EXPECT_EQ(handler_.statuses, (std::vector<int>{200, 404}));
}

TEST_F(HttpSessionTest, PipelinedRequestsWaitForTheirTurn) {
  peer_->Send("GET /a HTTP/1.1\r\nHost: h\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(handler_.heads.size(), 1u);
  Reply(200, "one");
  ASSERT_EQ(handler_.heads.size(), 2u);
  EXPECT_EQ(handler_.heads[1].path(), "/b");
}

TEST_F(HttpSessionTest, ReceivesChunkedForms) {
  const std::string form =
      "--b\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nm\r\n--b--\r\n";
  peer_->Send(
      absl::StrCat("POST /form HTTP/1.1\r\nHost: h\r\nContent-Type: multipart/form-data; "
                   "boundary=b\r\nTransfer-Encoding: chunked\r\n\r\n"));
  for (const char c : form) peer_->Send(absl::StrCat("1\r\n", std::string(1, c), "\r\n"));
  EXPECT_TRUE(handler_.bodies.empty());
  peer_->Send("0\r\n\r\n");
  ASSERT_EQ(handler_.bodies.size(), 1u);
  EXPECT_EQ(handler_.bodies[0].form.Field("model"), "m");
}

// What ended the process: Beast asserts that it gets five bytes behind a last chunk's "0\r\n".
TEST_F(HttpSessionTest, AnEmptyChunkedBodyMayComeInPieces) {
  peer_->Send(
      "POST /form HTTP/1.1\r\nHost: h\r\nContent-Type: multipart/form-data; boundary=b\r\n"
      "Transfer-Encoding: chunked\r\n\r\n");
  for (const char* piece : {"0", "\r\n", "\r"}) peer_->Send(piece);
  peer_->Send("\n");
  ExpectReceived("HTTP/1.1 400 ");
}

TEST_F(HttpSessionTest, AStreamIsChunkedAndTheConnectionKept) {
  peer_->Send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
  handler_.sink->Begin(
      {.status = 200, .content_type = "text/event-stream", .body = {}, .headers = {}});
  handler_.sink->Write("data: 1\n\n");
  loop_.RunPosted();
  ExpectReceived("Transfer-Encoding: chunked\r\nX-Request-Id: id1\r\n\r\n9\r\ndata: 1\n\n\r\n");
  handler_.sink->End();
  loop_.RunPosted();
  EXPECT_EQ(peer_->Received(), "0\r\n\r\n");
  EXPECT_FALSE(peer_->closed);
}

TEST_F(HttpSessionTest, AHangUpIsToldAtOnceAndOnce) {
  peer_->Send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
  peer_->Vanish();
  EXPECT_EQ(handler_.hang_ups, 1);
  EXPECT_EQ(handler_.statuses, (std::vector<int>{499}));
  Reply(200, "late");
  EXPECT_EQ(peer_->Received(), "");
  EXPECT_TRUE(context_.open.empty());
}

TEST_F(HttpSessionTest, AClientThatDoesNotReadIsLetGo) {
  peer_->takes_nothing = true;
  peer_->Send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
  handler_.sink->Begin({.status = 200, .content_type = "text/plain", .body = {}, .headers = {}});
  handler_.sink->Write("data");
  loop_.RunPosted();
  loop_.Advance(absl::Seconds(9));
  EXPECT_EQ(handler_.hang_ups, 0);
  loop_.Advance(absl::Seconds(2));
  EXPECT_EQ(handler_.hang_ups, 1);
}

TEST_F(HttpSessionTest, AResponseThatNobodyTakesOverflows) {
  context_.limits.outbox_bytes = 100;
  peer_->Send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
  handler_.sink->Begin({.status = 200, .content_type = "text/plain", .body = {}, .headers = {}});
  handler_.sink->Write(std::string(101, 'x'));
  loop_.RunPosted();
  EXPECT_EQ(handler_.hang_ups, 1);
}

// In many small pieces, too: what the session took out to write it counts no less.
TEST_F(HttpSessionTest, WhatWaitsBehindAStuckWriteIsBounded) {
  context_.limits.outbox_bytes = 100;
  peer_->takes_nothing = true;
  peer_->Send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
  handler_.sink->Begin({.status = 200, .content_type = "text/plain", .body = {}, .headers = {}});
  for (int i = 0; i < 20 && handler_.hang_ups == 0; ++i) {
    handler_.sink->Write(std::string(10, 'x'));
    loop_.RunPosted();
  }
  EXPECT_EQ(handler_.hang_ups, 1);
}

TEST_F(HttpSessionTest, ATrickledHeadEndsOnTime) {
  peer_->Send("GET ");
  for (int i = 0; i < 9; ++i) {
    loop_.Advance(absl::Milliseconds(500));
    peer_->Send("/");
  }
  EXPECT_FALSE(peer_->closed);
  loop_.Advance(absl::Milliseconds(600));
  EXPECT_TRUE(peer_->closed);
}

TEST_F(HttpSessionTest, ATrickledBodyEndsOnTimeAndASlowOneDoesNot) {
  peer_->Send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 90\r\n\r\n");
  loop_.Advance(absl::Seconds(4.9));
  peer_->Send("x");
  loop_.Advance(absl::Seconds(0.2));
  ExpectReceived("408 Request Timeout");
}

TEST_F(HttpSessionTest, RefusesBeforeTheBodyIsSent) {
  peer_->Send(
      "POST /refuse HTTP/1.1\r\nHost: h\r\nContent-Length: 50\r\nExpect: "
      "100-continue\r\n\r\n");
  const std::string received = peer_->Received();
  EXPECT_TRUE(absl::StartsWith(received, "HTTP/1.1 401")) << received;
  EXPECT_NE(received.find("Connection: close"), std::string::npos);
  EXPECT_TRUE(peer_->write_shut);
  EXPECT_FALSE(peer_->closed) << "bytes on their way must not reset the connection";
  loop_.Advance(absl::Seconds(3));
  EXPECT_TRUE(peer_->closed);
}

TEST_F(HttpSessionTest, SaysContinueToWhoAsks) {
  peer_->Send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(peer_->Received(), "HTTP/1.1 100 Continue\r\n\r\n");
  peer_->Send("hi");
  EXPECT_EQ(handler_.bodies.size(), 1u);
}

TEST_F(HttpSessionTest, BodiesHaveALimitByLengthAndByCount) {
  peer_->Send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 101\r\n\r\n");
  ExpectReceived("413 Content Too Large");
}

TEST_F(HttpSessionTest, AChunkedBodyHasTheSameLimit) {
  peer_->Send("POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n" +
              std::string(101, 'x'));
  ExpectReceived("413 Content Too Large");
}

TEST_F(HttpSessionTest, RefusesWhatIsNoHttpAndLargeHeads) {
  peer_->Send("\x16\x03\x01 hello\r\n\r\n");
  ExpectReceived("400 Bad Request");
}

TEST_F(HttpSessionTest, LargeHeadsAreRefused) {
  peer_->Send("GET / HTTP/1.1\r\nX: " + std::string(20000, 'x'));
  ExpectReceived("431 Request Header Fields Too Large");
}

TEST_F(HttpSessionTest, TakesAGoodIdOfTheClientAndNoOther) {
  peer_->Send("GET / HTTP/1.1\r\nHost: h\r\nX-Request-Id: mine-1\r\n\r\n");
  EXPECT_EQ(handler_.heads.back().request_id, "mine-1");
  Reply(200, "");
  peer_->Send("GET / HTTP/1.1\r\nHost: h\r\nX-Request-Id: a b\r\n\r\n");
  EXPECT_EQ(handler_.heads.back().request_id, "id1");
}

TEST_F(HttpSessionTest, IdleConnectionsEndWhenDrainedOthersAfterTheirResponse) {
  peer_->Send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  context_.draining = true;
  (*context_.open.begin())->Drain();
  EXPECT_FALSE(peer_->closed);
  Reply(200, "last");
  ExpectReceived("Connection: close");
  EXPECT_TRUE(peer_->write_shut);
}

TEST_F(HttpSessionTest, AnIdleConnectionEnds) {
  loop_.Advance(absl::Seconds(74));
  EXPECT_FALSE(peer_->closed);
  loop_.Advance(absl::Seconds(2));
  EXPECT_TRUE(peer_->closed);
}

}  // namespace
}  // namespace superfluid::daemon
