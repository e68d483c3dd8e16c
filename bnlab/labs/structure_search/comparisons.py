"""A clock, known networks and averages: searches compared, controls wired to package and plots."""

from collections.abc import Mapping
from typing import Any

import ipywidgets as widgets
import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab import plots
from bnlab.labs.board import Panel, choice, side_by_side, size_slider, stacked
from bnlab.labs.running import Experiment, Progress
from bnlab.labs.structure_search.averaging import COUNTS, average, exact
from bnlab.labs.structure_search.clock import (
    CHANGES,
    CLIMBS,
    SEARCHES,
    Found,
    on_one_clock,
    shares,
)
from bnlab.labs.structure_search.recovery import NETWORKS, ROWS, distances, found, truths
from bnlab.labs.structure_search.targets import DATASETS, apart, names

TIMES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)  # seconds
SOME_CHANGES = (2, 4, 8, 16, 32)
RECOVERED = ("hill climbing", "GES")
FIRST_DRAWN = 12
MOST_PAIRS = 10

Floats = NDArray[np.float64]


class Clock(Experiment):
    """Four ways out of local optima: the share of searches that are there, against time.

    Parameters
    ----------
    climbs : method -> climbs of a search
    searches : of each method

    Attributes
    ----------
    widget : what to display
    dataset : the list of data sets
    changes : the slider, random changes of the perturbed network
    runner : Run, Stop and progress; `runner.run_now()` runs at once
    found : method -> (seconds until the best network, seconds in all) of each search
    panel : the `Panel`, with sources "reached" and "reached_points"
    """

    found: Found

    def __init__(self, *, climbs: Mapping[str, int] = CLIMBS, searches: int = SEARCHES) -> None:
        self._climbs, self._searches = climbs, searches
        self.dataset = choice("data set", DATASETS, "tic-tac-toe")
        self.changes = size_slider("changes to a perturbed network", SOME_CHANGES, CHANGES)
        nothing: Found = {method: [] for method in climbs}
        super().__init__(
            self.dataset, self.changes, nothing=nothing, unit="searches by each method"
        )
        (self.panel,) = self.panels

    def _work(self, asked: tuple[str, int], progress: Progress) -> Found:
        name, changes = asked
        return on_one_clock(
            name,
            climbs=self._climbs,
            searches=self._searches,
            changes=changes,
            progress=progress,
        )

    def _columns(self) -> list[dict[str, Any]]:
        curves = self._curves()
        return [
            {
                "reached": plots.time_curves_lines(curves),
                "reached_points": plots.time_curves_points(curves),
            }
        ]

    def _curves(self) -> Any:
        by = shares(self.found, TIMES)
        return {method: {"": (TIMES, by[method])} for method in self._climbs}

    def _pictures(self) -> list[Any]:
        picture = plots.time_curves(
            self._curves(),
            y_label="share of searches at the best network",
            y_range=(-0.03, 1.03),
            x_label="time of the search (seconds)",
            name="reached",
            title="Who has reached the exact best by when",
            alt="Share of searches that have reached the best network against time, four methods",
        )
        return [picture]

    def _captions(self) -> list[str]:
        runs = len(next(iter(self.found.values())))
        if not runs:
            return [f"Press Run: {self._searches} searches by each method, one after the other."]
        rates = [
            f"{method} {1e3 * np.median([end for _, end in done]) / self._climbs[method]:.2g}"
            for method, done in self.found.items()
        ]
        return [f"{self.dataset.value}, {runs} searches. Milliseconds a climb: {', '.join(rates)}."]


