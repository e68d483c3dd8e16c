"""Tables 1 to 4 of [HeTianWu2016] in print; runs of the methods; the features of section 4.3."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

import bnlab as bn
from bnlab import features, graphs
from bnlab.checks import Floats, Ints
from bnlab.features.intervals import pair_sums
from bnlab.files import packaged
from bnlab.papers.page import normalised, stored

PRINTED = packaged("papers/htw2016/printed.toml")
MAX_PARENTS = 5
NAMES = ("tic_tac_toe", "wine", "zoo", "german")
METHODS = ("PO-MCMC", "DOS", "DDS", "DP+MCMC", "k-best", "IW-DDS", "1/l(G)")
BY_ORDERS, BY_DAGS = METHODS[:3], METHODS[3:6]  # of Tables 1 and 2, 3 and 4; the last is ours

Key = tuple[str, str]  # data set and method
Pair = tuple[float, float]


def _values(table: str, methods: Sequence[str]) -> dict[Key, float]:
    """Return the numbers of a printed table."""
    rows = PRINTED[table].items()
    return {(name, m): float(x) for name, row in rows for m, x in zip(methods, row, strict=True)}


def _pairs(table: str, methods: Sequence[str]) -> dict[Key, Pair]:
    """Return the means and standard deviations of a printed table."""
    rows = [(name, iter(map(float, row))) for name, row in PRINTED[table].items()]
    return {(name, m): (next(row), next(row)) for name, row in rows for m in methods}


TABLE_1 = _pairs("table_1", BY_ORDERS)
"""Mean and deviation of the SAD of 15 runs; K2 score, Fair prior [HeTianWu2016, Table 1]."""

TABLE_2 = _values("table_2", BY_ORDERS)
"""Mean seconds of one run, dynamic program included [HeTianWu2016, Table 2]."""

TABLE_3_DP: Mapping[str, float] = PRINTED["table_3_dp"]
"""SAD between the exact edges under the two priors; BDeu [HeTianWu2016, Table 3]."""

TABLE_3 = _pairs("table_3", BY_DAGS)
"""Mean and standard deviation of the SAD of 20 runs; k-best is one run [HeTianWu2016, Table 3]."""

TABLE_3_MASS = _pairs("table_3_mass", BY_DAGS[1:])
"""Mean and standard deviation of Delta [HeTianWu2016, Table 3]."""

TABLE_4 = _values("table_4", BY_DAGS)
"""Mean seconds of one run, dynamic program included [HeTianWu2016, Table 4]."""


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A data set, scored in the two ways of the paper."""

    name: str  # one of NAMES
    data: bn.Data
    by_k2: bn.OrderPosterior  # order-modular posterior; K2 score, Fair prior (Tables 1 and 2)
    # order-modular posterior; BDeu with equivalent sample size 1, factor 1 (Tables 3 and 4)
    by_bdeu: bn.OrderPosterior

    def __repr__(self) -> str:
        return f"{self.name}: n={self.data.n}, m={self.data.m}"


@cache
def case(name: str, /) -> Case:
    """Return a data set with its order-modular posteriors, at most 5 parents."""
    if name not in NAMES:
        raise ValueError(f"no data set {name!r}; there are {', '.join(NAMES)}")
    data = bn.load_dataset(name)
    by_k2 = bn.score_families(data, bn.K2(), max_parents=MAX_PARENTS, prior=bn.Fair())
    by_bdeu = bn.score_families(data, bn.BDeu(1.0), max_parents=MAX_PARENTS)
    return Case(name, data, bn.order_posterior(by_k2), bn.order_posterior(by_bdeu))


@cache
def dags(name: str, /) -> bn.DagPosterior:
    """Return the exact structure-modular posterior of the BDeu scores; minutes for german."""
    return bn.dag_posterior(case(name).by_bdeu.table)


def at_hand(name: str, /) -> str:
    """Return the size of a data set, or why it cannot be had."""
    try:
        return repr(case(name))
    except (FileNotFoundError, ModuleNotFoundError) as error:
        return f"{name}: {error}"


SEED = 2016
RUNS = dict(zip(METHODS, (15, 15, 15, 20, 1, 20, 20), strict=True))
DRAWS_1, DRAWS_3 = 20_000, 30_000
WARM_UP_1, KEPT_1 = 10_000, 10_000  # moves of PO-MCMC, each kept after the warm-up
WARM_UP_3, THIN_3 = 100_000, 3  # moves of DP+MCMC
BUCKET = {"tic_tac_toe": 9}  # 10 elsewhere
BEST = {"german": 9}  # 100 elsewhere


