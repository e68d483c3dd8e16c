"""Best networks, searches, and known networks: what is compared.

On the clock a search is a row of climbs. The plain climb from the empty network comes first in all
of them.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

import bnlab as bn
from bnlab.checks import Bools, Floats, Ints
from bnlab.labs.board import DATASETS, Case, bdeu_table, rows

SEED = 2022
MAX_PARENTS = 3
BDEU = bn.BDeu(1.0)
MARGIN = 1e-6  # nats; scores nearer than this are one score, summed in another order
COUNTS = (1, 3, 10, 30, 100, 300, 1000)  # the k best networks
SQUARES = ("a3", "b3", "c3", "a2", "b2", "c2", "a1", "b1", "c1", "won")


data, table = rows, bdeu_table
"""As the lab calls them: all rows of a case, and its BDeu scores with up to three parents."""


def scored(chosen: bn.Data, score: bn.Score = BDEU, /) -> bn.ScoreTable:
    """The scores of families of up to three parents, BDeu with ess 1 by default; each DAG alike."""
    return bn.score_families(chosen, score, max_parents=MAX_PARENTS)


@cache
def best(case: Case) -> bn.BestDags:
    """The network of highest score of a case, by the exact dynamic program."""
    return bn.map_dag(table(case))


def below(case: Case, log_target: float, /) -> float:
    """How many nats a score is below the best there is; 0 within rounding."""
    gap = float(best(case).log_target[0] - log_target)
    return gap if gap > MARGIN else 0.0


def names(case: Case, /) -> tuple[str, ...]:
    """Return the names of the variables, squares of the board as in chess."""
    return SQUARES if case == "tic-tac-toe" else data(case).names


@cache
def classes(case: Case, first: int = 4) -> tuple[Floats, tuple[Ints, ...]]:
    """The Markov equivalence classes of the first variables, best first: scores and members.

    Returns
    -------
    tuple
        (C,) nats, and C arrays (members, n).
    """
    few = data(case).select(data(case).names[:first])
    dags = bn.graphs.all_dags(first)
    log_target = bn.score_families(few, bn.BDeu(1.0)).log_target(dags)
    _, number = np.unique(bn.graphs.cpdag(dags), axis=0, return_inverse=True)
    groups = [np.flatnonzero(number == c) for c in range(number.max() + 1)]
    groups.sort(key=lambda group: (-round(float(log_target[group[0]]), 6), group[0]))
    return log_target[[group[0] for group in groups]], tuple(dags[group] for group in groups)


def apart(first: Bools, second: Bools, /) -> int:
    """Structural Hamming distance of two CPDAGs (n, n): pairs of nodes joined in another way."""
    other = first != second
    return int(np.triu(other | other.T).sum())


class Average(NamedTuple):
    """An average over the k best networks."""

    edges: Floats  # (n, n) probabilities
    mass: float  # the posterior probability of the k networks together
    classes: int  # how many Markov equivalence classes they are of


@cache
def exact(case: Case) -> bn.DagPosterior:
    """The exact structure-modular posterior of a case."""
    return bn.dag_posterior(table(case))


@cache
def _listed(case: Case) -> bn.BestDags:
    return bn.k_best_dags(table(case), COUNTS[-1])


@cache
def average(case: Case, k: int) -> Average:
    """The k best networks of a case, weighed by their probabilities."""
    first = _first(_listed(case), k)
    draws = first.as_draws(log_z=exact(case).log_z)
    edges: Floats = bn.features.edges(draws)
    return Average(edges, float(draws.stats["mass"][0]), count_classes(first.dags))


def count_classes(dags: Ints, /) -> int:
    """How many Markov equivalence classes DAGs (k, n) are of."""
    return len(np.unique(bn.graphs.cpdag(dags), axis=0))


def close_calls(case: Case, score: bn.Score, factor: float = 3.0, most: int = 250) -> bn.BestDags:
    """All DAGs within a Bayes factor of the best one, under a score of a case.

    Raises
    ------
    ValueError
        If there are more than `most`.
    """
    listed = bn.k_best_dags(scored(data(case), score), most)
    count = int((listed.log_target > listed.log_target[0] - np.log(factor)).sum())
    if count == most:
        raise ValueError(f"more than {most} DAGs within a factor of {factor:g}: raise most")
    return _first(listed, count)


def _first(listed: bn.BestDags, count: int) -> bn.BestDags:
    columns = ("dags", "log_target", "log_weight")
    return replace(listed, **{name: getattr(listed, name)[:count] for name in columns})


TABU = 20
CHANGES = 16
SEARCHES = 20
CLIMBS: Mapping[str, int] = MappingProxyType(
    {"restarts": 400, "tabu, restarts": 200, "perturbed DAG": 600, "perturbed data": 60}
)
"""Climbs of a search on the clock: about a tenth of a second each."""

METHODS = tuple(CLIMBS)

Found = dict[str, list[tuple[float, float]]]
"""Method -> (seconds until the best network, inf if never; seconds in all) of each search."""


def search(
    case: Case, method: str, climbs: int, rng: np.random.Generator, *, changes: int = CHANGES
) -> bn.Climb:
    """So many climbs on a data set by one of `METHODS`, in one thread.

    A "perturbed DAG" has so many random `changes` from the best network so far.
    """
    if method == "perturbed data":
        return bn.climb_perturbed(
            table(case),
            lambda share, rng: scored(bn.resampled(data(case), share, rng=rng)),
            rounds=max(1, climbs - 1),
            rng=rng,
        )
    with ThreadPoolExecutor(1) as one:
        return bn.hill_climb(
            table(case),
            restarts=climbs - 1,
            tabu=TABU if method == "tabu, restarts" else 0,
            perturb=changes if method == "perturbed DAG" else None,
            rng=rng,
            executor=one,
        )


def first_hit(case: Case, climb: bn.Climb, /) -> float:
    """The number of the first climb that ends at the highest score, from 1; inf if none does."""
    hits = np.flatnonzero(climb.log_targets > best(case).log_target[0] - MARGIN)
    return float(hits[0] + 1) if hits.size else np.inf


@cache
def climbs_needed(
    case: Case, method: str, most: int = 50, searches: int = SEARCHES, changes: int = CHANGES
) -> Floats:
    """(searches,) climbs until the best network, inf where `most` were not enough."""
    rngs = np.random.default_rng(SEED).spawn(searches)
    found = [search(case, method, most, rng, changes=changes) for rng in rngs]
    return np.array([first_hit(case, climb) for climb in found])


def shares(found: Found, stops: Sequence[float], /) -> dict[str, Floats]:
    """Method -> (stops,): the share of its searches that were there by then; nan past their end."""
    out, by = {}, np.asarray(stops)
    for method, searches in found.items():
        there, end = np.array(searches or [(np.inf, -np.inf)]).T
        out[method] = np.where(by <= np.median(end), (there[:, None] <= by).mean(axis=0), np.nan)
    return out


RUNS = 10
RESTARTS = 50
FEW_TABU = 10
STEPS = 250
CHILD = "child, 15 nodes"
SOUGHT = (*DATASETS[1:], CHILD)
"""Where the best network is sought: wine, tic-tac-toe, and 15 of the 20 nodes of child."""

Finder = Callable[[bn.ScoreTable, np.random.Generator], float]


def _climb(**options: Any) -> Finder:
    return lambda table, rng: bn.hill_climb(table, rng=rng, **options).log_target


def _window(table: bn.ScoreTable, rng: np.random.Generator) -> float:
    ends = bn.hill_climb(table, tabu=FEW_TABU, restarts=RESTARTS, rng=rng).ends
    return float(bn.occams_window(table, start=ends).log_target[0])


def _shotgun(table: bn.ScoreTable, rng: np.random.Generator) -> float:
    return float(bn.shotgun_search(table, steps=STEPS, rng=rng).log_target[0])


FINDERS: Mapping[str, Finder] = MappingProxyType(
    {
        "one climb": _climb(),
        "one tabu climb": _climb(tabu=FEW_TABU),
        "50 restarts": _climb(restarts=RESTARTS),
        "50 tabu restarts": _climb(restarts=RESTARTS, tabu=FEW_TABU),
        "50 perturbed": _climb(restarts=RESTARTS, perturb=16),
        "50 perturbed, tabu": _climb(restarts=RESTARTS, perturb=16, tabu=FEW_TABU),
        "GES": lambda table, rng: bn.ges(table).log_target,
        "window from 50 tabu": _window,
        "shotgun, 4 x 250": _shotgun,
    }
)
"""Method -> the highest score that it finds."""


@cache
def sought(case: Case) -> bn.Data:
    """The rows of one of `SOUGHT`; 1,000 of the structure of child with random tables."""
    if case != CHILD:
        return data(case)
    rng = np.random.default_rng(SEED)
    rows = bn.random_network("child", rng).sample(1000, rng)
    return rows.select(rows.names[:15])


@cache
def found_best(case: Case, runs: int = RUNS) -> Mapping[str, float]:
    """Method -> share of runs that end at the highest score there is.

    Each run has the columns in another random order, which decides ties, and a seed of its own.
    """
    rows, top = sought(case), float(bn.map_dag(scored(sought(case))).log_target[0])
    there = dict.fromkeys(FINDERS, 0)
    for rng in np.random.default_rng(SEED).spawn(runs):
        table = scored(rows.select(rng.permutation(rows.names).tolist()))
        for method, search in FINDERS.items():
            there[method] += search(table, rng) > top - MARGIN
    return MappingProxyType({method: count / runs for method, count in there.items()})


NODES = 7
MOST_RANDOM_PARENTS = 3
ROWS = (100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)
TWENTY = "20 random networks"
NETWORKS: Mapping[str, int] = MappingProxyType({TWENTY: 20, "asia": 5, "survey": 5})
"""Network -> number of data sets; all of them work without a download."""

OWN_SETS = 5

Net = str | bn.BayesNet
"""One of `NETWORKS`, or a network of your own."""


def _ended(table: bn.ScoreTable, tabu: int = 0) -> Ints:
    return bn.hill_climb(table, tabu=tabu, rng=np.random.default_rng(0)).dag


COMPARED: Mapping[str, Callable[[bn.ScoreTable], Ints]] = MappingProxyType(
    {
        "hill climbing": _ended,
        "with tabu list": lambda table: _ended(table, FEW_TABU),
        "GES": lambda table: bn.ges(table).dag,
        "exact best": lambda table: bn.map_dag(table).dags[0],
    }
)
"""Search -> a DAG of the table. The exact best is the yardstick, not a search."""


def random_dag(rng: np.random.Generator, /, n: int = NODES) -> Ints:
    """A DAG: in a random order, each node takes 0 to 3 parents from those before it."""
    order, dag = rng.permutation(n), np.zeros(n, np.int64)
    for place, v in enumerate(order):
        count = min(place, int(rng.integers(0, MOST_RANDOM_PARENTS + 1)))
        dag[v] = (np.int64(1) << rng.choice(order[:place], size=count, replace=False)).sum()
    return dag


@cache
def truths(network: Net) -> tuple[bn.BayesNet, ...]:
    """The networks behind the data sets of one of `NETWORKS`."""
    if isinstance(network, bn.BayesNet):
        return (network,) * OWN_SETS
    if network != TWENTY:
        return (bn.load_network(network),) * NETWORKS[network]
    rngs = np.random.default_rng(SEED).spawn(NETWORKS[TWENTY])
    return tuple(bn.BayesNet.random_tables(random_dag(rng), [2] * NODES, rng) for rng in rngs)


@cache
def tables(network: Net, which: int) -> tuple[bn.ScoreTable, ...]:
    """BDeu scores of the first 100, 200, ... rows of one data set, with any number of parents."""
    rows = truths(network)[which].sample(ROWS[-1], np.random.default_rng([SEED, which]))
    most = rows.n - 1  # what the guarantee of GES needs
    return tuple(bn.score_families(rows.prefix(m), bn.BDeu(1.0), max_parents=most) for m in ROWS)


@cache
def found_dags(network: Net, which: int, rows: int) -> Mapping[str, Ints]:
    """Search -> the DAG that it finds in so many rows."""
    table = tables(network, which)[ROWS.index(rows)]
    return MappingProxyType({search: run(table) for search, run in COMPARED.items()})


def _of_each(network: Net, value: Callable[[int, int, str], float]) -> Mapping[str, Floats]:
    """Return search -> (data sets, rows) values."""
    sets = range(len(truths(network)))
    return MappingProxyType(
        {
            search: np.array([[value(i, m, search) for m in ROWS] for i in sets], float)
            for search in COMPARED
        }
    )


@cache
def distances(network: Net) -> Mapping[str, Floats]:
    """Search -> (data sets, rows): structural Hamming distance of the class from the true one."""
    true = [bn.graphs.cpdag(net.dag) for net in truths(network)]
    return _of_each(
        network,
        lambda i, m, search: apart(bn.graphs.cpdag(found_dags(network, i, m)[search]), true[i]),
    )


@cache
def reached(network: Net) -> Mapping[str, Floats]:
    """Search -> (rows,): the share of data sets where it finds the highest score."""

    def there(i: int, m: int, search: str) -> bool:
        dags = found_dags(network, i, m)
        pair = [dags[search], dags["exact best"]]
        here, top = tables(network, i)[ROWS.index(m)].log_target(pair)
        return bool(here > top - MARGIN)

    hits = _of_each(network, there)
    return MappingProxyType({search: each.mean(axis=0) for search, each in hits.items()})
