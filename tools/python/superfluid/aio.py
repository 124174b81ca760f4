"""The asyncio client: the plain one's methods, to be awaited."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from typing import Any, AsyncIterator, Awaitable, Iterable, Optional, Sequence, Type, Union

from google.protobuf.message import Message

from superfluid import core, generation, speech, state
from superfluid import linkw_pb2 as pb
from superfluid.core import Health, Info, Send
from superfluid.errors import DeadlineExceededError, LinkClosedError
from superfluid.generation import Emit, Lane, TickResult
from superfluid.speech import Audio, Segment, Transcript
from superfluid.state import Buffer, SavedState, Seed
from superfluid.task_link import TaskLink

_CONNECT_PAUSE = 0.02


class AsyncClient(TaskLink):
    """A connection to one worker; made by connect(). For one event loop; its tasks may share it.

    Messages go out whole, in the order of the calls; cancels and ping() overtake those that wait.
    When `reply_buffer` messages of one request were not taken, the client stops reading until they
    are taken or the request is closed.
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

    async def ping(self, timeout: Optional[float] = None) -> Health:
        """Asks how the worker is, which it answers whatever its engine does."""
        return await self._run(core.ping(time.monotonic, self._or_default(timeout)))

    async def drain(self, *, cancel_transcriptions: bool = False, deadline: Optional[float] = None,
                    shut_down: bool = False) -> Any:
        """Refuses new work and ends what is open; returns a linkw_pb2.Drained."""
        return await self._run(core.drain(cancel_transcriptions, deadline, shut_down,
                                          self._call_timeout))

    async def call(self, name: str, /, timeout: Optional[float] = None, **fields: Any) -> Any:
        """Makes a state call by its name in StateSyncReq: (await call("fork", parent=3)).child."""
        return await self._run(core.call(name, fields, self._or_default(timeout)))

    async def request(self, message: Message, kind: Type[core.M],
                      timeout: Optional[float] = None) -> core.M:
        """Sends any message and returns its first answer, which is of `kind`."""
        return await self._run(core.request(message, kind, self._or_default(timeout)))

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # -- Speech

    async def transcribe(self, audio: Audio, *, language: str = "", prompt: str = "",
                         translate: bool = False, timestamps: bool = True,
                         deadline: Optional[float] = None) -> Transcript:
        """Transcribes and waits. An error's `transcript` has what there was, if the worker gave it."""
        async with await self.start(audio, language=language, prompt=prompt, translate=translate,
                                    timestamps=timestamps, deadline=deadline, stream=False) as job:
            return await job.result()

    async def start(self, audio: Audio, *, language: str = "", prompt: str = "",
                    translate: bool = False, timestamps: bool = True, stream: bool = True,
                    partials: bool = False, deadline: Optional[float] = None, progress_ms: int = 0,
                    stop_word: bool = True) -> "AsyncTranscription":
        """Begins a transcription; see Client.start."""
        part = speech.Transcribing(self._session)
        await self._run(part.start(audio, speech.Options(language, prompt, translate, timestamps,
                                                         stream, partials, deadline, progress_ms,
                                                         stop_word)))
        return AsyncTranscription(self, part)

    # -- Ticks

    async def tick(self, lanes: Sequence[Lane], *, deadline: Optional[float] = None) -> TickResult:
        """Runs one tick and waits for it."""
        async with await self.submit(lanes, deadline=deadline) as tick:
            return await tick.result()

    async def submit(self, lanes: Sequence[Lane], *, deadline: Optional[float] = None,
                     partial_emits: bool = False) -> "AsyncTick":
        """Sends a tick. Several may be on the way; they take effect in the order sent."""
        part = generation.Ticking(self._session)
        await self._run(part.start(lanes, deadline, partial_emits))
        return AsyncTick(self, part)

    async def set_lane_stop(self, stop_slot: int, stop: bool = True) -> None:
        """Sets or clears the stop bit that lanes name, without a message."""
        (await self._run(self._session.control())).set_lane_stop(stop_slot, stop)

    # -- Memory and state: see Client

    async def allocate(self, size: int) -> Buffer:
        return await self._run(state.allocate(self._session, size))

    async def share(self, data: Union[int, bytes, bytearray, memoryview]) -> Buffer:
        return await self._run(state.share(self._session, data))

    async def release(self, buffer: Buffer) -> None:
        await self._run(state.release(buffer))

    async def run_op(self, op: "pb.StateOpSubmit", timeout: Optional[float] = None) -> int:
        return await self._run(state.run_op(op, timeout))

    async def snapshot(self, sequence: int, position: int,
                       timeout: Optional[float] = None) -> SavedState:
        return await self._run(state.snapshot(self._session, sequence, position, timeout))

    async def restore(self, saved: SavedState, timeout: Optional[float] = None) -> int:
        return await self._run(state.restore(self._session, saved, timeout))

    async def match(self, tokens: Sequence[int]) -> dict[int, int]:
        return await self._run(state.match(self._session, tokens))

    async def publish(self, sequence: int, tokens: Sequence[int]) -> None:
        await self._run(state.publish(self._session, sequence, tokens))

    async def acquire_seed(self, tokens: Sequence[int], prefix_len: int) -> Seed:
        return await self._run(state.acquire_seed(self._session, tokens, prefix_len))

    async def release_seed(self, seed: Seed) -> None:
        await self._perform(Send(pb.SeedRelease(seed_handle=seed.handle)))


