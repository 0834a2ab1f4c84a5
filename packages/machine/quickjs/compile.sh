#!/bin/sh
# Runs inside the build root, in /build-quickjs (a fixed place, so that the result is the same everywhere): compiles the
# patched engine and the bridge, links them, and lets Binaryen make the program stoppable.
set -eu
cd /build-quickjs
export LC_ALL=C SOURCE_DATE_EPOCH=0

STACK_BYTES=${STACK_BYTES:-1572864}
UNWIND_BYTES=${UNWIND_BYTES:-3145728}
COMMON="--target=wasm32-wasi -O2 -DNDEBUG -D_GNU_SOURCE -D_WASI_EMULATED_SIGNAL -D_WASI_EMULATED_PROCESS_CLOCKS
  -mbulk-memory -msign-ext -mnontrapping-fptoint -fno-strict-aliasing -ffile-prefix-map=/build-quickjs=.
  -DFERMATA_STACK_BYTES=$STACK_BYTES -DFERMATA_UNWIND_BYTES=$UNWIND_BYTES -Isource -Iabi -Ibridge"

rm -rf objects && mkdir objects
for file in quickjs libregexp libunicode dtoa; do
  clang-19 $COMMON -w -c source/$file.c -o objects/$file.o
done
for file in bridge/*.c; do
  case $file in bridge/engine.c | bridge/interpreter*.c) continue ;; esac # parts of quickjs.c
  clang-19 $COMMON -std=gnu23 -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare -Werror -c "$file" -o "objects/bridge-$(basename "$file" .c).o"
done
clang-19 $COMMON -Wall -c abi/abi.c -o objects/abi.o

# No -O here: clang would run wasm-opt by itself and drop the names that the list of functions needs.
clang-19 --target=wasm32-wasi objects/*.o -o linked.wasm -fuse-ld=/usr/bin/wasm-ld-19 \
  -Wl,-z,stack-size=$STACK_BYTES -Wl,--stack-first -Wl,--export=__stack_pointer \
  -Wl,--export=fermata_status -Wl,--export=fermata_unwind -Wl,--export=fermata_locate_stack -Wl,--export=fermata_layout \
  -lwasi-emulated-signal -lwasi-emulated-process-clocks -lm

LIST=$(grep -v '^#' bridge/removelist.txt | grep . | paste -sd, -)
wasm-opt linked.wasm -o guest.wasm --asyncify --pass-arg=asyncify-imports@fermata.checkpoint,fermata.exchange \
  "--pass-arg=asyncify-removelist@$LIST" ${ASYNCIFY_ASSERTS:+--pass-arg=asyncify-asserts} -O3 --strip-debug --strip-producers

# The host grows the memory and keeps the globals: nothing else may.
wasm-dis guest.wasm -o guest.wat
! grep -q '(memory\.grow' guest.wat || { echo "memory.grow is left in the guest" >&2; exit 1; }
globals=$(grep -cE '^ \(global \$[^ ]+ \(mut ' guest.wat)
[ "$globals" = 3 ] || { echo "$globals mutable globals in place of 3" >&2; exit 1; }
