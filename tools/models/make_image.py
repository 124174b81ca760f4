#!/usr/bin/env python3
"""Writes a small picture: blocks of colours that the seed determines, as PNG or BMP.

The PNG is not compressed, so that the same seed and sizes give the same bytes with any zlib.
"""

import argparse
import random
import struct
import sys
import zlib

BLOCK = 5  # pixels of a side
MOST = 4096  # pixels of a side
CHUNK = 65535  # bytes of a block that is stored


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--width", type=int, default=40, help="in pixels (default 40)")
    parser.add_argument("--height", type=int, default=30, help="in pixels (default 30)")
    parser.add_argument("--format", choices=("png", "bmp"), default="png")
    options = parser.parse_args(arguments)
    if not (1 <= options.width <= MOST and 1 <= options.height <= MOST):
        parser.error(f"a side must have 1 to {MOST} pixels")
    return options


def rows(options):
    """From the top; three bytes a pixel: red, green, blue."""
    source = random.Random(options.seed)
    across = -(-options.width // BLOCK)
    for start in range(0, options.height, BLOCK):
        colours = [source.randbytes(3) for _ in range(across)]
        row = b"".join(colour * BLOCK for colour in colours)[:3 * options.width]
        yield from [row] * min(BLOCK, options.height - start)


def stored(data):
    """A zlib stream of blocks that are not compressed."""
    out = b"\x78\x01"
    for start in range(0, len(data), CHUNK):
        piece = data[start:start + CHUNK]
        last = start + CHUNK >= len(data)
        out += struct.pack("<BHH", last, len(piece), len(piece) ^ 0xFFFF) + piece
    return out + struct.pack(">I", zlib.adler32(data))


def png(options):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(
            ">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", options.width, options.height, 8, 2, 0, 0, 0)
    pixels = b"".join(b"\0" + row for row in rows(options))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", stored(pixels)) +
            chunk(b"IEND", b""))


def bmp(options):
    padding = b"\0" * (-3 * options.width % 4)
    lines = []
    for row in reversed(list(rows(options))):
        turned = bytearray(row)
        turned[0::3], turned[2::3] = row[2::3], row[0::3]
        lines.append(bytes(turned) + padding)
    pixels = b"".join(lines)
    header = struct.pack("<IiiHHIIiiII", 40, options.width, options.height, 1, 24, 0, len(pixels),
                         2835, 2835, 0, 0)
    place = 14 + len(header)
    return struct.pack("<2sIHHI", b"BM", place + len(pixels), 0, 0, place) + header + pixels


def main(arguments):
    options = parse_arguments(arguments)
    with open(options.output, "wb") as out:
        out.write(png(options) if options.format == "png" else bmp(options))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
