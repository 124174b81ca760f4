#include "actors/link/connection_sorter.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <new>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "actors/link/last_word.h"
#include "actors/runtime/printable.h"
#include "protocol/messages/status.h"
#include "spdlog/spdlog.h"

namespace superfluid {
namespace {

// When accept fails for lack of descriptors the connection stays in the queue; try again after
// this.
constexpr int kAcceptPauseMs = 100;

constexpr size_t kFirstUndecided = 2;  // of what is polled; the listener's own two come first

int64_t MonotonicNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

ConnectionSorter::ConnectionSorter(UnixListener& listener, Options options, Callbacks callbacks)
    : listener_(listener), options_(std::move(options)), callbacks_(std::move(callbacks)) {}

void ConnectionSorter::Run() {
  while (true) {
    std::vector<pollfd> polled = {
        {.fd = listener_.wake_fd(), .events = POLLIN, .revents = 0},
        {.fd = accept_paused_ ? -1 : listener_.listen_fd(), .events = POLLIN, .revents = 0}};
    for (const Undecided& undecided : undecided_) {
      polled.push_back({.fd = undecided.connection.socket.get(), .events = POLLIN, .revents = 0});
    }
    const int ready = poll(polled.data(), polled.size(), PollTimeoutMs());
    if (ready < 0 && errno != EINTR) {
      spdlog::critical("listener.failed error=\"{}\"", std::strerror(errno));
      return;
    }
    if (polled[0].revents != 0) return;
    try {
      HandleReady(polled);
    } catch (const std::bad_alloc&) {
      spdlog::error("accept.failed error=\"no memory for another connection\"");
      undecided_.clear();
      accept_paused_ = true;
    }
  }
}

void ConnectionSorter::HandleReady(const std::vector<pollfd>& polled) {
  size_t index = kFirstUndecided;
  for (auto it = undecided_.begin(); it != undecided_.end(); ++index) {
    const bool handled = polled[index].revents != 0 && Sort(*it) == Verdict::kHandled;
    it = handled ? undecided_.erase(it) : std::next(it);
  }
  DropOverdue();
  accept_paused_ = false;
  AcceptAll();
}

void ConnectionSorter::AcceptAll() {
  while (true) {
    absl::StatusOr<std::optional<AcceptedConnection>> accepted = listener_.Accept();
    if (!accepted.ok()) {
      spdlog::error("accept.failed error=\"{}\"", Printable(accepted.status().message()));
      accept_paused_ = true;
      return;
    }
    if (!accepted->has_value()) return;
    Add(*std::move(*accepted));
  }
}

void ConnectionSorter::Add(AcceptedConnection connection) {
  const auto& allowed = options_.allowed_uids;
  if (!options_.any_uid &&
      std::find(allowed.begin(), allowed.end(), connection.uid) == allowed.end()) {
    return RefuseUser(connection);
  }
  undecided_.push_back({.connection = std::move(connection),
                        .deadline_ns = MonotonicNs() + absl::ToInt64Nanoseconds(options_.patience),
                        .first = {}});
  // Of many that come together each that has spoken already needs no place.
  if (Sort(undecided_.back()) == Verdict::kHandled) return undecided_.pop_back();
  if (undecided_.size() > options_.max_undecided) DropOldest();
}

// It may have spoken since it was looked at last.
void ConnectionSorter::DropOldest() {
  Undecided& oldest = undecided_.front();
  if (Sort(oldest) == Verdict::kWait) {
    const std::string word =
        LastWord(linkw::Status::kBusy, "too many connections have not said HELLO yet",
                 /*correlation=*/0);
    (void)send(oldest.connection.socket.get(), word.data(), word.size(),
               MSG_DONTWAIT | MSG_NOSIGNAL);
  }
  undecided_.pop_front();
}

// Answers the HELLO that the peer has sent or is about to send.
void ConnectionSorter::RefuseUser(const AcceptedConnection& connection) {
  spdlog::warn("connection.refused uid={} pid={} reason=\"not an allowed user\"", connection.uid,
               connection.pid);
  const std::string word =
      LastWord(linkw::Status::kPermissionDenied,
               absl::StrCat("the worker takes no connections of user ", connection.uid),
               /*correlation=*/1);
  (void)send(connection.socket.get(), word.data(), word.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

ConnectionSorter::Verdict ConnectionSorter::Sort(Undecided& undecided) {
  OwnedFd& socket = undecided.connection.socket;
  std::array<char, 4096> piece = {};
  while (true) {
    const size_t wanted = std::min(undecided.first.wanted(), piece.size());
    const ssize_t got = recv(socket.get(), piece.data(), wanted, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return Verdict::kWait;
    if (got <= 0) return Verdict::kHandled;  // it hung up
    switch (undecided.first.Add({piece.data(), static_cast<size_t>(got)})) {
      case FirstBytes::Kind::kUndecided:
        break;
      case FirstBytes::Kind::kFrames:
        callbacks_.on_frames(std::move(undecided.connection), undecided.first.TakeReceived());
        return Verdict::kHandled;
      case FirstBytes::Kind::kDescriptors:
        callbacks_.on_descriptors(undecided.first.token(), std::move(socket));
        return Verdict::kHandled;
    }
  }
}

void ConnectionSorter::DropOverdue() {
  const int64_t now_ns = MonotonicNs();
  while (!undecided_.empty() && undecided_.front().deadline_ns <= now_ns) undecided_.pop_front();
}

int ConnectionSorter::PollTimeoutMs() const {
  if (accept_paused_) return kAcceptPauseMs;
  if (undecided_.empty()) return -1;
  const int64_t left_ns = undecided_.front().deadline_ns - MonotonicNs();
  return static_cast<int>(std::clamp<int64_t>(left_ns / 1'000'000 + 1, 0, 60'000));
}

}  // namespace superfluid
