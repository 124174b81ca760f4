"""What a plain client does with its sockets: a thread that reads, and calls that block."""

from __future__ import annotations

import select
import socket
import threading
from typing import Any, Callable, Iterable, Optional, TypeVar

from google.protobuf.message import Message

from superfluid import core, messages
from superfluid import linkw_pb2 as pb
from superfluid.core import (Await, Effect, Enter, Forget, Inbox, Link, Send, SendFd, Session, Steps,
                             TakeFd)
from superfluid.errors import (BusyError, DeadlineExceededError, FailedPreconditionError,
                               LinkClosedError, ProtocolError, SuperfluidError)
from superfluid.memory import FdReceiver, send_fd

T = TypeVar("T")
_READ_BYTES = 256 << 10
_LAST_WORDS = 1.0  # seconds for a worker that is gone to have said why


class ThreadLink:
    """Performs procedures over two sockets. The base of Client, whose promises it keeps."""

    def __init__(self, frames: socket.socket, fds: Optional[socket.socket] = None, *,
                 role: str = "driver", client_name: str = "superfluid-python",
                 features: Iterable[str] = (), connect_timeout: float = 10.0,
                 call_timeout: float = 30.0, reply_buffer: int = 256,
                 on_telemetry: Optional[Callable[[dict[str, int]], None]] = None,
                 on_loading: Optional[core.OnLoading] = None) -> None:
        """Takes connected sockets, which are the client's from now on, also if it fails."""
        self._frames = frames
        self._fds = fds
        self._call_timeout = call_timeout
        self._reply_buffer = reply_buffer
        self._on_telemetry = on_telemetry
        self._link = Link()
        self._receiver = FdReceiver()
        self._fds_ended = fds is None
        self._inboxes: dict[int, Inbox] = {}
        self._error: Optional[SuperfluidError] = None
        self._changed = threading.Condition()
        self._write_lock = threading.Lock()     # one frame at a time
        self._ordinary_lock = threading.Lock()  # one at a time waits for room
        self._setup_lock = threading.Lock()     # of procedures, between Enter and Leave
        self._wake_read, self._wake_write = socket.socketpair()
        frames.setblocking(False)
        self._reader = threading.Thread(target=self._read, name="superfluid-link", daemon=True)
        self._reader.start()
        try:
            ack = self._run(core.handshake(role, client_name, tuple(features), connect_timeout,
                                           on_loading))
        except BaseException:
            self.close()
            raise
        self._session = Session(ack, fds is not None)

    def close(self) -> None:
        """Ends the link; the worker cancels what is open. Any number of times, from any thread."""
        self._end(LinkClosedError("the link was closed here"))
        if threading.current_thread() is not self._reader:
            self._reader.join()
            with self._changed:
                self._receiver.close()
            for sock in (self._frames, self._fds, self._wake_read, self._wake_write):
                if sock is not None:
                    sock.close()
            if hasattr(self, "_session"):
                self._session.close()

    # -- Performing procedures

    def _or_default(self, timeout: Optional[float]) -> float:
        return core.DEFAULT if timeout is None else timeout

    def _run(self, steps: Steps[T]) -> T:
        value: Any = None
        error: Optional[BaseException] = None
        while True:
            try:
                effect = steps.send(value) if error is None else steps.throw(error)
            except StopIteration as stop:
                result: T = stop.value
                return result
            value, error = None, None
            try:
                value = self._perform(effect)
            except BaseException as raised:  # the procedure cleans up, and raises it again
                error = raised

    def _perform(self, effect: Effect) -> Any:
        if isinstance(effect, Send):
            return self._send(effect.message, effect.inbox)
        if isinstance(effect, Forget):
            with self._changed:
                self._inboxes.pop(effect.inbox.seq, None)
                self._changed.notify_all()
            return None
        if isinstance(effect, SendFd):
            return self._send_fd(effect)
        if isinstance(effect, TakeFd):
            return self._take_fd(effect)
        if isinstance(effect, Await):
            return self._await(effect)
        if isinstance(effect, Enter):
            return self._setup_lock.acquire()
        return self._setup_lock.release()

    def _seconds(self, timeout: Optional[float]) -> Optional[float]:
        return self._call_timeout if timeout == core.DEFAULT else timeout

    def _await(self, effect: Await) -> None:
        def done() -> bool:
            before = len(effect.inbox.messages)
            effect.inbox.absorb()
            if len(effect.inbox.messages) != before:
                self._changed.notify_all()  # there is room again, and others may wait for the same
            return effect.ready() or self._error is not None

        with self._changed:
            if not self._changed.wait_for(done, self._seconds(effect.timeout)):
                raise DeadlineExceededError("the worker did not answer in time")
            if not effect.ready():
                assert self._error is not None
                raise _again(self._error)

    def _take_fd(self, effect: TakeFd) -> int:
        taken: list[int] = []

        def done() -> bool:
            fd = self._receiver.take(effect.tag)
            if fd is not None:
                taken.append(fd)
            return fd is not None or self._fds_ended

        with self._changed:
            if not self._changed.wait_for(done, self._seconds(effect.timeout)):
                raise DeadlineExceededError("the worker's descriptor did not come in time")
        if not taken:
            raise LinkClosedError("the fds connection has ended")
        return taken[0]

    def _adopt_fds(self, fds: socket.socket) -> None:
        with self._changed:
            self._fds = fds
            self._fds_ended = self._error is not None
            self._session.has_fds = True
        self._wake_write.send(b"f")

    def _send_fd(self, effect: SendFd) -> None:
        if self._fds is None:
            raise FailedPreconditionError("this link has no fds connection")
        with self._write_lock:
            if self._error is not None:
                raise _again(self._error)
            if not send_fd(self._fds, effect.tag, effect.fd):
                raise BusyError("the worker does not take the descriptors sent before")

    # -- Writing

    def _send(self, message: Message, inbox: Optional[Inbox]) -> int:
        if messages.NAMES[messages.type_of(message)] in core.URGENT:
            with self._write_lock:
                return self._write(message, inbox)
        with self._ordinary_lock:
            self._await_room(self._call_timeout)
            with self._write_lock:
                return self._write(message, inbox)

    def _write(self, message: Message, inbox: Optional[Inbox]) -> int:
        if self._error is not None:
            raise _again(self._error)
        seq, data = self._link.encoder.encode(message)
        if inbox is not None:  # in place before the frame goes out: the answer may be quick
            inbox.seq = seq
            with self._changed:
                self._inboxes[seq] = inbox
        try:
            self._write_all(memoryview(data))
        except SuperfluidError:
            raise
        except OSError:
            raise self._gone() from None
        except BaseException:  # an interrupt: the frame may be cut, and there is no way back
            self._end(LinkClosedError("a frame went out in part"))
            raise
        return seq

    def _write_all(self, rest: memoryview) -> None:
        while rest:
            try:
                rest = rest[self._frames.send(rest):]
            except (BlockingIOError, InterruptedError):
                self._await_room(self._call_timeout)

    def _await_room(self, timeout: float) -> None:
        if self._error is not None:
            raise _again(self._error)
        try:
            poll = select.poll()
            poll.register(self._frames, select.POLLOUT)
            if poll.poll(timeout * 1000):
                return
        except (OSError, ValueError):
            raise self._gone() from None
        self._end(LinkClosedError("the worker takes no more messages"))
        assert self._error is not None
        raise _again(self._error)

    def _gone(self) -> SuperfluidError:
        """The worker is gone; the reader finds what it said last."""
        with self._changed:
            self._changed.wait_for(lambda: self._error is not None, _LAST_WORDS)
        self._end(LinkClosedError("the worker closed the link"))
        assert self._error is not None
        return _again(self._error)

    # -- Reading

    def _end(self, error: SuperfluidError) -> None:
        """Ends the link, for the first reason given."""
        with self._changed:
            if self._error is None:
                self._error = error
            self._fds_ended = True
            self._changed.notify_all()
        for sock in (self._frames, self._fds, self._wake_write):
            if sock is not None:
                try:
                    sock.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def _read(self) -> None:
        try:
            self._read_until_the_end()
        except SuperfluidError as error:
            self._end(error)
        except Exception as error:  # pylint: disable=broad-except
            self._end(LinkClosedError(f"cannot read the link: {error}"))

    def _read_until_the_end(self) -> None:
        poll = select.poll()
        poll.register(self._frames, select.POLLIN)
        poll.register(self._wake_read, select.POLLIN)
        while self._error is None:
            if self._fds is not None and not self._fds_ended:
                poll.register(self._fds, select.POLLIN)
            ready = {fd for fd, _ in poll.poll()}
            if self._wake_read.fileno() in ready:
                self._wake_read.recv(1)  # there is an fds socket now, or the link was closed
            if self._fds is not None and self._fds.fileno() in ready and not self._read_fds():
                poll.unregister(self._fds)
            if self._frames.fileno() in ready:
                self._read_frames()

    def _read_fds(self) -> bool:
        assert self._fds is not None
        with self._changed:
            try:
                more = self._receiver.receive(self._fds)
            except ProtocolError:
                more = False
            self._fds_ended = self._fds_ended or not more
            self._changed.notify_all()
        return more

    def _read_frames(self) -> None:
        try:
            data = self._frames.recv(_READ_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if not data:
            raise self._link.ended()
        for event in self._link.receive(data):
            self._deliver(event)

    def _deliver(self, event: core.Event) -> None:
        if event.correlation == 0:
            self._unsolicited(event.message)
            return
        with self._changed:
            def has_room() -> bool:
                inbox = self._inboxes.get(event.correlation)
                return (inbox is None or len(inbox.messages) < self._reply_buffer
                        or self._error is not None)

            self._changed.wait_for(has_room)
            inbox = self._inboxes.get(event.correlation)
            if inbox is None:
                return
            if not inbox.deliver(event.message):
                self._inboxes.pop(event.correlation, None)
            self._changed.notify_all()

    def _unsolicited(self, message: Message) -> None:
        if not hasattr(self, "_session"):
            return
        self._session.note_unsolicited(message)
        if isinstance(message, pb.Telemetry) and self._on_telemetry is not None:
            self._on_telemetry(dict(self._session.telemetry))


def _again(error: SuperfluidError) -> SuperfluidError:
    """A copy to raise: one exception must not be raised by several threads."""
    copy = type(error)(error.message)
    copy.__cause__ = error.__cause__
    return copy
