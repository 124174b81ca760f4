# shellcheck shell=bash
# clang-tidy over our sources and headers, several at a time, each file again only when something it depends
# on has changed. Needs common.sh and npm.sh.
#
# The checks are run by clangd, which looks at the declarations of one file only: it takes three
# seconds a file where clang-tidy, which walks through every header of the standard library as well, takes
# twenty. clangd leaves out bugprone-use-after-move, for which clang-tidy is run alone.

TIDY_CACHE=
TIDY_WORK=

# The flags of the build that matter to a reader of the code. Fixed, so that no build is needed first.
TIDY_FLAGS=(-xc++ -std=c++20 -I. -DSPDLOG_COMPILED_LIB -DSPDLOG_FMT_EXTERNAL
  -isystem /usr/include/pocketsphinx)

# library_flags ENGINE: where the headers of its library are, if it is one of tools/npm_packages.txt.
library_flags() {
  local name version rest
  while read -r name version rest; do
    case $1/$name in
      whisper/whisper.rn) printf -- '-isystem %s/cpp ' "$(npm_package_folder "$name" "$version")" ;;
      llama/node-llama-cpp)
        printf -- '-isystem %s ' \
          "$(npm_package_folder "$name" "$version")"/source/{include,ggml/include,common,tools/mtmd,vendor/stb}
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
}

# flags_of FILE: into `flags`. Only these engines see their libraries, so that a new version of one does not
# make every file new.
flags_of() {
  local more=()
  if [[ $1 =~ (^|/)(whisper|llama)/ ]]; then read -ra more < <(library_flags "${BASH_REMATCH[2]}"); fi
  flags=("${TIDY_FLAGS[@]}" ${more[@]+"${more[@]}"})
}

# tidy_key FILE: changes with everything that FILE's findings depend on, but the system's headers.
tidy_key() {
  local flags configs=(.clang-tidy protocol/linkw.proto)
  flags_of "$1"
  [[ $1 != tests/* || ! -e tests/.clang-tidy ]] || configs+=(tests/.clang-tidy)
  {
    clangd-14 --version | head -n 1
    printf '%s\n' "$1" "${flags[@]//$TIDY_WORK/}"
    g++ "${flags[@]}" -MM "$1" | tr -d '\\:' | tr ' ' '\n' | grep -v '\.o$' | grep . | sort -u |
      xargs cat "${configs[@]}"
  } | sha256sum | cut -d' ' -f1
}

# json_strings TEXT...: as the elements of a JSON array; our names and flags have nothing to escape.
json_strings() {
  local text
  printf '"%s"' "$1"
  for text in "${@:2}"; do printf ', "%s"' "$text"; done
}

# all_checks FILE FLAG...: what clangd finds, a line each; with a status of 0 whatever it finds. It takes
# flags from a database only; headers are parsed as if they were sources, so that what they declare for others
# looks unused.
all_checks() {
  local file=$1 database
  shift
  database="$TIDY_WORK/database/${file//\//_}"
  mkdir -p "$database"
  printf '[{"directory": "%s", "file": "%s", "arguments": [%s]}]\n' "$ROOT" "$file" \
    "$(json_strings clang++ "$@" -c "$file")" >"$database/compile_commands.json"
  # It also tries its own features on the lines asked for; one is the least.
  clangd-14 --check="$file" --check-lines=1-1 --clang-tidy --background-index=false \
    --compile-commands-dir="$database" >"$database/log" 2>&1 || true
  [[ $file != *.h ]] || sed -i '/\[misc-unused-using-decls\]/d' "$database/log"
  sed -n "s#^E\[[^]]*\] \[\([^]]*\)\] Line \([0-9]*\): \(.*\)#$file:\2: error: \3 [\1]#p" "$database/log"
  grep -q 'All checks completed' "$database/log" || printf '%s:1: error: clangd gave up: %s\n' "$file" \
    "$(tail -n 1 "$database/log")"
}

use_after_move() {
  local file=$1
  shift
  clang-tidy-14 --quiet --checks='-*,bugprone-use-after-move' "$file" -- "$@" 2>"$TIDY_WORK/${file//\//_}.err" ||
    grep -E 'error:' "$TIDY_WORK/${file//\//_}.err" || true
  rm -f "$TIDY_WORK/${file//\//_}.err"
}

# tidy_one FILE: leaves its findings in a file of their own, empty if it is clean.
tidy_one() {
  local file=$1 flags key findings
  flags_of "$file"
  cd "$ROOT" || return
  findings="$TIDY_WORK/findings/${file//\//_}"
  key="$(tidy_key "$file")" || key=
  : >"$findings"
  [[ -z $key || ! -e $TIDY_CACHE/$key ]] || return 0
  all_checks "$file" "${flags[@]}" >"$findings"
  [[ $file == *.h ]] || use_after_move "$file" "${flags[@]}" >>"$findings"
  [[ -s $findings || -z $key ]] || : >"$TIDY_CACHE/$key"
}

# tidy WORK FILE...: prints what there is to say; 1 if there was any.
tidy() {
  local file running=0 done=0 at_most
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
    done=$((done + 1))
    ((done % 100 != 0)) || say "tidy: $done of $# files"
  done
  wait
  cat "$TIDY_WORK"/findings/* >"$TIDY_WORK/all"
  [[ -s $TIDY_WORK/all ]] || return 0
  cat "$TIDY_WORK/all"
  return 1
}
