#!/usr/bin/env python3
"""The real daemon as a service: realtime over WebSocket, TLS, configuration and reload, keys, metrics."""

import base64
import hashlib
import http.client
import json
import os
import pathlib
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).absolute().parent))
from daemon import PATIENCE, Daemon, form, make_certificate, wav  # noqa: E402


class WebSocket:
    """As much of a client as the tests need."""

    def __init__(self, port, path="/v1/realtime?intent=transcription", headers=()):
        self.peer = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [f"GET {path} HTTP/1.1", "Host: localhost", "Upgrade: websocket",
                 "Connection: Upgrade", "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {key}",
                 *headers]
        self.peer.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self.input = b""
        while b"\r\n\r\n" not in self.input:
            self.input += self.peer.recv(4096)
        self.head, self.input = self.input.split(b"\r\n\r\n", 1)
        expected = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
        self.accepted = base64.b64encode(expected) in self.head

    def send(self, event):
        self.frame(1, json.dumps(event).encode())

    def frame(self, opcode, payload):
        length = len(payload)
        head = bytes([0x80 | opcode])
        if length < 126:
            head += bytes([0x80 | length])
        elif length < 65536:
            head += bytes([0x80 | 126]) + struct.pack(">H", length)
        else:
            head += bytes([0x80 | 127]) + struct.pack(">Q", length)
        mask = b"\x05\x06\x07\x08"
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))
        self.peer.sendall(head + mask + masked)

    def take(self, size):
        while len(self.input) < size:
            piece = self.peer.recv(65536)
            if not piece:
                raise EOFError
            self.input += piece
        taken, self.input = self.input[:size], self.input[size:]
        return taken

    def next_frame(self):
        first, second = self.take(2)
        length = second & 0x7F
        if length == 126:
            length = struct.unpack(">H", self.take(2))[0]
        elif length == 127:
            length = struct.unpack(">Q", self.take(8))[0]
        return first & 0x0F, self.take(length)

    def next_event(self):
        while True:
            opcode, payload = self.next_frame()
            if opcode == 1:
                return json.loads(payload)
            if opcode == 9:
                self.frame(10, payload)
            if opcode == 8:
                raise EOFError(struct.unpack(">H", payload[:2])[0])

    def until(self, kind):
        """The events up to and with one of this type."""
        events = [self.next_event()]
        while events[-1]["type"] != kind:
            events.append(self.next_event())
        return events

    def append(self, samples, piece=9600):
        for at in range(0, len(samples), piece):
            audio = base64.b64encode(samples[at:at + piece]).decode()
            self.send({"type": "input_audio_buffer.append", "audio": audio})


DELTA = "conversation.item.input_audio_transcription.delta"
COMPLETED = "conversation.item.input_audio_transcription.completed"


def update(**session):
    return {"type": "session.update", "session": {"type": "transcription", **session}}


def noise(seconds, rate=24000):
    return wav(seconds, 3, rate)[44:]


