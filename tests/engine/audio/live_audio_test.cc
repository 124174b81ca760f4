#include "engine/audio/live_audio.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/audio/pcm.h"
#include "tests/engine/audio/read_all.h"
#include "tests/engine/audio/sound_bytes.h"

namespace superfluid {
namespace {

std::string F32(const std::vector<float>& samples) {
  return {reinterpret_cast<const char*>(samples.data()), samples.size() * 4};
}

class LiveAudioTest : public testing::Test {
 protected:
  void Create(const PcmFormat& format, absl::Duration max_unread = absl::Seconds(10)) {
    absl::StatusOr<std::unique_ptr<LiveAudio>> live = LiveAudio::Create(format, max_unread);
    ASSERT_TRUE(live.ok()) << live.status();
    live_ = *std::move(live);
    source_ = live_->TakeSource();
  }

  absl::Status Push(const std::string& bytes) { return live_->Push(AsBytes(bytes)); }

  AudioSource::Block Read(size_t most) {
    buffer_.assign(most, 0);
    absl::StatusOr<AudioSource::Block> block = source_->Read(absl::MakeSpan(buffer_));
    EXPECT_TRUE(block.ok()) << block.status();
    buffer_.resize(block->frames);
    return *block;
  }

  std::unique_ptr<LiveAudio> live_;
  std::unique_ptr<AudioSource> source_;
  std::vector<float> buffer_;
};

constexpr PcmFormat kFloat16k = {.encoding = PcmEncoding::kF32};

TEST_F(LiveAudioTest, IsStarvedUntilSomethingIsPushed) {
  Create(kFloat16k);
  EXPECT_EQ(Read(10).state, AudioSource::State::kStarved);
  ASSERT_TRUE(Push(F32({0.1F, 0.2F, 0.3F})).ok());
  EXPECT_EQ(Read(2).state, AudioSource::State::kMore);
  EXPECT_EQ(buffer_, (std::vector<float>{0.1F, 0.2F}));
  EXPECT_EQ(Read(2).state, AudioSource::State::kStarved);
  EXPECT_EQ(buffer_, (std::vector<float>{0.3F}));
}

TEST_F(LiveAudioTest, EndsAfterTheLastSample) {
  Create(kFloat16k);
  ASSERT_TRUE(Push(F32({0.1F, 0.2F, 0.3F})).ok());
  live_->End();
  live_->End();
  EXPECT_EQ(Read(2).state, AudioSource::State::kMore);
  EXPECT_EQ(Read(2).state, AudioSource::State::kEnd);
  EXPECT_EQ(buffer_.size(), 1u);
  EXPECT_EQ(Read(2).state, AudioSource::State::kEnd);
  EXPECT_EQ(Push("x").code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(LiveAudioTest, CutsInFramesDoNotMatter) {
  const std::string bytes = F32(Sine(44100, 2, 0.5));
  const PcmFormat format = {.rate_hz = 44100, .channels = 2, .encoding = PcmEncoding::kF32};
  absl::StatusOr<std::unique_ptr<AudioSource>> whole = OpenPcm(AsBytes(bytes), nullptr, format);
  ASSERT_TRUE(whole.ok());
  const std::vector<float> wanted = ReadAll(**whole).samples;
  Create(format);
  std::vector<float> got;
  for (size_t i = 0; i < bytes.size(); i += 1237) {
    ASSERT_TRUE(Push(bytes.substr(i, 1237)).ok());
    while (Read(100).state == AudioSource::State::kMore) {
      got.insert(got.end(), buffer_.begin(), buffer_.end());
    }
    got.insert(got.end(), buffer_.begin(), buffer_.end());
  }
  live_->End();
  const ReadResult rest = ReadAll(*source_);
  got.insert(got.end(), rest.samples.begin(), rest.samples.end());
  EXPECT_EQ(got, wanted);
}

TEST_F(LiveAudioTest, RefusesMoreThanMayWaitAndTakesNothing) {
  Create(kFloat16k, absl::Seconds(1));
  ASSERT_TRUE(Push(std::string(size_t{4} * 15000, '\0')).ok());
  EXPECT_EQ(Push(std::string(size_t{4} * 1001, '\0')).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(live_->unread(), absl::Seconds(15000.0 / 16000));
  EXPECT_TRUE(Push(std::string(size_t{4} * 1000, '\0')).ok());
  Read(8000);
  EXPECT_LE(live_->unread(), absl::Milliseconds(520));
  EXPECT_TRUE(Push(std::string(size_t{4} * 7000, '\0')).ok()) << "what was read makes room";
}

TEST_F(LiveAudioTest, PushAfterTheSourceIsGoneIsCancelled) {
  Create(kFloat16k);
  source_.reset();
  EXPECT_EQ(Push("abcd").code(), absl::StatusCode::kCancelled);
}

TEST_F(LiveAudioTest, TheSourceMayOutliveThePusher) {
  Create(kFloat16k);
  ASSERT_TRUE(Push(F32({0.5F})).ok());
  live_->End();
  live_.reset();
  EXPECT_EQ(Read(5).state, AudioSource::State::kEnd);
  EXPECT_EQ(buffer_, (std::vector<float>{0.5F}));
}

TEST_F(LiveAudioTest, HasNoLengthAndOneSource) {
  Create(kFloat16k);
  EXPECT_EQ(source_->TotalDuration(), std::nullopt);
  EXPECT_EQ(live_->TakeSource(), nullptr);
}

TEST_F(LiveAudioTest, RefusesABadFormat) {
  EXPECT_EQ(LiveAudio::Create({.rate_hz = 0}).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace superfluid
