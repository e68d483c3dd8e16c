"""One run of a method on a data set: how far off its edges are, and how long it took."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab.labs.papers.htw2016.cases import case, dags
from bnlab.labs.papers.htw2016.printed import NAMES

SEED = 2016
METHODS = ("PO-MCMC", "DOS", "DDS", "DP+MCMC", "k-best", "IW-DDS", "1/l(G)")
BY_ORDERS = METHODS[:3]  # of Table 1; the next three are of Table 3, the last is ours
RUNS = dict(zip(METHODS, (15, 15, 15, 20, 1, 20, 20), strict=True))
LONG = {"german": 5}  # runs of each method that are kept, where those of the paper take long
DRAWS_1, DRAWS_3 = 20_000, 30_000
WARM_UP_1, KEPT_1 = 10_000, 10_000  # moves of PO-MCMC, each kept after the warm-up
WARM_UP_3, THIN_3 = 100_000, 3  # moves of DP+MCMC
BUCKET = {"tic_tac_toe": 9}  # 10 elsewhere
BEST = {"german": 9}  # 100 elsewhere

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Trial:
    """What one run gave.

    Attributes
    ----------
    sad : sum of absolute errors over all edges
    mass : Delta, the posterior mass of the distinct DAGs; nan of methods that know none
    seconds : processor time, without the dynamic program
    """

    sad: float
    mass: float
    seconds: float


def trials(name: str, method: str, /, *, runs: int | None = None) -> list[Trial]:
    """Runs of a method on a data set, each with its own seed: the first runs are always the same.

    Parameters
    ----------
    name : one of printed.NAMES
    method : one of METHODS; the first three as in Table 1, the next three as in Table 3, the last
        weighs the draws of DDS by one over their numbers of orders
    runs : number of runs; the paper's by default

    Raises
    ------
    ValueError
        For any other name or method.

    Examples
    --------
    >>> len(trials("tic_tac_toe", "DDS", runs=2))
    2
    """
    if method not in METHODS:
        raise ValueError(f"no method {method!r}; there are {', '.join(METHODS)}")
    given = case(name)
    truth = given.by_k2.edges if method in BY_ORDERS else dags(name).edges
    out = []
    for run in range(RUNS[method] if runs is None else runs):
        rng = np.random.default_rng([SEED, NAMES.index(name), METHODS.index(method), run])
        start = time.process_time()
        edges, mass = _METHODS[method](name, rng)
        seconds = time.process_time() - start
        out.append(Trial(bn.diagnostics.sad(edges, truth), mass, seconds))
    return out


def _partial_orders(name: str, rng: np.random.Generator) -> tuple[Floats, float]:
    table = case(name).by_k2.table
    draws = bn.sample_partial_orders(
        table,
        draws=KEPT_1,
        rng=rng,
        bucket=BUCKET.get(name, 10),
        chains=1,
        burn_in=WARM_UP_1,
        thin=1,
    )
    return bn.features.edges(draws, table=table), float("nan")


def _direct_orders(name: str, rng: np.random.Generator) -> tuple[Floats, float]:
    exact = case(name).by_k2
    draws = bn.sample_orders(exact, draws=DRAWS_1, rng=rng)
    return bn.features.edges(draws, table=exact.table), float("nan")


def _direct_dags(name: str, rng: np.random.Generator) -> tuple[Floats, float]:
    draws = bn.sample_dags(case(name).by_k2, draws=DRAWS_1, rng=rng)
    return bn.features.edges(draws), float("nan")


def global_chain(name: str, rng: np.random.Generator, /, *, local: float = 0.0) -> bn.Draws:
    """30,000 DAGs of a chain of 190,000 proposals from the exact order-modular edges.

    Parameters
    ----------
    local : share of local moves; the paper's 0 proposes whole DAGs only

    Examples
    --------
    >>> global_chain("wine", np.random.default_rng(1))
    Draws(30000 dags of 13 variables, structure-modular)
    """
    exact = case(name).by_bdeu
    kernel = bn.Hybrid(exact.edges, local) if local else bn.Global(exact.edges)
    return bn.sample_structures(
        exact.table,
        draws=DRAWS_3,
        rng=rng,
        kernel=kernel,
        chains=1,
        burn_in=WARM_UP_3,
        thin=THIN_3,
    )


def _global(name: str, rng: np.random.Generator) -> tuple[Floats, float]:
    return bn.features.edges(global_chain(name, rng)), float("nan")


def _best(name: str, rng: np.random.Generator) -> tuple[Floats, float]:
    best = bn.k_best_dags(case(name).by_bdeu.table, BEST.get(name, 100))
    return _edges_and_mass(best.as_draws(log_z=dags(name).log_z))


def _distinct(name: str, rng: np.random.Generator) -> tuple[Floats, float]:
    draws = bn.sample_dags(case(name).by_bdeu, draws=DRAWS_3, rng=rng)
    return _edges_and_mass(bn.reweight_unique(draws, log_z=dags(name).log_z))


def _weighed(name: str, rng: np.random.Generator) -> tuple[Floats, float]:
    draws = bn.sample_dags(case(name).by_bdeu, draws=DRAWS_3, rng=rng)
    return bn.features.edges(bn.reweight_by_extensions(draws)), float("nan")


def _edges_and_mass(draws: bn.Draws) -> tuple[Floats, float]:
    return bn.features.edges(draws), float(draws.stats["mass"][0])


_METHODS: dict[str, Callable[[str, np.random.Generator], tuple[Floats, float]]] = dict(
    zip(
        METHODS,
        (_partial_orders, _direct_orders, _direct_dags, _global, _best, _distinct, _weighed),
        strict=True,
    )
)
