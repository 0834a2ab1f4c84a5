"""In the place of a module that the image does not have, where a test module imports it at its top: a test that uses it is skipped."""

import unittest


class _Absent:
    def __init__(self, name):
        self.name = name

    def __call__(self, *args, **named):
        raise unittest.SkipTest(f"needs {self.name}, which the image does not have")

    __mul__ = __rmul__ = __add__ = __radd__ = __sub__ = __call__


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _Absent(f"{__name__}.{name}")


def get_config():
    """This and the next are asked while test modules are imported; all else by single tests."""
    return {"code_debug_ranges": 1}


def get_immortalize_deferred():
    return False
