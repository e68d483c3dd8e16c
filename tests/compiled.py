"""Where tests keep the machine code of kernels: it outlives them, and no edit."""

import hashlib
import os
import shutil
import time
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import pooch

WEEK = 7 * 24 * 3600


def numba_cache(kernels: Path) -> Path:
    """The compilation cache for exactly the kernels of this folder, shared by all such folders.

    numba does not notice an edit of a kernel that another module's kernel calls, so a cache that
    outlives an edit can test the old code. It keeps a folder apart by its path: here that is a link
    to the one of all. Caches unused for a week are removed.
    """
    digest = hashlib.sha256(version("numba").encode())
    for source in sorted(kernels.rglob("*.py")):
        digest.update(source.name.encode())
        digest.update(source.read_bytes())
    caches = Path(pooch.os_cache("bnlab")) / "numba-for-tests"
    cache = caches / digest.hexdigest()[:16]
    (cache / "shared").mkdir(parents=True, exist_ok=True)
    os.utime(cache)
    name = f"{kernels.name}_{hashlib.sha1(str(kernels).encode()).hexdigest()}"  # numba's
    with suppress(OSError):  # it is there, or links are forbidden
        (cache / name).symlink_to("shared", target_is_directory=True)
    for other in caches.iterdir():
        if time.time() - other.stat().st_mtime > WEEK:
            shutil.rmtree(other, ignore_errors=True)
    return cache
