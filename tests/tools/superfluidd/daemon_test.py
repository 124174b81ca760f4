#!/usr/bin/env python3
"""The real daemon with real `sim` workers, over HTTP: formats, streams, errors, cancels, queues."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).absolute().parent))
from daemon import DAEMON, Daemon, form, wav  # noqa: E402

SLOW = [("prompt", "sim:step_us=50000")]  # 10 steps for each second of audio


class Formats(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(workers=2)

    @classmethod
    def tearDownClass(cls):
        cls.daemon.__exit__()

    def test_json_is_the_default(self):
        answer = self.daemon.transcribe(wav(2), [("model", "whisper-1")])
        self.assertEqual(answer.status, 200, answer.body)
        self.assertEqual(answer.headers["content-type"], "application/json")
        self.assertRegex(answer.headers["x-request-id"], r"^req_[0-9a-f]{24}$")
        self.assertEqual(set(answer.json()), {"text", "usage"})
        self.assertEqual(answer.json()["usage"], {"type": "duration", "seconds": 2.0})
        self.assertTrue(answer.json()["text"])

    def test_all_formats_carry_the_same_text(self):
        text = self.daemon.transcribe(wav(2)).json()["text"]
        plain = self.daemon.transcribe(wav(2), [("response_format", "text")])
        self.assertTrue(plain.headers["content-type"].startswith("text/plain"))
        self.assertEqual(plain.text(), text + "\n")
        srt = self.daemon.transcribe(wav(2), [("response_format", "srt")]).text()
        self.assertTrue(srt.startswith("1\n00:00:00,000 --> 00:00:01,000\n"), srt)
        vtt = self.daemon.transcribe(wav(2), [("response_format", "vtt")]).text()
        self.assertTrue(vtt.startswith("WEBVTT\n\n00:00:00.000 --> 00:00:01.000\n"), vtt)
        verbose = self.daemon.transcribe(wav(2), [("response_format", "verbose_json")]).json()
        self.assertEqual(verbose["text"], text)
        self.assertEqual(verbose["duration"], 2.0)
        self.assertEqual([s["start"] for s in verbose["segments"]], [0.0, 1.0])
        self.assertNotIn("words", verbose)

    def test_granularities_choose_words_and_segments(self):
        fields = [("response_format", "verbose_json"), ("timestamp_granularities[]", "word")]
        words = self.daemon.transcribe(wav(1), fields).json()
        self.assertNotIn("segments", words)
        self.assertEqual(len(words["words"]), 3)
        self.assertEqual(words["words"][0]["start"], 0.0)
        both = self.daemon.transcribe(
            wav(1), fields + [("timestamp_granularities[]", "segment")]).json()
        self.assertEqual(len(both["segments"]), 1)
        self.assertEqual(len(both["words"]), 3)

    def test_logprobs_are_included(self):
        answer = self.daemon.transcribe(wav(1), [("include[]", "logprobs")]).json()
        self.assertEqual(len(answer["logprobs"]), 3)
        self.assertLessEqual(answer["logprobs"][0]["logprob"], 0)

    def test_a_stream_ends_with_the_joined_deltas(self):
        whole = self.daemon.transcribe(wav(3)).json()["text"]
        answer = self.daemon.transcribe(wav(3), [("stream", "true")])
        self.assertTrue(answer.headers["content-type"].startswith("text/event-stream"))
        events = answer.events()
        self.assertEqual(events[-1], "[DONE]")
        self.assertEqual([e["type"] for e in events[:-1]],
                         ["transcript.text.delta"] * 3 + ["transcript.text.done"])
        self.assertEqual("".join(e["delta"] for e in events[:3]), whole)
        self.assertEqual(events[3]["text"], whole)

    def test_translations(self):
        answer = self.daemon.transcribe(wav(1), [("response_format", "verbose_json")],
                                        path="/v1/audio/translations")
        self.assertIn(answer.status, (200, 400), answer.body)
        if answer.status == 200:
            self.assertEqual(answer.json()["task"], "translate")

    def test_a_connection_is_kept(self):
        connection = self.daemon.connect()
        for _ in range(50):
            kind, body = form([], wav(1))
            connection.request("POST", "/v1/audio/transcriptions", body, {"Content-Type": kind})
            response = connection.getresponse()
            self.assertEqual(response.status, 200)
            response.read()
        connection.close()

    def test_models_health_ready_status(self):
        models = self.daemon.ask("GET", "/v1/models").json()
        self.assertEqual([m["id"] for m in models["data"]], ["sim"])
        self.assertEqual(self.daemon.ask("GET", "/v1/models/sim").json()["object"], "model")
        self.assertEqual(self.daemon.ask("GET", "/v1/models/none").status, 404)
        self.assertEqual(self.daemon.ask("GET", "/health").status, 200)
        self.assertEqual(self.daemon.ask("GET", "/ready").json()["workers_ready"], 2)
        self.assertEqual([w["state"] for w in self.daemon.status()["workers"]], ["ready"] * 2)

    def expect_error(self, answer, status, param=None):
        self.assertEqual(answer.status, status, answer.body)
        error = answer.json()["error"]
        self.assertEqual(set(error), {"message", "type", "param", "code"})
        self.assertEqual(error["param"], param)
        self.assertIn("x-request-id", answer.headers)

    def test_errors_have_openais_shape(self):
        ask, transcribe = self.daemon.ask, self.daemon.transcribe
        self.expect_error(ask("GET", "/nowhere"), 404)
        wrong_method = ask("GET", "/v1/audio/transcriptions")
        self.expect_error(wrong_method, 405)
        self.assertEqual(wrong_method.headers["allow"], "POST")
        wrong_method = ask("POST", "/health", b"")
        self.expect_error(wrong_method, 405)
        self.assertEqual(wrong_method.headers["allow"], "GET, HEAD")
        self.assertEqual(wrong_method.json()["error"]["message"],
                         "/health takes no POST: it takes GET, HEAD")
        self.expect_error(transcribe(None, [("model", "m")]), 400, "file")
        self.expect_error(transcribe(b""), 400, "file")
        self.expect_error(transcribe(wav(1), [("response_format", "xml")]), 400, "response_format")
        self.expect_error(transcribe(wav(1), [("temperature", "7")]), 400, "temperature")
        no_recording = transcribe(b"this is no recording")
        self.expect_error(no_recording, 400, "file")
        self.assertNotIn("buffer", no_recording.json()["error"]["message"])
        wrong_language = transcribe(wav(1), [("language", "e n")])
        self.expect_error(wrong_language, 400, "language")
        self.assertNotIn("transcription_", wrong_language.json()["error"]["message"])
        self.expect_error(ask("POST", "/v1/audio/transcriptions", b"{}",
                              {"Content-Type": "application/json"}), 400)
        self.expect_error(ask("DELETE", "/v1/requests/none"), 404)

    def test_head_is_answered_wherever_get_is(self):
        for path in ("/", "/health", "/ready", "/metrics", "/v1/models", "/v1/status", "/nowhere"):
            got, head = self.daemon.ask("GET", path), self.daemon.ask("HEAD", path)
            self.assertEqual((head.status, head.body), (got.status, b""), path)
            self.assertEqual(head.headers.get("content-type"), got.headers.get("content-type"), path)
            self.assertGreater(int(head.headers["content-length"]), 0, path)

    def test_a_trace_goes_through_to_the_log_of_the_worker(self):
        trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
        headers = {"X-Request-Id": "traced", "traceparent": f"00-{trace}-{parent}-01"}
        self.assertEqual(self.daemon.transcribe(wav(1), headers=headers).status, 200)
        is_traced = lambda text: json.loads(text)["id"] == "traced"  # noqa: E731
        lines = [json.loads(text) for text in self.daemon.access.wait_for(is_traced, 2)]
        self.assertEqual({line["trace_id"] for line in lines}, {trace})
        self.assertEqual(len({line["span_id"] for line in lines}), 1)
        http = next(line for line in lines if line["event"] == "http")
        self.assertEqual(http["parent_span_id"], parent)
        done = self.daemon.log.wait_for(lambda line: 'label="traced ' in line)[0]
        self.assertRegex(done, rf' info transcription\.done .* label="traced trace={trace}" worker=worker-[01]$')

    def test_an_id_of_the_client_comes_back(self):
        answer = self.daemon.transcribe(wav(1), headers={"X-Request-Id": "mine.1"})
        self.assertEqual(answer.headers["x-request-id"], "mine.1")


class Cancels(unittest.TestCase):
    def test_a_hang_up_stops_the_engine_and_a_waiting_request_never_runs(self):
        with Daemon(workers=1, places=1) as daemon:
            running = daemon.open_upload(wav(60), SLOW, {"X-Request-Id": "running"})
            daemon.wait_for_status(lambda s: s["active"] == 1)
            waiting = daemon.open_upload(wav(60), SLOW, {"X-Request-Id": "waiting"})
            daemon.wait_for_status(lambda s: s["queued"] == 1)
            waiting.close()
            line = daemon.request_lines(1)[0]
            self.assertEqual((line["id"], line["status"]), ("waiting", "CANCELLED"))
            self.assertEqual((line["attempts"], line["engine_steps"]), (0, 0))
            running.close()
            line = daemon.request_lines(1, lambda one: one["id"] == "running")[0]
            self.assertEqual((line["status"], line["cancelled_by"]), ("CANCELLED", "hang-up"))
            self.assertEqual(line["steps_after_cancel"], 0)
            self.assertLess(line["engine_steps"], 600)
            self.assertEqual(daemon.transcribe(wav(1)).status, 200)

    def test_delete_cancels_and_the_answer_says_what_it_cost(self):
        with Daemon(workers=1) as daemon:
            answer = daemon.in_background(wav(60), SLOW, headers={"X-Request-Id": "one"})
            daemon.wait_for_status(lambda s: s["active"] == 1)
            self.assertEqual(daemon.ask("DELETE", "/v1/requests/one").status, 202)
            cancelled = answer.get()
            self.assertEqual(cancelled.status, 499)
            self.assertEqual(cancelled.json()["error"]["code"], "cancelled")
            self.assertEqual(cancelled.headers["x-steps-after-cancel"], "0")
            self.assertLess(int(cancelled.headers["x-cancel-ms"]), 5000)

    def test_only_its_owner_can_cancel_a_request(self):
        with Daemon(workers=1) as daemon:
            headers = {"X-Request-Id": "one", "Authorization": "Bearer mine"}
            peer = daemon.open_upload(wav(60), SLOW, headers)
            daemon.wait_for_status(lambda s: s["active"] == 1)
            path = "/v1/requests/one"
            self.assertEqual(daemon.ask("DELETE", path).status, 404)
            self.assertEqual(
                daemon.ask("DELETE", path, headers={"Authorization": "Bearer mine"}).status, 202)
            peer.close()

    def test_deadlines_end_requests_that_run_and_that_wait(self):
        with Daemon(workers=1, places=1) as daemon:
            running = daemon.in_background(wav(60), SLOW, headers={"X-Deadline-Ms": "1500"})
            daemon.wait_for_status(lambda s: s["active"] == 1)
            waiting = daemon.transcribe(wav(1), headers={"X-Deadline-Ms": "200"})
            self.assertEqual(waiting.status, 504)
            self.assertEqual(waiting.json()["error"]["code"], "deadline_exceeded")
            self.assertEqual(running.get().status, 504)
            self.assertEqual(daemon.transcribe(wav(1), headers={"X-Deadline-Ms": "x"}).status, 400)


class Queues(unittest.TestCase):
    def test_a_full_queue_says_so_before_the_upload(self):
        with Daemon("--max-waiting", "1", workers=1, places=1) as daemon:
            first = daemon.open_upload(wav(60), SLOW)
            daemon.wait_for_status(lambda s: s["active"] == 1)
            second = daemon.open_upload(wav(60), SLOW)
            daemon.wait_for_status(lambda s: s["queued"] == 1)
            refused = daemon.transcribe(wav(1))
            self.assertEqual(refused.status, 429)
            self.assertEqual(refused.json()["error"]["type"], "rate_limit_error")
            self.assertGreaterEqual(int(refused.headers["retry-after"]), 1)
            first.close()
            second.close()

    def test_keys_share_a_worker_fairly(self):
        with Daemon(workers=1, places=1) as daemon:
            blocker = daemon.open_upload(wav(60), SLOW)
            daemon.wait_for_status(lambda s: s["active"] == 1)
            results = [daemon.in_background(wav(2), headers={"Authorization": "Bearer many",
                                                             "X-Request-Id": f"many{i}"})
                       for i in range(8)]
            daemon.wait_for_status(lambda s: s["queued"] == 8)
            results.append(daemon.in_background(
                wav(2), headers={"Authorization": "Bearer few", "X-Request-Id": "few"}))
            daemon.wait_for_status(lambda s: s["queued"] == 9)
            blocker.close()
            for result in results:
                self.assertEqual(result.get().status, 200)
            order = [line["id"] for line in daemon.request_lines(10)]
            self.assertLess(order.index("few"), 4, order)


class Console(unittest.TestCase):
    def test_is_at_the_root_and_needs_no_key(self):
        with Daemon(workers=1) as daemon:
            page = daemon.ask("GET", "/")
            self.assertEqual(page.status, 200)
            self.assertTrue(page.headers["content-type"].startswith("text/html"))
            self.assertIn("default-src 'none'", page.headers["content-security-policy"])
            script = daemon.ask("GET", "/console/main.js")
            self.assertTrue(script.headers["content-type"].startswith("text/javascript"))
            self.assertEqual(daemon.ask("GET", "/console/none.js").status, 404)
            again = daemon.ask("GET", "/", headers={"If-None-Match": page.headers["etag"]})
            self.assertEqual((again.status, again.body), (304, b""))

    def test_a_cancelled_stream_says_what_the_cancel_cost(self):
        with Daemon(workers=1) as daemon:
            peer = daemon.open_upload(wav(60), SLOW + [("stream", "true")])
            received = b""
            while b"transcript.text.delta" not in received:
                received += peer.recv(4096)
            request = daemon.status()["requests"][0]["id"]
            self.assertEqual(daemon.ask("DELETE", f"/v1/requests/{request}").status, 202)
            while not received.endswith(b"0\r\n\r\n"):
                piece = peer.recv(4096)
                self.assertTrue(piece, "the stream must be ended in order")
                received += piece
            error = json.loads(received.split(b"data: ")[-1].split(b"\n")[0])["error"]
            self.assertEqual(error["code"], "cancelled")
            self.assertLessEqual(error["cost"]["steps_after_cancel"], 1)
            self.assertGreaterEqual(error["cost"]["cancel_ms"], 0)


class Logs(unittest.TestCase):
    def test_a_crash_of_a_worker_is_told_with_its_name(self):
        with Daemon(workers=1) as daemon:
            kill(daemon.worker_pids()[0], signal.SIGSEGV)
            daemon.log.wait_for(lambda line: "worker.ended worker=worker-0" in line)
            lines = [line for line in daemon.log.lines if " error crash." in line]
            self.assertGreater(len(lines), 1)
            self.assertEqual([line for line in lines if not line.endswith(" worker=worker-0")], [])

    def test_all_of_it_may_be_json(self):
        with Daemon("--log-format", "json", "--log-level", "debug", workers=1) as daemon:
            answer = daemon.transcribe(wav(1), headers={"X-Request-Id": "mine"})
            self.assertEqual(answer.status, 200)
            kill(daemon.worker_pids()[0], signal.SIGSEGV)
            daemon.log.wait_for(lambda line: '"worker.ended"' in line)
            lines = [json.loads(line) for line in daemon.log.lines]
        for line in lines:
            self.assertLessEqual({"time", "level", "event"}, set(line))
        events = {line["event"] for line in lines}
        self.assertLessEqual({"daemon.listening", "worker.ready", "crash.signal", "crash.frame", "worker.ended"},
                             events)
        done = next(line for line in lines if line["event"] == "transcription.done")
        self.assertEqual((done["label"].split()[0], done["worker"]), ("mine", "worker-0"))
        ended = next(line for line in lines if line["event"] == "worker.ended")
        self.assertEqual(ended["model"], "sim")

    def test_a_start_that_fails_says_why_in_json(self):
        for arguments, code in ((["--listen", "nowhere"], 1), (["--worker", "/none", "--listen", "unix:/none/x"], 1),
                                (["--colour"], 2)):
            got = subprocess.run([DAEMON, "--engine", "sim", "--log-format", "json", *arguments],
                                 capture_output=True, text=True)
            self.assertEqual(got.returncode, code, got.stderr)
            lines = [json.loads(line) for line in got.stderr.splitlines()]
            self.assertEqual(lines[-1]["event"], "daemon.cannot_start")
            self.assertTrue(lines[-1]["error"])


class Endings(unittest.TestCase):
    def test_sigterm_drains(self):
        with Daemon(workers=1) as daemon:
            answer = daemon.in_background(wav(2), SLOW)
            daemon.wait_for_status(lambda s: s["active"] == 1)
            self.assertEqual(daemon.stop(), 0)
            self.assertEqual(answer.get().status, 200)

    def test_sigint_cancels(self):
        with Daemon(workers=1) as daemon:
            answer = daemon.in_background(wav(60), SLOW)
            daemon.wait_for_status(lambda s: s["active"] == 1)
            self.assertEqual(daemon.stop(signal.SIGINT), 0)
            self.assertEqual(answer.get().status, 499)

    def test_a_worker_that_is_killed_costs_no_request_that_has_told_nothing(self):
        with Daemon(workers=2) as daemon:
            answers = [daemon.in_background(wav(3, seed), SLOW) for seed in range(8)]
            state = daemon.wait_for_status(lambda s: s["active"] == 8)
            victim = next(w["pid"] for w in state["workers"] if w["active"] > 0)
            kill(victim)
            for answer in answers:
                got = answer.get()
                self.assertEqual(got.status, 200, got.body)
            lines = daemon.request_lines(8)
            self.assertGreaterEqual(max(line["attempts"] for line in lines), 2)
            daemon.wait_for_status(lambda s: all(w["state"] == "ready" for w in s["workers"]))
            self.assertNotIn(victim, daemon.worker_pids())

    def test_a_stream_that_has_begun_ends_with_an_error_when_its_worker_dies(self):
        with Daemon(workers=1) as daemon:
            peer = daemon.open_upload(wav(60), SLOW + [("stream", "true")])
            received = b""
            while b"transcript.text.delta" not in received:
                received += peer.recv(4096)
            kill(daemon.worker_pids()[0])
            while not received.endswith(b"0\r\n\r\n"):
                piece = peer.recv(4096)
                self.assertTrue(piece, "the stream must be ended in order")
                received += piece
            self.assertIn(b'"error":', received)
            self.assertIn(b'"code":"worker_lost"', received)
            self.assertNotIn(b"transcript.text.done", received)
            self.assertNotIn(b"[DONE]", received)


def kill(pid, number=signal.SIGKILL):
    os.kill(pid, number)


if __name__ == "__main__":
    unittest.main(verbosity=2)
