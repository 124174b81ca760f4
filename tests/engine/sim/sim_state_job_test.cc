// Exports and imports of the sim engine.

#include <new>
#include <stdexcept>
#include <vector>

#include "engine/sim/sim_kv_codec.h"
#include "tests/engine/sim/sim_generation_fixture.h"

namespace superfluid {
namespace {

using testing::HasCode;
using testing::kExhausted;
using testing::kInvalid;
using testing::kNotFound;
using testing::kPrecondition;
using testing::StateImage;

constexpr SpaceId kKv = kSimKvSpace;
constexpr SpaceId kRecurrent = kSimRecurrentSpace;

class SimStateJobTest : public testing::SimGenerationTest {
 protected:
  void SetUp() override {
    Make({});
    sequence_ = Prefill(Tokens(40));
  }
  absl::StatusOr<std::unique_ptr<StateJob>> StartExport(SpaceId space, TokenRange range,
                                                        uint32_t encoding = 0,
                                                        bool free_device_copy = false) {
    const auto size = generation_->SizeOfExport(sequence_, space, range, encoding);
    bytes_.assign(size.ok() ? size->bytes : 0, std::byte{});
    return generation_->StartExport({sequence_, space, range, encoding, free_device_copy},
                                    absl::MakeSpan(bytes_));
  }
  absl::StatusOr<StateJobOutcome> Step(StateJob& job) { return job.Step({}, token_); }

