#ifndef SUPERFLUID_TESTS_PROTOCOL_FAKE_WORKER_H_
#define SUPERFLUID_TESTS_PROTOCOL_FAKE_WORKER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>

#include "gtest/gtest.h"
#include "protocol/codec/codec.h"
#include "protocol/frames/frame.h"
#include "protocol/frames/frame_decoder.h"
#include "protocol/messages/messages.h"
#include "shm/owned_fd.h"

namespace superfluid::linkw {

// The worker's end of a frames socket, moved by hand: a test says what it reads and what it sends.
// Whatever goes wrong (nothing comes for 30 s, a bad frame, another message) fails the test.
class FakeWorker {
 public:
  explicit FakeWorker(OwnedFd socket);

  struct Received {
    uint64_t seq = 0;
    DriverMessage message;
  };

  // The next message.
  Received Read();

  // The next message, which is a T; `seq`: its frame's.
  template <typename T>
  T Expect(uint64_t* seq = nullptr) {
    Received received = Read();
    if (seq != nullptr) *seq = received.seq;
    if (T* message = std::get_if<T>(&received.message)) return std::move(*message);
    ADD_FAILURE() << "the client sent a " << MessageTypeName(TypeOf(received.message));
    return T{};
  }

  // The same for a state sync call.
  template <typename T>
  T ExpectCall(uint64_t* seq = nullptr) {
    auto request = Expect<StateSyncRequest>(seq);
    if (T* call = std::get_if<T>(&request.call)) return std::move(*call);
    ADD_FAILURE() << "the client made another call";
    return T{};
  }

  void Send(uint64_t correlation, const WorkerMessage& message);
  void SendFrame(uint16_t type, uint64_t correlation, std::string_view payload);
  void SendBytes(std::string_view bytes);

  // Sends segments for `request_seq` until the socket takes no more; returns how many went out.
  size_t FillWithSegments(uint64_t request_seq);

  // Whether the client closed its end, after what it sent before was read.
  bool ReadsEnd();

  void Vanish() { socket_.Reset(); }

 private:
  bool ReadMore();

  bool at_end_ = false;
  OwnedFd socket_;
  FrameDecoder decoder_;
  uint64_t next_seq_ = 1;
};

// What a worker says first.
HelloAck SampleHelloAck();

// Values that can be told apart.
Pong PongOf(uint32_t queue_depth);
TranscribeResult TranscriptOf(std::string_view text);
TranscribeSegment SegmentWithIndex(uint32_t index);

}  // namespace superfluid::linkw

#endif  // SUPERFLUID_TESTS_PROTOCOL_FAKE_WORKER_H_
