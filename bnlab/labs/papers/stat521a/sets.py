"""Sets of DAGs: Occam's window with its mass, and counting visits against weighing DAGs."""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab.labs.papers.em2007.forecasts import chain
from bnlab.labs.papers.stat521a.world import BDEU, MAX_PARENTS, stream

Floats = NDArray[np.float64]

DATASETS = ("coronary", "tic_tac_toe", "wine")
FACTORS = (3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
CLIMBS = 200
LISTED = 2000
MARGIN = 1e-9  # nats
STOPS = (100, 300, 1000, 3000, 10_000, 30_000)
CHAINS = 8


@cache
def case(name: str) -> tuple[bn.ScoreTable, bn.DagPosterior]:
    """The scores and the exact structure-modular posterior of one of DATASETS.

    Examples
    --------
    >>> case("coronary")[0].n
    6
    """
    table = bn.score_families(bn.load_dataset(name), BDEU, max_parents=MAX_PARENTS)
    return table, bn.dag_posterior(table)


class Window(NamedTuple):
    """An Occam's window: how many DAGs, and their posterior probability, found and in truth."""

    found: int
    mass: float
    exact: int
    exact_mass: float


def window(name: str, factor: float, /) -> Window:
    """Occam's window of one of DATASETS by beam search from 200 climbs, and by the k best DAGs.

    Examples
    --------
    >>> seen = window("coronary", 3.0)
    >>> seen.found, seen.exact
    (7, 7)
    """
    table, posterior = case(name)
    climbs = bn.hill_climb(table, restarts=CLIMBS, tabu=20, rng=stream(12)).ends
    found = bn.occams_window(table, factor=factor, start=climbs)
    scores = best(name).log_target
    inside = scores[scores > scores[0] - np.log(factor) - MARGIN]
    masses = (
        np.exp(np.logaddexp.reduce(part) - posterior.log_z) for part in (found.log_target, inside)
    )
    mass, exact_mass = map(float, masses)
    return Window(len(found.dags), mass, len(inside), exact_mass)


@cache
def best(name: str) -> bn.BestDags:
    """The 2,000 best DAGs of one of DATASETS: more than any window here holds.

    Examples
    --------
    >>> len(best("coronary").dags)
    2000
    """
    return bn.k_best_dags(case(name)[0], LISTED)


def errors(name: str, /, chains: int = CHAINS) -> dict[str, Floats]:
    """SAD from the exact edges after STOPS local moves, (chains, STOPS): counted, or weighed.

    "visits" counts how often a DAG was met, as MCMC does. "distinct" is the slide's stochastic
    search: the same DAGs, each once, with its own weight.

    Examples
    --------
    >>> errors("coronary", 2)["visits"].shape
    (2, 6)
    """
    table, posterior = case(name)
    found = bn.hill_climb(table, restarts=50, tabu=20, rng=stream(12)).dag
    walked = bn.sample_structures(
        table, draws=STOPS[-1], rng=stream(13), chains=chains, burn_in=0, thin=1, start=found
    )
    out: dict[str, list[list[float]]] = {"visits": [], "distinct": []}
    for c in range(chains):
        parts = [chain(walked, c).prefix(stop) for stop in STOPS]
        out["visits"].append([_error(part, posterior) for part in parts])
        out["distinct"].append([_error(bn.reweight_unique(part), posterior) for part in parts])
    return {label: np.array(values) for label, values in out.items()}


def _error(draws: bn.Draws, posterior: bn.DagPosterior) -> float:
    return bn.diagnostics.sad(bn.features.edges(draws), posterior.edges)
