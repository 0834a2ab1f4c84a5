# Stops inside sort keys, comparison methods, heap operations and bisect on objects.
import bisect, functools, heapq
seen = []
class Item:
    def __init__(self, n): self.n = n
    def __lt__(self, other):
        seen.append(self.n)
        return sum(range(self.n % 7)) + self.n < other.n + sum(range(other.n % 7))
    def __repr__(self): return f"I{self.n}"
items = [Item(i * 7919 % 61) for i in range(50)]
print(sorted(items)[:5], min(items), max(items))
heap = []
for item in items: heapq.heappush(heap, item)
print([heapq.heappop(heap) for _ in range(5)], heapq.nsmallest(3, items), bisect.bisect(sorted(items), Item(30)))
def key(s):
    t = 0
    for c in s: t = t * 31 + ord(c)
    return t % 97
words = [f"w{i * 37 % 101}" for i in range(60)]
print(sorted(words, key=key)[:6], sorted(words, key=functools.cmp_to_key(lambda a, b: key(b) - key(a)))[:3])
failed = 0
for i in range(6):
    def bad(x):
        if x == i: raise KeyError(i)
        return -x
    try: sorted(range(5, -1, -1), key=bad)
    except KeyError as e: failed += e.args[0]
len(seen), failed
