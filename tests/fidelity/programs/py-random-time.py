# Clocks, randomness, identifiers, hashes and sets: the same after every stop.
import datetime, hashlib, os, random, secrets, time, uuid, zoneinfo
start = time.monotonic(); wall = time.time()
numbers = [random.random() for _ in range(20)]; random.shuffle(numbers)
ids = [uuid.uuid4().hex, os.urandom(8).hex(), secrets.token_hex(4), tools.echo(x=1)["x"]]
time.sleep(0.5); after = time.monotonic() - start
t = 0
for i in range(3000): t += i
berlin = datetime.datetime.fromtimestamp(wall, zoneinfo.ZoneInfo("Europe/Berlin"))
print(round(after, 1), berlin.isoformat()[:16], time.perf_counter() > 0, time.process_time() >= 0, time.strftime("%Y-%m-%d", time.gmtime(wall)))
print(numbers[:2], ids, sorted({"b", "a", "c"}), list({"x": 1, "y": 2}), hash("text"), len({object() for _ in range(50)}))
print(hashlib.sha256(repr(numbers).encode()).hexdigest()[:16], hashlib.blake2b(b"x").hexdigest()[:8], random.choices("abc", [1, 2, 3], k=5), random.gauss(0, 1))
time.time_ns() // 10**9
