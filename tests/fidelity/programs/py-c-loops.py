# Stops inside of loops in C that call no Python: sorts without a key, sums, bulk operations on containers and text.
import bisect, collections, heapq, itertools, math, operator, statistics
numbers = [(i * 7919) % 4001 for i in range(4000)]
floats = [n / 7 for n in numbers]; words = [f"w{n}" for n in numbers]; pairs = [(n % 50, w) for n, w in zip(numbers, words)]
for values in (numbers, floats, words, pairs, [str(n).encode() for n in numbers], [n if n % 2 else float(n) for n in numbers]):
    values = sorted(values); values.sort(reverse=True); assert values[0] == max(values) and values[-1] == min(values)
print(sum(range(20000)), sum(floats), math.fsum(floats), math.prod(range(1, 200)) % 10**9, statistics.median(numbers))
print(max(range(9000)), min(range(9000, 0, -1)), len(collections.deque(itertools.islice(itertools.count(), 20000), 5)), len(set(words) & set(words[:900])))
heap = numbers[:]; heapq.heapify(heap)
print([heapq.heappop(heap) for _ in range(3)], heapq.nlargest(3, numbers), [heapq.heapreplace(heap, 5000) for _ in range(3)])
print(list(itertools.islice(itertools.compress(itertools.count(), itertools.cycle([0, 1, 0])), 3)), sum(map(operator.mul, numbers, numbers)))
print(collections.Counter(words).most_common(1), len(dict.fromkeys(itertools.chain(words, range(3000)))), [*itertools.accumulate(range(3000))][-1])
print(len(" ".join(words)), len("-".join(words).split("-")), " ".join(words).replace("w1", "x").count("x"), all(map(str.isalnum, words)), any(map(str.isspace, words)))
print(sum(1 for _ in itertools.permutations(range(6))), len(list(itertools.product(range(12), repeat=3))), len(list(zip(*[iter(numbers)] * 3))))
print(numbers.index(3000), numbers.count(7), 4001 in numbers, bisect.bisect(sorted(words), "w2"), list(reversed(numbers))[:2], numbers[::-7][:2], [0, 1] * 3 == [0, 1, 0, 1, 0, 1])
def shuffled(n): return sorted(range(n), key=lambda i: i * 7919 % n)
[frozenset(shuffled(500)) == frozenset(range(500)), bytes(range(256)).translate(bytes(range(255, -1, -1)))[:3], "".join(map(chr, range(945, 970))).upper(), hash((1, (2, 3))), {*range(1500)} ^ {*range(5, 1505)}]
