# shellcheck shell=bash
# The parts of tools/device_check: what it builds or finds, what travels, what it runs. Needs common.sh,
# install.sh, npm.sh and programs.sh; the variables of tools/device_check; `work`, an empty folder.

# shellcheck disable=SC2154 # without_gpu, with_gpu_library, device, gpu_name, work: tools/device_check has them

# What is run, once it was built or found: paths.
PROGRAM_WORKER=
PROGRAM_CONFORMANCE=
PROGRAM_SOAK=
PROGRAM_PROBE=
ENGINE_LLAMA=
ENGINE_WHISPER=
MODEL_TINY=
MODEL_WHISPER=
MODEL_LORA=
MODEL_SPEED=
BACKENDS= # a folder of ggml's backends; empty: beside the library

DEVICE_TARGETS=(
  //tools:superfluid_worker //engine/llama:libsuperfluid_llama.so //engine/whisper:libsuperfluid_whisper.so
  //tests/conformance //tests/stress:soak //tests/device:probe
  //tools/models:tiny_llama.gguf //tools/models:tiny_lora.gguf //tools/models:tiny_whisper.bin)

# make_speed_model FILE: one that keeps the device busy for a moment: 110 M weights on a GPU, 9 M on a CPU.
make_speed_model() {
  local sizes=(--width 768 --layers 12 --heads 12 --kv-heads 12 --inner 2048 --vocabulary 32000)
  ((!without_gpu)) || sizes=(--width 256 --layers 6 --heads 8 --kv-heads 8 --inner 768 --vocabulary 8000)
  MODEL_SPEED=${SUPERFLUID_SPEED_MODEL:-}
  [[ -z $MODEL_SPEED ]] || return 0
  MODEL_SPEED=$1
  python3 -B "$ROOT/tools/models/make_llama.py" "$1" "${sizes[@]}" --type f16
}

build_device_programs() {
  local bin
  install_packages run engines
  install_npm_packages engines
  # Its own ggml has no backend for a GPU; and without one, what runs here is what would run on one.
  uses_system_library whisper || export SUPERFLUID_WHISPER=shared
  if ((!without_gpu)) && ! uses_system_library llama && [[ -z ${SUPERFLUID_GPU_BACKENDS:-} ]]; then
    if [[ -z $prepare ]] || ((with_gpu_library)); then install_npm_packages gpu; fi
  fi
  say "building what runs on the device"
  build_targets "${DEVICE_TARGETS[@]}"
  bin="$(run_bazel info bazel-bin 2>/dev/null)" || fail "$BUILD_STATUS" "bazel info failed"
  PROGRAM_WORKER=$bin/tools/worker/superfluid_worker
  PROGRAM_CONFORMANCE=$bin/tests/conformance/conformance
  PROGRAM_SOAK=$bin/tests/stress/soak
  PROGRAM_PROBE=$bin/tests/device/probe
  ENGINE_LLAMA=$bin/engine/llama/libsuperfluid_llama.so
  ENGINE_WHISPER=$bin/engine/whisper/libsuperfluid_whisper.so
  MODEL_TINY=$bin/tools/models/tiny_llama.gguf
  MODEL_WHISPER=$bin/tools/models/tiny_whisper.bin
  MODEL_LORA=$bin/tools/models/tiny_lora.gguf
}

# ---- What travels

# shared_libraries FILE...: those that the files need, but for those of C and C++, which every system has, and
# perhaps newer ones.
shared_libraries() {
  ldd "$@" 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
    grep -Ev '/(libc|libm|libdl|librt|libpthread|libresolv|libstdc\+\+|libgcc_s|ld-linux[^/]*)\.so'
}

# pack_gpu_source SOURCE ARCHIVE: what build_gpu_library needs of llama.cpp.
pack_gpu_source() {
  (cd "$1" && find ggml/CMakeLists.txt ggml/cmake ggml/include ggml/src/ggml-cuda -type f -print &&
    find ggml/src -maxdepth 1 -type f -print) | tar -czf "$2" -C "$1" --files-from=-
}

pack() {
  local folder=$1 program package programs=("$PROGRAM_WORKER" "$PROGRAM_CONFORMANCE" "$PROGRAM_SOAK"
    "$PROGRAM_PROBE" "$ENGINE_LLAMA" "$ENGINE_WHISPER")
  say "packing into $folder"
  mkdir -p "$folder/bin" "$folder/lib" "$folder/models"
  for program in "${programs[@]}"; do
    install -m 755 "$program" "$folder/bin/"
    strip --strip-unneeded "$folder/bin/${program##*/}"
  done
  shared_libraries "${programs[@]}" | while read -r program; do install -m 755 "$program" "$folder/lib/"; done
  install -m 644 "$MODEL_TINY" "$MODEL_LORA" "$MODEL_WHISPER" "$folder/models/"
  package="$(npm_package @node-llama-cpp/linux-x64)"
  install -m 755 "$package"/bins/linux-x64/libggml-cpu-*.so "$folder/lib/"
  if ((with_gpu_library)); then
    package="$(npm_package @node-llama-cpp/linux-x64-cuda)"
    install -m 755 "$package/bins/linux-x64-cuda/libggml-cuda.so" "$folder/lib/"
  else
    pack_gpu_source "$(npm_package node-llama-cpp)/source" "$folder/ggml-source.tar.gz"
  fi
  say "ready: $(du -sm "$folder" | cut -f1) MB in $folder; there, run: tools/device_check --prepared FOLDER"
}

use_prepared() {
  local folder=$1
  export LD_LIBRARY_PATH="$folder/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  PROGRAM_WORKER=$folder/bin/superfluid_worker
  PROGRAM_CONFORMANCE=$folder/bin/conformance
  PROGRAM_SOAK=$folder/bin/soak
  PROGRAM_PROBE=$folder/bin/probe
  ENGINE_LLAMA=$folder/bin/libsuperfluid_llama.so
  ENGINE_WHISPER=$folder/bin/libsuperfluid_whisper.so
  MODEL_TINY=$folder/models/tiny_llama.gguf
  MODEL_WHISPER=$folder/models/tiny_whisper.bin
  MODEL_LORA=$folder/models/tiny_lora.gguf
  BACKENDS=$folder/lib
  [[ -x $PROGRAM_WORKER ]] || fail 2 "$folder is not what --prepare makes"
}

# build_gpu_library SOURCE_ARCHIVE INTO: ggml's backend for the GPU of this machine. The rest of ggml is the
# prebuilt one, of the same sources.
build_gpu_library() {
  local log="$work/gpu-library.log"
  say "building ggml's backend for this GPU (minutes)"
  mkdir -p "$work/gpu"
  tar -xzf "$1" -C "$work/gpu"
  printf '%s\n' 'cmake_minimum_required(VERSION 3.18)' 'project(gpu_backend C CXX)' 'add_subdirectory(ggml)' \
    >"$work/gpu/CMakeLists.txt"
  if ! (cmake -G Ninja -S "$work/gpu" -B "$work/gpu/build" -DCMAKE_BUILD_TYPE=Release -DGGML_CUDA=ON \
    -DGGML_BACKEND_DL=ON -DBUILD_SHARED_LIBS=ON -DGGML_NATIVE=OFF -DGGML_CPU=OFF \
    -DCMAKE_CUDA_COMPILER="$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)" \
    -DCMAKE_CUDA_ARCHITECTURES="${SUPERFLUID_CUDA_ARCHITECTURES:-native}" &&
    cmake --build "$work/gpu/build" --target ggml-cuda) >"$log" 2>&1; then
    tail -n 30 "$log" >&2
    fail "$BUILD_STATUS" "ggml's backend for this GPU could not be built"
  fi
  find "$work/gpu/build" -name 'libggml-cuda.so' -exec install -m 755 {} "$2/" \;
}

# find_backends: where the library finds its backends: of the GPU, or of the CPU.
find_backends() {
  ((!without_gpu)) || return 0
  if [[ -n ${SUPERFLUID_GPU_BACKENDS:-} ]]; then
    BACKENDS=$SUPERFLUID_GPU_BACKENDS
  elif [[ -n $prepared ]]; then
    [[ -e $BACKENDS/libggml-cuda.so ]] || build_gpu_library "$prepared/ggml-source.tar.gz" "$BACKENDS"
  elif ! uses_system_library llama; then
    BACKENDS="$(gpu_backends)"
  fi
}

# ---- What is run

# With these what is drawn depends as little as may be on what else is computed with it.
SAME_NUMBERS=(--engine-option kv_type=f32 --engine-option flash_attention=off)

table=
verdict=0

# row STATUS SECONDS NAME [DETAIL]
row() {
  local line
  printf -v line '%-6s %5s  %-34s %s' "$1" "$2" "$3" "${4:-}"
  table+="$line"$'\n'
  [[ $1 != FAIL ]] || verdict=1
}

# worker MODEL [WORD...]: a command line, on the device.
worker() {
  local model=$1 words
  shift
  words="$PROGRAM_WORKER --log-level warn --engine $ENGINE_LLAMA --model $model --device $device $*"
  [[ -z $BACKENDS ]] || words+=" --engine-option backends=$BACKENDS"
  if ((without_gpu)); then words+=" --engine-option gpu_layers=0"; fi
  printf '%s\n' "$words"
}

# whisper_worker MODEL [WORD...]: the same with the engine whisper.
whisper_worker() {
  local words
  words="$PROGRAM_WORKER --log-level warn --engine $ENGINE_WHISPER --model $* --device $device"
  [[ -z $BACKENDS ]] || words+=" --engine-option backends=$BACKENDS"
  if ((without_gpu)); then words+=" --engine-option gpu=false"; fi
  printf '%s\n' "$words"
}

# The same on the CPU, exactly.
cpu_worker() {
  local words
  words="$(worker "$@" "${SAME_NUMBERS[@]}")"
  printf '%s\n' "${words/ --engine-option gpu_layers=0/} --engine-option gpu_layers=0"
}

# step NAME LIMIT COMMAND...: runs it with a time limit; its output goes to a log.
step() {
  local name=$1 limit=$2 log status=0 began=$SECONDS line
  shift 2
  log="$work/${name// /-}.log"
  say "$name"
  timeout --kill-after=10 "$limit" "$@" >"$log" 2>&1 || status=$?
  case $status in
    0) row pass $((SECONDS - began)) "$name" ;;
    124 | 137) row FAIL $((SECONDS - began)) "$name" "not done after $limit s" ;;
    *) row FAIL $((SECONDS - began)) "$name" "exit status $status" ;;
  esac
  ((status == 0)) || tail -n 30 "$log" >&2
  while IFS=$'\t' read -r -a line; do
    case ${line[0]} in
      check) row "${line[2]}" '' "  ${line[1]}" "${line[3]:-}" ;;
      figure) row '' '' "  ${line[1]}" "${line[2]} ${line[3]:-}" ;;
    esac
  done < <(grep -aE $'^(check|figure)\t' "$log")
}

