"""A small call of everything that takes long, for the tests of what all of it promises.

As a program it makes all the calls on an MPI pool and saves their arrays:
mpiexec -n 3 python -m mpi4py.futures tests/calls.py arrays.npz
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache, partial
from importlib import import_module
from inspect import signature
from typing import Any

import numpy as np

import bnlab as bn
from bnlab.annealing.evidence import MC3
from bnlab.annealing.runs import SMC
from bnlab.running import Executor

SMALL_BLOCKS = {
    "bnlab.sampling.independent.BLOCK_DRAWS": 7,
    "bnlab.sampling.dags_given_orders.BLOCK_DRAWS": 7,
    "bnlab.sampling.partition_mcmc.BLOCK_TERMS": 10_000,
    "bnlab.sampling.structure_mcmc.BLOCK_MOVES": 50,
    "bnlab.sampling.structure_mcmc.BLOCK_PAIRS": 500,
    "bnlab.sampling.order_target.BLOCK_TERMS": 2_000,
    "bnlab.sampling.averaging.BLOCK_CYCLES": 5,
}
"""Settings under which the samplers are made of many jobs."""
SMALLEST_BLOCKS = dict.fromkeys(
    (
        *SMALL_BLOCKS,
        "bnlab.linear_extensions.estimating.BATCH_NUMBERS",
        "bnlab.search.climbing.ROUND",
        "bnlab.search.sets.ROUND",
    ),
    1,
)
"""Settings under which all calls are made of as many steps as there can be."""


def data(n: int, seed: int = 3) -> bn.Data:
    return bn.Data.from_arrays(np.random.default_rng(seed).integers(0, 2, size=(30, n)))


@cache
def table(n: int, seed: int = 3) -> bn.ScoreTable:
    return bn.score_families(data(n, seed), bn.BDeu(), max_parents=2)


def posterior() -> bn.OrderPosterior:
    return bn.order_posterior(table(5))


def orders() -> bn.Draws:
    return bn.sample_orders(table(5), draws=9, chains=2, burn_in=10, rng=np.random.default_rng(1))


@dataclass(frozen=True)
class Call:
    """A function, what it is about, and its settings.

    count : the parameter that says how much is drawn, "" if none does; `usual` of it here
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
        if self.count:
            options[self.count] = self.usual if count is None else count
        if self.takes("rng"):
            options.setdefault("rng", np.random.default_rng(seed))
        target = self.target() if target is None else target
        targets = target if isinstance(target, tuple) else (target,)
        return self.sampler(*targets, **{**self.options, **options})

    def takes(self, option: str) -> bool:
        return option in signature(self.sampler).parameters


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
TEMPERED = {"values": 1, "log_weight": 1, "traces tempered": 1}
BY_RUN, TRACE, NOTHING = {"values": 0, "log_weight": 0}, {"trace": 0}, {}


def five() -> bn.ScoreTable:
    return table(5)


def latent(seed: int = 2) -> tuple[bn.hidden.HiddenModel, np.ndarray]:
    model = bn.hidden.HiddenModel([0, 1, 1, 2], [2, 3, 2, 3], hidden=[0])
    return model, np.random.default_rng(seed).integers(0, 2, (9, 3))


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


def chain() -> tuple[bn.hidden.HiddenModel, np.ndarray]:
    return bn.hidden.HiddenModel([0, 0, 0], [2, 2, 2], hidden=[]), latent()[1]


def bipartite() -> tuple[list[bn.hidden.HiddenModel], np.ndarray]:
    parents = bn.hidden.bipartite_structures()[:9]
    models = [bn.hidden.HiddenModel(masks, [2] * 6, hidden=[0, 1]) for masks in parents]
    return models, np.random.default_rng(2).integers(0, 2, (9, 4))


def lazy() -> bn.LazyScores:
    return bn.LazyScores(data(5), bn.BDeu(), 3)


def folds() -> tuple[bn.Data, Mapping[str, Any]]:
    values = np.random.default_rng(9).integers(0, 2, (300, 1))
    return bn.Data.from_arrays(values), {"coins": coins}


def coins(train: bn.Data, test: bn.Data) -> np.ndarray:
    return np.log(np.where(test.values[:, 0] == 0, 0.2, 0.8)) / train.m


def perturbed(share: float, rng: np.random.Generator) -> bn.ScoreTable:
    return bn.score_families(bn.resampled(data(5), share, rng=rng), bn.BDeu(), max_parents=2)


def coronary() -> bn.ScoreTable:
    return bn.score_families(bn.load_dataset("coronary"), bn.BDeu())


def holes() -> tuple[bn.Data, bn.BDeu]:
    values = np.random.default_rng(4).integers(-1, 2, (12, 3))
    return bn.Data.from_arrays(values, missing="keep"), bn.BDeu()


def holes_measured() -> tuple[bn.Data, bn.BGe]:
    values = np.random.default_rng(4).standard_normal((12, 3))
    values[[0, 3, 3, 7], [1, 0, 2, 2]] = np.nan
    return bn.Data.from_arrays(values, missing="keep"), bn.BGe()


def holes_of_both() -> tuple[bn.Data, bn.ConditionalGaussian]:
    values = np.random.default_rng(4).standard_normal((12, 3))
    values[:, 0] = values[:, 0] > 0
    values[[0, 3, 3, 7], [1, 0, 2, 2]] = np.nan
    codes = np.where(np.isnan(values) & (np.arange(3) == 0), -1, values)
    data = bn.Data.from_arrays(codes, arities=[2, 0, 0], missing="keep")
    return data, bn.ConditionalGaussian()


