"""One DAG, a class or an average: edges found, predictions, and sets of DAGs."""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

import bnlab as bn
from bnlab import graphs
from bnlab.checks import Floats, Ints
from bnlab.papers.em2007.cases import child
from bnlab.papers.em2007.study import edges_and_paths
from bnlab.papers.stat521a.search import BDEU, MAX_PARENTS, stream
from bnlab.papers.store import chain, random_dag, stored

CHILD_SIZES = (100, 1000, 10_000)
CHILD_DRAWS = 20_000
METHODS = ("hill climbing", "GES", "MAP", "class of the MAP", "orders", "DAGs")
KINDS = ("edges", "paths")
TIE = 1.000001  # Bayes factor: DAGs of one class, summed in another order


def discover(number: int, m: int, /) -> Floats:
    """Return areas under the ROC curve on m rows of data set `number`, (METHODS, KINDS)."""
    network, rows = child(number)
    table = bn.score_families(rows.prefix(m), BDEU, max_parents=MAX_PARENTS)
    best = bn.map_dag(table).dags[0]
    posterior, rng = bn.order_posterior(table), stream(9, number, m)
    everywhere = bn.sample_dags(posterior, draws=CHILD_DRAWS, rng=rng)
    fair = bn.reweight_by_extensions(everywhere).log_weight[0]
    sets: list[tuple[Ints, Floats | None]] = [
        (bn.hill_climb(table, rng=stream(10, number)).dag[None], None),
        (bn.ges(table).dag[None], None),
        (best[None], None),
        (bn.occams_window(table, factor=TIE, start=best).dags, None),
        (everywhere.values[0], None),
        (everywhere.values[0], np.exp(fair - fair.max())),
    ]
    return np.array([areas(dags, network.dag, weights) for dags, weights in sets])


def areas(dags: ArrayLike, truth: ArrayLike, weights: ArrayLike | None = None, /) -> Floats:
    """Return areas (2,), for directed edges and for paths, from weighted DAGs (T, n)."""
    found, true = edges_and_paths(dags, weights), (truth, graphs.ancestors(truth))
    pairs = zip(found, map(graphs.to_adjacency, true), strict=True)
    return np.array([bn.diagnostics.auc(*pair) for pair in pairs])


def discovered() -> Floats:
    """Return the kept areas, (sizes, data sets, METHODS, KINDS)."""
    return stored("stat521a")["child areas"].astype(np.float64)


NODES = 7
SIZES = (20, 50, 100, 200, 500, 1000, 2000)
NETWORKS = 20
FRESH = 2000
DRAWS = 1000
BEST = 100
WAYS = ("DAGs", "orders", f"{BEST} best", "MAP", "Chow-Liu tree", "true structure")


@cache
def losses() -> tuple[Floats, Floats]:
    """Return KL(true || predicted), nats, (networks, sizes, WAYS), and masses of the 100 best.

    Networks of seven nodes; DAGs and orders are means over independent exact draws.
    """
    found = [_of_one(number) for number in range(NETWORKS)]
    gaps, masses = zip(*found, strict=True)
    return np.array(gaps), np.array(masses)


def _of_one(number: int) -> tuple[Floats, Floats]:
    rng = stream(11, number)
    dag = random_dag(NODES, rng)
    network = bn.BayesNet.random_tables(dag, rng.integers(2, 4, NODES), rng)
    rows, test = network.sample(SIZES[-1], rng), network.sample(FRESH, rng)
    truth, gaps, masses = network.log_likelihood(test).mean(), [], []
    for m in SIZES:
        data = rows.prefix(m)
        table = bn.score_families(data, BDEU, max_parents=MAX_PARENTS)
        posterior = bn.dag_posterior(table)
        best = bn.k_best_dags(table, BEST).as_draws(log_z=posterior.log_z)
        averages = (
            bn.sample_dags(posterior, draws=DRAWS, rng=rng),
            bn.sample_dags(bn.order_posterior(table), draws=DRAWS, rng=rng),
            best,
        )
        plug_ins = (bn.map_dag(table).dags[0], bn.chow_liu(data), dag)
        density, one = bn.predict.log_density, bn.predict.plug_in_log_density
        found = [density(each, data, test, score=BDEU) for each in averages]
        found += [one(each, data, test, score=BDEU) for each in plug_ins]
        gaps.append([truth - each.mean() for each in found])
        masses.append(best.stats["mass"][0])
    return np.array(gaps), np.array(masses)


DATASETS = ("coronary", "tic_tac_toe", "wine")
FACTORS = (3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
CLIMBS = 200
LISTED = 2000
MARGIN = 1e-9  # nats
STOPS = (100, 300, 1000, 3000, 10_000, 30_000)
CHAINS = 8


@cache
def case(name: str) -> tuple[bn.ScoreTable, bn.DagPosterior]:
    """Return the scores and the exact structure-modular posterior of one of DATASETS."""
    table = bn.score_families(bn.load_dataset(name), BDEU, max_parents=MAX_PARENTS)
    return table, bn.dag_posterior(table)


class Window(NamedTuple):
    """An Occam's window: how many DAGs, and their posterior probability, found and in truth."""

    found: int
    mass: float
    exact: int
    exact_mass: float


def window(name: str, factor: float, /) -> Window:
    """Return Occam's window by beam search from 200 climbs, and by the k best DAGs."""
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
def windows() -> dict[str, list[Window]]:
    """Return Occam's window of each factor, by data set."""
    return {name: [window(name, factor) for factor in FACTORS] for name in DATASETS}


@cache
def best(name: str) -> bn.BestDags:
    """Return the 2,000 best DAGs of one of DATASETS: more than any window here holds."""
    return bn.k_best_dags(case(name)[0], LISTED)


@cache
def errors(name: str, /, chains: int = CHAINS) -> dict[str, Floats]:
    """Return SAD (chains, STOPS) of edges after local moves: visits counted, or DAGs weighed."""
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
