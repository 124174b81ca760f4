// Needs the small real files that the environment variable SUPERFLUID_TEST_MODELS names the folder
// of; skipped where they are not.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/audio/audio_file.h"
#include "engine/whisper/library_log.h"
#include "engine/whisper/model_file.h"
#include "engine/whisper/speech_finder.h"
#include "engine/whisper/voice_activity.h"
#include "engine/whisper/whisper_model.h"
#include "tests/engine/whisper/audio_samples.h"
#include "tests/engine/whisper/engine_fixture.h"
#include "tests/engine/whisper/library_reference.h"

namespace superfluid {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

class WhisperRealModelTest : public WhisperFixture {
 protected:
  void SetUp() override {
    const char* const folder = std::getenv("SUPERFLUID_TEST_MODELS");
    if (folder == nullptr) GTEST_SKIP() << "SUPERFLUID_TEST_MODELS is not set";
    recording_ = std::string(folder) + "/jfk.wav";
    vad_ = std::string(folder) + "/silero-v6.2.0-ggml.bin";
    if (!std::filesystem::exists(recording_)) GTEST_SKIP() << "there is no " << recording_;
    if (!std::filesystem::exists(vad_)) GTEST_SKIP() << "there is no " << vad_;
    samples_ = ReadRecording();
    ASSERT_GT(samples_.size(), 170'000U);
  }

  std::vector<float> ReadRecording() const {
    absl::StatusOr<std::unique_ptr<AudioSource>> source =
        OpenAudioFile(open(recording_.c_str(), O_RDONLY | O_CLOEXEC), "jfk.wav");
    std::vector<float> samples;
    std::vector<float> block(16'000);
    for (;;) {
      const absl::StatusOr<AudioSource::Block> read = (*source)->Read(absl::MakeSpan(block));
      if (!read.ok()) return samples;
      samples.insert(samples.end(), block.begin(),
                     block.begin() + static_cast<std::ptrdiff_t>(read->frames));
      if (read->state == AudioSource::State::kEnd) return samples;
    }
  }

  struct FreeVad {
    void operator()(whisper_vad_context* context) const { whisper_vad_free(context); }
  };
  struct FreeRegions {
    void operator()(whisper_vad_segments* regions) const { whisper_vad_free_segments(regions); }
  };
  using Vad = std::unique_ptr<whisper_vad_context, FreeVad>;

  Vad LibraryVad() const {
    LoadBackends("");
    whisper_vad_context_params params = whisper_vad_default_context_params();
    params.n_threads = 1;
    return Vad(whisper_vad_init_from_file_with_params(vad_.c_str(), params));
  }

  // In hundredths of a second, as the library says them.
  static std::vector<std::pair<float, float>> Regions(whisper_vad_segments* found) {
    const std::unique_ptr<whisper_vad_segments, FreeRegions> owned(found);
    std::vector<std::pair<float, float>> regions;
    regions.reserve(static_cast<size_t>(whisper_vad_segments_n_segments(found)));
    for (int i = 0; i < whisper_vad_segments_n_segments(found); ++i) {
      regions.emplace_back(whisper_vad_segments_get_segment_t0(found, i),
                           whisper_vad_segments_get_segment_t1(found, i));
    }
    return regions;
  }

  static std::vector<std::pair<float, float>> Ours(const std::vector<float>& probabilities) {
    std::vector<std::pair<float, float>> regions;
    for (const SpeechRegion& region : FindSpeech(probabilities, 0.5F).regions) {
      const auto hundredths = [](int64_t samples) {
        return static_cast<float>(std::llround(static_cast<double>(samples) / 16'000 * 100));
      };
      regions.emplace_back(hundredths(region.begin), hundredths(region.end));
    }
    return regions;
  }

  std::string recording_;
  std::string vad_;
  std::vector<float> samples_;
};

TEST_F(WhisperRealModelTest, TheRecordingIsWhatTheLibraryMakesOfIt) {
  const ReferenceContext reference(kTinyModel);
  const ReferenceResult expected = WholeReference(reference.context, {}, samples_);
  ASSERT_THAT(expected.segments, Not(IsEmpty()));
  Make(WhisperConfig());
  ExpectSegments(Hear(samples_).segments, expected.segments,
                 static_cast<int64_t>(samples_.size()) / 16);
}

TEST_F(WhisperRealModelTest, TheVoiceActivityModelIsRecognised) {
  EXPECT_TRUE(CheckVadModel(vad_).ok()) << CheckVadModel(vad_);
  const absl::Status as_whisper = CheckWhisperModel(vad_).status();
  EXPECT_THAT(std::string(as_whisper.message()), testing::HasSubstr("voice activity model"));
}

TEST_F(WhisperRealModelTest, SpeechIsWhereTheLibraryFindsIt) {
  LibraryLog log{EngineLog()};
  const Vad library = LibraryVad();
  ASSERT_NE(library, nullptr);
  const auto expected = Regions(
      whisper_vad_segments_from_samples(library.get(), whisper_vad_default_params(),
                                        samples_.data(), static_cast<int>(samples_.size())));
  ASSERT_GE(expected.size(), 2U);
  const std::vector<float> at_once(
      whisper_vad_probs(library.get()),
      whisper_vad_probs(library.get()) + whisper_vad_n_probs(library.get()));
  absl::StatusOr<std::unique_ptr<VoiceActivity>> ours = VoiceActivity::Load(vad_, log);
  ASSERT_TRUE(ours.ok()) << ours.status();
  for (const size_t blocks : {1U, 8U, 1000U}) {
    (*ours)->Reset();
    std::vector<float> in_blocks;
    for (size_t at = 0; at < samples_.size(); at += blocks * kSpeechBlockSamples) {
      const absl::StatusOr<std::vector<float>> heard =
          (*ours)->Hear(absl::MakeConstSpan(samples_).subspan(at, blocks * kSpeechBlockSamples));
      ASSERT_TRUE(heard.ok());
      in_blocks.insert(in_blocks.end(), heard->begin(), heard->end());
    }
    EXPECT_EQ(in_blocks, at_once) << blocks;
    EXPECT_EQ(Ours(in_blocks), expected);
  }
}

TEST_F(WhisperRealModelTest, RegionsAreTheLibrarysForAnyProbabilities) {
  LibraryLog log{EngineLog()};
  const Vad library = LibraryVad();
  std::mt19937 random(1);
  const auto uniform = [&random](double from, double to) {
    return std::uniform_real_distribution<>(from, to)(random);
  };
  for (int round = 0; round < 300; ++round) {
    const auto blocks = static_cast<size_t>(uniform(1, 400));
    const std::vector<float> nothing(blocks * kSpeechBlockSamples, 0.0F);
    if (round % 20 == 0) {  // sets how many probabilities there are, which is slow
      whisper_vad_detect_speech(library.get(), nothing.data(), static_cast<int>(nothing.size()));
    }
    const auto count = static_cast<size_t>(whisper_vad_n_probs(library.get()));
    std::vector<float> probabilities;
    while (probabilities.size() < count) {
      const double level = uniform(0, 1);
      const auto run = static_cast<int>(uniform(1, round % 2 == 0 ? 40 : 8));
      for (int i = 0; i < run && probabilities.size() < count; ++i) {
        probabilities.push_back(static_cast<float>(level));
      }
    }
    std::copy(probabilities.begin(), probabilities.end(), whisper_vad_probs(library.get()));
    EXPECT_EQ(Ours(probabilities), Regions(whisper_vad_segments_from_probs(
                                       library.get(), whisper_vad_default_params())));
  }
}

TEST_F(WhisperRealModelTest, WithTheModelOnlySpeechIsTranscribed) {
  Make(WhisperConfig({{"vad_model", vad_}, {"temperature_inc", "0"}}));
  std::minstd_rand random(1);
  std::vector<float> hiss(size_t{16'000} * 20);
  for (float& sample : hiss) sample = static_cast<float>(random() % 1000) / 1e5F;
  EXPECT_THAT(Hear(hiss).segments, IsEmpty()) << "noise is no speech";
  const Transcript heard = Hear(Join(Join(hiss, samples_), hiss));
  ASSERT_TRUE(heard.status.ok()) << heard.status;
  ASSERT_THAT(heard.segments, Not(IsEmpty()));
  EXPECT_GE(heard.segments.front().start_ms, 20'000);
  EXPECT_LE(heard.segments.back().end_ms, 31'100);
}

TEST_F(WhisperRealModelTest, LiveAudioWithTheModelIsTheSameHoweverItArrives) {
  Make(WhisperConfig({{"vad_model", vad_}, {"temperature_inc", "0"}, {"pause_ms", "400"}}));
  const std::string at_once = DescribeAll(HearLive(samples_, samples_.size()).segments);
  EXPECT_NE(at_once, "");
  for (const size_t chunk : {1600U, 7000U}) {
    TranscriptionParams params = English();
    params.partial_results = chunk == 7000;
    EXPECT_EQ(DescribeAll(HearLive(samples_, chunk, params).segments), at_once) << chunk;
  }
}

}  // namespace
}  // namespace superfluid
