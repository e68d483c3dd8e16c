"""The memory that methods say they need beside what they take at most, each in its own process.

    uv run --extra test python benchmarks/memory.py            all methods, 0.1 to 1 GB each
    uv run --extra test python benchmarks/memory.py CASE SIZE  one of them, as JSON

Predicted is what stood in memory when a method asked `memory.require`, and what it asked for, above
what stood there before the call. Measured is the peak of resident memory, above the same. All is
compiled by a tiny call first. Freed memory goes back to the system at once here: what an allocator
keeps is not what a method takes. The processes are forks of one that has loaded the package. Linux
only.
"""

import ctypes
import gc
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import bnlab as bn
from bnlab import memory
from bnlab.exact import log_dag_prior_sum, order_paths
from bnlab.kernels import counting
from bnlab.sampling import OrderWalker
from bnlab.scores import family_count

Method = Callable[[Any], object]


@dataclass(frozen=True)
class Case:
    """method(given(size)) is measured, given(size) is not."""

    given: Callable[[int], Any]
    method: Method
    tiny: int
    small: int
    large: int


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def table(n: int, k: int = 3, slope: float = 2.0) -> bn.ScoreTable:
    """Random scores that fall with the number of parents: quick for any n."""
    parents = np.empty((n, family_count(n, k)), np.int64)
    counting.family_masks(n, k, parents)
    log_score = rng().normal(size=parents.shape) - slope * np.bitwise_count(parents)
    names = tuple(f"x{v}" for v in range(n))
    return bn.ScoreTable(parents, log_score, np.zeros(parents.shape), names, k)


def data(n: int, m: int = 50, arity: int = 2) -> bn.Data:
    return bn.Data.from_arrays(rng().integers(0, arity, (m, n)), np.full(n, arity))


def wide(n: int) -> bn.ScoreTable:
    return table(n, min(n - 1, 4))


def lopsided(n: int) -> bn.ScoreTable:
    """A prior that is no function of the number of parents."""
    given = table(n)
    log_prior = np.where(np.arange(n)[:, None] == 0, -0.5, 0.0) * np.bitwise_count(given.parents)
    return bn.ScoreTable(given.parents, given.log_score, log_prior, given.names, 3)


def orders_of(n: int) -> bn.OrderPosterior:
    return bn.order_posterior(table(n))


def draws_of(draws: int) -> bn.Draws:
    """DAGs that are nearly all different."""
    return bn.sample_dags(bn.order_posterior(table(12, slope=0.0)), draws=draws, rng=rng())


def file_of(n: int) -> Path:
    """A score file that mentions few families, one of them of 4 parents."""
    lines = [str(n)]
    for v in range(n):
        others = [f"x{u}" for u in range(n) if u != v][:4]
        lines += [f"x{v} 2", "-1.5 0", f"-1.0 {len(others)} {' '.join(others)}"]
    path = Path(tempfile.mkdtemp(), "scores.jkl")
    path.write_text("\n".join(lines) + "\n")
    return path


def written(name: str, text: str) -> Path:
    path = Path(tempfile.mkdtemp(), name)
    path.write_text(text)
    return path


def counted(rows: int) -> Path:
    """A contingency table that stands for so many rows of 10 columns."""
    names = ",".join(f"x{v}" for v in range(10))
    lines = [f"{','.join('01'[code] * 10)},{rows // 2}" for code in (0, 1)]
    return written("counts.csv", "\n".join([f"{names},count", *lines]) + "\n")


def network(parents: int) -> Path:
    """A node of so many parents, all of two states."""
    names = [f"x{v}" for v in range(parents + 1)]
    blocks = [f"variable {name} {{ type discrete [ 2 ] {{ a, b }}; }}" for name in names]
    blocks += [f"probability ( {name} ) {{ table 0.5, 0.5; }}" for name in names[:-1]]
    above = ", ".join(names[:-1])
    blocks.append(f"probability ( {names[-1]} | {above} ) {{ default 0.5, 0.5; }}")
    return written("star.bif", "\n".join(["network star {}", *blocks]) + "\n")


def star(parents: int) -> bn.Draws:
    """One DAG: a node of so many parents, and one alone."""
    dag = np.array([*[0] * parents, (1 << parents) - 1, 0])
    names = tuple(f"x{v}" for v in range(dag.size))
    nothing = np.zeros((1, 1))
    return bn.Draws(dag[None, None], nothing, nothing, "dags", "structure-modular", names)


