#include "tools/superfluidd/daemon.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "actors/runtime/printable.h"
#include "tools/decode/decoder_program.h"
#include "tools/superfluidd/api/daemon_metrics.h"
#include "tools/superfluidd/api/router.h"
#include "tools/superfluidd/daemon_log.h"
#include "tools/superfluidd/fleet/fleet.h"
#include "tools/superfluidd/http/http_session.h"
#include "tools/superfluidd/net/asio_loop.h"
#include "tools/worker/log_line.h"
#include "tools/worker/signals.h"

namespace superfluid::daemon {
namespace {

constexpr int kCannotStart = 1;
constexpr int kDrainCut = 75;
constexpr int kSignalBase = 128;
constexpr absl::Duration kStopPatience = absl::Seconds(5);     // of workers
constexpr absl::Duration kSessionPatience = absl::Seconds(5);  // for responses to be read
constexpr absl::Duration kLook = absl::Milliseconds(20);
constexpr absl::Duration kTellPeriod = absl::Seconds(5);  // the service manager, if it listens
constexpr int kSignsInTime = 4;                           // of its watchdog

size_t CountAccelerators() {
  std::error_code error;
  const std::filesystem::directory_iterator gpus("/proc/driver/nvidia/gpus", error);
  if (error) return 0;
  return static_cast<size_t>(std::distance(begin(gpus), end(gpus)));
}

size_t CountCpus() {
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0) return 1;
  return static_cast<size_t>(CPU_COUNT(&cpus));
}

LogFormat FormatOf(const DaemonConfig& config) {
  return config.log_format == "json" ? LogFormat::kJson : LogFormat::kLogfmt;
}

int Fail(const DaemonConfig& config, const absl::Status& status) {
  const std::string why(status.message());
  if (FormatOf(config) == LogFormat::kJson) {
    LogLine line("error", "daemon.cannot_start");
    const LogStyle style = {.format = LogFormat::kJson, .worker = {}};
    std::fputs(std::string(line.Text("error", why).End(style)).c_str(), stderr);
  } else {
    std::fprintf(stderr, "superfluidd: %s\n", why.c_str());
  }
  return kCannotStart;
}

ApiConfig ApiOf(const DaemonConfig& config) {
  std::vector<ModelCatalog::Model> models;
  for (const ModelConfig& model : config.models) models.push_back({NameOf(model), model.aliases});
  ApiConfig api;
  api.models = ModelCatalog(std::move(models));
  api.keys = ApiKeys(config.keys);
  api.max_upload_bytes = config.max_upload_bytes;
  api.max_deadline = config.max_deadline;
  return api;
}

// The end of each request for the log and for the metrics.
class Observers final : public RequestObserver {
 public:
  Observers(DaemonLog& log, DaemonMetrics& metrics) : log_(log), metrics_(metrics) {}
  void OnRequestEnded(const SpeechRequest& request, const RequestOutcome& outcome) override {
    log_.Request(request, outcome);
    metrics_.OnRequestEnded(request, outcome);
  }

