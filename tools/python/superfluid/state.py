"""Buffers, state ops, and the prefix cache."""

from __future__ import annotations

import struct
from typing import NamedTuple, Optional, Sequence, Union

from superfluid import core
from superfluid import linkw_pb2 as pb
from superfluid.core import DEFAULT, Await, Forget, Inbox, Send, SendFd, Session, Steps, TakeFd
from superfluid.errors import (CancelledError, EnvelopeMismatchError, InternalError, InvalidArgumentError,
                               SuperfluidError, UnknownHandleError, error_of)
from superfluid.memory import Segment

ENVELOPE_BYTES = 160
_MAGIC = b"SFLSTATE"
_MOST_STATE_BYTES = 1 << 36


class Buffer:
    """Memory that worker and client share; see Client.allocate and Client.share."""

    def __init__(self, buffer_id: int, segment: Segment, replies: Optional[Inbox]) -> None:
        self.id = buffer_id
        self.segment = segment
        self.replies = replies

    @property
    def size(self) -> int:
        return self.segment.size

    def read(self, offset: int = 0, size: Optional[int] = None) -> bytes:
        """Returns a copy: the worker may write the memory at any moment."""
        return self.segment.read(offset, size)

    def write(self, data: Union[bytes, bytearray, memoryview], offset: int = 0) -> None:
        self.segment.write(data, offset)

    @property
    def refusal(self) -> Optional[SuperfluidError]:
        """Why the worker refused a shared buffer, as far as it has said so."""
        if self.replies is None or not self.replies.messages:
            return None
        first = self.replies.messages[0]
        return core.failure(first) if isinstance(first, pb.Error) else None


def allocate(session: Session, size: int, timeout: Optional[float] = DEFAULT) -> Steps[Buffer]:
    """Has the worker make memory."""
    if size <= 0:
        raise InvalidArgumentError(f"a buffer of {size} bytes")
    yield from session.control()  # from then on the worker knows the fds connection
    buffer = session.next_buffer_id()
    answer = yield from core.request(pb.BufAlloc(buf_id=buffer, len=size), pb.BufAlloced, timeout)
    core.check_status(answer)
    try:
        fd = yield TakeFd(buffer, timeout)
        return Buffer(buffer, Segment.attach(fd, size), None)
    except BaseException:
        yield Send(pb.BufRelease(buf_id=buffer))
        raise


def share(session: Session, data: Union[int, bytes, bytearray, memoryview]) -> Steps[Buffer]:
    """Attaches memory of ours, of a size or with these bytes. A refusal shows in Buffer.refusal."""
    session.need_fds()
    size = data if isinstance(data, int) else memoryview(data).nbytes
    segment = Segment.create(size, "superfluid-buffer")
    try:
        if not isinstance(data, int):
            segment.write(data)
        buffer = Buffer(session.next_buffer_id(), segment, Inbox())
        yield SendFd(buffer.id, segment.fd)
        yield Send(pb.BufAttach(buf_id=buffer.id, len=size), buffer.replies)
        return buffer
    except BaseException:
        segment.close()
        raise


def release(buffer: Buffer) -> Steps[None]:
    """Tells the worker to let go, which it does when no op uses the buffer, and unmaps it."""
    buffer.segment.close()
    if buffer.replies is not None:
        yield Forget(buffer.replies)
        buffer.replies = None
    yield Send(pb.BufRelease(buf_id=buffer.id))


# ---- Ops

def run_op(op: "pb.StateOpSubmit", timeout: Optional[float] = None) -> Steps[int]:
    """Runs a state op to its end, and returns the bytes moved. Cancels it if the wait is cut short."""
    inbox = Inbox()
    yield Send(op, inbox)
    handle = 0
    try:
        yield Await(inbox, inbox.ready, DEFAULT)
        accepted = core.expect(inbox.messages.popleft(), pb.StateOpAccepted)
        core.check_status(accepted)
        handle = accepted.op_handle
        yield Await(inbox, inbox.ready, timeout)
        done = core.expect(inbox.messages.popleft(), pb.StateOpDone)
        if done.op_handle != handle:
            raise InternalError("the worker ended another op")
        handle = 0
        return _moved(done)
    finally:
        yield Forget(inbox)
        if handle:
            yield Send(pb.OpCancel(op_handle=handle))


def _moved(done: "pb.StateOpDone") -> int:
    if done.state == pb.OpState.OP_DONE:
        return done.bytes_moved
    if done.state == pb.OpState.OP_CANCELLED:
        raise CancelledError(done.message)
    raise error_of(done.error, done.message)


class SavedSpace(NamedTuple):
    space_id: int
    sealed: bytes  # the envelope and the payload


class SavedState(NamedTuple):
    """A sequence's state, for any worker whose engine and model are the same."""

    position: int  # tokens
    spaces: tuple[SavedSpace, ...]


