#!/usr/bin/python3
"""The Python client against workers that are late, silent, or never stop."""

import asyncio
import os
import pathlib
import socket
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).absolute().parent))
from worker import PATIENCE  # noqa: E402
from fake_worker import PONG, Case, client_of  # noqa: E402

import superfluid  # noqa: E402
from superfluid import aio, messages  # noqa: E402
from superfluid import linkw_pb2 as pb  # noqa: E402

class Waiting(Case):
    def test_no_answer_in_time(self):
        self.worker.play(lambda worker: worker.greet())
        with client_of(self.worker) as client:
            with self.assertRaises(superfluid.DeadlineExceededError):
                client.ping(timeout=0.05)
            self.assertFalse(client.closed)

    def test_a_worker_that_takes_nothing_ends_the_link(self):
        self.worker.play(lambda worker: worker.greet())
        client = client_of(self.worker, call_timeout=0.2)
        with self.assertRaises(superfluid.LinkClosedError):
            with client.start(superfluid.Live(), stop_word=False) as job:
                for _ in range(100):
                    job._part.audio_ms += 100_000
                    job.push(bytes(1 << 20))
        client.close()

    def test_close_wakes_who_waits(self):
        asked = threading.Event()

        def play(worker):
            worker.greet()
            worker.read()
            asked.set()

        self.worker.play(play)
        client = client_of(self.worker)
        errors = []

        def wait():
            try:
                client.request(pb.Ping(), pb.Pong)
            except superfluid.LinkClosedError as error:
                errors.append(error)

        waiter = threading.Thread(target=wait)
        waiter.start()
        self.assertTrue(asked.wait(PATIENCE))
        client.close()
        waiter.join(PATIENCE)
        self.assertIn("closed here", str(errors[0]))

    def flood(self, worker):
        """Sends segments without end for the first transcription."""
        worker.greet()
        kind = 0
        while kind != messages.TYPES["STATE_SYNC_REQ"]:
            kind, seq, _ = worker.read()
        while True:
            worker.send(pb.TranscribeSegment(segment=pb.TranscriptSegment(text="x" * 1000)), seq)

    def when_reader_waits(self, client):
        """An event: the client's thread takes nothing from the socket, but waits for room."""
        waits, wait = threading.Event(), client._changed.wait

        def noted(timeout=None):
            if threading.current_thread() is client._reader:
                waits.set()
            return wait(timeout)

        client._changed.wait = noted
        return waits

    def test_a_flood_stops_at_a_reader_that_is_late(self):
        flooding = self.worker.play(self.flood)
        client = client_of(self.worker)
        full = self.when_reader_waits(client)
        job = client.start("/a.wav", stop_word=False)
        self.assertTrue(full.wait(PATIENCE))
        self.assertEqual(len(job._part.messages), 256)
        self.assertEqual(job.next(PATIENCE).text, "x" * 1000)
        job.close()  # takes the room away, so the link is read again
        client.close()
        self.worker.close()
        flooding.join(PATIENCE)

    def test_answers_to_nothing_are_dropped(self):
        def script(worker, seq):
            for other in (0, 1, 99, (1 << 64) - 1):
                worker.send(pb.StateSyncRes(), other)
            worker.send(pb.Telemetry(counters=[pb.TelemetryCounter(name="a", value=1)]))
            worker.send(PONG, seq)

        self.assertEqual(self.answer_to_ping(script).state, "idle")

    def test_a_tick_whose_events_are_not_its_lanes(self):
        def play(worker):
            worker.greet()
            while True:
                kind, seq, payload = worker.read()
                if kind == messages.TYPES["CONTROL_ATTACH"]:
                    worker.send(pb.ControlAck(bytes=8384), seq)
                elif kind == messages.TYPES["RING_ATTACH"]:
                    worker.send(pb.RingAck(ring_id=1, generation_base=1), seq)
                else:
                    worker.send(pb.TickResult(events=pb.TickEvents(lanes=[
                        pb.LaneEvent(out=pb.TokenSpan(ring_id=2, generation=2, count=1000))])), seq)

        self.worker.play(play)
        with client_of(self.worker) as client:
            with self.assertRaises(superfluid.StaleSpanError):
                client.tick([superfluid.Lane(tokens=[1])])
            with self.assertRaises(superfluid.ProtocolError):
                client.tick([superfluid.Lane(tokens=[1])] * 2)


class Asyncio(Case):
    def run_async(self, play, work):
        path = tempfile.mkdtemp() + "/s"
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen()

        def serve():
            self.worker.frames, _ = listener.accept()
            self.worker.play(play)

        threading.Thread(target=serve, daemon=True).start()

        async def whole():
            async with await aio.connect(path, connect_timeout=PATIENCE) as client:
                await asyncio.wait_for(work(client), PATIENCE)

        try:
            asyncio.run(whole())
        finally:
            listener.close()
            os.remove(path)
            os.rmdir(os.path.dirname(path))

    def test_a_bad_frame_ends_every_call(self):
        def play(worker):
            worker.greet()
            worker.read()
            worker.frames.sendall(b"x" * 100)

        async def work(client):
            with self.assertRaises(superfluid.ProtocolError):
                await client.ping()
            with self.assertRaises(superfluid.ProtocolError):
                await client.ping()

        self.run_async(play, work)

    def test_no_answer_in_time(self):
        async def work(client):
            with self.assertRaises(superfluid.DeadlineExceededError):
                await client.ping(timeout=0.05)
            self.assertFalse(client.closed)

        self.run_async(lambda worker: worker.greet(), work)

    def test_a_flood_stops_at_a_reader_that_is_late(self):
        async def work(client):
            full, wait = asyncio.Event(), client._wait

            async def noted(done, timeout, what):
                if not what and not done():  # the reader, for room
                    full.set()
                await wait(done, timeout, what)

            client._wait = noted
            job = await client.start("/a.wav")
            await full.wait()
            self.assertEqual(len(job._part.messages), 256)
            self.assertEqual((await job.next(PATIENCE)).text, "x" * 1000)
            await job.close()

        self.run_async(lambda worker: Waiting.flood(self, worker), work)


if __name__ == "__main__":
    unittest.main()
