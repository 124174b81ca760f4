#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_HTTP_WEBSOCKET_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_HTTP_WEBSOCKET_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tools/superfluidd/http/http_message.h"

// The server's side of WebSocket (RFC 6455), without extensions, as functions and a parser over
// bytes: no socket.
namespace superfluid::daemon {

enum class WebSocketCode : uint16_t {
  kNormal = 1000,
  kGoingAway = 1001,
  kProtocolError = 1002,
  kUnsupported = 1003,
  kBadText = 1007,
  kPolicy = 1008,
  kTooLarge = 1009,
  kInternal = 1011,
};

// Takes what a client sends, whole messages at a time.
class WebSocketSink {
 public:
  virtual ~WebSocketSink() = default;
  virtual void OnText(std::string_view message) = 0;
  virtual void OnBinary(std::string_view message) = 0;
  // To be answered with a Pong of the same payload.
  virtual void OnPing(std::string_view payload) = 0;
  // The client closes, or broke a rule: `code` is to be sent back in a closing frame. Nothing
  // follows.
  virtual void OnClose(WebSocketCode code, std::string_view reason) = 0;
};

// Reads the frames of a client from bytes as they come. Threads: one.
class WebSocketReader {
 public:
  // REQUIRES: `sink` outlives the reader.
  WebSocketReader(WebSocketSink& sink, size_t max_message)
      : sink_(sink), max_message_(max_message) {}

  // Takes the next bytes; calls the sink for each message that is complete with them. After OnClose
  // it does nothing.
  void Feed(std::string_view bytes);

 private:
  struct Header {
    bool final = false;
    uint8_t opcode = 0;
    uint64_t length = 0;
    size_t bytes = 0;  // of the header, with the mask
    char mask[4] = {};
  };

  // Returns nullopt if there are too few bytes, or the reader has closed.
  std::optional<Header> ParseHeader(std::string_view bytes);
  bool CheckHeader(const Header& header);
  void OnFrame(const Header& header, std::string payload);
  void OnControl(uint8_t opcode, const std::string& payload);
  void OnClosing(const std::string& payload);
  void Fail(WebSocketCode code, std::string_view why);

  WebSocketSink& sink_;
  const size_t max_message_;
  std::string input_;
  std::string message_;  // of the fragments so far
  uint8_t opcode_ = 0;   // of the message in fragments; 0: there is none
  bool closed_ = false;
};

// Frames of the server.
std::string WebSocketText(std::string_view message);
std::string WebSocketPing();
std::string WebSocketPong(std::string_view payload);
std::string WebSocketClose(WebSocketCode code, std::string_view reason);

// Returns whether a request asks for WebSocket.
bool IsWebSocketUpgrade(const RequestHead& head);

// Returns the answer with status 101. `protocol`: the subprotocol that was chosen; empty: none.
// REQUIRES: IsWebSocketUpgrade(head).
HttpReply WebSocketUpgrade(const RequestHead& head, std::string_view protocol);

// Returns whether all of `text` is UTF-8, without surrogates and overlong forms.
bool IsUtf8(std::string_view text);

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_HTTP_WEBSOCKET_H_
