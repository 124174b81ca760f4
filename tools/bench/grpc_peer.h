#ifndef SUPERFLUID_TOOLS_BENCH_GRPC_PEER_H_
#define SUPERFLUID_TOOLS_BENCH_GRPC_PEER_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/bench/tick_server.h"
#include "tools/bench/turns.h"

namespace superfluid::bench {

// Serves ticks by gRPC's synchronous server on a Unix socket, for ever.
absl::Status ServeGrpc(const std::string& path, TickServer& ticks);

enum class GrpcCall { kUnary, kStreaming };

// Ticks through gRPC: a call for each, or one call that carries all of them. The tick is a Protobuf
// object that is kept, since a daemon may do so; the result is a new one each time.
absl::StatusOr<std::unique_ptr<Contestant>> ConnectGrpc(std::string name, const std::string& path,
                                                        GrpcCall call, size_t lanes);

}  // namespace superfluid::bench

#endif  // SUPERFLUID_TOOLS_BENCH_GRPC_PEER_H_
