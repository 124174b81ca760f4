#!/usr/bin/env python3
"""Writes a damaged copy of a model file, of whisper.cpp's ggml format or GGUF.

What is done to it (--kind):
  truncated       the last third is missing
  header          it ends inside the header
  empty           nothing in it
  magic           the first four bytes are others
  random          random bytes, no model at all
  counts          sizes in the header that no file can have
  strings         a first text of absurd length (GGUF: a key, whisper: a piece of the vocabulary)
  missing-tensor  one tensor is not there (GGUF: it has another name)
  nan             the second half of the weights are no numbers; everything else is right
"""

import argparse
import pathlib
import random
import struct
import sys

HUGE_32 = 0x7FFFFFF0
HUGE_64 = 1 << 60
RANDOM_SIZE = 1 << 16
WHISPER_HEADER = 4 + 11 * 4
GGUF_HEADER = 4 + 4 + 8 + 8
LOST = (b"output_norm.weight", b"v.position_embd.weight")


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input")
    parser.add_argument("output")
    parser.add_argument("--kind", required=True, choices=sorted(KINDS))
    parser.add_argument("--seed", type=int, default=1, help="of random bytes (default 1)")
    return parser.parse_args(arguments)


def is_gguf(data):
    return data[:4] == b"GGUF"


def put(data, place, form, *values):
    packed = struct.pack(form, *values)
    return data[:place] + packed + data[place + len(packed):]


def whisper_vocabulary(data):
    """Where the number of pieces stands."""
    bands, bins = struct.unpack_from("<2i", data, WHISPER_HEADER)
    return WHISPER_HEADER + 8 + 4 * bands * bins


def whisper_tensors(data):
    """The beginnings of all tensors, and the end of the last."""
    place = whisper_vocabulary(data)
    (pieces,) = struct.unpack_from("<i", data, place)
    place += 4
    for _ in range(pieces):
        place += 4 + struct.unpack_from("<I", data, place)[0]
    places = [place]
    while place < len(data):
        dimensions, name, kind = struct.unpack_from("<3i", data, place)
        count = 2 if kind == 1 else 4
        for size in struct.unpack_from(f"<{dimensions}i", data, place + 12):
            count *= size
        place += 12 + 4 * dimensions + name + count
        places.append(place)
    return places


def counts(data, _):
    if is_gguf(data):
        return put(data, 8, "<QQ", HUGE_64, HUGE_64)
    # The widths of encoder and decoder, which stand for all sizes.
    return put(put(data, 12, "<i", HUGE_32), 28, "<i", HUGE_32)


def strings(data, _):
    if is_gguf(data):
        return put(data, GGUF_HEADER, "<Q", HUGE_64)
    return put(data, whisper_vocabulary(data) + 4, "<I", HUGE_32)


def missing_tensor(data, _):
    if is_gguf(data):
        for name in LOST:
            data = data.replace(name, name[::-1], 1)
        return data
    return data[:whisper_tensors(data)[-2]]


def nan(data, _):
    if is_gguf(data):
        return data[:len(data) // 2] + b"\xff" * (len(data) - len(data) // 2)
    places = whisper_tensors(data)
    out = bytearray(data)
    for begin, end in list(zip(places, places[1:]))[len(places) // 2:]:
        dimensions, name, _ = struct.unpack_from("<3i", data, begin)
        begin += 12 + 4 * dimensions + name
        out[begin:end] = b"\xff" * (end - begin)
    return bytes(out)


KINDS = {
    "truncated": lambda data, _: data[:len(data) * 2 // 3],
    "header": lambda data, _: data[:20],
    "empty": lambda data, _: b"",
    "magic": lambda data, _: b"oops" + data[4:],
    "random": lambda _, seed: random.Random(seed).randbytes(RANDOM_SIZE),
    "counts": counts,
    "strings": strings,
    "missing-tensor": missing_tensor,
    "nan": nan,
}


def main(arguments):
    options = parse_arguments(arguments)
    data = pathlib.Path(options.input).read_bytes()
    pathlib.Path(options.output).write_bytes(KINDS[options.kind](data, options.seed))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
