#include "tools/superfluidd/net/asio_loop.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "shm/owned_fd.h"
#include "tools/superfluidd/net/asio_stream.h"

namespace superfluid::daemon {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Protocol = asio::generic::stream_protocol;
using Executor = asio::io_context::executor_type;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, Executor>;

constexpr absl::Duration kAcceptPause = absl::Milliseconds(100);
constexpr absl::string_view kUnixPrefix = "unix:";

class AsioTimer final : public LoopTimer {
 public:
  explicit AsioTimer(asio::io_context& io) : timer_(io.get_executor()) {}

  // A wait that has ended already is told by its turn, which is not the newest then.
  void Set(absl::Duration delay, std::function<void()> due) override {
    const uint64_t turn = ++*turn_;
    timer_.expires_after(absl::ToChronoNanoseconds(delay));
    timer_.async_wait([newest = turn_, turn, due = std::move(due)](error_code error) {
      if (!error.failed() && *newest == turn) due();
    });
  }
  void Cancel() override {
    ++*turn_;
    timer_.cancel();
  }
  AsioTimer(const AsioTimer&) = delete;
  AsioTimer& operator=(const AsioTimer&) = delete;
  ~AsioTimer() override { ++*turn_; }

 private:
  Timer timer_;
  std::shared_ptr<uint64_t> turn_ = std::make_shared<uint64_t>(0);
};

std::string EndpointText(const asio::ip::tcp::endpoint& endpoint) {
  const std::string host = endpoint.address().to_string();
  return endpoint.address().is_v6() ? absl::StrCat("[", host, "]:", endpoint.port())
                                    : absl::StrCat(host, ":", endpoint.port());
}

absl::StatusOr<asio::ip::tcp::endpoint> ParseEndpoint(const std::string& address) {
  const size_t colon = address.rfind(':');
  uint32_t port = 0;
  if (colon == std::string::npos || !absl::SimpleAtoi(address.substr(colon + 1), &port) ||
      port > 65535) {
    return absl::InvalidArgumentError(absl::StrCat("'", address, "' is not HOST:PORT"));
  }
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  if (host == "localhost") host = "127.0.0.1";
  error_code error;
  const auto parsed = asio::ip::make_address(host, error);
  if (error.failed()) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", host, "' is no address: give its number, as 127.0.0.1 or ::1"));
  }
  return asio::ip::tcp::endpoint(parsed, static_cast<uint16_t>(port));
}

// The socket of a daemon that was killed; nothing else is removed.
void RemoveSocket(const std::string& path) {
  struct stat file = {};
  if (lstat(path.c_str(), &file) == 0 && S_ISSOCK(file.st_mode)) unlink(path.c_str());
}

// One socket that is listened on. Accepting goes on until it is closed.
class Acceptor : public std::enable_shared_from_this<Acceptor> {
 public:
  Acceptor(asio::io_context& io, std::shared_ptr<TlsServer> tls,
           AsioLoop::OnConnection on_connection)
      : acceptor_(io.get_executor()),
        pause_(io),
        tls_(std::move(tls)),
        on_connection_(std::move(on_connection)) {}

