// Whatever is asked for in whatever order, what must hold holds, and nothing is left at the end.

#include <vector>

#include "engine/sim/sim_blocks.h"
#include "tests/engine/properties/property_run.h"
#include "tests/engine/sim/sim_generation_fixture.h"

namespace superfluid {
namespace {

using testing::CaseRandom;
using testing::RunProperty;
using testing::StateImage;

constexpr EvictPolicy kAll{UINT32_MAX, 0, 0};

using SimRandomOperationsTest = testing::SimGenerationTest;

// What a careless daemon might do, in any order.
class RandomOperations {
 public:
  RandomOperations(SimGeneration& generation, CaseRandom& random)
      : generation_(generation), driver_(generation), random_(random) {}

  void Run(int operations) {
    for (int i = 0; i < operations; ++i) One();
  }

 private:
  SequenceHandle Any() {
    if (sequences_.empty() || random_.Chance(5)) return SequenceHandle{random_.In(1, 400)};
    return sequences_[random_.In(0, sequences_.size() - 1)];
  }
  void Keep(const absl::StatusOr<SequenceHandle>& made) {
    if (made.ok()) sequences_.push_back(*made);
  }
  // Of few kinds, so that prefixes meet.
  std::vector<Token> Tokens() {
    std::vector<Token> tokens(random_.In(0, 70));
    const uint64_t kind = random_.In(1, 3);
    for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<Token>((i * kind) % 256);
    if (random_.Chance(20) && !tokens.empty()) tokens.back() = 300;
    return tokens;
  }
  void Lane() {
    const std::vector<Token> input = Tokens();
    testing::Script script;
    const SequenceHandle sequence = random_.Chance(40) ? SequenceHandle{} : Any();
    const auto result = driver_.RunLane(
        driver_.LaneFor(script, sequence, input, static_cast<uint32_t>(random_.In(0, 20))));
    if (result.ok() && sequence == SequenceHandle{}) sequences_.push_back(result->sequence);
  }
  void State() {
    const SpaceId space{static_cast<uint32_t>(random_.In(0, 1))};
    const uint64_t start = random_.Chance(60) ? 0 : random_.In(0, 30);
    const TokenRange range{start, start + random_.In(0, 60)};
    auto image = driver_.Export(Any(), space, range, 0, random_.Chance(50));
    if (image.ok()) images_.push_back(*std::move(image));
    if (images_.empty() || random_.Chance(40)) return;
    const auto& any = images_[random_.In(0, images_.size() - 1)];
    (void)driver_.Import(Any(), any);
  }
  // A job that is given up half way.
  void Abandon() {
    if (images_.empty()) return;
    const StateImage& image = images_[random_.In(0, images_.size() - 1)];
    StateImport what = image.what;
    what.sequence = Any();
    auto job = generation_.StartImport(what, image.bytes);
    if (!job.ok()) return;
    (void)(*job)->Step({}, CancelToken());
    EXPECT_TRUE(generation_.CheckInvariants());
  }
  void Cache() {
    const std::vector<Token> tokens = Tokens();
    switch (random_.In(0, 5)) {
      case 0:
        return (void)generation_.PublishSequence(Any(), tokens, {});
      case 1:
        return (void)generation_.AdoptSequence(Any(), tokens, {});
      case 2:
        return (void)generation_.AcquireSeed(tokens, tokens.size() / 16 * 16, 0, {});
      case 3:
        return (void)generation_.Unpublish(tokens);
      case 4:
        return (void)generation_.ReleaseSeed(SeedHandle{random_.In(1, 400)});
      default:
        return (void)generation_.EvictCache(random_.In(0, 3000),
                                            {static_cast<uint32_t>(random_.In(0, 7)), 0, 0});
    }
  }
  void One() {
    switch (random_.In(0, 8)) {
      case 0:
        return Keep(generation_.Fork(Any(), 0));
      case 1:
        return (void)generation_.FreeSequence(Any());
      case 2:
        return (void)generation_.Trim(Any(), SpaceId{static_cast<uint32_t>(random_.In(0, 1))},
                                      random_.In(0, 4) * 16);
      case 3:
        return State();
      case 4:
        return Abandon();
      case 5:
      case 6:
        return Cache();
      default:
        return Lane();
    }
  }

  SimGeneration& generation_;
  testing::GenerationDriver driver_;
  CaseRandom& random_;
  std::vector<SequenceHandle> sequences_;
  std::vector<StateImage> images_;
};

TEST_F(SimRandomOperationsTest, AnythingInAnyOrderAddsUp) {
  // A small pool, so that it is full at times.
  Make({{"pool_blocks", "24"}, {"context", "160"}, {"op_chunk_bytes", "256"}});
  RunProperty("random operations", 1000, [&](CaseRandom& random) {
    RandomOperations operations(*generation_, random);
    for (int i = 0; i < 20; ++i) {
      operations.Run(5);
      clock_->now += absl::Milliseconds(random.In(0, 400));
      if (!generation_->CheckInvariants()) return absl::InternalError("the invariants do not hold");
      const MemoryCounters memory = generation_->Memory();
      if (memory.tentative_bytes != 0) return absl::InternalError("tentative blocks are left");
      const uint64_t evictable = memory.pool_bytes_evictable;
      if (random.Chance(10) && *generation_->EvictCache(UINT64_MAX, kAll) != evictable) {
        return absl::InternalError("not all that is evictable was evicted");
      }
    }
    generation_->EndSession();
    const MemoryCounters cached = generation_->Memory();
    if (cached.pool_bytes_evictable != cached.pool_blocks_used * kSimBlockBytes) {
      return absl::InternalError("after a session all that is left is cached");
    }
    engine_->Reset();
    const MemoryCounters memory = engine_->Memory();
    if (memory.allocated_bytes != 0 || memory.pool_blocks_used != 0) {
      return absl::InternalError("memory is left");
    }
    return absl::OkStatus();
  });
}

}  // namespace
}  // namespace superfluid
