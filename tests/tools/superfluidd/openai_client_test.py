#!/usr/bin/env python3
"""The public npm client, unmodified, does every call against a daemon over TLS: openai_client.cjs.

usage: openai_client_test.py FOLDER  where FOLDER has the npm packages
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).absolute().parent))
from daemon import Daemon, make_certificate, wav  # noqa: E402

SCRIPT = pathlib.Path(__file__).absolute().parent / "openai_client.cjs"
PACKAGES = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else "node_modules").absolute()


class OpenAiClient(unittest.TestCase):
    def test_does_every_call(self):
        with tempfile.TemporaryDirectory() as folder:
            cert, key = make_certificate(folder)
            short, long = pathlib.Path(folder, "short.wav"), pathlib.Path(folder, "long.wav")
            short.write_bytes(wav(3))
            long.write_bytes(wav(60))
            pathlib.Path(folder, "speech.pcm").write_bytes(wav(2, 3, 24000)[44:])
            subprocess.run(["ffmpeg", "-nostdin", "-loglevel", "error", "-i", short, "-c:a", "alac",
                            pathlib.Path(folder, "short.m4a")], check=True)
            with Daemon("--tls-cert", cert, "--tls-key", key, workers=1) as daemon:
                environment = {**os.environ, "NODE_PATH": str(PACKAGES), "RECORDINGS": folder,
                               "NODE_EXTRA_CA_CERTS": cert,
                               "BASE_URL": "https:" f"//localhost:{daemon.port}/v1"}
                node = subprocess.run(["node", SCRIPT], env=environment, text=True, check=False,
                                      capture_output=True)
                self.assertEqual(node.returncode, 0, node.stdout + node.stderr)
                self.assertIn("\n# fail 0\n", node.stdout)
                cancelled = daemon.request_lines(2, lambda line: line["status"] == "CANCELLED")
                self.assertEqual([line["steps_after_cancel"] for line in cancelled], [0, 0])


if __name__ == "__main__":
    unittest.main(verbosity=2)
