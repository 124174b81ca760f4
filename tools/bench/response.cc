#include "tools/bench/response.h"

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "tools/bench/cancel.h"
#include "tools/bench/sim_driver.h"
#include "tools/bench/tick_contestants.h"
#include "tools/bench/turns.h"

namespace superfluid::bench {
namespace {

constexpr absl::Duration kStep = absl::Milliseconds(20);
constexpr size_t kBulkBytes = (size_t{16} << 20) - 1024;
constexpr int kTicksInFlight = 2;  // one in the engine, one that waits: there is always a step

// The ticks of one driver that have no answer yet.
class Ticks {
 public:
  explicit Ticks(SimDriver& driver) : driver_(driver) {}

  // Sends ticks until so many are on the way, or waits until no more are.
  absl::Status Keep(int wanted) {
    for (; in_flight_ < wanted; ++in_flight_) {
      const absl::StatusOr<uint64_t> seq = driver_.SendTick(in_flight_);
      if (!seq.ok()) return seq.status();
    }
    while (in_flight_ > wanted) {
      if (const auto frame = Receive(); !frame.ok()) return frame.status();
    }
    return absl::OkStatus();
  }

  absl::Status Await(uint64_t seq) {
    while (true) {
      const absl::StatusOr<linkw::Frame> frame = Receive();
      if (!frame.ok()) return frame.status();
      if (frame->header.correlation == seq) return absl::OkStatus();
    }
  }

 private:
  absl::StatusOr<linkw::Frame> Receive() {
    absl::StatusOr<linkw::Frame> frame = driver_.client().Receive();
    if (frame.ok() && frame->type() == linkw::MessageType::kTickResult) --in_flight_;
    return frame;
  }

  SimDriver& driver_;
  int in_flight_ = 0;
};

// PINGs of the driver with so many ticks on the way.
class SteppingPing : public Contestant {
 public:
  SteppingPing(std::string name, SimDriver& driver, Ticks& ticks, int in_flight)
      : name_(std::move(name)), driver_(driver), ticks_(ticks), in_flight_(in_flight) {}
  std::string name() const override { return name_; }

  absl::Status RoundTrip() override {
    const absl::StatusOr<uint64_t> seq = driver_.client().Send(linkw::MessageType::kPing, {});
    if (!seq.ok()) return seq.status();
    return ticks_.Await(*seq);
  }
  // Not part of what is timed.
  absl::Status Prepare() override { return ticks_.Keep(in_flight_); }

 private:
  const std::string name_;
  SimDriver& driver_;
  Ticks& ticks_;
  const int in_flight_;
};

// Sends large frames one after the other, and ticks, on a thread of its own, while it is let.
class BulkSender {
 public:
  explicit BulkSender(SimDriver& driver)
      : driver_(driver), ticks_(driver), thread_([this] { Run(); }) {}
  ~BulkSender() {
    {
      const absl::MutexLock lock(&mutex_);
      ends_ = true;
    }
    thread_.join();
  }

  // Returns once frames are sent, or none is any more; or what went wrong.
  absl::Status Let(bool send) {
    const absl::MutexLock lock(&mutex_);
    wanted_ = send;
    const auto settled = [this, send]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return sends_ == send || !status_.ok();
    };
    mutex_.Await(absl::Condition(&settled));
    return status_;
  }

 private:
  void Run() {
    const std::string payload =
        linkw::Serialize(linkw::DriverMessage(linkw::StateSyncRequest{linkw::ForwardStage{
                             .tokens = {1}, .hidden_in = std::string(kBulkBytes, 'h')}}))
            .payload;
    while (AwaitTurn()) {
      absl::Status status = ticks_.Keep(kTicksInFlight);
      if (status.ok()) status = SendOne(payload);
      const absl::MutexLock lock(&mutex_);
      status_.Update(status);
      if (!status_.ok()) return;
    }
  }

  // False: the end.
  bool AwaitTurn() {
    if (const absl::MutexLock lock(&mutex_); !wanted_) sends_ = false;
    const auto turn = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return wanted_ || ends_; };
    const absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(&turn));
    sends_ = !ends_;
    return sends_;
  }

  absl::Status SendOne(const std::string& payload) {
    const absl::StatusOr<uint64_t> seq =
        driver_.client().Send(linkw::MessageType::kStateSyncRequest, payload);
    if (!seq.ok()) return seq.status();
    return ticks_.Await(*seq);
  }

  SimDriver& driver_;
  Ticks ticks_;
  absl::Mutex mutex_;
  bool wanted_ ABSL_GUARDED_BY(mutex_) = false;
  bool sends_ ABSL_GUARDED_BY(mutex_) = false;
  bool ends_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

// PINGs of an observer while large frames are sent, or while nothing is.
class BulkPing : public Contestant {
 public:
  BulkPing(std::string name, WireClient& observer, BulkSender& sender, bool while_sending)
      : name_(std::move(name)), observer_(observer), sender_(sender), sending_(while_sending) {}
  std::string name() const override { return name_; }
  absl::Status RoundTrip() override { return observer_.Ping(); }
  absl::Status Prepare() override { return sender_.Let(sending_); }

 private:
  const std::string name_;
  WireClient& observer_;
  BulkSender& sender_;
  const bool sending_;
};

absl::Status AddRatio(const Effort& effort, const std::string& name, Contestant& busy,
                      Contestant& idle, Report& report) {
  Contestant* const players[] = {&busy, &idle};
  const auto timings = PlayInTurns(players, {.rounds = effort.rounds, .operations = effort.pings});
  if (!timings.ok()) return timings.status();
  const Spread ratio = RatioOf((*timings)[0].rounds, (*timings)[1].rounds);
  report.figures.push_back({name, "", "x", ratio, 1.5});
  return absl::OkStatus();
}

absl::Status MeasurePingInStep(const Effort& effort, Report& report) {
  const ScratchFolder folder;
  const auto driver = SimDriver::Start(folder, "step", kStep, kTicksInFlight);
  if (!driver.ok()) return driver.status();
  Ticks ticks(**driver);
  SteppingPing busy("PING in a step", **driver, ticks, kTicksInFlight);
  SteppingPing idle("PING", **driver, ticks, 0);
  return AddRatio(effort, "PING in steps of 20 ms / idle", busy, idle, report);
}

absl::Status MeasurePingInBulk(const Effort& effort, Report& report) {
  const ScratchFolder folder;
  const auto driver = SimDriver::Start(folder, "bulk", kStep, kTicksInFlight);
  if (!driver.ok()) return driver.status();
  const auto observer = WireClient::Connect((*driver)->server().socket, linkw::Role::kObserver);
  if (!observer.ok()) return observer.status();
  BulkSender sender(**driver);
  BulkPing busy("PING in bulk", **observer, sender, true);
  BulkPing idle("PING", **observer, sender, false);
  return AddRatio(effort, "PING in steps and 16 MiB frames / idle", busy, idle, report);
}

}  // namespace

absl::Status MeasureResponse(const Effort& effort, Report& report) {
  for (auto* const measure : {&MeasurePingInStep, &MeasurePingInBulk, &MeasureCancels}) {
    if (absl::Status status = measure(effort, report); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace superfluid::bench
