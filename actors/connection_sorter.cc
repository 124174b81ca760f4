#include "actors/connection_sorter.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "actors/printable.h"
#include "protocol/frame.h"
#include "spdlog/spdlog.h"

namespace superfluid {
namespace {

// When accept fails for lack of descriptors the connection stays in the queue; try again after
// this.
constexpr int kAcceptPauseMs = 100;

int64_t MonotonicNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

bool IsMagic(const char* bytes) {
  uint32_t word = 0;
  std::memcpy(&word, bytes, sizeof word);  // the magic is little-endian, as this machine
  return word == linkw::kMagic;
}

}  // namespace

ConnectionSorter::ConnectionSorter(UnixListener& listener, Options options, Callbacks callbacks)
    : listener_(listener), options_(std::move(options)), callbacks_(std::move(callbacks)) {}

void ConnectionSorter::Run() {
  while (true) {
    std::vector<pollfd> polled = {
        {.fd = listener_.wake_fd(), .events = POLLIN, .revents = 0},
        {.fd = accept_paused_ ? -1 : listener_.listen_fd(), .events = POLLIN, .revents = 0}};
    for (const Silent& silent : silent_) {
      polled.push_back({.fd = silent.socket.get(), .events = POLLIN, .revents = 0});
    }
    const int ready = poll(polled.data(), polled.size(), PollTimeoutMs());
    if (ready < 0 && errno != EINTR) {
      spdlog::critical("listener.failed error=\"{}\"", std::strerror(errno));
      return;
    }
    if (polled[0].revents != 0) return;
    size_t index = 2;
    for (auto it = silent_.begin(); it != silent_.end(); ++index) {
      const bool handled = polled[index].revents != 0 && Sort(*it) == Verdict::kHandled;
      it = handled ? silent_.erase(it) : std::next(it);
    }
    DropOverdue();
    accept_paused_ = false;
    AcceptAll();
  }
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
  if (std::find(allowed.begin(), allowed.end(), connection.uid) == allowed.end()) {
    spdlog::warn("connection.refused uid={} pid={} reason=\"not an allowed user\"", connection.uid,
                 connection.pid);
    return;
  }
  if (silent_.size() >= options_.max_silent) silent_.pop_front();
  silent_.push_back({.socket = std::move(connection.socket),
                     .deadline_ns = MonotonicNs() + absl::ToInt64Nanoseconds(options_.patience)});
}

ConnectionSorter::Verdict ConnectionSorter::Sort(Silent& silent) {
  linkw::LinkToken token{};
  const ssize_t peeked =
      recv(silent.socket.get(), token.data(), token.size(), MSG_PEEK | MSG_DONTWAIT);
  if (peeked < 0) {
    return errno == EAGAIN || errno == EINTR ? Verdict::kWait : Verdict::kHandled;
  }
  if (peeked == 0) return Verdict::kHandled;  // it hung up
  if (static_cast<size_t>(peeked) >= sizeof linkw::kMagic &&
      IsMagic(reinterpret_cast<const char*>(token.data()))) {
    callbacks_.on_frames(std::move(silent.socket));
    return Verdict::kHandled;
  }
  if (static_cast<size_t>(peeked) < token.size()) return Verdict::kWait;
  if (recv(silent.socket.get(), token.data(), token.size(), MSG_DONTWAIT) !=
      static_cast<ssize_t>(token.size())) {
    return Verdict::kHandled;
  }
  callbacks_.on_descriptors(token, std::move(silent.socket));
  return Verdict::kHandled;
}

void ConnectionSorter::DropOverdue() {
  const int64_t now_ns = MonotonicNs();
  while (!silent_.empty() && silent_.front().deadline_ns <= now_ns) silent_.pop_front();
}

int ConnectionSorter::PollTimeoutMs() const {
  if (accept_paused_) return kAcceptPauseMs;
  if (silent_.empty()) return -1;
  const int64_t left_ns = silent_.front().deadline_ns - MonotonicNs();
  return static_cast<int>(std::clamp<int64_t>(left_ns / 1'000'000 + 1, 0, 60'000));
}

}  // namespace superfluid
