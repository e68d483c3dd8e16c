"""The views and the checks of notebooks/02_modular_priors.ipynb.

Priors on all DAGs of five variables, one by one: which they favour, and what rows can do about it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from math import log
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import bnlab as bn
from bnlab import graphs, plots
from bnlab.checks import Bools, Floats, Ints
from bnlab.labs.board import Told, bdeu_table, choice, exercise, setup as setup, size_slider, stops
from bnlab.labs.predict import predict as predict, review as review
from bnlab.labs.view import Board, View
from bnlab.papers.em2007.cases import PRIORS as PRIORS, count_orders, log_factor, log_prior
from bnlab.papers.page import normalised as normalised
from bnlab.records import Record

SEED = 2016
NODES = 5
ROWS = 100_000
SIZES = (0, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, ROWS)
MOST_MEMBERS = 8  # of a class, shown
SHOWN = 4  # shapes at either end of the gallery
# Pixels of the frame: three pictures stand beside each other.
POSTERIORS: Any = {"posteriors": ("order-modular", "structure-modular"), "frame_width": 245}
_NUMBERS = {1: "One", 2: "Two", 3: "Three", 4: "Four"}

Edges = Iterable[tuple[int, int]]


@dataclass(frozen=True, slots=True, eq=False)
class DagSpace(Record):
    """All N DAGs of n variables."""

    dags: Ints  # (N, n), parent masks
    orders: Ints  # (N,), ℓ(G), the number of orders that G is consistent with
    classes: Ints  # (N,), equal numbers for Markov-equivalent DAGs
    shapes: Ints  # (N,), equal numbers for DAGs that differ in the names of their nodes only

    @property
    def edges(self) -> Bools:
        """Adjacency matrices (N, n, n), [:, u, v] where u -> v."""
        return graphs.to_adjacency(self.dags)


@cache
def space(n: int, /) -> DagSpace:
    """All DAGs of n <= 5 variables."""
    if not 1 <= n <= 5:
        raise ValueError(f"n={n}: listing all DAGs is for 1 to 5 variables (29,281 DAGs)")
    dags = graphs.all_dags(n)
    return DagSpace(dags, count_orders(dags), equivalence_classes(dags), _shapes(dags))


def equivalence_classes(dags: ArrayLike, /) -> Ints:
    """A number for each DAG (N, n), equal for Markov-equivalent ones: int64 (N,)."""
    matrices = graphs.cpdag(dags)
    keys = np.packbits(matrices.reshape(len(matrices), -1), axis=1)
    return np.unique(keys, axis=0, return_inverse=True)[1].reshape(len(keys))


def _shapes(dags: Ints) -> Ints:
    """A number for each DAG (N, n), equal where a renaming of the nodes makes them equal: (N,)."""
    n = dags.shape[1]
    edges = graphs.to_adjacency(dags)
    bits = np.int64(1) << np.arange(n * n, dtype=np.int64).reshape(n, n)
    index = {int(key): i for i, key in enumerate((edges * bits).sum(axis=(1, 2)))}
    renamings = np.array(list(permutations(range(n))))
    shapes = np.full(len(dags), -1, np.int64)
    for i, one in enumerate(edges):
        if shapes[i] < 0:
            renamed = one[renamings[:, :, None], renamings[:, None, :]]
            same = {index[int(key)] for key in (renamed * bits).sum(axis=(1, 2))}
            shapes[list(same)] = shapes.max() + 1
    return shapes


@cache
def cancer() -> bn.Data:
    """100,000 rows drawn from the cancer network of Friedman, Murphy & Russell, always the same.

    Its edges are A → B, A → C, B → D, C → D and C → E.
    """
    return bn.load_network("cancer").sample(ROWS, np.random.default_rng(SEED))


class PriorExplorer(View):
    """All DAGs of five variables under one of the four priors, with a cost for each edge."""

    def __init__(self) -> None:
        super().__init__(
            prior=choice("prior", list(PRIORS)),
            divisor=size_slider("each edge divides by", (1, 2, 3, 4)),
        )

    def draw(self, prior: str, divisor: int) -> Board:
        """The prior beside the others, and the shapes at both ends."""
        p = prior_probabilities(prior, divisor)
        others = {name: prior_probabilities(name, 1) for name in PRIORS}
        kl = np.sum(p * np.log(p * p.size))
        lead = prior + (f", divided by {divisor} for each edge" if divisor > 1 else "")
        spread = len(p) * np.exp(-kl)
        return {
            "curve": (
                plots.prior_curve(p, others, y_range=(1e-11, 1.0)),
                f"Wide line: {lead}. Largest {p.max():.4g}, smallest {p.min():.4g}; KL(prior || "
                f"uniform) = {abs(kl):.4f} nats, as if {spread:,.0f} of {len(p):,} DAGs were "
                "alike and the others impossible.",
            ),
            "gallery": (
                plots.dag_gallery(*_favoured(p)),
                "Every DAG is as probable as any other: any eight would do."
                if np.ptp(np.log(p)) < 1e-9
                else "One drawing a shape: DAGs that differ in the names of their nodes only are "
                "equally probable, and are counted under it. Where shapes tie, few edges come "
                "first.",
            ),
        }


@cache
def prior_probabilities(prior: str, divisor: int) -> Floats:
    """Return the probability of each DAG of five variables under one of `PRIORS`, (29281,)."""
    everything = space(NODES)
    penalty = log_factor(bn.EdgePenalty(log(divisor)), everything.dags)
    return normalised(log_prior(PRIORS[prior], everything.dags, everything.orders) + penalty)


class Washout(View):
    """The cancer network under two priors, as rows are added: what washes out, and what does not.

    Exact, over all 29,281 DAGs: BDeu with equivalent sample size 1, ρ = 1.

    Parameters
    ----------
    data : a table of your own, of which the first five variables are taken; in the place of the
        true network stands the most probable one given all rows
    """

    def __init__(self, data: bn.Data | None = None) -> None:
        shown, self._kind = (cancer(), "true") if data is None else (data, "most probable")
        shown = shown.select(shown.names[:NODES])
        sizes = stops(SIZES, shown.m)
        self._names, self._all = shown.names, space(NODES)
        self.posteriors: dict[int, tuple[Floats, Floats]] = {}  # order-, structure-modular
        for m in sizes:
            log_p = bdeu_table(shown, m, most=NODES - 1).log_target(self._all.dags)
            self.posteriors[m] = normalised(log_p + np.log(self._all.orders)), normalised(log_p)
        gaps = [p - q for p, q in self.posteriors.values()]
        by_class = [np.bincount(self._all.classes, gap) for gap in gaps]
        self._distances = {
            "of DAGs": [float(np.abs(gap).sum() / 2) for gap in gaps],
            "of equivalence classes": [float(np.abs(gap).sum() / 2) for gap in by_class],
        }
        true = bn.load_network("cancer").dag
        if data is not None:
            true = self._all.dags[int(self.posteriors[shown.m][1].argmax())]
        self._true = int(np.argmax(np.all(self._all.dags == true, axis=1)))
        same = np.flatnonzero(self._all.classes == self._all.classes[self._true])
        self._class = same[np.argsort(-self._all.orders[same])][:MOST_MEMBERS]
        edges, joined = graphs.to_edges(true), np.any(self._all.edges[same], axis=0)
        free = [(u, v) for u, v in edges if joined[v, u]]
        both = [pair for u, v in free for pair in ((u, v), (v, u))]
        self._pairs = both + [pair for pair in edges if pair not in free] or [(0, 1), (1, 0)]
        self._has = self._all.edges[:, *np.transpose(self._pairs)]
        super().__init__(size=size_slider("rows", sizes, 1000))

    def draw(self, size: int) -> Board:
        """Edges and members of the class by both posteriors, and how far apart these are."""
        first, second = self.posteriors[size]
        best, worst = self._class[0], self._class[-1]
        now = [values[list(self.posteriors).index(size)] for values in self._distances.values()]
        labels = [f"{self._names[u]} → {self._names[v]}" for u, v in self._pairs]
        title = f"Edges of the {self._kind} network"
        alt = "Posterior probabilities of eight edges under two priors"
        look: Any = {"name": "edges", "title": title, "alt": alt, **POSTERIORS}
        edges = plots.answer_pairs(first @ self._has, second @ self._has, labels, **look)
        labels = [*self._labels(), "all other DAGs"]
        here, there = ([*p[self._class], 1 - p[self._class].sum()] for p in (first, second))
        count = _NUMBERS.get(len(self._class), len(self._class))
        title = f"{count} equivalent DAGs, by their root"
        alt = "Posterior probabilities of four equivalent DAGs under two priors"
        look = {"name": "members", "title": title, "alt": alt, **POSTERIORS}
        return {
            "edges": (
                edges,
                f"{size:,} rows. Both posteriors are exact, with ρ = 1; one counts the orders of "
                "a DAG, the other does not.",
            ),
            "members": (
                plots.answer_pairs(here, there, labels, **look),
                f"Odds of the {self._kind} DAG against the one with root {self._root(worst)}: "
                f"{first[best] / first[worst]:.4g} (order-modular), "
                f"{second[best] / second[worst]:.4g} (structure-modular).",
            ),
            "lines": (
                plots.distances(list(self.posteriors), self._distances, size),
                f"At {size:,} rows: {now[0]:.3f} of DAGs, {now[1]:.3f} of classes. "
                "0: no event differs; 1: nothing in common.",
            ),
        }

    def _root(self, i: int) -> str:
        return self._names[int(np.flatnonzero(self._all.dags[i] == 0)[0])]

    def _labels(self) -> list[str]:
        """Return the root of each member shown and how many orders it has, in words."""
        roots = [self._root(i) for i in self._class]
        alike, labels = len(set(roots)) < len(roots), []
        for place, (i, root) in enumerate(zip(self._class, roots, strict=True), start=1):
            orders, kind = self._all.orders[i], f"{self._kind}, " if i == self._true else ""
            label = f"{root} ({kind}{orders} order{'s' if orders > 1 else ''})"
            labels.append(f"{place}: {label}" if alike else label)
        return labels


def _favoured(p: Floats) -> tuple[Ints, Floats, list[int]]:
    """Return the shapes at both ends: a DAG of each, its ratio to uniform, how many are alike."""
    drawn, alike = _drawings()
    dags, of_shape = space(NODES).dags[drawn], p[drawn]
    edges = np.bitwise_count(dags).sum(axis=1)
    # Sums in another order differ in their last digits: round, so that ties are ties.
    ranked = np.lexsort((edges, -np.log(of_shape).round(9)))
    ends = np.concatenate([ranked[:SHOWN], ranked[-SHOWN:]])
    return dags[ends], of_shape[ends] * len(p), [int(count) for count in alike[ends]]


@cache
def _drawings() -> tuple[Ints, Ints]:
    """Return the DAG of each shape that draws best on a circle, and how many have the shape."""
    everything = space(NODES)
    steps = np.abs(np.subtract.outer(np.arange(NODES), np.arange(NODES)))
    length = (everything.edges * np.minimum(steps, NODES - steps)).sum(axis=(1, 2))
    ranked = np.lexsort((length, everything.shapes))
    counts = np.bincount(everything.shapes)
    return ranked[np.cumsum(counts) - counts], counts


@exercise(properties=6)
def check_prior(function: Callable[[list[frozenset[int]], list[float]], Any]) -> Told:
    """Exercise 1: `function(dag, rho)` is the order-modular prior probability of one DAG."""

    def result(dag: ArrayLike, rho: Sequence[float]) -> float:
        return float(function([frozenset(graphs.members(P)) for P in np.asarray(dag)], list(rho)))

    def agree(n: int, factor: Sequence[float]) -> bool:
        everything = space(n)
        sizes = np.bitwise_count(everything.dags)
        weight = everything.orders * np.asarray(factor)[sizes].prod(axis=1)
        found = [result(dag, factor) for dag in everything.dags]
        return np.allclose(found, weight / weight.sum())

    yield "a probability lies between 0 and 1"
    yield 0 <= result([0, 1], [1, 1]) <= 1
    yield "on two nodes, and with the factor 1, the edge 0 → 1 is one of four pairs"
    yield np.isclose(result([0, 1], [1, 1]), 1 / 4)
    yield "the fork 0 ← 1 → 2 should be twice as probable as the chain 0 → 1 → 2"
    yield np.isclose(result([2, 0, 2], [1, 1, 1]), 2 * result([0, 1, 2], [1, 1, 1]))
    yield "over the 25 DAGs on three nodes, with the factor 1, it differs from the enumeration"
    yield agree(3, [1, 1, 1])
    yield "over the 543 DAGs on four nodes, with the fair factor, it differs from the enumeration"
    yield agree(4, [1, 1 / 3, 1 / 3, 1])
    yield "on seven nodes the DAG without edges has probability 2 ** -21 with the factor 1"
    yield np.isclose(result([0] * 7, [1] * 7), 2.0**-21, rtol=1e-9, atol=0)


@exercise(properties=4)
def check_against(function: Callable[[int], Any]) -> Told:
    """Exercise 2: `function(k)`, a factor that makes the order-modular prior nearly uniform."""

    def kl(n: int) -> float:
        everything = space(n)
        factor = np.array([float(function(k)) for k in range(n)])
        log_q = np.log(factor)[np.bitwise_count(everything.dags)].sum(axis=1)
        p = normalised(np.log(everything.orders) + log_q)
        return float(np.sum(p * np.log(len(p) * p)))

    yield "return a positive number for each of k = 0, 1, 2, 3"
    yield all(float(function(k)) > 0 for k in range(4))
    yield "on two variables the DAG without edges has two orders, and each edge one: what makes up "
    yield "for that"
    yield abs(kl(2)) < 1e-9
    yield "on three variables KL should be below 0.03 nats"
    yield kl(3) < 0.03
    yield "on four variables KL should be below 0.1 nats"
    yield kl(4) < 0.1


@exercise(properties=4)
def check_pair(first: Edges, second: Edges) -> Told:
    """Exercise 3: two equivalent DAGs on 6 nodes with odds of at least 10; prints the odds."""
    yield "give two lists of edges (u, v) between the nodes 0 to 5, both without a cycle"
    both = np.stack([graphs.from_edges(6, list(edges)) for edges in (first, second)])
    yield both.shape == (2, 6)
    yield "the two are not equivalent: they need the same neighbours, and edges that meet at "
    yield "the same nodes where their tails are no neighbours"
    yield len(set(equivalence_classes(both))) == 1
    yield "the first should be the more probable one"
    counts = count_orders(both)
    odds = counts[0] / counts[1]
    yield odds > 1
    yield "reach odds of at least 10: a star gets to 5; how many orders has a path, if its "
    yield "edges leave from the middle?"
    yield odds >= 10
    print(f"Odds {odds:.4g}, whatever the data say.")
