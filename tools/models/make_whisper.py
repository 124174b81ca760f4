#!/usr/bin/env python3
"""Writes a Whisper model with random weights in the ggml format of whisper.cpp.

It is no model of speech: it hears nothing, but decodes as a real one does. Text depends on the
audio and on what was written before; timestamps come in pairs and move on; some characters are
split between two tokens; it comes to an end. For this a few dimensions of the embeddings are not
random but carry meaning (see DIMENSIONS in the source). The same seed and sizes give the same
bytes.
"""

import argparse
import math
import struct
import sys

import mel
import whisper_vocab
from weights import F16, F32, Weights, constant, pack, set_column, set_row, sinusoids

MAGIC = 0x67676D6C
AUDIO_CONTEXT = 1500
TEXT_CONTEXT = 448
MULTILINGUAL = 51865
ENGLISH = 51864
TIMES = 1501  # timestamp tokens, 20 ms apart, the last of the vocabulary

# DIMENSIONS: the first of the residual stream; attention and MLPs write only into the others.
LIKELY = 0  # how likely the token is; only of use through the bias of the last norm
TIME = (1, 2, 3, 4)  # where in the window a timestamp lies, and where a position expects to be
STAMP = 5  # positive in timestamps and in positions where one is due
OPEN = 6  # set in pieces that end inside a character
CLOSING = 7  # set in pieces that complete one; switched on by the first MLP after an OPEN one
MEANT = 8  # how many there are

SECONDS_A_TOKEN = 0.2
TOKENS_A_SEGMENT = 9
LIKELY_GAIN = 12.0
TIME_GAIN = 3.0
STAMP_GAIN = 4.0
CLOSING_GAIN = 4.0


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--width", type=int, default=64, help="of the residual stream (default 64)")
    parser.add_argument("--heads", type=int, default=2, help="of attention (default 2)")
    parser.add_argument("--layers", type=int, default=1, help="of encoder and decoder (default 1)")
    parser.add_argument("--mels", type=int, default=80, help="mel bands (default 80)")
    parser.add_argument("--english", action="store_true", help="a model of English only")
    parser.add_argument("--type", choices=("f16", "f32"), default="f16", help="of big tensors")
    parser.add_argument("--sharpness", type=float, default=4.0,
                        help="deviation of the logits: below 3 temperature fallback is usual")
    options = parser.parse_args(arguments)
    if options.width % (2 * options.heads) or options.width < 2 * MEANT or options.layers < 1:
        parser.error("the width must be a multiple of twice the heads and at least 16, and there "
                     "must be a layer")
    return options


