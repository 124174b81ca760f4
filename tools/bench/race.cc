#include "tools/bench/race.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/bench/fleet.h"
#include "tools/bench/grpc_peer.h"
#include "tools/bench/placement.h"
#include "tools/bench/raw_peer.h"
#include "tools/bench/tick_contestants.h"
#include "tools/bench/turns.h"
#include "tools/bench/wire_client.h"
#include "tools/bench/zmq_peer.h"

namespace superfluid::bench {
namespace {

constexpr size_t kLaneCounts[] = {1, 16, 64, 256};

// The names of contestants.
constexpr char kRaw[] = "raw";
constexpr char kRawAgain[] = "raw again";
constexpr char kWorker[] = "worker";
constexpr char kWorkerOneLane[] = "worker, 1 lane";
constexpr char kWorkerCodec[] = "worker + codec";
constexpr char kWorkerLibrary[] = "worker + LinkClient";
constexpr char kClassic[] = "classic loop";
constexpr char kClassicCodec[] = "classic loop + codec";
constexpr char kGrpcUnary[] = "gRPC unary";
constexpr char kGrpcStreaming[] = "gRPC streaming";
constexpr char kZmq[] = "ZeroMQ";

using Contestants = std::vector<std::unique_ptr<Contestant>>;

// Keeps a contestant, or the first error that there was.
class Team {
 public:
  template <typename T>
  void Add(absl::StatusOr<std::unique_ptr<T>> contestant) {
    if (!contestant.ok()) {
      status_.Update(contestant.status());
      return;
    }
    contestants_.push_back(*std::move(contestant));
  }

  absl::StatusOr<std::vector<Timing>> Play(const TurnOptions& options) const {
    if (!status_.ok()) return status_;
    std::vector<Contestant*> players;
    players.reserve(contestants_.size());
    for (const auto& contestant : contestants_) players.push_back(contestant.get());
    return PlayInTurns(players, options);
  }

 private:
  Contestants contestants_;
  absl::Status status_;
};

// The servers, and what a driver holds of those that it alone may drive.
struct Fleet {
  Server raw, raw_again, worker, library_worker, classic, grpc, zmq;
  std::unique_ptr<WireClient> worker_client = nullptr;
  std::unique_ptr<WireClient> classic_client = nullptr;

  std::vector<pid_t> pids() const {
    std::vector<pid_t> all;
    for (const Server* server :
         {&raw, &raw_again, &worker, &library_worker, &classic, &grpc, &zmq}) {
      all.push_back(server->child.pid());
    }
    return all;
  }
};

absl::StatusOr<std::unique_ptr<Fleet>> StartFleet(const ScratchFolder& folder) {
  absl::StatusOr<Server> raw = StartPeer(folder, "raw", "raw");
  absl::StatusOr<Server> again = StartPeer(folder, "raw2", "raw");
  absl::StatusOr<Server> worker = StartWorker(folder, "worker", kNullEngine);
  absl::StatusOr<Server> library = StartWorker(folder, "worker2", kNullEngine);
  absl::StatusOr<Server> classic = StartPeer(folder, "classic", "classic");
  absl::StatusOr<Server> grpc = StartPeer(folder, "grpc", "grpc");
  absl::StatusOr<Server> zmq = StartPeer(folder, "zmq", "zmq");
  for (const auto* server : {&raw, &again, &worker, &library, &classic, &grpc, &zmq}) {
    if (!server->ok()) return server->status();
  }
  auto fleet = std::make_unique<Fleet>(Fleet{*std::move(raw), *std::move(again), *std::move(worker),
                                             *std::move(library), *std::move(classic),
                                             *std::move(grpc), *std::move(zmq)});
  auto client = WireClient::Connect(fleet->worker.socket, linkw::Role::kDriver);
  if (!client.ok()) return client.status();
  fleet->worker_client = *std::move(client);
  if (absl::Status status = fleet->worker_client->AttachTickMemory(); !status.ok()) return status;
  client = WireClient::Connect(fleet->classic.socket, linkw::Role::kDriver);
  if (!client.ok()) return client.status();
  fleet->classic_client = *std::move(client);
  return fleet;
}

// One placement's part of the report.
class Course {
 public:
  Course(const Effort& effort, const Placement& placement, Fleet& fleet, Report& report)
      : effort_(effort), placement_(placement), fleet_(fleet), report_(report) {}

  absl::Status Run() {
    if (absl::Status status = RunPings(); !status.ok()) return status;
    for (const size_t lanes : kLaneCounts) {
      if (absl::Status status = RunTicks(lanes); !status.ok()) return status;
    }
    report_.controls.push_back({placement_.name, SpreadOf(control_)});
    return absl::OkStatus();
  }

 private:
  void AddRaw(Team& team, size_t request, size_t answer) {
    team.Add(RawContestant::Connect(kRaw, fleet_.raw.socket, request, answer));
    team.Add(RawContestant::Connect(kRawAgain, fleet_.raw_again.socket, request, answer));
  }

