"""Exit codes, and errors as one line."""

import os
import tempfile
from importlib.util import find_spec
from pathlib import Path

from bnlab.files import REMEDIES

DONE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


class Failure(Exception):
    """What a command cannot do, in words that name the remedy."""


class Misuse(Failure):
    """Options that contradict each other."""


def need(module: str, what: str, /, *, extra: str = "lab") -> None:
    """Raise a Failure when a module of an extra is missing.

    Examples
    --------
    >>> need("json", "the report")
    >>> need("no_such_module", "the report")
    Traceback (most recent call last):
        ...
    bnlab.cli.errors.Failure: the report needs no_such_module: pip install "bnlab[lab]"
    """
    if find_spec(module) is None:
        raise Failure(f'{what} needs {module}: pip install "bnlab[{extra}]"')


def one_line(error: BaseException, /) -> str:
    """What happened, in one line that a terminal can show. What nobody foresaw names its kind.

    Examples
    --------
    >>> one_line(ValueError("ess=-1: give a positive number"))
    'ess=-1: give a positive number'
    >>> one_line(FileNotFoundError(2, "No such file or directory", "a.csv"))
    'a.csv: No such file or directory'
    >>> one_line(KeyError("x"))
    "KeyError: 'x' (a mistake of bnlab's: --debug shows where)"
    """
    from bnlab.running import Stopped

    text = _shown(str(error))
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return _shown(f"{error.filename}: {error.strerror}")
    if isinstance(error, OSError) and error.errno in REMEDIES:  # from where no name is told
        cache = os.environ.get("NUMBA_CACHE_DIR") or Path(__file__).parents[1]
        return _shown(
            f"{error.strerror}; make room in {tempfile.gettempdir()}, and for compiled code in "
            f"{cache}, or set NUMBA_CACHE_DIR to another folder"
        )
    if isinstance(error, MemoryError):
        return f"not enough memory ({text or 'while running'})"
    if isinstance(error, Failure | ValueError | OSError | Stopped):
        return text or type(error).__name__
    return f"{type(error).__name__}: {text} (a mistake of bnlab's: --debug shows where)"


def _shown(text: str) -> str:
    """On one line, and without signs that would steer a terminal."""
    return "".join(
        c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(text.splitlines())
    )
