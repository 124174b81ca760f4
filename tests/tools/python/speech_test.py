#!/usr/bin/python3
"""The Python client's speech and links, against the real worker with the `sim` engine."""

import os
import pathlib
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).absolute().parent))
from worker import PATIENCE, Worker, pcm, wav  # noqa: E402
from client_case import SLOW, Case, connect  # noqa: E402

import superfluid  # noqa: E402
from superfluid import Lane, Live, Pcm, Recording  # noqa: E402

class Speech(Case):
    def test_a_file_bytes_and_samples_give_the_same(self):
        with connect(self.worker) as client:
            transcript = client.transcribe(self.file)
            self.assertEqual(len(transcript.segments), 5)
            self.assertEqual(transcript.duration, 5.0)
            self.assertEqual(len(transcript.segments[0].words), 3)
            self.assertEqual(client.transcribe(Recording(wav(5))).text, transcript.text)
            self.assertEqual(client.transcribe(Pcm(pcm(5))).text, transcript.text)
            relative = superfluid.File(str(self.file)[1:])  # to the media root, which is /
            self.assertEqual(client.transcribe(relative).text, transcript.text)

    def test_segments_come_one_by_one(self):
        with connect(self.worker) as client, client.start(self.file, partials=True) as job:
            segments = list(job)
            transcript = job.result()
        final = [segment for segment in segments if not segment.is_partial]
        self.assertEqual([segment.index for segment in final], list(range(5)))
        self.assertEqual(tuple(final), transcript.segments)
        self.assertGreater(len(segments), 5)

    def test_a_cancel_stops_it(self):
        for stop_word in (True, False):
            with connect(self.worker) as client, \
                    client.start(self.file, prompt=SLOW, stop_word=stop_word) as job:
                self.assertIsNotNone(job.next(PATIENCE))
                job.cancel()
                job.cancel()
                with self.assertRaises(superfluid.CancelledError) as caught:
                    job.result(PATIENCE)
                transcript = caught.exception.transcript
                self.assertEqual(transcript.stats.steps_after_cancel, 0)
                self.assertLess(transcript.stats.engine_steps, 50)
                self.assertGreaterEqual(len(transcript.segments), 1)

    def test_the_stop_word_alone_stops_it(self):
        with connect(self.worker) as client, client.start(self.file, prompt=SLOW) as job:
            self.assertIsNotNone(job.next(PATIENCE))
            part = job._part
            part._session.attached_control.stop_request(part._slot, part.seq)
            with self.assertRaises(superfluid.CancelledError):
                job.result(PATIENCE)

    def test_leaving_the_block_cancels(self):
        with connect(self.worker) as client:
            with client.start(self.file, prompt=SLOW):
                pass
            with connect(self.worker, role="observer") as observer:
                while observer.ping().pong.open_transcriptions:
                    pass
            self.assertEqual(len(client.transcribe(self.file).segments), 5)

    def test_after_the_block_there_is_an_error_and_no_waiting(self):
        with connect(self.worker) as client:
            with client.start(self.file, prompt=SLOW) as job:
                self.assertIsNotNone(job.next(PATIENCE))
            with self.assertRaises(superfluid.CancelledError) as caught:
                job.result(PATIENCE)
            self.assertEqual(caught.exception.transcript.segments, ())
            with self.assertRaises(superfluid.CancelledError):
                job.result(PATIENCE)
            self.assertEqual(list(job), [])
            with client.start(self.file) as job:
                transcript = job.result(PATIENCE)
            self.assertEqual(job.result(PATIENCE).text, transcript.text)

    def test_what_cannot_be_said_is_an_error_of_this_library(self):
        with connect(self.worker) as client:
            for seconds in (float("inf"), float("nan"), 1e12):
                with self.assertRaises(superfluid.InvalidArgumentError):
                    client.transcribe(self.file, deadline=seconds)
                with self.assertRaises(superfluid.InvalidArgumentError):
                    client.drain(deadline=seconds)
            for surrogate in ({"prompt": "\ud800"}, {"language": "\ud800"}):
                with self.assertRaises(superfluid.InvalidArgumentError):
                    client.transcribe(self.file, **surrogate)
            with self.assertRaises(superfluid.InvalidArgumentError):
                client.transcribe("/\ud800.wav")
            self.assertEqual(len(client.transcribe(self.file).segments), 5)

    def test_a_deadline_ends_it(self):
        with connect(self.worker) as client:
            with self.assertRaises(superfluid.DeadlineExceededError) as caught:
                client.transcribe(self.file, prompt=SLOW, deadline=0.3)
            self.assertLess(caught.exception.transcript.duration, 5)

    def test_live_audio_goes_out_at_the_engines_pace(self):
        samples = pcm(60)
        with connect(self.worker) as client:
            whole = client.transcribe(Pcm(samples)).text
            with client.start(Live(), prompt="sim:step_us=2000") as job:
                job.push(samples)  # twice what may wait in the worker
                job.push(b"", end=True)
                transcript = job.result(PATIENCE)
            self.assertEqual(transcript.duration, 60.0)
            self.assertEqual(transcript.text, whole)

    def test_one_thread_pushes_while_another_reads(self):
        with connect(self.worker) as client, client.start(Live()) as job:
            pusher = threading.Thread(target=lambda: [job.push(pcm(1, seed=i), end=i == 19)
                                                      for i in range(20)])
            pusher.start()
            self.assertEqual(len(list(job)), 20)
            pusher.join()
            self.assertEqual(job.result().duration, 20.0)
            self.assertEqual(job.audio_ms, 20000)

    def test_many_side_by_side(self):
        with connect(self.worker) as client:
            jobs = [client.start(Pcm(pcm(2, seed=i))) for i in range(20)]
            jobs[7].cancel()
            texts = []
            for job in jobs:
                try:
                    texts.append(job.result(PATIENCE).text)
                except superfluid.CancelledError:
                    texts.append("cancelled")
                job.close()
            self.assertEqual(len(set(texts)), 20)

    def test_errors_have_their_kinds(self):
        with connect(self.worker) as client:
            for audio, kind in (("/no/such/file.wav", superfluid.NotFoundError),
                                (Recording(b"no audio at all"), superfluid.InvalidArgumentError),
                                (Pcm(b"1234", rate=0), superfluid.InvalidArgumentError)):
                with self.assertRaises(kind) as caught:
                    client.transcribe(audio)
                self.assertTrue(caught.exception.message)
            with self.assertRaises(superfluid.InvalidArgumentError):
                client.transcribe(7)
            with self.assertRaises(superfluid.UnknownHandleError):
                client.call("free_sequence", sequence=12345)


