# Open files across stops, renames, unlinked files, sqlite with Python callbacks inside a query, temporary files.
import os, sqlite3, tempfile, bz2, lzma, gzip, zipfile, pathlib
work = pathlib.Path("/work/data"); work.mkdir()
with open(work / "log.txt", "w+") as f:
    for i in range(30):
        f.write(f"line {i}\n")
        if i % 10 == 9: f.flush(); os.rename(work / "log.txt", work / "x"); os.rename(work / "x", work / "log.txt")
    f.seek(0); lines = f.readlines()
with tempfile.TemporaryFile() as t: t.write(b"gone" * 100); t.seek(4); tail = t.read(4)
db = sqlite3.connect("/work/data.db")
db.create_function("mix", 1, lambda n: sum(range(n % 7)))
db.create_collation("back", lambda a, b: (a < b) - (a > b))
with db: db.execute("create table t(n integer, s text)"); db.executemany("insert into t values(?, ?)", [(i, f"s{i % 7}") for i in range(120)])
try:
    with db: db.execute("delete from t"); raise ValueError
except ValueError: pass
rows = db.execute("with recursive c(x) as (select 1 union all select x + 1 from c where x < 30) select s, sum(mix(n)), count(*) from t join c on t.n = c.x group by s order by s collate back").fetchall()
print(len(lines), tail, rows, db.execute("pragma integrity_check").fetchone(), os.path.getsize("/work/data.db"))
data = b"fermata " * 300
for m in (bz2, lzma, gzip): assert m.decompress(m.compress(data)) == data
with zipfile.ZipFile("/tmp/a.zip", "w", zipfile.ZIP_DEFLATED) as z: z.writestr("a/b.txt", data)
print(zipfile.ZipFile("/tmp/a.zip").namelist(), sorted(os.listdir("/work")), sorted(p.name for p in work.iterdir()))
len(rows)
