"""What the page computes, short or long: annealing runs, SMC as the gold standard, and tables."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab.checks import Floats, Ints
from bnlab.hidden import AIS, SMC, Annealed, HiddenModel, JointDirichlet, Warped, anneal
from bnlab.papers.beal2003 import world
from bnlab.papers.page import Array, stored
from bnlab.running import Progress, Stopped

STEPS = 16_384
"""K of the thesis' main experiments [Beal2003, sec. 6.4.1]."""

BATCHES = 5
"""G, the single runs whose estimates are averaged (eq. 6.61)."""


class Batches(NamedTuple):
    """Runs of the thesis' sampler on every structure."""

    log_p: Floats  # ln of the estimates (136, batches), nats
    acceptance: Floats  # share of accepted proposals (136, 4), by quarters of the schedule


def batches(n: int, /, *, steps: int = STEPS, runs: int = BATCHES) -> Batches:
    """Run AIS with the thesis' schedule and proposals on n rows from the published parameters."""
    rows, method = world.data_of_print(0)[:n], AIS(Warped(steps), JointDirichlet())
    streams = world.stream(5, n, steps).spawn(len(world.models()))
    found = [
        anneal(model, rows, runs=runs, rng=rng, method=method)
        for model, rng in zip(world.models(), streams, strict=True)
    ]
    return Batches(
        np.array([each.log_weight for each in found]),
        np.array([each.acceptance.reshape(4, -1).mean(axis=1) for each in found]),
    )


def particles(n: int, /, *, batch: int, size: int = 256) -> Floats:
    """Return ln p(data) (136,) by one run of collapsed SMC for each part, rows as for `batches`."""
    rows, rng = world.data_of_print(0)[:n], world.stream(6, n, batch)
    found = bn.hidden.estimate_structures(world.models(), rows, runs=1, rng=rng, method=SMC(size))
    return np.array([each.log_value for each in found])


def mean_of(log_p: Floats, /) -> Floats:
    """Return ln of the mean of exp over the last axis: AIS(G) of eq. 6.61 [Beal2003]."""
    top = log_p.max(axis=-1, keepdims=True)
    return np.asarray(top[..., 0] + np.log(np.exp(log_p - top).mean(axis=-1)))


LADDER = tuple(2**k for k in range(6, 15))
"""K of Figure 6.10, from 64 to 16384; the thesis names 1000, 5000, 2^13 and 2^14."""

TRACES = 8


class Traces(NamedTuple):
    """AIS against the number of steps, nats: Figure 6.10."""

    from_truth: Floats  # (steps,), all runs started at the parameters that made the data
    # (traces, steps), each trace from parameters of its own, drawn from the prior
    from_prior: Floats


def true_model() -> HiddenModel:
    """Return the structure of Figure 6.1."""
    return world.models()[world.truth()]


@cache
def traced(n: int = 480, /, *, steps: Sequence[int] = LADDER, traces: int = TRACES) -> Traces:
    """Run the thesis' sampler on the true structure, n rows from the published parameters."""
    tables = [np.maximum(table, world.LEAST) for table in world.thesis_network().tables]
    tables = [table / table.sum(axis=1, keepdims=True) for table in tables]
    tables = [np.repeat(table[None], traces + 1, axis=0) for table in tables]
    rng = world.stream(8, n)
    for table in tables:
        rows, states = table.shape[1:]
        table[1:] = rng.dirichlet(np.ones(states), size=(traces, rows))
    rows, found = world.data_of_print(0)[:n], []
    for k in steps:
        method = AIS(Warped(k), JointDirichlet())
        runs = anneal(true_model(), rows, runs=traces + 1, rng=rng, method=method, start=tables)
        found.append(runs.log_weight)
    by_trace = np.array(found).T
    return Traces(by_trace[0], by_trace[1:])


class Sides(NamedTuple):
    """Ln weights of runs from the prior and back from the truth, nats, (runs, steps) each."""

    upward: Floats
    reverse: Floats

    @property
    def lower(self) -> Floats:
        """Return mean ln weight (steps,): on average below ln p(data)."""
        return np.asarray(self.upward.mean(axis=0))

    @property
    def upper(self) -> Floats:
        """Return mean ln weight (steps,) in reverse: on average above ln p(data)."""
        return np.asarray(self.reverse.mean(axis=0))


def both_ways(
    rows: bn.Data | Ints, tables: Sequence[Floats], /, **how: Any
) -> tuple[Annealed, Annealed]:
    """Run upward from the prior, and in reverse from the tables that made the rows."""
    up = anneal(true_model(), rows, **how)
    return up, anneal(true_model(), rows, start=tables, reverse=True, **how)