class Realtime(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(workers=1, places=4)

    @classmethod
    def tearDownClass(cls):
        cls.daemon.__exit__()

    def session(self, **input_options):
        peer = WebSocket(self.daemon.port)
        self.assertTrue(peer.accepted, peer.head)
        self.assertEqual(peer.next_event()["type"], "session.created")
        peer.send(update(audio={"input": input_options}))
        self.assertEqual(peer.next_event()["type"], "session.updated")
        return peer

    def test_a_committed_turn_gets_its_transcript(self):
        peer = self.session(turn_detection=None)
        texts = []
        for _ in range(2):
            peer.append(noise(3))
            peer.send({"type": "input_audio_buffer.commit"})
            events = peer.until(COMPLETED)
            kinds = [event["type"] for event in events]
            self.assertIn("input_audio_buffer.committed", kinds)
            self.assertIn("conversation.item.added", kinds)
            deltas = "".join(e["delta"] for e in events if e["type"] == DELTA)
            self.assertEqual(events[-1]["transcript"], deltas)
            self.assertTrue(deltas)
            self.assertEqual(events[-1]["usage"]["type"], "duration")
            self.assertEqual(len({e["item_id"] for e in events if "item_id" in e}), 1)
            texts.append(events[-1]["transcript"])
        self.assertEqual(texts[0], texts[1], "the same audio gives the same text")

    def test_voice_detection_finds_the_turns(self):
        peer = self.session()
        silence = bytes(24000 * 2)
        peer.append(silence + noise(1) + silence + noise(1) + silence)
        # The second turn may begin before the first is transcribed.
        events = peer.until(COMPLETED) + peer.until(COMPLETED)
        turns = [event["item_id"] for event in events if event["type"] == COMPLETED]
        first, second = ([e for e in events if e.get("item_id") == turn] for turn in turns)
        for kinds in ([event["type"] for event in turn] for turn in (first, second)):
            for kind in ("input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped",
                         "input_audio_buffer.committed"):
                self.assertEqual(kinds.count(kind), 1, kinds)
        start = next(e for e in first if e["type"].endswith("speech_started"))["audio_start_ms"]
        self.assertTrue(500 <= start <= 1000, start)
        self.assertNotEqual(*turns)

    def test_telephone_audio(self):
        peer = self.session(format={"type": "audio/pcmu"}, turn_detection=None)
        peer.append(bytes(range(256)) * 94)
        peer.send({"type": "input_audio_buffer.commit"})
        self.assertTrue(peer.until(COMPLETED)[-1]["transcript"])

    def test_the_older_form(self):
        peer = WebSocket(self.daemon.port)
        peer.next_event()
        peer.send({"type": "transcription_session.update",
                   "session": {"input_audio_format": "pcm16", "turn_detection": None}})
        self.assertEqual(peer.next_event()["type"], "transcription_session.updated")
        peer.append(noise(1))
        peer.send({"type": "input_audio_buffer.commit"})
        self.assertIn("conversation.item.created",
                      [event["type"] for event in peer.until(COMPLETED)])

    def test_vllms_dialect(self):
        peer = WebSocket(self.daemon.port)
        self.assertIn("created", peer.next_event())
        peer.send({"type": "session.update", "model": "sim"})
        peer.next_event()
        peer.send({"type": "input_audio_buffer.commit", "final": False})
        peer.append(noise(2, 16000))
        peer.send({"type": "input_audio_buffer.commit", "final": True})
        events = peer.until("transcription.done")
        self.assertEqual("".join(e["delta"] for e in events if e["type"] == "transcription.delta"),
                         events[-1]["text"])
        self.assertIn("total_tokens", events[-1]["usage"])

    def test_errors_do_not_end_the_session(self):
        peer = self.session(turn_detection=None)
        for wrong in ({"type": "response.create"}, {"type": "input_audio_buffer.commit"},
                      {"type": "input_audio_buffer.append", "audio": "%"}):
            peer.send(wrong)
            event = peer.next_event()
            self.assertEqual(event["type"], "error")
            self.assertTrue(event["error"]["message"])
        peer.send({"type": "input_audio_buffer.clear"})
        self.assertEqual(peer.next_event()["type"], "input_audio_buffer.cleared")

    def test_a_client_that_vanishes_lets_its_worker_go(self):
        peer = self.session(turn_detection=None)
        peer.append(noise(1))
        self.daemon.wait_for_status(lambda s: any(r["live"] for r in s["requests"]))
        peer.peer.close()
        self.daemon.wait_for_status(lambda s: s["active"] == 0)

    def test_audio_that_comes_at_once_is_paced(self):
        peer = self.session(turn_detection=None)
        peer.append(noise(60), piece=960000)
        peer.send({"type": "input_audio_buffer.commit"})
        completed = peer.until(COMPLETED)[-1]
        self.assertEqual(completed["usage"]["seconds"], 60.0)

    def test_rules_of_the_handshake(self):
        self.assertEqual(self.daemon.ask("GET", "/v1/realtime").status, 426)
        peer = WebSocket(self.daemon.port, headers=[
            "Sec-WebSocket-Protocol: realtime, openai-insecure-api-key.k, openai-beta.realtime-v1"])
        self.assertIn(b"Sec-WebSocket-Protocol: realtime\r\n", peer.head + b"\r\n")
        peer.frame(2, b"binary")
        with self.assertRaises(EOFError):
            peer.next_event()
            peer.next_event()

    def test_admission_says_no_before_real_time_is_lost(self):
        peers = [self.session(turn_detection=None) for _ in range(5)]
        for peer in peers[:4]:
            peer.append(noise(1))
        self.daemon.wait_for_status(lambda s: s["active"] == 4)
        peers[4].append(noise(1))
        failed = peers[4].until("conversation.item.input_audio_transcription.failed")[-1]
        self.assertEqual(failed["error"]["code"], "queue_full")
        for peer in peers:
            peer.peer.close()
        self.daemon.wait_for_status(lambda s: s["active"] == 0)


CONFIG = """
[server]
listen = ["127.0.0.1:0"]
[limits]
upload_mb = 1
[[model]]
name = "{name}"
engine = "sim"
devices = "cpu:2"
places = 1
options = {{ words = {words} }}
[[key]]
name = "team"
sha256 = "{hash}"
"""
KEY = {"Authorization": "Bearer secret"}


class Configuration(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name) / "superfluidd.toml"
        self.write("small", 3)

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, words):
        digest = hashlib.sha256(b"secret").hexdigest()
        self.path.write_text(CONFIG.format(name=name, words=words, hash=digest))

    def daemon(self):
        return Daemon("--config", str(self.path), workers=2, default=False)

    def test_keys_and_limits_hold(self):
        with self.daemon() as daemon:
            self.assertEqual(daemon.ask("GET", "/health").status, 200)
            refused = daemon.transcribe(wav(1))
            self.assertEqual(refused.status, 401)
            self.assertEqual(refused.json()["error"]["code"], "invalid_api_key")
            self.assertEqual(daemon.transcribe(wav(1), headers=KEY).status, 200)
            self.assertEqual(daemon.transcribe(wav(60), headers=KEY).status, 413)
            unknown = daemon.transcribe(wav(1), [("model", "other")], KEY)
            self.assertEqual((unknown.status, unknown.json()["error"]["param"]), (404, "model"))

    def test_a_reload_replaces_models_without_a_dropped_request(self):
        with self.daemon() as daemon:
            before = daemon.ask("GET", "/v1/status", headers=KEY).json()
            slow = daemon.in_background(
                wav(3), [("prompt", "sim:step_us=100000")], KEY)
            self.wait(daemon, lambda state: state["active"] == 1)
            self.write("large", 5)
            daemon.process.send_signal(signal.SIGHUP)
            daemon.log.wait_for(lambda line: "config.reloaded" in line)
            self.assertEqual(slow.get().status, 200)
            daemon.log.wait_for(lambda line: "worker.ready worker=" in line and "model=large" in line, 2)
            answer = daemon.transcribe(wav(1), [("model", "large")], KEY)
            self.assertEqual(len(answer.json()["text"].split()), 5)
            self.assertEqual(daemon.transcribe(wav(1), [("model", "small")], KEY).status, 404)
            after = daemon.ask("GET", "/v1/status", headers=KEY).json()
            self.assertFalse({w["pid"] for w in before["workers"]} & {w["pid"] for w in after["workers"]})

    def test_a_model_that_goes_ends_its_waiting_requests_and_finishes_the_running_ones(self):
        with self.daemon() as daemon:
            slow = [("model", "small"), ("prompt", "sim:step_us=100000")]
            running = [daemon.in_background(wav(3), slow, KEY) for _ in range(2)]
            self.wait(daemon, lambda state: state["active"] == 2)
            waiting = [daemon.in_background(wav(1), [("model", "small")], KEY) for _ in range(3)]
            self.wait(daemon, lambda state: state["queued"] == 3)
            self.write("large", 5)
            daemon.process.send_signal(signal.SIGHUP)
            for answer in waiting:
                ended = answer.get()
                self.assertEqual(ended.status, 404, ended.body)
                error = ended.json()["error"]
                self.assertEqual((error["code"], error["param"]), ("model_not_found", "model"))
                self.assertEqual(error["message"], "the model 'small' is served no more")
            for answer in running:
                self.assertEqual(answer.get().status, 200)
            self.assertEqual(daemon.transcribe(wav(1), [("model", "large")], KEY).status, 200)

    def wait(self, daemon, wanted):
        for _ in range(3000):
            if wanted(daemon.ask("GET", "/v1/status", headers=KEY).json()):
                return
        self.fail("the state is never as wanted")

    def test_a_bad_file_changes_nothing(self):
        with self.daemon() as daemon:
            self.path.write_text("[server]\nlisten = 3\n")
            daemon.process.send_signal(signal.SIGHUP)
            line = daemon.log.wait_for(lambda line: "config.refused" in line)[0]
            self.assertIn("superfluidd.toml:2:10", line)
            self.assertEqual(daemon.transcribe(wav(1), [("model", "small")], KEY).status, 200)

    def test_check_config(self):
        from daemon import DAEMON, WORKER
        command = [str(DAEMON), "--worker", str(WORKER), "--config", str(self.path), "--check-config"]
        good = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual((good.returncode, good.stdout),
                         (0, "the configuration is good: 1 models, 2 workers\n"), good.stderr)
        self.path.write_text("[sever]\n")
        bad = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(bad.returncode, 2)
        self.assertIn("there is no key 'sever'", bad.stderr)


