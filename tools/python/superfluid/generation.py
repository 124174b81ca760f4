"""Ticks: lanes whose tokens travel in rings."""

from __future__ import annotations

import dataclasses
import struct
from collections import deque
from typing import Any, Deque, NamedTuple, Optional, Sequence

from google.protobuf.message import Message

from superfluid import core
from superfluid import linkw_pb2 as pb
from superfluid.core import Await, Forget, Inbox, Send, Session, Steps
from superfluid.errors import (CancelledError, InvalidArgumentError, ProtocolError, SuperfluidError,
                               error_of)
from superfluid.rings import LOGITS, TOKENS_OUT

_KINDS = {"prefill": pb.LaneKind.PREFILL, "decode": pb.LaneKind.DECODE,
          "verify": pb.LaneKind.VERIFY}
_PARTIAL_EMITS = 1
_MOST_EMITTED = 256 * 1024  # tokens that a tick can draw


class Sampling(NamedTuple):
    """How tokens are drawn; 0 means off, and of the temperature: the most likely token."""

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 0.0
    min_p: float = 0.0
    repetition_penalty: float = 0.0
    seed: int = 0


class Lane(NamedTuple):
    """What one sequence does in a tick: its tokens are appended, then `kind` says what is drawn.

    "prefill" draws nothing, "decode" up to max_tokens, "verify" one token, and one more for each
    right draft. The rules of each field stand in protocol/CONTRACT.md, section 6.
    """

    kind: str = "decode"
    tokens: Sequence[int] = ()
    sequence: int = 0  # 0: a new one, which the result names
    max_tokens: int = 0
    sampling: Sampling = Sampling()
    grammar: int = 0
    logit_bias: int = 0
    stop_tokens: Sequence[int] = ()
    strategy_slot: int = 0
    drafts: Sequence[int] = ()
    want_logits: bool = False
    stop_slot: int = 0  # see set_lane_stop
    tag: Optional[int] = None  # None: the lane's place in the tick


class Logit(NamedTuple):
    token: int
    logit: float


class LaneResult(NamedTuple):
    tag: int
    sequence: int
    position: int
    tokens: list[int]
    logits: list[Logit]
    finish_reason: str  # "NOT_FINISHED", "STOP_TOKEN", "LENGTH", "STOPPED", "LANE_ERROR"
    accepted_drafts: int
    error: Optional[SuperfluidError]  # of this lane alone


@dataclasses.dataclass(frozen=True)
class Emit:
    """Tokens that a lane drew while its tick still runs; only with partial_emits."""

    tag: int
    tokens: tuple[int, ...]
    index: int


class TickResult(NamedTuple):
    tick_id: int
    lanes: list[LaneResult]
    dropped_emits: int
    queue_us: int
    engine_us: int
    mem: Any  # linkw_pb2.MemCounters


