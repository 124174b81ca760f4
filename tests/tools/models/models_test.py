#!/usr/bin/env python3
"""The scripts of tools/models write the same bytes for a seed, in the layouts that they say.

That the libraries load the files is shown by the engines' own tests.
"""

import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

ROOT = pathlib.Path(__file__).absolute().parent.parent.parent.parent
MODELS = ROOT / "tools/models"
SMALL_WHISPER = ("--width", "32", "--heads", "2")
WHISPER_TENSORS = 11 + 15 + 24  # of one layer each


class Reader:
    """Takes numbers and texts off a file's bytes, one after the other."""

    def __init__(self, data):
        self.data = data
        self.place = 0

    def take(self, form):
        values = struct.unpack_from("<" + form, self.data, self.place)
        self.place += struct.calcsize("<" + form)
        return values if len(values) > 1 else values[0]

    def bytes(self, size):
        self.place += size
        return self.data[self.place - size:self.place]


class ModelsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_script(self, script, *arguments):
        return subprocess.run([sys.executable, "-B", MODELS / script, *arguments],
                              capture_output=True, text=True, check=False)

    def made(self, script, *arguments):
        out = self.folder / "out"
        done = self.run_script(script, out, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return out.read_bytes()

    def broken(self, model, kind):
        source, out = self.folder / "in", self.folder / "out"
        source.write_bytes(model)
        done = self.run_script("break_model.py", source, out, "--kind", kind)
        self.assertEqual(done.returncode, 0, done.stderr)
        return out.read_bytes()


class EveryScript(ModelsTest):
    SCRIPTS = (("make_whisper.py", *SMALL_WHISPER), ("make_llama.py",), ("make_lora.py",),
               ("make_mmproj.py",), ("make_image.py",))

    def test_a_seed_gives_the_same_bytes_and_another_seed_others(self):
        for script, *options in self.SCRIPTS:
            with self.subTest(script):
                first = self.made(script, *options)
                self.assertEqual(first, self.made(script, *options))
                self.assertNotEqual(first, self.made(script, *options, "--seed", "2"))

    def test_each_has_help_and_refuses_what_it_does_not_know(self):
        scripts = [script for script, *_ in self.SCRIPTS]
        for script in (*scripts, "break_model.py"):
            with self.subTest(script):
                shown = self.run_script(script, "--help")
                self.assertEqual(shown.returncode, 0)
                self.assertIn("usage:", shown.stdout)
                self.assertEqual(self.run_script(script, "out", "--no-such").returncode, 2)

    def test_sizes_that_no_model_can_have_are_refused(self):
        for script, *options in (("make_whisper.py", "--width", "50"),
                                 ("make_whisper.py", "--layers", "0"),
                                 ("make_llama.py", "--kv-heads", "3"),
                                 ("make_llama.py", "--width", "65"),
                                 ("make_llama.py", "--vocabulary", "100"),
                                 ("make_mmproj.py", "--image", "33"),
                                 ("make_mmproj.py", "--heads", "3"),
                                 ("make_image.py", "--width", "0")):
            with self.subTest(script=script, options=options):
                self.assertEqual(self.run_script(script, self.folder / "x", *options).returncode, 2)
                self.assertFalse((self.folder / "x").exists())


class Whisper(ModelsTest):
    def header(self, reader):
        self.assertEqual(reader.take("I"), 0x67676D6C)
        return reader.take("11i")

    def pieces(self, reader):
        bands, bins = reader.take("2i")
        self.assertEqual((bands, bins), (80, 201))
        filters = reader.take(f"{bands * bins}f")
        self.assertGreater(min(sum(filters[i * bins:(i + 1) * bins]) for i in range(bands)), 0)
        return [reader.bytes(reader.take("I")) for _ in range(reader.take("i"))]

    def tensors(self, reader):
        found = {}
        while reader.place < len(reader.data):
            dimensions, name, kind = reader.take("3i")
            shape = [reader.take("i") for _ in range(dimensions)]
            count = 4 if kind == 0 else 2
            for size in shape:
                count *= size
            text = reader.bytes(name).decode()
            found[text] = (shape, kind, reader.bytes(count))
        self.assertEqual(reader.place, len(reader.data))
        return found

    def test_the_multilingual_one(self):
        reader = Reader(self.made("make_whisper.py", *SMALL_WHISPER))
        self.assertEqual(self.header(reader), (51865, 1500, 32, 2, 1, 448, 32, 2, 1, 80, 1))
        pieces = self.pieces(reader)
        self.assertEqual(len(pieces), 50257)
        self.assertEqual(len(set(pieces)), len(pieces))
        self.assertEqual(pieces[:256], [bytes([byte]) for byte in range(256)])
        tensors = self.tensors(reader)
        self.assertEqual(len(tensors), WHISPER_TENSORS)
        self.assertEqual(tensors["decoder.token_embedding.weight"][:2], ([32, 51865], 1))
        self.assertEqual(tensors["decoder.ln.bias"][:2], ([32], 0))

    def test_the_english_one_of_more_layers_in_f32(self):
        reader = Reader(self.made("make_whisper.py", *SMALL_WHISPER, "--english", "--layers", "2",
                                  "--type", "f32"))
        self.assertEqual(self.header(reader), (51864, 1500, 32, 2, 2, 448, 32, 2, 2, 80, 0))
        self.assertEqual(len(self.pieces(reader)), 50256)
        tensors = self.tensors(reader)
        self.assertEqual(len(tensors), WHISPER_TENSORS + 15 + 24)
        self.assertEqual({kind for _, kind, _ in tensors.values()}, {0})

    def test_pieces_that_end_inside_a_character_go_with_all_that_complete_one(self):
        sys.path.insert(0, str(MODELS))
        import whisper_vocab
        for begin in whisper_vocab.OPEN:
            self.assertRaises(UnicodeDecodeError, begin.decode)
            for end in whisper_vocab.CLOSING:
                (begin + end).decode()

    def test_broken_ones(self):
        whole = self.made("make_whisper.py", *SMALL_WHISPER)
        self.assertEqual(self.broken(whole, "truncated"), whole[:len(whole) * 2 // 3])
        self.assertEqual(self.broken(whole, "header"), whole[:20])
        self.assertEqual(self.broken(whole, "empty"), b"")
        self.assertEqual(self.broken(whole, "magic")[4:], whole[4:])
        self.assertEqual(self.header(Reader(self.broken(whole, "counts")))[2], 0x7FFFFFF0)
        self.assertNotIn(whole[:4], self.broken(whole, "random"))
        short = Reader(self.broken(whole, "missing-tensor"))
        self.header(short)
        self.pieces(short)
        self.assertEqual(len(self.tensors(short)), WHISPER_TENSORS - 1)
        nan = Reader(self.broken(whole, "nan"))
        self.header(nan)
        self.pieces(nan)
        self.assertEqual(set(self.tensors(nan)["decoder.ln.bias"][2]), {0xFF})


class Gguf(ModelsTest):
    SCALARS = {4: "I", 5: "i", 6: "f", 7: "?"}

    def text(self, reader):
        return reader.bytes(reader.take("Q")).decode()

    def value(self, reader, kind):
        if kind == 8:
            return self.text(reader)
        if kind == 9:
            inner, count = reader.take("IQ")
            return [self.value(reader, inner) for _ in range(count)]
        return reader.take(self.SCALARS[kind])

    def parse(self, data):
        """Keys, and tensors as (shape, kind, data)."""
        reader = Reader(data)
        self.assertEqual(reader.bytes(4), b"GGUF")
        version, tensors, keys = reader.take("IQQ")
        self.assertEqual(version, 3)
        found = {}
        for _ in range(keys):
            name = self.text(reader)
            found[name] = self.value(reader, reader.take("I"))
        infos = []
        for _ in range(tensors):
            name = self.text(reader)
            shape = [reader.take("Q") for _ in range(reader.take("I"))]
            infos.append((name, shape, *reader.take("IQ")))
        start = -(-reader.place // 32) * 32
        placed = {}
        for name, shape, kind, place in infos:
            self.assertEqual(place % 32, 0)
            size = 4 if kind == 0 else 2
            for dimension in shape:
                size *= dimension
            self.assertLessEqual(start + place + size, len(data))
            placed[name] = (shape, kind, data[start + place:start + place + size])
        return found, placed

    def test_a_model(self):
        keys, tensors = self.parse(self.made("make_llama.py", "--type", "f16", "--context", "8192"))
        self.assertEqual(keys["general.architecture"], "llama")
        self.assertEqual(keys["llama.context_length"], 8192)
        self.assertEqual(keys["llama.attention.head_count_kv"], 2)
        words = keys["tokenizer.ggml.tokens"]
        self.assertEqual(len(words), 768)
        self.assertEqual(len(set(words)), 768)
        self.assertEqual(words[3 + 0xA9], "<0xA9>")
        self.assertEqual(keys["tokenizer.ggml.token_type"][:4], [2, 3, 3, 6])
        self.assertEqual(tensors["output.weight"][:2], ([64, 768], 1))
        self.assertEqual(tensors["blk.1.attn_k.weight"][0], [64, 32])
        self.assertEqual(len(tensors), 3 + 2 * 9)

    def test_an_architecture_of_another_name(self):
        keys, _ = self.parse(self.made("make_llama.py", "--architecture", "nosuch"))
        self.assertEqual(keys["general.architecture"], "nosuch")
        self.assertIn("nosuch.block_count", keys)

    def test_tokens_for_images(self):
        keys, _ = self.parse(self.made("make_llama.py", "--image-tokens"))
        words, kinds = keys["tokenizer.ggml.tokens"], keys["tokenizer.ggml.token_type"]
        self.assertEqual((len(words), words[-3], words[-1]),
                         (768, "<start_of_image>", "<end_of_image>"))
        self.assertEqual(kinds[-4:], [1, 3, 3, 3])

    def test_an_adapter(self):
        keys, tensors = self.parse(self.made("make_lora.py", "--rank", "8"))
        self.assertEqual((keys["general.type"], keys["adapter.type"]), ("adapter", "lora"))
        self.assertEqual(tensors["blk.0.attn_q.weight.lora_a"][0], [64, 8])
        self.assertEqual(tensors["blk.1.ffn_down.weight.lora_b"][0], [8, 64])
        _, wrong = self.parse(self.made("make_lora.py", "--wrong-shape"))
        self.assertEqual(wrong["blk.0.attn_q.weight.lora_a"][0], [128, 4])

    def test_a_projector(self):
        keys, tensors = self.parse(self.made("make_mmproj.py"))
        self.assertEqual((keys["general.architecture"], keys["general.type"]), ("clip", "mmproj"))
        self.assertIs(keys["clip.has_vision_encoder"], True)
        self.assertEqual(keys["clip.vision.image_mean"], [0.5, 0.5, 0.5])
        self.assertEqual(tensors["v.patch_embd.weight"][0], [8, 8, 3, 32])
        self.assertEqual(tensors["v.position_embd.weight"][0], [32, 17])
        self.assertEqual(tensors["mm.2.weight"][0], [64, 64])
        self.assertEqual(struct.unpack_from("<f", tensors["mm.2.bias"][2])[0], 2.0)
        _, wrong = self.parse(self.made("make_mmproj.py", "--wrong-shape"))
        self.assertEqual(wrong["v.blk.0.attn_q.weight"][0], [64, 32])
        keys, tensors = self.parse(self.made("make_mmproj.py", "--projector", "gemma3",
                                             "--width", "96"))
        self.assertEqual(keys["clip.projector_type"], "gemma3")
        self.assertEqual(tensors["mm.input_projection.weight"][0], [96, 32])
        self.assertEqual(tensors["v.position_embd.weight"][0], [32, 16])

    def test_broken_ones(self):
        whole = self.made("make_llama.py")
        self.assertEqual(self.broken(whole, "truncated"), whole[:len(whole) * 2 // 3])
        _, renamed = self.parse(self.broken(whole, "missing-tensor"))
        self.assertNotIn("output_norm.weight", renamed)
        self.assertEqual(len(renamed), 3 + 2 * 9)
        self.assertEqual(Reader(self.broken(whole, "counts")[8:]).take("QQ"), (1 << 60, 1 << 60))
        self.assertEqual(Reader(self.broken(whole, "strings")[24:]).take("Q"), 1 << 60)
        _, nan = self.parse(self.broken(whole, "nan"))
        self.assertEqual(set(nan["output.weight"][2]), {0xFF})


class Images(ModelsTest):
    SIZE = ("--width", "33", "--height", "7")

    def test_a_png(self):
        data = self.made("make_image.py", *self.SIZE)
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        chunks, place = {}, 8
        while place < len(data):
            (size,) = struct.unpack_from(">I", data, place)
            body = data[place + 4:place + 8 + size]
            self.assertEqual(struct.unpack_from(">I", data, place + 8 + size)[0], zlib.crc32(body))
            chunks[body[:4]] = body[4:]
            place += 12 + size
        self.assertEqual(struct.unpack(">IIBBBBB", chunks[b"IHDR"]), (33, 7, 8, 2, 0, 0, 0))
        pixels = zlib.decompress(chunks[b"IDAT"])
        self.assertEqual(len(pixels), 7 * (1 + 3 * 33))
        self.assertEqual(pixels[:100], pixels[100:200])
        self.assertNotEqual(pixels[:100], pixels[500:600])

    def test_a_bmp_has_the_same_pixels(self):
        data = self.made("make_image.py", *self.SIZE, "--format", "bmp")
        kind, size, _, _, start = struct.unpack_from("<2sIHHI", data)
        self.assertEqual((kind, size, start), (b"BM", len(data), 54))
        self.assertEqual(struct.unpack_from("<ii", data, 18), (33, 7))
        png = self.made("make_image.py", *self.SIZE)
        top = data[len(data) - 100:]  # the last line; 99 bytes and a byte of padding
        self.assertIn(bytes(top[2::-1]) + bytes(top[5:2:-1]), png)


if __name__ == "__main__":
    unittest.main()
