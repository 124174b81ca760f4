"""The shared memory of ticks and of stops: rings of tokens, and the control segment.

Byte layouts: protocol/CONTRACT.md, section 5. Words of 64 bits are read and written with one access
each; the order of accesses is the one of this program, which x86-64 keeps.
"""

from __future__ import annotations

import struct
import threading
from typing import Iterable, NamedTuple, Optional, Sequence

from superfluid import linkw_pb2 as pb
from superfluid.errors import (BusyError, FailedPreconditionError, InvalidArgumentError,
                               OutOfMemoryError, ProtocolError, StaleSpanError)
from superfluid.memory import Segment

TOKENS_IN, TOKENS_OUT, LOGITS = 1, 2, 3
_SLOT_HEADER = 16
_MOST_RING_BYTES = 1 << 30
_ATTEMPTS = 64


class RingSpec(NamedTuple):
    ring_id: int
    slot_bytes: int
    slots: int

    @property
    def words(self) -> int:
        """What one slot holds."""
        return (self.slot_bytes - _SLOT_HEADER) // 4

    def check(self) -> "RingSpec":
        """Returns itself. Raises FailedPreconditionError for a layout that cannot be."""
        if (self.slot_bytes <= _SLOT_HEADER or self.slot_bytes % 8 or self.slots < 1
                or self.slot_bytes * self.slots > _MOST_RING_BYTES):
            raise FailedPreconditionError(f"the worker announced an impossible ring {self.ring_id}")
        return self


def spec_of(limits: "pb.Limits", ring_id: int) -> RingSpec:
    """Returns what the worker announced. Raises FailedPreconditionError if it announced no such ring."""
    for spec in limits.ring_specs:
        if spec.ring_id == ring_id:
            return RingSpec(ring_id, spec.slot_bytes, spec.slots).check()
    raise FailedPreconditionError(f"the worker announced no ring {ring_id}")


class Ring:
    """One ring's memory, which the daemon makes."""

    def __init__(self, spec: RingSpec) -> None:
        self.spec = spec
        self.segment = Segment.create(spec.slot_bytes * spec.slots, f"superfluid-ring-{spec.ring_id}")
        self._view = self.segment.view
        self._longs = self._view.cast("Q")
        self._words = self._view.cast("I")

    def close(self) -> None:
        for view in (self._longs, self._words, self._view):
            view.release()
        self.segment.close()

    def _generation_at(self, slot: int) -> int:
        return slot * self.spec.slot_bytes // 8


