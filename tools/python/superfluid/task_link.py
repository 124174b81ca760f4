"""What the asyncio client does with its sockets: tasks that read and write, and calls to await."""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from typing import Any, Callable, Deque, Iterable, NamedTuple, Optional, TypeVar

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


class _Outgoing(NamedTuple):
    message: Message
    inbox: Optional[Inbox]
    written: "asyncio.Future[int]"


class TaskLink:
    """Performs procedures over two sockets. The base of AsyncClient, whose promises it keeps."""

    def __init__(self, frames: socket.socket, *, call_timeout: float = 30.0, reply_buffer: int = 256,
                 on_telemetry: Optional[Callable[[dict[str, int]], None]] = None) -> None:
        """Takes a connected socket. open() has to follow; connect() does both."""
        frames.setblocking(False)
        self._frames = frames
        self._fds: Optional[socket.socket] = None
        self._call_timeout = call_timeout
        self._reply_buffer = reply_buffer
        self._on_telemetry = on_telemetry
        self._loop = asyncio.get_running_loop()
        self._link = Link()
        self._receiver = FdReceiver()
        self._fds_ended = True
        self._inboxes: dict[int, Inbox] = {}
        self._error: Optional[SuperfluidError] = None
        self._waiters: set["asyncio.Future[None]"] = set()
        self._urgent: Deque[_Outgoing] = deque()
        self._ordinary: Deque[_Outgoing] = deque()
        self._something = asyncio.Event()  # to write
        self._setup_lock = asyncio.Lock()  # of procedures, between Enter and Leave
        self._session: Session
        self._tasks = [self._loop.create_task(self._read()), self._loop.create_task(self._write())]

    async def open(self, *, role: str = "driver", client_name: str = "superfluid-python",
                   features: Iterable[str] = (), timeout: float = 10.0,
                   on_loading: Optional[core.OnLoading] = None) -> None:
        """Introduces the client to the worker."""
        ack = await self._run(core.handshake(role, client_name, tuple(features), timeout, on_loading))
        self._session = Session(ack, False)

    def adopt_fds(self, fds: socket.socket) -> None:
        """Takes the link's second socket."""
        fds.setblocking(False)
        self._fds = fds
        self._fds_ended = False
        self._session.has_fds = True
        self._loop.add_reader(fds, self._read_fds)

    async def close(self) -> None:
        """Ends the link; the worker cancels what is open. Any number of times."""
        self._end(LinkClosedError("the link was closed here"))
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._frames.close()
        if self._fds is not None:
            self._fds.close()
        self._receiver.close()
        if hasattr(self, "_session"):
            self._session.close()

    # -- Performing procedures

    def _or_default(self, timeout: Optional[float]) -> float:
        return core.DEFAULT if timeout is None else timeout

    async def _run(self, steps: Steps[T]) -> T:
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
                value = await self._perform(effect)
            except BaseException as raised:  # the procedure cleans up, and raises it again
                error = raised

    async def _perform(self, effect: Effect) -> Any:
        if isinstance(effect, Send):
            return await self._send(effect.message, effect.inbox)
        if isinstance(effect, Forget):
            self._inboxes.pop(effect.inbox.seq, None)
            self._wake()
            return None
        if isinstance(effect, SendFd):
            return self._send_fd(effect)
        if isinstance(effect, Await):
            return await self._await(effect)
        if isinstance(effect, TakeFd):
            return await self._take_fd(effect)
        if isinstance(effect, Enter):
            return await self._setup_lock.acquire()
        return self._setup_lock.release()

    async def _take_fd(self, effect: TakeFd) -> int:
        taken: list[int] = []

        def done() -> bool:
            fd = self._receiver.take(effect.tag)
            if fd is not None:
                taken.append(fd)
            return fd is not None or self._fds_ended

        await self._wait(done, self._seconds(effect.timeout), "the worker's descriptor did not come")
        if not taken:
            raise LinkClosedError("the fds connection has ended")
        return taken[0]

    def _seconds(self, timeout: Optional[float]) -> Optional[float]:
        return self._call_timeout if timeout == core.DEFAULT else timeout

    async def _await(self, effect: Await) -> None:
        def done() -> bool:
            before = len(effect.inbox.messages)
            effect.inbox.absorb()
            if len(effect.inbox.messages) != before:
                self._wake()
            return effect.ready() or self._error is not None

        await self._wait(done, self._seconds(effect.timeout), "the worker did not answer")
        if not effect.ready():
            raise self._why()

    async def _wait(self, done: Callable[[], bool], timeout: Optional[float], what: str) -> None:
        end = None if timeout is None else self._loop.time() + timeout
        while not done():
            left = None if end is None else end - self._loop.time()
            if left is not None and left <= 0:
                raise DeadlineExceededError(f"{what} in time")
            waiter: "asyncio.Future[None]" = self._loop.create_future()
            self._waiters.add(waiter)
            try:
                await asyncio.wait([waiter], timeout=left)
            finally:
                self._waiters.discard(waiter)

    def _wake(self) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    def _why(self) -> SuperfluidError:
        assert self._error is not None
        copy = type(self._error)(self._error.message)
        copy.__cause__ = self._error.__cause__
        return copy

    # -- Writing

    async def _send(self, message: Message, inbox: Optional[Inbox]) -> int:
        if self._error is not None:
            raise self._why()
        urgent = messages.NAMES[messages.type_of(message)] in core.URGENT
        item = _Outgoing(message, inbox, self._loop.create_future())
        (self._urgent if urgent else self._ordinary).append(item)
        self._something.set()
        try:
            return await item.written
        except asyncio.CancelledError:
            self._unsend(item)
            raise

    def _unsend(self, item: _Outgoing) -> None:
        """Takes back what was not written, and forgets the answers of what was."""
        for waiting in (self._urgent, self._ordinary):
            if item in waiting:
                waiting.remove(item)
        if item.inbox is not None:
            self._inboxes.pop(item.inbox.seq, None)

    async def _write(self) -> None:
        try:
            while self._error is None:
                item = (self._urgent.popleft() if self._urgent else
                        self._ordinary.popleft() if self._ordinary else None)
                if item is None:
                    self._something.clear()
                    await self._something.wait()
                else:
                    await self._write_one(item)
        finally:
            self._refuse_all()

    async def _write_one(self, item: _Outgoing) -> None:
        try:
            seq, data = self._link.encoder.encode(item.message)
        except SuperfluidError as error:
            if not item.written.done():
                item.written.set_exception(error)
            return
        if item.inbox is not None and not item.written.cancelled():
            item.inbox.seq = seq
            self._inboxes[seq] = item.inbox
        try:
            await asyncio.wait_for(self._loop.sock_sendall(self._frames, data), self._call_timeout)
        except asyncio.TimeoutError:
            self._end(LinkClosedError("the worker takes no more messages"))
        except OSError:
            # What it said last is still to be read; the reader ends the link.
            await asyncio.wait([self._tasks[0]], timeout=1)
            self._end(LinkClosedError("the worker closed the link"))
        if item.written.done():
            return
        if self._error is not None:
            item.written.set_exception(self._why())
        else:
            item.written.set_result(seq)

    def _refuse_all(self) -> None:
        for waiting in (self._urgent, self._ordinary):
            while waiting:
                item = waiting.popleft()
                if not item.written.done():
                    item.written.set_exception(self._why())

    def _send_fd(self, effect: SendFd) -> None:
        if self._fds is None:
            raise FailedPreconditionError("this link has no fds connection")
        if self._error is not None:
            raise self._why()
        if not send_fd(self._fds, effect.tag, effect.fd):
            raise BusyError("the worker does not take the descriptors sent before")

    # -- Reading

    def _end(self, error: SuperfluidError) -> None:
        """Ends the link, for the first reason given."""
        if self._error is None:
            self._error = error
        self._stop_fds()
        self._wake()
        self._something.set()
        try:
            self._frames.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def _stop_fds(self) -> None:
        if self._fds is not None and not self._fds_ended:
            self._loop.remove_reader(self._fds)
            try:
                self._fds.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self._fds_ended = True

    async def _read(self) -> None:
        try:
            while self._error is None:
                try:
                    data = await self._loop.sock_recv(self._frames, _READ_BYTES)
                except OSError:
                    data = b""
                if not data:
                    raise self._link.ended()
                for event in self._link.receive(data):
                    await self._deliver(event)
        except SuperfluidError as error:
            self._end(error)
        except Exception as error:  # pylint: disable=broad-except
            self._end(LinkClosedError(f"cannot read the link: {error}"))

    async def _deliver(self, event: core.Event) -> None:
        if event.correlation == 0:
            if hasattr(self, "_session"):
                self._session.note_unsolicited(event.message)
                if isinstance(event.message, pb.Telemetry) and self._on_telemetry is not None:
                    self._on_telemetry(dict(self._session.telemetry))
            return

        def has_room() -> bool:
            inbox = self._inboxes.get(event.correlation)
            return (inbox is None or len(inbox.messages) < self._reply_buffer
                    or self._error is not None)

        await self._wait(has_room, None, "")
        inbox = self._inboxes.get(event.correlation)
        if inbox is None:
            return
        if not inbox.deliver(event.message):
            self._inboxes.pop(event.correlation, None)
        self._wake()

    def _read_fds(self) -> None:
        assert self._fds is not None
        try:
            more = self._receiver.receive(self._fds)
        except ProtocolError:
            more = False
        if not more:
            self._stop_fds()
        self._wake()
