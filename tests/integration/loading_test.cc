// The real worker while its engine is being loaded.

#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "protocol/messages/status.h"
#include "tests/integration/worker_process.h"

namespace superfluid {
namespace {

using linkw::EngineState;

std::vector<std::string> SlowSim(const std::string& load_ms,
                                 const std::string& more = "work=sleep") {
  return {"--engine", "sim", "--engine-option", "load_ms=" + load_ms, "--engine-option", more};
}

// An observer of a worker that loads; it can ping.
std::unique_ptr<linkw::LinkClient> Onlooker(const WorkerProcess& worker) {
  linkw::LinkClientOptions options;
  options.role = linkw::Role::kObserver;
  options.connect_timeout = absl::Seconds(60);
  options.wait_for_listener = true;
  options.accept_loading = true;
  absl::StatusOr<std::unique_ptr<linkw::LinkClient>> client =
      linkw::LinkClient::Connect(worker.socket(), options);
  EXPECT_TRUE(client.ok()) << client.status() << "\n" << worker.Log();
  return client.ok() ? *std::move(client) : nullptr;
}

TEST(LoadingTest, PingSaysHowFarItIsAndHelloWaits) {
  WorkerProcess worker(SlowSim("3000"));
  const auto onlooker = Onlooker(worker);
  ASSERT_NE(onlooker, nullptr);
  absl::StatusOr<linkw::Pong> pong = onlooker->Ping();
  ASSERT_TRUE(pong.ok()) << pong.status();
  EXPECT_EQ(pong->engine_state, EngineState::kLoading);
  EXPECT_LT(pong->load_permille, 1000U);
  EXPECT_EQ(pong->driver_pid, 0U);
  EXPECT_EQ(worker.Log().find("worker.ready"), std::string::npos);

  const auto driver = worker.Connect();
  ASSERT_NE(driver, nullptr);
  EXPECT_NE(driver->hello_ack().engine_bundle_hash, linkw::Hash{});
  pong = onlooker->Ping();
  ASSERT_TRUE(pong.ok()) << pong.status();
  EXPECT_EQ(pong->engine_state, EngineState::kIdle);
  EXPECT_GE(pong->uptime_ms, 3000U);
  EXPECT_EQ(pong->driver_pid, static_cast<uint32_t>(getpid()));
  EXPECT_GE(pong->driver_ms, 1U);
  EXPECT_EQ(pong->observers, 1U);
  EXPECT_NE(worker.Log().find("worker.ready"), std::string::npos);
}

TEST(LoadingTest, AClientWaitsForAsLongAsItIsToldTo) {
  WorkerProcess worker(SlowSim("3000"));
  linkw::LinkClientOptions options;
  options.role = linkw::Role::kObserver;
  options.connect_timeout = absl::Seconds(1);
  options.wait_for_listener = true;
  const absl::Status gave_up = linkw::LinkClient::Connect(worker.socket(), options).status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(gave_up)) << gave_up;
  EXPECT_NE(gave_up.message().find("still loads its engine"), std::string::npos) << gave_up;
  int told = 0;
  uint32_t last = 0;
  options.on_loading = [&](const linkw::Pong& pong) {
    ++told;
    EXPECT_GE(pong.load_permille, last);
    last = pong.load_permille;
    return true;
  };
  const auto client = linkw::LinkClient::Connect(worker.socket(), options);
  EXPECT_TRUE(client.ok()) << client.status();
  EXPECT_GT(told, 0);
}

TEST(LoadingTest, WhoWaitsIsToldWhyItDoesNotLoad) {
  WorkerProcess worker(SlowSim("1500", "fail_load=1"));
  linkw::LinkClientOptions options;
  options.connect_timeout = absl::Seconds(60);
  options.wait_for_listener = true;
  const absl::Status status = linkw::LinkClient::Connect(worker.socket(), options).status();
  EXPECT_EQ(linkw::FromAbsl(status), linkw::Status::kEngineFailed) << status;
  EXPECT_NE(status.message().find("the load failed, as asked for"), std::string::npos) << status;
  EXPECT_EQ(worker.Wait(), 3);
  EXPECT_NE(worker.Log().find("engine.not_loaded"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(worker.socket()));
}

TEST(LoadingTest, SigtermWhileItLoadsEndsItAndWhoWaits) {
  WorkerProcess worker(SlowSim("3600000"));
  const auto onlooker = Onlooker(worker);
  ASSERT_NE(onlooker, nullptr);
  ASSERT_TRUE(onlooker->Ping().ok());
  worker.Signal(SIGTERM);
  EXPECT_EQ(worker.Wait(), 0);
  while (onlooker->Ping().ok()) {
  }
  EXPECT_FALSE(onlooker->link_status().ok());
  EXPECT_NE(worker.Log().find("told to stop before the engine was loaded"), std::string::npos);
}

}  // namespace
}  // namespace superfluid
