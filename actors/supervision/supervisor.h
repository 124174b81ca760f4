#ifndef SUPERFLUID_ACTORS_SUPERVISION_SUPERVISOR_H_
#define SUPERFLUID_ACTORS_SUPERVISION_SUPERVISOR_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "actors/dispatch/dispatcher.h"
#include "actors/engine/engine_actor.h"
#include "actors/messages/alarm_clock_interface.h"
#include "actors/messages/engine_progress.h"
#include "actors/messages/limits.h"
#include "actors/messages/loaded_engine.h"
#include "actors/messages/supervisor_interface.h"
#include "actors/messages/worker_presence.h"
#include "actors/runtime/memory_budget.h"
#include "actors/runtime/reply_guard.h"
#include "actors/runtime/worker_threads.h"
#include "actors/supervision/link_places.h"
#include "actors/supervision/turn_age.h"
#include "engine/audio/blocking_executor.h"
#include "protocol/messages/messages.h"

namespace superfluid {

// What becomes of the engine when the driver's link ends.
enum class OnDisconnect {
  kKeepCache,  // as it is, warm for the next link
  kReset,      // drop caches, sequences, adapters
  kExit,       // end the worker
};

// How a worker process ends.
enum class ExitCode : int {
  kOk = 0,               // drained, told to stop, or its link ended and it was to exit then
  kEngineNotLoaded = 3,  // the engine or its model could not be loaded
  kEngineFailed = 70,    // the engine or an actor broke
  kEngineStalled = 71,   // one step of the engine took longer than engine_kill
  kDrainCut = 75,        // told to finish what was open, it had to cancel some of it
};

inline constexpr int kStallSteps = 2;
inline constexpr int kKillSteps = 5;

struct WorkerConfig {
  EngineFactory make_engine;
  // Computes the hash of library, model and options, on a thread of `readers`, beside the engine's
  // loading. Null: it is `engine_bundle_hash`.
  std::function<absl::StatusOr<linkw::Hash>()> hash_bundle;
  linkw::Hash engine_bundle_hash{};
  std::string media_root = "/";               // audio and images that a daemon names lie below it
  std::string model_root = "/";               // adapters and strategy artifacts likewise
  std::shared_ptr<BlockingExecutor> readers;  // what opens and decodes recordings; not null
  LinkLimits limits;
  LinkPlaceLimits places;  // of links that do not drive
  OnDisconnect on_disconnect = OnDisconnect::kKeepCache;
  absl::Duration step_budget = absl::Milliseconds(10);
  uint64_t live_audio_bytes = kLiveAudioBytes;  // of all links, not transcribed yet
  absl::Duration engine_load_patience = absl::Minutes(30);
  // A longer step is reported; a longer step ends the process. Raised to kStallSteps and kKillSteps
  // of the steps that the engine expects (EngineInfo::micro_step): slow is not stuck.
  absl::Duration engine_stall = absl::Seconds(1);
  absl::Duration engine_kill = absl::Seconds(30);
  absl::Duration health_period = absl::Milliseconds(250);
  WorkerThreads* threads = nullptr;  // of links and engine; null: they are pooled, in a test
  std::function<linkw::LinkToken()> make_token;  // 16 unguessable bytes
  // Called each health_period until the engine is loaded, with how much of it is, and once when it
  // is. May be null.
  std::function<void(uint32_t permille)> on_loading;
  std::function<void()> on_ready;
  // Called once, when the worker is to end; links are closed by then, unless the engine is stuck. A
  // worker that still loads is to end without waiting for its engine.
  std::function<void(ExitCode code, std::string reason)> on_exit;
  // Called each health_period in which neither a step nor a thread was stalled. May be null.
  std::function<void()> on_progress;
  // Called when a step took longer than engine_kill; must not return in a real worker.
  std::function<void(absl::Duration step_age)> on_engine_stuck;
};

// Starts, watches and ends everything else.
//
//   StartWorker --> engine loads --> serving --ShutDown--> draining links --> on_exit(kOk or
//                        |              |                                       kDrainCut)
//                        |              |  engine died --> links told --> on_exit(kEngineFailed)
//                        |              |  step older than engine_kill --> on_engine_stuck
//                        |  it does not load --> links told --> on_exit(kEngineNotLoaded)
//                        |  ShutDown --> links told --> on_exit(kOk)
//
// Links come from the start on. While the engine loads they answer PING, and a HELLO waits.
//
// A link over inherited sockets is the only one there will ever be: the worker ends with it.
//
// One link at a time has the driver's role. The role is free again when the link's dispatcher said
// that the engine holds nothing of it any more. On a thread of its own: it must see a stalled
// engine whatever the pool does.
class SupervisorState {
 public:
  static constexpr const char* name = "supervisor";

  explicit SupervisorState(Supervisor::pointer self) : self_(self) {}

