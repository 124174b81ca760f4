#include "tools/superfluidd/api/realtime_socket.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace superfluid::daemon {
namespace {

constexpr absl::Duration kBeat = absl::Seconds(20);
constexpr size_t kPieceBytes = size_t{64} << 10;  // of audio, at once

ApiError StateError(std::string message, std::string code) {
  return {.status = 400,
          .message = std::move(message),
          .type = "invalid_request_error",
          .code = std::move(code),
          .param = {}};
}

}  // namespace

// Brings what a request reports to the loop. The socket may be gone by then.
class RealtimeSocket::Listener final : public RequestListener {
 public:
  Listener(std::weak_ptr<RealtimeSocket> socket, IoLoop* loop, uint64_t turn, SpeechRequest request,
           std::shared_ptr<RequestObserver> observer)
      : socket_(std::move(socket)),
        loop_(loop),
        turn_(turn),
        request_(std::move(request)),
        observer_(std::move(observer)) {}

  void OnSegment(const linkw::TranscribeSegment& segment) override {
    if (segment.is_partial) return;
    Post([turn = turn_, segment](RealtimeSocket& socket) { socket.OnSegment(turn, segment); });
  }
  void OnAudio(int64_t audio_ms) override {
    Post([turn = turn_, audio_ms](RealtimeSocket& socket) { socket.OnAudio(turn, audio_ms); });
  }
  void OnEnded(const RequestOutcome& outcome) override {
    if (observer_ != nullptr) observer_->OnRequestEnded(request_, outcome);
    Post([turn = turn_, outcome](RealtimeSocket& socket) { socket.OnEnded(turn, outcome); });
  }

 private:
  template <class Function>
  void Post(Function function) {
    loop_->Post([weak = socket_, function = std::move(function)] {
      if (const auto socket = weak.lock()) function(*socket);
    });
  }

  const std::weak_ptr<RealtimeSocket> socket_;
  IoLoop* const loop_;
  const uint64_t turn_;
  const SpeechRequest request_;
  const std::shared_ptr<RequestObserver> observer_;
};

std::string ChooseProtocol(const RequestHead& head) {
  const std::string_view offered = head.Header("sec-websocket-protocol");
  for (const absl::string_view name :
       absl::StrSplit(absl::string_view(offered.data(), offered.size()), ',')) {
    if (absl::StripAsciiWhitespace(name) == "realtime") return "realtime";
  }
  return "";
}

RealtimeSocket::RealtimeSocket(RealtimeContext context, std::shared_ptr<ResponseSink> sink)
    : context_(std::move(context)),
      sink_(std::move(sink)),
      reader_(*this, kMaxMessageBytes),
      beat_(context_.loop->MakeTimer()) {
  settings_.model = context_.model;
  voice_.emplace(VoiceDetector::Options{});
}

void RealtimeSocket::Start() {
  // The members that OpenAI's and vLLM's clients look at, in one event.
  Send({{"type", "session.created"},
        {"id", context_.session_id},
        {"created", 0},
        {"session", SessionJson(settings_, dialect_, context_.session_id)}});
  Beat();
}

// ---- From the connection

void RealtimeSocket::OnBytes(std::string_view bytes) {
  heard_ = true;
  reader_.Feed(bytes);
}

void RealtimeSocket::OnHangUp() {
  closed_ = true;
  beat_->Cancel();
  CancelAll(CancelCause::kHangUp);
}

// Turns that are being answered are finished; a client that still speaks is sent away.
void RealtimeSocket::OnDrain() {
  draining_ = true;
  EndTurn();
  if (turns_.empty()) Close(WebSocketCode::kGoingAway, "the daemon is shutting down");
}

void RealtimeSocket::OnBinary(std::string_view) {
  Close(WebSocketCode::kUnsupported, "audio comes as base64 in text");
}

void RealtimeSocket::OnPing(std::string_view payload) { sink_->Write(WebSocketPong(payload)); }

void RealtimeSocket::OnClose(WebSocketCode code, std::string_view reason) {
  CancelAll(CancelCause::kHangUp);
  Close(code, reason);
}

void RealtimeSocket::OnText(std::string_view message) {
  auto parsed = ParseClientEvent(message, settings_);
  if (const auto* error = std::get_if<ApiError>(&parsed)) return SendError(*error);
  const auto& event = std::get<ClientEvent>(parsed);
  std::visit([this](const auto& what) { On(what); }, event.what);
}

// ---- Events of the client

void RealtimeSocket::On(const UpdateSession& update) {
  const std::optional<std::string> model = context_.models.Resolve(update.settings.model);
  dialect_ = update.dialect;
  if (!model.has_value()) {
    return SendError(
        ModelNotFound(absl::StrCat("there is no model '", update.settings.model, "'")));
  }
  EndTurn();
  settings_ = update.settings;
  voice_.reset();
  frame_.clear();
  padding_.clear();
  if (const auto& turn = settings_.turn_detection) {
    voice_.emplace(VoiceDetector::Options{.rate_hz = settings_.rate_hz,
                                          .threshold = turn->threshold,
                                          .silence_ms = turn->silence_ms});
  }
  const char* type =
      dialect_ == Dialect::kOpenAiOlder ? "transcription_session.updated" : "session.updated";
  Send({{"type", type}, {"session", SessionJson(settings_, dialect_, context_.session_id)}});
}

