"""A walk move by move, two chains, walks at one temperature, and coupled chains."""

from collections.abc import Callable
from functools import cache
from itertools import islice, product
from math import factorial
from typing import Any, NamedTuple

import numpy as np
from bokeh.plotting import figure

import bnlab as bn
from bnlab import diagnostics, features, plots
from bnlab.checks import Floats, Ints
from bnlab.labs.board import (
    SCHEDULES,
    Case,
    Schedule,
    bdeu_table,
    choice,
    dataset_choice,
    k2_posterior,
    size_slider,
)
from bnlab.labs.view import Board, View
from bnlab.papers.store import chain
from bnlab.sampling import OrderStep, OrderWalker

KINDS = ("swap", "adjacent", "relocate")
SEED = 2003
CHAIN_SEED = 2  # two chains that tic-tac-toe keeps apart, as it does every second pair
LONG = 20_000  # draws of each long chain
TEMPERED = 5000  # draws of each walk at one temperature
STEP_STOPS = (*range(1, 41), 50, 100, 200, 500, 1000, 2000, 5000)
CHAIN_STOPS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, LONG)
APART = "tic-tac-toe"  # which keeps single chains apart
DEPTH = 300  # nats shown below draws from the posterior of that
BETA_STOPS = (0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1)
TEMPERATURES = (2, 4, 8, 16, 32)
WALKS = ("walk 1", "walk 2")
FOUR = ("single 1", "single 2", "coupled 1", "coupled 2")

Pair = tuple[Floats, Floats]
"""The (n, n) edge probabilities of two chains, walks or runs."""

BY_BDEU = "tic-tac-toe, BDeu, 3 parents"
"""The only posterior that is not by the K2 score with the Fair prior and up to 5 parents."""


@cache
def posterior(case: Case) -> bn.OrderPosterior:
    """Return the exact order-modular posterior of a data set, or of a table of your own."""
    return bn.order_posterior(bdeu_table(APART)) if case == BY_BDEU else k2_posterior(case)


@cache
def usual_weights(case: Case) -> tuple[float, float]:
    """Mean and standard deviation of ln weight under the posterior, from independent draws."""
    draws = bn.sample_orders(posterior(case), draws=LONG, rng=np.random.default_rng(SEED))
    return float(draws.log_target.mean()), float(draws.log_target.std())


@cache
def long_chains(case: Case) -> bn.Draws:
    """Two chains of 20,000 draws, n moves apart, without burn-in."""
    table, rng = posterior(case).table, np.random.default_rng(CHAIN_SEED)
    return bn.sample_orders(table, draws=LONG, chains=2, burn_in=0, rng=rng)


def first_draws(case: Case, length: int) -> bn.Draws:
    """Return so many draws of each of the two long chains."""
    return long_chains(case).prefix(length)


class Step(NamedTuple):
    """One move of a walk: the order before it, ln of the ratio of weights (nats), and its fate."""

    order: Ints
    gain: float
    move: OrderStep


@cache
def steps(case: Case, kind: str, moves: int) -> list[Step]:
    """A walk on a case from a random order, with all that happens on the way."""
    table, rng = posterior(case).table, np.random.default_rng(SEED)
    start = rng.permutation(table.n)
    kinds = bn.Moves(**{each: float(each == kind) for each in KINDS})
    walk = [*islice(bn.each_order(table, rng=rng, start=start, moves=kinds), moves)]
    orders = np.array([start, *(step.order for step in walk[:-1])])
    proposed = np.array([step.proposed for step in walk])
    weigh = OrderWalker.of(table).log_weights
    gains = weigh(proposed) - weigh(orders)
    return [Step(*step) for step in zip(orders, gains.tolist(), walk, strict=True)]


@cache
def tempered(case: Case, beta: float) -> bn.Draws:
    """Two walks at one inverse temperature, from the two orders where `long_chains` start.

    The draws, 5,000 of each, n moves apart, come from orders in proportion to weight ** beta;
    log_target is ln weight all the same. stats: "acceptance" (2,).
    """
    table = posterior(case).table
    walker, found = OrderWalker.of(table), []
    for rng in np.random.default_rng(CHAIN_SEED).spawn(2):
        betas, start = np.full(TEMPERED, beta), rng.permutation(table.n)
        found.append(walker.walk(start, betas, table.n, bn.Moves(), rng))
    tries = np.array([walk.tally.sum(axis=(0, 1)) for walk in found])
    return bn.Draws(
        np.array([walk.orders for walk in found]),
        np.zeros((2, TEMPERED)),
        np.array([walk.log_weights for walk in found]),
        "orders",
        "order-modular",
        table.names,
        stats={"acceptance": tries[:, 1] / tries[:, 0]},
    )


