#!/usr/bin/python3
"""python3 -m superfluid and the examples, against the real worker with the `sim` engine."""

import json
import os
import pathlib
import subprocess
import sys
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).absolute().parent))
from worker import PATIENCE, ROOT, pcm  # noqa: E402
from client_case import Case, connect  # noqa: E402

import superfluid  # noqa: E402,F401

class Command(Case):
    def run_command(self, *arguments, stdin=b""):
        return subprocess.run([sys.executable, "-m", "superfluid", "--connect", self.worker.socket,
                               *arguments], input=stdin, capture_output=True, timeout=PATIENCE,
                              cwd=ROOT / "tools/python", check=False)

    def test_transcribe(self):
        with connect(self.worker) as client:
            text = client.transcribe(self.file).text
        for arguments in ([str(self.file)], ["--inline", str(self.file)]):
            done = self.run_command("transcribe", *arguments)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.decode().split("\n")[-2], text)
        live = self.run_command("transcribe", "--live", "-", stdin=pcm(5))
        self.assertEqual(live.stdout.decode().split("\n")[-2], text)
        as_json = json.loads(self.run_command("transcribe", "--json", str(self.file)).stdout)
        self.assertEqual(as_json["text"], text)
        self.assertEqual(len(as_json["segments"]), 5)

    def test_errors_have_exit_codes(self):
        self.assertEqual(self.run_command("transcribe", "/no/such/file.wav").returncode, 1)
        self.assertEqual(self.run_command("dance").returncode, 2)
        done = self.run_command("--connect", "/no/such/socket", "ping")
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"no worker listens", done.stderr)

    def test_ping_and_info(self):
        self.assertIn(b"idle", self.run_command("ping").stdout)
        info = json.loads(self.run_command("info", "--json").stdout)
        self.assertEqual(info["engine"], "sim")


class Examples(Case):
    def test_a_plot_has_a_bar_for_each_segment_and_a_dot_for_each_word(self):
        out = self.worker.folder / "plot.svg"
        example = ROOT / "tools/python/examples/plot_transcript.py"
        done = subprocess.run([sys.executable, str(example), self.worker.socket, str(self.file), str(out)],
                              env={**os.environ, "PYTHONPATH": str(ROOT / "tools/python")},
                              capture_output=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(done.stdout.splitlines()), 5)
        root = xml.etree.ElementTree.parse(out).getroot()
        kinds = [node.tag.rpartition("}")[2] for node in root]
        self.assertEqual((kinds.count("rect"), kinds.count("circle")), (5, 15))
        for bar in (node for node in root if node.tag.endswith("rect")):
            self.assertTrue(0 <= float(bar.get("height")) <= 250, bar.attrib)


if __name__ == "__main__":
    unittest.main()
