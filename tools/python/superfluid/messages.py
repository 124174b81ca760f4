"""The messages of Link W: which payload a frame type has, and what a message must be like to be taken.

linkw_pb2 is made from protocol/linkw.proto by protoc; README.md has the line.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator, Optional

from google.protobuf.message import DecodeError, Message

from superfluid import linkw_pb2 as pb
from superfluid.errors import ProtocolError

MAX_FRAME = 64 << 20  # the most that a worker may announce
_TICK_LIMIT = 256 << 10
_SMALL_LIMIT = 64 << 10
_BULK = frozenset({"HELLO_ACK_W", "STATE_SYNC_REQ", "STATE_SYNC_RES", "TRANSCRIBE_AUDIO",
                   "STRATEGY_REGISTER", "STRATEGY_GRANT"})
_TICK = frozenset({"TICK_SUBMIT", "TICK_RESULT", "TICK_EMIT", "TRANSCRIBE_SEGMENT"})
# What only a daemon sends: a worker that sends it means nothing to us.
_TO_WORKER = frozenset({"HELLO", "RING_ATTACH", "CONTROL_ATTACH", "TICK_SUBMIT", "MATCH_REQ",
                        "SEED_ACQUIRE", "SEED_RELEASE", "STATE_OP_SUBMIT", "OP_CANCEL",
                        "STATE_SYNC_REQ", "TRANSCRIBE_CANCEL", "TRANSCRIBE_AUDIO",
                        "STRATEGY_REGISTER", "BUF_ALLOC", "BUF_ATTACH", "BUF_RELEASE", "PING",
                        "DRAIN_REQ"})
# A payload that is smaller cannot become much memory, whatever it says.
_SCAN_FROM_BYTES = 64 << 10
_DEFAULT_SUBMESSAGES = 4096


def _payload_name(type_name: str) -> str:
    """HELLO_ACK_W: HelloAckW."""
    return "".join(part.capitalize() for part in type_name.split("_"))


TYPES: dict[str, int] = {name: number for name, number in pb.MessageType.items() if number}
NAMES: dict[int, str] = {number: name for name, number in TYPES.items()}
_CLASSES: dict[int, Any] = {number: getattr(pb, _payload_name(name))
                            for name, number in TYPES.items()}
_TYPE_OF_CLASS: dict[str, int] = {kind.DESCRIPTOR.full_name: number
                                  for number, kind in _CLASSES.items()}
_FROM_WORKER = {number: kind for number, kind in _CLASSES.items()
                if NAMES[number] not in _TO_WORKER}


def type_of(message: Message) -> int:
    """Returns the frame type of a payload."""
    return _TYPE_OF_CLASS[message.DESCRIPTOR.full_name]


def is_droppable(frame_type: int) -> bool:
    return bool(frame_type & 0x8000)


def payload_limit(frame_type: int, max_frame: int) -> int:
    """Returns the most payload bytes that a frame of this type may have."""
    name = NAMES.get(frame_type)
    if name is None or name in _BULK:
        return max_frame
    return min(max_frame, _TICK_LIMIT if name in _TICK else _SMALL_LIMIT)


# ---- What a worker sent

class _Field:
    """What linkw.proto demands of a field."""

    def __init__(self, field: Any) -> None:
        rule = field.GetOptions().Extensions[pb.rule]
        self.name: str = field.name
        self.number: int = field.number
        self.repeated: bool = field.label == field.LABEL_REPEATED
        self.message: Any = field.message_type
        self.max_count: int = rule.max_count
        self.required: bool = rule.required
        self.in_oneof: bool = field.containing_oneof is not None
        self.check = self._value_check(field, rule)

    @staticmethod
    def _value_check(field: Any, rule: Any) -> Optional[Callable[[Any], bool]]:
        checks: list[Callable[[Any], bool]] = []
        if field.type in (field.TYPE_STRING, field.TYPE_BYTES):
            text = field.type == field.TYPE_STRING
            most: int = rule.max_bytes
            exact: int = rule.exact_bytes
            no_nul: bool = rule.no_nul
            nul: Any = "\0" if text else b"\0"

            def size(value: Any) -> int:
                return len(value.encode() if text else value)

            def of_size(value: Any) -> bool:
                return not value or size(value) == exact

            def short(value: Any) -> bool:
                return len(value) <= most and size(value) <= most

            def without_nul(value: Any) -> bool:
                return bool(nul not in value)

            checks += [check for wanted, check in ((exact, of_size), (most, short),
                                                   (no_nul, without_nul)) if wanted]
        elif field.enum_type is not None and not rule.open:
            known = frozenset(field.enum_type.values_by_number)
            checks.append(lambda value: value in known)
        elif field.type in (field.TYPE_FLOAT, field.TYPE_DOUBLE) and rule.finite:
            checks.append(math.isfinite)
        if not checks:
            return None
        return lambda value: all(check(value) for check in checks)


class _Rules:
    def __init__(self, descriptor: Any) -> None:
        self.fields = [_Field(field) for field in descriptor.fields]
        options = descriptor.GetOptions()
        self.max_submessages: int = (options.Extensions[pb.max_submessages]
                                     or _DEFAULT_SUBMESSAGES)
        self.by_number = {field.number: field for field in self.fields}


_rules_cache: dict[str, _Rules] = {}


def _rules_of(descriptor: Any) -> _Rules:
    rules = _rules_cache.get(descriptor.full_name)
    if rules is None:
        rules = _rules_cache[descriptor.full_name] = _Rules(descriptor)
    return rules


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise ProtocolError("a number of more than 64 bits")


def _submessages(data: memoryview, descriptor: Any) -> Iterator[int]:
    """Yields once for each message inside of a payload, before any of them is built."""
    open_parts = [(data, _rules_of(descriptor))]
    while open_parts:
        part, rules = open_parts.pop()
        at = 0
        while at < len(part):
            key, at = _varint(part, at)
            kind = key & 7
            if kind == 0:
                _, at = _varint(part, at)
            elif kind == 1:
                at += 8
            elif kind == 5:
                at += 4
            elif kind == 2:
                size, at = _varint(part, at)
                if size > len(part) - at:
                    raise ProtocolError("a field that is longer than its message")
                field = rules.by_number.get(key >> 3)
                if field is not None and field.message is not None:
                    yield 1
                    open_parts.append((part[at:at + size], _rules_of(field.message)))
                at += size
            else:
                raise ProtocolError("a group")


def _scan(payload: bytes, descriptor: Any) -> None:
    most = _rules_of(descriptor).max_submessages
    try:
        for count, _ in enumerate(_submessages(memoryview(payload), descriptor), 1):
            if count > most:
                raise ProtocolError(f"more than {most} messages in one")
    except IndexError:
        raise ProtocolError("a payload that ends inside a field") from None


def _check(message: Message, place: str) -> None:
    for field in _rules_of(message.DESCRIPTOR).fields:
        value = getattr(message, field.name)
        if field.repeated:
            if field.max_count and len(value) > field.max_count:
                raise ProtocolError(f"{place}.{field.name} has {len(value)} elements")
            if field.message is not None:
                for item in value:
                    _check(item, f"{place}.{field.name}")
            elif field.check is not None and not all(map(field.check, value)):
                raise ProtocolError(f"{place}.{field.name} breaks its rule")
        elif field.message is not None:
            if message.HasField(field.name):
                _check(value, f"{place}.{field.name}")
            elif field.required:
                raise ProtocolError(f"{place} has no {field.name}")
        elif field.required and not field.in_oneof and not value:
            raise ProtocolError(f"{place} has no {field.name}")
        elif field.check is not None and not field.check(value):
            raise ProtocolError(f"{place}.{field.name} breaks its rule")


def parse(frame_type: int, payload: bytes) -> Optional[Message]:
    """Returns the message of a frame that a worker sent; None for a type that is of no concern here.

    Raises ProtocolError for what is no such message, or breaks a rule of linkw.proto.
    """
    kind = _FROM_WORKER.get(frame_type)
    if kind is None:
        return None
    name = NAMES[frame_type]
    if len(payload) >= _SCAN_FROM_BYTES:
        _scan(payload, kind.DESCRIPTOR)
    message: Message = kind()
    try:
        message.ParseFromString(payload)
    except (DecodeError, RecursionError) as error:
        raise ProtocolError(f"{name}: {error}") from None
    _check(message, name)
    return message
