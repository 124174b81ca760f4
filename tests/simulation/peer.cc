#include "tests/simulation/peer.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "protocol/codec/codec.h"

namespace superfluid::simulation {
namespace {

std::string NameOfStatus(linkw::Status status) { return std::string(linkw::StatusName(status)); }
std::string NameOfType(linkw::MessageType type) {
  return std::string(linkw::MessageTypeName(type));
}

linkw::RingAttach Announce(const RingSpec& spec) {
  return {.ring_id = linkw::RingId(spec.id),
          .layout = {.ring_id = linkw::RingId(spec.id),
                     .kind = spec.id == kLogitsRing.id ? linkw::RingKind::kLogits
                                                       : linkw::RingKind::kTokens,
                     .slot_bytes = spec.slot_bytes,
                     .slots = spec.slots}};
}

Segment MakeRing(const RingSpec& spec) {
  return Segment::Create(RingBytes(spec).value(), "ring").value();
}

// Returns what a trace says of an answer beside its type.
std::string Summary(const linkw::WorkerMessage& message) {
  return std::visit(
      [](const auto& content) -> std::string {
        std::string text;
        if constexpr (requires { content.status; }) {
          absl::StrAppend(&text, " ", NameOfStatus(content.status));
        }
        if constexpr (requires { content.error; }) {
          absl::StrAppend(&text, " ", NameOfStatus(content.error));
        }
        if constexpr (requires { content.message; }) absl::StrAppend(&text, " ", content.message);
        return text;
      },
      message);
}

}  // namespace

Peer::Peer(int number, bool driver, Connection connection, size_t capacity_bytes, Oracle& oracle,
           const World& world, Trace trace)
    : number_(number),
      stream_(std::move(connection.stream)),
      descriptors_(std::move(connection.descriptors)),
      oracle_(oracle, number, driver),
      world_(world),
      trace_(std::move(trace)),
      capacity_bytes_(capacity_bytes) {}

void Peer::Note(const std::string& line) const {
  if (!trace_) return;
  trace_(absl::StrFormat("%10.3f ms  link %d %s", static_cast<double>(world_.NowNs()) / 1e6,
                         number_, line));
}

uint64_t Peer::Send(const linkw::DriverMessage& message) {
  const linkw::EncodedMessage encoded = linkw::Serialize(message);
  const uint64_t seq = encoder_.next_seq();
  Note(absl::StrCat("-> ", seq, " ", NameOfType(encoded.type)));
  oracle_.OnSent(seq, message, world_.NowNs());
  NoteQueued(seq, linkw::kFrameHeaderBytes + encoded.payload.size());
  SendBytes(encoder_.Encode(encoded.type, 0, encoded.payload).value());
  return seq;
}

void Peer::SendOdd(uint16_t type, std::string_view payload) {
  const uint64_t seq = encoder_.next_seq();
  Note(absl::StrCat("-> ", seq, " odd frame of type ", type, ", ", payload.size(), " bytes"));
  oracle_.OnSentOdd(seq);
  NoteQueued(seq, linkw::kFrameHeaderBytes + payload.size());
  SendBytes(encoder_.Encode(static_cast<linkw::MessageType>(type), 0, payload).value());
}

void Peer::SendRubbish(std::string_view bytes, std::string how) {
  Note(absl::StrCat("-> rubbish: ", how));
  oracle_.OnBroke(std::move(how));
  SendBytes(bytes);
}

void Peer::SplitNextFrame(size_t first_bytes) {
  if (!split_) split_ = first_bytes;
}

void Peer::FinishHalfFrame() {
  split_.reset();
  Flush();
}

void Peer::SendBytes(std::string_view bytes) {
  unsent_.append(bytes);
  Flush();
}

void Peer::Flush() {
  while (!unsent_.empty() && !closed_) {
    const size_t most = split_ ? std::min(*split_, unsent_.size()) : unsent_.size();
    const std::string_view now(unsent_.data(), most);
    if (now.empty()) return;
    const absl::StatusOr<IoResult> written = stream_->Write(absl::MakeConstSpan(&now, 1));
    if (!written.ok() || written->state != IoState::kOk) return;
    unsent_.erase(0, written->bytes);
    written_bytes_ += written->bytes;
    if (split_) *split_ -= written->bytes;
  }
}

void Peer::NoteQueued(uint64_t seq, size_t bytes) {
  queued_bytes_ += bytes;
  ends_.emplace_back(seq, queued_bytes_);
}

void Peer::CheckHeld() {
  // What was written and does not fit into the stream was taken out of it.
  while (!ends_.empty() && ends_.front().second + capacity_bytes_ <= written_bytes_) {
    taken_ = ends_.front().first;
    ends_.pop_front();
  }
  oracle_.CheckHeld(taken_, capacity_bytes_ / linkw::kFrameHeaderBytes);
}

void Peer::HangUp() {
  if (closed_) return;
  Note("hangs up");
  oracle_.OnHungUp();
  stream_->Shutdown();
  if (descriptors_ != nullptr) descriptors_->Shutdown();
}

void Peer::AttachRings() {
  in_.emplace(RingWriter::Open(MakeRing(kTokenInRing), kTokenInRing).value());
  out_.emplace(RingReader::Open(MakeRing(kTokenOutRing), kTokenOutRing).value());
  const Segment logits = MakeRing(kLogitsRing);
  control_ = DaemonControl::Create().value();
  SendFd(kTokenInRing.id, in_->segment().DuplicateFd()->get());
  SendFd(kTokenOutRing.id, out_->segment().DuplicateFd()->get());
  SendFd(kLogitsRing.id, logits.DuplicateFd()->get());
  SendFd(linkw::kControlTag, control_->DuplicateFd()->get());
  for (const RingSpec& spec : {kTokenInRing, kTokenOutRing, kLogitsRing}) Send(Announce(spec));
  Send(linkw::ControlAttach{kControlBytes});
}

void Peer::WriteStopWord(uint32_t slot, uint64_t seq) {
  if (control() == nullptr) return;
  Note(absl::StrCat("-> stop word ", slot, " is ", seq));
  control()->StopTranscription(slot, seq).IgnoreError();
  oracle_.OnStopWord(slot + 1, seq, world_.NowNs(), control_is_seen_);
}

void Peer::AttachBuffer(uint64_t id, uint64_t bytes, int copies) {
  buffers_[id] = Segment::Create(bytes, "buffer").value();
  for (int i = 0; i < copies; ++i) SendFd(id, buffers_[id].DuplicateFd()->get());
  if (copies == 0) {
    late_.push_back(id);
    oracle_.OnDescriptorMissing(world_.NowNs());
  }
  Send(linkw::BufAttach{.buf_id = linkw::BufId{id}, .len = bytes});
}

void Peer::SendFd(uint64_t tag, int fd) {
  if (descriptors_ == nullptr) return;
  Note(absl::StrCat("-> descriptor with tag ", tag));
  const absl::StatusOr<IoState> sent = descriptors_->Send(tag, fd);
  // A channel that is full loses the descriptor: the message that names it waits in vain.
  if (!sent.ok() || *sent != IoState::kOk) oracle_.OnDescriptorMissing(world_.NowNs());
}

void Peer::SendLateFd() {
  if (late_.empty()) return;
  const uint64_t id = late_.front();
  late_.pop_front();
  SendFd(id, buffers_[id].DuplicateFd()->get());
}

void Peer::SetReading(bool reading) {
  reading_ = reading;
  oracle_.SetReading(reading);
  Note(reading ? "reads" : "stops reading");
}

void Peer::Read(size_t max_bytes) {
  Flush();
  while (!closed_ && max_bytes > 0) {
    absl::Span<char> space = decoder_.Prepare();
    const absl::StatusOr<IoResult> read =
        stream_->Read(space.subspan(0, std::min(space.size(), max_bytes)));
    if (!read.ok() || read->state == IoState::kClosed) {
      closed_ = true;
      Note("is closed");
      return oracle_.OnClosed();
    }
    if (read->state != IoState::kOk) return;
    max_bytes -= read->bytes;
    decoder_.Commit(read->bytes);
    while (true) {
      const absl::StatusOr<std::optional<linkw::Frame>> frame = decoder_.Next();
      if (!frame.ok())
        return oracle_.OnBroke(absl::StrCat("the worker's frames: ", frame.status().message()));
      if (!frame->has_value()) break;
      Receive(**frame);
    }
  }
}

void Peer::Receive(const linkw::Frame& frame) {
  const absl::StatusOr<linkw::WorkerMessage> message =
      linkw::ParseWorkerMessage(frame.type(), frame.payload);
  if (!message.ok()) {
    return oracle_.OnReceived(frame.header, linkw::Error{.message = "unreadable", .fatal = true},
                              world_.NowNs());
  }
  Note(absl::StrCat("<- ", frame.header.correlation, " ", NameOfType(frame.type()),
                    Summary(*message)));
  oracle_.OnReceived(frame.header, *message, world_.NowNs());
  Learn(*message);
}

void Peer::Learn(const linkw::WorkerMessage& message) {
  if (std::holds_alternative<linkw::ControlAck>(message)) control_is_seen_ = true;
  if (const auto* tick = std::get_if<linkw::TickResult>(&message)) {
    for (const linkw::LaneEvent& lane : tick->events.lanes) {
      if (lane.status != linkw::Status::kOk) continue;
      sequences.push_back(lane.sequence);
      positions[lane.sequence] = lane.position;
    }
  } else if (const auto* grant = std::get_if<linkw::SeedGrant>(&message)) {
    if (grant->status == linkw::Status::kOk) seeds.push_back(grant->seed_handle);
  } else if (const auto* result = std::get_if<linkw::StateSyncResult>(&message)) {
    if (const auto* made = std::get_if<linkw::CreateSequenceResult>(&result->reply)) {
      sequences.push_back(made->sequence);
    }
    if (const auto* size = std::get_if<linkw::ExportSizeResult>(&result->reply);
        size != nullptr && asked_size) {
      sized = asked_size;
      sized->gen = size->sizing_gen;
    }
  }
}

linkw::TokenSpan Peer::Write(const std::vector<uint32_t>& tokens) {
  if (tokens.empty() || !in_) return {};
  const SpanRef span = in_->Write(next_slot_++ % kTokenInRing.slots, tokens, 0).value();
  return {linkw::RingId{span.ring}, span.slot, span.generation, span.offset, span.count};
}

}  // namespace superfluid::simulation
