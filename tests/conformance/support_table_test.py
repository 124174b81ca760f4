#!/usr/bin/env python3
"""tools/support_table writes what reports say, and finds a table that is out of date."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).absolute().parent.parent.parent


def report(calls, cases):
    """A report whose cases are (verdict, ids, calls)."""
    verdicts = {"pass": "", "fail": '<failure message="m"/>', "skip": '<skipped message="m"/>'}
    text = "".join(
        f'<testcase name="x"><properties><property name="ids" value="{ids}"/>'
        f'<property name="calls" value="{needs}"/></properties>{verdicts[verdict]}</testcase>'
        for verdict, ids, needs in cases)
    return ('<testsuites><testsuite name="x"><properties>'
            f'<property name="engine.calls" value="{calls}"/></properties>{text}'
            '</testsuite></testsuites>')


class SupportTableTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def put(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def run_table(self, *arguments, root=ROOT):
        return subprocess.run(
            [sys.executable, "-B", ROOT / "tools/support_table", "--root", root, "--out",
             self.folder / "table.md", *arguments], capture_output=True, text=True, check=False)

    def table(self):
        return (self.folder / "table.md").read_text(encoding="utf-8")

    def test_rows_say_who_serves_what(self):
        one = self.put("1.xml", report("tick fork", [
            ("pass", "SEQ-3 DRAW-2", "tick fork"), ("pass", "PING-1", ""), ("fail", "EMIT-1", "tick"),
            ("pass", "EMIT-2", "tick")]))
        two = self.put("2.xml", report("embed", [
            ("pass", "MODEL-1", "embed"), ("skip", "SEQ-3", "fork"), ("pass", "PING-1", "")]))
        done = self.run_table(f"one={one}", f"two={two}")
        self.assertEqual(done.returncode, 0, done.stderr)
        for line in ("| one | 3 passed, 1 failed, 0 skipped |", "| name | type | one | two |",
                     "| fork | yes, 1 | - |", "| embed | - | yes, 1 |",
                     "| Ping | 0x0080 -> | yes, 1 | yes, 1 |",
                     "| Telemetry | 0x8090 <-> | yes, 0 | yes, 0 |",
                     "| TickEmit | 0x8022 <- | **1 of 2 fail** | - |"):
            self.assertIn(line + "\n", self.table())

    def test_a_table_out_of_date_is_found(self):
        path = self.put("1.xml", report("tick", [("pass", "PING-1", "")]))
        self.assertEqual(self.run_table("--check", f"one={path}").returncode, 1)
        self.assertEqual(self.run_table(f"one={path}").returncode, 0)
        self.assertEqual(self.run_table("--check", f"one={path}").returncode, 0)
        self.put("1.xml", report("tick", [("fail", "PING-1", "")]))
        stale = self.run_table("--check", f"one={path}")
        self.assertEqual(stale.returncode, 1)
        self.assertIn("out of date", stale.stderr)

    def test_reports_that_will_not_do(self):
        other = self.put("other.xml", '<testsuites><testsuite name="x"/></testsuites>')
        broken = self.put("broken.xml", "<testsuites>")
        for argument in ("one=nothing.xml", f"one={other}", f"one={broken}", str(other)):
            done = self.run_table(argument)
            self.assertEqual(done.returncode, 2, argument)
            self.assertTrue(done.stderr.startswith("support_table: "), done.stderr)

    def test_a_message_without_a_row_is_found(self):
        proto = (ROOT / "protocol/linkw.proto").read_text(encoding="utf-8")
        self.put("new/protocol/linkw.proto", proto.replace("message Ping {", "message Pang {"))
        path = self.put("1.xml", report("tick", [("pass", "PING-1", "")]))
        done = self.run_table(f"one={path}", root=self.folder / "new")
        self.assertEqual(done.returncode, 2)
        self.assertIn("Pang", done.stderr)


if __name__ == "__main__":
    unittest.main()
