#include "tests/device/probes.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"

namespace superfluid::device {
namespace {

constexpr uint32_t kDrawn = 48;
constexpr uint32_t kSpeedDrawn = 64;
constexpr int kRepeats = 3;

bool PrintCheck(const char* name, bool passed, const std::string& detail) {
  std::printf("check\t%s\t%s\t%s\n", name, passed ? "pass" : "FAIL", detail.c_str());
  std::fflush(stdout);
  return passed;
}

void PrintFigure(const char* name, double value, const char* unit) {
  std::printf("figure\t%s\t%.4g\t%s\n", name, value, unit);
  std::fflush(stdout);
}

// How much less likely than the CPU's the device's token is to the CPU, in logits; infinite if it
// is not among the most likely.
float LogitGap(const std::vector<linkw::TokenLogit>& logits, linkw::Token cpu,
               linkw::Token device) {
  const auto find = [&](linkw::Token token) {
    const auto it = std::find_if(logits.begin(), logits.end(), [&](const linkw::TokenLogit& each) {
      return each.token == token;
    });
    return it == logits.end() ? -INFINITY : it->logit;
  };
  return find(cpu) - find(device);
}

std::vector<linkw::Lane> Lanes(size_t count, const linkw::Lane& lane) {
  return std::vector<linkw::Lane>(count, lane);
}

// The shortest of several times: what the machine can do.
template <typename Run>
absl::Duration Shortest(Run run) {
  absl::Duration shortest = absl::InfiniteDuration();
  for (int i = 0; i < kRepeats; ++i) {
    const absl::Time begin = absl::Now();
    run();
    shortest = std::min(shortest, absl::Now() - begin);
  }
  return shortest;
}

absl::Duration MeasurePrefill(ProbeWorker& device, const Tokens& prompt) {
  const absl::Duration took = Shortest([&] {
    const auto lanes = device.RunLanes({{.kind = linkw::LaneKind::kPrefill}}, {prompt});
    device.Free(lanes[0].sequence);
  });
  PrintFigure("prefill", static_cast<double>(prompt.size()) / absl::ToDoubleSeconds(took),
              "tokens/s");
  return took;
}

void MeasureDraws(ProbeWorker& device, const char* name, const std::vector<Tokens>& prompts) {
  const auto started =
      device.RunLanes(Lanes(prompts.size(), {.kind = linkw::LaneKind::kPrefill}), prompts);
  std::vector<linkw::Lane> lanes = Lanes(prompts.size(), {.max_tokens = kSpeedDrawn});
  for (size_t i = 0; i < lanes.size(); ++i) lanes[i].sequence = started[i].sequence;
  const std::vector<Tokens> nothing(lanes.size());
  const absl::Duration took = Shortest([&] { (void)device.RunLanes(lanes, nothing); });
  const auto drawn = static_cast<double>(lanes.size()) * kSpeedDrawn;
  PrintFigure(name, drawn / absl::ToDoubleSeconds(took), "tokens/s");
  for (const linkw::LaneEvent& lane : started) device.Free(lane.sequence);
}

void MeasureCancels(ProbeWorker& device, const ProbeOptions& options, const Tokens& prompt,
                    absl::Duration prefill, std::mt19937_64& random) {
  std::vector<double> latencies;
  const auto most = static_cast<uint64_t>(std::max<int64_t>(absl::ToInt64Microseconds(prefill), 2));
  for (int i = 0; i < options.cancels; ++i) {
    const uint64_t deadline_us = 1 + random() % most;
    const absl::Time begin = absl::Now();
    const auto result = device.Tick({{.kind = linkw::LaneKind::kPrefill}}, {prompt}, deadline_us);
    const absl::Duration late =
        absl::Now() - begin - absl::Microseconds(static_cast<int64_t>(deadline_us));
    if (!result.events.lanes.empty() && result.events.lanes[0].sequence != linkw::SequenceId{}) {
      device.Free(result.events.lanes[0].sequence);
    }
    if (result.status != linkw::Status::kDeadlineExceeded) continue;  // it was done before
    latencies.push_back(absl::ToDoubleMilliseconds(late));
  }
  PrintFigure("prefill of the cancelled prompt", absl::ToDoubleMilliseconds(prefill), "ms");
  PrintFigure("cancels inside it", static_cast<double>(latencies.size()), "of those tried");
  if (latencies.empty()) return;
  std::sort(latencies.begin(), latencies.end());
  const auto last = static_cast<double>(latencies.size() - 1);
  PrintFigure("cancel, median", latencies[static_cast<size_t>(last * 0.5)], "ms");
  PrintFigure("cancel, p99", latencies[static_cast<size_t>(std::ceil(last * 0.99))], "ms");
}

}  // namespace

bool CheckBackend(const ProbeWorker& device, const std::string& backend) {
  const auto json = nlohmann::json::parse(device.facts().ack.capabilities_json, nullptr, false);
  if (!json.is_object()) return PrintCheck("the backend is there", false, "no capabilities");
  const std::string version = json.value("version", std::string());
  // An engine may also say what it computes on.
  const std::string used = json.value("device", backend == "CPU" ? "cpu" : "");
  const bool is_used = (used == "cpu") == (backend == "CPU");
  return PrintCheck("the backend is there", is_used && version.find(backend) != std::string::npos,
                    absl::StrCat(version, used.empty() ? "" : "; computes on ", used));
}

bool CompareDraws(ProbeWorker& device, ProbeWorker& cpu, const ProbeOptions& options) {
  std::mt19937_64 random(options.seed);
  int same = 0;
  int close = 0;
  std::string wrong;
  for (int i = 0; i < options.prompts; ++i) {
    const Tokens prompt = cpu.RandomTokens(random, 1 + random() % 200);
    const Tokens expected = cpu.Draw(prompt, kDrawn);
    const Tokens drawn = device.Draw(prompt, kDrawn);
    const auto [at, other] =
        std::mismatch(expected.begin(), expected.end(), drawn.begin(), drawn.end());
    if (at == expected.end()) {
      ++same;
      continue;
    }
    Tokens text = prompt;
    text.insert(text.end(), expected.begin(), at);
    const float gap = other == drawn.end() ? INFINITY : LogitGap(cpu.Logits(text), *at, *other);
    if (gap <= options.tolerance) {
      ++close;
    } else {
      absl::StrAppend(&wrong, "; prompt ", i, " differs at token ", at - expected.begin(), " by ",
                      gap);
    }
  }
  return PrintCheck("same tokens as on the CPU", wrong.empty(),
                    absl::StrCat(same, " of ", options.prompts, " prompts wholly, ", close,
                                 " up to a near tie", wrong));
}

bool MeasureSpeed(ProbeWorker& device, const ProbeOptions& options) {
  std::mt19937_64 random(options.seed);
  const Tokens prompt = device.RandomTokens(random, options.prefill_tokens);
  const Tokens before = device.Draw(prompt, kDrawn);
  const absl::Duration prefill = MeasurePrefill(device, prompt);
  std::vector<Tokens> prompts;
  prompts.reserve(options.lanes);
  for (uint32_t i = 0; i < options.lanes; ++i) prompts.push_back(device.RandomTokens(random, 32));
  MeasureDraws(device, "draw, one sequence", {prompts[0]});
  MeasureDraws(device, absl::StrCat("draw, ", options.lanes, " sequences").c_str(), prompts);
  MeasureCancels(device, options, prompt, prefill, random);
  return PrintCheck("draws after cancels as before", device.Draw(prompt, kDrawn) == before,
                    absl::StrCat(kDrawn, " tokens"));
}

}  // namespace superfluid::device
