// The time until the engine is loaded: links wait, and are told why if it does not load.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "actors/runtime/engine_status.h"
#include "actors/runtime/printable.h"
#include "actors/runtime/status_error.h"
#include "actors/supervision/supervisor.h"
#include "protocol/messages/status.h"
#include "shm/ring.h"
#include "spdlog/spdlog.h"

namespace superfluid {
namespace {

linkw::RingSpec Announce(const RingSpec& spec, linkw::RingKind kind) {
  return {.ring_id = linkw::RingId(spec.id),
          .kind = kind,
          .slot_bytes = spec.slot_bytes,
          .slots = spec.slots};
}

linkw::HelloAck MakeHello(const WorkerConfig& config, const EngineLoaded& loaded) {
  linkw::HelloAck hello;
  hello.engine_bundle_hash = config.engine_bundle_hash;
  hello.capabilities_json = loaded.capabilities_json;
  hello.limits.max_frame = config.limits.max_frame;
  hello.limits.op_window = config.limits.op_window;
  hello.limits.ring_specs = {Announce(kTokenInRing, linkw::RingKind::kTokens),
                             Announce(kTokenOutRing, linkw::RingKind::kTokens),
                             Announce(kLogitsRing, linkw::RingKind::kLogits)};
  hello.limits.max_lanes = static_cast<uint32_t>(loaded.info.max_lanes);
  hello.limits.max_transcriptions =
      loaded.info.max_transcriptions > 0 ? config.limits.max_transcriptions : 0;
  hello.kv_bits = loaded.info.kv_bits;
  for (const StateSpace& space : loaded.spaces) {
    hello.state_space_descriptors.push_back(ToWire(space));
  }
  for (const BuiltInStrategy& strategy : loaded.strategies) {
    hello.registered_strategies.push_back(
        {.strategy_slot = linkw::StrategySlot{static_cast<uint32_t>(strategy.slot)},
         .strategy_id = strategy.strategy_id,
         .impl_version = strategy.impl_version});
  }
  return hello;
}

}  // namespace

caf::typed_response_promise<WorkerStarted> SupervisorState::OnStart() {
  auto promise = self_->make_response_promise<caf::typed_response_promise<WorkerStarted>>();
  started_ = std::make_shared<ReplyGuard<WorkerStarted>>(promise);
  progress_->BeginLoading();
  compat::Request(self_, engine_, config_.engine_load_patience, CreateEngine{})
      .then(
          [this](const EngineLoaded& loaded) {
            engine_loaded_ = loaded;
            OnPartLoaded();
          },
          [this](const caf::error& error) { OnNotLoaded(ToStatus(error)); });
  compat::SendAfter(self_, Supervisor(self_), config_.health_period, CheckHealth{});
  HashBundle();
  return promise;
}

// Beside the engine, which reads the same files.
void SupervisorState::HashBundle() {
  if (config_.hash_bundle == nullptr) {
    bundle_hash_ = config_.engine_bundle_hash;
    return OnPartLoaded();
  }
  const absl::Status begun = config_.readers->Begin(
      [hash = config_.hash_bundle, weak = compat::Weak<Supervisor>(Supervisor(self_))] {
        compat::SendFromOutside(weak.Lock(), BundleHashed{hash()});
      });
  if (!begun.ok()) OnNotLoaded(begun);
}

void SupervisorState::OnBundleHashed(const absl::StatusOr<linkw::Hash>& hash) {
  if (!hash.ok()) return OnNotLoaded(hash.status());
  bundle_hash_ = *hash;
  OnPartLoaded();
}

// HELLO's answer needs the engine and the hash.
void SupervisorState::OnPartLoaded() {
  if (exit_with_ || !engine_loaded_ || !bundle_hash_) return;
  const EngineLoaded engine = *std::exchange(engine_loaded_, std::nullopt);
  config_.engine_bundle_hash = *bundle_hash_;
  config_.engine_stall = std::max(config_.engine_stall, kStallSteps * engine.info.micro_step);
  config_.engine_kill = std::max(config_.engine_kill, kKillSteps * engine.info.micro_step);
  spdlog::debug("engine.patience micro_step_ms={} stall_ms={} kill_ms={}",
                absl::ToInt64Milliseconds(engine.info.micro_step),
                absl::ToInt64Milliseconds(config_.engine_stall),
                absl::ToInt64Milliseconds(config_.engine_kill));
  loaded_ = std::make_shared<const LoadedEngine>(LoadedEngine{
      .hello = MakeHello(config_, engine),
      .info = engine.info,
      .generates = engine.generates,
      .context_tokens = engine.context_tokens,
      .spaces = std::make_shared<const std::vector<StateSpace>>(engine.spaces),
      .stall = config_.engine_stall,
  });
  progress_->EndLoading();
  // From now on the watchdog vouches for the time, also for what is left of the period.
  progress_->Look(compat::NowNs(self_), absl::ToInt64Nanoseconds(config_.health_period));
  if (config_.on_ready)
    config_.on_ready();  // which may confine the process: before anybody is served
  for (const auto& [id, link] : links_) compat::Send(self_, link.dispatcher, EngineReady{loaded_});
  std::exchange(started_, nullptr)->Answer(WorkerStarted{});
}

void SupervisorState::WatchLoading() {
  if (exit_with_) return;
  if (config_.on_loading) config_.on_loading(progress_->load_permille());
  compat::SendAfter(self_, Supervisor(self_), config_.health_period, CheckHealth{});
}

void SupervisorState::OnNotLoaded(const absl::Status& status) {
  if (exit_with_) return;  // the other part failed before, or the worker was told to stop
  progress_->SetFailed();
  EndWhileLoading(ExitCode::kEngineNotLoaded, std::string(status.message()),
                  linkw::Status::kEngineFailed,
                  absl::StrCat("the engine cannot be loaded: ", status.message()));
  if (started_ != nullptr) std::exchange(started_, nullptr)->Fail(status);
}

// The engine is left behind: what reads a model cannot be interrupted.
void SupervisorState::StopLoading() {
  if (exit_with_) return;
  EndWhileLoading(ExitCode::kOk, "told to stop before the engine was loaded",
                  linkw::Status::kDraining, "the worker is shutting down");
}

void SupervisorState::EndWhileLoading(ExitCode code, const std::string& reason,
                                      linkw::Status status, const std::string& text) {
  exit_with_ = {code, reason};
  for (const auto& [id, link] : links_) {
    compat::Send(self_, link.dispatcher, EndLink{status, text});
  }
  ExitIfDone();
}

}  // namespace superfluid
