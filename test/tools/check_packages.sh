#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_packages.sh PACKAGES: what ./dev package made works on a fresh Debian 12; as root, with debootstrap and a network.
#
# The archive has to work with nothing but the base system, the Debian packages with what apt installs for them. A compiled
# model has to run in a root that holds nothing but it.
set -euo pipefail
packages=$(realpath -- "$1")
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
root=$(mktemp -d)
mkdir -p "$root/debian" "$root/empty/proc"
trap 'umount -q "$root"/*/proc || true; rm -rf --one-file-system "$root"' EXIT

inside() { chroot "$root/debian" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"; }

# Compiles a model with the talc command of that name, and runs the result in an empty root.
compileAndRun() {
  inside "$1" compile /models/tales-gpt2 -o /app
  mv "$root/debian/app" "$root/empty/app"
  chroot "$root/empty" /app -p "Once there was" -n 20
}

debootstrap --variant=minbase bookworm "$root/debian" http://deb.debian.org/debian >"$root/log" || { cat "$root/log"; exit 1; }
cp -r "$source/examples/models" "$root/debian/models"
for folder in debian empty; do mount -t proc proc "$root/$folder/proc"; done  # where programs find themselves

echo "==> the archive"
mkdir "$root/debian/opt/anywhere"
tar -C "$root/debian/opt/anywhere" --strip-components=1 -xf "$packages"/talc-*.tar.gz
compileAndRun /opt/anywhere/bin/talc
inside /opt/anywhere/bin/talc-opt --version
rm -rf "$root/debian/opt/anywhere"

echo "==> the Debian packages"
echo "deb http://deb.debian.org/debian-security bookworm-security main" >>"$root/debian/etc/apt/sources.list"
cp "$packages"/*.deb "$root/debian/"
inside apt-get update -q
inside sh -c 'apt-get install -qy --no-install-recommends /talc_*.deb'
compileAndRun talc
if compgen -G "$packages/talc-aarch64_*.deb" >/dev/null; then
  inside sh -c 'apt-get install -qy --no-install-recommends /talc-aarch64_*.deb'
  inside talc compile /models/tales-gpt2 --target=aarch64 -o /app
fi
inside sh -c 'apt-get install -qy --no-install-recommends /libtalc-dev_*.deb g++ cmake make'
inside cmake -S /usr/share/doc/talc/examples/cpp-builder -B /builder
inside cmake --build /builder
inside /builder/parallel-decoder /usr/share/doc/talc/examples/models/adder /app
inside /app -p "27+58="
