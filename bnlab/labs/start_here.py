"""The widget and the checks of notebooks/00_start_here.ipynb.

One data set, one slider: how the posterior over all DAGs moves as rows are added.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np

import bnlab as bn
from bnlab import graphs, plots
from bnlab.checks import Bools, Floats, Ints
from bnlab.labs import board
from bnlab.labs.board import Case, Told, exercise, offer, rows, setup as setup, size_slider, stops
from bnlab.labs.predict import predict as predict, review as review
from bnlab.labs.view import Board, View

Edge = tuple[int, int]
Dag = frozenset[Edge]

DATASETS = ("coronary", "tic_tac_toe", "wine", "iris")
SEED = 2016
MANY = 14
ROOM = (260, 340, 290), (340, 420, 390)
"""Pixels for matrix, network and bars: all beside each other; of many variables."""

STEPS = (0, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)

posterior = board.dag_posterior


@cache
def table(case: Case) -> bn.Data:
    """Return a data set, shuffled: its first m rows are a random sample; or a table as it is."""
    rng = np.random.default_rng(SEED)
    if case == "cancer (simulated)":
        return bn.load_network("cancer").sample(2000, rng)
    return rows(case).shuffled(rng) if isinstance(case, str) else case


class Explorer(View):
    """Heat map, network and most probable paths of a table, with a slider for the rows used.

    Parameters
    ----------
    data : a table of your own; without it, a list of known data sets stands over the slider
    """

    def __init__(self, data: bn.Data | None = None) -> None:
        dataset = board.dataset_choice(DATASETS, data)
        for each in map(table, DATASETS if data is None else (data,)):  # so that the list answers
            _places(each)
        m, n = table(dataset.value).values.shape
        self._room = ROOM[n >= MANY]  # of all data sets: resizing is slow
        super().__init__(dataset=dataset, size=size_slider("rows used", stops(STEPS, m), m))

    def settle(self, moved: str) -> None:
        """Offer the rows of another data set."""
        if moved == "dataset":
            m = table(self.controls["dataset"].value).m
            offer(self.controls["size"], stops(STEPS, m), m)

    def draw(self, dataset: Case, size: int) -> Board:
        """The posterior given the first rows, at the places that all rows give the network."""
        data = table(dataset)
        side, net, bars = self._room
        exact, names = posterior(data, size), data.names
        edges = exact.edges
        u, v = np.unravel_index(np.argmax(edges), edges.shape)
        drawn = plots.network(edges, names, _places(data), width=net)
        return {
            "heat": (
                plots.heat_map(edges, names, side=side),
                f"{size:,} of {data.m:,} rows. Most probable edge: {names[u]} → {names[v]}, "
                f"{edges[u, v]:.2f}.",
            ),
            "net": (drawn, "Positions are those of the full table; edges below 0.1 are left out."),
            "bars": (
                plots.path_bars(exact.ancestors, edges, names, width=bars),
                "A path follows its edges in their direction; all its routes count.",
            ),
        }


@cache
def _places(data: bn.Data) -> Floats:
    return plots.network_positions(posterior(data, data.m).edges)


@exercise(properties=4)
def check_edge_table(function: Callable[[Counter[Dag]], Any]) -> Told:
    """Exercise 1: `function(weight)` has the probability of u -> v in row u and column v."""
    weight: Counter[Dag] = Counter({frozenset(): 4, frozenset({(0, 1)}): 2})
    weight[frozenset({(1, 0), (1, 2)})] = 1
    yield "return an array with three rows and three columns"
    table = np.asarray(function(weight.copy()), float)
    yield table.shape == (3, 3)
    yield "with weights 4 (no edge), 2 (0 -> 1) and 1 (1 -> 0 and 1 -> 2), 0 -> 1 has 2/7: it "
    yield "stands in row 0 and column 1"
    yield np.isclose(table[0, 1], 2 / 7)
    yield "a DAG counts for each of its edges, and for no other: here 1 -> 0 and 1 -> 2 have 1/7, "
    yield "the others 0"
    yield np.allclose(7 * table, [[0, 2, 0], [1, 0, 1], [0, 0, 0]])
    yield "only shares count: twice the weight everywhere gives the same probabilities"
    yield np.allclose(function(weight + weight), table)


@exercise(properties=4)
def check_through(function: Callable[[Ints, int, int, int], Any]) -> Told:
    """Exercise 2: `function(dags, u, w, v)` says which DAGs have a path from u through w to v."""
    dags = graphs.all_dags(4)

    def result(u: int, w: int, v: int) -> Bools:
        return np.asarray(function(dags.copy(), u, w, v), bool)

    reach = graphs.to_adjacency(graphs.ancestors(dags))
    chain = np.array([[0, 1, 2, 0]])
    yield "return one truth value for each DAG"
    yield result(0, 1, 2).shape == (len(dags),)
    yield "in the DAG 0 -> 1 -> 2 (masks 0, 1, 2, 0) node 0 reaches 2 through 1"
    yield bool(np.asarray(function(chain, 0, 1, 2)).all())
    yield "a path through w has two parts, u to w and w to v, so no DAG has a path 0 to 2 "
    yield "through 1 together with one 2 to 0 through 1"
    yield not np.any(result(0, 1, 2) & result(2, 1, 0))
    yield "parts may be longer than one edge, and other routes from u to v do no harm: "
    yield "your answer differs from a search of every DAG on 4 nodes"
    yield np.array_equal(result(0, 1, 2), reach[:, 0, 1] & reach[:, 1, 2])


@exercise(properties=4)
def check_direction(rows: Sequence[Iterable[int]]) -> Told:
    """Exercise 3: a table of at most 300 rows, with noise, that shows the direction of an edge."""
    yield "rows is a list of at least 1 and at most 300 rows with 3 numbers each, all 0 or 1"
    yield 1 <= len(rows) <= 300 and {*map(tuple, rows)} <= {*product((0, 1), repeat=3)}
    yield "no two columns may determine the third: some two rows differ in it alone"
    kinds = {*map(tuple, rows)}
    yield all(len({row[:i] + row[i + 1 :] for row in kinds}) < len(kinds) for i in range(3))
    yield "some two variables should be neighbours with probability above 0.9: does it show which "
    yield "column depends on the other two?"
    data = bn.Data.from_arrays([list(row) for row in rows], names=("a", "b", "c"))
    edges = posterior(data, data.m).edges
    yield (edges + edges.T).max() > 0.9
    yield "some edge should have probability above 0.9: two neighbours alone never show a "
    yield "direction, so think of what three variables can do that two cannot"
    yield edges.max() > 0.9