class Ticking(Inbox):
    """One tick, from its plan to its result."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._emits: Deque[Emit] = deque()
        self._emitted = 0
        self._answer: Optional[Message] = None
        self._slots: list[int] = []
        self._lanes = 0
        self._result: Optional[TickResult] = None
        self._closed = False

    def absorb(self) -> None:
        while self.messages:
            message = self.messages.popleft()
            if isinstance(message, pb.TickEmit):
                self._emitted += max(1, len(message.tokens))
                if self._emitted <= _MOST_EMITTED:
                    self._emits.append(
                        Emit(message.lane_tag, tuple(message.tokens), message.index))
            elif self._answer is None:
                self._answer = message

    @property
    def done(self) -> bool:
        return self._answer is not None or self._closed

    def start(self, lanes: Sequence[Lane], deadline: Optional[float], partial_emits: bool) -> Steps[None]:
        yield from self._session.attach_rings()
        ring = self._session.tokens_in
        spans, self._slots = ring.write([lane.tokens for lane in lanes])
        self._lanes = len(lanes)
        try:
            plan = pb.TickPlan(tick_id=self._session.next_tick_id(),
                               flags=_PARTIAL_EMITS if partial_emits else 0,
                               lanes=[_lane(place, lane, span)
                                      for place, (lane, span) in enumerate(zip(lanes, spans))])
            if deadline is not None:
                plan.deadline_us = core.deadline_units(deadline, 1_000_000, 64)
            yield Send(pb.TickSubmit(plan=plan), self)
        except BaseException:
            ring.release(self._slots)
            raise

    def next_emit(self, timeout: Optional[float]) -> Steps[Optional[Emit]]:
        """Returns the next tokens of a lane; None after the last."""
        yield Await(self, lambda: bool(self._emits) or self.done, timeout)
        return self._emits.popleft() if self._emits else None

    def result(self, timeout: Optional[float]) -> Steps[TickResult]:
        """Returns what the tick did. Raises what refused or ended it as a whole.

        To be called before as many later ticks as the rings have slots were submitted.
        """
        if self._result is None:
            yield Await(self, lambda: self.done, timeout)
            if self._answer is None:
                raise CancelledError("the tick was closed before its end")
            yield Forget(self)
            self._session.tokens_in.release(self._slots)
            answer = core.expect(self._answer, pb.TickResult)
            core.check_status(answer)
            self._result = self._read(answer.events)
        return self._result

    def close(self) -> Steps[None]:
        """Takes no more of the tick, which ends by itself; then its slots of the ring are free."""
        if not self.seq or self._closed:
            return
        yield Await(self, self._abandon, 0)
        if self._answer is not None:
            yield Forget(self)
            self._session.tokens_in.release(self._slots)

    def _abandon(self) -> bool:
        # Between two deliveries: an answer is either here or comes to deliver().
        self._closed = True
        return True

    def deliver(self, message: Message) -> bool:
        if not self._closed:
            return super().deliver(message)
        if isinstance(message, pb.TickEmit):
            return True
        self._session.tokens_in.release(self._slots)
        return False

    def _read(self, events: "pb.TickEvents") -> TickResult:
        if len(events.lanes) != self._lanes:
            raise ProtocolError(f"{len(events.lanes)} events for {self._lanes} lanes")
        return TickResult(events.tick_id, [self._read_lane(event) for event in events.lanes],
                          events.dropped_emits, events.timings.queue_us, events.timings.engine_us,
                          events.mem)

    def _read_lane(self, event: "pb.LaneEvent") -> LaneResult:
        error = error_of(event.status, event.message) if event.status else None
        tokens = self._session.reader(TOKENS_OUT).read(event.out)
        words = self._session.reader(LOGITS).read(event.logits)
        if len(words) % 2:
            raise ProtocolError(f"{len(words)} words are not pairs of a token and its logit")
        floats = struct.unpack(f"={len(words)}f", struct.pack(f"={len(words)}I", *words))
        logits = [Logit(token, logit) for token, logit in zip(words[::2], floats[1::2])]
        return LaneResult(event.lane_tag, event.sequence, event.position, tokens, logits,
                          pb.FinishReason.Name(event.finish_reason), event.accepted_drafts, error)


def _lane(place: int, lane: Lane, span: "pb.TokenSpan") -> "pb.Lane":
    if lane.kind not in _KINDS:
        raise InvalidArgumentError(f"lane kind '{lane.kind}' is none of {', '.join(_KINDS)}")
    try:
        return pb.Lane(lane_tag=place if lane.tag is None else lane.tag, sequence=lane.sequence,
                       input=span, kind=_KINDS[lane.kind], max_tokens=lane.max_tokens,
                       sampling=pb.Sampling(**lane.sampling._asdict()),
                       grammar_handle=lane.grammar, logit_bias_handle=lane.logit_bias,
                       stop_tokens=lane.stop_tokens, strategy_slot=lane.strategy_slot,
                       draft_tokens=lane.drafts, want_logits=lane.want_logits,
                       stop_slot=lane.stop_slot)
    except (ValueError, TypeError) as error:
        raise InvalidArgumentError(f"lane {place}: {error}") from None
