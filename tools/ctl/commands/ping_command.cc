#include "tools/ctl/commands/ping_command.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tools/ctl/base/connect.h"
#include "tools/ctl/base/monotonic.h"
#include "tools/ctl/base/time_option.h"
#include "tools/ctl/formats/unit_text.h"
#include "tools/ctl/formats/worker_text.h"

namespace superfluid::ctl {
namespace {

constexpr uint32_t kMaxPings = 1'000'000;

struct PingOptions {
  uint32_t count = 1;
  uint32_t interval_ms = 1000;
  bool json = false;
};

std::string SummaryText(std::vector<absl::Duration> round_trips) {
  std::sort(round_trips.begin(), round_trips.end());
  const size_t half = round_trips.size() / 2;
  const absl::Duration median = round_trips.size() % 2 == 1
                                    ? round_trips[half]
                                    : (round_trips[half - 1] + round_trips[half]) / 2;
  return absl::StrCat(CountText(round_trips.size(), "answer"), ": fastest ",
                      DurationText(round_trips.front()), ", median ", DurationText(median),
                      ", slowest ", DurationText(round_trips.back()), "\n");
}

bool IsBroken(linkw::EngineState state) {
  return state == linkw::EngineState::kStalled || state == linkw::EngineState::kFailed;
}

// The pings of one run of the command.
class Pinger {
 public:
  Pinger(const PingOptions& options, const CommandContext& context, linkw::LinkClient& client)
      : options_(options), context_(context), client_(client) {}

  ExitCode Run() {
    for (uint32_t i = 0; i < options_.count; ++i) {
      if (i > 0) absl::SleepFor(absl::Milliseconds(options_.interval_ms));
      if (const ExitCode code = PingOnce(); code != ExitCode::kOk) return code;
    }
    if (options_.count > 1 && !options_.json) {
      if (const ExitCode code = context_.Print(SummaryText(round_trips_)); code != ExitCode::kOk) {
        return code;
      }
    }
    return Verdict();
  }

 private:
  ExitCode PingOnce() {
    const absl::Duration sent = MonotonicNow();
    const absl::StatusOr<linkw::Pong> pong = client_.Ping();
    if (!pong.ok()) return context_.Fail(CallFailure("ping", pong.status()));
    round_trips_.push_back(MonotonicNow() - sent);
    last_state_ = pong->engine_state;
    return context_.Print(options_.json ? JsonLine(PongJson(*pong, round_trips_.back()))
                                        : PongText(*pong, round_trips_.back()));
  }

  ExitCode Verdict() const {
    if (!IsBroken(last_state_)) return ExitCode::kOk;
    if (last_state_ == linkw::EngineState::kStalled) {
      return context_.Fail(RequestFailure("ping", linkw::Status::kEngineStalled,
                                          "a step takes longer than it should"));
    }
    return context_.Fail(
        RequestFailure("ping", linkw::Status::kEngineFailed,
                       "the engine is not healthy, and the worker has to be restarted"));
  }

  const PingOptions& options_;
  const CommandContext& context_;
  linkw::LinkClient& client_;
  std::vector<absl::Duration> round_trips_;
  linkw::EngineState last_state_ = linkw::EngineState::kIdle;
};

ExitCode RunPing(const PingOptions& options, const CommandContext& context) {
  ConnectResult connected = ConnectToPing(context.global);
  if (const auto* failure = std::get_if<Failure>(&connected)) return context.Fail(*failure);
  auto& client = *std::get<std::unique_ptr<linkw::LinkClient>>(connected);
  return Pinger(options, context, client).Run();
}

}  // namespace

CommandBody DefinePing(CLI::App& app) {
  auto options = std::make_shared<PingOptions>();
  app.add_option("--count", options->count, "How often to ask")
      ->check(WholeNumber(1, kMaxPings))
      ->capture_default_str();
  PingOptions* values = options.get();
  AddMsOption(app, "--interval", "Pause between two", {.min = 0}, [values](uint32_t ms) {
    values->interval_ms = ms;
  })->default_str("1000");
  app.add_flag("--json", options->json, "Print one JSON object a line and ping");
  app.footer(
      "Works while another client drives the worker, and while its engine is inside a step or "
      "still\n"
      "being loaded; with --wait it waits until that is done.\n"
      "Exit code 1 if the engine is stalled or failed: fit for a health check.\n");
  return [options](const CommandContext& context) { return RunPing(*options, context); };
}

}  // namespace superfluid::ctl
