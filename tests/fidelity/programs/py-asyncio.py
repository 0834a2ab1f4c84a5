# Tasks, queues, timeouts, cancellation, locks, tools answered while others are awaited, and polling with sleep(0).
import asyncio, contextvars
var = contextvars.ContextVar("var", default=0)
log = []
async def worker(name, q):
    var.set(len(name))
    try:
        while True:
            n = await q.get()
            await asyncio.sleep(0.001 * n)
            log.append((name, n, var.get()))
            q.task_done()
    except asyncio.CancelledError:
        log.append((name, "cancelled")); raise
async def main():
    q = asyncio.Queue()
    tasks = [asyncio.create_task(worker("w" * i, q)) for i in (1, 2)]
    for n in range(6): q.put_nowait(n)
    await q.join()
    for t in tasks: t.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    sums = await asyncio.gather(*[tools.add(a=i, b=i * i) for i in range(5)])
    try:
        async with asyncio.timeout(0.01): await asyncio.sleep(30)
    except TimeoutError: log.append("timeout")
    try: await asyncio.wait_for(asyncio.Event().wait(), 0.02)
    except TimeoutError: log.append("event")
    slow = asyncio.ensure_future(tools.echo(x=1)); polls = 0
    while not slow.done(): await asyncio.sleep(0); polls += 1
    done, pending = await asyncio.wait([asyncio.create_task(asyncio.sleep(0.05, "s")), asyncio.create_task(asyncio.sleep(9, "l"))], return_when=asyncio.FIRST_COMPLETED)
    for p in pending: p.cancel()
    order = [await c for c in asyncio.as_completed([asyncio.sleep(0.03, "c"), asyncio.sleep(0.01, "a"), asyncio.sleep(0.02, "b")])]
    lock = asyncio.Lock()
    async def locked(i):
        async with lock: await asyncio.sleep(0); return i
    async with asyncio.TaskGroup() as tg: made = [tg.create_task(locked(i)) for i in range(4)]
    failures = await asyncio.gather(tools.fail(n=1), tools.group.twice(n=2), return_exceptions=True)
    return sums, polls, [d.result() for d in done], order, [t.result() for t in made], str(failures[0]), failures[1]
result = asyncio.run(main())
print(result, log)
len(log)
