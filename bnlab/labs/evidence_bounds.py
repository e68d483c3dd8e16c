"""The view and the checks of notebooks/08_evidence_bounds.ipynb.

Bounds on the evidence from both sides, by annealing up and back.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import permutations, product
from typing import Any

import numpy as np

import bnlab as bn
from bnlab import plots
from bnlab.checks import Floats
from bnlab.labs import board
from bnlab.labs.annealed_importance_sampling import GAME, ROW_STOPS, STEPS, TICKS, posterior
from bnlab.labs.board import Case, Told, exercise, setup as setup, size_slider
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


@exercise(properties=4)
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
    chance = np.multiply.outer(np.multiply.outer(p, p), p**0.3).ravel()  # exact, then drawn anew
    chance /= chance.sum()
    yield "over all runs on six orders 1/w has not the mean 1/Z: begin at n!, weigh after each move"
    yield np.isclose(chance @ np.exp([-led(run) for run in product(log_p, repeat=3)]), 1 / p.sum())
    yield "on tic-tac-toe, the bound by nine such runs is not the package's"
    exact, rng = posterior(GAME, 400), np.random.default_rng(SEED)
    walker, log_w, steps = OrderWalker.of(exact.table), [], np.linspace(0, 1, 31)
    for start in bn.sample_orders(exact, draws=9, rng=rng).values[0]:
        move = partial(_moved, walker, rng.spawn(1)[0])
        log_w.append(reverse(start, steps, lambda o: walker.log_weights(np.array([o]))[0], move))
    how: Any = {"runs": 9, "rng": np.random.default_rng(SEED), "method": bn.AIS(bn.Linear(30))}
    high = bn.estimate_upper_bound(exact, **how).log_value + exact.log_z - exact.log_evidence
    yield np.isclose(bn.upper_bound(log_w, bins=9).log_value, high, rtol=0, atol=1e-6)


def _moved(walker: OrderWalker, rng: np.random.Generator, order: Any, beta: float) -> Any:
    """The order after one move of the package."""
    return walker.walk(np.array(order), np.array([beta], float), 1, bn.Moves(), rng)[0][0]


@exercise(properties=6)
def check_ratio(function: Callable[[Floats, Floats, Floats, Floats, float, int], Any]) -> Told:
    """Exercise 2: `function(up_a, down_a, up_b, down_b, delta, bins)` bounds ln Z_a / Z_b."""
    rng, flat = np.random.default_rng(1), np.zeros(18)
    some = [rng.normal(centre, 0.5, 36) for centre in (2, 2.2, 0, 0.1)]

    def ends(arrays: Sequence[Floats], delta: float = 0.05, bins: int = 9) -> Floats:
        up_a, down_a, up_b, down_b = (each.copy() for each in arrays)
        low, high = function(up_a, down_a, up_b, down_b, delta, bins)
        return np.array([low, high], float)

    def by_package(delta: float, bins: int) -> list[float]:
        split: Any = {"delta": delta / 4, "bins": bins}
        a, b = (
            (bn.lower_bound(up, **split).log_value, bn.upper_bound(down, **split).log_value)
            for up, down in (some[:2], some[2:])
        )
        return [a[0] - b[1], a[1] - b[0]]

    sure = 2 * math.log(80) / 9
    yield "return two numbers, the lower one first"
    yield ends(some)[0] < ends(some)[1]
    yield "with a and b exchanged, the ratio is turned over: (-high, -low)"
    yield np.allclose(ends([*some[2:], *some[:2]]), -ends(some)[::-1])
    yield "a factor of Z_a moves both ends: add 3 to ln w of a"
    yield np.allclose(ends([some[0] + 3, some[1] + 3, *some[2:]]), ends(some) + 3)
    yield "four bounds may fail, so each must fail less often: where all weights are equal the "
    yield "interval for delta = 0.05 and 9 bins is 0 -+ 2 ln(80) / 9"
    yield np.allclose(ends([flat] * 4), [-sure, sure])
    yield "it differs from what the package's bounds give"
    yield np.allclose(ends(some), by_package(0.05, 9))
    yield "for delta = 0.2 and 4 bins it differs from what the package's bounds give"
    yield np.allclose(ends(some, 0.2, 4), by_package(0.2, 4))


@exercise(properties=4)
def check_tight(function: Callable[[np.random.Generator, int], Any]) -> Told:
    """Exercise 3: `function(rng, size)` are weights of mean 1 whose bound fails near delta."""
    yield "my_weights(rng, 90000) must be 90,000 numbers"
    weights = np.asarray(function(np.random.default_rng(3), 90_000), float)
    yield weights.shape == (90_000,)
    yield "weights are not negative"
    yield weights.min() >= 0
    yield "their mean must be 1, and it is not to within 0.01"
    yield abs(weights.mean() - 1) < 0.01
    yield "the bound, 9 bins of one weight each, fails in less than 4 of 100 experiments: it does "
    yield "only when all nine are above 1 / 0.05**(1/9)"
    least = weights.reshape(10_000, 9).min(axis=1)
    yield (0.05 ** (1 / 9) * least > 1).mean() >= 0.04
