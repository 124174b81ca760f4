# shellcheck shell=bash
# A small test runner for shell: each function whose name begins with test_ is a case, run in a process
# and an empty folder of its own. run_tests writes what GoogleTest would write for Bazel.

LIB="${TEST_SRCDIR:-}/${TEST_WORKSPACE:-}/tools/lib"
[[ -d $LIB ]] || LIB="$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../../../tools/lib"
LIB="$(cd "$LIB" && pwd)"

# expect_equal ACTUAL EXPECTED [WHAT]
expect_equal() {
  [[ $1 == "$2" ]] && return
  printf '%s\n  is:       %q\n  expected: %q\n' "${3:-a value}" "$1" "$2" >&2
  exit 1
}

# expect_contains TEXT PART
expect_contains() {
  [[ $1 == *"$2"* ]] && return
  printf 'text:\n%s\ndoes not contain: %s\n' "$1" "$2" >&2
  exit 1
}

# expect_status EXPECTED COMMAND...: what it prints is left in `output`.
expect_status() {
  local expected=$1 status=0
  shift
  output="$("$@" 2>&1)" || status=$?
  expect_equal "$status" "$expected" "the status of '$*', which printed '$output',"
}

# wait_for COMMAND...: until it succeeds, for ten seconds at most.
wait_for() {
  local turns=500
  until "$@" >/dev/null 2>&1; do
    ((turns-- > 0)) || { echo "never true: $*" >&2 && exit 1; }
    read -rt 0.02 <> <(:) || true
  done
}

run_tests() {
  local name failed=0 cases='' folder
  while read -r name; do
    folder="$(mktemp -d)"
    printf '[ RUN  ] %s\n' "$name"
    if (cd "$folder" && set -euo pipefail && "$name"); then
      printf '[  OK  ] %s\n' "$name"
      cases+="<testcase classname=\"shell\" name=\"$name\"/>"
    else
      printf '[FAILED] %s\n' "$name"
      cases+="<testcase classname=\"shell\" name=\"$name\"><failure/></testcase>"
      failed=1
    fi
    rm -rf "$folder"
  done < <(declare -F | awk '$3 ~ /^test_/ { print $3 }')
  if [[ -n ${XML_OUTPUT_FILE:-} ]]; then
    printf '<testsuites><testsuite name="shell">%s</testsuite></testsuites>\n' "$cases" >"$XML_OUTPUT_FILE"
  fi
  exit "$failed"
}
