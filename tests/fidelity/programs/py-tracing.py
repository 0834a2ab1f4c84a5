# Instrumented instructions: settrace with lines and opcodes, jumps, profilers, sys.monitoring, and errors raised in all of them.
import sys
events = []
def work(n):
    total = 0
    for i in range(n):
        if i % 3 == 0: total += i
        else: total -= helper(i)
    try: raise ValueError(total)
    except ValueError as e: total = len(str(e))
    with Scope() as s: total += s
    return [x for x in gen(total % 5)] + [super_user.size()]
def helper(i): return len("x" * i) + max(i, 1)
def gen(n):
    got = yield from range(n)
    yield got
class Scope:
    def __enter__(self): return 2
    def __exit__(self, *a): return False
class Base:
    def size(self): return 4
class User(Base):
    def size(self): return super().size() + 1
super_user = User()
def tracer(frame, event, arg):
    events.append((event, frame.f_code.co_name, (frame.f_lineno or 0) - frame.f_code.co_firstlineno)); frame.f_trace_opcodes = len(events) % 2 == 0
    return tracer
sys.settrace(tracer); a = work(7); sys.settrace(None)
print(a, len(events), events[:3], events[-1])
sys.setprofile(lambda frame, event, arg: events.append(event)); b = work(5); sys.setprofile(None)
print(b, len(events), events[-3:])
def failing(frame, event, arg):
    if event == "line" and (frame.f_lineno or 0) - frame.f_code.co_firstlineno == 3: raise KeyError("traced")
    return failing
try: sys.settrace(failing); work(3)
except KeyError as e: print("raised", e, sys.gettrace())
def jump():
    x = 1
    x = 2
    return x
def jumper(frame, event, arg):
    if frame.f_code is jump.__code__ and event == "line" and frame.f_lineno == jump.__code__.co_firstlineno + 2: frame.f_lineno += 1
    return jumper
sys.settrace(jumper); j = jump(); sys.settrace(None)
M, E = sys.monitoring, sys.monitoring.events
M.use_tool_id(2, "test"); counts = {}
def counted(name):
    def called(*args):
        counts[name] = counts.get(name, 0) + 1
        if name == "BRANCH" and counts[name] == 4: return M.DISABLE
        if name == "CALL" and counts[name] == 90: raise RuntimeError("monitored")
    return called
names = ["PY_START", "PY_RESUME", "PY_RETURN", "PY_YIELD", "CALL", "LINE", "INSTRUCTION", "JUMP", "BRANCH", "STOP_ITERATION", "RAISE", "EXCEPTION_HANDLED", "PY_UNWIND", "PY_THROW", "RERAISE", "C_RETURN", "C_RAISE"]
for name in names: M.register_callback(2, getattr(E, name), counted(name))
M.set_events(2, sum(getattr(E, n) for n in names[:13] if n != "STOP_ITERATION") | E.STOP_ITERATION)
for n in (6, 9, 40):
    try: work(n)
    except RuntimeError as e: print(e)
M.set_events(2, 0); M.set_local_events(2, helper.__code__, E.LINE | E.INSTRUCTION); work(4); M.set_local_events(2, helper.__code__, 0); M.free_tool_id(2)
print(j, counts)
work(6)
