#!/usr/bin/env python3
"""Writes an image projector with random weights for a model of make_llama.py, in the GGUF format.

It is what llama.cpp calls mmproj: a small vision transformer that makes a row of numbers, as wide
as the model, of each patch of an image. They look like the model's token embeddings. The same seed
and sizes give the same bytes.

Kinds (--projector): `mlp`, LLaVA's, whose rows are computed as tokens are; `gemma3`, whose rows
see each other, with text of more than one token before and after the image.
"""

import argparse
import math
import sys

import gguf
from weights import F32, Weights, constant, pack, set_row

# As in make_llama.py: the first dimension of every embedding is the same.
CONSTANT = 0
LEVEL = 2.0


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--width", type=int, default=64, help="the model's (default 64)")
    parser.add_argument("--projector", choices=("mlp", "gemma3"), default="mlp")
    parser.add_argument("--inner", type=int, default=32, help="width inside (default 32)")
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--image", type=int, default=32, help="pixels of a side (default 32)")
    parser.add_argument("--patch", type=int, default=8, help="pixels of a side (default 8)")
    parser.add_argument("--wrong-shape", action="store_true",
                        help="a layer's weights have other sizes than the header says")
    options = parser.parse_args(arguments)
    if options.image % options.patch:
        parser.error("an image must have whole patches")
    if options.heads < 1 or options.inner % options.heads:
        parser.error("the inner width must be a multiple of the heads")
    return options


def write_keys(writer, options):
    writer.key("general.type", gguf.TEXT, "mmproj")
    writer.key("general.architecture", gguf.TEXT, "clip")
    writer.key("general.name", gguf.TEXT, "tiny random projector")
    writer.key("general.file_type", gguf.U32, 0)
    writer.key("clip.has_vision_encoder", gguf.BOOL, True)
    writer.key("clip.projector_type", gguf.TEXT, options.projector)
    writer.key("clip.use_gelu", gguf.BOOL, True)
    for key, value in (("image_size", options.image), ("patch_size", options.patch),
                       ("embedding_length", options.inner), ("block_count", options.layers),
                       ("feed_forward_length", 2 * options.inner),
                       ("projection_dim", options.width),
                       ("attention.head_count", options.heads)):
        writer.key(f"clip.vision.{key}", gguf.U32, value)
    if options.projector == "gemma3":
        writer.key("clip.vision.projector.scale_factor", gguf.U32, 2)
    writer.key("clip.vision.attention.layer_norm_epsilon", gguf.FLOAT, 1e-5)
    for key in ("image_mean", "image_std"):
        writer.array(f"clip.vision.{key}", gguf.FLOAT, [0.5, 0.5, 0.5])


class Tensors:
    """Adds random tensors to a file."""

    def __init__(self, writer, seed):
        self.writer = writer
        self.weights = Weights(seed)

    def random(self, name, shape, deviation):
        data = self.weights.normal(F32, math.prod(shape), deviation)
        self.writer.tensor(name, shape, F32, data)

    def linear(self, name, columns, rows, gain=1.0):
        self.random(name + ".weight", (columns, rows), gain / math.sqrt(columns))
        self.random(name + ".bias", (rows,), 0.1)

    def norm(self, name, width):
        self.writer.tensor(name + ".weight", (width,), F32, constant(F32, width, 1.0))
        self.writer.tensor(name + ".bias", (width,), F32, constant(F32, width, 0.0))


def write_layer(tensors, name, inner, columns):
    tensors.norm(f"{name}.ln1", inner)
    for part in ("q", "k", "v", "out"):
        tensors.linear(f"{name}.attn_{part}", columns, inner, 1.5)
    tensors.norm(f"{name}.ln2", inner)
    tensors.linear(f"{name}.ffn_up", inner, 2 * inner)
    tensors.linear(f"{name}.ffn_down", 2 * inner, inner)


def write_mlp(tensors, inner, width):
    """The last of two layers gives the rows; the constant dimension comes from its bias alone."""
    tensors.linear("mm.0", inner, 2 * inner, 2.0)
    matrix = tensors.weights.normal(F32, 2 * inner * width, 1.5 / math.sqrt(inner))
    set_row(F32, matrix, 2 * inner, CONSTANT, [0.0] * (2 * inner))
    tensors.writer.tensor("mm.2.weight", (2 * inner, width), F32, matrix)
    bias = bytearray(tensors.weights.normal(F32, width, 0.1))
    bias[4 * CONSTANT:4 * CONSTANT + 4] = pack(F32, [LEVEL])
    tensors.writer.tensor("mm.2.bias", (width,), F32, bias)


def write_gemma3(tensors, inner, width):
    """One matrix, which lies the other way round, of rows whose mean square is 1."""
    tensors.random("mm.input_projection.weight", (width, inner), 1 / math.sqrt(inner))
    tensors.writer.tensor("mm.soft_emb_norm.weight", (inner,), F32, constant(F32, inner, 1.0))


def write_tensors(writer, options):
    tensors = Tensors(writer, options.seed)
    inner = options.inner
    patches = (options.image // options.patch) ** 2
    mlp = options.projector == "mlp"
    if mlp:
        tensors.random("v.class_embd", (inner,), 1.0)
    pixels = 3 * options.patch ** 2
    tensors.random("v.patch_embd.weight", (options.patch, options.patch, 3, inner),
                   3 / math.sqrt(pixels))
    tensors.random("v.position_embd.weight", (inner, patches + mlp), 0.5)
    if mlp:
        tensors.norm("v.pre_ln", inner)
    for layer in range(options.layers):
        wrong = options.wrong_shape and layer == 0
        write_layer(tensors, f"v.blk.{layer}", inner, 2 * inner if wrong else inner)
    tensors.norm("v.post_ln", inner)
    (write_mlp if mlp else write_gemma3)(tensors, inner, options.width)


def main(arguments):
    options = parse_arguments(arguments)
    writer = gguf.Writer()
    write_keys(writer, options)
    write_tensors(writer, options)
    with open(options.output, "wb") as out:
        writer.write(out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
