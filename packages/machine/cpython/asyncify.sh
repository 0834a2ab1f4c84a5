# Sourced by compile.sh: guest.stops.wasm -> guest.wasm, with the call stack made storable, and the promises of
# abi/README.md checked on the result.
features="--enable-bulk-memory --enable-sign-ext --enable-mutable-globals --enable-nontrapping-float-to-int --enable-multivalue --enable-reference-types"

wasm-opt $out/guest.stops.wasm $features --asyncify --pass-arg=asyncify-imports@fermata.checkpoint,fermata.exchange \
  --pass-arg=asyncify-removelist@$(<$out/removelist) -O2 -o $out/guest.wasm

text=$obj/guest.wat
wasm-dis $out/guest.wasm -o $text
refuse() { # what is left of the text must be empty
  if [ -n "$1" ]; then echo "guest.wasm: $2: $1" >&2; exit 1; fi
}
refuse "$(grep -m1 'memory\.grow' $text)" "memory grows without asking the host"
refuse "$(grep '^ (import ' $text | grep -v '^ (import "\(fermata\|wasi_snapshot_preview1\)" ')" "an import from elsewhere"
refuse "$(grep '^ (global .* (mut ' $text | tail -n +4)" "mutable globals besides the stack pointer and Asyncify's two"
for name in memory _start fermata_locate fermata_inspect fermata_status fermata_layout fermata_unwind fermata_locate_stack __stack_pointer; do
  grep -q "^ (export \"$name\" " $text || refuse "$name" "a missing export"
done
