#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_HTTP_HTTP_MESSAGE_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_HTTP_HTTP_MESSAGE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Requests and responses as plain values: no socket, no library. Threads: as for any value.
namespace superfluid::daemon {

// Header fields in the order in which they came.
using HeaderList = std::vector<std::pair<std::string, std::string>>;

// Where a request stands in a distributed trace, as W3C Trace Context has it: hexadecimal ids.
struct TraceContext {
  std::string trace_id;   // 32 digits
  std::string span_id;    // 16 digits: of this request here
  std::string parent_id;  // 16 digits: of the client's span; empty: the trace begins here
};

// A request without its body.
struct RequestHead {
  std::string method;
  std::string target;  // as sent: path and query
  HeaderList headers;
  bool keep_alive = true;
  bool is_http10 = false;
  std::optional<uint64_t> content_length;  // absent: no body, or chunked
  bool has_body = false;

  // Set by HttpHandler::Identify. The id is unique among those that are open, and sent back as
  // x-request-id.
  std::string request_id;
  TraceContext trace;
  std::string peer;  // of the client, for the log; set by the session

  // Returns the first value of a field, whatever the case of its name; empty if it is missing.
  std::string_view Header(std::string_view name) const;
  // Returns the target without its query.
  std::string_view path() const;
  // Returns the decoded value of a query's parameter; nullopt if it is missing.
  std::optional<std::string> Query(std::string_view name) const;
};

// A whole response.
struct HttpReply {
  int status = 200;
  std::string content_type;
  std::string body;
  HeaderList headers;  // besides content-type, content-length, connection and x-request-id
};

// How the head of a response says where its body ends.
enum class BodyEnd { kLength, kChunked, kClose, kNoBody };

// Returns the reason phrase of a status that this daemon uses; "Unknown" for others.
std::string_view ReasonPhrase(int status);

// Returns the head of a response, with the empty line. `length` counts for kLength only.
std::string ResponseHead(const HttpReply& reply, BodyEnd end, size_t length, bool keep_alive,
                         std::string_view request_id);

// Returns one chunk of a chunked body. REQUIRES: `bytes` is not empty (that would end the body).
std::string Chunk(std::string_view bytes);

inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

// Returns whether an id that a client chose can stand in a log and a path: 1 to 64 letters, digits,
// '-', '_' and '.'.
bool IsRequestId(std::string_view id);

// Returns `text` with %XX and + decoded.
std::string DecodeUrl(std::string_view text);

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_HTTP_HTTP_MESSAGE_H_
