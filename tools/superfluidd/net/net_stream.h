#ifndef SUPERFLUID_TOOLS_SUPERFLUIDD_NET_NET_STREAM_H_
#define SUPERFLUID_TOOLS_SUPERFLUIDD_NET_NET_STREAM_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>

namespace superfluid::daemon {

// A connection of a client, plain or TLS: sessions know one type. Threads: the loop's only; each
// function that is given is called there, never from inside the call that it was given to.
//
// One read and one write may be under way at once, no more of either.
class NetStream {
 public:
  // `bytes`: how many were read or written. The end of the stream is an error.
  using Done = std::function<void(std::error_code error, size_t bytes)>;

  virtual ~NetStream() = default;

  // Makes the connection ready (TLS: the handshake). First, and once.
  virtual void Open(std::function<void(std::error_code error)> done) = 0;
  // Reads what there is, at most `size` bytes. `buffer` must stay until `done` is called.
  virtual void Read(char* buffer, size_t size, Done done) = 0;
  // Writes all of `bytes`, which must stay until `done` is called.
  virtual void Write(std::string_view bytes, Done done) = 0;
  // Says that no more will be written; what is written before still arrives.
  virtual void ShutdownWrite() = 0;
  // Ends the connection: calls under way get an error, later.
  virtual void Close() = 0;
  // Returns the address of the client, for the log.
  virtual std::string Peer() const = 0;
};

}  // namespace superfluid::daemon

#endif  // SUPERFLUID_TOOLS_SUPERFLUIDD_NET_NET_STREAM_H_
