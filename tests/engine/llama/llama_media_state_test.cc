// Images in a sequence's state: forks, snapshots, the prefix cache.

#include <gtest/gtest.h>

#include "tests/engine/llama/media_fixture.h"

namespace superfluid::testing {
namespace {

constexpr const char* kProjectors[] = {"tiny_mmproj.gguf", "tiny_mmproj_gemma3.gguf"};

class LlamaMediaStateTest : public MediaFixture {
 protected:
  void SetUp() override { Begin("tiny_mmproj.gguf"); }

  // An image after `before` tokens, and what is drawn after it.
  void Begin(const std::string& projector, size_t before = 9, size_t after = 20) {
    StartWith(projector);
    media_ = Encode();
    script_ = ScriptOf(Prompt(before), media_.info, Prompt(after, 2), 12);
    offset_ = before;
    expected_ = DrawWith(script_, media_.handle, before);
  }
  // A sequence that has drawn so many of them.
  SequenceHandle Source(uint32_t draws) {
    const auto made = driver().RunLane(LaneWith(script_, media_.handle, offset_, draws));
    EXPECT_TRUE(made.ok()) << made.status();
    return made.ok() ? made->sequence : SequenceHandle{};
  }
  uint64_t Length(uint32_t draws) const { return script_.prompt.size() + draws; }
  uint64_t ImageEnd() const { return offset_ + media_.info.n_tokens; }
  absl::StatusOr<Digest> Provenance(SequenceHandle sequence, uint64_t end) {
    return generation().Provenance(sequence, SpaceId{0}, {0, end});
  }
  uint64_t Matched(const std::vector<Token>& tokens, const std::vector<uint64_t>& deps) {
    const auto matches = generation().Match(tokens, deps);
    EXPECT_TRUE(matches.ok());
    return matches->at(0).matched_tokens;
  }

