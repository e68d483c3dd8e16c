"""Floor 0: pure functions on arrays, compiled by numba. No validation, no printing, no globals."""

import hashlib
import os
import stat
import tempfile
from pathlib import Path
from typing import Any

from numba import config, njit

kernel: Any = njit(cache=True, nogil=True, no_cfunc_wrapper=True)  # type: ignore[call-overload]
"""Compile a function when it is first called, keep the machine code, and run without the GIL."""
inner: Any = njit(  # type: ignore[call-overload]
    cache=True, nogil=True, no_cfunc_wrapper=True, no_cpython_wrapper=True
)
"""The same, sooner compiled, of a function that only kernels may call: Python has no way in."""
inlined = njit(cache=True, nogil=True, inline="always")
"""The same of a function that is written out wherever a kernel calls it."""


def _prepare_cache() -> None:
    """See to it that numba has a place for machine code, with none of other sources in it."""
    try:
        _forget_old_machine_code()
    except (RuntimeError, OSError) as error:  # no such place, or the old code there is not ours
        settings = vars(config)
        if settings["CACHE_DIR"]:
            raise OSError(
                f"compiled code cannot be kept in NUMBA_CACHE_DIR={settings['CACHE_DIR']} "
                f"({error}); name a folder of your own that can be written"
            ) from error
        settings["CACHE_DIR"] = str(_folder_for_one_user())
        _forget_old_machine_code()


def _forget_old_machine_code() -> None:
    """Empty numba's cache of all kernels where the source of one has changed since.

    numba looks at the file of a kernel alone, not at those of the kernels that it calls: after an
    update it would run the new ones with the old ones inside them.
    """
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    compiled = njit(cache=True)(_forget_old_machine_code)
    path = compiled.stats.cache_path if hasattr(compiled, "stats") else None
    if path is None:  # NUMBA_DISABLE_JIT: nothing is compiled
        return
    cache = Path(path)
    stamp = cache / "kernels.sha256"
    if stamp.exists() and stamp.read_text() == digest.hexdigest():
        return
    for index in cache.glob("*.nbi"):
        index.unlink(missing_ok=True)
    partial = cache / f".kernels.sha256.{os.getpid()}"
    partial.write_text(digest.hexdigest())
    partial.replace(stamp)


def _folder_for_one_user() -> Path:
    """A temporary folder that this user alone may change: what lies in it is run."""
    windows = os.name == "nt"  # where temporary folders are one user's from the start
    try:
        name = "bnlab-numba" if windows else f"bnlab-numba-{os.geteuid()}"
        folder = Path(tempfile.gettempdir(), name)
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if not windows and (
            not stat.S_ISDIR(found.st_mode)
            or found.st_uid != os.geteuid()
            or found.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
        ):
            raise PermissionError(f"{folder} is not a folder of this user alone")
    except OSError as error:
        raise OSError(
            f"no place to keep compiled code ({error}): set the environment variable "
            "NUMBA_CACHE_DIR to a folder of your own that can be written"
        ) from error
    return folder


_prepare_cache()
