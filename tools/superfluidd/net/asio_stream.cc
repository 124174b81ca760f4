#include "tools/superfluidd/net/asio_stream.h"

#include <boost/asio/write.hpp>
#include <utility>

namespace superfluid::daemon {
namespace {

// The operations hold the socket: a stream may be destroyed while one is under way.
class PlainStream final : public NetStream {
 public:
  PlainStream(AsioSocket socket, std::string peer)
      : socket_(std::make_shared<AsioSocket>(std::move(socket))), peer_(std::move(peer)) {}
  PlainStream(const PlainStream&) = delete;
  PlainStream& operator=(const PlainStream&) = delete;
  ~PlainStream() override { Close(); }

  void Open(std::function<void(std::error_code)> done) override {
    boost::asio::post(socket_->get_executor(), [done = std::move(done)] { done({}); });
  }

  void Read(char* buffer, size_t size, Done done) override {
    socket_->async_read_some(boost::asio::buffer(buffer, size),
                             [socket = socket_, done = std::move(done)](
                                 boost::system::error_code error, size_t n) { done(error, n); });
  }

  void Write(std::string_view bytes, Done done) override {
    boost::asio::async_write(*socket_, boost::asio::buffer(bytes.data(), bytes.size()),
                             [socket = socket_, done = std::move(done)](
                                 boost::system::error_code error, size_t n) { done(error, n); });
  }

  void ShutdownWrite() override {
    boost::system::error_code ignored;
    socket_->shutdown(boost::asio::socket_base::shutdown_send, ignored);
  }

  void Close() override {
    boost::system::error_code ignored;
    socket_->close(ignored);
  }

  std::string Peer() const override { return peer_; }

 private:
  std::shared_ptr<AsioSocket> socket_;
  std::string peer_;
};

}  // namespace

std::unique_ptr<NetStream> MakePlainStream(AsioSocket socket, std::string peer) {
  return std::make_unique<PlainStream>(std::move(socket), std::move(peer));
}

}  // namespace superfluid::daemon
