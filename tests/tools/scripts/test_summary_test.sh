#!/usr/bin/env bash
# tools/lib/test_summary.py counts what Bazel's build events and GoogleTest's reports say.

# shellcheck disable=SC2016,SC2317 # cases are called by their names; texts with backticks
# shellcheck source-path=SCRIPTDIR source=testing.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/testing.sh"

# built LABEL TRUE_OR_FALSE; finished LABEL STATUS; report LABEL FILE [SHARD]: one build event each.
built() { printf '{"id":{"targetCompleted":{"label":"%s"}},"completed":{"success":%s}}\n' "$1" "$2"; }
finished() {
  printf '{"id":{"testSummary":{"label":"%s"}},"testSummary":{"overallStatus":"%s"}}\n' "$1" "$2"
}
report() {
  printf '{"id":{"testResult":{"label":"%s","run":1,"shard":%d,"attempt":1}},' "$1" "${3:-1}"
  printf '"testResult":{"testActionOutput":[{"name":"test.log","uri":"file:///x"},'
  printf '{"name":"test.xml","uri":"file://%s"}]}}\n' "$PWD/$2"
}

suite() { printf '<?xml version="1.0"?><testsuites><testsuite name="S">%s</testsuite></testsuites>' "$1"; }
good() { printf '<testcase name="%s" classname="S" status="run" result="completed"/>' "$1"; }
bad() { printf '<testcase name="%s" classname="S" status="run"><failure message="m"/></testcase>' "$1"; }
skipped() { printf '<testcase name="%s" classname="S" status="run" result="skipped"/>' "$1"; }
disabled() { printf '<testcase name="%s" classname="S" status="notrun" result="suppressed"/>' "$1"; }

# expect_summary STATUS LAST_LINE [BAZEL_STATUS]: of the events on stdin.
expect_summary() {
  cat >events
  expect_status "$1" python3 -B "$LIB/test_summary.py" events "${3:-0}"
  expect_equal "${output##*$'\n'}" "$2" "the last line"
}

test_counts_cases_of_several_targets() {
  suite "$(good A)$(good B)" >a.xml
  suite "$(good C)" >b.xml
  { report //a a.xml; finished //a PASSED; report //b b.xml; finished //b PASSED; } |
    expect_summary 0 "3 passed, 0 failed"
}

test_counts_failed_cases_and_names_them() {
  suite "$(good A)$(bad B)" >a.xml
  { report //a a.xml; finished //a FAILED; } | expect_summary 1 "1 passed, 1 failed" 3
  output="$(python3 -B "$LIB/test_summary.py" events 3 || true)"
  expect_contains "$output" "FAILED //a: S.B"
}

test_neither_skipped_nor_disabled_cases_count() {
  suite "$(good A)$(skipped B)$(disabled C)" >a.xml
  { report //a a.xml; finished //a PASSED; } | expect_summary 0 "1 passed, 0 failed"
}

test_a_crash_without_a_report_is_one_failure() {
  finished //a FAILED | expect_summary 1 "0 passed, 1 failed" 3
}

test_a_truncated_report_is_no_success() {
  printf '<testsuites><testsuite><testcase name="A"' >a.xml
  { report //a a.xml; finished //a FAILED; } | expect_summary 1 "0 passed, 1 failed" 3
}

test_a_leak_at_exit_is_a_failure_besides_the_good_cases() {
  suite "$(good A)" >a.xml
  { report //a a.xml; finished //a FAILED; } | expect_summary 1 "1 passed, 1 failed" 3
}

test_a_timeout_is_a_failure() {
  finished //a TIMEOUT | expect_summary 1 "0 passed, 1 failed" 3
}

test_a_target_that_did_not_build_is_a_failure() {
  suite "$(good A)" >a.xml
  { built //lib false; built //a true; report //a a.xml; finished //a PASSED; } |
    expect_summary 1 "1 passed, 1 failed" 1
}

test_a_library_without_tests_does_not_count() {
  suite "$(good A)" >a.xml
  { built //lib true; report //a a.xml; finished //a PASSED; } | expect_summary 0 "1 passed, 0 failed"
}

test_shards_add_up_and_a_later_attempt_replaces_an_earlier_one() {
  suite "$(good A)" >one.xml
  suite "$(bad B)" >two.xml
  suite "$(good B)" >three.xml
  { report //a one.xml 1; report //a two.xml 2; report //a three.xml 2; finished //a FLAKY; } |
    expect_summary 0 "2 passed, 0 failed"
}

test_a_failed_run_is_never_reported_as_good() {
  suite "$(good A)" >a.xml
  { report //a a.xml; finished //a PASSED; } | expect_summary 1 "1 passed, 1 failed" 8
}

test_no_tests_at_all_is_a_failure() {
  : | expect_summary 1 "0 passed, 1 failed" 4
  : | expect_summary 1 "0 passed, 1 failed" 0
}

test_no_events_is_a_failure() {
  expect_status 1 python3 -B "$LIB/test_summary.py" nosuchfile 1
  expect_equal "${output##*$'\n'}" "0 passed, 1 failed"
}

test_events_cut_off_by_an_interruption_are_read_as_far_as_they_go() {
  suite "$(good A)" >a.xml
  { report //a a.xml; finished //a PASSED; printf '{"id":{"testSum'; } |
    expect_summary 1 "1 passed, 1 failed" 8
}

run_tests
