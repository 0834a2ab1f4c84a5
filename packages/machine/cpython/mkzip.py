"""Packs the guest's only file: the standard library and the prelude as bytecode, and the time zones.

Usage: mkzip.py <out.zip> <zoneinfo> <folder of modules>...

Stored, in sorted order, with one fixed date, and bytecode that is valid by definition (unchecked hash), so that the same
input gives the same bytes and the guest never looks for sources. The time zones take the place of the `tzdata`
distribution that `zoneinfo` falls back to.
"""
import importlib.util
import sys
import zipfile
from importlib import _bootstrap_external
from pathlib import Path

# What needs a screen, processes, foreign code, or CPython's own test tree. `multiprocessing` is replaced by the prelude.
# Of `_pyrepl` only what `pydoc` needs, and with it `help`, is kept.
LEFT_OUT = {
    "test", "idlelib", "turtledemo", "turtle.py", "tkinter", "ensurepip", "venv", "lib2to3", "pydoc_data", "site-packages",
    "__phello__", "curses", "multiprocessing", "msilib", "ctypes", "xmlrpc", "wsgiref", "_pyrepl", "_ios_support.py",
    "_android_support.py", "_apple_support.py", "__pycache__", "antigravity.py", "windows_events.py", "windows_utils.py",
}  # fmt: skip
KEPT = {"_pyrepl/__init__.py", "_pyrepl/pager.py"}


def bytecode(path, name):
    source = path.read_bytes()
    code = compile(source, f"/usr/local/lib/python3.13/{name}", "exec", dont_inherit=True, optimize=0)
    return _bootstrap_external._code_to_hash_pyc(code, importlib.util.source_hash(source), False)


def modules(folder):
    for path in sorted(folder.rglob("*.py")):
        relative = path.relative_to(folder)
        name = relative.as_posix()
        if name in KEPT or not LEFT_OUT.intersection(relative.parts):
            yield f"{name}c", bytecode(path, name)


def time_zones(folder):
    """The compiled zones, and under their old names too, as `tzdata.zi` tells (Debian leaves those files out)."""
    zones = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and path.read_bytes()[:4] == b"TZif" and name not in ("localtime", "posixrules"):
            zones[name] = path.read_bytes()
    for line in (folder / "tzdata.zi").read_text().splitlines():
        if line.startswith("L "):
            _, target, name = line.split()
            zones.setdefault(name, zones[target])
    packages = {"tzdata/", "tzdata/zoneinfo/"} | {f"tzdata/zoneinfo/{name.rpartition('/')[0]}/" for name in zones if "/" in name}
    packages |= {f"{package.rstrip('/').rpartition('/')[0]}/" for package in packages if package.count("/") > 2}
    for package in packages:
        yield f"{package}__init__.pyc", _bootstrap_external._code_to_hash_pyc(compile("", "tzdata", "exec"), bytes(8), False)
    yield "tzdata/zones", "".join(f"{name}\n" for name in sorted(zones)).encode()
    for name, data in zones.items():
        yield f"tzdata/zoneinfo/{name}", data


def main(out, zoneinfo, *folders):
    entries = dict(time_zones(Path(zoneinfo)))
    for folder in folders:
        entries.update(modules(Path(folder)))
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(entries):
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), entries[name])
    print(f"{len(entries)} files, {Path(out).stat().st_size} bytes")


main(*sys.argv[1:])
