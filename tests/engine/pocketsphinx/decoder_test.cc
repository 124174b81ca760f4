#include "engine/pocketsphinx/decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "engine/pocketsphinx/speech_frames.h"
#include "tests/engine/pocketsphinx/transcribe.h"

namespace superfluid {
namespace {

std::unique_ptr<Decoder> Load() {
  absl::StatusOr<ModelFiles> model = FindModelFiles("");
  EXPECT_TRUE(model.ok()) << model.status();
  absl::StatusOr<std::unique_ptr<Decoder>> decoder = Decoder::Load(*model, {});
  EXPECT_TRUE(decoder.ok()) << decoder.status();
  return *std::move(decoder);
}

std::vector<Cepstrum> Frames(const Decoder& decoder, const std::string& recording) {
  SpeechFrames speech(Recording(recording), *decoder.MakeFrontEnd(), decoder.cepstral_mean_prior());
  std::vector<Cepstrum> frames;
  for (bool over = false; !over;) {
    over = *speech.Advance() == AudioSource::State::kEnd;
    while (std::optional<SpeechFrames::Event> event = speech.Next()) {
      if (event->kind == SpeechFrames::Event::Kind::kSpeech) frames.push_back(event->frame);
    }
  }
  return frames;
}

// Everything that can be seen of an utterance, probabilities to the last bit.
std::string Decode(Decoder& decoder, const std::vector<Cepstrum>& frames) {
  EXPECT_TRUE(decoder.StartUtterance().ok());
  for (const Cepstrum& frame : frames) EXPECT_TRUE(decoder.Search(frame).ok());
  EXPECT_TRUE(decoder.EndUtterance().ok());
  std::string text = absl::StrFormat("%d\n", decoder.BestScore());
  for (const DecodedWord& word : decoder.SearchedWords()) {
    absl::StrAppendFormat(&text, "%s %d %d\n", word.text, word.first_frame, word.last_frame);
  }
  if (!decoder.BuildLattice() || !decoder.FindBestPath()) return text;
  decoder.ComputeProbabilities();
  for (const DecodedWord& word : decoder.LatticeWords()) {
    absl::StrAppendFormat(&text, "%s %d %d %.9g\n", word.text, word.first_frame, word.last_frame,
                          word.probability);
  }
  return text;
}

const char* const kRecordings[] = {"librivox/sense_and_sensibility_01_austen_64kb-0880.wav",
                                   "librivox/sense_and_sensibility_01_austen_64kb-0930.wav",
                                   "cards/003.wav"};

TEST(DecoderTest, ResetForgetsEverything) {
  std::unique_ptr<Decoder> used = Load();
  std::vector<std::vector<Cepstrum>> frames;
  std::vector<std::string> fresh;
  for (const char* recording : kRecordings) {
    frames.push_back(Frames(*used, recording));
    fresh.push_back(Decode(*Load(), frames.back()));
    ASSERT_FALSE(fresh.back().empty());
  }
  for (size_t before = 0; before < frames.size(); ++before) {
    for (size_t i = 0; i < frames.size(); ++i) {
      Decode(*used, frames[before]);
      ASSERT_TRUE(used->Reset().ok());
      EXPECT_EQ(Decode(*used, frames[i]), fresh[i]) << before << " before " << i;
      ASSERT_TRUE(used->Reset().ok());
    }
  }
}

TEST(DecoderTest, ResetInTheMiddleOfAnUtterance) {
  std::unique_ptr<Decoder> decoder = Load();
  const std::vector<Cepstrum> frames = Frames(*decoder, kRecordings[2]);
  const std::string fresh = Decode(*decoder, frames);
  ASSERT_TRUE(decoder->Reset().ok());
  for (const size_t length : {0u, 1u, 60u}) {
    ASSERT_TRUE(decoder->StartUtterance().ok());
    for (size_t i = 0; i < length; ++i) ASSERT_TRUE(decoder->Search(frames[i]).ok());
    ASSERT_TRUE(decoder->Reset().ok());
    EXPECT_EQ(Decode(*decoder, frames), fresh) << length;
    ASSERT_TRUE(decoder->Reset().ok());
  }
}

TEST(DecoderTest, AnUtteranceWithoutFramesHasNoWords) {
  std::unique_ptr<Decoder> decoder = Load();
  ASSERT_TRUE(decoder->StartUtterance().ok());
  EXPECT_EQ(decoder->TrailingSilence(), 0);
  ASSERT_TRUE(decoder->EndUtterance().ok());
  EXPECT_TRUE(decoder->SearchedWords().empty());
}

TEST(DecoderTest, WhatTheLibraryRefusesIsFailedPrecondition) {
  ModelFiles model = *FindModelFiles("");
  model.dictionary = "/nowhere.dict";
  const absl::Status status = Decoder::Load(model, {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("nowhere.dict"));
}

TEST(DecoderTest, KnowsWhatItsModelStartsNormalisingFrom) {
  const std::optional<Cepstrum> prior = Load()->cepstral_mean_prior();
  ASSERT_TRUE(prior.has_value());
  EXPECT_EQ(prior->size(), 13u);
  EXPECT_FLOAT_EQ((*prior)[0], 41.0F);
}

}  // namespace
}  // namespace superfluid
