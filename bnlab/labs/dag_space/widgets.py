"""A race, the share of local moves, priors, interventions: controls wired to package and plots."""

from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab import plots
from bnlab.labs.board import Panel, choice, side_by_side, size_slider, stacked
from bnlab.labs.dag_space.beliefs import PRIORS, SIZES, believed, five
from bnlab.labs.dag_space.doing import NAMES, ROWS, directed
from bnlab.labs.dag_space.race import NEEDS_DAGS, RACERS, STOPS, Found, heads, race
from bnlab.labs.dag_space.targets import (
    DATASETS,
    chain_sads,
    hybrid,
    second_half,
    target,
    usual_targets,
)
from bnlab.labs.running import Experiment, Progress

SHARES = (0.0, 0.1, 0.3, 0.6, 0.9, 0.97, 1.0)
SHOWN_CHAINS = 4
DEPTH = {"coronary": 20, "wine": 40, "tic-tac-toe": 300}  # nats shown below the exact draws
SET_ROWS = (0, 1, 2, 5, 10, 20, 40, 80, 200)
MOST_PAIRS = 8
PLAIN = next(iter(PRIORS))

Floats = NDArray[np.float64]


class Race(Experiment):
    """Eight samplers towards the same edges, each with its own clock.

    Parameters
    ----------
    stops : seconds at which errors are taken, rising

    Attributes
    ----------
    widget : what to display
    dataset : the list of data sets
    share : the slider, share of local moves of the hybrid sampler
    runner : Run, Stop and progress; `runner.run_now()` runs at once
    found : sampler -> [(seconds, SAD of each chain)]
    panel : the `Panel`, with sources "race" and "race_lines"
    """

    found: Found

    def __init__(self, *, stops: Sequence[float] = STOPS) -> None:
        self._stops = stops
        self.dataset = choice("data set", DATASETS, "wine")
        self.share = size_slider("local moves of the hybrid", SHARES, 0.1)
        nothing: Found = {label: [] for label in RACERS}
        super().__init__(self.dataset, self.share, nothing=nothing, unit="ms")
        (self.panel,) = self.panels

    def _work(self, asked: tuple[str, float], progress: Progress) -> Found:
        name, share = asked
        return race(name, share=share, stops=self._stops, progress=progress)

    def _columns(self) -> list[dict[str, Any]]:
        return [{"race": plots.race_data(self.found), "race_lines": plots.race_lines(self.found)}]

    def _pictures(self) -> list[Any]:
        return [plots.race(self.found, (self._stops[0], self._stops[-1]))]

    def _captions(self) -> list[str]:
        if not any(self.found.values()):
            return ["Press Run. Each sampler gets the same time; its own clock counts."]
        last = {label: points[-1] for label, points in self.found.items() if points}
        best = min(last, key=lambda label: float(np.mean(last[label][1])))
        seconds = heads(self.dataset.value)[1]
        return [
            f"{self.dataset.value}. Line: mean over chains; bar: best to worst chain. Least error "
            f"so far: {best}, {np.mean(last[best][1]):.2f} after {last[best][0]:.2g} s. For "
            f"comparison: the exact edges themselves took {1000 * seconds:.2g} ms, which is on "
            f"the clock of {NEEDS_DAGS[0]}."
        ]


class Shares:
    """Hybrid chains by their share of local moves: 8 chains each, n (n - 1) x 100 moves.

    Attributes
    ----------
    widget : what to display
    dataset : the list of data sets
    share : the slider, beta in the paper
    errors, trace : the `Panel`s, with sources "chain_errors" and "hybrid_trace"
    """

    def __init__(self) -> None:
        for name, share in product(DATASETS, SHARES):  # now, so that the slider answers at once
            hybrid(name, share)
        self.dataset = choice("data set", DATASETS, "wine")
        self.share = size_slider("share of local moves", SHARES, 1.0)
        captions = self._captions()
        self.errors, self.trace = (
            Panel(picture, caption)
            for picture, caption in zip(self._pictures(), captions, strict=True)
        )
        self.share.observe(self._change, "value")
        self.dataset.observe(self._change_data, "value")
        self.widget = stacked(
            side_by_side(self.dataset, self.share), side_by_side(self.errors, self.trace)
        )

    def _lines(self) -> tuple[Floats, dict[str, Floats]]:
        draws = hybrid(self.dataset.value, self.share.value)
        n = draws.values.shape[2]
        moves = n * (n - 1) * np.arange(1.0, draws.values.shape[1] + 1)
        chains = draws.log_target[:SHOWN_CHAINS]
        return moves, {f"chain {c}": line for c, line in enumerate(chains, start=1)}

    def _pictures(self) -> tuple[Any, Any]:
        errors = plots.chain_errors(
            SHARES,
            share_errors(self.dataset.value),
            self.share.value,
            x_label="share of local moves, β",
            y_range=(0.1, 50.0),
            title="Error of each of 8 chains, second half",
        )
        mean, sd = usual_targets(self.dataset.value)
        trace = plots.traces(
            *self._lines(),
            band=(mean - 2 * sd, mean + 2 * sd),
            y_range=(mean - DEPTH[self.dataset.value], mean + 6),
            y_label="ln p(G, D) (nats)",
            name="hybrid_trace",
            title="Four of the chains",
            alt="Log target of the DAGs of four chains, with the range of exact draws shaded",
        )
        return errors, trace

    def _captions(self) -> tuple[str, str]:
        errors = share_errors(self.dataset.value)[SHARES.index(self.share.value)]
        stats = hybrid(self.dataset.value, self.share.value).stats
        rates = [
            f"{stats[key].mean():.2%} of the {kind} moves accepted"
            for kind in ("local", "global")
            if (key := f"acceptance_{kind}") in stats
        ]
        return (
            f"{self.dataset.value}, β = {self.share.value:g}: SAD {errors.min():.2f} to "
            f"{errors.max():.2f}, mean {errors.mean():.2f}.",
            f"{', '.join(rates)}. Shaded: mean ± 2 standard deviations of the exact posterior.",
        )

    def _change(self, change: Any) -> None:
        captions = self._captions()
        columns = plots.chain_errors_data(
            SHARES, share_errors(self.dataset.value), self.share.value
        )
        self.errors.update(captions[0], chain_errors=columns)
        self.trace.update(captions[1], hybrid_trace=plots.traces_data(*self._lines()))

    def _change_data(self, change: Any) -> None:
        panels = zip((self.errors, self.trace), self._pictures(), self._captions(), strict=True)
        for panel, picture, caption in panels:
            panel.show(picture, caption)