class AsyncTranscription:
    """A transcription that runs; `async for` gives its segments. Tasks may push while one iterates."""

    def __init__(self, client: AsyncClient, part: speech.Transcribing) -> None:
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

    async def push(self, data: Union[bytes, bytearray, memoryview], end: bool = False) -> None:
        """Sends live audio; waits while the engine is more than 15 s behind."""
        await self._client._run(self._part.push(data, end))

    async def cancel(self) -> None:
        """Asks the worker to stop, and does not wait. result() then raises CancelledError."""
        await self._client._run(self._part.cancel())

    async def next(self, timeout: Optional[float] = None) -> Optional[Segment]:
        """Returns the next segment, or None after the last."""
        return await self._client._run(self._part.next(timeout))

    async def __aiter__(self) -> AsyncIterator[Segment]:
        while (segment := await self.next()) is not None:
            yield segment

    async def result(self, timeout: Optional[float] = None) -> Transcript:
        """Waits for the end, dropping segments that were not taken."""
        return await self._client._run(self._part.result(timeout))

    async def close(self) -> None:
        await _unless_closed(self._client._run(self._part.close()))

    async def __aenter__(self) -> "AsyncTranscription":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class AsyncTick:
    """A tick that runs; `async for` gives its emits."""

    def __init__(self, client: AsyncClient, part: generation.Ticking) -> None:
        self._client = client
        self._part = part

    async def __aiter__(self) -> AsyncIterator[Emit]:
        while (emit := await self._client._run(self._part.next_emit(None))) is not None:
            yield emit

    async def result(self, timeout: Optional[float] = None) -> TickResult:
        """Waits for the tick and reads its tokens; call it before many later ticks were sent."""
        return await self._client._run(self._part.result(timeout))

    async def __aenter__(self) -> "AsyncTick":
        return self

    async def __aexit__(self, *_: object) -> None:
        await _unless_closed(self._client._run(self._part.close()))


async def _unless_closed(work: Awaitable[None]) -> None:
    try:
        await work
    except LinkClosedError:
        pass


async def connect(path: Union[str, "os.PathLike[str]"], *, role: str = "driver",
                  client_name: str = "superfluid-python", features: Iterable[str] = (),
                  wait_for_listener: bool = False, connect_timeout: float = 10.0,
                  on_loading: Optional[core.OnLoading] = None, **options: Any) -> AsyncClient:
    """Connects to a worker that listens on `path`; see superfluid.connect."""
    loop = asyncio.get_running_loop()
    end = loop.time() + connect_timeout
    where = os.fspath(path)
    client = AsyncClient(await _connect(where, end, wait_for_listener), **options)
    try:
        await client.open(role=role, client_name=client_name, features=features,
                          timeout=max(0.001, end - loop.time()), on_loading=on_loading)
        token = client._session.ack.link_token
        if role == "driver" and any(token):
            fds = await _connect(where, loop.time() + connect_timeout, False)
            try:
                await loop.sock_sendall(fds, token)
            except OSError:
                fds.close()
                raise LinkClosedError("the worker does not take the fds connection") from None
            client.adopt_fds(fds)
    except BaseException:
        await client.close()
        raise
    return client


async def _connect(path: str, end: float, wait: bool) -> socket.socket:
    loop = asyncio.get_running_loop()
    while True:
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.setblocking(False)
        try:
            await asyncio.wait_for(loop.sock_connect(sock, path), max(0.001, end - loop.time()))
            return sock
        except asyncio.TimeoutError:
            sock.close()
            raise DeadlineExceededError(f"{path} does not take a connection") from None
        except OSError as error:
            sock.close()
            there = isinstance(error, (FileNotFoundError, ConnectionRefusedError))
            if not wait or not there or end - loop.time() <= _CONNECT_PAUSE:
                raise LinkClosedError(f"no worker listens on {path}: {error.strerror}") from None
        await asyncio.sleep(_CONNECT_PAUSE)