 private:
  DaemonLog& log_;
  DaemonMetrics& metrics_;
};

bool IsSame(const FleetWorker& a, const FleetWorker& b) {
  return a.model == b.model && a.places == b.places && a.command.program == b.command.program &&
         a.command.arguments == b.command.arguments && a.command.cpus == b.command.cpus;
}

// The parts, and the order in which they end: listening, requests, sessions, workers, the loop.
class Daemon {
 public:
  // `decoder`: superfluid_decode; empty: there is none.
  Daemon(const DaemonConfig& config, const std::vector<FleetWorker>& workers,
         const std::string& decoder, ReloadOptions reload, ServiceManager& manager)
      : config_(config),
        reload_(std::move(reload)),
        manager_(manager),
        workers_(workers),
        uploads_(std::make_shared<UploadBudget>(config.upload_memory_bytes)),
        log_(FormatOf(config)),
        fleet_({.workers = workers,
                .max_waiting = config.max_waiting,
                .max_waiting_of_tenant = config.max_waiting_of_key,
                .decoder = std::make_shared<UploadDecoder>(decoder, uploads_),
                .log = [this](const char* event,
                              const std::string& details) { log_.Event(event, details); }}),
        router_({.loop = &loop_,
                 .service = &fleet_,
                 .observer = std::make_shared<Observers>(log_, metrics_),
                 .metrics = &metrics_,
                 .uploads = uploads_,
                 .access_log = [this](const AccessRecord& record,
                                      const std::string& tenant) { log_.Access(record, tenant); },
                 .started_unix = absl::ToUnixSeconds(absl::Now())},
                std::make_shared<const ApiConfig>(ApiOf(config))),
        timer_(loop_.MakeTimer()),
        tell_timer_(loop_.MakeTimer()) {
    if (decoder.empty()) log_.Event("decoder.missing", "");
    sessions_.loop = &loop_;
    sessions_.handler = &router_;
    sessions_.uploads = uploads_;
  }

  absl::Status Listen() {
    for (const std::string& address : config_.listen) {
      const bool local = absl::StartsWith(address, "unix:");
      const TlsFiles tls = local ? TlsFiles{} : TlsFiles{config_.tls_certificate, config_.tls_key};
      absl::StatusOr<std::string> listening =
          loop_.Listen(address, tls, [this](std::unique_ptr<NetStream> stream) {
            std::make_shared<HttpSession>(sessions_, std::move(stream))->Start();
          });
      if (!listening.ok()) return listening.status();
      const char* scheme = tls.empty() ? "http" : "https";
      log_.Event("daemon.listening",
                 absl::StrCat("address=", *listening, " scheme=", scheme, " pid=", getpid()));
    }
    return absl::OkStatus();
  }

  // Returns the exit code.
  int Run() {
    fleet_.Start();
    manager_.Ready("listening");
    loop_.Post([this] { TellManager(); });
    loop_.Run();
    log_.Event("daemon.exit", cut_ ? "reason=\"open requests were cancelled\"" : "");
    log_.Flush();
    return cut_ ? kDrainCut : 0;
  }

  // Any thread.
  void OnSignal(int signal) {
    loop_.Post([this, signal] { End(signal); });
  }

 private:
  void End(int signal) {
    if (signal == SIGHUP) return Reload();
    if (++signals_ > 2) _exit(kSignalBase + signal);
    log_.Event("daemon.signal", absl::StrCat("signal=", signal));
    if (signals_ == 1) {
      told_to_cancel_ = signal == SIGINT;
      Drain();
    }
    if (signal == SIGINT || signals_ == 2) CancelOpen();
  }

  void CancelOpen() {
    const FleetSummary open = fleet_.Summary();
    cut_ |= !told_to_cancel_ && open.queued + open.active > 0;
    fleet_.CancelAll();
  }

  // Again and again: the loop turns, and the fleet's supervisor answers.
  void TellManager() {
    if (!manager_.present()) return;
    fleet_.Describe([this](const FleetView& view) {
      manager_.Alive();
      if (view.draining) return;
      const FleetSummary now = fleet_.Summary();
      manager_.Status(absl::StrCat(now.ready, " of ", now.workers, " workers ready, ", now.active,
                                   " requests active, ", now.queued, " queued"));
    });
    const absl::Duration period = manager_.watchdog() == absl::ZeroDuration()
                                      ? kTellPeriod
                                      : std::min(kTellPeriod, manager_.watchdog() / kSignsInTime);
    tell_timer_->Set(period, [this] { TellManager(); });
  }

  // Reads a small file; requests that are open keep what they began with.
  void Reload() {
    if (sessions_.draining) return;
    manager_.Reloading();
    ReadAgain();
    manager_.Ready("");
  }

