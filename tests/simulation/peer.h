#ifndef SUPERFLUID_TESTS_SIMULATION_PEER_H_
#define SUPERFLUID_TESTS_SIMULATION_PEER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/frames/frame.h"
#include "protocol/frames/frame_decoder.h"
#include "protocol/messages/messages.h"
#include "shm/control.h"
#include "shm/ring.h"
#include "shm/segment.h"
#include "tests/simulation/oracle.h"
#include "tests/simulation/world.h"

namespace superfluid::simulation {

// One peer of the worker: the daemon's end of a link, what it made, and the oracle that watches it.
// Its sends never wait: bytes that do not fit into the stream are sent when there is room.
class Peer {
 public:
  using Trace = std::function<void(const std::string& line)>;

  // `capacity_bytes`: what the stream holds in each direction.
  Peer(int number, bool driver, Connection connection, size_t capacity_bytes, Oracle& oracle,
       const World& world, Trace trace);

  // ---- Frames out.

  uint64_t Send(const linkw::DriverMessage& message);
  // Sends a frame of any type and content that the worker answers with an ERROR or skips.
  void SendOdd(uint16_t type, std::string_view payload);
  // Sends bytes that break the link.
  void SendRubbish(std::string_view bytes, std::string how);
  // Keeps back all but the first bytes of the frames sent from here on, until FinishHalfFrame.
  void SplitNextFrame(size_t first_bytes);
  void FinishHalfFrame();
  // Sends what did not fit before.
  void Flush();
  void HangUp();

  // ---- Descriptors out.

  void AttachRings();
  // Makes a buffer that the worker is told of; sends its descriptor `copies` times now.
  void AttachBuffer(uint64_t id, uint64_t bytes, int copies);
  void SendFd(uint64_t tag, int fd);
  // Sends the descriptor of a buffer that was attached without one.
  void SendLateFd();

  // ---- Frames in.

  void SetReading(bool reading);
  bool reading() const { return reading_; }
  // Reads what has arrived if it reads; at most `max_bytes` of it.
  void Read(size_t max_bytes = SIZE_MAX);

  // ---- What it knows.

  linkw::TokenSpan Write(const std::vector<uint32_t>& tokens);
  bool usable() const { return oracle_.acked() && !oracle_.over() && !oracle_.broke(); }
  LinkOracle& oracle() { return oracle_; }
  const LinkOracle& oracle() const { return oracle_; }
  DaemonControl* control() { return control_ ? &*control_ : nullptr; }
  // Writes a request's number, or 0, into a stop word; slots count from 0 here.
  void WriteStopWord(uint32_t slot, uint64_t seq);
  // Holds against the contract what the worker took and did not answer.
  void CheckHeld();
  bool has_rings() const { return in_.has_value(); }

  std::vector<linkw::SequenceId> sequences;
  std::map<linkw::SequenceId, uint64_t> positions;  // after their last tick
  std::vector<linkw::SeedHandle> seeds;
  std::vector<linkw::OpHandle> ops;
  std::vector<uint64_t> grammars;
  struct Sized {
    linkw::SequenceId sequence{};
    linkw::SpaceId space{};
    uint64_t end = 0;
    uint64_t gen = 0;
  };
  std::optional<Sized> asked_size;
  std::optional<Sized> sized;
  uint64_t ticks = 0;

 private:
  void Receive(const linkw::Frame& frame);
  void Learn(const linkw::WorkerMessage& message);
  void SendBytes(std::string_view bytes);
  void NoteQueued(uint64_t seq, size_t bytes);
  void Note(const std::string& line) const;

  const int number_;
  std::unique_ptr<ByteStream> stream_;
  std::unique_ptr<FdChannel> descriptors_;
  LinkOracle oracle_;
  const World& world_;
  Trace trace_;
  linkw::FrameEncoder encoder_;
  linkw::FrameDecoder decoder_;
  std::string unsent_;
  const size_t capacity_bytes_;
  uint64_t queued_bytes_ = 0;                       // frames sent, in all
  uint64_t written_bytes_ = 0;                      // of them, into the stream
  std::deque<std::pair<uint64_t, uint64_t>> ends_;  // seq and end of the frames not taken yet
  uint64_t taken_ = 0;           // the last frame that the worker has taken out of the stream
  std::optional<size_t> split_;  // bytes that may still go out before FinishHalfFrame
  bool reading_ = true;
  bool closed_ = false;
  std::optional<RingWriter> in_;
  std::optional<RingReader> out_;
  std::optional<DaemonControl> control_;
  bool control_is_seen_ = false;  // the worker said so
  uint32_t next_slot_ = 0;
  std::map<uint64_t, Segment> buffers_;
  std::deque<uint64_t> late_;  // buffers whose descriptor was not sent
};

}  // namespace superfluid::simulation

#endif  // SUPERFLUID_TESTS_SIMULATION_PEER_H_
