#include "tests/protocol/fake_worker.h"

#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"

namespace superfluid::linkw {

FakeWorker::FakeWorker(OwnedFd socket) : socket_(std::move(socket)) {
  const timeval patience = {.tv_sec = 30, .tv_usec = 0};
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
}

bool FakeWorker::ReadMore() {
  const absl::Span<char> space = decoder_.Prepare();
  const ssize_t size = ::recv(socket_.get(), space.data(), space.size(), 0);
  at_end_ = size == 0 || (size < 0 && errno == ECONNRESET);
  if (size <= 0) return false;
  decoder_.Commit(static_cast<size_t>(size));
  return true;
}

FakeWorker::Received FakeWorker::Read() {
  while (true) {
    absl::StatusOr<std::optional<Frame>> frame = decoder_.Next();
    if (!frame.ok()) {
      ADD_FAILURE() << frame.status();
      return {};
    }
    if (frame->has_value()) {
      absl::StatusOr<DriverMessage> message =
          ParseDriverMessage((*frame)->type(), (*frame)->payload);
      EXPECT_TRUE(message.ok()) << message.status();
      if (!message.ok()) return {};
      return {(*frame)->header.seq, *std::move(message)};
    }
    if (!ReadMore()) {
      ADD_FAILURE() << "the client sends nothing";
      return {};
    }
  }
}

bool FakeWorker::ReadsEnd() {
  while (ReadMore()) {
    while (true) {
      const auto frame = decoder_.Next();
      if (!frame.ok() || !frame->has_value()) break;
    }
  }
  return at_end_;
}

void FakeWorker::Send(uint64_t correlation, const WorkerMessage& message) {
  const EncodedMessage encoded = Serialize(message);
  SendFrame(static_cast<uint16_t>(encoded.type), correlation, encoded.payload);
}

void FakeWorker::SendFrame(uint16_t type, uint64_t correlation, std::string_view payload) {
  FrameHeader header;
  header.type = type;
  header.seq = next_seq_++;
  header.correlation = correlation;
  SendBytes(EncodeFrame(header, payload));
}

void FakeWorker::SendBytes(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t size = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    ASSERT_GT(size, 0);
    bytes.remove_prefix(static_cast<size_t>(size));
  }
}

size_t FakeWorker::FillWithSegments(uint64_t request_seq) {
  for (size_t sent = 0;; ++sent) {
    const EncodedMessage encoded = Serialize(SegmentWithIndex(static_cast<uint32_t>(sent)));
    FrameHeader header;
    header.type = static_cast<uint16_t>(encoded.type);
    header.seq = next_seq_;
    header.correlation = request_seq;
    const std::string frame = EncodeFrame(header, encoded.payload);
    // A short wait: the client may still be reading.
    const timeval patience = {.tv_sec = 0, .tv_usec = 200'000};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    const ssize_t size = ::send(socket_.get(), frame.data(), frame.size(), MSG_NOSIGNAL);
    if (size < 0 && errno == EAGAIN) {
      const timeval none = {};
      ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &none, sizeof(none));
      return sent;
    }
    ++next_seq_;
    if (size == static_cast<ssize_t>(frame.size())) continue;
    ADD_FAILURE() << "a frame was cut";
    return sent;
  }
}

HelloAck SampleHelloAck() {
  HelloAck ack;
  ack.engine_bundle_hash.fill(7);
  ack.capabilities_json = "{\"name\":\"fake\"}";
  ack.limits.max_frame = kDefaultMaxFrame;
  ack.limits.max_transcriptions = 4;
  ack.link_token.fill(9);
  return ack;
}

Pong PongOf(uint32_t queue_depth) {
  Pong pong;
  pong.queue_depth = queue_depth;
  return pong;
}

TranscribeResult TranscriptOf(std::string_view text) {
  TranscribeResult transcript;
  transcript.text = text;
  return transcript;
}

TranscribeSegment SegmentWithIndex(uint32_t index) {
  TranscribeSegment segment;
  segment.index = index;
  segment.text = absl::StrCat("segment ", index, std::string(200, '.'));
  return segment;
}

}  // namespace superfluid::linkw
