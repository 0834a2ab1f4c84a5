"""Runs one module of CPython's tests, natively or in a machine, and prints what each test came to, one JSON object per line.

The lines begin with a mark, so that what tests print is not taken for them."""

import json
import os
import sys
import unittest
import warnings

MARK = "\x1e"


def _tell(name, outcome, detail=""):
    if len(detail) > 300:
        detail = f"{detail[:100]} ... {detail[-200:]}"
    sys.__stdout__.write(f"{MARK}{json.dumps([name, outcome, detail])}\n")


class Result(unittest.TestResult):
    """Tells each test's outcome when it has ended. One with subtests fails if one of them does."""

    def __init__(self):
        super().__init__()
        self._outcome = None
        self._seen = {}

    def startTest(self, test):
        super().startTest(test)
        self._outcome = None

    def _is(self, test, outcome, detail=""):
        if self._outcome is None or self._outcome[0] in ("ok", "skipped"):
            self._outcome = (outcome, detail)
        if not isinstance(test, unittest.TestCase):  # a fixture of a module or a class, which is never started
            self.stopTest(test)

    def stopTest(self, test):
        super().stopTest(test)
        name = test.id()
        self._seen[name] = count = self._seen.get(name, 0) + 1
        _tell(name if count == 1 else f"{name} #{count}", *(self._outcome or ("ok",)))
        self._outcome = None

    def addSuccess(self, test):
        self._is(test, "ok")

    def addError(self, test, error):
        self._is(test, "error", _described(error))

    def addFailure(self, test, error):
        self._is(test, "failed", _described(error))

    def addSkip(self, test, reason):
        self._is(test, "skipped", str(reason))

    def addExpectedFailure(self, test, error):
        self._is(test, "ok")

    def addUnexpectedSuccess(self, test):
        self._is(test, "failed", "unexpected success")

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self._is(test, "failed" if issubclass(error[0], test.failureException) else "error", f"{subtest._subDescription()} {_described(error)}")


def _described(error):
    return f"{error[0].__name__}: {error[1]}"


def _without(suite, left_out):
    """Leaves out tests by name: of a method, a class and a method, or in full."""
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from _without(test, left_out)
        elif any(test.id() == name or test.id().endswith("." + name) for name in left_out):
            continue
        else:
            yield test


def main(module, left_out):
    if os.path.isdir("Lib/test"):
        sys.path.append(os.path.abspath("Lib"))
    from test import support

    support.use_resources = []  # neither the network nor what takes long
    support.verbose = False
    support.has_socket_support = True  # else asyncio would be left out, which needs none in a machine
    warnings.simplefilter("default")
    has_subprocess, support.has_subprocess_support = support.has_subprocess_support, True
    import test.test_tools  # noqa: F401 - it refuses to be imported where there are no processes, and test_argparse wants one function of it

    support.has_subprocess_support = has_subprocess
    try:
        suite = unittest.defaultTestLoader.loadTestsFromName(f"test.{module}")
    except unittest.SkipTest as skipped:
        return _tell(f"module (test.{module})", "skipped", str(skipped))
    except BaseException as error:
        return _tell(f"module (test.{module})", "error", f"{type(error).__name__}: {error}")
    suite.__class__(_without(suite, left_out)).run(Result())


if __name__ == "__main__" and len(sys.argv) > 1:
    main(sys.argv[1], json.loads(sys.argv[2]))
