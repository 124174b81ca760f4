#!/usr/bin/env python3
"""Measures the daemon with `sim` workers, and prints a table with the machine's load beside each figure:
what HTTP adds to the first segment (beside nginx, where that is installed), four workers against one, live
streams that keep real time, and a long load of clients most of whom hang up. What must hold under any load
is asserted; times are only printed.

SUPERFLUID_MEASURE chooses parts (latency,scaling,live,load). The load lasts SUPERFLUID_SECONDS (600), with
SUPERFLUID_AT_ONCE clients at a time (200), of which each that leaves does so within SUPERFLUID_LEAVE seconds (2).
"""

import base64
import http.client
import json
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).absolute().parent))
import load_test  # noqa: E402
import service_test  # noqa: E402
from daemon import Daemon, form, wav  # noqa: E402

PARTS = os.environ.get("SUPERFLUID_MEASURE", "latency,scaling,live,load").split(",")
SECONDS = float(os.environ.get("SUPERFLUID_SECONDS", "600"))
AT_ONCE = int(os.environ.get("SUPERFLUID_AT_ONCE", "200"))
LEAVES_WITHIN = float(os.environ.get("SUPERFLUID_LEAVE", "2"))
ROWS = []


def row(what, figure):
    ROWS.append((what, figure, f"{os.getloadavg()[0]:.1f}"))
    print(f"  {what}: {figure}", flush=True)


def percentile(values, share):
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


def milliseconds(values):
    return f"p50 {statistics.median(values) * 1e3:.2f} ms, p99 {percentile(values, 0.99) * 1e3:.2f} ms"


def part(name):
    return unittest.skipUnless(name in PARTS, "not chosen")


