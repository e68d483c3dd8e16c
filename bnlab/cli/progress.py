"""How far a run is, on stderr: a bar of tqdm's on a terminal, else a line every tenth."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bnlab.runs import Progress


@contextmanager
def shown(label: str, /, *, quiet: bool = False) -> Iterator[Progress | None]:
    """A `progress` for bnlab's functions, for as long as the context lasts; None if quiet.

    Examples
    --------
    >>> with shown("chains", quiet=True) as progress:
    ...     progress is None
    True
    """
    if quiet:
        yield None
    elif sys.stderr.isatty() and find_spec("tqdm") is not None:
        with _bar(label) as progress:
            yield progress
    else:
        yield _lines(label)


@contextmanager
def _bar(label: str) -> Iterator[Progress]:
    from tqdm import tqdm

    with tqdm(desc=label, file=sys.stderr, leave=False) as bar:

        def progress(done: int, total: int, snapshot: object) -> bool:
            bar.total = total
            bar.update(done - bar.n)
            return True

        yield progress


def _lines(label: str) -> Progress:
    told = -1

    def progress(done: int, total: int, snapshot: object) -> bool:
        nonlocal told
        tenth = 10 * done // max(total, 1)
        if tenth != told:
            told = tenth
            print(f"{label}: {done:,} of {total:,}", file=sys.stderr)
        return True

    return progress
