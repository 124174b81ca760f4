"""Frames: a header of 32 bytes and a payload. Reads no socket."""

from __future__ import annotations

import struct
import zlib
from typing import NamedTuple, Optional

from google.protobuf.message import Message

from superfluid import messages
from superfluid.errors import ProtocolError, TooLargeError

VERSION = 8
MAGIC = b"SFLW"
HEADER = struct.Struct("<4sHHQQII")


class Frame(NamedTuple):
    type: int
    seq: int
    correlation: int
    payload: bytes


def encode(frame_type: int, seq: int, correlation: int, payload: bytes,
           version: int = VERSION) -> bytes:
    """Returns a frame's bytes."""
    head = struct.pack("<4sHHQQI", MAGIC, version, frame_type, seq, correlation, len(payload))
    return head + struct.pack("<I", zlib.crc32(head)) + payload


class FrameDecoder:
    """Takes the bytes of one direction and gives frames.

    Holds no more than was fed, and of a payload no more than its type may have. The first error is
    final: every later call raises it again.
    """

    def __init__(self, max_frame: int = messages.MAX_FRAME) -> None:
        self.max_frame = max_frame
        self._buffer = bytearray()
        self._skip = 0  # payload bytes of an unknown type that are still to come
        self._seq = 0
        self._offset = 0  # of the buffer's first byte
        self._error: Optional[ProtocolError] = None

    @property
    def at_boundary(self) -> bool:
        return not self._buffer and self._skip == 0

    def feed(self, data: bytes) -> None:
        """Takes bytes as they came."""
        self._buffer += data

    def next(self) -> Optional[Frame]:
        """Returns the next whole frame, or None until more bytes come.

        Frames of unknown types are left out. Raises ProtocolError, for good.
        """
        if self._error is not None:
            raise self._error
        try:
            return self._next()
        except ProtocolError as error:
            self._error = error
            self._buffer.clear()
            raise

    def _next(self) -> Optional[Frame]:
        while True:
            if self._skip:
                self._skip -= self._drop(min(self._skip, len(self._buffer)))
                if self._skip:
                    return None
            if len(self._buffer) < HEADER.size:
                return None
            frame_type, seq, correlation, size = self._header()
            if frame_type not in messages.NAMES:
                self._seq = seq
                self._drop(HEADER.size)
                self._skip = size
                continue
            if len(self._buffer) < HEADER.size + size:
                return None
            self._seq = seq
            payload = bytes(memoryview(self._buffer)[HEADER.size:HEADER.size + size])
            self._drop(HEADER.size + size)
            return Frame(frame_type, seq, correlation, payload)

    def _header(self) -> tuple[int, int, int, int]:
        magic, version, frame_type, seq, correlation, size, crc = HEADER.unpack_from(self._buffer)
        if magic != MAGIC:
            raise self._bad("no frame begins here")
        if crc != zlib.crc32(memoryview(self._buffer)[:HEADER.size - 4]):
            raise self._bad("a frame's checksum is wrong")
        if version != VERSION:
            raise self._bad(f"a frame of version {version}")
        if seq != self._seq + 1:
            raise self._bad(f"frame {seq} follows frame {self._seq}")
        most = messages.payload_limit(frame_type, self.max_frame)
        if size > most:
            raise self._bad(f"a payload of {size} bytes where {most} may be")
        return frame_type, seq, correlation, size

    def _bad(self, what: str) -> ProtocolError:
        return ProtocolError(f"{what} (byte {self._offset})")

    def _drop(self, count: int) -> int:
        del self._buffer[:count]
        self._offset += count
        return count


class FrameEncoder:
    """Numbers the frames of one direction."""

    def __init__(self) -> None:
        self.max_frame = messages.MAX_FRAME
        self.next_seq = 1

    def encode(self, message: Message) -> tuple[int, bytes]:
        """Returns the frame's seq and bytes. Raises TooLargeError, and then uses up no seq."""
        frame_type = messages.type_of(message)
        payload = message.SerializeToString()
        most = messages.payload_limit(frame_type, self.max_frame)
        if len(payload) > most:
            raise TooLargeError(f"{messages.NAMES[frame_type]} of {len(payload)} bytes; "
                                f"at most {most}")
        seq = self.next_seq
        self.next_seq += 1
        return seq, encode(frame_type, seq, 0, payload)

