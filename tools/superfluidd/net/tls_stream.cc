#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tools/superfluidd/net/asio_stream.h"

namespace superfluid::daemon {
namespace {

namespace ssl = boost::asio::ssl;
using SecureSocket = ssl::stream<AsioSocket>;
using boost::system::error_code;

// The operations hold the socket, as those of a plain stream do. `context` is held as well.
class SecureStream final : public NetStream {
 public:
  SecureStream(AsioSocket socket, std::string peer, const std::shared_ptr<ssl::context>& context)
      : context_(context),
        socket_(std::make_shared<SecureSocket>(std::move(socket), *context)),
        peer_(std::move(peer)) {}
  SecureStream(const SecureStream&) = delete;
  SecureStream& operator=(const SecureStream&) = delete;
  ~SecureStream() override { Close(); }

  void Open(std::function<void(std::error_code)> done) override {
    socket_->async_handshake(ssl::stream_base::server, [socket = socket_, done = std::move(done)](
                                                           error_code error) { done(error); });
  }

  void Read(char* buffer, size_t size, Done done) override {
    socket_->async_read_some(
        boost::asio::buffer(buffer, size),
        [socket = socket_, done = std::move(done)](error_code error, size_t n) { done(error, n); });
  }

  void Write(std::string_view bytes, Done done) override {
    boost::asio::async_write(
        *socket_, boost::asio::buffer(bytes.data(), bytes.size()),
        [socket = socket_, done = std::move(done)](error_code error, size_t n) { done(error, n); });
  }

  // Says so in TLS; the socket stays open until the answer, or Close.
  void ShutdownWrite() override {
    socket_->async_shutdown([socket = socket_](error_code) {
      error_code ignored;
      socket->next_layer().shutdown(boost::asio::socket_base::shutdown_send, ignored);
    });
  }

  void Close() override {
    error_code ignored;
    socket_->next_layer().close(ignored);
  }

  std::string Peer() const override { return peer_; }

 private:
  std::shared_ptr<ssl::context> context_;
  std::shared_ptr<SecureSocket> socket_;
  std::string peer_;
};

class AsioTlsServer final : public TlsServer {
 public:
  explicit AsioTlsServer(std::shared_ptr<ssl::context> context) : context_(std::move(context)) {}

  std::unique_ptr<NetStream> MakeStream(AsioSocket socket, std::string peer) override {
    return std::make_unique<SecureStream>(std::move(socket), std::move(peer), context_);
  }

 private:
  std::shared_ptr<ssl::context> context_;
};

absl::Status FileError(const std::string& file, const error_code& error) {
  return absl::InvalidArgumentError(absl::StrCat(file, ": ", error.message()));
}

}  // namespace

absl::StatusOr<std::shared_ptr<TlsServer>> TlsServer::Load(const std::string& certificate,
                                                           const std::string& key) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  error_code error;
  context->set_options(ssl::context::default_workarounds | ssl::context::no_tlsv1 |
                           ssl::context::no_tlsv1_1 | ssl::context::single_dh_use,
                       error);
  context->use_certificate_chain_file(certificate, error);
  if (error.failed()) return FileError(certificate, error);
  context->use_private_key_file(key, ssl::context::pem, error);
  if (error.failed()) return FileError(key, error);
  return std::make_shared<AsioTlsServer>(std::move(context));
}

}  // namespace superfluid::daemon
