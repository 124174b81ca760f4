#!/usr/bin/env python3
"""Copies headers and all of ours that they include.

usage: header_closure.py FOLDER --root=HEADER... FILE...   (or @FILE with these, a line each)

FILEs are the headers that are known; what they are called by others is their path from the repository's
root. A header of ours that is included and not known is an error.
"""

import pathlib
import re
import shutil
import sys

OURS = ("actors/", "engine/", "protocol/", "shm/", "tools/")
INCLUDE = re.compile(r'^#include "([\w/.]+)"', re.MULTILINE)


def name_of(path):
    """The path from the root: generated headers lie below bazel-out/CONFIGURATION/bin."""
    return re.sub(r"^bazel-out/[^/]+/bin/", "", path)


def closure(roots, known):
    """The roots and what they include, by name."""
    found, left = {}, list(roots)
    while left:
        name = left.pop()
        if name in found:
            continue
        if name not in known:
            sys.exit(f"header_closure: {name} is included, but is in no library of the bundle")
        found[name] = known[name]
        for included in INCLUDE.findall(pathlib.Path(known[name]).read_text(encoding="utf-8")):
            beside = str(pathlib.PurePosixPath(name).parent / included)
            if beside in known or included.startswith(OURS):
                left.append(beside if beside in known else included)
    return found


def main(arguments):
    if arguments and arguments[0].startswith("@"):
        arguments = pathlib.Path(arguments[0][1:]).read_text(encoding="utf-8").splitlines()
    folder, *rest = arguments
    roots = [word[len("--root="):] for word in rest if word.startswith("--root=")]
    known = {name_of(word): word for word in rest if not word.startswith("--root=")}
    for name, path in sorted(closure(roots, known).items()):
        target = pathlib.Path(folder, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


if __name__ == "__main__":
    main(sys.argv[1:])
