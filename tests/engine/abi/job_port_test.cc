#include "engine/abi/job_port.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "tests/engine/abi/engine_test_util.h"

namespace superfluid {
namespace {

using testing::FakeAudio;
using testing::Noise;
using testing::RecordingSink;

class ThrowingAudio : public AudioSource {
 public:
  absl::StatusOr<Block> Read(absl::Span<float>) override { throw std::bad_alloc(); }
  std::optional<absl::Duration> TotalDuration() const override { return std::nullopt; }
  bool IsLive() const override { return false; }
};

class LyingAudio : public AudioSource {
 public:
  absl::StatusOr<Block> Read(absl::Span<float> out) override {
    return Block{out.size() + 1, State::kMore};
  }
  std::optional<absl::Duration> TotalDuration() const override { return std::nullopt; }
  bool IsLive() const override { return false; }
};

class ThrowingSink : public SegmentSink {
 public:
  void OnSegment(TranscribedSegment) override { throw std::runtime_error("no room"); }
};

class JobPortTest : public ::testing::Test {
 protected:
  void MakePort(std::unique_ptr<AudioSource> audio) {
    registered_ = std::make_unique<RegisteredPort>(std::move(audio));
    audio_ = registered_->AbiAudio();
    step_ = registered_->AbiStep({});
  }
  void SetUp() override { MakePort(std::make_unique<FakeAudio>(Noise(1000, 1))); }

  void Open() { registered_->port().OpenCall(&token_, &sink_); }
  sfl_status Read(size_t capacity) {
    samples_.resize(capacity);
    return audio_.read(audio_.user, samples_.data(), capacity, &block_, nullptr);
  }
  sfl_status Emit() { return step_.emit(step_.user, &segment_, nullptr); }

