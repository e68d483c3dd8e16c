"""The views and the checks of notebooks/01_bayesian_networks.ipynb.

Evidence on the nodes of a small network, and the gain of one edge as rows are added.
"""

from collections.abc import Callable, Sequence
from functools import cache
from string import ascii_letters
from typing import Any

import numpy as np

import bnlab as bn
from bnlab import graphs, plots
from bnlab.checks import Floats, Ints
from bnlab.labs.board import Told, choice, exercise, setup as setup, size_slider
from bnlab.labs.predict import predict as predict, review as review
from bnlab.labs.view import Board, View
from bnlab.scores.families import log_scores

UNKNOWN = "unknown"
MOST_STATES = 1 << 16
SIZES = (10, 30, 100, 300, 1000, 3000)
TABLES = 20
SEED = 1995


class Evidence(View):
    """A network, a variable, and what is known of the others: what depends on it, and how much.

    Parameters
    ----------
    net : a network of few nodes
    """

    def __init__(self, net: bn.BayesNet) -> None:
        if np.prod(net.arities, dtype=float) > MOST_STATES:
            raise ValueError(
                f"net has more than {MOST_STATES:,} joint states: choose a smaller one"
            )
        self.network, self._joint = net, joint(net)
        self._places = plots.network_positions(graphs.to_adjacency(net.dag))
        known = {
            f"known_{v}": choice(name, (UNKNOWN, *net.levels[v]))
            for v, name in enumerate(net.names)
        }
        super().__init__(asked=choice("ask about", net.names), **known)

    def draw(self, asked: str, **known: str) -> Board:
        """Draw edges on open paths wide, and the probability of each variable's first level."""
        net, v = self.network, self.network.names.index(asked)
        given = {
            u: net.levels[u].index(level)
            for u, level in enumerate(known.values())
            if level != UNKNOWN
        }
        reached, paths = flow(net.dag, v, set(given))
        wide = graphs.to_adjacency(net.dag) * np.where(paths, 1.0, 0.2)
        before, after = (first_levels(self._joint, each) for each in ({}, given))
        names = [
            f"{name} = {net.levels[u][given[u]]}" if u in given else name
            for u, name in enumerate(net.names)
        ]
        told = ", ".join(net.names[u] for u in sorted(reached)) or "none"
        labels = [f"{name} = {net.levels[u][0]}" for u, name in enumerate(net.names)]
        picture = plots.network(wide, names, self._places, title="Wide: on an open path")
        title = "Now (bar) and with nothing known (diamond)"
        alt = "Bars of probabilities given what is known, diamonds without it"
        bars = plots.share_bars(after, before, labels, title=title, alt=alt)
        return {
            "net": (picture, f"Depends on {asked}, given what is known: {told}."),
            "bars": (bars, "Exact: sums of the product of the tables."),
        }


def joint(net: bn.BayesNet, /) -> Floats:
    """Return p(x) of a network, an axis for each variable."""
    out, every = np.ones(tuple(net.arities)), ascii_letters[: net.n]
    for v, table in enumerate(net.tables):
        axes = [*graphs.members(net.dag[v]), v]
        of_table = "".join(every[u] for u in axes)
        out = np.einsum(f"{every},{of_table}->{every}", out, table.reshape(net.arities[axes]))
    return out


def first_levels(joint: Floats, given: dict[int, int], /) -> list[float]:
    """Return p(first level | given) of each variable."""
    kept, every = np.zeros(joint.shape), ascii_letters[: joint.ndim]
    agreeing = tuple(given.get(v, slice(None)) for v in range(joint.ndim))
    kept[agreeing] = joint[agreeing]
    return [float(np.einsum(f"{every}->{v}", kept)[0] / kept.sum()) for v in every]


def flow(dag: Ints, asked: int, known: set[int], /) -> tuple[set[int], Floats]:
    """Return the nodes with an open path from one, and [u, v] = 1 where one runs along u -> v."""
    n = len(dag)
    edges = graphs.to_adjacency(dag)
    lineage = graphs.ancestors(dag)
    above = known | {a for v in known for a in graphs.members(lineage[v])}
    seen, balls, paths = set(), [(asked, True)], np.zeros((n, n))
    while balls:
        v, from_child = balls.pop()
        if (v, from_child) in seen:
            continue
        seen.add((v, from_child))
        if v not in known:
            balls += [(w, False) for w in np.flatnonzero(edges[v]).tolist()]
            paths[v] = np.maximum(paths[v], edges[v])
        if (v not in known) if from_child else (v in above):
            balls += [(u, True) for u in np.flatnonzero(edges[:, v]).tolist()]
            paths[:, v] = np.maximum(paths[:, v], edges[:, v])
    return {v for v, _ in seen} - known - {asked}, paths


class Growth(View):
    """What the edge x → y gains as rows are added, in 20 simulated data sets.

    Controls: how far p(y | x) differs between the values of x, and BDeu's equivalent sample size.
    """

    def __init__(self) -> None:
        super().__init__(
            difference=size_slider("difference", (0.0, 0.05, 0.1, 0.2, 0.4), 0.1),
            ess=size_slider("ess", (1, 10, 100)),
        )

    def draw(self, difference: float, ess: int) -> Board:
        """Draw the lowest, the middle and the highest gain of the data sets."""
        found = [gains(difference, m, ess) for m in SIZES]
        low, middle, high = np.quantile(found, (0, 0.5, 1), axis=1)
        lines = {"highest": high, "middle": middle, "lowest": low}
        picture = plots.log_curves(
            SIZES,
            lines,
            {"pays above": 0.0},
            x=plots.Axis("rows"),
            y=plots.Axis("gain of the edge (nats)"),
            title=f"{TABLES} data sets",
            alt="Gain of the edge against rows: lowest, middle and highest of the data sets",
            name="gains",
            band=("lowest", "highest"),
        )
        pays = [m for m, value in zip(SIZES, middle, strict=True) if value > 0]
        said = f"pays from {pays[0]:,} rows on" if pays else "does not pay at any size"
        return {"gains": (picture, f"In most data sets the edge {said}.")}


