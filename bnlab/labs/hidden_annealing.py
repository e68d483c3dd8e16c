"""The views and the checks of notebooks/10_hidden_annealing.ipynb."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import pairwise, product
from math import log
from typing import Any, NamedTuple

import numpy as np

import bnlab as bn
from bnlab import plots
from bnlab.checks import Floats, Ints
from bnlab.hidden import AIS, SMC, HiddenModel, JointDirichlet, RowDirichlet, Warped
from bnlab.labs.board import Told, choice, exercise, if_right, setup as setup, size_slider
from bnlab.labs.hidden_scores import (
    FIVE,
    NAMES,
    SEED,
    gold as gold,
    rank as rank,
    rows as rows,
    scored as scored,
    structures as structures,
    true_model as true_model,
    true_number as true_number,
)
from bnlab.labs.predict import predict as predict, review as review
from bnlab.labs.view import Board, Experiment, Progress, View
from bnlab.papers.beal2003.study import both_ways
from bnlab.papers.beal2003.world import ARITIES, SIZES, TABLE_6_3

# Shapes of the schedule (6.73), from slowest at the prior to even.
SHAPES = {"e = 0.05": 0.05, "e = 0.2 (thesis)": 0.2, "e = 1": 1.0, "linear": 1e9}
Completions = Mapping[tuple[int, ...], float]  # H -> ln p(D, H)
Annealing = Callable[[Any, Any, Any, np.random.Generator], Any]
START = (np.full((1, 2), 0.5), *(np.array([[0.6, 0.2, 0.2], [0.2, 0.2, 0.6]]),) * 2)
LINES = ((0, 0), (1, 0), (1, 1), (2, 0), (2, 1))  # (v, j)
Redraws = JointDirichlet | RowDirichlet
MOVES: Mapping[str, Redraws] = {
    "one line at a time": RowDirichlet(),
    "all lines at once (thesis)": JointDirichlet(),
}
PARTS = 16  # of a schedule, for ratios and acceptance
STEP_STOPS = (16, 64, 256, 1024, 4096)
SIDE_ENDS = {8: (-8.0, 8.0), 80: (-90.0, 30.0), 480: (-620.0, 80.0)}  # rows -> axis, nats
WIDTH_TICKS = (0.1, 1, 10, 100, 1000)  # nats
LOOP_STEPS = (64, 256, 1024)
LOOP_ROWS = 480
LOOP_RUNS = 6
THESIS = list(SHAPES)[1]
STEPS = "annealing steps r"
SIDE_RUNS = 20  # of each direction

PUBLISHED_RUNS: Mapping[int, tuple[int, ...]] = {
    n: tuple(TABLE_6_3[SIZES.index(n)][:5].tolist()) for n in (10, 40, 480, 1280, 5120)
}
"""Rank of the true structure by five single annealing runs, Table 6.3 of [Beal2003]."""


class Problem(NamedTuple):
    """Tables drawn from the prior, data simulated from them, and what ln p(data) is, nats."""

    data: bn.Data
    tables: tuple[Floats, ...]
    reference: float
    reference_is: str


@cache
def simulated(n: int) -> Problem:
    """Tables from the prior of the true structure, the first n of 480 rows, and their evidence."""
    rng = np.random.default_rng([SEED, LOOP_ROWS])
    net = bn.BayesNet.random_tables(true_model().parents, ARITIES, rng, names=NAMES)
    data = net.sample(LOOP_ROWS, rng).select(NAMES[2:]).prefix(n)
    if n <= 8:
        value = bn.hidden.exact_evidence(true_model(), data)
    else:
        value = bn.hidden.estimate_evidence(true_model(), data, runs=4, rng=rng, method=SMC(200))
    return Problem(data, net.tables, value.log_value, "exact" if n <= 8 else "SMC")


class Band(NamedTuple):
    """What runs from both ends say at one number of steps, nats from the reference."""

    steps: int
    upward: float  # means of ln weight, below and above the truth on average
    reverse: float
    low: float  # bounds that hold with probability 0.95 each
    high: float


class Loop(NamedTuple):
    """Ratios and acceptance in `PARTS` parts of a schedule."""

    upward: Floats  # (PARTS,) mean ln ratio, nats
    reverse: Floats
    betas: Floats  # (PARTS + 1,) inverse temperatures between which the parts lie
    acceptance: Floats  # (PARTS,) accepted share of the upward moves


@cache
def loop(n: int, steps: int, shape: float, moves: Redraws, runs: int = 10) -> Loop:
    """Forward against reverse ratios on simulated data [Beal2003, sec. 6.5.1]."""
    rng, method = np.random.default_rng([SEED, n, steps]), AIS(Warped(steps, shape), moves)
    data, tables = simulated(n)[:2]
    up, back = both_ways(data, tables, method=method, runs=runs, rng=rng)
    spans = up.acceptance.size
    of_span = np.arange(spans) * PARTS // spans
    starts = np.searchsorted(of_span, np.arange(PARTS + 1))  # in spans
    edges = -(-starts * steps // spans)  # in steps: span i begins at step ceil(i K / spans)

    def summed(values: Floats) -> Floats:
        return np.bincount(of_span, values, PARTS).astype(np.float64)

    return Loop(
        summed(up.log_ratio.mean(axis=0)),
        summed(back.log_ratio.mean(axis=0)),
        up.betas[edges],
        summed(np.nan_to_num(up.acceptance)) / summed(np.isfinite(up.acceptance) * 1.0),
    )


class Sides(Experiment):
    """Upward and reverse runs on simulated data: the band between them closes."""

    def __init__(self, *, stops: Sequence[int] = STEP_STOPS) -> None:
        self._stops = stops
        super().__init__(
            size=size_slider("rows", tuple(SIDE_ENDS), 80),
            shape=choice("schedule", list(SHAPES), THESIS),
            nothing=[],
        )

    def compute(self, progress: Progress, /, size: int, shape: str) -> list[Band]:
        """Return both sides at each number of steps that is complete, with row-wise moves."""
        problem, rng = simulated(size), np.random.default_rng([SEED, size, SIDE_RUNS])
        found: list[Band] = []
        done, total, going = 0, 2 * SIDE_RUNS * sum(self._stops), True
        for steps in self._stops:

            def tell(*_: object, steps: int = steps, found: list[Band] = found) -> bool:
                nonlocal done, going
                done += steps
                going = going and progress(done, total, found)
                return going

            how = {"method": AIS(Warped(steps, SHAPES[shape])), "runs": SIDE_RUNS, "rng": rng}
            pair = both_ways(problem.data, problem.tables, **how, progress=tell)
            if any(annealed.run.stopped for annealed in pair):
                break
            w, back = (annealed.log_weight - problem.reference for annealed in pair)
            low, high = bn.lower_bound(w, bins=1), bn.lower_bound(-back, bins=1)
            means = float(w.mean()), float(back.mean())
            found = [*found, Band(steps, *means, low.log_value, -high.log_value)]
            if not going:
                break
        return found

    def draw(self, found: list[Band], size: int, shape: str) -> Board:
        """The means of both sides so far, and how far apart they are."""
        known = {band.steps: (band.upward, band.reverse) for band in found}
        upward, reverse = np.transpose([known.get(k, (np.nan, np.nan)) for k in self._stops])
        captions = "Press Run: the least number of steps comes first.", "Not run yet."
        if found:
            last = found[-1]
            captions = (
                f"r = {last.steps:,}, {SIDE_RUNS} runs each way: {last.upward:+.2f} and "
                f"{last.reverse:+.2f} nats from the {simulated(size).reference_is} value. Bounds "
                f"that hold with probability 0.95 each: {last.low:+.2f} and {last.high:+.2f}.",
                f"r = {last.steps:,}: {last.reverse - last.upward:.2f} nats.",
            )
        x = plots.Axis(STEPS, ticks=self._stops)
        band = plots.log_curves(
            self._stops,
            {"upward, mean": upward, "reverse, mean": reverse},
            {"exact" if size <= 8 else "evidence by SMC": 0.0},
            x=x,
            y=plots.Axis("mean ln weight − reference (nats)", SIDE_ENDS[size]),
            title=f"The evidence from both sides, {size} simulated rows",
            alt="Mean log weight of upward and reverse runs against annealing steps",
            name="band",
            band=("upward, mean", "reverse, mean"),
        )
        width = plots.error_curve(
            self._stops,
            {"width": reverse - upward},
            {},
            x=x,
            y=plots.Axis("reverse − upward (nats)", (0.05, 1000.0), ticks=WIDTH_TICKS),
            name="width",
            title="Width of the band",
            alt="Difference of the means of reverse and upward runs against annealing steps",
        )
        return {"band": (band, captions[0]), "width": (width, captions[1])}


class Loops(View):
    """Ratios of upward and reverse runs, and accepted moves, along the schedule."""

    def __init__(self) -> None:
        for k, e, moves in product(LOOP_STEPS, SHAPES.values(), MOVES.values()):
            loop(LOOP_ROWS, k, e, moves, LOOP_RUNS)  # now, so that the controls answer at once
        super().__init__(
            steps=size_slider(STEPS, LOOP_STEPS, 256),
            shape=choice("schedule", list(SHAPES), THESIS),
            moves=choice("moves", list(MOVES)),
        )

    def draw(self, steps: int, shape: str, moves: str) -> Board:
        """Mean ln p(y | theta) by both, since parts differ in width, and what is accepted."""
        now = loop(LOOP_ROWS, steps, SHAPES[shape], MOVES[moves], LOOP_RUNS)
        gap, width = now.reverse - now.upward, np.diff(now.betas)
        worst = int(np.argmax(gap))
        return {
            "ratios": (
                plots.hysteresis(now.upward / width, now.reverse / width),
                f"Reverse − upward: {gap.sum():.1f} nats in all; the most in part {worst + 1} of "
                f"{PARTS} ({gap[worst]:.1f}), from β = {now.betas[worst]:.3g}.",
            ),
            "acceptance": (
                plots.acceptance_path(now.betas[:-1], now.acceptance),
                f"Accepted: {now.acceptance[0]:.0%} in the first part, {now.acceptance[-1]:.0%} "
                "in the last; a mark for each part.",
            ),
        }


def right_anneal(function: Annealing, log_likelihood: Any, move: Any) -> Annealing:
    """The student's function if it anneals, else one that does, by these parts of the notebook."""

    def ours(theta: Any, betas: Any, rows: Any, rng: np.random.Generator) -> Any:
        log_w = 0.0
        for i, (before, beta) in enumerate(pairwise(betas)):
            log_w += (beta - before) * log_likelihood(theta, rows)
            theta = move(theta, *LINES[i % 5], beta, rows, rng)
        return log_w

    return if_right(function, _anneals, ours)


