#!/usr/bin/env python3
"""Makes a C++ source of text files.

usage: embed_text.py NAMESPACE HEADER NAME=FILE...

Prints a source that defines `const std::string_view NAME` in NAMESPACE for each file.
"""

import pathlib
import sys


def literal(text):
    """A string literal of `text`, a line of it a line."""
    lines = text.replace("\\", "\\\\").replace('"', '\\"').split("\n")
    return "\n".join(f'    "{line}\\n"' for line in lines)


def main(arguments):
    if len(arguments) < 3:
        sys.exit(__doc__)
    namespace, header, *files = arguments
    print(f'#include "{header}"\n\nnamespace {namespace} {{\n')
    for argument in files:
        name, _, path = argument.partition("=")
        text = pathlib.Path(path).read_text(encoding="utf-8").rstrip("\n")
        print(f"const std::string_view {name} =\n{literal(text)};\n")
    print(f"}}  // namespace {namespace}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
