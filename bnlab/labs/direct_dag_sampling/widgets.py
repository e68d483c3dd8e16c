"""Draws piling up, questions, certain intervals, Table 1: controls wired to package and plots."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab import features, hoeffding_margin, plots
from bnlab.exact import order_paths
from bnlab.labs.board import Panel, choice, side_by_side, size_slider, stacked
from bnlab.labs.direct_dag_sampling.runs import (
    DATASETS,
    DELTA,
    DRAWS,
    PUBLISHED,
    RUNS,
    SEED,
    dag_posterior,
    posterior,
    table_one,
)
from bnlab.labs.running import Runner

MOST_BARS = 12
MOST_ASKED = 4
LINES = ("IW-DDS", "weighed by 1/l(G)")
STOPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, DRAWS)

Floats = NDArray[np.float64]


class Pile:
    """Draws piling up into edge probabilities, and their error beside Hoeffding's bound.

    Attributes
    ----------
    widget : what to display
    dataset : the list of data sets
    drawn : the slider; `drawn.value` is the number of DAGs used, nested prefixes of one set
    bars, curve : the two `Panel`s, with sources "shares" and "measured"
    """

    def __init__(self) -> None:
        self.dataset = choice("data set", DATASETS)
        self.drawn = size_slider("networks drawn", STOPS, 100)
        self._load()
        self.bars, self.curve = (
            Panel(picture, caption)
            for picture, caption in zip(self._pictures(), self._captions(), strict=True)
        )
        self.dataset.observe(self._change_data, "value")
        self.drawn.observe(self._change_size, "value")
        self.widget = stacked(
            side_by_side(self.dataset, self.drawn), side_by_side(self.bars, self.curve)
        )

    def _load(self) -> None:
        exact = posterior(self.dataset.value)
        draws = bn.sample_dags(exact, draws=STOPS[-1], rng=np.random.default_rng(SEED))
        self._names, self._exact = exact.table.names, exact.edges
        self._estimates = np.array([features.edges(draws.prefix(size)) for size in STOPS])
        self._off = ~np.eye(exact.table.n, dtype=bool)
        errors = np.abs(self._estimates - exact.edges)[:, self._off]
        self._errors = {"largest error": errors.max(axis=1), "mean error": errors.mean(axis=1)}
        p = np.where(self._off, exact.edges, 0.0)
        unsure = np.argsort(-(p * (1 - p)), axis=None, kind="stable")[:MOST_BARS]
        ranked = unsure[np.argsort(-p.ravel()[unsure], kind="stable")]
        self._pairs = np.unravel_index(ranked, p.shape)

    def _bars(self) -> tuple[Floats, Floats, list[str], float]:
        labels = [
            f"{_short(self._names[u])} → {_short(self._names[v])}"
            for u, v in zip(*self._pairs, strict=True)
        ]
        now = self._estimates[STOPS.index(self.drawn.value)]
        spread = hoeffding_margin(self.drawn.value, DELTA)
        return now[self._pairs], self._exact[self._pairs], labels, spread

    def _measured(self) -> dict[str, Floats]:
        drawn = np.array(STOPS) <= self.drawn.value
        return {label: np.where(drawn, line, np.nan) for label, line in self._errors.items()}

    def _pictures(self) -> tuple[Any, Any]:
        shares, exact, labels, spread = self._bars()
        pairs = int(self._off.sum())
        bounds = {
            f"Hoeffding, all {pairs} edges at once": [
                hoeffding_margin(size, DELTA / pairs) for size in STOPS
            ],
            "Hoeffding, one edge": [hoeffding_margin(size, DELTA) for size in STOPS],
        }
        curve = plots.error_curve(
            STOPS,
            self._measured(),
            bounds,
            y_range=(3e-4, 3.0),
            title=f"Error of the {pairs} edge probabilities",
        )
        return plots.share_bars(shares, exact, labels, margin=spread), curve

    def _captions(self) -> tuple[str, str]:
        size, place = self.drawn.value, STOPS.index(self.drawn.value)
        largest, mean = (line[place] for line in self._errors.values())
        return (
            f"Bars: share of {size:,} networks that have the edge, for the {MOST_BARS} edges least "
            f"sure. Whiskers: Hoeffding, ± {hoeffding_margin(size, DELTA):.2g}. Diamonds: exact.",
            f"After {size:,} networks: largest error {largest:.2g}, mean error {mean:.2g}. Each "
            f"bound holds with probability {1 - DELTA:.2f} at a number of draws fixed in advance.",
        )

    def _change_size(self, change: Any) -> None:
        shares, exact, labels, spread = self._bars()
        columns = plots.share_bars_data(shares, exact, labels, margin=spread)
        captions = self._captions()
        self.bars.update(captions[0], shares=columns)
        line = plots.error_curve_data(STOPS, self._measured())
        self.curve.update(captions[1], measured=line)

    def _change_data(self, change: Any) -> None:
        self._load()
        panels = zip((self.bars, self.curve), self._pictures(), self._captions(), strict=True)
        for panel, picture, caption in panels:
            panel.show(picture, caption)


class Questions:
    """Questions about three variables, put to the same draws: edges, paths, combined paths.

    Parameters
    ----------
    draws
        Independent DAGs, from `bn.sample_dags`.
    edges
        (n, n) exact edge probabilities, for comparison.
    start, via, end
        Names of the variables to begin with; the first three if not given.

    Attributes
    ----------
    widget : what to display
    start, via, end : the three lists of variables
    bars : the `Panel`, with the source "answers"
    """

    def __init__(
        self,
        draws: bn.Draws,
        edges: Floats,
        *,
        start: str | None = None,
        via: str | None = None,
        end: str | None = None,
    ) -> None:
        self._draws, self._edges = draws, edges
        wanted = [start or draws.names[0], via or draws.names[1], end or draws.names[2]]
        self.start, self.via, self.end = (
            choice(label, draws.names, value)
            for label, value in zip(("from", "via", "to"), wanted, strict=True)
        )
        shares, exact, labels, spread, caption = self._answers()
        picture = plots.share_bars(
            shares,
            exact,
            labels,
            margin=spread,
            name="answers",
            title="Share of the networks in which it holds",
            alt="Bars of the probabilities of an edge, of paths and of combined paths",
        )
        self.bars = Panel(picture, caption)
        for control in (self.start, self.via, self.end):
            control.observe(self._change, "value")
        self.widget = stacked(side_by_side(self.start, self.via, self.end), self.bars)

    def _answers(self) -> tuple[list[float], list[float], list[str], float, str]:
        u, w, v = (
            self._draws.names.index(control.value) for control in (self.start, self.via, self.end)
        )
        edge, path = features.edge(u, v), features.path(u, v)
        to, on = features.path(u, w), features.path(w, v)
        asked = {
            "edge from → to": edge,
            "path of at most 2 edges": features.limited_path(u, v, max_length=2),
            "path from ⇝ to": path,
            "path, but no edge": features.combined(path, absent=[edge]),
            "from ⇝ via and via ⇝ to": features.combined(to, on),
            "from ⇝ to, not from ⇝ via": features.combined(path, absent=[to]),
            "from ⇝ via": to,
            "via ⇝ to": on,
        }
        found = {label: features.probability(self._draws, f) for label, f in asked.items()}
        shares = [estimate.value for estimate in found.values()]
        exact = [float(self._edges[u, v]), *[float("nan")] * (len(asked) - 1)]
        both, parts = found["from ⇝ via and via ⇝ to"].value, shares[-2] * shares[-1]
        size = self._draws.values.shape[1]
        spread = hoeffding_margin(size, DELTA)
        caption = (
            f"{self.start.value} ⇝ {self.via.value} ⇝ {self.end.value}: {both:.3f}; the product of "
            f"its two parts would be {parts:.3f}. Whiskers: Hoeffding with {size:,} networks, "
            f"± {spread:.2g}. The exact posterior knows the edge (diamond) only."
        )
        return shares, exact, list(asked), spread, caption

    def _change(self, change: Any) -> None:
        if len({self.start.value, self.via.value, self.end.value}) < 3:
            self.bars.update("Choose three different variables.")
            return
        shares, exact, labels, spread, caption = self._answers()
        columns = plots.share_bars_data(shares, exact, labels, margin=spread)
        self.bars.update(caption, answers=columns)


class Certain:
    """The interval that is certain, closing as distinct DAGs come in [HeTianWu2016, eq. 26].

    Attributes
    ----------
    widget : what to display
    dataset, question : the lists of data sets and of edges and paths
    drawn : the slider; `drawn.value` is the number of DAGs drawn, nested prefixes of one set
    panel : the `Panel`, with the sources "closing" and "closing_levels"
    """

    def __init__(self) -> None:
        self.dataset = choice("data set", DATASETS)
        self.drawn = size_slider("networks drawn", STOPS, 200)
        self._load()
        self.question = choice("question", list(self._asked))
        self._ask()
        self.panel = Panel(self._picture(), self._caption())
        self.dataset.observe(self._change_data, "value")
        self.question.observe(self._change_question, "value")
        self.drawn.observe(self._change_size, "value")
        self.widget = stacked(side_by_side(self.dataset, self.question, self.drawn), self.panel)

    def _load(self) -> None:
        by_orders, exact = posterior(self.dataset.value), dag_posterior(self.dataset.value)
        draws = bn.sample_dags(by_orders, draws=STOPS[-1], rng=np.random.default_rng(SEED))
        self._distinct = [
            bn.reweight_unique(draws.prefix(size), log_z=exact.log_z) for size in STOPS
        ]
        self._corrected = bn.reweight_by_extensions(draws)
        self._asked: dict[str, tuple[features.Feature, float, float]] = {}
        kinds = [
            ("→", features.edge, exact.edges, by_orders.edges),
            ("⇝", features.path, exact.ancestors, order_paths(by_orders)),
        ]
        for arrow, feature, truth, other in kinds:
            for place in np.argsort(-np.abs(truth - other), axis=None, kind="stable")[:MOST_ASKED]:
                u, v = divmod(int(place), exact.table.n)
                ends = (_short(exact.table.names[i]) for i in (u, v))
                self._asked[f" {arrow} ".join(ends)] = (
                    feature(u, v),
                    float(truth[u, v]),
                    float(other[u, v]),
                )

    def _ask(self) -> None:
        feature, _, _ = self._asked[self.question.value]
        self._sound = [features.probability(distinct, feature) for distinct in self._distinct]
        weighed = [features.probability(self._corrected.prefix(size), feature) for size in STOPS]
        self._values = {
            "low": [estimate.low for estimate in self._sound],
            "high": [estimate.high for estimate in self._sound],
            LINES[0]: [estimate.value for estimate in self._sound],
            LINES[1]: [estimate.value for estimate in weighed],
        }

    def _until_now(self) -> tuple[list[int], list[float], list[float], dict[str, list[float]]]:
        shown = STOPS.index(self.drawn.value) + 1
        low, high, *estimates = (values[:shown] for values in self._values.values())
        return list(STOPS[:shown]), low, high, dict(zip(LINES, estimates, strict=True))

    def _levels(self) -> dict[str, float]:
        _, truth, other = self._asked[self.question.value]
        return {"each network once, exact": truth, "each of its orders once, exact": other}

    def _picture(self) -> Any:
        return plots.closing(
            *self._until_now(),
            self._levels(),
            most=STOPS[-1],
            title="What the distinct networks leave open",
            alt="A band that holds a probability for certain, against the number of networks drawn",
        )

    def _caption(self) -> str:
        place = STOPS.index(self.drawn.value)
        distinct, estimate = self._distinct[place], self._sound[place]
        return (
            f"{self.question.value}: {self.drawn.value:,} networks, {distinct.values.shape[1]:,} "
            f"distinct, with Δ = {distinct.stats['mass'].item():.3f} of the posterior. For certain "
            f"{estimate.low:.3f} to {estimate.high:.3f}. IW-DDS says {estimate.value:.3f}, weights "
            f"1/l(G) say {self._values[LINES[1]][place]:.3f}; exact is "
            f"{self._asked[self.question.value][1]:.3f}."
        )

    def _change_size(self, change: Any) -> None:
        self.panel.update(
            self._caption(),
            closing=plots.closing_data(*self._until_now()),
            closing_levels=plots.closing_levels(self._levels()),
        )

    def _change_question(self, change: Any) -> None:
        self._ask()
        self._change_size(change)

    def _change_data(self, change: Any) -> None:
        self._load()
        self.question.unobserve(self._change_question, "value")
        self.question.options = list(self._asked)  # chooses the first
        self.question.observe(self._change_question, "value")
        self._change_question(change)


class TableOne:
    """Table 1 on tic-tac-toe and wine, run again beside the printed numbers; other seeds each time.

    Attributes
    ----------
    widget : what to display
    runner : Run, Stop and progress; `runner.run_now()` runs at once
    result : (data set, method) -> SAD of each run, as `table_one` returns
    panel : the `Panel`, with the sources "published" and "published_runs"
    """

    def __init__(self, *, runs: int = RUNS, draws: int = DRAWS) -> None:
        self._rng, self._labels = np.random.default_rng(SEED), [_label(key) for key in PUBLISHED]
        self.result: dict[tuple[str, str], list[float]] = {key: [] for key in PUBLISHED}
        self.panel = Panel(self._picture(), "Not run yet.")
        self.runner = Runner(
            lambda progress: table_one(rng=self._rng, runs=runs, draws=draws, progress=progress),
            self._finish,
            look=lambda done, total, snapshot: self._show(snapshot),
            label="Run again",
            unit="runs",
        )
        self.widget = stacked(self.runner, self.panel)

    def _picture(self) -> Any:
        return plots.published(
            list(PUBLISHED.values()),
            list(self.result.values()),
            self._labels,
            x_label="SAD: sum of absolute errors over all edges",
        )

    def _show(self, result: dict[tuple[str, str], list[float]]) -> None:
        # A run that is still going on appends to these lists.
        done = min(len(runs) for runs in result.values() if runs)
        self.result = {key: list(runs[:done]) for key, runs in result.items()}
        ours = list(self.result.values())
        self.panel.update(
            self._caption(done),
            published=plots.published_data(list(PUBLISHED.values()), ours, self._labels),
            published_runs=plots.published_runs_data(ours, self._labels),
        )

    def _finish(self, result: dict[tuple[str, str], list[float]]) -> None:
        # A new picture reaches a page that does not show the panel yet; new columns do not.
        self.result = result
        self.panel.show(self._picture(), self._caption(len(result["wine", "DDS"])))

    def _caption(self, done: int) -> str:
        return (
            f"{done} runs of DOS and DDS on each data set. PO-MCMC, a Markov chain over partial "
            "orders, is as printed."
        )


def _short(name: str) -> str:
    return name.removesuffix("-square")


def _label(key: tuple[str, str]) -> str:
    return f"{key[0].replace('_', '-')}, {key[1]}"
