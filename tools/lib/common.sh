# shellcheck shell=bash
# What every script of this project shares. Source it; it sets ROOT and runs nothing.

# A descriptor that the caller closed is given to the next file that is opened: the script itself, which
# cannot be written, so that the first word of progress would end it.
[[ -e /dev/fd/0 && ! /dev/fd/0 -ef $0 ]] || exec </dev/null
[[ -e /dev/fd/1 && ! /dev/fd/1 -ef $0 ]] || exec >/dev/null
[[ -e /dev/fd/2 && ! /dev/fd/2 -ef $0 ]] || exec 2>/dev/null

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

# find_home: sets HOME where it is missing. 1, after saying what to do, if no file can be made there:
# Bazel needs that, whatever else it is told.
find_home() {
  if [[ -z ${HOME:-} ]]; then
    HOME="$(getent passwd "$(id -u)" | cut -d: -f6)"
    export HOME
  fi
  mkdir -p "${HOME:-/nonexistent}/.cache" 2>/dev/null && [[ -w $HOME/.cache ]] && return
  error "Bazel keeps its files in HOME/.cache, but ${HOME:-(no HOME)}/.cache cannot be written:" \
    "set HOME to a folder of yours, for example HOME=/tmp/\$USER"
  return 1
}

# The folder for what may be deleted at any time.
cache_folder() { printf '%s/superfluid\n' "${XDG_CACHE_HOME:-$HOME/.cache}"; }

# disk_cache_option: where Bazel keeps results for other checkouts and later days; nowhere, if that
# cannot be written.
disk_cache_option() {
  local folder
  folder="$(cache_folder)/bazel-disk"
  mkdir -p "$folder" 2>/dev/null && [[ -w $folder ]] || folder=
  printf '%s\n' "--disk_cache=$folder"
}

# Bazel in this workspace, whatever the current folder is. SUPERFLUID_OUTPUT_BASE keeps what it builds
# apart from other users of the same checkout.
run_bazel() {
  local startup=() options=() command=$1
  shift
  find_home || return
  [[ -z ${SUPERFLUID_OUTPUT_BASE:-} ]] || startup+=("--output_base=$SUPERFLUID_OUTPUT_BASE")
  case $command in
    build | test | run | info | cquery) options+=("$(disk_cache_option)") ;;
  esac
  (cd "$ROOT" && exec bazel ${startup[@]+"${startup[@]}"} "$command" ${options[@]+"${options[@]}"} "$@" \
    </dev/null)
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
