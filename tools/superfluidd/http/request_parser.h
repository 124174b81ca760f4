#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_HTTP_REQUEST_PARSER_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_HTTP_REQUEST_PARSER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "tools/superfluidd/http/http_message.h"

namespace superfluid::daemon {

enum class ParseProblem { kNone, kBadRequest, kHeadTooLarge, kBodyTooLarge, kBodyRefused };

// Reads one HTTP/1.1 request from bytes as they come: its head, then its body, whose length the
// head says or which is chunked. Nothing of the body is copied or kept. A wrapper of Boost.Beast's
// parser, whose headers stay in one source.
//
// The head's end is a stop: the caller looks at it, may lower the limit of the body, and goes on.
// Threads: one.
class RequestParser {
 public:
  struct Limits {
    size_t head_bytes = size_t{16} << 10;
    uint64_t body_bytes = uint64_t{1} << 30;
  };
  // Takes a piece of the body; false refuses it.
  using OnBody = std::function<bool(std::string_view)>;

  explicit RequestParser(const Limits& limits);
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;
  ~RequestParser();

  // Takes what it can of `bytes`, and returns how much that was; the rest must be given again, with
  // what follows. Stops at the end of the head, at the end of the request, and at a problem.
  size_t Consume(std::string_view bytes, const OnBody& on_body);

  bool head_done() const;
  bool done() const;
  ParseProblem problem() const;
  // For people; empty if there is no problem.
  std::string problem_text() const;

  // REQUIRES: head_done().
  const RequestHead& head() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_HTTP_REQUEST_PARSER_H_
