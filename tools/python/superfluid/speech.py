"""Transcriptions: what is transcribed, what comes of it, and how one goes on."""

from __future__ import annotations

import os
import dataclasses
from collections import deque
from typing import Any, Deque, NamedTuple, Optional, Union

from google.protobuf.message import Message

from superfluid import core, memory
from superfluid import linkw_pb2 as pb
from superfluid.core import Await, Forget, Inbox, Send, SendFd, Session, Steps
from superfluid.errors import (CancelledError, FailedPreconditionError, InvalidArgumentError,
                               SuperfluidError, error_of)

_SAMPLE_FORMATS = {"s16": pb.SampleFormat.S16, "f32": pb.SampleFormat.F32}
_SAMPLE_BYTES = {"s16": 2, "f32": 4}
_MOST_HELD_BYTES = 64 << 20
# How far live audio may be ahead of the engine. The worker gives up at 30 s.
_MOST_AHEAD_MS = 15_000
_PROGRESS_MS = 1_000


@dataclasses.dataclass(frozen=True)
class File:
    """A file that the worker opens. A path that is not absolute is relative to its media root."""

    path: Union[str, bytes]


@dataclasses.dataclass(frozen=True)
class Recording:
    """The bytes of a whole encoded file (wav, flac, ogg, mp3 ...), handed over in shared memory."""

    data: Union[bytes, bytearray, memoryview]


@dataclasses.dataclass(frozen=True)
class Pcm:
    """Samples, handed over in shared memory."""

    data: Union[bytes, bytearray, memoryview]
    rate: int = 16_000
    channels: int = 1
    sample_format: str = "s16"  # or "f32"


@dataclasses.dataclass(frozen=True)
class Live:
    """Samples that follow, by push()."""

    rate: int = 16_000
    channels: int = 1
    sample_format: str = "s16"

    @property
    def sample_bytes(self) -> int:
        """Bytes of one sample of all channels."""
        return max(1, self.channels) * _SAMPLE_BYTES.get(self.sample_format, 2)

    @property
    def bytes_per_second(self) -> int:
        return self.rate * self.sample_bytes


# A str or a PathLike is a path of this process: it is made absolute.
Audio = Union[str, "os.PathLike[str]", File, Recording, Pcm, Live]


class Word(NamedTuple):
    start: float
    end: float
    text: str
    probability: float


@dataclasses.dataclass(frozen=True)
class Segment:
    """Times are seconds from the first sample."""

    start: float
    end: float
    text: str
    words: tuple[Word, ...]
    avg_logprob: float
    no_speech_prob: float
    compression_ratio: float
    temperature: float
    index: int
    is_partial: bool


class Transcript(NamedTuple):
    text: str
    language: str
    duration: float  # seconds of audio that were consumed
    segments: tuple[Segment, ...]
    note: str    # what there is to know about the audio, or ""
    stats: Any   # linkw_pb2.TranscribeStats


def _segment(segment: "pb.TranscriptSegment", index: int, partial: bool) -> Segment:
    words = tuple(Word(word.start_ms / 1000, word.end_ms / 1000, word.text, word.probability)
                  for word in segment.words)
    return Segment(segment.start_ms / 1000, segment.end_ms / 1000, segment.text, words,
                    segment.avg_logprob, segment.no_speech_prob, segment.compression_ratio,
                    segment.temperature, index, partial)


def _transcript(answer: "pb.StateSyncRes") -> Transcript:
    result = answer.transcribe
    segments = tuple(_segment(segment, i, False) for i, segment in enumerate(result.segments))
    return Transcript(result.text, result.language, result.duration_ms / 1000, segments,
                      answer.message if answer.status == 0 else "", result.stats)


def _pcm_format(audio: Union[Pcm, Live]) -> "pb.PcmFormat":
    kind = _SAMPLE_FORMATS.get(audio.sample_format)
    if kind is None:
        raise InvalidArgumentError(f"sample format '{audio.sample_format}' is neither s16 nor f32")
    return pb.PcmFormat(sample_rate_hz=audio.rate, channels=audio.channels, sample_format=kind)


