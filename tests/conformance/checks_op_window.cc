// Several state ops: the window, order, cancels, releases. Against a worker whose ops take time.

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tests/conformance/families.h"
#include "tests/conformance/ops.h"

namespace superfluid::conformance {
namespace {

constexpr size_t kWindow = 16;

const std::vector<std::string>& Ops() {
  static const auto* const kCalls = new std::vector<std::string>{
      "tick", "state_ops", "export_size", "snapshot_boundary", "create_sequence", "free_sequence"};
  return *kCalls;
}

// A sequence that can be snapshotted again and again, into a buffer of its own each.
class Source {
 public:
  explicit Source(Driver& driver)
      : driver_(driver),
        prompt_(driver.Prompt(driver.Boundary())),
        sequence_(driver.Start(prompt_)),
        space_(driver.spaces()[0].space_id),
        boundary_(BoundaryOf(driver, sequence_, space_)),
        size_(SizeOf(driver, sequence_, space_, {0, boundary_})) {}

  uint64_t Submit() {
    buffers_.push_back(driver_.AttachBuffer(kEnvelopeBytes + size_.required_bytes));
    return driver_.Send(linkw::StateOpSubmit{MakeSnapshot(buffers_.back().id)});
  }
  linkw::Snapshot MakeSnapshot(linkw::BufId id) const {
    return {.sequence = sequence_,
            .space_id = space_,
            .boundary_pos = boundary_,
            .buf_id = id,
            .sizing_gen = size_.sizing_gen};
  }
  linkw::OpHandle Accepted(uint64_t seq) {
    const auto accepted = driver_.peer().Await<linkw::StateOpAccepted>(seq);
    ExpectEq(accepted.status, Status::kOk, "status of STATE_OP_ACCEPTED");
    return accepted.op_handle;
  }
  void ExpectGoesOn() {
    ExpectEq(driver_.Draw(sequence_, 5), driver_.Plain(prompt_, 5), "the sequence");
  }
  Link::Buffer& last_buffer() { return buffers_.back(); }
  SequenceId sequence() const { return sequence_; }
  SpaceId space() const { return space_; }
  const Tokens& prompt() const { return prompt_; }

