# shellcheck shell=bash
# The packages in a clean Debian 12 of their own: installed, used, built against, removed. Needs common.sh, install.sh,
# root rights, and an archive that debootstrap can reach.

# What is done in there, as root, with /packages.
package_check_script() {
  cat <<'END'
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin
say() { printf -- '--> %s\n' "$*"; }
files() { find / -xdev \( -path /proc -o -path /packages -o -path /var/lib/dpkg -o -path /var/lib/apt -o -path /var/cache \
  -o -path /var/log -o -path /tmp -o -path /run \) -prune -o -print | LC_ALL=C sort; }
printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
chmod +x /usr/sbin/policy-rc.d
# Doc files are what the examples are taken from; a container's dpkg may leave them out.
rm -f /etc/dpkg/dpkg.cfg.d/docker
apt-get -qq update
apt-get -qq install -y --no-install-recommends adduser >/dev/null

say "install worker, engine and daemon"
files >/tmp/before
apt-get -qq install -y --no-install-recommends /packages/superfluid-worker_*.deb \
  /packages/superfluid-engine-pocketsphinx_*.deb /packages/superfluidd_*.deb pocketsphinx-testdata >/dev/null
id superfluid
[[ -d /var/lib/superfluid ]]

say "a transcript"
install -d -o superfluid /tmp/s
as=(setpriv --reuid superfluid --regid superfluid --clear-groups)
"${as[@]}" superfluid_worker --listen /tmp/s/w.sock 2>/tmp/worker.log &
worker=$!
"${as[@]}" superfluidctl --connect /tmp/s/w.sock --wait --timeout 120 ping
recording="$(find /usr/share/pocketsphinx/test -name '*.wav' | head -n 1)"
"${as[@]}" superfluidctl --connect /tmp/s/w.sock transcribe "$recording"
kill "$worker"
wait "$worker"

say "the daemon, with the configuration that came with it"
"${as[@]}" superfluidd --config /etc/superfluid/superfluidd.toml --check-config
"${as[@]}" superfluidd --config /etc/superfluid/superfluidd.toml >/tmp/access.log 2>/tmp/daemon.log &
daemon=$!
ready() { exec 9<>/dev/tcp/127.0.0.1/8080 && printf 'GET /ready HTTP/1.0\r\nHost: localhost\r\n\r\n' >&9 && read -r answer <&9 &&
  [[ $answer == *" 200 "* ]]; }
for _ in $(seq 600); do
  if ready 2>/dev/null; then break; fi
  sleep 0.1
done
ready || { cat /tmp/daemon.log && exit 1; }
size="$(stat -c %s "$recording")"
form=$'--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n'
tail=$'\r\n--b--\r\n'
exec 9<>/dev/tcp/127.0.0.1/8080
{
  printf 'POST /v1/audio/transcriptions HTTP/1.0\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=b\r\n'
  printf 'Content-Length: %d\r\n\r\n%s' $((${#form} + size + ${#tail})) "$form"
  cat "$recording"
  printf %s "$tail"
} >&9
cat <&9 >/tmp/answer
grep -a '^{"text":' /tmp/answer || { cat /tmp/answer /tmp/daemon.log && exit 1; }
kill "$daemon"
wait "$daemon"

say "build an engine in C, one in C++ and a client with the lines of the documents"
apt-get -qq install -y --no-install-recommends /packages/libsuperfluid-dev_*.deb g++ libc6-dev >/dev/null
mkdir /tmp/build
cd /tmp/build
cp -r /usr/share/doc/superfluid/examples/. .
mkdir engine
cp -r /usr/share/doc/superfluid/examples engine
cp smallest_engine.c mine.c
line() { zcat -f /usr/share/doc/*/"$1"* | sed -n "s/^    \($2.*\)/\1/p"; }
bash -c "$(line engines.md 'cc .* mine[.]c .*superfluid-engine)')"
bash -c "$(line engines.md 'cc .*engine.examples.example_')"
bash -c "$(line engines.md 'c++ ')"
bash -c "$(line daemons.md 'c++ ')"
superfluid_worker --engine ./libsuperfluid_loudness.so --listen /tmp/l.sock 2>/dev/null &
worker=$!
superfluidctl --connect /tmp/l.sock --wait --timeout 60 info
./example_client /tmp/l.sock "$recording"
kill "$worker"
wait "$worker"
superfluid_conformance --worker "superfluid_worker --engine $PWD/libsuperfluid_loudness.so" --only 'HELLO-*' | tail -n 1
cd /

say "remove"
apt-get -qq purge -y superfluid-worker superfluid-engine-pocketsphinx superfluidd libsuperfluid-dev >/dev/null
apt-get -qq autoremove --purge -y >/dev/null
left="$(files | grep -i superfluid || true)"
[[ -z $left ]] || { printf 'left behind:\n%s\n' "$left" && exit 1; }
say "nothing is left"
END
}

# check_packages FOLDER WORK: 1 if something does not work.
check_packages() {
  local root=$2/debian
  say "making a clean Debian 12"
  debootstrap --variant=minbase bookworm "$root" >"$2/debootstrap.log" || {
    tail -n 20 "$2/debootstrap.log" >&2
    return 1
  }
  mkdir "$root/packages"
  cp "$1"/*.deb "$root/packages/"
  package_check_script >"$root/packages/check"
  # Mounts that end with the command.
  unshare --mount --pid --fork bash -c "mount -t proc proc '$root/proc' && mount --rbind /dev '$root/dev' &&
    exec chroot '$root' bash /packages/check"
}
