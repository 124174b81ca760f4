#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_NET_ASIO_LOOP_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_NET_ASIO_LOOP_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/superfluidd/net/io_loop.h"
#include "tools/superfluidd/net/net_stream.h"

namespace superfluid::daemon {

// Certificate and key in PEM files; both empty: no TLS.
struct TlsFiles {
  std::string certificate;
  std::string key;
  bool empty() const { return certificate.empty() && key.empty(); }
};

// The loop over Boost.Asio: an io_context on the thread that calls Run. Asio's headers stay in the
// sources of this class.
class AsioLoop final : public IoLoop {
 public:
  using OnConnection = std::function<void(std::unique_ptr<NetStream>)>;

  AsioLoop();
  ~AsioLoop() override;

  void Post(std::function<void()> work) override;
  std::unique_ptr<LoopTimer> MakeTimer() override;
  absl::Duration Now() const override;

  // Listens on "HOST:PORT", "[HOST]:PORT" (port 0: any) or "unix:PATH" and calls `on_connection`
  // for each client. Returns the address in the same form, with the port. Before Run. Errors:
  // InvalidArgument (the address; the files of TLS), Unavailable (it cannot be listened on).
  absl::StatusOr<std::string> Listen(const std::string& address, const TlsFiles& tls,
                                     OnConnection on_connection);

  // Takes a connected socket as a client, for tests.
  std::unique_ptr<NetStream> Adopt(int fd);

  // Takes no more connections. On the loop's thread.
  void StopListening();

  // Serves until Stop, on the calling thread.
  void Run();
  // Any thread.
  void Stop();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_NET_ASIO_LOOP_H_
