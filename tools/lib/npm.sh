# shellcheck shell=bash
# Fetches npm packages from tools/npm_packages.txt into the cache: only what is missing, each with the
# integrity that file states. Needs common.sh and install.sh.
#
# install_npm_packages GROUP... returns 0 when every package of the groups is there; otherwise it ends the
# script with INSTALL_STATUS after saying what to do.

NPM_PACKAGES_FILE="${NPM_PACKAGES_FILE:-$ROOT/tools/npm_packages.txt}"

# Where tools/bazel/engine_libraries.bzl looks, too.
npm_folder() { printf '%s/npm\n' "$(cache_folder)"; }

# The lines of the groups, as "name version integrity".
wanted_npm_packages() {
  local groups=" $* "
  awk -v groups="$groups" '
    !/^[ \t]*(#|$)/ && index(groups, " " $1 " ") {
      at = match($2, /@[^@]*$/)
      print substr($2, 1, at - 1), substr($2, at + 1), $3
    }' "$NPM_PACKAGES_FILE"
}

# npm_package_folder NAME VERSION: where it lies when it is unpacked.
npm_package_folder() {
  local name=${1#@}
  printf '%s/%s-%s\n' "$(npm_folder)" "${name//\//-}" "$2"
}

# npm_package NAME: the folder of the package of that name in the list.
npm_package() {
  local name version
  while read -r name version _; do
    [[ $name != "$1" ]] || npm_package_folder "$name" "$version"
  done < <(wanted_npm_packages engines gpu)
}

integrity_of() { printf 'sha512-%s\n' "$(openssl dgst -sha512 -binary "$1" | base64 -w 0)"; }

# unpack_bundles FOLDER: node-llama-cpp brings its sources as a git bundle; they go to FOLDER/source.
unpack_bundles() {
  local bundle=$1/llama/gitRelease.bundle
  [[ -e $bundle ]] || return 0
  git -c advice.detachedHead=false clone --quiet "$bundle" "$1/source" && rm -rf "$1/source/.git" "$bundle"
}

# fetch_npm_package NAME VERSION INTEGRITY WORK: into its folder, whole or not at all.
fetch_npm_package() {
  local name=$1 version=$2 integrity=$3 work=$4 folder archive
  folder="$(npm_package_folder "$name" "$version")"
  mkdir -p "$work/archive" "$work/package" "$(npm_folder)" || return
  say "fetching $name $version with npm"
  (cd "$work" && npm pack "$name@$version" --silent --ignore-scripts --pack-destination "$work/archive") \
    </dev/null >&2 || return
  archive="$(printf '%s\n' "$work"/archive/*.tgz)"
  if [[ $(integrity_of "$archive") != "$integrity" ]]; then
    error "$name $version: the archive is not the one that tools/npm_packages.txt names (its SHA-512 differs)"
    return 1
  fi
  tar -xzf "$archive" -C "$work/package" --strip-components=1 --no-same-owner || return
  unpack_bundles "$work/package" || return
  # Another script may have been quicker.
  mv -T "$work/package" "$folder" 2>/dev/null || [[ -d $folder ]]
}

install_npm_packages() {
  local line name version integrity work status
  local -a missing=()
  find_home || exit "$INSTALL_STATUS"
  while read -r name version integrity; do
    [[ -d $(npm_package_folder "$name" "$version") ]] || missing+=("$name $version $integrity")
  done < <(wanted_npm_packages "$@")
  ((${#missing[@]} > 0)) || return 0
  # Whatever brought npm, it will do; Debian's otherwise.
  command -v npm >/dev/null || install_packages npm
  for line in "${missing[@]}"; do
    read -r name version integrity <<<"$line"
    # In the cache, so that the last step is a rename.
    mkdir -p "$(npm_folder)"
    work="$(mktemp -d "$(npm_folder)/.fetching.XXXXXXXX")"
    status=0
    fetch_npm_package "$name" "$version" "$integrity" "$work" || status=1
    rm -rf "$work"
    ((status == 0)) || fail "$INSTALL_STATUS" "could not fetch the npm package $name $version"
  done
}
