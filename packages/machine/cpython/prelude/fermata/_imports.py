"""The list of modules that user code may import.

It binds the code of the program, not that of the libraries it uses: the caller of an import is a library if its globals
are those of a module that was not loaded from `/work`. This keeps honest programs to the list; the boundary of the
machine does not rest on it."""
from fermata._private import builtins as __builtins__
import builtins
import importlib
import os
import sys

_import, _import_module = builtins.__import__, importlib.import_module
_ALWAYS = ("fermata", "__future__")
_allowed = None


class NotAllowed(ImportError):
    """Looks like any ImportError."""


NotAllowed.__name__ = NotAllowed.__qualname__ = "ImportError"
NotAllowed.__module__ = "builtins"


def allow(names):
    """From now on user code may import these modules and what is in them, or anything if None."""
    global _allowed
    _allowed = names
    builtins.__import__ = _import if names is None else _checked_import
    importlib.__import__ = builtins.__import__
    importlib.import_module = _import_module if names is None else _checked_import_module


def _is_library(namespace):
    name = namespace.get("__name__")
    if type(name) is not str or name == "__main__" or str(namespace.get("__file__", "")).startswith("/work/"):
        return False
    module = sys.modules.get(name)
    return module is not None and getattr(module, "__dict__", None) is namespace


def _check(name):
    top = name.partition(".")[0]
    for allowed in (*_ALWAYS, *_allowed):
        if name == allowed or name.startswith(allowed + ".") or allowed.startswith(name + "."):
            return
    if os.path.exists(f"/work/{top}.py") or os.path.isdir(f"/work/{top}"):
        return
    listed = ", ".join(sorted(_allowed)) or "none"
    raise NotAllowed(f"this program may not import {name!r}; modules it may import: {listed}", name=name)


def _checked_import(name, globals=None, locals=None, fromlist=(), level=0):
    if level == 0 and _allowed is not None and not _is_library(globals if globals is not None else sys._getframe(1).f_globals):
        _check(name)
    return _import(name, globals, locals, fromlist, level)


def _checked_import_module(name, package=None):
    if _allowed is not None and not name.startswith(".") and not _is_library(sys._getframe(1).f_globals):
        _check(name)
    return _import_module(name, package)