@cache
def coupled(case: Case, schedule: Schedule) -> bn.Draws:
    """Two runs of coupled chains, each with as many moves as one of `long_chains` has.

    The hottest chain of each run starts where the chain of `long_chains` does, the others at
    random orders. The first tenth of the moves is burn-in.
    """
    table, rng = posterior(case).table, np.random.default_rng(CHAIN_SEED)
    size = LONG // schedule.betas.size
    skipped = size // 10
    plan: dict[str, Any] = {"draws": size - skipped, "burn_in": skipped * table.n, "chains": 2}
    return bn.sample_orders(table, schedule=schedule, rng=rng, **plan)


def edge_given_orders(draws: bn.Draws, table: bn.ScoreTable, u: int, v: int, /) -> Floats:
    """p(u -> v | order, data) of each drawn order, (chains, draws)."""
    place = draws.values.argsort(axis=2)
    before = (place < place[:, :, [v]]) @ (1 << np.arange(table.n))
    sets, which = np.unique(before, return_inverse=True)
    beta = np.exp(table.log_phi[v] - table.log_phi[v].max())
    within = (table.parents[v] & ~sets[:, None]) == 0
    with_u = within & (table.parents[v] >> u & 1 == 1)
    given: Floats = (with_u @ beta / (within @ beta))[which].reshape(before.shape)
    return given


class Steps(View):
    """A walk on the orders of the coronary data, or of a table of your own, move by move.

    Controls `kind` and `step`, the number of moves made; panels `move`, `walked` and `exact`.
    """

    beside = (("move",), ("walked", "exact"))

    def __init__(self, data: bn.Data | None = None) -> None:
        self._case: Case = "coronary" if data is None else data
        super().__init__(kind=choice("moves", KINDS), step=size_slider("move number", STEP_STOPS))

    def draw(self, kind: str, step: int) -> Board:
        """The last move, and averages so far beside the exact ones."""
        exact, walk = posterior(self._case), steps(self._case, kind, STEP_STOPS[-1])[:step]
        names, now, edges = exact.table.names, walk[-1], walked_edges(self._case, kind, step)
        chance = f"accepted with probability exp({now.gain:.2f}) = {np.exp(min(now.gain, 0)):.2g}"
        verdict = f"{chance}: {'accepted' if now.move.accepted else 'rejected'}"
        if now.gain >= 0:
            verdict = "at least as good, so accepted"
        accepted = sum(each.move.accepted for each in walk)
        so_far = "Average over the orders visited so far"
        every = f"Exact: all {factorial(len(names))} orders"
        return {
            "move": (
                plots.order_move(now.order, now.move.proposed, names),
                f"Move {step:,}: ln weight changes by {now.gain:+.2f} nats; {verdict}.",
            ),
            "walked": (
                plots.heat_map(edges, names, name="walked", title=so_far),
                f"{accepted:,} of {step:,} moves accepted. SAD from the exact edges: "
                f"{diagnostics.sad(edges, exact.edges):.3f}. A rejected move counts the order "
                "where it stays once more.",
            ),
            "exact": (
                plots.heat_map(exact.edges, names, name="exact", title=every),
                "By dynamic programming, order-modular.",
            ),
        }


def walked_edges(case: Case, kind: str, step: int) -> Floats:
    """Return the mean of the edges over the orders after each of the first moves, (n, n)."""
    visited = [each.move.order for each in steps(case, kind, STEP_STOPS[-1])[:step]]
    zeros, table = np.zeros((1, len(visited))), posterior(case).table
    draws = bn.Draws(np.array([visited]), zeros, zeros, "orders", "order-modular", table.names)
    return features.edges(draws, table=table)