def without_parents(dags: bn.Draws) -> object:
    """Densities of 3 rows in which all parents of the node are missing."""
    n = len(dags.names)
    known = bn.Data.from_arrays(rng().integers(0, 2, (50, n)), np.full(n, 2), dags.names)
    rows = np.array(known.values[:3])
    rows[:, : n - 2] = -1
    return bn.predict.log_density(dags, known, rows)


def poset(n: int) -> np.ndarray:
    """A DAG in which each pair of nodes has an edge with probability 0.1."""
    edges = np.triu(rng().random((n, n)) < 0.1, 1)
    masks: np.ndarray = (edges * (1 << np.arange(n))[:, None]).sum(axis=0)
    return masks


def chains(sampler: Callable[..., object], **options: Any) -> Method:
    """So many draws of a table of 12 variables, by 4 chains."""
    settings = {"chains": 4, "burn_in": 10, "thin": 1} | options
    return lambda draws: sampler(table(12), draws=draws, rng=rng(), **settings)


def saved_chains(draws: int) -> object:
    path = Path(tempfile.mkdtemp(), "chains.ckpt")
    return chains(bn.sample_orders, thin=20, checkpoint=path)(draws)


def few_draws(sampler: Callable[..., object], **options: Any) -> Method:
    return lambda given: sampler(given, draws=5, burn_in=10, thin=1, rng=rng(), **options)


def itself(size: int) -> int:
    return size


CLOUDS = bn.Linear(3)
CASES = {
    "score_families": Case(
        data, lambda d: bn.score_families(d, bn.BDeu(), max_parents=4), 6, 36, 50
    ),
    "read_scores": Case(file_of, bn.read_scores, 6, 40, 50),
    "read_csv, counts": Case(
        counted, lambda path: bn.read_csv(path, count="count"), 10, 1_000_000, 4_000_000
    ),
    "read_bif": Case(network, bn.read_bif, 3, 18, 20),
    "LazyScores": Case(data, lambda d: bn.LazyScores(d, bn.BDeu(), 4), 6, 40, 50),
    "order_posterior": Case(table, bn.order_posterior, 5, 20, 22),
    "dag_posterior": Case(table, bn.dag_posterior, 5, 18, 20),
    "log_dag_prior_sum": Case(lopsided, log_dag_prior_sum, 5, 18, 20),
    "map_dag": Case(table, bn.map_dag, 5, 20, 22),
    "k_best_dags": Case(table, lambda given: bn.k_best_dags(given, 20_000), 5, 13, 15),
    "order_paths": Case(orders_of, order_paths, 5, 15, 17),
    "OrderWalker, dense": Case(table, OrderWalker.of, 5, 20, 22),
    "OrderWalker, families": Case(wide, lambda t: OrderWalker.of(t, dense=False), 6, 45, 55),
    "sample_orders": Case(itself, chains(bn.sample_orders), 9, 200_000, 800_000),
    "sample_orders, coupled": Case(
        itself, chains(bn.sample_orders, schedule=CLOUDS), 9, 100_000, 400_000
    ),
    "sample_orders, saved": Case(itself, saved_chains, 9, 200_000, 800_000),
    "sample_partial_orders": Case(itself, chains(bn.sample_partial_orders), 9, 100_000, 400_000),
    "sample_partitions": Case(itself, chains(bn.sample_partitions), 9, 200_000, 800_000),
    "sample_partitions, n": Case(wide, few_draws(bn.sample_partitions), 6, 36, 44),
    "sample_structures": Case(itself, chains(bn.sample_structures), 9, 200_000, 800_000),
    "sample_structures, n": Case(
        wide, few_draws(bn.sample_structures, kernel=bn.EdgeReversal()), 6, 36, 44
    ),
    "sample_orders, exact": Case(
        itself,
        lambda draws: bn.sample_orders(orders_of(12), draws=draws, rng=rng()),
        9,
        500_000,
        1_500_000,
    ),
    "sample_dags, exact": Case(itself, draws_of, 9, 500_000, 1_500_000),
    "sample_dags, layers": Case(
        itself,
        lambda draws: bn.sample_dags(bn.dag_posterior(table(10)), draws=draws, rng=rng()),
        9,
        500_000,
        1_500_000,
    ),
    "sample_dags, given orders": Case(
        lambda size: bn.sample_orders(table(12), draws=size, chains=2, burn_in=10, rng=rng()),
        lambda orders: bn.sample_dags(orders, draws=100, table=table(12), rng=rng()),
        9,
        2_000,
        5_000,
    ),
    "reweight_unique": Case(draws_of, bn.reweight_unique, 9, 300_000, 1_000_000),
    "log_density": Case(
        draws_of,
        lambda dags: bn.predict.log_density(dags, data(12), data(12).values[:20]),
        9,
        200_000,
        1_000_000,
    ),
    "log_density, missing cells": Case(star, without_parents, 13, 18, 20),
    "count_linear_extensions": Case(poset, bn.linear_extensions.count_linear_extensions, 8, 48, 54),
    "anneal_orders, AIS": Case(
        itself,
        lambda runs: bn.anneal_orders(table(12), runs=runs, rng=rng(), method=bn.AIS(CLOUDS)),
        9,
        36_000,
        200_000,
    ),
    "anneal_orders, SMC": Case(
        lambda size: bn.SMC(size, CLOUDS, moves_each=1),
        lambda method: bn.anneal_orders(table(12), runs=2, rng=rng(), method=method),
        9,
        200_000,
        1_000_000,
    ),
    "hill_climb": Case(
        itself,
        lambda most: bn.hill_climb(table(63, 1), restarts=most, perturb=1, rng=rng()),
        9,
        8_000,
        200_000,
    ),
    "shotgun_search": Case(
        itself,
        lambda keep: bn.shotgun_search(
            table(20), steps=3 + keep // 80, keep=keep, chains=2, rng=rng()
        ),
        9,
        60_000,
        400_000,
    ),
    "chow_liu": Case(lambda arity: data(20, 5, arity), bn.chow_liu, 3, 200, 400),
    "fit_tree_mixture": Case(
        lambda m: data(20, m, 3),
        lambda d: bn.fit_tree_mixture(d, components=8, restarts=2, max_iterations=2, rng=rng()),
        9,
        120_000,
        800_000,
    ),
    "fit_tree_mixture, states": Case(
        lambda arity: data(10, 50, arity),
        lambda d: bn.fit_tree_mixture(d, components=4, restarts=2, max_iterations=2, rng=rng()),
        3,
        250,
        500,
    ),
}


