#ifndef SUPERFLUID_TESTS_ENGINE_WHISPER_ENGINE_FIXTURE_H_
#define SUPERFLUID_TESTS_ENGINE_WHISPER_ENGINE_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "tests/engine/pocketsphinx/transcribe.h"
#include "tests/engine/whisper/library_reference.h"

namespace superfluid {

inline constexpr char kTinyModel[] = "tools/models/tiny_whisper.bin";
inline constexpr char kEnglishModel[] = "tools/models/tiny_whisper_english.bin";
inline constexpr char kUnsureModel[] = "tools/models/tiny_whisper_unsure.bin";

// One thread, the CPU, and what the test adds.
EngineConfig WhisperConfig(std::vector<std::pair<std::string, std::string>> options = {},
                           const std::string& model = kTinyModel);

class WhisperFixture : public testing::Test {
 protected:
  // The test's engine from here on; by default with greedy decoding, which draws no random numbers.
  void Make(const EngineConfig& config = WhisperConfig({{"temperature_inc", "0"}}));

  std::unique_ptr<TranscriptionJob> Start(std::unique_ptr<AudioSource> audio,
                                          const TranscriptionParams& params = English());

  Transcript Hear(const std::vector<float>& samples, const TranscriptionParams& params = English());

  // Live audio of which `chunk` samples arrive whenever the job waits for some.
  Transcript HearLive(const std::vector<float>& samples, size_t chunk,
                      const TranscriptionParams& params = English());

  static TranscriptionParams English();

  std::unique_ptr<Engine> engine_;
};

// Everything about segments, exactly; what Describe leaves out too.
std::string DescribeAll(const std::vector<TranscribedSegment>& segments);

// The engine's segments must be these, made by the library alone: text, times, words, figures.
void ExpectSegments(const std::vector<TranscribedSegment>& heard,
                    const std::vector<RawSegment>& reference, int64_t audio_ms);

}  // namespace superfluid

#endif  // SUPERFLUID_TESTS_ENGINE_WHISPER_ENGINE_FIXTURE_H_
