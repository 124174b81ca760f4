"""The link without its sockets: what both clients share.

A procedure is a generator. It yields effects (Send, SendFd, Await, TakeFd) and is sent their results;
the plain client performs them by blocking, the asyncio client by awaiting.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import time
from collections import deque
from typing import Any, Callable, Deque, Generator, NamedTuple, Optional, Type, TypeVar, Union

from google.protobuf.message import Message

from superfluid import linkw_pb2 as pb
from superfluid import messages
from superfluid.errors import (DeadlineExceededError, FailedPreconditionError, InternalError, InvalidArgumentError, LinkClosedError,
                               ProtocolError, SuperfluidError, VersionMismatchError, error_of)
from superfluid.frames import VERSION, FrameDecoder, FrameEncoder
from superfluid.memory import CONTROL_TAG
from superfluid.rings import (LOGITS, TOKENS_IN, TOKENS_OUT, Control, Ring, RingReader, RingWriter,
                              spec_of)

T = TypeVar("T")
M = TypeVar("M", bound=Message)

# What overtakes what waits to be written, as it does in the worker.
URGENT = frozenset({"PING", "TRANSCRIBE_CANCEL", "OP_CANCEL"})
AUDIO_FRAME_BYTES = 64 << 10  # a frame on its way cannot be overtaken, so none is long


def utf8(text: str, what: str) -> bytes:
    """Returns a text's bytes. Raises InvalidArgumentError for one that has none in UTF-8."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(f"the {what} is not valid text: {error.reason}") from None


def path_bytes(path: Union[str, bytes]) -> bytes:
    """Returns the bytes of a path. Raises InvalidArgumentError if the file system has none for it."""
    try:
        return os.fsencode(path)
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(f"the path has no bytes: {error.reason}") from None


def deadline_units(seconds: float, per_second: int, bits: int) -> int:
    """Returns a deadline as Link W has it: at least 1, since 0 is none.

    Raises InvalidArgumentError for one that is no finite number, or does not fit into the bits.
    """
    if not math.isfinite(seconds) or seconds * per_second >= 1 << bits:
        raise InvalidArgumentError(f"a deadline of {seconds} s cannot be; None is no deadline")
    return max(1, round(seconds * per_second))


class Inbox:
    """The answers to one request, in order, until somebody takes them."""

    def __init__(self) -> None:
        self.seq = 0
        self.messages: Deque[Message] = deque()

    def deliver(self, message: Message) -> bool:
        """Takes an answer from whoever reads; returns whether there may be more that it wants."""
        self.messages.append(message)
        return True

    def absorb(self) -> None:
        """Called whenever somebody who waits for this inbox is woken."""

    def ready(self) -> bool:
        return bool(self.messages)


class Send(NamedTuple):
    """Writes a message; gives its seq. With an inbox its answers are kept there until Forget."""

    message: Message
    inbox: Optional[Inbox] = None


class Forget(NamedTuple):
    inbox: Inbox


class SendFd(NamedTuple):
    tag: int
    fd: int


class TakeFd(NamedTuple):
    tag: int
    timeout: Optional[float]


class Await(NamedTuple):
    """Waits until `ready` holds. The timeout, in seconds: None for ever, DEFAULT the client's."""

    inbox: Inbox
    ready: Callable[[], bool]
    timeout: Optional[float]


class Enter(NamedTuple):
    """Waits until no other procedure of this client is between Enter and Leave."""


class Leave(NamedTuple):
    pass


Effect = Union[Send, Forget, SendFd, TakeFd, Await, Enter, Leave]
Steps = Generator[Effect, Any, T]
DEFAULT = -1.0  # a timeout: the client's own


class Event(NamedTuple):
    correlation: int
    message: Message


class Link:
    """Bytes in, messages out; the state of one connection. Reads and writes nothing itself."""

    def __init__(self) -> None:
        self.encoder = FrameEncoder()
        self._decoder = FrameDecoder()
        self._last_words: Optional[SuperfluidError] = None

    def receive(self, data: bytes) -> list[Event]:
        """Returns what the bytes complete. Raises ProtocolError for a worker that breaks the rules."""
        self._decoder.feed(data)
        events = []
        while (frame := self._decoder.next()) is not None:
            message = messages.parse(frame.type, frame.payload)
            if message is None:
                continue
            if isinstance(message, pb.Error) and message.fatal:
                self._last_words = failure(message)
            if isinstance(message, pb.HelloAckW):
                self.encoder.max_frame = min(message.limits.max_frame, messages.MAX_FRAME)
            events.append(Event(frame.correlation, message))
        return events

    def ended(self, how: str = "") -> LinkClosedError:
        """Returns the error of a link whose peer is gone: its last words count for more."""
        if self._last_words is not None:
            closed = LinkClosedError(f"the worker closed the link: {self._last_words}")
            closed.__cause__ = self._last_words
            return closed
        inside = "" if self._decoder.at_boundary else " inside a frame"
        return LinkClosedError(how or f"the worker closed the link{inside}")


