"""One move at a time, and two chains beside each other: controls wired to package and plots."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab import features, plots
from bnlab.labs.board import Panel, choice, side_by_side, size_slider, stacked
from bnlab.labs.order_mcmc.chains import (
    KINDS,
    LONG,
    Step,
    chain,
    long_chains,
    posterior,
    steps,
    usual_weights,
)

DATASET = "coronary"
STEP_STOPS = (*range(1, 41), 50, 100, 200, 500, 1000, 2000, 5000)
CHAIN_STOPS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, LONG)
TWO_CASES = ("wine", "tic-tac-toe, BDeu, 3 parents", "tic-tac-toe")
LABELS = ("chain 1", "chain 2")


Floats = NDArray[np.float64]


class Steps:
    """A walk on the orders of the coronary data, move by move.

    Attributes
    ----------
    widget : what to display
    kind : the list of kinds of move
    step : the slider; `step.value` is the number of moves made
    move, walked, exact : the `Panel`s, with sources "move", "walked" and "exact"
    """

    def __init__(self) -> None:
        self._exact = posterior(DATASET)
        self.kind = choice("moves", KINDS)
        self.step = size_slider("move number", STEP_STOPS)
        names = self._exact.table.names
        now = self._now()
        captions = self._captions()
        self.move = Panel(plots.order_move(now.order, now.move.proposed, names), captions[0])
        walked = plots.heat_map(
            self.edges(), names, name="walked", title="Average over the orders visited so far"
        )
        self.walked = Panel(walked, captions[1])
        exact = plots.heat_map(
            self._exact.edges, names, name="exact", title="Exact: all 720 orders"
        )
        self.exact = Panel(exact, "By dynamic programming, order-modular.")
        for control in (self.kind, self.step):
            control.observe(self._change, "value")
        self.widget = stacked(
            side_by_side(self.kind, self.step), self.move, side_by_side(self.walked, self.exact)
        )

    def edges(self) -> Floats:
        """(n, n) edge probabilities, the mean over the orders after each of the moves so far."""
        visited = [step.move.order for step in self._walk()]
        zeros = np.zeros((1, len(visited)))
        names = self._exact.table.names
        draws = bn.Draws(np.array([visited]), zeros, zeros, "orders", "order-modular", names)
        return features.edges(draws, table=self._exact.table)

    def _walk(self) -> list[Step]:
        """The moves so far."""
        return steps(DATASET, self.kind.value, STEP_STOPS[-1])[: self.step.value]

    def _now(self) -> Step:
        return self._walk()[-1]

    def _captions(self) -> tuple[str, str]:
        now = self._now()
        if now.gain >= 0:
            verdict = "at least as good, so accepted"
        else:
            chance = f"accepted with probability exp({now.gain:.2f}) = {np.exp(now.gain):.2g}"
            verdict = f"{chance}: {'accepted' if now.move.accepted else 'rejected'}"
        accepted = sum(step.move.accepted for step in self._walk())
        return (
            f"Move {self.step.value:,}: ln weight changes by {now.gain:+.2f} nats; {verdict}.",
            f"{accepted:,} of {self.step.value:,} moves accepted. SAD from the exact edges: "
            f"{bn.diagnostics.sad(self.edges(), self._exact.edges):.3f}. A rejected move counts "
            "the order where it stays once more.",
        )

    def _change(self, change: Any) -> None:
        now, names = self._now(), self._exact.table.names
        captions = self._captions()
        self.move.update(
            captions[0], move=plots.order_move_data(now.order, now.move.proposed, names)
        )
        self.walked.update(captions[1], walked=plots.heat_map_data(self.edges(), names))


@cache
def _edges_at_stops(name: str) -> Floats:
    """(2, stops, n, n): edges of each chain from its first draws."""
    draws, table = long_chains(name), posterior(name).table
    return np.array(
        [
            [features.edges(chain(draws.prefix(stop), c), table=table) for stop in CHAIN_STOPS]
            for c in (0, 1)
        ]
    )


class TwoChains:
    """Two chains from two random orders: their traces, and whether their edges agree.

    Attributes
    ----------
    widget : what to display
    case : the list of posteriors
    length : the slider; `length.value` is the number of draws of each chain, nested prefixes
    trace, scatter : the `Panel`s, with sources "trace" and "agreement"
    """

    def __init__(self) -> None:
        self.case = choice("posterior", TWO_CASES)
        self.length = size_slider("draws of each chain", CHAIN_STOPS, 200)
        captions = self._captions()
        self.trace, self.scatter = (
            Panel(picture, caption)
            for picture, caption in zip(self._pictures(), captions, strict=True)
        )
        self.length.observe(self._change_length, "value")
        self.case.observe(self._change_case, "value")
        self.widget = stacked(
            side_by_side(self.case, self.length), side_by_side(self.trace, self.scatter)
        )

    def edges(self) -> tuple[Floats, Floats]:
        """The (n, n) edge probabilities of the two chains."""
        first, second = _edges_at_stops(self.case.value)[:, CHAIN_STOPS.index(self.length.value)]
        return first, second

    def _trace(self) -> tuple[Floats, dict[str, Floats]]:
        draws = long_chains(self.case.value).prefix(self.length.value)
        n = draws.values.shape[2]
        moves = n * np.arange(1.0, self.length.value + 1)
        return moves, dict(zip(LABELS, draws.log_target, strict=True))

    def _pictures(self) -> tuple[Any, Any]:
        mean, sd = usual_weights(self.case.value)
        trace = plots.traces(
            *self._trace(),
            band=(mean - 2 * sd, mean + 2 * sd),
            y_range=(mean - 9 * sd, mean + 5 * sd),
            alt="Log weights of the orders of two chains, with the range of exact draws shaded",
        )
        return trace, plots.agreement(*self.edges(), posterior(self.case.value).table.names)

    def _captions(self) -> tuple[str, str]:
        first, second = self.edges()
        exact = posterior(self.case.value).edges
        sad = bn.diagnostics.sad
        return (
            f"{self.length.value:,} draws of each chain, n moves apart. Shaded: mean ± 2 standard "
            "deviations of independent draws from the exact posterior.",
            f"SAD between the chains: {sad(first, second):.2f}. From the exact edges: "
            f"{sad(first, exact):.2f} and {sad(second, exact):.2f}.",
        )

    def _change_length(self, change: Any) -> None:
        captions = self._captions()
        names = posterior(self.case.value).table.names
        self.trace.update(captions[0], trace=plots.traces_data(*self._trace()))
        self.scatter.update(captions[1], agreement=plots.agreement_data(*self.edges(), names))

    def _change_case(self, change: Any) -> None:
        panels = zip((self.trace, self.scatter), self._pictures(), self._captions(), strict=True)
        for panel, picture, caption in panels:
            panel.show(picture, caption)