def gains(difference: float, rows: int, ess: float = 1.0, *, tables: int = TABLES) -> Floats:
    """Return what the edge x -> y gains in simulated data sets, ln p(y | x) - ln p(y), nats.

    y is 1 with probability 1/2 - difference / 2 where x = 0, and 1/2 + difference / 2 where x = 1;
    the smaller sizes are the first rows of the larger ones. A float for each data set: (tables,).
    """
    blocks = range(0, tables, TABLES)
    return np.concatenate([_gains(difference, rows, ess, first) for first in blocks])[:tables]


@cache
def _gains(difference: float, rows: int, ess: float, first: int) -> Floats:
    """Return the gains in TABLES data sets: columns of one table, which is scored at once."""
    x, y = _draws(first)[:, :, :rows].swapaxes(0, 1)
    columns = np.stack([x < 0.5, y < 0.5 + difference * ((x < 0.5) - 0.5)], axis=1)
    columns = columns.reshape(2 * TABLES, rows)
    data = bn.Data.from_arrays(columns.T.astype(int), arities=[2] * len(columns))
    parents = np.array([[0, 1 << (i ^ 1)] for i in range(len(columns))])
    without, given_x = log_scores(data, bn.BDeu(ess), parents)[1::2].T
    return np.asarray(given_x - without)


@cache
def _draws(first: int) -> Floats:
    """Return uniform numbers for x and y, (TABLES, 2, rows)."""
    seeds = range(first, first + TABLES)
    return np.stack([np.random.default_rng([SEED, i]).random((2, SIZES[-1])) for i in seeds])


@exercise(properties=6)
def check_gain(function: Callable[[Ints, float], float]) -> Told:
    """Exercise 1: `function(counts, ess)` is ln p(child | parent) - ln p(child) under BDeu."""
    values = np.random.default_rng(3).integers(0, (3, 4), (40, 2))
    data, counts = bn.Data.from_arrays(values, arities=[3, 4]), np.zeros((3, 4), np.int64)
    np.add.at(counts, tuple(values.T), 1)
    first = (np.arange(12) == 0).astype(np.int64).reshape(3, 4)

    def result(some: Ints, ess: float = 1.0) -> float:
        return float(function(some.copy(), ess))

    def package(ess: float) -> float:
        table = bn.score_families(data, bn.BDeu(ess), max_parents=1)
        return float(table.log_score[1, 1] - table.log_score[1, 0])

    yield "without rows nothing is gained"
    yield np.isclose(result(counts * 0), 0)
    yield "one row gains nothing: with or without the parent its probability is 1 / r"
    yield np.isclose(result(first), 0)
    yield "the order of the parent's values does not matter"
    yield np.isclose(result(counts), result(counts[::-1]))
    yield "child and parent may change places (the other DAG is equivalent)"
    yield np.isclose(result(counts), result(counts.T))
    yield "for 40 rows and ess = 1 it differs from what the package finds"
    yield np.isclose(result(counts), package(1.0))
    yield "for ess = 5 it differs from what the package finds"
    yield np.isclose(result(counts, 5.0), package(5.0))


@exercise(properties=5)
def check_equivalent(function: Callable[[list[int]], Any]) -> Told:
    """Exercise 2: `function(dag)` lists the DAGs that are Markov equivalent to one."""
    dags = graphs.all_dags(4)
    classes = np.unique(graphs.cpdag(dags), axis=0)

    def result(dag: Sequence[int]) -> list[tuple[int, ...]]:
        return [tuple(map(int, each)) for each in function(list(map(int, dag)))]

    def same(dag: Sequence[int]) -> set[tuple[int, ...]]:
        return {tuple(each) for each in dags[graphs.markov_equivalent(dags, dag)].tolist()}

    chain, collider = [0, 1, 2, 4], [0, 5, 0, 0]
    yield "return a list of DAGs on the same nodes, dag itself among them, none twice"
    yield tuple(chain) in result(chain) and len(set(result(chain))) == len(result(chain))
    yield "a v-structure stays: 0 -> 1 <- 2 is equivalent to itself alone"
    yield set(result(collider)) == {tuple(collider)}
    yield "the chain 0 -> 1 -> 2 -> 3 has four equivalent DAGs, itself included"
    yield len(result(chain)) == 4
    yield f"on four nodes there are {len(classes)} classes; yours differ from them"
    yield all(set(result(dag)) == same(dag) for dag in dags[::7])
    yield "a chain of eight nodes has eight: turn covered edges, do not list all DAGs"
    yield len(set(result([0, *(1 << v for v in range(7))]))) == 8


@exercise(properties=3)
def check_together(rows: Sequence[Sequence[int]]) -> Told:
    """Exercise 3: rows (a, b, c) in which c has much to learn from a and b, nothing from one."""
    yield "my_rows is a list of rows with three numbers, each 0 or 1"
    yield len(rows) > 0 and all(len(row) == 3 and set(row) <= {0, 1} for row in rows)
    yield "a alone and b alone should not gain: each must leave c as open as before"
    data = bn.Data.from_arrays([list(row) for row in rows], arities=[2, 2, 2])
    score = bn.score_families(data, bn.BDeu(1.0), max_parents=2).log_score[2]
    yield max(score[1:3] - score[0]) <= 0
    yield "a and b together should gain more than 5 nats"
    yield score[3] - score[0] > 5
