"""Nine runs of each of the six samplers of figures 2 and 3, for equally many moves on orders."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

import bnlab as bn
from bnlab.labs.papers.nk2013.cases import SEED, Case

RUNS = 9
LADDERS = (4, 16, 64)


@dataclass(frozen=True, slots=True)
class Plan:
    """What the samplers may spend.

    Attributes
    ----------
    multiples : data set -> the three r of AIS, in units of n m
    moves : data set -> moves of one run of a sampler
    thin : data set -> moves of each chain of MC3 before a draw
    max_states : sets that a count of figure 1 may keep
    """

    multiples: Mapping[str, tuple[float, float, float]]
    moves: Mapping[str, int]
    thin: Mapping[str, int]
    max_states: int


LAB = Plan(
    multiples={
        "MUSHROOM": (1 / 4, 1, 4),
        "ALARM": (1 / 8, 1 / 2, 2),
        "PROMOTERS": (1 / 64, 1 / 16, 1 / 4),
    },
    moves={"MUSHROOM": 88_000, "ALARM": 14_800, "PROMOTERS": 1540},
    thin={"MUSHROOM": 10, "ALARM": 10, "PROMOTERS": 5},
    max_states=100_000,
)
"""A minute on two cores for the whole page."""

LONG = Plan(
    multiples=dict.fromkeys(("MUSHROOM", "ALARM", "PROMOTERS"), (1, 4, 16)),
    moves={"MUSHROOM": 1_056_000, "ALARM": 296_000, "PROMOTERS": 98_368},
    thin={"MUSHROOM": 100, "ALARM": 100, "PROMOTERS": 10},
    max_states=2_000_000,
)
"""The paper's r and thinning: about ten minutes on two cores, where the paper took 200 hours a
sampler."""


@dataclass(frozen=True, slots=True, eq=False)
class Sampler:
    """One of the six: nine runs of T orders each, or of DAGs given these orders.

    Attributes
    ----------
    method : "AIS" or "MC3"
    r : int, steps of the schedule: of annealing, or between the chains
    draws : bn.Draws, values (RUNS, T * each, n): chain i is run i
    each : int, draws that come of one order: 1 for orders, one or more for DAGs
    seconds : float, time of one core for one run
    """

    method: str
    r: int
    draws: bn.Draws
    each: int
    seconds: float

    @property
    def size(self) -> int:
        """T, the number of orders of a run.

        Examples
        --------
        >>> annealed(example(), 4, 20).size
        5
        """
        return int(self.draws.values.shape[1]) // self.each

    def kept(self, count: int, runs: Sequence[int] = range(RUNS)) -> bn.Draws:
        """What an estimate of some runs after `count` orders is made of: of MC3, the second half.

        Examples
        --------
        >>> annealed(example(), 4, 20).kept(3)
        Draws(9 x 3 orders of 2 variables, order-modular)
        """
        first = count // 2 if self.method == "MC3" else 0
        chains, part = list(runs), slice(first * self.each, count * self.each)
        return replace(
            self.draws,
            values=self.draws.values[chains, part],
            log_weight=self.draws.log_weight[chains, part],
            log_target=self.draws.log_target[chains, part],
            traces={name: trace[chains, part] for name, trace in self.draws.traces.items()},
        )


def annealed(table: bn.ScoreTable, r: int, moves: int) -> Sampler:
    """AIS with r linear steps: as many orders as `moves` allow in each of nine runs.

    Examples
    --------
    >>> annealed(example(), 4, 20).draws.values.shape
    (9, 5, 2)
    """
    start, size = time.process_time(), moves // r
    rng, method = np.random.default_rng([SEED, r]), bn.AIS(bn.Linear(r))
    found = bn.anneal_orders(table, runs=RUNS * size, rng=rng, method=method)
    draws = replace(
        found,
        values=found.values.reshape(RUNS, size, table.n),
        log_weight=found.log_weight.reshape(RUNS, size),
        log_target=found.log_target.reshape(RUNS, size),
        traces={name: trace.reshape(RUNS, size) for name, trace in found.traces.items()},
    )
    return Sampler("AIS", r, draws, 1, _each(start))


def coupled(table: bn.ScoreTable, r: int, moves: int, thin: int) -> Sampler:
    """MC3 with r + 1 chains in linear steps: as many draws as `moves` allow, burn-in included.

    Examples
    --------
    >>> coupled(example(), 4, 100, 2).draws.values.shape
    (9, 10, 2)
    """
    start = time.process_time()
    draws = bn.sample_orders(
        table,
        draws=moves // (thin * (r + 1)),
        rng=np.random.default_rng([SEED, r]),
        chains=RUNS,
        burn_in=0,
        thin=thin,
        schedule=bn.Linear(r),
    )
    return Sampler("MC3", r, draws, 1, _each(start))


def race(case: Case, plan: Plan, /) -> list[Sampler]:
    """The six samplers on a data set, for the same number of moves each: AIS, then MC3.

    Examples
    --------
    >>> plan = Plan({"ALARM": (0.01, 0.02, 0.04)}, {"ALARM": 1500}, {"ALARM": 10}, 1)
    >>> from bnlab.labs.papers.nk2013 import cases
    >>> [sampler.r for sampler in race(cases.case("ALARM"), plan)]
    [37, 74, 148, 4, 16, 64]
    """
    table, moves = case.table, plan.moves[case.name]
    steps = [math.ceil(multiple * table.n * case.m) for multiple in plan.multiples[case.name]]
    thin = plan.thin[case.name]
    return [
        *(annealed(table, r, moves) for r in steps if r <= moves),
        *(coupled(table, r, moves, thin) for r in LADDERS),
    ]


def corrected(sampler: Sampler, table: bn.ScoreTable, *, each: int = 1) -> Sampler:
    """`each` DAGs given every order, weighed by 1 / l(G); the time of both is added.

    Examples
    --------
    >>> corrected(annealed(example(), 4, 20), example(), each=2).draws
    Draws(9 x 10 dags of 2 variables, structure-modular)
    """
    start, rng = time.process_time(), np.random.default_rng([SEED, sampler.r, each])
    dags = bn.sample_dags(sampler.draws, draws=each, table=table, rng=rng)
    draws = bn.reweight_by_extensions(dags)
    return Sampler(sampler.method, sampler.r, draws, each, sampler.seconds + _each(start))


def _each(start: float) -> float:
    """Processor time of one of the runs since `start`: others at work on the machine add none."""
    return (time.process_time() - start) / RUNS


def example() -> bn.ScoreTable:
    """The scores of two variables, for examples.

    Examples
    --------
    >>> example().n
    2
    """
    return bn.score_families(bn.Data.from_arrays([[0, 0], [1, 1]]), bn.BDeu(1.0))