class Options(NamedTuple):
    language: str = ""
    prompt: str = ""
    translate: bool = False
    timestamps: bool = True
    stream: bool = True
    partials: bool = False
    deadline: Optional[float] = None
    progress_ms: int = 0
    stop_word: bool = True


class Transcribing(Inbox):
    """One transcription, from its request to its answer."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._slot = 0
        self._segments: Deque[Segment] = deque()
        self._held_bytes = 0
        self._answer: Optional[pb.StateSyncRes] = None
        self._error: Optional[SuperfluidError] = None
        self._attached: Optional[Inbox] = None
        self._live: Optional[Live] = None
        self._sent_bytes = 0
        self._ended = False
        self.audio_ms = 0
        self.audio_total_ms = 0

    @property
    def done(self) -> bool:
        return self._answer is not None or self._error is not None

    # -- What comes in

    def absorb(self) -> None:
        while self.messages and self._held_bytes <= _MOST_HELD_BYTES:
            self._note(self.messages.popleft())

    def _note(self, message: Message) -> None:
        if isinstance(message, pb.TranscribeSegment):
            self.audio_ms, self.audio_total_ms = message.audio_ms, message.audio_total_ms
            self._held_bytes += message.ByteSize()
            self._segments.append(_segment(message.segment, message.index, message.is_partial))
        elif isinstance(message, pb.TranscribeProgress):
            self.audio_ms = message.audio_ms
        elif self.done:
            pass
        elif isinstance(message, pb.StateSyncRes):
            self._answer = message
        else:
            try:
                core.expect(message, pb.StateSyncRes)
            except SuperfluidError as error:
                self._error = error

    # -- What goes out

    def start(self, audio: Audio, options: Options) -> Steps[None]:
        message = pb.Transcribe(language=core.utf8(options.language, "language"),
                                translate=options.translate, timestamps=options.timestamps,
                                prompt=core.utf8(options.prompt, "prompt"),
                                stream=options.stream, partial_results=options.partials,
                                progress_ms=options.progress_ms)
        if options.deadline is not None:
            message.deadline_ms = core.deadline_units(options.deadline, 1000, 32)
        if options.stop_word and self._session.has_fds:
            self._slot = (yield from self._session.control()).take_slot()
            message.control_slot = self._slot
        try:
            buffer = yield from self._add_audio(message, audio)
            yield Send(pb.StateSyncReq(transcribe=message), self)
            if buffer:  # the worker keeps it until it is done
                yield Send(pb.BufRelease(buf_id=buffer))
        except BaseException:
            self._give_slot()
            raise

    def _add_audio(self, message: "pb.Transcribe", audio: Audio) -> Steps[int]:
        if isinstance(audio, (str, os.PathLike)):
            message.path = core.path_bytes(os.path.abspath(os.fspath(audio)))
        elif isinstance(audio, File):
            message.path = core.path_bytes(audio.path)
        elif isinstance(audio, Live):
            message.live.CopyFrom(_pcm_format(audio))
            message.progress_ms = message.progress_ms or _PROGRESS_MS
            self._live = audio
        elif isinstance(audio, (Recording, Pcm)):
            pcm = _pcm_format(audio) if isinstance(audio, Pcm) else None
            span = yield from self._share(audio.data)
            message.buffer.CopyFrom(pb.AudioBuffer(span=span, pcm=pcm))
            return span.buf_id
        else:
            raise InvalidArgumentError(f"{type(audio).__name__} is no audio")
        return 0

    def _share(self, data: Union[bytes, bytearray, memoryview]) -> Steps["pb.BufferSpan"]:
        self._session.need_fds()
        size = memoryview(data).nbytes
        if not size:
            raise InvalidArgumentError("audio of 0 bytes")
        buffer = self._session.next_buffer_id()
        segment = memory.Segment.create(size, "superfluid-audio")
        try:
            segment.write(data)
            yield SendFd(buffer, segment.fd)
            self._attached = Inbox()
            yield Send(pb.BufAttach(buf_id=buffer, len=size), self._attached)
        finally:
            segment.close()
        return pb.BufferSpan(buf_id=buffer, offset=0, length=size)

    def push(self, data: Union[bytes, bytearray, memoryview], end: bool = False) -> Steps[None]:
        """Sends live audio. Waits while the engine is far behind, for as long as it goes on."""
        if self._live is None:
            raise FailedPreconditionError("this transcription takes no live audio")
        if self._ended:
            raise FailedPreconditionError("the audio has ended")
        self._ended = end
        rest = memoryview(data).cast("B")
        unit = self._live.sample_bytes
        step = max(1, min(core.AUDIO_FRAME_BYTES, self._live.bytes_per_second) // unit) * unit
        while rest.nbytes and not self.done:
            piece, rest = bytes(rest[:step]), rest[step:]
            self._sent_bytes += len(piece)
            yield Send(pb.TranscribeAudio(request_seq=self.seq, pcm=piece))
            if not self._has_room():
                yield Await(self, self._has_room, None)
        if end and not self.done:
            yield Send(pb.TranscribeAudio(request_seq=self.seq, end_of_stream=True))

    def _has_room(self) -> bool:
        assert self._live is not None
        sent_ms = self._sent_bytes * 1000 // max(1, self._live.bytes_per_second)
        return self.done or sent_ms - self.audio_ms < _MOST_AHEAD_MS

    def cancel(self) -> Steps[None]:
        """Asks the worker to stop, by the stop word and by a message. The answer still comes."""
        if self.done or not self.seq:
            return
        control = self._session.attached_control
        if self._slot and control is not None:
            control.stop_request(self._slot, self.seq)
        yield Send(pb.TranscribeCancel(request_seq=self.seq))

    def next(self, timeout: Optional[float]) -> Steps[Optional[Segment]]:
        """Returns the next segment; None after the last."""
        yield Await(self, lambda: bool(self._segments) or self.done, timeout)
        if not self._segments:
            return None
        segment = self._segments.popleft()
        if not self._segments:
            self._held_bytes = 0
        return segment

    def result(self, timeout: Optional[float]) -> Steps[Transcript]:
        """Returns the transcript; raises what ended it, whose `transcript` is what there was."""
        yield Await(self, self._finished, timeout)
        if self._error is not None:
            raise self._error
        assert self._answer is not None
        transcript = _transcript(self._answer)
        if self._answer.status == 0:
            return transcript
        raise self._failure(self._answer, transcript)

    def _finished(self) -> bool:
        while True:
            self._segments.clear()
            self._held_bytes = 0
            if self.done or not self.messages:
                return self.done
            self.absorb()

    def _failure(self, answer: "pb.StateSyncRes", transcript: Transcript) -> SuperfluidError:
        error = error_of(answer.status, answer.message)
        if self._attached is not None and self._attached.messages:
            refusal = self._attached.messages[0]  # of the buffer: the reason behind the reason
            if isinstance(refusal, pb.Error):
                error = core.failure(refusal)
        setattr(error, "transcript", transcript)
        return error

    def close(self) -> Steps[None]:
        """Cancels what is not done, and forgets it: no answer comes any more, and result() says so."""
        self.absorb()
        is_cut = not self.done
        try:
            if self.seq:
                yield Forget(self)
                yield from self.cancel()
            if self._attached is not None:
                yield Forget(self._attached)
        finally:
            if is_cut:
                self._error = CancelledError("the transcription was closed before its end")
                heard = Transcript("", "", self.audio_ms / 1000, (), "", pb.TranscribeStats())
                setattr(self._error, "transcript", heard)
            self._give_slot()

    def _give_slot(self) -> None:
        control = self._session.attached_control
        if control is not None:
            control.give_slot(self._slot)
        self._slot = 0