class Tls(unittest.TestCase):
    def test_the_api_over_tls(self):
        with tempfile.TemporaryDirectory() as folder:
            cert, key = make_certificate(folder)
            with Daemon("--tls-cert", cert, "--tls-key", key) as daemon:
                context = ssl.create_default_context(cafile=cert)
                connection = http.client.HTTPSConnection("localhost", daemon.port, timeout=PATIENCE,
                                                         context=context)
                for _ in range(3):
                    kind, body = form([], wav(1))
                    connection.request("POST", "/v1/audio/transcriptions", body, {"Content-Type": kind})
                    response = connection.getresponse()
                    self.assertEqual(response.status, 200)
                    response.read()
                connection.close()
                with self.assertRaises((OSError, http.client.HTTPException)):
                    daemon.ask("GET", "/health")  # not in plain text
                self.assertEqual(daemon.stop(), 0)


class Metrics(unittest.TestCase):
    def test_metrics_count_what_was_done(self):
        with Daemon(workers=2) as daemon:
            for _ in range(3):
                daemon.transcribe(wav(1))
            answer = daemon.ask("GET", "/metrics")
            self.assertTrue(answer.headers["content-type"].startswith("application/openmetrics-text"))
            text = answer.text()
            self.assertIn('superfluidd_requests_total{model="sim",status="OK"} 3\n', text)
            self.assertIn("superfluidd_audio_seconds_total 3\n", text)
            self.assertIn('superfluidd_worker_ready{worker="worker-1",model="sim"} 1\n', text)
            self.assertTrue(text.endswith("# EOF\n"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
