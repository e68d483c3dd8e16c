"""Walks at one temperature, and coupled chains: controls wired to package and plots."""

from collections.abc import Mapping
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab import features, plots
from bnlab.labs.board import Panel, choice, side_by_side, size_slider, stacked
from bnlab.labs.order_mcmc.chains import (
    LONG,
    chain,
    coupled,
    edge_given_orders,
    long_chains,
    posterior,
    tempered,
    usual_weights,
)

CASE = "tic-tac-toe"  # which keeps single chains apart
BETA_STOPS = (0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1)
SCHEDULES: Mapping[str, type[bn.Linear] | type[bn.Harmonic]] = {
    "linear": bn.Linear,
    "harmonic": bn.Harmonic,
}
TEMPERATURES = (2, 4, 8, 16, 32)
STATS = ("beta", "acceptance", "acceptance_exchange")
TWO = ("walk 1", "walk 2")
FOUR = ("single 1", "single 2", "coupled 1", "coupled 2")

Floats = NDArray[np.float64]
Schedule = bn.Linear | bn.Harmonic


def _pair(draws: bn.Draws) -> tuple[Floats, Floats]:
    """The (n, n) edges of each of two chains."""
    table = posterior(CASE).table
    first, second = (features.edges(chain(draws, c), table=table) for c in (0, 1))
    return first, second


class Temperature:
    """Two walks at one temperature, on the posterior that keeps two chains apart.

    Attributes
    ----------
    widget : what to display
    beta : the slider; `beta.value` is the inverse temperature
    trace, scatter : the `Panel`s, with sources "hot_trace" and "hot_agreement"
    """

    def __init__(self) -> None:
        self._names = posterior(CASE).table.names
        self.beta = size_slider("inverse temperature β", BETA_STOPS, 1)
        mean, sd = usual_weights(CASE)
        captions = self._captions()
        trace = plots.traces(
            *self._trace(),
            band=(mean - 2 * sd, mean + 2 * sd),
            y_range=(mean - 300, mean + 15),
            name="hot_trace",
            title="Trace of each walk at this temperature",
            alt="Log weights of the orders of two walks at one temperature, the usual range shaded",
        )
        scatter = plots.agreement(
            *self.edges(),
            self._names,
            labels=TWO,
            name="hot_agreement",
            title="Edge probabilities of the two walks",
        )
        self.trace, self.scatter = Panel(trace, captions[0]), Panel(scatter, captions[1])
        self.beta.observe(self._change, "value")
        self.widget = stacked(self.beta, side_by_side(self.trace, self.scatter))

    def edges(self) -> tuple[Floats, Floats]:
        """The (n, n) edge probabilities of the two walks, averages over their orders."""
        return _edges_at(self.beta.value)

    def _trace(self) -> tuple[Floats, dict[str, Floats]]:
        draws = tempered(CASE, self.beta.value)
        size, n = draws.values.shape[1:]
        return n * np.arange(1.0, size + 1), dict(zip(TWO, draws.log_target, strict=True))

    def _captions(self) -> tuple[str, str]:
        draws, exact, sad = tempered(CASE, self.beta.value), posterior(CASE), bn.diagnostics.sad
        first, second = self.edges()
        below = usual_weights(CASE)[0] - draws.log_target.mean()
        return (
            f"β = {self.beta.value}: {draws.stats['acceptance'].mean():.3f} of the moves accepted. "
            f"The orders are {max(below, 0.0):.1f} nats lighter than draws from the posterior "
            "(shaded), on average.",
            f"SAD between the walks: {sad(first, second):.2f}. From the exact edges: "
            f"{sad(first, exact.edges):.2f} and {sad(second, exact.edges):.2f}.",
        )

    def _change(self, change: Any) -> None:
        captions = self._captions()
        self.trace.update(captions[0], hot_trace=plots.traces_data(*self._trace()))
        columns = plots.agreement_data(*self.edges(), self._names)
        self.scatter.update(captions[1], hot_agreement=columns)


@cache
def _edges_at(beta: float) -> tuple[Floats, Floats]:
    return _pair(tempered(CASE, beta))


