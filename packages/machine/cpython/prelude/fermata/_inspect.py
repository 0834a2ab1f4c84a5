"""Where the program stands and what its variables hold. Runs on a copy of the machine that is thrown away after."""
from fermata._private import builtins as __builtins__
import reprlib
import sys
import types
from fermata._calls import is_user_file
from fermata._tools import Tools

_LONGEST = 200
_repr = reprlib.Repr(maxlevel=4, maxlist=30, maxtuple=30, maxdict=30, maxset=30, maxfrozenset=30, maxdeque=30, maxstring=_LONGEST, maxlong=_LONGEST, maxother=_LONGEST)


def _short(value):
    try:
        text = _repr.repr(value)
        return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
    except BaseException as error:
        return f"<{type(value).__name__} whose repr failed: {type(error).__name__}>"


def _locals(frame):
    named = {}
    for name, value in list(frame.f_locals.items()):
        if type(name) is str and name.isidentifier() and not name.startswith("__") and type(value) not in (types.ModuleType, Tools):
            named[name] = _short(value)
    return named


def stack():
    frames, frame = [], sys._getframe()
    while frame is not None:
        code = frame.f_code
        if is_user_file(code.co_filename):
            frames.append({"file": code.co_filename, "line": frame.f_lineno, "function": code.co_qualname, "locals": _locals(frame)})
        frame = frame.f_back
    return {"stack": frames[:200][::-1]}
