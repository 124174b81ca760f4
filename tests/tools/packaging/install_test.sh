#!/usr/bin/env bash
# An installation in an empty folder: its programs run, others build against it with the lines of the documents, its
# pages and completions say what the programs say.

# shellcheck disable=SC2317 # cases are called by their names
# shellcheck source-path=SCRIPTDIR source=../scripts/testing.sh
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/testing.sh"

BUILT="$(cd "$LIB/../.." && pwd)"
PREFIX="$(mktemp -d "${TEST_TMPDIR:-/tmp}/installed.XXXXXX")"
trap 'rm -rf "$PREFIX"' EXIT
export PATH="$PREFIX/bin:/usr/local/bin:/usr/bin:/bin" PKG_CONFIG_PATH="$PREFIX/lib/pkgconfig" LC_ALL=C.UTF-8
unset RUNFILES_DIR SUPERFLUID_ENGINE_PATH JAVA_RUNFILES

PROGRAMS=(superfluid_worker superfluidctl superfluidd superfluid_conformance)
DOC="$PREFIX/share/doc/superfluid"

"$BUILT/tools/install" "$PREFIX" --from "$BUILT" || exit 1

# line_of DOCUMENT PATTERN: the one command of the document that matches.
line_of() {
  local lines
  lines="$(grep -E "^    $2" "$1")"
  [[ $lines == *[![:space:]]* && $lines != *$'\n'* ]] || { echo "not one line of $1 is '$2': $lines" >&2 && exit 1; }
  printf '%s\n' "${lines#    }"
}

# with_worker ENGINE COMMAND...: runs the command beside a worker, whose socket is $SUPERFLUID_SOCKET.
with_worker() {
  local worker status=0
  export SUPERFLUID_SOCKET="$PWD/w.sock"
  SUPERFLUID_SOCKET="$(mktemp -u /tmp/sfi-XXXXXX)"
  superfluid_worker --engine "$1" --listen "$SUPERFLUID_SOCKET" 2>worker.log &
  worker=$!
  # shellcheck disable=SC2094 # `info` is a command here, too
  if ! superfluidctl --wait --timeout 60 info >info; then
    cat worker.log >&2
    exit 1
  fi
  "${@:2}" || status=$?
  kill "$worker"
  wait "$worker"
  return "$status"
}

# tone FILE: two loud seconds as a WAV file.
tone() {
  {
    printf 'RIFF\x24\xfa\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x80\x3e\x00\x00\x00\x7d\x00\x00\x02\x00\x10\x00'
    printf 'data\x00\xfa\x00\x00'
    yes "$(printf '\x01\x50\x01\x50\x01\x50\x01\x50\x01\xb0\x01\xb0\x01\xb0\x01\xb')" | tr -d '\n' | head -c 64000
  } >"$1"
}

# options_of PROGRAM [COMMAND]: what --help lists, a name a line.
options_of() {
  "$@" --help | sed -n '/^[A-Z]/,$!d; /^  -/{s/^  \([-a-z0-9,]*\).*/\1/; s/,/\n/g; p}' | sort -u
}

