// PING and telemetry.

#include <unistd.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tests/conformance/driver.h"
#include "tests/conformance/families.h"
#include "tests/conformance/speech.h"

namespace superfluid::conformance {
namespace {

using Counters = std::map<std::string, uint64_t>;

bool IsTelemetry(const Received& received) {
  return std::holds_alternative<linkw::Telemetry>(received.message);
}

double Seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

void PingAtOnce(Context& context) {
  Link link(context);
  for (int i = 0; i < 100; ++i) {
    const auto start = Clock::now();
    link.Ping();
    Expect(Clock::now() - start < std::chrono::seconds(1), "a PONG after a second");
  }
}

void PingDuringATick(Context& context) {
  Driver driver(context);
  const uint64_t tick = driver.Submit({driver.DecodeLane(kNew, driver.Prompt(4), 800)});
  driver.peer().Listen(absl::Milliseconds(50));
  const auto ended = [&driver, tick] {
    return std::any_of(driver.peer().inbox().begin(), driver.peer().inbox().end(),
                       [tick](const Received& r) { return r.correlation == tick; });
  };
  int answered = 0;
  for (int i = 0; i < 10; ++i) {
    const linkw::Pong pong = driver.Ping();
    if (ended()) break;
    ++answered;
    Expect(pong.engine_state == linkw::EngineState::kBusy ||
               pong.engine_state == linkw::EngineState::kStalled,
           "during a tick: " + Show(pong.engine_state));
  }
  Expect(answered > 0, "not one PONG came before the tick ended");
  driver.Result(tick);
}

void PingDuringSpeech(Context& context) {
  Link link(context);
  const uint64_t seq = link.SendCall(PathTranscription(context.SpeechFile(20'000)));
  for (int i = 0; i < 20; ++i) {
    const auto start = Clock::now();
    link.Ping();
    Expect(Clock::now() - start < std::chrono::seconds(1), "a PONG after a second");
  }
  link.Send(linkw::TranscribeCancel{seq});
  link.Outcome(seq);
}

void CountsGrow(Context& context) {
  Link link(context);
  linkw::Pong last = link.Ping();
  for (int i = 0; i < 3; ++i) {
    Hear(link, link.SendCall(PathTranscription(context.SpeechFile(500))));
    const linkw::Pong now = link.Ping();
    Expect(now.engine_steps > last.engine_steps, "engine_steps did not grow");
    Expect(now.engine_busy_us >= last.engine_busy_us, "engine_busy_us went back");
    last = now;
  }
}

void StepsOfTicks(Context& context) {
  Driver driver(context);
  linkw::Pong last = driver.Ping();
  for (int i = 0; i < 3; ++i) {
    driver.Run(driver.DecodeLane(kNew, driver.Prompt(3), 20));
    const linkw::Pong now = driver.Ping();
    Expect(now.engine_steps > last.engine_steps, "engine_steps did not grow");
    Expect(now.engine_busy_us > last.engine_busy_us, "engine_busy_us did not grow");
    last = now;
  }
}

void WhoIsThere(Context& context) {
  Link observer(context, linkw::Role::kObserver);
  const linkw::Pong before = observer.Ping();
  Expect(before.observers >= 1, "the observer that asks is not counted");
  Link driver(context);
  const linkw::Pong pong = observer.Ping();
  Expect(pong.uptime_ms >= before.uptime_ms, "uptime_ms went back");
  Expect(pong.driver_ms >= 1, "a link drives, and driver_ms is 0");
  Expect(pong.driver_pid == 0 || pong.driver_pid == static_cast<uint32_t>(getpid()),
         "driver_pid is another process's");
  Link second(context, linkw::Role::kObserver);
  Expect(second.Ping().observers >= 2, "of two observers one is not counted");
}

void MemoryOfSequences(Context& context) {
  Driver driver(context);
  const linkw::MemCounters before = driver.Ping().mem;
  std::vector<SequenceId> sequences;
  sequences.reserve(4);
  for (int i = 0; i < 4; ++i) sequences.push_back(driver.Start(driver.Prompt(100)));
  const linkw::MemCounters with = driver.Ping().mem;
  Expect(with.allocated_bytes > before.allocated_bytes ||
             with.pool_blocks_used > before.pool_blocks_used,
         "400 tokens in sequences take no memory");
  Expect(with.pool_blocks_used <= with.pool_blocks_total, "more blocks used than there are");
  for (const SequenceId sequence : sequences) driver.Drop(sequence);
  const linkw::MemCounters after = driver.Ping().mem;
  ExpectEq(after.pool_blocks_used, before.pool_blocks_used, "pool_blocks_used when all are freed");
}

Counters NextTelemetry(Link& link) {
  const Received received = link.peer().Take(IsTelemetry, "TELEMETRY");
  ExpectEq(received.correlation, uint64_t{0}, "correlation of TELEMETRY");
  Counters counters;
  for (const linkw::TelemetryCounter& counter :
       std::get<linkw::Telemetry>(received.message).counters) {
    Expect(counters.emplace(counter.name, counter.value).second,
           "a counter twice: " + counter.name);
  }
  return counters;
}

void OnceASecond(Context& context) {
  for (const linkw::Role role : {linkw::Role::kDriver, linkw::Role::kObserver}) {
    Link link(context, role, {"something", "telemetry"});
    NextTelemetry(link);
    const auto start = Clock::now();
    for (int i = 0; i < 3; ++i) NextTelemetry(link);
    const double took = Seconds(Clock::now() - start);
    Expect(took > 2 && took < 5, absl::StrCat("three TELEMETRYs in ", took, " s"));
  }
}

void OnlyIfWanted(Context& context) {
  Link link(context);
  Link observer(context, linkw::Role::kObserver, {"Telemetry"});
  link.peer().Listen(absl::Milliseconds(2500));
  observer.peer().Listen(absl::Milliseconds(10));
  for (Link* one : {&link, &observer}) {
    Expect(std::none_of(one->peer().inbox().begin(), one->peer().inbox().end(), IsTelemetry),
           "TELEMETRY on a link that did not ask for it");
  }
}

void CounterNames(Context& context) {
  Link link(context, linkw::Role::kDriver, {"telemetry"});
  const Counters counters = NextTelemetry(link);
  for (const char* name : {"engine.steps",
                           "engine.busy_us",
                           "ticks.done",
                           "ticks.lanes",
                           "ticks.tokens_in",
                           "ticks.tokens_out",
                           "lanes.active",
                           "ops.open",
                           "ops.done",
                           "ops.bytes_moved",
                           "transcriptions.open",
                           "transcriptions.done",
                           "requests.open",
                           "cancels",
                           "mem.allocated_bytes",
                           "mem.host_retained_bytes",
                           "mem.pool_blocks_total",
                           "mem.pool_blocks_used",
                           "mem.pool_bytes_evictable",
                           "mem.tentative_bytes"}) {
    Expect(counters.contains(name), absl::StrCat("no counter ", name));
  }
}

void CountersOfTicks(Context& context) {
  Driver driver(context, {"telemetry"});
  const Counters before = NextTelemetry(driver);
  driver.Tick({driver.DecodeLane(kNew, driver.Prompt(7), 5)});
  driver.Tick({driver.DecodeLane(kNew, driver.Prompt(3), 2)});
  NextTelemetry(driver);
  const Counters after = NextTelemetry(driver);
  const auto grown = [&](const std::string& name) { return after.at(name) - before.at(name); };
  ExpectEq(grown("ticks.done"), uint64_t{2}, "growth of ticks.done");
  ExpectEq(grown("ticks.lanes"), uint64_t{2}, "growth of ticks.lanes");
  ExpectEq(grown("ticks.tokens_in"), uint64_t{10}, "growth of ticks.tokens_in");
  ExpectEq(grown("ticks.tokens_out"), uint64_t{7}, "growth of ticks.tokens_out");
  ExpectEq(after.at("lanes.active"), uint64_t{1}, "lanes.active");
}

void CountsDuringATick(Context& context) {
  Driver driver(context);
  std::vector<uint64_t> ticks;
  for (int i = 0; i < 5; ++i) {
    ticks.push_back(driver.Submit({driver.DecodeLane(kNew, driver.Prompt(4), 500)}));
  }
  driver.peer().Listen(absl::Milliseconds(100));
  const linkw::Pong pong = driver.Ping();
  ExpectEq(pong.queue_depth, uint32_t{4}, "queue_depth while the first of five ticks runs");
  driver.peer().Listen(absl::Milliseconds(200));
  Expect(driver.Ping().engine_steps > pong.engine_steps,
         "engine_steps does not grow inside a tick that draws");
  for (const uint64_t tick : ticks) driver.Result(tick);
}

void FromTheDaemon(Context& context) {
  Link link(context);
  linkw::Telemetry telemetry;
  for (int i = 0; i < 100; ++i) telemetry.counters.push_back({absl::StrCat("a.", i), 1});
  link.ExpectSilent(link.Send(telemetry), "TELEMETRY");
  link.ExpectSilent(link.Send(linkw::Telemetry{}), "TELEMETRY");
}

}  // namespace

void AddHealthChecks(std::vector<Check>& checks) {
  checks.push_back({"PING-1", "pings in peace", PingAtOnce});
  checks.push_back(
      {"PING-1 ALWAYS-2", "pings during a tick", PingDuringATick, {"tick"}, Pace::kSlow});
  checks.push_back(
      {"PING-1 ALWAYS-2", "pings during a transcription", PingDuringSpeech, {"transcribe"}});
  checks.push_back({"PING-5", "who is there", WhoIsThere});
  checks.push_back({"PING-3", "counters of steps, with speech", CountsGrow, {"transcribe"}});
  checks.push_back({"PING-3", "counters of steps, with ticks", StepsOfTicks, {"tick"}});
  checks.push_back({"PING-2", "memory of sequences", MemoryOfSequences, {"tick", "free_sequence"}});
  checks.push_back(
      {"PING-2 PING-3", "counts during a long tick", CountsDuringATick, {"tick"}, Pace::kSlow});
  checks.push_back({"TEL-1", "telemetry once a second", OnceASecond});
  checks.push_back({"TEL-1", "no telemetry unless wanted", OnlyIfWanted});
  checks.push_back({"TEL-2", "names of counters", CounterNames});
  checks.push_back({"TEL-2", "counters of ticks", CountersOfTicks, {"tick"}});
  checks.push_back({"TEL-3", "telemetry from the daemon", FromTheDaemon});
}

}  // namespace superfluid::conformance
