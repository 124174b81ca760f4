#!/usr/bin/env bash
# tools/run and tools/quickstart, with programs that are scripts and a Bazel that builds nothing.

# shellcheck disable=SC2016,SC2317 # cases are called by their names; texts with backticks
# shellcheck source-path=SCRIPTDIR source=testing.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/testing.sh"

TOOLS="$(cd "$LIB/.." && pwd)"

# script NAME: an executable in this folder, from stdin.
script() {
  mkdir -p "$(dirname "$1")"
  { printf '#!/bin/bash\n' && cat; } >"$1"
  chmod +x "$1"
}

# Everything that the scripts call. No package is wanted.
setup() {
  export HOME="$PWD/home" FAKES="$PWD" PACKAGES_FILE="$PWD/packages.txt" TMPDIR="$PWD/tmp"
  unset XDG_CACHE_HOME SUPERFLUID_OUTPUT_BASE SUPERFLUID_WHISPER SUPERFLUID_LLAMA
  export NPM_PACKAGES_FILE="$PWD/packages.txt"
  export PATH="$PWD/bin:$PATH"
  unset SUPERFLUID_ENGINE_PATH
  mkdir -p tmp
  : >packages.txt
  : >talk.wav
  script bin/bazel <<'END'
echo "$* ${SUPERFLUID_WHISPER:-}" >>"$FAKES/bazel-calls"
case $1 in
  info) echo "$FAKES/out" ;;
  build)
    echo chatter >&2
    [[ ! -e $FAKES/broken ]] || exit 1
    ;;
esac
END
  script out/tools/worker/superfluid_worker <<'END'
echo "worker $*" >>"$FAKES/worker-calls"
echo "${SUPERFLUID_ENGINE_PATH:-}" >>"$FAKES/engine-path"
[[ $* != *--version* ]] || exit 0
trap 'exit 0' TERM
while :; do read -rt 0.02 <> <(:); done
END
  script out/tools/ctl/superfluidctl <<'END'
while [[ ${1:-} == --connect || ${1:-} == --timeout ]]; do shift 2; done
[[ $1 != ping && $1 != info ]] || exec test -s "$FAKES/engine-path" # answered when the worker is up
echo "ctl $*"
[[ ! -e $FAKES/slow ]] || { trap 'exit 143' TERM && : >"$FAKES/started" && while :; do read -rt 0.02 <> <(:); done; }
exit 5
END
}

run() { "$TOOLS/run" "$@"; }
quickstart() { "$TOOLS/quickstart" "$@"; }

test_run_builds_and_gives_its_place_to_the_program() {
  setup
  expect_status 5 run superfluidctl transcribe "two words" --json
  expect_contains "$output" "ctl transcribe two words --json"
  expect_contains "$(<bazel-calls)" "//tools:superfluidctl"
}

test_run_says_nothing_of_a_good_build() {
  setup
  output="$(run superfluidctl x 2>/dev/null || true)"
  expect_equal "$output" "ctl x"
  output="$(run superfluidctl x 2>&1 >/dev/null || true)"
  [[ $output != *chatter* ]]
}

test_run_shows_a_build_that_failed() {
  setup
  touch broken
  expect_status 11 run superfluidctl x
  expect_contains "$output" chatter
  expect_contains "$output" "error: the build failed; its messages are above"
}

test_run_builds_the_engine_that_a_worker_asks_for() {
  setup
  expect_status 0 run superfluid_worker --model m --engine whisper --version
  expect_contains "$(<bazel-calls)" "//engine/whisper"
  expect_equal "$(<engine-path)" "$PWD/out/engine/whisper"
}

test_run_with_gpu_gives_the_engine_its_backends() {
  local package="$PWD/home/.cache/superfluid/npm/node-llama-cpp-linux-x64-cuda-1.0.0"
  setup
  NPM_PACKAGES_FILE="$PWD/npm_packages.txt"
  printf 'gpu @node-llama-cpp/linux-x64-cuda@1.0.0 sha512-x\n' >npm_packages.txt
  mkdir -p "$package"
  expect_status 0 run --gpu superfluid_worker --engine whisper --version
  expect_contains "$(<bazel-calls)" "//engine/whisper:libsuperfluid_whisper.so shared"
  expect_contains "$(<worker-calls)" "--engine-option backends=$package/bins/linux-x64-cuda"
}

test_run_with_gpu_is_for_engines_that_use_one() {
  setup
  expect_status 2 run --gpu superfluid_worker --engine sim
  expect_contains "$output" "--gpu is for the engines whisper llama"
  expect_status 2 run --gpu superfluidctl
}