def both_sides(n: int, /, *, steps: Sequence[int] = LADDER, runs: int = 20) -> Sides:
    """Run row-wise AIS upward, and in reverse from the parameters that made the data.

    They are the first draw from the prior, so an exact draw from the posterior given the data
    [GrosseEtAl2015]; the published ones are rounded.
    """
    rows, start = world.data_of_draw(0)[:n], world.drawn_network(0).tables
    how: dict[str, Any] = {"runs": runs, "rng": world.stream(9, n)}
    methods = [AIS(Warped(k), bn.hidden.RowDirichlet()) for k in steps]
    each = [both_ways(rows, start, method=method, **how) for method in methods]
    upward, reverse = np.array([[a.log_weight, b.log_weight] for a, b in each]).transpose(1, 2, 0)
    return Sides(upward, reverse)


def gold(n: int, /, *, runs: int = 4) -> float:
    """Return ln p(data) of the true structure by SMC, on the rows of `both_sides`, nats."""
    rows = world.data_of_draw(0)[:n]
    rng = world.stream(10, n)
    return bn.hidden.estimate_evidence(true_model(), rows, runs=runs, rng=rng).log_value


MILLI = 1000  # ln p is kept in thousandths of a nat


@dataclass(frozen=True, slots=True)
class Plan:
    """How much of the chapter to compute; every part has random numbers of its own."""

    draws: int  # of the parameters, and the sizes of their data sets
    draw_sizes: Sequence[int]  # n of each
    data_sets: int  # from the published parameters
    print_sizes: Sequence[int]  # n of each; the scores of all structures are kept for the first
    batches: Mapping[int, int]  # n -> runs of the thesis' sampler on every structure
    steps: int = STEPS  # of these runs
    # n -> runs of SMC on every structure
    particles: Mapping[int, int] = field(default_factory=dict)


LAB = Plan(
    draws=2,
    draw_sizes=(640, 2560),
    data_sets=1,
    print_sizes=(10, 160, 640),
    batches={480: 2},
    steps=512,
    particles={160: 1},
)
"""Some ten seconds on two cores."""

LONG = Plan(
    draws=world.DRAWS,
    draw_sizes=world.SIZES,
    data_sets=10,
    print_sizes=world.SIZES,
    batches=dict.fromkeys((10, 160, 480, 640, 1280, 2560, 5120, 10240), BATCHES),
    particles=dict.fromkeys((10, 160, 480, 640, 1280), 2),
)
"""About an hour on two cores."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Study:
    """Arrays by names such as "rank draw 640": what they are, and the number of rows n."""

    arrays: Mapping[str, Array]

    def __repr__(self) -> str:
        return (
            f"Study(draws: {self._extent('rank draw')}, published parameters: "
            f"{self._extent('rank print')}, AIS: {self._extent('acceptance')}, "
            f"SMC: {self._extent('smc')})"
        )

    def _extent(self, what: str) -> str:
        return f"{len(self.sizes(what))} sizes"

    def sizes(self, what: str, /) -> list[int]:
        """Return numbers of rows for which there is an array of that name, ascending."""
        named = (name.rsplit(" ", 1) for name in self.arrays)
        return sorted(int(n) for name, n in named if name == what)

    def _nats(self, what: str, n: int) -> Floats:
        return self.arrays[f"{what} {n}"].astype(np.float64) / MILLI

    def standing(self, what: str, n: int, /) -> world.Standing:
        """Return ranks and gaps (draws, 7) of "draw" or "print", where the parameters come from."""
        plain, rank, gap = (self.arrays[f"{name} {what} {n}"] for name in world.Standing._fields)
        return world.Standing(plain.astype(np.int64), rank.astype(np.int64), gap.astype(np.float64))

    def scores(self, n: int, /) -> Floats:
        """Return scores (136, 7), no aliases, of the first data set of the published parameters."""
        return self._nats("scores", n)

    def batches(self, n: int, /) -> Batches:
        """Return runs of the thesis' sampler on the same rows."""
        return Batches(self._nats("ais", n), self.arrays[f"acceptance {n}"].astype(np.float64))

    def particles(self, n: int, /) -> Floats:
        """Return estimates (136, runs) by SMC on the same rows."""
        return self._nats("smc", n)


def made(plan: Plan, /, *, progress: Progress | None = None) -> Study:
    """Compute a plan: `made(LONG)` gives what `saved()` holds."""
    arrays: dict[str, Array] = {}
    tasks: list[Callable[[], dict[str, Array]]] = [
        *(partial(_draws, plan.draws, n) for n in plan.draw_sizes),
        *(partial(_data_sets, plan.data_sets, n) for n in plan.print_sizes),
        *(partial(_batches, n, plan.steps, runs) for n, runs in plan.batches.items()),
        *(partial(_particles, n, runs) for n, runs in plan.particles.items()),
    ]
    for done, task in enumerate(tasks, 1):
        arrays |= task()
        if progress is not None and progress(done, len(tasks), Study(arrays)) is False:
            raise Stopped(f"stopped after {done} of {len(tasks)} parts")
    return Study(arrays)


@cache
def saved() -> Study:
    """Return the stored long runs."""
    return Study(stored("beal2003"))


def _draws(count: int, n: int) -> dict[str, Array]:
    scores = (world.scores_of_draw(draw, n) for draw in range(count))
    return standings("draw", n, list(map(world.standing_in, scores)))


