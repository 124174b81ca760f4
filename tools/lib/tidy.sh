# shellcheck shell=bash
# clang-tidy over our sources, several at a time, each file again only when something it depends on has
# changed. Needs common.sh and npm.sh.

TIDY_CACHE=
TIDY_WORK=
TIDY_LIBRARY_FLAGS=()

# The flags of the build that matter to a reader of the code. Fixed, so that no build is needed first.
TIDY_FLAGS=(-std=c++20 -I. -DSPDLOG_COMPILED_LIB -DSPDLOG_FMT_EXTERNAL
  -isystem /usr/include/pocketsphinx)

# What the two libraries of tools/npm_packages.txt are to a reader of the code.
library_flags() {
  local name version rest
  while read -r name version rest; do
    case $name in
      whisper.rn) printf -- '-isystem %s/cpp ' "$(npm_package_folder "$name" "$version")" ;;
      node-llama-cpp)
        printf -- '-isystem %s ' "$(npm_package_folder "$name" "$version")"/source/{include,ggml/include,common}
        ;;
    esac
  done < <(wanted_npm_packages engines)
}

# prepare_tidy WORK: the generated Protobuf header goes to a folder of its own.
prepare_tidy() {
  TIDY_WORK=$1
  find_home
  TIDY_CACHE="$(cache_folder)/tidy"
  mkdir -p "$TIDY_WORK/generated" "$TIDY_WORK/findings" "$TIDY_CACHE"
  (cd "$ROOT" && protoc --cpp_out="$TIDY_WORK/generated" protocol/linkw.proto)
  TIDY_FLAGS+=(-isystem "$TIDY_WORK/generated")
  read -ra TIDY_LIBRARY_FLAGS < <(library_flags)
}

# flags_of FILE: into `flags`. Only these engines see their libraries, so that a new version of one does not
# make every file new.
flags_of() {
  flags=("${TIDY_FLAGS[@]}")
  if [[ $1 =~ (^|/)(whisper|llama)/ ]]; then flags+=("${TIDY_LIBRARY_FLAGS[@]}"); fi
}

# tidy_key FILE: changes with everything that FILE's findings depend on, but the system's headers.
tidy_key() {
  local flags configs=(.clang-tidy protocol/linkw.proto)
  flags_of "$1"
  [[ ! -e tests/.clang-tidy ]] || configs+=(tests/.clang-tidy)
  {
    clang-tidy-14 --version
    printf '%s\n' "$1" "${flags[@]//$TIDY_WORK/}"
    g++ "${flags[@]}" -MM "$1" | tr -d '\\:' | tr ' ' '\n' | grep -v '\.o$' | grep . | sort -u |
      xargs cat "${configs[@]}"
  } | sha256sum | cut -d' ' -f1
}

# tidy_one FILE: leaves its findings in a file of their own, empty if it is clean.
tidy_one() {
  local file=$1 flags key findings
  flags_of "$file"
  cd "$ROOT" || return
  findings="$TIDY_WORK/findings/${file//\//_}"
  key="$(tidy_key "$file")" || key=
  if [[ -n $key && -e $TIDY_CACHE/$key ]]; then
    : >"$findings"
    return
  fi
  if clang-tidy-14 --quiet "$file" -- "${flags[@]}" >"$findings" 2>"$findings.err"; then
    : >"$findings"
    [[ -z $key ]] || : >"$TIDY_CACHE/$key"
  elif [[ ! -s $findings ]]; then
    cp "$findings.err" "$findings"
  fi
  rm -f "$findings.err"
}

# tidy WORK FILE...: prints what there is to say, each finding once; 1 if there was any.
tidy() {
  local file running=0 at_most
  at_most="$(nproc)"
  prepare_tidy "$1"
  shift
  for file in "$@"; do
    if ((running >= at_most)); then
      wait -n || true
      running=$((running - 1))
    fi
    tidy_one "$file" &
    running=$((running + 1))
  done
  wait
  cat "$TIDY_WORK"/findings/* >"$TIDY_WORK/all"
  [[ -s $TIDY_WORK/all ]] || return 0
  # A header's findings come with every file that includes it.
  sed "s#$ROOT/\(\./\)\?##g; s#^\./##" "$TIDY_WORK/all" |
    awk 'BEGIN { fresh = 1 } /^[^ ].*: (error|warning): / { fresh = !seen[$0]++ } fresh'
  return 1
}