def common_boundary(session: Session, sequence: int, position: int) -> Steps[int]:
    """Returns the largest position, at most this one, at which every space may be exported."""
    common = -1
    while common != position:
        common = position
        for space in session.info.state_spaces:
            result = yield from core.call("snapshot_boundary", {
                "sequence": sequence, "space_id": space.space_id, "cap": position})
            position = min(position, result.boundary)
    return position


def snapshot(session: Session, sequence: int, position: int, timeout: Optional[float]) -> Steps[SavedState]:
    """Saves the first `position` tokens' state, or as many of them as can be exported."""
    boundary = yield from common_boundary(session, sequence, position)
    spaces = []
    for space in session.info.state_spaces:
        sealed = yield from _export(session, sequence, space.space_id, boundary, timeout)
        spaces.append(SavedSpace(space.space_id, sealed))
    return SavedState(boundary, tuple(spaces))


def _export(session: Session, sequence: int, space_id: int, boundary: int,
            timeout: Optional[float]) -> Steps[bytes]:
    size = yield from core.call("export_size", {
        "sequence": sequence, "space_id": space_id, "encoding": 0,
        "range": pb.TokenRange(start=0, end=boundary)})
    if size.required_bytes > _MOST_STATE_BYTES:
        raise InternalError("the worker claims an impossible size")
    buffer = yield from allocate(session, ENVELOPE_BYTES + size.required_bytes)
    try:
        op = pb.Snapshot(sequence=sequence, space_id=space_id, boundary_pos=boundary,
                         buf_id=buffer.id, sizing_gen=size.sizing_gen)
        yield from run_op(pb.StateOpSubmit(snapshot=op), timeout)
        return _sealed(buffer.read())
    finally:
        yield from release(buffer)


def _sealed(data: bytes) -> bytes:
    magic, version, header = struct.unpack_from("<8sII", data)
    payload = struct.unpack_from("<Q", data, 104)[0]
    if (magic, version, header) != (_MAGIC, 1, ENVELOPE_BYTES) or payload > len(data) - ENVELOPE_BYTES:
        raise EnvelopeMismatchError("the worker wrote no state")
    return data[:ENVELOPE_BYTES + payload]


def restore(session: Session, state: SavedState, timeout: Optional[float]) -> Steps[int]:
    """Makes a sequence of a saved state, and returns it."""
    made = yield from core.call("create_sequence", {})
    sequence: int = made.sequence
    try:
        for space in state.spaces:
            yield from _import(session, sequence, space, timeout)
    except SuperfluidError:
        yield from core.call("free_sequence", {"sequence": sequence})
        raise
    return sequence


def _import(session: Session, sequence: int, space: SavedSpace, timeout: Optional[float]) -> Steps[None]:
    buffer = yield from share(session, space.sealed)
    try:
        op = pb.Restore(sequence=sequence, space_id=space.space_id, buf_id=buffer.id)
        yield from run_op(pb.StateOpSubmit(restore=op), timeout)
    except UnknownHandleError:
        if buffer.refusal is not None:
            raise buffer.refusal from None
        raise
    finally:
        yield from release(buffer)


# ---- The prefix cache

class Seed(NamedTuple):
    """A lease of a cached prefix."""

    handle: int
    ttl: float  # seconds
    ttl_ticks: int


def _write_tokens(session: Session, tokens: Sequence[int]) -> "Steps[tuple[pb.TokenSpan, list[int]]]":
    yield from session.attach_rings()
    spans, slots = session.tokens_in.write([tokens])
    return spans[0], slots


def match(session: Session, tokens: Sequence[int]) -> Steps[dict[int, int]]:
    """Returns how many of the first tokens are cached, by state space."""
    span, slots = yield from _write_tokens(session, tokens)
    try:
        answer = yield from core.request(pb.MatchReq(span=span), pb.MatchRes)
    finally:
        session.tokens_in.release(slots)
    core.check_status(answer)
    return {space.space_id: space.matched_tokens for space in answer.spaces}


def acquire_seed(session: Session, tokens: Sequence[int], prefix_len: int) -> Steps[Seed]:
    """Leases a cached prefix. Raises NotFoundError if it is not cached that far."""
    span, slots = yield from _write_tokens(session, tokens)
    try:
        answer = yield from core.request(pb.SeedAcquire(span=span, prefix_len=prefix_len), pb.SeedGrant)
    finally:
        session.tokens_in.release(slots)
    core.check_status(answer)
    return Seed(answer.seed_handle, answer.ttl_ms / 1000, answer.ttl_ticks)


def publish(session: Session, sequence: int, tokens: Sequence[int]) -> Steps[None]:
    """Puts the state of a sequence's first tokens, which these are, into the cache."""
    span, slots = yield from _write_tokens(session, tokens)
    try:
        yield from core.call("publish_sequence", {"sequence": sequence, "span": span})
    finally:
        session.tokens_in.release(slots)
