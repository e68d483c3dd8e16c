"""The runs of a sampler that are done, and the file that keeps them."""

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab.checkpoints import Arrays, Checkpoint, fingerprint
from bnlab.data import Data
from bnlab.hidden.completions import codes
from bnlab.hidden.model import HiddenModel
from bnlab.results import package_versions
from bnlab.runs import Executor, Progress, collect, goes_on, workers


class Finished:
    """Arrays (runs, ...) of the runs done so far, by name, as blocks of runs come in.

    Parameters
    ----------
    path : the file that keeps them; None for none
    identity : see `Checkpoint`

    Examples
    --------
    >>> finished = Finished(None, {})
    >>> jobs = [np.arange(3.0), np.arange(2.0)]
    >>> finished.go_on(lambda job: {"log_p": job}, jobs, 5, None, None)["log_p"]
    array([0., 1., 2., 0., 1.])
    """

    def __init__(
        self, path: str | os.PathLike[str] | None, identity: Mapping[str, object], /
    ) -> None:
        self._file = None if path is None else Checkpoint(path, identity)
        saved = None if self._file is None else self._file.load()
        self._parts = [] if saved is None else [saved]

    @property
    def count(self) -> int:
        """How many runs."""
        return sum(map(_length, self._parts))

    def go_on(
        self,
        work: Callable[[Any], Arrays],
        jobs: list[Any],
        total: int,
        progress: Progress | None,
        executor: Executor | None,
        /,
    ) -> Arrays:
        """Add the runs of the jobs, in blocks; all of them up to a stop."""
        if jobs:
            tell = partial(self._tell, progress)
            try:
                with workers(executor, len(jobs)) as chosen:
                    collect(chosen.map(work, jobs), self._parts, _length, total, tell)
            finally:
                self._save()
        return self._joined()

    def _tell(self, progress: Progress | None, done: int, total: int, _: object) -> bool:
        if self._file is not None and self._file.due:
            self._save()
        return goes_on(progress, done, total)

    def _save(self) -> None:
        if self._file is not None and self._parts:
            self._file.save(self._joined())

    def _joined(self) -> Arrays:
        names = self._parts[0]
        return {name: np.concatenate([part[name] for part in self._parts]) for name in names}


def _length(part: Mapping[str, NDArray[Any]]) -> int:
    return len(next(iter(part.values())))


def identity_of(model: HiddenModel, data: Data | ArrayLike, /) -> dict[str, object]:
    """What makes a model and data the ones whose runs a file may keep.

    Examples
    --------
    >>> identity_of(HiddenModel([0, 1], [2, 3], hidden=[0]), [[0]])["strength"]
    1.0
    """
    hidden = np.array(model.hidden, np.int64)
    return {
        "model": fingerprint(model.parents, model.arities, hidden),
        "strength": model.strength,
        "data": fingerprint(codes(model, data)),
        "bnlab": package_versions()["bnlab"],
    }
