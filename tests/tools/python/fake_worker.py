"""A worker that a test plays, frame by frame: it may break any rule."""

import array
import socket
import struct
import threading
import unittest

from worker import PATIENCE

import superfluid
from superfluid import frames, messages
from superfluid import linkw_pb2 as pb


def ack(**limits):
    specs = [pb.RingSpec(ring_id=1, kind=pb.TOKENS, slot_bytes=16 + 4096 * 4, slots=64),
             pb.RingSpec(ring_id=2, kind=pb.TOKENS, slot_bytes=16 + 1024 * 4, slots=256),
             pb.RingSpec(ring_id=3, kind=pb.LOGITS, slot_bytes=16 + 64 * 4, slots=32)]
    terms = {"max_frame": 64 << 20, "op_window": 16, "ring_specs": specs, "max_lanes": 256,
             "max_transcriptions": 4, **limits}
    return pb.HelloAckW(chosen_version=8, engine_bundle_hash=b"h" * 32, capabilities="{}",
                        limits=pb.Limits(**terms), link_token=bytes(16))


class FakeWorker:
    """The worker's end of a link, played by the test in a thread of its own."""

    def __init__(self):
        self.frames, self.client_frames = socket.socketpair()
        self.fds, self.client_fds = socket.socketpair()
        self.seq = 0
        self.received = b""

    def read(self):
        """Returns (type, seq, message bytes) of the next frame."""
        while True:
            if len(self.received) >= 32:
                size = struct.unpack_from("<I", self.received, 24)[0]
                if len(self.received) >= 32 + size:
                    kind, seq = struct.unpack_from("<HQ", self.received, 6)
                    payload = self.received[32:32 + size]
                    self.received = self.received[32 + size:]
                    return kind, seq, payload
            data = self.frames.recv(1 << 16)
            if not data:
                raise EOFError
            self.received += data

    def send(self, message, correlation=0):
        self.send_raw(messages.type_of(message), message.SerializeToString(), correlation)

    def send_raw(self, kind, payload, correlation=0):
        self.seq += 1
        self.frames.sendall(frames.encode(kind, self.seq, correlation, payload))

    def greet(self, **limits):
        _, seq, _ = self.read()
        self.send(ack(**limits), seq)

    def send_fds(self, tag, fds, size=8):
        self.fds.sendmsg([struct.pack("<Q", tag)[:size]],
                         [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else [])

    def play(self, script):
        def run():
            try:
                script(self)
            except (OSError, EOFError):
                pass

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        return thread

    def close(self):
        for sock in (self.frames, self.fds, self.client_frames, self.client_fds):
            sock.close()


def client_of(worker, **options):
    return superfluid.Client(worker.client_frames, worker.client_fds,
                             **{"connect_timeout": PATIENCE, "call_timeout": PATIENCE, **options})


class Case(unittest.TestCase):
    def setUp(self):
        self.worker = FakeWorker()
        self.addCleanup(self.worker.close)

    def answer_to_ping(self, script, **limits):
        """Has a client ping a worker that greets it and then does `script(worker, seq)`."""
        def play(worker):
            worker.greet(**limits)
            _, seq, _ = worker.read()
            script(worker, seq)

        self.worker.play(play)
        with client_of(self.worker) as client:
            return client.ping()

    def expect_bad(self, script, what):
        with self.assertRaises(superfluid.ProtocolError) as caught:
            self.answer_to_ping(script)
        self.assertIn(what, str(caught.exception))


PONG = pb.Pong(engine_state=pb.IDLE)
