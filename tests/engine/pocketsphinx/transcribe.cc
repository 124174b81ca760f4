#include "tests/engine/pocketsphinx/transcribe.h"

#include <fcntl.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <numeric>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/audio/audio_file.h"

namespace superfluid {
namespace {

constexpr char kData[] = "/usr/share/pocketsphinx/test/data/";

class SampleSource : public AudioSource {
 public:
  SampleSource(std::vector<float> samples, absl::Status error)
      : samples_(std::move(samples)), error_(std::move(error)) {}

  absl::StatusOr<Block> Read(absl::Span<float> out) override {
    Block block;
    block.frames = std::min(out.size(), samples_.size() - next_);
    std::copy_n(samples_.begin() + static_cast<std::ptrdiff_t>(next_), block.frames, out.begin());
    next_ += block.frames;
    if (next_ < samples_.size()) return block;
    if (!error_.ok() && block.frames == 0) return error_;
    if (error_.ok()) block.state = State::kEnd;
    return block;
  }

  std::optional<absl::Duration> TotalDuration() const override {
    return absl::Seconds(static_cast<double>(samples_.size()) / kEngineSampleRateHz);
  }
  bool IsLive() const override { return false; }

 private:
  std::vector<float> samples_;
  absl::Status error_;
  size_t next_ = 0;
};

template <typename T>
T OrDie(absl::StatusOr<T> value) {
  if (value.ok()) return *std::move(value);
  std::cerr << "test data is missing: " << value.status() << "\n";
  std::abort();
}

}  // namespace

std::string Transcript::text() const {
  std::string text;
  for (const TranscribedSegment& segment : segments) {
    absl::StrAppend(&text, text.empty() ? "" : " ", segment.text);
  }
  return text;
}

double ThreadCpuMs() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

Transcript Finish(TranscriptionJob& job, const StepBudget& budget) {
  Transcript transcript;
  KeepSegments sink;
  const CancelToken token;
  for (;;) {
    const double start_ms = ThreadCpuMs();
    absl::StatusOr<StepOutcome> outcome = job.Step(budget, token, sink);
    transcript.step_ms.push_back(ThreadCpuMs() - start_ms);
    transcript.status = outcome.status();
    if (outcome.ok() && *outcome == StepOutcome::kWaitingForAudio) {
      transcript.status = absl::UnavailableError("starved");
    }
    if (!transcript.status.ok() || *outcome == StepOutcome::kDone) break;
  }
  transcript.segments = std::move(sink.finals);
  transcript.partials = std::move(sink.partials);
  transcript.progress = job.Progress();
  return transcript;
}

Transcript Transcribe(Engine& engine, std::unique_ptr<AudioSource> audio,
                      const TranscriptionParams& params, const StepBudget& budget) {
  absl::StatusOr<std::unique_ptr<TranscriptionJob>> job =
      engine.StartTranscription(params, std::move(audio));
  if (!job.ok()) {
    Transcript failed;
    failed.status = job.status();
    return failed;
  }
  return Finish(**job, budget);
}

std::string Describe(const std::vector<TranscribedSegment>& segments) {
  std::string text;
  for (const TranscribedSegment& segment : segments) {
    absl::StrAppendFormat(&text, "[%d..%d] %s (%.9g)\n", segment.start_ms, segment.end_ms,
                          segment.text, segment.avg_logprob);
    for (const TranscribedWord& word : segment.words) {
      absl::StrAppendFormat(&text, "  %d..%d %s %.9g\n", word.start_ms, word.end_ms, word.text,
                            word.probability);
    }
  }
  return text;
}

std::unique_ptr<AudioSource> Samples(std::vector<float> samples, absl::Status error) {
  return std::make_unique<SampleSource>(std::move(samples), std::move(error));
}

std::unique_ptr<AudioSource> Recording(const std::string& name) {
  const std::string path = kData + name;
  return OrDie(OpenAudioFile(open(path.c_str(), O_RDONLY | O_CLOEXEC), name));
}

std::vector<float> RecordingSamples(const std::string& name) {
  std::unique_ptr<AudioSource> source = Recording(name);
  std::vector<float> samples;
  std::vector<float> block(16000);
  for (;;) {
    const AudioSource::Block read = OrDie(source->Read(absl::MakeSpan(block)));
    samples.insert(samples.end(), block.begin(),
                   block.begin() + static_cast<std::ptrdiff_t>(read.frames));
    if (read.state == AudioSource::State::kEnd) return samples;
  }
}

// Lines are "<s> and mister john ... </s> (file name without its suffix)".
std::vector<Reference> LibrivoxReferences() {
  std::vector<Reference> references;
  std::ifstream file(std::string(kData) + "librivox/transcription");
  std::string line;
  while (std::getline(file, line)) {
    std::vector<std::string> words = Words(line);
    if (words.size() < 4) continue;
    const std::string id = words.back().substr(1, words.back().size() - 2);
    references.push_back({"librivox/" + id + ".wav", {words.begin() + 1, words.end() - 2}});
  }
  return references;
}

std::vector<std::string> Words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), std::istream_iterator<std::string>()};
}

int EditDistance(const std::vector<std::string>& from, const std::vector<std::string>& to) {
  std::vector<int> row(to.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < from.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i) + 1;
    for (size_t j = 0; j < to.size(); ++j) {
      const int replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j + 1] + 1, row[j] + 1, replaced});
    }
  }
  return row.back();
}

std::string Distribution(std::vector<double> values) {
  if (values.empty()) return "none";
  std::sort(values.begin(), values.end());
  return absl::StrFormat("median %.2f, p99 %.2f, max %.2f", values[values.size() / 2],
                         values[values.size() * 99 / 100], values.back());
}

}  // namespace superfluid
