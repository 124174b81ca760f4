#include "actors/engine/op_run.h"

#include <utility>

#include "gtest/gtest.h"
#include "protocol/messages/status.h"
#include "tests/actors/fake_generation.h"

namespace superfluid {
namespace {

class OneStepJob : public StateJob {
 public:
  explicit OneStepJob(uint64_t bytes, bool* gone = nullptr) : bytes_(bytes), gone_(gone) {}
  OneStepJob(const OneStepJob&) = delete;
  OneStepJob& operator=(const OneStepJob&) = delete;
  ~OneStepJob() override {
    if (gone_ != nullptr) *gone_ = true;
  }
  absl::StatusOr<StateJobOutcome> Step(const StepBudget&, const CancelToken&) override {
    return StateJobOutcome::kDone;
  }
  uint64_t bytes_moved() const override { return bytes_; }

 private:
  uint64_t bytes_;
  bool* gone_;
};

class OpRunTest : public testing::Test {
 protected:
  OpRunTest() {
    link_.handles.Add(HandleKind::kSequence, 4).IgnoreError();
    generation_.start_export = [this](const StateExport& what, absl::Span<std::byte> out) {
      exported_ = what;
      out_bytes_ = out.size();
      return std::make_unique<OneStepJob>(moved_);
    };
  }
  absl::StatusOr<std::unique_ptr<OpRun>> Begin(const linkw::StateOp& op, size_t buffer_bytes) {
    return OpRun::Begin(
        generation_, link_, op,
        std::make_shared<const Segment>(Segment::Create(buffer_bytes, "op").value()), import_);
  }
  static linkw::Snapshot Snapshot() {
    return {.sequence = linkw::SequenceId{4}, .boundary_pos = 9, .sizing_gen = 7};
  }

