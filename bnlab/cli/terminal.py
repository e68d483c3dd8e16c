"""What a terminal is told: exit codes, errors as one line, and how far a run is."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from bnlab.files import REMEDIES

if TYPE_CHECKING:
    from bnlab.running import Progress

DONE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


class Failure(Exception):
    """What a command cannot do, in words that name the remedy."""


class Misuse(Failure):
    """Options that contradict each other."""


def need(module: str, what: str, /, *, extra: str = "lab") -> None:
    """Raise a Failure when a module of an extra is missing."""
    if find_spec(module) is None:
        raise Failure(f'{what} needs {module}: pip install "bnlab[{extra}]"')


def one_line(error: BaseException, /) -> str:
    """What happened, in one line that a terminal can show. What nobody foresaw names its kind."""
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


@contextmanager
def shown(label: str, /, *, quiet: bool = False) -> Iterator[Progress]:
    """A `progress` on stderr: a bar of tqdm's on a terminal, else a line every tenth."""
    if quiet:
        yield lambda done, total, snapshot: True
    elif sys.stderr.isatty() and find_spec("tqdm") is not None:
        with _bar(label) as progress:
            yield progress
    else:
        yield _lines(label)


@contextmanager
def stoppable(progress: Progress, /, *, begun: bool = False) -> Iterator[Progress]:
    """The same, but the first Ctrl-C makes it return False; the second interrupts at once.

    So does the first, as long as nothing has been done, unless all has `begun` before. Outside the
    main thread, which alone gets signals, nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield progress
        return
    stopped = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal stopped
        if stopped or not begun:
            raise KeyboardInterrupt
        stopped = True
        print("stopping with what is at hand; Ctrl-C again leaves at once", file=sys.stderr)

    def told(done: int, total: int, snapshot: object) -> bool:
        nonlocal begun
        begun = begun or done > 0
        return bool(progress(done, total, snapshot)) and not stopped

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield told
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _bar(label: str) -> Iterator[Progress]:
    from tqdm import tqdm

    with tqdm(desc=label, file=sys.stderr, leave=False) as bar:

        def progress(done: int, total: int, snapshot: object) -> bool:
            bar.total = total
            bar.set_description(_said(label, snapshot), refresh=False)
            bar.update(done - bar.n)
            return True

        yield progress


def _lines(label: str) -> Callable[[int, int, object], bool]:
    told = -1

    def progress(done: int, total: int, snapshot: object) -> bool:
        nonlocal told
        tenth = 10 * done // max(total, 1)
        if tenth != told:
            told = tenth
            print(f"{_said(label, snapshot)}: {done:,} of {total:,}", file=sys.stderr)
        return True

    return progress


def _said(label: str, snapshot: object) -> str:
    return f"{label}, {snapshot}" if isinstance(snapshot, str) else label
