// Random sessions of a driver, in seeded random schedules of all actors: whatever is asked for,
// cancelled and released in whatever order, each request is answered exactly once and in order.
//
// A failure names its seed; SUPERFLUID_SESSION_SEED=n runs that one alone, SUPERFLUID_SESSIONS=n so
// many.

#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tests/actors/generation_fixture.h"

namespace superfluid {
namespace {

using linkw::Status;

constexpr int kRequests = 60;
constexpr uint64_t kBuffers = 4;

int Number(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe)
  return text == nullptr ? otherwise : std::atoi(text);
}

// What a request has been told so far.
struct Heard {
  int finals = 0;
  bool accepted = false;
  bool refused = false;
  bool done = false;
};

class RandomSessionTest : public GenerationFixture, public testing::WithParamInterface<int> {
 protected:
  RandomSessionTest() {
    engine_options = {{"op_us", "3000"},        {"token_us", "100"},        {"segment_ms", "100"},
                      {"step_us", "500"},       {"steps_per_segment", "5"}, {"pool_blocks", "512"},
                      {"op_chunk_bytes", "512"}};
    random_order = true;
  }

  uint32_t Any(uint32_t below) { return static_cast<uint32_t>(random_() % below); }
  linkw::SequenceId AnySequence() {
    if (sequences_.empty() || Any(10) == 0) return linkw::SequenceId{Any(50)};
    return sequences_[Any(static_cast<uint32_t>(sequences_.size()))];
  }
  uint64_t AnyAsked() {
    return asked_.empty()
               ? 0
               : std::next(asked_.begin(), Any(static_cast<uint32_t>(asked_.size())))->first;
  }

  void Ask(uint64_t seq) { asked_[seq]; }

  void AskForTick(Peer& peer) {
    std::vector<linkw::Lane> lanes;
    const uint32_t count = 1 + Any(4);
    for (uint32_t i = 0; i < count; ++i) {
      linkw::Lane lane = Lane(Any(8), Any(3) == 0 ? linkw::SequenceId{} : AnySequence(),
                              std::vector<uint32_t>(Any(40), Any(256)), Any(3) * 5);
      lane.sampling = {.temperature = Any(2) == 0 ? 0.0F : 0.8F, .seed = Any(9)};
      if (Any(5) == 0) lane.stop_slot = 1 + Any(4);
      lanes.push_back(lane);
    }
    Ask(SendTick(peer, std::move(lanes), Any(2), Any(8) == 0 ? 200 : 0));
  }

  void AskForOp(Peer& peer) {
    const linkw::SequenceId sequence = AnySequence();
    const linkw::SpaceId space{Any(2)};
    const linkw::BufId buffer{1 + Any(kBuffers + 1)};
    const linkw::TokenRange range{0, Any(64)};
    linkw::StateOp op;
    if (sized_ && Any(3) != 0) {  // one that can be
      op = linkw::Snapshot{.sequence = sized_->sequence,
                           .boundary_pos = sized_->range.end,
                           .buf_id = linkw::BufId{1 + Any(kBuffers)},
                           .sizing_gen = last_sizing_gen_};
      sized_.reset();
      return Ask(peer.Send(linkw::StateOpSubmit{op}));
    }
    switch (Any(4)) {
      case 0:
        op = linkw::Snapshot{.sequence = sequence,
                             .space_id = space,
                             .boundary_pos = range.end,
                             .buf_id = buffer,
                             .sizing_gen = last_sizing_gen_};
        break;
      case 1:
        op = linkw::Demote{.sequence = sequence,
                           .space_id = space,
                           .range = range,
                           .buf_id = buffer,
                           .sizing_gen = last_sizing_gen_};
        break;
      case 2:
        op = linkw::Restore{.sequence = sequence, .space_id = space, .buf_id = buffer};
        break;
      default:
        op = linkw::Promote{
            .sequence = sequence, .space_id = space, .range = range, .buf_id = buffer};
    }
    Ask(peer.Send(linkw::StateOpSubmit{op}));
  }

