#!/usr/bin/python3
"""The Python client against frames and messages that break the rules."""

import os
import pathlib
import random
import re
import socket
import struct
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).absolute().parent))
from worker import ROOT  # noqa: E402
from fake_worker import PONG, Case, ack, client_of  # noqa: E402

import superfluid  # noqa: E402
from superfluid import frames, messages  # noqa: E402
from superfluid import linkw_pb2 as pb  # noqa: E402

class BadFrames(Case):
    def raw(self, data):
        return lambda worker, _: worker.frames.sendall(data)

    def test_a_good_one(self):
        self.assertEqual(self.answer_to_ping(lambda w, seq: w.send(PONG, seq)).state, "idle")

    def test_magic(self):
        self.expect_bad(self.raw(b"x" * 40), "no frame begins here")

    def test_checksum(self):
        self.expect_bad(self.raw(frames.encode(0x81, 2, 2, b"")[:31] + b"\xff"), "checksum")

    def test_version(self):
        self.expect_bad(self.raw(frames.encode(0x81, 2, 2, b"", version=9)), "version 9")

    def test_sequence(self):
        for seq in (1, 3, (1 << 64) - 1):
            with self.subTest(seq):
                self.setUp()
                self.expect_bad(self.raw(frames.encode(0x81, seq, 2, b"")), "follows frame 1")

    def test_lengths_are_refused_before_the_payload_comes(self):
        for kind, most in ((0x81, 64 << 10), (0x21, 256 << 10), (0x51, 64 << 20), (0x7777, 64 << 20)):
            with self.subTest(kind):
                self.setUp()
                head = struct.pack("<4sHHQQI", b"SFLW", 8, kind, 2, 2, most + 1)
                head += struct.pack("<I", frames.zlib.crc32(head))
                self.expect_bad(self.raw(head), "where")

    def test_unknown_types_are_left_out(self):
        def script(worker, seq):
            worker.send_raw(0x7777, b"z" * 100_000, seq)
            worker.send_raw(0xf777, b"", seq)
            worker.send_raw(messages.TYPES["PING"], b"", seq)  # goes the other way
            worker.send(PONG, seq)

        self.assertEqual(self.answer_to_ping(script).state, "idle")

    def test_pieces_of_any_size(self):
        stream = b"".join(frames.encode(0x81, i, 0, PONG.SerializeToString()) for i in range(1, 40))
        noise = random.Random(7)
        for _ in range(50):
            decoder, at, count = frames.FrameDecoder(), 0, 0
            while at < len(stream):
                size = noise.randrange(1, 100)
                decoder.feed(stream[at:at + size])
                at += size
                while decoder.next() is not None:
                    count += 1
            self.assertEqual(count, 39)

    def test_an_end_inside_a_frame(self):
        def script(worker, _):
            worker.frames.sendall(frames.encode(0x81, 2, 2, b"1234")[:34])
            worker.frames.shutdown(socket.SHUT_RDWR)

        with self.assertRaises(superfluid.LinkClosedError) as caught:
            self.answer_to_ping(script)
        self.assertIn("inside a frame", str(caught.exception))

    def test_random_bytes_and_mutations_raise_nothing_else(self):
        self.silence()  # protobuf says on stderr which texts are no UTF-8
        noise = random.Random(11)
        samples = [ack(), PONG, pb.Error(status=3, message="no"),
                   pb.StateSyncRes(transcribe=pb.TranscribeResult(text="a", segments=[
                       pb.TranscriptSegment(text="b", words=[pb.TranscriptWord(text="c")])])),
                   pb.TickResult(events=pb.TickEvents(lanes=[pb.LaneEvent(lane_tag=1)]))]
        refused = 0
        for i in range(4000):
            message = noise.choice(samples)
            payload = bytearray(message.SerializeToString())
            for _ in range(noise.randrange(1, 4)):
                payload[noise.randrange(len(payload))] = noise.randrange(256)
            for kind in (messages.type_of(message), noise.choice(list(messages.NAMES))):
                try:
                    messages.parse(kind, bytes(payload))
                except superfluid.ProtocolError:
                    refused += 1
        self.assertGreater(refused, 1000)


    def silence(self):
        kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)
        self.addCleanup(lambda: (os.dup2(kept, 2), os.close(kept)))


