#include "tools/worker/worker_process.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "actors/link/connection_sorter.h"
#include "actors/messages/engine_progress.h"
#include "actors/runtime/caf_compat.h"
#include "actors/runtime/descriptor_poller.h"
#include "actors/runtime/printable.h"
#include "actors/runtime/status_error.h"
#include "actors/runtime/thread_room.h"
#include "actors/runtime/worker_threads.h"
#include "actors/supervision/supervisor.h"
#include "caf/scoped_actor.hpp"
#include "engine/audio/blocking_executor.h"
#include "engine/audio/blocking_thread_pool.h"
#include "engine/loader/bundle_hash.h"
#include "engine/loader/loader.h"
#include "engine/loader/resolve.h"
#include "protocol/transport/unix_listener.h"
#include "spdlog/spdlog.h"
#include "tools/worker/crash_report.h"
#include "tools/worker/engine_log.h"
#include "tools/worker/model_watch.h"
#include "tools/worker/outcome.h"
#include "tools/worker/signals.h"
#include "tools/worker/token.h"
#include "tools/worker/worker_log.h"
#include "tools/worker/worker_sockets.h"

namespace superfluid {
namespace {

constexpr int kExitEngineNotLoaded = 3;
constexpr absl::Duration kCancelPatience = absl::Seconds(2);  // SIGINT
constexpr unsigned kTeardownSeconds = 5;
constexpr absl::Duration kReadersPatience = absl::Seconds(1);

// That the worker itself needs: the pool, the clock of the actor system, the supervisor, the hosted
// threads, the sorter of connections, and the watch for signals while it loads.
constexpr size_t kWorkerThreads = 9;

// The pool serves transcribers and state ops (which map memory).
constexpr size_t kPoolThreads = 2;

// Says once why the worker cannot start: in the log, or plainly if there is none.
int Fail(int code, const char* what, const absl::Status& status) {
  if (spdlog::should_log(spdlog::level::err)) {
    spdlog::error("{} error=\"{}\"", what, Printable(status.message()));
  } else {
    LogPlainly(absl::StrCat("superfluid_worker: ", status.message()));
  }
  return code;
}

absl::Status CheckRoot(const char* option, const std::string& root) {
  struct stat info {};
  if (stat(root.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(option, " ", root, " is not a folder"));
  }
  return absl::OkStatus();
}

absl::Status CheckRoots(const WorkerOptions& options) {
  absl::Status media = CheckRoot("--media-root", options.media_root);
  return media.ok() ? CheckRoot("--model-root", options.model_root) : media;
}

// Where the worker's own engines are is long and helps nobody who named one; a path that was given
// is what has to be looked at.
absl::Status Shortened(const absl::Status& status, const WorkerOptions& options,
                       const std::string& library) {
  if (options.engine == library) return status;
  const std::string name = std::filesystem::path(library).filename().string();
  return absl::Status(status.code(), absl::StrReplaceAll(status.message(), {{library, name}}));
}

struct EnginePlace {
  std::string library;
  linkw::Hash bundle_hash{};
};

absl::StatusOr<EnginePlace> FindEngine(const WorkerOptions& options) {
  std::vector<std::string> dirs = options.engine_dirs;
  for (std::string& dir : DefaultEngineDirs()) dirs.push_back(std::move(dir));
  absl::StatusOr<std::string> library = ResolveEngine(options.engine, dirs);
  if (!library.ok()) return library.status();
  const std::string& model = options.engine_config.model_path;
  std::error_code error;
  if (!model.empty() && !std::filesystem::exists(model, error)) {
    return absl::NotFoundError(
        absl::StrCat("--model ", model, ": there is no such file or folder"));
  }
  absl::StatusOr<linkw::Hash> hash =
      EngineBundleHash(*library, model, options.engine_config.options);
  if (!hash.ok()) return Shortened(hash.status(), options, *library);
  return EnginePlace{.library = *std::move(library), .bundle_hash = *hash};
}

WorkerConfig MakeConfig(const WorkerOptions& options, const EnginePlace& engine,
                        std::shared_ptr<BlockingExecutor> readers, Outcome& outcome,
                        WorkerThreads& threads, ServiceManager& manager) {
  WorkerConfig config;
  config.make_engine = [library = engine.library, engine_config = options.engine_config]() mutable {
    NoteEngineThread(library);
    SendToLog(engine_config);
    absl::StatusOr<std::unique_ptr<Engine>> loaded = LoadEngine(library, engine_config);
    if (loaded.ok()) NoteUnusedDevice(**loaded, engine_config.device);
    return loaded;
  };
  config.engine_bundle_hash = engine.bundle_hash;
  config.media_root = options.media_root;
  config.model_root = options.model_root;
  config.readers = std::move(readers);
  config.threads = &threads;
  config.limits.max_transcriptions = options.max_transcriptions;
  // Inherited sockets are the only ones there will ever be.
  config.on_disconnect = options.frames_fd >= 0 ? OnDisconnect::kExit : options.on_disconnect;
  config.step_budget = options.step_budget;
  config.engine_stall = options.engine_stall;
  config.engine_kill = options.engine_kill;
  config.make_token = MakeLinkToken;
  config.on_exit = [&outcome](ExitCode code, std::string reason) {
    outcome.Set(code, std::move(reason));
  };
  config.on_progress = [&manager] { manager.Alive(); };
  config.on_engine_stuck = [](absl::Duration age) { ReportStuckEngineAndAbort(age); };
  return config;
}

absl::Status StartAndWait(caf::actor_system& system, const Supervisor& supervisor) {
  caf::scoped_actor self(system);
  absl::Status status;
  compat::Request(self.ptr(), supervisor, absl::Hours(1), StartWorker{})
      .receive([](const WorkerStarted&) {},
               [&status](const caf::error& error) { status = ToStatus(error); });
  return status;
}

// Ends the process without its destructors, once the log is read or its reader's time is over.
[[noreturn]] void LeaveNow(int code) {
  FlushLog(kLogPatience);
  std::_Exit(code);
}

// Ends the process at a signal that comes while the engine is made: nobody is served yet, and what
// reads a model cannot be interrupted. Nobody else touches `sockets` meanwhile.
std::function<void(int)> LeaveAtSignal(Sockets& sockets) {
  return [&sockets](int signal) {
    spdlog::info("signal.received signal={} action=exit", signal);
    sockets.listener.reset();  // removes the file
    const int code = static_cast<int>(ExitCode::kOk);
    spdlog::info("worker.exit code={} reason=\"told to stop before the engine was loaded\"", code);
    LeaveNow(code);
  };
}

ConnectionSorter::Callbacks SorterCallbacks(const Supervisor& supervisor,
                                            const std::shared_ptr<DescriptorPoller>& poller) {
  ConnectionSorter::Callbacks callbacks;
  callbacks.on_frames = [supervisor, poller](OwnedFd socket, std::string received) {
    absl::StatusOr<FramesConnected> connected =
        WatchFrames(*poller, std::move(socket), std::move(received));
    if (connected.ok()) compat::SendFromOutside(supervisor, *std::move(connected));
  };
  callbacks.on_descriptors = [supervisor, poller](const linkw::LinkToken& token, OwnedFd socket) {
    absl::StatusOr<std::unique_ptr<FdChannel>> channel =
        WatchDescriptors(*poller, std::move(socket));
    if (channel.ok()) {
      compat::SendFromOutside(supervisor,
                              DescriptorsConnected{.token = token, .channel = *std::move(channel)});
    }
  };
  return callbacks;
}

// Starts the thread that takes connections until the listener is shut down.
absl::StatusOr<std::thread> Listen(UnixListener& listener, const WorkerOptions& options,
                                   const Supervisor& supervisor,
                                   const std::shared_ptr<DescriptorPoller>& poller) {
  try {
    return std::thread([&listener, who = WhoMayConnect(options, listener.mode()),
                        callbacks = SorterCallbacks(supervisor, poller)]() mutable {
      ConnectionSorter(listener, std::move(who), std::move(callbacks)).Run();
    });
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no thread to take connections with: ", error.what()));
  }
}

// Turns signals into orders until the worker has ended. Each further signal is more impatient.
void WaitForEnd(SignalWaiter& signals, const Supervisor& supervisor, const Outcome& outcome,
                absl::Duration drain_patience, const ServiceManager& manager) {
  int count = 0;
  while (!outcome.exited()) {
    const std::optional<int> signal = signals.Wait();
    if (!signal) continue;
    ++count;
    if (count > 2) std::_Exit(128 + *signal);
    if (count == 1) manager.Stopping();
    const bool gentle = *signal != SIGINT && count == 1;
    spdlog::info("signal.received signal={} action={}", *signal, gentle ? "drain" : "cancel");
    compat::SendFromOutside(
        supervisor,
        ShutDown{.scope = gentle ? DrainScope::kNothing : DrainScope::kEverything,
                 .patience = gentle ? drain_patience
                                    : (count == 1 ? kCancelPatience : absl::ZeroDuration())});
  }
}

// Actors that hang (an engine that does not return) must not keep the process: it ends anyway. By a
// signal: there may be no thread left to wait with.
std::atomic<int> leave_code;
void LeaveSoon(int code) {
  leave_code = code;
  std::signal(SIGALRM, [](int) { std::_Exit(leave_code); });
  alarm(kTeardownSeconds);
}

absl::Status CheckThreadRoom() {
  if (HasThreadRoom(kWorkerThreads)) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("the worker needs ", kWorkerThreads,
                   " threads and may not have them: see the limits of processes and of memory "
                   "(pids.max of the cgroup, ulimit -u, ulimit -v)"));
}

}  // namespace