test_run_builds_no_engine_that_is_not_asked_for() {
  setup
  expect_status 0 run superfluid_worker --engine=sim --version
  expect_status 5 run superfluidctl --engine=llama
  [[ $(<bazel-calls) != *//engine* ]]
  expect_equal "$(<engine-path)" ""
}

test_quickstart_takes_another_engine_and_its_model() {
  setup
  : >model.bin
  expect_status 5 quickstart --engine whisper --model model.bin talk.wav
  expect_contains "$(<bazel-calls)" "//engine/whisper"
  expect_contains "$(<worker-calls)" "--engine whisper --model $PWD/model.bin --listen"
}

test_quickstart_passes_threads_and_options_to_the_worker() {
  setup
  expect_status 5 quickstart --threads 3 --engine-option=warm=1 --engine-option pool=2 talk.wav
  expect_contains "$(<worker-calls)" "--threads 3 --engine-option warm=1 --engine-option pool=2 --listen"
}

test_quickstart_wants_a_model_for_whisper() {
  setup
  expect_status 2 quickstart --engine whisper talk.wav
  expect_contains "$output" "needs --model"
  expect_status 2 quickstart --model missing.bin talk.wav
  expect_contains "$output" "no such model: missing.bin"
}

test_quickstart_refuses_an_engine_that_writes_text() {
  setup
  : >model.gguf
  expect_status 2 quickstart --engine llama --model model.gguf talk.wav
  expect_contains "$output" "quickstart transcribes, and the engine llama writes text; see README"
  expect_status 2 quickstart --engine=llama
  [[ ! -e bazel-calls ]]
  expect_equal "$(ls tmp)" ""
}

test_run_prints_the_path_only() {
  setup
  output="$(run --path superfluid_worker 2>/dev/null)"
  expect_equal "$output" "$PWD/out/tools/worker/superfluid_worker"
}

test_run_refuses_what_it_does_not_know() {
  setup
  expect_status 2 run
  expect_contains "$output" "no program is named; there are: superfluid_worker superfluidctl"
  expect_status 2 run superfluid
  expect_contains "$output" "there is no program 'superfluid'"
  expect_status 2 run --path superfluidctl transcribe
  [[ ! -e bazel-calls ]]
}

test_quickstart_streams_a_transcript_and_leaves_nothing() {
  setup
  expect_status 5 quickstart talk.wav
  expect_contains "$output" "ctl transcribe --stream $PWD/talk.wav"
  expect_contains "$(<worker-calls)" "worker --engine pocketsphinx --listen $PWD/tmp/superfluid."
  expect_equal "$(ls tmp)" ""
}

test_quickstart_leaves_the_form_to_options_that_ask_for_one() {
  setup
  expect_status 5 quickstart talk.wav -- --json
  expect_contains "$output" "ctl transcribe --json $PWD/talk.wav"
  expect_status 5 quickstart talk.wav -- --deadline 9
  expect_contains "$output" "ctl transcribe --deadline 9 --stream $PWD/talk.wav"
}

test_quickstart_without_a_place_for_messages_gives_the_transcript() {
  setup
  local status=0
  output="$(quickstart talk.wav 2>&-)" || status=$?
  expect_equal "$status" 5
  expect_equal "$output" "ctl transcribe --stream $PWD/talk.wav"
}

test_quickstart_takes_another_folder_than_a_missing_one() {
  setup
  TMPDIR=/nonexistent expect_status 5 quickstart talk.wav
  expect_contains "$output" "warning: TMPDIR=/nonexistent is not a folder that can be written; using /tmp"
}

test_quickstart_ends_with_129_when_it_hangs_up() {
  setup
  touch slow
  "$TOOLS/quickstart" talk.wav >out.txt 2>&1 &
  local pid=$! status=0
  wait_for test -e started
  kill -HUP "$pid"
  wait "$pid" || status=$?
  expect_equal "$status" 129
  expect_equal "$(ls tmp)" ""
}

test_quickstart_checks_the_file_before_it_builds() {
  setup
  expect_status 2 quickstart nosuch.wav
  expect_contains "$output" "no such file: nosuch.wav"
  expect_status 2 quickstart -dash.wav
  expect_contains "$output" "a FILE of that name is written ./-dash.wav"
  expect_status 2 quickstart talk.wav talk.wav
  [[ ! -e bazel-calls ]]
  expect_equal "$(ls tmp)" ""
}

test_quickstart_takes_a_file_whose_name_begins_with_a_dash() {
  setup
  : >-dash.wav
  expect_status 5 quickstart ./-dash.wav
  expect_contains "$output" "$PWD/-dash.wav"
}

run_tests
