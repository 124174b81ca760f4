#include "tools/bench/fleet.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/bench/classic_peer.h"
#include "tools/bench/grpc_peer.h"
#include "tools/bench/null_engine.h"
#include "tools/bench/raw_peer.h"
#include "tools/bench/tick_server.h"
#include "tools/bench/zmq_peer.h"

namespace superfluid::bench {

absl::StatusOr<Server> StartWorker(const ScratchFolder& folder, const std::string& name,
                                   const std::string& engine,
                                   const std::vector<std::string>& options) {
  const absl::StatusOr<std::string> program = BuiltFile("tools/worker/superfluid_worker");
  if (!program.ok()) return program.status();
  const absl::StatusOr<std::string> library = BuiltFile(engine);
  if (!library.ok()) return library.status();
  std::string socket = folder.Path(name);
  std::vector<std::string> arguments = {*program, "--engine", *library, "--listen", socket};
  arguments.insert(arguments.end(), options.begin(), options.end());
  absl::StatusOr<Child> child =
      Child::Start(std::move(arguments), folder.Path(absl::StrCat(name, ".log")));
  if (!child.ok()) return child.status();
  return Server{std::move(socket), *std::move(child)};
}

absl::StatusOr<Server> StartPeer(const ScratchFolder& folder, const std::string& name,
                                 const std::string& kind) {
  std::string socket = folder.Path(name);
  absl::StatusOr<Child> child = Child::Start({OwnProgram(), "--serve", kind, "--socket", socket},
                                             folder.Path(absl::StrCat(name, ".log")));
  if (!child.ok()) return child.status();
  return Server{std::move(socket), *std::move(child)};
}

absl::Status ServePeer(const std::string& kind, const std::string& socket) {
  if (kind == "raw") return ServeRaw(socket);
  absl::StatusOr<std::unique_ptr<TickServer>> ticks(absl::UnknownError(""));
  if (kind == "grpc") {
    // gRPC calls from threads of its own, and a plug-in has one: its engine is linked in instead,
    // which saves it the plug-in's boundary.
    absl::StatusOr<std::unique_ptr<Engine>> engine = MakeNullEngine({});
    if (!engine.ok()) return engine.status();
    ticks = TickServer::With(*std::move(engine));
  } else {
    const absl::StatusOr<std::string> library = BuiltFile(kNullEngine);
    if (!library.ok()) return library.status();
    ticks = TickServer::Load(*library);
  }
  if (!ticks.ok()) return ticks.status();
  if (kind == "classic") return ServeClassic(socket, **ticks);
  if (kind == "grpc") return ServeGrpc(socket, **ticks);
  if (kind == "zmq") return ServeZmq(socket, **ticks);
  return absl::InvalidArgumentError(absl::StrCat("there is no peer '", kind, "'"));
}

}  // namespace superfluid::bench
