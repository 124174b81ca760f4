"""Writes files in the GGUF format, version 3, little-endian.

A file is: magic, version, number of tensors, number of keys; the keys; name, shape, type and place
of each tensor; padding to ALIGNMENT; the tensors' data, each padded the same way.
"""

import struct

MAGIC = b"GGUF"
VERSION = 3
ALIGNMENT = 32

U32 = 4
I32 = 5
FLOAT = 6
BOOL = 7
TEXT = 8
ARRAY = 9
_FORMAT = {U32: "<I", I32: "<i", FLOAT: "<f", BOOL: "<?"}


def text(value):
    encoded = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(encoded)) + encoded


def _scalar(kind, value):
    return text(value) if kind == TEXT else struct.pack(_FORMAT[kind], value)


def _padding(size):
    return b"\0" * (-size % ALIGNMENT)


class Writer:
    """Collects keys and tensors; `write` puts them into a file."""

    def __init__(self):
        self._keys = []
        self._tensors = []

    def key(self, name, kind, value):
        self._keys.append(text(name) + struct.pack("<I", kind) + _scalar(kind, value))

    def array(self, name, kind, values):
        self._keys.append(text(name) + struct.pack("<IIQ", ARRAY, kind, len(values)) +
                          b"".join(_scalar(kind, value) for value in values))

    def tensor(self, name, shape, kind, data):
        """`shape`: the dimension that is contiguous first. `kind`: ggml's number of the type."""
        self._tensors.append((name, shape, kind, data))

    def write(self, out):
        header = MAGIC + struct.pack("<IQQ", VERSION, len(self._tensors), len(self._keys))
        header += b"".join(self._keys)
        place = 0
        for name, shape, kind, data in self._tensors:
            header += text(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
            header += struct.pack("<IQ", kind, place)
            place += len(data) + len(_padding(len(data)))
        out.write(header + _padding(len(header)))
        for _, _, _, data in self._tensors:
            out.write(data + _padding(len(data)))