class BadMessages(Case):
    def refused(self, message, what):
        with self.assertRaises(superfluid.ProtocolError) as caught:
            messages.parse(messages.type_of(message), message.SerializePartialToString())
        self.assertIn(what, str(caught.exception))

    def test_rules_of_the_schema(self):
        self.refused(pb.HelloAckW(), "engine_bundle_hash")
        hello = ack()
        hello.engine_bundle_hash = b"short"
        self.refused(hello, "engine_bundle_hash")
        self.refused(pb.Pong(), "engine_state")
        self.refused(pb.TickResult(events=pb.TickEvents(lanes=[pb.LaneEvent()] * 257)), "257")
        self.refused(pb.Error(message="x" * 20_000), "message")
        hello = ack()
        hello.state_space_descriptors.add(name="a\0b", compat_key=b"k" * 32)
        self.refused(hello, "name")

    def test_a_status_of_a_later_version_is_internal(self):
        error = superfluid.errors.error_of(99, "new")
        self.assertIsInstance(error, superfluid.InternalError)
        self.assertIn("99", str(error))

    def test_a_payload_that_would_become_much_memory(self):
        words = b"\x42\x00" * 40_000  # of one segment: 40,000 empty words
        segment = b"\x22" + _varint(len(words)) + words
        payload = b"\x82\x01" + _varint(len(segment)) + segment
        with self.assertRaises(superfluid.ProtocolError):
            messages.parse(messages.TYPES["STATE_SYNC_RES"], payload)  # more than 4096 in a list
        many = b"\x22\x00" * 1_500_000
        payload = b"\x82\x01" + _varint(len(many)) + many
        with self.assertRaises(superfluid.ProtocolError) as caught:
            messages.parse(messages.TYPES["STATE_SYNC_RES"], payload)
        self.assertIn("more than 1000000 messages", str(caught.exception))

    def test_a_deep_payload(self):
        payload = b""
        for _ in range(3000):
            payload = b"\x22" + _varint(len(payload)) + payload
        with self.assertRaises(superfluid.ProtocolError):
            messages.parse(messages.TYPES["PONG"], payload)
        self.assertEqual(superfluid.core.parse_capabilities("[" * 100_000), {})
        self.assertEqual(superfluid.core.parse_capabilities('{"calls": 7}'), {"calls": 7})

    def test_an_answer_of_another_kind(self):
        with self.assertRaises(superfluid.InternalError):
            self.answer_to_ping(lambda worker, seq: worker.send(pb.RingAck(ring_id=1), seq))

    def test_an_error_answers_a_request_and_the_link_stays(self):
        def play(worker):
            worker.greet()
            _, seq, _ = worker.read()
            worker.send(pb.Error(status=pb.BUSY, message="later", detail="there"), seq)
            _, seq, _ = worker.read()
            worker.send(PONG, seq)

        self.worker.play(play)
        with client_of(self.worker) as client:
            with self.assertRaises(superfluid.BusyError) as caught:
                client.ping()
            self.assertEqual(str(caught.exception), "BUSY: later (there)")
            self.assertEqual(client.ping().state, "idle")

    def test_last_words(self):
        def play(worker):
            worker.send(pb.Error(status=pb.PERMISSION_DENIED, message="not you", fatal=True))
            worker.frames.shutdown(socket.SHUT_WR)

        self.worker.play(play)
        with self.assertRaises(superfluid.PermissionDeniedError):
            client_of(self.worker)


def _varint(value):
    out = b""
    while value > 0x7f:
        out += bytes([value & 0x7f | 0x80])
        value >>= 7
    return out + bytes([value])


class Loading(Case):
    """A worker that still loads its engine answers PING, and HELLO later."""

    def load(self, pings, then):
        def play(worker):
            _, hello, _ = worker.read()
            for i in range(1, pings + 1):
                kind, seq, _ = worker.read()
                self.assertEqual(kind, messages.TYPES["PING"])
                worker.send(pb.Pong(engine_state=pb.LOADING, load_permille=100 * i), seq)
            then(worker, hello)

        self.worker.play(play)

    def test_is_waited_for_as_long_as_it_says_so(self):
        told = []

        def on_loading(pong):
            told.append(pong.load_permille)
            return True

        self.load(3, lambda worker, hello: worker.send(ack(), hello))
        with client_of(self.worker, connect_timeout=1.0, on_loading=on_loading):
            self.assertEqual(told, [100, 200, 300])

    def test_without_patience_the_error_says_so(self):
        self.load(1, lambda worker, hello: worker.read())
        with self.assertRaises(superfluid.DeadlineExceededError) as caught:
            client_of(self.worker, connect_timeout=0.6)
        self.assertIn("still loads its engine (10 %)", str(caught.exception))

    def test_why_it_did_not_load(self):
        self.load(1, lambda worker, hello: worker.send(
            pb.Error(status=pb.ENGINE_FAILED, message="the model is damaged", fatal=True), hello))
        with self.assertRaises(superfluid.EngineFailedError) as caught:
            client_of(self.worker)
        self.assertIn("the model is damaged", str(caught.exception))


class Schema(unittest.TestCase):
    def test_comments_say_the_numbers_of_the_enum(self):
        proto = (ROOT / "protocol/linkw.proto").read_text(encoding="utf-8")
        pattern = r"^// (0x[0-9a-f]{4}) +(<->|->|<-)[^\n]*\n(?://[^\n]*\n)*message (\w+) "
        found = re.findall(pattern, proto, re.MULTILINE)
        self.assertEqual(len(found), len(messages.TYPES))
        for number, arrow, name in found:
            kind = messages.TYPES[re.sub(r"(?<!^)([A-Z])", r"_\1", name).upper()]
            self.assertEqual(kind, int(number, 16), name)
            self.assertEqual(kind in messages._FROM_WORKER, arrow != "->", name)

    def test_statuses_are_those_of_the_schema(self):
        self.assertEqual({s.name: s.value for s in superfluid.Status}, dict(pb.Status.items()))
        for status in superfluid.Status:
            if status:
                self.assertEqual(superfluid.errors.error_of(status, "").status, status)


if __name__ == "__main__":
    unittest.main()
