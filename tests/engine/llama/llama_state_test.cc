#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/engine/llama/llama_fixture.h"
#include "tests/engine/properties/property_run.h"

namespace superfluid::testing {
namespace {

class LlamaStateTest : public LlamaFixture {
 protected:
  // A sequence in the middle of its draws, and all that it draws.
  SequenceHandle MakeSource() {
    expected_ = Draw(script_);
    const auto made = driver().RunLane(driver().LaneFor(script_, {}, script_.prompt, 5));
    EXPECT_TRUE(made.ok()) << made.status();
    return made.ok() ? made->sequence : SequenceHandle{};
  }
  StateSpace Space() { return generation().StateSpaces().at(0); }
  absl::StatusOr<StateImage> Export(SequenceHandle sequence, TokenRange range, bool demote) {
    return driver().Export(sequence, Space().id, range, 0, demote);
  }

  Script script_ = [] {
    Script script;
    for (Token i = 0; i < 70; ++i) script.prompt.push_back(260 + i * 7 % 400);
    script.draws = 12;
    script.sampling.temperature = 0.9F;
    return script;
  }();
  std::vector<Token> expected_;
};

TEST_F(LlamaStateTest, GoesIntoAnotherEngineOfTheSameModel) {
  const SequenceHandle source = MakeSource();
  const auto images = driver().Snapshot(source, 75, 0);
  ASSERT_TRUE(images.ok()) << images.status();
  const StateSpace space = Space();
  Start();
  EXPECT_EQ(Space().compat_key, space.compat_key);
  const auto restored = driver().Restore(*images);
  ASSERT_TRUE(restored.ok()) << restored.status();
  EXPECT_EQ(driver().Continue(script_, expected_, *restored, 75), absl::OkStatus());
}

TEST_F(LlamaStateTest, OtherModelsAndFormsHaveOtherKeys) {
  const Digest key = Space().compat_key;
  Start({{"kv_type", "f16"}});
  EXPECT_NE(Space().compat_key, key);
  Start({{"flash_attention", "on"}});
  EXPECT_NE(Space().compat_key, key);  // it keeps values in another order
  Start({}, "tiny_llama_f16.gguf");
  EXPECT_NE(Space().compat_key, key);
}

TEST_F(LlamaStateTest, EqualStateHasEqualBytes) {
  const SequenceHandle source = MakeSource();
  const auto first = Export(source, {3, 60}, false);
  const auto fork = generation().Fork(source, 0);
  ASSERT_TRUE(first.ok() && fork.ok());
  const auto second = Export(*fork, {3, 60}, false);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(first->bytes, second->bytes);
}

TEST_F(LlamaStateTest, ASizeIsStaleOnceTheSequenceHasGrown) {
  const SequenceHandle source = MakeSource();
  const auto before = generation().SizeOfExport(source, Space().id, {0, 70}, 0);
  ASSERT_TRUE(driver().RunLane(driver().LaneFor(script_, source, {}, 1)).ok());
  const auto after = generation().SizeOfExport(source, Space().id, {0, 70}, 0);
  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_EQ(before->bytes, after->bytes);
  EXPECT_NE(before->sizing_gen, after->sizing_gen);
}

TEST_F(LlamaStateTest, RefusesRangesAndEncodingsThatCannotBe) {
  const SequenceHandle source = MakeSource();
  const auto code = [&](SpaceId space, TokenRange range, uint32_t encoding) {
    return generation().SizeOfExport(source, space, range, encoding).status().code();
  };
  EXPECT_EQ(code(SpaceId{1}, {0, 5}, 0), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(SpaceId{0}, {0, 5}, 1), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(SpaceId{0}, {6, 5}, 0), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(SpaceId{0}, {0, 76}, 0), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(SpaceId{0}, {75, 75}, 0), absl::StatusCode::kOk);
}

TEST_F(LlamaStateTest, DemotedMemoryIsFreeUntilItComesBack) {
  const SequenceHandle source = MakeSource();
  const auto image = Export(source, {0, 75}, /*demote=*/true);
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(engine_->Memory().pool_blocks_used, 0U);
  EXPECT_EQ(generation().SnapshotBoundary(source, Space().id, 75).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(generation().Fork(source, 0).status().code(), absl::StatusCode::kFailedPrecondition);
  StateImage other = *image;
  other.what.range = {0, 70};
  EXPECT_EQ(driver().Import(source, other).code(), absl::StatusCode::kInvalidArgument);
  other = *image;
  other.what.provenance[0] ^= 1;
  EXPECT_EQ(driver().Import(source, other).code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(driver().Import(source, *image).ok());
  EXPECT_EQ(engine_->Memory().pool_blocks_used, 5U);
  EXPECT_EQ(driver().Continue(script_, expected_, source, 75), absl::OkStatus());
}

TEST_F(LlamaStateTest, AnImportHoldsItsRoomAndGivesItBack) {
  Start({{"kv_tokens", "256"}, {"context", "256"}});
  const SequenceHandle source = MakeSource();
  const auto image = Export(source, {0, 75}, false);
  const auto target = generation().CreateSequence();
  ASSERT_TRUE(image.ok() && target.ok());
  StateImport what = image->what;
  what.sequence = *target;
  {
    const auto first = generation().StartImport(what, image->bytes);
    ASSERT_TRUE(first.ok());
    EXPECT_GT(engine_->Memory().tentative_bytes, 0U);
    const auto second = generation().StartImport(what, image->bytes);
    ASSERT_TRUE(second.ok());
    const auto third = generation().StartImport(what, image->bytes);
    EXPECT_TRUE(absl::IsResourceExhausted(third.status())) << third.status();
  }
  EXPECT_EQ(engine_->Memory().tentative_bytes, 0U);
  EXPECT_EQ(engine_->Memory().pool_blocks_used, 5U);
  ASSERT_TRUE(driver().Import(*target, *image).ok());
  EXPECT_EQ(driver().Continue(script_, expected_, *target, 75), absl::OkStatus());
}

// The envelope finds bytes that changed by accident; these were changed on purpose, and sealed.
TEST_F(LlamaStateTest, BytesThatAreNoStateAreRefusedAndHarmNobody) {
  const SequenceHandle source = MakeSource();
  const auto image = Export(source, {0, 75}, false);
  ASSERT_TRUE(image.ok());
  CaseRandom random(7);
  int refused = 0;
  for (int i = 0; i < 600; ++i) {
    StateImage wrong = *image;
    // Most of them in what is not keys and values.
    const uint64_t end =
        random.Chance(70) ? 32 + 75 * 4 + 8 + 8 + 75 * 12 + 40 : wrong.bytes.size();
    wrong.bytes[random.In(0, end - 1)] = static_cast<std::byte>(random.In(0, 255));
    if (random.Chance(20)) wrong.bytes.resize(random.In(0, wrong.bytes.size()));
    const auto target = generation().CreateSequence();
    ASSERT_TRUE(target.ok());
    const absl::Status status = driver().Import(*target, wrong);
    refused += status.ok() ? 0 : 1;
    if (status.ok()) (void)driver().RunLane(driver().LaneFor(script_, *target, {}, 2));
    ASSERT_TRUE(generation_->CheckInvariants());
    ASSERT_TRUE(driver().Free(*target).ok());
  }
  EXPECT_GT(refused, 300);
  EXPECT_EQ(driver().Continue(script_, expected_, source, 75), absl::OkStatus());
}

// In the library's cache they would reach every other sequence.
TEST_F(LlamaStateTest, NumbersThatCannotBeAreRefused) {
  const SequenceHandle source = MakeSource();
  auto image = Export(source, {0, 75}, false);
  ASSERT_TRUE(image.ok());
  const size_t start = 32 + 75 * 4 + 8 + 8 + 75 * 12 + 8 + 12;
  const auto target = generation().CreateSequence();
  ASSERT_TRUE(target.ok());
  for (const float wrong : {NAN, INFINITY, -1e38F}) {
    StateImage changed = *image;
    std::memcpy(changed.bytes.data() + start + 32, &wrong, sizeof(wrong));
    EXPECT_EQ(driver().Import(*target, changed).code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_TRUE(driver().Import(*target, *image).ok());
  EXPECT_EQ(driver().Continue(script_, expected_, source, 75), absl::OkStatus());
}

}  // namespace
}  // namespace superfluid::testing
