#include "tools/superfluidd/http/websocket.h"

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace superfluid::daemon {
namespace {

constexpr uint8_t kContinuation = 0x0;
constexpr uint8_t kText = 0x1;
constexpr uint8_t kBinary = 0x2;
constexpr uint8_t kClose = 0x8;
constexpr uint8_t kPing = 0x9;
constexpr uint8_t kPong = 0xA;
constexpr uint8_t kFinalBit = 0x80;
constexpr uint8_t kMaskBit = 0x80;
constexpr uint8_t kReservedBits = 0x70;
constexpr size_t kMaxControl = 125;
constexpr uint8_t kLength16 = 126;
constexpr uint8_t kLength64 = 127;
constexpr size_t kMaxReason = 120;
constexpr absl::string_view kGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

uint8_t Byte(std::string_view bytes, size_t at) { return static_cast<uint8_t>(bytes[at]); }

bool IsControl(uint8_t opcode) { return (opcode & 0x8) != 0; }

uint64_t BigEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i) value = (value << 8) | Byte(bytes, i);
  return value;
}

void AppendBigEndian(std::string& text, uint64_t value, size_t bytes) {
  for (size_t i = bytes; i-- > 0;) text.push_back(static_cast<char>((value >> (8 * i)) & 0xFF));
}

std::string Frame(uint8_t opcode, std::string_view payload) {
  std::string frame(1, static_cast<char>(kFinalBit | opcode));
  if (payload.size() <= kMaxControl) {
    frame.push_back(static_cast<char>(payload.size()));
  } else if (payload.size() <= 0xFFFF) {
    frame.push_back(static_cast<char>(kLength16));
    AppendBigEndian(frame, payload.size(), 2);
  } else {
    frame.push_back(static_cast<char>(kLength64));
    AppendBigEndian(frame, payload.size(), 8);
  }
  frame.append(payload);
  return frame;
}

// Whether a closing code may be sent by a client.
bool IsCloseCode(uint64_t code) {
  if (code >= 3000 && code <= 4999) return true;
  return code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006;
}

bool ListHas(std::string_view list, absl::string_view word) {
  for (const absl::string_view item : absl::StrSplit(View(list), ',')) {
    if (absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(item), word)) return true;
  }
  return false;
}

// The length of the sequence that begins with `lead`, and the range of its second byte.
struct Sequence {
  size_t length = 0;
  uint8_t low = 0x80;
  uint8_t high = 0xBF;
};

Sequence SequenceOf(uint8_t lead) {
  if (lead < 0x80) return {1};
  if (lead < 0xC2) return {0};
  if (lead < 0xE0) return {2};
  if (lead < 0xF0) {
    if (lead == 0xE0) return {3, 0xA0, 0xBF};
    if (lead == 0xED) return {3, 0x80, 0x9F};
    return {3};
  }
  if (lead == 0xF0) return {4, 0x90, 0xBF};
  if (lead < 0xF4) return {4};
  return lead == 0xF4 ? Sequence{4, 0x80, 0x8F} : Sequence{0};
}

}  // namespace

bool IsUtf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const Sequence sequence = SequenceOf(Byte(text, at));
    if (sequence.length == 0 || at + sequence.length > text.size()) return false;
    for (size_t i = 1; i < sequence.length; ++i) {
      const uint8_t byte = Byte(text, at + i);
      const uint8_t low = i == 1 ? sequence.low : 0x80;
      const uint8_t high = i == 1 ? sequence.high : 0xBF;
      if (byte < low || byte > high) return false;
    }
    at += sequence.length;
  }
  return true;
}

void WebSocketReader::Feed(std::string_view bytes) {
  if (closed_) return;
  input_.append(bytes);
  size_t at = 0;
  while (!closed_) {
    const std::string_view rest = std::string_view(input_).substr(at);
    const std::optional<Header> header = ParseHeader(rest);
    if (!header.has_value() || rest.size() - header->bytes < header->length) break;
    const auto length = static_cast<size_t>(header->length);
    std::string payload(rest.substr(header->bytes, length));
    for (size_t i = 0; i < payload.size(); ++i) {
      payload[i] = static_cast<char>(payload[i] ^ header->mask[i % 4]);
    }
    at += header->bytes + length;
    OnFrame(*header, std::move(payload));
  }
  input_.erase(0, at);
}

