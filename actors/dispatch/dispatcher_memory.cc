// Descriptors, rings, the control segment, buffers and large frames of one link.

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "actors/dispatch/dispatcher.h"
#include "actors/engine/tick_rings.h"
#include "actors/link/fd_receiver.h"
#include "actors/runtime/engine_status.h"
#include "actors/runtime/refusal.h"
#include "actors/runtime/status_error.h"
#include "protocol/codec/codec.h"
#include "protocol/messages/status.h"
#include "spdlog/spdlog.h"

namespace superfluid {
namespace {

bool SameSpec(const linkw::RingSpec& spec, const RingSpec& announced) {
  const bool is_logits = announced.id == kLogitsRing.id;
  return static_cast<uint32_t>(spec.ring_id) == announced.id &&
         (spec.kind == linkw::RingKind::kLogits) == is_logits &&
         spec.slot_bytes == announced.slot_bytes && spec.slots == announced.slots;
}

}  // namespace

void DispatcherState::StartFdReceiver(std::shared_ptr<FdChannel> channel) {
  channel_ = std::move(channel);
  fd_receiver_ = compat::Spawn(*self_, context_.fds_placement, FdReceiverBehavior, channel_,
                               Dispatcher(self_), context_.limits.descriptor_credit);
  self_->monitor(fd_receiver_);
}

void DispatcherState::OnChannel(const DescriptorChannelOpened& opened) {
  if (session_.ended() || channel_ != nullptr) {
    opened.channel->Shutdown();
    return;
  }
  StartFdReceiver(opened.channel);
}

void DispatcherState::OnDescriptor(const DescriptorReceived& received) {
  if (session_.ended()) return;
  descriptors_->Add(received.tag, std::move(*received.fd), compat::NowNs(self_));
  HandleHeld();
  ArmDescriptorTimer();
}

void DispatcherState::OnDescriptorsEnded() {
  if (session_.ended() || std::exchange(descriptors_ended_, true)) return;
  HandleHeld();
}

// A message that came before the link was open could not have its descriptor yet.
int64_t DispatcherState::DescriptorDueNs(int64_t since_ns) const {
  return std::max(since_ns, session_.open_since_ns()) +
         absl::ToInt64Nanoseconds(context_.limits.descriptor_patience);
}

bool DispatcherState::HasRoomForDescriptors() const {
  return descriptors_->size() < context_.limits.descriptor_credit;
}

// The awaited descriptor may be behind as many as the link may have: the oldest that nobody names
// makes room for it. Not at once: the messages that name them may be right behind.
void DispatcherState::MakeRoomForAwaited() {
  if (session_.ended() || !held_.awaits() || HasRoomForDescriptors()) return;
  if (compat::NowNs(self_) < held_.settled_ns()) return ArmDescriptorTimer();
  while (!HasRoomForDescriptors()) {
    if (!descriptors_->DropOldestBut(held_.NamedTags())) return;
    compat::Send(self_, fd_receiver_, GrantDescriptors{1});
  }
}

// Rings when something has to be done next; an alarm that rings earlier is set again then.
void DispatcherState::ArmDescriptorTimer() {
  if (!held_.awaits() && descriptors_->size() == 0) return;
  int64_t due_ns = held_.awaits() ? held_.awaited_until_ns() : descriptors_->next_overdue_ns();
  const int64_t now_ns = compat::NowNs(self_);
  if (held_.awaits() && !HasRoomForDescriptors() && now_ns < held_.settled_ns()) {
    due_ns = std::min(due_ns, held_.settled_ns());
  }
  if (descriptor_alarm_ns_ != 0 && descriptor_alarm_ns_ <= due_ns) return;
  descriptor_alarm_ns_ = due_ns;
  SetAlarm(Alarm::kDescriptor, std::max(absl::Nanoseconds(due_ns - now_ns), absl::Milliseconds(1)),
           DescriptorOverdue{});
}

// What is held may name any of them: nothing is dropped before it had its turn.
void DispatcherState::OnDescriptorOverdue() {
  descriptor_alarm_ns_ = 0;
  if (session_.ended()) return;
  HandleHeld();
  if (session_.ended()) return;
  const size_t dropped = held_.empty() ? descriptors_->DropOverdue(compat::NowNs(self_)) : 0;
  if (dropped > 0) {
    spdlog::warn("fds.unclaimed link={} dropped={}", static_cast<uint64_t>(context_.id), dropped);
    compat::Send(self_, fd_receiver_, GrantDescriptors{static_cast<uint32_t>(dropped)});
  }
  ArmDescriptorTimer();
}

std::optional<OwnedFd> DispatcherState::Claim(const Current& current, uint64_t tag,
                                              Outcome& otherwise) {
  if (std::optional<OwnedFd> fd = descriptors_->Claim(tag)) {
    compat::Send(self_, fd_receiver_, GrantDescriptors{1});
    return fd;
  }
  const int64_t due_ns = DescriptorDueNs(current.since_ns);
  const int64_t now_ns = compat::NowNs(self_);
  if (!descriptors_ended_ && now_ns < due_ns) {
    held_.Await(now_ns, due_ns);
    ArmDescriptorTimer();
    otherwise = Outcome::kHold;
    return std::nullopt;
  }
  RefuseRequest(current, linkw::Status::kFailedPrecondition,
                absl::StrCat("no descriptor with tag ", tag, " arrived",
                             descriptors_ended_ ? ", and the link's fds socket has ended" : ""));
  otherwise = Outcome::kHandled;
  return std::nullopt;
}

DispatcherState::Outcome DispatcherState::On(const Current& current,
                                             const linkw::RingAttach& attach) {
  const auto id = static_cast<uint32_t>(attach.ring_id);
  const RingSpec* spec = nullptr;
  for (const RingSpec* announced : {&kTokenInRing, &kTokenOutRing, &kLogitsRing}) {
    if (announced->id == id) spec = announced;
  }
  if (spec == nullptr) {
    RefuseRequest(current, linkw::Status::kUnknownHandle, absl::StrCat("there is no ring ", id));
    return Outcome::kHandled;
  }
  Outcome otherwise = Outcome::kHandled;
  std::optional<OwnedFd> fd = Claim(current, id, otherwise);
  if (!fd) return otherwise;
  if (!SameSpec(attach.layout, *spec)) {
    RefuseRequest(
        current, linkw::Status::kInvalidArgument,
        absl::StrCat("the layout of ring ", id, " is not the one announced in HELLO_ACK"));
    return Outcome::kHandled;
  }
  const absl::StatusOr<uint64_t> bytes = RingBytes(*spec);
  // What the daemon writes is only ever read here.
  const SegmentAccess access =
      id == kTokenInRing.id ? SegmentAccess::kReadOnly : SegmentAccess::kReadWrite;
  absl::StatusOr<Segment> segment =
      bytes.ok() ? Segment::Attach(*std::move(fd), *bytes, access) : bytes.status();
  if (!segment.ok()) {
    RefuseRequest(current, linkw::FromAbsl(SystemStatus(segment.status())),
                  MessageOf(segment.status()));
    return Outcome::kHandled;
  }
  // A tick takes no page fault in them.
  if (const absl::Status status = segment->Prefault(); !status.ok()) {
    RefuseRequest(current, linkw::Status::kOutOfMemory, MessageOf(status));
    return Outcome::kHandled;
  }
  rings_.insert_or_assign(id, *std::move(segment));
  PassOnRings();
  Reply(current.seq,
        linkw::RingAck{.ring_id = attach.ring_id, .generation_base = kRingGenerationBase});
  return Outcome::kHandled;
}

// Once all three are there the engine gets them; it alone reads and writes them.
void DispatcherState::PassOnRings() {
  if (rings_.size() < 3) return;
  absl::StatusOr<TickRings> rings =
      TickRings::Open(std::move(rings_.at(kTokenInRing.id)), std::move(rings_.at(kTokenOutRing.id)),
                      std::move(rings_.at(kLogitsRing.id)));
  rings_.clear();
  if (!rings.ok()) {  // their sizes were checked when they were attached
    return End(linkw::Error{.status = linkw::Status::kInternal,
                            .message = std::string(rings.status().message()),
                            .detail = {},
                            .fatal = true},
               "the rings could not be opened");
  }
  rings_attached_ = true;
  compat::Send(
      self_, context_.engine,
      AttachRings{.link = context_.id, .rings = std::make_shared<TickRings>(*std::move(rings))});
}

DispatcherState::Outcome DispatcherState::On(const Current& current,
                                             const linkw::ControlAttach& attach) {
  Outcome otherwise = Outcome::kHandled;
  std::optional<OwnedFd> fd = Claim(current, kControlTag, otherwise);
  if (!fd) return otherwise;
  absl::StatusOr<WorkerControl> control = WorkerControl::Attach(*std::move(fd), attach.bytes);
  if (!control.ok()) {
    RefuseRequest(current, linkw::FromAbsl(SystemStatus(control.status())),
                  MessageOf(control.status()));
    return Outcome::kHandled;
  }
  compat::Send(self_, context_.engine,
               AttachControl{.link = context_.id,
                             .control = std::make_shared<WorkerControl>(*std::move(control))});
  Reply(current.seq, linkw::ControlAck{.bytes = attach.bytes});
  return Outcome::kHandled;
}

DispatcherState::Outcome DispatcherState::On(const Current& current, const linkw::BufAlloc& alloc) {
  requests_->Open(current.seq, {}, Work{.frame = current});
  compat::Send(
      self_, state_ops_,
      AllocateBuffer{
          .seq = current.seq, .id = alloc.buf_id, .bytes = alloc.len, .credit = current.credit});
  return Outcome::kHandled;
}

// The descriptor goes out before the answer, so that it is there when the peer reads the answer.
void DispatcherState::OnBufferAllocated(const BufferAllocated& allocated) {
  if (session_.ended()) return;
  const absl::Status status = allocated.status.ok() ? PassOn(allocated) : allocated.status;
  if (status.ok()) {
    Reply(allocated.seq, linkw::BufAlloced{.status = linkw::Status::kOk,
                                           .message = {},
                                           .buf_id = allocated.id,
                                           .len = allocated.bytes});
    return OnRequestFinished({.seq = allocated.seq});
  }
  if (allocated.status.ok()) {
    compat::Send(self_, state_ops_, ReleaseBuffer{.id = allocated.id, .only = allocated.segment});
  }
  FailCall(allocated.seq, linkw::FromAbsl(status), std::string(status.message()));
}

absl::Status DispatcherState::PassOn(const BufferAllocated& allocated) {
  if (channel_ == nullptr) {
    return absl::FailedPreconditionError("the link has no descriptor socket");
  }
  const absl::StatusOr<OwnedFd> fd = allocated.segment->DuplicateFd();
  if (!fd.ok()) return SystemStatus(fd.status());
  const absl::StatusOr<IoState> sent =
      channel_->Send(static_cast<uint64_t>(allocated.id), fd->get());
  if (!sent.ok()) return sent.status();
  if (*sent == IoState::kOk) return absl::OkStatus();
  if (*sent == IoState::kClosed) {
    return absl::FailedPreconditionError("the link's descriptor socket is closed");
  }
  return linkw::MakeStatus(linkw::Status::kBusy, "the descriptor socket takes no more");
}

DispatcherState::Outcome DispatcherState::On(const Current& current,
                                             const linkw::BufAttach& attach) {
  Outcome otherwise = Outcome::kHandled;
  std::optional<OwnedFd> fd = Claim(current, static_cast<uint64_t>(attach.buf_id), otherwise);
  if (!fd) return otherwise;
  // Until it is known to be refused; it has no answer.
  requests_->Open(current.seq, {.has_answer = false}, Work{.frame = current});
  compat::Send(self_, state_ops_,
               AttachBuffer{.seq = current.seq,
                            .id = attach.buf_id,
                            .bytes = attach.len,
                            .fd = std::make_shared<OwnedFd>(*std::move(fd)),
                            .credit = current.credit});
  return Outcome::kHandled;
}

void DispatcherState::OnBufferAttached(const BufferAttached& attached) {
  if (session_.ended()) return;
  if (attached.status.ok()) return OnRequestFinished({.seq = attached.seq});
  FailCall(attached.seq, linkw::FromAbsl(attached.status), std::string(attached.status.message()));
}

// Work that was asked for before has bound its buffer already: StateOps was told in this order.
DispatcherState::Outcome DispatcherState::On(const Current& /*current*/,
                                             const linkw::BufRelease& release) {
  compat::Send(self_, state_ops_, ReleaseBuffer{.id = release.buf_id, .only = nullptr});
  return Outcome::kHandled;
}

// Megabytes take milliseconds, in which no other link of the thread is served. What is behind such
// a frame waits; PING and cancels overtake it. The task has the payload to itself, and frees it.
bool DispatcherState::AwaitsDecoding(HeldFrame& held) {
  if (held.decodes_elsewhere) return held.decoded == nullptr;
  const linkw::Frame& frame = *held.frame;
  if (held.payload_bytes <= kDecodeHereBytes || !linkw::IsKnown(frame.header.type) ||
      !Admit(session_.phase(), session_.role(), frame.type()).ok()) {
    return false;
  }
  const compat::Weak<Dispatcher> dispatcher{Dispatcher(self_)};
  const absl::Status begun = context_.readers->Begin([dispatcher, payload = held.frame]() mutable {
    FrameDecoded decoded{.seq = payload->header.seq,
                         .message = std::make_shared<absl::StatusOr<linkw::DriverMessage>>(
                             linkw::ParseDriverMessage(payload->type(), payload->payload))};
    payload.reset();
    compat::SendFromOutside(dispatcher.Lock(), std::move(decoded));
  });
  held.decodes_elsewhere = begun.ok();
  if (!begun.ok()) return false;
  held.frame = std::make_shared<const linkw::Frame>(
      linkw::Frame{.header = frame.header, .payload = {}, .offset = frame.offset});
  return true;
}

void DispatcherState::OnFrameDecoded(const FrameDecoded& decoded) {
  if (session_.ended() || held_.empty()) return;
  HeldFrame& held = held_.front();
  if (!held.decodes_elsewhere || held.frame->header.seq != decoded.seq) return;
  held.decoded = decoded.message;
  HandleHeld();
}

}  // namespace superfluid