class Model:
    """Writes the tensors in order; `kind` is that of matrices."""

    def __init__(self, out, options):
        self.out = out
        self.weights = Weights(options.seed)
        self.kind = F16 if options.type == "f16" else F32
        self.width = options.width
        self.options = options
        # What layers add stays in proportion to what they add it to.
        self.depth = 1 / math.sqrt(options.layers)

    def tensor(self, name, shape, kind, data):
        """`shape` as ggml counts: the dimension that is contiguous first."""
        encoded = name.encode()
        assert len(data) == math.prod(shape) * (2 if kind == F16 else 4), name
        self.out.write(struct.pack("<3i", len(shape), len(encoded), kind))
        self.out.write(struct.pack(f"<{len(shape)}i", *shape))
        self.out.write(encoded + data)

    def matrix(self, name, columns, rows, gain=1.0, quiet=False):
        """Random weights that keep the size of what they are applied to, times `gain`. A `quiet`
        one leaves the dimensions with a meaning alone."""
        self.tensor(name, (columns, rows), self.kind, self.random(columns, rows, gain, quiet))

    def random(self, columns, rows, gain, quiet):
        data = self.weights.normal(self.kind, columns * rows, gain / math.sqrt(columns))
        for row in range(MEANT if quiet else 0):
            set_row(self.kind, data, columns, row, [0.0] * columns)
        return data

    def vector(self, name, values):
        self.tensor(name, (len(values),), F32, pack(F32, values))

    def norm(self, name):
        self.vector(name + ".weight", [1.0] * self.width)
        self.vector(name + ".bias", [0.0] * self.width)

    def attention(self, name, focus, gain):
        """`focus`: deviation of the scores; the larger, the fewer positions are looked at."""
        zeros = [0.0] * self.width
        for part in ("query", "key"):
            self.matrix(f"{name}.{part}.weight", self.width, self.width, math.sqrt(focus))
            if part == "query":
                self.vector(f"{name}.{part}.bias", zeros)
        self.matrix(f"{name}.value.weight", self.width, self.width)
        self.vector(f"{name}.value.bias", zeros)
        self.matrix(f"{name}.out.weight", self.width, self.width, gain * self.depth, quiet=True)
        self.vector(f"{name}.out.bias", zeros)

    def mlp(self, name, opens):
        """`opens`: its first unit sees OPEN and sets CLOSING."""
        width, inner = self.width, 4 * self.width
        first = self.random(width, inner, 1.0, False)
        second = self.random(inner, width, self.depth, True)
        bias = [0.0] * inner
        if opens:
            row = [0.0] * width
            row[OPEN] = 3.0
            set_row(self.kind, first, width, 0, row)
            bias[0] = -6.0
            set_column(self.kind, second, inner, 0, [2.0 * (i == CLOSING) for i in range(width)])
        self.tensor(f"{name}.0.weight", (width, inner), self.kind, first)
        self.vector(f"{name}.0.bias", bias)
        self.tensor(f"{name}.2.weight", (inner, width), self.kind, second)
        self.vector(f"{name}.2.bias", [0.0] * width)

    def convolution(self, name, channels, gain):
        count = 3 * channels
        data = self.weights.normal(self.kind, count * self.width, gain / math.sqrt(count))
        self.tensor(name + ".weight", (3, channels, self.width), self.kind, data)
        self.tensor(name + ".bias", (1, self.width), F32, constant(F32, self.width, 0.0))


def time_code(seconds):
    """A point that turns once and five times in half a minute."""
    turn = 2 * math.pi * seconds / 30
    return (math.cos(turn), math.sin(turn), math.cos(5 * turn), math.sin(5 * turn))


def write_header(out, options):
    vocabulary = ENGLISH if options.english else MULTILINGUAL
    width, heads, layers = options.width, options.heads, options.layers
    out.write(struct.pack("<I11i", MAGIC, vocabulary, AUDIO_CONTEXT, width, heads, layers,
                          TEXT_CONTEXT, width, heads, layers, options.mels,
                          1 if options.type == "f16" else 0))
    out.write(struct.pack("<2i", options.mels, mel.BINS))
    out.write(pack(F32, mel.filters(options.mels)))
    pieces = whisper_vocab.entries(50256 if options.english else 50257)
    out.write(struct.pack("<i", len(pieces)))
    for piece in pieces:
        out.write(struct.pack("<I", len(piece)) + piece)
    return pieces


def write_encoder(model):
    options = model.options
    model.tensor("encoder.positional_embedding", (model.width, AUDIO_CONTEXT), F32,
                 pack(F32, sinusoids(AUDIO_CONTEXT, model.width, 0.3)))
    model.convolution("encoder.conv1", options.mels, 3.0)
    model.convolution("encoder.conv2", model.width, 3.0)
    for layer in range(options.layers):
        name = f"encoder.blocks.{layer}"
        model.norm(f"{name}.attn_ln")
        model.attention(f"{name}.attn", 2.0, 1.0)
        model.norm(f"{name}.mlp_ln")
        model.mlp(f"{name}.mlp", opens=False)
    model.norm("encoder.ln_post")