 private:
  Driver& driver_;
  Tokens prompt_;
  SequenceId sequence_;
  SpaceId space_;
  uint64_t boundary_;
  linkw::ExportSizeResult size_;
  std::vector<Link::Buffer> buffers_;
};

void TheSeventeenth(Context& context) {
  Driver driver(context);
  Source source(driver);
  std::vector<uint64_t> seqs;
  for (size_t i = 0; i <= kWindow; ++i) seqs.push_back(source.Submit());
  for (size_t i = 0; i < kWindow; ++i) source.Accepted(seqs[i]);
  const auto refused = driver.peer().Await<linkw::StateOpAccepted>(seqs[kWindow]);
  ExpectEq(refused.status, Status::kBusy, "the 17th op");
  ExpectEq(driver.Ping().open_ops, uint32_t{kWindow}, "open_ops of PONG");
  AwaitDone(driver, seqs[0]);
  const uint64_t another = source.Submit();
  source.Accepted(another);
  for (size_t i = 1; i < kWindow; ++i) {
    ExpectEq(AwaitDone(driver, seqs[i]).state, OpState::kDone, "an op of the window");
  }
  ExpectEq(AwaitDone(driver, another).state, OpState::kDone, "the op behind them");
  ExpectEq(driver.Ping().open_ops, 0u, "open_ops of PONG");
  source.ExpectGoesOn();
}

void OpsBesideTicks(Context& context) {
  Driver driver(context);
  Source source(driver);
  const SequenceId other = driver.Start(driver.Prompt(4));
  std::vector<uint64_t> seqs;
  seqs.reserve(4);
  for (int i = 0; i < 4; ++i) seqs.push_back(source.Submit());
  std::vector<linkw::OpHandle> handles;
  handles.reserve(seqs.size());
  for (const uint64_t seq : seqs) handles.push_back(source.Accepted(seq));
  // Ticks of another sequence go on meanwhile; each result may list ops that have ended.
  std::set<linkw::OpHandle> listed;
  bool beside = false;
  for (int i = 0; i < 20000 && listed.size() < handles.size(); ++i) {
    const linkw::TickEvents events = driver.Tick({driver.DecodeLane(other, {}, 5)});
    for (const linkw::StateOpDone& done : events.op_completions) listed.insert(done.op_handle);
    beside = beside || listed.empty();
  }
  Expect(beside, "no tick ran while the ops were open");
  for (const linkw::OpHandle handle : handles) {
    Expect(listed.contains(handle), "an op that ended is in no tick's op_completions");
  }
  for (const uint64_t seq : seqs) {
    ExpectEq(AwaitDone(driver, seq).state, OpState::kDone, "the op");
  }
}

void CancelledOp(Context& context) {
  Driver driver(context);
  Source source(driver);
  const uint64_t seq = source.Submit();
  const linkw::OpHandle handle = source.Accepted(seq);
  for (int i = 0; i < 3; ++i) {
    driver.ExpectSilent(driver.Send(linkw::OpCancel{handle}), "OP_CANCEL");
  }
  const linkw::StateOpDone done = AwaitDone(driver, seq);
  Expect(done.state == OpState::kCancelled || done.state == OpState::kDone,
         "a cancelled op: " + Show(done.state));
  if (done.state == OpState::kCancelled) {
    ExpectEq(done.error, Status::kCancelled, "error of a cancelled op");
  }
  driver.ExpectSilent(driver.Send(linkw::OpCancel{handle}), "OP_CANCEL after the DONE");
  source.ExpectGoesOn();
}

void CancelOfAll(Context& context) {
  Driver driver(context);
  Source source(driver);
  std::vector<uint64_t> seqs;
  for (size_t i = 0; i < kWindow; ++i) seqs.push_back(source.Submit());
  std::vector<linkw::OpHandle> handles;
  handles.reserve(seqs.size());
  for (const uint64_t seq : seqs) handles.push_back(source.Accepted(seq));
  for (const linkw::OpHandle handle : handles) driver.Send(linkw::OpCancel{handle});
  for (const uint64_t seq : seqs) {
    const linkw::StateOpDone done = AwaitDone(driver, seq);
    Expect(done.state != OpState::kFailed, "a cancelled op FAILED: " + Show(done.message));
  }
  ExpectEq(driver.Ping().open_ops, 0u, "open_ops of PONG");
  source.ExpectGoesOn();
}

void CancelledDemote(Context& context) {
  Driver driver(context);
  const Tokens prompt = driver.Prompt(driver.Boundary());
  const SequenceId sequence = driver.Start(prompt);
  const SpaceId space = driver.spaces()[0].space_id;
  const uint64_t end = BoundaryOf(driver, sequence, space);
  const auto size = SizeOf(driver, sequence, space, {0, end});
  const Link::Buffer buffer = driver.AttachBuffer(kEnvelopeBytes + size.required_bytes);
  const uint64_t seq =
      driver.Send(linkw::StateOpSubmit{linkw::Demote{.sequence = sequence,
                                                     .space_id = space,
                                                     .range = {0, end},
                                                     .buf_id = buffer.id,
                                                     .sizing_gen = size.sizing_gen}});
  const auto accepted = driver.peer().Await<linkw::StateOpAccepted>(seq);
  ExpectEq(accepted.status, Status::kOk, "status of STATE_OP_ACCEPTED");
  driver.Send(linkw::OpCancel{accepted.op_handle});
  if (AwaitDone(driver, seq).state == OpState::kDone) {
    MustRun(driver,
            linkw::Promote{
                .sequence = sequence, .space_id = space, .range = {0, end}, .buf_id = buffer.id},
            "a promote");
  }
  ExpectEq(driver.Draw(sequence, 5), driver.Plain(prompt, 5),
           "a sequence whose demote was cancelled");
}

void UnknownOp(Context& context) {
  Driver driver(context);
  for (const uint64_t handle : {uint64_t{0}, uint64_t{987654321}, ~uint64_t{0}}) {
    driver.ExpectSilent(driver.Send(linkw::OpCancel{linkw::OpHandle(handle)}),
                        "OP_CANCEL of an unknown op");
  }
}

void ReleaseOfABoundBuffer(Context& context) {
  Driver driver(context);
  Source source(driver);
  const uint64_t seq = source.Submit();
  const linkw::BufId id = source.last_buffer().id;
  source.Accepted(seq);
  driver.Send(linkw::BufRelease{id});
  const OpOutcome again = RunOp(driver, source.MakeSnapshot(id));
  Expect(!again.accepted, "an op with a buffer that was released");
  ExpectEq(again.status, Status::kUnknownHandle, "an op with a buffer that was released");
  ExpectEq(AwaitDone(driver, seq).state, OpState::kDone, "the op whose buffer was released");
  // Its bytes were written all the same: they restore.
  Link::Buffer copy = driver.AttachBuffer(source.last_buffer().segment.size());
  std::copy_n(source.last_buffer().segment.data(), copy.segment.size(), copy.segment.data());
  const SequenceId other = driver.Start(source.prompt());
  MustRun(driver, linkw::Restore{.sequence = other, .space_id = source.space(), .buf_id = copy.id},
          "a restore of what was written");
  ExpectEq(driver.Draw(other, 5), driver.Plain(source.prompt(), 5), "the restored sequence");
}

// The bytes are there when DONE is read, without any later frame.
void ReadableBeforeDone(Context& context) {
  Driver driver(context);
  Source source(driver);
  for (int i = 0; i < 10; ++i) {
    const uint64_t seq = source.Submit();
    source.Accepted(seq);
    AwaitDone(driver, seq);
    const std::byte* bytes = source.last_buffer().segment.data();
    Expect(std::string_view(reinterpret_cast<const char*>(bytes), 8) == "SFLSTATE",
           "the buffer has no envelope when its DONE is there");
  }
}

void LinkEndsWithOpenOps(Context& context) {
  {
    Driver driver(context);
    Source source(driver);
    for (size_t i = 0; i < kWindow; ++i) source.Submit();
    driver.Ping();
  }
  Driver driver(context);
  ExpectEq(driver.Ping().open_ops, 0u, "open_ops on the next link");
  Source(driver).ExpectGoesOn();
}

}  // namespace

void AddOpWindowChecks(std::vector<Check>& checks) {
  const auto add = [&checks](const char* ids, const char* title, void (*run)(Context&)) {
    checks.push_back({ids, title, run, Ops(), Pace::kSlow, 40});
  };
  add("OP-2 OP-1 PING-2", "the 17th op, and one more after a DONE", TheSeventeenth);
  add("OP-10 OP-1", "ops beside ticks", OpsBesideTicks);
  add("OP-8 OP-9", "an op cancelled several times", CancelledOp);
  add("OP-8 OP-2", "sixteen ops cancelled", CancelOfAll);
  add("OP-8 OP-9", "a demote cancelled", CancelledDemote);
  add("OP-14 BUF-8", "the release of a bound buffer", ReleaseOfABoundBuffer);
  add("END-1 OP-8", "a link that ends with sixteen open ops", LinkEndsWithOpenOps);
  checks.push_back({"OP-7", "the bytes are there before the DONE", ReadableBeforeDone, Ops()});
  checks.push_back({"OP-8", "OP_CANCEL of unknown ops", UnknownOp});
}

}  // namespace superfluid::conformance