  void AskForCall(Peer& peer) {
    switch (Any(8)) {
      case 0:
        return Ask(peer.Send(linkw::StateSyncRequest{linkw::CreateSequence{}}));
      case 1:
        return Ask(peer.Send(linkw::StateSyncRequest{linkw::Fork{.parent = AnySequence()}}));
      case 2:
        return Ask(peer.Send(linkw::StateSyncRequest{linkw::FreeSequence{AnySequence()}}));
      case 3:
        return Ask(peer.Send(linkw::StateSyncRequest{linkw::Trim{
            .sequence = AnySequence(), .space_id = linkw::SpaceId{Any(2)}, .new_len = Any(32)}}));
      case 4:
        return Ask(peer.Send(linkw::MatchRequest{.span = Write({1, 2, 3})}));
      case 5:
      case 6:
        asked_size_ = {.sequence = AnySequence(), .range = {0, Any(32)}};
        return Ask(peer.Send(linkw::StateSyncRequest{linkw::ExportSize(asked_size_)}));
      default:
        return Ask(peer.Send(linkw::StateSyncRequest{
            linkw::PublishSequence{.sequence = AnySequence(), .span = Write({7, 7, 7})}}));
    }
  }

  void Disturb(Peer& peer) {
    switch (Any(6)) {
      case 0:
        peer.Send(linkw::OpCancel{linkw::OpHandle{Any(20)}});
        break;
      case 1:
        peer.Send(linkw::TranscribeCancel{AnyAsked()});
        break;
      case 2:
        peer.Send(linkw::BufRelease{linkw::BufId{1 + Any(kBuffers)}});
        break;
      case 3:
        EXPECT_TRUE(control_->SetLaneStop(Any(4), Any(2) == 0).ok());
        break;
      case 4:
        Ask(peer.Send(linkw::Ping{}));
        break;
      default:
        Advance(absl::Milliseconds(Any(10)));
    }
  }

  void Step(Peer& peer) {
    switch (Any(6)) {
      case 0:
      case 1:
        AskForTick(peer);
        break;
      case 2:
        AskForOp(peer);
        break;
      case 3:
        AskForCall(peer);
        break;
      case 4:
        Ask(SendTranscription(peer, static_cast<int>(50 + Any(300)), Any(4) == 0 ? 20 : 0));
        break;
      default:
        Disturb(peer);
    }
    RunSome(Any(40));
    ReadAll();
    while (!peer.empty()) Hear(peer.Take());
  }

  // That a run is not all refusals: these are checked over all seeds together.
  static inline std::map<std::string, int> seen;
  static void TearDownTestSuite() {
    if (Number("SUPERFLUID_SESSION_SEED", 0) != 0) return;
    for (const char* what :
         {"tick ok", "tick stopped", "lane ok", "lane error", "op done", "op cancelled",
          "op failed", "op refused", "call ok", "transcription cancelled"}) {
      EXPECT_GT(seen[what], 0) << what << " never happened";
      std::printf("%-24s %d\n", what, seen[what]);
    }
  }

