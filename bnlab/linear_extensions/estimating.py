"""Estimates of the number of linear extensions, with a guarantee, where exact counts end.

A chain of relaxations R_0, ..., R_L = P leads from a poset that can be counted exactly to the one
in question: R_0 keeps the relations within blocks of elements, and each step adds a few more.
ℓ(P) = ℓ(R_0) times the product of p_i, the chance that a random extension of R_{i-1} obeys R_i
[BrightwellWinkler1991; TalvitieEtAl2018]. Extensions are drawn exactly, by coupling from the past
[ProppWilson1996] on the order polytope, whose uniform points are sorted by uniform extensions
[Stanley1986]. Each p_i is estimated by drawing until k extensions obeyed [Huber2017]; the relative
error of that estimate has a known distribution, whatever p_i is, and so has the error of the
product.
"""

import math
import os
from bisect import bisect_left
from collections.abc import Generator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab import checkpoints, graphs
from bnlab.checkpoints import Arrays, Checkpoint, Kept, generator_states, identity
from bnlab.checks import Bools, Count, Floats, Ints, Share, checked
from bnlab.kernels import posets as kernels
from bnlab.linear_extensions.counting import solve
from bnlab.results import Estimate, Run
from bnlab.running import Clock, Progress, Stopped, Work, run_steps, seed_of

MAX_STATES = 1_000_000
PILOT_DRAWS = 400
PILOT_SWEEPS = 128
STEP = 0.2  # a step adds relations while this share of pilot draws obeys them: cost ~ 1/(p ln(p)^2)
SWEEPS = 8  # of the first draws of a step
BATCH_NUMBERS = 1 << 20  # uniforms in memory at a time
MOST_SWEEPS = 1 << 20  # that a batch of draws could begin with
ROUNDING = 1e-13  # where the bounds of a point are as close as doubles allow


class Step(NamedTuple):
    """From a relaxation, as masks below (n,) of each element, to one more set of pairs (E, 2)."""

    below: Ints
    pairs: Ints


