"""How far a run is, on stderr: a bar of tqdm's on a terminal, else a line every tenth."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bnlab.running import Progress


@contextmanager
def shown(label: str, /, *, quiet: bool = False) -> Iterator[Progress]:
    """A `progress` for bnlab's functions, for as long as the context lasts.

    Parameters
    ----------
    label : what goes on; a snapshot that is text is told beside it
    quiet : say nothing
    """
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