def _data_sets(count: int, n: int) -> dict[str, Array]:
    found = [world.scores_of_print(number, n) for number in range(count)]
    first = {f"scores {n}": _milli(found[0])} if found else {}
    return first | standings("print", n, list(map(world.standing_in, found)))


def standings(what: str, n: int, found: Sequence[world.Standing], /) -> dict[str, Array]:
    """Stack standings into small arrays."""
    return {
        f"plain {what} {n}": np.array([each.plain for each in found], np.uint8),
        f"rank {what} {n}": np.array([each.rank for each in found], np.uint8),
        f"gap {what} {n}": np.array([each.gap for each in found], np.float32),
    }


def _batches(n: int, steps: int, runs: int) -> dict[str, Array]:
    found = batches(n, steps=steps, runs=runs)
    return {f"ais {n}": _milli(found.log_p), f"acceptance {n}": found.acceptance.astype(np.float32)}


def _particles(n: int, runs: int) -> dict[str, Array]:
    return {f"smc {n}": _milli(np.column_stack([particles(n, batch=b) for b in range(runs)]))}


def _milli(log_p: Floats) -> Array:
    return np.round(log_p * MILLI).astype(np.int32)


def first_ranks(study: Study, n: int, names: Iterable[str] = world.SUCCESS_SCORES, /) -> Ints:
    """Return how many draws of parameters have the true structure ranked first, by score."""
    first = (study.standing("draw", n).rank == 1).sum(axis=0)
    return np.array([first[world.SCORES.index(name)] for name in names])


def band(count: int, draws: int = world.DRAWS, /) -> float:
    """Return by how many draws two runs with the published rate differ in 95 of 100 cases."""
    rate = count / draws
    return 1.96 * math.sqrt(2 * draws * rate * (1 - rate))


def outside_bands(study: Study, sizes: Iterable[int], /) -> list[tuple[int, str, int, int]]:
    """Return n, score, ours and print where ours is outside the band around print.

    A published count of 0 or 106 has a band of no width, and is judged as if it were 1 or 105.
    """
    found = []
    for n in sizes:
        ours, theirs = first_ranks(study, n), world.TABLE_6_5[world.SIZES.index(n)]
        for name, one, other in zip(world.SUCCESS_SCORES, ours, theirs, strict=True):
            if abs(one - other) > band(min(max(int(other), 1), world.DRAWS - 1)):
                found.append((n, name, int(one), int(other)))
    return found


def compared(study: Study, other: str, /) -> world.Pooled:
    """Return how VB ranks the truth against another score, percent of all draws and sizes."""
    place, plain = world.SCORES.index(other.rstrip("*")), other.endswith("*")
    found = [study.standing("draw", n) for n in study.sizes("rank draw")]
    stacked = np.concatenate([each.plain if plain else each.rank for each in found])
    difference = stacked[:, world.SCORES.index("vb")] - stacked[:, place]
    shares = difference > 0, difference == 0, difference < 0
    return world.Pooled(*(float(100 * share.mean()) for share in shares))


def score_ranks(study: Study, n: int, /) -> Ints:
    """Return ranks (data sets, 9) of the true structure by the scores of Table 6.1, but for AIS."""
    found = study.standing("print", n)
    columns = [
        (found.plain if name.endswith("*") else found.rank)[:, world.SCORES.index(name.rstrip("*"))]
        for name in world.RANK_SCORES[:-1]
    ]
    return np.column_stack(columns)


def outside_ranges(study: Study, /) -> NDArray[np.bool_]:
    """Return which published ranks (sizes, 9) of Table 6.1 no range of our data sets holds."""
    found = []
    for n in study.sizes("rank print"):
        ours, theirs = score_ranks(study, n), world.TABLE_6_1[world.SIZES.index(n), :-1]
        found.append((theirs < ours.min(axis=0)) | (theirs > ours.max(axis=0)))
    return np.array(found)


def batch_ranks(log_p: Floats, /) -> Ints:
    """Return ranks of the true structure by estimates (136, runs), and by their mean."""
    return np.append(world.ranks(log_p.T), world.ranks(mean_of(log_p)))


def violations(study: Study, n: int, /) -> world.Violations:
    """Return the percentages of Table 6.4: AIS below the VB bound, and rejected proposals."""
    found, plain = study.batches(n), study.scores(n)[:, world.SCORES.index("vb")]
    mean, corrected = mean_of(found.log_p), plain + world.log_aliases()
    return world.Violations(
        single_plain=100 * float((found.log_p < plain[:, None]).mean()),
        single=100 * float((found.log_p < corrected[:, None]).mean()),
        rejected=100 * float(1 - found.acceptance.mean()),
        averaged_plain=100 * float((mean < plain).mean()),
        averaged=100 * float((mean < corrected).mean()),
    )


def spread(log_p: Floats, /) -> float:
    """Return the standard deviation of a run, nats: root mean variance over structures."""
    return float(np.sqrt(log_p.var(axis=1, ddof=1).mean()))