def status(name: str) -> int:
    """Bytes that the system tells of this process: VmRSS now, VmHWM at most."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    raise OSError(f"no {name} in /proc/self/status")


def measure(case: Case, size: int) -> dict[str, int]:
    """Bytes above those before the call: predicted and measured."""
    case.method(case.given(case.tiny))
    given = case.given(size)
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # the peak is now
    before, asked, require = status("VmRSS"), [0], memory.require

    def noted(needed: int, /, *, task: str, remedy: str) -> None:
        asked.append(status("VmRSS") - before + needed)
        require(needed, task=task, remedy=remedy)

    memory.require = noted
    result = case.method(given)
    del result
    return {"predicted": max(asked), "measured": status("VmHWM") - before}


class Measuring:
    """A program that measures methods, each in a process that it forks."""

    def __init__(self) -> None:
        command = [sys.executable, __file__, "orders"]
        env = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "100000", "MALLOC_TRIM_THRESHOLD_": "100000"}
        pipe = subprocess.PIPE
        self._program = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=env)

    def of(self, name: str, size: int) -> dict[str, int]:
        """What `measure` finds."""
        assert self._program.stdin and self._program.stdout
        self._program.stdin.write(json.dumps([name, size]) + "\n")
        self._program.stdin.flush()
        found: dict[str, int] = json.loads(self._program.stdout.readline())
        return found

    def close(self) -> None:
        self._program.communicate()


def follow_orders() -> None:
    for case in CASES.values():
        case.method(case.given(case.tiny))
    for line in sys.stdin:
        name, size = json.loads(line)
        child = os.fork()
        if not child:
            print(json.dumps(measure(CASES[name], size)), flush=True)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status:
            print("{}", flush=True)  # the child has said why


def main() -> None:
    if sys.argv[1:] == ["orders"]:
        follow_orders()
        return
    if len(sys.argv) == 3:
        print(json.dumps(measure(CASES[sys.argv[1]], int(sys.argv[2]))))
        return
    print(f"{'':30}{'size':>10}{'predicted':>12}{'measured':>12}{'ratio':>8}")
    measuring = Measuring()
    for name, case in CASES.items():
        found = measuring.of(name, case.large)
        predicted, measured = found["predicted"] / 1e6, found["measured"] / 1e6
        ratio = measured / predicted
        print(f"{name:30}{case.large:10,}{predicted:9.0f} MB{measured:9.0f} MB{ratio:8.2f}")
    measuring.close()


if __name__ == "__main__":
    main()
