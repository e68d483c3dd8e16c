"""The checks of the three exercises: properties of an answer, not stored numbers."""

from collections.abc import Callable
from itertools import product
from typing import Any

from bnlab.labs.board import check
from bnlab.labs.scaling_out.ledger import three_calls, wine
from bnlab.labs.scaling_out.plans import ROWS, Load, annealing_steps

LEAST_RUNS = 20
LEAST_USE = 0.8  # of a budget


def check_executor(make: Callable[[], Any]) -> bool:
    """Exercise 2: `make()` is an executor that does the last job first."""

    def results() -> bool:
        return list(make().map(lambda x: 10 * x, [3, 1, 2])) == [30, 10, 20]

    def done() -> list[int]:
        order: list[int] = []
        list(make().map(order.append, [0, 1, 2, 3]))
        return order

    return check(
        "Exercise 2",
        "it needs a method map(function, jobs)",
        lambda: callable(make().map),
        "map gives all results, in the order of the jobs",
        results,
        "the last job must be done first: 3, 2, 1, 0",
        lambda: done() == [3, 2, 1, 0],
        "a second map of the same executor must work as well",
        lambda: len([*(again := make()).map(abs, [1]), *again.map(abs, [2, 3])]) == 3,
        "the draws must be the same as without it, bit for bit",
        lambda: three_calls(wine(), make()) == three_calls(wine()),
    )


def check_cores(function: Callable[[int, float, float, float], Any]) -> bool:
    """Exercise 1: `function(jobs, seconds, once, deadline)` is the least number of cores."""

    def result(*given: float) -> Any:
        return function(*given)  # type: ignore[arg-type]

    def searched(jobs: int, once: float, deadline: float) -> int | None:
        cores = range(1, jobs + 1)
        return next((p for p in cores if Load(jobs, 10.0, once).wall(p) <= deadline), None)

    def least() -> bool:
        cases = product((1, 7, 100), (0.0, 30.0), (35.0, 60.0, 1000.0))
        return all(result(jobs, 10.0, *rest) == searched(jobs, *rest) for jobs, *rest in cases)

    return check(
        "Exercise 1",
        "100 jobs of 10 s in 1000 s: one core will do",
        lambda: result(100, 10.0, 0.0, 1000) == 1,
        "in 100 s: ten cores",
        lambda: result(100, 10.0, 0.0, 100.0) == 10,
        "in 95 s: 12 cores, not 11, which would have to do ten jobs one after another",
        lambda: result(100, 10.0, 0.0, 95.0) == 12,
        "the 20 s at the beginning count",
        lambda: result(100, 10.0, 20.0, 120.0) == 10,
        "a job cannot be divided: in 9 s, None",
        lambda: result(100, 10.0, 0.0, 9.0) is None,
        "compare with a search over all numbers of cores",
        least,
    )


def check_plan(function: Callable[[int, float, float], Any]) -> bool:
    """Exercise 3: `function(n, hours, seconds_a_move)` is (runs, factor) within core-hours."""

    cases = [(30, 2.0, 2e-5), (37, 10.0, 4e-5), (58, 10.0, 1e-4), (58, 300.0, 1e-4)]

    def plan(n: int, hours: float, a_move: float) -> tuple[int, float]:
        runs, factor = function(n, hours, a_move)
        return int(runs), float(factor)

    def used(n: int, hours: float, a_move: float) -> float:
        runs, factor = plan(n, hours, a_move)
        return runs * factor * n * ROWS * a_move / 3600 / hours

    return check(
        "Exercise 3",
        "return two numbers: runs, and steps over n m",
        lambda: len(function(*cases[0])) == 2,
        f"fewer than {LEAST_RUNS} runs tell too little of how much they scatter",
        lambda: all(plan(*case)[0] >= LEAST_RUNS for case in cases),
        "the paper tried factors from 1 to 16: take at least 1",
        lambda: all(plan(*case)[1] >= 1 for case in cases),
        f"58 variables: {annealing_steps(58, 1):,} steps are a factor of 1; stay within the budget",
        lambda: all(used(*case) <= 1 for case in cases),
        f"use at least {LEAST_USE:.0%} of the budget",
        lambda: all(used(*case) >= LEAST_USE for case in cases),
    )
