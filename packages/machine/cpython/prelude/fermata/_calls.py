"""Tool calls in flight, and the only way to wait for anything.

Answers come in one by one, and only when the guest asks by `wait`. An answer that arrives while someone else was
waiting is kept, in order, for the event loop that its future belongs to."""
from fermata._private import builtins as __builtins__
import operator
import sys
import time
from collections import deque
from _fermata import can_wait, emit, encode, exchange

EMIT_CALL, EMIT_NOTE = 3, 4
_time_ns = time.time_ns
_in_flight = {}  # id -> Record
_kept = deque()  # answered records whose future has not been told
_unawaited = {}  # id -> (tool's name, line)
_streams = []
_next_id = 1
_open = _begun = False


class Record:
    __slots__ = ("id", "future", "reply")

    def __init__(self, id, future):
        self.id, self.future, self.reply = id, future, None


def note(**content):
    emit(EMIT_NOTE, content)


def flush():
    for stream in _streams:
        try:
            stream.flush()
        except Exception:
            pass  # the program may have closed it


def set_streams(streams):
    _streams[:] = streams


def begin():
    """A program starts: what an earlier one left in flight is forgotten. Tells whether there was an earlier one."""
    global _open, _begun
    _in_flight.clear()
    _kept.clear()
    _unawaited.clear()
    begun, _begun, _open = _begun, True, True
    return begun


def forget():
    global _begun
    _begun = False


def end():
    """The program ended: it may start no more calls."""
    global _open
    _open = False


def start(name, args, future=None):
    global _next_id
    if not _open:
        raise RuntimeError(f"tools.{name} was called after the program had ended")
    if future is None and not can_wait():
        raise RuntimeError(f"tools.{name} was called while an object is destroyed (__del__, weakref callback, dropped generator), which cannot wait: call it before, or use a with block")
    encoded = encode(args, "args")
    flush()
    record = Record(_next_id, future)
    emit(EMIT_CALL, {"id": record.id, "name": name, "args": encoded})
    _in_flight[record.id] = record
    _next_id += 1
    if future is not None:
        _unawaited[record.id] = name, user_line()
    return record


def awaited(record):
    _unawaited.pop(record.id, None)


def pending():
    return bool(_in_flight)


def wait(due):
    """Waits for one answer, or until `due` (ms since 1970, or None). False if it was the time that came."""
    flush()
    try:
        reply = exchange({"say": "wait", "due": due})
    except MemoryError:
        _in_flight.clear()  # the answer did not fit into memory, so whose it was will not be known
        raise
    if reply["do"] == "timer":
        return False
    record = _in_flight.pop(reply["id"], None)
    if record is not None:
        record.reply = reply
        if record.future is not None:
            _kept.append(record)
    return True


def take_kept():
    """The oldest answered record that still waits to be told to its future, or None."""
    return _kept.popleft() if _kept else None


def block_on(record):
    while record.reply is None:
        wait(None)
    return record.reply


def settle():
    while _in_flight:
        wait(None)


def report_unawaited():
    for name, line in _unawaited.values():
        note(note="finding", message=f"the call of tools.{name} was started and never awaited: write `await tools.{name}(...)`", line=line)


def due_in(seconds):
    """The time that far from now in whole milliseconds, rounded up so that it has passed when it is reached."""
    return -(-(_time_ns() + int(seconds * 1_000_000_000)) // 1_000_000)


def sleep(seconds, /):
    """Lets time pass. Costs nothing, and the machine may be stored away meanwhile."""
    if not isinstance(seconds, float):
        seconds = operator.index(seconds)
    if seconds < 0 or seconds != seconds:
        raise ValueError("sleep length must be non-negative")
    if seconds == 0:
        return
    due = due_in(min(seconds, 1e11))
    while wait(due):
        pass


def user_line():
    frame = sys._getframe(1)
    while frame is not None:
        if is_user_file(frame.f_code.co_filename):
            return frame.f_lineno
        frame = frame.f_back
    return None


_user_file = "main.py"


def set_user_file(name):
    global _user_file
    _user_file = name


def is_user_file(name):
    return name == _user_file or name.startswith("/work/")
