"""The checks of the four exercises: properties of an answer, not stored numbers."""

from collections.abc import Callable
from functools import cache
from math import exp, sqrt
from numbers import Integral
from typing import Any

import numpy as np

import bnlab as bn
from bnlab import graphs, hoeffding_margin
from bnlab.checks import Bools, Floats, Ints
from bnlab.labs.board import check
from bnlab.labs.direct_dag_sampling.view import SEED, dag_posterior, posterior


def check_draws_for_all(function: Callable[[float, float, int], Any]) -> bool:
    """Exercise 1: `function(eps, delta, count)` draws put `count` probabilities within eps."""

    def misses(draws: float, eps: float, count: int) -> float:
        return 2 * count * exp(-2 * draws * eps**2)

    return check(
        "Exercise 1",
        "return a whole number of draws, at least 1",
        lambda: isinstance(function(0.1, 0.05, 10), Integral) and function(0.1, 0.05, 10) >= 1,
        "one probability is the case that bn.hoeffding_draws knows",
        lambda: function(0.03, 0.01, 1) == bn.hoeffding_draws(0.03, 0.01),
        "more probabilities need more draws",
        lambda: function(0.02, 0.05, 156) > function(0.02, 0.05, 90) > function(0.02, 0.05, 1),
        "it is a waste to draw afresh for each: one set of draws serves them all",
        lambda: function(0.02, 0.05, 156) < 4 * function(0.02, 0.05, 1),
        "each may miss with probability at most delta / count, so that all together "
        "miss with probability at most delta",
        lambda: misses(function(0.02, 0.05, 156), 0.02, 156) <= 0.05,
        "one draw less would do as well",
        lambda: misses(function(0.02, 0.05, 156) - 1, 0.02, 156) > 0.05,
    )


def check_common_cause(function: Callable[[Ints, int, int], Any]) -> bool:
    """Exercise 2: `function(dags, u, v)` says in which DAGs a third variable leads to both."""
    dags = graphs.all_dags(4)
    reach = graphs.to_adjacency(graphs.ancestors(dags))
    truth = np.array([any(r[w, 0] and r[w, 1] for w in range(4)) for r in reach])

    def result(u: int, v: int) -> Bools:
        return np.asarray(function(dags.copy(), u, v), bool)

    def of(*masks: int) -> bool:
        return bool(np.asarray(function(np.array([masks]), 0, 1)).all())

    return check(
        "Exercise 2",
        "return one truth value a DAG",
        lambda: result(0, 1).shape == (len(dags),),
        "the fork 0 ← 2 → 1 (masks 4, 4, 0) has a common cause",
        lambda: of(4, 4, 0),
        "0 → 1 alone (masks 0, 1, 0) has none: 0 does not lead to itself",
        lambda: not of(0, 1, 0),
        "a cause may act through others: 2 → 3 → 1 and 2 → 0 (masks 4, 8, 0, 4)",
        lambda: of(4, 8, 0, 4),
        "u and v can change places",
        lambda: np.array_equal(result(0, 1), result(1, 0)),
        "your answer differs from a search of every DAG on 4 nodes",
        lambda: np.array_equal(result(0, 1), truth),
    )


def check_certain(function: Callable[[Ints, Floats, Bools, float], tuple[float, float]]) -> bool:
    """Exercise 3: `function(dags, log_target, has, log_z)` is the interval of IW-DDS."""
    path, log_z = bn.features.path(0, 3), dag_posterior("coronary").log_z
    draws = bn.sample_dags(posterior("coronary"), draws=300, rng=np.random.default_rng(SEED))
    dags, log_target, each = draws.values[0], draws.log_target[0], np.arange(300)
    has = np.asarray(path(dags), bool)
    expected = bn.features.probability(bn.reweight_unique(draws, log_z=log_z), path)
    few = bn.load_dataset("coronary").select(draws.names[:3])
    three = bn.score_families(few, bn.K2(), max_parents=2, prior=bn.Fair())

    def result(rows: Ints) -> Floats:
        return np.asarray(function(dags[rows], log_target[rows], has[rows], log_z), float)

    def of_all_dags() -> tuple[float, float]:
        everything = graphs.all_dags(3)
        log_targets = three.log_target(everything)
        yes = np.asarray(bn.features.edge(0, 1)(everything), bool)
        return function(everything, log_targets, yes, float(np.logaddexp.reduce(log_targets)))

    return check(
        "Exercise 3",
        "return two numbers, low and high",
        lambda: result(each).shape == (2,),
        "one network alone: its own posterior probability counts, exp(log_target - log_z)",
        lambda: np.allclose(np.diff(result(np.array([0]))), 1 - exp(log_target[0] - log_z)),
        "a network that is drawn twice counts once",
        lambda: np.allclose(result(np.zeros(2, int)), result(np.array([0]))),
        "nothing is left open once every network was drawn",
        lambda: np.ptp(of_all_dags()) < 1e-9,
        "and then the answer is the exact probability",
        lambda: np.isclose(of_all_dags()[0], bn.dag_posterior(three).edges[0, 1]),
        "300 draws: low and high differ from those of bn.features.probability",
        lambda: np.allclose(result(each), (expected.low, expected.high)),
    )


def check_interval(function: Callable[[Bools, float], tuple[float, float]]) -> bool:
    """Exercise 4: `function(hits, delta)` is an interval narrower than Hoeffding's, as safe."""
    size, runs, delta = 1000, 4000, 0.05

    @cache
    def interval(count: int) -> tuple[float, float]:
        low, high = function(np.arange(size) < count, delta)
        return float(low), float(high)

    def miss_rate(p: float) -> float:
        counts = np.random.default_rng(SEED).binomial(size, p, runs)
        return float(np.mean([not interval(k)[0] <= p <= interval(k)[1] for k in counts.tolist()]))

    def width(count: int) -> float:
        return interval(count)[1] - interval(count)[0]

    allowed = delta + 3 * sqrt(delta * (1 - delta) / runs)
    return check(
        "Exercise 4",
        "return two numbers, low and high",
        lambda: np.shape(function(np.arange(size) < 10, delta)) == (2,),
        "low and high lie in [0, 1] and the share of hits between them",
        lambda: all(
            0 <= interval(k)[0] <= k / size <= interval(k)[1] <= 1
            for k in (0, 1, 10, 500, 999, 1000)
        ),
        "10 hits in 1,000 draws: make the interval less than half as wide as Hoeffding's",
        lambda: width(10) < 0.5 * (0.01 + hoeffding_margin(size, delta)),
        "500 hits in 1,000 draws: no wider than Hoeffding's, up to a thousandth",
        lambda: width(500) <= 2 * hoeffding_margin(size, delta) + 0.001,
        "it misses a probability of 1/2 too often",
        lambda: miss_rate(0.5) <= allowed,
        "it misses small or large probabilities (0.001, 0.003, 0.01, 0.1, 0.98) too often",
        lambda: all(miss_rate(p) <= allowed for p in (0.001, 0.003, 0.01, 0.1, 0.98)),
    )
