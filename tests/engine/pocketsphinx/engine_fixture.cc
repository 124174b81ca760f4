#include "tests/engine/pocketsphinx/engine_fixture.h"

#include <cstddef>
#include <cstdint>
#include <map>

#include "engine/pocketsphinx/pocketsphinx_engine.h"

namespace superfluid {

Engine* PocketsphinxFixture::engine_ = nullptr;

std::vector<float> Silence(double seconds) {
  return std::vector<float>(static_cast<size_t>(seconds * kEngineSampleRateHz));
}

std::vector<float> Noise(double seconds) {
  std::vector<float> samples = Silence(seconds);
  uint32_t state = 1;
  for (float& sample : samples) {
    state = state * 1664525 + 1013904223;
    sample = static_cast<float>(static_cast<int32_t>(state)) / 8589934592.0F;
  }
  return samples;
}

std::vector<float> Joined(std::vector<float> a, const std::vector<float>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

void PocketsphinxFixture::SetUpTestSuite() {
  absl::StatusOr<std::unique_ptr<Engine>> engine =
      MakePocketsphinxEngine({.options = {{"pool", "2"}}});
  ASSERT_TRUE(engine.ok()) << engine.status();
  engine_ = engine->release();
}

void PocketsphinxFixture::TearDownTestSuite() {
  delete engine_;
  engine_ = nullptr;
}

std::unique_ptr<TranscriptionJob> PocketsphinxFixture::Start(std::unique_ptr<AudioSource> audio,
                                                             const TranscriptionParams& params) {
  absl::StatusOr<std::unique_ptr<TranscriptionJob>> job =
      engine_->StartTranscription(params, std::move(audio));
  EXPECT_TRUE(job.ok()) << job.status();
  return job.ok() ? *std::move(job) : nullptr;
}

absl::Status PocketsphinxFixture::StartStatus(const TranscriptionParams& params) {
  return engine_->StartTranscription(params, Samples(Silence(0.1))).status();
}

std::string PocketsphinxFixture::Result(const std::string& recording) {
  const Transcript transcript = Transcribe(*engine_, Recording(recording));
  EXPECT_TRUE(transcript.status.ok()) << transcript.status;
  return Describe(transcript.segments);
}

const std::string& PocketsphinxFixture::FreshResult(const std::string& recording) {
  static std::map<std::string, std::string> results;
  const auto [entry, is_new] = results.try_emplace(recording);
  if (is_new) {
    absl::StatusOr<std::unique_ptr<Engine>> fresh = MakePocketsphinxEngine({});
    EXPECT_TRUE(fresh.ok()) << fresh.status();
    entry->second = Describe(Transcribe(**fresh, Recording(recording)).segments);
    EXPECT_NE(entry->second, "");
  }
  return entry->second;
}

const std::vector<std::pair<Reference, Transcript>>& PocketsphinxFixture::Librivox() {
  static const auto* const kTranscripts = [] {
    auto* transcripts = new std::vector<std::pair<Reference, Transcript>>();
    for (const Reference& reference : LibrivoxReferences()) {
      transcripts->emplace_back(reference, Transcribe(*engine_, Recording(reference.file)));
    }
    return transcripts;
  }();
  return *kTranscripts;
}

void PocketsphinxFixture::Advance(TranscriptionJob& job, int steps, SegmentSink& sink) {
  const CancelToken token;
  for (int i = 0; i < steps; ++i) {
    absl::StatusOr<StepOutcome> outcome = job.Step({}, token, sink);
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    if (*outcome == StepOutcome::kDone) return;
  }
}

}  // namespace superfluid
