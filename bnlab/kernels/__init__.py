"""Floor 0: pure functions on arrays, compiled by numba. No validation, no printing, no globals."""

import hashlib
import os
from pathlib import Path

from numba import njit


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


_forget_old_machine_code()
