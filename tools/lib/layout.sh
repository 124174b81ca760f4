# shellcheck shell=bash
# What an installation consists of, and where it lies in a build. Needs common.sh.

# shellcheck disable=SC2034,SC2154 # for the scripts that source this; destdir, prefix, lib, sysconfdir, strip are theirs

INSTALLED_TARGETS=(//tools:superfluid_worker //tools:superfluidctl //tools:superfluidd //tools:superfluid_decode
  //tests/conformance //engine/pocketsphinx:libsuperfluid_pocketsphinx.so //engine/sim:libsuperfluid_sim.so
  //tools/packaging:all)

# Programs, as "NAME PLACE-IN-THE-BUILD".
INSTALLED_PROGRAMS=(
  "superfluid_worker tools/worker/superfluid_worker"
  "superfluidctl tools/ctl/superfluidctl"
  "superfluidd tools/superfluidd/superfluidd"
  "superfluid_decode tools/decode/superfluid_decode"
  "superfluid_conformance tests/conformance/conformance"
)

# Of these the first two are always there; the others where they were built.
INSTALLED_ENGINES=(pocketsphinx sim whisper)

superfluid_version() { sed -n 's/.*kSuperfluidVersion\[\] = "\(.*\)".*/\1/p' "$ROOT/tools/version.h"; }

# put MODE FILE PLACE: installs FILE below `destdir` (of the caller) at PLACE.
put() { install -D -m "$1" "$2" "$destdir$3"; }

# put_filled FILE PLACE: the same with @NAMES@ filled in.
put_filled() {
  local text
  text="$(<"$1")"
  text="${text//@SANDBOX@/$(<"$ROOT/tools/packaging/units/sandbox.conf")}"
  text="${text//@PREFIX@/$prefix}"
  text="${text//@LIB@/$lib}"
  text="${text//@BINDIR@/$prefix/bin}"
  text="${text//@SYSCONFDIR@/$sysconfdir}"
  text="${text//@VERSION@/$(superfluid_version)}"
  mkdir -p "$(dirname "$destdir$2")"
  printf '%s\n' "$text" >"$destdir$2"
  chmod 644 "$destdir$2"
}

# put_stripped FILE PLACE: a program or a library, without its debug information; that goes to
# lib/debug/.build-id, where gdb, perf and addr2line look for it.
put_stripped() {
  local target=$destdir$2 id debug
  put 755 "$1" "$2"
  ((strip)) || return 0
  id="$(readelf -n "$target" | sed -n 's/.*Build ID: \([0-9a-f]*\).*/\1/p')"
  debug=$destdir$prefix/lib/debug/.build-id/${id:0:2}/${id:2}.debug
  chmod u+w "$target"
  mkdir -p "$(dirname "$debug")"
  objcopy --only-keep-debug --compress-debug-sections "$target" "$debug"
  chmod 644 "$debug"
  strip --strip-unneeded --remove-section=.comment --remove-section=.note "$target"
}

# put_tree FOLDER PLACE: its files, which others may read.
put_tree() {
  local file
  while IFS= read -r -d '' file; do
    put 644 "$1/$file" "$2/$file"
  done < <(cd "$1" && find -L . -type f -printf '%P\0')
}