  SequenceHandle sequence_{};
  std::vector<std::byte> bytes_;
};

TEST_F(SimStateJobTest, HasTwoSpaces) {
  const auto spaces = generation_->StateSpaces();
  ASSERT_EQ(spaces.size(), 2U);
  EXPECT_EQ(spaces[0].bytes_per_token, 32U);
  EXPECT_EQ(spaces[0].boundary_tokens, 1U);
  EXPECT_EQ(spaces[0].encodings, 3U);
  EXPECT_EQ(spaces[1].bytes_per_token, 0U);
  EXPECT_EQ(spaces[1].boundary_tokens, 16U);
  EXPECT_EQ(spaces[1].encodings, 1U);
  EXPECT_NE(spaces[0].compat_key, spaces[1].compat_key);
}

TEST_F(SimStateJobTest, SizesAreWhatIsWritten) {
  EXPECT_EQ(generation_->SizeOfExport(sequence_, kKv, {3, 40}, 0)->bytes, 37U * 32);
  EXPECT_EQ(generation_->SizeOfExport(sequence_, kKv, {3, 40}, 1)->bytes, 37U * 32 + 8);
  EXPECT_EQ(generation_->SizeOfExport(sequence_, kRecurrent, {0, 32}, 0)->bytes, 64U);
}

TEST_F(SimStateJobTest, SizingGenerationChangesWithTheState) {
  const auto generation = [&](SpaceId space) {
    return generation_->SizeOfExport(sequence_, space, {0, 16}, 0)->sizing_gen;
  };
  const uint64_t kv = generation(kKv);
  const uint64_t recurrent = generation(kRecurrent);
  EXPECT_EQ(generation(kKv), kv);
  ASSERT_TRUE(Decode(sequence_, 1).ok());
  EXPECT_NE(generation(kKv), kv);
  EXPECT_NE(generation(kRecurrent), recurrent);
}

TEST_F(SimStateJobTest, RefusesWhatCannotBeExported) {
  const auto size = [&](SpaceId space, TokenRange range, uint32_t encoding = 0) {
    return generation_->SizeOfExport(sequence_, space, range, encoding);
  };
  EXPECT_THAT(size(SpaceId{2}, {0, 1}), HasCode(kInvalid));
  EXPECT_THAT(size(kKv, {0, 41}), HasCode(kInvalid));
  EXPECT_THAT(size(kKv, {2, 1}), HasCode(kInvalid));
  EXPECT_THAT(size(kKv, {0, 1}, 2), HasCode(kInvalid));
  EXPECT_THAT(size(kKv, {0, 1}, 64), HasCode(kInvalid));
  EXPECT_THAT(size(kRecurrent, {0, 16}, 1), HasCode(kInvalid));
  EXPECT_THAT(size(kRecurrent, {0, 17}), HasCode(kInvalid));
  EXPECT_THAT(size(kRecurrent, {16, 32}), HasCode(kInvalid));
  EXPECT_TRUE(size(kRecurrent, {0, 40}).ok());
  EXPECT_THAT(generation_->SizeOfExport(SequenceHandle{999}, kKv, {0, 1}, 0), HasCode(kNotFound));
  EXPECT_THAT(generation_->Provenance(sequence_, kKv, {0, 41}), HasCode(kInvalid));
  EXPECT_THAT(generation_->SnapshotBoundary(sequence_, SpaceId{9}, 1), HasCode(kInvalid));
  EXPECT_THAT(generation_->StartExport({sequence_, kKv, {0, 1}, 0, false}, {}), HasCode(kInvalid));
  EXPECT_THAT(StartExport(kRecurrent, {0, 16}, 0, /*free_device_copy=*/true), HasCode(kInvalid));
}

TEST_F(SimStateJobTest, MovesInChunks) {
  Make({{"op_chunk_bytes", "320"}});
  sequence_ = Prefill(Tokens(25));
  const auto job = StartExport(kKv, {0, 25});
  ASSERT_TRUE(job.ok());
  EXPECT_EQ((*job)->bytes_moved(), 0U);
  EXPECT_EQ(*Step(**job), StateJobOutcome::kMore);
  EXPECT_EQ((*job)->bytes_moved(), 320U);
  EXPECT_EQ(*Step(**job), StateJobOutcome::kMore);
  EXPECT_EQ(*Step(**job), StateJobOutcome::kDone);
  EXPECT_EQ((*job)->bytes_moved(), 800U);
}

TEST_F(SimStateJobTest, TakesItsTime) {
  Make({{"op_us", "500"}});
  sequence_ = Prefill(Tokens(25));
  const auto job = StartExport(kKv, {0, 25});
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(*Step(**job), StateJobOutcome::kWaiting);
  clock_->now += absl::Microseconds(499);
  EXPECT_EQ(*Step(**job), StateJobOutcome::kWaiting);
  clock_->now += absl::Microseconds(1);
  EXPECT_EQ(*Step(**job), StateJobOutcome::kDone);
}

TEST_F(SimStateJobTest, TakesEffectAsAWhole) {
  Make({{"op_chunk_bytes", "320"}});
  sequence_ = Prefill(Tokens(25));
  auto demote = StartExport(kKv, {0, 25}, 0, /*free_device_copy=*/true);
  ASSERT_TRUE(demote.ok());
  ASSERT_EQ(*Step(**demote), StateJobOutcome::kMore);
  demote->reset();
  EXPECT_TRUE(Decode(sequence_, 1).ok());
  const auto image = driver_->Export(sequence_, kKv, {0, 26}, 0, /*free_device_copy=*/true);
  ASSERT_TRUE(image.ok());
  StateImport what = image->what;
  what.sequence = sequence_;
  auto promote = generation_->StartImport(what, image->bytes);
  ASSERT_TRUE(promote.ok());
  ASSERT_EQ(*Step(**promote), StateJobOutcome::kMore);
  EXPECT_EQ(generation_->Memory().tentative_bytes, 2 * kSimBlockBytes);
  EXPECT_EQ(generation_->Memory().pool_blocks_used, 0U);
  promote->reset();
  EXPECT_EQ(generation_->Memory().tentative_bytes, 0U);
  EXPECT_THAT(Decode(sequence_, 1), HasCode(kPrecondition));
  ASSERT_TRUE(driver_->Import(sequence_, *image).ok());
  EXPECT_TRUE(Decode(sequence_, 1).ok());
}

TEST_F(SimStateJobTest, CanBeCancelled) {
  const auto job = StartExport(kKv, {0, 40}, 0, /*free_device_copy=*/true);
  ASSERT_TRUE(job.ok());
  CancelToken token;
  token.Cancel(CancelReason::kRequested, 1);
  EXPECT_THAT((*job)->Step({}, token), HasCode(absl::StatusCode::kCancelled));
  EXPECT_TRUE(Decode(sequence_, 1).ok());
}

TEST_F(SimStateJobTest, NoticesWorkBesideIt) {
  const auto job = StartExport(kKv, {0, 40});
  ASSERT_TRUE(job.ok());
  ASSERT_TRUE(Decode(sequence_, 1).ok());
  EXPECT_THAT(Step(**job), HasCode(kPrecondition));
  const auto orphan = StartExport(kKv, {0, 40});
  ASSERT_TRUE(generation_->FreeSequence(sequence_).ok());
  EXPECT_THAT(Step(**orphan), HasCode(kPrecondition));
}

TEST_F(SimStateJobTest, DemotedStateBarsTheSequence) {
  for (const SpaceId space : {kKv, kRecurrent}) {
    const auto image = driver_->Export(sequence_, space, {0, 40}, 0, true);
    ASSERT_TRUE(image.ok());
    EXPECT_THAT(Decode(sequence_, 1), HasCode(kPrecondition));
    EXPECT_THAT(generation_->Fork(sequence_, 0), HasCode(kPrecondition));
    EXPECT_THAT(StartExport(space, {0, 40}), HasCode(kPrecondition));
    EXPECT_THAT(generation_->SnapshotBoundary(sequence_, space, 40), HasCode(kPrecondition));
    StateImage wrong = *image;
    wrong.what.provenance[0] ^= 1;
    EXPECT_THAT(driver_->Import(sequence_, wrong), HasCode(kPrecondition));
    wrong = *image;
    wrong.what.range.end = 32;
    EXPECT_THAT(driver_->Import(sequence_, wrong), HasCode(kInvalid));
    ASSERT_TRUE(driver_->Import(sequence_, *image).ok());
    EXPECT_THAT(driver_->Import(sequence_, *image), HasCode(kPrecondition));
  }
  EXPECT_TRUE(Decode(sequence_, 1).ok());
}

TEST_F(SimStateJobTest, RefusesWhatCannotBeImported) {
  const auto image = driver_->Export(sequence_, kKv, {0, 40}, 0, false);
  ASSERT_TRUE(image.ok());
  const SequenceHandle target = *generation_->CreateSequence();
  const auto import = [&](auto change) {
    StateImage changed = *image;
    change(changed);
    return driver_->Import(target, changed);
  };
  EXPECT_THAT(driver_->Import(SequenceHandle{999}, *image), HasCode(kNotFound));
  EXPECT_THAT(import([](auto& i) { i.what.space = SpaceId{7}; }), HasCode(kInvalid));
  EXPECT_THAT(import([](auto& i) { i.what.encoding = 5; }), HasCode(kInvalid));
  EXPECT_THAT(import([](auto& i) { i.what.range = {1, 41}; }), HasCode(kInvalid));
  EXPECT_THAT(import([](auto& i) { i.what.range.end = UINT64_MAX; }), HasCode(kInvalid));
  EXPECT_THAT(import([](auto& i) { i.bytes.pop_back(); }), HasCode(kInvalid));
  EXPECT_THAT(import([](auto& i) { i.what.provenance[0] ^= 1; }), HasCode(kInvalid));
  EXPECT_THAT(import([](auto& i) { i.what.provenance[31] ^= 1; }), HasCode(kPrecondition));
  EXPECT_THAT(import([](auto& i) { i.what.replace = false; }), HasCode(kPrecondition));
  EXPECT_THAT(import([](auto& i) { i.what.encoding = 1; }), HasCode(kInvalid));
  EXPECT_THAT(import([](auto& i) { i.bytes[0] ^= std::byte{1}; }), HasCode(kInvalid));
  EXPECT_TRUE(import([](auto&) {}).ok());
  EXPECT_THAT(Decode(target, 1), HasCode(kPrecondition));  // one space is not there
}

TEST_F(SimStateJobTest, ImportsNeedBlocks) {
  const auto image = driver_->Export(sequence_, kKv, {0, 40}, 0, false);
  ASSERT_TRUE(image.ok());
  Make({{"pool_blocks", "2"}});
  const SequenceHandle target = *generation_->CreateSequence();
  EXPECT_THAT(driver_->Import(target, *image), HasCode(kExhausted));
  EXPECT_EQ(generation_->Memory().tentative_bytes, 0U);
}

TEST_F(SimStateJobTest, StateOfAnotherAdapterIsRefused) {
  const auto images = driver_->Snapshot(sequence_, 40, 0);
  ASSERT_TRUE(images.ok());
  ASSERT_TRUE(generation_->LoadAdapter(WriteFile("lora", "l"), {}).ok());
  EXPECT_THAT(driver_->Restore(*images), HasCode(kPrecondition));
}

// Another engine of the same options takes the state up.
TEST_F(SimStateJobTest, StateMovesBetweenEngines) {
  const auto images = driver_->Snapshot(sequence_, 40, 1);
  ASSERT_TRUE(images.ok());
  const auto expected = Decode(sequence_, 8);
  Make({});
  const auto restored = driver_->Restore(*images);
  ASSERT_TRUE(restored.ok());
  EXPECT_EQ(*Decode(*restored, 8), *expected);
}

TEST_F(SimStateJobTest, FailsInTheWaysAskedFor) {
  Make({{"fail_at_op", "1"},
        {"throw_at_op", "2"},
        {"out_of_memory_at_op", "3"},
        {"stuck_at_op", "4"},
        {"stuck_ms", "300"},
        {"slow_at_op", "5"},
        {"slow_us", "700"}});
  sequence_ = Prefill(Tokens(20));
  const auto step = [&] { return Step(**StartExport(kKv, {0, 20}, 0, true)); };
  EXPECT_THAT(step(), HasCode(absl::StatusCode::kInternal));
  EXPECT_THROW((void)step(), std::runtime_error);
  EXPECT_THROW((void)step(), std::bad_alloc);
  EXPECT_TRUE(Decode(sequence_, 1).ok());  // none took effect
  absl::Time before = clock_->now;
  EXPECT_TRUE(step().ok());
  EXPECT_EQ(clock_->now - before, absl::Milliseconds(300));
  before = clock_->now;
  EXPECT_TRUE(Step(**StartExport(kRecurrent, {0, 21})).ok());
  EXPECT_EQ(clock_->now - before, absl::Microseconds(700));
}

}  // namespace
}  // namespace superfluid
