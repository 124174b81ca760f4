#include "tests/engine/abi/hostile_generation_fixture.h"

#include <utility>

#include "engine/loader/loader.h"
#include "tests/engine/abi/engine_test_util.h"

namespace superfluid::testing {
namespace {

// Runs a state job of 100 bytes to its end.
absl::Status RunJob(const absl::StatusOr<std::unique_ptr<StateJob>>& job) {
  if (!job.ok()) return job.status();
  const CancelToken token;
  for (int i = 0; i < 10; ++i) {
    const absl::StatusOr<StateJobOutcome> outcome = (*job)->Step({}, token);
    if (!outcome.ok()) return outcome.status();
    if (*outcome == StateJobOutcome::kDone) return absl::OkStatus();
  }
  return absl::UnknownError("no end");
}

absl::Status RunImport(Generation& g) {
  const std::vector<std::byte> bytes(100);
  const absl::StatusOr<SequenceHandle> sequence = g.CreateSequence();
  if (!sequence.ok()) return sequence.status();
  return RunJob(g.StartImport({*sequence, SpaceId{}, {0, 1}, 0, {}, true}, bytes));
}

}  // namespace

absl::Status HostileGeneration::Load(const std::string& mode) {
  EngineConfig config = ConfigWith({{"mode", mode}});
  config.log = [this](EngineLogLevel, absl::string_view line) { log_.emplace_back(line); };
  auto engine = LoadEngine("tests/engine/abi/plugins/libsuperfluid_hostile_generation.so", config);
  if (!engine.ok()) return engine.status();
  engine_ = *std::move(engine);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<LaneResult>> HostileGeneration::Tick2(bool emits) {
  const std::vector<Token> input = {1, 2};
  std::vector<LaneWork> lanes(2);
  lanes[1].tag = LaneTag{1};
  for (LaneWork& lane : lanes) {
    lane.input = input;
    lane.max_tokens = 4;
    lane.want_logits = true;
  }
  return generation().RunTick({1, emits, lanes}, token_, host_);
}

absl::Status RunHostileExport(Generation& g) {
  std::vector<std::byte> out(100);
  const absl::StatusOr<SequenceHandle> sequence = g.CreateSequence();
  if (!sequence.ok()) return sequence.status();
  return RunJob(g.StartExport({*sequence, SpaceId{}, {0, 1}, 0, false}, absl::MakeSpan(out)));
}

const std::map<std::string, HostileAction>& HostileActions() {
  static const auto* const kActions = new std::map<std::string, HostileAction>{
      {"create", [](Generation& g) { return g.CreateSequence().status(); }},
      {"fork", [](Generation& g) { return g.Fork(*g.CreateSequence(), 0).status(); }},
      {"lane", [](Generation& g) { return g.LaneSequence(LaneTag{1}).status(); }},
      {"boundary",
       [](Generation& g) {
         return g.SnapshotBoundary(*g.CreateSequence(), SpaceId{}, 9).status();
       }},
      {"size",
       [](Generation& g) {
         return g.SizeOfExport(*g.CreateSequence(), SpaceId{}, {}, 0).status();
       }},
      {"provenance",
       [](Generation& g) { return g.Provenance(*g.CreateSequence(), SpaceId{}, {}).status(); }},
      {"export", RunHostileExport},
      {"state",
       [](Generation& g) {
         absl::Status exported = RunHostileExport(g);
         EXPECT_EQ(exported.code(), RunImport(g).code());
         return exported;
       }},
      {"match",
       [](Generation& g) {
         const std::vector<Token> tokens = {1, 2};
         return g.Match(tokens, {}).status();
       }},
      {"seed", [](Generation& g) { return g.AcquireSeed({}, 0, 0, {}).status(); }},
      {"adopt",
       [](Generation& g) { return g.AdoptSequence(*g.CreateSequence(), {}, {}).status(); }},
      {"evict", [](Generation& g) { return g.EvictCache(1, {}).status(); }},
      {"grammar",
       [](Generation& g) {
         const absl::Status status = g.CreateGrammar("", {}).status();
         return status.ok() ? g.CreateStructuralGrammar("", {}).status() : status;
       }},
      {"bias", [](Generation& g) { return g.CreateLogitBias({}, {}).status(); }},
      {"embed", [](Generation& g) { return g.Embed({}, {}).status(); }},
      {"stage", [](Generation& g) { return g.ForwardStage({}, {}).status(); }},
      {"adapter", [](Generation& g) { return g.LoadAdapter("", {}).status(); }},
      {"current", [](Generation& g) { return g.CurrentAdapter().status(); }},
      {"media",
       [](Generation& g) {
         const absl::Status status = g.EncodeMedia("", {}).status();
         return status.ok() ? g.ProbeMedia("", {}).status() : status;
       }},
      {"strategy", [](Generation& g) { return g.RegisterStrategy({}).status(); }},
  };
  return *kActions;
}

}  // namespace superfluid::testing
