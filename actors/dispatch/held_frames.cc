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

}  // namespace

std::deque<HeldFrame> HeldFrames::TakeOvertaking() {
  std::deque<HeldFrame> overtaking;
  std::deque<HeldFrame> rest;
  for (HeldFrame& frame : frames_) {
    (Overtakes(frame.frame->type()) ? overtaking : rest).push_back(std::move(frame));
  }
  frames_ = std::move(rest);
  return overtaking;
}

void HeldFrames::CancelTranscriptions() {
  for (HeldFrame& held : frames_) {
    if (held.cancel == HeldCancel::kNone) held.cancel = HeldCancel::kTranscription;
  }
}

void HeldFrames::Cancel(uint64_t seq) {
  for (HeldFrame& held : frames_) {
    if (held.frame->header.seq == seq) held.cancel = HeldCancel::kAny;
  }
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