  absl::Status RunPings() {
    WireClient& client = *fleet_.worker_client;
    if (absl::Status status = client.Ping(); !status.ok()) return status;
    Team team;
    AddRaw(team, linkw::kFrameHeaderBytes, client.last_frame_bytes());
    team.Add<PingContestant>(std::make_unique<PingContestant>(kWorker, client));
    team.Add<PingContestant>(std::make_unique<PingContestant>(kClassic, *fleet_.classic_client));
    const auto timings = team.Play({.rounds = effort_.rounds, .operations = effort_.operations});
    if (!timings.ok()) return timings.status();
    Note(0, *timings);
    const bool one_core = placement_.name == "one core";
    AddRatio("PING / raw", *timings, kWorker, kRaw,
             one_core ? std::optional<double>(1.5) : std::nullopt);
    AddRatio("PING / classic loop", *timings, kWorker, kClassic);
    return absl::OkStatus();
  }

  absl::Status RunTicks(size_t lanes) {
    Team team;
    WireClient& client = *fleet_.worker_client;
    auto wire = WireTick::Make(kWorker, client, lanes);
    if (!wire.ok()) return wire.status();
    AddRaw(team, (*wire)->submit_bytes(), (*wire)->result_bytes());
    team.Add(std::move(wire));
    if (lanes == 256) team.Add(WireTick::Make(kWorkerOneLane, client, 1));
    team.Add(CodecTick::Make(kWorkerCodec, client, lanes));
    team.Add(LibraryTick::Make(kWorkerLibrary, fleet_.library_worker.socket, lanes));
    team.Add(WireTick::Make(kClassic, *fleet_.classic_client, lanes));
    team.Add(CodecTick::Make(kClassicCodec, *fleet_.classic_client, lanes));
    team.Add(ConnectGrpc(kGrpcUnary, fleet_.grpc.socket, GrpcCall::kUnary, lanes));
    team.Add(ConnectGrpc(kGrpcStreaming, fleet_.grpc.socket, GrpcCall::kStreaming, lanes));
    team.Add(ConnectZmq(kZmq, fleet_.zmq.socket, lanes));
    // gRPC and ZeroMQ have just started threads.
    if (absl::Status status = Apply(placement_, fleet_.pids()); !status.ok()) return status;
    const int operations = lanes < 64 ? effort_.operations : std::max(5, effort_.operations / 2);
    const auto timings = team.Play({.rounds = effort_.rounds, .operations = operations});
    if (!timings.ok()) return timings.status();
    Note(lanes, *timings);
    AddTickRatios(lanes, *timings);
    return absl::OkStatus();
  }

  void AddTickRatios(size_t lanes, const std::vector<Timing>& timings) {
    const std::string tick = absl::StrCat("tick, ", lanes, lanes == 1 ? " lane" : " lanes", " / ");
    AddRatio(tick + kRaw, timings, kWorker, kRaw, lanes == 1 ? RawTarget() : std::nullopt);
    if (lanes == 256) AddRatio(tick + "1 lane", timings, kWorker, kWorkerOneLane, 2);
    AddRatio(tick + kClassic, timings, kWorker, kClassic,
             lanes == 1 ? std::optional<double>(1.2) : std::nullopt);
    AddRatio(tick + kGrpcUnary, timings, kWorkerCodec, kGrpcUnary, 0.2);
    AddRatio(tick + kGrpcStreaming, timings, kWorkerCodec, kGrpcStreaming);
    AddRatio(tick + kZmq, timings, kWorkerCodec, kZmq, 0.6);
    if (lanes == 1) AddRatio("tick by LinkClient, 1 lane / raw", timings, kWorkerLibrary, kRaw);
  }

  std::optional<double> RawTarget() const {
    if (placement_.name == "one core") return 1.6;
    if (placement_.name == "unpinned") return 1.8;
    return std::nullopt;
  }

  void AddRatio(const std::string& name, const std::vector<Timing>& timings, const char* of,
                const char* to, std::optional<double> target = std::nullopt) {
    const Spread ratio = RatioOf(Named(timings, of).rounds, Named(timings, to).rounds);
    report_.figures.push_back({name, placement_.name, "x", ratio, target});
  }

  // Keeps the round trips themselves, and what the two equal contestants say.
  void Note(size_t lanes, const std::vector<Timing>& timings) {
    for (const Timing& timing : timings) {
      report_.round_trips.push_back({placement_.name, lanes, timing.name, timing.all});
    }
    const std::vector<double>& first = Named(timings, kRaw).rounds;
    const std::vector<double>& second = Named(timings, kRawAgain).rounds;
    for (size_t i = 0; i < first.size(); ++i) control_.push_back(second[i] / first[i]);
  }

  const Effort& effort_;
  const Placement& placement_;
  Fleet& fleet_;
  Report& report_;
  std::vector<double> control_;
};

}  // namespace

absl::Status Race(const Effort& effort, Report& report) {
  const ScratchFolder folder;
  absl::StatusOr<std::unique_ptr<Fleet>> fleet = StartFleet(folder);
  if (!fleet.ok()) return fleet.status();
  for (const Placement& placement : PlacementsOn(report.cpus)) {
    absl::Status status = Apply(placement, (*fleet)->pids());
    if (status.ok()) status = Course(effort, placement, **fleet, report).Run();
    if (!status.ok()) return status;
  }
  return Apply({"", report.cpus, report.cpus}, {});
}

}  // namespace superfluid::bench