def to_cut() -> tuple[bn.Data, bn.BDeu]:
    values = np.random.default_rng(4).standard_normal((12, 3))
    values[:, 1] = np.arange(12) % 2
    return bn.Data.from_arrays(values, arities=[0, 2, 0]), bn.BDeu()


def many_orders() -> bn.Draws:
    rng = np.random.default_rng(9)
    return bn.sample_orders(bn.order_posterior(table(7)), draws=60, rng=rng)


POSET = [0, 0, 0, 0, 1, 3, 6, 12, 8, 48, 96, 192]
ENDS, TWO = {"ends": 0, "log_targets": 0}, {"components": 2, "max_iterations": 9}
TO_ESTIMATE = {"eps": 0.2, "delta": 0.1, "max_states": 1}
other = partial(Call, nested=NOTHING)
OTHERS = {
    "Ellis-Wong": Call(bn.ellis_wong_dags, many_orders, "", 0, {"table": table(7), "eps": 0.5}),
    "cross-validation": other(bn.predict.cross_validate, folds, "folds", 9),
    "climbs": Call(bn.hill_climb, five, "restarts", nested=ENDS),
    "perturbed ends": Call(bn.hill_climb, five, "restarts", 40, {"perturb": 3}, ENDS),
    "climbs by lazy scores": Call(bn.hill_climb, lazy, "restarts", nested=ENDS),
    "climbs on perturbed data": other(bn.climb_perturbed, lambda: (five(), perturbed), "rounds"),
    "shotgun": Call(bn.shotgun_search, five, "steps", 100, {"keep": 50}, {"trace": 1}),
    "mixture": Call(bn.fit_tree_mixture, lambda: data(5), "restarts", 9, TWO, {"values": 0}),
    "linear extensions": other(
        bn.linear_extensions.estimate_linear_extensions, lambda: POSET, "", 0, TO_ESTIMATE
    ),
    "paths": other(bn.exact.order_paths, posterior, ""),
    "hidden: runs": Call(bn.hidden.anneal, latent, "runs", 9, LATENT_AIS, {"log_weight": 0}),
    "hidden: structures": other(bn.hidden.estimate_structures, bipartite, "runs", 2, LATENT_AIS),
    "hidden: search": other(bn.hidden.search_structures, chain, ""),
    "completions": Call(bn.complete, holes, "draws", 20, CHAINS, {"cells": 1, "given": 1}),
    "completions of measurements": Call(
        bn.complete, holes_measured, "draws", 20, CHAINS, {"cells": 1, "given": 1}
    ),
    "completions of both kinds, by moves": Call(
        bn.complete, holes_of_both, "draws", 20, {**CHAINS, "moves": 20}, {"cells": 1, "given": 1}
    ),
    "cuts": Call(bn.average_cuts, to_cut, "draws", 20, CHAINS, {"choices": 1, "given": 1}),
    # These are not resumed.
    "hidden: EM": other(bn.hidden.fit_em, latent, "restarts", 9),
    "hidden: VB": other(bn.hidden.fit_vb, latent, "restarts", 9),
    "hidden: scores": other(bn.hidden.score, lambda: (*chain(), ["vb"]), ""),
    "hidden: scores of structures": other(
        bn.hidden.score_structures, lambda: (*bipartite(), ["vb"]), ""
    ),
    "GES": other(bn.ges, coronary, ""),
    "Occam's window": other(bn.occams_window, five, "", 0, {"factor": 1e6}),
    "best DAG": other(bn.map_dag, five, ""),
    "best DAGs": other(bn.k_best_dags, lambda: (five(), 9), ""),
    "order posterior": other(bn.order_posterior, five, ""),
    "DAG posterior": other(bn.dag_posterior, five, ""),
    "effects": other(
        bn.effects,
        lambda: (bn.sample_dags(posterior(), draws=9, rng=np.random.default_rng(1)), data(5)),
        "tables",
        40,
        {"do": {"x0": 1}, "on": "x3"},
    ),
    "exact densities": other(
        bn.predict.exact_log_density, lambda: (data(5), data(5).values[:9]), ""
    ),
}
ALL = CALLS | OTHERS
RESUMED = {
    name: call for name, call in ALL.items() if call.takes("checkpoint") and name != "exact orders"
}
"""Those that a checkpoint is kept of; independent draws are made again."""


def arrays(result: Any, name: str = "") -> dict[str, np.ndarray]:
    """All the numbers of a result, by where they are in it."""
    if is_dataclass(result):
        parts = {each.name: getattr(result, each.name) for each in fields(result)}
        parts.pop("run", None)
    elif isinstance(result, Mapping):
        parts = dict(result)
    elif isinstance(result, list | tuple):
        parts = {str(i): each for i, each in enumerate(result)}
    elif isinstance(result, str | None):
        return {}
    else:
        return {name: np.array(result)}
    places = {part: f"{name} {part}".strip() for part in parts}
    return {
        place: array
        for part, each in parts.items()
        for place, array in arrays(each, places[part]).items()
    }


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
        for name, call in ALL.items()
        if call.takes("executor") and name != "cross-validation"  # a function of this file
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
