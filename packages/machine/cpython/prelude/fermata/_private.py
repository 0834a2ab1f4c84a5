"""A copy of the builtins for the prelude alone, so that a program that replaces `len` or `print` cannot break it.

Each module of the prelude begins by taking `builtins` from here as its `__builtins__`, which every function defined
after that line then uses."""
import builtins as _shared

builtins = dict(_shared.__dict__)
