#!/usr/bin/python3
"""The programs of protocol/examples do what their first lines say."""

import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).absolute().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/tools/python"))
from worker import PATIENCE, Worker, pcm, wav  # noqa: E402

EXAMPLES = pathlib.Path(os.environ.get("SUPERFLUID_EXAMPLES", ROOT / "protocol/examples"))


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.worker = Worker("--engine-option", "step_us=20000")

    @classmethod
    def tearDownClass(cls):
        cls.worker.__exit__()

    def run_example(self, name, *arguments, stdin=b"", code=0):
        done = subprocess.run([str((EXAMPLES / name).absolute()), *arguments], input=stdin,
                              capture_output=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout.decode().splitlines()

    def test_many_files(self):
        files = []
        for i in range(4):
            files.append(str(self.worker.folder / f"{i}.wav"))
            pathlib.Path(files[i]).write_bytes(wav(5, seed=i))
        lines = self.run_example("many_files", self.worker.socket, "2", *files, "/no/such.wav")
        self.assertEqual(lines[0], "up to 256 may be open on this link")
        ends = dict(line.split(": ", 1) for line in lines[1:])
        self.assertEqual(set(ends), set(files) | {"/no/such.wav"})
        self.assertRegex(ends[files[1]], r"^CANCELLED after [1-4] segments, 0 steps after the cancel$")
        self.assertTrue(ends["/no/such.wav"].startswith("NOT_FOUND"))
        texts = {ends[file] for file in files if ends[file].startswith("OK: ")}
        self.assertEqual(len(texts), 3)

    def test_live_audio(self):
        lines = self.run_example("live_audio", self.worker.socket, stdin=pcm(20))
        self.assertEqual(len(lines), 20)
        self.assertTrue(lines[19].startswith("19000 to 20000 ms: "), lines[19])

    def test_batched_ticks(self):
        both = self.run_example("batched_ticks", self.worker.socket, "20", "one", "two")
        again = self.run_example("batched_ticks", self.worker.socket, "20", "two", "two")
        self.assertEqual([len(line.split()) for line in both], [20, 20])
        self.assertNotEqual(both[0], both[1])
        self.assertEqual(again, [both[1]] * 2)

    def test_move_state(self):
        with Worker() as other:
            line, = self.run_example("move_state", self.worker.socket, other.socket,
                                     "It was a dark and stormy night")
        self.assertRegex(line, r"^moved \d+ of 30 tokens in \d+ spaces; the next 32 tokens are the same$")

    def test_no_worker(self):
        self.assertEqual(self.run_example("live_audio", code=2), [])


if __name__ == "__main__":
    unittest.main()
