#!/usr/bin/env python3
"""Counts the instructions of the tick path and holds them against the committed baseline.

usage: bench_instructions.py PROGRAM BASELINE [--write]

PROGRAM is tick_path_main; BASELINE has lines "lanes instructions-a-tick". A count that differs by more than
TOLERANCE_PERCENT fails: one that is higher is a regression, one that is lower is written down with --write
and committed together with what made it so. Counts of one build repeat to some 0.1 %; other versions of the
compiler and of glibc move them by one or two percent.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

TOLERANCE_PERCENT = 4
TICKS = 50


def count(program, lanes):
    """Instructions a tick, by callgrind."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", "--collect-atstart=no",
             "--toggle-collect=superfluid_measured_ticks", program, str(lanes), str(TICKS)],
            check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    found = re.search(r"Collected : (\d+)", done.stdout)
    if done.returncode or not found or found[1] == "0":
        sys.exit(f"{done.stdout}\nbench: callgrind counted nothing")
    return round(int(found[1]) / TICKS)


def read(path):
    lines = (line.split() for line in path.read_text(encoding="utf-8").splitlines()
             if line.strip() and not line.startswith("#"))
    return {int(lanes): int(instructions) for lanes, instructions in lines}


def write(path, counts):
    head = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    path.write_text("\n".join(head + [f"{lanes} {number}" for lanes, number in counts.items()]) + "\n",
                    encoding="utf-8")


def verdict(now, before):
    """A text on the difference, and whether it is within the tolerance."""
    percent = 100 * (now - before) / before
    if percent > TOLERANCE_PERCENT:
        return f"{percent:+.1f} %: a regression", False
    if percent < -TOLERANCE_PERCENT:
        return f"{percent:+.1f} %: better; commit what `tools/check --fix bench` writes down", False
    return f"{percent:+.1f} %", True


def main(arguments):
    if len(arguments) not in (2, 3) or arguments[2:] not in ([], ["--write"]):
        sys.exit(__doc__)
    program, baseline = arguments[0], pathlib.Path(arguments[1])
    before = read(baseline)
    counts = {lanes: count(program, lanes) for lanes in before}
    if arguments[2:]:
        write(baseline, counts)
        return 0
    well = True
    for lanes, now in counts.items():
        text, within = verdict(now, before[lanes])
        print(f"{lanes:4} lanes: {now:9} instructions a tick, {before[lanes]:9} in {baseline.name} ({text})")
        well = well and within
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