def likelihoods(pieces, count):
    """How likely each token is; -1: next to never."""
    values = [-1.0] * count
    likely = min(len(pieces), 256 + whisper_vocab.WORDS)
    for index in range(256, likely):
        values[index] = -0.25 * math.log(index - 254) / math.log(whisper_vocab.WORDS)
    for index, piece in enumerate(pieces[256:likely], 256):
        if piece in whisper_vocab.CLOSING:
            values[index] = -0.8
    end = len(pieces)
    values[end] = 0.2  # the end of the text
    values[count - TIMES:] = [0.0] * TIMES
    for index in range(end + 2, count - TIMES):
        values[index] = -0.2  # languages, no speech; others of these are never drawn
    return values


def write_embedding(model, pieces):
    """One row a token: what a token puts in, and what an output is compared with."""
    count = ENGLISH if model.options.english else MULTILINGUAL
    data = model.weights.normal(model.kind, count * model.width, 1.0)
    calm = model.weights.normal(model.kind, TIMES * model.width, 0.3)
    data[(count - TIMES) * model.width * (2 if model.kind == F16 else 4):] = calm
    columns = {dimension: [0.0] * count for dimension in range(MEANT)}
    columns[LIKELY] = likelihoods(pieces, count)
    for index, piece in enumerate(pieces):
        columns[OPEN][index] = 12.0 if piece in whisper_vocab.OPEN else 0.0
        columns[CLOSING][index] = 1.0 if piece in whisper_vocab.CLOSING else 0.0
    columns[STAMP][len(pieces)] = 1.0
    for index in range(TIMES):
        token = count - TIMES + index
        columns[STAMP][token] = 1.0
        for dimension, value in zip(TIME, time_code(0.02 * index)):
            columns[dimension][token] = value
    for dimension, values in columns.items():
        set_column(model.kind, data, model.width, dimension, values)
    model.tensor("decoder.token_embedding.weight", (model.width, count), model.kind, data)


def write_positions(model):
    data = model.weights.normal(F32, TEXT_CONTEXT * model.width, 1.0)
    columns = {dimension: [0.0] * TEXT_CONTEXT for dimension in range(MEANT)}
    for position in range(TEXT_CONTEXT):
        seconds = SECONDS_A_TOKEN * position % 30
        columns[STAMP][position] = 2.0 if position % TOKENS_A_SEGMENT < 3 else -2.0
        for dimension, value in zip(TIME, time_code(seconds)):
            columns[dimension][position] = 2 * value
    for dimension, values in columns.items():
        set_column(F32, data, model.width, dimension, values)
    model.tensor("decoder.positional_embedding", (model.width, TEXT_CONTEXT), F32, data)


def write_last_norm(model):
    """Random signs, so that a token does not call for itself."""
    size = model.options.sharpness / math.sqrt(model.width - MEANT)
    weight = model.weights.signs(model.width, size)
    bias = [0.0] * model.width
    bias[LIKELY] = LIKELY_GAIN
    weight[LIKELY] = weight[OPEN] = 0.0
    weight[STAMP] = STAMP_GAIN
    weight[CLOSING] = CLOSING_GAIN
    for dimension in TIME:
        weight[dimension] = TIME_GAIN
    model.vector("decoder.ln.weight", weight)
    model.vector("decoder.ln.bias", bias)


def write_decoder(model, pieces):
    write_positions(model)
    write_embedding(model, pieces)
    for layer in range(model.options.layers):
        name = f"decoder.blocks.{layer}"
        model.norm(f"{name}.attn_ln")
        model.attention(f"{name}.attn", 2.0, 1.0)
        model.norm(f"{name}.cross_attn_ln")
        model.attention(f"{name}.cross_attn", 4.0, 2.0)
        model.norm(f"{name}.mlp_ln")
        model.mlp(f"{name}.mlp", opens=layer == 0)
    write_last_norm(model)


def main(arguments):
    options = parse_arguments(arguments)
    with open(options.output, "wb") as out:
        pieces = write_header(out, options)
        model = Model(out, options)
        write_encoder(model)
        write_decoder(model, pieces)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
