#!/usr/bin/python3
"""The Python client against descriptors, rings and buffers that are not what they should be."""

import fcntl
import os
import pathlib
import struct
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).absolute().parent))
from fake_worker import Case, client_of  # noqa: E402

import superfluid  # noqa: E402
from superfluid import memory, messages, rings  # noqa: E402
from superfluid import linkw_pb2 as pb  # noqa: E402

class Memory(Case):
    def memfd(self, size, seals=memory._SEALS):
        fd = os.memfd_create("test", os.MFD_ALLOW_SEALING)
        os.ftruncate(fd, size)
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
        return fd

    def allocate_with(self, send):
        """Has a client allocate 5000 bytes from a worker that sends what `send` sends."""
        def play(worker):
            worker.greet()
            while True:
                kind, seq, payload = worker.read()
                if kind == messages.TYPES["CONTROL_ATTACH"]:
                    worker.send(pb.ControlAck(bytes=8384), seq)
                elif kind == messages.TYPES["BUF_ALLOC"]:
                    request = pb.BufAlloc.FromString(payload)
                    send(worker, request.buf_id)
                    worker.send(pb.BufAlloced(buf_id=request.buf_id, len=request.len), seq)

        self.worker.play(play)
        with client_of(self.worker) as client:
            return client.allocate(5000).read()

    def refused(self, fd, kind=superfluid.InvalidArgumentError):
        self.setUp()
        with self.assertRaises(kind):
            self.allocate_with(lambda worker, tag: worker.send_fds(tag, [fd]))
        os.close(fd)

    def test_what_is_no_sealed_memfd_is_never_mapped(self):
        before = len(os.listdir("/proc/self/fd"))
        self.refused(self.memfd(5000, fcntl.F_SEAL_GROW))
        self.refused(self.memfd(5000, fcntl.F_SEAL_SHRINK))
        self.refused(self.memfd(4999))
        self.refused(self.memfd(5000, memory._SEALS | fcntl.F_SEAL_WRITE),
                     superfluid.PermissionDeniedError)
        self.refused(os.open("/dev/zero", os.O_RDWR))
        self.refused(os.open(__file__, os.O_RDONLY))
        read, write = os.pipe()
        os.close(write)
        self.refused(read)
        self.doCleanups()
        self.assertLessEqual(len(os.listdir("/proc/self/fd")), before)

    def test_a_good_one(self):
        fd = self.memfd(5000)
        self.assertEqual(self.allocate_with(lambda w, tag: w.send_fds(tag, [fd])), bytes(5000))
        os.close(fd)

    def test_two_descriptors_or_none_end_the_channel_only(self):
        for fds in ([0, 0], []):
            with self.subTest(fds):
                self.setUp()
                with self.assertRaises(superfluid.LinkClosedError) as caught:
                    self.allocate_with(lambda worker, tag, fds=fds: worker.send_fds(tag, fds))
                self.assertIn("fds connection", str(caught.exception))

    def test_descriptors_that_nobody_asked_for_are_closed(self):
        fd = self.memfd(5000)

        def send(worker, tag):
            for other in range(500):
                worker.send_fds(other, [fd])
            worker.send_fds(tag, [fd])

        receiver = memory.FdReceiver
        self.assertEqual(self.allocate_with(send), bytes(5000))
        self.assertLess(len(os.listdir("/proc/self/fd")), receiver.CAPACITY)
        os.close(fd)

    def test_a_tag_in_pieces(self):
        fd = self.memfd(5000)

        def send(worker, tag):
            worker.send_fds(tag, [fd], size=3)
            worker.fds.sendall(struct.pack("<Q", tag)[3:])

        self.assertEqual(self.allocate_with(send), bytes(5000))
        os.close(fd)


