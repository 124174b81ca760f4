#!/usr/bin/python3
"""Real processes that die, stop, break rules and run out of things: chaos_test.py [--scale=N].

Each scenario ends with a new driver that is served, with nothing open, and, of daemons that die,
with no descriptor and no mapping left. N times as long: bazel test --config=stress
//tests/stress/chaos/... --test_arg=--scale=N
"""

import argparse
import collections
import pathlib
import sys
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).absolute().parent))
import paths  # noqa: E402,F401  pylint: disable=unused-import
import kills  # noqa: E402
import peers  # noqa: E402


class Tally:
    """Counts scenarios, and goes on after one that failed."""

    def __init__(self, only):
        self.worker = None
        self.before = None
        self._only = only
        self._done = collections.Counter()
        self._notes = []
        self.failures = []

    def count(self, group, name, scenario, *arguments):
        if self._only not in f"{group} {name}":
            return
        begin = time.monotonic()
        try:
            scenario(*arguments)
            self._done[group] += 1
        except Exception as error:  # pylint: disable=broad-except
            self.failures.append(f"{group} {name}: {error}")
            traceback.print_exc()
        print(f"{time.monotonic() - begin:7.2f} s  {group} {name}", flush=True)

    def note(self, text):
        self._notes.append(text)

    def print_summary(self, seconds):
        for note in self._notes:
            print(note)
        for failure in self.failures:
            print(f"FAILED {failure}")
        done = ", ".join(f"{group} {count}" for group, count in self._done.items())
        print(f"chaos: {done}; {len(self.failures)} failed; {seconds:.0f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=int, default=1, help="how many times as long")
    parser.add_argument("--only", default="", help="scenarios whose name has this in it")
    options = parser.parse_args()
    tally = Tally(options.only)
    begin = time.monotonic()
    kills.run(tally, options.scale)
    peers.run(tally, options.scale)
    tally.print_summary(time.monotonic() - begin)
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
