"""The checks of the exercises of notebooks/05_direct_dag_sampling.ipynb."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import permutations
from math import prod, sqrt
from random import Random
from typing import Any

import numpy as np

import bnlab as bn
from bnlab import graphs
from bnlab.labs.board import check
from bnlab.labs.direct_dag_sampling.view import DELTA, SEED, Parents, T

Dag = tuple[Parents, ...]
Weights = Sequence[Mapping[Parents, float]]
"""phi: for each node, parent set -> family weight."""

SETTLED, OPEN = 0.05, 0.2  # a probability this near to 0 or 1; one further from both
WORST = 3.719  # standard normal quantile that right draws exceed once in 10,000 times


def check_draw_forward(
    b: Callable[[Parents], float],
    draw_forward: Callable[[Any], tuple[list[int], Dag]],
    phi: Weights,
) -> bool:
    """Exercise 1: orders drawn from the front with the backward sum b, and parents on the way."""
    orders = {
        order: prod(_alpha(phi, v, frozenset(order[:i])) for i, v in enumerate(order))
        for order in permutations(range(len(phi)))
    }
    total = sum(orders.values())

    @cache
    def drawn() -> list[tuple[list[int], Dag]]:
        rng = Random(SEED)
        return [draw_forward(rng) for _ in range(T)]

    def fits(order: Sequence[int], dag: Dag) -> bool:
        every = sorted(order) == list(range(len(phi)))
        return every and all(dag[v] <= set(order[:i]) for i, v in enumerate(order))

    def first_places() -> bool:
        counts = Counter(order[0] for order, _ in drawn())
        exact = [sum(w for o, w in orders.items() if o[0] == v) / total for v in range(len(phi))]
        return all(abs(counts[v] / T - p) < 0.03 for v, p in enumerate(exact))

    def draws_with_b() -> bool:
        counted: Any = b
        if not hasattr(counted, "cache_clear"):
            return True
        counted.cache_clear()
        draw_forward(Random(SEED))
        return bool(counted.cache_info().misses > 0)

    return check(
        "Exercise 1",
        "b of the empty set should be g of the full set",
        lambda: np.isclose(b(frozenset()), total),
        "b of the full set should be 1: nothing comes after it",
        lambda: b(frozenset(range(len(phi)))) == 1,
        "each order should hold each node once, and its DAG be consistent with it",
        lambda: all(fits(*each) for each in drawn()[:200]),
        "the first places differ from what orders drawn from the back have there",
        first_places,
        "draw_forward should choose each next node with b",
        draws_with_b,
        f"chi-square of {T:,} draws against the list of all DAGs is too large: look at the parents",
        lambda: _good_fit([dag for _, dag in drawn()], _distribution(phi)),
    )


def _alpha(phi: Weights, v: int, S: Parents) -> float:
    return sum(p for P, p in phi[v].items() if P <= S)


def _distribution(phi: Weights) -> dict[Dag, float]:
    """DAG -> order-modular probability, of all DAGs."""
    dags = graphs.all_dags(len(phi))
    extensions = np.exp(bn.linear_extensions.log_count(dags))
    weights = {}
    for dag, count in zip(dags.tolist(), extensions, strict=True):
        sets = tuple(frozenset(graphs.members(P)) for P in dag)
        weights[sets] = count * prod(phi[v].get(P, 0.0) for v, P in enumerate(sets))
    total = sum(weights.values())
    return {dag: weight / total for dag, weight in weights.items()}


def _good_fit(dags: Sequence[Dag], exact: Mapping[Dag, float]) -> bool:
    """Whether chi-square is at most what right draws exceed once in 10,000 times."""
    counts, size = Counter(dags), len(dags)
    common = [dag for dag, p in exact.items() if size * p >= 5]
    expected = np.array([size * exact[dag] for dag in common])
    observed = np.array([counts[dag] for dag in common])
    rest, left = size - expected.sum(), size - observed.sum()
    found = ((observed - expected) ** 2 / expected).sum() + (left - rest) ** 2 / rest
    spread = 2 / (9 * len(common))  # the cube root of chi-square is nearly normal
    return bool(found <= len(common) * (1 - spread + WORST * sqrt(spread)) ** 3)


def check_estimate(
    feature: Callable[[Dag], bool],
    estimate: Callable[[list[Dag], Callable[[Dag], bool], float], tuple[float, float, float]],
    exact: Mapping[Dag, float],
) -> bool:
    """Exercise 2: `estimate(dags, feature, delta)` is a share, its standard error and a margin."""
    dags, p = list(exact), np.array(list(exact.values()))
    n = len(dags[0])
    picks = np.random.default_rng(SEED).choice(len(dags), 4 * T, p=p / p.sum())
    drawn = [dags[k] for k in picks]

    def edge(u: int, v: int) -> Callable[[Dag], bool]:
        return lambda dag: u in dag[v]

    def asked() -> list[Callable[[Dag], bool]]:
        return [feature, *(edge(u, v) for u in range(n) for v in range(n) if u != v)]

    def near(has: Callable[[Dag], bool]) -> bool:
        truth = sum(p for dag, p in exact.items() if has(dag))
        share, _, margin = estimate(drawn[:T], has, DELTA / len(asked()))
        return abs(share - truth) <= margin

    def right_error() -> bool:
        found = [estimate(drawn[:T], has, 0.1)[:2] for has in asked()]
        expected = [sqrt(share * (1 - share) / T) for share, _ in found]
        return np.allclose([error for _, error in found], expected, rtol=1e-3, atol=0)

    def right_margin() -> bool:
        return all(
            np.isclose(estimate(drawn[:m], feature, d)[2], bn.hoeffding_margin(m, d))
            for m, d in ((T, 0.05), (T, 0.1), (4 * T, 0.1))
        )

    def always() -> bool:
        share, stderr, margin = estimate(drawn[:100], lambda dag: True, DELTA)
        return share == 1 and stderr == 0 and margin > 0

    return check(
        "Exercise 2",
        "your feature should be true of some DAGs and false of others",
        lambda: 0 < sum(bool(feature(dag)) for dag in dags) < len(dags),
        "return three numbers: share, standard error, margin",
        lambda: np.shape(estimate(drawn[:10], feature, DELTA)) == (3,),
        "the standard error is the square root of share (1 - share) / T",
        right_error,
        "what holds of every DAG drawn has standard error 0, but a margin above 0",
        always,
        "the margin is the ε at which Hoeffding's bound equals delta: check δ as well as T",
        right_margin,
        "the exact probabilities of your feature and of all edges should lie within the margin, "
        "at delta divided by the number of features",
        lambda: all(near(has) for has in asked()),
    )


def check_settled(
    settled: Callable[[Dag], bool],
    left_open: Callable[[Dag], bool],
    data: bn.Data,
    guess: float | None,
) -> bool:
    """Exercise 3: of two features uncertain with 100 rows, all rows settle the first alone."""

    dags = graphs.all_dags(data.n)
    as_sets = [tuple(frozenset(graphs.members(P)) for P in dag) for dag in dags.tolist()]

    @cache
    def probability(rows: int, times: int) -> tuple[float, float]:
        many = np.tile(data.prefix(rows).values, (times, 1))
        table = bn.score_families(bn.Data.from_arrays(many, arities=data.arities), bn.BDeu(1.0))
        log_p = table.log_target(dags) + bn.linear_extensions.log_count(dags)
        p = np.exp(log_p - np.logaddexp.reduce(log_p))
        first, second = (float(p[list(map(has, as_sets))].sum()) for has in (settled, left_open))
        return first, second

    def is_open(p: float) -> bool:
        return OPEN < p < 1 - OPEN

    holds = check(
        "Exercise 3",
        "both should be uncertain with 100 rows, between 0.2 and 0.8",
        lambda: all(is_open(p) for p in probability(100, 1)),
        "all rows should settle the first: below 0.05 or above 0.95",
        lambda: not SETTLED <= probability(data.m, 1)[0] <= 1 - SETTLED,
        "all rows should leave the second open, between 0.2 and 0.8",
        lambda: is_open(probability(data.m, 1)[1]),
        "write down my_guess, a probability, first",
        lambda: guess is not None and 0 <= guess <= 1,
    )
    if holds:
        print(f"Every row ten times: {probability(data.m, 10)[1]:.4f}. Your guess: {guess}")
    return holds
