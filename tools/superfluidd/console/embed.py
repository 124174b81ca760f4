#!/usr/bin/env python3
"""Writes files into a C++ source, so that a program carries them.

usage: embed.py OUTPUT FILE...

The source defines ConsoleFiles() of console_files.h. A file's path in the console is its name.
"""

import hashlib
import pathlib
import sys

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".png": "image/png",
}

HEAD = """// Made by embed.py.
#include "tools/superfluidd/console/console_files.h"

namespace superfluid::daemon {
namespace {
"""

TAIL = """
}  // namespace

absl::Span<const ConsoleFile> ConsoleFiles() { return kFiles; }

}  // namespace superfluid::daemon
"""


def array(number, content):
    # Numbers, not a literal: a compiler need not take literals of this length.
    rows = []
    for at in range(0, len(content), 32):
        rows.append(",".join(str(byte) for byte in content[at:at + 32]))
    return f"\nconstexpr unsigned char kBytes{number}[] = {{\n" + ",\n".join(rows) + "};\n"


def entry(number, path, content):
    # A name for the contents: caches keep a file for as long as its name is the same.
    tag = hashlib.sha256(content).hexdigest()[:16]
    return (f'    {{"{path.name}", "{TYPES[path.suffix]}", "\\"{tag}\\"",\n'
            f"     {{reinterpret_cast<const char*>(kBytes{number}), sizeof(kBytes{number})}}}},\n")


def main(arguments):
    if len(arguments) < 2:
        sys.exit(__doc__)
    paths = sorted(map(pathlib.Path, arguments[1:]), key=lambda path: path.name)
    contents = [path.read_bytes() for path in paths]
    source = HEAD
    source += "".join(array(number, content) for number, content in enumerate(contents))
    source += "\nconst ConsoleFile kFiles[] = {\n"
    source += "".join(entry(number, path, content)
                      for number, (path, content) in enumerate(zip(paths, contents)))
    source += "};\n" + TAIL
    pathlib.Path(arguments[0]).write_text(source, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
