# Objects that end inside of C and of instructions: chains of __del__, errors in it, resurrection, dropped generators, tools refused.
import gc, weakref
log = []
class Link:
    def __init__(self, n, next): self.n, self.next = n, next
    def __del__(self): log.append((self.n, sum(i * i for i in range(self.n % 9))))
def chain(n):
    link = None
    for i in range(n): link = Link(i, link)
    return link
chain(60)
head = chain(40); head = None
class Loud:
    def __del__(self): raise ValueError("in __del__")
for _ in range(3): Loud()
class Asks:
    def __del__(self):
        try: log.append(tools.echo(at="del"))
        except RuntimeError as e: log.append(str(e)[:40])
Asks(); [Asks() for _ in range(2)]; {1: Asks()}.clear()
def dropped(n):
    try:
        for i in range(n): yield i
    finally:
        for i in range(5): log.append(("finally", n, i))
for n in range(1, 6):
    for _ in dropped(n): break
    g = dropped(n + 3); next(g); del g
kept = []
class Phoenix:
    def __del__(self):
        if len(kept) < 3: kept.append(self)
for _ in range(5): Phoenix()
kept.clear()
refs = [weakref.ref(x, lambda r: log.append(len([*range(30)]))) for x in [Link(i, None) for i in range(8)]]
class Deep:
    def __init__(self, n): self.inner = [Deep(n - 1)] if n else []
    def __del__(self): Link(3, Link(4, None))
Deep(12)
def locals_end(n):
    a, b = Link(n, None), Asks() if n == 2 else None
    if n: return locals_end(n - 1)
    raise KeyError(n)
try: locals_end(4)
except KeyError: log.append("caught")
table = {}
class Key:
    def __init__(self, n): self.n = n
    def __hash__(self): return hash("k") if self.n == 0 else self.n % 3
    def __eq__(self, other): log.append("eq"); return isinstance(other, Key) and self.n == other.n
    def __del__(self): log.append(-self.n)
for i in range(12): table[Key(i)] = i
table["k"] = 1; found = "k" in table, table["k"], {Key(0)} & {"k"}
for i in range(12): table.pop(Key(i))
x = [Link(i, None) for i in range(6)]; x[1:4] = []; x = x[0]; x = 1
s = {Link(i, None) for i in range(5)}; s.clear(); gc.collect()
class Slot:
    __slots__ = ("a", "__weakref__")
o = Slot(); o.a = Link(70, None); o.a = Link(71, None); del o.a; o = None
print(found, len(log), log[-6:], log.count("eq"), [e for e in log if isinstance(e, str)][:2])
[e for e in log if isinstance(e, int)]
