#ifndef SUPERFLUID_TESTS_ENGINE_POCKETSPHINX_ENGINE_FIXTURE_H_
#define SUPERFLUID_TESTS_ENGINE_POCKETSPHINX_ENGINE_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "engine/engine.h"
#include "tests/engine/pocketsphinx/transcribe.h"

namespace superfluid {

// Recordings: an eight-word sentence, a seven-word one, 1.5 s of playing cards, a long sentence.
inline constexpr char kShort[] = "librivox/sense_and_sensibility_01_austen_64kb-0880.wav";
inline constexpr char kOther[] = "librivox/sense_and_sensibility_01_austen_64kb-0930.wav";
inline constexpr char kCard[] = "cards/003.wav";
inline constexpr char kLong[] = "librivox/sense_and_sensibility_01_austen_64kb-0870.wav";

std::vector<float> Silence(double seconds);
std::vector<float> Noise(double seconds);
std::vector<float> Joined(std::vector<float> a, const std::vector<float>& b);

// Loading a model takes a while, so all tests of a program share one engine (of two decoders). No
// test depends on another: that what ran before does not matter is one of the things tested.
class PocketsphinxFixture : public testing::Test {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();

  static Engine& engine() { return *engine_; }

  static std::unique_ptr<TranscriptionJob> Start(std::unique_ptr<AudioSource> audio,
                                                 const TranscriptionParams& params = {});

  // The error of starting a job, which is not kept.
  static absl::Status StartStatus(const TranscriptionParams& params);

  // What Describe says of a recording's transcript.
  static std::string Result(const std::string& recording);

  // The same on an engine that never did anything else. (Remembered: a pure function.)
  static const std::string& FreshResult(const std::string& recording);

  // The five recordings with what was said and what was heard. (Remembered.)
  static const std::vector<std::pair<Reference, Transcript>>& Librivox();

  // Steps until `steps` were made or it is done.
  static void Advance(TranscriptionJob& job, int steps, SegmentSink& sink);

 private:
  static Engine* engine_;  // NOLINT(readability-identifier-naming): a member to those who use it
};

}  // namespace superfluid

#endif  // SUPERFLUID_TESTS_ENGINE_POCKETSPHINX_ENGINE_FIXTURE_H_
