"""Memory that is shared with a worker: sealed memfds, and descriptors on a socket."""

from __future__ import annotations

import fcntl
import mmap
import os
import socket
import stat
import struct
from typing import NamedTuple, Optional

from superfluid.errors import (InvalidArgumentError, LinkClosedError, OutOfMemoryError,
                               PermissionDeniedError, ProtocolError)

_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW
_MOST_PAGE_BYTES = 1 << 16
_TAG = struct.Struct("<Q")
_MOST_BYTES = 1 << 36
CONTROL_TAG = (1 << 64) - 1


class Segment:
    """A memfd that can neither shrink nor grow, and its mapping.

    The seals make it safe to touch: without them the other side could cut the file, and the next
    access would kill this process. They do not make the bytes trustworthy; copy them, then look.
    """

    def __init__(self, fd: int, size: int, writable: bool, keep_fd: bool) -> None:
        access = mmap.ACCESS_WRITE if writable else mmap.ACCESS_READ
        try:
            self._map = mmap.mmap(fd, size, access=access)
        except (OSError, ValueError, OverflowError) as error:
            os.close(fd)
            raise OutOfMemoryError(f"cannot map {size} bytes: {error}") from None
        self.size = size
        self._fd = fd
        if not keep_fd:
            self._close_fd()

    @classmethod
    def create(cls, size: int, name: str = "superfluid") -> "Segment":
        """Makes zeroed memory of `size` bytes, at least 1."""
        if not 0 < size <= _MOST_BYTES:
            raise InvalidArgumentError(f"a segment of {size} bytes")
        try:
            fd = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        except OSError as error:
            raise OutOfMemoryError(f"no memfd: {error}") from None
        try:
            os.ftruncate(fd, size)
            fcntl.fcntl(fd, fcntl.F_ADD_SEALS, _SEALS)
        except OSError as error:
            os.close(fd)
            raise OutOfMemoryError(f"no memory of {size} bytes: {error}") from None
        return cls(fd, size, writable=True, keep_fd=True)

    @classmethod
    def attach(cls, fd: int, size: int, writable: bool = True) -> "Segment":
        """Takes a descriptor that a worker sent, which is closed in any case, and maps `size` bytes."""
        try:
            _check_memfd(fd, size, writable)
        except BaseException:
            os.close(fd)
            raise
        return cls(fd, size, writable, keep_fd=False)

    @property
    def fd(self) -> int:
        """What to send to the other side."""
        if self._fd < 0:
            raise InvalidArgumentError("this segment has no descriptor any more")
        return self._fd

    @property
    def view(self) -> memoryview:
        """The bytes. Release views before close()."""
        return memoryview(self._map)

    def read(self, offset: int = 0, size: Optional[int] = None) -> bytes:
        """Returns a copy."""
        end = self.size if size is None else offset + size
        if not 0 <= offset <= end <= self.size:
            raise InvalidArgumentError(f"bytes {offset} to {end} of {self.size}")
        return self._map[offset:end]

    def write(self, data: "bytes | bytearray | memoryview", offset: int = 0) -> None:
        size = memoryview(data).nbytes
        if not 0 <= offset <= self.size - size:
            raise InvalidArgumentError(f"{size} bytes at {offset} of {self.size}")
        self._map[offset:offset + size] = bytes(data) if not isinstance(data, bytes) else data

    def close(self) -> None:
        """Unmaps. Any number of times."""
        self._close_fd()
        try:
            self._map.close()
        except BufferError:
            pass  # somebody holds a view: it is unmapped with that

    def _close_fd(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __del__(self) -> None:
        if getattr(self, "_fd", -1) >= 0:
            self._close_fd()


def _check_memfd(fd: int, size: int, writable: bool) -> None:
    try:
        info = os.fstat(fd)
        seals = fcntl.fcntl(fd, fcntl.F_GET_SEALS)
        mode = fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE
        page = os.fstatvfs(fd).f_bsize
    except OSError:
        raise InvalidArgumentError("the worker sent a descriptor that is no memfd") from None
    if not stat.S_ISREG(info.st_mode) or page > _MOST_PAGE_BYTES:
        raise InvalidArgumentError("the worker sent a descriptor that is no memfd of ordinary pages")
    if seals & _SEALS != _SEALS:
        raise InvalidArgumentError("the worker sent a memfd that is not sealed")
    if not 0 < size <= info.st_size:
        raise InvalidArgumentError(f"the worker sent a memfd of {info.st_size} bytes for {size}")
    if info.st_size > _MOST_BYTES:
        raise InvalidArgumentError(f"the worker sent a memfd of {info.st_size} bytes")
    frozen = fcntl.F_SEAL_WRITE | getattr(fcntl, "F_SEAL_FUTURE_WRITE", 0x10)
    if writable and (mode != os.O_RDWR or seals & frozen):
        raise PermissionDeniedError("the worker sent a memfd that cannot be written")


# ---- Descriptors on the fds socket: 8 bytes, the tag, with one descriptor on the first of them

class TaggedFd(NamedTuple):
    tag: int
    fd: int


def send_fd(sock: socket.socket, tag: int, fd: int) -> bool:
    """Sends a duplicate of `fd`. Returns False if the worker does not take those sent before."""
    rights = struct.pack("i", fd)
    try:
        sent = sock.sendmsg([_TAG.pack(tag)], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)],
                            socket.MSG_NOSIGNAL | socket.MSG_DONTWAIT)
    except (BlockingIOError, InterruptedError):
        return False
    except ConnectionError:
        raise LinkClosedError("the worker closed the fds connection") from None
    except OSError as error:
        raise OutOfMemoryError(f"cannot send a descriptor: {error}") from None
    if sent != _TAG.size:
        raise LinkClosedError("a descriptor's tag went out in part")
    return True


