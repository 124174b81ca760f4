#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_NET_ASIO_STREAM_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_NET_ASIO_STREAM_H_

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tools/superfluidd/net/net_stream.h"

// Asio's side of NetStream: for asio_loop.cc alone.
namespace superfluid::daemon {

// TCP, Unix and socketpairs are one type.
using AsioSocket = boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol,
                                                    boost::asio::io_context::executor_type>;

std::unique_ptr<NetStream> MakePlainStream(AsioSocket socket, std::string peer);

// Certificate and key of a server, for many streams.
class TlsServer {
 public:
  // Errors: InvalidArgument, with the file that is wrong.
  static absl::StatusOr<std::shared_ptr<TlsServer>> Load(const std::string& certificate,
                                                         const std::string& key);
  virtual ~TlsServer() = default;
  virtual std::unique_ptr<NetStream> MakeStream(AsioSocket socket, std::string peer) = 0;
};

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_NET_ASIO_STREAM_H_
