#include "tests/engine/abi/engine_test_util.h"

#include <algorithm>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/cancel_token.h"

namespace superfluid::testing {

absl::StatusOr<AudioSource::Block> FakeAudio::Read(absl::Span<float> out) {
  if (next_ >= fail_after_) return failure_;
  starved_ = !starved_;
  if (live_ && starved_ && next_ < samples_.size()) return Block{0, State::kStarved};
  const size_t until = std::min(samples_.size(), fail_after_);
  const size_t frames = std::min({out.size(), block_, until - next_});
  std::copy_n(samples_.begin() + static_cast<std::ptrdiff_t>(next_), frames, out.begin());
  next_ += frames;
  return Block{frames, next_ == samples_.size() ? State::kEnd : State::kMore};
}

std::optional<absl::Duration> FakeAudio::TotalDuration() const {
  if (live_) return std::nullopt;
  return absl::Seconds(static_cast<double>(samples_.size()) / kEngineSampleRateHz);
}

void FakeAudio::FailAfter(size_t frames, absl::Status status) {
  fail_after_ = frames;
  failure_ = std::move(status);
}

std::vector<float> Noise(int64_t ms, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> samples(static_cast<size_t>(ms * kEngineSampleRateHz / 1000));
  for (float& sample : samples) {
    sample = static_cast<float>(random() & 0xFFFFU) / 65536.0F - 0.5F;
  }
  return samples;
}

std::string Describe(const TranscribedSegment& segment) {
  return absl::StrCat(segment.start_ms, "-", segment.end_ms,
                      segment.is_partial ? " partial '" : " '", segment.text, "' ",
                      segment.avg_logprob, " ", segment.no_speech_prob, " ",
                      segment.compression_ratio, " ", segment.temperature, " [",
                      absl::StrJoin(segment.words, "; ",
                                    [](std::string* out, const TranscribedWord& word) {
                                      absl::StrAppend(out, word.start_ms, "-", word.end_ms, " '",
                                                      word.text, "' ", word.probability);
                                    }),
                      "]");
}

std::vector<std::string> Describe(const std::vector<TranscribedSegment>& segments) {
  std::vector<std::string> described;
  described.reserve(segments.size());
  for (const TranscribedSegment& segment : segments) described.push_back(Describe(segment));
  return described;
}

RunResult RunToEnd(TranscriptionJob& job) {
  RunResult run;
  RecordingSink sink;
  const CancelToken token;
  for (bool over = false; !over && run.steps < 100'000; ++run.steps) {
    const absl::StatusOr<StepOutcome> outcome = job.Step({}, token, sink);
    run.status = outcome.status();
    if (outcome.ok() && *outcome == StepOutcome::kWaitingForAudio) ++run.starved;
    over = !outcome.ok() || *outcome == StepOutcome::kDone;
  }
  run.segments = std::move(sink.segments);
  run.progress = job.Progress();
  return run;
}

RunResult Transcribe(Engine& engine, std::unique_ptr<AudioSource> audio,
                     const TranscriptionParams& params) {
  auto job = engine.StartTranscription(params, std::move(audio));
  if (!job.ok()) {
    RunResult run;
    run.status = job.status();
    return run;
  }
  return RunToEnd(**job);
}

EngineConfig ConfigWith(std::vector<std::pair<std::string, std::string>> options) {
  EngineConfig config;
  config.options = std::move(options);
  return config;
}

}  // namespace superfluid::testing
