#include "tools/worker/worker_sockets.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "actors/runtime/socket_watch.h"
#include "protocol/transport/socket_stream.h"
#include "shm/socket_fd_channel.h"

namespace superfluid {

absl::StatusOr<FramesConnected> WatchFrames(DescriptorPoller& poller, OwnedFd socket,
                                            std::string received) {
  absl::StatusOr<std::shared_ptr<SocketWatch>> watch = SocketWatch::Make(poller, socket.get());
  if (!watch.ok()) return watch.status();
  absl::StatusOr<std::unique_ptr<ByteStream>> stream =
      MakeSocketStream(std::move(socket), std::move(received), *watch);
  if (!stream.ok()) return stream.status();
  FramesConnected connected;
  connected.stream = *std::move(stream);
  connected.watch = *std::move(watch);
  return connected;
}

absl::StatusOr<std::unique_ptr<FdChannel>> WatchDescriptors(DescriptorPoller& poller,
                                                            OwnedFd socket) {
  absl::StatusOr<std::shared_ptr<SocketWatch>> watch = SocketWatch::Make(poller, socket.get());
  if (!watch.ok()) return watch.status();
  return MakeSocketFdChannel(std::move(socket), *std::move(watch));
}

namespace {

absl::StatusOr<std::unique_ptr<UnixListener>> MakeListener(const WorkerOptions& options) {
  if (options.activated_fd >= 0) return UnixListener::Adopt(OwnedFd(options.activated_fd));
  const mode_t by_uids =
      options.allowed_uids.empty() ? UnixListener::kOwnUser : UnixListener::kAnyUser;
  return UnixListener::Listen(options.listen_path, options.socket_mode.value_or(by_uids),
                              options.socket_group);
}

// Returns who made the other end of a socket; 0 if the system does not say.
pid_t PeerPid(int fd) {
  ucred peer{};
  socklen_t length = sizeof(peer);
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 ? peer.pid : 0;
}

absl::StatusOr<FramesConnected> TakeInherited(const WorkerOptions& options,
                                              DescriptorPoller& poller) {
  absl::StatusOr<FramesConnected> inherited = WatchFrames(poller, OwnedFd(options.frames_fd), {});
  if (!inherited.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--frames-fd ", options.frames_fd, ": ", inherited.status().message()));
  }
  inherited->inherited = true;
  inherited->peer_pid = PeerPid(options.frames_fd);
  if (options.fds_fd >= 0) {
    absl::StatusOr<std::unique_ptr<FdChannel>> channel =
        WatchDescriptors(poller, OwnedFd(options.fds_fd));
    if (!channel.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--fds-fd ", options.fds_fd, ": ", channel.status().message()));
    }
    inherited->descriptors = *std::move(channel);
  }
  return inherited;
}

}  // namespace

absl::StatusOr<Sockets> OpenSockets(const WorkerOptions& options, DescriptorPoller& poller) {
  Sockets sockets;
  if (options.frames_fd >= 0) {
    absl::StatusOr<FramesConnected> inherited = TakeInherited(options, poller);
    if (!inherited.ok()) return inherited.status();
    sockets.inherited = *std::move(inherited);
    return sockets;
  }
  absl::StatusOr<std::unique_ptr<UnixListener>> listener = MakeListener(options);
  if (!listener.ok()) return listener.status();
  sockets.listener = *std::move(listener);
  return sockets;
}

ConnectionSorter::Options WhoMayConnect(const WorkerOptions& options, mode_t mode) {
  ConnectionSorter::Options who;
  who.allowed_uids = options.allowed_uids;
  who.allowed_uids.push_back(geteuid());
  const bool by_group_only = (mode & S_IWGRP) != 0 && (mode & S_IWOTH) == 0;
  const bool chosen = options.activated_fd >= 0 ? by_group_only : options.socket_mode.has_value();
  who.any_uid = options.allowed_uids.empty() && chosen;
  return who;
}

}  // namespace superfluid
