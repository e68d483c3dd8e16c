"""The view and the checks of notebooks/08_evidence_bounds.ipynb.

Bounds on the evidence from both sides, by annealing up and back.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise, permutations, product
from typing import Any

import numpy as np

import bnlab as bn
from bnlab import plots
from bnlab.checks import Floats
from bnlab.labs import board
from bnlab.labs.annealed_importance_sampling import GAME, ROW_STOPS, STEPS, TICKS, posterior
from bnlab.labs.board import Case, Told, exercise, if_right, setup as setup, size_slider
from bnlab.labs.predict import predict as predict, review as review
from bnlab.labs.view import Board, Experiment, Progress
from bnlab.sampling.order_target import OrderWalker

SEED = 2013
STEP_STOPS = (100, 300, 1000, 3000, 10_000)
BINS = 9
LEAST_GAP = -2 * math.log(0.05) / BINS  # nats, between bounds from weights that are all equal

Found = list[tuple[int, float, float]]
"""Annealing steps, and the ln of both bounds less the exact ln p(D), nats."""


class Bounds(Experiment):
    """Lower and upper bounds on the evidence, closing as runs get more steps.

    Parameters
    ----------
    data : a table of your own, in the place of tic-tac-toe
    stops : numbers of annealing steps
    """

    def __init__(self, data: bn.Data | None = None, *, stops: Sequence[int] = STEP_STOPS) -> None:
        self._stops = list(stops)
        self._case: Case = GAME if data is None else data
        m = board.rows(self._case).m
        super().__init__(
            rows=size_slider("rows", board.stops(ROW_STOPS, m), m),
            runs=size_slider("runs of each bound", (9, 27, 90, 180), 27),
            nothing=[],
            unit="moves",
        )

    def compute(self, progress: Progress, /, rows: int, runs: int) -> Found:
        """Return bounds, each right with probability 0.95, at each number of steps in turn."""
        exact = posterior(self._case, rows)
        total, done, going = 2 * runs * sum(self._stops), 0, True
        rng = np.random.default_rng(SEED)
        found: Found = []

        def tell(before: int, steps: int, finished: int, of: int, snapshot: object) -> bool:
            nonlocal going
            going = progress(before + finished * steps, total, found)
            return going

        for steps in self._stops:
            moves = runs * steps
            how: Any = {"runs": runs, "rng": rng, "method": bn.AIS(bn.Linear(steps))}
            try:
                up, back = (partial(tell, before, steps) for before in (done, done + moves))
                lower = bn.estimate_lower_bound(exact.table, **how, progress=up)
                upper = bn.estimate_upper_bound(exact, **how, progress=back)
            except bn.Stopped:
                break
            if lower.run.stopped or upper.run.stopped:
                break
            done += 2 * moves
            low, high = (bound.log_value - exact.log_evidence for bound in (lower, upper))
            found = [*found, (steps, low, high)]
            if not going:  # too late for these bounds, in time for the next
                break
        return found

    def draw(self, found: Found, rows: int, runs: int) -> Board:
        """The bounds, nan where there is none yet, and the gap between them."""
        steps = self._stops
        known = {each: (lower, upper) for each, lower, upper in found}
        lower, upper = np.transpose([known.get(r, (np.nan, np.nan)) for r in steps])
        captions = "Press Run: the least number of steps comes first.", "Not run yet."
        if found:
            last, low, high = found[-1]
            captions = (
                f"{rows:,} rows, {runs} runs for each bound. At {last:,} steps: {low:+.2f} and "
                f"{high:+.2f} nats from the exact value, each with probability 0.95.",
                f"At {last:,} steps: {high - low:.2f} nats, a factor of {np.exp(high - low):,.3g} "
                "between the bounds.",
            )
        gap = plots.error_curve(
            steps,
            {"gap": upper - lower},
            {f"equal weights in all {BINS} bins": [LEAST_GAP] * len(steps)},
            x=plots.Axis(STEPS, ticks=steps),
            y=plots.Axis("upper − lower bound (nats)", (0.5, 60.0), ticks=TICKS),
            name="gap",
            title="Gap between the bounds",
            alt="Gap between the bounds against annealing steps, and the gap for equal weights",
        )
        return {
            "bounds": (plots.evidence_bounds(steps, lower, upper), captions[0]),
            "gap": (gap, captions[1]),
        }


def reverse(order: Any, betas: Floats, log_p: Callable[[Any], float], move: Any) -> float:
    """Return ln w of one run back: exercise 1."""
    log_w = math.lgamma(len(order) + 1)
    for high, low in pairwise(betas[::-1]):
        order = move(order, high)
        log_w += (high - low) * log_p(order)
    return log_w


def right_reverse(function: Callable[..., Any]) -> Callable[..., Any]:
    """The student's function if it makes runs back, else the lab's."""
    given: Any = (1, 2, 3), np.array([0, 0.3, 1]), lambda o: o[-1], lambda o, beta: (*o[1:], beta)
    return if_right(function, lambda f: bool(np.isclose(f(*given), reverse(*given))), reverse)


def log_p_and_move(table: bn.ScoreTable, rng: np.random.Generator) -> tuple[Any, Any]:
    """Two arguments of `reverse`, by the package."""
    walker, kinds = OrderWalker.of(table), bn.Moves()
    return (
        lambda order: walker.log_weights(np.array([order]))[0],
        lambda order, beta: walker.walk(np.array(order), np.array([beta]), 1, kinds, rng)[0][0],
    )


@exercise(properties=3)
def check_reverse(reverse: Callable[..., Any]) -> Told:
    """Exercise 1: `reverse(order, betas, log_p, move)` is ln w of a run back."""
    p, betas = np.random.default_rng(1).uniform(0.1, 5, 6), np.array([0, 0.3, 1])
    log_p, asked = dict(zip(permutations(range(3)), np.log(p), strict=True)), list[float]()

    def led(path: Sequence[Any]) -> float:
        def move(order: Any, beta: float) -> Any:
            asked.append(beta)
            return path[len(asked)]

        asked.clear()
        return float(reverse(path[0], betas.copy(), lambda order: log_p[tuple(order)], move))

    yield "reverse must return one number, after one move for each step"
    yield np.isfinite(led([*log_p][:3]))
    yield "move by the higher of the two betas of each step: first at 1, never at 0"
    yield asked == [1, 0.3]
    yield "over all runs on six orders 1/w has not the mean 1/Z: begin at n!, weigh after each move"
    back, q = np.exp([-led(run) for run in product(log_p, repeat=3)]), p**0.3
    yield np.isclose(np.kron(np.kron(p, p), q) @ back, p.sum() * q.sum())  # draws, then anew


@exercise(properties=5)
def check_ratio(function: Callable[..., Any]) -> Told:
    """Exercise 2: `function(up_a, back_a, up_b, back_b, delta, bins)` bounds ln Z_a / Z_b."""
    rng, flat = np.random.default_rng(1), np.zeros(18)
    some = [rng.normal(centre, 0.5, 36) for centre in (2, 2.2, 0, 0.1)]

    def ends(arrays: Sequence[Floats], delta: float = 0.05, bins: int = 9) -> Floats:
        low, high = function(*(each.copy() for each in arrays), delta, bins)
        return np.array([low, high], float)

    def by_package(delta: float, bins: int) -> list[float]:
        split: Any = {"delta": delta / 4, "bins": bins}
        low = [bn.lower_bound(up, **split).log_value for up in some[::2]]
        high = [bn.upper_bound(down, **split).log_value for down in some[1::2]]
        return [low[0] - high[1], high[0] - low[1]]

    yield "return two numbers, the lower one first"
    yield ends(some)[0] < ends(some)[1]
    yield "with a and b exchanged, the ratio is turned over: (-high, -low)"
    yield np.allclose(ends([*some[2:], *some[:2]]), -ends(some)[::-1])
    yield "a factor of Z_a moves both ends: add 3 to ln w of a"
    yield np.allclose(ends([some[0] + 3, some[1] + 3, *some[2:]]), ends(some) + 3)
    yield "four bounds may fail, so each must fail less often: where all weights are equal the "
    yield "interval for delta = 0.05 and 9 bins is 0 -+ 2 ln(80) / 9"
    yield np.allclose(ends([flat] * 4), np.array([-2, 2]) * math.log(80) / 9)
    yield "it differs from what the package's bounds give, for one delta and bins or another"
    yield all(np.allclose(ends(some, *how), by_package(*how)) for how in ((0.05, 9), (0.2, 4)))


@exercise(properties=3)
def check_tight(function: Callable[[np.random.Generator, int], Any]) -> Told:
    """Exercise 3: `function(rng, size)` are weights of mean 1 whose bound fails near delta."""
    yield "my_weights(rng, 90000) must be 90,000 numbers, none of them negative"
    weights = np.asarray(function(np.random.default_rng(3), 90_000), float)
    yield weights.shape == (90_000,) and weights.min() >= 0
    yield "their mean must be 1, and it is not to within 0.01"
    yield abs(weights.mean() - 1) < 0.01
    yield "the bound, 9 bins of one weight each, fails in less than 4 of 100 experiments: it does "
    yield "only when all nine are above 1 / 0.05**(1/9)"
    yield (0.05 ** (1 / 9) * weights.reshape(10_000, 9).min(axis=1) > 1).mean() >= 0.04
