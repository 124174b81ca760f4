#!/usr/bin/env python3
"""Checks that the documents are true of the tree.

usage: check_docs.py ROOT

For each *.md: links to files and headings resolve, and paths in backticks that begin with one of our
folders exist (a pattern must match something, a path may name a target or a line). A test named
as `SuiteTest.Case` exists below tests/. Prints one line a finding; exits with 1 if there is any.
"""

import pathlib
import re
import sys

FOLDERS = ("actors", "engine", "protocol", "shm", "tests", "tools")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE_PATH = re.compile(r"`((?:\./)?(?:%s)/[\w./*+-]*)[^`]*`" % "|".join(FOLDERS))
CODE_TEST = re.compile(r"`([A-Z]\w*Test\.[A-Z]\w*)`")
TEST_CASE = re.compile(r"^\s*(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.MULTILINE)
HEADING = re.compile(r"^#+\s+(.*?)\s*$", re.MULTILINE)


def documents(root):
    found = sorted(root.glob("*.md"))
    for folder in FOLDERS:
        found += sorted((root / folder).rglob("*.md"))
    return found


def blank(match):
    """Keeps line numbers right."""
    return "\n" * match.group(0).count("\n")


def anchors(path):
    text = FENCE.sub(blank, path.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            for title in HEADING.findall(text)}


def link_problem(root, document, target):
    if re.match(r"[a-z][a-z0-9+.-]*:", target):
        return f"a link that leaves the project: {target}"
    name, _, anchor = target.partition("#")
    path = (document.parent / name).resolve() if name else document
    if root not in path.parents and path != root:
        return f"a link out of the tree: {target}"
    if not path.exists():
        return f"a link to nothing: {target}"
    if anchor and path.suffix == ".md" and anchor not in anchors(path):
        return f"no such heading: {target}"
    return None


def path_problem(root, path):
    path = path.rstrip(".").removeprefix("./").rstrip("/")
    if any(character in path for character in "*") and any(root.glob(path)):
        return None
    if (root / path).exists() or any(root.glob(path + ".*")):
        return None
    return f"a path to nothing: {path}"


def test_cases(root):
    """The names of all GoogleTest cases, as `Suite.Case`."""
    return {".".join(case)
            for path in (root / "tests").rglob("*.cc")
            for case in TEST_CASE.findall(path.read_text(encoding="utf-8"))}


def findings(root, document, cases):
    text = FENCE.sub(blank, document.read_text(encoding="utf-8"))
    for number, line in enumerate(text.splitlines(), 1):
        problems = [link_problem(root, document, target) for target in LINK.findall(line)]
        problems += [path_problem(root, path) for path in CODE_PATH.findall(line)]
        problems += [f"a test that does not exist: {name}"
                     for name in CODE_TEST.findall(line) if name not in cases]
        for problem in filter(None, problems):
            yield f"{document.relative_to(root)}:{number}: {problem}"


def main(arguments):
    if len(arguments) != 1:
        sys.exit(__doc__)
    root = pathlib.Path(arguments[0]).resolve()
    cases = test_cases(root)
    found = [finding
             for document in documents(root)
             for finding in findings(root, document, cases)]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
