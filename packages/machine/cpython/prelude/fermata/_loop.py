"""The event loop: asyncio's own, over a machine that can wait for only one thing, its host.

Answers to tool calls enter only when nothing is left to run, one at a time, in the order in which the host gives them.
So what a program does depends on that order alone, not on when an answer happened to be there."""
from fermata._private import builtins as __builtins__
import asyncio
import time
from asyncio import base_events, events
from fermata import _calls
from fermata._tools import Call

# A loop that only polls (`while not done: await sleep(0)`) is let in an answer this often.
_POLLS = 64
# Otherwise a sleep of a month would wake up every day.
base_events.MAXIMUM_SELECT_TIMEOUT = 1e10


class _Quiescence:
    """What the loop takes for its selector; `select` is where nothing is left to run."""

    def __init__(self, loop):
        self._loop = loop
        self._polls = 0

    def select(self, timeout=None):
        if timeout is not None and timeout <= 0:
            self._polls += 1
            if self._polls % _POLLS == 0 and _calls.pending():
                _calls.wait(_calls.due_in(0))
                self._deliver()
            return ()
        self._polls = 0
        if self._deliver():
            return ()
        if timeout is None and not _calls.pending():
            raise RuntimeError(_deadlock(self._loop))
        _calls.wait(None if timeout is None else _calls.due_in(timeout))
        self._deliver()
        return ()

    def _deliver(self):
        record = _calls.take_kept()
        if record is None:
            return False
        record.future.deliver(record.reply)
        return True

    def close(self):
        pass


def _deadlock(loop):
    places = []
    for task in asyncio.all_tasks(loop):
        for frame in task.get_stack():
            if _calls.is_user_file(frame.f_code.co_filename):
                places.append(f"{frame.f_code.co_name} at line {frame.f_lineno}")
    where = f" ({', '.join(sorted(places))})" if places else ""
    return f"deadlock: every task waits for another one, and no tool call or timer is left to wake any{where}"


async def _awaiting(call):
    return await call


class EventLoop(base_events.BaseEventLoop):
    def __init__(self):
        super().__init__()
        self._selector = _Quiescence(self)

    def _process_events(self, event_list):
        pass

    def _write_to_self(self):
        pass

    def create_task(self, coro, **options):
        # Tools look like coroutine functions to a program, so their calls may be made tasks like coroutines.
        return super().create_task(_awaiting(coro) if isinstance(coro, Call) else coro, **options)

    def run_in_executor(self, executor, func, *args):
        """In turn: when it is this call's turn, everything else in the loop stands still until `func` returns."""
        self._check_closed()
        future = self.create_future()
        self.call_soon(_run_into, future, func, args)
        return future

    async def subprocess_exec(self, *args, **options):
        raise OSError("there are no processes in this machine")

    subprocess_shell = subprocess_exec


def _run_into(future, func, args):
    if future.cancelled():
        return
    try:
        result = outside_loop(func, *args)
    except StopIteration as error:
        future.set_exception(RuntimeError(f"the function raised {error!r}"))
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)


def outside_loop(func, /, *args, **named):
    """Calls `func` as a thread would: no loop is running for it, so tools block in it and asyncio.run works."""
    loop = events._get_running_loop()
    events._set_running_loop(None)
    try:
        return func(*args, **named)
    finally:
        events._set_running_loop(loop)


class Policy(events.BaseDefaultEventLoopPolicy):
    _loop_factory = EventLoop


def install():
    asyncio.set_event_loop_policy(Policy())
    for module in (asyncio, asyncio.unix_events):
        module.SelectorEventLoop = module.EventLoop = EventLoop
        module.DefaultEventLoopPolicy = Policy
