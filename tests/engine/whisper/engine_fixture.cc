#include "tests/engine/whisper/engine_fixture.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/strings/str_format.h"
#include "engine/audio/live_audio.h"
#include "engine/whisper/whisper_engine.h"

namespace superfluid {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

std::string Strip(const std::string& text) {
  size_t begin = 0;
  size_t end = text.size();
  while (begin < end && IsBlank(text[begin])) ++begin;
  while (end > begin && IsBlank(text[end - 1])) --end;
  return text.substr(begin, end - begin);
}

// Only what needs no mending: the tiny models also write pieces of characters.
bool IsAscii(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<signed char>(c) >= 0; });
}

std::string TextOf(const RawSegment& segment) { return ReferenceText({segment}); }

}  // namespace

EngineConfig WhisperConfig(std::vector<std::pair<std::string, std::string>> options,
                           const std::string& model) {
  EngineConfig config;
  config.model_path = model;
  config.options = std::move(options);
  config.threads = 1;
  return config;
}

void WhisperFixture::Make(const EngineConfig& config) {
  engine_.reset();
  absl::StatusOr<std::unique_ptr<Engine>> engine = MakeWhisperEngine(config);
  ASSERT_TRUE(engine.ok()) << engine.status();
  engine_ = *std::move(engine);
}

TranscriptionParams WhisperFixture::English() {
  TranscriptionParams params;
  params.language = "en";
  return params;
}

std::unique_ptr<TranscriptionJob> WhisperFixture::Start(std::unique_ptr<AudioSource> audio,
                                                        const TranscriptionParams& params) {
  absl::StatusOr<std::unique_ptr<TranscriptionJob>> job =
      engine_->StartTranscription(params, std::move(audio));
  EXPECT_TRUE(job.ok()) << job.status();
  return job.ok() ? *std::move(job) : nullptr;
}

Transcript WhisperFixture::Hear(const std::vector<float>& samples,
                                const TranscriptionParams& params) {
  return Transcribe(*engine_, Samples(samples), params);
}

Transcript WhisperFixture::HearLive(const std::vector<float>& samples, size_t chunk,
                                    const TranscriptionParams& params) {
  Transcript transcript;
  absl::StatusOr<std::unique_ptr<LiveAudio>> live =
      LiveAudio::Create({.encoding = PcmEncoding::kF32}, absl::Seconds(3600));
  EXPECT_TRUE(live.ok());
  const std::unique_ptr<TranscriptionJob> job = Start((*live)->TakeSource(), params);
  KeepSegments sink;
  const CancelToken token;
  const absl::Span<const std::byte> bytes(reinterpret_cast<const std::byte*>(samples.data()),
                                          samples.size() * sizeof(float));
  size_t pushed = 0;
  for (;;) {
    const absl::StatusOr<StepOutcome> outcome = job->Step({}, token, sink);
    transcript.status = outcome.status();
    if (!outcome.ok() || *outcome == StepOutcome::kDone) break;
    if (*outcome != StepOutcome::kWaitingForAudio) continue;
    const absl::Span<const std::byte> next = bytes.subspan(pushed, chunk * sizeof(float));
    EXPECT_TRUE((*live)->Push(next).ok());
    pushed += next.size();
    if (pushed == bytes.size()) (*live)->End();
  }
  transcript.segments = std::move(sink.finals);
  transcript.partials = std::move(sink.partials);
  transcript.progress = job->Progress();
  return transcript;
}

std::string DescribeAll(const std::vector<TranscribedSegment>& segments) {
  std::string text = Describe(segments);
  for (const TranscribedSegment& segment : segments) {
    absl::StrAppendFormat(&text, "%.9g %.9g %.9g\n", segment.no_speech_prob,
                          segment.compression_ratio, segment.temperature);
  }
  return text;
}

void ExpectSegments(const std::vector<TranscribedSegment>& heard,
                    const std::vector<RawSegment>& reference, int64_t audio_ms) {
  size_t next = 0;
  int64_t last_end = 0;
  for (const RawSegment& raw : reference) {
    const std::string text = Strip(TextOf(raw));
    if (text.empty()) continue;
    if (next >= heard.size()) {
      // What is left may be the bytes of a character that never became one.
      EXPECT_FALSE(IsAscii(text)) << "missing: " << text;
      continue;
    }
    const TranscribedSegment& segment = heard[next++];
    if (IsAscii(text) && IsAscii(segment.text)) {
      EXPECT_EQ(segment.text, text);
    }
    EXPECT_EQ(segment.start_ms, std::clamp(raw.start * 10, last_end, audio_ms));
    EXPECT_EQ(segment.end_ms, std::clamp(raw.end * 10, segment.start_ms, audio_ms));
    EXPECT_EQ(segment.no_speech_prob, raw.no_speech_prob);
    last_end = segment.end_ms;
    double logprob = 0;
    int tokens = 0;
    for (const RawToken& token : raw.tokens) {
      if (!token.is_text) continue;
      logprob += token.logprob;
      ++tokens;
    }
    EXPECT_NEAR(segment.avg_logprob, logprob / tokens, 1e-4);
  }
  EXPECT_EQ(next, heard.size()) << "segments that the library did not make";
}

}  // namespace superfluid
