#!/usr/bin/env python3
"""Checks the project's own rules that no compiler knows.

usage: check_rules.py ROOT

Prints one line a finding; exits with 1 if there is any.
"""

import pathlib
import re
import sys

FOLDERS = ("actors", "engine", "protocol", "shm", "tests", "tools")
SOURCES = (".c", ".cc", ".cu", ".h")
MAX_LINES = 400

# (what is wrong, where it is looked for, where it is allowed, what it looks like). Where: a file's path
# from the root, as a pattern.
RULES = [
    ("a default capture by copy; name what is captured", r"\.(cc|h)$", r"^$", r"\[=[\],]"),
    ("an infinite wait", r"\.(cc|h)$", r"^tests/", r"caf::infinite|infinite_timeout"),
    ("a test that is switched off", r"^tests/", r"^$", r"\bDISABLED_\w"),
    ("a test that may skip; only those of real models may", r"^tests/",
     r"^tests/engine/\w+/real_model\w*\.(cc|h)$|^tests/engine/\w+/\w*_real_model_test\.cc$",
     r"\bGTEST_SKIP\b"),
    ("a sleep in a test; wait for an event, or use a virtual clock", r"^tests/.*\.(cc|h)$", r"^$",
     r"sleep_for|SleepFor|\busleep\(|\bnanosleep\(|[^_\w]sleep\("),
    ("something left for later", r"\.(c|cc|h|proto)$", r"^$", r"\b(TODO|FIXME|XXX)\b"),
    ("Protobuf types beyond protocol/", r"\.(cc|h)$", r"^(protocol|tests/protocol|tests/fuzz)/|^tools/bench/\w+_peer\.cc$",
     r"\.pb\.h"),
    ("CAF beyond actors/ and the programs that compose", r"\.(cc|h)$",
     r"^(actors|tests/(actors|simulation)|tools/(worker|superfluidd/fleet))/", r"#include\s+[<\"]caf/"),
    ("the date, which may be set; time passes by MonotonicTime()", r"^(actors|engine|shm)/.*\.(cc|h)$",
     r"^$", r"absl::Now\(|system_clock|CLOCK_REALTIME"),
    ("a delayed message to an actor that may end before it comes; set an alarm", r"^actors/",
     r"^actors/\w+/(alarm_clock|caf_compat|engine_actor|supervisor)", r"\bSendAfter\("),
    ("a web address", r".", r"^LICENSE$", r"\bhttps?://"),
    ("a path of one machine", r".", r"^$", r"(?<![\w.])/(work/|root/|home/[a-z])"),
]

# The rooms of a floor, top first: a file includes files of its own room and of those below.
ROOMS = {
    "actors": ("supervision", "dispatch", "transcription", "state_ops", "link", "engine", "messages",
               "runtime"),
    "protocol": ("driver", "client", "codec", "frames", "messages", "transport"),
    "tools/ctl": ("commands", "generation", "speech", "state", "terminal", "base", "formats"),
}
# The folders that one floor may include; tests and programs may include everything.
FLOORS = {
    "actors": ("actors", "protocol", "engine", "shm"),
    "protocol": ("protocol", "shm"),
    "engine": ("engine", "shm"),
    "shm": ("shm",),
}


def read(path):
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""  # data


def our_files(root):
    """Every text file, but for this list of rules."""
    found = [path for path in root.iterdir() if path.is_file() and not path.is_symlink()]
    for folder in FOLDERS + (".ci",):
        found += [path for path in (root / folder).rglob("*") if path.is_file()]
    return sorted(path for path in found
                  if path.name not in (".git", "check_rules.py", ".bazelrc.user", "compile_commands.json")
                  and "__pycache__" not in path.parts)


def findings(root, path):
    name, text = path.relative_to(root).as_posix(), read(path)
    lines = text.splitlines()
    if path.suffix in SOURCES and len(lines) > MAX_LINES:
        yield f"{name}: {len(lines)} lines; at most {MAX_LINES}"
    for what, where, allowed, pattern in RULES:
        if not re.search(where, name) or re.search(allowed, name):
            continue
        for number, line in enumerate(lines, 1):
            if re.search(pattern, line):
                yield f"{name}:{number}: {what}: {line.strip()[:80]}"


def room_of(name):
    """The floor and the room of a path, or None: `actors/link/send_queue.h` is ("actors", "link")."""
    for floor, rooms in ROOMS.items():
        below = name.removeprefix(floor + "/")
        if below != name and below.split("/")[0] in rooms:
            return floor, below.split("/")[0]
    return None


def layer_findings(root, path):
    """Includes that look up: from a floor into one it must not know, from a room into one above."""
    name = path.relative_to(root).as_posix()
    floor, here = name.split("/")[0], room_of(name)
    for number, line in enumerate(read(path).splitlines(), 1):
        included = re.match(r'#include "([\w/.]+)"', line)
        if not included:
            continue
        target, there = included[1], room_of(included[1])
        folder = target.split("/")[0]
        if folder in FOLDERS and folder not in FLOORS.get(floor, FOLDERS):
            yield f"{name}:{number}: {floor}/ must not know {folder}/: {target}"
        if here and there and here[0] == there[0]:
            order = ROOMS[here[0]]
            if order.index(there[1]) < order.index(here[1]):
                yield f"{name}:{number}: the room {here[1]} stands below {there[1]}: {target}"


def main(arguments):
    if len(arguments) != 1:
        sys.exit(__doc__)
    root = pathlib.Path(arguments[0]).resolve()
    files = our_files(root)
    found = [finding for path in files for finding in findings(root, path)]
    found += [finding for path in files if path.suffix in SOURCES for finding in layer_findings(root, path)]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
