# Tools called where code is called back: sort keys, __repr__, generators, finally, comprehension, executor; in __del__ refused.
import concurrent.futures, functools
class Shown:
    def __repr__(self): return f"<{tools.add(a=1, b=2)}>"
class Ended:
    def __del__(self):
        try: seen.append(tools.echo(at="del")["at"])
        except RuntimeError as e: seen.append(str(e))
seen = []
def stream():
    try:
        for i in range(3): yield tools.add(a=i, b=10)
    finally: seen.append(tools.group.twice(z=1)[1]["z"])
words = sorted(["pear", "fig", "banana"], key=lambda w: -tools.add(a=len(w), b=0))
@functools.lru_cache
def cached(n): return tools.add(a=n, b=n)
values = list(stream()); next(iter(g := stream())); g.close()
e = Ended(); del e
try: tools.fail(why="x")
except Exception as err: seen.append((type(err).__name__, str(err), err.data))
finally: seen.append(tools.echo(n=1.5))
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    futures = [pool.submit(tools.add, a=i, b=1) for i in range(4)]
    pooled = [f.result() for f in concurrent.futures.as_completed(futures)] + list(pool.map(lambda n: tools.add(a=n, b=2), range(3)))
print(words, values, repr(Shown()), [cached(n % 2) for n in range(5)], sorted(pooled), seen, max([3, 1, 2], key=lambda n: tools.add(a=-n, b=0)))
{"big": tools.echo(n=2**80)["n"], "bytes": tools.echo(b=b"\x00\xff")["b"], "set": tools.echo(s={1, 2})["s"], "none": tools.echo(x=None)["x"]}
