"""What can go wrong on a link: one exception for each status of the contract."""

from __future__ import annotations

import enum
from typing import Optional, Type


class Status(enum.IntEnum):
    """The statuses of protocol/linkw.proto."""

    OK = 0
    BUSY = 1
    UNKNOWN_HANDLE = 2
    REJECT_BAD_REF_GENERATION = 3
    ENVELOPE_MISMATCH = 4
    CANCELLED = 5
    DEADLINE_EXCEEDED = 6
    OUT_OF_MEMORY = 7
    UNSUPPORTED = 8
    INVALID_ARGUMENT = 9
    FAILED_PRECONDITION = 10
    DRAINING = 11
    ENGINE_FAILED = 12
    ENGINE_STALLED = 13
    NOT_FOUND = 14
    PERMISSION_DENIED = 15
    VERSION_MISMATCH = 16
    PROTOCOL_ERROR = 17
    INTERNAL = 18
    UNIMPLEMENTED = 19
    LINK_CLOSED = 20
    TOO_LARGE = 21


class SuperfluidError(Exception):
    """A request that failed, or a link that ended. `status` says why, `message` says it to people."""

    status: Status = Status.INTERNAL

    def __init__(self, message: str = "", status: Optional[Status] = None) -> None:
        super().__init__(message)
        self.message = message
        if status is not None:
            self.status = status

    def __str__(self) -> str:
        return f"{self.status.name}: {self.message}" if self.message else self.status.name


class BusyError(SuperfluidError):
    """A window is full, or the worker has a driver already: try again later."""

    status = Status.BUSY


class UnknownHandleError(SuperfluidError):
    status = Status.UNKNOWN_HANDLE


class StaleSpanError(SuperfluidError):
    """A ring's slot was written again before it was read."""

    status = Status.REJECT_BAD_REF_GENERATION


class EnvelopeMismatchError(SuperfluidError):
    """Sealed state is damaged, or belongs to another engine."""

    status = Status.ENVELOPE_MISMATCH


class CancelledError(SuperfluidError):
    """The request was cancelled. (Not asyncio's error of that name.)"""

    status = Status.CANCELLED


class DeadlineExceededError(SuperfluidError, TimeoutError):
    """The request's deadline passed, or no answer came in time."""

    status = Status.DEADLINE_EXCEEDED


class OutOfMemoryError(SuperfluidError):
    status = Status.OUT_OF_MEMORY


class UnsupportedError(SuperfluidError):
    """The engine lacks this call, option or language."""

    status = Status.UNSUPPORTED


class InvalidArgumentError(SuperfluidError, ValueError):
    """The request itself is wrong; it would fail again."""

    status = Status.INVALID_ARGUMENT


class FailedPreconditionError(SuperfluidError):
    """The right request at the wrong moment."""

    status = Status.FAILED_PRECONDITION


class DrainingError(SuperfluidError):
    """The worker takes no new work."""

    status = Status.DRAINING


class EngineFailedError(SuperfluidError):
    status = Status.ENGINE_FAILED


class EngineStalledError(SuperfluidError):
    status = Status.ENGINE_STALLED


class NotFoundError(SuperfluidError):
    """A file, a lane or a cached prefix that does not exist."""

    status = Status.NOT_FOUND


class PermissionDeniedError(SuperfluidError):
    status = Status.PERMISSION_DENIED


class VersionMismatchError(SuperfluidError):
    status = Status.VERSION_MISMATCH


class ProtocolError(SuperfluidError):
    """What the worker sent is not Link W; the link has ended."""

    status = Status.PROTOCOL_ERROR


class InternalError(SuperfluidError):
    status = Status.INTERNAL


class UnimplementedError(SuperfluidError):
    status = Status.UNIMPLEMENTED


class LinkClosedError(SuperfluidError, ConnectionError):
    """The link has ended; nothing more can be asked on it."""

    status = Status.LINK_CLOSED


class TooLargeError(SuperfluidError):
    """The answer does not fit into a frame."""

    status = Status.TOO_LARGE


_BY_STATUS: dict[Status, Type[SuperfluidError]] = {
    kind.status: kind
    for kind in (BusyError, UnknownHandleError, StaleSpanError, EnvelopeMismatchError, CancelledError,
                 DeadlineExceededError, OutOfMemoryError, UnsupportedError, InvalidArgumentError,
                 FailedPreconditionError, DrainingError, EngineFailedError, EngineStalledError,
                 NotFoundError, PermissionDeniedError, VersionMismatchError, ProtocolError,
                 InternalError, UnimplementedError, LinkClosedError, TooLargeError)
}


def error_of(status: int, message: str) -> SuperfluidError:
    """Returns the exception of a status; one that this version does not know is an InternalError."""
    try:
        return _BY_STATUS[Status(status)](message)
    except (KeyError, ValueError):
        return InternalError(f"status {status}: {message}" if status else message)
