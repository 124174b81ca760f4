#include "actors/link/link_reader.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "actors/link/admission.h"
#include "protocol/messages/status.h"

namespace superfluid {
namespace {

// How much is read before it is the turn of others, and all sockets are looked at: the bytes of a
// large frame keep nobody waiting for longer than it takes to copy these.
constexpr size_t kBytesPerTurn = size_t{64} << 10;

// A payload of this size or less needs no byte credit: the frame credit bounds them well enough.
constexpr uint32_t kSmallBytes = linkw::kSmallPayloadLimit;

}  // namespace

ReadCredit::Amount CreditOf(const linkw::Frame& frame) {
  const bool urgent = Overtakes(frame.type());
  return {.frames = urgent ? 0 : 1,
          .urgent_frames = urgent ? 1 : 0,
          .payload_bytes = static_cast<int64_t>(BytesOfCredit(frame.type(), frame.payload.size()))};
}

void LinkReaderState::Start(std::shared_ptr<ByteStream> stream, Dispatcher dispatcher,
                            LinkReaderOptions options) {
  stream_ = std::move(stream);
  dispatcher_ = std::move(dispatcher);
  decoder_.SetMaxFrame(options.max_frame);
  credit_ = std::move(options.credit);
  compat::Send(self_, LinkReader(self_), ReadSocket{});
}

void LinkReaderState::OnReadable() {
  const uint64_t stop_at = decoder_.bytes_received() + kBytesPerTurn;
  ReadOutcome outcome = ReadOutcome::kMore;
  while (!ended_ && DecodeSome()) {
    if (outcome == ReadOutcome::kDrained || decoder_.bytes_received() >= stop_at) {
      return WaitUntilReadable();
    }
    outcome = ReadSome();
    if (outcome == ReadOutcome::kStop) return;
  }
}

void LinkReaderState::OnCredit() {
  if (!std::exchange(stalled_, false)) return;
  stream_->WhenGone(nullptr);
  OnReadable();
}

// Who has credit reads what came before the end.
void LinkReaderState::OnPeerGone() {
  if (stalled_ && !ended_) End(absl::OkStatus());
}

bool LinkReaderState::HasCredit(const linkw::FrameHeader& next) const {
  if (Overtakes(static_cast<linkw::MessageType>(next.type))) return credit_->urgent_frames() > 0;
  if (credit_->frames() <= 0) return false;
  const bool is_audio = next.type == static_cast<uint16_t>(linkw::MessageType::kTranscribeAudio);
  return (next.payload_len <= kSmallBytes && !is_audio) || credit_->payload_bytes() > 0;
}

bool LinkReaderState::DecodeSome() {
  while (true) {
    const absl::StatusOr<std::optional<linkw::FrameHeader>> header = decoder_.NextHeader();
    if (header.ok() && header->has_value() && !HasCredit(**header)) {
      stalled_ = credit_->Await([&] { return HasCredit(**header); });
      if (stalled_) {
        WaitUntilGone();
        return false;
      }
    }
    absl::StatusOr<std::optional<linkw::Frame>> frame = decoder_.Next();
    if (!frame.ok()) {
      End(frame.status());
      return false;
    }
    if (!frame->has_value()) return true;
    Deliver(*std::move(*frame));
  }
}

LinkReaderState::ReadOutcome LinkReaderState::ReadSome() {
  absl::Span<char> room = decoder_.Prepare();
  room = room.first(std::min(room.size(), kBytesPerTurn));
  const absl::StatusOr<IoResult> read = stream_->Read(room);
  if (!read.ok()) {
    End(read.status());
    return ReadOutcome::kStop;
  }
  switch (read->state) {
    case IoState::kOk:
      decoder_.Commit(read->bytes);
      return read->bytes < room.size() ? ReadOutcome::kDrained : ReadOutcome::kMore;
    case IoState::kWouldBlock:
      WaitUntilReadable();
      return ReadOutcome::kStop;
    case IoState::kClosed:
      End(decoder_.at_boundary() ? absl::OkStatus()
                                 : linkw::MakeStatus(linkw::Status::kProtocolError,
                                                     "the peer closed the link inside a frame"));
      return ReadOutcome::kStop;
  }
  return ReadOutcome::kStop;
}

void LinkReaderState::Deliver(linkw::Frame frame) {
  credit_->Take(CreditOf(frame));
  compat::Send(self_, dispatcher_,
               FrameReceived{std::make_shared<const linkw::Frame>(std::move(frame))});
}

void LinkReaderState::End(absl::Status status) {
  ended_ = true;
  compat::Send(self_, dispatcher_, ReadingEnded{std::move(status)});
  self_->quit();
}

void LinkReaderState::WaitUntilReadable() {
  stream_->WhenReadable([weak = compat::Weak<LinkReader>(LinkReader(self_))] {
    compat::SendFromOutside(weak.Lock(), ReadSocket{});
  });
}

void LinkReaderState::WaitUntilGone() {
  stream_->WhenGone([weak = compat::Weak<LinkReader>(LinkReader(self_))] {
    compat::SendFromOutside(weak.Lock(), PeerGone{});
  });
}

LinkReader::behavior_type LinkReaderBehavior(LinkReader::stateful_pointer<LinkReaderState> self,
                                             std::shared_ptr<ByteStream> stream,
                                             Dispatcher dispatcher, LinkReaderOptions options) {
  self->set_down_handler([self](const caf::down_msg&) { self->quit(); });
  self->monitor(dispatcher);
  self->state.Start(std::move(stream), std::move(dispatcher), std::move(options));
  return {
      [self](const ReadSocket&) { self->state.OnReadable(); },
      [self](const CreditGiven&) { self->state.OnCredit(); },
      [self](const PeerGone&) { self->state.OnPeerGone(); },
  };
}

}  // namespace superfluid
