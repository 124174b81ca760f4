#ifndef SUPERFLUID_TOOLS_BENCH_WIRE_CLIENT_H_
#define SUPERFLUID_TOOLS_BENCH_WIRE_CLIENT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "protocol/codec/codec.h"
#include "protocol/frames/frame.h"
#include "protocol/frames/frame_decoder.h"
#include "protocol/messages/messages.h"
#include "shm/control.h"
#include "shm/owned_fd.h"
#include "shm/ring.h"
#include "shm/segment.h"

namespace superfluid::bench {

// A daemon with as little of its own as there can be: one thread, blocking calls, no queue. What a
// round trip through it takes is the worker's doing. Threads: one.
class WireClient {
 public:
  // Connects, retrying while nobody listens, and says HELLO.
  static absl::StatusOr<std::unique_ptr<WireClient>> Connect(const std::string& path,
                                                             linkw::Role role);

  // Makes and attaches what ticks need: the three rings and the control segment.
  absl::Status AttachTickMemory();

  // Puts the input of a tick into the first slot of the in ring: the one before it is gone.
  absl::StatusOr<linkw::TokenSpan> WriteInput(absl::Span<const linkw::Token> tokens);

  // Sends a message whose payload is encoded already; returns its seq.
  absl::StatusOr<uint64_t> Send(linkw::MessageType type, std::string_view payload);
  absl::StatusOr<uint64_t> Send(const linkw::DriverMessage& message);

  // The next frame, waited for.
  absl::StatusOr<linkw::Frame> Receive();
  // Drops frames until one answers `seq`; emits do not count.
  absl::StatusOr<linkw::Frame> ReceiveAnswer(uint64_t seq);
  // Sends and waits for the answer.
  absl::StatusOr<linkw::WorkerMessage> Request(const linkw::DriverMessage& message);
  // One PING and its PONG.
  absl::Status Ping();

  const linkw::HelloAck& hello_ack() const { return hello_ack_; }
  int fd() const { return frames_.get(); }
  DaemonControl& control() { return *control_; }
  // The length of the last frame that was received, header included.
  size_t last_frame_bytes() const { return last_frame_bytes_; }

 private:
  explicit WireClient(OwnedFd frames) : frames_(std::move(frames)) {}
  absl::Status SayHello(linkw::Role role);
  absl::Status OpenFds(const std::string& path);
  absl::Status AttachRing(linkw::RingId id);
  absl::Status KeepRing(Segment segment, const linkw::RingSpec& spec);

  OwnedFd frames_;
  OwnedFd fds_;
  uint64_t next_seq_ = 1;
  linkw::FrameDecoder decoder_;
  linkw::HelloAck hello_ack_;
  size_t last_frame_bytes_ = 0;
  std::vector<Segment> rings_;  // those that the worker writes
  std::optional<RingWriter> input_;
  std::optional<DaemonControl> control_;
};

// A connected socket that blocks; retries for some seconds while nobody listens.
absl::StatusOr<OwnedFd> ConnectBlocking(const std::string& path);

// All bytes, or Unavailable.
absl::Status WriteAll(int fd, std::string_view bytes);
absl::Status ReadAll(int fd, char* to, size_t size);

}  // namespace superfluid::bench

#endif  // SUPERFLUID_TOOLS_BENCH_WIRE_CLIENT_H_
