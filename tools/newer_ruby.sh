#!/usr/bin/env bash
# Builds and tests the gem with the Ruby of a newer Debian, unpacked into a folder, or runs a command
# there, in bindings/ruby:
#
#   sudo tools/newer_ruby.sh [command …]
#
# SUITE is the Debian suite (forky), NEWER_RUBY the folder (build/newer-ruby; it is kept for the
# next time), TASKS the rake tasks to run (compile test gem_test), PROFILE the cargo profile. Benchmarks
# know ROUNDS, RUBY_MARC_LIB and REGAUGE_BENCH_JSON, a file in the repository. The repository and cargo's
# folders have the same paths there, so a CARGO_TARGET_DIR that another build has filled is taken as it is.
# Skipped with a message if not run as root, or if mmdebstrap or the suite is unavailable.
set -euo pipefail
cd "$(dirname "$0")/.."

suite=${SUITE:-forky}
root=${NEWER_RUBY:-$PWD/build/newer-ruby}
skip() { echo "skipped: $*"; exit 0; }

[ "$(id -u)" = 0 ] || skip "only root can unpack another Debian"
command -v cargo >/dev/null || skip "no cargo"
cargo_home=${CARGO_HOME:-$HOME/.cargo}
toolchain=$(rustc --print sysroot)

if [ ! -x "$root/usr/bin/ruby" ]; then
  command -v mmdebstrap >/dev/null || skip "no mmdebstrap"
  mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -v security | head -n 1)
  [ -n "$mirror" ] || skip "apt names no mirror"
  packages=ruby,ruby-dev,rake,gcc,libc6-dev,make,libclang-dev,ca-certificates
  packages+=,ruby-minitest,ruby-json,ruby-oj,ruby-msgpack,ruby-bson,ruby-cbor,ruby-nokogiri,ruby-activerecord,ruby-sqlite3,ruby-psych,ruby-i18n,ruby-railties,ruby-sidekiq,ruby-activejob
  mkdir -p "$(dirname "$root")"
  mmdebstrap --quiet --variant=minbase --mode=root --aptopt='Acquire::Check-Valid-Until "false"' \
    --include="$packages" "$suite" "$root" "deb $mirror $suite main" ||
    { rm -rf "$root"; skip "the suite $suite cannot be had"; }
fi

# Builds for that Ruby are useless for this one, whose own are there before and after.
extension=bindings/ruby/lib/regauge/native.so
places=()
leave() {
  for place in "${places[@]}"; do umount "$place" || true; done
  rm -f "$extension"
  if [ -e "$extension.own" ]; then mv "$extension.own" "$extension"; fi
}
trap leave EXIT
if [ -e "$extension" ]; then mv "$extension" "$extension.own"; fi
bind() {
  mkdir -p "$root$2"
  mount --bind "$1" "$root$2" || skip "this machine lets nobody mount"
  places=("$root$2" "${places[@]}")
}
bind /proc /proc
bind /dev /dev
bind "$PWD" "$PWD"
bind "$cargo_home" "$cargo_home"
bind "$toolchain" "$toolchain"
if [ -n "${RUBY_MARC_LIB:-}" ]; then bind "$RUBY_MARC_LIB" /ruby-marc; fi
cp /etc/resolv.conf "$root/etc/resolv.conf"

chroot "$root" ruby --version
# shellcheck disable=SC2086 # one word a task
[ $# -gt 0 ] || set -- rake ${TASKS:-compile test gem_test}
passed=()
if [ -n "${RUBY_MARC_LIB:-}" ]; then passed+=(RUBY_MARC_LIB=/ruby-marc); fi
for name in ROUNDS REGAUGE_BENCH_JSON CARGO_TARGET_DIR CARGO_INCREMENTAL CARGO_PROFILE_DEV_DEBUG; do
  if [ -n "${!name:-}" ]; then passed+=("$name=${!name}"); fi
done
chroot "$root" env -i HOME=/tmp LANG=C.UTF-8 "PATH=$toolchain/bin:/usr/bin:/bin" "CARGO_HOME=$cargo_home" \
  PROFILE="${PROFILE:-fast}" "${passed[@]}" sh -c 'cd "$1/bindings/ruby" && shift && "$@"' sh "$PWD" "$@"