std::optional<WebSocketReader::Header> WebSocketReader::ParseHeader(std::string_view bytes) {
  if (bytes.size() < 2) return std::nullopt;
  Header header;
  header.final = (Byte(bytes, 0) & kFinalBit) != 0;
  header.opcode = Byte(bytes, 0) & 0x0F;
  if ((Byte(bytes, 0) & kReservedBits) != 0 || (Byte(bytes, 1) & kMaskBit) == 0) {
    Fail(WebSocketCode::kProtocolError, "a frame is not masked, or has reserved bits");
    return std::nullopt;
  }
  const uint8_t length = Byte(bytes, 1) & 0x7F;
  const size_t more = length == kLength16 ? 2 : (length == kLength64 ? 8 : 0);
  header.bytes = 2 + more + sizeof(header.mask);
  header.length = length;
  if (bytes.size() >= 2 + more && more > 0) header.length = BigEndian(bytes.substr(2, more));
  if (bytes.size() < 2 + more) return std::nullopt;
  if (!CheckHeader(header) || bytes.size() < header.bytes) return std::nullopt;
  bytes.copy(header.mask, sizeof(header.mask), 2 + more);
  return header;
}

bool WebSocketReader::CheckHeader(const Header& header) {
  if (IsControl(header.opcode)) {
    const bool known = header.opcode == kClose || header.opcode == kPing || header.opcode == kPong;
    if (known && header.final && header.length <= kMaxControl) return true;
    Fail(WebSocketCode::kProtocolError, "a control frame is wrong");
    return false;
  }
  const bool begins = header.opcode == kText || header.opcode == kBinary;
  if (!(begins && opcode_ == 0) && !(header.opcode == kContinuation && opcode_ != 0)) {
    Fail(WebSocketCode::kProtocolError, "a frame is out of order");
    return false;
  }
  if (header.length > max_message_ || message_.size() > max_message_ - header.length) {
    Fail(WebSocketCode::kTooLarge, "a message is too large");
    return false;
  }
  return true;
}

void WebSocketReader::OnFrame(const Header& header, std::string payload) {
  if (IsControl(header.opcode)) return OnControl(header.opcode, payload);
  if (header.opcode != kContinuation) opcode_ = header.opcode;
  message_ += payload;
  if (!header.final) return;
  const std::string message = std::exchange(message_, {});
  if (std::exchange(opcode_, 0) == kBinary) return sink_.OnBinary(message);
  if (!IsUtf8(message)) return Fail(WebSocketCode::kBadText, "a text is not UTF-8");
  sink_.OnText(message);
}

void WebSocketReader::OnControl(uint8_t opcode, const std::string& payload) {
  if (opcode == kPing) sink_.OnPing(payload);
  if (opcode == kClose) OnClosing(payload);
}

void WebSocketReader::OnClosing(const std::string& payload) {
  if (payload.empty()) return Fail(WebSocketCode::kNormal, "");
  if (payload.size() == 1 || !IsCloseCode(BigEndian(payload.substr(0, 2))) ||
      !IsUtf8(std::string_view(payload).substr(2))) {
    return Fail(WebSocketCode::kProtocolError, "a closing frame is wrong");
  }
  Fail(static_cast<WebSocketCode>(BigEndian(payload.substr(0, 2))), "");
}

void WebSocketReader::Fail(WebSocketCode code, std::string_view why) {
  closed_ = true;
  sink_.OnClose(code, why);
}

std::string WebSocketText(std::string_view message) { return Frame(kText, message); }

std::string WebSocketPing() { return Frame(kPing, ""); }

std::string WebSocketPong(std::string_view payload) { return Frame(kPong, payload); }

std::string WebSocketClose(WebSocketCode code, std::string_view reason) {
  std::string payload;
  AppendBigEndian(payload, static_cast<uint64_t>(code), 2);
  payload.append(reason.substr(0, kMaxReason));
  return Frame(kClose, payload);
}

bool IsWebSocketUpgrade(const RequestHead& head) {
  return head.method == "GET" && ListHas(head.Header("connection"), "upgrade") &&
         ListHas(head.Header("upgrade"), "websocket") &&
         head.Header("sec-websocket-version") == "13" && !head.Header("sec-websocket-key").empty();
}

HttpReply WebSocketUpgrade(const RequestHead& head, std::string_view protocol) {
  const std::string text = absl::StrCat(View(head.Header("sec-websocket-key")), kGuid);
  std::array<unsigned char, SHA_DIGEST_LENGTH> digest = {};
  SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  HttpReply reply = {.status = 101, .content_type = {}, .body = {}, .headers = {}};
  reply.headers = {
      {"Connection", "Upgrade"},
      {"Upgrade", "websocket"},
      {"Sec-WebSocket-Accept",
       absl::Base64Escape({reinterpret_cast<const char*>(digest.data()), digest.size()})}};
  if (!protocol.empty())
    reply.headers.emplace_back("Sec-WebSocket-Protocol", std::string(protocol));
  return reply;
}

}  // namespace superfluid::daemon
