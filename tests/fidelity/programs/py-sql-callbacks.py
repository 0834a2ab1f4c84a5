# Stops inside of long SQL statements, and inside of Python that SQL calls: functions, aggregates, windows, collations, handlers.
import sqlite3
db = sqlite3.connect(":memory:")
calls = []
class Spread:
    def __init__(self): self.values = []
    def step(self, v): self.values.append(v)
    def inverse(self, v): self.values.remove(v)
    def value(self): return max(self.values) - min(self.values) if self.values else None
    finalize = value
def progress(): calls.append("p"); return 0
db.create_window_function("spread", 1, Spread); db.create_aggregate("spread_all", 1, Spread)
db.create_function("slow", 1, lambda v: sum(i * v for i in range(12)) % 97, deterministic=True)
db.create_function("broken", 1, lambda v: 1 // (v - 3))
db.create_collation("length", lambda a, b: (len(a) > len(b)) - (len(a) < len(b)))
db.set_progress_handler(progress, 1000); db.set_trace_callback(lambda sql: calls.append(len(sql)))
db.set_authorizer(lambda *a: sqlite3.SQLITE_OK)
db.execute("create table t(n integer primary key, s text, g integer)")
db.executemany("insert into t values(?, ?, ?)", ((i, "x" * (i * 7 % 13), slow) for i, slow in enumerate(i % 5 for i in range(300))))
print(db.execute("with recursive r(i) as (select 1 union all select i + 1 from r where i < 4000) select sum(i * i % 7) from r").fetchone())
print(db.execute("select g, spread_all(n), sum(slow(n)) from t group by g order by g").fetchall())
print(db.execute("select n, spread(n) over (order by n rows between 2 preceding and 2 following) from t where n < 8").fetchall())
print(db.execute("select count(*), sum(a.n * b.n % 17) from t a, t b where a.n < 12 and (a.n + b.n) % 3 = 1").fetchone())
print([r[0] for r in db.execute("select s from t order by s collate length, n limit 20")][-1], db.execute("pragma integrity_check").fetchone())
for sql in ("select broken(n) from t", "select * from nowhere", "insert into t values(1, '', 0)"):
    try: db.execute(sql).fetchall()
    except sqlite3.Error as e: print(type(e).__name__, e)
db.execute("create virtual table f using fts5(body)"); db.executemany("insert into f values(?)", [(f"word{i} and {i * i}",) for i in range(60)])
print(db.execute("select count(*) from f where f match 'word7 or 49'").fetchone(), db.execute("select json_extract('{\"a\":[1,{\"b\":2}]}', '$.a[1].b')").fetchone())
sqlite3.register_adapter(complex, lambda c: f"{c.real};{c.imag}"); sqlite3.register_converter("cx", lambda b: complex(*map(float, b.split(b";"))))
typed = sqlite3.connect(":memory:", detect_types=sqlite3.PARSE_DECLTYPES); typed.row_factory = sqlite3.Row
typed.execute("create table c(z cx)"); typed.executemany("insert into c values(?)", [(complex(i, -i),) for i in range(9)])
db.commit(); copy = sqlite3.connect(":memory:"); db.backup(copy, pages=3, progress=lambda *a: calls.append(a))
print(sum(row["z"] for row in typed.execute("select z from c")), copy.execute("select count(*) from t").fetchone(), len("".join(copy.iterdump())) > 1000)
db.set_progress_handler(lambda: 1, 5000)
try: db.execute("with recursive r(i) as (select 1 union all select i + 1 from r) select sum(i) from r").fetchone()
except sqlite3.OperationalError as e: print(e)
len(calls)
