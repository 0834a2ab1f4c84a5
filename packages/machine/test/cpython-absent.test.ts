/** What the machine does not have, and what stands for it. */
import { describe, expect, test } from 'vitest';
import { echo, errorOf, resultOf, runPython } from './run-python.ts';

describe('pools run their tasks in turn, with the right results', () => {
  test.each(['ThreadPoolExecutor', 'ProcessPoolExecutor'])('%s', (pool) => {
    const code = `
from concurrent.futures import ${pool}, as_completed, wait
def work(n):
    if n == 3: raise ValueError(n)
    return tools.echo(n=n)["n"] * 2
with ${pool}(max_workers=4) as pool:
    mapped = list(pool.map(work, range(3)))
    futures = [pool.submit(work, n) for n in range(5)]
    failed = [f.exception() for f in as_completed(futures) if f.exception()]
    done, rest = wait(futures)
try: pool.submit(work, 1)
except RuntimeError as e: late = str(e)
[mapped, len(failed), len(done), len(rest), sum(f.result() for f in futures if not f.exception()), late]`;
    expect(resultOf(code, { with: { echo } })).toEqual([[0, 2, 4], 1, 5, 0, 14, 'cannot schedule new futures after shutdown']);
  });

  test('also inside a loop, where their tasks may run a loop of their own', () => {
    const code = `
import asyncio
from concurrent.futures import ThreadPoolExecutor
async def inner(n): return await tools.echo(n=n)
async def main():
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor() as pool:
        direct = pool.submit(lambda: tools.echo(n=1)).result()
        return [direct, await loop.run_in_executor(pool, lambda: asyncio.run(inner(2))), await asyncio.to_thread(sum, [1, 2])]
asyncio.run(main())`;
    expect(resultOf(code, { with: { echo } })).toEqual([{ n: 1 }, { n: 2 }, 3]);
  });
});

test.each([
  ['import threading\nthreading.Thread(target=print).start()', 'RuntimeError', 'asyncio.gather'],
  ['import threading\nthreading.Timer(1, print).start()', 'RuntimeError', 'this machine has no threads'],
  ['import _thread\n_thread.start_new_thread(print, ())', 'RuntimeError', 'this machine has no threads'],
  ['import threading\nl = threading.Lock(); l.acquire(); l.acquire()', 'RuntimeError', 'deadlock'],
  ['import queue\nqueue.Queue().get()', 'RuntimeError', 'deadlock'],
  ['import subprocess\nsubprocess.run(["ls"])', 'OSError', 'no other processes'],
  ['import os\nos.system("ls")', 'OSError', 'no other processes'],
  ['from multiprocessing import Pool', 'ImportError', 'ProcessPoolExecutor'],
  ['import urllib.request\nurllib.request.urlopen("http://example.com")', 'URLError', 'no network'],
  ['import socket\nsocket.create_connection(("example.com", 80))', 'OSError', 'no network'],
  ['import asyncio\nasync def f(): await asyncio.create_subprocess_exec("ls")\nasyncio.run(f())', 'OSError', 'no processes'],
])('%j fails with the way out', (code, name, message) => {
  const error = errorOf(code);
  expect(error.name).toBe(name);
  expect(error.message).toContain(message);
});

test('locks, events, queues and locals of one thread work, and time limits pass in virtual time', () => {
  const code = `
import threading, queue, time
lock, event, rlock, local = threading.Lock(), threading.Event(), threading.RLock(), threading.local()
with lock, rlock, rlock: held = lock.locked()
local.x = 1
before = time.monotonic()
out = [held, lock.locked(), event.wait(2), local.x]
event.set(); q = queue.SimpleQueue(); q.put(5)
try: queue.Queue().get(timeout=3)
except queue.Empty: out.append("empty")
out + [event.wait(), q.get(), round(time.monotonic() - before)]`;
  expect(resultOf(code)).toEqual([true, false, false, 1, 'empty', true, 5, 5]);
});

