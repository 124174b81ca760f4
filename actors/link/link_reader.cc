#include "actors/link/link_reader.h"

#include <optional>
#include <utility>

#include "actors/link/admission.h"
#include "protocol/messages/status.h"

namespace superfluid {
namespace {

// How much is read before the mailbox is looked at again, so that a peer that floods the socket
// with frames that need no credit (unknown droppable ones) cannot keep the reader busy for ever.
constexpr size_t kBytesPerTurn = size_t{1} << 20;

// A payload of this size or less needs no byte credit: the frame credit bounds them well enough.
constexpr uint32_t kSmallBytes = linkw::kSmallPayloadLimit;

}  // namespace

void LinkReaderState::Start(std::shared_ptr<ByteStream> stream, Dispatcher dispatcher,
                            const LinkReaderOptions& options) {
  stream_ = std::move(stream);
  dispatcher_ = std::move(dispatcher);
  decoder_.SetMaxFrame(options.max_frame);
  frame_credit_ = options.frame_credit;
  urgent_credit_ = options.urgent_credit;
  byte_credit_ = static_cast<int64_t>(options.byte_credit);
  compat::Send(self_, LinkReader(self_), ReadSocket{});
}

void LinkReaderState::OnReadable() {
  const uint64_t stop_at = decoder_.bytes_received() + kBytesPerTurn;
  while (!ended_ && DecodeSome() && ReadSome()) {
    if (decoder_.bytes_received() < stop_at) continue;
    compat::Send(self_, LinkReader(self_), ReadSocket{});
    return;
  }
}

void LinkReaderState::OnGrant(const GrantFrames& grant) {
  frame_credit_ += grant.frames;
  urgent_credit_ += grant.urgent_frames;
  byte_credit_ += static_cast<int64_t>(grant.payload_bytes);
  if (std::exchange(stalled_, false)) OnReadable();
}

bool LinkReaderState::HasCredit(const linkw::FrameHeader& next) const {
  if (Overtakes(static_cast<linkw::MessageType>(next.type))) return urgent_credit_ > 0;
  const bool is_audio = next.type == static_cast<uint16_t>(linkw::MessageType::kTranscribeAudio);
  return frame_credit_ > 0 && (byte_credit_ > 0 || (next.payload_len <= kSmallBytes && !is_audio));
}

bool LinkReaderState::DecodeSome() {
  while (true) {
    const absl::StatusOr<std::optional<linkw::FrameHeader>> header = decoder_.NextHeader();
    if (header.ok() && header->has_value() && !HasCredit(**header)) {
      stalled_ = true;
      return false;
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

bool LinkReaderState::ReadSome() {
  const absl::StatusOr<IoResult> read = stream_->Read(decoder_.Prepare());
  if (!read.ok()) {
    End(read.status());
    return false;
  }
  switch (read->state) {
    case IoState::kOk:
      decoder_.Commit(read->bytes);
      return true;
    case IoState::kWouldBlock:
      WaitUntilReadable();
      return false;
    case IoState::kClosed:
      End(decoder_.at_boundary() ? absl::OkStatus()
                                 : linkw::MakeStatus(linkw::Status::kProtocolError,
                                                     "the peer closed the link inside a frame"));
      return false;
  }
  return false;
}

void LinkReaderState::Deliver(linkw::Frame frame) {
  (Overtakes(frame.type()) ? urgent_credit_ : frame_credit_) -= 1;
  byte_credit_ -= static_cast<int64_t>(BytesOfCredit(frame.type(), frame.payload.size()));
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

LinkReader::behavior_type LinkReaderBehavior(LinkReader::stateful_pointer<LinkReaderState> self,
                                             std::shared_ptr<ByteStream> stream,
                                             Dispatcher dispatcher, LinkReaderOptions options) {
  self->set_down_handler([self](const caf::down_msg&) { self->quit(); });
  self->monitor(dispatcher);
  self->state.Start(std::move(stream), std::move(dispatcher), options);
  return {
      [self](const ReadSocket&) { self->state.OnReadable(); },
      [self](const GrantFrames& grant) { self->state.OnGrant(grant); },
  };
}

}  // namespace superfluid
