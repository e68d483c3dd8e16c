"""The same rows under other priors: at once for small tables, with Run and Stop for others."""

from itertools import product
from typing import Any

import ipywidgets as widgets
import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab import plots
from bnlab.labs.board import Panel, side_by_side, size_slider, stacked
from bnlab.labs.running import Progress, Runner
from bnlab.labs.your_own_data.study import Study
from bnlab.reports import Analysis, sensitivity
from bnlab.reports.pictures import shown_names

ESS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
NATS = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)
AT_ONCE = 14  # variables: up to so many, a prior takes less than 0.1 s
SAME = 0.005  # a difference of probabilities that nobody sees

Floats = NDArray[np.float64]
Found = dict[tuple[float, float], tuple[Floats, float]]


class Priors:
    """The same rows under another prior: how strong it is, and what it asks for an edge.

    Up to 14 variables the sliders answer at once. For more, Run goes through all their stops, and
    those that are done can be looked at.

    Attributes
    ----------
    widget : what to display
    ess : the slider of the equivalent sample size of BDeu
    nats : the slider of the price of an edge
    runner : Run, Stop and progress; not shown where the sliders answer at once
    panel : the `Panel`, with source "prior_edges"
    edges : (n, n), the edge probabilities on display, or None until they are computed
    """

    def __init__(self, study: Study, /) -> None:
        self._analysis = study.done()
        self._found: Found = {}
        self.ess = size_slider("equivalent sample size", ESS, 1.0)
        self.nats = size_slider("price of an edge (nats)", NATS, 0.0)
        self.runner = Runner(self._work, self._finish, look=self._look, label="All priors")
        self._compute()
        self.panel = Panel(self._picture(), self._caption())
        for control in (self.ess, self.nats):
            control.observe(self._move, "value")
        self.widget: widgets.VBox = stacked(
            side_by_side(self.ess, self.nats), self.runner, self.panel
        )
        study.watch(self._renew)

    @property
    def edges(self) -> Floats | None:
        """The edge probabilities under the prior of the sliders, if they are there."""
        found = self._found.get((self.ess.value, self.nats.value))
        return None if found is None else found[0]

    def _compute(self) -> None:
        quick = self._analysis.data.n <= AT_ONCE
        self.runner.layout.display = "none" if quick else ""
        stop = (self.ess.value, self.nats.value)
        if quick and stop not in self._found:
            self._found[stop] = under(self._analysis, *stop)

    def _work(self, progress: Progress) -> tuple[Analysis, Found]:
        analysis, found = self._analysis, dict(self._found)
        stops = list(product(ESS, NATS))
        for done, stop in enumerate(stops):
            if stop not in found:
                if not progress(done, len(stops), found):
                    break
                found[stop] = under(analysis, *stop)
        else:
            progress(len(stops), len(stops), found)
        return analysis, found

    def _look(self, done: int, total: int, snapshot: Found) -> None:
        if self.edges is None and (self.ess.value, self.nats.value) in snapshot:
            self._found = dict(snapshot)
            self.panel.show(self._picture(), self._caption())

    def _finish(self, result: tuple[Analysis, Found]) -> None:
        analysis, found = result
        if analysis is self._analysis:
            self._found = found
            self.panel.show(self._picture(), self._caption())

    def _shown(self) -> Floats:
        return self._analysis.edges.probability if self.edges is None else self.edges

    def _picture(self) -> Any:
        names = shown_names(self._analysis.data.names)
        title = "Edges of the analysis" if self.edges is None else "Edges under this prior"
        return plots.heat_map(self._shown(), names, name="prior_edges", title=title)

    def _caption(self) -> str:
        if self.edges is None:
            return "This prior is not computed yet: press All priors. Shown is the analysis."
        names, usual = self._analysis.data.names, self._analysis.edges.probability
        moved = np.abs(self.edges - usual)
        u, v = divmod(int(moved.argmax()), len(names))
        if moved.max() < SAME:
            return f"{self.edges.sum():.1f} edges are expected, as in the analysis."
        worth = self._found[self.ess.value, self.nats.value][1]
        draws = "" if np.isinf(worth) else f" From draws worth {worth:,.0f} independent ones."
        return (
            f"{self.edges.sum():.1f} edges are expected. Farthest from the analysis: {names[u]} → "
            f"{names[v]}, {usual[u, v]:.2f} there and {self.edges[u, v]:.2f} here.{draws}"
        )

    def _move(self, change: Any) -> None:
        self._compute()
        if self._analysis.data.n > AT_ONCE:  # the title may change
            self.panel.show(self._picture(), self._caption())
            return
        names = shown_names(self._analysis.data.names)
        self.panel.update(self._caption(), prior_edges=plots.heat_map_data(self._shown(), names))

    def _renew(self, analysis: Analysis) -> None:
        if analysis is not self._analysis:
            if self.runner.run_button.disabled:
                self.runner.stop()
            self._analysis, self._found = analysis, {}
            self._compute()
            self.panel.show(self._picture(), self._caption())


def under(analysis: Analysis, ess: float, nats: float, /) -> tuple[Floats, float]:
    """Edges (n, n) under this prior, and how many independent draws they are worth."""
    prior = bn.EdgePenalty(nats) if nats else bn.Uniform()
    found = sensitivity(analysis, ess=(ess,), priors=(prior,))
    return found.edges[0, 0], float(found.effective[0, 0])
