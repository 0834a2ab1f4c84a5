"""`tools`: the host's tools as Python functions, by attribute and by name.

A tool's name may have dots (`crm.create`): then its parts are attributes. A part that is no identifier is reached as
`tools["list-issues"]` or with its odd characters as underscores."""
from fermata._private import builtins as __builtins__
import asyncio
import difflib
import functools
import re
from fermata import _calls


class ToolError(Exception):
    """A tool call failed. `str(e)` is the tool's message, `e.name` the name of its error, `e.data` what came with it.

    If the tool's error is named like a builtin exception (ValueError, say), what is raised is of that class as well."""

    def __init__(self, message="", name="ToolError", data=None):
        Exception.__init__(self, message)
        self.message, self.name, self.data = message, name, data

    def __str__(self):
        return self.message


class UnknownToolError(ToolError, AttributeError, LookupError):
    """There is no tool of that name."""

    def __init__(self, message):
        ToolError.__init__(self, message, "UnknownToolError")


ToolError.__module__ = UnknownToolError.__module__ = "fermata"
_builtin_errors = {}
# These mean something to the interpreter itself, or need arguments of their own.
_NOT_RAISED_BY_TOOLS = {
    "Exception", "ExceptionGroup", "StopIteration", "StopAsyncIteration",
    "UnicodeDecodeError", "UnicodeEncodeError", "UnicodeTranslateError",
}  # fmt: skip


def _error_class(name):
    if name not in _builtin_errors:
        base = __builtins__.get(name)
        known = isinstance(base, type) and issubclass(base, Exception) and name not in _NOT_RAISED_BY_TOOLS
        made = ToolError
        if known:
            made = type(name, (ToolError, base), {"__module__": "builtins", "__doc__": ToolError.__doc__})
        _builtin_errors[name] = made
    return _builtin_errors[name]


def _error(failure):
    name = failure["name"]
    return _error_class(name)(failure["message"], name, failure.get("data"))


def result_of(reply):
    if "error" in reply:
        raise _error(reply["error"])
    return reply.get("ok")


class Call(asyncio.Future):
    """A tool call that was started inside a running event loop."""

    def __init__(self, tool, args, loop):
        super().__init__(loop=loop)
        self._tool = tool
        self._record = _calls.start(tool, args, self)

    def deliver(self, reply):
        if self.done() or self.get_loop().is_closed():
            return  # cancelled or left behind: nobody wants the answer
        if "error" in reply:
            self.set_exception(_error(reply["error"]))
        else:
            self.set_result(reply.get("ok"))

    def __await__(self):
        _calls.awaited(self._record)
        return super().__await__()

    def add_done_callback(self, *args, **named):
        _calls.awaited(self._record)
        return super().add_done_callback(*args, **named)

    def __repr__(self):
        return f"<call of tools.{self._tool}, not awaited>" if not self.done() else f"<call of tools.{self._tool}>"

    def _not_awaited(self, *_):
        raise TypeError(f"tools.{self._tool}(...) was not awaited: write `await tools.{self._tool}(...)`")

    __getitem__ = __len__ = __contains__ = __iter__ = _not_awaited


def _arguments(name, parameters, given, named):
    """The record of arguments: keywords, or one mapping of them, or values in the order of the parameters."""
    if len(given) == 1 and not named and isinstance(given[0], dict) and all(isinstance(key, str) for key in given[0]):
        if parameters is None or set(given[0]) <= set(parameters):
            return dict(given[0])
    if not given:
        return named
    if parameters is None:
        raise TypeError(f"tools.{name}() takes keyword arguments, like tools.{name}(key=value)")
    if len(given) > len(parameters):
        raise TypeError(f"tools.{name}() takes {len(parameters)} arguments ({', '.join(parameters)}) but {len(given)} were given")
    args = dict(zip(parameters, given))
    for key in args:
        if key in named:
            raise TypeError(f"tools.{name}() got two values for {key!r}")
    return {**args, **named}


_parameters = {}  # tool's name -> its parameters' names in order, or None


def set_tools(tools):
    _parameters.clear()
    for tool in tools:
        _parameters[tool["name"]] = tool.get("parameters")

_spelled = functools.partial(re.compile(r"\W").sub, "_")


def _find(path):
    """The full name of the tool or group of tools that `path` means, or UnknownToolError."""
    if path in _parameters or any(name.startswith(path + ".") for name in _parameters):
        return path
    wanted = _spelled(path)
    for name in _parameters:
        parts = name.split(".")
        for length in range(1, len(parts) + 1):
            start = ".".join(parts[:length])
            if _spelled(start) == wanted:
                return start
    near = difflib.get_close_matches(path, _parameters, 3, 0.5) or sorted(_parameters)[:10]
    hint = f"; there is {', '.join(near)}" if near else "; this program has no tools"
    raise UnknownToolError(f"there is no tool named {path!r}{hint}")


def _called(name, args):
    loop = asyncio._get_running_loop()
    if loop is not None:
        return Call(name, args, loop)
    return result_of(_calls.block_on(_calls.start(name, args)))


def review(value, reason=None):
    """The value as a person has confirmed or edited it. Rejection is an exception. Inside a running event loop, an awaitable."""
    return _called("review", {"value": value} if reason is None else {"value": value, "reason": str(reason)})


class Tool:
    __slots__ = ("_path", "__name__")

    def __init__(self, path):
        self._path = self.__name__ = path

    def __getattr__(self, part):
        if part.startswith("__") and part.endswith("__"):
            raise AttributeError(part)
        return Tool(_find(f"{self._path}.{part}"))

    def __getitem__(self, part):
        return Tool(_find(f"{self._path}.{part}"))

    def __call__(self, /, *given, **named):
        name = self._path
        if name not in _parameters:
            inside = sorted(tool for tool in _parameters if tool.startswith(f"{name}."))
            raise UnknownToolError(f"there is no tool named {name!r}; there is {', '.join(inside)}")
        return _called(name, _arguments(name, _parameters[name], given, named))

    def __repr__(self):
        parameters = _parameters.get(self._path)
        return f"<tool {self._path}({', '.join(parameters) if parameters else '...'})>"


class Tools:
    __slots__ = ()

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Tool(_find(name))

    def __getitem__(self, name):
        return Tool(_find(name))

    def __dir__(self):
        return sorted({_spelled(name.partition(".")[0]) for name in _parameters})

    def __repr__(self):
        return f"<tools {', '.join(sorted(_parameters))}>"
