#include "tools/superfluidd/http/websocket.h"

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace superfluid::daemon {
namespace {

class Collector : public WebSocketSink {
 public:
  void OnText(std::string_view message) override { texts.emplace_back(message); }
  void OnBinary(std::string_view message) override { binaries.emplace_back(message); }
  void OnPing(std::string_view payload) override { pings.emplace_back(payload); }
  void OnClose(WebSocketCode code, std::string_view) override {
    ++closes;
    last = code;
  }

  std::vector<std::string> texts;
  std::vector<std::string> binaries;
  std::vector<std::string> pings;
  int closes = 0;
  WebSocketCode last{};
};

// A client's frame, masked.
std::string Frame(uint8_t opcode, const std::string& payload, bool final = true) {
  std::string frame;
  frame.push_back(static_cast<char>((final ? 0x80 : 0) | opcode));
  if (payload.size() < 126) {
    frame.push_back(static_cast<char>(0x80 | payload.size()));
  } else {
    frame.push_back(static_cast<char>(0x80 | 126));
    frame.push_back(static_cast<char>(payload.size() >> 8));
    frame.push_back(static_cast<char>(payload.size() & 0xFF));
  }
  const std::string mask = "\x01\x02\x03\x04";
  frame += mask;
  for (size_t i = 0; i < payload.size(); ++i) {
    frame.push_back(static_cast<char>(payload[i] ^ mask[i % 4]));
  }
  return frame;
}

WebSocketCode CodeAfter(const std::string& bytes) {
  Collector collector;
  WebSocketReader reader(collector, 1000);
  reader.Feed(bytes);
  EXPECT_EQ(collector.closes, 1);
  return collector.last;
}

TEST(WebSocketTest, GivesWholeMessagesHoweverTheyAreCut) {
  const std::string bytes = Frame(1, "hello") + Frame(1, "frag", false) + Frame(9, "ping") +
                            Frame(0, "ment", false) + Frame(0, "s") +
                            Frame(2, std::string(300, 'b'));
  for (size_t piece = 1; piece < bytes.size(); piece += 3) {
    Collector collector;
    WebSocketReader reader(collector, 1000);
    for (size_t at = 0; at < bytes.size(); at += piece) reader.Feed(bytes.substr(at, piece));
    EXPECT_EQ(collector.texts, (std::vector<std::string>{"hello", "fragments"}));
    EXPECT_EQ(collector.pings, (std::vector<std::string>{"ping"}));
    EXPECT_EQ(collector.binaries, (std::vector<std::string>{std::string(300, 'b')}));
    EXPECT_EQ(collector.closes, 0);
  }
}

TEST(WebSocketTest, ClosesForEachBrokenRule) {
  std::string unmasked = Frame(1, "x");
  unmasked[1] = static_cast<char>(unmasked[1] & 0x7F);
  EXPECT_EQ(CodeAfter(unmasked), WebSocketCode::kProtocolError);
  std::string reserved = Frame(1, "x");
  reserved[0] = static_cast<char>(reserved[0] | 0x40);
  EXPECT_EQ(CodeAfter(reserved), WebSocketCode::kProtocolError);
  EXPECT_EQ(CodeAfter(Frame(0, "x")), WebSocketCode::kProtocolError);
  EXPECT_EQ(CodeAfter(Frame(1, "x", false) + Frame(1, "y")), WebSocketCode::kProtocolError);
  EXPECT_EQ(CodeAfter(Frame(9, "x", false)), WebSocketCode::kProtocolError);
  EXPECT_EQ(CodeAfter(Frame(9, std::string(126, 'x'))), WebSocketCode::kProtocolError);
  EXPECT_EQ(CodeAfter(Frame(3, "x")), WebSocketCode::kProtocolError);
  EXPECT_EQ(CodeAfter(Frame(1, std::string(1001, 'x'))), WebSocketCode::kTooLarge);
  EXPECT_EQ(CodeAfter(Frame(1, std::string(600, 'x'), false) + Frame(0, std::string(600, 'x'))),
            WebSocketCode::kTooLarge);
  EXPECT_EQ(CodeAfter(Frame(1, "\xC0\xAF")), WebSocketCode::kBadText);
  EXPECT_EQ(CodeAfter(Frame(8, "\x03")), WebSocketCode::kProtocolError);
  EXPECT_EQ(CodeAfter(Frame(8, "\x03\xED")), WebSocketCode::kProtocolError);  // 1005
  EXPECT_EQ(CodeAfter(Frame(8, "")), WebSocketCode::kNormal);
  EXPECT_EQ(CodeAfter(Frame(8, "\x03\xE9")), WebSocketCode::kGoingAway);
}

TEST(WebSocketTest, ReadsNothingBehindAClose) {
  Collector collector;
  WebSocketReader reader(collector, 1000);
  reader.Feed(Frame(8, "") + Frame(1, "late"));
  reader.Feed(Frame(1, "later"));
  EXPECT_TRUE(collector.texts.empty());
  EXPECT_EQ(collector.closes, 1);
}

TEST(WebSocketTest, WritesFramesOfEachLength) {
  EXPECT_EQ(WebSocketText("hi"), "\x81\x02hi");
  EXPECT_EQ(WebSocketText(std::string(200, 'x')).substr(0, 4), std::string("\x81\x7e\x00\xc8", 4));
  EXPECT_EQ(WebSocketText(std::string(70000, 'x')).substr(0, 10),
            std::string("\x81\x7f\x00\x00\x00\x00\x00\x01\x11\x70", 10));
  EXPECT_EQ(WebSocketClose(WebSocketCode::kNormal, "bye"),
            "\x88\x05\x03\xe8"
            "bye");
}

TEST(WebSocketTest, AcceptsAsTheStandardsExampleSays) {
  RequestHead head;
  head.method = "GET";
  head.headers = {{"Upgrade", "websocket"},
                  {"Connection", "keep-alive, Upgrade"},
                  {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="},
                  {"Sec-WebSocket-Version", "13"}};
  ASSERT_TRUE(IsWebSocketUpgrade(head));
  const HttpReply reply = WebSocketUpgrade(head, "realtime");
  EXPECT_EQ(reply.status, 101);
  EXPECT_EQ(reply.headers[2].second, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  EXPECT_EQ(reply.headers[3].second, "realtime");
  head.headers[3].second = "12";
  EXPECT_FALSE(IsWebSocketUpgrade(head));
}

TEST(WebSocketTest, KnowsUtf8) {
  EXPECT_TRUE(IsUtf8("a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"));
  for (const char* bad : {"\x80", "\xC3", "\xC1\x80", "\xE0\x9F\x80", "\xED\xA0\x80",
                          "\xF0\x8F\x80\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80"}) {
    EXPECT_FALSE(IsUtf8(bad)) << bad;
  }
}

// Whatever comes, the reader closes once at most and keeps no more than a message and a frame.
TEST(WebSocketTest, SurvivesMutations) {
  const char* given = std::getenv("SUPERFLUID_SEED");
  const auto seed = given != nullptr ? std::strtoull(given, nullptr, 10) : 20261202;
  std::mt19937_64 random(seed);
  const std::string good = Frame(1, "hello") + Frame(1, "frag", false) + Frame(0, "ment") +
                           Frame(9, "p") + Frame(2, std::string(130, 'b')) + Frame(8, "");
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = good;
    for (auto i = random() % 4; i > 0; --i)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    Collector collector;
    WebSocketReader reader(collector, 1000);
    for (size_t at = 0; at < bytes.size();) {
      const size_t piece = 1 + random() % 30;
      reader.Feed(std::string_view(bytes).substr(at, piece));
      at += piece;
    }
    ASSERT_LE(collector.closes, 1) << "seed " << seed << " round " << round;
    for (const std::string& text : collector.texts) ASSERT_TRUE(IsUtf8(text));
  }
}

}  // namespace
}  // namespace superfluid::daemon
