# The deepest legal recursion, plain and through C callbacks, each ended by an error that is caught.
import sys, json
def plain(n): return 0 if n == 0 else 1 + plain(n - 1)
class R:
    def __repr__(self): return repr([self])
class S:
    def __init__(self, n): self.n = n
    def __repr__(self): return "." if self.n == 0 else repr([S(self.n - 1)])
class K:
    def __lt__(self, o): return sorted([K(), K()]) and True
def key(n): return sorted([n], key=lambda x: key(x + 1))
class E:
    def __eq__(self, o): return [E()] == [E()]
class G:
    def __getattr__(self, name): return getattr(G(), name + "x" if len(name) < 3 else name)
ends = []
for attempt in (lambda: plain(10**6), lambda: repr(R()), lambda: sorted([K(), K()]), lambda: key(0), lambda: E() == E(), lambda: G().a, lambda: json.dumps(deep()), lambda: eval("[" * 5000 + "]" * 5000), lambda: compile("-" * 100000 + "1", "x", "eval")):
    try: attempt(); ends.append("no error")
    except (RecursionError, MemoryError, SyntaxError, NameError) as e: ends.append(type(e).__name__)
sys.setrecursionlimit(30000)
print(ends, plain(20000), len(repr(S(60))))
for attempt in (lambda: repr(R()), lambda: key(0), lambda: sorted([K(), K()])):
    try: attempt(); ends.append("no error")
    except RecursionError as e: ends.append("deep " + type(e).__name__)
ends
