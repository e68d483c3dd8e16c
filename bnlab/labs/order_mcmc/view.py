"""A walk move by move, two chains, walks at one temperature, and coupled chains."""

from collections.abc import Mapping
from functools import cache
from itertools import product
from math import factorial

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab import diagnostics, features, plots
from bnlab.labs.board import choice, size_slider
from bnlab.labs.datasets import Case, dataset_choice
from bnlab.labs.order_mcmc.chains import (
    BY_BDEU,
    KINDS,
    LONG,
    chain,
    coupled,
    edge_given_orders,
    long_chains,
    posterior,
    steps,
    tempered,
    usual_weights,
)
from bnlab.labs.view import Board, View

STEP_STOPS = (*range(1, 41), 50, 100, 200, 500, 1000, 2000, 5000)
CHAIN_STOPS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, LONG)
TWO_CASES = ("wine", BY_BDEU, "tic-tac-toe")
APART = "tic-tac-toe"  # which keeps single chains apart
DEPTH = 300  # nats shown below draws from the posterior of that
BETA_STOPS = (0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1)
SCHEDULES: Mapping[str, type[bn.Linear] | type[bn.Harmonic]] = {
    "linear": bn.Linear,
    "harmonic": bn.Harmonic,
}
TEMPERATURES = (2, 4, 8, 16, 32)
CHAINS = ("chain 1", "chain 2")
WALKS = ("walk 1", "walk 2")
FOUR = ("single 1", "single 2", "coupled 1", "coupled 2")

Floats = NDArray[np.float64]
Schedule = bn.Linear | bn.Harmonic


class Steps(View):
    """A walk on the orders of the coronary data, or of a table of your own, move by move.

    Attributes
    ----------
    kind, step : the controls; `step.value` is the number of moves made
    move, walked, exact : the `Panel`s, with sources "move", "walked" and "exact"
    """

    beside = (("move",), ("walked", "exact"))

    def __init__(self, data: bn.Data | None = None) -> None:
        self._case: Case = "coronary" if data is None else data
        super().__init__(kind=choice("moves", KINDS), step=size_slider("move number", STEP_STOPS))

    def edges(self) -> Floats:
        """(n, n) edge probabilities, the mean over the orders after each of the moves so far."""
        return walked_edges(self._case, **self.values())

    def draw(self, kind: str, step: int) -> Board:
        """The last move, and averages so far beside the exact ones."""
        exact, walk = posterior(self._case), steps(self._case, kind, STEP_STOPS[-1])[:step]
        names, now, edges = exact.table.names, walk[-1], walked_edges(self._case, kind, step)
        chance = f"accepted with probability exp({now.gain:.2f}) = {np.exp(min(now.gain, 0)):.2g}"
        verdict = f"{chance}: {'accepted' if now.move.accepted else 'rejected'}"
        if now.gain >= 0:
            verdict = "at least as good, so accepted"
        accepted = sum(each.move.accepted for each in walk)
        so_far, all_orders = (
            plots.heat_map(values, names, name=name, title=title)
            for values, name, title in (
                (edges, "walked", "Average over the orders visited so far"),
                (exact.edges, "exact", f"Exact: all {factorial(len(names))} orders"),
            )
        )
        return {
            "move": (
                plots.order_move(now.order, now.move.proposed, names),
                f"Move {step:,}: ln weight changes by {now.gain:+.2f} nats; {verdict}.",
            ),
            "walked": (
                so_far,
                f"{accepted:,} of {step:,} moves accepted. SAD from the exact edges: "
                f"{diagnostics.sad(edges, exact.edges):.3f}. A rejected move counts the order "
                "where it stays once more.",
            ),
            "exact": (all_orders, "By dynamic programming, order-modular."),
        }


def walked_edges(case: Case, kind: str, step: int) -> Floats:
    """Return the mean of the edges over the orders after each of the first moves, (n, n)."""
    visited = [each.move.order for each in steps(case, kind, STEP_STOPS[-1])[:step]]
    zeros, table = np.zeros((1, len(visited))), posterior(case).table
    draws = bn.Draws(np.array([visited]), zeros, zeros, "orders", "order-modular", table.names)
    return features.edges(draws, table=table)


