#!/usr/bin/env bash
# tools/lib/worker.sh passes signals on once, and leaves no process behind.

# shellcheck disable=SC2016,SC2317 # cases are called by their names; texts with backticks
# shellcheck source-path=SCRIPTDIR source=testing.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/testing.sh"
# shellcheck source-path=SCRIPTDIR source=../../../tools/lib/common.sh
. "$LIB/common.sh"
# shellcheck source-path=SCRIPTDIR source=../../../tools/lib/worker.sh
. "$LIB/worker.sh"

# A program that ends when told to: with 40 at its first SIGINT, which it counts, with 41 at SIGTERM.
program() {
  cat >program <<'END'
trap 'echo INT >>signals; (exit 0); echo ended >>signals; exit 40' INT
trap 'echo TERM >>signals; exit 41' TERM
echo $$ >pid.new && mv pid.new pid
while :; do read -rt 0.02 <> <(:); done
END
}

# The script that a user would interrupt: in a process group of its own, as a terminal's job.
start_script() {
  program
  set -m
  bash -c '
    set -euo pipefail
    . "$1/common.sh"; . "$1/worker.sh"
    status=0
    run_client bash program || status=$?
    exit "$status"' script "$LIB" &
  script=$!
  set +m
  wait_for test -s pid
}

expect_script_ends_with() {
  local status=0
  wait "$script" || status=$?
  expect_equal "$status" "$1" "the script's status"
}

gone() { ! kill -0 "$1" 2>/dev/null; }

test_a_client_s_status_is_the_result() {
  expect_status 7 run_client bash -c 'exit 7'
  expect_status 0 run_client true
}

test_an_interrupt_of_the_whole_group_reaches_the_client_once() {
  start_script
  kill -INT -- "-$script"
  expect_script_ends_with 40
  expect_equal "$(<signals)" $'INT\nended'
}

test_an_interrupt_of_the_script_alone_reaches_the_client() {
  start_script
  kill -INT "$script"
  expect_script_ends_with 40
}

test_a_termination_reaches_the_client() {
  start_script
  kill -TERM "$script"
  expect_script_ends_with 41
}

test_the_client_dies_with_a_killed_script() {
  start_script
  kill -KILL "$script"
  wait_for gone "$(<pid)"
  expect_equal "$(<signals)" TERM
}

test_a_worker_is_terminated_and_its_status_kept() {
  program
  start_worker log bash program
  wait_for test -s pid
  stop_worker 5
  expect_equal "$WORKER_STATUS" 41
  gone "$(<pid)"
}

test_a_worker_that_will_not_end_is_killed() {
  start_worker log bash -c 'trap "" TERM; echo $$ >pid; while :; do read -rt 0.02 <> <(:); done'
  wait_for test -s pid
  stop_worker 1 2>warning
  expect_equal "$WORKER_STATUS" 137
  expect_contains "$(<warning)" "did not end in 1 s; killing it"
  gone "$(<pid)"
}

test_ready_when_the_probe_succeeds() {
  program
  start_worker log bash program
  expect_status 0 wait_until_ready test -s pid
  stop_worker 5
}

test_not_ready_when_the_worker_ended() {
  start_worker log bash -c 'echo no model; exit 3'
  expect_status 1 wait_until_ready false
  stop_worker 5
  expect_equal "$WORKER_STATUS" 3
  expect_equal "$(<log)" "no model"
}

test_a_worker_that_takes_long_is_waited_for_and_that_is_said() {
  program
  start_worker log bash program
  # Ten minutes later at each look, as far as SECONDS knows.
  probe() {
    SECONDS=$((SECONDS + 600))
    [[ -e probed ]] || ! touch probed
  }
  wait_until_ready probe 2>progress
  # A second of the clock may pass meanwhile.
  expect_contains "$(sed "s/60[0-9] s/600 s/" progress)" "the worker still loads its engine (600 s; Ctrl-C ends it)"
  stop_worker 5
}

run_tests