@dataclass(frozen=True, slots=True)
class Trial:
    """What one run gave."""

    sad: float  # sum of absolute errors over all edges
    mass: float  # Delta, the posterior mass of the distinct DAGs; nan of methods that know none
    seconds: float  # processor time, without the dynamic program


def trials(name: str, method: str, /, *, runs: int | None = None) -> list[Trial]:
    """Run a method on a data set, each run with its own seed: the first are always the same."""
    if method not in METHODS:
        raise ValueError(f"no method {method!r}; there are {', '.join(METHODS)}")
    given = case(name)
    truth = given.by_k2.edges if method in BY_ORDERS else dags(name).edges
    out = []
    for run in range(RUNS[method] if runs is None else runs):
        rng = np.random.default_rng([SEED, NAMES.index(name), METHODS.index(method), run])
        start = time.process_time()
        draws = _drawn(name, method, rng)
        table = given.by_k2.table if draws.over == "orders" else None
        edges = features.edges(draws, table=table)
        seconds = time.process_time() - start
        mass = float(draws.stats["mass"][0]) if "mass" in draws.stats else float("nan")
        out.append(Trial(bn.diagnostics.sad(edges, truth), mass, seconds))
    return out


def _drawn(name: str, method: str, rng: np.random.Generator) -> bn.Draws:
    """Return what one run of a method draws, or lists."""
    by_k2, by_bdeu = case(name).by_k2, case(name).by_bdeu
    how: dict[str, Any] = {"rng": rng, "chains": 1}
    if method == "PO-MCMC":
        how |= {"bucket": BUCKET.get(name, 10), "burn_in": WARM_UP_1, "thin": 1}
        return bn.sample_partial_orders(by_k2.table, draws=KEPT_1, **how)
    if method == "DOS":
        return bn.sample_orders(by_k2, draws=DRAWS_1, rng=rng)
    if method == "DDS":
        return bn.sample_dags(by_k2, draws=DRAWS_1, rng=rng)
    if method == "DP+MCMC":  # whole DAGs, proposed from the exact order-modular edges
        how |= {"kernel": bn.Global(by_bdeu.edges), "burn_in": WARM_UP_3, "thin": THIN_3}
        return bn.sample_structures(by_bdeu.table, draws=DRAWS_3, **how)
    if method == "k-best":
        best = bn.k_best_dags(by_bdeu.table, BEST.get(name, 100))
        return best.as_draws(log_z=dags(name).log_z)
    draws = bn.sample_dags(by_bdeu, draws=DRAWS_3, rng=rng)
    if method == "IW-DDS":
        return bn.reweight_unique(draws, log_z=dags(name).log_z)
    return bn.reweight_by_extensions(draws)


LISTED = 2  # times k: far enough to see all that tie for the last place
SAME = 1e-6  # nats


def tied(name: str, k: int, /, *, picks: int = 1000) -> tuple[int, int, Floats]:
    """Return ties for the last places of the k best, the places, and SADs of random choices."""
    best = bn.k_best_dags(case(name).by_bdeu.table, LISTED * k)
    group = np.flatnonzero(np.abs(best.log_weight - best.log_weight[k - 1]) < SAME)
    first, places = int(group[0]), k - int(group[0])
    weights = np.exp(best.log_weight[:k] - np.logaddexp.reduce(best.log_weight[:k]))
    has = graphs.to_adjacency(best.dags)
    before = np.tensordot(weights[:first], has[:first], axes=1)
    truth, rng = dags(name).edges, np.random.default_rng(SEED)
    sads = np.empty(picks)
    for i in range(picks):
        chosen = has[rng.choice(group, places, replace=False)]
        edges = before + np.tensordot(weights[first:], chosen, axes=1)
        sads[i] = bn.diagnostics.sad(edges, truth)
    return group.size, places, sads


CURVE = (500, 1000, 1500, 2000, 2500, 3000, 3500, 4000, 4612)
SETTINGS = {0.02: 0.05, 0.01: 0.02}
"""eps -> delta; 4,612 and 23,026 draws."""


