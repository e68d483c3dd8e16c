"""One DAG, a class or an average; what priors do inside a class, and beliefs about T-cells."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

import bnlab as bn
from bnlab import graphs
from bnlab.checks import Bools, Floats, Ints
from bnlab.linear_extensions import log_count
from bnlab.papers.em2007.cases import child
from bnlab.papers.em2007.study import PROTEINS, areas, cell_network
from bnlab.papers.page import chain, normalised, random_dag, stored
from bnlab.papers.stat521a.search import BDEU, MAX_PARENTS, stream

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
    return np.array([areas(dags, network.dag, weights, directed=True) for dags, weights in sets])


def discovered() -> Floats:
    """Return the kept areas, (sizes, data sets, METHODS, KINDS)."""
    return stored("stat521a")["child areas"].astype(np.float64)


NODES = 7
LOSS_SIZES = (20, 50, 100, 200, 500, 1000, 2000)
NETWORKS = 20
FRESH = 2000
DRAWS = 1000
BEST = 100
WAYS = ("DAGs", "orders", f"{BEST} best", "MAP", "Chow-Liu tree", "true structure")


@cache
def losses() -> tuple[Floats, Floats]:
    """Return KL(true || predicted), nats, (networks, sizes, WAYS), and masses of the 100 best."""
    found = [_of_one(number) for number in range(NETWORKS)]
    gaps, masses = zip(*found, strict=True)
    return np.array(gaps), np.array(masses)


def _of_one(number: int) -> tuple[Floats, Floats]:
    rng = stream(11, number)
    dag = random_dag(NODES, rng)
    network = bn.BayesNet.random_tables(dag, rng.integers(2, 4, NODES), rng)
    rows, test = network.sample(LOSS_SIZES[-1], rng), network.sample(FRESH, rng)
    truth, gaps, masses = network.log_likelihood(test).mean(), [], []
    for m in LOSS_SIZES:
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
    log_sums = [np.logaddexp.reduce(part) for part in (found.log_target, inside)]
    mass, exact_mass = np.exp(np.array(log_sums) - posterior.log_z).tolist()
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


Class = tuple[tuple[bool, ...], ...]

CLASS_SIZES = (10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)
DATA_SETS = 10


@cache
def everything() -> tuple[Ints, Floats]:
    """Return all DAGs of five nodes (29281, 5), and ln of the number of orders of each."""
    dags = graphs.all_dags(5)
    return dags, log_count(dags)


@cache
def true_class() -> Ints:
    """Return which of them are equivalent to the cancer network, by the number of their orders."""
    dags, log_orders = everything()
    found = np.flatnonzero(graphs.markov_equivalent(bn.load_network("cancer").dag, dags))
    return np.asarray(found[np.argsort(log_orders[found], kind="stable")])


def orders() -> list[int]:
    """Return the number of orders of each member of the true class."""
    return [int(count) for count in np.exp(everything()[1][true_class()]).round()]


class Bias(NamedTuple):
    """Exact posteriors of one data set, by sums over all DAGs; the last axis is the members."""

    alike: Floats  # (sizes, 4), p(G | D) of each member of the true class, each DAG alike
    modular: Floats  # (sizes, 4), the same under the order-modular prior
    sad: Floats  # (sizes,), edge probabilities of one from those of the other


def bias(number: int, /) -> Bias:
    """Return the posteriors for growing parts of data set `number` of the cancer network."""
    rows = bn.load_network("cancer").sample(CLASS_SIZES[-1], stream(1, number))
    dags, log_orders = everything()
    edges, members, found = graphs.to_adjacency(dags), true_class(), []
    for m in CLASS_SIZES:
        log_p = bn.score_families(rows.prefix(m), BDEU, max_parents=4).log_target(dags)
        alike, modular = normalised(log_p), normalised(log_p + log_orders)
        sad = np.abs(np.tensordot(alike - modular, edges, axes=1)).sum()
        found.append((alike[members], modular[members], sad))
    return Bias(*(np.array(part) for part in zip(*found, strict=True)))


@cache
def biases() -> Bias:
    """Return the means over data sets."""
    found = [bias(number) for number in range(DATA_SETS)]
    return Bias(*(np.mean(part, axis=0) for part in zip(*found, strict=True)))


def limits() -> tuple[Floats, float]:
    """Return shares of the members (4,) as rows grow without end, and the SAD of the edges then."""
    dags, log_orders = everything()
    members = true_class()
    shares = normalised(log_orders[members])
    edges = graphs.to_adjacency(dags[members])
    return shares, float(np.abs(np.tensordot(shares - 1 / len(shares), edges, axes=1)).sum())


def neighbours(dags: ArrayLike, /) -> set[Class]:
    """Return the classes, as CPDAGs, of DAGs that differ from DAGs (k, n) by one edge."""
    near = []
    for dag in np.asarray(dags, np.int64):
        for u, v in np.argwhere(~np.eye(dag.size, dtype=bool)):
            other = dag.copy()
            other[v] ^= np.int64(1) << u
            if other[v] < dag[v] or not graphs.ancestors(dag)[u] >> v & 1:
                near.append(other)
    matrices = np.unique(graphs.cpdag(np.array(near)), axis=0)
    return {tuple(map(tuple, matrix.tolist())) for matrix in matrices}


def missed(n: int, /) -> tuple[float, float, int]:
    """Return mean and largest share of neighbouring classes that one member misses, and classes."""
    dags = graphs.all_dags(n)
    _, which = np.unique(graphs.cpdag(dags).reshape(len(dags), -1), axis=0, return_inverse=True)
    shares = []
    for c in range(which.max() + 1):
        members = dags[which == c]
        shares.append(1 - len(neighbours(members[:1])) / len(neighbours(members)))
    return float(np.mean(shares)), max(shares), len(shares)


N = 11
SIZES = (90, 270, 900, 5400)
SHOWN = (90, 5400)
SUBSETS = 20
STRENGTHS = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
SOURCES = ("the literature", "one word in five wrong", "names mixed up")
BELIEVED, DOUBTED = 0.9, 0.1
WRONG = 0.2


@cache
def truth() -> Bools:
    """Return the 17 edges that biologists agree on, (11, 11)."""
    return graphs.to_adjacency(cell_network())


def beliefs(source: str, /) -> Floats:
    """Return degrees of belief in each edge (11, 11): 0.9 where a source names it, else 0.1.

    The literature names `truth()`; the second source has one pair in five wrong, at random; the
    third has the edges of the literature between proteins whose names are mixed up.
    """
    if source not in SOURCES:
        raise ValueError(f"no source {source!r}; there are {', '.join(SOURCES)}")
    named, rng = truth(), stream(7)
    wrong = rng.random((N, N)) < WRONG
    mixed = rng.permutation(N)
    if source == SOURCES[1]:
        named = named ^ wrong
    elif source == SOURCES[2]:
        named = named[np.ix_(mixed, mixed)]
    out = np.where(named, BELIEVED, DOUBTED)
    np.fill_diagonal(out, 0.0)
    return out


def table(m: int, /, prior: bn.Prior | None = None) -> bn.ScoreTable:
    """Return stored BDeu scores of one of SHOWN numbers of rows, with a prior."""
    return with_prior(stored("stat521a")[f"cells {m}"], prior)


def with_prior(log_score: Floats, prior: bn.Prior | None = None, /) -> bn.ScoreTable:
    """Return scores (11, F) of families of up to three parents as a table with a prior."""
    nothing = bn.Data.from_arrays(np.zeros((0, N), np.int32), arities=[3] * N, names=PROTEINS)
    chosen = bn.Uniform() if prior is None else prior
    blank = bn.score_families(nothing, BDEU, max_parents=MAX_PARENTS, prior=chosen)
    return replace(blank, log_score=log_score)


def edges(m: int, /, strength: float = 4.0) -> dict[str, Floats]:
    """Return exact edge probabilities under four priors, label -> (11, 11)."""
    out = {
        "each DAG alike": bn.dag_posterior(table(m)).edges,
        "order-modular": bn.order_posterior(table(m)).edges,
    }
    for source in (SOURCES[0], SOURCES[2]):
        informed = table(m, bn.EdgeBeliefs(beliefs(source), strength))
        out[source] = bn.dag_posterior(informed).edges
    return out


def subsets() -> Mapping[str, Floats]:
    """Return what 20 subsets of the rows give, of each of SIZES but the last.

    "areas" and "evidence" are (sizes, subsets, sources, strengths), "alike" and "orders" (sizes,
    subsets) areas under the two priors that know nothing.
    """
    names = ("areas", "evidence", "alike", "orders")
    return {name: stored("stat521a")[f"cells {name}"].astype(np.float64) for name in names}