class TwoChains(View):
    """Two chains from two random orders: their traces, and whether their edges agree.

    Attributes
    ----------
    case, length : the controls; `length.value` draws of each chain, nested prefixes
    trace, scatter : the `Panel`s, with sources "trace" and "agreement"
    """

    def __init__(self, data: bn.Data | None = None) -> None:
        super().__init__(
            case=dataset_choice(TWO_CASES, data, label="posterior"),
            length=size_slider("draws of each chain", CHAIN_STOPS, 200),
        )

    def edges(self) -> tuple[Floats, Floats]:
        """The (n, n) edge probabilities of the two chains."""
        return _edges_at(**self.values())

    def draw(self, case: Case, length: int) -> Board:
        """The traces of both chains, and the edges of one against those of the other."""
        (mean, sd), exact, edges = usual_weights(case), posterior(case), _edges_at(case, length)
        trace = plots.traces(
            *_trace(long_chains(case).prefix(length), CHAINS),
            band=(mean - 2 * sd, mean + 2 * sd),
            y_range=(mean - 9 * sd, mean + 5 * sd),
            alt="Log weights of the orders of two chains, with the range of exact draws shaded",
        )
        return {
            "trace": (
                trace,
                f"{length:,} draws of each chain, n moves apart. Shaded: mean ± 2 standard "
                "deviations of independent draws from the exact posterior.",
            ),
            "scatter": (
                plots.agreement(*edges, exact.table.names),
                f"SAD between the chains: {_sads(edges, exact.edges)}",
            ),
        }


class Temperature(View):
    """Two walks at one temperature, on the posterior that keeps two chains apart, or on your own.

    Attributes
    ----------
    beta : the slider; `beta.value` is the inverse temperature
    trace, scatter : the `Panel`s, with sources "hot_trace" and "hot_agreement"
    """

    def __init__(self, data: bn.Data | None = None) -> None:
        self._case: Case = APART if data is None else data
        super().__init__(beta=size_slider("inverse temperature β", BETA_STOPS, 1))

    def edges(self) -> tuple[Floats, Floats]:
        """The (n, n) edge probabilities of the two walks, averages over their orders."""
        return _tempered_edges(self._case, **self.values())

    def draw(self, beta: float) -> Board:
        """The traces of both walks, and the edges of one against those of the other."""
        draws, exact = tempered(self._case, beta), posterior(self._case)
        (mean, sd), edges = usual_weights(self._case), _tempered_edges(self._case, beta)
        depth = DEPTH
        if self._case != APART:
            depth = mean + 20 - tempered(self._case, 0).log_target.min()
        trace = plots.traces(
            *_trace(draws, WALKS),
            band=(mean - 2 * sd, mean + 2 * sd),
            y_range=(mean - depth, mean + 15),
            name="hot_trace",
            title="Trace of each walk at this temperature",
            alt="Log weights of the orders of two walks at one temperature, the usual range shaded",
        )
        scatter = plots.agreement(
            *edges,
            exact.table.names,
            labels=WALKS,
            name="hot_agreement",
            title="Edge probabilities of the two walks",
        )
        return {
            "trace": (
                trace,
                f"β = {beta}: {draws.stats['acceptance'].mean():.3f} of the moves accepted. The "
                f"orders are {max(mean - draws.log_target.mean(), 0.0):.1f} nats lighter than "
                "draws from the posterior (shaded), on average.",
            ),
            "scatter": (scatter, f"SAD between the walks: {_sads(edges, exact.edges)}"),
        }