class Recovery:
    """How far searches end from the class of a known network, as rows are added.

    Attributes
    ----------
    widget : what to display
    network : the list of networks
    rows, which : the sliders, rows and the number of the data set that is drawn
    curves, gallery : the `Panel`s, with sources "distance" and "gallery"
    """

    def __init__(self) -> None:
        for network in NETWORKS:  # now, so that the controls answer at once
            distances(network)
        self.network = choice("network", list(NETWORKS))
        self.rows = size_slider("rows", ROWS, ROWS[-1])
        self.which = widgets.IntSlider(
            FIRST_DRAWN,
            1,
            NETWORKS[self.network.value],
            description="data set drawn",
            continuous_update=False,
        )
        self.which.style.description_width = "initial"
        self.curves, self.gallery = Panel(*self._mean()), Panel(*self._drawn())
        self.network.observe(self._change_network, "value")
        for control in (self.rows, self.which):
            control.observe(self._change, "value")
        self.widget = stacked(
            side_by_side(self.network, self.rows, self.which), self.curves, self.gallery
        )

    def _mean(self) -> tuple[Any, str]:
        by = {
            search: {"": (ROWS, values.mean(axis=0))}
            for search, values in distances(self.network.value).items()
        }
        picture = plots.time_curves(
            by,
            y_label="pairs joined in another way (mean)",
            y_range=(-0.3, 9.3),
            x_label="rows",
            name="distance",
            title="Distance of the class found from the true one",
            alt="Mean structural Hamming distance of four searches against the number of rows",
        )
        count = NETWORKS[self.network.value]
        return picture, f"{self.network.value}: mean of {count} data sets."

    def _drawn(self) -> tuple[Any, str]:
        name, rows, place = self.network.value, self.rows.value, self.which.value - 1
        net = truths(name)[place]
        true = bn.graphs.cpdag(net.dag)
        others = {s: bn.graphs.cpdag(found(name, place, rows)[s]) for s in RECOVERED}
        graphs = np.array([true, *others.values()])
        gaps = {search: apart(graph, true) for search, graph in others.items()}
        picture = plots.graph_gallery(
            graphs,
            [label if len(label) <= 8 else label[:7] + "…" for label in net.names],
            ["the true class", *(f"{search}: {gap} off" for search, gap in gaps.items())],
            graphs != true,
            across=3,
            title=f"Data set {place + 1}, {rows:,} rows (marked: not as in the true class)",
            alt="The true class and those found by hill climbing and GES, differences marked",
        )
        means = {s: d[:, ROWS.index(rows)].mean() for s, d in distances(name).items()}
        return picture, "Mean of all data sets at these rows: " + ", ".join(
            f"{search} {mean:.2f}" for search, mean in means.items()
        ) + "."

    def _change(self, change: Any) -> None:
        self.gallery.show(*self._drawn())

    def _change_network(self, change: Any) -> None:
        self.which.max = NETWORKS[self.network.value]
        self.curves.show(*self._mean())
        self.gallery.show(*self._drawn())


class Averages:
    """The k best networks together, beside the exact average over all.

    Attributes
    ----------
    widget : what to display
    dataset : the list of data sets
    count : the slider, k
    heat, pairs : the `Panel`s, with sources "averaged" and "answers"
    """

    def __init__(self) -> None:
        for name in DATASETS:  # now, so that the slider answers at once
            for k in COUNTS:
                average(name, k)
        self.dataset = choice("data set", DATASETS)
        self.count = size_slider("the k best networks, k", COUNTS)
        self.heat = Panel(self._map(), self._captions()[0])
        self.pairs = Panel(self._pairs(), self._captions()[1])
        self.count.observe(self._change, "value")
        self.dataset.observe(self._change_data, "value")
        self.widget = stacked(
            side_by_side(self.dataset, self.count), side_by_side(self.heat, self.pairs)
        )

    def edges(self) -> Floats:
        """(n, n) edge probabilities by the k best networks."""
        return average(self.dataset.value, self.count.value).edges

    def _map(self) -> Any:
        labels = names(self.dataset.value)
        return plots.heat_map(
            self.edges(), labels, name="averaged", title="Edges, by the k best networks"
        )

    def _shown(self) -> list[tuple[int, int]]:
        # The pairs that the winner gets most wrong, whatever k is.
        name = self.dataset.value
        gap = np.abs(average(name, 1).edges - exact(name).edges)
        order = np.argsort(-gap.round(9), axis=None, kind="stable")[:MOST_PAIRS]
        n = len(gap)
        return [(int(i) // n, int(i) % n) for i in order]

    def _answers(self) -> tuple[list[float], list[float], list[str]]:
        labels, true = names(self.dataset.value), exact(self.dataset.value).edges
        shown = self._shown()
        arrows = [f"{labels[u]} → {labels[v]}" for u, v in shown]
        edges = self.edges()
        return [float(edges[p]) for p in shown], [float(true[p]) for p in shown], arrows

    def _pairs(self) -> Any:
        return plots.answer_pairs(
            *self._answers(),
            posteriors=("the k best", "all DAGs, exact"),
            title="Where the winner says most that nobody knows",
            x_label="probability of the edge",
            alt="Ten edges: their probabilities by the k best networks and by all of them",
        )

    def _captions(self) -> tuple[str, str]:
        name, k = self.dataset.value, self.count.value
        here = average(name, k)
        gap = bn.diagnostics.sad(here.edges, exact(name).edges)
        many = f"{k:,} networks of {here.classes} class{'es' * (here.classes != 1)}"
        if k == 1:
            many = "The best network alone"
        return (
            f"{name}. {many}: {here.mass:.1%} of the posterior probability.",
            f"SAD of all edges from the exact ones: {gap:.2f}.",
        )

    def _change(self, change: Any) -> None:
        captions = self._captions()
        labels = names(self.dataset.value)
        self.heat.update(captions[0], averaged=plots.heat_map_data(self.edges(), labels))
        self.pairs.update(captions[1], answers=plots.answer_pairs_data(*self._answers()))

    def _change_data(self, change: Any) -> None:
        panels = zip(
            (self.heat, self.pairs), (self._map(), self._pairs()), self._captions(), strict=True
        )
        for panel, picture, caption in panels:
            panel.show(picture, caption)
