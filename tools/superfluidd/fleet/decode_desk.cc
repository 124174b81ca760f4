#include "tools/superfluidd/fleet/decode_desk.h"

#include <utility>

#include "protocol/messages/status.h"

namespace superfluid::daemon {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(100);

absl::Status TooLate() {
  return linkw::MakeStatus(linkw::Status::kDeadlineExceeded,
                           "the deadline passed while the recording was decoded");
}

// Whether a decode that nobody needed yet may end otherwise once its request has a worker.
bool MayEndOtherwise(linkw::Status status) {
  return status == linkw::Status::kTooLarge || status == linkw::Status::kOutOfMemory ||
         status == linkw::Status::kLinkClosed;
}

}  // namespace

void DecodeDeskState::Start(DecodeDeskConfig config) {
  config_ = std::move(config);
  order_ = DecodeOrder(config_.most_ahead);
  compat::SendAfter(self_, self_, kTick, DecodeTick{});
}

void DecodeDeskState::OnWant(const WantSamples& want) {
  const auto [added, is_new] = entries_.try_emplace(want.number);
  if (!is_new) return;  // its decode goes on, after its worker died
  Entry& entry = added->second;
  entry.request = want.request;
  entry.actor = want.actor;
  order_.Want(want.number);
  BeginAhead();
}

void DecodeDeskState::OnNeed(const NeedSamples& need) {
  const auto found = entries_.find(need.number);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  entry.deadline_ns = need.deadline_ns;
  if (std::exchange(entry.needed, true)) return;
  if (order_.Need(need.number)) Begin(need.number, entry);
  BeginAhead();
}

void DecodeDeskState::OnForget(RequestNumber number) {
  order_.Forget(number);
  entries_.erase(number);  // ends the decoder
  BeginAhead();
}

void DecodeDeskState::OnEnded(const DecodeEnded& ended) {
  const auto found = entries_.find(ended.number);
  if (found == entries_.end() || found->second.run != ended.run) return;  // forgotten
  Entry& entry = found->second;
  entry.decode.reset();
  order_.Forget(ended.number);
  const bool ok = ended.upload.ok();
  if (!ok && entry.was_ahead && MayEndOtherwise(linkw::FromAbsl(ended.upload.status()))) {
    entry.was_ahead = false;
    if (entry.needed) Begin(ended.number, entry);
  } else {
    Tell(found, ended.upload);
  }
  BeginAhead();
}

void DecodeDeskState::OnTick() {
  const int64_t now_ns = compat::NowNs(self_);
  for (auto it = entries_.begin(); it != entries_.end();) {
    const auto entry = it++;
    const int64_t deadline_ns = entry->second.deadline_ns;
    if (deadline_ns == 0 || deadline_ns > now_ns) continue;
    order_.Forget(entry->first);
    Tell(entry, TooLate());
  }
  BeginAhead();
  compat::SendAfter(self_, self_, kTick, DecodeTick{});
}

void DecodeDeskState::BeginAhead() {
  while (config_.decoder->HasRoomAhead()) {
    const std::optional<RequestNumber> next = order_.TakeAhead();
    if (!next.has_value()) return;
    Entry& entry = entries_.at(*next);
    entry.was_ahead = true;
    Begin(*next, entry);
  }
}

void DecodeDeskState::Begin(RequestNumber number, Entry& entry) {
  entry.run = ++runs_;
  const auto share = entry.was_ahead ? UploadDecoder::Share::kAhead : UploadDecoder::Share::kNeeded;
  absl::StatusOr<std::unique_ptr<UploadDecode>> decode =
      UploadDecode::Start(config_.decoder, *entry.request->audio, share,
                          [number, run = entry.run,
                           weak = compat::Weak<DecodeDesk>(caf::actor_cast<DecodeDesk>(self_))](
                              const absl::StatusOr<DecodedUpload>& upload) {
                            compat::SendFromOutside(weak.Lock(), DecodeEnded{number, run, upload});
                          });
  if (decode.ok()) {
    entry.decode = *std::move(decode);
  } else {
    compat::Send(self_, caf::actor_cast<DecodeDesk>(self_),
                 DecodeEnded{number, entry.run, decode.status()});
  }
}

void DecodeDeskState::Tell(Entries::iterator entry, const absl::StatusOr<DecodedUpload>& upload) {
  compat::Send(self_, entry->second.actor, UploadDecoded{upload});
  entries_.erase(entry);
}

DecodeDesk::behavior_type DecodeDeskBehavior(DecodeDesk::stateful_pointer<DecodeDeskState> self,
                                             DecodeDeskConfig config) {
  self->state.Start(std::move(config));
  return {
      [self](const WantSamples& want) { self->state.OnWant(want); },
      [self](const NeedSamples& need) { self->state.OnNeed(need); },
      [self](const ForgetSamples& forget) { self->state.OnForget(forget.number); },
      [self](const DecodeEnded& ended) { self->state.OnEnded(ended); },
      [self](const DecodeTick&) { self->state.OnTick(); },
  };
}

}  // namespace superfluid::daemon