  absl::Status Listen(const Protocol::endpoint& endpoint, const Protocol& protocol,
                      const std::string& address) {
    error_code error;
    acceptor_.open(protocol, error);
    if (!error.failed()) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error.failed()) acceptor_.bind(endpoint, error);
    if (!error.failed()) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (!error.failed()) return absl::OkStatus();
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", address, ": ", error.message()));
  }

  uint16_t port() const {
    sockaddr_storage name = {};
    socklen_t size = sizeof(name);
    getsockname(const_cast<Native&>(acceptor_).native_handle(),  // NOLINT: not const in Asio
                reinterpret_cast<sockaddr*>(&name), &size);
    if (name.ss_family == AF_INET6) return ntohs(reinterpret_cast<sockaddr_in6*>(&name)->sin6_port);
    return ntohs(reinterpret_cast<sockaddr_in*>(&name)->sin_port);
  }

  void Accept() {
    acceptor_.async_accept([self = shared_from_this()](error_code error, AsioSocket socket) {
      self->OnAccepted(error, std::move(socket));
    });
  }

  void Close() {
    error_code ignored;
    acceptor_.close(ignored);
    pause_.Cancel();
  }

 private:
  using Native = asio::basic_socket_acceptor<Protocol, Executor>;

  // Without descriptors accepting would fail at once again and again: pause.
  void OnAccepted(error_code error, AsioSocket socket) {
    if (!acceptor_.is_open()) return;
    if (error.failed()) {
      pause_.Set(kAcceptPause, [self = shared_from_this()] { self->Accept(); });
      return;
    }
    const int one = 1;  // fails for Unix sockets, which do not wait
    setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    std::string peer = PeerOf(socket);
    on_connection_(tls_ == nullptr ? MakePlainStream(std::move(socket), std::move(peer))
                                   : tls_->MakeStream(std::move(socket), std::move(peer)));
    Accept();
  }

  static std::string PeerOf(AsioSocket& socket) {
    error_code error;
    const Protocol::endpoint remote = socket.remote_endpoint(error);
    if (error.failed() || remote.protocol().family() == AF_UNIX) return "unix";
    asio::ip::tcp::endpoint tcp;
    tcp.resize(remote.size());
    std::memcpy(tcp.data(), remote.data(), remote.size());
    return EndpointText(tcp);
  }

  Native acceptor_;
  AsioTimer pause_;
  std::shared_ptr<TlsServer> tls_;
  AsioLoop::OnConnection on_connection_;
};

}  // namespace

class AsioLoop::Impl {
 public:
  asio::io_context io{1};
  asio::executor_work_guard<Executor> work{io.get_executor()};
  std::vector<std::shared_ptr<Acceptor>> acceptors;
};

AsioLoop::AsioLoop() : impl_(std::make_shared<Impl>()) {}

AsioLoop::~AsioLoop() = default;

void AsioLoop::Post(std::function<void()> work) { asio::post(impl_->io, std::move(work)); }

std::unique_ptr<LoopTimer> AsioLoop::MakeTimer() { return std::make_unique<AsioTimer>(impl_->io); }

absl::Duration AsioLoop::Now() const {
  return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

absl::StatusOr<std::string> AsioLoop::Listen(const std::string& address, const TlsFiles& tls,
                                             OnConnection on_connection) {
  std::shared_ptr<TlsServer> server;
  if (!tls.empty()) {
    absl::StatusOr<std::shared_ptr<TlsServer>> loaded = TlsServer::Load(tls.certificate, tls.key);
    if (!loaded.ok()) return loaded.status();
    server = *std::move(loaded);
  }
  auto acceptor =
      std::make_shared<Acceptor>(impl_->io, std::move(server), std::move(on_connection));
  absl::Status status;
  std::string shown = address;
  if (absl::StartsWith(address, kUnixPrefix)) {
    const std::string path = address.substr(kUnixPrefix.size());
    RemoveSocket(path);
    status = acceptor->Listen(asio::local::stream_protocol::endpoint(path),
                              asio::local::stream_protocol(), address);
  } else {
    absl::StatusOr<asio::ip::tcp::endpoint> endpoint = ParseEndpoint(address);
    if (!endpoint.ok()) return endpoint.status();
    status = acceptor->Listen(*endpoint, endpoint->protocol(), address);
    if (status.ok()) {
      endpoint->port(acceptor->port());
      shown = EndpointText(*endpoint);
    }
  }
  if (!status.ok()) return status;
  impl_->acceptors.push_back(acceptor);
  acceptor->Accept();
  return shown;
}

std::unique_ptr<NetStream> AsioLoop::Adopt(int fd) {
  AsioSocket socket(impl_->io.get_executor(), Protocol(AF_UNIX, 0), fd);
  return MakePlainStream(std::move(socket), "unix");
}

void AsioLoop::StopListening() {
  for (const auto& acceptor : impl_->acceptors) acceptor->Close();
}

void AsioLoop::Run() { impl_->io.run(); }

void AsioLoop::Stop() { impl_->io.stop(); }

}  // namespace superfluid::daemon
