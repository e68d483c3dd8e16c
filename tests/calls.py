"""A small call of every sampler, for the tests of what all of them promise.

As a program it makes all the calls on an MPI pool and saves their arrays:
mpiexec -n 3 python -m mpi4py.futures tests/calls.py arrays.npz
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from typing import Any

import numpy as np

import bnlab as bn
from bnlab.annealing import MC3, SMC
from bnlab.running import Executor

SMALL_BLOCKS = {
    "bnlab.sampling.independent.BLOCK_DRAWS": 7,
    "bnlab.sampling.dags_given_orders.BLOCK_DRAWS": 7,
    "bnlab.sampling.partition_mcmc.BLOCK_TERMS": 10_000,
    "bnlab.sampling.structure_mcmc.BLOCK_MOVES": 50,
    "bnlab.sampling.structure_mcmc.BLOCK_PAIRS": 500,
    "bnlab.sampling.order_target.BLOCK_TERMS": 2_000,
}
"""Settings under which the calls are made of many jobs."""


@cache
def table(n: int) -> bn.ScoreTable:
    data = bn.Data.from_arrays(np.random.default_rng(3).integers(0, 2, size=(30, n)))
    return bn.score_families(data, bn.BDeu(), max_parents=2)


def posterior() -> bn.OrderPosterior:
    return bn.order_posterior(table(5))


def orders() -> bn.Draws:
    return bn.sample_orders(table(5), draws=9, chains=2, burn_in=10, rng=np.random.default_rng(1))


@dataclass(frozen=True)
class Call:
    """A sampler, what it draws from, and its settings.

    count : the parameter that says how much is drawn; `usual` of it here
    nested : the arrays that a longer run begins like a shorter one, and along which axis
    prior : which posterior the draws belong to
    """

    sampler: Callable[..., Any]
    target: Callable[[], Any]
    count: str
    usual: int = 40
    options: Mapping[str, Any] = field(default_factory=dict)
    nested: Mapping[str, int] = field(default_factory=lambda: {"values": 1, "log_weight": 1})
    prior: str = "order-modular"

    def __call__(
        self, count: float | None = None, *, seed: int = 9, target: Any = None, **options: Any
    ) -> Any:
        counts = {self.count: self.usual if count is None else count}
        rng = np.random.default_rng(seed)
        target = self.target() if target is None else target
        targets = target if isinstance(target, tuple) else (target,)
        return self.sampler(*targets, **counts, **self.options, **options, rng=rng)


CHAINS = {"chains": 3, "burn_in": 20}
LADDER = bn.Linear(3)
GUESS = np.triu(np.full((5, 5), 0.3), 1)
STRUCTURES = {
    "local moves": {"kernel": bn.Local()},
    "global moves": {"kernel": bn.Global(GUESS)},
    "hybrid moves": {"kernel": bn.Hybrid(GUESS)},
    "Gibbs moves": {"kernel": bn.Gibbs()},
    "edge reversals": {"kernel": bn.EdgeReversal()},
    "a prior of your own": {"log_prior": partial(np.vdot, np.full(5, -0.1))},
}
ANNEALING = {"method": bn.AIS(bn.Linear(30))}
CLOUDS = {"method": SMC(particles=20)}
COUPLED = {"method": MC3(LADDER, draws=20, burn_in=20)}
TEMPERED = {"values": 1, "log_weight": 1, "tempered": 1}
BY_RUN, TRACE, NOTHING = {"values": 0, "log_weight": 0}, {"trace": 0}, {}


def five() -> bn.ScoreTable:
    return table(5)


def latent() -> tuple[bn.hidden.HiddenModel, np.ndarray]:
    model = bn.hidden.HiddenModel([0, 1, 1, 2], [2, 3, 2, 3], hidden=[0])
    return model, np.random.default_rng(2).integers(0, 2, (9, 3))


LATENT_SMC = {"method": bn.hidden.SMC(particles=9)}
LATENT_AIS = {"method": bn.hidden.AIS(bn.hidden.Warped(30))}
TABLES = [np.full(shape, 1 / shape[1]) for shape in [(1, 2), (2, 3), (2, 2), (3, 3)]]

CALLS = {
    "exact orders": Call(bn.sample_orders, posterior, "draws"),
    "exact DAGs": Call(bn.sample_dags, posterior, "draws"),
    "exact DAGs by layers": Call(
        bn.sample_dags, lambda: bn.dag_posterior(table(5)), "draws", prior="structure-modular"
    ),
    "chains": Call(bn.sample_orders, five, "draws", 40, CHAINS),
    "chains, 24 variables": Call(bn.sample_orders, lambda: table(24), "draws", 10, CHAINS),
    "coupled chains": Call(
        bn.sample_orders, five, "draws", 40, CHAINS | {"schedule": LADDER}, TEMPERED
    ),
    "partitions": Call(bn.sample_partitions, five, "draws", 40, CHAINS, prior="structure-modular"),
    "partial orders": Call(bn.sample_partial_orders, five, "draws", 40, CHAINS | {"bucket": 2}),
    **{
        name: Call(
            bn.sample_structures, five, "draws", 40, CHAINS | options, prior="structure-modular"
        )
        for name, options in STRUCTURES.items()
    },
    "DAGs given orders": Call(
        bn.sample_dags, orders, "draws", 3, {"table": table(5)}, nested=NOTHING
    ),
    "AIS": Call(bn.anneal_orders, five, "runs", 40, ANNEALING),
    "SMC": Call(bn.anneal_orders, five, "runs", 10, CLOUDS, BY_RUN),
    "evidence by AIS": Call(bn.estimate_evidence, five, "runs", 40, ANNEALING, TRACE),
    "evidence by SMC": Call(bn.estimate_evidence, five, "runs", 10, CLOUDS, TRACE),
    "evidence by MC3": Call(bn.estimate_evidence, five, "runs", 10, COUPLED, NOTHING),
    "lower bound": Call(bn.estimate_lower_bound, five, "runs", 40, ANNEALING, NOTHING),
    "upper bound": Call(bn.estimate_upper_bound, posterior, "runs", 40, ANNEALING, NOTHING),
    "upper bound from an order": Call(
        bn.estimate_upper_bound, five, "runs", 40, ANNEALING | {"start": np.arange(5)}, NOTHING
    ),
    "hidden: evidence by SMC": Call(
        bn.hidden.estimate_evidence, latent, "runs", 10, LATENT_SMC, TRACE
    ),
    "hidden: evidence by AIS": Call(
        bn.hidden.estimate_evidence, latent, "runs", 40, LATENT_AIS, TRACE
    ),
    "hidden: lower bound": Call(
        bn.hidden.estimate_lower_bound, latent, "runs", 40, LATENT_AIS, NOTHING
    ),
    "hidden: upper bound": Call(
        bn.hidden.estimate_upper_bound, latent, "runs", 40, LATENT_AIS | {"start": TABLES}, NOTHING
    ),
}


def arrays(result: bn.Draws | bn.Estimate) -> dict[str, np.ndarray]:
    """All the numbers of a result, by name."""
    if isinstance(result, bn.Estimate):
        return {name: np.array(getattr(result, name)) for name in ("log_value", "stderr", "trace")}
    fields = {name: getattr(result, name) for name in ("values", "log_weight", "log_target")}
    return {**fields, **result.stats, **result.traces}


def differing(found: Mapping[str, np.ndarray], expected: Mapping[str, np.ndarray]) -> set[str]:
    """Names of the arrays that are not in both, or not the same bit for bit."""
    return found.keys() ^ expected.keys() | {
        name
        for name in found.keys() & expected.keys()
        if not np.array_equal(found[name], expected[name], equal_nan=True)
    }


def everything(executor: Executor | None = None) -> dict[str, np.ndarray]:
    """The arrays of all calls, as "call: array"."""
    return {
        f"{name}: {key}": array
        for name, call in CALLS.items()
        for key, array in arrays(call(executor=executor)).items()
    }


def main(path: str) -> None:
    from mpi4py.futures import MPIPoolExecutor

    for setting, value in SMALL_BLOCKS.items():
        module, _, name = setting.rpartition(".")
        setattr(import_module(module), name, value)
    with MPIPoolExecutor() as executor:
        np.savez(path, workers=executor.num_workers, **everything(executor))


if __name__ == "__main__":
    main(sys.argv[1])
