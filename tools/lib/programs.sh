# shellcheck shell=bash
# The programs of this project: builds them, and says where they are. Needs common.sh.

readonly BUILD_STATUS=11

PROGRAMS=(superfluid_worker superfluidctl)

is_program() { [[ " ${PROGRAMS[*]} " == *" $1 "* ]]; }

# built_anything: 1 if this checkout (or the folder it builds in) has no program yet.
built_anything() { [[ -e $ROOT/.bazel/bin/$(program_file superfluid_worker) ]]; }

program_file() {
  case $1 in
    superfluid_worker) printf 'tools/worker/superfluid_worker\n' ;;
    superfluidctl) printf 'tools/ctl/superfluidctl\n' ;;
  esac
}

# build_programs PROGRAM...: brings them up to date. Says something only if that takes long or fails; a
# failure ends the script with BUILD_STATUS.
build_programs() {
  local log status=0
  built_anything || say "building (the first time takes five to ten minutes)"
  if [[ -t 2 ]]; then
    run_bazel build --ui_event_filters=-info "${@/#///tools:}" >&2 || status=$?
  else
    log="$(mktemp)"
    run_bazel build --ui_event_filters=-info --noshow_progress "${@/#///tools:}" >"$log" 2>&1 || status=$?
    ((status == 0)) || cat "$log" >&2
    rm -f "$log"
  fi
  ((status == 0)) || fail "$BUILD_STATUS" "the build failed; its messages are above"
}

# program_path PROGRAM: of what build_programs built.
program_path() {
  local folder
  folder="$(run_bazel info bazel-bin 2>/dev/null)" || fail "$BUILD_STATUS" "bazel info failed"
  printf '%s/%s\n' "$folder" "$(program_file "$1")"
}