int RunWorker(const WorkerOptions& options, ServiceManager& manager) {
  absl::StatusOr<SignalWaiter> signals = SignalWaiter::Create();
  if (!signals.ok()) return Fail(kExitCannotStart, "worker.cannot_start", signals.status());
  if (absl::Status roots = CheckRoots(options); !roots.ok()) {
    return Fail(kExitCannotStart, "worker.cannot_start", roots);
  }
  if (absl::Status room = CheckThreadRoom(); !room.ok()) {
    return Fail(kExitCannotStart, "worker.cannot_start", room);
  }
  const auto poller = std::make_shared<DescriptorPoller>();
  absl::StatusOr<Sockets> sockets = OpenSockets(options, *poller);
  if (!sockets.ok()) return Fail(kExitCannotStart, "worker.cannot_start", sockets.status());
  std::optional<SignalWatch> loading(std::in_place, *signals, LeaveAtSignal(*sockets));
  NoteTooManyThreads(options.engine_config.threads);
  ModelFiles model_files(options.engine_config);  // before they are read
  const absl::StatusOr<EnginePlace> engine = FindEngine(options);
  if (!engine.ok()) return Fail(kExitEngineNotLoaded, "engine.not_found", engine.status());

  Outcome outcome(*signals);  // outlives the actors, which may say more than main waits for
  caf::actor_system_config caf_config;
  compat::UseSharingScheduler(caf_config, kPoolThreads);
  caf::actor_system system(caf_config);
  WorkerThreads threads(system, poller);
  auto progress = std::make_shared<EngineProgress>();
  NoteEngineProgress(progress);
  auto readers = std::make_shared<BlockingThreadPool>();
  Supervisor supervisor =
      compat::Spawn(system, compat::Placement::kDetached, SupervisorBehavior,
                    MakeConfig(options, *engine, readers, outcome, threads, manager), progress);
  SetAtEndOf(supervisor, outcome);
  spdlog::info("engine.loading engine=\"{}\"", Printable(engine->library));
  const absl::Status started = StartAndWait(system, supervisor);
  loading.reset();
  if (!started.ok()) {
    const int code = Fail(kExitEngineNotLoaded, "engine.not_loaded",
                          Shortened(started, options, engine->library));
    caf::anon_send_exit(supervisor, caf::exit_reason::user_shutdown);
    LeaveSoon(code);
    return code;
  }
  const ModelWatch model_watch(std::move(model_files));
  std::thread listening;
  if (sockets->listener != nullptr) {
    absl::StatusOr<std::thread> thread = Listen(*sockets->listener, options, supervisor, poller);
    if (!thread.ok()) {
      const int code = Fail(kExitCannotStart, "worker.cannot_start", thread.status());
      caf::anon_send_exit(supervisor, caf::exit_reason::user_shutdown);
      LeaveSoon(code);
      return code;
    }
    listening = *std::move(thread);
    spdlog::info("worker.ready listen=\"{}\" pid={}", Printable(sockets->listener->path()),
                 getpid());
  } else {
    compat::SendFromOutside(supervisor, *std::exchange(sockets->inherited, std::nullopt));
    spdlog::info("worker.ready frames_fd={} fds_fd={} pid={}", options.frames_fd, options.fds_fd,
                 getpid());
  }
  manager.Ready(absl::StrCat("serving ", engine->library));
  WaitForEnd(*signals, supervisor, outcome, options.drain_patience, manager);
  manager.Stopping();
  supervisor = nullptr;
  if (listening.joinable()) {
    sockets->listener->Shutdown();
    listening.join();
    sockets->listener.reset();
  }
  const int code = static_cast<int>(outcome.code());
  LeaveSoon(code);
  const size_t left_behind = readers->Stop(kReadersPatience);
  if (left_behind > 0) spdlog::warn("readers.left_behind threads={}", left_behind);
  spdlog::info("worker.exit code={} reason=\"{}\"", code, Printable(outcome.reason()));
  const bool in_order = outcome.code() == ExitCode::kOk || outcome.code() == ExitCode::kDrainCut;
  if (!in_order || left_behind > 0) LeaveNow(code);
  return code;
}

}  // namespace superfluid
