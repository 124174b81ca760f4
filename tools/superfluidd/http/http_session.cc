#include "tools/superfluidd/http/http_session.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/match.h"

namespace superfluid::daemon {
namespace {

constexpr size_t kSmallRead = size_t{4} << 10;
constexpr size_t kLargeRead = size_t{64} << 10;  // of a body
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

HttpSession::HttpSession(SessionContext& context, std::unique_ptr<NetStream> stream)
    : context_(context),
      stream_(std::move(stream)),
      timer_(context.loop->MakeTimer()),
      write_timer_(context.loop->MakeTimer()) {}

void HttpSession::Start() {
  context_.open.insert(shared_from_this());
  timer_->Set(context_.limits.open_timeout, [this] { OnTimer(); });
  stream_->Open([self = shared_from_this()](std::error_code error) {
    if (self->state_ != State::kOpening) return;
    if (error) return self->Close();
    self->state_ = State::kIdle;
    self->Process();
  });
}

void HttpSession::Drain() {
  if (state_ == State::kOpening || (state_ == State::kIdle && input_.empty())) return Close();
  if (socket_ != nullptr) socket_->OnDrain();
}

// ---- Reading

void HttpSession::ReadMore() {
  if (reading_ || input_ended_ || state_ == State::kClosed) return;
  reading_ = true;
  const size_t size = state_ == State::kBody ? kLargeRead : kSmallRead;
  if (read_buffer_.size() != size) read_buffer_ = std::vector<char>(size);
  stream_->Read(read_buffer_.data(), size,
                [self = shared_from_this()](std::error_code error, size_t bytes) {
                  self->OnRead(error, bytes);
                });
}

void HttpSession::OnRead(std::error_code error, size_t bytes) {
  reading_ = false;
  if (state_ == State::kClosed) return;
  if (error) {
    input_ended_ = true;
    return Close();
  }
  OnBytes({read_buffer_.data(), bytes});
}

void HttpSession::OnBytes(std::string_view bytes) {
  if (state_ == State::kLingering || (state_ == State::kResponding && !keep_alive_)) {
    return ReadMore();
  }
  if (state_ == State::kUpgraded) {
    socket_->OnBytes(bytes);
    return ReadMore();
  }
  if (state_ == State::kBody && input_.empty()) bytes.remove_prefix(ParseBody(bytes));
  input_.append(bytes);
  Process();
}

// Each step returns whether the next can be taken at once.
void HttpSession::Process() {
  bool again = true;
  while (again) {
    switch (state_) {
      case State::kIdle:
        again = ProcessIdle();
        break;
      case State::kHead:
        again = ProcessHead();
        break;
      case State::kBody:
        again = ProcessBody();
        break;
      default:
        again = false;
    }
  }
  if (state_ == State::kResponding && input_.size() > context_.limits.pipelined_bytes) return;
  ReadMore();
}

bool HttpSession::ProcessIdle() {
  if (context_.draining && input_.empty()) {
    Close();
    return false;
  }
  if (input_.empty()) {
    timer_->Set(context_.limits.idle_timeout, [this] { OnTimer(); });
    return false;
  }
  BeginRequest();
  return true;
}

void HttpSession::BeginRequest() {
  state_ = State::kHead;
  timer_->Set(context_.limits.head_timeout, [this] { OnTimer(); });
  // The body has a limit of its own once the head has been looked at.
  parser_ = std::make_unique<RequestParser>(RequestParser::Limits{
      .head_bytes = context_.limits.head_bytes, .body_bytes = uint64_t{1} << 62});
  head_ = {};
  has_head_ = false;
  plan_ = {};
  form_.reset();
  text_.clear();
  body_status_ = absl::OkStatus();
  bytes_in_ = bytes_out_ = 0;
  status_ = 0;
  started_ = context_.loop->Now();
  keep_alive_ = true;
  response_ended_ = false;
}

bool HttpSession::ProcessHead() {
  input_.erase(0, parser_->Consume(input_, nullptr));
  if (parser_->problem() != ParseProblem::kNone) {
    OnProblem();
    return false;
  }
  if (!parser_->head_done()) return false;
  head_ = parser_->head();
  has_head_ = true;
  head_.peer = stream_->Peer();
  context_.handler->Identify(head_);
  keep_alive_ = head_.keep_alive;
  OnHeadDone();
  return true;
}

void HttpSession::OnHeadDone() {
  auto decision = context_.handler->OnHead(head_);
  if (auto* reply = std::get_if<HttpReply>(&decision)) {
    if (head_.has_body) keep_alive_ = false;
    return ReplyNow(std::move(*reply));
  }
  if (auto* upgrade = std::get_if<UpgradePlan>(&decision)) return Upgrade(std::move(*upgrade));
  ReceiveBody(std::get<BodyPlan>(decision));
}

void HttpSession::ReceiveBody(const BodyPlan& plan) {
  plan_ = plan;
  if (!head_.has_body) return OnBodyDone();
  if (head_.content_length.value_or(0) > plan.max_bytes) {
    return RefuseAndClose(413, "the body is larger than this daemon takes");
  }
  if (plan.kind == BodyKind::kForm) {
    const auto boundary = BoundaryOf(head_.Header("content-type"));
    if (!boundary.has_value()) {
      return RefuseAndClose(400, "the body must be multipart/form-data with a boundary");
    }
    form_.emplace(*boundary, context_.uploads, FormReader::Limits{});
  }
  state_ = State::kBody;
  SetBodyTimer();
  if (absl::EqualsIgnoreCase(
          absl::string_view(head_.Header("expect").data(), head_.Header("expect").size()),
          "100-continue")) {
    output_ += kContinue;
    WriteNext();
  }
}

bool HttpSession::ProcessBody() {
  input_.erase(0, ParseBody(input_));
  if (state_ != State::kBody) return false;
  if (parser_->problem() != ParseProblem::kNone) {
    OnProblem();
    return false;
  }
  if (!parser_->done()) return false;
  OnBodyDone();
  return false;
}

size_t HttpSession::ParseBody(std::string_view bytes) {
  const size_t used =
      parser_->Consume(bytes, [this](std::string_view piece) { return TakeBody(piece); });
  SetBodyTimer();
  return used;
}

bool HttpSession::TakeBody(std::string_view bytes) {
  bytes_in_ += bytes.size();
  if (bytes_in_ > plan_.max_bytes) {
    body_status_ = absl::OutOfRangeError("the body is larger than this daemon takes");
    return false;
  }
  if (form_.has_value()) {
    body_status_ = form_->Feed(bytes);
  } else if (plan_.kind == BodyKind::kText) {
    text_.append(bytes);
  }
  return body_status_.ok();
}

void HttpSession::SetBodyTimer() {
  const absl::Duration earned =
      absl::Seconds(1) *
      (static_cast<double>(bytes_in_) / static_cast<double>(context_.limits.body_bytes_per_second));
  const absl::Duration due = started_ + context_.limits.body_grace + earned;
  timer_->Set(std::max(due - context_.loop->Now(), absl::ZeroDuration()), [this] { OnTimer(); });
}

void HttpSession::RefuseBody(const absl::Status& status) {
  const int refused = absl::IsResourceExhausted(status) ? 503 : 400;
  RefuseAndClose(absl::IsOutOfRange(status) ? 413 : refused, std::string(status.message()));
}

void HttpSession::OnBodyDone() {
  timer_->Cancel();
  RequestBody body;
  if (form_.has_value()) {
    absl::StatusOr<UploadForm> form = form_->Finish();
    if (!form.ok()) return RefuseBody(form.status());
    body.form = *std::move(form);
    form_.reset();
  }
  body.text = std::move(text_);
  MakeOutbox();
  exchange_ = context_.handler->OnRequest(head_, std::move(body), outbox_);
}

void HttpSession::OnProblem() {
  switch (parser_->problem()) {
    case ParseProblem::kBodyRefused:
      return RefuseBody(body_status_);
    case ParseProblem::kHeadTooLarge:
      return RefuseAndClose(431, "the head of the request is too large");
    case ParseProblem::kBodyTooLarge:
      return RefuseAndClose(413, "the body is larger than this daemon takes");
    default:
      return RefuseAndClose(400, "this is no HTTP/1.1 request");
  }
}

// ---- Responding

void HttpSession::MakeOutbox() {
  state_ = State::kResponding;
  outbox_ = std::make_shared<Outbox>(
      [loop = context_.loop, weak = weak_from_this()] {
        loop->Post([weak] {
          if (auto self = weak.lock()) self->OnOutbox(self->outbox_.get());
        });
      },
      context_.limits.outbox_bytes);
}

void HttpSession::RefuseAndClose(int status, std::string_view message) {
  keep_alive_ = false;
  if (!has_head_) context_.handler->Identify(head_);
  ReplyNow(context_.handler->Refusal(status, message));
}

void HttpSession::ReplyNow(HttpReply reply) {
  timer_->Cancel();
  MakeOutbox();
  outbox_->Reply(std::move(reply));
}

void HttpSession::Upgrade(UpgradePlan plan) {
  timer_->Cancel();
  MakeOutbox();
  state_ = State::kUpgraded;
  keep_alive_ = false;
  status_ = plan.reply.status;
  output_ += ResponseHead(plan.reply, BodyEnd::kNoBody, 0, true, head_.request_id);
  chunked_ = false;
  socket_ = context_.handler->OnUpgrade(head_, outbox_);
  if (!input_.empty()) socket_->OnBytes(std::exchange(input_, {}));
  WriteNext();
}

void HttpSession::OnOutbox(const Outbox* outbox) {
  if (state_ == State::kClosed || outbox == nullptr) return;
  return outbox->overflowed() ? Close() : WriteNext();
}

void HttpSession::Format(Outbox::Item item) {
  using Kind = Outbox::Item::Kind;
  if (context_.draining) keep_alive_ = false;
  if (item.kind == Kind::kReply) {
    status_ = item.head.status;
    output_ += ResponseHead(item.head, BodyEnd::kLength, item.head.body.size(), keep_alive_,
                            head_.request_id);
    if (head_.method != "HEAD") output_ += item.head.body;
    response_ended_ = true;
  } else if (item.kind == Kind::kBegin) {
    status_ = item.head.status;
    chunked_ = !head_.is_http10;
    if (!chunked_) keep_alive_ = false;
    output_ += ResponseHead(item.head, chunked_ ? BodyEnd::kChunked : BodyEnd::kClose, 0,
                            keep_alive_, head_.request_id);
  } else if (item.kind == Kind::kBytes) {
    output_ += chunked_ ? Chunk(item.bytes) : item.bytes;
  } else {
    if (chunked_) output_ += kLastChunk;
    response_ended_ = true;
  }
}

void HttpSession::WriteNext() {
  if (!writing_.empty() || state_ == State::kClosed) return;
  // What waits while the client takes nothing stays in the outbox, which is bounded.
  if (outbox_ != nullptr) {
    for (Outbox::Item& item : outbox_->Take()) Format(std::move(item));
  }
  if (output_.empty()) {
    if (response_ended_) OnResponseDone();
    return;
  }
  writing_ = std::exchange(output_, {});
  write_timer_->Set(context_.limits.write_stall, [this] { Close(); });
  stream_->Write(writing_, [self = shared_from_this()](std::error_code error, size_t) {
    self->OnWritten(error);
  });
}

void HttpSession::OnWritten(std::error_code error) {
  write_timer_->Cancel();
  bytes_out_ += writing_.size();
  writing_.clear();
  if (state_ == State::kClosed) return;
  if (error) return Close();
  WriteNext();
}

void HttpSession::OnResponseDone() {
  exchange_.reset();
  Finish();
  if (!keep_alive_ || context_.draining || input_ended_) return Linger();
  state_ = State::kIdle;
  parser_.reset();
  Process();
}

// Tells what became of the request, once.
void HttpSession::Finish() {
  if (outbox_ == nullptr) return;
  outbox_->Close();
  outbox_.reset();
  response_ended_ = false;
  chunked_ = false;
  context_.handler->OnFinished({.head = &head_,
                                .status = status_ == 0 ? 499 : status_,
                                .hung_up = state_ == State::kClosed,
                                .bytes_in = bytes_in_,
                                .bytes_out = bytes_out_,
                                .duration = context_.loop->Now() - started_});
}

// ---- The end

void HttpSession::Close() {
  if (state_ == State::kClosed) return;
  const auto self = shared_from_this();
  state_ = State::kClosed;
  timer_->Cancel();
  write_timer_->Cancel();
  if (auto exchange = std::exchange(exchange_, nullptr)) exchange->OnHangUp();
  if (auto socket = std::exchange(socket_, nullptr)) socket->OnHangUp();
  Finish();
  stream_->Close();
  context_.open.erase(self);
}

// Bytes that are still on their way must not meet a closed socket: that would take the response
// from the client.
void HttpSession::Linger() {
  if (auto socket = std::exchange(socket_, nullptr)) socket->OnHangUp();
  state_ = State::kLingering;
  stream_->ShutdownWrite();
  if (input_ended_) return Close();
  timer_->Set(context_.limits.linger, [this] { OnTimer(); });
  ReadMore();
}

void HttpSession::OnTimer() {
  if (state_ == State::kBody) return RefuseAndClose(408, "the body comes too slowly");
  Close();
}

}  // namespace superfluid::daemon
