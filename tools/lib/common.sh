# shellcheck shell=bash
# What every script of this project shares. Source it; it sets ROOT and runs nothing.

ROOT="$(cd -P "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
readonly ROOT

# One line of progress. Everything a script says about itself goes to stderr; stdout is for results.
say() { printf '==> %s\n' "$*" >&2; }
warn() { printf 'warning: %s\n' "$*" >&2; }
error() { printf 'error: %s\n' "$*" >&2; }

# fail STATUS MESSAGE...: says what is wrong and ends the script.
fail() {
  local status=$1
  shift
  error "$@"
  exit "$status"
}

# The comment block at the head of a script is its help text.
print_help() { sed -n '2,/^[^#]/{/^#/s/^# \{0,1\}//p}' "$1"; }

# Bazel in this workspace, whatever the current folder is. SUPERFLUID_OUTPUT_BASE keeps what it builds
# apart from other users of the same checkout.
run_bazel() {
  local startup=()
  if [[ -z ${HOME:-} ]]; then
    HOME="$(getent passwd "$(id -u)" | cut -d: -f6)"
    export HOME
  fi
  [[ -z ${SUPERFLUID_OUTPUT_BASE:-} ]] || startup+=("--output_base=$SUPERFLUID_OUTPUT_BASE")
  (cd "$ROOT" && exec bazel ${startup[@]+"${startup[@]}"} "$@" </dev/null)
}

# Folders that hold our own C++ sources.
SOURCE_FOLDERS=(actors engine protocol shm tests tools)

# our_files PATTERN...: our files whose names match, relative to ROOT, sorted, NUL-terminated.
our_files() {
  local names=() pattern
  for pattern in "$@"; do
    names+=(-o -name "$pattern")
  done
  (cd "$ROOT" && find "${SOURCE_FOLDERS[@]}" -type f \( "${names[@]:1}" \) -print0 2>/dev/null | sort -z)
}
