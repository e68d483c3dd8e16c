"""How much memory is free, and the refusal to start what does not fit."""

import ctypes
import os
import sys
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from bnlab.errors import InputError, Part

CONTROL_GROUPS = Path("/sys/fs/cgroup")
OWN_GROUPS = Path("/proc/self/cgroup")
FRESH = 0.05  # seconds that an answer is good for: to ask takes half a millisecond
NO_LIMIT = 2**60  # bytes; version 1 writes a number of this size where there is no limit

Remedy = str | tuple[Part, ...] | Callable[[int], tuple[Part, ...]]  # the last of the bytes free


def free_bytes() -> int | None:
    """Return the bytes that this process may still take, or None where no system tells."""
    return _free_at(int(time.monotonic() / FRESH))


@lru_cache(maxsize=1)
def _free_at(moment: int) -> int | None:
    """The same, read once for each moment of `FRESH` seconds."""
    known = [b for b in (_machine_free(), _groups_free()) if b is not None]
    return min(known, default=None)


def require(needed: int, /, *, task: str, remedy: Remedy) -> None:
    """Raise a ValueError that states bytes needed, bytes free and `remedy` if too few are free."""
    free = free_bytes()
    if free is not None and needed > free:
        told = remedy(free) if callable(remedy) else remedy
        raise InputError(
            f"{task} needs {needed:,} bytes ({needed / 1e9:.1f} GB); "
            f"this machine has {free:,} bytes ({free / 1e9:.1f} GB) free: ",
            *((told,) if isinstance(told, str) else told),
        )


def sized(count: float, /) -> str:
    """Return a number of bytes in words."""
    units = (("EB", 1e18), ("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3))
    unit, size = next((each for each in units if count >= each[1]), units[-1])
    return f"{count / size:.0f} {unit}" if count >= 10 * size else f"{count / size:.2g} {unit}"


def _machine_free() -> int | None:
    if sys.platform == "win32":
        return _windows_free()
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        for line in meminfo.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    try:  # macOS tells its total only
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return None


# Of each version of control groups, where it is mounted, and its files: limit, used, of it cached.
_VERSIONS = {
    1: ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    2: (".", "memory.max", "memory.current", "inactive_file"),
}


def _groups_free() -> int | None:
    """The least that the control groups of this process, its own and those above, leave it."""
    paths = {1: Path(), 2: Path()}
    try:
        for line in OWN_GROUPS.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers in ("", "memory") or "memory" in controllers.split(","):
                paths[1 if controllers else 2] = Path(path.lstrip("/"))
    except (OSError, ValueError):  # no control groups: the roots are looked for, in vain
        pass
    free = []
    for number, (root, *files) in _VERSIONS.items():
        for group in (paths[number], *paths[number].parents):
            if ".." not in group.parts:  # beyond what this process may see
                free.append(_group_free(CONTROL_GROUPS / root / group, *files))
    return min((left for left in free if left is not None), default=None)


def _group_free(folder: Path, limit_file: str, used_file: str, cached: str) -> int | None:
    """Cached files count as used there, but the system gives them up first: they are free."""
    try:
        limit = int((folder / limit_file).read_text())
        if limit >= NO_LIMIT:
            return None
        stat = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        used = int((folder / used_file).read_text()) - int(stat[cached])
        return max(0, limit - used)
    except (OSError, ValueError, KeyError):  # absent, or "max": no limit
        return None


def _windows_free() -> int | None:
    class MemoryStatus(ctypes.Structure):
        _fields_ = [
            *((name, ctypes.c_ulong) for name in ("length", "load")),
            *((name, ctypes.c_ulonglong) for name in ("total", "available")),
            ("of_pages_and_addresses", ctypes.c_ulonglong * 5),
        ]

    status = MemoryStatus(length=ctypes.sizeof(MemoryStatus))
    if not ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):  # type: ignore[attr-defined]
        return None
    return int(status.available)
