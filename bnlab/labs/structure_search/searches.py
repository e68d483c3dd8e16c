"""Searches compared: on one clock, by whether they find the best, by how near the truth they end.

On the clock a search is a row of climbs. The plain climb from the empty network comes first in all
of them.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np

import bnlab as bn
from bnlab import plots
from bnlab.checks import Bools, Floats, Ints
from bnlab.labs.board import DATASETS, Case, dataset_choice, size_slider, step_slider, title
from bnlab.labs.structure_search.surface import MARGIN, SEED, best, data, scored, table
from bnlab.labs.view import Board, Experiment, Progress, View

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

RUNS = 10
RESTARTS = 50
FEW_TABU = 10
STEPS = 250
CHILD = "child, 15 nodes"

SOUGHT = (*DATASETS[1:], CHILD)
"""Where the best network is sought: wine, tic-tac-toe, and 15 of the 20 nodes of child."""

Finder = Callable[[bn.ScoreTable, np.random.Generator], float]

NODES = 7
MOST_RANDOM_PARENTS = 3
ROWS = (100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)
TWENTY = "20 random networks"

NETWORKS: Mapping[str, int] = MappingProxyType({TWENTY: 20, "asia": 5, "survey": 5})
"""Network -> number of data sets; all of them work without a download."""

OWN_SETS = 5

Net = str | bn.BayesNet
"""One of `NETWORKS`, or a network of your own."""

TIMES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)  # seconds
SOME_CHANGES = (2, 4, 8, 16, 32)
RECOVERED = ("hill climbing", "GES")
FIRST_DRAWN = 12


def apart(first: Bools, second: Bools, /) -> int:
    """Structural Hamming distance of two CPDAGs (n, n): pairs of nodes joined in another way."""
    other = first != second
    return int(np.triu(other | other.T).sum())


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


class Clock(Experiment):
    """Four ways out of local optima: the share of searches that are there, against time.

    Controls `dataset` and `changes` to the perturbed network; panel `panel`; `found` is method ->
    (seconds until the best network, seconds in all) of each search.

    Parameters
    ----------
    data : a table of your own, in the place of the data sets
    climbs : method -> climbs of a search
    searches : of each method
    """

    def __init__(
        self,
        data: bn.Data | None = None,
        *,
        climbs: Mapping[str, int] = CLIMBS,
        searches: int = SEARCHES,
    ) -> None:
        self._climbs, self._searches = climbs, searches
        super().__init__(
            dataset=dataset_choice(DATASETS, data, "tic-tac-toe"),
            changes=size_slider("changes to a perturbed network", SOME_CHANGES, CHANGES),
            nothing={method: [] for method in climbs},
            unit="searches by each method",
        )

    def compute(self, progress: Progress, /, dataset: Case, changes: int) -> Found:
        """Return the times of searches by every method in turn.

        The seconds until the best network are the search's own, in proportion to its climbs.
        """
        found: Found = {method: [] for method in self._climbs}
        rngs = np.random.default_rng(SEED).spawn(self._searches)
        for done, rng in enumerate(rngs, start=1):
            for method, count in self._climbs.items():
                climb = search(dataset, method, count, rng.spawn(1)[0], changes=changes)
                share = first_hit(dataset, climb) / len(climb.ends)
                times = share * climb.run.seconds, climb.run.seconds
                found = {**found, method: [*found[method], times]}
            if not progress(done, self._searches, found):
                break
        return found

    def draw(self, found: Found, dataset: Case, changes: int) -> Board:
        """The share of searches that are at the exact best by each time."""
        by, runs = shares(found, TIMES), len(next(iter(found.values())))
        picture = plots.time_curves(
            {method: {"": (TIMES, by[method])} for method in self._climbs},
            y_label="share of searches at the best network",
            y_range=(-0.03, 1.03),
            x_label="time of the search (seconds)",
            name="reached",
            title="Who has reached the exact best by when",
            alt="Share of searches that have reached the best network against time, four methods",
        )
        caption = f"Press Run: {self._searches} searches by each method, one after the other."
        if runs:
            rates = [
                f"{method} {1e3 * np.median([end for _, end in done]) / self._climbs[method]:.2g}"
                for method, done in found.items()
            ]
            caption = (
                f"{title(dataset)}, {runs} searches. Milliseconds a climb: {', '.join(rates)}."
            )
        return {"panel": (picture, caption)}


class Recovery(View):
    """How far searches end from the class of a known network, as rows are added.

    Controls `network`, `rows` and `which`, the number of the data set drawn; panels `curves` and
    `gallery`.

    Parameters
    ----------
    net : a network of your own, in the place of those on the list
    """

    beside = (("curves",), ("gallery",))

    def __init__(self, net: bn.BayesNet | None = None) -> None:
        network = dataset_choice(list(NETWORKS), net, label="network")
        for each in NETWORKS if net is None else (net,):  # now, so that controls answer at once
            distances(each)
        count = len(truths(network.value))
        which = step_slider("data set drawn", min(FIRST_DRAWN, count), 1, count, "300px")
        super().__init__(network=network, rows=size_slider("rows", ROWS, ROWS[-1]), which=which)

    def settle(self, moved: str) -> None:
        """Offer the data sets of another network."""
        if moved == "network":
            self.controls["which"].max = len(truths(self.controls["network"].value))

    def draw(self, network: str | bn.BayesNet, rows: int, which: int) -> Board:
        """Mean distances of the classes, and those found in one data set."""
        off, net = distances(network), truths(network)[which - 1]
        true, dags = bn.graphs.cpdag(net.dag), found_dags(network, which - 1, rows)
        others = {search: bn.graphs.cpdag(dags[search]) for search in RECOVERED}
        graphs = np.array([true, *others.values()])
        curves = plots.time_curves(
            {search: {"": (ROWS, values.mean(axis=0))} for search, values in off.items()},
            y_label="pairs joined in another way (mean)",
            y_range=(-0.3, 9.3),
            x_label="rows",
            name="distance",
            title="Distance of the class found from the true one",
            alt="Mean structural Hamming distance of four searches against the number of rows",
        )
        gallery = plots.graph_gallery(
            graphs,
            [label if len(label) <= 8 else label[:7] + "…" for label in net.names],
            [
                "the true class",
                *(f"{name}: {apart(g, true)} off" for name, g in others.items()),
            ],
            graphs != true,
            across=3,
            title=f"Data set {which}, {rows:,} rows (marked: not as in the true class)",
            alt="The true class and those found by hill climbing and GES, differences marked",
        )
        means = [f"{search} {d[:, ROWS.index(rows)].mean():.2f}" for search, d in off.items()]
        named = network if isinstance(network, str) else "your network"
        return {
            "curves": (curves, f"{named}: mean of {len(truths(network))} data sets."),
            "gallery": (gallery, f"Mean of all data sets at these rows: {', '.join(means)}."),
        }
