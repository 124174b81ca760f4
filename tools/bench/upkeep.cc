#include "tools/bench/upkeep.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tools/bench/fleet.h"
#include "tools/bench/host.h"
#include "tools/bench/placement.h"
#include "tools/bench/tick_contestants.h"
#include "tools/bench/wire_client.h"

namespace superfluid::bench {
namespace {

Spread Exactly(double value) { return {value, value, value}; }

// A worker with the null engine and its driver.
struct Driven {
  Server server;
  std::unique_ptr<WireClient> client;
};

absl::StatusOr<Driven> StartDriven(const ScratchFolder& folder, const std::string& name) {
  absl::StatusOr<Server> server = StartWorker(folder, name, kNullEngine);
  if (!server.ok()) return server.status();
  auto client = WireClient::Connect(server->socket, linkw::Role::kDriver);
  if (!client.ok()) return client.status();
  if (absl::Status status = (*client)->AttachTickMemory(); !status.ok()) return status;
  return Driven{*std::move(server), *std::move(client)};
}

// Ticks with a pause before each, so that every thread of the worker has gone to sleep.
absl::Status MeasureTicks(const Effort& effort, Driven& worker, size_t lanes, Report& report) {
  const auto tick = WireTick::Make("worker", *worker.client, lanes);
  if (!tick.ok()) return tick.status();
  std::vector<double> cpu;
  std::vector<double> sleeps;
  constexpr int kParts = 5;
  const int ticks = effort.paced_ticks / kParts;
  for (int part = 0; part < kParts; ++part) {
    const ProcessUsage before = ReadUsage(worker.server.child.pid());
    for (int i = 0; i < ticks; ++i) {
      absl::SleepFor(absl::Milliseconds(1));
      if (absl::Status status = (*tick)->RoundTrip(); !status.ok()) return status;
    }
    absl::SleepFor(absl::Milliseconds(2));  // the last one's threads go to sleep, too
    const ProcessUsage after = ReadUsage(worker.server.child.pid());
    cpu.push_back((after.cpu_us - before.cpu_us) / ticks);
    sleeps.push_back(static_cast<double>(after.sleeps - before.sleeps) / ticks);
  }
  const std::string of = absl::StrCat("tick, ", lanes, lanes == 1 ? " lane" : " lanes");
  report.figures.push_back({of + ": worker's CPU", "one core", "us", SpreadOf(cpu),
                            lanes == 256 ? std::optional<double>(50) : std::nullopt});
  report.figures.push_back({of + ": sleeps of its threads", "one core", "", SpreadOf(sleeps),
                            lanes == 1 ? std::optional<double>(1) : std::nullopt});
  return absl::OkStatus();
}

absl::Status MeasureCosts(const Effort& effort, Report& report) {
  const ScratchFolder folder;
  absl::StatusOr<Driven> worker = StartDriven(folder, "cost");
  if (!worker.ok()) return worker.status();
  const std::vector<pid_t> servers = {worker->server.child.pid()};
  absl::Status status = Apply(PlacementsOn(report.cpus).front(), servers);
  for (const size_t lanes : {1, 16, 64, 256}) {
    if (status.ok()) status = MeasureTicks(effort, *worker, lanes, report);
  }
  status.Update(Apply({"", report.cpus, report.cpus}, {}));
  return status;
}

// Connects so many observers, and counts those that are served in the end.
absl::Status MeasureObservers(const Effort& effort, Report& report) {
  const ScratchFolder folder;
  absl::StatusOr<Driven> worker = StartDriven(folder, "many");
  if (!worker.ok()) return worker.status();
  std::vector<std::unique_ptr<WireClient>> observers;
  for (int i = 0; i < effort.observers; ++i) {
    auto observer = WireClient::Connect(worker->server.socket, linkw::Role::kObserver);
    if (observer.ok()) observers.push_back(*std::move(observer));
  }
  int served = 0;
  for (const auto& observer : observers) served += observer->Ping().ok() ? 1 : 0;
  const ProcessUsage usage = ReadUsage(worker->server.child.pid());
  const std::string asked = absl::StrCat(effort.observers, " observers");
  report.figures.push_back(
      {absl::StrCat(asked, ": refused"), "", "", Exactly(effort.observers - served), 0});
  report.figures.push_back({absl::StrCat(asked, ": threads"), "", "", Exactly(usage.threads), 12});
  return absl::OkStatus();
}

absl::Status MeasureIdle(const Effort& effort, Report& report) {
  const ScratchFolder folder;
  absl::StatusOr<Driven> worker = StartDriven(folder, "idle");
  if (!worker.ok()) return worker.status();
  std::vector<std::unique_ptr<WireClient>> observers;
  for (int i = 0; i < 9; ++i) {
    auto observer = WireClient::Connect(worker->server.socket, linkw::Role::kObserver);
    if (!observer.ok()) return observer.status();
    observers.push_back(*std::move(observer));
  }
  absl::SleepFor(absl::Milliseconds(200));
  std::vector<double> percent;
  for (int second = 0; second < effort.idle_seconds; ++second) {
    const ProcessUsage before = ReadUsage(worker->server.child.pid());
    absl::SleepFor(absl::Seconds(1));
    const ProcessUsage after = ReadUsage(worker->server.child.pid());
    percent.push_back((after.cpu_us - before.cpu_us) / 1e4);
  }
  report.figures.push_back({"idle with 10 links: CPU of a core", "", "%", SpreadOf(percent), 0.5});
  return absl::OkStatus();
}

absl::Status SendRequests(WireClient& client, std::string_view payload, int requests) {
  for (int i = 0; i < requests; ++i) {
    const absl::StatusOr<uint64_t> seq = client.Send(linkw::MessageType::kTickSubmit, payload);
    if (!seq.ok()) return seq.status();
    const absl::StatusOr<linkw::Frame> frame = client.ReceiveAnswer(*seq);
    if (!frame.ok()) return frame.status();
  }
  return absl::OkStatus();
}

// Ticks whose deadlines lie an hour ahead: whatever is kept until then is kept for each of them.
absl::Status MeasureGrowth(const Effort& effort, Report& report) {
  const ScratchFolder folder;
  absl::StatusOr<Driven> worker = StartDriven(folder, "grow");
  if (!worker.ok()) return worker.status();
  linkw::TickSubmit first = FirstTick(1);
  const absl::StatusOr<linkw::WorkerMessage> answer = worker->client->Request(first);
  if (absl::Status status = CheckResult(answer); !status.ok()) return status;
  absl::StatusOr<linkw::TickSubmit> tick =
      NextTick(std::move(first), std::get<linkw::TickResult>(*answer));
  if (!tick.ok()) return tick.status();
  tick->plan.deadline_us = 3'600'000'000;
  const std::string payload = linkw::Serialize(linkw::DriverMessage(*tick)).payload;
  const int warm_up = effort.requests / 10;
  absl::Status status = SendRequests(*worker->client, payload, warm_up);
  if (!status.ok()) return status;
  const ProcessUsage before = ReadUsage(worker->server.child.pid());
  status = SendRequests(*worker->client, payload, effort.requests);
  if (!status.ok()) return status;
  const ProcessUsage after = ReadUsage(worker->server.child.pid());
  const std::string name = absl::StrCat(effort.requests, " requests with deadlines: ");
  report.figures.push_back(
      {name + "more memory", "", "KiB",
       Exactly(static_cast<double>(after.rss_kib) - static_cast<double>(before.rss_kib)), 256});
  report.figures.push_back(
      {name + "more threads", "", "", Exactly(after.threads - before.threads), 0});
  return absl::OkStatus();
}

}  // namespace

absl::Status MeasureUpkeep(const Effort& effort, Report& report) {
  for (auto* const measure : {&MeasureCosts, &MeasureObservers, &MeasureIdle, &MeasureGrowth}) {
    if (absl::Status status = measure(effort, report); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace superfluid::bench
