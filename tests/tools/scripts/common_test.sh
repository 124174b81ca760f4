#!/usr/bin/env bash
# tools/lib/common.sh calls Bazel with a cache that can be written, and survives closed descriptors.

# shellcheck disable=SC2016,SC2317 # cases are called by their names; texts with backticks
# shellcheck source-path=SCRIPTDIR source=testing.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/testing.sh"
# shellcheck source-path=SCRIPTDIR source=../../../tools/lib/common.sh
. "$LIB/common.sh"

# Prints how Bazel is called, instead of calling it.
fake_bazel() {
  mkdir -p bin
  printf '#!/bin/bash\necho "$@"\n' >bin/bazel
  chmod +x bin/bazel
  PATH="$PWD/bin:$PATH"
  export HOME="$PWD/home"
  unset XDG_CACHE_HOME SUPERFLUID_OUTPUT_BASE
}

test_the_disk_cache_is_below_the_home_of_the_environment() {
  fake_bazel
  expect_status 0 run_bazel build //x
  expect_equal "$output" "build --disk_cache=$PWD/home/.cache/superfluid/bazel-disk //x"
  [[ -d $PWD/home/.cache/superfluid/bazel-disk ]]
}

test_the_disk_cache_is_where_xdg_says() {
  fake_bazel
  export XDG_CACHE_HOME="$PWD/cache"
  expect_status 0 run_bazel test //x
  expect_equal "$output" "test --disk_cache=$PWD/cache/superfluid/bazel-disk //x"
}

test_there_is_no_disk_cache_where_it_cannot_be_written() {
  fake_bazel
  export XDG_CACHE_HOME=/proc/nowhere
  expect_status 0 run_bazel build //x
  expect_equal "$output" "build --disk_cache= //x"
}

test_commands_that_build_nothing_get_no_disk_cache() {
  fake_bazel
  expect_status 0 run_bazel query //x
  expect_equal "$output" "query //x"
}

test_the_output_base_comes_before_the_command() {
  fake_bazel
  export SUPERFLUID_OUTPUT_BASE=/somewhere
  expect_status 0 run_bazel query //x
  expect_equal "$output" "--output_base=/somewhere query //x"
}

test_a_home_that_cannot_be_written_is_said_before_bazel_fails() {
  fake_bazel
  HOME=/proc
  expect_status 1 run_bazel build //x
  expect_contains "$output" "error: Bazel keeps its files in HOME/.cache, but /proc/.cache cannot be written"
  expect_contains "$output" "set HOME to a folder of yours"
}

test_a_missing_home_is_looked_up() {
  fake_bazel
  mkdir -p passwd
  printf '#!/bin/bash\necho "me:x:0:0::%s:/bin/sh"\n' "$PWD/passwd" >bin/getent
  chmod +x bin/getent
  unset HOME
  expect_status 0 run_bazel build //x
  expect_contains "$output" "--disk_cache=$PWD/passwd/.cache/superfluid/bazel-disk"
}

test_closed_descriptors_do_not_end_a_script() {
  printf '. "$1"; say hello; echo result; : >"$2"\n' >script
  bash -euo pipefail script "$LIB/common.sh" one <&- >out 2>err
  expect_equal "$(<out) $(<err)" "result ==> hello"
  bash -euo pipefail script "$LIB/common.sh" two >&- 2>err
  expect_equal "$(<err)" "==> hello"
  bash -euo pipefail script "$LIB/common.sh" three >out 2>&-
  expect_equal "$(<out)" result
  bash -euo pipefail script "$LIB/common.sh" four <&- >&- 2>&-
  [[ -e one && -e two && -e three && -e four ]]
}

run_tests