class Coupled(View):
    """Two runs of coupled chains beside two single chains, for as many moves.

    Attributes
    ----------
    schedule, temperatures : the controls; `temperatures.value` coupled chains of a run
    trace, accepted, scatter : the `Panel`s, with sources "averages", "tempered_acceptance",
        "tempered_acceptance_exchanges" and "coupled_agreement"
    """

    def __init__(self, data: bn.Data | None = None) -> None:
        self._case: Case = APART if data is None else data
        for name, size in product(SCHEDULES, TEMPERATURES):  # now, so that controls answer at once
            _coupled_edges(self._case, _schedule(name, size))
        super().__init__(
            schedule=choice("steps of β", tuple(SCHEDULES)),
            temperatures=size_slider("temperatures", TEMPERATURES, 8),
        )

    def draws(self) -> bn.Draws:
        """The draws of the two runs."""
        return coupled(self._case, _schedule(**self.values()))

    def edges(self) -> tuple[Floats, Floats]:
        """The (n, n) edge probabilities of the two runs."""
        return _coupled_edges(self._case, _schedule(**self.values()))

    def draw(self, schedule: str, temperatures: int) -> Board:
        """An edge so far by single and coupled chains, what is accepted, and the edges of both."""
        betas, exact = _schedule(schedule, temperatures), posterior(self._case)
        stats, edges = coupled(self._case, betas).stats, _coupled_edges(self._case, betas)
        names, (u, v), single = exact.table.names, *_single_given(self._case)
        given = edge_given_orders(coupled(self._case, betas), exact.table, u, v)
        exchanges = stats["acceptance_exchange"].mean(axis=0)
        trace = plots.traces(
            *_averages(single, given, temperatures, len(names)),
            y_range=(-0.03, 1.03),
            x_label="moves of all chains of a run",
            y_label="average so far",
            name="averages",
            title=f"Probability of {names[u]} → {names[v]}",
            alt="Average so far of an edge's probability, two single chains and two coupled runs",
        )
        scatter = plots.agreement(
            *edges,
            names,
            labels=("run 1", "run 2"),
            name="coupled_agreement",
            title="Edge probabilities of the two coupled runs",
        )
        return {
            "trace": (
                trace,
                f"Exact: {exact.edges[u, v]:.2f}. R-hat of this edge: single "
                f"{diagnostics.rhat(single):.2f}, coupled {diagnostics.rhat(given):.3f}. Effective "
                f"draws: single {diagnostics.ess(single):,.0f} of {single.size:,}, coupled "
                f"{diagnostics.ess(given):,.0f} of {given.size:,}.",
            ),
            "accepted": (
                plots.tempered_acceptance(
                    stats["beta"], stats["acceptance"], stats["acceptance_exchange"]
                ),
                f"Each of the {temperatures} chains makes 1/{temperatures} of the moves. Exchanges "
                f"of neighbours accepted: from {exchanges.min():.3f} to {exchanges.max():.3f}.",
            ),
            "scatter": (
                scatter,
                f"Largest difference between the runs: {diagnostics.max_error(*edges):.2f}. SAD "
                f"between them: {diagnostics.sad(*edges):.2f}; from the exact edges: "
                f"{diagnostics.sad(edges[0], exact.edges):.2f} and "
                f"{diagnostics.sad(edges[1], exact.edges):.2f}.",
            ),
        }


def _trace(draws: bn.Draws, labels: tuple[str, str]) -> tuple[Floats, dict[str, Floats]]:
    size, n = draws.values.shape[1:]
    return n * np.arange(1.0, size + 1), dict(zip(labels, draws.log_target, strict=True))


def _sads(edges: tuple[Floats, Floats], exact: Floats) -> str:
    """Return how far two chains are from each other and from the exact edges, in words."""
    first, second = (diagnostics.sad(each, exact) for each in edges)
    between = diagnostics.sad(*edges)
    return f"{between:.2f}. From the exact edges: {first:.2f} and {second:.2f}."


def _averages(
    single: Floats, given: Floats, temperatures: int, n: int
) -> tuple[Floats, dict[str, Floats]]:
    """Return moves (T,) of a run, and the average of the edge so far: single and coupled runs."""
    size = given.shape[1]
    done = np.arange(LONG // temperatures - size + 1, LONG // temperatures + 1)
    lines = (*_so_far(single)[:, temperatures * done - 1], *_so_far(given))
    return n * temperatures * done.astype(np.float64), dict(zip(FOUR, lines, strict=True))


def _so_far(values: Floats) -> Floats:
    """Return the mean of the draws of each chain up to each, (chains, draws)."""
    means: Floats = values.cumsum(axis=1) / np.arange(1, values.shape[1] + 1)
    return means


def _schedule(schedule: str, temperatures: int) -> Schedule:
    return SCHEDULES[schedule](temperatures - 1)


def _pair(case: Case, draws: bn.Draws) -> tuple[Floats, Floats]:
    """Return the (n, n) edges of each of two chains."""
    table = posterior(case).table
    first, second = (features.edges(chain(draws, c), table=table) for c in (0, 1))
    return first, second


@cache
def _edges_at(case: Case, length: int) -> tuple[Floats, Floats]:
    return _pair(case, long_chains(case).prefix(length))


@cache
def _tempered_edges(case: Case, beta: float) -> tuple[Floats, Floats]:
    return _pair(case, tempered(case, beta))


@cache
def _coupled_edges(case: Case, schedule: Schedule) -> tuple[Floats, Floats]:
    return _pair(case, coupled(case, schedule))


@cache
def _single_given(case: Case) -> tuple[tuple[int, int], Floats]:
    """Return the edge about which the two single chains differ most, and its probabilities."""
    first, second = _edges_at(case, LONG)
    u, v = divmod(int(np.abs(first - second).argmax()), len(first))
    return (u, v), edge_given_orders(long_chains(case), posterior(case).table, u, v)
