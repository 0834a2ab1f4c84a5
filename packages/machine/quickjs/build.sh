#!/bin/bash
# Builds the QuickJS-ng image from Debian source: artifact/guest.wasm.zst and the digests in image.json.
#
# With the same versions of clang, binaryen and wasi-libc (README.md names those that were used) the result is
# bit-identical: everything happens at one fixed path (/build-quickjs) inside a Debian trixie chroot, from a source archive
# whose sha256 is pinned in sources.sha256.
#
# The last step runs the host's side from ../dist, which must have been built (npm run build).
#
#   build.sh                 make the chroot and fetch the source first (needs root, mmdebstrap, a Debian mirror)
#   FERMATA_BUILD_ROOT=dir   use that chroot
#   FERMATA_BUILD_MIRROR=url the Debian mirror for source archives, if not that of the chroot
#   FERMATA_BUILD_DL=dir     take the source archive from there before trying to fetch
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=${FERMATA_BUILD_ROOT:-}
fail() { echo "build.sh: $*" >&2; exit 1; }
packages=ca-certificates,clang-19,lld-19,llvm-19,wasi-libc,libclang-rt-19-dev-wasm32,binaryen,dpkg-dev,patch

[ "$(id -u)" = 0 ] || fail "needs root, for chroot"
[ -e "$here/../dist/wasm/image-store.js" ] || fail "the package is not built: run 'npm run build' first"
if [ -z "$root" ]; then
  root=${XDG_CACHE_HOME:-$HOME/.cache}/fermata/build/quickjs
  if [ ! -e "$root/usr/bin/wasm-opt" ]; then
    command -v mmdebstrap >/dev/null || fail "mmdebstrap is not installed ('apt-get install mmdebstrap'); a ready chroot can be given in FERMATA_BUILD_ROOT"
    # Under another name until it is whole, so that one that was broken off is not taken for it.
    rm -rf --one-file-system "$root" "$root.unfinished"
    mkdir -p "$root.unfinished"
    mmdebstrap --variant=apt --include=$packages trixie "$root.unfinished"
    mv "$root.unfinished" "$root"
  fi
elif [ ! -e "$root/usr/bin/wasm-opt" ]; then
  fail "$root is no chroot with these packages: $packages"
fi
work=$root/build-quickjs
mkdir -p "$work/dl"

export FERMATA_BUILD_MIRROR=${FERMATA_BUILD_MIRROR:-$(sed -n 's/^deb .*\(http[^ ]*\) trixie main.*/\1/p' "$root/etc/apt/sources.list" | head -1)}
read -r _ file _ <"$here/sources.sha256"
"$here/../fetch-source.sh" "$work/dl" "$here/sources.sha256"

rm -rf "$work/source" "$work/bridge" "$work/abi"
mkdir "$work/source" "$work/bridge"
tar -C "$work/source" --strip-components=1 -xf "$work/dl/$file"
cp -r "$here"/*.[ch] "$here/prelude" "$here/patches" "$here/compile.sh" "$here/removelist.txt" "$work/bridge/"
cp -r "$here/../abi" "$work/abi"
for patch in "$here"/patches/*.patch; do patch -d "$work/source" -p1 --fuzz=0 --quiet <"$patch"; done
chroot "$root" nice sh /build-quickjs/bridge/compile.sh
node "$here/pack.mjs" "$work/guest.wasm" "$here"
