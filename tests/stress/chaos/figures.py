"""What a process holds, as /proc says."""

import pathlib
import time
from typing import NamedTuple

PATIENCE = 20.0  # seconds for what a link held to go
PAUSE = 0.02


class Figures(NamedTuple):
    descriptors: int
    shared_maps: int
    threads: int
    resident_kib: int

    def __str__(self):
        return (f"{self.descriptors} descriptors, {self.shared_maps} shared mappings, "
                f"{self.threads} threads, {self.resident_kib >> 10} MiB")


def of_process(pid):
    process = pathlib.Path("/proc", str(pid))
    status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
    maps = (process / "maps").read_text().splitlines()
    return Figures(len(list((process / "fd").iterdir())),
                   sum("memfd:" in line for line in maps), int(status["Threads"]),
                   int(status["VmRSS"].split()[0]))


def wait_for(condition, patience=PATIENCE):
    """Returns whether the condition held in time."""
    end = time.monotonic() + patience
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(PAUSE)
    return True


def settle(pid, before):
    """Waits until no more is held than `before`, memory apart; returns what is held then."""
    def flat():
        now = of_process(pid)
        return now.descriptors <= before.descriptors and now.shared_maps <= before.shared_maps

    wait_for(flat)
    return of_process(pid)
