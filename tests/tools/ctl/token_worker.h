#ifndef SUPERFLUID_TESTS_TOOLS_CTL_TOKEN_WORKER_H_
#define SUPERFLUID_TESTS_TOOLS_CTL_TOKEN_WORKER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "protocol/messages/messages.h"
#include "shm/control.h"
#include "shm/ring.h"
#include "shm/segment.h"
#include "tests/tools/ctl/fake_worker.h"

namespace superfluid::ctl {

// A fake worker with an engine that draws tokens: the next one is a letter that depends on the
// whole history and the seed, so that a restored sequence shows whether all of it came back. It has
// two state spaces, "kv" which can end anywhere and "conv" which ends at multiples of 4. Its state
// is the history. Ticks, calls and ops are answered on the connection's thread.
class TokenWorker {
 public:
  // How it misbehaves, or what it does instead. Set before a client connects.
  struct Script {
    bool emits = true;
    uint32_t drop_emits_from = UINT32_MAX;  // of a tick: not sent, though counted
    bool wait_for_stop = false;  // a decode draws one token, emits it, and waits for its stop bit
    bool answers_stop = true;    // else it emits one token more then, and never ends the tick
    // Ticks and ops are answered when so many PINGs have come after them.
    int pings_before_answer = 0;
    // Answers a message instead of the worker, if it returns true.
    std::function<bool(FakeLink& link, uint64_t seq, const linkw::DriverMessage& message)> instead;
    // Changes a result before it is sent.
    std::function<void(linkw::TickResult& result)> change_result;
    // Changes sealed bytes before the op is done.
    std::function<void(std::string& sealed)> change_sealed;
  };

  TokenWorker() : TokenWorker(Script()) {}
  explicit TokenWorker(Script script);

  const std::string& path() const { return worker.path(); }
  linkw::HelloAck& hello() { return std::get<linkw::HelloAck>(worker.hello); }
  std::vector<linkw::TickPlan> Plans();

  // What it draws after `history`.
  static std::vector<linkw::Token> Draw(std::vector<linkw::Token> history, size_t count,
                                        uint64_t seed = 0);

 private:
  using History = std::vector<linkw::Token>;

  void Handle(FakeLink& link, uint64_t seq, const linkw::DriverMessage& message);
  void Defer(std::function<void()> answer);
  void OnPing();
  void Attach(FakeLink& link, uint64_t seq, const linkw::RingAttach& attach);
  void Attach(FakeLink& link, uint64_t seq, const linkw::ControlAttach& attach);
  void RunTick(FakeLink& link, uint64_t seq, const linkw::TickPlan& plan);
  linkw::LaneEvent RunLane(FakeLink& link, uint64_t seq, const linkw::TickPlan& plan,
                           const linkw::Lane& lane);
  void Emit(FakeLink& link, uint64_t seq, const linkw::TickPlan& plan, const linkw::Lane& lane,
            linkw::Token token, size_t index);
  linkw::TokenSpan Put(RingWriter& ring, const std::vector<uint32_t>& words);
  void Answer(FakeLink& link, uint64_t seq, const linkw::StateSyncCall& call);
  void RunOp(FakeLink& link, uint64_t seq, const linkw::StateOp& op);
  void FinishOp(FakeLink& link, uint64_t seq, const linkw::StateOp& op, linkw::OpHandle handle);
  void Seal(const linkw::Snapshot& snapshot);
  void Unseal(const linkw::Restore& restore);

  const Script script_;
  std::function<void()> deferred_;
  int pings_left_ = 0;
  std::optional<RingReader> in_;
  std::optional<RingWriter> out_;
  std::optional<RingWriter> logits_;
  std::optional<WorkerControl> control_;
  std::map<uint64_t, History> sequences_;
  std::map<uint64_t, Segment> buffers_;
  uint64_t last_sequence_ = 100;
  uint64_t last_op_ = 0;
  uint32_t next_out_slot_ = 0;

 public:
  FakeWorker worker;  // last: its threads use the rest
};

// Runs until it is stopped: see Script::wait_for_stop.
inline TokenWorker::Script UntilStopped() {
  TokenWorker::Script script;
  script.wait_for_stop = true;
  return script;
}

}  // namespace superfluid::ctl

#endif  // SUPERFLUID_TESTS_TOOLS_CTL_TOKEN_WORKER_H_