test('the libraries that make sense are there', () => {
  const code = `
import bz2, gzip, lzma, zlib, sqlite3, zoneinfo, datetime, hashlib, decimal, xml.etree.ElementTree as E, unicodedata
db = sqlite3.connect("/work/t.db")
db.execute("create table t(a, b)"); db.executemany("insert into t values(?, ?)", [(i, str(i)) for i in range(100)]); db.commit()
data = b"x" * 1000
berlin = datetime.datetime(2024, 7, 1, 12, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin"))
[db.execute("select sum(a) from t").fetchone()[0], [m.decompress(m.compress(data)) == data for m in (bz2, gzip, lzma, zlib)],
 berlin.astimezone(zoneinfo.ZoneInfo("US/Eastern")).isoformat(), len(zoneinfo.available_timezones()) > 500,
 hashlib.sha3_256(b"").hexdigest()[:8], E.fromstring("<a><b/></a>")[0].tag, str(decimal.Decimal(2).sqrt())[:6]]`;
  expect(resultOf(code)).toEqual([4950, [true, true, true, true], '2024-07-01T06:00:00-04:00', true, 'a7ffc6f8', 'b', '1.4142']);
});

test('where there are no links, reading one tells what is no link from what is not there', () => {
  const code = `
import os
def refused(path):
    try: os.readlink(path)
    except OSError as e: return type(e).__name__ if type(e) is not OSError else os.strerror(e.errno)
open("here", "w").close()
[refused("here"), refused("/work"), refused("missing"), refused("here/below")]`;
  expect(resultOf(code)).toEqual(['Invalid argument', 'Invalid argument', 'FileNotFoundError', 'NotADirectoryError']);
});

test('a folder cannot be opened for writing', () => {
  const code = `
import os, sqlite3
seen = []
for open_it in (lambda: os.open("/work", os.O_RDWR), lambda: open("/work/new/", "w"), lambda: sqlite3.connect("/tmp")):
    try: open_it()
    except (OSError, sqlite3.Error) as e: seen.append(f"{type(e).__name__} {e}")
[*seen, os.path.isdir(os.open("/work", os.O_RDONLY)), os.listdir("/work")]`;
  expect(resultOf(code)).toEqual([
    "IsADirectoryError [Errno 31] Is a directory: '/work'",
    "IsADirectoryError [Errno 31] Is a directory: '/work/new/'",
    'OperationalError unable to open database file',
    true,
    [],
  ]);
});

test('chance comes from the seed alone', () => {
  const code = 'import random, uuid, secrets, os, tempfile\n[random.random(), str(uuid.uuid4()), secrets.token_hex(4), os.urandom(3), tempfile.mktemp(), hash("x")]';
  const [first, second] = [runPython(code), runPython(code)].map(({ outcome }) => (outcome as { value: unknown }).value);
  expect(first).toEqual(second);
});

describe('the list of modules that user code may import', () => {
  const only = { allowedLibraries: ['json', 'xml.etree', 'dataclasses'] };

  test.each([
    'import json, json.decoder',
    'from xml.etree import ElementTree',
    'from __future__ import annotations\nimport fermata',
    'from json.decoder import scanner\nn = scanner.re.compile("x").groups',
    'import dataclasses\n@dataclasses.dataclass\nclass A: x: int = 1\nstr(A())',
  ])('%j passes, whatever those modules import themselves', (code) => {
    expect(runPython(code, only).outcome.kind).toBe('done');
  });

  test.each(['import os', 'from os import path', 'import xml.dom', '__import__("re")', 'import helper', 'exec("import csv", {})'])('%j does not', (code) => {
    const files = [{ path: '/work/helper.py', data: Buffer.from('import math') }];
    expect(errorOf(code, { ...only, files })).toMatchObject({
      name: 'ImportError',
      kind: 'library_not_allowed',
      message: expect.stringContaining('modules it may import: dataclasses, json, xml.etree'),
    });
  });
});

test('modules of the program in /work are its own', () => {
  const files = [{ path: '/work/helper.py', data: Buffer.from('def f(n):\n    return 1 / n\n') }];
  const error = errorOf('import helper\n\nhelper.f(0)', { files });
  expect(error).toMatchObject({ name: 'ZeroDivisionError', line: 3, column: 1 });
  expect(error.traceback).toContain('  File "/work/helper.py", line 2, in f\n    return 1 / n\n');
});
