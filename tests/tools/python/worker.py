"""A real worker with the `sim` engine for a test, in a folder of its own."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).absolute().parent
ROOT = HERE.parent.parent.parent
sys.path.insert(0, str(ROOT / "tools/python"))

PROGRAMS = pathlib.Path(os.environ.get("SUPERFLUID_PROGRAMS", ROOT / "tools"))
WORKER = PROGRAMS / "worker/superfluid_worker"
PATIENCE = 60.0  # seconds, for what should take a few


class Worker:
    """Starts one at once; ends it with the `with` block."""

    def __init__(self, *arguments, engine="sim"):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="superfluid-python-"))
        self.socket = str(self.folder / "worker.sock")
        self.log_path = self.folder / "log"
        command = [str(WORKER.absolute()), "--engine", engine, "--listen", self.socket, *arguments]
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(command, stderr=log, stdin=subprocess.DEVNULL)

    def log(self):
        return self.log_path.read_text(encoding="utf-8")

    def stop(self):
        self.process.terminate()
        return self.process.wait(PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder)


def pcm(seconds, rate=16000, seed=1):
    """Samples of noise: the sim engine's words are a function of them."""
    import random
    import struct
    noise = random.Random(seed)
    count = int(rate * seconds)
    return struct.pack(f"<{count}h", *(noise.randrange(-9000, 9000) for _ in range(count)))


def wav(seconds, rate=16000, seed=1):
    import io
    import wave
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setparams((1, 2, rate, 0, "NONE", ""))
        out.writeframes(pcm(seconds, rate, seed))
    return file.getvalue()
