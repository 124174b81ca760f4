#include "tests/simulation/session.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/simulation/actions.h"
#include "tests/simulation/fault_actions.h"
#include "tests/simulation/heap_meter.h"
#include "tests/simulation/kernel.h"
#include "tests/simulation/work_actions.h"

namespace superfluid::simulation {
namespace {

// What a worker may hold beyond what it held before, per link that is open.
constexpr size_t kTimersPerLink = 8;
constexpr size_t kTimersOfWorker = 16;
constexpr int64_t kMostTokensOfTick = 40;  // actions.cc: four lanes of ten
// What the engine keeps of links that are over: its published cache.
constexpr int64_t kHeapOfEngine = int64_t{4} << 20;
constexpr int64_t kHeapPerLink = int64_t{24} << 20;

class Session {
 public:
  Session(const Plan& plan, const SessionOptions& options)
      : plan_(plan), options_(options), world_(plan), scene_{.world = world_, .oracle = oracle_} {
    if (options_.trace) {
      scene_.trace = [this](const std::string& line) { outcome_.trace.push_back(line); };
    }
    world_.on_progress = [this] { ReadAll(); };
    oracle_.SetSteps(OptionNs("step_us"), LongestStepNs());
    if (!plan.fault.empty()) oracle_.SetFault((kSlowUs + kStuckMs * 1000) * 1000);
    actors_at_start_ = world_.Actors();
    timers_at_start_ = world_.PendingTimers();
    heap_at_start_ = LiveHeapBytes();
    held_at_start_ = HeldOfKernel();
    refusals_at_start_ = KernelRefusals();
  }

  Outcome Play() {
    for (const Action& action : plan_.actions) {
      if (!oracle_.violations().empty() || world_.exit()) break;
      Carry(action);
    }
    if (oracle_.violations().empty()) Finish();
    outcome_.violations = oracle_.violations();
    outcome_.counts = oracle_.counts();
    outcome_.fingerprint = fingerprint_;
    return std::move(outcome_);
  }

 private:
  int64_t OptionNs(const char* name) const {
    for (const auto& [key, value] : plan_.engine_options) {
      if (key == name) return std::strtoll(value.c_str(), nullptr, 10) * 1000;
    }
    return 0;
  }
  int64_t LongestStepNs() const {
    return std::max(OptionNs("step_us"),
                    OptionNs("tick_us") + kMostTokensOfTick * OptionNs("token_us"));
  }

  void Note(const std::string& line) {
    if (scene_.trace) scene_.trace(line);
  }

  void Carry(const Action& action) {
    Note(absl::StrFormat("%10.3f ms  %s (%u)", static_cast<double>(world_.NowNs()) / 1e6,
                         NameOf(action.kind), action.draw));
    Mix(static_cast<uint64_t>(action.kind));
    world_.Schedule(plan_.seed ^ (uint64_t{action.draw} << 20));
    CarryOut(action, scene_);
    const bool at_rest = world_.Run(action.handlers) < action.handlers;
    Mix(static_cast<uint64_t>(world_.NowNs()));
    if (at_rest) CheckAtRest();
  }

  void CheckAtRest() {
    world_.Settle();
    for (Peer& peer : scene_.peers) {
      peer.oracle().AtRest(world_.NowNs());
      peer.CheckHeld();
    }
    const size_t links = scene_.peers.size();
    const size_t timers = world_.PendingTimers();
    if (timers > timers_at_start_ + kTimersOfWorker + kTimersPerLink * links) {
      oracle_.Fail(
          absl::StrCat("resources: ", timers, " timers are pending with ", links, " links"));
    }
    const int64_t heap = LiveHeapBytes() - heap_at_start_;
    if (heap > kHeapPerLink * static_cast<int64_t>(links + 1)) {
      oracle_.Fail(
          absl::StrCat("resources: ", heap >> 20, " MiB are in use with ", links, " links"));
    }
    if (world_.WaitingReads() > MostReads()) {
      oracle_.Fail(absl::StrCat("resources: ", world_.WaitingReads(),
                                " threads are asked for with ", links, " links"));
    }
    if (world_.stuck_reports() > 0) oracle_.Fail("the engine was taken for stuck and was not");
    CheckExit();
  }

  // Two of each link's state, and of each recording the one that opens it and the one that reads.
  size_t MostReads() const {
    size_t most = 0;
    for (const Peer& peer : scene_.peers) most += 2 + 2 * peer.oracle().Unanswered();
    return most;
  }

  void CheckExit() {
    if (world_.exits() > 1) oracle_.Fail("the worker ended twice");
    if (world_.exit() && !oracle_.ends_allowed()) {
      oracle_.Fail(absl::StrCat("ALWAYS-3: the worker ended: ", world_.exit()->second));
    }
    if (world_.exit() && world_.exit()->first == ExitCode::kEngineStalled && plan_.fault.empty()) {
      oracle_.Fail(absl::StrCat("ALWAYS-3: the worker ended: ", world_.exit()->second));
    }
  }

