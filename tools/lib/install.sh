# shellcheck shell=bash
# Installs Debian packages from tools/packages.txt: only what is missing, without a question, with the
# versions that file asks for. Needs common.sh.
#
# install_packages GROUP... returns 0 when every package of the groups is there; otherwise it ends the
# script with status 10 after saying what to do.

INSTALL_STATUS=10
PACKAGES_FILE="${PACKAGES_FILE:-$ROOT/tools/packages.txt}"
OS_RELEASE_FILE="${OS_RELEASE_FILE:-/etc/os-release}"

# The lines of the groups, as "package version accepted".
wanted_packages() {
  local groups=" $* "
  awk -v groups="$groups" '
    !/^[ \t]*(#|$)/ && index(groups, " " $1 " ") { split($2, pin, "="); print pin[1], pin[2], $3 }
  ' "$PACKAGES_FILE"
}

# The installed version of a package; nothing if it is not installed.
installed_version() {
  local state
  # shellcheck disable=SC2016 # dpkg's own placeholders
  state="$(dpkg-query --show --showformat='${db:Status-Status} ${Version}' "$1" 2>/dev/null)" || return 0
  [[ $state != "installed "* ]] || printf '%s\n' "${state#installed }"
}

# The versions apt could install, newest first.
available_versions() { apt-cache madison "$1" 2>/dev/null | awk -F'|' '{ gsub(/ /, "", $2); print $2 }'; }

# within VERSION PATTERN
within() {
  # shellcheck disable=SC2053 # a pattern is meant
  [[ $1 == $2 ]]
}

# choose_version PACKAGE PINNED ACCEPTED: what to install, by the rule in packages.txt; nothing if apt
# does not know the package.
choose_version() {
  local package=$1 pinned=$2 accepted=$3 version first='' inside=''
  while read -r version; do
    [[ $version != "$pinned" ]] || { printf '%s\n' "$version" && return; }
    first="${first:-$version}"
    if [[ -z $inside ]] && within "$version" "$accepted"; then inside=$version; fi
  done < <(available_versions "$package")
  if [[ -n $inside ]]; then
    say "$package $pinned has left the archive; taking $inside"
  elif [[ -n $first ]]; then
    warn "$package: tested with $pinned, but only $first is to be had"
  fi
  printf '%s' "${inside:-$first}"
}

# Runs a command as root: directly, or through sudo where that needs no password or can ask on a terminal.
as_root() {
  if ((EUID == 0)); then
    "$@"
  else
    sudo -- "$@"
  fi
}

can_be_root() {
  ((EUID == 0)) && return
  command -v sudo >/dev/null || return
  [[ -t 0 && -z ${CI:-} ]] || sudo -n true 2>/dev/null
}

apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get --quiet --yes --no-install-recommends \
    -o DPkg::Lock::Timeout=300 -o Dpkg::Options::=--force-confold -o Acquire::Retries=3 "$@" </dev/null
}

# confirm_system COUNT: returns if this is the system that the packages are for, or if the user wants COUNT of
# them here all the same: SUPERFLUID_ANY_OS=1, or a yes on the terminal. Else it ends the script.
confirm_system() {
  local name=unknown codename='' answer=''
  if [[ -r $OS_RELEASE_FILE ]]; then
    # shellcheck disable=SC1090
    name="$(. "$OS_RELEASE_FILE" && printf '%s' "${PRETTY_NAME:-${ID:-unknown}}")"
    # shellcheck disable=SC1090
    codename="$(. "$OS_RELEASE_FILE" && printf '%s' "${VERSION_CODENAME:-}")"
  fi
  [[ $codename != bookworm ]] || return 0
  warn "this is made for Debian 12 (bookworm); here is $name, whose packages differ: the build may fail"
  [[ ${SUPERFLUID_ANY_OS:-} != 1 ]] || return 0
  if [[ -t 0 && -t 2 && -z ${CI:-} ]]; then
    read -rp "Install $1 packages here all the same? [y/N] " answer || true
  fi
  [[ $answer == [yY]* ]] ||
    fail "$INSTALL_STATUS" "nothing was installed; SUPERFLUID_ANY_OS=1 installs on any system with apt-get"
}

# try_install LOG LINE...: one attempt at what is missing, with chosen versions.
try_install() {
  local log=$1 line package pinned accepted version
  local -a requests=()
  shift
  for line in "$@"; do
    read -r package pinned accepted <<<"$line"
    version="$(choose_version "$package" "$pinned" "$accepted")"
    [[ -n $version ]] || return 1
    requests+=("$package=$version")
  done
  apt_install "$log" "${requests[@]}"
}

# apt_install LOG PACKAGE...: a line now and then, so that minutes do not pass in silence.
apt_install() {
  local log=$1
  shift
  apt_get install "$@" 2>&1 | tee -a "$log" | awk '
    /^Need to get / { print "    " $0 }
    /^Setting up / && ++done % 50 == 0 { print "    " done " packages set up" }
    { fflush() }' >&2
}

# True if apt knows the pinned version of each line.
pins_are_known() {
  local line package pinned accepted
  for line in "$@"; do
    read -r package pinned accepted <<<"$line"
    available_versions "$package" | grep -Fxq -- "$pinned" || return 1
  done
}

update_lists() {
  say "reading the package lists (apt-get update)"
  apt_get update >>"$1" 2>&1 || warn "apt-get update failed; going on with the lists that are here"
}

# attempts LOG LINE...: old package lists are the usual reason for a failure, a half-upgraded machine is
# the next; each is tried once.
attempts() {
  local log=$1 updated=0
  shift
  if ! pins_are_known "$@"; then
    update_lists "$log"
    updated=1
  fi
  try_install "$log" "$@" && return
  if ((!updated)); then
    update_lists "$log"
    try_install "$log" "$@" && return
  fi
  warn "apt cannot install these versions together; letting it choose"
  apt_install "$log" "${@%% *}"
}

install_lines() {
  local log status=0
  log="$(mktemp)"
  if ! attempts "$log" "$@"; then
    status=1
    tail -n 20 "$log" >&2
  fi
  rm -f "$log"
  return "$status"
}

install_packages() {
  local line package pinned accepted version
  local -a missing=()
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    fail "$INSTALL_STATUS" "this needs a Debian system (dpkg, apt-get); Debian 12 is what it is tested on"
  fi
  while read -r package pinned accepted; do
    version="$(installed_version "$package")"
    if [[ -z $version ]]; then
      missing+=("$package $pinned $accepted")
    elif ! within "$version" "$accepted"; then
      warn "$package $version is installed; tested with $pinned"
    fi
  done < <(wanted_packages "$@")
  ((${#missing[@]} > 0)) || return 0

  confirm_system "${#missing[@]}"
  can_be_root || fail "$INSTALL_STATUS" "root rights are needed to install ${#missing[@]} packages. As root, run:
    apt-get update && apt-get install --no-install-recommends ${missing[*]%% *}"
  say "installing ${#missing[@]} of the packages in tools/packages.txt (with what they need)"
  install_lines "${missing[@]}" ||
    fail "$INSTALL_STATUS" "could not install: ${missing[*]%% *}"
  say "packages installed"
}
