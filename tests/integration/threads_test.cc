// On which threads the real worker does its work, by how often they sleep and by what goes on while
// the engine computes. No test here measures time.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "protocol/client/link_client.h"
#include "protocol/driver/driver_rings.h"
#include "protocol/messages/messages.h"
#include "tests/integration/worker_process.h"

namespace superfluid {
namespace {

using linkw::LinkClient;
using linkw::Status;

struct ThreadFigures {
  std::string name;
  int64_t sleeps = 0;  // voluntary switches
};

// Of all threads of a process, by their number.
std::map<std::string, ThreadFigures> ThreadsOf(pid_t pid) {
  std::map<std::string, ThreadFigures> threads;
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks)) {
    ThreadFigures& thread = threads[task.path().filename()];
    std::ifstream(task.path() / "comm") >> thread.name;
    std::ifstream status(task.path() / "status");
    for (std::string word; status >> word;) {
      if (word == "voluntary_ctxt_switches:") status >> thread.sleeps;
    }
  }
  return threads;
}

// How often each thread of the process slept since `before`, by name.
std::map<std::string, int64_t> SleepsSince(const std::map<std::string, ThreadFigures>& before,
                                           pid_t pid) {
  std::map<std::string, int64_t> sleeps;
  for (const auto& [id, thread] : ThreadsOf(pid)) {
    const auto it = before.find(id);
    sleeps[thread.name] += thread.sleeps - (it == before.end() ? 0 : it->second.sleeps);
  }
  return sleeps;
}

// A driver with rings and one sequence.
class TickDriver {
 public:
  explicit TickDriver(WorkerProcess& worker) : client_(worker.Connect()) {
    auto rings = linkw::DriverRings::Attach(*client_);
    EXPECT_TRUE(rings.ok()) << rings.status();
    rings_ = *std::move(rings);
    auto created = client_->Call(linkw::CreateSequence{});
    EXPECT_TRUE(created.ok()) << created.status();
    sequence_ = std::get<linkw::CreateSequenceResult>(*created).sequence;
  }

  LinkClient& client() { return *client_; }

  // A tick that draws one token.
  std::unique_ptr<linkw::ReplyStream> Start() {
    linkw::Lane lane;
    lane.lane_tag = linkw::LaneTag{++tag_};
    lane.sequence = sequence_;
    lane.input = *rings_->WriteTokens({1});
    lane.max_tokens = 1;
    linkw::TickSubmit tick;
    tick.plan.tick_id = tag_;
    tick.plan.lanes = {lane};
    auto stream = client_->Start(tick);
    EXPECT_TRUE(stream.ok()) << stream.status();
    return *std::move(stream);
  }

  static void ExpectDone(linkw::ReplyStream& tick) {
    const auto answer = tick.Next();
    ASSERT_TRUE(answer.ok()) << answer.status();
    const auto* result = std::get_if<linkw::TickResult>(&*answer);
    ASSERT_NE(result, nullptr) << answer->index();
    EXPECT_EQ(result->status, Status::kOk) << result->message;
  }

 private:
  std::unique_ptr<LinkClient> client_;
  std::unique_ptr<linkw::DriverRings> rings_;
  linkw::SequenceId sequence_{};
  uint64_t tag_ = 0;
};

bool HasAnswer(linkw::ReplyStream& stream) {
  return stream.Next(linkw::Deadline::After(absl::ZeroDuration())).ok();
}

std::vector<std::string> SimWithTicksOf(absl::Duration tick) {
  return {"--engine", "sim", "--engine-option",
          "tick_us=" + std::to_string(absl::ToInt64Microseconds(tick))};
}

// The idle engine's thread reads the socket, computes and writes the answer: it sleeps once a tick,
// and nobody else is woken.
TEST(ThreadsTest, ALoneTickPutsOneThreadToSleepOnce) {
  constexpr int kTicks = 400;
  WorkerProcess worker(SimWithTicksOf(absl::ZeroDuration()));
  TickDriver driver(worker);
  for (int i = 0; i < 20; ++i) TickDriver::ExpectDone(*driver.Start());
  const auto before = ThreadsOf(worker.pid());
  for (int i = 0; i < kTicks; ++i) TickDriver::ExpectDone(*driver.Start());
  std::map<std::string, int64_t> sleeps = SleepsSince(before, worker.pid());
  // Others sleep by the clock, however many ticks there are: more often where the machine is busy
  // and the ticks take longer. A thread that a tick wakes would sleep at least once for each.
  ASSERT_TRUE(sleeps.contains("engine") && sleeps.contains("link"));
  EXPECT_LE(sleeps.at("engine"), kTicks + kTicks / 2);
  EXPECT_LE(sleeps.at("link"), kTicks / 2);
  EXPECT_LE(sleeps["caf.multiplexer"], kTicks / 2) << "the pool";
}

TEST(ThreadsTest, APingIsAnsweredWhileTheEngineIsInALongStep) {
  WorkerProcess worker(SimWithTicksOf(absl::Seconds(3)));
  TickDriver driver(worker);
  const auto tick = driver.Start();
  linkw::Pong pong;
  do {
    const auto answer = driver.client().Ping();
    ASSERT_TRUE(answer.ok()) << answer.status();
    pong = *answer;
  } while (pong.step_age_us == 0);
  EXPECT_FALSE(HasAnswer(*tick)) << "it runs";
  TickDriver::ExpectDone(*tick);
}

TEST(ThreadsTest, TheFirstOfTwoTicksIsAnsweredBeforeTheSecondStep) {
  WorkerProcess worker(SimWithTicksOf(absl::Seconds(1)));
  TickDriver driver(worker);
  const auto first = driver.Start();
  const auto second = driver.Start();
  TickDriver::ExpectDone(*first);
  EXPECT_FALSE(HasAnswer(*second));
  TickDriver::ExpectDone(*second);
}

TEST(ThreadsTest, FortyTicksInARowAreAnsweredInOrder) {
  WorkerProcess worker(SimWithTicksOf(absl::Microseconds(200)));
  TickDriver driver(worker);
  std::vector<std::unique_ptr<linkw::ReplyStream>> ticks;
  for (int i = 0; i < 40; ++i) ticks.push_back(driver.Start());
  for (size_t i = 0; i < ticks.size(); ++i) TickDriver::ExpectDone(*ticks[i]);
}

TEST(ThreadsTest, TwoHundredObserversAreServedByTwelveThreads) {
  constexpr size_t kObservers = 200;
  WorkerProcess worker({"--engine", "sim"});
  TickDriver driver(worker);
  std::vector<std::unique_ptr<LinkClient>> observers;
  while (observers.size() < kObservers) {
    observers.push_back(worker.Connect(linkw::Role::kObserver));
    ASSERT_NE(observers.back(), nullptr);
  }
  for (const auto& observer : observers) EXPECT_TRUE(observer->Ping().ok());
  // The thread that hashed the engine's library ends when it had nothing to do for ten seconds.
  const absl::Time patience = absl::Now() + absl::Seconds(30);
  auto threads = ThreadsOf(worker.pid());
  while (threads.size() > 12 && absl::Now() < patience) {
    TickDriver::ExpectDone(*driver.Start());
    threads = ThreadsOf(worker.pid());
  }
  std::string names;
  for (const auto& [id, thread] : threads) names += thread.name + " ";
  EXPECT_LE(threads.size(), 12U) << names;
}

}  // namespace
}  // namespace superfluid
