"""A superfluidd with `sim` workers for a test, and HTTP as its clients speak it."""

import functools
import http.client
import io
import json
import os
import pathlib
import queue
import random
import re
import signal
import socket
import struct
import subprocess
import threading
import wave

ROOT = pathlib.Path(os.environ.get("SUPERFLUID_PROGRAMS", "tools"))
DAEMON = ROOT / "superfluidd/superfluidd"
WORKER = ROOT / "worker/superfluid_worker"
PATIENCE = 60  # seconds, for what should take a few


@functools.lru_cache(maxsize=64)
def wav(seconds, seed=1, rate=16000):
    """A recording of noise: the sim engine's words are a function of its samples."""
    noise = random.Random(seed)
    samples = struct.pack(f"<{int(rate * seconds)}h",
                          *(noise.randrange(-9000, 9000) for _ in range(int(rate * seconds))))
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setparams((1, 2, rate, 0, "NONE", ""))
        out.writeframes(samples)
    return file.getvalue()


def make_certificate(folder):
    """The paths of a certificate for localhost and of its key, made in this folder."""
    cert, key = f"{folder}/cert.pem", f"{folder}/key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert,
                    "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
                   check=True, capture_output=True)
    return cert, key


def form(fields, file=None, boundary="frontier"):
    """(content type, body) of a multipart form; `fields`: pairs."""
    body = b""
    for name, value in fields:
        body += (f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'
                 f"{value}\r\n").encode()
    if file is not None:
        body += (f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n'
                 "Content-Type: audio/wav\r\n\r\n").encode() + file + b"\r\n"
    return f"multipart/form-data; boundary={boundary}", body + f"--{boundary}--\r\n".encode()


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read()

    def json(self):
        return json.loads(self.body)

    def text(self):
        return self.body.decode()

    def events(self):
        """The data of a server-sent event stream; the last is "[DONE]" in a good one."""
        data = [line[6:] for line in self.text().split("\n") if line.startswith("data: ")]
        return [item if item == "[DONE]" else json.loads(item) for item in data]


class Lines:
    """What a process writes, line by line, for one who waits for a line."""

    def __init__(self, pipe):
        self.lines = []
        self.changed = threading.Condition()
        self.ended = False
        threading.Thread(target=self._read, args=(pipe,), daemon=True).start()

    def _read(self, pipe):
        for line in pipe:
            with self.changed:
                self.lines.append(line.rstrip("\n"))
                self.changed.notify_all()
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def wait_for(self, wanted, count=1):
        """Waits until `count` lines satisfy `wanted`; returns them."""
        with self.changed:
            def found():
                return [line for line in self.lines if wanted(line)]

            done = self.changed.wait_for(lambda: len(found()) >= count or self.ended, PATIENCE)
            if not done or len(found()) < count:
                raise AssertionError("no such line in:\n" + "\n".join(self.lines[-60:]))
            return found()


class Daemon:
    def __init__(self, *arguments, workers=1, places=0, engine_options=(), default=True):
        command = [str(DAEMON.absolute()), "--worker", str(WORKER.absolute())]
        if default:
            command += ["--listen", "127.0.0.1:0", "--engine", "sim", "--devices", f"cpu:{workers}",
                        "--places", str(places)]
        for option in engine_options:
            command += ["--engine-option", option]
        self.process = subprocess.Popen(command + list(arguments), stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.log = Lines(self.process.stderr)
        self.access = Lines(self.process.stdout)
        listening = self.log.wait_for(lambda line: "daemon.listening" in line)[0]
        address = re.search(r'address(?:=|":")([^ "]+)', listening).group(1)
        self.port = int(address.rsplit(":", 1)[1])
        self.log.wait_for(lambda line: re.search(r'worker\.ready(?: worker=|","worker":)', line), workers)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def connect(self, timeout=PATIENCE):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def ask(self, method, path, body=None, headers=None):
        connection = self.connect()
        try:
            connection.request(method, path, body, headers or {})
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def transcribe(self, file, fields=(), headers=None, path="/v1/audio/transcriptions"):
        kind, body = form(list(fields), file)
        return self.ask("POST", path, body, {"Content-Type": kind, **(headers or {})})

    def in_background(self, *arguments, **named):
        """Starts transcribe(...); `.get()` of the result waits for its answer."""
        result = queue.Queue()

        def run():
            try:
                result.put(self.transcribe(*arguments, **named))
            except (OSError, http.client.HTTPException) as error:
                result.put(error)

        threading.Thread(target=run, daemon=True).start()
        return result

    def open_upload(self, file, fields=(), headers=None):
        """Sends a request on a socket of its own, and returns the socket."""
        kind, body = form(list(fields), file)
        head = (f"POST /v1/audio/transcriptions HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
                f"Content-Length: {len(body)}\r\n")
        for name, value in (headers or {}).items():
            head += f"{name}: {value}\r\n"
        peer = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        peer.sendall(head.encode() + b"\r\n" + body)
        return peer

    def request_lines(self, count, wanted=lambda line: True):
        """Waits for `count` lines about requests in the access log."""
        def is_one(text):
            line = json.loads(text)
            return line["event"] == "request" and wanted(line)

        return [json.loads(text) for text in self.access.wait_for(is_one, count)]

    def status(self):
        return self.ask("GET", "/v1/status").json()

    def wait_for_status(self, wanted):
        """Asks until the state is as wanted."""
        for _ in range(3000):
            state = self.status()
            if wanted(state):
                return state
        raise AssertionError(f"the state stays {state}")

    def worker_pids(self):
        return [worker["pid"] for worker in self.status()["workers"] if worker["pid"] > 0]

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)
