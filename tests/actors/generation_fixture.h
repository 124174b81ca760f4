#ifndef SUPERFLUID_TESTS_ACTORS_GENERATION_FIXTURE_H_
#define SUPERFLUID_TESTS_ACTORS_GENERATION_FIXTURE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "shm/control.h"
#include "tests/actors/fake_generation.h"
#include "tests/actors/worker_fixture.h"

namespace superfluid {

// A worker with the sim engine, and a driver that has its rings, control segment and buffers.
class GenerationFixture : public WorkerFixture {
 protected:
  // Starts the worker, connects a driver and attaches all that a tick may use.
  Peer& StartDriver();
  // Another driver, after the first has gone.
  Peer& NextDriver(size_t capacity_bytes = size_t{8} << 20);

  // Writes tokens into the next slot of the token-in ring.
  linkw::TokenSpan Write(const std::vector<uint32_t>& tokens);
  std::vector<uint32_t> ReadOut(const linkw::TokenSpan& span) const;

  // A lane that appends `input` and draws `max_tokens`.
  linkw::Lane Lane(uint64_t tag, linkw::SequenceId sequence, const std::vector<uint32_t>& input,
                   uint32_t max_tokens);
  uint64_t SendTick(Peer& peer, std::vector<linkw::Lane> lanes, uint32_t flags = 0,
                    uint64_t deadline_us = 0);
  // Runs one lane to its end; returns its event and, in `tokens`, what it drew.
  linkw::LaneEvent RunLane(Peer& peer, const linkw::Lane& lane,
                           std::vector<uint32_t>* tokens = nullptr);
  // A new sequence of `prompt`.
  linkw::SequenceId Prefill(Peer& peer, const std::vector<uint32_t>& prompt);
  std::vector<uint32_t> Decode(Peer& peer, linkw::SequenceId sequence, uint32_t tokens);

  // Asks and waits for a reply that is OK.
  template <class Reply>
  Reply Call(Peer& peer, linkw::StateSyncCall call) {
    const linkw::StateSyncResult result = CallAny(peer, std::move(call));
    EXPECT_EQ(result.status, linkw::Status::kOk) << result.message;
    const Reply* reply = std::get_if<Reply>(&result.reply);
    return reply == nullptr ? Reply{} : *reply;
  }
  linkw::StateSyncResult CallAny(Peer& peer, linkw::StateSyncCall call);

  // Makes a buffer of this driver's own, known to the worker.
  Segment& AttachBuffer(Peer& peer, uint64_t id, uint64_t bytes);
  // A snapshot of the whole of one space into buffer `buffer`; the state's sizes are asked for.
  linkw::Snapshot SnapshotOf(Peer& peer, linkw::SequenceId sequence, uint32_t space,
                             uint64_t length, uint64_t buffer);
  // Submits an op, runs it to its end and returns how that was.
  linkw::StateOpDone RunOp(Peer& peer, const linkw::StateOp& op);

  linkw::MemCounters Memory(Peer& peer);

  std::optional<RingsOfTest> rings_;
  std::optional<DaemonControl> control_;
  std::map<uint64_t, Segment> buffers_;
  uint32_t next_slot_ = 0;
  uint64_t ticks_ = 0;
};

}  // namespace superfluid

#endif  // SUPERFLUID_TESTS_ACTORS_GENERATION_FIXTURE_H_
