#include "tests/stress/soak.h"

#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/conformance/context.h"
#include "tests/stress/op_load.h"
#include "tests/stress/speech_load.h"
#include "tests/stress/tick_load.h"
#include "tests/stress/watch.h"

namespace superfluid::stress {
namespace {

constexpr int kNoiseMs[] = {400, 1500, 4000};
constexpr absl::Duration kLineEvery = absl::Seconds(10);

struct Counter {
  std::string_view name;
  uint64_t linkw::MemCounters::*value;
};
// What must be as it was once nothing is open and the cache is empty.
constexpr Counter kIdleCounters[] = {
    {"allocated_bytes", &linkw::MemCounters::allocated_bytes},
    {"host_retained_bytes", &linkw::MemCounters::host_retained_bytes},
    {"pool_blocks_used", &linkw::MemCounters::pool_blocks_used},
    {"pool_bytes_evictable", &linkw::MemCounters::pool_bytes_evictable},
    {"tentative_bytes", &linkw::MemCounters::tentative_bytes}};

}  // namespace

Soak::Soak(const SoakOptions& options, std::string socket, pid_t pid, std::string folder,
           Tally& tally)
    : options_(options),
      socket_(std::move(socket)),
      pid_(pid),
      folder_(std::move(folder)),
      tally_(tally),
      random_(options.seed) {}

std::vector<std::string> Soak::Recordings() const {
  std::vector<std::string> paths = options_.recordings;
  for (const int ms : kNoiseMs) {
    paths.push_back(absl::StrCat(folder_, "/noise-", ms, ".wav"));
    std::ofstream file(paths.back(), std::ios::binary);
    file << conformance::Wav(conformance::Pcm(ms, 2000 + ms));
  }
  return paths;
}

bool Soak::Prepare() {
  auto link = SoakLink::Open(socket_, tally_);
  if (!link.ok()) {
    tally_.Fail(absl::StrCat("a link: ", link.status().ToString()));
    return false;
  }
  facts_ = (*link)->facts();
  auto references = AskForReferences(**link, Recordings(), options_.greedy, options_.seed);
  if (!references) return false;
  references_ = *std::move(references);
  return true;
}

void Soak::RunLink(Ending ending, absl::Duration time) {
  auto opened = SoakLink::Open(socket_, tally_);
  if (!opened.ok()) return tally_.Fail(absl::StrCat("a link: ", opened.status().ToString()));
  SoakLink& link = **opened;
  std::vector<std::thread> loads;
  if (link.Has("transcribe")) {
    for (int i = 0; i < options_.speech; ++i) {
      loads.emplace_back([&, seed = random_()] { RunSpeechLoad(link, references_, seed); });
    }
    for (int i = 0; i < options_.live; ++i) {
      loads.emplace_back([&, seed = random_()] { RunLiveLoad(link, seed); });
    }
  }
  if (link.Has("tick")) {
    for (int i = 0; i < options_.ticks; ++i) {
      loads.emplace_back([&, seed = random_(), number = static_cast<uint32_t>(i)] {
        RunTickLoad(link, references_, seed, number);
      });
    }
  }
  if (link.Has("state_ops")) {
    for (int i = 0; i < options_.ops; ++i) {
      loads.emplace_back([&, seed = random_()] { RunOpLoad(link, references_, seed); });
    }
  }
  const absl::Time until = absl::Now() + time;
  while (absl::Now() < until && !tally_.failed() && link.Pause(absl::Milliseconds(50))) {
    PrintProgress();
  }
  link.Stop(ending);
  for (std::thread& load : loads) load.join();
  link.End();
  tally_.Count(ending == Ending::kKill ? "link.killed" : "link.finished");
}

void Soak::CheckIdle(bool first) {
  auto link = SoakLink::Open(socket_, tally_);
  if (!link.ok()) return tally_.Fail(absl::StrCat("a link: ", link.status().ToString()));
  if ((*link)->Has("cache_evict")) {
    (void)(*link)->Call<linkw::CacheEvictResult>(linkw::CacheEvict{
        .bytes_target = ~uint64_t{0}, .policy = {.evictable_classes = ~uint32_t{0}}});
  }
  const auto pong = (*link)->client().Ping();
  if (!pong.ok()) return tally_.Fail(absl::StrCat("PING: ", pong.status().ToString()));
  if (pong->open_ops != 0 || pong->open_transcriptions != 0) {
    tally_.Fail("work is open on a link that has just begun");
  }
  if (first) idle_ = pong->mem;
  for (const Counter& counter : kIdleCounters) {
    const uint64_t now = pong->mem.*counter.value;
    const uint64_t slack = counter.value == &linkw::MemCounters::allocated_bytes
                               ? static_cast<uint64_t>(options_.pool_mib) << 20
                               : 0;
    const uint64_t then = idle_.*counter.value;
    if (now <= then + slack && now + slack >= then) continue;
    tally_.Fail(
        absl::StrCat(std::string(counter.name), " is ", now, " when nothing is open; was ", then));
  }
}

void Soak::PrintProgress() {
  const absl::Time now = absl::Now();
  if (now < next_line_) return;
  next_line_ = now + kLineEvery;
  std::printf("%4d s, %llu MiB: %s\n", static_cast<int>(absl::ToInt64Seconds(now - begin_)),
              static_cast<unsigned long long>(ResidentBytes(pid_) >> 20),
              tally_.Progress().c_str());
  std::fflush(stdout);
}

void Soak::RequireOutcomes() {
  std::vector<std::string> outcomes = {"link.killed", "link.finished"};
  const auto require = [&](bool served, std::vector<std::string> more) {
    if (served) outcomes.insert(outcomes.end(), more.begin(), more.end());
  };
  const bool speech = facts_.Has("transcribe");
  const bool ticks = facts_.Has("tick") && options_.ticks > 0;
  require(speech && options_.speech > 0, {"speech.done", "speech.cancelled"});
  require(speech && options_.live > 0, {"live.done", "live.hung_up"});
  require(ticks, {"tick.done", "tick.stopped", "draw.done"});
  require(ticks && facts_.Has("fork"), {"draw.forked"});
  require(ticks && facts_.Has("publish_sequence"), {"cache.published"});
  require(facts_.Has("state_ops") && options_.ops > 0,
          {"op.done", "op.cancelled", "op.round_trip", "op.demoted"});
  tally_.Require(outcomes);
}

void Soak::Run() {
  begin_ = absl::Now();
  next_line_ = begin_ + kLineEvery;
  if (!Prepare()) return;
  // Engines keep what they made for the first requests: that is no growth.
  RunLink(Ending::kFinish, absl::Seconds(options_.link_seconds));
  CheckIdle(true);
  const WatchLimits limits{.slowest_pong = absl::Milliseconds(options_.slowest_pong_ms),
                           .most_growth = static_cast<uint64_t>(options_.most_growth_mib) << 20};
  const Watch watch(socket_, pid_, limits, tally_);
  const absl::Time until = absl::Now() + absl::Seconds(options_.seconds);
  for (int i = 0; absl::Now() < until && !tally_.failed(); ++i) {
    const auto most = static_cast<uint64_t>(options_.link_seconds) * 2000;
    const absl::Duration time = absl::Milliseconds(500 + random_() % most);
    RunLink(i % 2 == 0 ? Ending::kKill : Ending::kFinish, std::min(time, until - absl::Now()));
    CheckIdle(false);
  }
  if (!tally_.failed()) RequireOutcomes();
  std::printf("resident memory: %llu MiB at the start, %llu at most\n",
              static_cast<unsigned long long>(watch.start_bytes() >> 20),
              static_cast<unsigned long long>(watch.peak_bytes() >> 20));
}

void Soak::ShutDown() {
  auto link = SoakLink::Open(socket_, tally_);
  if (!link.ok()) return tally_.Fail(absl::StrCat("a link: ", link.status().ToString()));
  const auto drained = (*link)->client().Drain({.deadline_ms = 60'000, .shut_down = true});
  if (!drained.ok()) tally_.Fail(absl::StrCat("drain: ", drained.status().ToString()));
}

}  // namespace superfluid::stress
