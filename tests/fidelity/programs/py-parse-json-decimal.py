# Stops inside of the parser, the compiler, the C scanner and encoder of JSON, decimal, hashing, base64, struct, csv and text codecs.
import ast, base64, binascii, csv, decimal, hashlib, html, io, json, marshal, pickle, pprint, struct, tokenize, unicodedata, urllib.parse
lines = [f"def f{i}(a, *, b={i}):\n    if a > b: return [a * {i} for a in range(b) if a % 2]\n    return {{'k{i}': (a, b), **{{}}}}\n" for i in range(25)]
tree = ast.parse("".join(lines)); code = compile(tree, "x", "exec"); scope = {}; exec(code, scope)
print(len(ast.dump(tree)), len(ast.unparse(tree)), scope["f24"](30), len(marshal.dumps(code)) > 1000, len(list(tokenize.generate_tokens(io.StringIO(lines[0]).readline))))
data = {f"key {i}": [i, i / 3, None, True, "é\n\"" * (i % 4), {"n": {"m": [i] * (i % 5)}}] for i in range(120)}
text = json.dumps(data); assert json.loads(text) == data
print(len(text), len(json.dumps(data, indent=1, sort_keys=True)), len(json.dumps(data, ensure_ascii=False)), json.loads(" [1e5, -0.0, 12345678901234567890, NaN] ")[2], len(pprint.pformat(data)))
decimal.getcontext().prec = 200
d = decimal.Decimal(2).sqrt() * decimal.Decimal("1.1") ** 50
print(str(d)[:30], str(d.exp())[:20], str(d.ln())[:20], (d / 7).quantize(decimal.Decimal("1e-30")), sum(decimal.Decimal(i) / 3 for i in range(50)).normalize())
blob = text.encode() * 3
print(hashlib.sha256(blob).hexdigest()[:9], hashlib.md5(blob).hexdigest()[:9], hashlib.sha3_256(blob).hexdigest()[:9], hashlib.blake2b(blob).hexdigest()[:9], binascii.crc32(blob))
print(len(base64.b64encode(blob)), base64.b85decode(base64.b85encode(blob[:999])) == blob[:999], binascii.unhexlify(blob.hex()) == blob, struct.unpack("<3d", struct.pack("<3d", 1, 2, 3)))
print(len(pickle.dumps(data)), pickle.loads(pickle.dumps(data, 2)) == data, len(urllib.parse.quote(text)), html.unescape(html.escape(text)) == text)
print(len(unicodedata.normalize("NFKD", "ﬁÅé" * 500)), len(("é" * 999).encode("utf-16")), text.encode().decode("latin-1").casefold()[:9], "ß".upper() * 2, "aXbX".swapcase())
rows = list(csv.DictReader(io.StringIO("a,b\n" + "".join(f'"{i}""x",{i}\n' for i in range(200)))))
print(rows[-1], "%s %r %08.3f %x" % ("a", "b", 1.5, 255), "{:>10,.2f}|{!r:^9}".format(12345.678, "c"), f"{3.14159:.3e} {10**30:,}")
print(int("123456789" * 40) % 10**9, str(3**2000)[:9], int("z" * 99, 36) % 997, float("1" * 300), (2**521 - 1).bit_count(), hex(7**300)[-9:], 10**400 // 3**500)
sorted(text.split('"'))[:3] + [len(repr(data)), eval(repr(data)) == data]
