#!/usr/bin/env bash
# tools/lib/install.sh asks for what is missing, in the versions that packages.txt wants. The package
# tools of the system are replaced by functions that record what they are asked.

# shellcheck disable=SC2016,SC2317 # cases are called by their names; texts with backticks
# shellcheck source-path=SCRIPTDIR source=testing.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/testing.sh"
# shellcheck source-path=SCRIPTDIR source=../../../tools/lib/common.sh
. "$LIB/common.sh"
# shellcheck source-path=SCRIPTDIR source=../../../tools/lib/install.sh
. "$LIB/install.sh"

declare -A INSTALLED=() ARCHIVE=() ARCHIVE_AFTER_UPDATE=()

dpkg-query() {
  local package="${*: -1}"
  [[ -n ${INSTALLED[$package]:-} ]] && printf '%s' "${INSTALLED[$package]}"
}

apt-cache() {
  local version
  for version in ${ARCHIVE[$2]:-}; do printf '%s | %s | somewhere\n' "$2" "$version"; done
}

# Fails for what is not in ARCHIVE, as apt-get would.
apt_get() {
  printf '%s\n' "$*" >>calls
  local request package
  if [[ $1 == update ]]; then
    for package in "${!ARCHIVE_AFTER_UPDATE[@]}"; do ARCHIVE[$package]=${ARCHIVE_AFTER_UPDATE[$package]}; done
    return
  fi
  for request in "${@:2}"; do
    [[ $request != broken* ]] || return 100
  done
}

can_be_root() { [[ ! -e not_root ]]; }

setup() {
  PACKAGES_FILE="$PWD/packages.txt"
  OS_RELEASE_FILE="$PWD/os-release"
  printf '%s\n' 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"' VERSION_CODENAME=bookworm >os-release
  printf '%s\n' '# comment' '' 'run   one=1.0-1  1.0-*' 'run   two=2:2.0-1+b1  2:2.*' 'check three=3-1  3-*' \
    >packages.txt
  : >calls
}

test_nothing_is_done_when_all_is_there() {
  setup
  INSTALLED=([one]="installed 1.0-1" [two]="installed 2:2.0-1+b1")
  touch not_root
  expect_status 0 install_packages run
  expect_equal "$output" ""
  expect_equal "$(<calls)" ""
}

test_installs_the_pinned_version_of_what_is_missing_only() {
  setup
  INSTALLED=([one]="installed 1.0-1" [two]="not-installed ")
  ARCHIVE=([two]="2:2.4-1 2:2.0-1+b1")
  expect_status 0 install_packages run
  expect_equal "$(<calls)" "install two=2:2.0-1+b1"
}

test_a_removed_package_with_configuration_left_is_missing() {
  setup
  INSTALLED=([one]="config-files 1.0-1" [two]="installed 2:2.0-1+b1")
  ARCHIVE=([one]="1.0-1")
  expect_status 0 install_packages run
  expect_equal "$(<calls)" "install one=1.0-1"
}

test_groups_are_kept_apart() {
  setup
  INSTALLED=([one]="installed 1.0-1" [two]="installed 2:2.0-1+b1")
  ARCHIVE=([three]="3-1")
  expect_status 0 install_packages run check
  expect_equal "$(<calls)" "install three=3-1"
}

test_reads_the_lists_when_the_pinned_version_is_unknown() {
  setup
  INSTALLED=([two]="installed 2:2.0-1+b1")
  ARCHIVE_AFTER_UPDATE=([one]="1.0-1")
  expect_status 0 install_packages run
  expect_equal "$(<calls)" $'update\ninstall one=1.0-1'
}

test_takes_the_newest_accepted_version_when_the_pinned_one_has_left() {
  setup
  INSTALLED=([two]="installed 2:2.0-1+b1")
  ARCHIVE=([one]="1.1-1 1.0-1+deb12u3 1.0-1+deb12u2")
  expect_status 0 install_packages run
  expect_equal "$(<calls)" $'update\ninstall one=1.0-1+deb12u3'
  expect_contains "$output" "one 1.0-1 has left the archive; taking 1.0-1+deb12u3"
}

test_takes_another_version_with_a_warning_when_none_is_accepted() {
  setup
  INSTALLED=([two]="installed 2:2.0-1+b1")
  ARCHIVE=([one]="7-1 6-1")
  expect_status 0 install_packages run
  expect_equal "$(<calls)" $'update\ninstall one=7-1'
  expect_contains "$output" "warning: one: tested with 1.0-1, but only 7-1 is to be had"
}

test_an_installed_version_outside_the_pin_is_kept_with_a_warning() {
  setup
  INSTALLED=([one]="installed 9-1" [two]="installed 2:2.9-1")
  expect_status 0 install_packages run
  expect_equal "$(<calls)" ""
  expect_contains "$output" "warning: one 9-1 is installed; tested with 1.0-1"
}

test_without_root_it_says_what_to_run() {
  setup
  ARCHIVE=([one]="1.0-1" [two]="2:2.0-1+b1")
  touch not_root
  expect_status 10 install_packages run
  expect_contains "$output" "apt-get install --no-install-recommends one two"
  expect_equal "$(<calls)" ""
}

test_on_another_system_nothing_is_installed_without_a_word_of_the_user() {
  setup
  printf '%s\n' 'PRETTY_NAME="Ubuntu 24.04"' VERSION_CODENAME=noble >os-release
  ARCHIVE=([one]="1.0-1" [two]="2:2.0-1+b1")
  expect_status 10 install_packages run </dev/null
  expect_contains "$output" "here is Ubuntu 24.04"
  expect_contains "$output" "SUPERFLUID_ANY_OS=1"
  expect_equal "$(<calls)" ""
}

test_on_another_system_it_installs_when_the_user_said_so() {
  setup
  rm os-release
  ARCHIVE=([one]="1.0-1" [two]="2:2.0-1+b1")
  export SUPERFLUID_ANY_OS=1
  expect_status 0 install_packages run
  expect_contains "$output" "warning: this is made for Debian 12"
  expect_equal "$(<calls)" "install one=1.0-1 two=2:2.0-1+b1"
}

test_another_system_with_all_there_is_none_of_our_business() {
  setup
  printf 'VERSION_CODENAME=noble\n' >os-release
  INSTALLED=([one]="installed 1.0-1" [two]="installed 2:2.0-1+b1")
  expect_status 0 install_packages run </dev/null
  expect_equal "$output" ""
}

test_a_package_that_cannot_be_installed_ends_with_status_10() {
  setup
  printf 'run broken=1-1 1-*\n' >packages.txt
  ARCHIVE=([broken]="1-1")
  expect_status 10 install_packages run
  expect_equal "$(<calls)" $'install broken=1-1\nupdate\ninstall broken=1-1\ninstall broken'
  expect_contains "$output" "error: could not install: broken"
}

test_every_line_of_the_real_list_accepts_its_own_pin() {
  local group package accepted lines=0
  while read -r group package accepted; do
    if [[ ! $group =~ ^(run|engines|npm|test|check|package)$ || $package != *=* ]] || ! within "${package#*=}" "$accepted"; then
      expect_equal "$group $package $accepted" "a good line"
    fi
    lines=$((lines + 1))
  done < <(grep -v -e '^#' -e '^ *$' "$LIB/../packages.txt")
  ((lines > 20))
}

run_tests