  sfl_segment segment_ = {sizeof(sfl_segment), 0, 0, 10, {"hi", 2}, 0, 0, 0, 0, nullptr, 0, 0};
  CancelToken token_;
  RecordingSink sink_;
  std::unique_ptr<RegisteredPort> registered_;
  sfl_audio audio_ = {};
  sfl_step step_ = {};
  sfl_audio_block block_ = {};
  std::vector<float> samples_;
};

TEST_F(JobPortTest, PassesAudioAndSegments) {
  EXPECT_EQ(audio_.total_us, 1'000'000);
  EXPECT_EQ(audio_.sample_rate_hz, 16000U);
  Open();
  EXPECT_EQ(Read(100), SFL_OK);
  EXPECT_EQ(block_.frames, 100U);
  EXPECT_EQ(block_.state, static_cast<uint32_t>(SFL_AUDIO_MORE));
  std::vector<float> expected = Noise(1000, 1);
  expected.resize(100);
  EXPECT_EQ(samples_, expected);
  EXPECT_EQ(Emit(), SFL_OK);
  ASSERT_EQ(sink_.segments.size(), 1U);
  EXPECT_EQ(sink_.segments[0].text, "hi");
  EXPECT_EQ(sink_.segments[0].end_ms, 7);  // 100 frames are 6.25 ms
}

TEST_F(JobPortTest, RefusesEverythingOutsideACall) {
  EXPECT_EQ(Read(100), SFL_FAILED_PRECONDITION);
  EXPECT_EQ(Emit(), SFL_FAILED_PRECONDITION);
  Open();
  registered_->port().CloseCall();
  EXPECT_EQ(Read(100), SFL_FAILED_PRECONDITION);
  EXPECT_EQ(Emit(), SFL_FAILED_PRECONDITION);
  EXPECT_NE(step_.cancelled(step_.user), 0U);
}

TEST_F(JobPortTest, RefusesEverythingOnceItIsGone) {
  Open();
  registered_.reset();
  EXPECT_EQ(Read(100), SFL_FAILED_PRECONDITION);
  EXPECT_EQ(Emit(), SFL_FAILED_PRECONDITION);
  EXPECT_NE(step_.cancelled(step_.user), 0U);
}

TEST_F(JobPortTest, HandlesAreNotReused) {
  void* const first = step_.user;
  MakePort(std::make_unique<FakeAudio>(Noise(10, 1)));
  EXPECT_NE(first, step_.user);
  Open();
  EXPECT_EQ(step_.emit(first, &segment_, nullptr), SFL_FAILED_PRECONDITION);
}

TEST_F(JobPortTest, TellsWhyItWasCancelled) {
  Open();
  EXPECT_EQ(step_.cancelled(step_.user), 0U);
  token_.Cancel(CancelReason::kDeadline, 1);
  EXPECT_EQ(step_.cancelled(step_.user), static_cast<uint32_t>(CancelReason::kDeadline));
}

TEST_F(JobPortTest, OnlyCancelledMayBeAskedElsewhere) {
  Open();
  sfl_status read = SFL_OK;
  sfl_status emit = SFL_OK;
  uint32_t cancelled = 1;
  std::thread elsewhere([&] {
    read = Read(100);
    emit = Emit();
    cancelled = step_.cancelled(step_.user);
  });
  elsewhere.join();
  EXPECT_EQ(read, SFL_FAILED_PRECONDITION);
  EXPECT_EQ(emit, SFL_FAILED_PRECONDITION);
  EXPECT_EQ(cancelled, 0U);
}

// The token may be gone as soon as CloseCall returned, whoever still asks.
TEST_F(JobPortTest, AStrayThreadMayAskWhileCallsComeAndGo) {
  std::atomic<bool> stop = false;
  std::thread elsewhere([&] {
    while (!stop) step_.cancelled(step_.user);
  });
  for (int i = 0; i < 2000; ++i) {
    auto token = std::make_unique<CancelToken>();
    registered_->port().OpenCall(token.get(), &sink_);
    registered_->port().CloseCall();
  }
  registered_.reset();
  stop = true;
  elsewhere.join();
}

TEST_F(JobPortTest, SegmentsOnlyInCallsThatHaveASink) {
  registered_->port().OpenCall(nullptr, nullptr);
  EXPECT_EQ(Read(100), SFL_OK);
  EXPECT_EQ(Emit(), SFL_FAILED_PRECONDITION);
  EXPECT_EQ(step_.cancelled(step_.user), 0U);
}

TEST_F(JobPortTest, LimitsTheSegmentsOfOneCall) {
  Open();
  for (int i = 0; i < SFL_MAX_SEGMENTS_PER_STEP; ++i) ASSERT_EQ(Emit(), SFL_OK);
  EXPECT_EQ(Emit(), SFL_RESOURCE_EXHAUSTED);
  registered_->port().CloseCall();
  Open();
  EXPECT_EQ(Emit(), SFL_OK);
}

TEST_F(JobPortTest, SinkThatThrowsIsTheHostsFailure) {
  ThrowingSink sink;
  registered_->port().OpenCall(&token_, &sink);
  EXPECT_EQ(Emit(), SFL_INTERNAL);
  registered_->port().CloseCall();
  EXPECT_EQ(registered_->port().host_failure(),
            absl::InternalError("the receiver of segments threw an exception: no room"));
}

TEST_F(JobPortTest, ABadSegmentIsNotTheHostsFailure) {
  Open();
  EXPECT_EQ(step_.emit(step_.user, nullptr, nullptr), SFL_INVALID_ARGUMENT);
  EXPECT_TRUE(registered_->port().host_failure().ok());
}

TEST_F(JobPortTest, AudioThatThrowsIsAnError) {
  MakePort(std::make_unique<ThrowingAudio>());
  EXPECT_EQ(audio_.total_us, -1);
  Open();
  EXPECT_EQ(Read(100), SFL_RESOURCE_EXHAUSTED);
}

TEST_F(JobPortTest, AudioErrorsArriveWithTheirText) {
  auto audio = std::make_unique<FakeAudio>(Noise(100, 1));
  audio->FailAfter(0, absl::InvalidArgumentError("no audio"));
  MakePort(std::move(audio));
  Open();
  char text[32] = {};
  sfl_error error = {text, sizeof text};
  float sample = 0;
  EXPECT_EQ(audio_.read(audio_.user, &sample, 1, &block_, &error), SFL_INVALID_ARGUMENT);
  EXPECT_STREQ(text, "no audio");
}

TEST_F(JobPortTest, NeverClaimsMoreFramesThanThereIsRoom) {
  MakePort(std::make_unique<LyingAudio>());
  Open();
  EXPECT_EQ(Read(100), SFL_OK);
  EXPECT_EQ(block_.frames, 100U);
}

}  // namespace
}  // namespace superfluid
