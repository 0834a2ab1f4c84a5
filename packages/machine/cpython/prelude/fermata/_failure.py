"""An uncaught exception as the host gets to see it.

The traceback reads like CPython's own, without the prelude and the machinery of asyncio around the user's frames, and
short even after a deep recursion. Nothing an exception does - a `__str__` that raises, a metaclass, a patched traceback
module - keeps this from giving an answer."""
from fermata._private import builtins as __builtins__
import asyncio
import linecache
import os
import re
import traceback
import types
from itertools import islice
from fermata._calls import is_user_file
from fermata._imports import NotAllowed
from fermata._tools import ToolError, UnknownToolError

_PRELUDE = os.path.dirname(is_user_file.__code__.co_filename) + "/"
_MACHINERY = tuple(os.path.join(os.path.dirname(asyncio.run.__code__.co_filename), name) for name in ("runners.py", "base_events.py", "events.py"))
_LONGEST = 20_000
_HEAD, _TAIL = 15, 15
_format_exception = traceback.format_exception
_Traceback = types.TracebackType
_name = type.__dict__["__name__"].__get__
_get_traceback = BaseException.__dict__["__traceback__"].__get__
_set_traceback = BaseException.__dict__["__traceback__"].__set__
_get_cause = BaseException.__dict__["__cause__"].__get__
_get_context = BaseException.__dict__["__context__"].__get__
_LEFT_OUT = compile("raise ValueError", "<frames left out>", "exec")
_gap_text = re.compile(r'^  File "<frames left out>".*\n', re.MULTILINE).sub
_lines = []


def remember_source(file, code):
    """Tracebacks, inspect and pdb find the program's lines by this."""
    global _lines
    _lines = code.splitlines(keepends=True)
    linecache.cache[file] = (len(code), None, _lines, file)


def describe(error, file):
    try:
        name = _name(type(error))
        line, column = _place(error, file)
        linecache.cache[file] = (0, None, _lines, file)  # in case the program emptied it
        described = {"name": name, "message": _message(error)[:_LONGEST], "traceback": _text(error), "line": line, "column": column}
        kind = _kind(error)
        return {**described, "kind": kind} if kind else described
    except BaseException:
        return {"name": _name(type(error)), "message": "", "traceback": "", "line": None, "column": None}


def _kind(error):
    if issubclass(type(error), SyntaxError) and not any(is_user_file(step.tb_frame.f_code.co_filename) for step in _steps(error)):
        return "syntax_error"
    for kind, classes in (("unknown_tool", UnknownToolError), ("tool_error", ToolError), ("library_not_allowed", NotAllowed)):
        if issubclass(type(error), classes):
            return kind
    return None


def _message(error):
    if issubclass(type(error), SyntaxError) and isinstance(error.msg, str):
        return error.msg
    try:
        return str.__str__(str(error))
    except BaseException:
        return "<the exception's __str__ failed>"


def _steps(error):
    steps, step = [], _get_traceback(error)
    while step is not None:
        steps.append(step)
        step = step.tb_next
    return steps


def _place(error, file):
    """In the program itself, since a line of one of its modules would be a line of another file."""
    for step in reversed(_steps(error)):
        code = step.tb_frame.f_code
        if code.co_filename == file:
            position = next(islice(code.co_positions(), step.tb_lasti // 2, None), None)
            column = None if position is None or position[2] is None else _characters(step.tb_lineno, position[2]) + 1
            return step.tb_lineno, column
    if issubclass(type(error), SyntaxError) and type(error.lineno) is int:
        return error.lineno, error.offset if type(error.offset) is int and error.offset > 0 else None
    return None, None


def _characters(line, offset):
    """Code objects count columns in bytes."""
    text = _lines[line - 1] if 0 < line <= len(_lines) else ""
    return len(text.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "replace"))


def _text(error):
    left_out = []
    try:
        _shorten(error, set(), left_out)
        text = "".join(_format_exception(error))
    except BaseException:
        text = f"{_name(type(error))}: {_message(error)}\n"
    for count in left_out:
        text = _gap_text(f"  ... {count} frames left out ...\n", text, 1)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]}\n...\n{text[-_LONGEST // 2 :]}"


def _shorten(error, seen, left_out):
    """Rebuilds the traceback of an exception, and of those it came from, with the frames that tell something."""
    if error is None or id(error) in seen:
        return
    seen.add(id(error))
    # In the order in which they are printed.
    _shorten(_get_cause(error) or _get_context(error), seen, left_out)
    steps = [step for step in _steps(error) if not _is_machinery(step.tb_frame.f_code.co_filename)]
    # Above the first line of the program is what called it, and without one (a syntax error) there is only that.
    first = next((i for i, step in enumerate(steps) if is_user_file(step.tb_frame.f_code.co_filename)), len(steps))
    steps = steps[first:]
    shortened = None
    for i, step in reversed(list(enumerate(steps))):
        if len(steps) > _HEAD + _TAIL + 1 and _HEAD <= i < len(steps) - _TAIL:
            if i == _HEAD:
                shortened = _Traceback(shortened, _gap(), 0, 1)
                left_out.append(len(steps) - _HEAD - _TAIL)
            continue
        shortened = _Traceback(shortened, step.tb_frame, step.tb_lasti, step.tb_lineno)
    _set_traceback(error, shortened)
    if issubclass(type(error), BaseExceptionGroup):
        for part in error.exceptions:
            _shorten(part, seen, left_out)


def _is_machinery(file):
    return file.startswith(_PRELUDE) or file in _MACHINERY


def _gap():
    try:
        exec(_LEFT_OUT, {})
    except ValueError as error:
        return error.__traceback__.tb_next.tb_frame
