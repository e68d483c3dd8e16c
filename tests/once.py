"""What functions of papers keep in one process, kept for all processes of a run of the tests.

One runs a page offline, another draws its pictures, a third holds its numbers against the paper. A
value that took long goes into a file of the run, where the others find it.
"""

import functools
import hashlib
import os
import pickle
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDER = "BNLAB_TESTS_ONCE"
# None of these needs files of data, for which there are stand-ins where the network is gone.
PAPERS = ("bnlab.papers.em2007.", "bnlab.papers.htw2016.", "bnlab.papers.stat521a.")
LONG = 0.5  # seconds

kept_here = functools.cache


def share() -> None:
    """Have `functools.cache` do so, where a run has a folder for it, in what is imported next."""
    if FOLDER in os.environ:
        functools.cache = kept_for_all


def kept_for_all(function: Callable[..., Any]) -> Any:
    """What `functools.cache` does, and for functions of `PAPERS` in a folder, too."""
    name = f"{function.__module__}.{getattr(function, '__qualname__', '')}"
    if not name.startswith(PAPERS):
        return kept_here(function)

    def found(*args: Any, **kwargs: Any) -> Any:
        key = hashlib.sha256(pickle.dumps((name, args, sorted(kwargs.items()))))
        file = Path(os.environ[FOLDER], key.hexdigest())
        if file.exists():
            return pickle.loads(file.read_bytes())
        begun = time.perf_counter()
        value = function(*args, **kwargs)
        if time.perf_counter() - begun > LONG:
            part = file.with_suffix(f".{os.getpid()}")
            part.write_bytes(pickle.dumps(value))
            part.replace(file)
        return value

    return kept_here(functools.update_wrapper(found, function))
