"""The prior explorer and the data-size slider: controls wired to the enumeration and to plots."""

from functools import cache
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab import graphs, plots
from bnlab.labs.board import Panel, choice, side_by_side, size_slider, stacked
from bnlab.labs.modular_priors.space import (
    PRIORS,
    DagSpace,
    kl_to_uniform,
    log_prior,
    normalised,
    space,
)

SEED = 2016
NODES = 5
ROWS = 100_000
SIZES = (0, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, ROWS)
"""Stops of the data-size slider."""

DIVISORS = (1, 2, 3, 4)
SHOWN = 4  # shapes at either end of the gallery
POSTERIORS = ("order-modular", "structure-modular")
TRUE_ARROWS = ((0, 1), (0, 2), (1, 3), (2, 3), (2, 4))

Floats = NDArray[np.float64]
Masks = NDArray[np.int64]


@cache
def cancer() -> bn.Data:
    """100,000 rows drawn from the cancer network of Friedman, Murphy & Russell, always the same.

    Its arrows are A → B, A → C, B → D, C → D and C → E.

    Examples
    --------
    >>> cancer()
    Data: 100000 rows, 5 variables with 2 states (A, B, C, ...)
    """
    return bn.load_network("cancer").sample(ROWS, np.random.default_rng(SEED))


class PriorExplorer:
    """All DAGs of five variables under one of the four priors, with a cost for each arrow.

    Attributes
    ----------
    widget : what to display
    prior : the list of priors, the names of `PRIORS`
    divisor : the slider; each arrow divides the probability by `divisor.value` on top
    probabilities : (29281,) floats, the prior on display
    curve, gallery : the two `Panel`s, with sources "curve", and "arrows" and "shapes"
    """

    def __init__(self) -> None:
        self._space = space(NODES)
        self.prior = choice("prior", list(PRIORS))
        self.divisor = size_slider("each arrow divides by", DIVISORS)
        self._drawn, self._alike = _drawings(self._space)
        self.probabilities = self._compute()
        others = {name: normalised(log_prior(p, self._space)) for name, p in PRIORS.items()}
        captions = self._captions()
        self.curve = Panel(
            plots.prior_curve(self.probabilities, others, y_range=(1e-11, 1.0)), captions[0]
        )
        self.gallery = Panel(plots.dag_gallery(*self._favoured()), captions[1])
        self.prior.observe(self._change, "value")
        self.divisor.observe(self._change, "value")
        self.widget = stacked(
            side_by_side(self.prior, self.divisor), side_by_side(self.curve, self.gallery)
        )

    def _compute(self) -> Floats:
        prior = PRIORS[self.prior.value]
        return normalised(log_prior(prior, self._space, nats=log(self.divisor.value)))

    def _favoured(self) -> tuple[Masks, Floats, list[int]]:
        """The shapes at both ends: a DAG of each, its ratio to uniform, how many are alike."""
        dags = self._space.dags[self._drawn]
        p = self.probabilities[self._drawn]
        arrows = np.bitwise_count(dags).sum(axis=1)
        # Sums in another order differ in their last digits: round, so that ties are ties.
        ranked = np.lexsort((arrows, -np.log(p).round(9)))
        ends = np.concatenate([ranked[:SHOWN], ranked[-SHOWN:]])
        ratios = p[ends] * len(self.probabilities)
        return dags[ends], ratios, [int(count) for count in self._alike[ends]]

    def _captions(self) -> tuple[str, str]:
        p = self.probabilities
        kl = kl_to_uniform(p)
        divided = f", divided by {self.divisor.value} for each arrow"
        lead = self.prior.value + (divided if self.divisor.value > 1 else "")
        spread = len(p) * np.exp(-kl)
        alike = np.ptp(np.log(p)) < 1e-9
        return (
            f"Wide line: {lead}. Largest {p.max():.4g}, smallest {p.min():.4g}; KL(prior || "
            f"uniform) = {abs(kl):.4f} nats, as if {spread:,.0f} of {len(p):,} DAGs were alike and "
            "the others impossible.",
            "Every DAG is as probable as any other: any eight would do."
            if alike
            else "One drawing a shape: DAGs that differ in the names of their nodes only are "
            "equally probable, and are counted under it. Where shapes tie, few arrows come first.",
        )

    def _change(self, change: Any) -> None:
        self.probabilities = self._compute()
        captions = self._captions()
        dags, ratios, alike = self._favoured()
        self.curve.update(captions[0], curve=plots.prior_curve_data(self.probabilities))
        self.gallery.update(
            captions[1],
            arrows=plots.dag_gallery_arrows(dags),
            shapes=plots.dag_gallery_labels(ratios, alike),
        )


