#ifndef SUPERFLUID_TESTS_CONFORMANCE_LINK_H_
#define SUPERFLUID_TESTS_CONFORMANCE_LINK_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "protocol/messages/messages.h"
#include "shm/control.h"
#include "shm/fd_passing.h"
#include "shm/ring.h"
#include "shm/segment.h"
#include "tests/conformance/check.h"
#include "tests/conformance/context.h"
#include "tests/conformance/peer.h"
#include "tests/conformance/show.h"

namespace superfluid::conformance {

using linkw::Status;
using Statuses = std::initializer_list<Status>;

linkw::Hello MakeHello(linkw::Role role, std::vector<std::string> features = {});

// A link past its handshake. Ends with this object. Threads: one.
class Link {
 public:
  explicit Link(Context& context, linkw::Role role = linkw::Role::kDriver,
                std::vector<std::string> features = {});
  virtual ~Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  Context& context() { return context_; }
  Peer& peer() { return peer_; }
  const linkw::HelloAck& ack() const { return ack_; }
  const Facts& facts() const { return context_.facts(); }

  // ---- Descriptors

  // Returns when the worker has it.
  void OpenFds();
  int fds() const { return fds_.get(); }
  void SendFd(uint64_t tag, int fd);
  void SendFd(uint64_t tag, const Segment& segment);
  TaggedFd ReceiveFd();
  // Whether the worker closes the fds socket.
  bool FdsClosed();

  // A buffer of this size, attached under an id of its own.
  struct Buffer {
    linkw::BufId id{};
    Segment segment;
  };
  Buffer AttachBuffer(uint64_t bytes);
  linkw::BufId NewBufId() { return linkw::BufId(++last_buffer_); }
  uint64_t AttachRing(const RingSpec& spec, const Segment& segment);

  // ---- Requests

  uint64_t Send(const linkw::DriverMessage& message) { return peer_.Send(message); }
  uint64_t SendCall(linkw::StateSyncCall call) {
    return peer_.Send(linkw::StateSyncRequest{std::move(call)});
  }
  linkw::Pong Ping();
  // The status of the answer to a request, be it a typed one or an ERROR, and its text.
  std::pair<Status, std::string> Outcome(uint64_t seq);
  // The answer has one of these statuses, and the link serves on.
  void ExpectRefused(uint64_t seq, Statuses statuses, std::string_view what);
  void ExpectOk(uint64_t seq, std::string_view what);
  // Nothing answers this request, and the link serves on.
  void ExpectSilent(uint64_t seq, std::string_view what);

  linkw::StateSyncResult Call(linkw::StateSyncCall call);
  void Refused(linkw::StateSyncCall call, Statuses statuses, std::string_view what) {
    ExpectRefused(SendCall(std::move(call)), statuses, what);
  }
  // The call is answered with OK and an R.
  template <class R>
  R Ok(linkw::StateSyncCall call) {
    linkw::StateSyncResult result = Call(std::move(call));
    if (result.status != Status::kOk) {
      Fail(absl::StrCat("a call with good arguments: ", Show(result.status), " ",
                        Show(result.message)));
    }
    Expect(std::holds_alternative<R>(result.reply),
           "[CALL-1] the answer has another call's member");
    return std::get<R>(std::move(result.reply));
  }

  // The worker tells the link error with this status, once, and closes. Returns the correlation of
  // its ERROR.
  uint64_t ExpectLinkError(Statuses statuses);

 private:
  Context& context_;
  Peer peer_;
  linkw::HelloAck ack_;
  OwnedFd fds_;
  std::optional<TaggedFdReceiver> fd_receiver_;
  uint64_t last_buffer_ = 1000;
};

// For links that are not past their handshake.
uint64_t ExpectLinkError(Peer& peer, Statuses statuses);
void ExpectServing(Context& context);

std::string Names(Statuses statuses);

}  // namespace superfluid::conformance

#endif  // SUPERFLUID_TESTS_CONFORMANCE_LINK_H_
