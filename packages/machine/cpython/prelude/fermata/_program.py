"""Runs one program: from the host's `start` to the message that says how it ended.

The program runs as the module `__main__`. Its result is `__result__` if it sets that, else the value of its last
statement if that is an expression. With `await` outside of any function, all of it runs inside an event loop."""
from fermata._private import builtins as __builtins__
import ast
import asyncio
import atexit
import gc
import io
import os
import random
import re
import sys
import tempfile
import types
import uuid
import fermata
from _fermata import encode, restore_interpreter, set_user_file
from fermata import _calls, _failure, _imports, _tools

_LAST = "<last expression>"
_CO_COROUTINE = 0x80
_exit_code = SystemExit.__dict__["code"].__get__
_seed = random.seed
_run_exit_functions = atexit._run_exitfuncs
_collect = gc.collect
_main = None
# Given back when memory has run out, so that there is some to say so.
_RESERVED = 1 << 18
_reserve = bytes(_RESERVED)
_FENCED = re.compile(r"(\s*)```[ \t]*\w*[ \t]*\r?\n(.*?)^[ \t]*```\s*", re.DOTALL | re.MULTILINE)
_WARMING = (
    "def f(x): return [str(i) for i in range(x)]\nf(3)",
    "import asyncio\nawait asyncio.gather(asyncio.sleep(0), asyncio.sleep(0))",
    "tools.a.b; tools['a.b']; raise ValueError",
)


def serve(start):
    """Runs the program and returns what to say about its end."""
    global _reserve
    file = start["file"]
    _prepare(start, file)
    try:
        said = {"say": "done", "value": encode(_value(start["code"], file), "result")}
    except BaseException as error:
        _reserve = None
        said = _exited(file) if issubclass(type(error), SystemExit) and not _exit_code(error) else _failed(error, file)
    _calls.end()
    _wind_up(start["shared"])
    if said["say"] == "done":
        _calls.settle()
    _calls.report_unawaited()
    _imports.allow(None)
    _calls.flush()
    return said


def broken(error):
    restore_interpreter()
    name, message = "RuntimeError", f"the program left the interpreter unusable: {type(error).__name__}"
    if issubclass(type(error), MemoryError):
        name, message = "MemoryError", ""
    return {"say": "failed", "error": {"name": name, "message": message, "traceback": "", "line": None, "column": None}}


def _failed(error, file):
    described = _failure.describe(error, file)
    if issubclass(type(error), SystemExit) and isinstance(_exit_code(error), int):
        described["message"] = f"exit code {_exit_code(error)}"
    return {"say": "failed", "error": described}


def _exited(file):
    try:
        return {"say": "done", "value": encode(_main.__dict__.get("__result__"), "result")}
    except BaseException as error:
        return _failed(error, file)


def _prepare(start, file):
    global _main, _reserve
    _reserve = _reserve or bytes(_RESERVED)
    if _calls.begin():
        open_streams()  # an earlier program may have done anything to them
    _seed(int.from_bytes(start["seed"]))
    tempfile._name_sequence = uuid._node = uuid._last_timestamp = None
    if _main is None or not start["shared"]:
        _main = types.ModuleType("__main__")
        _main.__dict__.update(__file__=file, __builtins__=sys.modules["builtins"])
        sys.argv = [file]
    sys.modules["__main__"] = _main
    namespace = _main.__dict__
    namespace.pop("__result__", None)
    fermata.input = start["input"]
    namespace.update(tools=fermata.tools, task_input=start["input"])
    _calls.set_user_file(file)
    set_user_file(file)
    _tools.set_tools(start["tools"])
    _imports.allow(start["allowed"])


class _Pipe(io.FileIO):
    def isatty(self):
        return False


def open_streams():
    """Standard input, output and error, from the beginning."""
    os.lseek(0, 0, os.SEEK_SET)
    for fd, name in enumerate(("stdin", "stdout", "stderr")):
        raw = _Pipe(fd, "w" if fd else "r", closefd=False)
        raw.name = f"<{name}>"
        if fd:
            stream = io.TextIOWrapper(io.BufferedWriter(raw), "utf-8", "backslashreplace", line_buffering=True)
        else:
            stream = io.TextIOWrapper(io.BufferedReader(raw), "utf-8", "surrogateescape")
        stream.mode = "w" if fd else "r"
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    _calls.set_streams([sys.stdout, sys.stderr])


def warm_up():
    """Goes once through what every program goes through, so that the interpreter has adapted to it in the base image."""
    global _main, _reserve
    quiet = {"file": "main.py", "input": None, "seed": bytes(32), "tools": [{"name": "a.b", "parameters": None}], "allowed": None, "shared": False}
    for code in _WARMING:
        serve({**quiet, "code": code})
    _main = None
    _reserve = bytes(_RESERVED)  # given back by the one that failed; a program finds it in the base, and does not touch it
    _calls.forget()
    open_streams()


def _wind_up(shared):
    """What CPython does at its exit: functions registered for it, and the end of all objects, which closes open files."""
    if shared:
        return
    for function in (_run_exit_functions, _main.__dict__.clear, _collect):
        try:
            function()
        except BaseException:
            pass  # the program's outcome is already known


def _value(code, file):
    code = _without_fence(code)
    _failure.remember_source(file, code)
    compiled = _compile(code, file)
    namespace = _main.__dict__
    try:
        if compiled.co_flags & _CO_COROUTINE:
            with asyncio.Runner() as runner:
                runner.run(_inside_loop(eval(compiled, namespace), namespace))
        else:
            exec(compiled, namespace)
    finally:
        try:
            restore_interpreter()
        except BaseException:
            restore_interpreter()  # the program's profiler was called for the first one, and is gone now
    last = namespace.pop(_LAST, None)
    return namespace.get("__result__", last)


async def _inside_loop(program, namespace):
    await program
    if isinstance(namespace.get(_LAST), _tools.Call):
        namespace[_LAST] = await namespace[_LAST]


def _compile(code, file):
    try:
        tree = ast.parse(code, file)
    except SyntaxError as error:
        if "```" in (error.text or ""):
            error.msg = "a Markdown fence (```) inside the program: give only the code itself"
        raise
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = tree.body[-1]
        target = ast.copy_location(ast.Name(_LAST, ast.Store()), last)
        tree.body[-1] = ast.copy_location(ast.Assign([target], last.value), last)
    return compile(tree, file, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)


def _without_fence(code):
    """The program inside of ``` fences, if it is wrapped in them as a whole, on the lines where it was."""
    fenced = _FENCED.fullmatch(code)
    if fenced is None:
        return code
    return "\n" * (fenced[1].count("\n") + 1) + fenced[2]
