#include "tools/bench/null_engine.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace superfluid::bench {
namespace {

constexpr int kMostLanes = 256;
constexpr uint32_t kVocabulary = 65536;

class NullGeneration : public Generation {
 public:
  absl::StatusOr<std::vector<LaneResult>> RunTick(const Tick& tick, const CancelToken& /*token*/,
                                                  TickHost& /*host*/) override {
    std::vector<LaneResult> results(tick.lanes.size());
    for (size_t i = 0; i < results.size(); ++i) {
      const LaneWork& lane = tick.lanes[i];
      const uint64_t sequence = Named(lane.sequence);
      results[i].tokens.assign(lane.max_tokens, 1);
      results[i].sequence = SequenceHandle{sequence};
      results[i].position = lengths_[sequence] += lane.input.size() + lane.max_tokens;
    }
    return results;
  }

 private:
  uint64_t Named(SequenceHandle sequence) {
    if (sequence != SequenceHandle{}) return static_cast<uint64_t>(sequence);
    lengths_.push_back(0);
    return lengths_.size() - 1;
  }

  std::vector<uint64_t> lengths_ = {0};  // in tokens, by handle
};

class NullEngine : public Engine {
 public:
  NullEngine() {
    info_.name = "null";
    info_.version = "1";
    info_.max_lanes = kMostLanes;
    info_.vocab_size = kVocabulary;
  }

  const EngineInfo& info() const override { return info_; }
  std::string CapabilitiesJson() const override {
    return R"({"name":"null","version":"1","model":"","calls":["tick"],)"
           R"("vocab_size":65536,"context_tokens":1000000000})";
  }
  absl::StatusOr<std::unique_ptr<TranscriptionJob>> StartTranscription(
      const TranscriptionParams& /*params*/, std::unique_ptr<AudioSource> /*audio*/) override {
    return absl::UnimplementedError("this engine does not transcribe");
  }
  Generation* generation() override { return &generation_; }

 private:
  EngineInfo info_;
  NullGeneration generation_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Engine>> MakeNullEngine(const EngineConfig& /*config*/) {
  return std::make_unique<NullEngine>();
}

}  // namespace superfluid::bench
