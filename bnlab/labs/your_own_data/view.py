"""What an analysis says: its credible edges; the checks."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import ipywidgets as widgets
import numpy as np

import bnlab as bn
from bnlab.checks import Ints
from bnlab.labs.board import Told, exercise, side_by_side, size_slider
from bnlab.labs.view import Board, View
from bnlab.labs.your_own_data.study import (
    CHAINS,
    CHANGED,
    GARDEN_SEED,
    Study,
    table_html,
    write_garden,
)
from bnlab.reports import Analysis, Credible, read_table
from bnlab.reports.page import files
from bnlab.reports.pictures import layout, network_picture

THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
MOST_LISTED = 12


class Network(View):
    """The edges of at least some probability, drawn and listed with their intervals.

    Control `threshold`; panel `panel`.
    """

    def __init__(self, study: Study, /) -> None:
        self._study, self._listed, self._files = study, widgets.HTML(), widgets.HTML()
        super().__init__(threshold=size_slider("least probability", THRESHOLDS, 0.3))
        study.watch(lambda analysis: self.show(anew=True))
        study.notice.observe(lambda change: self._fade(), "value")

    def arrange(self) -> list[Any]:
        """Return what to display: the method, the network and the list beside each other."""
        controls, panels = super().arrange()
        look = widgets.Layout(width="330px", max_width="100%")
        self._listed.layout = widgets.Layout(flex="1 1 290px", max_width="100%")
        method = widgets.VBox([self._study.widget, self._files], layout=look)
        beside = side_by_side(method, *panels.children, self._listed)
        return [self._study.notice, controls, beside]

    def draw(self, threshold: float) -> Board:
        """The network, at the same places for any threshold."""
        analysis = self._study.done()
        edges = analysis.edges.probability
        count = int((edges >= threshold).sum())
        return {
            "panel": (
                network_picture(analysis, _layout(analysis), threshold=threshold),
                f"{count} of {edges.size - len(edges)} edges have a probability of {threshold:g} "
                f"or more; {edges.sum():.1f} are expected.",
            )
        }

    def show(self, *, anew: bool = False) -> None:
        """Bring the list up to date as well."""
        super().show(anew=anew)
        edges, names = self._study.done().edges, self._study.done().data.names
        self._listed.value = edges_html(edges, names, self.controls["threshold"].value)
        self._files.value = _downloads(self._study.done())
        self._fade()

    def _fade(self) -> None:
        """Turn grey what belongs to the table before."""
        if self._study.notice.value:
            for panel in self.panels.values():
                panel.fade(CHANGED)


_layout = cache(partial(layout, least=THRESHOLDS[0]))


@cache
def _downloads(analysis: Analysis) -> str:
    """Return links to files that are in the page itself, wherever the kernel runs."""
    lines = "<br>".join(files(analysis))
    return f"<details><summary>To keep on your machine</summary>{lines}</details>"


def edges_html(credible: Credible, names: tuple[str, ...], threshold: float, /) -> str:
    """A table of the likeliest edges from the threshold up, with their intervals."""
    values, n = credible.probability, len(names)
    order = [divmod(int(i), n) for i in np.argsort(-values, axis=None, kind="stable")]
    pairs = [(u, v) for u, v in order if u != v and values[u, v] >= threshold]
    rows = [
        (f"{names[u]} → {names[v]}", float(values[u, v]), _interval(credible, u, v))
        for u, v in pairs[:MOST_LISTED]
    ]
    hidden = len(pairs) - MOST_LISTED
    more = f"<p>and {hidden} more</p>" if hidden > 0 else ""
    kind = "" if credible.kind == "exact" else f" ({credible.kind})"
    return table_html(("edge", "probability", f"interval{kind}"), rows, _CELL) + more


def _interval(credible: Credible, u: int, v: int) -> str:
    if credible.kind == "exact":
        return "exact"
    told = f"{credible.low[u, v]:.3f} to {credible.high[u, v]:.3f}"
    if credible.rhat is None or credible.ess is None or credible.trusted[u, v]:
        return told
    few = f"R-hat {credible.rhat[u, v]:.3f}, ESS {credible.ess[u, v]:.0f}"
    return f"{told} ({few}: not to be trusted, run longer)"


_CELL = "text-align:left;padding:1px 12px 1px 0;font-weight:normal;line-height:1.35"


def draw(
    data: bn.Data, ess: float, tiers: Sequence[Sequence[str]], draws: int, rng: np.random.Generator
) -> tuple[Ints, Any, str]:
    """DAGs (draws, n), a complete table for each, and whether they are of "chains" or "exact"."""
    score = bn.BDeu(ess=ess)
    model: dict[str, Any] = {"max_parents": data.n - 1, "tiers": tiers}
    if data.missing.any():
        chains: dict[str, Any] = {"draws": draws // CHAINS, "chains": CHAINS, "burn_in": 50}
        found = bn.complete(data, score, rng=rng, **chains, **model)
        return found.dags.values.reshape(-1, data.n), found, "chains"
    exact = bn.dag_posterior(bn.score_families(data, score, **model))
    return bn.sample_dags(exact, draws=draws, rng=rng).values[0], [data] * draws, "exact"


@exercise(properties=5)
def check_setting(function: Callable[..., Any]) -> Told:
    """Exercise 1: `function(values, question, by)` is the share of y = b if x is set to a."""
    rng = np.random.default_rng(2)
    cause = rng.integers(0, 3, 4000)
    x = (rng.random(4000) < [0.2, 0.5, 0.8] @ (cause == np.arange(3)[:, None])).astype(np.int64)
    y = (rng.random(4000) < 0.1 + 0.3 * cause - 0.1 * x).astype(np.int64)
    values = np.column_stack([cause, x, y])

    def share(a: int, *by: int, y: int = 2, b: int = 1) -> float:
        return float(function(values, (1, a, y, b), list(by)))

    yield "return a number"
    yield np.isfinite(share(1, 0))
    yield "adjusted for nothing, it is what is seen"
    yield np.allclose([share(0), share(1)], [y[x == 0].mean(), y[x == 1].mean()])
    yield "with a common cause, 0.3 of the rows have level 1 if x is set to 1"
    yield abs(share(1, 0) - 0.3) < 0.03
    yield "and 0.4 if it is set to 0"
    yield abs(share(0, 0) - 0.4) < 0.03
    yield "a parent of x does not move when x is set"
    yield np.isclose(share(1, 0, y=0, b=2), (cause == 2).mean())


@exercise(properties=6)
def check_survivors(function: Callable[..., Any]) -> Told:
    """Exercise 2: `function(path, bins, sizes, sure)` is the pairs linked for all cuts and ess."""
    few, many, small, large = (3,), (2, 3, 5), (1.0,), (30.0, 1.0, 0.1)

    def pairs(bins: Sequence[int], sizes: Sequence[float], sure: float) -> list[frozenset[str]]:
        return [frozenset(map(str, pair)) for pair in function(path, bins, sizes, sure)]

    @cache
    def posterior(levels: int, ess: float) -> bn.DagPosterior:
        data = read_table(path, discretize=bn.EqualFrequency(levels)).data
        return bn.dag_posterior(bn.score_families(data, bn.BDeu(ess=ess), max_parents=data.n - 1))

    def linked(levels: int, ess: float, sure: float) -> set[frozenset[str]]:
        found = posterior(levels, ess)
        edges, names = found.edges, found.table.names
        joined = np.argwhere(np.triu(edges + edges.T >= sure, 1)).tolist()
        return {frozenset((names[u], names[v])) for u, v in joined}

    def right(bins: Sequence[int], sizes: Sequence[float], sure: float) -> bool:
        each = [linked(*prior, sure) for prior in product(bins, sizes)]
        return set(pairs(bins, sizes, sure)) == set.intersection(*each)

    with TemporaryDirectory() as folder:
        path = write_garden(Path(folder), seed=4, gaps=None)
        yield "return pairs of names"
        yield pairs(few, small, 0.5) is not None
        yield "name each pair of two columns once"
        yield sorted(map(len, found := pairs(few, small, 0.01))) == [2] * len(set(found))
        yield "one number of levels, one ess: the pairs linked in the one direction or in the other"
        yield right(few, small, 0.9) and right((5,), (30.0,), 0.5)
        yield "several numbers of levels: only pairs that are linked with each"
        yield right(many, small, 0.5)
        yield "several ess: only pairs that are linked with each"
        yield right(few, large, 0.5) and right(many, large, 0.01)
        yield "with sure = 0 all 15 pairs survive"
        yield len(pairs(many, large, 0.0)) == 15


@exercise(properties=5)
def check_cuts(points: Sequence[float]) -> Told:
    """Exercise 3: a cut of `water` that shows what it does to `growth`, in new gardens too."""

    def joined(seed: int) -> float:
        with TemporaryDirectory() as folder:
            path = write_garden(Path(folder), seed=seed, gaps=None)
            rules: Any = {"water": bn.CutPoints(points), "growth": bn.EqualFrequency(3)}
            unused = ["plot", "bees", "soil", "slugs"]
            data = bn.read_csv(path, drop=unused, discretize=rules)
        edges = bn.dag_posterior(bn.score_families(data, bn.BDeu())).edges
        u, v = data.index("water"), data.index("growth")
        return float(edges[u, v] + edges[v, u])

    yield "give a list of one number"
    yield bn.CutPoints(points) is not None
    yield "one cut point"
    yield len(points) == 1
    yield "the litres go from 0 to 10"
    yield 0 < min(points) and max(points) < 10
    yield "water and growth should be joined with probability 0.95 or more"
    yield joined(GARDEN_SEED) >= 0.95
    yield "and 0.8 on average in 24 other gardens of the same kind"
    yield float(np.mean([joined(seed) for seed in range(10, 34)])) >= 0.8
