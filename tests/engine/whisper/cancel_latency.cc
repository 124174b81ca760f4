// How soon a cancel takes effect inside an encode and inside a decode, against the step itself.
//
// usage: cancel_latency MODEL [THREADS [ROUNDS [flash_attn]]]
//
// Prints milliseconds of wall time: of the steps, and from the moment the token is set until the
// job has said CANCELLED and is destroyed. Give it a machine that has nothing else to do.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/whisper/whisper_engine.h"
#include "tests/engine/pocketsphinx/transcribe.h"
#include "tests/engine/whisper/audio_samples.h"

namespace superfluid {
namespace {

using Clock = std::chrono::steady_clock;

double Ms(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

TranscriptionParams English() {
  TranscriptionParams params;
  params.language = "en";
  return params;
}

std::unique_ptr<TranscriptionJob> Start(Engine& engine) {
  absl::StatusOr<std::unique_ptr<TranscriptionJob>> job =
      engine.StartTranscription(English(), Samples(Babble(5, 1)));
  if (job.ok()) return *std::move(job);
  std::cerr << job.status() << "\n";
  std::exit(1);
}

// Steps of a job: listening and a spectrogram, an encode, the decode of the prompt, decodes.
struct Steps {
  size_t encode = 0;  // index of the longest
  std::vector<double> ms;
  double decode_ms = 0;  // median of those after the prompt
};

Steps Survey(Engine& engine) {
  Steps steps;
  KeepSegments sink;
  const CancelToken token;
  const std::unique_ptr<TranscriptionJob> job = Start(engine);
  for (;;) {
    const Clock::time_point begin = Clock::now();
    const absl::StatusOr<StepOutcome> outcome = job->Step({}, token, sink);
    steps.ms.push_back(Ms(Clock::now() - begin));
    if (!outcome.ok() || *outcome == StepOutcome::kDone) break;
  }
  steps.encode = static_cast<size_t>(
      std::distance(steps.ms.begin(), std::max_element(steps.ms.begin(), steps.ms.end())));
  std::vector<double> decodes(steps.ms.begin() + static_cast<std::ptrdiff_t>(steps.encode) + 2,
                              steps.ms.end());
  std::nth_element(decodes.begin(),
                   decodes.begin() + static_cast<std::ptrdiff_t>(decodes.size() / 2),
                   decodes.end());
  if (!decodes.empty()) steps.decode_ms = decodes[decodes.size() / 2];
  return steps;
}

// Cancels from another thread `after` the step with this index has begun. Negative if the step was
// over before.
double CancelOnce(Engine& engine, size_t index, Clock::duration after) {
  std::unique_ptr<TranscriptionJob> job = Start(engine);
  KeepSegments sink;
  CancelToken token;
  for (size_t i = 0; i < index; ++i) {
    if (!job->Step({}, token, sink).ok()) return -1;
  }
  std::atomic<bool> begun = false;
  Clock::time_point cancelled;
  std::thread other([&begun, &cancelled, &token, after] {
    while (!begun.load()) std::this_thread::yield();
    const Clock::time_point at = Clock::now() + after;
    while (Clock::now() < at) std::this_thread::yield();
    cancelled = Clock::now();
    token.Cancel(CancelReason::kRequested, 1);
  });
  begun = true;
  const absl::Status status = job->Step({}, token, sink).status();
  job.reset();
  const Clock::time_point end = Clock::now();
  other.join();
  return status.code() == absl::StatusCode::kCancelled ? Ms(end - cancelled) : -1;
}

std::string CancelMany(Engine& engine, size_t index, double step_ms, int rounds) {
  std::mt19937 random(1);
  std::vector<double> latencies;
  for (int i = 0; i < rounds; ++i) {
    const double at = std::uniform_real_distribution<>(0, step_ms * 0.8)(random);
    const double latency = CancelOnce(
        engine, index,
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double, std::milli>(at)));
    if (latency >= 0) latencies.push_back(latency);
  }
  if (latencies.empty()) return "no cancel came in time";
  return Distribution(latencies) + " (" + std::to_string(latencies.size()) + " cancels)";
}

int Main(int argc, char** argv) {
  if (argc < 2) return 2;
  EngineConfig config;
  config.model_path = argv[1];
  config.threads = argc > 2 ? std::atoi(argv[2]) : 1;
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 50;
  config.options = {{"temperature_inc", "0"}, {"flash_attn", argc > 4 ? "true" : "false"}};
  absl::StatusOr<std::unique_ptr<Engine>> engine = MakeWhisperEngine(config);
  if (!engine.ok()) {
    std::cerr << engine.status() << "\n";
    return 1;
  }
  std::cout << "micro_step " << absl::FormatDuration((*engine)->info().micro_step) << "\n";
  const Steps steps = Survey(**engine);
  if (steps.encode + 2 >= steps.ms.size()) return 1;
  const double encode_ms = steps.ms[steps.encode];
  std::cout << "encode step " << encode_ms << " ms, prompt step " << steps.ms[steps.encode + 1]
            << " ms, decode step " << steps.decode_ms << " ms\n"
            << "cancel inside an encode, median / 99th / most: "
            << CancelMany(**engine, steps.encode, encode_ms, rounds) << "\n"
            << "cancel inside a decode, median / 99th / most: "
            << CancelMany(**engine, steps.encode + 2, steps.decode_ms, rounds) << "\n";
  return 0;
}

}  // namespace
}  // namespace superfluid

int main(int argc, char** argv) { return superfluid::Main(argc, argv); }
