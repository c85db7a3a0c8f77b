#!/usr/bin/env bash
# Checks the Debian package of this machine's architecture: lintian finds nothing, and in a fresh Debian it
# installs, runs, is removed and is purged.
#
#   sudo tools/deb_check.sh
#
# SUITE is the Debian suite (bookworm), DEB_ROOT the folder for it (build/dist/debian-SUITE), of which each
# run uses a copy. Needs root, mmdebstrap and lintian, and a mirror in apt's sources.
set -euo pipefail
cd "$(dirname "$0")/.."

suite=${SUITE:-bookworm}
fresh=${DEB_ROOT:-$PWD/build/dist/debian-$suite}
root=$fresh-used
fail() { echo "deb_check: $*" >&2; exit 1; }

[ "$(id -u)" = 0 ] || fail "a chroot needs root: sudo make dist-deb-check"
for program in mmdebstrap lintian dpkg curl; do
  command -v "$program" >/dev/null || fail "found no $program: apt-get install mmdebstrap lintian curl"
done
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
package=dist/regauge_$version-1_$(dpkg --print-architecture).deb
[ -e "$package" ] || fail "found no $package: run \`make dist-deb\` first"

lintian --fail-on error,warning "$package" ||
  fail "lintian"

if [ ! -x "$fresh/usr/bin/dpkg" ]; then
  mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -v security | head -n 1)
  [ -n "$mirror" ] || fail "apt names no mirror"
  mkdir -p "$(dirname "$fresh")"
  mmdebstrap --quiet --variant=minbase --mode=root --include=man-db,systemd,bash-completion,zsh,fish \
    --aptopt='Acquire::Check-Valid-Until "false"' \
    "$suite" "$fresh" "deb $mirror $suite main" || { rm -rf "$fresh"; fail "mmdebstrap"; }
fi
rm -rf "$root"
cp -a "$fresh" "$root"
# Runs a command in the fresh Debian.
inside=(chroot "$root" env -i HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin)
within() { "${inside[@]}" "$@"; }
# Fails unless the output of a command contains a text.
says() {
  local expected=$1 found
  shift
  found=$(within "$@" 2>&1) || fail "$*: $found"
  case $found in *"$expected"*) ;; *) fail "$*: found ${found:0:500}, expected $expected" ;; esac
}
files_of_package() { within find /usr /etc /lib /var/lib -name '*regauge*' -not -path '/var/lib/dpkg/*' -not -path '/var/cache/*'; }

before=$(files_of_package)
[ -z "$before" ] || fail "the fresh Debian has regauge: $before"
cp "$package" "$root/tmp/regauge.deb"
within dpkg --install /tmp/regauge.deb >/dev/null
says "regauge $version" regauge --version
says '{"a":1}' sh -c 'printf "a: 1\n" > /tmp/a.yaml && regauge convert /tmp/a.yaml - --to json'
says "Convert" sh -c 'MANPAGER=cat man regauge-convert'
says "convert" bash -c '. /usr/share/bash-completion/bash_completion; _completion_loader regauge; COMP_WORDS=(regauge conv) COMP_CWORD=1; _regauge regauge conv regauge; echo "${COMPREPLY[@]}"'
says "_regauge" zsh -c 'autoload -U compinit && compinit -u && echo ${_comps[regauge]}'
says "convert" fish -c 'complete -C "regauge conv"'
# It names a setting that it does not know, and exits with 0.
found=$(within systemd-analyze verify /usr/lib/systemd/system/regauge.service 2>&1) || fail "the service: $found"
[ -z "$found" ] || fail "the service: $found"
# An exposure of at most 2 out of 10.
says "OK" systemd-analyze security --offline=true --threshold=20 regauge.service

# The gateway with the installed configuration, except for the port, which another may use here.
port=$((20000 + RANDOM % 10000))
within sed "s/8750/$port/" /etc/regauge/gateway.toml >"$root/etc/gateway.toml"
within regauge store tenants --data /var/lib/regauge create acme >/dev/null
token=$(within regauge store tenants --data /var/lib/regauge token create acme | grep -o 'rgt_[^ ]*')
"${inside[@]}" regauge serve --config /etc/gateway.toml 2>"$root/tmp/log" &
gateway=$!
trap 'kill $gateway 2>/dev/null || true' EXIT
for _ in $(seq 50); do
  curl --silent --fail --output /dev/null http://127.0.0.1:$port/ready && break
  kill -0 $gateway 2>/dev/null || fail "regauge serve: $(cat "$root/tmp/log")"
  sleep 0.1
done
curl --silent --fail -X PUT http://127.0.0.1:$port/v1/objects/a -H "Authorization: Bearer $token" \
  -H 'Content-Type: application/json' -d '{"a": 1}' >/dev/null || fail "PUT: $(cat "$root/tmp/log")"
found=$(curl --silent --fail http://127.0.0.1:$port/v1/objects/a -H "Authorization: Bearer $token" -H 'Accept: application/yaml')
[ "$found" = "a: 1" ] || fail "GET: found $found, expected a: 1"
kill $gateway
wait $gateway || fail "regauge serve ended with $?: $(cat "$root/tmp/log")"

# Removed, the configuration stays; purged, only the data does.
within dpkg --remove regauge >/dev/null
within test ! -e /usr/bin/regauge || fail "dpkg --remove left the command"
within test -e /etc/regauge/gateway.toml || fail "dpkg --remove deleted the configuration"
within dpkg --purge regauge >/dev/null
within test -e /var/lib/regauge/tenants.db || fail "dpkg --purge deleted the data"
within rm -r /var/lib/regauge
left=$(files_of_package)
[ -z "$left" ] || fail "dpkg --purge left $left"
rm -rf "$root"
echo "$package: installed, run, removed and purged in Debian $suite; lintian finds nothing"