  EncodedMedia media_;
  Script script_;
  uint64_t offset_ = 0;
  std::vector<Token> expected_;
};

TEST_F(LlamaMediaStateTest, AForkGoesOnAsTheParent) {
  for (const char* projector : kProjectors) {
    Begin(projector);
    const SequenceHandle source = Source(3);
    const auto fork = generation().Fork(source, 0);
    ASSERT_TRUE(fork.ok());
    ASSERT_TRUE(generation().ReleaseMedia(media_.handle).ok());
    EXPECT_EQ(driver().Continue(script_, expected_, source, Length(3)), absl::OkStatus());
    EXPECT_EQ(driver().Continue(script_, expected_, *fork, Length(3)), absl::OkStatus());
    EXPECT_TRUE(generation_->CheckInvariants());
  }
}

TEST_F(LlamaMediaStateTest, SnapshotsGoIntoAnotherEngineAndBack) {
  for (const char* projector : kProjectors) {
    Begin(projector);
    const SequenceHandle source = Source(5);
    const auto provenance = Provenance(source, Length(5));
    const auto images = driver().Snapshot(source, Length(5), 0);
    ASSERT_TRUE(images.ok()) << images.status();
    // One without a projector: it is state as any other.
    Start();
    const auto restored = driver().Restore(*images);
    ASSERT_TRUE(restored.ok()) << restored.status();
    EXPECT_EQ(*Provenance(*restored, Length(5)), *provenance);
    EXPECT_EQ(driver().Continue(script_, expected_, *restored, Length(5)), absl::OkStatus());
    const auto again = driver().Snapshot(*restored, Length(5), 0);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->at(0).bytes, images->at(0).bytes);
  }
}

TEST_F(LlamaMediaStateTest, ASnapshotOfAnotherImageIsNotTakenForThisOne) {
  const SequenceHandle source = Source(2);
  const EncodedMedia other = Encode(kOtherImage);
  const auto made = driver().RunLane(LaneWith(script_, other.handle, offset_, 0));
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(*Provenance(source, offset_), *Provenance(made->sequence, offset_));
  EXPECT_NE(*Provenance(source, offset_ + 1), *Provenance(made->sequence, offset_ + 1));
  auto images = driver().Snapshot(source, Length(0), 0);
  ASSERT_TRUE(images.ok());
  images->at(0).what.provenance = *Provenance(made->sequence, Length(0));
  EXPECT_TRUE(absl::IsInvalidArgument(driver().Restore(*images).status()));
}

TEST_F(LlamaMediaStateTest, WhatIsDemotedComesBack) {
  for (const char* projector : kProjectors) {
    Begin(projector);
    const SequenceHandle source = Source(4);
    for (const TokenRange range :
         {TokenRange{0, Length(4)}, {0, ImageEnd()}, {offset_, Length(3)}}) {
      const auto image = driver().Export(source, SpaceId{0}, range, 0, /*free_device_copy=*/true);
      ASSERT_TRUE(image.ok()) << image.status();
      ASSERT_TRUE(driver().Import(source, *image).ok());
    }
    EXPECT_EQ(driver().Continue(script_, expected_, source, Length(4)), absl::OkStatus());
  }
}

TEST_F(LlamaMediaStateTest, ARestoredSequenceThatEndsWithAnImageNeedsItToDraw) {
  for (const char* projector : kProjectors) {
    Begin(projector, 9, 0);
    const auto images = driver().Snapshot(Source(0), Length(0), 0);
    ASSERT_TRUE(images.ok()) << images.status();
    StartWith(projector);
    const auto restored = driver().Restore(*images);
    ASSERT_TRUE(restored.ok()) << restored.status();
    EXPECT_TRUE(
        absl::IsFailedPrecondition(driver().Continue(script_, expected_, *restored, Length(0))));
    const Script text = ScriptOf({}, media_.info, Prompt(4), 3);
    const auto fork = generation().Fork(*restored, 0);
    ASSERT_TRUE(fork.ok());
    EXPECT_TRUE(driver().RunLane(driver().LaneFor(text, *fork, Prompt(4), 3)).ok());
    (void)Encode();
    EXPECT_EQ(driver().Continue(script_, expected_, *restored, Length(0)), absl::OkStatus());
  }
}

TEST_F(LlamaMediaStateTest, PartOfAnImageIsExportedUnlessItIsComputedAtOnce) {
  const SequenceHandle source = Source(0);
  EXPECT_EQ(*generation().SnapshotBoundary(source, SpaceId{0}, offset_ + 3), offset_ + 3);
  const auto images = driver().Snapshot(source, offset_ + 3, 0);
  ASSERT_TRUE(images.ok()) << images.status();
  EXPECT_TRUE(driver().Restore(*images).ok());

  Begin("tiny_mmproj_gemma3.gguf");
  const SequenceHandle whole = Source(0);
  // Its rows lie within the text around them.
  uint64_t cut = offset_;
  while (cut < ImageEnd() && *generation().SnapshotBoundary(whole, SpaceId{0}, cut) == cut) ++cut;
  ASSERT_LT(cut, ImageEnd());
  EXPECT_TRUE(
      absl::IsInvalidArgument(generation().SizeOfExport(whole, SpaceId{0}, {0, cut}, 0).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(driver().TrimAll(whole, cut)));
  EXPECT_EQ(*generation().SnapshotBoundary(whole, SpaceId{0}, cut), cut - 1);
  EXPECT_TRUE(driver().TrimAll(whole, cut - 1).ok());
}

TEST_F(LlamaMediaStateTest, ThePrefixCacheKnowsTheImage) {
  for (const char* projector : kProjectors) {
    Begin(projector, 20, 30);
    const SequenceHandle source = Source(0);
    ASSERT_TRUE(generation().PublishSequence(source, script_.prompt, {}).ok());
    ASSERT_TRUE(driver().Free(source).ok());
    const uint64_t whole = script_.prompt.size() / 16 * 16;
    const EncodedMedia other = Encode(kOtherImage);
    EXPECT_EQ(Matched(script_.prompt, {media_.info.preprocess_fp}), whole);
    EXPECT_EQ(Matched(script_.prompt, {}), 16U);
    EXPECT_EQ(Matched(script_.prompt, {other.info.preprocess_fp}), 0U);
    EXPECT_TRUE(absl::IsNotFound(generation().AcquireSeed(script_.prompt, whole, 0, {}).status()));
    const uint64_t used = engine_->Memory().pool_blocks_used;

    const auto hit = driver().RunLane(LaneWith(script_, media_.handle, offset_, 12));
    ASSERT_TRUE(hit.ok()) << hit.status();
    EXPECT_EQ(hit->tokens, expected_) << projector;
    EXPECT_LE(engine_->Memory().pool_blocks_used, used + 2);  // the rest and the draws
    const std::vector<Token> of_other = DrawWith(script_, other.handle, offset_);
    generation_->Reset();
    EXPECT_EQ(DrawWith(script_, other.handle, offset_), of_other);
    EXPECT_NE(of_other, expected_);
  }
}

TEST_F(LlamaMediaStateTest, ALeaseOnAPrefixWithAnImageIsAdopted) {
  Begin("tiny_mmproj.gguf", 20, 30);
  const SequenceHandle source = Source(0);
  const auto seed = generation().AdoptSequence(source, script_.prompt, {});
  ASSERT_TRUE(seed.ok()) << seed.status();
  ASSERT_TRUE(driver().Free(source).ok());
  const uint64_t whole = script_.prompt.size() / 16 * 16;
  const auto lease =
      generation().AcquireSeed(script_.prompt, whole, 0, {media_.info.preprocess_fp});
  ASSERT_TRUE(lease.ok()) << lease.status();
  EXPECT_EQ(DrawWith(script_, media_.handle, offset_), expected_);
  ASSERT_TRUE(generation().Unpublish(script_.prompt).ok());
  EXPECT_EQ(Matched(script_.prompt, {media_.info.preprocess_fp}), whole - 16);
}

TEST_F(LlamaMediaStateTest, EverythingGoesWithTheSession) {
  (void)Source(2);
  const LaneWork lane = LaneWith(script_, media_.handle, offset_, 2);
  EXPECT_EQ(engine_->Memory().host_retained_bytes,
            uint64_t{media_.info.n_tokens} * 64 * sizeof(float));
  generation().EndSession();
  EXPECT_EQ(engine_->Memory().host_retained_bytes, 0U);
  EXPECT_EQ(engine_->Memory().pool_blocks_used, 0U);
  EXPECT_TRUE(absl::IsNotFound(generation().ReleaseMedia(media_.handle)));
  // The binding is gone, too: these are tokens as any others.
  const auto plain = driver().RunLane(lane);
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->tokens, (std::vector<Token>{Draw(script_)[0], Draw(script_)[1]}));
}

}  // namespace
}  // namespace superfluid::testing
