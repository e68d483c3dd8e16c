"""The prior explorer, and two posteriors as rows are added."""

from functools import cache
from math import log

import numpy as np

import bnlab as bn
from bnlab import graphs, plots
from bnlab.checks import Floats, Ints
from bnlab.labs.board import choice, size_slider
from bnlab.labs.modular_priors.space import log_prior, space
from bnlab.labs.view import Board, View
from bnlab.papers.em2007.cases import PRIORS
from bnlab.papers.store import normalised

SEED = 2016
NODES = 5
ROWS = 100_000
SIZES = (0, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, ROWS)
"""Stops of the data-size slider."""

DIVISORS = (1, 2, 3, 4)
MOST_MEMBERS = 8  # of a class, shown
SHOWN = 4  # shapes at either end of the gallery
POSTERIORS = ("order-modular", "structure-modular")
_NUMBERS = {1: "One", 2: "Two", 3: "Three", 4: "Four"}
TRUE_ARROWS = ((0, 1), (0, 2), (1, 3), (2, 3), (2, 4))


@cache
def cancer() -> bn.Data:
    """100,000 rows drawn from the cancer network of Friedman, Murphy & Russell, always the same.

    Its arrows are A → B, A → C, B → D, C → D and C → E.
    """
    return bn.load_network("cancer").sample(ROWS, np.random.default_rng(SEED))


class PriorExplorer(View):
    """All DAGs of five variables under one of the four priors, with a cost for each arrow.

    Attributes
    ----------
    prior, divisor : the controls; each arrow divides the probability by `divisor.value` on top
    curve, gallery : the `Panel`s, with sources "curve", and "arrows" and "shapes"
    """

    def __init__(self) -> None:
        super().__init__(
            prior=choice("prior", list(PRIORS)),
            divisor=size_slider("each arrow divides by", DIVISORS),
        )

    @property
    def probabilities(self) -> Floats:
        """(29281,), the prior on display."""
        return prior_probabilities(**self.values())

    def draw(self, prior: str, divisor: int) -> Board:
        """The prior beside the others, and the shapes at both ends."""
        p = prior_probabilities(prior, divisor)
        others = {name: prior_probabilities(name, 1) for name in PRIORS}
        kl = np.sum(p * np.log(p * p.size))
        lead = prior + (f", divided by {divisor} for each arrow" if divisor > 1 else "")
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
                "equally probable, and are counted under it. Where shapes tie, few arrows come "
                "first.",
            ),
        }


@cache
def prior_probabilities(prior: str, divisor: int) -> Floats:
    """Return the probability of each DAG of five variables under one of `PRIORS`, (29281,)."""
    return normalised(log_prior(PRIORS[prior], space(NODES), nats=log(divisor)))


class Washout(View):
    """The cancer network under two priors, as rows are added: what washes out, and what does not.

    Exact, over all 29,281 DAGs: BDeu with equivalent sample size 1, q = 1.

    Parameters
    ----------
    data : a table of your own, of which the first five variables are taken; in the place of the
        true network stands the most probable one given all rows

    Attributes
    ----------
    size : the slider; `size.value` is the number of rows
    posteriors : {rows: (order-modular (29281,), structure-modular (29281,))}
    edges, members, lines : the three `Panel`s, with sources "edges", "members" and "now"
    """

    def __init__(self, data: bn.Data | None = None) -> None:
        shown, self._kind = (cancer(), "true") if data is None else (data, "most probable")
        shown = shown.select(shown.names[:NODES])
        sizes = [*(size for size in SIZES if size < shown.m), shown.m]
        self._names, self._all = shown.names, space(NODES)
        self.posteriors = {m: _posteriors(shown, m) for m in sizes}
        gaps = [p - q for p, q in self.posteriors.values()]
        by_class = [np.bincount(self._all.classes, gap) for gap in gaps]
        self._distances = {
            "of DAGs": [float(np.abs(gap).sum() / 2) for gap in gaps],
            "of equivalence classes": [float(np.abs(gap).sum() / 2) for gap in by_class],
        }
        true = graphs.from_edges(NODES, TRUE_ARROWS)
        if data is not None:
            true = self._all.dags[int(self.posteriors[shown.m][1].argmax())]
        self._true = int(np.argmax(np.all(self._all.dags == true, axis=1)))
        same = np.flatnonzero(self._all.classes == self._all.classes[self._true])
        self._class = same[np.argsort(-self._all.orders[same])][:MOST_MEMBERS]
        arrows, joined = graphs.to_edges(true), np.any(self._all.edges[same], axis=0)
        free = [(u, v) for u, v in arrows if joined[v, u]]
        both = [pair for u, v in free for pair in ((u, v), (v, u))]
        self._pairs = both + [pair for pair in arrows if pair not in free] or [(0, 1), (1, 0)]
        super().__init__(size=size_slider("rows", sizes, 1000 if 1000 in sizes else shown.m))

    def draw(self, size: int) -> Board:
        """Edges and members of the class by both posteriors, and how far apart these are."""
        first, second = self.posteriors[size]
        has = np.column_stack([self._all.edges[:, u, v] for u, v in self._pairs])
        best, worst = self._class[0], self._class[-1]
        now = [values[list(self.posteriors).index(size)] for values in self._distances.values()]
        return {
            "edges": (
                plots.answer_pairs(
                    first @ has,
                    second @ has,
                    [f"{self._names[u]} → {self._names[v]}" for u, v in self._pairs],
                    posteriors=POSTERIORS,
                    name="edges",
                    title=f"Edges of the {self._kind} network",
                    alt="Posterior probabilities of eight edges under two priors",
                ),
                f"{size:,} rows. Both posteriors are exact, with q = 1; one counts the orders of "
                "a DAG, the other does not.",
            ),
            "members": (
                plots.answer_pairs(
                    [*first[self._class], 1 - first[self._class].sum()],
                    [*second[self._class], 1 - second[self._class].sum()],
                    [*self._labels(), "all other DAGs"],
                    posteriors=POSTERIORS,
                    name="members",
                    title=f"{_NUMBERS.get(len(self._class), len(self._class))} equivalent DAGs, "
                    f"one of them {self._kind}",
                    alt="Posterior probabilities of four equivalent DAGs under two priors",
                ),
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
            label = f"root {root} ({kind}{orders} order{'s' if orders > 1 else ''})"
            labels.append(f"{place}: {label}" if alike else label)
        return labels


def _posteriors(data: bn.Data, m: int) -> tuple[Floats, Floats]:
    table = bn.score_families(data.prefix(m), bn.BDeu(1.0), max_parents=NODES - 1)
    log_target = table.log_target(space(NODES).dags)
    return normalised(log_target + np.log(space(NODES).orders)), normalised(log_target)


def _favoured(p: Floats) -> tuple[Ints, Floats, list[int]]:
    """Return the shapes at both ends: a DAG of each, its ratio to uniform, how many are alike."""
    drawn, alike = _drawings()
    dags, of_shape = space(NODES).dags[drawn], p[drawn]
    arrows = np.bitwise_count(dags).sum(axis=1)
    # Sums in another order differ in their last digits: round, so that ties are ties.
    ranked = np.lexsort((arrows, -np.log(of_shape).round(9)))
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
