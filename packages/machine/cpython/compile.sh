#!/bin/bash
# One step of build.sh, of those that run inside the chroot. Each works from the results of the one before it.
set -euo pipefail
in=/build/in src=/build/src lib=/build/lib out=/build/out py=/build/src/Python-3.13.5 obj=/build/obj
export SOURCE_DATE_EPOCH=1750000000 LC_ALL=C.UTF-8 TZ=UTC HOME=/build
# Deepest use found, by sqlite functions that call sqlite up to CPython's limit of C recursion: 1.8 MB.
unwind_bytes=$((4 << 20))
shadow_stack_bytes=$((8 << 20))

sysroot=/build/sysroot
mkdir -p $src $lib $out $obj $sysroot/include $sysroot/lib
ln -sfn /usr/include/wasm32-wasi $sysroot/include/wasm32-wasi
ln -sfn /usr/lib/wasm32-wasi $sysroot/lib/wasm32-wasi
export CC="clang-19 --target=wasm32-wasi --sysroot=$sysroot" AR=llvm-ar-19 RANLIB=llvm-ranlib-19
export CPP="$CC -E"
plain="$CC -O2 -DNDEBUG -Wno-everything"
# What CPython's own Makefile gives its built-in modules.
core="$plain -fwrapv -fno-strict-overflow -fvisibility=hidden -std=c11 -DPy_BUILD_CORE_BUILTIN -I$py/Include/internal -I$obj/python -I$py/Include -I$in/abi"

step_sources() {
  rm -rf ${src:?}/*
  while read -r _ file _; do tar -C $src -xf "/build/dl/$file"; done <$in/sources.sha256
  for patch in $in/patches/*.patch; do patch -d $py -p1 --fuzz=0 <"$patch"; done
  python3.13 $in/split-eval.py $py/Python
}

compile() { # out-folder compiler-with-flags files...
  local folder=$1 command=$2 file job
  shift 2
  mkdir -p "$folder"
  for file in "$@"; do
    while [ "$(jobs -r | wc -l)" -ge 2 ]; do wait -n; done
    $command -c "$file" -o "$folder/$(basename "$file" .c).o" &
  done
  for job in $(jobs -p); do wait "$job"; done # a plain wait would forget that one of them failed
}

step_libraries() {
  rm -rf ${lib:?}/*
  . $in/libraries.sh
}

step_python() {
  rm -rf $obj/python && mkdir -p $obj/python && cd $obj/python
  export CONFIG_SITE=$py/Tools/wasm/config.site-wasm32-wasi PKG_CONFIG_LIBDIR=/nonexistent PKG_CONFIG_PATH=
  export ZLIB_CFLAGS="-I$src/zlib-1.3.1" ZLIB_LIBS="-L$lib -lz"
  export OPT="-DNDEBUG -fwrapv -O2" CFLAGS="-I$in/abi"
  $py/configure --host=wasm32-unknown-wasip1 --build=x86_64-pc-linux-gnu --with-build-python=/usr/bin/python3.13 \
    --prefix=/usr/local --disable-test-modules --without-ensurepip --disable-ipv6 --with-pymalloc --without-mimalloc >configure.log 2>&1
  # Not its own executable, which cannot be linked without abi.c and is of no use here.
  make -j2 libpython3.13.a Modules/_hacl/libHacl_Hash_SHA2.a Modules/_decimal/libmpdec/libmpdec.a Modules/expat/libexpat.a pybuilddir.txt \
    >make.log 2>&1
}

step_link() { cd $obj && . $in/link.sh; }
step_asyncify() { cd $obj && . $in/asyncify.sh; }
step_zip() {
  local configured=$obj/python/$(<$obj/python/pybuilddir.txt)
  python3.13 -W error $in/mkzip.py $out/lib.zip /usr/share/zoneinfo $py/Lib "$configured" $in/prelude
}

"step_$1"
