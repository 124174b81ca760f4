#!/usr/bin/env python3
"""Writes a LLaMA model with random weights in the GGUF format of llama.cpp.

It knows no language, but draws as a real one does: what comes next depends on all that came
before, most of it is readable, and two tokens are never equally likely. The same seed and sizes
give the same bytes.
"""

import argparse
import math
import sys

import gguf
import llama_vocab
from weights import F16, F32, Weights, constant, set_column, set_row

# The first dimension of the residual stream is the same for every token, and no layer writes to it:
# with it the output weights say how likely a token is at all.
CONSTANT = 0
SHARPNESS = 3.5  # deviation of the logits
RARE = -12.0


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--width", type=int, default=64, help="of the residual stream (default 64)")
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--heads", type=int, default=4, help="of queries (default 4)")
    parser.add_argument("--kv-heads", type=int, default=2, help="of keys and values (default 2)")
    parser.add_argument("--inner", type=int, default=128, help="width inside an MLP (default 128)")
    parser.add_argument("--context", type=int, default=4096, help="in tokens (default 4096)")
    parser.add_argument("--vocabulary", type=int, default=768, help="tokens, 512 to 65536")
    parser.add_argument("--type", choices=("f32", "f16"), default="f32", help="of matrices")
    parser.add_argument("--architecture", default="llama", help="the name written into the file")
    parser.add_argument("--image-tokens", action="store_true",
                        help="the vocabulary has tokens for images, as Gemma 3's")
    options = parser.parse_args(arguments)
    if options.heads < 1 or options.width % (2 * options.heads):
        parser.error("the width must be a multiple of twice the heads")
    if options.kv_heads < 1 or options.heads % options.kv_heads:
        parser.error("heads must be a multiple of kv-heads")
    if not 512 <= options.vocabulary <= 65536:
        parser.error("the vocabulary must have 512 to 65536 tokens")
    return options


def likelihood(index, entry):
    text, _, kind = entry
    if kind == llama_vocab.BYTE:
        return 0.0 if text == "<0x0A>" else RARE
    if index == llama_vocab.END:
        return -6.0
    if kind != llama_vocab.NORMAL:
        return RARE
    return 1.5 if text.startswith(llama_vocab.SPACE) else 0.0


def write_keys(writer, options, entries):
    name = options.architecture
    writer.key("general.architecture", gguf.TEXT, name)
    writer.key("general.name", gguf.TEXT, "tiny random llama")
    writer.key("general.file_type", gguf.U32, 1 if options.type == "f16" else 0)
    for key, value in (("context_length", options.context), ("embedding_length", options.width),
                       ("block_count", options.layers), ("feed_forward_length", options.inner),
                       ("attention.head_count", options.heads),
                       ("attention.head_count_kv", options.kv_heads),
                       ("rope.dimension_count", options.width // options.heads)):
        writer.key(f"{name}.{key}", gguf.U32, value)
    writer.key(f"{name}.attention.layer_norm_rms_epsilon", gguf.FLOAT, 1e-5)
    writer.key("tokenizer.ggml.model", gguf.TEXT, "llama")
    writer.array("tokenizer.ggml.tokens", gguf.TEXT, [text for text, _, _ in entries])
    writer.array("tokenizer.ggml.scores", gguf.FLOAT, [score for _, score, _ in entries])
    writer.array("tokenizer.ggml.token_type", gguf.I32, [kind for _, _, kind in entries])
    writer.key("tokenizer.ggml.unknown_token_id", gguf.U32, llama_vocab.UNKNOWN)
    writer.key("tokenizer.ggml.bos_token_id", gguf.U32, llama_vocab.BEGIN)
    writer.key("tokenizer.ggml.eos_token_id", gguf.U32, llama_vocab.END)


class Tensors:
    """Adds random tensors to a file."""

    def __init__(self, writer, options):
        self.writer = writer
        self.weights = Weights(options.seed)
        self.kind = F16 if options.type == "f16" else F32

    def random(self, columns, rows, gain=1.0):
        return self.weights.normal(self.kind, columns * rows, gain / math.sqrt(columns))

    def matrix(self, name, columns, rows, gain=1.0, quiet=False):
        data = self.random(columns, rows, gain)
        if quiet:
            set_row(self.kind, data, columns, CONSTANT, [0.0] * columns)
        self.writer.tensor(name + ".weight", (columns, rows), self.kind, data)

    def norm(self, name, width):
        self.writer.tensor(name + ".weight", (width,), F32, constant(F32, width, 1.0))


def write_layer(tensors, name, options):
    width, keys = options.width, options.width // options.heads * options.kv_heads
    tensors.norm(f"{name}.attn_norm", width)
    tensors.matrix(f"{name}.attn_q", width, width, 1.8)
    tensors.matrix(f"{name}.attn_k", width, keys, 1.8)
    tensors.matrix(f"{name}.attn_v", width, keys)
    tensors.matrix(f"{name}.attn_output", width, width, 1.5, quiet=True)
    tensors.norm(f"{name}.ffn_norm", width)
    tensors.matrix(f"{name}.ffn_gate", width, options.inner)
    tensors.matrix(f"{name}.ffn_up", width, options.inner)
    tensors.matrix(f"{name}.ffn_down", options.inner, width, 1.5, quiet=True)


def write_tensors(writer, options, entries):
    tensors = Tensors(writer, options)
    width, count = options.width, len(entries)
    embedding = tensors.weights.normal(tensors.kind, width * count, 1.0)
    set_column(tensors.kind, embedding, width, CONSTANT, [2.0] * count)
    writer.tensor("token_embd.weight", (width, count), tensors.kind, embedding)
    for layer in range(options.layers):
        write_layer(tensors, f"blk.{layer}", options)
    tensors.norm("output_norm", width)
    output = tensors.random(width, count, SHARPNESS)
    set_column(tensors.kind, output, width, CONSTANT,
               [likelihood(index, entry) for index, entry in enumerate(entries)])
    writer.tensor("output.weight", (width, count), tensors.kind, output)


def main(arguments):
    options = parse_arguments(arguments)
    entries = llama_vocab.entries(options.vocabulary)
    if options.image_tokens:
        entries = llama_vocab.with_image_tokens(entries)
    writer = gguf.Writer()
    write_keys(writer, options, entries)
    write_tensors(writer, options, entries)
    with open(options.output, "wb") as out:
        writer.write(out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
