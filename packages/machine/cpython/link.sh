# Sourced by compile.sh: our own C, and the modules over the added libraries, linked with CPython into guest.linked.wasm.
rm -rf $obj/guest
bridge="$core -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers -Werror"
compile $obj/guest "$bridge" $in/{guest,locate,instant,values_encode,values_decode}.c
compile $obj/guest "$plain -DFERMATA_UNWIND_BYTES=$unwind_bytes" $in/abi/abi.c

modules=$lib/modules
compile $modules "$core -DPY_SQLITE_HAVE_SERIALIZE=1 -I$obj/sqlite -I$py/Modules/_sqlite" \
  $py/Modules/_sqlite/{blob,connection,cursor,microprotocols,module,prepare_protocol,row,statement,util}.c
compile $modules "$core -I$src/bzip2-1.0.8" $py/Modules/_bz2module.c
compile $modules "$core -I$src/xz-5.8.1/src/liblzma/api" $py/Modules/_lzmamodule.c

exports=$(printf -- '-Wl,--export=%s ' __stack_pointer fermata_status fermata_layout fermata_unwind fermata_locate_stack)
$CC -Wl,--stack-first -Wl,-z,stack-size=$shadow_stack_bytes $exports -o $out/guest.linked.wasm \
  $obj/guest/*.o $modules/*.o $lib/lzma/*.o -L$obj/python -lpython3.13 \
  $obj/python/Modules/{_hacl/libHacl_Hash_SHA2,_decimal/libmpdec/libmpdec,expat/libexpat}.a -L$lib -lz \
  -lwasi-emulated-signal -lwasi-emulated-getpid -lwasi-emulated-process-clocks -ldl -lpthread -lm
