"""In the place of one of CPython's test modules in C, where a test module imports it at its top: whoever uses it is skipped."""

import unittest


class _Absent:
    def __init__(self, name):
        self.name = name

    def __call__(self, *args, **named):
        raise unittest.SkipTest(f"needs {self.name}, which the image does not have")


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _Absent(f"{__name__}.{name}")
