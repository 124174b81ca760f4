#include "tools/ctl/commands/metrics_command.h"

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <variant>

#include "tools/ctl/base/connect.h"
#include "tools/ctl/base/file_output.h"
#include "tools/ctl/base/monotonic.h"
#include "tools/ctl/commands/top_sample.h"
#include "tools/ctl/formats/metrics_text.h"

namespace superfluid::ctl {
namespace {

// Telemetry comes once a second.
constexpr absl::Duration kTelemetryTimeout = absl::Seconds(5);

struct MetricsOptions {
  std::string output;
};

// The first telemetry, for one who waits for it.
class FirstTelemetry {
 public:
  void Note(const linkw::WorkerMessage& message) {
    const auto* telemetry = std::get_if<linkw::Telemetry>(&message);
    if (telemetry == nullptr) return;
    const std::lock_guard lock(mutex_);
    store_.Add(*telemetry, MonotonicNow());
    changed_.notify_all();
  }

  // Returns none if nothing came in time.
  std::map<std::string, uint64_t> Await() {
    std::unique_lock lock(mutex_);
    linkw::Deadline::After(kTelemetryTimeout).Await(changed_, lock, [this] {
      return store_.Newest().first.has_value();
    });
    const auto newest = store_.Newest().first;
    return newest.has_value() ? newest->counters : std::map<std::string, uint64_t>();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  TelemetryStore store_;
};

ExitCode WriteFile(const std::string& path, const std::string& text,
                   const CommandContext& context) {
  absl::StatusOr<FileOutput> file = FileOutput::Create(path);
  absl::Status status = file.status();
  if (status.ok()) status = file->Write(text);
  if (status.ok()) status = file->Commit();
  return status.ok() ? ExitCode::kOk : context.Fail(LocalFailure(status));
}

ExitCode RunMetrics(const MetricsOptions& options, const CommandContext& context) {
  FirstTelemetry telemetry;  // outlives the client, whose thread notes it
  ConnectResult connected = ConnectObserver(
      context.global, {"telemetry"},
      [&telemetry](const linkw::WorkerMessage& message) { telemetry.Note(message); });
  if (const auto* failure = std::get_if<Failure>(&connected)) return context.Fail(*failure);
  auto& client = *std::get<std::unique_ptr<linkw::LinkClient>>(connected);
  const absl::StatusOr<linkw::Pong> pong = client.Ping();
  if (!pong.ok()) return context.Fail(CallFailure("metrics", pong.status()));
  const std::string text = MetricsText(client.hello_ack(), *pong, telemetry.Await());
  return options.output.empty() ? context.Print(text) : WriteFile(options.output, text, context);
}

}  // namespace

CommandBody DefineMetrics(CLI::App& app) {
  auto options = std::make_shared<MetricsOptions>();
  app.add_option("--output", options->output,
                 "Write to this file, which is there as a whole or not at all");
  app.footer(
      "Works while another client drives the worker. Takes up to a second: the worker tells its\n"
      "counters once a second. The text is OpenMetrics; the textfile collector of node_exporter\n"
      "takes it as well (--output FOLDER/superfluid.prom).\n");
  return [options](const CommandContext& context) { return RunMetrics(*options, context); };
}

}  // namespace superfluid::ctl
