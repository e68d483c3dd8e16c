"""Floor 0: pure functions on arrays, compiled by numba. No validation, no printing, no globals."""

import hashlib
import os
import stat
import sys
import tempfile
from pathlib import Path
from secrets import randbits
from typing import Any

from numba import config, njit
from numba.core.caching import IndexDataCacheFile

kernel: Any = njit(cache=True, nogil=True, no_cfunc_wrapper=True)  # type: ignore[call-overload]
"""Compile a function when it is first called, keep the machine code, and run without the GIL."""
inner: Any = njit(  # type: ignore[call-overload]
    cache=True, nogil=True, no_cfunc_wrapper=True, no_cpython_wrapper=True
)
"""The same, sooner compiled, of a function that only kernels may call: Python has no way in."""
inlined = njit(cache=True, nogil=True, inline="always")
"""The same of a function that is written out wherever a kernel calls it."""
small: Any = njit(  # type: ignore[call-overload]
    nogil=True, no_cfunc_wrapper=True, no_cpython_wrapper=True, forceinline=True
)
"""The same, typed once and not kept, of small functions and generators: LLVM writes them out."""


def cache_folder() -> Path | None:
    """Where numba keeps machine code of kernels; None with NUMBA_DISABLE_JIT, which makes none."""
    compiled = njit(cache=True)(cache_folder)
    path = compiled.stats.cache_path if hasattr(compiled, "stats") else None
    return None if path is None else Path(path)


def _apart(file: IndexDataCacheFile, _: int) -> str:
    """A name for machine code that no other process gives: numba's own names count types from 0."""
    return str(file._data_name_pattern.format(number=randbits(32)))


def _prepare_cache() -> None:
    """See to it that numba has a place for machine code, with none of other sources in it."""
    if sys.platform == "emscripten" and not os.environ.get("NUMBA_CACHE_DIR"):
        # There numba keeps code for later sessions, in which it fails where new code calls the old.
        vars(config)["CACHE_DIR"] = str(_folder_for_one_user())
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
    """Empty numba's cache where any kernel has changed: numba overlooks those that it calls."""
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    cache = cache_folder()
    if cache is None:
        return
    stamp = cache / "kernels.sha256"
    if stamp.exists() and stamp.read_text() == digest.hexdigest():
        return
    for old in (*cache.glob("*.nb[ic]"), *cache.glob("*.full")):
        old.unlink(missing_ok=True)
    partial = cache / f".kernels.sha256.{os.getpid()}"
    partial.write_text(digest.hexdigest())
    partial.replace(stamp)


def _folder_for_one_user() -> Path:
    """A temporary folder that this user alone may change: what lies in it is run."""
    alone = not hasattr(os, "geteuid")  # Windows, where temporary folders are one user's
    try:
        name = "bnlab-numba" if alone else f"bnlab-numba-{os.geteuid()}"
        folder = Path(tempfile.gettempdir(), name)
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if not alone and (
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


IndexDataCacheFile._data_name = _apart  # type: ignore[method-assign]
_prepare_cache()
