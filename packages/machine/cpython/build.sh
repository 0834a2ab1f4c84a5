#!/bin/bash
# Builds the CPython image from Debian source: artifact/guest.wasm.zst, artifact/lib.zip.zst and the hashes in image.json.
#
# With the same versions of clang, binaryen, wasi-libc and tzdata (README.md names those that were used) the result is
# bit-identical: everything happens at one fixed path (/build) inside a Debian trixie chroot, from source archives whose
# sha256 is pinned in sources.sha256. Nothing but Debian packages and those archives goes in. Only upstream archives are
# used, so it does not matter if the mirror no longer has the packaging archives.
#
# The last steps run the host's side from ../dist, which must have been built (npm run build).
#
#   build.sh                 make the chroot and fetch the sources first (needs root, mmdebstrap, a Debian mirror)
#   FERMATA_BUILD_ROOT=dir   use that chroot
#   FERMATA_BUILD_MIRROR=url the Debian mirror for source archives, if not that of the chroot
#   FERMATA_BUILD_DL=dir     take source archives from there before trying to fetch
#   FERMATA_BUILD_FROM=step  start at: sources, libraries, python, link, stops, asyncify, zip (later steps follow)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=${FERMATA_BUILD_ROOT:-}
packages=ca-certificates,clang-19,lld-19,llvm-19,wasi-libc,libclang-rt-19-dev-wasm32,make,python3,binaryen,dpkg-dev,pkg-config,patch,xz-utils,file,tcl,tzdata

stop() { echo "build.sh: $1" >&2; exit 1; }
[ "$(id -u)" = 0 ] || stop "needs root, for the chroot it works in"
[ -e "$here/../dist/wasm/image-store.js" ] || stop "the host's side is not built: npm run build"

if [ -z "$root" ]; then
  root=${XDG_CACHE_HOME:-$HOME/.cache}/fermata/build/cpython
  if [ ! -e "$root/usr/bin/wasm-opt" ]; then
    command -v mmdebstrap >/dev/null || stop "mmdebstrap is missing (apt-get install mmdebstrap); or name a trixie chroot in FERMATA_BUILD_ROOT"
    mkdir -p "$root"
    mmdebstrap --variant=apt --include=$packages trixie "$root"
  fi
fi

export FERMATA_BUILD_MIRROR=${FERMATA_BUILD_MIRROR:-$(sed -n 's/^deb .*\(http[^ ]*\) trixie main.*/\1/p' "$root/etc/apt/sources.list" | head -1)}
"$here/../fetch-source.sh" "$root/build/dl" "$here/sources.sha256"

rm -rf "$root/build/in"
mkdir "$root/build/in"
cp -r "$here/patches" "$here/prelude" "$here"/*.c "$here"/*.h "$here"/*.py "$here"/*.sh "$here/sources.sha256" "$here/../abi" "$root/build/in/"

for step in sources libraries python link stops asyncify zip; do
  [ "$step" = "${FERMATA_BUILD_FROM:-sources}" ] && from=found
  [ -n "${from:-}" ] || continue
  started=$SECONDS
  if [ "$step" = stops ]; then
    node "$here/../abi/add-stops.mjs" "$root"/build/out/guest.{linked,stops}.wasm "$here/stops.txt" >"$root/build/out/removelist"
  else
    chroot "$root" nice bash /build/in/compile.sh "$step"
  fi
  echo "$step: $((SECONDS - started)) s"
done
node "$here/pack.mjs" "$root/build/out" "$here"
node "$here/pin.mjs"
