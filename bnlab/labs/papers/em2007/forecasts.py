"""Figures 6 to 8: how well rows are predicted that were held out, by ten-fold cross-validation."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab.labs.papers.em2007.cases import ESS, stream
from bnlab.labs.papers.em2007.walks import SAMPLERS, walk

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MAX_PARENTS = 3
FOLDS = 10
THIN = 20  # moves before a draw
EARLY = 100  # draws
STOPS = (1, 3, 10, 30, 100, 300, 1000)
"""Draws of a chain at which its curve is read: 20 to 20,000 moves."""

EXACT_DRAWS = 5000
PLAIN = ("DAGs", "MAP", "tree", "factored")
"""Means over independent draws of the exact structure-modular posterior, and three plug-ins: the
best DAG, the Chow-Liu tree and no edges at all."""


@dataclass(frozen=True, slots=True, eq=False)
class Forecast:
    """Mean ln p of a held-out row, nats, by fold.

    Attributes
    ----------
    curves : (folds, samplers, runs, stops), in the order of SAMPLERS and STOPS
    plain : (folds, methods), in the order of PLAIN
    dp : (folds,), the exact order-modular p(x, D) / p(D); nan where it was not asked for
    setup : (samplers,), processor time before the first move
    seconds : (samplers,), processor time of one chain from there to the last stop
    """

    curves: Floats
    plain: Floats
    dp: Floats
    setup: Floats
    seconds: Floats


def forecast(
    data: bn.Data, folds: Sequence[int], /, *, runs: int, key: int, dp: Sequence[int] = ()
) -> Forecast:
    """Predict some of the ten folds by all methods, and those of `dp` by the dynamic program, too.

    Parameters
    ----------
    folds : which of the ten
    runs : chains of each sampler
    key : another number deals other folds and gives other chains

    Examples
    --------
    >>> data = bn.load_network("cancer").sample(60, np.random.default_rng(1))
    >>> forecast(data, [0, 1], runs=2, key=1).curves.shape
    (2, 5, 2, 7)
    """
    parts = [_fold(*split(data, fold, key), runs, 100 * key + fold) for fold in folds]
    exact = [_dp(*split(data, fold, key)) if fold in dp else np.nan for fold in folds]
    curves, plain, times = (np.array(part) for part in zip(*parts, strict=True))
    return Forecast(curves, plain, np.array(exact), *times.mean(axis=0).T)


def split(data: bn.Data, fold: int, key: int, /) -> tuple[bn.Data, bn.Data]:
    """Rows to learn from, and the rows of one of ten folds.

    Examples
    --------
    >>> data = bn.load_network("cancer").sample(60, np.random.default_rng(1))
    >>> [part.m for part in split(data, 0, 1)]
    [54, 6]
    """
    held_out = stream(7, key).permutation(data.m) % FOLDS == fold
    train, test = (_rows(data, which) for which in (~held_out, held_out))
    return train, test


def _rows(data: bn.Data, which: NDArray[np.bool_]) -> bn.Data:
    marks = None if data.intervened is None else data.intervened[which]
    return replace(data, values=data.values[which], intervened=marks)


def _fold(
    train: bn.Data, test: bn.Data, runs: int, key: int
) -> tuple[list[list[list[float]]], list[float], list[tuple[float, float]]]:
    table = bn.score_families(train, bn.BDeu(ESS), max_parents=MAX_PARENTS)
    curves, times = [], []
    for sampler in SAMPLERS:
        walked = walk(table, sampler, draws=STOPS[-1], chains=runs, thin=THIN, key=key)
        chains = [chain(walked.draws, c) for c in range(runs)]
        curves.append(
            [[_mean(each.prefix(stop), train, test) for stop in STOPS] for each in chains]
        )
        times.append((walked.setup, walked.seconds))
    return curves, _plain(table, train, test, key), times


def without_chains(data: bn.Data, key: int, /) -> Floats:
    """`Forecast.plain` of all ten folds, (10, methods).

    Examples
    --------
    >>> data = bn.load_network("cancer").sample(60, np.random.default_rng(1))
    >>> without_chains(data, 1).shape
    (10, 4)
    """
    out = []
    for fold in range(FOLDS):
        train, test = split(data, fold, key)
        table = bn.score_families(train, bn.BDeu(ESS), max_parents=MAX_PARENTS)
        out.append(_plain(table, train, test, 100 * key + fold))
    return np.array(out)


def _plain(table: bn.ScoreTable, train: bn.Data, test: bn.Data, key: int) -> list[float]:
    exact = bn.sample_dags(bn.dag_posterior(table), draws=EXACT_DRAWS, rng=stream(8, key))
    best = bn.map_dag(table).dags[0]
    tree = bn.chow_liu(replace(train, intervened=None))
    plug_ins = (best, tree, np.zeros(table.n, np.int64))
    return [_mean(exact, train, test), *(_by_one(dag, train, test) for dag in plug_ins)]


def late_orders(data: bn.Data, key: int, /, *, runs: int = 5) -> Floats:
    """What the order sampler predicts without its first 100 draws, 2,000 moves: (10,) by fold.

    Folds and chains are those of `forecast`.

    Examples
    --------
    >>> data = bn.load_network("cancer").sample(60, np.random.default_rng(1))
    >>> late_orders(data, 1, runs=1).shape
    (10,)
    """
    out = []
    for fold in range(FOLDS):
        train, test = split(data, fold, key)
        table = bn.score_families(train, bn.BDeu(ESS), max_parents=MAX_PARENTS)
        chains = walk(table, "Order", draws=STOPS[-1], chains=runs, thin=THIN, key=100 * key + fold)
        late = [chain(chains.draws, c, EARLY) for c in range(runs)]
        out.append(np.mean([_mean(each, train, test) for each in late]))
    return np.array(out)


def chain(draws: bn.Draws, c: int, first: int = 0, /) -> bn.Draws:
    """One of the chains, alone, from draw `first` on.

    Examples
    --------
    >>> from bnlab.labs.papers.em2007.walks import example
    >>> chain(walk(example(), "Local", draws=5, chains=3).draws, 1)
    Draws(5 dags of 2 variables, structure-modular)
    """
    one = slice(c, c + 1), slice(first, None)
    return replace(
        draws,
        values=draws.values[one],
        log_weight=draws.log_weight[one],
        log_target=draws.log_target[one],
        stats={},
        traces={name: trace[one] for name, trace in draws.traces.items()},
    )


def _mean(draws: bn.Draws, train: bn.Data, test: bn.Data) -> float:
    return float(bn.predict.log_density(draws, train, test, score=bn.BDeu(ESS)).mean())


def _by_one(dag: Ints, train: bn.Data, test: bn.Data) -> float:
    return float(bn.predict.plug_in_log_density(dag, train, test, score=bn.BDeu(ESS)).mean())


def _dp(train: bn.Data, test: bn.Data) -> float:
    exact = bn.predict.exact_log_density
    return float(exact(train, test, score=bn.BDeu(ESS), max_parents=MAX_PARENTS).mean())


def margin(one: Floats, other: Floats, /) -> tuple[float, float]:
    """Mean over folds of a difference of two methods (folds,), and its standard error, nats.

    Examples
    --------
    >>> margin(np.array([1.0, 3.0]), np.array([0.0, 0.0]))
    (2.0, 1.0)
    """
    difference = one - other
    return float(difference.mean()), float(difference.std(ddof=1) / len(difference) ** 0.5)
