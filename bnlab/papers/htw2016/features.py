"""Section 4.3: edges and five features that are not modular, against the sum over all DAGs."""

from collections.abc import Mapping
from functools import cache

import numpy as np

import bnlab as bn
from bnlab import graphs
from bnlab.checks import Floats, Ints
from bnlab.papers.store import normalised

FEATURES = ("edge", "f1", "f2", "f3", "f4", "f5")
"""Edge; path i to j; path of at most 2 edges; i to j to k; i to j and to k; i to j, not to k."""

MEANINGS = {
    "edge": "i → j",
    "f1": "i ⇝ j",
    "f2": "i ⇝ j within 2 edges",
    "f3": "i ⇝ j ⇝ k",
    "f4": "i ⇝ j and i ⇝ k",
    "f5": "i ⇝ j, not i ⇝ k",
}
SAMPLERS = ("IW-DDS", "DP+MCMC", "k-best")
SIZES = (100, 300, 1000, 3000, 10_000)
BESTS = (10, 30, 100, 300, 1000)
RUNS = 20
SEED = 2016


@cache
def small(name: str, /) -> bn.OrderPosterior:
    """Return the exact posterior of iris or coronary, BDeu, any number of parents."""
    data = bn.load_dataset(name)
    table = bn.score_families(data, bn.BDeu(1.0), max_parents=data.n - 1)
    return bn.order_posterior(table)


def probabilities(dags: Ints, weights: Floats, /) -> dict[str, Floats]:
    """Return weighted shares of edges and f1 to f5 among DAGs: (n, n), from f3 on (n, n, n)."""
    n = dags.shape[1]
    # Many DAGs have the same paths (6 nodes: 3,781,503 DAGs, 130,023 ways to be connected).
    codes = graphs.ancestors(dags) @ (np.int64(1) << n * np.arange(n))
    distinct, which = np.unique(codes, return_inverse=True)
    reach = (distinct[:, None] >> np.arange(n * n)) & 1  # (U, n n), [j n + i]: i leads to j
    reach = reach.reshape(-1, n, n).transpose(0, 2, 1).reshape(-1, n * n).astype(float)
    both = (reach * np.bincount(which, weights)[:, None]).T @ reach
    pairs = both.reshape(n, n, n, n)  # [a, b, c, d]: a leads to b and c to d
    i, j, k = np.ogrid[:n, :n, :n]
    different = (i != j) & (j != k) & (i != k)
    paths = np.diag(both).reshape(n, n)
    fork = pairs[i, j, i, k] * different
    return {
        "edge": _shares(dags, weights),
        "f1": paths,
        "f2": _shares(graphs.near_ancestors(dags, max_length=2), weights),
        "f3": pairs[i, j, j, k] * different,
        "f4": fork,
        "f5": paths[:, :, None] * different - fork,
    }


@cache
def exact(name: str, /) -> Mapping[str, Floats]:
    """Return the structure-modular probabilities by adding up all DAGs (coronary: 3,781,503)."""
    table = small(name).table
    dags = graphs.all_dags(table.n)
    return probabilities(dags, normalised(table.log_target(dags)))


def estimate(draws: bn.Draws, /) -> dict[str, Floats]:
    """Return the same probabilities from weighted draws, each distinct DAG looked at once."""
    flat = draws.values.reshape(-1, draws.values.shape[-1])
    dags, which = np.unique(flat, axis=0, return_inverse=True)
    weights = np.bincount(which.ravel(), normalised(draws.log_weight.ravel()))
    return probabilities(dags, np.asarray(weights, np.float64))


def errors(name: str, sampler: str, /, *, runs: int = RUNS) -> dict[str, Floats]:
    """Return SAD (runs, sizes) of each feature: SIZES draws, or the BESTS best DAGs in one run."""
    truth, by_orders = exact(name), small(name)
    kept: list[list[bn.Draws]] = []
    if sampler == "k-best":
        best = bn.k_best_dags(by_orders.table, BESTS[-1]).as_draws()
        kept.append([best.prefix(k) for k in BESTS])
    for run in range(0 if sampler == "k-best" else runs):
        rng = np.random.default_rng([SEED, SAMPLERS.index(sampler), len(name), run])
        if sampler == "IW-DDS":
            drawn = bn.sample_dags(by_orders, draws=SIZES[-1], rng=rng)
            kept.append([bn.reweight_unique(drawn.prefix(size)) for size in SIZES])
        else:
            kept.append([_chain(by_orders, size, rng) for size in SIZES])
    found = [[_sads(estimate(draws), truth) for draws in row] for row in kept]
    return {f: np.array([[sads[f] for sads in row] for row in found]) for f in FEATURES}


def _chain(by_orders: bn.OrderPosterior, size: int, rng: np.random.Generator) -> bn.Draws:
    return bn.sample_structures(
        by_orders.table,
        draws=size,
        rng=rng,
        kernel=bn.Global(by_orders.edges),
        chains=1,
        burn_in=3 * size,
        thin=3,
    )


def _shares(masks: Ints, weights: Floats) -> Floats:
    """Return weighted share (n, n) of the masks of j that hold i."""
    return np.stack([weights @ ((masks >> i) & 1) for i in range(masks.shape[1])])


def _sads(found: Mapping[str, Floats], truth: Mapping[str, Floats]) -> dict[str, float]:
    return {name: float(np.abs(found[name] - truth[name]).sum()) for name in FEATURES}


def beaten(better: Mapping[str, Floats], worse: Mapping[str, Floats], /) -> dict[str, int]:
    """Return at how many sizes the first mean SAD is below the second, for each feature."""
    return {f: int((better[f].mean(0) < worse[f].mean(0)).sum()) for f in better}
