"""k-fold cross-validation of predictive densities."""

import math
import os
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from bnlab.checkpoints import Arrays, Checkpoint, Kept, check, identity
from bnlab.checks import Floats, Ints, Several, checked, frozen
from bnlab.data import Data
from bnlab.data.table import rows_of
from bnlab.results import Record, Run
from bnlab.running import Batch, Clock, Executor, Progress, run_steps, seed_of
from bnlab.scores import AnyData

Method = Callable[[Data, Data], ArrayLike]

METHOD = "cross-validation"


@frozen()
class CrossValidation(Record):
    """How well methods predicted rows that they had not seen. Make one with `cross_validate`.

    Attributes
    ----------
    methods : names
    log_density : float64 (methods, m), nats: of each row, by the method trained without its fold;
        nan in folds that were not reached
    fold : int64 (m,), the fold of each row, 0 to folds - 1
    run : Run

    Examples
    --------
    >>> data = Data.from_arrays([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> coins = {"coins": lambda train, test: np.full(test.m, -2 * np.log(2))}
    >>> cross_validate(data, coins, folds=2, rng=np.random.default_rng(1))
    CrossValidation(2 folds of 4 rows, nats a row: coins -1.3863)
    """

    methods: tuple[str, ...]
    log_density: Floats
    fold: Ints
    run: Run

    def __repr__(self) -> str:
        means = ", ".join(
            f"{name} {mean:.4f}" for name, mean in zip(self.methods, self.means, strict=True)
        )
        stopped = ", stopped early" if self.run.stopped else ""
        return (
            f"CrossValidation({self.run.settings['folds']} folds of {self.fold.size} rows, nats a "
            f"row: {means}{stopped})"
        )

    @property
    def means(self) -> Floats:
        """Mean log density of a row by each method, (methods,), nats."""
        return np.asarray(np.nanmean(self.log_density, axis=1))

    def difference(self, one: str, other: str, /) -> tuple[float, float]:
        """Return the mean over rows of ln p by `one` less by `other`, and its standard error, nats.

        The error is that of paired rows, sd / sqrt(rows), as if the rows were independent. Folds
        share most of their training rows, so it is somewhat too small.

        Examples
        --------
        >>> data = Data.from_arrays([[0, 0], [0, 1], [1, 0], [1, 1]])
        >>> guesses = {"a": lambda _, test: 0.0 * test.values[:, 0]}
        >>> guesses["b"] = lambda _, test: -test.values[:, 0]
        >>> result = cross_validate(data, guesses, folds=2, rng=np.random.default_rng(1))
        >>> result.difference("a", "b")
        (0.5, 0.28867513459481287)
        """
        pair = self.log_density[[self._place(one), self._place(other)]]
        pair = pair[:, ~np.isnan(pair[0])]
        if np.isinf(pair).any():
            raise ValueError(
                f"{one!r} or {other!r} gave a row infinite ln p: no error bar has that"
            )
        rows = pair[0] - pair[1]
        if rows.size < 2:
            raise ValueError(f"{rows.size} row: a standard error takes two")
        return float(rows.mean()), float(rows.std(ddof=1)) / math.sqrt(rows.size)

    def _place(self, method: str) -> int:
        if method not in self.methods:
            raise ValueError(f"no method {method!r}; there are {', '.join(self.methods)}")
        return self.methods.index(method)


@checked
def cross_validate(
    data: AnyData,
    methods: Mapping[str, Method],
    /,
    *,
    folds: Several = 10,
    rng: np.random.Generator,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> CrossValidation:
    """Predict every row by methods that learnt from the other folds.

    The rows are dealt at random into folds that differ by one row at most; all methods see the same
    folds.

    Parameters
    ----------
    data : Data, m rows
    methods : by name, functions f(train, test) of two Data that return ln p of the test rows,
        (rows,), nats. A method that draws makes its generator from a seed of its own; then the
        numbers are the same for any executor
    folds : from 2 to m
    rng : deals the rows; equal states give equal folds
    checkpoint : a file for the folds that are done, saved every 10 seconds or so, at a stop and at
        the end. If it is there, the same call goes on from it. Methods are known there by their
        names: name another file when you change one
    progress : called as progress(done, folds, None) after each fold; False stops, and the folds
        finished remain
    executor : where folds run; threads by default. Processes take methods that can be pickled

    Raises
    ------
    ValueError
        If an option is out of its range, a method returns anything but one number a row, or the
        checkpoint is damaged or of another run.

    Examples
    --------
    >>> from bnlab import chow_liu, predict
    >>> data = Data.from_arrays([[0, 0], [0, 0], [1, 1], [1, 1]] * 5)
    >>> tree = lambda train, test: predict.plug_in_log_density(chow_liu(train), train, test)
    >>> cross_validate(data, {"tree": tree}, rng=np.random.default_rng(1))
    CrossValidation(10 folds of 20 rows, nats a row: tree -0.7656)
    """
    if folds > data.m:
        raise ValueError(f"folds={folds} of {data.m} rows: take at most one fold for each row")
    if not methods:
        raise ValueError("methods is a dict of name: function(train, test), with one at least")
    clock, seed = Clock(), seed_of(rng)
    settings = {"folds": folds, "methods": tuple(methods)}
    parts = (data.values, data.arities, data.intervened, data.measurements)
    rows = [part for part in parts if part is not None]
    file = Checkpoint.at(checkpoint, identity(METHOD, **settings, data=rows, seed=seed))
    fold = np.empty(data.m, np.int64)
    fold[rng.permutation(data.m)] = np.arange(data.m) % folds

    def fits(saved: Arrays) -> None:
        density = Kept(np.float64, ("rows", len(methods)))
        check(saved, {"folds": Kept(np.int64, ("folds",)), "log_density": density}, folds=folds)
        done = len(saved["folds"])
        rows = int((fold < done).sum())
        if (saved["folds"] != range(done)).any() or len(saved["log_density"]) != rows:
            raise ValueError(f"it should hold the {rows} rows of the first {done} folds")

    shared = data, dict(methods), fold
    batch = Batch(_predict_fold, lambda part: (*shared, part.start), folds, executor, fits=fits)
    stopped = run_steps(batch, file, progress)
    done = batch.arrays()
    log_density = np.full((len(methods), data.m), np.nan)
    by_fold = np.argsort(fold, kind="stable")[: len(done["log_density"])]
    log_density[:, by_fold] = done["log_density"].T
    run = Run(METHOD, settings, seed, clock.seconds, stopped=stopped)
    return CrossValidation(tuple(methods), log_density, fold, run)


def _predict_fold(job: tuple[Data, dict[str, Method], Ints, int]) -> Arrays:
    """The number of a fold, and ln p (rows, methods) of its rows."""
    data, methods, fold, k = job
    train, test = rows_of(data, fold != k), rows_of(data, fold == k)
    out = np.empty((test.m, len(methods)))
    for i, (name, method) in enumerate(methods.items()):
        given = np.asarray(method(train, test))
        log_p = given.astype(float) if given.dtype.kind in "iuf" else np.empty(0)
        if log_p.shape != (test.m,) or np.isnan(log_p).any():
            raise ValueError(
                f"method {name!r} gave shape {log_p.shape} for {test.m} rows, or nan: it returns "
                "ln p of each row"
            )
        out[:, i] = log_p
    return {"folds": np.array([k]), "log_density": out}