@checked
def estimate_linear_extensions(
    dag: ArrayLike,
    /,
    *,
    eps: Share,
    delta: Share,
    rng: np.random.Generator,
    max_states: Count = MAX_STATES,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Estimate:
    """Estimate ln ℓ(G), the number of linear extensions, to (eps, delta), in nats.

    With probability at least 1 - delta, the estimate of ℓ(G) lies within (1 - eps) ℓ(G) and
    (1 + eps) ℓ(G). It is unbiased, and the bound is no asymptotic one: it follows from the exact
    distribution of the relative error [Huber2017] by Chernoff's inequality. A DAG that `max_states`
    components suffice for is counted exactly, and the estimate then says so.

    Parameters
    ----------
    dag : parent masks (n,), n <= 63
    eps, delta : relative error and probability of a larger one, both in (0, 1)
    rng : the only source of randomness
    max_states : how many components to keep at most while counting R_0 exactly, 32 bytes each
    checkpoint : a file for what is drawn so far, saved every 10 seconds or so, and at a stop. If it
        is there, the same call goes on from it, to the very same estimate
    progress : progress(done, total, None) after each batch of draws that obey; False stops

    Returns
    -------
    Estimate
        kind "unbiased" (of ℓ(G), not of ln ℓ(G)), or "exact"; stderr of ln ℓ(G); confidence
        1 - delta; trace (L + 1,), from ln ℓ(R_0) down to ln ℓ(G).

    Raises
    ------
    ValueError
        If `dag` is no DAG, an option is out of its range, or the checkpoint is damaged or of
        another run.
    Stopped
        If progress returned False: an unfinished estimate would have no guarantee.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> estimate = estimate_linear_extensions([0, 1, 1], eps=0.1, delta=0.05, rng=rng)
    >>> estimate.kind, round(float(np.exp(estimate.log_value)), 6)
    ('exact', 2.0)
    """
    above = graphs.ancestors(graphs.check_dag(dag))
    clock, seed = Clock(), seed_of(rng)
    log_first, blocks = _count_blocks(above, max_states)
    steps = _steps(above, blocks, rng)
    k = successes(eps, delta, len(steps)) if steps else 0
    settings: dict[str, object] = {"eps": eps, "delta": delta, "max_states": max_states}
    identified = identity("relaxations", dag=above, seed=seed, **settings)
    drawn = _Drawn(steps, k, log_first, rng)
    if run_steps(drawn, Checkpoint.at(checkpoint, identified), progress):
        raise Stopped(
            f"stopped after {drawn.done:,} of {k * len(steps):,} draws: an unfinished estimate has "
            "no guarantee"
        )
    trace = drawn.at.trace
    settings |= {"steps": len(steps), "successes": k, "draws": drawn.at.draws}
    return Estimate(
        float(trace[-1]),
        math.sqrt(len(steps) / (k - 0.5)) if steps else 0.0,
        "unbiased" if steps else "exact",
        1 - delta if steps else 1.0,
        trace,
        Run("relaxations" if steps else "components", settings, seed, clock.seconds),
    )


def successes(eps: float, delta: float, steps: int, /) -> int:
    """The smallest k for which a product of `steps` (k - 1) / Gamma(k) keeps (eps, delta)."""

    def kept(k: int) -> bool:
        return _tail(k, steps, math.log1p(-eps), 1) + _tail(k, steps, math.log1p(eps), -1) <= delta

    high = 4
    while not kept(high):
        high *= 2
    return bisect_left(range(high), True, lo=high // 2 + 1, key=kept)


def _tail(k: int, steps: int, log_ratio: float, sign: int) -> float:
    """Chernoff's bound on P(ln ratio <= log_ratio), or >= for sign -1.

    exp(t log_ratio + steps ln E[((k - 1) / Gamma(k))**-t]) is convex in t, E[Gamma(k)**t] =
    Gamma(k + t) / Gamma(k): t > 0 for the lower tail, -k < t < 0 for the upper one.
    """

    def exponent(size: float) -> float:
        t = sign * size
        log_moment = math.lgamma(k + t) - math.lgamma(k) - t * math.log(k - 1)
        return t * log_ratio + steps * log_moment

    low, high = 0.0, k * (1 - 1e-9)
    for _ in range(80):
        third = (high - low) / 3
        if exponent(low + third) < exponent(high - third):
            high -= third
        else:
            low += third
    return math.exp(min(0.0, exponent(low)))


def _count_blocks(above: Ints, max_states: int) -> tuple[float, list[int]]:
    """ln ℓ(R_0) and the blocks of R_0, as masks: all of P, or halves of halves of it."""
    n = above.size
    waiting, blocks, log_density = [(1 << n) - 1], [], 0.0
    while waiting:
        block = waiting.pop()
        inside = np.array(graphs.members(block))
        related = graphs.to_adjacency(above)[np.ix_(inside, inside)]
        try:
            recursion = solve(graphs.from_adjacency(related), max_states)
        except ValueError:
            waiting += _halves(inside, related)
            continue
        blocks.append(block)
        log_density += math.log(recursion.density)
    return math.lgamma(n + 1) + log_density, blocks


def _halves(inside: Ints, related: Bools) -> list[int]:
    """Split a block in two where few relations are cut: by the Fiedler vector of comparability."""
    weights = (related | related.T).astype(float)
    _, vectors = np.linalg.eigh(np.diag(weights.sum(axis=0)) - weights)
    ranking = np.argsort(vectors[:, 1], kind="stable")
    half = inside.size // 2
    return [sum(1 << int(v) for v in inside[part]) for part in (ranking[:half], ranking[half:])]


def _steps(above: Ints, blocks: list[int], rng: np.random.Generator) -> list[Step]:
    """Choose the chain by pilot draws: each step takes relations that most of the draws obey."""
    below, steps = np.zeros_like(above), []
    for block in blocks:
        for v in graphs.members(block):
            below[v] = above[v] & block
    while (missing := np.argwhere(graphs.to_adjacency(above & ~below))).size:
        points = _pilot(below, rng)
        obeyed = points[:, missing[:, 0]] < points[:, missing[:, 1]]
        taken = np.zeros(len(missing), bool)
        alive = np.ones(PILOT_DRAWS, bool)
        while alive.any() and not taken.all():
            shares = obeyed[alive].mean(axis=0)
            shares[taken] = -1.0
            best = int(shares.argmax())
            if taken.any() and shares[best] * alive.mean() < STEP:
                break
            alive &= obeyed[:, best]
            taken[best] = True
        pairs = missing[taken]
        steps.append(Step(below, pairs))
        related = graphs.to_adjacency(below)
        related[pairs[:, 0], pairs[:, 1]] = True
        below = graphs.ancestors(graphs.from_adjacency(related))
    return steps


def _covers(below: Ints) -> tuple[Ints, Ints]:
    """Masks (n,) of the elements directly below each element, and of those directly above."""
    related = graphs.to_adjacency(below)
    direct = related & ~(related @ related)
    return graphs.from_adjacency(direct), graphs.from_adjacency(direct.T)


def _pilot(below: Ints, rng: np.random.Generator) -> Floats:
    """Nearly uniform points (PILOT_DRAWS, n) of the order polytope."""
    shape = (PILOT_DRAWS, PILOT_SWEEPS, below.size)
    low, high = np.zeros((PILOT_DRAWS, below.size)), np.ones((PILOT_DRAWS, below.size))
    kernels.gibbs_sweeps(*_covers(below), rng.random(shape), low, high)
    return (low + high) / 2


class _Position(NamedTuple):
    """How far an estimate is, between two batches of draws."""

    trace: Floats  # of the steps that are done
    draws: int  # made for them
    made: int  # in the step at hand
    obeying: int
    sweeps: int  # to begin the next batch with
    states: NDArray[np.uint8]  # of the generator


class _Drawn(Work):
    """The draws of an estimate so far."""

    begun = False

    def __init__(
        self, steps: list[Step], k: int, log_first: float, rng: np.random.Generator
    ) -> None:
        self._steps, self._k, self._rng = steps, k, rng
        self.at = _Position(np.array([log_first]), 0, 0, 0, SWEEPS, generator_states([rng]))

    @property
    def done(self) -> int:
        """Draws that obey, of `k` for each step."""
        return self._k * (self.at.trace.size - 1) + self.at.obeying

    def steps(self) -> Generator[tuple[int, int], None, None]:
        for step in self._steps[self.at.trace.size - 1 :]:
            covers, reached = _covers(step.below), self.at.trace.size
            while self.at.trace.size == reached:
                self.at = self._next(step, covers)
                yield self.done, self._k * len(self._steps)

    def _next(self, step: Step, covers: tuple[Ints, Ints]) -> _Position:
        """Draw extensions of a relaxation; the step is done when k of them obeyed its pairs."""
        (trace, draws, made, obeying, sweeps, _), k, rng = self.at, self._k, self._rng
        batch = max(32, min(BATCH_NUMBERS // (sweeps * step.below.size), 4 * k))
        verdicts, sweeps = _verdicts(covers, step.pairs, batch, sweeps, rng)
        reached = obeying + np.cumsum(verdicts)
        if reached[-1] < k:
            made, obeying = made + batch, int(reached[-1])
            return _Position(trace, draws, made, obeying, sweeps, generator_states([rng]))
        needed = made + int(np.searchsorted(reached, k)) + 1
        log_p = math.log((k - 1) / rng.standard_gamma(needed))
        trace, states = np.append(trace, trace[-1] + log_p), generator_states([rng])
        return _Position(trace, draws + needed, 0, 0, SWEEPS, states)

    def arrays(self) -> Arrays:
        """The position between two batches."""
        arrays: Arrays = {name: np.asarray(at) for name, at in self.at._asdict().items()}
        return {**arrays, "steps": np.array(self.at.trace.size - 1)}

    def restore(self, saved: Arrays) -> None:
        kept = {name: checkpoints.counts() for name in ("draws", "made", "obeying", "steps")}
        kept |= {"trace": checkpoints.nats("places"), "states": checkpoints.GENERATORS}
        kept["sweeps"] = Kept(np.int64, (), 1, MOST_SWEEPS)
        checkpoints.check(saved, kept, places=len(self._steps) + 1)
        trace, done = saved["trace"], len(saved["trace"]) - 1
        if not (
            saved["steps"] == done
            and math.isclose(trace[0], self.at.trace[0], abs_tol=1e-9)
            and saved["draws"] >= done * self._k
            and saved["made"] >= saved["obeying"]
            and saved["obeying"] < max(1, self._k)
        ):
            raise ValueError("these draws do not make the trace beside them")
        checkpoints.restore_generators([self._rng], saved["states"])
        draws, made, obeying, sweeps = (int(saved[name]) for name in _Position._fields[1:-1])
        self.at = _Position(trace, draws, made, obeying, sweeps, saved["states"])


def _verdicts(
    covers: tuple[Ints, Ints], pairs: Ints, draws: int, sweeps: int, rng: np.random.Generator
) -> tuple[Bools, int]:
    """Which of `draws` uniform points obey all pairs; how many sweeps most of them took.

    Coupling from the past: sweeps that end now run from bounds that hold every point. Where these
    leave a pair undecided, the sweeps are put behind as many earlier ones, and run again.
    """
    n = covers[0].size
    out = np.zeros(draws, bool)
    open_draws, typical = np.arange(draws), 0
    history: list[Floats] = []
    while open_draws.size:
        length = sweeps if not history else sum(block.shape[1] for block in history)
        history.insert(0, rng.random((open_draws.size, length, n)))
        low, high = np.zeros((open_draws.size, n)), np.ones((open_draws.size, n))
        for block in history:
            kernels.gibbs_sweeps(*covers, block, low, high)
        middle = (low + high) / 2
        collapsed = (high - low).max(axis=1) < ROUNDING
        u, v = pairs.T
        obeys = (high[:, u] < low[:, v]).all(axis=1)
        fails = (low[:, u] > high[:, v]).any(axis=1)
        obeys |= collapsed & ~fails & (middle[:, u] < middle[:, v]).all(axis=1)
        out[open_draws[obeys]] = True
        left = ~(obeys | fails | collapsed)
        if not typical and left.sum() * 2 <= draws:
            typical = sum(block.shape[1] for block in history)
        open_draws, history = open_draws[left], [block[left] for block in history]
    return out, max(8, typical // 2)
