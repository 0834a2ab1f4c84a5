"""What this machine does not have - threads, processes, a network - fails at once, with the way out in its message."""
from fermata._private import builtins as __builtins__
import _thread
import errno
import os
import queue
import socket
import subprocess
import sys
import threading
import time
from fermata import _network
from fermata._calls import sleep

_NO_THREADS = (
    "this machine has no threads: use `await asyncio.gather(...)` to overlap tool calls, "
    "or concurrent.futures.ThreadPoolExecutor, which runs its tasks in turn"
)
_NO_PROCESSES = "this machine has no other processes: do it in Python, or by a tool"


class Lock:
    """A lock for one thread: waiting for it could only end by the time limit."""

    __slots__ = ("_held", "__weakref__")

    def __init__(self):
        self._held = False

    def acquire(self, blocking=True, timeout=-1):
        if not blocking and timeout != -1:
            raise ValueError("can't specify a timeout for a non-blocking call")
        if not self._held:
            self._held = True
            return True
        if not blocking:
            return False
        if timeout < 0:
            raise RuntimeError(f"deadlock: nothing else is running that could release this lock. {_NO_THREADS}")
        sleep(timeout)
        return False

    def release(self):
        if not self._held:
            raise RuntimeError("release unlocked lock")
        self._held = False

    def locked(self):
        return self._held

    def __enter__(self):
        self.acquire()
        return True

    def __exit__(self, *_):
        self.release()

    def _at_fork_reinit(self):
        self._held = False


def _no_threads(*args, **named):
    raise RuntimeError(_NO_THREADS)


def _no_processes(*args, **named):
    raise OSError(errno.ENOTSUP, _NO_PROCESSES)


def _no_network(*args, **named):
    raise OSError(errno.ENETUNREACH, _network.NO_NETWORK)


def _connect(address, *args, **named):
    # Only of what speaks HTTP is it known that it speaks HTTP.
    if sys._getframe(1).f_globals.get("__name__") != "http.client":
        raise OSError(errno.ENETUNREACH, "this machine has no network sockets: use urllib.request, http.client or requests, or a tool")
    return _network.Connection(address, *args, **named)


def install():
    time.sleep = sleep
    threading.Lock = threading._allocate_lock = _thread.allocate_lock = _thread.allocate = Lock
    threading.Thread.start = _no_threads
    _thread.start_new_thread = _thread.start_new = _thread.start_joinable_thread = _no_threads
    threading._start_joinable_thread = _no_threads
    queue.SimpleQueue = queue._PySimpleQueue
    subprocess.Popen.__init__ = _no_processes
    os.system = os.popen = _no_processes
    socket.socket.__init__ = _no_network
    socket.create_connection = _connect
    for name in ("IPPROTO_TCP", "TCP_NODELAY"):
        if not hasattr(socket, name):
            setattr(socket, name, 0)
    for name in ("create_server", "getaddrinfo", "gethostbyname", "gethostbyaddr", "socketpair"):
        setattr(socket, name, _no_network)