@cache
def share_errors(name: str) -> Floats:
    """(shares, 8): SAD of the second half of each chain of `hybrid`, by share of local moves."""
    where = target(name)
    return np.array([chain_sads(second_half(hybrid(name, share)), where) for share in SHARES])


class Beliefs:
    """The same rows under five priors: five variables, exact, by the sum over 29,281 DAGs.

    Attributes
    ----------
    widget : what to display
    prior : the list of priors
    rows : the slider
    heat, moved : the `Panel`s, with sources "believed" and "answers"
    """

    def __init__(self) -> None:
        for prior, rows in product(PRIORS, SIZES):  # now, so that the controls answer at once
            believed(prior, rows)
        self.prior = choice("prior", list(PRIORS), "order-modular")
        self.rows = size_slider("rows", SIZES, 200)
        heat = plots.heat_map(self.edges(), five().names, name="believed")
        self.heat = Panel(heat, self._captions()[0])
        self.moved = Panel(self._pairs(), self._captions()[1])
        for control in (self.prior, self.rows):
            control.observe(self._change, "value")
        self.widget = stacked(
            side_by_side(self.prior, self.rows), side_by_side(self.heat, self.moved)
        )

    def edges(self) -> Floats:
        """(5, 5) edge probabilities under the chosen prior."""
        return believed(self.prior.value, self.rows.value)

    def _pairs(self) -> Any:
        names, plain = five().names, believed(PLAIN, self.rows.value)
        gap = np.abs(self.edges() - plain) - np.eye(5)  # edges only
        places = [divmod(i, 5) for i in np.argsort(-gap, axis=None, kind="stable")[:MOST_PAIRS]]
        labels = [f"{names[int(u)]} → {names[int(v)]}" for u, v in places]
        return plots.answer_pairs(
            [plain[place] for place in places],
            [self.edges()[place] for place in places],
            labels,
            posteriors=(PLAIN, "the prior chosen"),
            title="The edges that move most",
            alt="Probabilities of the eight edges that the prior moves most, under both priors",
        )

    def _captions(self) -> tuple[str, str]:
        gap = bn.diagnostics.sad(self.edges(), believed(PLAIN, self.rows.value))
        rows = f"{self.rows.value:,} rows" if self.rows.value else "No rows, the prior itself"
        return (
            f"{self.prior.value}. {rows}, {self.edges().sum():.2f} edges expected.",
            f"SAD from “{PLAIN}”: {gap:.2f}.",
        )

    def _change(self, change: Any) -> None:
        captions = self._captions()
        self.heat.update(captions[0], believed=plots.heat_map_data(self.edges(), five().names))
        self.moved.show(self._pairs(), captions[1])  # other edges, other labels


class Doing:
    """A -> B -> C -> D with some rows in which one variable was set: what the model sees in it.

    Attributes
    ----------
    widget : what to display
    which : the list of variables to set
    rows : the slider, number of rows with that variable set, of 400 in all
    told, untold : the `Panel`s, with sources "told" and "untold"
    """

    def __init__(self) -> None:
        for v, many, told in product(range(4), SET_ROWS, (True, False)):
            directed(v, many, told=told)
        self.which = choice("set the variable", NAMES)
        self.rows = size_slider("rows with it set", SET_ROWS, 20)
        captions = self._captions()
        self.told, self.untold = (
            Panel(plots.heat_map(self.edges(told=told), NAMES, name=name, title=title), caption)
            for told, name, title, caption in (
                (True, "told", "The model knows which cells were set", captions[0]),
                (False, "untold", "Nobody told the model", captions[1]),
            )
        )
        for control in (self.which, self.rows):
            control.observe(self._change, "value")
        self.widget = stacked(
            side_by_side(self.which, self.rows), side_by_side(self.told, self.untold)
        )

    def edges(self, *, told: bool) -> Floats:
        """(4, 4) exact edge probabilities."""
        return directed(NAMES.index(self.which.value), self.rows.value, told=told)

    def _captions(self) -> tuple[str, str]:
        known, unknown = (
            min(self.edges(told=told)[v, v + 1] for v in range(3)) for told in (True, False)
        )
        return (
            f"{self.which.value} set in {self.rows.value} of {ROWS} rows. The least probable of "
            f"A → B, B → C, C → D has {known:.2f}.",
            f"The same rows, taken for observed: {unknown:.2f}.",
        )

    def _change(self, change: Any) -> None:
        captions = self._captions()
        self.told.update(captions[0], told=plots.heat_map_data(self.edges(told=True), NAMES))
        self.untold.update(captions[1], untold=plots.heat_map_data(self.edges(told=False), NAMES))
