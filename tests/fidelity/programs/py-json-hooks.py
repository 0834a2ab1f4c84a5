# Stops inside json hooks, pickling, copying, dataclasses, csv and zlib.
import copy, csv, dataclasses, io, json, pickle, zlib
@dataclasses.dataclass(order=True)
class P:
    x: int
    y: float = 0.5
    tags: list = dataclasses.field(default_factory=list, compare=False)
    def __post_init__(self): self.sum = sum(range(self.x % 9))
    def __reduce__(self): return (P, (self.x, self.y, self.tags))
    def __deepcopy__(self, memo): return P(self.x + 1, self.y)
def default(o):
    t = 0
    for i in range(6): t += i
    return {"__p": dataclasses.astuple(o), "t": t}
def hook(pairs):
    d = dict(pairs)
    return P(*d["__p"]) if "__p" in d else d
data = {"list": [P(i, i / 4, [str(i)]) for i in range(25)], "deep": {"er": [1, [2, [3, None, True]]]}, "text": "é\ud83d\u2028\n"}
text = json.dumps(data, default=default, sort_keys=True)
back = json.loads(text, object_pairs_hook=hook)
print(len(text), back["list"][7], back == data, max(back["list"]).x)
print(pickle.loads(pickle.dumps(back["list"]))[3], copy.deepcopy(back["list"])[0].x)
buf = io.StringIO(); w = csv.writer(buf); w.writerows([[i, f'q"{i}', "a,b"] for i in range(10)])
print(list(csv.reader(io.StringIO(buf.getvalue())))[9], zlib.crc32(zlib.compress(text.encode("utf-8", "surrogatepass"), 9)) > 0)
len(zlib.decompress(zlib.compress(b"abc" * 5000)))
