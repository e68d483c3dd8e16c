"""The widget and the checks of notebooks/00_start_here.ipynb.

One data set, one slider: how the posterior over all DAGs moves as rows are added.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab import graphs, plots
from bnlab.labs.board import Panel, check, choice, setup, side_by_side, size_slider, stacked

__all__ = [
    "DATASETS",
    "Answer",
    "Explorer",
    "answer",
    "check_adjacent",
    "check_direction",
    "check_through",
    "setup",
    "sizes",
    "table",
]

DATASETS = ("coronary", "tic_tac_toe", "wine", "iris", "cancer (simulated)")
"""The data sets of the widget; all of them work without a network."""

SEED = 2016
MAX_PARENTS = 3
DRAWS = 2000
DELTA = 0.05
SIMULATED_ROWS = 2000
STEPS = (0, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)

Floats = NDArray[np.float64]
Masks = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Answer:
    """What the widget shows for one table.

    Attributes
    ----------
    names : the n variable names
    rows : number of rows used
    edges : (n, n) exact posterior probability of u -> v
    paths : (n, n) posterior probability of a directed path u ~> v, estimated from DAGs drawn
    margin : half width of the interval around each path probability (Hoeffding)
    """

    names: tuple[str, ...]
    rows: int
    edges: Floats
    paths: Floats
    margin: float


def table(name: str) -> bn.Data:
    """One of `DATASETS`, its rows shuffled with a fixed seed, so that its first m rows are a
    random sample that grows as m does.

    Examples
    --------
    >>> table("tic_tac_toe").m
    958
    """
    rng = np.random.default_rng(SEED)
    if name == "cancer (simulated)":
        return bn.load_network("cancer").sample(SIMULATED_ROWS, rng)
    return bn.load_dataset(name).shuffled(rng)


def sizes(m: int) -> tuple[int, ...]:
    """Stops of the data-size slider for a table of m rows, 0 and m among them.

    Examples
    --------
    >>> sizes(178)
    (0, 10, 20, 50, 100, 178)
    """
    return (*(step for step in STEPS if step < m), m)


def answer(data: bn.Data, rows: int) -> Answer:
    """The posterior given the first `rows` rows of `data`.

    BDeu score with equivalent sample size 1, at most 3 parents, the order-modular prior; 2,000
    DAGs are drawn for the paths, always with the same seed.
    """
    score_table = bn.score_families(data.prefix(rows), bn.BDeu(1.0), max_parents=MAX_PARENTS)
    posterior = bn.order_posterior(score_table)
    draws = bn.sample_dags(posterior, draws=DRAWS, rng=np.random.default_rng(SEED))
    return Answer(
        names=data.names,
        rows=rows,
        edges=posterior.edges,
        paths=bn.features.paths(draws),
        margin=bn.hoeffding_margin(DRAWS, DELTA),
    )


class Explorer:
    """Heat map, network and most probable paths of a table, with a slider for the rows used.

    Parameters
    ----------
    data
        A table of your own; without it, a list of known data sets stands over the slider.

    Attributes
    ----------
    widget : what to display
    size : the slider; `size.value` is the number of rows
    dataset : the list of data sets, or None
    shown : the `Answer` on display
    heat, net, bars : the three `Panel`s, with sources "edges", "links" and "paths"
    """

    def __init__(self, data: bn.Data | None = None) -> None:
        self.dataset = None if data is not None else choice("data set", DATASETS)
        self._data = table(DATASETS[0]) if data is None else data
        self.size = size_slider("rows used", sizes(self._data.m), self._data.m)
        self.shown = answer(self._data, self._data.m)
        self._places = plots.network_positions(self.shown.edges)
        self.heat, self.net, self.bars = (
            Panel(picture, caption)
            for picture, caption in zip(self._pictures(), self._captions(), strict=True)
        )
        controls = [self.size]
        if self.dataset is not None:
            controls.insert(0, self.dataset)
            self.dataset.observe(self._change_data, "value")
        self.size.observe(self._change_size, "value")
        self.widget = stacked(side_by_side(*controls), side_by_side(self.heat, self.net, self.bars))

    def _change_size(self, change: Any) -> None:
        self.shown = now = answer(self._data, change["new"])
        captions = self._captions()
        self.heat.update(captions[0], edges=plots.heat_map_data(now.edges, now.names))
        links = plots.network_data(now.edges, now.names, self._places)
        self.net.update(captions[1], links=links)
        bars = plots.path_bars_data(now.paths, now.edges, now.names, margin=now.margin)
        self.bars.update(captions[2], paths=bars)

    def _change_data(self, change: Any) -> None:
        self._data = table(change["new"])
        self.size.unobserve(self._change_size, "value")
        self.size.options = [(f"{size:,}", size) for size in sizes(self._data.m)]
        self.size.value = self._data.m
        self.size.observe(self._change_size, "value")
        self.shown = answer(self._data, self._data.m)
        self._places = plots.network_positions(self.shown.edges)
        panels = (self.heat, self.net, self.bars)
        for panel, picture, caption in zip(panels, self._pictures(), self._captions(), strict=True):
            panel.show(picture, caption)

    def _pictures(self) -> tuple[Any, Any, Any]:
        now = self.shown
        return (
            plots.heat_map(now.edges, now.names),
            plots.network(now.edges, now.names, self._places),
            plots.path_bars(now.paths, now.edges, now.names, margin=now.margin),
        )

    def _captions(self) -> tuple[str, str, str]:
        now = self.shown
        u, v = np.unravel_index(np.argmax(now.edges), now.edges.shape)
        return (
            f"{now.rows:,} of {self._data.m:,} rows. Most probable edge: "
            f"{now.names[u]} → {now.names[v]}, {now.edges[u, v]:.2f}.",
            "Positions are those of the full table; edges below 0.1 are left out.",
            f"Means over {DRAWS:,} DAGs drawn from the posterior; each whisker holds the exact "
            f"value with probability {1 - DELTA:.2f}.",
        )


def check_adjacent(function: Callable[[Floats], Floats]) -> bool:
    """Exercise 1: `function(edges)` is the probability that two variables are neighbours."""
    edges = answer(table("coronary"), 200).edges
    one = np.array([[0.0, 0.6], [0.3, 0.0]])

    def result(matrix: Floats) -> Floats:
        return np.asarray(function(matrix.copy()), np.float64)

    return check(
        "Exercise 1",
        ("return a matrix of the shape of edges", lambda: result(edges).shape == edges.shape),
        (
            "who is neighbour of whom does not depend on the direction: the matrix is symmetric",
            lambda: np.allclose(result(edges), result(edges).T),
        ),
        (
            "an edge u -> v makes u and v neighbours, so the answer is never below edges",
            lambda: np.all(result(edges) >= edges - 1e-12),
        ),
        (
            "one DAG never has both u -> v and v -> u, so the two probabilities "
            "of [[0, 0.6], [0.3, 0]] add",
            lambda: np.allclose(result(one), [[0, 0.9], [0.9, 0]]),
        ),
    )


def check_through(function: Callable[[Masks, int, int, int], Any]) -> bool:
    """Exercise 2: `function(dags, u, w, v)` says which DAGs have a path from u through w to v."""
    dags = graphs.all_dags(4)

    def result(u: int, w: int, v: int) -> NDArray[np.bool_]:
        return np.asarray(function(dags.copy(), u, w, v), bool)

    def reachable(dag: Masks, start: int) -> set[int]:
        found: set[int] = set()
        new = {start}
        while new:
            new = {v for v in range(len(dag)) for u in new if (int(dag[v]) >> u) & 1} - found
            found |= new
        return found

    truth = np.array([1 in reachable(dag, 0) and 2 in reachable(dag, 1) for dag in dags])
    chain = np.array([[0, 1, 2, 0]])
    return check(
        "Exercise 2",
        ("return one truth value a DAG", lambda: result(0, 1, 2).shape == (len(dags),)),
        (
            "in the DAG 0 -> 1 -> 2 (masks 0, 1, 2, 0) node 0 reaches 2 through 1",
            lambda: bool(np.asarray(function(chain, 0, 1, 2)).all()),
        ),
        (
            "a path through w has two parts, u to w and w to v, so no DAG has a path 0 to 2 "
            "through 1 together with one 2 to 0 through 1",
            lambda: not np.any(result(0, 1, 2) & result(2, 1, 0)),
        ),
        (
            "parts may be longer than one edge, and other routes from u to v do no harm: "
            "your answer differs from a search of every DAG on 4 nodes",
            lambda: np.array_equal(result(0, 1, 2), truth),
        ),
    )


def check_direction(rows: Sequence[Iterable[int]]) -> bool:
    """Exercise 3: a table of at most 100 rows that makes the direction of an edge sure."""

    def edges() -> Floats:
        data = bn.Data.from_arrays([list(row) for row in rows], names=("a", "b", "c"))
        return answer(data, data.m).edges

    return check(
        "Exercise 3",
        (
            "rows is a list of at least 1 and at most 100 rows with 3 whole numbers each",
            lambda: 1 <= len(rows) <= 100 and all(len(list(row)) == 3 for row in rows),
        ),
        (
            "each number is 0 or 1",
            lambda: all(value in (0, 1) for row in rows for value in row),
        ),
        (
            "some two variables should be neighbours with probability above 0.9: let one column "
            "depend on the others",
            lambda: (edges() + edges().T).max() > 0.9,
        ),
        (
            "some edge should have probability above 0.9: two neighbours alone never show a "
            "direction, so think of what three variables can do that two cannot",
            lambda: edges().max() > 0.9,
        ),
    )
