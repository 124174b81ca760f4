# shellcheck shell=bash
# The programs of this project and the engines that are built only when they are asked for: builds them,
# and says where they are. Needs common.sh, install.sh and npm.sh.

readonly BUILD_STATUS=11

PROGRAMS=(superfluid_worker superfluidctl superfluidd)

# Their libraries come from npm, or from a system installation. All others come with the worker.
OPTIONAL_ENGINES=(whisper llama)

is_program() { [[ " ${PROGRAMS[*]} " == *" $1 "* ]]; }

# built_anything: 1 if this checkout (or the folder it builds in) has no program yet.
built_anything() { [[ -e $ROOT/.bazel/bin/$(program_file superfluid_worker) ]]; }

program_file() {
  case $1 in
    superfluid_worker) printf 'tools/worker/superfluid_worker\n' ;;
    superfluidctl) printf 'tools/ctl/superfluidctl\n' ;;
    superfluidd) printf 'tools/superfluidd/superfluidd\n' ;;
  esac
}

# build_programs PROGRAM...: brings them up to date. superfluidd runs workers, so these are built with it.
build_programs() {
  local programs=("$@")
  [[ " $* " != *" superfluidd "* ]] || programs+=(superfluid_worker)
  build_targets "${programs[@]/#///tools:}"
}

# What Bazel says once a minute, such as `[12 / 345] 2 / 7 tests; Compiling a.cc; 5s`.
readonly PROGRESS_LINE='^\[[0-9,]* / [0-9,]*\]\|^Loading:\|^Analyzing:'

# say_progress < BAZEL'S OUTPUT: a line a minute, for those who do not watch a terminal.
say_progress() {
  local line begin=$SECONDS
  while IFS= read -r line; do
    if ((SECONDS - begin >= 50)) && [[ $line =~ ^\[([0-9,]+)\ /\ ([0-9,]+)\] ]]; then
      say "built ${BASH_REMATCH[1]} of ${BASH_REMATCH[2]}"
    fi
  done
}

# build_targets TARGET...: Says something only if that takes long or fails; a failure ends the script with
# BUILD_STATUS.
build_targets() {
  local log status=0
  built_anything || say "building (the first time takes five to ten minutes)"
  if [[ -t 2 ]]; then
    run_bazel build --ui_event_filters=-info "$@" >&2 || status=$?
  else
    log="$(mktemp)"
    run_bazel build --ui_event_filters=-info --curses=no --show_progress_rate_limit=60 "$@" 2>&1 |
      tee "$log" | say_progress || status=$?
    ((status == 0)) || grep -v "$PROGRESS_LINE" "$log" >&2
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

# engine_named ARGUMENT...: the optional engine that these arguments of a worker name; nothing if they name
# another.
engine_named() {
  local engine=
  while (($# > 0)); do
    case $1 in
      --engine) engine=${2:-} ;;
      --engine=*) engine=${1#--engine=} ;;
    esac
    shift
  done
  [[ " ${OPTIONAL_ENGINES[*]} " != *" $engine "* ]] || printf '%s\n' "$engine"
}

# uses_system_library ENGINE: whether pkg-config's installation of the engine's library is what gets built.
uses_system_library() {
  local choice="SUPERFLUID_${1^^}"
  [[ ${!choice:-} != npm && ${!choice:-} != shared ]] && pkg-config --exists "$1" 2>/dev/null
}

# gpu_backends: the folder of ggml's prebuilt backends, with the one for NVIDIA GPUs.
gpu_backends() { printf '%s/bins/linux-x64-cuda\n' "$(npm_package @node-llama-cpp/linux-x64-cuda)"; }

# prepare_gpu ENGINE: fetches these; whisper.cpp is to be built on llama's ggml, since its own has none.
prepare_gpu() {
  nvidia-smi --list-gpus >/dev/null 2>&1 ||
    say "warning: nvidia-smi lists no GPU here; the engine will compute on the CPU"
  install_npm_packages engines gpu
  if [[ $1 == whisper ]] && ! uses_system_library whisper; then export SUPERFLUID_WHISPER=shared; fi
}

# prepare_engine NAME: fetches and builds an optional engine, and lets the workers that are started later
# find it. Nothing for an empty name.
prepare_engine() {
  local folder
  [[ -n $1 ]] || return 0
  install_packages run engines
  install_npm_packages engines
  build_targets "//engine/$1:libsuperfluid_$1.so"
  folder="$(run_bazel info bazel-bin 2>/dev/null)" || fail "$BUILD_STATUS" "bazel info failed"
  export SUPERFLUID_ENGINE_PATH="$folder/engine/$1${SUPERFLUID_ENGINE_PATH:+:$SUPERFLUID_ENGINE_PATH}"
}