  void Start(WorkerConfig config, std::shared_ptr<EngineProgress> progress);
  caf::typed_response_promise<WorkerStarted> OnStart();
  void OnBundleHashed(const absl::StatusOr<linkw::Hash>& hash);
  void OnFrames(const FramesConnected& connected);
  void OnDescriptors(const DescriptorsConnected& connected);
  caf::typed_response_promise<RoleClaimed> OnClaim(const ClaimRole& claim);
  void OnClaimOverdue(LinkId link);
  void OnLinkEnding(LinkId link);
  void OnLinkEnded(const LinkEnded& ended);
  void OnCheckHealth();
  void OnShutDown(const ShutDown& shut_down);
  void OnDown(const caf::down_msg& down);

 private:
  struct Link {
    bool inherited = false;  // there will never be another: the worker ends with it
    Dispatcher dispatcher;
    std::shared_ptr<ByteStream> stream;
    std::shared_ptr<SocketWatch> watch;  // null: the stream is in memory
    std::shared_ptr<FdChannel> channel;  // null: it has not come
    linkw::LinkToken token{};
    pid_t peer_pid = 0;
    std::shared_ptr<std::atomic<int64_t>> last_heard_ns;
  };
  using ClaimAnswer = std::shared_ptr<ReplyGuard<RoleClaimed>>;
  // Of a driver while there is another.
  struct Claim {
    LinkId link{};
    ClaimAnswer answer;
    bool overdue = false;  // it is refused unless it is the next that drives
  };

  // supervisor_loading.cc
  void HashBundle();
  void OnPartLoaded();
  void WatchLoading();
  void OnNotLoaded(const absl::Status& status);
  void StopLoading();
  void EndWhileLoading(ExitCode code, const std::string& reason, linkw::Status status,
                       const std::string& text);

  // Placements.
  compat::Placement OnLinkThread() const;
  // Of a link's dispatcher, reader and writer.
  compat::Placement OfLink(const Link& link) const;
  std::function<void()> WhenItDrives(const Link& link) const;
  compat::Placement OnEngineThread() const;
  void StartLink(LinkId id, const FramesConnected& connected);
  DispatcherContext ContextOf(LinkId id, const Link& link);
  static void RefuseLink(ByteStream& stream, linkw::Status status, const std::string& reason);
  void LetGo(LinkId id, const std::string& reason);
  void ClaimDriver(LinkId link, ClaimAnswer answer);
  void ClaimObserver(LinkId link, ReplyGuard<RoleClaimed>& answer);
  void ForgetLink(LinkId id, const std::string& reason);
  void RefuseOverdueClaims();
  void FreeDriver();
  void SetDriver(LinkId link);
  absl::Duration TurnAgeNow(int64_t now_ns);
  bool IsLettingGoOverdue(int64_t now_ns);
  void FailEverything(ExitCode code, const std::string& reason);
  void DrainLastLink();
  void ExitIfDone();
  void Exit(ExitCode code, const std::string& reason);

  Supervisor::pointer self_;
  WorkerConfig config_;
  std::shared_ptr<EngineProgress> progress_;
  EngineActor engine_;
  AlarmClock alarms_;
  std::shared_ptr<WorkerPresence> presence_;            // from Start on
  std::shared_ptr<ReplyGuard<WorkerStarted>> started_;  // while it loads
  std::optional<EngineLoaded> engine_loaded_;           // and the hash is awaited
  std::optional<linkw::Hash> bundle_hash_;
  std::shared_ptr<const LoadedEngine> loaded_;  // null while it loads
  const std::shared_ptr<MemoryBudget> file_copies_ = std::make_shared<MemoryBudget>(kFileCopyBytes);
  std::shared_ptr<MemoryBudget> audio_copies_;  // from Start on
  std::map<LinkId, Link> links_;
  std::optional<LinkPlaces> places_;
  uint64_t last_link_ = 0;
  std::optional<LinkId> driver_;
  bool driver_ending_ = false;  // its link is over, but the engine still cleans up
  std::deque<Claim> waiting_claims_;
  bool shutting_down_ = false;
  std::optional<LinkId> drains_last_;              // the link that asked for the end
  DrainScope drain_scope_ = DrainScope::kNothing;  // of all shut-downs so far, the largest
  bool told_to_cancel_ = false;                    // by the first of them
  int64_t drain_by_ns_ = std::numeric_limits<int64_t>::max();  // the earliest of their deadlines
  std::optional<absl::Duration> let_go_left_;  // in which the process runs; none: it does not end
  int64_t health_seen_ns_ = 0;                 // when the health was looked at last
  uint32_t drain_finished_ = 0;                // requests of links that are gone
  uint32_t drain_cancelled_ = 0;
  bool drain_cut_ = false;
  bool stall_reported_ = false;
  TurnAge engine_turn_;
  TurnAge link_turn_;
  std::optional<std::pair<ExitCode, std::string>> exit_with_;  // when the last link is gone
  bool exited_ = false;
};

Supervisor::behavior_type SupervisorBehavior(Supervisor::stateful_pointer<SupervisorState> self,
                                             WorkerConfig config,
                                             std::shared_ptr<EngineProgress> progress);

}  // namespace superfluid

#endif  // SUPERFLUID_ACTORS_SUPERVISION_SUPERVISOR_H_