def failure(error: "pb.Error") -> SuperfluidError:
    """Returns an ERROR frame as the exception that it is."""
    text = f"{error.message} ({error.detail})" if error.detail else error.message
    return error_of(error.status, text)


def check_status(answer: Any) -> None:
    """Raises what the status of an answer says, unless that is OK."""
    if answer.status:
        raise error_of(answer.status, answer.message)


# ---- Procedures that everything else is made of

def request(message: Message, kind: Type[M], timeout: Optional[float] = DEFAULT) -> Steps[M]:
    """Sends a request and returns its first answer, which is of `kind`, or raises what it says."""
    inbox = Inbox()
    yield Send(message, inbox)
    try:
        yield Await(inbox, inbox.ready, timeout)
        return expect(inbox.messages.popleft(), kind)
    finally:
        yield Forget(inbox)


def expect(answer: Message, kind: Type[M]) -> M:
    if isinstance(answer, kind):
        return answer
    if isinstance(answer, pb.Error):
        raise failure(answer)
    raise InternalError(f"the worker's answer is a {answer.DESCRIPTOR.name}")


class Info(NamedTuple):
    """What a worker says about itself."""

    version: int
    capabilities: dict[str, Any]
    calls: frozenset[str]
    limits: Any  # linkw_pb2.Limits
    state_spaces: tuple[Any, ...]  # linkw_pb2.StateSpaceDescriptor
    bundle_hash: bytes

    @property
    def max_transcriptions(self) -> int:
        """How many transcriptions the engine works on at once; others that are open wait for them."""
        most = self.capabilities.get("max_transcriptions", 0)
        return most if isinstance(most, int) else 0

    @property
    def engine(self) -> str:
        name = self.capabilities.get("name", self.capabilities.get("engine", ""))
        return name if isinstance(name, str) else ""


def info_of(ack: "pb.HelloAckW") -> Info:
    capabilities = parse_capabilities(ack.capabilities)
    calls = capabilities.get("calls")
    names = [name for name in calls if isinstance(name, str)] if isinstance(calls, list) else []
    return Info(ack.chosen_version, capabilities, frozenset(names), ack.limits,
                tuple(ack.state_space_descriptors), ack.engine_bundle_hash)


