"""A client for Superfluid workers: speech, ticks and state over Link W.

    import superfluid

    with superfluid.connect("/tmp/superfluid.sock") as worker:
        print(worker.transcribe("talk.flac").text)

`superfluid.aio` is the same for asyncio. tools/python/README.md has more.
"""

from superfluid.client import Client, Tick, Transcription, connect
from superfluid.core import Health, Info
from superfluid.errors import (BusyError, CancelledError, DeadlineExceededError, DrainingError,
                               EngineFailedError, EngineStalledError, EnvelopeMismatchError,
                               FailedPreconditionError, InternalError, InvalidArgumentError,
                               LinkClosedError, NotFoundError, OutOfMemoryError,
                               PermissionDeniedError, ProtocolError, StaleSpanError, Status,
                               SuperfluidError, TooLargeError, UnimplementedError,
                               UnknownHandleError, UnsupportedError, VersionMismatchError)
from superfluid.generation import Emit, Lane, LaneResult, Logit, Sampling, TickResult
from superfluid.speech import (Audio, File, Live, Pcm, Recording, Segment, Transcript, Word)
from superfluid.state import Buffer, SavedSpace, SavedState, Seed

__all__ = [
    "Audio", "Buffer", "BusyError", "CancelledError", "Client", "DeadlineExceededError",
    "DrainingError", "Emit", "EngineFailedError", "EngineStalledError", "EnvelopeMismatchError",
    "FailedPreconditionError", "File", "Health", "Info", "InternalError", "InvalidArgumentError",
    "Lane", "LaneResult", "LinkClosedError", "Live", "Logit", "NotFoundError", "OutOfMemoryError",
    "Pcm", "PermissionDeniedError", "ProtocolError", "Recording", "Sampling", "SavedSpace",
    "SavedState", "Seed", "Segment", "StaleSpanError", "Status", "SuperfluidError", "Tick",
    "TickResult", "TooLargeError", "Transcript", "Transcription", "UnimplementedError",
    "UnknownHandleError", "UnsupportedError", "VersionMismatchError", "Word", "connect",
]