commands_of() { superfluidctl --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p'; }

test_the_worker_finds_its_engines_beside_itself() {
  with_worker sim superfluidctl ping
  expect_contains "$(<worker.log)" "engine=\"$PREFIX/lib/superfluid/engines/libsuperfluid_sim.so\""
}

test_the_programs_work_where_they_were_moved_to() {
  cp -r "$PREFIX" moved
  PATH="$PWD/moved/bin:$PATH"
  with_worker sim superfluidctl ping
}

test_the_example_of_a_configuration_is_good() {
  expect_status 0 superfluidd --config "$PREFIX/etc/superfluid/superfluidd.toml" --check-config
}

test_a_configuration_that_is_there_stays() {
  mkdir -p root/etc/superfluid
  echo mine >root/etc/superfluid/superfluidd.toml
  "$BUILT/tools/install" /usr --destdir root --from "$BUILT" --no-strip --lib lib/triplet
  expect_equal "$(<root/etc/superfluid/superfluidd.toml)" mine
  [[ -e root/usr/lib/triplet/pkgconfig/superfluid-client.pc && -x root/usr/bin/superfluidd ]]
  expect_contains "$(<root/usr/lib/systemd/system/superfluidd.service)" \
    "ExecStart=/usr/bin/superfluidd --config /etc/superfluid/superfluidd.toml"
  expect_equal "$(grep -rlI '@[A-Z]*@' root || true)" ""
}

test_programs_are_stripped_and_their_debug_files_lie_beside() {
  local id
  id="$(readelf -n "$PREFIX/bin/superfluidctl" | sed -n 's/.*Build ID: //p')"
  [[ -s $PREFIX/lib/debug/.build-id/${id:0:2}/${id:2}.debug ]]
  expect_equal "$(readelf -S "$PREFIX/bin/superfluidctl" | grep -c '\.symtab')" 0
}

test_an_engine_in_c_is_built_with_the_line_of_the_page() {
  cp "$DOC/examples/smallest_engine.c" mine.c
  bash -c "$(line_of "$DOC/engines.md" 'cc .* mine\.c .*superfluid-engine\)')"
  expect_equal "$(nm -D --defined-only libsuperfluid_mine.so | awk '{ print $3 }')" superfluid_engine_entry
  with_worker ./libsuperfluid_mine.so true
  expect_contains "$(<info)" mine
}

test_what_nobody_defines_is_an_error_when_it_is_linked() {
  sed 's/calloc(/my_calloc(/; s/^struct sfl_engine {/void* my_calloc(size_t, size_t);\n&/' \
    "$DOC/examples/smallest_engine.c" >mine.c
  expect_status 1 bash -c "$(line_of "$DOC/engines.md" 'cc .* mine\.c .*superfluid-engine\)')"
  expect_contains "$output" "undefined reference to \`my_calloc'"
}

test_an_engine_and_a_client_in_cxx_are_built_with_the_lines_of_the_pages() {
  cp "$DOC/examples/loudness_engine.cc" "$DOC/examples/example_client.cc" .
  bash -c "$(line_of "$DOC/engines.md" 'c\+\+ ')"
  bash -c "$(line_of "$DOC/daemons.md" 'c\+\+ ')"
  expect_equal "$(nm -D --defined-only libsuperfluid_loudness.so | awk '{ print $3 }')" superfluid_engine_entry
  tone talk.wav
  # shellcheck disable=SC2016 # for that shell
  with_worker ./libsuperfluid_loudness.so bash -c './example_client "$SUPERFLUID_SOCKET" "$PWD/talk.wav" >heard'
  expect_equal "$(<heard)" $'loud\nloud'
}

test_the_whole_example_is_built_with_the_lines_of_the_page() {
  mkdir engine
  cp -r "$DOC/examples" engine
  bash -c "$(line_of "$DOC/engines.md" 'cc .*engine/examples/example_')"
  with_worker ./libsuperfluid_mine.so superfluidctl generate 1 2 3 --max-tokens 3
}

test_the_programs_of_the_clients_page_are_built() {
  local program
  for program in many_files live_audio batched_ticks move_state; do
    cp "$DOC/examples/$program.cc" example_client.cc
    bash -c "$(line_of "$DOC/daemons.md" 'c\+\+ ')"
    expect_status 2 ./example_client
  done
}

test_engines_of_another_bazel_workspace_load() {
  local outside
  outside="$(dirname "$BUILT")/outside/my"
  with_worker "$outside/libsuperfluid_mine.so" true
  with_worker "$outside/libsuperfluid_silent.so" true
  expect_contains "$(<info)" silent
}

# all_options_of PROGRAM: its own and those of its commands.
all_options_of() {
  local command
  options_of "$1"
  [[ $1 == superfluidctl ]] || return 0
  for command in $(commands_of); do options_of superfluidctl "$command"; done
}

# expect_options PROGRAM WHERE: the options of the program are all among the lines of standard input.
expect_options() { expect_equal "$(comm -23 <(all_options_of "$1" | sort -u) <(sort -u))" "" "what is missing in $2"; }

test_man_pages_have_every_option_and_are_clean() {
  local program page
  for page in "$PREFIX"/share/man/man?/*; do
    expect_equal "$(MANWIDTH=100 man --warnings -l "$page" 2>&1 >/dev/null)" "" "what man says of $page"
    lexgrog "$page"
  done
  for program in "${PROGRAMS[@]}"; do
    MANWIDTH=500 man -l "$PREFIX/share/man/man1/$program.1" >page
    grep -E '^ +-' page | grep -oE -- '--?[a-z][-a-z0-9]*' | expect_options "$program" "the page of $program"
  done
}

test_man_pages_build_as_the_documents_do() {
  local page
  for page in engine client; do
    MANWIDTH=500 man -l "$PREFIX/share/man/man7/superfluid-$page.7" >>pages
  done
  expect_contains "$(<pages)" "$(line_of "$DOC/engines.md" 'cc .* mine\.c .*superfluid-engine\)')"
  expect_contains "$(<pages)" "$(line_of "$DOC/engines.md" 'c\+\+ ')"
  expect_contains "$(<pages)" "$(line_of "$DOC/daemons.md" 'c\+\+ ')"
}

# completed PROGRAM WORD...: what bash offers for the last word, sorted.
completed() {
  # shellcheck source=/dev/null
  . "$PREFIX/share/bash-completion/completions/$1"
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  "_$1"
  printf '%s\n' "${COMPREPLY[@]}" | sort -u
}

test_bash_completes_every_option() {
  local program command
  for program in "${PROGRAMS[@]}"; do
    expect_equal "$(completed "$program" - | grep '^-')" "$(options_of "$program")"
  done
  for command in $(commands_of); do
    expect_equal "$(completed superfluidctl "$command" -)" \
      "$({ options_of superfluidctl && options_of superfluidctl "$command"; } | sort -u)"
  done
  expect_equal "$(completed superfluidctl tr)" transcribe
  expect_equal "$(completed superfluid_worker --on-disconnect k)" keep-cache
}

test_zsh_and_fish_take_the_completions_and_have_every_option() {
  local program fish zsh
  for program in "${PROGRAMS[@]}"; do
    fish="$PREFIX/share/fish/vendor_completions.d/$program.fish"
    zsh="$PREFIX/share/zsh/vendor-completions/_$program"
    zsh -n "$zsh"
    HOME=$PWD fish --no-execute "$fish"
    grep -oE -- '--?[a-z][-a-z0-9]*\[' "$zsh" | tr -d '[' | expect_options "$program" "$zsh"
    grep -oE -- ' -l [-a-z0-9]+| -s [a-z]' "$fish" | sed 's/ -l /--/; s/ -s /-/' | expect_options "$program" "$fish"
  done
  HOME=$PWD fish --no-config -c "source $PREFIX/share/fish/vendor_completions.d/superfluidctl.fish
    complete -C 'superfluidctl trans'" >offered
  expect_contains "$(<offered)" transcribe
}

run_tests
