// The frames of a WebSocket's client: however they are cut, the messages are the same; texts are
// UTF-8, and nothing is longer than it may be.

#include <string>

#include "tests/fuzz/in_pieces.h"
#include "tests/fuzz/target.h"
#include "tools/superfluidd/http/websocket.h"

namespace superfluid::fuzz {
namespace {

constexpr size_t kMaxMessage = 1000;

class Messages final : public daemon::WebSocketSink {
 public:
  void OnText(std::string_view message) override {
    Require(daemon::IsUtf8(message));
    Tell('t', message);
  }
  void OnBinary(std::string_view message) override { Tell('b', message); }
  void OnPing(std::string_view payload) override {
    Require(!daemon::WebSocketPong(payload).empty());
    Tell('p', payload);
  }
  void OnClose(daemon::WebSocketCode code, std::string_view reason) override {
    Require(!daemon::WebSocketClose(code, reason).empty());
    Tell('c', reason);
    closed = true;
  }
  std::string told;
  bool closed = false;

 private:
  void Tell(char kind, std::string_view bytes) {
    Require(!closed && bytes.size() <= kMaxMessage);
    told += kind + std::to_string(bytes.size()) + ":" + std::string(bytes);
  }
};

}  // namespace

void FuzzOne(std::string_view bytes) {
  RequireSame([bytes](size_t piece) {
    Messages messages;
    daemon::WebSocketReader reader(messages, kMaxMessage);
    FeedInPieces(bytes, piece, [&](std::string_view part) { reader.Feed(part); });
    return messages.told;
  });
}

}  // namespace superfluid::fuzz
