"""Boots the guest up to the point where it waits for a program, and then serves programs for good.

The modules that programs import most are loaded here, once, so that they are part of the base image."""
from fermata._private import builtins as __builtins__
import gc
import os
import sys
from _fermata import exchange, set_inspector
from fermata import _absent

# Before other modules take the originals.
_absent.install()

import abc, ast, asyncio, base64, bisect, calendar, collections.abc, contextlib, contextvars, copy, csv  # noqa: E401
import dataclasses, datetime, decimal, difflib, enum, fractions, functools, graphlib, hashlib, heapq, html, inspect, io  # noqa: E401
import itertools, json, linecache, locale, logging, math, numbers, operator, pathlib, pprint, random, re, reprlib  # noqa: E401
import secrets, shutil, statistics, string, struct, tempfile, textwrap, time, traceback, types, typing, unicodedata  # noqa: E401
import urllib.parse, uuid, warnings, weakref, zlib, zoneinfo, _strptime  # noqa: E401, F401

from _sitebuiltins import Quitter, _Helper
from fermata import _in_turn, _inspect, _loop, _program


def input(prompt="", /):
    """Reads a line of the task's standard input. CPython's own would take it for a terminal, and read past sys.stdin."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name, None) is None:
            raise RuntimeError(f"input(): lost sys.{name}")
    sys.stdout.write(str(prompt))
    try:
        sys.stdout.flush()
    except Exception:
        pass  # not every stand-in for it can
    line = sys.stdin.readline()
    if not isinstance(line, str):
        raise TypeError("object.readline() returned non-string")
    if not line:
        raise EOFError("EOF when reading a line")
    return line.removesuffix("\n")


def main():
    _loop.install()
    _in_turn.install()
    set_inspector(_inspect.stack)
    zoneinfo.ZoneInfo("Europe/Berlin")  # brings in what reads zones from the archive
    zoneinfo.ZoneInfo.clear_cache()
    shared = sys.modules["builtins"]
    shared.input = input
    # What `site` gives to interactive use, and programs use all the same.
    shared.exit, shared.quit, shared.help = Quitter("exit", ""), Quitter("quit", ""), _Helper()
    os.chdir("/work")
    sys.path.append("/work")
    _program.open_streams()
    _program.warm_up()
    gc.collect()
    gc.freeze()
    message = {"say": "ready"}
    while True:
        try:
            message = _program.serve(exchange(message))
        except BaseException as error:  # the program did not fit into memory, or left an interpreter that the prelude cannot work in
            message = _program.broken(error)
