#include "tools/worker/worker_process.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
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
#include "actors/runtime/thread_room.h"
#include "actors/runtime/worker_threads.h"
#include "actors/supervision/supervisor.h"
#include "engine/audio/blocking_executor.h"
#include "engine/audio/blocking_thread_pool.h"
#include "engine/loader/bundle_memory.h"
#include "engine/loader/loader.h"
#include "protocol/transport/unix_listener.h"
#include "spdlog/spdlog.h"
#include "tools/worker/crash_report.h"
#include "tools/worker/engine_help.h"
#include "tools/worker/engine_log.h"
#include "tools/worker/log_line.h"
#include "tools/worker/model_watch.h"
#include "tools/worker/outcome.h"
#include "tools/worker/sandbox.h"
#include "tools/worker/signals.h"
#include "tools/worker/token.h"
#include "tools/worker/worker_log.h"
#include "tools/worker/worker_sockets.h"

namespace superfluid {
namespace {

constexpr int kExitEngineNotLoaded = static_cast<int>(ExitCode::kEngineNotLoaded);
constexpr absl::Duration kCancelPatience = absl::Seconds(2);  // SIGINT
constexpr unsigned kTeardownSeconds = 5;
constexpr absl::Duration kReadersPatience = absl::Seconds(1);

// That the worker itself needs: the pool, the clock of the actor system, the supervisor, the hosted
// threads, the sorter of connections, and what hashes the model while it loads.
constexpr size_t kWorkerThreads = 9;

// The pool serves transcribers and state ops (which map memory).
constexpr size_t kPoolThreads = 2;

// Says once why the worker cannot start: in the log, or plainly if there is none.
int Fail(int code, const char* what, const absl::Status& status) {
  if (spdlog::should_log(spdlog::level::err)) {
    spdlog::error("{} error=\"{}\"", what, Printable(status.message()));
  } else if (TheLogStyle().format == LogFormat::kJson) {
    const absl::string_view why = status.message();
    LogPlainly(LogLine("error", what).Text("error", {why.data(), why.size()}).End(TheLogStyle()));
  } else {
    LogPlainly(std::string(absl::StrCat("superfluid_worker: ", status.message(), "\n")));
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

// Returns the path of the engine's library.
absl::StatusOr<std::string> FindEngine(const WorkerOptions& options) {
  absl::StatusOr<std::string> library = FindLibrary(options);
  if (!library.ok()) return library.status();
  const std::string& model = options.engine_config.model_path;
  std::error_code error;
  if (!model.empty() && !std::filesystem::exists(model, error)) {
    return absl::NotFoundError(
        absl::StrCat("--model ", model, ": there is no such file or folder"));
  }
  return library;
}

// Hears how far the engine has come; loads it on the thread that calls the factory.
EngineFactory LoadOf(const WorkerOptions& options, const std::string& library,
                     std::shared_ptr<EngineProgress> progress) {
  return [&options, library, progress = std::move(progress)] {
    EngineConfig engine_config = options.engine_config;
    engine_config.threads = ComputeThreads(engine_config.threads);
    NoteEngineThread(library);
    SendToLog(engine_config);
    engine_config.on_loading = [progress](uint32_t permille) { progress->SetLoaded(permille); };
    absl::StatusOr<std::unique_ptr<Engine>> loaded = LoadEngine(library, engine_config);
    if (!loaded.ok()) loaded = Shortened(loaded.status(), options, library);
    if (loaded.ok()) NoteUnusedDevice(**loaded, engine_config.device);
    return loaded;
  };
}

// Hashes what the engine is made of, or remembers what it hashed before.
std::function<absl::StatusOr<linkw::Hash>()> HashOf(const WorkerOptions& options,
                                                    const std::string& library) {
  return [&options, library]() -> absl::StatusOr<linkw::Hash> {
    absl::StatusOr<linkw::Hash> hash =
        RememberedBundleHash({.folder = BundleMemoryFolder()}, library,
                             options.engine_config.model_path, options.engine_config.options);
    if (!hash.ok()) return Shortened(hash.status(), options, library);
    return hash;
  };
}

std::string WhereItListens(const WorkerOptions& options, const Sockets& sockets) {
  if (sockets.listener == nullptr) {
    return absl::StrCat("frames_fd=", options.frames_fd, " fds_fd=", options.fds_fd);
  }
  return absl::StrCat("listen=\"", Printable(sockets.listener->path()), "\"");
}

// Ends the process without its destructors, once the log is read or its reader's time is over.
[[noreturn]] void LeaveNow(int code) {
  FlushLog(kLogPatience);
  std::_Exit(code);
}

// `where`: what the log says of the sockets.
WorkerConfig MakeConfig(const WorkerOptions& options, const std::string& library,
                        const std::string& where, const std::shared_ptr<EngineProgress>& progress,
                        std::shared_ptr<BlockingExecutor> readers, Outcome& outcome,
                        WorkerThreads& threads, ServiceManager& manager) {
  WorkerConfig config;
  config.make_engine = LoadOf(options, library, progress);
  config.hash_bundle = HashOf(options, library);
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
  config.on_loading = [&manager](uint32_t permille) { manager.Loading(permille); };
  config.on_ready = [&options, &outcome, &manager, where, library] {
    // Whoever is served meets a confined process.
    const absl::Status confined =
        Confine({.profile = options.sandbox, .notifies = manager.present()});
    if (!confined.ok()) LeaveNow(Fail(kExitCannotStart, "worker.cannot_start", confined));
    outcome.SetReady();
    spdlog::info("worker.ready {} pid={}", where, getpid());
    manager.Ready(absl::StrCat("serving ", library));
  };
  config.on_engine_stuck = [](absl::Duration age) { ReportStuckEngineAndAbort(age); };
  return config;
}

ConnectionSorter::Callbacks SorterCallbacks(const Supervisor& supervisor,
                                            const std::shared_ptr<DescriptorPoller>& poller) {
  ConnectionSorter::Callbacks callbacks;
  callbacks.on_frames = [supervisor, poller](AcceptedConnection connection, std::string received) {
    absl::StatusOr<FramesConnected> connected =
        WatchFrames(*poller, std::move(connection.socket), std::move(received));
    if (connected.ok()) connected->peer_pid = connection.pid;
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

// Actors that hang (an engine that does not return) must not keep the process: it ends anyway. By a
// signal: there may be no thread left to wait with.
std::atomic<int> leave_code;
void LeaveSoon(int code) {
  leave_code = code;
  std::signal(SIGALRM, [](int) { std::_Exit(leave_code); });
  alarm(kTeardownSeconds);
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
    const bool loads = !outcome.ready();
    const bool gentle = *signal != SIGINT && count == 1;
    spdlog::info("signal.received signal={} action={}", *signal,
                 loads ? "exit" : (gentle ? "drain" : "cancel"));
    if (loads) LeaveSoon(static_cast<int>(ExitCode::kOk));
    compat::SendFromOutside(
        supervisor,
        ShutDown{.scope = gentle ? DrainScope::kNothing : DrainScope::kEverything,
                 .patience = gentle ? drain_patience
                                    : (count == 1 ? kCancelPatience : absl::ZeroDuration())});
  }
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
  ModelFiles model_files(options.engine_config);  // before they are read
  const absl::StatusOr<std::string> library = FindEngine(options);
  if (!library.ok()) return Fail(kExitEngineNotLoaded, "engine.not_found", library.status());

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
                    MakeConfig(options, *library, WhereItListens(options, *sockets), progress,
                               readers, outcome, threads, manager),
                    progress);
  SetAtEndOf(supervisor, outcome);
  spdlog::info("engine.loading engine=\"{}\"", Printable(*library));
  compat::SendFromOutside(supervisor, StartWorker{});
  const ModelWatch model_watch(std::move(model_files));
  std::thread listening;
  if (sockets->listener != nullptr) {
    absl::StatusOr<std::thread> thread = Listen(*sockets->listener, options, supervisor, poller);
    if (!thread.ok()) {
      sockets->listener.reset();
      LeaveNow(Fail(kExitCannotStart, "worker.cannot_start", thread.status()));
    }
    listening = *std::move(thread);
  } else {
    compat::SendFromOutside(supervisor, *std::exchange(sockets->inherited, std::nullopt));
  }
  WaitForEnd(*signals, supervisor, outcome, options.drain_patience, manager);
  manager.Stopping();
  supervisor = nullptr;
  if (listening.joinable()) {
    sockets->listener->Shutdown();
    listening.join();
    sockets->listener.reset();
  }
  const int code = static_cast<int>(outcome.code());
  std::string reason = outcome.reason();
  if (outcome.code() == ExitCode::kEngineNotLoaded) {
    Fail(code, "engine.not_loaded", absl::UnknownError(std::exchange(reason, "it did not load")));
  }
  LeaveSoon(code);
  const size_t left_behind = readers->Stop(kReadersPatience);
  if (left_behind > 0) spdlog::warn("readers.left_behind threads={}", left_behind);
  spdlog::info("worker.exit code={} reason=\"{}\"", code, Printable(reason));
  // An engine that still loads does not let go of its thread; one that did not load has.
  const bool in_order =
      outcome.ready() ? outcome.code() == ExitCode::kOk || outcome.code() == ExitCode::kDrainCut
                      : outcome.code() == ExitCode::kEngineNotLoaded;
  if (!in_order || left_behind > 0) LeaveNow(code);
  return code;
}

}  // namespace superfluid