class Coupled:
    """Two runs of coupled chains beside two single chains, for as many moves.

    Attributes
    ----------
    widget : what to display
    schedule : the list of schedules, "linear" or "harmonic"
    temperatures : the slider; `temperatures.value` is the number of coupled chains of a run
    trace, accepted, scatter : the `Panel`s, with sources "averages", "tempered_acceptance",
        "tempered_acceptance_exchanges" and "coupled_agreement"
    """

    def __init__(self) -> None:
        self._names = posterior(CASE).table.names
        self.schedule = choice("steps of β", tuple(SCHEDULES))
        self.temperatures = size_slider("temperatures", TEMPERATURES, 8)
        for steps, size in product(SCHEDULES.values(), TEMPERATURES):
            _coupled_edges(steps(size - 1))  # now, so that the controls answer at once
        pictures = self._pictures()
        self.trace, self.accepted, self.scatter = (
            Panel(picture, caption)
            for picture, caption in zip(pictures, self._captions(), strict=True)
        )
        for control in (self.schedule, self.temperatures):
            control.observe(self._change, "value")
        self.widget = stacked(
            side_by_side(self.schedule, self.temperatures),
            side_by_side(self.trace, self.accepted, self.scatter),
        )

    def draws(self) -> bn.Draws:
        """The draws of the two runs."""
        return coupled(CASE, self._schedule())

    def edges(self) -> tuple[Floats, Floats]:
        """The (n, n) edge probabilities of the two runs."""
        return _coupled_edges(self._schedule())

    def averages(self) -> tuple[Floats, dict[str, Floats]]:
        """Moves (T,) of a run, and the average of the edge so far: of single and coupled runs."""
        n, temperatures = len(self._names), self.temperatures.value
        given = _coupled_given(self._schedule())
        size = given.shape[1]
        skipped = LONG // temperatures - size
        single = _so_far(_single_given())[
            :, temperatures * np.arange(skipped + 1, skipped + size + 1) - 1
        ]
        places = n * temperatures * np.arange(skipped + 1.0, skipped + size + 1)
        return places, dict(zip(FOUR, (*single, *_so_far(given)), strict=True))

    def _schedule(self) -> Schedule:
        return SCHEDULES[self.schedule.value](self.temperatures.value - 1)

    def _pictures(self) -> tuple[Any, Any, Any]:
        stats, (u, v) = self.draws().stats, split_edge()
        trace = plots.traces(
            *self.averages(),
            y_range=(-0.03, 1.03),
            x_label="moves of all chains of a run",
            y_label="average so far",
            name="averages",
            title=f"Probability of {self._names[u]} → {self._names[v]}",
            alt="Average so far of an edge's probability, two single chains and two coupled runs",
        )
        accepted = plots.tempered_acceptance(*(stats[key] for key in STATS))
        scatter = plots.agreement(
            *self.edges(),
            self._names,
            labels=("run 1", "run 2"),
            name="coupled_agreement",
            title="Edge probabilities of the two coupled runs",
        )
        return trace, accepted, scatter

    def _captions(self) -> tuple[str, str, str]:
        diagnostics, exact, (u, v) = bn.diagnostics, posterior(CASE).edges, split_edge()
        single, given = _single_given(), _coupled_given(self._schedule())
        exchanges = self.draws().stats["acceptance_exchange"].mean(axis=0)
        first, second = self.edges()
        return (
            f"Exact: {exact[u, v]:.2f}. R-hat of this edge: single {diagnostics.rhat(single):.2f}, "
            f"coupled {diagnostics.rhat(given):.3f}. Effective draws: single "
            f"{diagnostics.ess(single):,.0f} of {single.size:,}, coupled "
            f"{diagnostics.ess(given):,.0f} of {given.size:,}.",
            f"Each of the {self.temperatures.value} chains makes "
            f"1/{self.temperatures.value} of the moves. Exchanges of neighbours accepted: from "
            f"{exchanges.min():.3f} to {exchanges.max():.3f}.",
            f"Largest difference between the runs: {diagnostics.max_error(first, second):.2f}. SAD "
            f"between them: {diagnostics.sad(first, second):.2f}; from the exact edges: "
            f"{diagnostics.sad(first, exact):.2f} and {diagnostics.sad(second, exact):.2f}.",
        )

    def _change(self, change: Any) -> None:
        captions, stats = self._captions(), self.draws().stats
        beta, moves, exchanges = (stats[key] for key in STATS)
        self.trace.update(captions[0], averages=plots.traces_data(*self.averages()))
        self.accepted.update(
            captions[1],
            tempered_acceptance=plots.tempered_moves_data(beta, moves),
            tempered_acceptance_exchanges=plots.tempered_exchanges_data(beta, exchanges),
        )
        columns = plots.agreement_data(*self.edges(), self._names)
        self.scatter.update(captions[2], coupled_agreement=columns)


@cache
def split_edge() -> tuple[int, int]:
    """(u, v), the edge about which the two single chains differ most.

    Examples
    --------
    >>> split_edge()
    (0, 4)
    """
    first, second = _pair(long_chains(CASE))
    u, v = np.unravel_index(np.abs(first - second).argmax(), first.shape)
    return int(u), int(v)


@cache
def _single_given() -> Floats:
    return edge_given_orders(long_chains(CASE), posterior(CASE).table, *split_edge())


@cache
def _coupled_given(schedule: Schedule) -> Floats:
    return edge_given_orders(coupled(CASE, schedule), posterior(CASE).table, *split_edge())


@cache
def _coupled_edges(schedule: Schedule) -> tuple[Floats, Floats]:
    return _pair(coupled(CASE, schedule))


def _so_far(values: Floats) -> Floats:
    """(chains, draws): the mean of the draws of each chain up to each."""
    means: Floats = values.cumsum(axis=1) / np.arange(1, values.shape[1] + 1)
    return means
