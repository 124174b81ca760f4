// A worker that starts.

#include "tests/conformance/checks_loading.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "tests/conformance/connect.h"
#include "tests/conformance/link.h"

namespace superfluid::conformance {
namespace {

// A worker from its start on; killed with this object.
class Starting {
 public:
  explicit Starting(Context& context)
      : context_(context),
        socket_(absl::StrCat(context.worker().socket(), ".", ++made_)),
        process_(Command(context, socket_), context.worker().log()) {}
  ~Starting() { unlink(socket_.c_str()); }

  // As soon as it listens.
  Peer Connect() {
    while (true) {
      OwnedFd socket = ConnectUnix(socket_);
      if (socket.valid()) return Peer(std::move(socket), context_.until());
      if (!process_.Running()) Fail("the worker ended at its start: " + process_.End());
      if (Clock::now() > context_.until()) Fail("the worker does not listen");
      poll(nullptr, 0, 1);
    }
  }
  Process& process() { return process_; }

 private:
  static std::vector<std::string> Command(Context& context, const std::string& socket) {
    if (!context.worker().ours()) Skip("the worker is not this suite's own");
    std::vector<std::string> command = context.worker().command();
    command.insert(command.end(), {"--listen", socket});
    return command;
  }

  static inline int made_ = 0;
  Context& context_;
  const std::string socket_;
  Process process_;
};

void PingsUntilItIsLoaded(Context& context) {
  Starting worker(context);
  Peer peer = worker.Connect();
  const uint64_t hello = peer.Send(MakeHello(linkw::Role::kObserver));
  uint32_t loaded = 0;
  while (true) {
    const uint64_t ping = peer.Send(linkw::Ping{});
    const auto pong = peer.Await<linkw::Pong>(ping);
    if (pong.engine_state != linkw::EngineState::kLoading) break;
    Expect(pong.load_permille >= loaded && pong.load_permille <= 1000,
           absl::StrCat("load_permille ", pong.load_permille, " after ", loaded));
    loaded = pong.load_permille;
    peer.Listen(absl::Milliseconds(5));
  }
  peer.Await<linkw::HelloAck>(hello);
}

void HelloWaits(Context& context) {
  Starting worker(context);
  Peer driver = worker.Connect();
  const uint64_t hello = driver.Send(MakeHello(linkw::Role::kDriver));
  const uint64_t call = driver.Send(linkw::StateSyncRequest{linkw::Capabilities{}});
  Peer observer = worker.Connect();
  observer.Await<linkw::HelloAck>(observer.Send(MakeHello(linkw::Role::kObserver)));
  driver.Await<linkw::HelloAck>(hello);
  ExpectEq(driver.Await<linkw::StateSyncResult>(call).status, Status::kOk, "CAPABILITIES");
}

void ManyWait(Context& context) {
  Starting worker(context);
  std::vector<std::pair<std::unique_ptr<Peer>, uint64_t>> waiting;
  for (int i = 0; i < 40; ++i) {
    auto peer = std::make_unique<Peer>(worker.Connect());
    const uint64_t hello = peer->Send(MakeHello(linkw::Role::kObserver));
    waiting.emplace_back(std::move(peer), hello);
  }
  int served = 0;
  for (const auto& [peer, hello] : waiting) {
    const Received answer = peer->Take([](const Received&) { return true; }, "an answer to HELLO");
    if (std::holds_alternative<linkw::HelloAck>(answer.message)) {
      ExpectEq(answer.correlation, hello, "correlation of HELLO_ACK_W");
      ++served;
    } else {
      const auto* error = std::get_if<linkw::Error>(&answer.message);
      Expect(error != nullptr && error->fatal && error->status == Status::kBusy,
             "HELLO is answered by neither HELLO_ACK_W nor a fatal BUSY");
    }
  }
  Expect(served > 0, "not one of those that waited was served");
}

void ToldToEnd(Context& context) {
  Starting worker(context);
  Peer peer = worker.Connect();
  peer.Send(MakeHello(linkw::Role::kObserver));
  kill(worker.process().pid(), SIGTERM);
  while (worker.process().Running()) {
    if (Clock::now() > context.until()) Fail("SIGTERM did not end it");
    poll(nullptr, 0, 1);
  }
  ExpectEq(worker.process().End(), std::string("exit code 0"), "the end at SIGTERM");
}

}  // namespace

void AddLoadingChecks(std::vector<Check>& checks) {
  checks.push_back({"LOAD-1 LOAD-2", "PING from the start on", PingsUntilItIsLoaded});
  checks.push_back({"LOAD-1 HELLO-8", "HELLO at the start", HelloWaits});
  checks.push_back({"LOAD-5", "many HELLOs at the start", ManyWait});
  checks.push_back({"LOAD-4", "SIGTERM at the start", ToldToEnd});
}

}  // namespace superfluid::conformance