class Links(Case):
    def test_info_and_ping(self):
        with connect(self.worker, role="observer") as client:
            self.assertEqual(client.info.engine, "sim")
            self.assertIn("transcribe", client.info.calls)
            self.assertEqual(client.info.max_transcriptions, 64)
            self.assertEqual(client.info.limits.max_transcriptions, 256)
            health = client.ping()
            self.assertEqual(health.state, "idle")
            with self.assertRaises(superfluid.PermissionDeniedError):
                client.call("create_sequence")

    def test_a_second_driver_is_told_that_there_is_one(self):
        with connect(self.worker):
            with self.assertRaises(superfluid.BusyError):
                superfluid.connect(self.worker.socket)

    def test_nobody_listens(self):
        with self.assertRaises(superfluid.LinkClosedError):
            superfluid.connect("/no/such/socket")

    def test_telemetry(self):
        came = threading.Event()
        with connect(self.worker, role="observer", features=("telemetry",),
                     on_telemetry=lambda counters: came.set()) as client:
            self.assertTrue(came.wait(PATIENCE))
            self.assertIn("engine.steps", client.telemetry)

    def test_a_worker_that_dies_ends_every_call(self):
        with Worker() as worker, connect(worker) as client:
            job = client.start(Live())
            worker.process.kill()
            with self.assertRaises(superfluid.LinkClosedError):
                job.result(PATIENCE)
            with self.assertRaises(superfluid.LinkClosedError):
                client.ping()
            self.assertTrue(client.closed)
            job.close()

    def test_drain_ends_the_worker(self):
        with Worker() as worker, connect(worker) as client:
            drained = client.drain(shut_down=True)
            self.assertEqual((drained.finished, drained.cancelled), (0, 0))
            self.assertEqual(worker.process.wait(PATIENCE), 0)

    def test_no_descriptor_is_left(self):
        def count():
            return len(os.listdir("/proc/self/fd"))

        with connect(self.worker) as client:
            client.transcribe(self.file)
        before = count()
        for _ in range(20):
            with connect(self.worker) as client:
                client.transcribe(Pcm(pcm(1)))
                client.release(client.allocate(1000))
                client.tick([Lane(kind="prefill", tokens=[1])])
        self.assertEqual(count(), before)


if __name__ == "__main__":
    unittest.main()
