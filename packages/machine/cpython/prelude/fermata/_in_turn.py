"""The pools of concurrent.futures, without threads or processes: `submit` runs the task at once, to its end.

Results, errors and their order are those of a pool with one worker. This module takes the place of
`concurrent.futures.thread` and `concurrent.futures.process`."""
from fermata._private import builtins as __builtins__
import sys
import types
import concurrent.futures
from concurrent.futures import _base
from fermata._loop import outside_loop


class BrokenThreadPool(_base.BrokenExecutor):
    """The initializer of a pool failed."""


class BrokenProcessPool(_base.BrokenExecutor):
    """The initializer of a pool failed."""


class _WorkItem:
    def __init__(self, future, fn, args, kwargs):
        self.future, self.fn, self.args, self.kwargs = future, fn, args, kwargs

    def run(self):
        self.future.set_running_or_notify_cancel()
        try:
            result = outside_loop(self.fn, *self.args, **self.kwargs)
        except BaseException as error:
            self.future.set_exception(error)
        else:
            self.future.set_result(result)

    __class_getitem__ = classmethod(types.GenericAlias)


class _Pool(_base.Executor):
    _broken_error = None

    def __init__(self, max_workers=None, initializer=None, initargs=()):
        if max_workers is not None and max_workers <= 0:
            raise ValueError("max_workers must be greater than 0")
        if initializer is not None and not callable(initializer):
            raise TypeError("initializer must be a callable")
        self._max_workers = max_workers or 1
        self._initializer, self._initargs = initializer, initargs
        self._broken = self._shut_down = False

    def submit(self, fn, /, *args, **named):
        if self._broken:
            raise self._broken_error("the initializer failed, the pool is not usable anymore")
        if self._shut_down:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future = _base.Future()
        try:
            self._initialize()
        except BaseException as error:
            future.set_exception(error)
        else:
            _WorkItem(future, fn, args, named).run()
        return future

    def _initialize(self):
        initializer, self._initializer = self._initializer, None
        if initializer is None:
            return
        try:
            outside_loop(initializer, *self._initargs)
        except BaseException as error:
            self._broken = True
            raise self._broken_error("the initializer failed, the pool is not usable anymore") from error

    def shutdown(self, wait=True, *, cancel_futures=False):
        self._shut_down = True


class ThreadPoolExecutor(_Pool):
    _broken_error = BrokenThreadPool

    def __init__(self, max_workers=None, thread_name_prefix="", initializer=None, initargs=()):
        super().__init__(max_workers, initializer, initargs)


class ProcessPoolExecutor(_Pool):
    _broken_error = BrokenProcessPool

    def __init__(self, max_workers=None, mp_context=None, initializer=None, initargs=(), *, max_tasks_per_child=None):
        super().__init__(max_workers, initializer, initargs)


def install():
    here = sys.modules[__name__]
    for name in ("thread", "process"):
        sys.modules[f"concurrent.futures.{name}"] = here
        setattr(concurrent.futures, name, here)
    concurrent.futures.ThreadPoolExecutor = ThreadPoolExecutor
    concurrent.futures.ProcessPoolExecutor = ProcessPoolExecutor
