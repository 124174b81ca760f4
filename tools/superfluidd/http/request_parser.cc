#include "tools/superfluidd/http/request_parser.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <limits>
#include <utility>

namespace superfluid::daemon {
namespace {

namespace http = boost::beast::http;
using BeastError = boost::beast::error_code;
using BeastView = boost::beast::string_view;

std::string Text(BeastView view) { return {view.data(), view.size()}; }

// The shortest end of a chunked body, "0\r\n\r\n". Beast asserts that it gets so much at a time
// there: with less it would be ended by a client that sends "0\r\n" and then a byte.
constexpr size_t kLeastOfChunks = 5;

ParseProblem ProblemOf(const BeastError& error) {
  if (error == http::error::header_limit) return ParseProblem::kHeadTooLarge;
  if (error == http::error::body_limit) return ParseProblem::kBodyTooLarge;
  return ParseProblem::kBadRequest;
}

}  // namespace

// Collects the head, and passes the body on.
class RequestParser::Impl final : public http::basic_parser<true> {
 public:
  explicit Impl(const Limits& limits) {
    header_limit(static_cast<uint32_t>(
        std::min<size_t>(limits.head_bytes, std::numeric_limits<uint32_t>::max())));
    body_limit(limits.body_bytes);
    eager(false);
  }

  size_t Consume(std::string_view bytes, const OnBody& on_body) {
    on_body_ = &on_body;
    size_t at = 0;
    const bool had_head = is_header_done();
    while (problem_ == ParseProblem::kNone && !is_done() && at < bytes.size()) {
      if (had_head && chunked() && bytes.size() - at < kLeastOfChunks) break;
      BeastError error;
      const size_t used =
          put(boost::asio::const_buffer(bytes.data() + at, bytes.size() - at), error);
      at += used;
      if (error == http::error::need_more) break;
      if (error.failed()) Fail(error);
      if (!had_head && is_header_done()) break;
      if (used == 0) break;
    }
    if (is_header_done() && !had_head) FinishHead();
    on_body_ = nullptr;
    return at;
  }

  bool head_done() const { return is_header_done(); }
  bool finished() const { return is_done(); }
  ParseProblem problem() const { return problem_; }
  const std::string& problem_text() const { return problem_text_; }
  const RequestHead& head() const { return head_; }

 private:
  void Fail(const BeastError& error) {
    problem_ = body_refused_ ? ParseProblem::kBodyRefused : ProblemOf(error);
    problem_text_ = error.message();
  }

  void FinishHead() {
    head_.keep_alive = keep_alive();
    if (const auto length = content_length()) head_.content_length = *length;
    head_.has_body = chunked() || head_.content_length.value_or(0) > 0;
  }

  void Deliver(BeastView body, BeastError& error) {
    if (on_body_ == nullptr || (*on_body_)({body.data(), body.size()})) return;
    body_refused_ = true;
    error = http::error::body_limit;
  }

  void on_request_impl(http::verb, BeastView method, BeastView target, int version,
                       BeastError&) override {
    head_.is_http10 = version < 11;
    head_.method = Text(method);
    head_.target = Text(target);
  }
  void on_response_impl(int, BeastView, int, BeastError&) override {}
  void on_field_impl(http::field, BeastView name, BeastView value, BeastError&) override {
    head_.headers.emplace_back(Text(name), Text(value));
  }
  void on_header_impl(BeastError&) override {}
  void on_body_init_impl(const boost::optional<uint64_t>&, BeastError&) override {}
  size_t on_body_impl(BeastView body, BeastError& error) override {
    Deliver(body, error);
    return body.size();
  }
  void on_chunk_header_impl(uint64_t, BeastView, BeastError&) override {}
  size_t on_chunk_body_impl(uint64_t, BeastView body, BeastError& error) override {
    Deliver(body, error);
    return body.size();
  }
  void on_finish_impl(BeastError&) override {}

  RequestHead head_;
  const OnBody* on_body_ = nullptr;
  bool body_refused_ = false;
  ParseProblem problem_ = ParseProblem::kNone;
  std::string problem_text_;
};

RequestParser::RequestParser(const Limits& limits) : impl_(std::make_unique<Impl>(limits)) {}

RequestParser::~RequestParser() = default;

size_t RequestParser::Consume(std::string_view bytes, const OnBody& on_body) {
  return impl_->Consume(bytes, on_body);
}

bool RequestParser::head_done() const { return impl_->head_done(); }
bool RequestParser::done() const { return impl_->finished(); }
ParseProblem RequestParser::problem() const { return impl_->problem(); }
std::string RequestParser::problem_text() const { return impl_->problem_text(); }
const RequestHead& RequestParser::head() const { return impl_->head(); }

}  // namespace superfluid::daemon