void RealtimeSocket::On(const AppendAudio& append) {
  if (draining_) return;
  switch (settings_.coding) {
    case AudioCoding::kMuLaw:
      return Hear(DecodeMuLaw(append.bytes));
    case AudioCoding::kALaw:
      return Hear(DecodeALaw(append.bytes));
    case AudioCoding::kPcm16:
      break;
  }
  if (append.bytes.size() % 2 != 0) {
    return SendError(StateError("audio has half a sample", "invalid_value"));
  }
  Hear(append.bytes);
}

void RealtimeSocket::On(const CommitAudio& commit) {
  if (dialect_ == Dialect::kVllm && !commit.final.value_or(false)) return;
  if (current() == nullptr) {
    return SendError(StateError("there is no audio to commit", "input_audio_buffer_commit_empty"));
  }
  EndTurn();
}

void RealtimeSocket::On(const ClearAudio&) {
  if (Turn* turn = current()) {
    turn->cleared = true;
    turn->handle->Cancel(CancelCause::kDeleted);
    current_ = 0;
  }
  frame_.clear();
  padding_.clear();
  Send({{"type", "input_audio_buffer.cleared"}});
}

// ---- Turns

int64_t RealtimeSocket::MsOf(size_t bytes) const {
  return static_cast<int64_t>(bytes / 2 * 1000 / settings_.rate_hz);
}

RealtimeSocket::Turn* RealtimeSocket::current() {
  const auto found = turns_.find(current_);
  return found == turns_.end() ? nullptr : &found->second;
}

void RealtimeSocket::Hear(std::string samples) {
  if (!voice_.has_value()) {
    if (samples.empty()) return;
    Turn& turn = current() == nullptr ? BeginTurn() : *current();
    turn.waiting += samples;
    return Pump(turn);
  }
  frame_ += samples;
  size_t at = 0;
  for (; frame_.size() - at >= voice_->frame_bytes(); at += voice_->frame_bytes()) {
    HearFrame(std::string_view(frame_).substr(at, voice_->frame_bytes()));
  }
  frame_.erase(0, at);
}

void RealtimeSocket::HearFrame(std::string_view frame) {
  const VoiceDetector::Change change = voice_->Feed(frame);
  padding_.append(frame);
  if (change == VoiceDetector::Change::kStarted) {
    Turn& turn = BeginTurn();
    const int64_t start_ms = std::max<int64_t>(voice_->at_ms() - MsOf(padding_.size()), 0);
    Send({{"type", "input_audio_buffer.speech_started"},
          {"audio_start_ms", start_ms},
          {"item_id", turn.item_id}});
  }
  if (Turn* turn = current()) {
    turn->waiting += std::exchange(padding_, {});
    Pump(*turn);
  }
  if (change == VoiceDetector::Change::kStopped && current() != nullptr) {
    Send({{"type", "input_audio_buffer.speech_stopped"},
          {"audio_end_ms", voice_->at_ms()},
          {"item_id", current()->item_id}});
    EndTurn();
  }
  const int64_t keep_ms = settings_.turn_detection->prefix_ms + VoiceDetector::kOnsetMs;
  const size_t keep = static_cast<size_t>(keep_ms) * settings_.rate_hz / 1000 * 2;
  if (padding_.size() > keep) padding_.erase(0, padding_.size() - keep);
}

RealtimeSocket::Turn& RealtimeSocket::BeginTurn() {
  current_ = next_turn_++;
  Turn& turn = turns_[current_];
  turn.item_id = absl::StrCat("item_", context_.session_id, "_", current_);
  SpeechRequest request;
  request.id = turn.item_id;
  request.trace_id = context_.trace.trace_id;
  request.span_id = context_.trace.span_id;
  request.tenant = context_.caller.tenant;
  request.priority = context_.caller.priority;
  request.model = context_.models.Resolve(settings_.model).value_or("");
  request.live_format = {.sample_rate_hz = settings_.rate_hz,
                         .channels = 1,
                         .sample_format = linkw::SampleFormat::kS16};
  request.language = settings_.language;
  request.prompt = settings_.prompt;
  request.stream = true;
  auto listener = std::make_shared<Listener>(weak_from_this(), context_.loop, current_, request,
                                             context_.observer);
  turn.handle = context_.service->Submit(std::move(request), std::move(listener));
  return turn;
}

void RealtimeSocket::EndTurn() {
  Turn* turn = current();
  if (turn == nullptr) return;
  current_ = 0;
  turn->ended = true;
  if (dialect_ != Dialect::kVllm) {
    Send({{"type", "input_audio_buffer.committed"},
          {"item_id", turn->item_id},
          {"previous_item_id", last_item_.empty() ? Json(nullptr) : Json(last_item_)}});
    const char* type =
        dialect_ == Dialect::kOpenAiOlder ? "conversation.item.created" : "conversation.item.added";
    Send({{"type", type},
          {"previous_item_id", last_item_.empty() ? Json(nullptr) : Json(last_item_)},
          {"item", ItemJson(turn->item_id)}});
  }
  last_item_ = turn->item_id;
  Pump(*turn);
}