  // Everybody reads and finishes; then every request has its answer.
  void Finish() {
    oracle_.Count(absl::StrCat("plan ", plan_.profile, plan_.fault.empty() ? "" : ", bad engine"));
    if (KernelRefusals() > refusals_at_start_) oracle_.Count("refused by the kernel");
    EndFaults(scene_);
    for (Peer& peer : scene_.peers) {
      peer.FinishHalfFrame();
      if (!peer.reading()) peer.SetReading(true);
    }
    world_.Settle();
    for (Peer& peer : scene_.peers) {
      for (const uint64_t seq : peer.oracle().OpenLive()) {
        peer.Send(linkw::TranscribeAudio{.request_seq = seq, .data = "", .end_of_stream = true});
      }
    }
    world_.Advance(absl::Seconds(8));
    CheckAtRest();
    // The process has ended, and with it each link.
    if (world_.exit() && world_.exit()->first == ExitCode::kEngineStalled) return;
    for (Peer& peer : scene_.peers) peer.oracle().AtEnd();
    if (world_.exit() || !oracle_.violations().empty()) return;
    EndLinks();
    if (!shutting_down()) CheckStillServes();
  }

  void EndLinks() {
    for (Peer& peer : scene_.peers) peer.HangUp();
    world_.Advance(absl::Seconds(8));
    CheckExit();
    if (world_.exit()) return;
    if (world_.Actors() > actors_at_start_) {
      oracle_.Fail(absl::StrCat("END-1: ", world_.Actors() - actors_at_start_,
                                " actors are left when all links are over"));
    }
    // A link whose Dispatcher died leaves the time-out of one request.
    if (world_.PendingTimers() > timers_at_start_ + 1 + scene_.deaths) {
      oracle_.Fail(absl::StrCat("END-1: ", world_.PendingTimers() - timers_at_start_,
                                " timers are left when all links are over"));
    }
    if (world_.progress().open_ops() != 0) oracle_.Fail("END-1: ops are left");
    if (world_.progress().open_transcriptions() != 0) {
      oracle_.Fail("END-1: transcriptions are left");
    }
    if (world_.progress().memory().tentative_bytes != 0) {
      oracle_.Fail("END-1: state is left that no sequence owns");
    }
    scene_.peers.clear();  // with what the peers themselves hold
    CheckNothingIsHeld();
  }

  void CheckNothingIsHeld() {
    const KernelHoldings held = HeldOfKernel();
    if (held.descriptors != held_at_start_.descriptors) {
      oracle_.Fail(absl::StrCat("END-1: ", held.descriptors - held_at_start_.descriptors,
                                " descriptors are left when all links are over"));
    }
    if (held.mappings != held_at_start_.mappings) {
      oracle_.Fail(absl::StrCat("END-1: ", held.mappings - held_at_start_.mappings,
                                " mappings are left when all links are over"));
    }
    if (world_.WaitingReads() > 0) oracle_.Fail("END-1: work that blocks is left");
    const int64_t heap = LiveHeapBytes() - heap_at_start_;
    if (heap > kHeapOfEngine) {
      oracle_.Fail(absl::StrCat("END-1: ", heap >> 10, " KiB are in use when all links are over"));
    }
  }

  // A new driver is served, whatever was before.
  void CheckStillServes() {
    Peer& peer = ConnectDriver(scene_, /*with_rings=*/true);
    world_.Settle();
    if (!peer.usable()) return oracle_.Fail("ROLE-3: a new driver is not let in");
    SendTick(peer, {PlainLane(peer, 1)});
    const uint64_t speech = SendSpeech(peer);
    world_.Advance(absl::Seconds(2));
    CheckAtRest();
    peer.oracle().AtEnd();
    if (!peer.oracle().OpenTranscriptions().empty()) {
      oracle_.Fail(absl::StrCat("END-2: a new driver's transcription ", speech, " has no answer"));
    }
  }

  bool shutting_down() const { return world_.exit().has_value() || scene_.shut_down; }

  void ReadAll() {
    for (Peer& peer : scene_.peers) {
      if (peer.reading()) peer.Read();
    }
  }

  void Mix(uint64_t value) { fingerprint_ = (fingerprint_ ^ value) * 0x100000001b3u; }

  const Plan& plan_;
  const SessionOptions options_;
  Outcome outcome_;
  Oracle oracle_;
  World world_;
  Scene scene_;
  uint64_t fingerprint_ = 0xcbf29ce484222325u;
  size_t actors_at_start_ = 0;
  size_t timers_at_start_ = 0;
  int64_t heap_at_start_ = 0;
  KernelHoldings held_at_start_;
  int64_t refusals_at_start_ = 0;
};

}  // namespace

Outcome Play(const Plan& plan, const SessionOptions& options) {
  return Session(plan, options).Play();
}

}  // namespace superfluid::simulation