  void Hear(const Received& received) {
    ASSERT_TRUE(asked_.contains(received.correlation)) << "an answer to nothing";
    Heard& heard = asked_[received.correlation];
    std::visit([&](const auto& message) { On(heard, message); }, received.message);
  }
  void On(Heard& heard, const linkw::TickEmit& /*emit*/) { EXPECT_EQ(heard.finals, 0); }
  void On(Heard& heard, const linkw::TranscribeSegment& /*segment*/) { EXPECT_EQ(heard.finals, 0); }
  void On(Heard& heard, const linkw::StateOpAccepted& accepted) {
    EXPECT_FALSE(heard.accepted || heard.refused || heard.done);
    heard.accepted = accepted.status == Status::kOk;
    heard.refused = !heard.accepted;
    if (heard.refused) ++seen["op refused"];
    if (heard.refused) ++heard.finals;
    if (heard.refused) return;
    EXPECT_TRUE(handles_.insert(accepted.op_handle).second);
  }
  void On(Heard& heard, const linkw::StateOpDone& done) {
    EXPECT_TRUE(heard.accepted && !heard.done);
    heard.done = true;
    ++seen[done.state == linkw::OpState::kDone        ? "op done"
           : done.state == linkw::OpState::kCancelled ? "op cancelled"
                                                      : "op failed"];
    ++heard.finals;
    EXPECT_TRUE(done_.insert(done.op_handle).second);
  }
  void On(Heard& heard, const linkw::TickResult& result) {
    ++heard.finals;
    ++seen[result.status == Status::kOk ? "tick ok" : "tick stopped"];
    for (const linkw::LaneEvent& lane : result.events.lanes) {
      ++seen[lane.status == Status::kOk ? "lane ok" : "lane error"];
      if (lane.status == Status::kOk) sequences_.push_back(lane.sequence);
    }
    for (const linkw::StateOpDone& done : result.events.op_completions) {
      EXPECT_TRUE(done_.contains(done.op_handle)) << "its Done comes first";
    }
  }
  void On(Heard& heard, const linkw::StateSyncResult& result) {
    ++heard.finals;
    if (result.status == Status::kOk) ++seen["call ok"];
    if (result.status == Status::kCancelled) ++seen["transcription cancelled"];
    if (const auto* made = std::get_if<linkw::CreateSequenceResult>(&result.reply)) {
      sequences_.push_back(made->sequence);
    }
    if (const auto* size = std::get_if<linkw::ExportSizeResult>(&result.reply)) {
      last_sizing_gen_ = size->sizing_gen;
      sized_ = asked_size_;
    }
  }
  void On(Heard& heard, const linkw::Error& error) {
    EXPECT_FALSE(error.fatal) << error.message;
    ++heard.finals;
  }
  template <class Other>
  void On(Heard& heard, const Other& /*other*/) {
    ++heard.finals;
  }

  std::minstd_rand random_;
  std::map<uint64_t, Heard> asked_;
  std::vector<linkw::SequenceId> sequences_;
  std::set<linkw::OpHandle> handles_;
  std::set<linkw::OpHandle> done_;
  uint64_t last_sizing_gen_ = 0;
  linkw::ExportSize asked_size_;
  std::optional<linkw::ExportSize> sized_;  // the last one that was answered, if it was not used
};

TEST_P(RandomSessionTest, EveryRequestIsAnsweredOnce) {
  const int seed = GetParam();
  SCOPED_TRACE("SUPERFLUID_SESSION_SEED=" + std::to_string(seed));
  random_.seed(static_cast<unsigned>(seed));
  schedule.seed(static_cast<unsigned>(seed) + 1);
  Peer& peer = StartDriver();
  for (uint64_t id = 1; id <= kBuffers; ++id) AttachBuffer(peer, id, 8192);
  for (int i = 0; i < kRequests && !HasFatalFailure(); ++i) Step(peer);
  const bool drains = Any(2) == 0;
  const uint64_t drain = drains ? peer.Send(linkw::DrainRequest{.deadline_ms = Any(30)}) : 0;
  if (drains) Ask(drain);
  Advance(absl::Seconds(2));
  uint64_t last = 0;
  while (!peer.empty()) {
    last = peer.received().front().correlation;
    Hear(peer.Take());
  }
  if (drains) {
    EXPECT_EQ(last, drain) << "Drained is the last word";
  }
  for (const auto& [seq, heard] : asked_) EXPECT_EQ(heard.finals, 1) << "request " << seq;
  EXPECT_EQ(done_, handles_);
  EXPECT_EQ(progress_->open_ops(), 0u);
  peer.HangUp();
  Run();
  const linkw::MemCounters left = Memory(NextDriver());
  EXPECT_EQ(left.pool_blocks_used * 512, left.pool_bytes_evictable) << "only the cache may be left";
  EXPECT_EQ(left.tentative_bytes, 0u);
}

std::vector<int> Seeds() {
  if (const int seed = Number("SUPERFLUID_SESSION_SEED", 0); seed != 0) return {seed};
  std::vector<int> seeds(static_cast<size_t>(Number("SUPERFLUID_SESSIONS", 300)));
  for (size_t i = 0; i < seeds.size(); ++i) seeds[i] = static_cast<int>(i) + 1;
  return seeds;
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomSessionTest, testing::ValuesIn(Seeds()));

}  // namespace
}  // namespace superfluid
