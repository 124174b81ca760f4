"""The plain client: every call blocks until it is done. Threads may share one."""

from __future__ import annotations

import os
import socket
import time
from typing import Any, Iterator, Optional, Sequence, Type, Union

from google.protobuf.message import Message

from superfluid import core, generation, speech, state
from superfluid import linkw_pb2 as pb
from superfluid.core import Health, Info, Send
from superfluid.errors import DeadlineExceededError, LinkClosedError, SuperfluidError
from superfluid.generation import Emit, Lane, TickResult
from superfluid.speech import Audio, Segment, Transcript
from superfluid.state import Buffer, SavedState, Seed
from superfluid.thread_link import ThreadLink

_CONNECT_PAUSE = 0.02


class Client(ThreadLink):
    """A connection to one worker; made by connect().

    Threads: any may call any method. One thread of the client's own reads the link. Messages go out
    whole, in the order of the calls; cancels and ping() overtake those that wait.

    Flow control: when `reply_buffer` messages of one request were not taken, the client stops
    reading, and every call waits until they are taken or the request is closed.
    """

    # -- The link

    @property
    def info(self) -> Info:
        """What the worker said about itself."""
        return self._session.info

    @property
    def telemetry(self) -> dict[str, int]:
        """The last counters; of a link that asked for the feature "telemetry"."""
        return dict(self._session.telemetry)

    @property
    def closed(self) -> bool:
        return self._error is not None

    def ping(self, timeout: Optional[float] = None) -> Health:
        """Asks how the worker is, which it answers whatever its engine does."""
        return self._run(core.ping(time.monotonic, self._or_default(timeout)))

    def drain(self, *, cancel_transcriptions: bool = False, deadline: Optional[float] = None,
              shut_down: bool = False) -> Any:
        """Refuses new work and ends what is open; returns a linkw_pb2.Drained."""
        return self._run(core.drain(cancel_transcriptions, deadline, shut_down, self._call_timeout))

    def call(self, name: str, /, timeout: Optional[float] = None, **fields: Any) -> Any:
        """Makes a state call by its name in StateSyncReq: call("fork", parent=3).child."""
        return self._run(core.call(name, fields, self._or_default(timeout)))

    def request(self, message: Message, kind: Type[core.M], timeout: Optional[float] = None) -> core.M:
        """Sends any message and returns its first answer, which is of `kind`."""
        return self._run(core.request(message, kind, self._or_default(timeout)))

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- Speech

    def transcribe(self, audio: Audio, *, language: str = "", prompt: str = "", translate: bool = False,
                   timestamps: bool = True, deadline: Optional[float] = None) -> Transcript:
        """Transcribes and waits. An error's `transcript` has what there was, if the worker gave it."""
        with self.start(audio, language=language, prompt=prompt, translate=translate,
                        timestamps=timestamps, deadline=deadline, stream=False) as job:
            return job.result()

    def start(self, audio: Audio, *, language: str = "", prompt: str = "", translate: bool = False,
              timestamps: bool = True, stream: bool = True, partials: bool = False,
              deadline: Optional[float] = None, progress_ms: int = 0,
              stop_word: bool = True) -> "Transcription":
        """Begins a transcription.

        `partials`: also segments that may still change. `deadline`: seconds from the worker's
        receipt. `progress_ms`: say audio_ms for so much audio at the latest. `stop_word`: cancel
        through shared memory too, where the link has descriptors.
        """
        part = speech.Transcribing(self._session)
        self._run(part.start(audio, speech.Options(language, prompt, translate, timestamps, stream,
                                                   partials, deadline, progress_ms, stop_word)))
        return Transcription(self, part)

    # -- Ticks

    def tick(self, lanes: Sequence[Lane], *, deadline: Optional[float] = None) -> TickResult:
        """Runs one tick and waits for it."""
        with self.submit(lanes, deadline=deadline) as tick:
            return tick.result()

    def submit(self, lanes: Sequence[Lane], *, deadline: Optional[float] = None,
               partial_emits: bool = False) -> "Tick":
        """Sends a tick. Several may be on the way; they take effect in the order sent."""
        part = generation.Ticking(self._session)
        self._run(part.start(lanes, deadline, partial_emits))
        return Tick(self, part)

    def set_lane_stop(self, stop_slot: int, stop: bool = True) -> None:
        """Sets or clears the stop bit that lanes name, without a message."""
        self._run(self._session.control()).set_lane_stop(stop_slot, stop)

    # -- Memory and state

    def allocate(self, size: int) -> Buffer:
        """Has the worker make shared memory. Give it back with release()."""
        return self._run(state.allocate(self._session, size))

    def share(self, data: Union[int, bytes, bytearray, memoryview]) -> Buffer:
        """Attaches memory of this process: of a size, or with these bytes."""
        return self._run(state.share(self._session, data))

    def release(self, buffer: Buffer) -> None:
        self._run(state.release(buffer))

    def run_op(self, op: "pb.StateOpSubmit", timeout: Optional[float] = None) -> int:
        """Runs a state op and returns the bytes moved; cancels it if the timeout passes."""
        return self._run(state.run_op(op, timeout))

    def snapshot(self, sequence: int, position: int, timeout: Optional[float] = None) -> SavedState:
        """Saves the state of a sequence's first tokens, or of as many as can be exported."""
        return self._run(state.snapshot(self._session, sequence, position, timeout))

    def restore(self, saved: SavedState, timeout: Optional[float] = None) -> int:
        """Makes a sequence of a saved state; returns it."""
        return self._run(state.restore(self._session, saved, timeout))

    def match(self, tokens: Sequence[int]) -> dict[int, int]:
        """Returns how many of the first tokens are in the prefix cache, by state space."""
        return self._run(state.match(self._session, tokens))

    def publish(self, sequence: int, tokens: Sequence[int]) -> None:
        """Puts the state of a sequence's first tokens, which these are, into the prefix cache."""
        self._run(state.publish(self._session, sequence, tokens))

    def acquire_seed(self, tokens: Sequence[int], prefix_len: int) -> Seed:
        """Leases a cached prefix; a new sequence that begins with it takes it over."""
        return self._run(state.acquire_seed(self._session, tokens, prefix_len))

    def release_seed(self, seed: Seed) -> None:
        self._perform(Send(pb.SeedRelease(seed_handle=seed.handle)))


