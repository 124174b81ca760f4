# shellcheck shell=bash
# The libraries that synchronise our threads, built for ThreadSanitizer: CAF and abseil. Debian's are not
# instrumented, so that every hand-over through one of their mailboxes or locks would look like a race, and
# a real race behind a suppression of them would not be seen. Needs common.sh and install.sh.
#
# build_tsan_libraries returns 0 when both lie in tsan_folder; otherwise it ends the script with a word.
# The sources are those of the installed packages, taken with apt from the machine's own archive.

# source package, what must be its version, the package whose version that is
readonly TSAN_LIBRARIES=("actor-framework libcaf-dev" "abseil libabsl-dev")

# The version that the packages here have, without Debian's revision.
upstream_version() {
  local version
  version="$(installed_version "$1")"
  version=${version#*:}
  printf '%s\n' "${version%-*}"
}

# Holds for one version of the two libraries and of the compiler.
tsan_folder() {
  local key
  key="$(
    upstream_version libcaf-dev
    upstream_version libabsl-dev
    g++ -dumpfullversion
    sed -n '/^configure_/,/^}/p' "${BASH_SOURCE[0]}"
  )"
  printf '%s/tsan/%s\n' "$(cache_folder)" "$(sha256sum <<<"$key" | cut -c1-16)"
}

# The machine's own sources of packages as sources of source packages, in FOLDER.
source_lists() {
  local folder=$1 file
  mkdir -p "$folder/parts" "$folder/lists/partial"
  for file in /etc/apt/sources.list.d/*.sources; do
    [[ ! -e $file ]] || sed 's/^Types:.*/Types: deb-src/' "$file" >"$folder/parts/${file##*/}"
  done
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [[ ! -e $file ]] || sed -n 's/^deb[[:space:]]/deb-src /p' "$file"
  done >"$folder/parts/machine.list"
}

# apt_source FOLDER ARGUMENT...: apt-get with the lists of that folder, without a change to the machine.
apt_source() {
  local folder=$1
  shift
  (cd "$folder" && apt-get --quiet --quiet -o Dir::Etc::SourceList=/dev/null \
    -o Dir::Etc::SourceParts="$folder/parts" -o Dir::State::Lists="$folder/lists" \
    -o APT::Sandbox::User=root -o Acquire::Retries=3 "$@") </dev/null >&2
}

configure_actor_framework() {
  cmake -S "$1" -B "$2" -DCAF_NO_TOOLS=ON -DCAF_NO_EXAMPLES=ON -DCAF_NO_UNIT_TESTS=ON -DCAF_NO_IO=ON \
    -DCAF_NO_OPENSSL=ON -DCAF_NO_OPENCL=ON -DCAF_NO_PYTHON=ON -DCAF_BUILD_STATIC_ONLY=ON -DCAF_BUILD_STATIC=ON
}

# With Debian's options, which are part of its names.
configure_abseil() {
  cp /usr/include/absl/base/options.h "$1/absl/base/options.h" &&
    cmake -S "$1" -B "$2" -DABSL_PROPAGATE_CXX_STD=ON -DBUILD_TESTING=OFF
}

# build_tsan_library NAME WORK: its archives go to WORK/lib.
build_tsan_library() {
  local name=$1 work=$2 tree build
  tree="$(find "$work" -maxdepth 1 -type d -name "$name-*" -print -quit)"
  build="$work/build-$name"
  [[ -n $tree ]] || return
  export CXXFLAGS="-fsanitize=thread -fno-omit-frame-pointer -fPIC -O1 -g1 -std=c++17 -w" LDFLAGS=-fsanitize=thread
  if ! {
    "configure_${name//-/_}" "$tree" "$build" && cmake --build "$build" --parallel "$(nproc)"
  } >"$work/$name.log" 2>&1; then
    tail -n 20 "$work/$name.log" >&2
    return 1
  fi
  find "$build" "$tree" -name 'lib*.a' -exec cp -t "$work/lib" {} +
  # A static CAF has another name than the shared one.
  [[ ! -e $work/lib/libcaf_core_static.a ]] || mv "$work/lib/libcaf_core_static.a" "$work/lib/libcaf_core.a"
}

build_tsan_libraries() {
  local folder work line name package version
  install_packages check
  find_home || exit "$INSTALL_STATUS"
  folder="$(tsan_folder)"
  [[ ! -d $folder ]] || return 0
  mkdir -p "${folder%/*}"
  work="$(mktemp -d "${folder%/*}/.building.XXXXXXXX")"
  source_lists "$work"
  say "building CAF and abseil for ThreadSanitizer (once; some minutes)"
  apt_source "$work" update || fail "$INSTALL_STATUS" "cannot read the lists of source packages"
  mkdir -p "$work/lib"
  for line in "${TSAN_LIBRARIES[@]}"; do
    read -r name package <<<"$line"
    version="$(upstream_version "$package")"
    apt_source "$work" source --download-only --tar-only "$name" ||
      fail "$INSTALL_STATUS" "cannot get the source of $name with apt"
    tar -xf "$work/${name}_$version".orig.tar.* -C "$work" ||
      fail "$INSTALL_STATUS" "the archive has another version of $name than the $version that is installed"
    (build_tsan_library "$name" "$work") || fail 1 "$name does not build with -fsanitize=thread"
  done
  mv -T "$work/lib" "$folder" 2>/dev/null || [[ -d $folder ]]
  rm -rf "$work"
}
