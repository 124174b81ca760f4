#!/usr/bin/env python3
"""Counts the test cases of a Bazel run.

usage: test_summary.py BUILD_EVENTS BAZEL_STATUS

BUILD_EVENTS is what `bazel test --build_event_json_file` wrote, BAZEL_STATUS its exit status. Prints
what failed, then alone on the last line `N passed, N failed`. Exits with 0 if nothing failed and
something passed, else 1.

A case is a test case of a target's test.xml. On top of these, one failure is counted for each target
that did not build, for each test that failed without a failed case (a crash, a time-out, a leak found
at exit), and for a run that failed in no such way (a broken BUILD file, an interruption).
"""

import collections
import json
import os
import sys
import urllib.parse
import xml.etree.ElementTree as ElementTree

GOOD = ("PASSED", "FLAKY")


class Run:
    """What the build events say."""

    def __init__(self):
        self.not_built = set()
        self.statuses = {}  # label of a test -> its overall status
        self.reports = collections.defaultdict(dict)  # label -> (run, shard) -> path of its test.xml


def read_events(lines):
    run = Run()
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue  # the last line of an interrupted run
        kind = event.get("id", {})
        if "targetCompleted" in kind:
            if not event.get("completed", {}).get("success", False):
                run.not_built.add(kind["targetCompleted"]["label"])
        elif "testSummary" in kind:
            run.statuses[kind["testSummary"]["label"]] = event.get("testSummary", {}).get(
                "overallStatus", "NO_STATUS")
        elif "testResult" in kind:
            add_report(run, kind["testResult"], event.get("testResult", {}))
    run.not_built -= {label for label, status in run.statuses.items() if status in GOOD}
    return run


def add_report(run, key, result):
    """Later attempts come later and replace earlier ones."""
    for output in result.get("testActionOutput", []):
        if output.get("name") == "test.xml" and output.get("uri", "").startswith("file://"):
            path = urllib.parse.unquote(urllib.parse.urlparse(output["uri"]).path)
            run.reports[key["label"]][(key.get("run", 1), key.get("shard", 1))] = path


Cases = collections.namedtuple("Cases", "passed failed skipped")


def count_cases(path):
    """The cases of one test.xml: how many passed, the names of those that failed, how many did not run."""
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError):
        return Cases(0, [], 0)
    passed, failed, skipped = 0, [], 0
    for case in root.iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed.append(".".join(filter(None, (case.get("classname"), case.get("name")))))
        elif (case.get("status") == "notrun" or case.get("result") in ("skipped", "suppressed")
              or case.find("skipped") is not None):
            skipped += 1
        else:
            passed += 1
    return Cases(passed, failed, skipped)


def summarize(run, bazel_status):
    """Returns the lines to print and whether all is well."""
    lines, passed, failed, skipped = [], 0, 0, 0
    for label, status in sorted(run.statuses.items()):
        reports = [count_cases(path) for path in run.reports[label].values()]
        failures = [name for report in reports for name in report.failed]
        passed += sum(report.passed for report in reports)
        skipped += sum(report.skipped for report in reports)
        if status not in GOOD:
            failures = failures or [status.lower().replace("_", " ")]
        failed += len(failures)
        lines += [f"FAILED {label}: {name}" for name in failures]
    for label in sorted(run.not_built - set(run.statuses)):
        failed += 1
        lines.append(f"FAILED {label}: did not build")
    if bazel_status != 0 and failed == 0:
        failed += 1
        lines.append(f"FAILED bazel: exit status {bazel_status}")
    if passed == 0 and failed == 0:
        failed += 1
        lines.append("FAILED: no test was run")
    lines.append(f"{len(run.statuses)} test targets" + (f", {skipped} cases skipped" if skipped else ""))
    lines.append(f"{passed} passed, {failed} failed")
    return lines, failed == 0


def main(arguments):
    if len(arguments) != 2:
        sys.exit(__doc__)
    run = Run()
    if os.path.exists(arguments[0]):
        with open(arguments[0], encoding="utf-8", errors="replace") as events:
            run = read_events(events)
    lines, good = summarize(run, int(arguments[1]))
    print("\n".join(lines))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
