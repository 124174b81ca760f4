#!/usr/bin/env python3
"""Recordings that workers do not read: the daemon has them decoded, each by a process that dies with its request."""

import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).absolute().parent))
from daemon import PATIENCE, ROOT, Daemon, wav  # noqa: E402

DECODER = ROOT / "decode/superfluid_decode"


def convert(recording, kind, *options):
    """What ffmpeg makes of a recording, as a file of this kind."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder, "in"), pathlib.Path(folder, f"out.{kind}")
        source.write_bytes(recording)
        subprocess.run(["ffmpeg", "-nostdin", "-loglevel", "error", "-i", source, *options, target],
                       check=True)
        return target.read_bytes()


def amr(seconds):
    """A recording in AMR, for which Debian has no encoder: frames of one mode, with any contents."""
    return b"#!AMR\n" + (b"\x3c" + bytes(range(31))) * (50 * seconds)


class Decoders:
    """Says when the daemon starts a decoder, and when one ends. REQUIRES: made before the daemon."""

    def __init__(self):
        self.folder = tempfile.mkdtemp()
        fifo, wrapper = f"{self.folder}/started", pathlib.Path(self.folder, "decoder")
        os.mkfifo(fifo)
        wrapper.write_text(f'#!/bin/sh\necho $$ > {fifo}\nexec {DECODER.absolute()}\n')
        wrapper.chmod(0o700)
        self.fifo = os.open(fifo, os.O_RDWR)
        self.pids = []
        self.before = os.environ.get("SUPERFLUID_DECODER")
        os.environ["SUPERFLUID_DECODER"] = str(wrapper)

    def close(self):
        if self.before is None:
            del os.environ["SUPERFLUID_DECODER"]
        else:
            os.environ["SUPERFLUID_DECODER"] = self.before
        os.close(self.fifo)
        shutil.rmtree(self.folder)

    def await_started(self, count):
        """Waits until so many were started."""
        while len(self.pids) < count:
            if not select.select([self.fifo], [], [], PATIENCE)[0]:
                raise AssertionError(f"{len(self.pids)} decoders were started, not {count}")
            self.pids += [int(pid) for pid in os.read(self.fifo, 4096).split()]

    def spare(self):
        """Waits until the first recording's decoder has ended, which was started with another; returns that."""
        self.await_started(2)
        watched = {}
        for pid in self.pids[:2]:
            try:
                watched[os.pidfd_open(pid)] = pid
            except ProcessLookupError:
                continue
        ended = select.select(list(watched), [], [], PATIENCE)[0] if len(watched) == 2 else []
        left = [pid for fd, pid in watched.items() if fd not in ended]
        for fd in watched:
            os.close(fd)
        if len(left) != 1:
            raise AssertionError(f"there is no spare decoder: {self.pids}")
        return left[0]


class Watched:
    """A process that a test waits for."""

    def __init__(self, pid):
        self.fd = os.pidfd_open(pid)

    def runs(self):
        return not select.select([self.fd], [], [], 0)[0]

    def await_end(self):
        if not select.select([self.fd], [], [], PATIENCE)[0]:
            raise AssertionError("the process goes on")
        os.close(self.fd)


def await_all_returned(daemon):
    """Looks, each time by a round trip to the daemon, until no upload has memory."""
    for _ in range(10_000):
        if used_bytes(daemon) == 0:
            return
    raise AssertionError(f"{used_bytes(daemon)} bytes are kept")


def used_bytes(daemon):
    text = daemon.ask("GET", "/metrics").text()
    return int(text.split("\nsuperfluidd_upload_memory_bytes ")[1].split("\n")[0])


