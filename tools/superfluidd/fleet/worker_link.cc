#include "tools/superfluidd/fleet/worker_link.h"

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "protocol/messages/status.h"
#include "tools/superfluidd/fleet/refused_param.h"
#include "tools/version.h"

namespace superfluid::daemon {
namespace {

constexpr uint32_t kProgressMs = 200;                      // of live audio
constexpr uint32_t kFewPlaces = 1;                         // of an engine that does not say
constexpr absl::Duration kEndPatience = absl::Seconds(2);  // of a process whose link is lost

nlohmann::json Capabilities(const linkw::HelloAck& ack) {
  nlohmann::json parsed =
      nlohmann::json::parse(ack.capabilities_json, nullptr, /*allow_exceptions=*/false);
  return parsed.is_object() ? parsed : nlohmann::json::object();
}

// Returns the largest number under one of these keys, in the object or in an object inside it.
uint32_t LargestOf(const nlohmann::json& object, const std::vector<std::string>& keys) {
  uint32_t largest = 0;
  for (const auto& [key, value] : object.items()) {
    const bool named = std::find(keys.begin(), keys.end(), key) != keys.end();
    if (named && value.is_number_unsigned()) largest = std::max(largest, value.get<uint32_t>());
    if (value.is_object()) largest = std::max(largest, LargestOf(value, keys));
  }
  return largest;
}

int64_t DeadlineNs(int64_t now_ns, absl::Duration deadline) {
  constexpr absl::Duration kLongest = absl::Hours(24 * 30);
  return deadline > kLongest ? 0 : now_ns + absl::ToInt64Nanoseconds(deadline);
}

// What is left of a deadline, as Link W takes it; 0: there is none.
uint32_t DeadlineMs(int64_t now_ns, int64_t deadline_ns) {
  constexpr int64_t kNsPerMs = 1'000'000;
  if (deadline_ns == 0) return 0;
  return static_cast<uint32_t>(std::max<int64_t>((deadline_ns - now_ns) / kNsPerMs, 1));
}

}  // namespace

void ProcessHolder::Kill() {
  const std::lock_guard lock(mutex_);
  if (process_ != nullptr) process_->Signal(SIGKILL);
}

uint32_t PlacesOf(const linkw::HelloAck& ack, uint32_t wanted) {
  uint32_t places = LargestOf(Capabilities(ack), {"max_transcriptions", "max_jobs"});
  if (places == 0) places = wanted == 0 ? kFewPlaces : wanted;
  if (ack.limits.max_transcriptions > 0) places = std::min(places, ack.limits.max_transcriptions);
  if (wanted > 0) places = std::min(places, wanted);
  return std::max(places, 1U);
}

std::string EngineOf(const linkw::HelloAck& ack) {
  const nlohmann::json capabilities = Capabilities(ack);
  const auto engine = capabilities.find("engine");
  return engine != capabilities.end() && engine->is_string() ? engine->get<std::string>() : "";
}

void WorkerLinkState::Start(WorkerLinkConfig config) { config_ = std::move(config); }

// ---- The beginning

void WorkerLinkState::OnConnect() {
  if (absl::Status status = Connect(); !status.ok()) {
    return Leave(std::string(status.message()), kEndPatience);
  }
  compat::Send(self_, config_.supervisor,
               WorkerConnected{.key = config_.key,
                               .pid = process_->pid(),
                               .places = PlacesOf(client_->hello_ack(), config_.spec.places),
                               .engine = EngineOf(client_->hello_ack()),
                               .link = caf::actor_cast<WorkerLink>(self_)});
}

absl::Status WorkerLinkState::Connect() {
  OwnedFd frames;
  OwnedFd fds;
  absl::StatusOr<std::unique_ptr<WorkerProcess>> process =
      WorkerProcess::Start(config_.spec.command, &frames, &fds);
  if (!process.ok()) return process.status();
  process_ = *std::move(process);
  config_.holder->Set(process_);
  linkw::LinkClientOptions options;
  options.client_name = absl::StrCat("superfluidd ", kSuperfluidVersion);
  options.connect_timeout = config_.load_timeout;
  options.on_loading = [supervisor = config_.supervisor, key = config_.key](const auto& pong) {
    compat::SendFromOutside(supervisor, WorkerPonged{key, pong});
    return false;  // load_timeout counts from the start
  };
  options.on_activity = [activity = activity_,
                         weak = compat::Weak<WorkerLink>(caf::actor_cast<WorkerLink>(self_))] {
    if (!activity->exchange(true)) compat::SendFromOutside(weak.Lock(), RepliesArrived{});
  };
  absl::StatusOr<std::unique_ptr<linkw::LinkClient>> client =
      linkw::LinkClient::Adopt(frames.Release(), fds.Release(), std::move(options));
  if (!client.ok()) return client.status();
  client_ = *std::move(client);
  return absl::OkStatus();
}

// ---- Jobs

void WorkerLinkState::OnStartJob(const StartJob& start) {
  Job job;
  job.request = start.request;
  job.decoded = start.decoded;
  job.actor = start.actor;
  job.deadline_ns = DeadlineNs(compat::NowNs(self_), start.deadline);
  if (absl::Status status = Begin(job); !status.ok()) return FailJob(job, status);
  jobs_.emplace(start.number, std::move(job));
  OnReplies();
}

absl::Status WorkerLinkState::Begin(Job& job) {
  if (client_ == nullptr || retiring_) {
    return linkw::MakeStatus(linkw::Status::kDraining, "the worker ends");
  }
  return Transcribe(job);
}

absl::Status WorkerLinkState::Transcribe(Job& job) {
  const SpeechRequest& request = *job.request;
  linkw::Transcribe transcribe;
  absl::StatusOr<linkw::AudioSourceSpec> audio = OfferAudio(job);
  if (!audio.ok()) return audio.status();
  transcribe.audio = *std::move(audio);
  transcribe.language = request.language;
  transcribe.translate = request.translate;
  transcribe.timestamps = true;
  transcribe.prompt = request.prompt;
  transcribe.stream = request.stream;
  transcribe.partial_results = request.partials;
  transcribe.deadline_ms = DeadlineMs(compat::NowNs(self_), job.deadline_ns);
  if (request.audio == nullptr) transcribe.progress_ms = kProgressMs;
  transcribe.label =
      request.trace_id.empty() ? request.id : absl::StrCat(request.id, " trace=", request.trace_id);
  absl::StatusOr<std::unique_ptr<linkw::TranscriptionStream>> stream =
      client_->Transcribe(transcribe);
  if (!stream.ok()) return stream.status();
  job.stream = *std::move(stream);
  return absl::OkStatus();
}

absl::StatusOr<linkw::AudioSourceSpec> WorkerLinkState::OfferAudio(Job& job) {
  const SpeechRequest& request = *job.request;
  if (request.audio == nullptr) return linkw::AudioLive{.format = request.live_format};
  const bool is_decoded = job.decoded.samples != nullptr;
  const AudioBody& audio = is_decoded ? *job.decoded.samples : *request.audio;
  absl::StatusOr<OwnedFd> fd = audio.SealedFd();
  if (!fd.ok()) return fd.status();
  const uint64_t tag = next_buffer_++;
  const linkw::BufId buffer{tag};
  if (absl::Status status = client_->SendFd(tag, fd->get()); !status.ok()) return status;
  absl::StatusOr<uint64_t> sent =
      client_->Send(linkw::BufAttach{.buf_id = buffer, .len = audio.size()});
  if (!sent.ok()) return sent.status();
  job.buffer = buffer;
  linkw::AudioBuffer offer = {
      .buf_id = buffer, .offset = 0, .length = audio.size(), .format = linkw::EncodedFile{}};
  if (is_decoded) offer.format = UploadDecoder::Format();
  return offer;
}

// If the link is lost, its end says so soon.
void WorkerLinkState::OnCancelJob(RequestNumber number) {
  const auto found = jobs_.find(number);
  if (found != jobs_.end()) found->second.stream->Cancel().IgnoreError();
}

void WorkerLinkState::OnSamples(const PushJobSamples& push) {
  const auto found = jobs_.find(push.number);
  if (found == jobs_.end()) return;
  found->second.stream->PushAudio(*push.samples, push.end).IgnoreError();
}

// ---- What the worker says

void WorkerLinkState::OnReplies() {
  *activity_ = false;
  if (client_ == nullptr) return;
  for (auto it = jobs_.begin(); it != jobs_.end();) {
    it = TakeReplies(it->second) ? jobs_.erase(it) : std::next(it);
  }
  TakePong();
  if (absl::Status status = client_->link_status(); !status.ok()) {
    return Leave(std::string(status.message()), kEndPatience);
  }
  if (retiring_ && jobs_.empty()) Leave("replaced", retire_patience_);
}

bool WorkerLinkState::TakeReplies(Job& job) {
  while (true) {
    absl::StatusOr<linkw::TranscriptionStream::Event> event =
        job.stream->Next(linkw::Deadline::After(absl::ZeroDuration()));
    if (!event.ok()) {
      if (!absl::IsDeadlineExceeded(event.status())) {
        FinishJob(job,
                  {linkw::FromAbsl(event.status()), std::string(event.status().message()), {}});
        return true;
      }
      if (job.audio_ms != job.stream->audio_ms()) {
        job.audio_ms = job.stream->audio_ms();
        compat::Send(self_, job.actor, JobAudio{job.audio_ms});
      }
      return false;
    }
    if (auto* segment = std::get_if<linkw::TranscribeSegment>(&*event)) {
      ReportSegment(job, std::move(*segment));
      continue;
    }
    FinishJob(job, std::get<linkw::StateSyncResult>(*std::move(event)));
    return true;
  }
}

void WorkerLinkState::ReportSegment(Job& job, linkw::TranscribeSegment segment) {
  compat::Send(self_, job.actor,
               JobSegment{std::make_shared<const linkw::TranscribeSegment>(std::move(segment))});
}

void WorkerLinkState::FinishJob(Job& job, linkw::StateSyncResult result) {
  if (job.buffer != linkw::BufId{}) {
    (void)client_->Send(linkw::BufRelease{.buf_id = job.buffer});  // a lost link is seen elsewhere
  }
  JobEnded ended = {.status = result.status, .message = result.message, .result = nullptr};
  if (auto* transcript = std::get_if<linkw::TranscribeResult>(&result.reply)) {
    ended.result = std::make_shared<const linkw::TranscribeResult>(std::move(*transcript));
  }
  if (ended.status == linkw::Status::kInvalidArgument ||
      ended.status == linkw::Status::kUnsupported) {
    ended.param = RefusedParam(*job.request, client_->hello_ack().capabilities_json);
  }
  if (ended.status == linkw::Status::kOk && ended.message.empty()) {
    ended.message = job.decoded.note;
  }
  compat::Send(self_, job.actor, std::move(ended));
}

// Ends a job that the worker has not taken, or that went with it.
void WorkerLinkState::FailJob(const Job& job, const absl::Status& status) {
  compat::Send(self_, job.actor,
               JobEnded{.status = linkw::FromAbsl(status),
                        .message = std::string(status.message()),
                        .result = nullptr});
}

void WorkerLinkState::FailJobs(const std::string& reason) {
  for (auto& [number, job] : jobs_) {
    FailJob(job, linkw::MakeStatus(linkw::Status::kLinkClosed, reason));
  }
}

// ---- Health

void WorkerLinkState::OnCheck() {
  if (client_ == nullptr) return;
  const int64_t now_ns = compat::NowNs(self_);
  if (pong_ != nullptr) {
    if (now_ns - pinged_ns_ > absl::ToInt64Nanoseconds(config_.silence)) process_->Signal(SIGKILL);
    return;
  }
  absl::StatusOr<std::unique_ptr<linkw::ReplyStream>> pong = client_->Start(linkw::Ping{});
  if (!pong.ok()) return;
  pong_ = *std::move(pong);
  pinged_ns_ = now_ns;
}

void WorkerLinkState::TakePong() {
  if (pong_ == nullptr) return;
  const absl::StatusOr<linkw::WorkerMessage> answer =
      pong_->Next(linkw::Deadline::After(absl::ZeroDuration()));
  if (!answer.ok()) return;
  if (const auto* pong = std::get_if<linkw::Pong>(&*answer)) {
    compat::Send(self_, config_.supervisor, WorkerPonged{config_.key, *pong});
  }
  pong_.reset();
}

// ---- The end

void WorkerLinkState::OnEnd(const EndWorker& end) {
  if (end.when_idle && !jobs_.empty()) {
    retiring_ = true;
    retire_patience_ = end.patience;
    return;
  }
  Leave(end.when_idle ? "replaced" : "told to end", end.patience);
}

void WorkerLinkState::Leave(const std::string& reason, absl::Duration patience) {
  FailJobs(absl::StrCat("the worker is gone: ", reason));
  pong_.reset();
  client_.reset();
  jobs_.clear();
  std::string text = reason;
  if (process_ != nullptr) absl::StrAppend(&text, " (", process_->WaitForEnd(patience), ")");
  config_.holder->Set(nullptr);
  compat::Send(self_, config_.supervisor, WorkerEnded{config_.key, text});
  self_->quit();
}

WorkerLink::behavior_type WorkerLinkBehavior(WorkerLink::stateful_pointer<WorkerLinkState> self,
                                             WorkerLinkConfig config) {
  self->state.Start(std::move(config));
  compat::Send(self, caf::actor_cast<WorkerLink>(self), ConnectWorker{});
  return {
      [self](const ConnectWorker&) { self->state.OnConnect(); },
      [self](const StartJob& start) { self->state.OnStartJob(start); },
      [self](const CancelJob& cancel) { self->state.OnCancelJob(cancel.number); },
      [self](const PushJobSamples& push) { self->state.OnSamples(push); },
      [self](const RepliesArrived&) { self->state.OnReplies(); },
      [self](const CheckWorker&) { self->state.OnCheck(); },
      [self](const EndWorker& end) { self->state.OnEnd(end); },
  };
}

}  // namespace superfluid::daemon
