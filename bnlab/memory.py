"""How much memory is free, and the refusal to start what does not fit."""

import ctypes
import os
import sys
from pathlib import Path

CONTROL_GROUP = Path("/sys/fs/cgroup")


def free_bytes() -> int | None:
    """Bytes that this process may still take: the machine's, or its container's if that is less.

    None where the operating system gives no answer.

    Examples
    --------
    >>> free = free_bytes()
    >>> free is None or free > 0
    True
    """
    known = [b for b in (_machine_free(), _container_free()) if b is not None]
    return min(known, default=None)


def require(needed: int, /, *, task: str, remedy: str) -> None:
    """Raise a ValueError that states bytes needed, bytes free and `remedy`, when `needed` is more.

    Examples
    --------
    >>> require(10**18, task="a table", remedy="use a smaller one")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: a table needs 1,000,000,000,000,000,000 bytes (1000000000.0 GB); ...
    """
    free = free_bytes()
    if free is not None and needed > free:
        raise ValueError(
            f"{task} needs {needed:,} bytes ({_gigabytes(needed)}); "
            f"this machine has {free:,} bytes ({_gigabytes(free)}) free: {remedy}"
        )


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:.1f} GB"


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


def _container_free() -> int | None:
    """What a Linux control group (version 2, then 1) leaves of its limit.

    Cached files count as used there, but the system gives them up first: they are free.
    """
    for folder, limit, usage, cached in (
        (CONTROL_GROUP, "memory.max", "memory.current", "inactive_file"),
        (
            CONTROL_GROUP / "memory",
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
            "total_inactive_file",
        ),
    ):
        try:
            stat = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
            used = int((folder / usage).read_text()) - int(stat[cached])
            return max(0, int((folder / limit).read_text()) - used)
        except (OSError, ValueError, KeyError):  # absent, or "max": no limit
            continue
    return None


def _windows_free() -> int | None:
    class MemoryStatus(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ulong), ("load", ctypes.c_ulong)] + [
            (name, ctypes.c_ulonglong)
            for name in (
                "total",
                "available",
                "total_page",
                "free_page",
                "total_virtual",
                "free_virtual",
                "free_extended",
            )
        ]

    status = MemoryStatus(length=ctypes.sizeof(MemoryStatus))
    if not ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):  # type: ignore[attr-defined]
        return None
    return int(status.available)
