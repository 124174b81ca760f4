#!/usr/bin/env python3
"""Many clients, most of which hang up at a random moment: every request ends exactly once, cancelled work
stops, nothing is left. The seed may be given in SUPERFLUID_SEED, the number of clients in SUPERFLUID_CLIENTS."""

import collections
import json
import os
import pathlib
import random
import select
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).absolute().parent))
from daemon import Daemon, wav  # noqa: E402

CLIENTS = int(os.environ.get("SUPERFLUID_CLIENTS", "150"))
SEED = int(os.environ.get("SUPERFLUID_SEED", "20261201"))
HANG_UP = 0.7
AT_ONCE = 30
RECORDINGS = 8  # of each length: to make one takes longer than to send it
STEP = [("prompt", "sim:step_us=5000")]  # 50 ms for each second of audio


class Load(unittest.TestCase):
    def one_client(self, daemon, number, dice, outcomes, leaves_within=0.4):
        """Sends a request; reads its answer, or hangs up after a while."""
        name = f"load-{number}"
        streams = dice.random() < 0.5
        fields = STEP + ([("stream", "true")] if streams else [])
        leaves_at = None
        if dice.random() < HANG_UP:
            leaves_at = time.monotonic() + dice.uniform(0, leaves_within)
        peer = daemon.open_upload(wav(dice.choice([1, 2, 5]), number % RECORDINGS), fields,
                                  {"X-Request-Id": name, "Connection": "close",
                                   "Authorization": f"Bearer key{number % 5}"})
        received = b""
        while True:
            left = None if leaves_at is None else leaves_at - time.monotonic()
            if left is not None and left <= 0:
                outcomes[name] = "left"
                break
            if not select.select([peer], [], [], left)[0]:
                continue
            piece = peer.recv(65536)
            if not piece:
                outcomes[name] = "answered " + received[9:12].decode()
                if streams and received.count(b"transcript.text.done") != 1:
                    outcomes[name] = "broken"
                break
            received += piece
        peer.close()

    def test_most_clients_hang_up(self):
        outcomes = {}
        waiting = list(range(CLIENTS))
        lock = threading.Lock()

        def work(daemon):
            while True:
                with lock:
                    if not waiting:
                        return
                    number = waiting.pop()
                self.one_client(daemon, number, random.Random(SEED + number), outcomes)

        with Daemon("--max-waiting", "1000", workers=2, places=4) as daemon:
            threads = [threading.Thread(target=work, args=(daemon,)) for _ in range(AT_ONCE)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            state = daemon.wait_for_status(lambda s: s["active"] == 0 and s["queued"] == 0)
            self.assertEqual(state["requests"], [])
            self.check(daemon, outcomes)
            self.assertEqual(daemon.transcribe(wav(1)).status, 200)
            self.assertIn("superfluidd_steps_after_cancel_total 0\n", self.metrics(daemon))
            # The last request's memory goes a moment after its answer.
            self.assertTrue(any("superfluidd_upload_memory_bytes 0\n" in self.metrics(daemon)
                                for _ in range(200)))
            self.assertEqual(daemon.stop(), 0)

    def metrics(self, daemon):
        return daemon.ask("GET", "/metrics").text()

    def check(self, daemon, outcomes):
        daemon.access.wait_for(
            lambda line: '"event":"http"' in line and '"id":"load-' in line, CLIENTS)
        whole = [json.loads(line) for line in daemon.access.lines]
        ended = collections.Counter(line["id"] for line in whole if line["event"] == "request")
        http = collections.Counter(line["id"] for line in whole if line["event"] == "http")
        self.assertEqual([name for name, count in ended.items() if count != 1], [])
        for name, outcome in outcomes.items():
            self.assertEqual(http[name], 1, f"{name}: {outcome}")
            self.assertIn(outcome, ("left", "answered 200"), f"seed {SEED}")
            self.assertLessEqual(ended[name], 1)
            if outcome != "left":
                self.assertEqual(ended[name], 1)
        cancelled = [line for line in whole
                     if line["event"] == "request" and line["status"] == "CANCELLED"]
        self.assertTrue(cancelled, "the load must cancel something")
        self.assertEqual({line["steps_after_cancel"] for line in cancelled}, {0})
        never_ran = [line for line in cancelled if line["attempts"] == 0]
        self.assertEqual({line["engine_steps"] for line in never_ran} - {0}, set())
        print(f"{len(outcomes)} clients: {collections.Counter(outcomes.values())}; "
              f"{len(cancelled)} cancelled, {len(never_ran)} of them never reached a worker")


if __name__ == "__main__":
    unittest.main(verbosity=2)
