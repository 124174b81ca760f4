#!/usr/bin/env bash
# tools/device_check refuses what makes no sense, says that there is no GPU, and tells what passed. The
# programs that it runs are replaced by scripts, in a folder as --prepare makes it.

# shellcheck disable=SC2016,SC2317 # cases are called by their names; texts with backticks
# shellcheck source-path=SCRIPTDIR source=testing.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/testing.sh"

DEVICE_CHECK="$LIB/../device_check"

# prepared_folder: with programs that succeed.
prepared_folder() {
  local program
  export SUPERFLUID_SPEED_MODEL="$PWD/prepared/models/tiny_llama.gguf"
  mkdir -p prepared/bin prepared/lib prepared/models
  touch prepared/models/tiny_llama.gguf prepared/models/tiny_lora.gguf prepared/lib/libggml-cuda.so
  for program in superfluid_worker conformance soak probe; do
    printf '#!/bin/bash\nprintf "%%s %%s\\n" "${0##*/}" "$*" >>%q\n' "$PWD/calls" >"prepared/bin/$program"
    chmod +x "prepared/bin/$program"
  done
  printf '%s\n' 'printf "check\tsame tokens\tpass\t16 of 16\nfigure\tprefill\t123\ttokens/s\n"' >>prepared/bin/probe
}

# fake_gpu: nvidia-smi lists one.
fake_gpu() {
  mkdir -p path
  printf '#!/bin/bash\necho "0, NVIDIA H200, 143771 MiB, 580.1"\n' >path/nvidia-smi
  chmod +x path/nvidia-smi
  PATH="$PWD/path:$PATH"
}

no_gpu() {
  mkdir -p path
  printf '#!/bin/bash\nexit 9\n' >path/nvidia-smi
  chmod +x path/nvidia-smi
  PATH="$PWD/path:$PATH"
}

test_arguments_that_make_no_sense() {
  expect_status 2 "$DEVICE_CHECK" --no-such
  expect_status 2 "$DEVICE_CHECK" --device
  expect_status 2 "$DEVICE_CHECK" --device one
  expect_status 2 "$DEVICE_CHECK" --prepare here --prepared there
  expect_status 2 "$DEVICE_CHECK" --prepared nowhere
  expect_contains "$output" "there is no folder nowhere"
  mkdir empty
  expect_status 2 "$DEVICE_CHECK" --prepared empty
  expect_contains "$output" "is not what --prepare makes"
}

test_help() {
  expect_status 0 "$DEVICE_CHECK" --help
  expect_contains "$output" "usage: tools/device_check"
}

test_without_a_gpu_it_says_so() {
  prepared_folder
  no_gpu
  expect_status 3 "$DEVICE_CHECK" --prepared prepared
  expect_contains "$output" "there is no NVIDIA GPU here"
  expect_contains "$output" "--without-gpu"
  [[ ! -e calls ]]
}

test_a_gpu_of_another_number() {
  prepared_folder
  fake_gpu
  expect_status 3 "$DEVICE_CHECK" --prepared prepared --device 5
  expect_contains "$output" "there is no GPU number 5"
}

test_everything_is_run_on_the_gpu() {
  prepared_folder
  fake_gpu
  expect_status 0 "$DEVICE_CHECK" --prepared prepared --keep kept
  expect_contains "$output" "NVIDIA H200, 143771 MiB, driver 580.1"
  expect_contains "$output" "16 of 16"
  expect_contains "$output" "123 tokens/s"
  expect_contains "$(<calls)" "--expect-backend CUDA"
  expect_contains "$(<calls)" "--engine-option backends=$PWD/prepared/lib"
  expect_contains "$(grep ^conformance calls)" "--rooted"
  expect_equal "$(grep -c -- 'gpu_layers=0' calls)" 1 "calls that name the CPU: the reference"
  expect_equal "$(grep -c -- 'libsuperfluid_whisper.so.*--device 0 --engine-option backends=' calls)" 3 "calls for whisper"
  [[ -e kept/llama-conformance.log && -e kept/whisper-conformance.log && -e kept/draws.log ]]
}

test_without_gpu_all_of_it_is_run_on_the_cpu() {
  prepared_folder
  no_gpu
  expect_status 0 "$DEVICE_CHECK" --prepared prepared --without-gpu
  expect_equal "$(grep -vcE -- 'gpu_layers=0|gpu=false' calls)" 0 "calls that may use a GPU"
  expect_contains "$(<calls)" "--expect-backend CPU"
}

test_what_fails_is_in_the_table() {
  prepared_folder
  fake_gpu
  printf '#!/bin/bash\necho broken; exit 1\n' >prepared/bin/conformance
  expect_status 1 "$DEVICE_CHECK" --prepared prepared
  expect_contains "$output" "broken"
  expect_contains "$(grep '^FAIL' <<<"$output")" "conformance"
}

run_tests