// Sends audio that waits, as far as the worker keeps up.
void RealtimeSocket::Pump(Turn& turn) {
  while (!turn.waiting.empty() && turn.sent_ms - turn.consumed_ms < kMaxLeadMs) {
    const size_t size = std::min(turn.waiting.size(), kPieceBytes);
    turn.sent_ms += MsOf(size);
    turn.handle->PushAudio(turn.waiting.substr(0, size), false);
    turn.waiting.erase(0, size);
  }
  if (turn.waiting.size() > kMaxWaitingBytes) {
    return Close(WebSocketCode::kPolicy, "audio comes faster than it can be transcribed");
  }
  if (turn.ended && turn.waiting.empty() && !std::exchange(turn.end_sent, true)) {
    turn.handle->PushAudio("", true);
  }
}

void RealtimeSocket::OnSegment(uint64_t number, const linkw::TranscribeSegment& segment) {
  const auto found = turns_.find(number);
  if (found == turns_.end() || found->second.cleared) return;
  const std::string delta = found->second.text.Add(segment.text);
  if (!delta.empty()) SendDelta(found->second, delta, &segment);
}

void RealtimeSocket::OnAudio(uint64_t number, int64_t audio_ms) {
  const auto found = turns_.find(number);
  if (found == turns_.end()) return;
  found->second.consumed_ms = audio_ms;
  Pump(found->second);
}

void RealtimeSocket::OnEnded(uint64_t number, const RequestOutcome& outcome) {
  const auto found = turns_.find(number);
  if (found == turns_.end()) return;
  if (current_ == number) current_ = 0;
  if (!found->second.cleared) Complete(found->second, outcome);
  turns_.erase(found);
  if (draining_ && turns_.empty()) {
    Close(WebSocketCode::kGoingAway, "the daemon is shutting down");
  }
}

void RealtimeSocket::Complete(Turn& turn, const RequestOutcome& outcome) {
  if (outcome.status != linkw::Status::kOk) {
    const ApiError error = ErrorOf(outcome);
    if (dialect_ == Dialect::kVllm) return SendError(error);
    return Send({{"type", "conversation.item.input_audio_transcription.failed"},
                 {"item_id", turn.item_id},
                 {"content_index", 0},
                 {"error", ErrorJson(error)["error"]}});
  }
  const std::string rest = turn.text.Rest(outcome.result.text);
  if (!rest.empty()) SendDelta(turn, rest, nullptr);
  if (dialect_ == Dialect::kVllm) {
    return Send({{"type", "transcription.done"},
                 {"text", turn.text.text()},
                 {"usage", {{"prompt_tokens", 0}, {"completion_tokens", 0}, {"total_tokens", 0}}}});
  }
  Json event = {{"type", "conversation.item.input_audio_transcription.completed"},
                {"item_id", turn.item_id},
                {"content_index", 0},
                {"transcript", turn.text.text()},
                {"usage", DurationUsage(outcome.result)}};
  Send(std::move(event));
}

void RealtimeSocket::CancelAll(CancelCause cause) {
  for (auto& [number, turn] : turns_) turn.handle->Cancel(cause);
}

// ---- Saying something

void RealtimeSocket::Send(Json event) {
  if (closed_) return;
  event["event_id"] = absl::StrCat("event_", context_.session_id, "_", next_event_++);
  std::string text = ctl::JsonLine(event);
  text.pop_back();  // the line break
  sink_->Write(WebSocketText(text));
}

void RealtimeSocket::SendDelta(const Turn& turn, const std::string& delta,
                               const linkw::TranscriptSegment* segment) {
  if (dialect_ == Dialect::kVllm) return Send({{"type", "transcription.delta"}, {"delta", delta}});
  Json event = {{"type", "conversation.item.input_audio_transcription.delta"},
                {"item_id", turn.item_id},
                {"content_index", 0},
                {"delta", delta}};
  if (settings_.logprobs && segment != nullptr) event["logprobs"] = LogprobsJson(segment->words);
  Send(std::move(event));
}

void RealtimeSocket::SendError(const ApiError& error, const std::string& event_id) {
  Send(RealtimeErrorJson(error, event_id, dialect_));
}

void RealtimeSocket::Close(WebSocketCode code, std::string_view reason) {
  if (closed_) return;
  closed_ = true;
  beat_->Cancel();
  CancelAll(CancelCause::kHangUp);
  sink_->Write(WebSocketClose(code, reason));
  sink_->End();
}

// A client that says nothing, not even Pong, has gone without a word.
void RealtimeSocket::Beat() {
  if (!std::exchange(heard_, false)) return Close(WebSocketCode::kPolicy, "no sign of life");
  sink_->Write(WebSocketPing());
  beat_->Set(kBeat, [this] { Beat(); });
}

}  // namespace superfluid::daemon