def _run(function: Annealing, betas: Any, seed: int = 1) -> float:
    """What the function returns of the five rows, with the random numbers of the package's run."""
    rng = np.random.default_rng(seed).spawn(1)[0]
    for table in START:  # as the package, which drops them
        rng.dirichlet(np.ones(table.shape[1]), size=len(table))
    return float(function([table.copy() for table in START], betas, FIVE, rng))


def _anneals(function: Annealing) -> bool:
    """Whether its runs, up and back, are those of the package."""
    model, x = HiddenModel([0, 1, 1], [2, 3, 3], hidden=[0]), np.linspace(0, 1, 21)
    how: Any = {"runs": 1, "method": AIS(Warped(20), RowDirichlet(1e-300)), "start": START}

    def off(seed: int, sign: int) -> float:
        how.update(rng=np.random.default_rng(seed), reverse=sign < 0)
        ours = _run(function, (0.2 * x / (1.2 - x))[::sign], seed)
        return float(abs(sign * ours - bn.hidden.anneal(model, FIVE, **how).log_weight[0]))

    return all(off(seed, sign) < 1e-6 for seed, sign in product(range(5), (1, -1)))


@exercise(properties=3)
def check_anneal(function: Annealing) -> Told:
    """Exercise 1: `function(theta, betas, rows, rng)` is ln w of a run."""
    yield "return one number"
    yield np.isfinite(_run(function, [0, 1]))
    yield "one step from 0 to 1: ln p(D | theta) of the tables that the run starts at"
    yield np.isclose(_run(function, [0, 1]), log(6.4e-5))
    yield "in each step weigh by the change of beta, then move at the new beta; go on from there"
    yield _anneals(function)


