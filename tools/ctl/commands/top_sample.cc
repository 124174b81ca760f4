#include "tools/ctl/commands/top_sample.h"

#include <algorithm>

namespace superfluid::ctl {
namespace {

using OptionalSample = std::optional<CounterSample>;

std::optional<uint64_t> Counter(const OptionalSample& sample, const std::string& name) {
  if (!sample.has_value()) return std::nullopt;
  const auto found = sample->counters.find(name);
  if (found == sample->counters.end()) return std::nullopt;
  return found->second;
}

std::optional<double> RateOf(std::optional<uint64_t> now, std::optional<uint64_t> before,
                             absl::Duration between) {
  if (!now.has_value() || !before.has_value() || *now < *before) return std::nullopt;
  if (between <= absl::ZeroDuration()) return std::nullopt;
  return static_cast<double>(*now - *before) / absl::ToDoubleSeconds(between);
}

// A step counts as busy when it is over, and so does what there is of the running one.
uint64_t BusyUs(const linkw::Pong& pong) { return pong.engine_busy_us + pong.step_age_us; }

}  // namespace

void TelemetryStore::Add(const linkw::Telemetry& telemetry, absl::Duration now) {
  CounterSample sample = {.at = now, .counters = {}};
  for (const linkw::TelemetryCounter& counter : telemetry.counters) {
    sample.counters[counter.name] = counter.value;
  }
  const std::lock_guard lock(mutex_);
  before_ = std::move(newest_);
  newest_ = std::move(sample);
}

std::pair<OptionalSample, OptionalSample> TelemetryStore::Newest() const {
  const std::lock_guard lock(mutex_);
  return {newest_, before_};
}

TopFigures MakeTopFigures(const PongSample& now, const std::optional<PongSample>& before,
                          const OptionalSample& counters, const OptionalSample& counters_before) {
  TopFigures figures;
  figures.pong = now.pong;
  if (before.has_value()) {
    const absl::Duration between = now.at - before->at;
    const auto busy_us_per_s = RateOf(BusyUs(now.pong), BusyUs(before->pong), between);
    if (busy_us_per_s.has_value()) figures.load = std::min(*busy_us_per_s / 1e6, 1.0);
    figures.steps_per_s = RateOf(now.pong.engine_steps, before->pong.engine_steps, between);
  }
  const auto rate = [&](const char* name) -> std::optional<double> {
    if (!counters.has_value() || !counters_before.has_value()) return std::nullopt;
    return RateOf(Counter(counters, name), Counter(counters_before, name),
                  counters->at - counters_before->at);
  };
  figures.lanes = Counter(counters, "lanes.active");
  figures.ticks_per_s = rate("ticks.done");
  figures.tokens_in_per_s = rate("ticks.tokens_in");
  figures.tokens_out_per_s = rate("ticks.tokens_out");
  figures.ops_done = Counter(counters, "ops.done");
  figures.op_bytes_per_s = rate("ops.bytes_moved");
  figures.transcriptions_done = Counter(counters, "transcriptions.done");
  figures.open_requests = Counter(counters, "requests.open");
  figures.cancels = Counter(counters, "cancels");
  return figures;
}

}  // namespace superfluid::ctl