class Transcription:
    """A transcription that runs; iterate for its segments. One thread may push while another iterates.

    Leaving the `with` block, or close(), cancels it if it is not done.
    """

    def __init__(self, client: Client, part: speech.Transcribing) -> None:
        self._client = client
        self._part = part

    @property
    def audio_ms(self) -> int:
        """How much audio the worker has consumed, as far as it was said."""
        return self._part.audio_ms

    @property
    def audio_total_ms(self) -> int:
        """How much there is; 0: not known."""
        return self._part.audio_total_ms

    def push(self, data: Union[bytes, bytearray, memoryview], end: bool = False) -> None:
        """Sends live audio; waits while the engine is more than 15 s behind."""
        self._client._run(self._part.push(data, end))

    def cancel(self) -> None:
        """Asks the worker to stop, and does not wait. result() then raises CancelledError."""
        self._client._run(self._part.cancel())

    def next(self, timeout: Optional[float] = None) -> Optional[Segment]:
        """Returns the next segment, or None after the last."""
        return self._client._run(self._part.next(timeout))

    def waiting(self) -> Iterator[Segment]:
        """Gives the segments that are there already."""
        while True:
            try:
                segment = self.next(timeout=0)
            except DeadlineExceededError:
                return
            if segment is None:
                return
            yield segment

    def __iter__(self) -> Iterator[Segment]:
        while (segment := self.next()) is not None:
            yield segment

    def result(self, timeout: Optional[float] = None) -> Transcript:
        """Waits for the end, dropping segments that were not taken."""
        return self._client._run(self._part.result(timeout))

    def close(self) -> None:
        try:
            self._client._run(self._part.close())
        except LinkClosedError:
            pass

    def __enter__(self) -> "Transcription":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Tick:
    """A tick that runs; iterate for its emits."""

    def __init__(self, client: Client, part: generation.Ticking) -> None:
        self._client = client
        self._part = part

    def __iter__(self) -> Iterator[Emit]:
        while (emit := self._client._run(self._part.next_emit(None))) is not None:
            yield emit

    def result(self, timeout: Optional[float] = None) -> TickResult:
        """Waits for the tick and reads its tokens; call it before many later ticks were sent."""
        return self._client._run(self._part.result(timeout))

    def __enter__(self) -> "Tick":
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._client._run(self._part.close())
        except LinkClosedError:
            pass


def connect(path: Union[str, "os.PathLike[str]"], *, role: str = "driver",
            wait_for_listener: bool = False, connect_timeout: float = 10.0,
            **options: Any) -> Client:
    """Connects to a worker that listens on `path`.

    `role`: "driver", of which a worker has one, or "observer" (ping, info, telemetry).
    `wait_for_listener`: try until the timeout while nobody listens. A worker that still loads its engine
    is waited for until the timeout; `on_loading` is called with its Pong (load_permille) some times a second
    meanwhile, and has the timeout count anew if it returns True. Other options as Client's.
    Raises LinkClosedError (nobody listens), BusyError (there is a driver), PermissionDeniedError,
    DeadlineExceededError.
    """
    end = time.monotonic() + connect_timeout
    where = os.fspath(path)
    frames = _connect(where, end, wait_for_listener)
    fds: Optional[socket.socket] = None
    client = Client(frames, None, role=role,
                    connect_timeout=max(0.001, end - time.monotonic()), **options)
    try:
        token = client._session.ack.link_token
        if role == "driver" and any(token):
            fds = _connect(where, time.monotonic() + connect_timeout, False)
            fds.sendall(token)
            client._adopt_fds(fds)
    except BaseException as error:
        client.close()
        if fds is not None:
            fds.close()
        if isinstance(error, OSError) and not isinstance(error, SuperfluidError):
            raise LinkClosedError("the worker does not take the fds connection") from None
        raise
    return client


def _connect(path: str, end: float, wait: bool) -> socket.socket:
    while True:
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.settimeout(max(0.001, end - time.monotonic()))
            sock.connect(path)
            sock.settimeout(None)
            return sock
        except TimeoutError:
            sock.close()
            raise DeadlineExceededError(f"{path} does not take a connection") from None
        except OSError as error:
            sock.close()
            there = isinstance(error, (FileNotFoundError, ConnectionRefusedError))
            if wait and there and end - time.monotonic() > _CONNECT_PAUSE:
                time.sleep(_CONNECT_PAUSE)
                continue
            raise LinkClosedError(f"no worker listens on {path}: {error.strerror}") from None
