"""kill -9 and SIGSTOP of the daemon and of the worker, at each state of the protocol."""

import pathlib
import signal
import subprocess
import sys
import time

import figures
import states
from worker import Worker, wav

import superfluid
from superfluid import Lane
from superfluid.errors import LinkClosedError

HERE = pathlib.Path(__file__).absolute().parent
ENGINE = ("op_us=300000", "op_chunk_bytes=4096", "token_us=2000", "tick_us=5000")
STOPPED_SECONDS = 0.3
STALL_MS = 1000
PROMPT_SECONDS = 2.0  # for a PING that must be answered at once


class Failure(Exception):
    """The worker did not keep a promise."""


def require(holds, what):
    if not holds:
        raise Failure(what)


def make_worker(*arguments):
    options = [word for option in ENGINE for word in ("--engine-option", option)]
    worker = Worker("--media-root", "/", "--engine-stall-ms", str(STALL_MS), "--log-level", "debug",
                    *options, *arguments)
    (worker.folder / "long.wav").write_bytes(wav(120))
    return worker


class Daemon:
    """A daemon in a process of its own, in the state that was asked for."""

    def __init__(self, state, worker):
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "states.py"), state, worker.socket],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        there = self.process.stdout.readline()
        require(there == b"there\n", f"a daemon did not get into {state}")

    def end(self, sign=signal.SIGKILL):
        self.process.send_signal(sign)
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def check_serves(worker, observer):
    """A new driver is let in, is served, and finds nothing open."""
    require(figures.wait_for(lambda: open_work(observer) == (0, 0)), "work of the daemon is open")
    with driver(worker) as client:
        result = client.tick([Lane(tokens=[1, 2, 3], max_tokens=2)])
        require(len(result.lanes[0].tokens) == 2, "a tick did not draw")
        transcript = client.transcribe(superfluid.Recording(wav(1)))
        require(transcript.text != "", "a transcription has no text")


def open_work(observer):
    pong = observer.ping().pong
    return pong.open_ops, pong.open_transcriptions


def driver(worker):
    """Connects; the place may still be being cleaned up."""
    made = []

    def try_it():
        try:
            made.append(states.connect(worker.socket))
            return True
        except superfluid.BusyError:
            return False

    require(figures.wait_for(try_it), "the driver's place was not given free")
    return made[0]


def ping_in_time(observer):
    begin = time.monotonic()
    observer.ping()
    require(time.monotonic() - begin < PROMPT_SECONDS, "a PING waited")


def daemon_dies(tally, state, how):
    """`how`: killed at once, or stopped first, while the worker goes on."""
    worker = tally.worker
    with states.connect(worker.socket, role="observer") as observer:
        daemon = Daemon(state, worker)
        if how == "stopped":
            daemon.process.send_signal(signal.SIGSTOP)
            end = time.monotonic() + STOPPED_SECONDS
            while time.monotonic() < end:
                ping_in_time(observer)
                time.sleep(figures.PAUSE)
        daemon.end()
        check_serves(worker, observer)
    now = figures.settle(worker.process.pid, tally.before)
    require(now.descriptors <= tally.before.descriptors and
            now.shared_maps <= tally.before.shared_maps,
            f"{now} are left; there were {tally.before}")


def worker_is_killed(tally, state):
    """The daemon learns of it at once; a worker that starts on the same path is served as before."""
    with make_worker() as worker:
        held = states.STATES[state](worker.socket)
        worker.process.kill()
        worker.process.wait()
        client = client_of(held)
        if client is not None:
            require(figures.wait_for(lambda: client.closed, PROMPT_SECONDS * 2),
                    "the daemon did not learn that the worker is gone")
            try:
                client.ping()
                raise Failure("a worker that is gone answered")
            except LinkClosedError:
                pass
            client.close()
        command = worker.process.args
        with open(worker.log_path, "ab") as log:
            worker.process = subprocess.Popen(command, stderr=log, stdin=subprocess.DEVNULL)
        with states.connect(worker.socket, role="observer") as observer:
            check_serves(worker, observer)


def worker_is_stopped(tally, state):
    """A pause longer than a stall: nothing is lost, and it is not taken for a stall."""
    with make_worker() as worker:
        held = states.STATES[state](worker.socket)
        worker.process.send_signal(signal.SIGSTOP)
        time.sleep(STALL_MS / 1000 * 1.5)
        worker.process.send_signal(signal.SIGCONT)
        with states.connect(worker.socket, role="observer") as observer:
            ping_in_time(observer)
            client = client_of(held)
            if client is not None and state != "mid_header" and state != "mid_frame":
                client.ping()
            if client is not None:
                client.close()
            else:
                held.close()
            check_serves(worker, observer)
        require("engine.stalled" not in worker.log(), "a pause was taken for a stall")


def client_of(held):
    if isinstance(held, tuple):
        held = held[0]
    return held if hasattr(held, "ping") else None


def run(tally, scale):
    for _ in range(scale):
        with make_worker() as worker:
            tally.worker = worker
            with states.connect(worker.socket, role="observer") as observer:
                check_serves(worker, observer)
            tally.before = figures.of_process(worker.process.pid)
            for state in states.STATES:
                for how in ("killed", "stopped"):
                    tally.count(f"daemon {how}", f"in {state}", daemon_dies, tally, state, how)
        for state in states.STATES:
            tally.count("worker killed", f"in {state}", worker_is_killed, tally, state)
            tally.count("worker stopped", f"in {state}", worker_is_stopped, tally, state)
