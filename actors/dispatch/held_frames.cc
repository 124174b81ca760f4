#include "actors/dispatch/held_frames.h"

#include <variant>

#include "absl/status/statusor.h"
#include "actors/link/admission.h"
#include "protocol/codec/codec.h"
#include "protocol/messages/messages.h"
#include "shm/fd_passing.h"

namespace superfluid {
namespace {

// Returns the tag of the descriptor that a frame claims (CHAN-16).
std::optional<uint64_t> TagNamedBy(const linkw::Frame& frame) {
  if (frame.type() == linkw::MessageType::kControlAttach) return kControlTag;
  if (frame.type() != linkw::MessageType::kRingAttach &&
      frame.type() != linkw::MessageType::kBufAttach) {
    return std::nullopt;
  }
  const absl::StatusOr<linkw::DriverMessage> message =
      linkw::ParseDriverMessage(frame.type(), frame.payload);
  if (!message.ok()) return std::nullopt;
  if (const auto* attach = std::get_if<linkw::RingAttach>(&*message)) {
    return static_cast<uint64_t>(attach->ring_id);
  }
  return static_cast<uint64_t>(std::get<linkw::BufAttach>(*message).buf_id);
}

// Whether TRANSCRIBE_CANCEL may name it.
bool IsCall(const linkw::Frame& frame) {
  switch (frame.type()) {
    case linkw::MessageType::kStateSyncRequest:
    case linkw::MessageType::kMatchRequest:
    case linkw::MessageType::kSeedAcquire:
    case linkw::MessageType::kStrategyRegister:
      return true;
    default:
      return false;
  }
}

bool IsTranscription(const linkw::Frame& frame) {
  if (frame.type() != linkw::MessageType::kStateSyncRequest) return false;
  const absl::StatusOr<linkw::DriverMessage> message =
      linkw::ParseDriverMessage(frame.type(), frame.payload);
  if (!message.ok()) return false;
  return std::holds_alternative<linkw::Transcribe>(
      std::get<linkw::StateSyncRequest>(*message).call);
}

}  // namespace

std::deque<HeldFrame> HeldFrames::TakeOut(
    const std::function<bool(const HeldFrame& held)>& is_taken) {
  if (frames_.empty()) return {};
  const std::shared_ptr<const linkw::Frame> first = frames_.front().frame;
  std::deque<HeldFrame> taken;
  std::deque<HeldFrame> rest;
  for (HeldFrame& frame : frames_) (is_taken(frame) ? taken : rest).push_back(std::move(frame));
  frames_ = std::move(rest);
  if (frames_.empty() || frames_.front().frame != first) awaited_until_ns_ = 0;
  return taken;
}

std::deque<HeldFrame> HeldFrames::TakeOvertaking() {
  return TakeOut([](const HeldFrame& held) { return Overtakes(held.frame->type()); });
}

std::deque<HeldFrame> HeldFrames::CancelTranscriptions() {
  std::set<uint64_t> marked;
  for (HeldFrame& held : frames_) {
    if (held.cancel != HeldCancel::kNone) continue;
    held.cancel = HeldCancel::kTranscription;
    marked.insert(held.frame->header.seq);
  }
  return TakeOut([&marked](const HeldFrame& held) {
    return marked.contains(held.frame->header.seq) && !held.decodes_elsewhere &&
           IsTranscription(*held.frame);
  });
}

std::deque<HeldFrame> HeldFrames::Cancel(uint64_t seq) {
  for (HeldFrame& held : frames_) {
    if (held.frame->header.seq == seq) held.cancel = HeldCancel::kAny;
  }
  return TakeOut([seq](const HeldFrame& held) {
    return held.frame->header.seq == seq && !held.decodes_elsewhere && IsCall(*held.frame);
  });
}

std::multiset<uint64_t> HeldFrames::NamedTags() const {
  std::multiset<uint64_t> tags;
  for (const HeldFrame& held : frames_) {
    const std::optional<uint64_t> tag = TagNamedBy(*held.frame);
    if (tag) tags.insert(*tag);
  }
  return tags;
}

}  // namespace superfluid