# The worker says what its engine runs on; with a GPU that must be one.
check_device() {
  local backend=CUDA
  ((!without_gpu)) || backend=CPU
  row '' '' "device" "$gpu_name"
  step "llama backend" 120 "$PROGRAM_PROBE" --worker "$(worker "$MODEL_TINY")" --expect-backend "$backend"
  step "whisper backend" 120 "$PROGRAM_PROBE" --worker "$(whisper_worker "$MODEL_WHISPER")" \
    --expect-backend "$backend"
}

run_checks() {
  local began=$SECONDS lora="$work/conformance/lora.gguf" prefill=2048 skipped=()
  ((!without_gpu)) || prefill=512
  make_speed_model "$work/speed.gguf"
  mkdir -p "$work/conformance"
  cp "$MODEL_LORA" "$lora"
  check_device
  step "draws" 120 "$PROGRAM_PROBE" --worker "$(worker "$MODEL_TINY")" --reference "$(cpu_worker "$MODEL_TINY")"
  step "speed" 120 "$PROGRAM_PROBE" --measure --prefill-tokens "$prefill" \
    --worker "$(worker "$MODEL_SPEED" --engine-option kv_tokens=16384)"
  # A hundred thousand tokens to a peer that does not read: too much for a CPU.
  ((!without_gpu)) || skipped=(--skip EMIT-4)
  step "llama conformance" 180 "$PROGRAM_CONFORMANCE" --rooted --folder "$work/conformance" --adapter "$lora" \
    ${skipped[@]+"${skipped[@]}"} --worker "$(worker "$MODEL_TINY" "${SAME_NUMBERS[@]}" \
      --engine-option kv_tokens=65536 --engine-option ttl_ticks=64 \
      --media-root "$work/conformance" --model-root "$work/conformance")"
  step "llama mixed load" 120 "$PROGRAM_SOAK" --greedy --seconds 30 --link-seconds 3 \
    --worker "$(worker "$MODEL_TINY" "${SAME_NUMBERS[@]}")"
  step "whisper conformance" 180 "$PROGRAM_CONFORMANCE" --rooted --folder "$work/conformance" \
    --worker "$(whisper_worker "$MODEL_WHISPER" --media-root "$work/conformance" --model-root "$work/conformance")"
  step "whisper mixed load" 120 "$PROGRAM_SOAK" --seconds 30 --link-seconds 3 --pool-mib 2048 \
    --worker "$(whisper_worker "$MODEL_WHISPER" --threads 1)"
  [[ -z $keep ]] || { mkdir -p "$keep" && cp "$work"/*.log "$keep/"; }
  printf '\n%-6s %5s  %-34s\n%s' result "s" "check or figure" "$table"
  printf 'in %d s\n' $((SECONDS - began))
  return "$verdict"
}