class RingReader(Ring):
    """The end that reads what the worker writes."""

    def read(self, span: "pb.TokenSpan") -> list[int]:
        """Returns the words of a span; of an empty span none.

        Raises StaleSpanError if the slot was written again, ProtocolError for a span that cannot be.
        """
        if span.count == 0:
            return []
        spec = self.spec
        if (span.ring_id != spec.ring_id or span.slot >= spec.slots
                or span.offset + span.count > spec.words
                or span.generation == 0 or span.generation % 2):
            raise ProtocolError("the worker named a span that cannot be")
        at = self._generation_at(span.slot)
        first = (span.slot * spec.slot_bytes + _SLOT_HEADER) // 4 + span.offset
        if self._longs[at] == span.generation:
            words = self._words[first:first + span.count].tolist()
            held = self._words[span.slot * spec.slot_bytes // 4 + 2]
            if self._longs[at] == span.generation:
                if span.offset + span.count > held:
                    raise ProtocolError("the worker named words that its slot does not hold")
                return words
        raise StaleSpanError("a slot was written again before it was read")


class RingWriter(Ring):
    """The end that writes what the worker reads. Slots go round; one in use is not written again."""

    def __init__(self, spec: RingSpec) -> None:
        super().__init__(spec)
        self._generations = [0] * spec.slots
        self._next = 0
        self._in_use: set[int] = set()
        self._lock = threading.Lock()

    def write(self, inputs: Sequence[Sequence[int]]) -> "tuple[list[pb.TokenSpan], list[int]]":
        """Puts the inputs of one tick into as few slots as they need.

        Returns a span for each and the slots used, which release() frees. Raises InvalidArgumentError
        (longer than a slot, no token), OutOfMemoryError (more than the ring holds), BusyError (the
        next slots belong to ticks that were not answered).
        """
        packed, places = self._pack(inputs)
        with self._lock:
            return self._write(inputs, packed, places)

    def _write(self, inputs: Sequence[Sequence[int]], packed: "list[list[int]]",
               places: "list[tuple[int, int]]") -> "tuple[list[pb.TokenSpan], list[int]]":
        if len(packed) > self.spec.slots:
            raise OutOfMemoryError(f"the inputs take {len(packed)} slots of {self.spec.slots}")
        slots = [(self._next + i) % self.spec.slots for i in range(len(packed))]
        if any(slot in self._in_use for slot in slots):
            raise BusyError("the ring is full of inputs of ticks that were not answered")
        for slot, words in zip(slots, packed):
            self._put(slot, words)
            self._in_use.add(slot)
        if slots:
            self._next = (slots[-1] + 1) % self.spec.slots
        spans = [pb.TokenSpan() if not tokens else
                 pb.TokenSpan(ring_id=self.spec.ring_id, slot=slots[place[0]],
                              generation=self._generations[slots[place[0]]], offset=place[1],
                              count=len(tokens))
                 for tokens, place in zip(inputs, places)]
        return spans, slots

    def release(self, slots: Iterable[int]) -> None:
        with self._lock:
            self._in_use.difference_update(slots)

    def _pack(self, inputs: Sequence[Sequence[int]]) -> "tuple[list[list[int]], list[tuple[int, int]]]":
        packed: list[list[int]] = []
        places: list[tuple[int, int]] = []
        for tokens in inputs:
            if len(tokens) > self.spec.words:
                raise InvalidArgumentError(f"{len(tokens)} tokens do not fit into a slot of "
                                           f"{self.spec.words}: send them in chunks")
            if tokens and not 0 <= min(tokens) <= max(tokens) < 1 << 32:
                raise InvalidArgumentError("a token is a number of 32 bits")
            if tokens and (not packed or len(packed[-1]) + len(tokens) > self.spec.words):
                packed.append([])
            places.append((len(packed) - 1, len(packed[-1]) if packed else 0))
            if tokens:
                packed[-1].extend(tokens)
        return packed, places

    def _put(self, slot: int, words: "list[int]") -> None:
        at = self._generation_at(slot)
        start = slot * self.spec.slot_bytes
        self._generations[slot] += 2
        self._longs[at] = self._generations[slot] - 1
        struct.pack_into("=II", self._view, start + 8, len(words), 0)
        struct.pack_into(f"={len(words)}I", self._view, start + _SLOT_HEADER, *words)
        self._longs[at] = self._generations[slot]


class Heartbeat(NamedTuple):
    tick_id: int
    monotonic_ns: int


class Control:
    """The control segment: stops without a message, and the worker's pulse."""

    BYTES = 8384
    LANES = 256
    SLOTS = 1024
    _STOP_BITS = 128 // 8
    _STOP_WORDS = 192 // 8
    _BEAT = 64 // 8

    def __init__(self) -> None:
        self.segment = Segment.create(self.BYTES, "superfluid-control")
        self._view = self.segment.view
        struct.pack_into("=4sIQII", self._view, 0, b"SFLC", 1, self.BYTES, self.LANES, self.SLOTS)
        self._longs = self._view.cast("Q")
        self._free = list(range(self.SLOTS, 0, -1))
        self._lock = threading.Lock()

    def take_slot(self) -> int:
        """Returns a stop slot for a transcription, from 1; 0 (none) if all are in use."""
        return self._free.pop() if self._free else 0

    def give_slot(self, slot: int) -> None:
        if slot:
            self._longs[self._STOP_WORDS + slot - 1] = 0
            self._free.append(slot)

    def stop_request(self, slot: int, request_seq: int) -> None:
        """Asks the request that runs in the slot to stop."""
        self._longs[self._STOP_WORDS + slot - 1] = request_seq

    def set_lane_stop(self, stop_slot: int, stop: bool = True) -> None:
        """Sets or clears the stop bit that lanes name as `stop_slot`, 1 to 256."""
        if not 1 <= stop_slot <= self.LANES:
            raise InvalidArgumentError(f"stop slot {stop_slot} of {self.LANES}")
        word, bit = divmod(stop_slot - 1, 64)
        with self._lock:
            old = self._longs[self._STOP_BITS + word]
            self._longs[self._STOP_BITS + word] = old | 1 << bit if stop else old & ~(1 << bit)

    def heartbeat(self) -> Optional[Heartbeat]:
        """Returns the worker's last one; None while it writes one, or if it never does it whole."""
        for _ in range(_ATTEMPTS):
            before = self._longs[self._BEAT]
            beat = Heartbeat(self._longs[self._BEAT + 1], self._longs[self._BEAT + 2])
            if before % 2 == 0 and self._longs[self._BEAT] == before:
                return beat
        return None

    def close(self) -> None:
        self._longs.release()
        self._view.release()
        self.segment.close()
