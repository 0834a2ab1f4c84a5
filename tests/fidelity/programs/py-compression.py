# Stops inside of zlib, bz2 and lzma streams, in both directions, with dictionaries, errors, and files on top of them.
import bz2, gzip, io, lzma, random, tarfile, zipfile, zlib
random.seed(3)
text = " ".join(random.choice(["alpha", "beta", "gamma", "delta"]) + str(i % 97) for i in range(3000)).encode()
noise = random.randbytes(6000)
for level in (1, 6, 9):
    packer = zlib.compressobj(level, wbits=-15, zdict=b"alpha beta gamma")
    out = b"".join(packer.compress(text[i : i + 700]) for i in range(0, len(text), 700)) + packer.flush()
    opener = zlib.decompressobj(-15, zdict=b"alpha beta gamma"); back = b""
    for i in range(0, len(out), 300):
        back += opener.decompress(out[i : i + 300], 1000)
        while opener.unconsumed_tail: back += opener.decompress(opener.unconsumed_tail, 1000)
    assert back + opener.flush() == text
    print(level, len(out), zlib.adler32(out))
for data in (text, noise):
    packer = bz2.BZ2Compressor(1); out = packer.compress(data[:5000]) + packer.compress(data[5000:]) + packer.flush()
    opener = bz2.BZ2Decompressor(); back = opener.decompress(out, 100)
    while not opener.eof: back += opener.decompress(b"", 1500)
    assert back == data
    packed = lzma.compress(data, preset=0); opener = lzma.LZMADecompressor(); back = b""
    for i in range(0, len(packed), 200): back += opener.decompress(packed[i : i + 200])
    assert back == data
    print(len(out), len(packed))
filters = [{"id": lzma.FILTER_DELTA, "dist": 3}, {"id": lzma.FILTER_LZMA2, "preset": 1, "dict_size": 1 << 16}]
print(len(lzma.compress(text[:4000], format=lzma.FORMAT_RAW, filters=filters)))
for broken in (lambda: zlib.decompress(b"no"), lambda: bz2.decompress(b"BZh9" + noise[:50]), lambda: lzma.decompress(noise[:50]), lambda: gzip.decompress(gzip.compress(text)[:-9])):
    try: broken()
    except (zlib.error, OSError, lzma.LZMAError, EOFError) as e: print(type(e).__name__)
archive = io.BytesIO()
with tarfile.open(fileobj=archive, mode="w:gz") as tar:
    for name, data in (("a", text), ("b", noise)):
        entry = tarfile.TarInfo(name); entry.size = len(data); tar.addfile(entry, io.BytesIO(data))
archive.seek(0)
with tarfile.open(fileobj=archive) as tar: print({m.name: len(tar.extractfile(m).read()) for m in tar})
with zipfile.ZipFile(buffer := io.BytesIO(), "w", zipfile.ZIP_LZMA) as z: z.writestr("x", text[:3000])
zipfile.ZipFile(buffer).read("x") == text[:3000], zlib.crc32(noise)
