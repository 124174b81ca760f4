#include "tests/stress/watch.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "protocol/client/link_client.h"

namespace superfluid::stress {
namespace {

constexpr absl::Duration kEvery = absl::Milliseconds(100);

}  // namespace

uint64_t ResidentBytes(pid_t pid) {
  std::ifstream statm(absl::StrCat("/proc/", pid, "/statm"));
  uint64_t total = 0;
  uint64_t resident = 0;
  if (!(statm >> total >> resident)) return 0;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

Watch::Watch(const std::string& socket, pid_t pid, WatchLimits limits, Tally& tally)
    : socket_(socket),
      pid_(pid),
      limits_(limits),
      tally_(tally),
      start_(ResidentBytes(pid)),
      peak_(start_),
      thread_([this] { Run(); }) {}

Watch::~Watch() {
  stop_.Notify();
  thread_.join();
}

void Watch::Run() {
  linkw::LinkClientOptions options;
  options.role = linkw::Role::kObserver;
  options.client_name = "soak-watch";
  const auto client = linkw::LinkClient::Connect(socket_, options);
  if (!client.ok()) {
    return tally_.Fail(absl::StrCat("an observer: ", client.status().ToString()));
  }
  while (!stop_.WaitForNotificationWithTimeout(kEvery)) {
    const absl::Time begin = absl::Now();
    const auto pong = (*client)->Ping();
    if (!pong.ok()) return tally_.Fail(absl::StrCat("PING: ", pong.status().ToString()));
    const absl::Duration took = absl::Now() - begin;
    tally_.Time("ping.answered", took);
    if (took > limits_.slowest_pong) {
      tally_.Fail(absl::StrCat("PING was answered after ", absl::FormatDuration(took)));
    }
    Look(*pong);
  }
}

void Watch::Look(const linkw::Pong& pong) {
  if (pong.engine_steps < last_.engine_steps || pong.engine_busy_us < last_.engine_busy_us) {
    tally_.Fail("a counter of PONG went back");
  }
  last_ = pong;
  const uint64_t now = ResidentBytes(pid_);
  peak_ = std::max<uint64_t>(peak_, now);
  if (now > start_ + limits_.most_growth && now <= start_ + limits_.most_growth * 2) {
    tally_.Fail(
        absl::StrCat("resident memory grew from ", start_ >> 20, " to ", now >> 20, " MiB"));
  }
}

}  // namespace superfluid::stress
