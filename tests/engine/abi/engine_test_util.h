#ifndef SUPERFLUID_TESTS_ENGINE_ABI_ENGINE_TEST_UTIL_H_
#define SUPERFLUID_TESTS_ENGINE_ABI_ENGINE_TEST_UTIL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/audio/audio_source.h"
#include "engine/engine.h"
#include "engine/transcription.h"

namespace superfluid::testing {

// Audio in memory. Each Read gives at most `block` samples. With `live`, each block is preceded by
// one Read that is starved.
class FakeAudio : public AudioSource {
 public:
  explicit FakeAudio(std::vector<float> samples, size_t block = 480, bool live = false)
      : samples_(std::move(samples)), block_(block), live_(live) {}

  absl::StatusOr<Block> Read(absl::Span<float> out) override;
  std::optional<absl::Duration> TotalDuration() const override;
  bool IsLive() const override { return live_; }

  // The Read after `frames` samples fails with `status`.
  void FailAfter(size_t frames, absl::Status status);

 private:
  const std::vector<float> samples_;
  const size_t block_;
  const bool live_;
  bool starved_ = false;
  size_t next_ = 0;
  size_t fail_after_ = SIZE_MAX;
  absl::Status failure_;
};

// `ms` of noise that `seed` determines.
std::vector<float> Noise(int64_t ms, uint32_t seed);

class RecordingSink : public SegmentSink {
 public:
  void OnSegment(TranscribedSegment segment) override { segments.push_back(std::move(segment)); }
  std::vector<TranscribedSegment> segments;
};

// Everything in a segment, for comparisons that show what differs.
std::string Describe(const TranscribedSegment& segment);
std::vector<std::string> Describe(const std::vector<TranscribedSegment>& segments);

struct RunResult {
  absl::Status status;  // of the last step; OK if it ended
  int64_t steps = 0;
  int64_t starved = 0;  // steps that waited for audio
  std::vector<TranscribedSegment> segments;
  TranscriptionProgress progress;
};

// Steps `job` to its end, 100'000 steps at most.
RunResult RunToEnd(TranscriptionJob& job);
// Starts and runs one transcription; a failure to start is in the status.
RunResult Transcribe(Engine& engine, std::unique_ptr<AudioSource> audio,
                     const TranscriptionParams& params = {});

EngineConfig ConfigWith(std::vector<std::pair<std::string, std::string>> options);

}  // namespace superfluid::testing

#endif  // SUPERFLUID_TESTS_ENGINE_ABI_ENGINE_TEST_UTIL_H_