class TwoChains(View):
    """Two chains from two random orders: their traces, and whether their edges agree.

    Controls `case` and `length`, the draws of each chain, nested prefixes; panels `trace` and
    `scatter`.
    """

    def __init__(self, data: bn.Data | None = None) -> None:
        super().__init__(
            case=dataset_choice(("wine", BY_BDEU, APART), data, label="posterior"),
            length=size_slider("draws of each chain", CHAIN_STOPS, 200),
        )

    def draw(self, case: Case, length: int) -> Board:
        """The traces of both chains, and the edges of one against those of the other."""
        (mean, sd), exact = usual_weights(case), posterior(case)
        draws, edges = first_draws(case, length), pair(case, first_draws, length)
        trace = _traces(
            case,
            draws,
            ("chain 1", "chain 2"),
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

    Control `beta`, the inverse temperature; panels `trace` and `scatter`.
    """

    def __init__(self, data: bn.Data | None = None) -> None:
        self._case: Case = APART if data is None else data
        super().__init__(beta=size_slider("inverse temperature β", BETA_STOPS, 1))

    def draw(self, beta: float) -> Board:
        """The traces of both walks, and the edges of one against those of the other."""
        draws, exact = tempered(self._case, beta), posterior(self._case)
        (mean, _), edges = usual_weights(self._case), pair(self._case, tempered, beta)
        depth = DEPTH
        if self._case != APART:
            depth = mean + 20 - tempered(self._case, 0).log_target.min()
        trace = _traces(
            self._case,
            draws,
            WALKS,
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

    Controls `schedule` and `temperatures`, the chains of a run; panels `trace`, `accepted` and
    `scatter`.
    """

    def __init__(self, data: bn.Data | None = None) -> None:
        self._case: Case = APART if data is None else data
        for name, size in product(SCHEDULES, TEMPERATURES):  # now, so that controls answer at once
            pair(self._case, coupled, _schedule(name, size))
        super().__init__(
            schedule=choice("steps of β", tuple(SCHEDULES)),
            temperatures=size_slider("temperatures", TEMPERATURES, 8),
        )

    def draw(self, schedule: str, temperatures: int) -> Board:
        """An edge so far by single and coupled chains, what is accepted, and the edges of both."""
        betas, exact = _schedule(schedule, temperatures), posterior(self._case)
        draws, edges = coupled(self._case, betas), pair(self._case, coupled, betas)
        names, (u, v), single = exact.table.names, *_single_given(self._case)
        given = edge_given_orders(draws, exact.table, u, v)
        moves, exchanges = draws.stats["acceptance"], draws.stats["acceptance_exchange"]
        swapped = exchanges.mean(axis=0)
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
                plots.tempered_acceptance(draws.stats["beta"], moves, exchanges),
                f"Each of the {temperatures} chains makes 1/{temperatures} of the moves. Exchanges "
                f"of neighbours accepted: from {swapped.min():.3f} to {swapped.max():.3f}.",
            ),
            "scatter": (
                scatter,
                f"Largest difference between the runs: {diagnostics.max_error(*edges):.2f}. SAD "
                f"between them: {_sads(edges, exact.edges, '; from')}",
            ),
        }


def _traces(case: Case, draws: bn.Draws, labels: tuple[str, str], **look: Any) -> figure:
    """Return the traces of two chains, with the usual range of weights shaded."""
    (mean, sd), (size, n) = usual_weights(case), draws.values.shape[1:]
    lines = dict(zip(labels, draws.log_target, strict=True))
    band = mean - 2 * sd, mean + 2 * sd
    return plots.traces(n * np.arange(1.0, size + 1), lines, band=band, **look)


def _sads(edges: Pair, exact: Floats, start: str = ". From") -> str:
    """Return how far two chains are from each other and from the exact edges, in words."""
    first, second = (diagnostics.sad(each, exact) for each in edges)
    return f"{diagnostics.sad(*edges):.2f}{start} the exact edges: {first:.2f} and {second:.2f}."


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


@cache
def pair(case: Case, walk: Callable[[Case, Any], bn.Draws], setting: Any) -> Pair:
    """Return the edges of each of the two chains that are walked so."""
    draws, table = walk(case, setting), posterior(case).table
    first, second = (features.edges(chain(draws, c), table=table) for c in (0, 1))
    return first, second


@cache
def _single_given(case: Case) -> tuple[tuple[int, int], Floats]:
    """Return the edge about which the two single chains differ most, and its probabilities."""
    first, second = pair(case, first_draws, LONG)
    u, v = divmod(int(np.abs(first - second).argmax()), len(first))
    return (u, v), edge_given_orders(long_chains(case), posterior(case).table, u, v)
