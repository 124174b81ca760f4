#!/usr/bin/env python3
"""The worker and superfluidd as services: what they tell systemd, the sockets they are handed, how they end."""

import http.client
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import unittest

TOOLS = pathlib.Path("tools").absolute()
WORKER, CTL = TOOLS / "worker/superfluid_worker", TOOLS / "ctl/superfluidctl"
DAEMON = TOOLS / "superfluidd/superfluidd"
PATIENCE = 60  # seconds, for what should take a few
DRAIN_CUT = 75


class Manager:
    """Starts a service and hears what it says, as systemd does."""

    def __init__(self, command, watchdog_s=0, listener=None):
        self.folder = tempfile.TemporaryDirectory(prefix="sfs-")
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify.bind(self.folder.name + "/notify")
        self.notify.settimeout(PATIENCE)
        self.heard = []
        environment = dict(os.environ, NOTIFY_SOCKET=self.folder.name + "/notify")
        if watchdog_s:
            environment["WATCHDOG_USEC"] = str(int(watchdog_s * 1e6))
        shell, inherited = "exec \"$@\"", ()
        if listener is not None:
            shell = f"LISTEN_FDS=1 LISTEN_PID=$$ exec \"$@\" 3<&{listener.fileno()}"
            inherited = (listener.fileno(),)
        self.log = open(self.folder.name + "/log", "w+b")
        self.process = subprocess.Popen(["sh", "-c", shell, "sh"] + [str(word) for word in command],
                                        env=environment, stderr=self.log, stdout=subprocess.DEVNULL,
                                        pass_fds=inherited)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.notify.close()
        self.folder.cleanup()

    def hear(self, wanted):
        """Waits for a message with this line; returns it."""
        while True:
            message = self.notify.recv(4096).decode()
            self.heard.append(message)
            if any(line.startswith(wanted) for line in message.split("\n")):
                return message

    def end(self, number=None):
        if number is not None:
            self.process.send_signal(number)
        return self.process.wait(PATIENCE)

    def text(self):
        self.log.seek(0)
        return self.log.read().decode()


def worker(*arguments):
    return [WORKER, "--engine", "sim", *arguments]


def ctl(path, *arguments):
    return subprocess.run([CTL, "--connect", path, "--wait", "--timeout", "60", *arguments],
                          capture_output=True, text=True, check=False)


