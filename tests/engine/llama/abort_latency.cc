// Measures how long after a cancel from another thread a tick ends, against the whole tick:
// abort_latency MODEL.gguf [PROMPT_TOKENS [RUNS [THREADS]]]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "engine/llama/llama_engine.h"
#include "engine/sampling/mix.h"
#include "tests/engine/properties/generation_driver.h"

namespace superfluid::testing {
namespace {

using Clock = std::chrono::steady_clock;

int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch())
      .count();
}

double Ms(int64_t ns) { return static_cast<double>(ns) / 1e6; }

// How long the tick took; its sequence is freed.
int64_t RunTick(Generation& generation, const LaneWork& work, const CancelToken& token) {
  QuietHost host;
  Tick tick;
  tick.lanes = absl::MakeConstSpan(&work, 1);
  const int64_t start = NowNs();
  const auto results = generation.RunTick(tick, token, host);
  const int64_t end = NowNs();
  if (results.ok() && results->front().status.ok()) {
    (void)generation.FreeSequence(results->front().sequence);
  }
  return end - start;
}

// From the cancel, at a moment of the tick that `seed` determines, to its end.
int64_t LatencyOf(Generation& generation, const LaneWork& work, int64_t whole_ns, uint64_t seed) {
  CancelToken token;
  const auto delay = static_cast<int64_t>(Mix(seed) % static_cast<uint64_t>(whole_ns));
  std::thread canceller([&token, delay] {
    const int64_t until = NowNs() + delay;
    while (NowNs() < until) std::this_thread::yield();
    token.Cancel(CancelReason::kRequested, &NowNs);
  });
  (void)RunTick(generation, work, token);
  const int64_t end = NowNs();
  canceller.join();
  return std::max<int64_t>(0, end - token.cancelled_at_ns());
}

int Main(const std::string& model, size_t tokens, int runs, int threads) {
  EngineConfig config;
  config.model_path = model;
  config.threads = threads;
  const auto engine = MakeLlamaEngine(config);
  if (!engine.ok()) {
    std::printf("%s\n", engine.status().ToString().c_str());
    return 1;
  }
  std::vector<Token> prompt(tokens);
  for (size_t i = 0; i < tokens; ++i) prompt[i] = 300 + static_cast<Token>(Mix(i) % 200);
  LaneWork work;
  work.input = prompt;
  work.max_tokens = 1;
  const CancelToken never;
  Generation& generation = *(*engine)->generation();
  (void)RunTick(generation, work, never);
  const int64_t whole = RunTick(generation, work, never);
  std::vector<int64_t> latencies;
  latencies.reserve(static_cast<size_t>(runs));
  for (int i = 0; i < runs; ++i) {
    latencies.push_back(LatencyOf(generation, work, whole, static_cast<uint64_t>(i)));
  }
  std::sort(latencies.begin(), latencies.end());
  std::printf(
      "a tick of %zu tokens: %.1f ms; after a cancel: median %.2f ms, p99 %.2f ms, max %.2f\n",
      tokens, Ms(whole), Ms(latencies[latencies.size() / 2]),
      Ms(latencies[latencies.size() * 99 / 100]), Ms(latencies.back()));
  return 0;
}

}  // namespace
}  // namespace superfluid::testing

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const auto number = [&](int index, int otherwise) {
    return argc > index ? std::atoi(argv[index]) : otherwise;
  };
  return superfluid::testing::Main(argv[1], static_cast<size_t>(number(2, 512)), number(3, 100),
                                   number(4, 1));
}
