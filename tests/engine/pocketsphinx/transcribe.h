#ifndef SUPERFLUID_TESTS_ENGINE_POCKETSPHINX_TRANSCRIBE_H_
#define SUPERFLUID_TESTS_ENGINE_POCKETSPHINX_TRANSCRIBE_H_

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "engine/engine.h"

namespace superfluid {

// Keeps what a job delivers.
class KeepSegments : public SegmentSink {
 public:
  void OnSegment(TranscribedSegment segment) override {
    (segment.is_partial ? partials : finals).push_back(std::move(segment));
  }

  std::vector<TranscribedSegment> finals;
  std::vector<TranscribedSegment> partials;
};

struct Transcript {
  std::vector<TranscribedSegment> segments;
  std::vector<TranscribedSegment> partials;
  absl::Status status;  // OK: done
  TranscriptionProgress progress;
  std::vector<double> step_ms;  // processor time of each step: the machine may be busy

  std::string text() const;
};

// Processor time that the calling thread has used.
double ThreadCpuMs();

// Runs a job to its end. A job that starves is an error here.
Transcript Finish(TranscriptionJob& job, const StepBudget& budget = {});

// StartTranscription and Finish.
Transcript Transcribe(Engine& engine, std::unique_ptr<AudioSource> audio,
                      const TranscriptionParams& params = {}, const StepBudget& budget = {});

// Everything about final segments, exactly: two results are the same if these are.
std::string Describe(const std::vector<TranscribedSegment>& segments);

// A source of samples in memory, which fails in the end if `error` is not OK.
std::unique_ptr<AudioSource> Samples(std::vector<float> samples, absl::Status error = {});

// A recording of the package pocketsphinx-testdata, below its data folder.
std::unique_ptr<AudioSource> Recording(const std::string& name);

// All of its samples.
std::vector<float> RecordingSamples(const std::string& name);

// The five recordings with transcripts: "librivox/....wav" and the words.
struct Reference {
  std::string file;
  std::vector<std::string> words;
};
std::vector<Reference> LibrivoxReferences();

std::vector<std::string> Words(const std::string& text);

// How many words must be inserted, deleted or replaced.
int EditDistance(const std::vector<std::string>& from, const std::vector<std::string>& to);

// Median, 99th percentile and maximum, for people.
std::string Distribution(std::vector<double> values);

}  // namespace superfluid

#endif  // SUPERFLUID_TESTS_ENGINE_POCKETSPHINX_TRANSCRIBE_H_