class Nginx:
    """An nginx that answers every request at once. Its socket listens before it starts, and is handed over."""

    def __init__(self, folder):
        listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = port = listener.getsockname()[1]
        config = pathlib.Path(folder, "nginx.conf")
        config.write_text(
            f"daemon off; pid {folder}/pid; error_log {folder}/error.log; worker_processes 1;\n"
            "events {}\n"
            f"http {{ access_log off; client_body_temp_path {folder}/body; client_max_body_size 64m;\n"
            f"  proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;\n"
            f"  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;\n"
            f"  server {{ listen 127.0.0.1:{port}; location / {{ return 200 'x'; }} }} }}\n")
        self.process = subprocess.Popen(["nginx", "-c", str(config), "-p", folder],
                                        env={**os.environ, "NGINX": f"{listener.fileno()};"},
                                        pass_fds=[listener.fileno()])
        listener.close()

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Measure(unittest.TestCase):
    @classmethod
    def tearDownClass(cls):
        width = max((len(what) for what, _, _ in ROWS), default=0)
        print("\n" + "\n".join(f"{what:{width}}  {figure}  (load {load})" for what, figure, load in ROWS))

    # ---- What HTTP adds

    def first_bytes(self, connection, path, body, kind, count):
        """Seconds from the request to the first byte of its body, over and over on one connection."""
        times = []
        for number in range(count):
            headers = {"Content-Type": kind, "X-Request-Id": f"first-{number}"}
            begin = time.monotonic()
            connection.request("POST", path, body, headers)
            response = connection.getresponse()
            while True:
                line = response.readline()
                if not line or b"delta" in line or line == b"x":
                    break
            times.append(time.monotonic() - begin)
            response.read()
        return times

    @part("latency")
    def test_what_http_adds_to_the_first_segment(self):
        count = 300
        with Daemon(workers=1) as daemon:
            kind, body = form([("stream", "true")], wav(0.5))
            connection = daemon.connect()
            self.first_bytes(connection, "/v1/audio/transcriptions", body, kind, 20)
            outside = self.first_bytes(connection, "/v1/audio/transcriptions", body, kind, count)
            lines = daemon.request_lines(count, lambda line: line["id"].startswith("first-"))[-count:]
            inside = [line["first_segment_ms"] / 1e3 for line in lines]
            connection.close()
        added = statistics.median(outside) - statistics.median(inside)
        row("first segment, at the client", milliseconds(outside))
        row("first segment, from the fleet (Link W)", milliseconds(inside))
        if shutil.which("nginx") is None:
            return row("HTTP adds", f"{added * 1e3:.2f} ms (no nginx to compare with)")
        with tempfile.TemporaryDirectory() as folder:
            nginx = Nginx(folder)
            try:
                beside = http.client.HTTPConnection("127.0.0.1", nginx.port, timeout=60)
                self.first_bytes(beside, "/", body, kind, 20)
                echo = self.first_bytes(beside, "/", body, kind, count)
            finally:
                nginx.stop()
        row("nginx, return 200", milliseconds(echo))
        row("HTTP adds", f"{added * 1e3:.2f} ms, {added / statistics.median(echo):.2f} of nginx")

    # ---- More workers

    def rate(self, workers, seconds=15):
        """Requests that are finished in a second, by workers with one place each."""
        slow = [("prompt", "sim:step_us=40000")]
        done, stop = [], time.monotonic() + seconds
        with Daemon("--max-waiting", "1000", workers=workers, places=1) as daemon:
            def ask():
                while time.monotonic() < stop:
                    self.assertEqual(daemon.transcribe(wav(1), slow).status, 200)
                    done.append(time.monotonic())

            threads = [threading.Thread(target=ask) for _ in range(4 * workers)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            elapsed = max(done) - (stop - seconds)
        return len(done) / elapsed

    @part("scaling")
    def test_four_workers_against_one(self):
        one, four = self.rate(1), self.rate(4)
        row("one sim worker", f"{one:.2f} requests/s")
        row("four sim workers", f"{four:.2f} requests/s, {four / one:.2f} times")

    # ---- Live streams

    def stream(self, port, seconds, results):
        """Speaks in real time; notes how late each delta came after its audio was sent, and the end."""
        peer = service_test.WebSocket(port)
        peer.next_event()
        peer.send(service_test.update(audio={"input": {"turn_detection": None}}))
        peer.next_event()
        pieces = [base64.b64encode(service_test.noise(1)[i:i + 4800]).decode()
                  for i in range(0, 48000, 4800)] * seconds
        sent, late = [], []

        def listen():
            deltas = 0
            while True:
                event = peer.next_event()
                now = time.monotonic()
                if event["type"] == service_test.DELTA:
                    deltas += 1  # a segment of sim is a second
                    late.append(now - sent[min(deltas * 10, len(sent)) - 1])
                if event["type"] == service_test.COMPLETED or "error" in event:
                    results.append((late, now - sent[-1], event["type"]))
                    return

        listener = threading.Thread(target=listen)
        listener.start()
        begin = time.monotonic()
        for number, audio in enumerate(pieces):
            while (left := begin + number / 10 - time.monotonic()) > 0:
                threading.Event().wait(left)
            peer.send({"type": "input_audio_buffer.append", "audio": audio})
            sent.append(time.monotonic())
        peer.send({"type": "input_audio_buffer.commit"})
        listener.join()

    @part("live")
    def test_live_streams_keep_real_time(self):
        for workers in (1, 4):
            for streams in (4, 16, 32, 64):
                results = []
                with Daemon(workers=workers, places=streams) as daemon:
                    threads = [threading.Thread(target=self.stream, args=(daemon.port, 5, results))
                               for _ in range(streams)]
                    for thread in threads:
                        thread.start()
                    for thread in threads:
                        thread.join()
                kept = [r for r in results if r[2] == service_test.COMPLETED and r[1] < 1]
                deltas = [late for r in results for late in r[0]]
                row(f"{streams} live streams on {workers} workers",
                    f"{len(kept)} in real time; deltas {milliseconds(deltas) if deltas else '-'}")

    # ---- Hang-ups

    def resident(self, daemon):
        """MiB of the daemon and of each worker."""
        pids = [daemon.process.pid, *daemon.worker_pids()]
        return [int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4 // 1024 for pid in pids]

    def expect_all_steps_accounted(self, daemon, lines):
        """What the engines did is what the requests' lines say: nothing went on for somebody who had gone.
        To begin a transcription is a step that no line counts; who leaves may do so before or after it."""
        last = daemon.transcribe(wav(1), load_test.STEP)
        self.assertEqual(last.status, 200)
        lines = [line for line in lines if line["event"] == "request"]
        lines += daemon.request_lines(1, lambda line: not line["id"].startswith("load-"))
        counted = sum(line["engine_steps"] for line in lines)
        least = counted + sum(line["engine_steps"] > 0 for line in lines)
        most = counted + sum(line["attempts"] for line in lines)
        state = daemon.wait_for_status(  # what the last pings said
            lambda s: sum(w["engine_steps"] for w in s["workers"]) >= least)
        done = sum(worker["engine_steps"] for worker in state["workers"])
        self.assertLessEqual(done, most)
        return f"{done}, of which the requests' lines have {counted} and {done - counted} began a transcription"

    @part("load")
    def test_most_clients_hang_up(self):
        outcomes, lock, numbers = {}, threading.Lock(), iter(range(10**9))
        client = load_test.Load()
        sizes, queued = [], []

        def work(daemon, end):
            while time.monotonic() < end:
                with lock:
                    number = next(numbers)
                client.one_client(daemon, number, load_test.random.Random(load_test.SEED + number), outcomes,
                                  LEAVES_WITHIN)

        with Daemon("--max-waiting", "1000", workers=2, places=4) as daemon:
            end = time.monotonic() + SECONDS
            threads = [threading.Thread(target=work, args=(daemon, end)) for _ in range(AT_ONCE)]
            for thread in threads:
                thread.start()
            for share in (0.1, 0.25, 0.5, 0.75, 1):
                threading.Event().wait(max(end - SECONDS * (1 - share) - time.monotonic(), 0))
                sizes.append(self.resident(daemon))
                queued.append(daemon.status()["queued"])
            for thread in threads:
                thread.join()
            daemon.wait_for_status(lambda s: s["active"] == 0 and s["queued"] == 0)
            load_test.CLIENTS = len(outcomes)
            client.check(daemon, outcomes)
            lines = [json.loads(line) for line in daemon.access.lines]
            steps = self.expect_all_steps_accounted(daemon, lines)
            self.assertEqual(daemon.log.wait_for(lambda line: "worker.starting" in line, 2)[2:], [])
        answered = sum(outcome != "left" for outcome in outcomes.values())
        cancelled = [line for line in lines if line.get("cancelled_by")]
        running = [line["cancel_ms"] / 1e3 for line in cancelled if line["attempts"] > 0]
        for first, last in zip(sizes[1], sizes[-1]):  # after a quarter everything is warm
            self.assertLess(last, first * 1.25 + 16, f"MiB resident grow: {sizes}")
        row(f"clients in {SECONDS:.0f} s, {AT_ONCE} at once, 70 % hang up",
            f"{len(outcomes)}: {answered} answered, {len(outcomes) - answered} left; none lost or answered twice")
        row("cancelled", f"{len(cancelled)}, {len(cancelled) - len(running)} of them before a worker had them; "
            "0 steps after a cancel")
        row("engine steps", steps)
        if running:
            row("cancel to the worker's last word", milliseconds(running))
        row("queued at 10, 25, 50, 75, 100 %", str(queued))
        row("MiB resident (daemon, workers), likewise", str(sizes))


if __name__ == "__main__":
    unittest.main(verbosity=1)