class Texts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(workers=1)

    @classmethod
    def tearDownClass(cls):
        cls.daemon.__exit__()

    def text_of(self, recording, fields=()):
        answer = self.daemon.transcribe(recording, fields)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json()

    def expect_same_text(self, foreign):
        as_wav = convert(foreign, "wav", "-c:a", "pcm_f32le")
        want, got = self.text_of(as_wav), self.text_of(foreign)
        self.assertTrue(want["text"])
        self.assertEqual(got, want)

    def test_an_m4a_has_the_text_of_its_wav(self):
        self.expect_same_text(convert(wav(20), "m4a", "-c:a", "alac"))
        self.expect_same_text(convert(wav(20), "m4a", "-c:a", "aac"))

    def test_a_webm_has_the_text_of_its_wav(self):
        self.expect_same_text(convert(wav(20), "webm", "-c:a", "libopus"))

    def test_the_sound_of_a_video(self):
        pictures = ["-f", "lavfi", "-i", "color=size=64x64:rate=5:duration=3", "-c:v", "mpeg4"]
        video = convert(wav(3), "mp4", *pictures, "-c:a", "aac")
        answer = self.text_of(video, [("response_format", "verbose_json")])
        self.assertTrue(3 <= answer["duration"] < 3.2, answer["duration"])

    def test_a_stream_of_one(self):
        foreign = convert(wav(5), "m4a", "-c:a", "alac")
        events = self.daemon.transcribe(foreign, [("stream", "true")]).events()
        self.assertEqual(events[-1], "[DONE]")
        self.assertEqual(events[-2]["text"], self.text_of(wav(5))["text"])

    def expect_refused(self, recording, status=400):
        answer = self.daemon.transcribe(recording)
        self.assertEqual(answer.status, status, answer.body)
        error = answer.json()["error"]
        self.assertEqual(error["param"], "file")
        self.assertTrue(error["message"].startswith("the recording cannot be decoded: "), error)
        return error["message"]

    def test_damaged_files_say_so(self):
        good = convert(wav(5), "m4a", "-c:a", "aac")
        self.expect_refused(good[:len(good) // 2])  # its index was at its end
        self.expect_refused(b"\0\0\0\x20ftypM4A " + bytes(4000))
        self.assertIn("no sound", self.expect_refused(
            convert(wav(1), "mp4", "-f", "lavfi", "-i", "color=size=64x64:duration=1", "-map", "1:v",
                    "-c:v", "mpeg4")))
        self.assertTrue(self.text_of(good)["text"])


class Endings(unittest.TestCase):
    """The spare decoder is stopped before it gets its recording, so that it is there to be looked at."""

    def setUp(self):
        self.decoders = Decoders()
        self.daemon = Daemon(workers=1)
        self.recording = convert(wav(3), "m4a", "-c:a", "alac")
        self.text = self.daemon.transcribe(self.recording).json()["text"]

    def tearDown(self):
        self.daemon.__exit__()
        self.decoders.close()

    def stopped_decoder(self):
        pid = self.decoders.spare()
        os.kill(pid, signal.SIGSTOP)
        return pid

    def test_a_hang_up_ends_the_decoder(self):
        decoder = Watched(self.stopped_decoder())
        peer = self.daemon.open_upload(self.recording)
        self.daemon.wait_for_status(lambda s: s["active"] == 1)
        self.assertTrue(decoder.runs())
        peer.close()
        line = self.daemon.request_lines(1, lambda one: one["status"] == "CANCELLED")[0]
        self.assertEqual((line["cancelled_by"], line["engine_steps"]), ("hang-up", 0))
        decoder.await_end()
        await_all_returned(self.daemon)
        self.assertEqual(self.daemon.transcribe(self.recording).json()["text"], self.text)

    def test_a_decoder_that_is_killed_is_replaced(self):
        pid = self.stopped_decoder()
        answer = self.daemon.in_background(self.recording)
        self.decoders.await_started(3)  # the next spare: the stopped one has the recording
        os.kill(pid, signal.SIGKILL)
        got = answer.get()
        self.assertEqual(got.status, 200, got.body)
        self.assertEqual(got.json()["text"], self.text)
        # It began before its request had a worker, so that it costs no attempt with one.
        self.assertEqual(self.daemon.request_lines(2)[1]["attempts"], 1)

    def test_a_deadline_ends_the_decoder(self):
        decoder = Watched(self.stopped_decoder())
        answer = self.daemon.transcribe(self.recording, headers={"X-Deadline-Ms": "300"})
        self.assertEqual(answer.status, 504, answer.body)
        decoder.await_end()
        await_all_returned(self.daemon)

    def test_no_decoder_outlives_the_daemon(self):
        stopped = self.stopped_decoder()
        peer = self.daemon.open_upload(self.recording)
        self.decoders.await_started(3)
        watched = [Watched(pid) for pid in (stopped, self.decoders.pids[2])]
        self.daemon.process.kill()
        peer.close()
        for decoder in watched:
            decoder.await_end()


class Ahead(unittest.TestCase):
    """One request has the only place; others wait, and are decoded meanwhile."""

    def setUp(self):
        self.decoders = Decoders()
        self.daemon = Daemon("--upload-memory-mb", "64", workers=1, places=1)
        self.recording = convert(wav(3), "m4a", "-c:a", "alac")

    def tearDown(self):
        self.daemon.__exit__()
        self.decoders.close()

    def take_the_place(self):
        peer = self.daemon.open_upload(wav(60), [("prompt", "sim:step_us=50000")])
        self.daemon.wait_for_status(lambda s: s["active"] == 1)
        return peer

    def wait_for_one_that_waits(self):
        return self.daemon.wait_for_status(lambda s: (s["active"], s["queued"]) == (1, 1))

    def test_a_request_that_waits_is_decoded(self):
        busy = self.take_the_place()
        answer = self.daemon.in_background(self.recording)
        self.decoders.spare()  # its decoder has ended
        self.wait_for_one_that_waits()
        self.assertGreater(used_bytes(self.daemon), 3 * 64000)
        busy.close()
        got = answer.get()
        self.assertEqual(got.status, 200, got.body)
        self.assertEqual(got.json()["text"], self.daemon.transcribe(self.recording).json()["text"])
        await_all_returned(self.daemon)

    def test_one_whose_client_has_gone_stops_its_decoder(self):
        self.daemon.transcribe(self.recording)
        decoder = Watched(pid := self.decoders.spare())
        os.kill(pid, signal.SIGSTOP)
        busy = self.take_the_place()
        peer = self.daemon.open_upload(self.recording)
        self.decoders.await_started(3)  # the stopped one has the recording
        self.wait_for_one_that_waits()
        self.assertTrue(decoder.runs())
        peer.close()
        decoder.await_end()
        line = self.daemon.request_lines(1, lambda one: one["status"] == "CANCELLED")[0]
        self.assertEqual((line["cancelled_by"], line["attempts"]), ("hang-up", 0))
        busy.close()

    def test_one_that_is_no_recording_ends_at_once(self):
        busy = self.take_the_place()
        answer = self.daemon.transcribe(b"\0\0\0\x20ftypM4A " + bytes(4000))
        self.assertEqual(answer.status, 400, answer.body)
        self.assertEqual(answer.json()["error"]["param"], "file")
        self.assertEqual(self.daemon.status()["active"], 1)
        busy.close()

    def test_one_that_is_too_long_to_be_decoded_ahead_is_decoded_with_its_worker(self):
        busy = self.take_the_place()
        answer = self.daemon.in_background(amr(400))  # 25 MB of samples; 8 may lie ahead
        self.decoders.spare()  # the first decoder has given up
        self.wait_for_one_that_waits()
        busy.close()
        got = answer.get()
        self.assertEqual(got.status, 200, got.body)
        self.assertEqual(got.json()["usage"]["seconds"], 400)


class Limits(unittest.TestCase):
    def test_a_bomb_costs_its_own_request(self):
        with Daemon("--upload-memory-mb", "128", workers=1) as daemon:
            answers = [daemon.in_background(amr(1200)), daemon.in_background(wav(3))]
            bomb, other = (answer.get() for answer in answers)
            self.assertEqual(bomb.status, 413, bomb.body)
            self.assertEqual(bomb.json()["error"]["param"], "file")
            self.assertEqual(other.status, 200, other.body)
            self.assertEqual(daemon.transcribe(amr(60)).status, 200)

    def test_samples_have_their_place_in_the_budget(self):
        decoders = Decoders()
        self.addCleanup(decoders.close)
        with Daemon("--upload-memory-mb", "64", workers=1) as daemon:
            slow = [("prompt", "sim:step_us=50000")]
            peer = daemon.open_upload(amr(400), slow)
            decoders.spare()  # the recording is decoded
            self.assertGreater(used_bytes(daemon), 400 * 64000)
            peer.close()
            await_all_returned(daemon)

    def test_without_a_decoder_the_answer_says_so(self):
        os.environ["SUPERFLUID_DECODER"] = "/nowhere/superfluid_decode"
        try:
            with Daemon(workers=1) as daemon:
                answer = daemon.transcribe(amr(1))
                self.assertEqual(answer.status, 400, answer.body)
                self.assertIn("superfluid_decode", answer.json()["error"]["message"])
                self.assertEqual(daemon.transcribe(wav(1)).status, 200)
        finally:
            del os.environ["SUPERFLUID_DECODER"]


if __name__ == "__main__":
    unittest.main(verbosity=2)