class Washout:
    """The cancer network under two priors, as rows are added: what washes out, and what does not.

    Exact, over all 29,281 DAGs: BDeu with equivalent sample size 1, q = 1.

    Attributes
    ----------
    widget : what to display
    size : the slider; `size.value` is the number of rows
    posteriors : {rows: (order-modular (29281,), structure-modular (29281,))}
    edges, members, lines : the three `Panel`s, with sources "edges", "members" and "now"
    """

    def __init__(self) -> None:
        self._space = space(NODES)
        data = cancer()
        self._names = data.names
        self.posteriors = {rows: self._posterior(data, rows) for rows in SIZES}
        self._distances = self._compute_distances()
        self.size = size_slider("rows", SIZES, 1000)
        true = graphs.from_edges(NODES, TRUE_ARROWS)
        self._true = int(np.argmax(np.all(self._space.dags == true, axis=1)))
        same = np.flatnonzero(self._space.classes == self._space.classes[self._true])
        self._class = same[np.argsort(-self._space.orders[same])]
        joined = np.any(self._space.edges[same], axis=0).tolist()
        pairs = [(u, v) for u, v in TRUE_ARROWS if joined[v][u]]
        both = [pair for u, v in pairs for pair in ((u, v), (v, u))]
        self._pairs = both + [pair for pair in TRUE_ARROWS if pair not in pairs]
        self.edges, self.members, self.lines = (
            Panel(picture, caption)
            for picture, caption in zip(self._pictures(), self._captions(), strict=True)
        )
        self.size.observe(self._change, "value")
        self.widget = stacked(self.size, side_by_side(self.edges, self.members, self.lines))

    def _posterior(self, data: bn.Data, rows: int) -> tuple[Floats, Floats]:
        table = bn.score_families(data.prefix(rows), bn.BDeu(1.0), max_parents=NODES - 1)
        log_target = table.log_target(self._space.dags)
        return normalised(log_target + np.log(self._space.orders)), normalised(log_target)

    def _edges(self) -> tuple[list[float], list[float], list[str]]:
        has = np.column_stack([self._space.edges[:, u, v] for u, v in self._pairs])
        first, second = ((p @ has).tolist() for p in self.posteriors[self.size.value])
        return first, second, [f"{self._names[u]} → {self._names[v]}" for u, v in self._pairs]

    def _members(self) -> tuple[list[float], list[float], list[str]]:
        first, second = (
            [*p[self._class].tolist(), float(1 - p[self._class].sum())]
            for p in self.posteriors[self.size.value]
        )
        return first, second, [self._name(i) for i in self._class] + ["all other DAGs"]

    def _name(self, i: int) -> str:
        dag, count = self._space.dags[i], int(self._space.orders[i])
        root = self._names[int(np.flatnonzero(dag == 0)[0])]
        true = "true, " if i == self._true else ""
        return f"root {root} ({true}{count} order{'s' if count > 1 else ''})"

    def _compute_distances(self) -> dict[str, list[float]]:
        gaps = [p - q for p, q in self.posteriors.values()]
        by_class = [np.bincount(self._space.classes, gap) for gap in gaps]
        return {
            "of DAGs": [float(np.abs(gap).sum() / 2) for gap in gaps],
            "of equivalence classes": [float(np.abs(gap).sum() / 2) for gap in by_class],
        }

    def _pictures(self) -> tuple[Any, Any, Any]:
        return (
            plots.answer_pairs(
                *self._edges(),
                posteriors=POSTERIORS,
                name="edges",
                title="Edges of the true network",
                alt="Posterior probabilities of eight edges under two priors",
            ),
            plots.answer_pairs(
                *self._members(),
                posteriors=POSTERIORS,
                name="members",
                title="Four equivalent DAGs, one of them true",
                alt="Posterior probabilities of four equivalent DAGs under two priors",
            ),
            plots.distances(
                SIZES,
                self._distances,
                self.size.value,
                title="How far apart the two posteriors are",
                y_label="total variation distance",
                y_range=(-0.02, 0.4),
                alt="Total variation distance of the two posteriors as the number of rows grows",
            ),
        )

    def _captions(self) -> tuple[str, str, str]:
        first, second = self.posteriors[self.size.value]
        best, worst = self._class[0], self._class[-1]
        name = self._names[int(np.flatnonzero(self._space.dags[worst] == 0)[0])]
        lines = self._distances
        now = [values[SIZES.index(self.size.value)] for values in lines.values()]
        return (
            f"{self.size.value:,} rows. Both posteriors are exact, with q = 1; one counts the "
            "orders of a DAG, the other does not.",
            f"Odds of the true DAG against the one with root {name}: "
            f"{first[best] / first[worst]:.4g} (order-modular), "
            f"{second[best] / second[worst]:.4g} (structure-modular).",
            f"At {self.size.value:,} rows: {now[0]:.3f} of DAGs, {now[1]:.3f} of classes. "
            "0: no event differs; 1: nothing in common.",
        )

    def _change(self, change: Any) -> None:
        captions = self._captions()
        self.edges.update(captions[0], edges=plots.answer_pairs_data(*self._edges()))
        self.members.update(captions[1], members=plots.answer_pairs_data(*self._members()))
        now = plots.distances_now(SIZES, self._distances, self.size.value)
        self.lines.update(captions[2], now=now)


def _drawings(everything: DagSpace) -> tuple[Masks, Masks]:
    """The DAG of each shape that draws best on a circle, and how many DAGs have the shape."""
    n = everything.n
    steps = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    length = (everything.edges * np.minimum(steps, n - steps)).sum(axis=(1, 2))
    ranked = np.lexsort((length, everything.shapes))
    counts = np.bincount(everything.shapes)
    return ranked[np.cumsum(counts) - counts], counts
