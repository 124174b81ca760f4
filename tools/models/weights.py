"""Random weights as bytes, the same for a seed on any machine.

A value is one of 256 points of a normal distribution, chosen by a random byte and looked up with
bytes.translate, so that a hundred million of them take seconds without any library. 256 points are
enough: what a model makes of them are sums of many.
"""

import array
import math
import random
import statistics
import struct

F32 = 0  # the numbers that ggml gives these types
F16 = 1
SIZE = {F32: 4, F16: 2}
_CODE = {F32: "f", F16: "e"}
_DRAW_AT_ONCE = 1 << 24
_NORMAL = [statistics.NormalDist().inv_cdf((i + 0.5) / 256) for i in range(256)]


def pack(kind, values):
    """The values as little-endian numbers of `kind`."""
    values = list(values)
    return struct.pack(f"<{len(values)}{_CODE[kind]}", *values)


class Weights:
    """A stream of random weights. Every call takes from the same stream, so order matters."""

    def __init__(self, seed):
        self._random = random.Random(seed)

    def normal(self, kind, count, deviation):
        """`count` numbers of `kind` with the mean 0 and this standard deviation, as a bytearray."""
        table = pack(kind, (deviation * value for value in _NORMAL))
        size = SIZE[kind]
        planes = [table[plane::size] for plane in range(size)]
        out = bytearray(count * size)
        for start in range(0, count, _DRAW_AT_ONCE):
            end = min(count, start + _DRAW_AT_ONCE)
            drawn = self._random.randbytes(end - start)
            for plane in range(size):
                out[start * size + plane:end * size:size] = drawn.translate(planes[plane])
        return out

    def signs(self, count, size):
        """`count` times plus or minus `size`, as a list."""
        return [size if byte & 1 else -size for byte in self._random.randbytes(count)]


def constant(kind, count, value):
    """`count` times the same number."""
    return bytearray(pack(kind, [value]) * count)


def set_column(kind, matrix, width, column, values):
    """Replaces one column of a matrix of rows of `width` numbers."""
    packed = pack(kind, values)
    size = SIZE[kind]
    for plane in range(size):
        matrix[column * size + plane::width * size] = packed[plane::size]


def set_row(kind, matrix, width, row, values):
    """Replaces one row of a matrix of rows of `width` numbers."""
    packed = pack(kind, values)
    begin = row * width * SIZE[kind]
    matrix[begin:begin + len(packed)] = packed


def sinusoids(length, width, amplitude):
    """Whisper's positions: sines, then cosines, of wavelengths that grow by a constant factor."""
    step = math.log(10000) / (width // 2 - 1)
    rates = [math.exp(-step * i) for i in range(width // 2)]
    values = array.array("f")
    for position in range(length):
        values.extend(amplitude * math.sin(position * rate) for rate in rates)
        values.extend(amplitude * math.cos(position * rate) for rate in rates)
    return values
