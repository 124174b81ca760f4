// Ticks, state ops, and requests that are one call of the engine.

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "actors/dispatch/dispatcher.h"
#include "actors/engine/op_run.h"
#include "actors/runtime/refusal.h"
#include "actors/runtime/status_error.h"
#include "protocol/messages/status.h"

namespace superfluid {
namespace {

// A deadline further away than any clock reaches is none.
constexpr uint64_t kFarUs = uint64_t{1} << 50;

SequenceHandle ToEngine(linkw::SequenceId id) { return SequenceHandle{static_cast<uint64_t>(id)}; }

// The buffer that a call names.
std::optional<linkw::BufId> BufferOfCall(const linkw::DriverMessage& message) {
  const auto* request = std::get_if<linkw::StateSyncRequest>(&message);
  if (request == nullptr) return std::nullopt;
  const auto* stage = std::get_if<linkw::ForwardStage>(&request->call);
  if (stage == nullptr) return std::nullopt;
  const auto* span = std::get_if<linkw::BufferSpan>(&stage->hidden_in);
  return span == nullptr ? std::nullopt : std::optional(span->buf_id);
}

// The file that a call names, and where it may lie.
struct FileOfCall {
  bool of_model = false;  // else it is of media
  std::string path;
};

std::optional<FileOfCall> FileNamedBy(const linkw::DriverMessage& message) {
  const auto* request = std::get_if<linkw::StateSyncRequest>(&message);
  if (request == nullptr) return std::nullopt;
  if (const auto* load = std::get_if<linkw::LoraLoad>(&request->call)) {
    return FileOfCall{.of_model = true, .path = load->adapter_path};
  }
  if (const auto* probe = std::get_if<linkw::MediaProbe>(&request->call)) {
    return FileOfCall{.path = probe->path};
  }
  if (const auto* encode = std::get_if<linkw::MediaEncode>(&request->call)) {
    return FileOfCall{.path = encode->path};
  }
  return std::nullopt;
}

}  // namespace

// Whether the engine can serve such a request at all, and the link may have one more; else it was
// refused.
bool DispatcherState::MayGenerate(const Current& current, bool needs_rings) {
  if (!context_.loaded->generates) {
    RefuseRequest(current, linkw::Status::kUnsupported,
                  absl::StrCat("the engine '", context_.loaded->info.name, "' does not serve ",
                               std::string(linkw::MessageTypeName(current.type))));
    return false;
  }
  if (needs_rings && !rings_attached_) {
    RefuseRequest(current, linkw::Status::kFailedPrecondition,
                  absl::StrCat(std::string(linkw::MessageTypeName(current.type)),
                               " before all three rings are attached"));
    return false;
  }
  if (!requests_->HasRoom()) {
    RefuseRequest(
        current, linkw::Status::kBusy,
        absl::StrCat(requests_->unanswered(), " requests are open, the most that a link may have"));
    return false;
  }
  return true;
}

DispatcherState::Outcome DispatcherState::On(const Current& current, linkw::TickSubmit tick) {
  if (!MayGenerate(current, true)) return Outcome::kHandled;
  if ((tick.plan.flags & ~linkw::kTickFlagPartialEmits) != 0) {
    RefuseRequest(current, linkw::Status::kInvalidArgument,
                  absl::StrCat("a tick has no flags but bit 0: ", tick.plan.flags));
    return Outcome::kHandled;
  }
  auto token = std::make_shared<RequestToken>(context_.progress);
  int64_t deadline_ns = 0;
  if (const uint64_t us = tick.plan.deadline_us; us != 0) {
    if (us < kFarUs) deadline_ns = current.since_ns + static_cast<int64_t>(us) * 1000;
  }
  requests_->Open(current.seq,
                  {.kind = RequestKind::kTick, .token = token, .deadline_ns = deadline_ns});
  ArmDeadlineTimer();
  compat::Send(self_, context_.engine,
               QueueTick{.key = {context_.id, current.seq},
                         .message = std::make_shared<const linkw::DriverMessage>(std::move(tick)),
                         .token = std::move(token),
                         .received_ns = current.since_ns,
                         .deadline_ns = deadline_ns,
                         .writer = writer_,
                         .dispatcher = Dispatcher(self_),
                         .replies = replies_,
                         .credit = current.Kept().credit});
  return Outcome::kHandled;
}

DispatcherState::Outcome DispatcherState::On(const Current& current,
                                             const linkw::StateOpSubmit& submit) {
  if (!MayGenerate(current, false)) return Outcome::kHandled;
  const RequestKey key{context_.id, current.seq};
  auto token = std::make_shared<RequestToken>(context_.progress);
  const linkw::OpHandle handle{++last_op_};
  requests_->Open(current.seq, {.kind = RequestKind::kOp, .token = token}, Work{.op = handle});
  // The engine first: what is sent after this op must not overtake it while its buffer is read.
  compat::Send(self_, context_.engine,
               ReserveOp{.key = key, .sequence = ToEngine(SequenceOf(submit.op))});
  compat::Send(
      self_, state_ops_,
      SubmitOp{.seq = current.seq, .handle = handle, .op = submit.op, .token = std::move(token)});
  return Outcome::kHandled;
}

// Idempotent and without a reply: an op that is over, or never was, is ignored.
DispatcherState::Outcome DispatcherState::On(const Current& /*current*/,
                                             const linkw::OpCancel& cancel) {
  requests_->ForEach([&](uint64_t seq, const Requests::Entry& request) {
    if (request.kind == RequestKind::kOp && request.details.op == cancel.op_handle) {
      CancelOpen(seq, CancelReason::kRequested);
    }
  });
  return Outcome::kHandled;
}

DispatcherState::Outcome DispatcherState::On(const Current& current, linkw::MatchRequest match) {
  if (MayGenerate(current, true)) CallEngine(current, linkw::DriverMessage(std::move(match)));
  return Outcome::kHandled;
}

DispatcherState::Outcome DispatcherState::On(const Current& current, linkw::SeedAcquire acquire) {
  if (MayGenerate(current, true)) CallEngine(current, linkw::DriverMessage(std::move(acquire)));
  return Outcome::kHandled;
}

// Idempotent and without a reply; in order with what was sent before. It has no answer to wait for,
// so it counts against no limit; beyond `max_releases` the frame's credit bounds it.
DispatcherState::Outcome DispatcherState::On(const Current& current, linkw::SeedRelease release) {
  if (!context_.loaded->generates) return Outcome::kHandled;
  requests_->Open(current.seq, {.kind = RequestKind::kRelease, .has_answer = false});
  RunCall call = CallOf(current, linkw::DriverMessage(release));
  if (!requests_->HasRoomForReleases()) call.keep_alive = current.credit;
  SendCall(std::move(call));
  return Outcome::kHandled;
}

DispatcherState::Outcome DispatcherState::On(const Current& current,
                                             linkw::StrategyRegister strategy) {
  if (!MayGenerate(current, false)) return Outcome::kHandled;
  if (RefuseIfCancelled(current, RequestKind::kCall)) return Outcome::kHandled;
  const RunCall call = CallOf(current, linkw::DriverMessage(std::move(strategy)));
  CallWithFiles(current, call, BeginArtifactCheck(call));
  return Outcome::kHandled;
}

// The engine only reserves the call's place, until its files have been looked at. `begun`: whether
// a thread does that.
void DispatcherState::CallWithFiles(const Current& current, const RunCall& call,
                                    const absl::Status& begun) {
  if (!begun.ok()) {
    return RefuseRequest(current, linkw::Status::kBusy, std::string(begun.message()));
  }
  compat::Send(self_, context_.engine, ReserveCall{.key = call.key, .message = call.message});
  requests_->Open(current.seq, {.token = call.token},
                  Work{.frame = current.Kept(), .reserved = call, .awaits_files = true});
}

// Files may be large, and their mount may hang: the task holds no actor, and looks at the token
// between blocks. What is cancelled is not waited for (StopOutside).
absl::Status DispatcherState::BeginArtifactCheck(const RunCall& call) {
  const compat::Weak<Dispatcher> dispatcher{Dispatcher(self_)};
  return context_.readers->Begin([dispatcher, root = context_.model_root, seq = call.key.seq,
                                  message = call.message, token = call.token] {
    ArtifactsChecked checked =
        OpenArtifacts(root, std::get<linkw::StrategyRegister>(*message), *token);
    checked.seq = seq;
    compat::SendFromOutside(dispatcher.Lock(), std::move(checked));
  });
}

void DispatcherState::OnArtifactsChecked(const ArtifactsChecked& checked) {
  Requests::Entry* const request = requests_->Find(checked.seq);
  if (request == nullptr || !std::exchange(request->details.awaits_files, false)) return;
  RunCall call = std::exchange(request->details.reserved, {});
  if (!checked.status.ok()) {
    return FailReserved(checked.seq, linkw::FromAbsl(checked.status),
                        std::string(checked.status.message()));
  }
  call.message = std::make_shared<const linkw::DriverMessage>(*checked.strategy);
  call.keep_alive = checked.files;
  SendCall(std::move(call));
}

// Likewise. The copy is what the engine reads.
absl::Status DispatcherState::BeginFileCopy(const RunCall& call) {
  FileOfCall file = *FileNamedBy(*call.message);
  const compat::Weak<Dispatcher> dispatcher{Dispatcher(self_)};
  return context_.readers->Begin([dispatcher, seq = call.key.seq, path = std::move(file.path),
                                  token = call.token,
                                  root = file.of_model ? context_.model_root : context_.media_root,
                                  most_bytes = file.of_model ? kMaxAdapterBytes : kMaxMediaBytes,
                                  budget = context_.file_copies] {
    absl::StatusOr<CopiedFile> copy = CopyFile(root, path, most_bytes, *budget, *token);
    FileCopied copied{.seq = seq, .status = copy.status()};
    if (copy.ok()) {
      copied.name = std::move(copy->name);
      copied.held = std::move(copy->held);
    }
    compat::SendFromOutside(dispatcher.Lock(), std::move(copied));
  });
}

// Without a file the engine's side answers, too: what it does not serve is UNSUPPORTED whatever the
// file is.
void DispatcherState::OnFileCopied(const FileCopied& copied) {
  Requests::Entry* const request = requests_->Find(copied.seq);
  if (request == nullptr || !std::exchange(request->details.awaits_files, false)) return;
  RunCall call = std::exchange(request->details.reserved, {});
  if (copied.status.ok()) {
    call.file = copied.name;
  } else {
    call.file = copied.status;
  }
  call.keep_alive = copied.held;
  SendCall(std::move(call));
}

RunCall DispatcherState::CallOf(const Current& current, linkw::DriverMessage message) {
  return {.key = {context_.id, current.seq},
          .dispatcher = Dispatcher(self_),
          .message = std::make_shared<const linkw::DriverMessage>(std::move(message)),
          .segment = {},
          .file = {},
          .keep_alive = {},
          .token = std::make_shared<RequestToken>(context_.progress)};
}

void DispatcherState::CallEngine(const Current& current, linkw::DriverMessage message) {
  if (RefuseIfCancelled(current, RequestKind::kCall)) return;
  const std::optional<linkw::BufId> buffer = BufferOfCall(message);
  const bool names_file = context_.loaded->generates && FileNamedBy(message).has_value();
  RunCall call = CallOf(current, std::move(message));
  if (names_file) return CallWithFiles(current, call, BeginFileCopy(call));
  requests_->Open(current.seq, {.token = call.token}, Work{.frame = current.Kept()});
  if (buffer) return CallWithBuffer(*buffer, call);
  SendCall(std::move(call));
}

// The engine first: what is sent after this call must not overtake it while its buffer is looked
// up.
void DispatcherState::CallWithBuffer(linkw::BufId buffer, const RunCall& call) {
  compat::Send(self_, context_.engine, ReserveCall{.key = call.key, .message = call.message});
  requests_->Find(call.key.seq)->details.reserved = call;
  compat::Send(self_, state_ops_, LendBuffer{.seq = call.key.seq, .id = buffer});
}

void DispatcherState::OnBufferLent(const BufferLent& lent) {
  Requests::Entry* const request = requests_->Find(lent.seq);
  if (request == nullptr) return;
  RunCall call = std::exchange(request->details.reserved, {});
  if (!lent.status.ok()) {
    return FailReserved(lent.seq, linkw::FromAbsl(lent.status), std::string(lent.status.message()));
  }
  call.segment = lent.segment;
  SendCall(std::move(call));
}

void DispatcherState::SendCall(RunCall call) {
  if (!session_.ended()) compat::Send(self_, context_.engine, std::move(call));
}

void DispatcherState::OnCallDone(const CallDone& done) {
  const Requests::Entry* const request = requests_->Find(done.seq);
  if (request == nullptr || session_.ended()) return;
  // A release has no reply.
  if (request->kind != RequestKind::kRelease) Reply(done.seq, *done.answer);
  OnRequestFinished({.seq = done.seq});
}

void DispatcherState::FailReserved(uint64_t seq, linkw::Status status, std::string text) {
  compat::Send(self_, context_.engine, DropOp{{context_.id, seq}});
  FailCall(seq, status, std::move(text));
}

void DispatcherState::FailCall(uint64_t seq, linkw::Status status, std::string text) {
  const Requests::Entry* const request = requests_->Find(seq);
  if (request == nullptr || session_.ended()) return;
  RefuseRequest(request->details.frame, status, std::move(text));
  OnRequestFinished({.seq = seq});
}

}  // namespace superfluid
