"""What goes to workers: three calls and their fingerprint, and an executor that keeps books."""

import hashlib
import pickle
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

import bnlab as bn
from bnlab.labs.board import bdeu_table
from bnlab.labs.scaling_out.plans import ROWS, sized
from bnlab.running import Executor

SEED = 2026


def three_calls(table: bn.ScoreTable, executor: Executor | None = None, /) -> str:
    """The fingerprint of chains on orders, annealing runs and chains on DAGs of a table."""
    rng = np.random.default_rng(SEED)
    orders = bn.sample_orders(table, draws=200, rng=rng, executor=executor)
    runs = bn.anneal_orders(
        table, runs=40, method=bn.AIS(bn.Linear(1000)), rng=rng, executor=executor
    )
    dags = bn.sample_structures(table, draws=200, rng=rng, executor=executor)
    return fingerprint(orders, runs, dags)


def fingerprint(*draws: bn.Draws) -> str:
    """Eight letters and digits that differ if a bit of the draws or of their weights differs."""
    digest = hashlib.sha256()
    for each in draws:
        for array in (each.values, each.log_weight, each.log_target):
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:8]


def wine() -> bn.ScoreTable:
    """BDeu scores of the wine data, 13 variables."""
    return bdeu_table("wine")


def letters(n: int = 58, /) -> bn.Data:
    """A class and n - 1 letters of DNA, 106 rows, as many as in promoters, but at random.

    Most of every fifth are the sum of the two before, modulo 4, so that orders differ in weight.
    """
    rng = np.random.default_rng(106)
    values = rng.integers(0, 4, (ROWS, n))
    values[:, 0] = rng.integers(0, 2, ROWS)
    for v in range(5, n, 5):
        ruled = rng.random(ROWS) < 0.9
        values[ruled, v] = (values[ruled, v - 1] + values[ruled, v - 2]) % 4
    return bn.Data.from_arrays(values, arities=[2] + [4] * (n - 1))


class Ledger:
    """Does jobs one after another, here, each packed and unpacked as if it went to a worker."""

    def __init__(self) -> None:
        self.sent: list[int] = []  # bytes of each job
        self.returned: list[int] = []  # and of what came back
        self.seconds: list[float] = []  # of computing

    @property
    def jobs(self) -> int:
        """How many so far."""
        return len(self.sent)

    def map(self, fn: Callable[..., Any], /, *iterables: Iterable[Any]) -> Iterator[Any]:
        """Apply `fn` to the items; results in the order of the items."""
        for items in zip(*iterables, strict=True):
            yield self._done(pickle.dumps((fn, items)))

    def _done(self, parcel: bytes) -> Any:
        (fn, items), begun = pickle.loads(parcel), time.process_time()
        result = fn(*items)
        self.seconds.append(time.process_time() - begun)
        self.sent.append(len(parcel))
        self.returned.append(len(pickle.dumps(result)))
        return result

    def __repr__(self) -> str:
        if not self.jobs:
            return "no jobs so far"
        sent, returned, seconds = (
            sum(each) / self.jobs for each in (self.sent, self.returned, self.seconds)
        )
        return (
            f"jobs: {self.jobs}; each {sized(sent)} there, {sized(returned)} back, "
            f"{seconds:.2g} s of computing"
        )
