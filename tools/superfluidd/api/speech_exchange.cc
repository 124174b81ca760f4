#include "tools/superfluidd/api/speech_exchange.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace superfluid::daemon {
namespace {

std::string Ms(absl::Duration duration) {
  return std::to_string(absl::ToInt64Milliseconds(duration));
}

HttpReply EventStreamHead() {
  return {.status = 200,
          .content_type = "text/event-stream; charset=utf-8",
          .body = {},
          .headers = {{"Cache-Control", "no-cache"}, {"X-Accel-Buffering", "no"}}};
}

// The head of a stream has gone, so what a cancel cost is with the error.
Json StreamError(const RequestOutcome& outcome) {
  Json json = ErrorJson(ErrorOf(outcome));
  if (outcome.figures.cancel.has_value()) {
    json["error"]["cost"] = {{"cancel_ms", absl::ToInt64Milliseconds(*outcome.figures.cancel)},
                             {"steps_after_cancel", outcome.result.stats.steps_after_cancel}};
  }
  return json;
}

}  // namespace

HeaderList CostHeaders(const RequestOutcome& outcome) {
  HeaderList headers = {{"X-Queue-Ms", Ms(outcome.figures.queued)},
                        {"X-Processing-Ms", Ms(outcome.figures.total - outcome.figures.queued)}};
  if (outcome.figures.cancel.has_value()) {
    headers.emplace_back("X-Cancel-Ms", Ms(*outcome.figures.cancel));
    headers.emplace_back("X-Steps-After-Cancel",
                         std::to_string(outcome.result.stats.steps_after_cancel));
  }
  return headers;
}

SpeechExchange::SpeechExchange(SpeechForm form, SpeechRequest request,
                               std::shared_ptr<ResponseSink> sink,
                               std::shared_ptr<RequestObserver> observer)
    : form_(std::move(form)),
      request_(std::move(request)),
      sink_(std::move(sink)),
      observer_(std::move(observer)) {}

void SpeechExchange::Start(SpeechService& service) {
  handle_ = service.Submit(request_, shared_from_this());
}

void SpeechExchange::OnHangUp() { handle_->Cancel(CancelCause::kHangUp); }

void SpeechExchange::OnAdmitted() {
  if (!form_.stream) return;
  streaming_ = true;
  sink_->Begin(EventStreamHead());
}

void SpeechExchange::OnSegment(const linkw::TranscribeSegment& segment) {
  if (!streaming_ || segment.is_partial) return;
  const std::string delta = text_.Add(segment.text);
  if (!delta.empty()) sink_->Write(ServerSentEvent(DeltaEvent(delta, form_, &segment)));
}

void SpeechExchange::OnEnded(const RequestOutcome& outcome) {
  if (observer_ != nullptr) observer_->OnRequestEnded(request_, outcome);
  if (streaming_) return EndStream(outcome);
  HttpReply reply = outcome.status == linkw::Status::kOk ? SpeechAnswer(form_, outcome.result)
                                                         : ErrorReply(ErrorOf(outcome));
  for (auto& header : CostHeaders(outcome)) reply.headers.push_back(std::move(header));
  if (outcome.retry_after > absl::ZeroDuration()) {
    const int64_t seconds = std::max<int64_t>(absl::ToInt64Seconds(outcome.retry_after), 1);
    reply.headers.emplace_back("Retry-After", std::to_string(seconds));
  }
  sink_->Reply(std::move(reply));
}

// A stream that failed ends with an error, never with a text that looks whole.
void SpeechExchange::EndStream(const RequestOutcome& outcome) {
  if (outcome.status != linkw::Status::kOk) {
    sink_->Write(ServerSentEvent(StreamError(outcome)));
    return sink_->End();
  }
  const std::string rest = text_.Rest(outcome.result.text);
  if (!rest.empty()) sink_->Write(ServerSentEvent(DeltaEvent(rest, form_, nullptr)));
  sink_->Write(ServerSentEvent(DoneEvent(text_.text(), form_, outcome.result)));
  sink_->Write("data: [DONE]\n\n");
  sink_->End();
}

}  // namespace superfluid::daemon
