"""What a program tells about itself: steps, progress, and wishes for a checkpoint."""
from fermata._private import builtins as __builtins__
import asyncio
from fermata._calls import note
from _fermata import encode


def step(name, fn=None):
    """Names what comes next. With `fn`, calls it, records its result under the name, and returns it."""
    if not isinstance(name, str):
        raise TypeError(f"a step's name is a str, not {type(name).__name__}")
    note(note="step", name=name)
    if fn is None:
        return None
    result = fn()
    if asyncio.isfuture(result) or asyncio.iscoroutine(result):
        return _recorded_later(name, result)
    return _recorded(name, result)


def _recorded(name, result):
    note(note="step_result", name=name, value=encode(result, "result"))
    return result


async def _recorded_later(name, result):
    return _recorded(name, await result)


def progress(done):
    """How far the program is, from 0 to 1."""
    if isinstance(done, bool) or not isinstance(done, (int, float)) or not 0 <= done <= 1:
        raise ValueError(f"progress is a number from 0 to 1, not {done!r}")
    note(note="progress", value=done)


def checkpoint():
    """Asks for a checkpoint here; otherwise they are taken as the host sees fit."""
    note(note="checkpoint")
