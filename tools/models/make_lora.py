#!/usr/bin/env python3
"""Writes a LoRA adapter with random weights for a model of make_llama.py, in the GGUF format.

Give it the sizes of the model. The same seed and sizes give the same bytes.
"""

import argparse
import sys

import gguf
from weights import F32, Weights


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--width", type=int, default=64, help="the model's (default 64)")
    parser.add_argument("--layers", type=int, default=2, help="the model's (default 2)")
    parser.add_argument("--inner", type=int, default=128, help="the model's (default 128)")
    parser.add_argument("--rank", type=int, default=4)
    parser.add_argument("--strength", type=float, default=1.0, help="of the change (default 1)")
    parser.add_argument("--wrong-shape", action="store_true",
                        help="made for a model of other sizes")
    parser.add_argument("--architecture", default="llama", help="the name written into the file")
    return parser.parse_args(arguments)


def add_pair(writer, weights, options, name, columns, rows):
    """The product of the two has the size of the weights that they change."""
    rank = options.rank
    first = weights.normal(F32, columns * rank, columns ** -0.5)
    second = weights.normal(F32, rank * rows, options.strength * rank ** -0.5)
    writer.tensor(f"{name}.weight.lora_a", (columns, rank), F32, first)
    writer.tensor(f"{name}.weight.lora_b", (rank, rows), F32, second)


def main(arguments):
    options = parse_arguments(arguments)
    writer = gguf.Writer()
    writer.key("general.type", gguf.TEXT, "adapter")
    writer.key("general.architecture", gguf.TEXT, options.architecture)
    writer.key("adapter.type", gguf.TEXT, "lora")
    writer.key("adapter.lora.alpha", gguf.FLOAT, float(options.rank))
    weights = Weights(options.seed)
    width = options.width * (2 if options.wrong_shape else 1)
    for layer in range(options.layers):
        add_pair(writer, weights, options, f"blk.{layer}.attn_q", width, width)
        add_pair(writer, weights, options, f"blk.{layer}.ffn_down", options.inner, width)
    with open(options.output, "wb") as out:
        writer.write(out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