def endless(path, segments=1):
    """A live transcription whose audio never ends; returns when it has given so many segments."""
    client = subprocess.Popen([CTL, "--connect", path, "transcribe", "--live", "--rate", "16000", "-"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    client.stdin.write(b"\1\2" * 32000)
    client.stdin.flush()
    for _ in range(segments):
        client.stdout.readline()
    return client


def leave(client):
    with client:
        client.kill()


class Worker(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="sfw-")
        self.path = self.folder.name + "/w.sock"

    def tearDown(self):
        self.folder.cleanup()

    def test_says_that_it_is_ready_and_that_it_stops(self):
        with Manager(worker("--listen", self.path)) as manager:
            self.assertIn("STATUS=serving ", manager.hear("READY=1"))
            self.assertEqual(ctl(self.path, "ping").returncode, 0)
            manager.process.send_signal(signal.SIGTERM)
            manager.hear("STOPPING=1")
            self.assertEqual(manager.end(), 0)

    def test_shows_the_watchdog_that_it_gets_on(self):
        with Manager(worker("--listen", self.path), watchdog_s=0.4) as manager:
            for _ in range(3):
                manager.hear("WATCHDOG=1")

    def test_says_nothing_to_the_watchdog_while_its_engine_is_stuck(self):
        options = ["--engine-option", "stuck_at_step=1", "--engine-option", "stuck_ms=600000",
                   "--engine-stall-ms", "200"]
        with Manager(worker("--listen", self.path, *options), watchdog_s=0.4) as manager:
            manager.hear("READY=1")
            client = endless(self.path, segments=0)
            with self.assertRaises(TimeoutError):
                manager.notify.settimeout(3)  # seven times what comes otherwise
                for _ in range(50):
                    manager.hear("WATCHDOG=1")
            leave(client)

    def test_serves_a_socket_that_it_is_handed_and_leaves_its_file(self):
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self.path)
            listener.listen()
            with Manager(worker(), listener=listener) as manager:
                manager.hear("READY=1")
                self.assertEqual(ctl(self.path, "ping").returncode, 0)
                self.assertIn(f'listen="{self.path}"', manager.text())
                self.assertEqual(manager.end(signal.SIGTERM), 0)
            self.assertTrue(os.path.exists(self.path))

    def test_refuses_a_socket_that_does_not_listen(self):
        with socket.socket(socket.AF_UNIX) as silent:
            silent.bind(self.path)
            with Manager(worker(), listener=silent) as manager:
                self.assertEqual(manager.end(), 1)
                self.assertIn("no Unix stream socket that listens", manager.text())

    def test_a_drain_that_is_cut_short_has_an_exit_code_of_its_own(self):
        with Manager(worker("--listen", self.path, "--drain-ms", "100")) as manager:
            manager.hear("READY=1")
            client = endless(self.path)
            self.assertEqual(manager.end(signal.SIGTERM), DRAIN_CUT)
            self.assertIn("0 finished, 1 cancelled", manager.text())
            leave(client)

    def test_what_sigint_cancels_was_to_be_cancelled(self):
        with Manager(worker("--listen", self.path)) as manager:
            manager.hear("READY=1")
            client = endless(self.path)
            self.assertEqual(manager.end(signal.SIGINT), 0)
            leave(client)

    def test_the_socket_has_the_mode_that_was_asked_for(self):
        with Manager(worker("--listen", self.path, "--socket-mode", "0620")) as manager:
            manager.hear("READY=1")
            self.assertEqual(os.stat(self.path).st_mode & 0o777, 0o620)
            self.assertEqual(ctl(self.path, "ping").returncode, 0)


class Superfluidd(unittest.TestCase):
    def daemon(self, *arguments, **options):
        return Manager([DAEMON, "--worker", WORKER, *arguments], **options)

    def one_worker(self, **options):
        return self.daemon("--engine", "sim", "--devices", "cpu:1", "--listen", "127.0.0.1:0", **options)

    def test_says_what_it_does(self):
        with self.one_worker(watchdog_s=0.4) as manager:
            manager.hear("READY=1")
            manager.hear("WATCHDOG=1")
            manager.hear("STATUS=1 of 1 workers ready")
            manager.process.send_signal(signal.SIGTERM)
            manager.hear("STOPPING=1")
            self.assertEqual(manager.end(), 0)

    def test_says_when_it_reads_its_configuration_again(self):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write('[server]\nlisten = ["127.0.0.1:0"]\n[[model]]\nengine = "sim"\ndevices = "cpu:1"\n')
            file.flush()
            with self.daemon("--config", file.name) as manager:
                manager.hear("READY=1")
                manager.process.send_signal(signal.SIGHUP)
                manager.hear("RELOADING=1")
                manager.hear("READY=1")
                self.assertEqual(manager.end(signal.SIGTERM), 0)

    def test_the_dashboard_asks_for_figures_that_there_are(self):
        with self.one_worker() as manager:
            manager.hear("STATUS=1 of 1 workers ready")
            port = re.search(r"address=127\.0\.0\.1:(\d+)", manager.text())[1]
            connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=PATIENCE)
            connection.request("GET", "/metrics")
            text = connection.getresponse().read().decode()
            connection.close()
        families = set(re.findall(r"^# TYPE (\w+) ", text, re.MULTILINE))
        dashboard = (TOOLS / "superfluidd/grafana_dashboard.json").read_text(encoding="utf-8")
        asked = {re.sub("_(total|bucket|sum|count)$", "", name) for name in re.findall(r"\bsuperfluidd_\w+", dashboard)}
        self.assertGreater(len(asked), 15)
        self.assertEqual(asked - families, set())

    def test_its_workers_do_not_speak_in_its_name(self):
        with self.one_worker() as manager:
            manager.hear("STATUS=1 of 1 workers ready")
            self.assertEqual([said for said in manager.heard if "READY=1" in said],
                             ["READY=1\nSTATUS=listening"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