  void ReadAgain() {
    const absl::StatusOr<DaemonOptions> options = reload_();
    absl::Status status = options.status();
    std::vector<FleetWorker> workers;
    if (status.ok()) {
      auto wanted = WorkersOf(options->config, CountAccelerators(), CountCpus());
      status = wanted.status();
      if (wanted.ok()) workers = *std::move(wanted);
    }
    if (status.ok() && workers.size() != workers_.size()) {
      status = absl::InvalidArgumentError("the number of workers changes with a restart only");
    }
    if (!status.ok()) {
      return log_.Event("config.refused",
                        absl::StrCat("error=\"", Printable(status.message()), "\""));
    }
    router_.SetConfig(std::make_shared<const ApiConfig>(ApiOf(options->config)));
    const bool same = std::equal(workers.begin(), workers.end(), workers_.begin(), IsSame);
    if (!same) fleet_.Replace(workers);
    workers_ = workers;
    log_.Event("config.reloaded", absl::StrCat("workers=", same ? "kept" : "replaced"));
  }

  void Drain() {
    manager_.Stopping();
    loop_.StopListening();
    sessions_.draining = true;
    ForEachSession([](HttpSession& session) { session.Drain(); });
    fleet_.Drain([this] { loop_.Post([this] { OnRequestsDone(); }); });
    timer_->Set(config_.drain, [this] { CancelOpen(); });
  }

  void OnRequestsDone() {
    sessions_until_ = loop_.Now() + kSessionPatience;
    AwaitSessions();
  }

  // Their last responses are on their way.
  void AwaitSessions() {
    if (!sessions_.open.empty() && loop_.Now() < sessions_until_) {
      return timer_->Set(kLook, [this] { AwaitSessions(); });
    }
    timer_->Cancel();
    tell_timer_->Cancel();
    ForEachSession([](HttpSession& session) { session.Close(); });
    fleet_.Stop(kStopPatience, [this] { loop_.Stop(); });
  }

  template <class Function>
  void ForEachSession(Function function) {
    const std::vector<std::shared_ptr<HttpSession>> open(sessions_.open.begin(),
                                                         sessions_.open.end());
    for (const auto& session : open) function(*session);
  }

  const DaemonConfig config_;
  const ReloadOptions reload_;
  ServiceManager& manager_;
  std::vector<FleetWorker> workers_;
  const std::shared_ptr<UploadBudget> uploads_;
  DaemonMetrics metrics_;
  DaemonLog log_;
  AsioLoop loop_;
  Fleet fleet_;
  Router router_;
  SessionContext sessions_;
  std::unique_ptr<LoopTimer> timer_;
  std::unique_ptr<LoopTimer> tell_timer_;
  int signals_ = 0;
  bool told_to_cancel_ = false;  // by the first signal
  bool cut_ = false;             // open requests were cancelled although they were to finish
  absl::Duration sessions_until_;
};

}  // namespace

int RunDaemon(const DaemonOptions& options, const ReloadOptions& reload, ServiceManager& manager) {
  const DaemonConfig& config = options.config;
  if (config.worker_program.empty()) {
    return Fail(config,
                absl::NotFoundError("superfluid_worker is not beside this program: give --worker"));
  }
  const absl::StatusOr<std::vector<FleetWorker>> workers =
      WorkersOf(config, CountAccelerators(), CountCpus());
  if (!workers.ok()) return Fail(config, workers.status());
  if (options.check_config) {
    std::printf("the configuration is good: %zu models, %zu workers\n", config.models.size(),
                workers->size());
    return 0;
  }
  absl::StatusOr<SignalWaiter> signals = SignalWaiter::Create();
  if (!signals.ok()) return Fail(config, signals.status());
  Daemon daemon(config, *workers, decode::FindDecoder().value_or(""), reload, manager);
  if (absl::Status status = daemon.Listen(); !status.ok()) return Fail(config, status);
  std::thread watch([&] {
    while (const std::optional<int> signal = signals->Wait()) daemon.OnSignal(*signal);
  });
  const int code = daemon.Run();
  signals->Wake();
  watch.join();
  return code;
}

}  // namespace superfluid::daemon
