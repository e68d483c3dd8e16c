"""Classes and climbs: controls wired to package and plots."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import ipywidgets as widgets
import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab import plots
from bnlab.labs.board import Panel, choice, side_by_side, stacked
from bnlab.labs.structure_search.targets import DATASETS, below, classes, move_gains, names, table

DRAWN = 8  # members of a class, at most
WALKS: Mapping[str, int] = {"plain climb": 0, "with a tabu list of 5": 5}
SHOWN_STEPS = 40
KINDS = ("add", "delete", "reverse")

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Plateaus:
    """Four variables of the coronary data: 543 DAGs on 185 plateaus, one at a time.

    Attributes
    ----------
    widget : what to display
    rank : the slider, 1 for the class of highest score
    panel : the `Panel`, with source "gallery"
    """

    def __init__(self) -> None:
        self._scores, self._members = classes("coronary")
        self.rank = widgets.IntSlider(
            1, 1, len(self._scores), description="class, from the best", continuous_update=False
        )
        self.rank.style.description_width = "initial"
        self.rank.layout.width = "460px"
        self.panel = Panel(*self._shown())
        self.rank.observe(self._change, "value")
        self.widget = stacked(self.rank, self.panel)

    def _shown(self) -> tuple[Any, str]:
        place = self.rank.value - 1
        members, gap = self._members[place], self._scores[0] - self._scores[place]
        shown = members[:DRAWN]
        own = bn.graphs.to_adjacency(shown)
        whole = bn.graphs.cpdag(shown[0])
        compelled = own & ~whole.T
        score = f"{self._scores[place]:.3f}"
        picture = plots.graph_gallery(
            np.concatenate([own, whole[None]]),
            names("coronary")[:4],
            [*[score] * len(shown), "the class"],
            np.concatenate([compelled, (whole & ~whole.T)[None]]),
            across=3,
            title=f"Class {place + 1} of {len(self._scores)}: ln p(D | G) of each member, nats",
            alt="Drawings of the DAGs of one class and of the class, directions in common marked",
        )
        count = len(members)
        vees = bn.graphs.v_structures(members[0])
        caption = (
            f"{count} DAG{'s' * (count != 1)} with this score, {gap:.2f} nats below the best; "
            f"{len(vees)} v-structure{'s' * (len(vees) != 1)}. Marked: the directions that all "
            "members share."
        )
        if count > DRAWN:
            caption += f" Drawn are {DRAWN} of them."
        return picture, caption

    def _change(self, change: Any) -> None:
        self.panel.show(*self._shown())


class Steps:
    """Hill climbing from the empty network, step by step, with the gains of all next moves.

    Attributes
    ----------
    widget : what to display
    dataset, walk : the lists
    step : the slider, steps made
    net, gains : the `Panel`s, with sources "climbed" and "gains"
    """

    def __init__(self) -> None:
        self.dataset = choice("data set", DATASETS)
        self.walk = choice("search", list(WALKS))
        self.step = widgets.IntSlider(0, 0, 1, description="steps made", continuous_update=False)
        self.step.style.description_width = "initial"
        self.step.layout.width = "420px"
        self.step.max = self._last()
        self.net, self.gains = (
            Panel(picture, caption)
            for picture, caption in zip(self._pictures(), self._captions(), strict=True)
        )
        self.step.observe(self._change, "value")
        for control in (self.dataset, self.walk):
            control.observe(self._begin, "value")
        self.widget = stacked(
            side_by_side(self.dataset, self.walk, self.step), side_by_side(self.net, self.gains)
        )

    @property
    def climb(self) -> bn.Climb:
        """The climb that is shown."""
        return climbed(self.dataset.value, WALKS[self.walk.value])

    def _last(self) -> int:
        return min(SHOWN_STEPS, len(self.climb.steps))

    def _dag(self) -> Ints:
        dag: Ints = self.climb.path[self.step.value]
        return dag

    def _links(self) -> Any:
        edges = bn.graphs.to_adjacency(self._dag()).astype(float)
        return edges, names(self.dataset.value), _places(self.dataset.value)

    def _matrix(self) -> Any:
        name = self.dataset.value
        return move_gains(table(name), self._dag()), names(name)

    def _pictures(self) -> tuple[Any, Any]:
        net = plots.network(
            *self._links(),
            name="climbed",
            title="The network so far",
            alt="The network after the steps made so far",
        )
        return net, plots.move_gains(*self._matrix())

    def _captions(self) -> tuple[str, str]:
        climb, step, labels = self.climb, self.step.value, names(self.dataset.value)
        gap = below(self.dataset.value, float(climb.trace[step]))
        score = f"ln p(G, D) = {climb.trace[step]:.2f}, {gap:.2f} nats below the exact best."
        if step == 0:
            last = "The empty network."
        else:
            kind, u, v = climb.steps[step - 1]
            gain = climb.trace[step] - climb.trace[step - 1]
            last = f"Step {step}: {KINDS[kind]} {labels[u]} → {labels[v]}, {gain:+.2f} nats."
        gains = self._matrix()[0]
        moves = gains[np.isfinite(gains)]
        return (
            f"{last} {score}",
            f"{moves.size} moves: {(moves > 1e-7).sum()} gain, "
            f"{(np.abs(moves) <= 1e-7).sum()} change nothing, {(moves < -1e-7).sum()} lose.",
        )

    def _change(self, change: Any) -> None:
        captions = self._captions()
        self.net.update(captions[0], climbed=plots.network_data(*self._links()))
        self.gains.update(captions[1], gains=plots.move_gains_data(*self._matrix()))

    def _begin(self, change: Any) -> None:
        self.step.value, self.step.max = 0, self._last()
        panels = zip((self.net, self.gains), self._pictures(), self._captions(), strict=True)
        for panel, picture, caption in panels:
            panel.show(picture, caption)


@cache
def climbed(name: str, tabu: int) -> bn.Climb:
    """The climb from the empty network, as shown by `Steps`.

    Examples
    --------
    >>> len(climbed("coronary", 0).steps)
    9
    """
    return bn.hill_climb(table(name), tabu=tabu, rng=np.random.default_rng(0))


@cache
def _places(name: str) -> Floats:
    end = climbed(name, 0).dag
    return plots.network_positions(bn.graphs.to_adjacency(end).astype(float))
