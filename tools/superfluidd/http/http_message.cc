#include "tools/superfluidd/http/http_message.h"

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace superfluid::daemon {
namespace {

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

constexpr size_t kMaxRequestId = 64;

constexpr std::array<std::pair<int, std::string_view>, 23> kReasons = {{
    {100, "Continue"},
    {101, "Switching Protocols"},
    {200, "OK"},
    {202, "Accepted"},
    {204, "No Content"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {411, "Length Required"},
    {413, "Content Too Large"},
    {415, "Unsupported Media Type"},
    {426, "Upgrade Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {499, "Client Closed Request"},
    {500, "Internal Server Error"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
}};

// A header's value must not end its line: a response is one, whatever a value holds.
std::string OnOneLine(std::string_view value) {
  std::string line(value);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return absl::ascii_iscntrl(c) && c != '\t'; }, ' ');
  return line;
}

void AppendField(std::string& head, std::string_view name, std::string_view value) {
  absl::StrAppend(&head, View(name), ": ", OnOneLine(value), "\r\n");
}

}  // namespace

std::string_view RequestHead::Header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (absl::EqualsIgnoreCase(key, View(name))) return value;
  }
  return {};
}

std::string_view RequestHead::path() const {
  return std::string_view(target).substr(0, target.find('?'));
}

std::optional<std::string> RequestHead::Query(std::string_view name) const {
  const size_t mark = target.find('?');
  if (mark == std::string::npos) return std::nullopt;
  std::string_view rest = std::string_view(target).substr(mark + 1);
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
    const size_t equals = std::min(pair.find('='), pair.size());
    if (DecodeUrl(pair.substr(0, equals)) != name) continue;
    return DecodeUrl(pair.substr(std::min(equals + 1, pair.size())));
  }
  return std::nullopt;
}

std::string_view ReasonPhrase(int status) {
  for (const auto& [code, reason] : kReasons) {
    if (code == status) return reason;
  }
  return "Unknown";
}

std::string ResponseHead(const HttpReply& reply, BodyEnd end, size_t length, bool keep_alive,
                         std::string_view request_id) {
  std::string head =
      absl::StrCat("HTTP/1.1 ", reply.status, " ", View(ReasonPhrase(reply.status)), "\r\n");
  if (!reply.content_type.empty()) AppendField(head, "Content-Type", reply.content_type);
  if (end == BodyEnd::kChunked) AppendField(head, "Transfer-Encoding", "chunked");
  if (end == BodyEnd::kLength) AppendField(head, "Content-Length", std::to_string(length));
  if (!keep_alive && end != BodyEnd::kNoBody) AppendField(head, "Connection", "close");
  if (!request_id.empty()) AppendField(head, "X-Request-Id", request_id);
  for (const auto& [name, value] : reply.headers) AppendField(head, name, value);
  head += "\r\n";
  return head;
}

std::string Chunk(std::string_view bytes) {
  return absl::StrCat(absl::Hex(bytes.size()), "\r\n", View(bytes), "\r\n");
}

bool IsRequestId(std::string_view id) {
  return !id.empty() && id.size() <= kMaxRequestId && std::all_of(id.begin(), id.end(), [](char c) {
    return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.';
  });
}

std::string DecodeUrl(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      decoded.push_back(' ');
    } else if (text[i] == '%' && i + 2 < text.size() && absl::ascii_isxdigit(text[i + 1]) &&
               absl::ascii_isxdigit(text[i + 2])) {
      decoded += absl::HexStringToBytes(View(text.substr(i + 1, 2)));
      i += 2;
    } else {
      decoded.push_back(text[i]);
    }
  }
  return decoded;
}

}  // namespace superfluid::daemon