@exercise(properties=6)
def check_completions(function: Callable[[Completions, Floats, np.random.Generator], Any]) -> Told:
    """Exercise 2: `function(log_p, betas, rng)` is ln w of a run over completions."""
    every = list(product((0, 1), repeat=5))
    log_p = {h: -6.0 - 2.0 * abs(sum(h) - 2) - 1.5 * (h[0] == h[4]) for h in every}
    flat, exact = dict.fromkeys(every, -3.0), np.logaddexp.reduce(list(log_p.values()))

    def runs(steps: int, repeats: int, weight: Completions = log_p) -> Floats:
        rng, betas = np.random.default_rng(1), np.linspace(0, 1, steps + 1)
        return np.array([function(weight, betas, rng) for _ in range(repeats)], np.float64)

    ends = 5 * np.log(2) + np.array(list(log_p.values()))
    yield "return one number"
    yield np.isfinite(runs(1, 1)).all()
    yield "one step from 0 to 1: the sum at beta = 0, 32, times p(D, H) of the first H"
    yield all(np.isclose(one, ends).any() for one in runs(1, 20))
    yield "H is drawn anew for each run"
    yield runs(1, 40).std() > 0
    yield "completions that are all alike: every run is exact"
    yield np.allclose(runs(7, 10, flat), -3 + 5 * np.log(2))
    yield "the mean of w must be the sum: weigh at the H before the move"
    w = np.exp(runs(3, 4000) - exact)
    yield abs(w.mean() - 1) < 4 * w.std() / np.sqrt(w.size)
    yield "with 60 steps runs must agree far better: move each state in turn, at the new beta"
    yield runs(60, 200).std() < 0.3 * runs(1, 200).std()