def parse_capabilities(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


class Session:
    """What a link has: the worker's terms, and the shared memory that was attached."""

    def __init__(self, ack: "pb.HelloAckW", has_fds: bool) -> None:
        self.ack = ack
        self.info = info_of(ack)
        self.has_fds = has_fds
        self.telemetry: dict[str, int] = {}
        self._control: Optional[Control] = None
        self._rings: dict[int, Ring] = {}
        self._buffer_ids = itertools.count(1 << 32)
        self._tick_ids = itertools.count(1)

    def next_buffer_id(self) -> int:
        return next(self._buffer_ids)

    def next_tick_id(self) -> int:
        return next(self._tick_ids)

    def need_fds(self) -> None:
        if not self.has_fds:
            raise FailedPreconditionError("this link has no fds connection")

    def control(self) -> Steps[Control]:
        """Returns the control segment, which the first call attaches."""
        if self._control is None:
            self.need_fds()
            yield Enter()
            try:
                if self._control is None:
                    control = Control()
                    yield SendFd(CONTROL_TAG, control.segment.fd)
                    yield from request(pb.ControlAttach(bytes=Control.BYTES), pb.ControlAck)
                    self._control = control
            finally:
                yield Leave()
        return self._control

    @property
    def attached_control(self) -> Optional[Control]:
        return self._control

    def attach_rings(self) -> Steps[None]:
        """Makes the three rings and the control segment, and attaches what is not attached yet."""
        yield from self.control()
        if len(self._rings) == 3:
            return
        yield Enter()
        try:
            for ring_id in (TOKENS_IN, TOKENS_OUT, LOGITS):
                if ring_id not in self._rings:
                    yield from self._attach_ring(ring_id)
        finally:
            yield Leave()

    def _attach_ring(self, ring_id: int) -> Steps[None]:
        spec = spec_of(self.ack.limits, ring_id)
        ring = RingWriter(spec) if ring_id == TOKENS_IN else RingReader(spec)
        kind = pb.RingKind.LOGITS if ring_id == LOGITS else pb.RingKind.TOKENS
        layout = pb.RingSpec(ring_id=ring_id, kind=kind, slot_bytes=spec.slot_bytes,
                             slots=spec.slots)
        yield SendFd(ring_id, ring.segment.fd)
        yield from request(pb.RingAttach(ring_id=ring_id, layout=layout), pb.RingAck)
        self._rings[ring_id] = ring

    @property
    def tokens_in(self) -> RingWriter:
        ring = self._rings.get(TOKENS_IN)
        if not isinstance(ring, RingWriter):
            raise FailedPreconditionError("the rings are not attached")
        return ring

    def reader(self, ring_id: int) -> RingReader:
        ring = self._rings.get(ring_id)
        if not isinstance(ring, RingReader):
            raise FailedPreconditionError("the rings are not attached")
        return ring

    def note_unsolicited(self, message: Message) -> None:
        if isinstance(message, pb.Telemetry):
            self.telemetry = {counter.name: counter.value for counter in message.counters}

    def close(self) -> None:
        for ring in self._rings.values():
            ring.close()
        self._rings.clear()
        if self._control is not None:
            self._control.close()
            self._control = None


ROLES = {"driver": pb.Role.DRIVER, "observer": pb.Role.OBSERVER}


OnLoading = Callable[["pb.Pong"], bool]
_TELL_PERIOD, _ASK_PERIOD = 0.3, 2.0  # seconds between two pings, for on_loading and for the error's text


def handshake(role: str, client_name: str, features: "tuple[str, ...]", timeout: float,
              on_loading: Optional[OnLoading] = None) -> Steps["pb.HelloAckW"]:
    """Introduces this client. Raises what the worker answers: BusyError, PermissionDeniedError ...

    A worker that still loads its engine answers when it is done. `on_loading` is called with its Pong
    some times a second meanwhile; if it returns True the timeout counts anew from then on.
    """
    hello = pb.Hello(proto_versions=pb.VersionRange(min=VERSION, max=VERSION), role=ROLES[role],
                     client_name=client_name.encode(), features=[f.encode() for f in features])
    try:
        ack = yield from _introduce(hello, timeout, on_loading)
    except LinkClosedError as error:
        if isinstance(error.__cause__, SuperfluidError):
            raise error.__cause__ from None
        raise
    if ack.chosen_version != VERSION:
        raise VersionMismatchError(f"the worker chose version {ack.chosen_version}")
    return ack


def _introduce(hello: "pb.Hello", timeout: float,
               on_loading: Optional[OnLoading]) -> Steps["pb.HelloAckW"]:
    inbox = Inbox()
    end = time.monotonic() + timeout
    period = min(_ASK_PERIOD, timeout / 2) if on_loading is None else _TELL_PERIOD
    loading = ""
    yield Send(hello, inbox)
    try:
        while True:
            left = end - time.monotonic()
            try:
                yield Await(inbox, inbox.ready, max(0.0, min(left, period)))
                return expect(inbox.messages.popleft(), pb.HelloAckW)
            except DeadlineExceededError:
                if left <= period:
                    raise DeadlineExceededError(loading or "the worker did not answer in time") from None
            try:
                pong = yield from request(pb.Ping(), pb.Pong, max(0.001, end - time.monotonic()))
            except SuperfluidError:
                continue  # the answer to HELLO, or the end of the link, says why
            if pong.engine_state != pb.EngineState.LOADING:
                continue
            loading = f"the worker still loads its engine ({pong.load_permille // 10} %)"
            if on_loading is not None and on_loading(pong):
                end = time.monotonic() + timeout
    finally:
        yield Forget(inbox)


class Health(NamedTuple):
    """An answer to PING."""

    state: str  # "idle", "busy", "stalled", "failed", "draining", "loading"
    pong: Any   # linkw_pb2.Pong, with all figures
    round_trip: float  # seconds


def ping(clock: Callable[[], float], timeout: Optional[float] = DEFAULT) -> Steps[Health]:
    began = clock()
    pong = yield from request(pb.Ping(), pb.Pong, timeout)
    state = pb.EngineState.Name(pong.engine_state).removeprefix("ENGINE_").lower()
    return Health(state, pong, clock() - began)


def call(name: str, fields: dict[str, Any], timeout: Optional[float] = DEFAULT) -> Steps[Any]:
    """Makes a state call by its field name in StateSyncReq; returns its result's member."""
    req = pb.StateSyncReq()
    if name not in req.DESCRIPTOR.fields_by_name:
        raise InvalidArgumentError(f"there is no call '{name}'")
    member = getattr(req, name)
    member.SetInParent()
    for key, value in fields.items():
        field = member.DESCRIPTOR.fields_by_name.get(key)
        if field is None:
            raise InvalidArgumentError(f"the call '{name}' has no field '{key}'")
        if field.label == field.LABEL_REPEATED:
            getattr(member, key).extend(value)
        elif field.message_type is not None:
            getattr(member, key).CopyFrom(value)
        else:
            setattr(member, key, value.encode() if isinstance(value, str) and
                    field.type == field.TYPE_BYTES else value)
    answer = yield from request(req, pb.StateSyncRes, timeout)
    check_status(answer)
    reply = answer.WhichOneof("reply")
    if reply is None:
        raise InternalError("the worker's answer has no result")
    return getattr(answer, reply)


def drain(cancel_transcriptions: bool, deadline: Optional[float], shut_down: bool,
          patience: float) -> Steps["pb.Drained"]:
    milliseconds = 0 if deadline is None else deadline_units(deadline, 1000, 32)
    timeout = None if deadline is None else deadline + patience
    message = pb.DrainReq(cancel_transcriptions=cancel_transcriptions, deadline_ms=milliseconds,
                          shut_down=shut_down)
    return (yield from request(message, pb.Drained, timeout))


__all__ = ["Await", "Effect", "Event", "Forget", "Health", "Inbox", "Info", "Link", "ProtocolError",
           "Send", "SendFd", "Session", "Steps", "TakeFd"]
