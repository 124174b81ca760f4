#ifndef SUPERFLUID_TESTS_CONFORMANCE_PEER_H_
#define SUPERFLUID_TESTS_CONFORMANCE_PEER_H_

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "absl/time/time.h"
#include "protocol/messages/messages.h"
#include "shm/owned_fd.h"
#include "tests/conformance/ledger.h"

namespace superfluid::conformance {

using Clock = std::chrono::steady_clock;

struct Received {
  uint16_t version = 0;
  uint64_t seq = 0;
  uint64_t correlation = 0;
  linkw::WorkerMessage message;
};

// The frames socket of one link, raw: sends any bytes, and holds every frame that arrives against
// the framing rules and the Ledger. Whatever is not as it should be is a Failed, and so is a wait
// that lasts until `until`. Threads: one.
class Peer {
 public:
  Peer(OwnedFd socket, Clock::time_point until);

  // ---- Sending

  void SendBytes(std::string_view bytes);
  // The next frame of this side; its seq.
  uint64_t SendFrame(uint16_t type, std::string_view payload);
  uint64_t Send(const linkw::DriverMessage& message);
  // The bytes that Send would send. They count as sent.
  std::string Encode(const linkw::DriverMessage& message);
  uint64_t next_seq() const { return next_seq_; }
  // Frames that a check made itself: their seqs are used up.
  void UseSeq(linkw::MessageType type) { ledger_.Sent(next_seq_++, type); }

  // ---- Receiving

  // Whether a frame satisfies.
  using Match = std::function<bool(const Received&)>;
  // The first frame that matches, waiting for it; others stay. Telemetry is dropped on the way
  // unless asked for.
  Received Take(const Match& match, std::string_view what);
  // As Take, but for at most `patience`; nullopt if none came, or the link closed.
  std::optional<Received> TakeWithin(const Match& match, absl::Duration patience);
  // The next frame, whatever it is.
  Received Next();

  // The answer of type T to the request; an ERROR instead is a failure.
  template <class T>
  T Await(uint64_t seq) {
    Received received = Take(
        [seq](const Received& r) {
          return r.correlation == seq && (std::holds_alternative<T>(r.message) ||
                                          std::holds_alternative<linkw::Error>(r.message));
        },
        "an answer");
    if (!std::holds_alternative<T>(received.message)) FailUnexpected(received);
    return std::get<T>(std::move(received.message));
  }

  // The worker closes the link: its frames until then stay in inbox().
  void AwaitClosed();
  // Reads what is there for `time`, which does not end early.
  void Listen(absl::Duration time);
  bool closed() const { return closed_; }
  std::deque<Received>& inbox() { return inbox_; }

  void HangUp() { socket_.Reset(); }
  int fd() const { return socket_.get(); }
  void set_max_frame(uint32_t max_frame) { max_frame_ = max_frame; }
  // No reading while a send waits for room.
  void set_deaf(bool deaf) { deaf_ = deaf; }

 private:
  bool Wait(short events, Clock::time_point until);
  void ReadSome();
  void DecodeAll();
  void Decode(std::string_view frame);
  std::optional<Received> FromInbox(const Match& match);
  [[noreturn]] void FailUnexpected(const Received& received) const;
  [[noreturn]] void FailWaiting(std::string_view what) const;

  OwnedFd socket_;
  Clock::time_point until_;
  Ledger ledger_;
  uint64_t next_seq_ = 1;
  uint64_t last_seen_ = 0;
  uint32_t max_frame_ = 64u << 20;
  std::string buffer_;
  std::deque<Received> inbox_;
  bool closed_ = false;
  bool deaf_ = false;
};

}  // namespace superfluid::conformance

#endif  // SUPERFLUID_TESTS_CONFORMANCE_PEER_H_