@exercise(properties=7)
def check_noisy_ranks(function: Callable[..., Any]) -> Told:
    """Exercise 3: `function(log_evidence, number, sd, repeats, rng)` are ranks under noise."""
    some, tied, far = np.linspace(0, -20, 21), np.zeros(21), np.append(0.0, np.full(20, -1000.0))

    def result(values: Floats, number: int, sd: float, seed: int = 1) -> Ints:
        rng = np.random.default_rng(seed)
        return np.asarray(function(values.copy(), number, sd, 2000, rng))

    yield "return one rank for each repeat"
    yield result(some, 4, 1.0).shape == (2000,)
    yield "without noise all of them are the rank by evidence"
    yield (result(some, 4, 0) == 5).all()
    yield "ranks begin at 1"
    yield result(some, 0, 3.0).min() == 1
    yield "a lead of 1,000 nats survives noise of 10"
    yield (result(far, 0, 10.0) == 1).all()
    yield "equal evidence: any rank from 1 to 21, 11 on average"
    yield abs(result(tied, 3, 5.0).mean() - 11) < 0.7
    yield "every structure has noise of its own, the true one too: of two structures 3 nats "
    yield "apart, noise of 2 nats turns about 14 of 100"
    turned = result(np.array([0.0, -3.0]), 0, 2.0) == 2
    yield 0.11 < turned.mean() < 0.18  # exactly Phi(-3 / (2 sqrt 2)) = 14.4 %
    yield "other seeds, other ranks: take all noise from rng"
    yield not np.array_equal(result(some, 4, 5.0), result(some, 4, 5.0, seed=2))