  FakeGeneration generation_;
  EngineLink link_;
  std::shared_ptr<const ImportedState> import_;
  StateExport exported_;
  size_t out_bytes_ = 0;
  uint64_t moved_ = 100;
};

TEST_F(OpRunTest, ExportsBehindTheEnvelope) {
  const auto run = Begin(Snapshot(), 260);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(out_bytes_, 100);
  EXPECT_EQ(exported_.range, (TokenRange{0, 9}));
  EXPECT_FALSE(exported_.free_device_copy);
  EXPECT_EQ((*run)->Step({}, CancelToken()).value(), StateJobOutcome::kDone);
  EXPECT_EQ((*run)->bytes_moved(), 100);
  EXPECT_EQ((*run)->envelope().payload_bytes, 100);
  EXPECT_EQ((*run)->envelope().provenance, Digest{9});
}

TEST_F(OpRunTest, ADemoteFreesTheDeviceCopy) {
  const auto run = Begin(
      linkw::Demote{
          .sequence = linkw::SequenceId{4}, .range = {2, 5}, .encoding = 1, .sizing_gen = 7},
      260);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_TRUE(exported_.free_device_copy);
  EXPECT_EQ(exported_.encoding, 1);
}

TEST_F(OpRunTest, RefusesWhatCannotBe) {
  EXPECT_TRUE(absl::IsInvalidArgument(Begin(Snapshot(), 259).status())) << "one byte too small";
  linkw::Snapshot stale = Snapshot();
  stale.sizing_gen = 6;
  EXPECT_TRUE(absl::IsFailedPrecondition(Begin(stale, 260).status()));
  linkw::Snapshot unknown = Snapshot();
  unknown.sequence = linkw::SequenceId{5};
  EXPECT_EQ(linkw::FromAbsl(Begin(unknown, 260).status()), linkw::Status::kUnknownHandle);
  EXPECT_TRUE(absl::IsInvalidArgument(
      Begin(linkw::Demote{.sequence = linkw::SequenceId{4}, .range = {5, 5}, .sizing_gen = 7}, 260)
          .status()));
}

TEST_F(OpRunTest, AnEngineThatClaimsToHaveMovedMoreIsFoundOut) {
  moved_ = 101;
  const auto run = Begin(Snapshot(), 260);
  EXPECT_TRUE(absl::IsInternal((*run)->Step({}, CancelToken()).status()));
}

TEST_F(OpRunTest, ImportsPrivateBytes) {
  auto import = std::make_shared<ImportedState>();
  import->envelope.payload_bytes = 3;
  import->envelope.range = {0, 9};
  import->bytes = std::make_unique<std::byte[]>(3);  // NOLINT(modernize-avoid-c-arrays)
  import_ = import;
  bool gone = false;
  generation_.start_import = [&](const StateImport& what, absl::Span<const std::byte> bytes) {
    EXPECT_EQ(bytes.data(), import->bytes.get());
    EXPECT_EQ(bytes.size(), 3);
    EXPECT_TRUE(what.replace);
    EXPECT_EQ(what.range, (TokenRange{0, 9}));
    return std::make_unique<OneStepJob>(3, &gone);
  };
  auto run = Begin(linkw::Restore{.sequence = linkw::SequenceId{4}}, 260);
  ASSERT_TRUE(run.ok()) << run.status();
  run->reset();
  EXPECT_TRUE(gone);
}

TEST_F(OpRunTest, APromoteOfOtherStateThanWasDemotedIsAMismatch) {
  auto import = std::make_shared<ImportedState>();
  import->envelope.range = {2, 5};
  import->envelope.provenance = Digest{1};
  import_ = import;
  generation_.start_import = [](const StateImport&, absl::Span<const std::byte>) {
    return std::make_unique<OneStepJob>(0);
  };
  const linkw::Demote demote{.sequence = linkw::SequenceId{4}, .range = {2, 5}};
  const linkw::Promote promote{.sequence = linkw::SequenceId{4}, .range = {2, 5}};
  NoteOpDone(link_, demote, {.provenance = Digest{9}, .range = {2, 5}});
  EXPECT_EQ(linkw::FromAbsl(Begin(promote, 260).status()), linkw::Status::kEnvelopeMismatch);
  NoteOpDone(link_, promote, {.provenance = Digest{9}, .range = {2, 5}});
  EXPECT_TRUE(Begin(promote, 260).ok()) << "nothing is known any more";
}

// A sequence that is used again and again, as a slot.
TEST_F(OpRunTest, WhatATrimCutOffIsForgotten) {
  const SequenceHandle sequence{4};
  const linkw::Demote demote{.sequence = linkw::SequenceId{4}, .range = {0, 32}};
  NoteOpDone(link_, demote, {.provenance = Digest{1}, .range = {0, 32}});
  const DemotedRanges::Entry later{.range = {0, 32}, .provenance = Digest{2}};
  EXPECT_TRUE(link_.demoted.Contradicts(sequence, later));
  link_.demoted.Trim(sequence, SpaceId{}, 32);
  EXPECT_TRUE(link_.demoted.Contradicts(sequence, later)) << "nothing was cut off";
  link_.demoted.Trim(sequence, SpaceId{1}, 0);
  EXPECT_TRUE(link_.demoted.Contradicts(sequence, later)) << "another space was cut";
  link_.demoted.Trim(sequence, SpaceId{}, 0);
  EXPECT_FALSE(link_.demoted.Contradicts(sequence, later));
  EXPECT_EQ(link_.demoted.CountOf(sequence), 0u);
}

TEST_F(OpRunTest, ADemotionReplacesTheEarlierOneOfItsRange) {
  const linkw::Demote demote{.sequence = linkw::SequenceId{4}, .range = {0, 32}};
  for (uint8_t life = 1; life <= 3; ++life) {
    NoteOpDone(link_, demote, {.provenance = Digest{life}, .range = {0, 32}});
  }
  EXPECT_EQ(link_.demoted.CountOf(SequenceHandle{4}), 1u);
  EXPECT_FALSE(
      link_.demoted.Contradicts(SequenceHandle{4}, {.range = {0, 32}, .provenance = Digest{3}}));
}

TEST_F(OpRunTest, ARestoreForgetsItsOwnSpaceOnly) {
  const linkw::Demote demote{.sequence = linkw::SequenceId{4}, .range = {0, 32}};
  for (const uint32_t space : {1, 2}) {
    NoteOpDone(link_, demote,
               {.provenance = Digest{9}, .space_id = linkw::SpaceId{space}, .range = {0, 32}});
  }
  NoteOpDone(link_, linkw::Restore{.sequence = linkw::SequenceId{4}},
             {.space_id = linkw::SpaceId{1}, .range = {0, 32}});
  EXPECT_EQ(link_.demoted.CountOf(SequenceHandle{4}), 1u);
}

}  // namespace
}  // namespace superfluid