class Rings(unittest.TestCase):
    SPEC = rings.RingSpec(2, 16 + 8 * 4, 4)

    def setUp(self):
        self.reader = rings.RingReader(self.SPEC)
        self.addCleanup(self.reader.close)

    def put(self, slot, generation, words, held=None):
        count = len(words) if held is None else held
        struct.pack_into(f"=QII{len(words)}I", self.reader._view, slot * self.SPEC.slot_bytes,
                         generation, count, 0, *words)

    def span(self, **fields):
        return pb.TokenSpan(**{"ring_id": 2, "slot": 1, "generation": 2, "count": 3, **fields})

    def test_reads_what_a_span_names(self):
        self.put(1, 2, [7, 8, 9])
        self.assertEqual(self.reader.read(self.span()), [7, 8, 9])
        self.assertEqual(self.reader.read(self.span(offset=1, count=2)), [8, 9])
        self.assertEqual(self.reader.read(pb.TokenSpan()), [])

    def test_a_stale_span(self):
        self.put(1, 4, [7, 8, 9])
        with self.assertRaises(superfluid.StaleSpanError):
            self.reader.read(self.span())

    def test_spans_that_cannot_be(self):
        self.put(1, 2, [7, 8, 9])
        for fields in ({"ring_id": 1}, {"slot": 4}, {"slot": (1 << 32) - 1}, {"generation": 1},
                       {"generation": 0}, {"count": 9}, {"count": (1 << 32) - 1},
                       {"offset": (1 << 32) - 1}, {"count": 4}, {"offset": 1}):
            with self.subTest(fields), self.assertRaises(superfluid.ProtocolError):
                self.reader.read(self.span(**fields))

    def test_a_slot_that_claims_more_than_it_has(self):
        self.put(1, 2, [7, 8, 9], held=(1 << 32) - 1)
        for fields in ({"count": 9}, {"offset": 8, "count": 1}):
            with self.subTest(fields), self.assertRaises(superfluid.ProtocolError):
                self.reader.read(self.span(**fields))

    def test_layouts_that_cannot_be(self):
        for slot_bytes, slots in ((16, 4), (20, 4), (0, 4), (48, 0), ((1 << 32) - 8, (1 << 32) - 1)):
            limits = pb.Limits(ring_specs=[pb.RingSpec(ring_id=2, slot_bytes=slot_bytes,
                                                       slots=slots)])
            with self.assertRaises(superfluid.FailedPreconditionError):
                rings.spec_of(limits, 2)
        with self.assertRaises(superfluid.FailedPreconditionError):
            rings.spec_of(pb.Limits(), 2)

    def test_the_writer_packs_and_keeps_what_is_in_use(self):
        writer = rings.RingWriter(self.SPEC)
        self.addCleanup(writer.close)
        spans, slots = writer.write([[1, 2, 3], [], [4, 5, 6, 7], [8, 9]])
        self.assertEqual(slots, [0, 1])
        self.assertEqual([(s.slot, s.offset, s.count) for s in spans],
                         [(0, 0, 3), (0, 0, 0), (0, 3, 4), (1, 0, 2)])
        self.assertEqual(spans[0].generation, 2)
        writer.write([[1] * 8, [2] * 8])
        with self.assertRaises(superfluid.BusyError):
            writer.write([[1]])
        writer.release(slots)
        spans, _ = writer.write([[5]])
        self.assertEqual((spans[0].slot, spans[0].generation), (0, 4))
        with self.assertRaises(superfluid.InvalidArgumentError):
            writer.write([[1] * 9])
        with self.assertRaises(superfluid.InvalidArgumentError):
            writer.write([[-1]])
        with self.assertRaises(superfluid.OutOfMemoryError):
            writer.write([[1] * 8] * 5)

    def test_the_control_segment(self):
        control = rings.Control()
        self.addCleanup(control.close)
        self.assertEqual(control.segment.read(0, 24),
                         b"SFLC" + struct.pack("<IQII", 1, 8384, 256, 1024))
        control.set_lane_stop(66)
        control.set_lane_stop(65)
        control.set_lane_stop(65, False)
        self.assertEqual(control.segment.read(128, 32), struct.pack("<4Q", 0, 2, 0, 0))
        slot = control.take_slot()
        control.stop_request(slot, 1234)
        self.assertEqual(control.segment.read(192 + 8 * (slot - 1), 8), struct.pack("<Q", 1234))
        control.give_slot(slot)
        self.assertEqual(control.segment.read(192, 8192), bytes(8192))
        self.assertEqual(len({control.take_slot() for _ in range(1024)}), 1024)
        self.assertEqual(control.take_slot(), 0)
        self.assertEqual(control.heartbeat(), rings.Heartbeat(0, 0))
        struct.pack_into("=QQQ", control._view, 64, 3, 5, 6)
        self.assertIsNone(control.heartbeat())


if __name__ == "__main__":
    unittest.main()
