# Stops inside generators, finally blocks, context managers, exception groups and chained errors.
import contextlib
log = []
def inner(n):
    try:
        for i in range(n):
            got = yield i
            if got: log.append(("got", got))
        return n * 10
    finally:
        log.append(("finally", n, sum(range(20))))
def outer():
    total = 0
    for n in range(1, 6): total += yield from inner(n)
    return total
g = outer(); values = []
try:
    values.append(next(g))
    while True: values.append(g.send(len(values) % 3))
except StopIteration as e: values.append(e.value)
g = inner(4); next(g); g.close()
@contextlib.contextmanager
def scope(name):
    log.append(("enter", name))
    try: yield name.upper()
    except ValueError as e: log.append(("handled", str(e)))
    finally: log.append(("exit", name))
with scope("a") as a, scope("b") as b: raise ValueError(a + b)
with contextlib.ExitStack() as stack:
    for c in "xyz": stack.enter_context(scope(c))
    stack.callback(log.append, "callback")
try:
    try: {}["missing"]
    except KeyError as e: raise RuntimeError("outer") from e
except RuntimeError as e: log.append(repr(e.__cause__))
try: raise ExceptionGroup("many", [ValueError(1), TypeError(2), ExceptionGroup("in", [OSError(3)])])
except* ValueError as eg: log.append(("value", len(eg.exceptions)))
except* (TypeError, OSError) as eg: log.append(("other", len(eg.exceptions)))
print(values, log)
len(log)