def misses(name: str, eps: float, sizes: Sequence[int], /, *, runs: int) -> Floats:
    """Return the share of runs of DDS that miss each edge by eps or more, (sizes, n (n - 1))."""
    exact = case(name).by_k2
    off = ~np.eye(exact.table.n, dtype=bool)
    rng = np.random.default_rng([44, round(1000 * eps)])
    total = np.zeros((len(sizes), int(off.sum())))
    for stream in rng.spawn(runs):
        draws = bn.sample_dags(exact, draws=max(sizes), rng=stream.spawn(1)[0])
        found = np.array([features.edges(draws.prefix(size)) for size in sizes])
        total += np.abs(found - exact.edges)[:, off] >= eps
    return total / runs


def draws_for(eps: float, /) -> int:
    """Return how many draws the guarantee asks for at one of the SETTINGS."""
    return features.hoeffding_draws(eps, SETTINGS[eps])


def stored_trials(name: str, method: str, /) -> list[Trial]:
    """Return the stored runs of a method on a data set."""
    return [Trial(*map(float, run)) for run in stored("htw2016")[f"{name} {method}"]]


def sads(name: str, method: str, /) -> list[float]:
    """Return the SAD of each stored run of a method on a data set."""
    return [trial.sad for trial in stored_trials(name, method)]


def stored_bias(name: str, /) -> float:
    """Return the stored SAD between the exact edges under the two priors."""
    return float(stored("htw2016")["bias"][NAMES.index(name)])


def stored_rates(eps: float, /) -> Floats:
    """Return the share of runs that miss, (sizes, edges): CURVE for 0.02, one size for 0.01."""
    return stored("htw2016")[f"rates {eps}"]


def spread(values: Sequence[float], /) -> tuple[float, float]:
    """Return mean and standard deviation over runs; 0 of a single run."""
    sd = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return float(np.mean(values)), sd


def verdict(published: tuple[float, float], ours: float, /) -> str:
    """Say whether our mean is within two published sd, or four digits: "yes", "below", "above"."""
    mean, sd = published
    if abs(ours - mean) <= (2 * sd or 1e-3 * abs(mean)):
        return "yes"
    return "below" if ours < mean else "above"


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
FEATURE_SIZES = (100, 300, 1000, 3000, 10_000)
BESTS = (10, 30, 100, 300, 1000)
FEATURE_RUNS = 20


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
        "edge": pair_sums(dags, weights),
        "f1": paths,
        "f2": pair_sums(graphs.near_ancestors(dags, max_length=2), weights),
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


def errors(name: str, sampler: str, /, *, runs: int = FEATURE_RUNS) -> dict[str, Floats]:
    """Return SAD (runs, sizes) of each feature, by FEATURE_SIZES draws or the BESTS best DAGs."""
    truth = exact(name)
    if sampler == "k-best":
        best = bn.k_best_dags(small(name).table, BESTS[-1]).as_draws()
        kept = [[best.prefix(k) for k in BESTS]]
    else:
        kept = [_sampled(name, sampler, run) for run in range(runs)]
    found = [[_sads(estimate(draws), truth) for draws in row] for row in kept]
    return {f: np.array([[sads[f] for sads in row] for row in found]) for f in FEATURES}


def _sampled(name: str, sampler: str, run: int) -> list[bn.Draws]:
    """Return what one run draws, for each of FEATURE_SIZES."""
    by_orders, table = small(name), small(name).table
    rng = np.random.default_rng([SEED, SAMPLERS.index(sampler), len(name), run])
    if sampler == "IW-DDS":
        drawn = bn.sample_dags(by_orders, draws=FEATURE_SIZES[-1], rng=rng)
        return [bn.reweight_unique(drawn.prefix(size)) for size in FEATURE_SIZES]
    kernel = bn.Global(by_orders.edges)
    walk = partial(bn.sample_structures, table, kernel=kernel, chains=1, rng=rng)
    return [walk(draws=size, burn_in=3 * size, thin=3) for size in FEATURE_SIZES]


def _sads(found: Mapping[str, Floats], truth: Mapping[str, Floats]) -> dict[str, float]:
    return {name: float(np.abs(found[name] - truth[name]).sum()) for name in FEATURES}


def beaten(better: Mapping[str, Floats], worse: Mapping[str, Floats], /) -> dict[str, int]:
    """Return at how many sizes the first mean SAD is below the second, for each feature."""
    return {f: int((better[f].mean(0) < worse[f].mean(0)).sum()) for f in better}