class FdReceiver:
    """Reassembles what comes on the fds socket. Keeps the newest 64 that nobody took."""

    CAPACITY = 64

    def __init__(self) -> None:
        self._tag = b""
        self._fd = -1
        self._waiting: list[TaggedFd] = []

    def receive(self, sock: socket.socket) -> bool:
        """Reads what there is, without waiting. Returns False at the end of the channel.

        Raises ProtocolError for a message without a descriptor or with several; nothing is kept then.
        """
        while True:
            room = socket.CMSG_SPACE(8 * struct.calcsize("i"))
            try:
                data, ancillary, flags, _ = sock.recvmsg(
                    _TAG.size - len(self._tag), room,
                    socket.MSG_DONTWAIT | socket.MSG_CMSG_CLOEXEC)
            except (BlockingIOError, InterruptedError):
                return True
            except OSError:
                return False
            fds = _descriptors(ancillary)
            expected = 0 if self._tag else 1
            if flags & socket.MSG_CTRUNC or (data and len(fds) != expected):
                _close_all(fds)
                self.close()
                raise ProtocolError("a message on the fds channel has not one descriptor")
            if not data:
                _close_all(fds)
                return False
            if expected:
                self._fd = fds[0]
            self._tag += data
            if len(self._tag) == _TAG.size:
                self._keep(TaggedFd(_TAG.unpack(self._tag)[0], self._fd))
                self._tag, self._fd = b"", -1

    def take(self, tag: int) -> Optional[int]:
        """Returns the oldest descriptor with this tag; the caller owns it."""
        for item in self._waiting:
            if item.tag == tag:
                self._waiting.remove(item)
                return item.fd
        return None

    def close(self) -> None:
        _close_all([item.fd for item in self._waiting] + ([self._fd] if self._fd >= 0 else []))
        self._waiting.clear()
        self._tag, self._fd = b"", -1

    def _keep(self, item: TaggedFd) -> None:
        self._waiting.append(item)
        if len(self._waiting) > self.CAPACITY:
            os.close(self._waiting.pop(0).fd)


def _descriptors(ancillary: "list[tuple[int, int, bytes]]") -> list[int]:
    fds: list[int] = []
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            count = len(data) // struct.calcsize("i")
            fds.extend(struct.unpack(f"{count}i", data[:count * struct.calcsize("i")]))
    return fds


def _close_all(fds: "list[int]") -> None:
    for fd in fds:
        os.close(fd)
