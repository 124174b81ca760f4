#include "tools/ctl/commands/top_command.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "tools/ctl/base/connect.h"
#include "tools/ctl/base/monotonic.h"
#include "tools/ctl/base/time_option.h"
#include "tools/ctl/commands/top_sample.h"
#include "tools/ctl/commands/top_text.h"
#include "tools/ctl/terminal/interruption.h"
#include "tools/ctl/terminal/live_screen.h"

namespace superfluid::ctl {
namespace {

constexpr char kTelemetryFeature[] = "telemetry";
constexpr uint32_t kMinIntervalMs = 10;
constexpr uint32_t kMaxIntervalMs = 3'600'000;

constexpr char kFooter[] =
    "Works while another client drives the worker, and while its engine is inside a step. On a\n"
    "terminal the view is redrawn in place until q or Ctrl-C; elsewhere, or with --json, each\n"
    "interval gives one line, the first after the first interval, since rates need two looks.\n"
    "Rates of tokens, ticks and state ops come from the worker's telemetry, which it sends once a\n"
    "second; \"-\" until it has come twice.\n";

struct TopOptions {
  uint32_t interval_ms = 1000;
  uint32_t count = 0;  // 0: no end
  bool json = false;
};

// What ends the wait between two looks early.
class Alarm {
 public:
  Alarm() : wake_(eventfd(0, EFD_CLOEXEC)) {}

  void Ring() {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake_.get(), &one, sizeof(one));
  }

  // False: somebody rang, or pressed q. `keys_fd`: -1 for none.
  bool Sleep(absl::Duration duration, int keys_fd) {
    const absl::Duration end = MonotonicNow() + duration;
    std::array<pollfd, 2> fds = {pollfd{.fd = wake_.get(), .events = POLLIN, .revents = 0},
                                 pollfd{.fd = keys_fd, .events = POLLIN, .revents = 0}};
    while (true) {
      const absl::Duration left = std::max(end - MonotonicNow(), absl::ZeroDuration());
      const int64_t ms = absl::ToInt64Milliseconds(absl::Ceil(left, absl::Milliseconds(1)));
      const int ready = poll(fds.data(), fds.size(), static_cast<int>(ms));
      if (ready == 0) return true;
      if (ready < 0) continue;  // EINTR
      if (fds[0].revents != 0) return false;
      char key = 0;
      const ssize_t got = read(keys_fd, &key, 1);
      if (got == 1 && (key == 'q' || key == 'Q')) return false;
      if (got <= 0) fds[1].fd = -1;  // nobody presses keys any more
    }
  }

 private:
  OwnedFd wake_;
};

class TopRun {
 public:
  TopRun(const TopOptions& options, const CommandContext& context)
      : options_(options),
        context_(context),
        on_terminal_(!options.json && CanRedraw(context.console.out->fd())) {}

  ExitCode Run() {
    ConnectResult connected =
        ConnectObserver(context_.global, {kTelemetryFeature}, [this](const auto& message) {
          const auto* telemetry = std::get_if<linkw::Telemetry>(&message);
          if (telemetry != nullptr) telemetry_.Add(*telemetry, MonotonicNow());
        });
    if (const auto* failure = std::get_if<Failure>(&connected)) return context_.Fail(*failure);
    client_ = std::move(std::get<std::unique_ptr<linkw::LinkClient>>(connected));
    return Watch();
  }

 private:
  // The screen is given back before anything else is said, and at once when a signal comes: a
  // second signal ends the process on the spot.
  ExitCode Watch() {
    if (on_terminal_) screen_.emplace(*context_.console.out, context_.console.in_fd);
    std::optional<Failure> failure;
    Interruption interruption({.after = std::nullopt, .output_fd = context_.console.out->fd()});
    {
      const Interruption::Stage stage(interruption, [this] {
        if (screen_.has_value()) screen_->Restore();
        alarm_.Ring();
      });
      failure = LookAgainAndAgain(interruption);
    }
    if (screen_.has_value()) screen_->Restore();
    if (interruption.reason() == StopReason::kLocalFailure) {
      return context_.Fail(LocalFailure(interruption.local_failure()));
    }
    if (interruption.reason() == StopReason::kInterrupt) return ExitCode::kOk;  // how it ends
    if (interruption.stopped()) return StopExitCode(interruption.reason());
    return failure.has_value() ? context_.Fail(*failure) : ExitCode::kOk;
  }

  std::optional<Failure> LookAgainAndAgain(Interruption& interruption) {
    // Without a terminal nobody presses keys: what is in standard input is not for us.
    const int keys_fd =
        on_terminal_ && IsTerminal(context_.console.in_fd) ? context_.console.in_fd : -1;
    for (uint32_t shown = 0;; ++shown) {
      const absl::StatusOr<linkw::Pong> pong = client_->Ping();
      if (!pong.ok()) return CallFailure("top", pong.status());
      const PongSample sample = {MonotonicNow(), *pong};
      // The first look is for the rates of the second; people want to see something at once.
      if (shown > 0 || on_terminal_) Show(sample, interruption);
      before_ = sample;
      if (options_.count != 0 && shown == options_.count) return std::nullopt;
      if (!alarm_.Sleep(absl::Milliseconds(options_.interval_ms), keys_fd)) return std::nullopt;
    }
  }

  void Show(const PongSample& sample, Interruption& interruption) {
    const auto [counters, counters_before] = telemetry_.Newest();
    const TopFigures figures = MakeTopFigures(sample, before_, counters, counters_before);
    absl::Status status;
    if (on_terminal_) {
      const linkw::HelloAck& hello = client_->hello_ack();
      status = screen_->Draw(
          TopView(TopTitle(context_.global.socket_path, hello), RowsOf(hello), figures));
    } else {
      status = context_.console.out->Write(options_.json ? JsonLine(TopJson(figures))
                                                         : TopLine(figures));
    }
    if (!status.ok()) interruption.Fail(status);
  }

  const TopOptions& options_;
  const CommandContext& context_;
  const bool on_terminal_;
  TelemetryStore telemetry_;
  std::optional<LiveScreen> screen_;
  Alarm alarm_;
  std::optional<PongSample> before_;
  std::unique_ptr<linkw::LinkClient> client_;  // last: its thread adds telemetry
};

}  // namespace

CommandBody DefineTop(CLI::App& app) {
  auto options = std::make_shared<TopOptions>();
  TopOptions* values = options.get();
  AddMsOption(app, "--interval", "Between two looks",
              {.min = kMinIntervalMs, .max = kMaxIntervalMs},
              [values](uint32_t ms) { values->interval_ms = ms; })
      ->default_str("1000");
  app.add_option("--count", options->count, "End after so many intervals; 0: never")
      ->check(WholeNumber(0, std::numeric_limits<uint32_t>::max()))
      ->capture_default_str();
  app.add_flag("--json", options->json, "Print one JSON object a line and interval");
  app.footer(kFooter);
  return [options](const CommandContext& context) { return TopRun(*options, context).Run(); };
}

}  // namespace superfluid::ctl
