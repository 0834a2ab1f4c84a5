# Sourced by compile.sh: the C libraries that come from Debian source, and CPython's modules over three of them.
# zlib is found by CPython's configure; the other modules are added to the interpreter's table by guest.c.

z=$src/zlib-1.3.1
compile $lib/zlib "$plain" $z/{adler32,crc32,deflate,infback,inffast,inflate,inftrees,trees,zutil,compress,uncompr}.c
$AR rcs $lib/libz.a $lib/zlib/*.o

bz=$src/bzip2-1.0.8
compile $lib/modules "$plain" $bz/{blocksort,huffman,crctable,randtable,compress,decompress,bzlib}.c

# sqlite's amalgamation is made by its Tcl scripts, with small programs built for this machine.
mkdir -p $obj/sqlite
(
  cd $obj/sqlite
  env -u CC -u CPP CC=clang-19 $src/sqlite3-3.46.1/configure >configure.log 2>&1
  make sqlite3.c >make.log 2>&1
)
# unix-none: no file locks, right where one program owns the file system. Temporary tables stay in memory.
compile $lib/modules "$plain -DSQLITE_DEFAULT_UNIX_VFS=\"unix-none\" -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION
  -DSQLITE_OMIT_WAL -DSQLITE_MAX_MMAP_SIZE=0 -DSQLITE_TEMP_STORE=2 -DSQLITE_ENABLE_FTS3 -DSQLITE_ENABLE_FTS3_PARENTHESIS
  -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_RTREE -DSQLITE_ENABLE_MATH_FUNCTIONS -DSQLITE_ENABLE_COLUMN_METADATA
  -DSQLITE_SOUNDEX -DSQLITE_USE_URI=1" $obj/sqlite/sqlite3.c

# liblzma without its threads, its size-optimised doubles and the programs that print its tables (they bring a main).
x=$src/xz-5.8.1/src/liblzma
lzma=()
for file in $x/{common,check,lz,lzma,delta,simple}/*.c $x/rangecoder/price_table.c; do
  case $(basename "$file" .c) in
    *_tablegen | *_small | *_mt | outqueue | hardware_* | crc32_table_* | crc_clmul_consts_gen) ;;
    *) lzma+=("$file") ;;
  esac
done
have=$(printf -- '-DHAVE_%s ' STDBOOL_H STDINT_H INTTYPES_H LIMITS_H STRING_H STRINGS_H _BOOL ENCODERS DECODERS LZIP_DECODER \
  CHECK_CRC32 CHECK_CRC64 CHECK_SHA256 MF_HC3 MF_HC4 MF_BT2 MF_BT3 MF_BT4 __BUILTIN_BSWAPXX \
  {EN,DE}CODER_{LZMA1,LZMA2,X86,POWERPC,IA64,ARM,ARMTHUMB,ARM64,SPARC,RISCV,DELTA})
folders=$(printf -- "-I$x/%s " api common check lz rangecoder lzma delta simple .)
compile $lib/lzma "$plain -std=c11 $have $folders -I$x/../common -DSIZEOF_SIZE_T=4 -DTUKLIB_FAST_UNALIGNED_ACCESS
  -DTUKLIB_SYMBOL_PREFIX=lzma_" "${lzma[@]}"
