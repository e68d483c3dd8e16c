"""Every public function told nonsense: one line that names it, never a crash or a wrong answer."""

import inspect
import math
import os
import types
from fractions import Fraction
from functools import cache
from operator import attrgetter

import calls
import numpy as np
import pytest
from fuzzing import at_most

import bnlab as bn

NAN = math.nan
RNG = np.random.default_rng(1)
DATA = bn.Data.from_arrays(np.random.default_rng(3).integers(0, 2, (30, 5)))
TABLE = calls.table(5)
ORDERS = calls.orders()
CYCLE, LOOP = [2, 4, 1, 0, 0], [1, 0, 0, 0, 0]
DAG = [0, 1, 2, 0, 0]

# What may be put in the place of a good value, by its kind. A few of these are good as well, here
# or there: a burn-in of 0, a DAG of two nodes.
THINGS = [None, "x", 3, [[0, 1], [1, 0]], object, np.zeros(2)]
COUNTS = [-1, 0, 0.5, NAN, "3", None, [3], np.inf]
MANY, SIZES = [*COUNTS, 10**30], [*COUNTS, 64]
NODES = [9, -1, 0.5, None, "x9", NAN, [0]]
NUMBERS = [-1.0, NAN, math.inf, -math.inf, "x", [0.5, 0.5], 1j]
GENERATORS = [None, 1, "x", np.random]
ORDERINGS = [
    [0, 0, 1, 2, 3],
    [0, 1, 2],
    [1, 2, 3, 4, 5],
    [0.5] * 5,
    "x",
    3,
    [[0, 1], [2]],
    [NAN] * 5,
]
DAGS = [CYCLE, LOOP, [0, 1], [0, 1, 64, 0, 0], [0.5] * 5, "x", 3, [NAN] * 5, [-1] * 5, [0] * 64, []]
PAIRS = [[(0, 0)], [(0, 9)], [("x0", "z")], [(0,)], 3, ["ab"], [(0.5, 1)], [(0, 1), (1, 0), None]]
WEIGHTS = [[NAN, 0.0], [], [math.inf, 0.0], "x", ["a"], [[1.0], [1.0, 2.0]], [-math.inf] * 3, None]
ARITIES = [[1, 2], [0.5, 2], [], [-2, 2], "x", 3, [2] * 64, [[2, 2]], [NAN, 2], [10**30, 2]]
MATRICES = [None, "x", 3, [[0.5]], np.full((5, 5), NAN), np.full((5, 4), 0.5), np.full((3, 3), 2.0)]
NAMES = ["nothing", 3, None, ""]
METHODS = ["ais", None, bn.AIS, 3]
PRIORS = [None, "x", bn.Uniform, 3]

BAD = {
    **dict.fromkeys(("table", "data", "draws_of", "target", "upper", "orders", "score"), THINGS),
    **dict.fromkeys(
        ("runs", "draws", "chains", "burn_in", "thin", "steps", "width", "most"), COUNTS
    ),
    **dict.fromkeys(("max_parents", "k", "bucket", "bins", "tabu", "patience"), COUNTS),
    **dict.fromkeys(("keep", "restarts", "perturb", "components", "max_iterations", "m"), COUNTS),
    **dict.fromkeys(("max_dags", "max_states", "count", "max_length"), COUNTS),
    **dict.fromkeys(("delta", "eps", "share", "factor", "reach", "power", "ess"), NUMBERS),
    **dict.fromkeys(("concentration", "log_z"), NUMBERS),
    "rng": GENERATORS,
    "order": ORDERINGS,
    **dict.fromkeys(("dag", "start"), DAGS),
    "log_weights": WEIGHTS,
    "arities": ARITIES,
    "name": NAMES,
    "dag_too": DAGS,
    "nats": NUMBERS,
    "strength": NUMBERS,
    **dict.fromkeys(("swap", "adjacent", "relocate"), NUMBERS),
    **dict.fromkeys(("beliefs", "matrix"), MATRICES),
    "inverse_temperatures": [
        (0.0,),
        (1.0, 0.0),
        (0.0, NAN, 1.0),
        "x",
        None,
        3,
        ("a", "b"),
        ((0, 1),),
    ],
    "points": [[], [NAN], [1.0, 1.0], "x", None, 3, ["a"], [[1.0]]],
    **dict.fromkeys(("n", "hidden", "observed"), SIZES),
    "edges": PAIRS,
    **dict.fromkeys(("u", "v"), NODES),
    "feature": THINGS,
    "traces": [[], [[]], "x", [[NAN, 1.0]], None, [["a", "b"]], 3.0],
    "rows": [None, "x", 3, [[0, 1]], object],
    "model": THINGS,
    "latent_data": [None, "x", 3, [[0]], [[0, 5]], [[0.5, 1]], [[NAN, 0]], DATA],
    "method": METHODS,
    "kernel": METHODS,
    "prior": PRIORS,
    "moves": PRIORS,
    "schedule": [3, "x", bn.Linear],
    "required": PAIRS,
    "forbidden": PAIRS,
    "candidates": [{0: [9]}, {"z": [1]}, {0: ["z"]}, 3, {0: 3}, {9: [0]}],
    "missing": ["perhaps", None, 3],
    "rule": [3, None, bn.EqualWidth, "x"],
    "values": [[], "x", [NAN, 1.0], ["a", "b"], [[1.0, 2.0]], [math.inf, 1.0], None, [1.0, 1.0]],
    "choice": ["worst", None, 3],
}


@cache
def posterior():
    return bn.order_posterior(TABLE)


@cache
def dags():
    return bn.sample_dags(posterior(), draws=20, rng=np.random.default_rng(1))


@cache
def annealed():
    return bn.anneal_orders(
        TABLE, runs=20, rng=np.random.default_rng(1), method=bn.AIS(bn.Linear(9))
    )


def least_evidence():
    return bn.estimate_upper_bound(
        posterior(), runs=20, rng=np.random.default_rng(1), method=bn.AIS(bn.Linear(9))
    )


MODEL = bn.hidden.HiddenModel([0, 1, 1], [2, 2, 2], hidden=[0])
LATENT = np.array([[0, 1], [1, 1], [0, 0]])
HIDDEN_AIS = bn.hidden.AIS(bn.hidden.Warped(5))
QUICK = bn.AIS(bn.Linear(9))
CHAINS = {"draws": 3, "chains": 2, "burn_in": 2, "thin": 1, "rng": RNG}

# A good call of every function: positional arguments in their order, by the kind of value, then
# the options by name.
GOOD = {
    "anneal_orders": {"table": TABLE, "runs": 2, "rng": RNG, "method": QUICK},
    "best_dag_given_order": {"table": TABLE, "order": [0, 1, 2, 3, 4]},
    "bound_edges": lambda: {
        "draws_of": annealed(),
        "table": TABLE,
        "upper": least_evidence(),
        "delta": 0.1,
        "bins": 2,
    },
    "candidate_parents": {"data": DATA, "count": 2},
    "chow_liu": {"data": DATA},
    "count_linear_extensions": {"dag": DAG, "max_states": 1000},
    "dag_posterior": {"table": TABLE},
    "discretize": {"values": [1.0, 2.0, 3.0], "rule": bn.EqualWidth(2)},
    "each_order": {"table": TABLE, "rng": RNG, "start": [0, 1, 2, 3, 4], "moves": bn.Moves()},
    "ellis_wong_dags": {"orders": ORDERS, "table": TABLE, "eps": 0.2, "rng": RNG, "max_dags": 1000},
    "estimate_evidence": {"table": TABLE, "runs": 2, "rng": RNG, "method": QUICK},
    "estimate_lower_bound": {
        "table": TABLE,
        "runs": 20,
        "rng": RNG,
        "method": QUICK,
        "delta": 0.1,
        "bins": 2,
    },
    "estimate_upper_bound": lambda: {
        "target": posterior(),
        "runs": 20,
        "rng": RNG,
        "method": QUICK,
        "delta": 0.1,
        "bins": 2,
    },
    "evidence_from": lambda: {"draws_of": annealed(), "table": TABLE},
    "fit_dependency_network": {"table": TABLE, "data": DATA, "score": bn.BDeu()},
    "fit_tree_mixture": {
        "data": DATA,
        "components": 2,
        "restarts": 1,
        "rng": RNG,
        "ess": 1.0,
        "max_iterations": 5,
    },
    "ges": {"table": TABLE},
    "hill_climb": {
        "table": TABLE,
        "rng": RNG,
        "start": DAG,
        "choice": "best",
        "tabu": 1,
        "patience": 2,
        "restarts": 1,
        "perturb": 2,
    },
    "hoeffding_draws": {"eps": 0.1, "delta": 0.1},
    "hoeffding_margin": {"draws": 10, "delta": 0.1},
    "k_best_dags": {"table": TABLE, "k": 2, "prior": "structure-modular"},
    "load_dataset": {"name": "coronary", "missing": "level"},
    "load_network": {"name": "cancer"},
    "lower_bound": {"log_weights": np.zeros(20), "delta": 0.1, "bins": 2},
    "lower_bound_from": lambda: {"draws_of": annealed(), "table": TABLE, "delta": 0.1, "bins": 2},
    "map_dag": {"table": TABLE, "prior": "structure-modular"},
    "maximum_branching": {"table": TABLE},
    "occams_window": {
        "table": TABLE,
        "factor": 20.0,
        "reach": 100.0,
        "width": 10,
        "most": 10,
        "start": DAG,
    },
    "order_lattice": {"table": bn.score_families(DATA.select(["x0", "x1"]), bn.BDeu())},
    "order_posterior": {"table": TABLE},
    "random_network": {"name": "alarm", "rng": RNG, "concentration": 1.0},
    "resampled": {"data": DATA, "share": 0.5, "rng": RNG},
    "reweight_by_extensions": lambda: {"draws_of": dags(), "max_states": 1000},
    "reweight_unique": lambda: {"draws_of": dags(), "log_z": 0.0},
    "sample_dags": lambda: {"target": posterior(), "draws": 3, "rng": RNG},
    "sample_joint": {
        "arities": [2, 2, 3],
        "m": 5,
        "rng": RNG,
        "score": bn.BDeu(),
        "max_parents": 2,
        "prior": bn.Uniform(),
    },
    "sample_linear_extensions": {"dag": DAG, "draws": 2, "rng": RNG, "max_states": 1000},
    "sample_orders": {
        "target": TABLE,
        **CHAINS,
        "moves": bn.Moves(),
        "schedule": bn.Betas((0.0, 1.0)),
    },
    "sample_partial_orders": {"table": TABLE, **CHAINS, "bucket": 2},
    "sample_partitions": {"table": TABLE, **CHAINS},
    "sample_structures": {"table": TABLE, **CHAINS, "kernel": bn.Local(), "start": DAG},
    "score_families": {
        "data": DATA,
        "score": bn.BDeu(),
        "max_parents": 2,
        "prior": bn.Uniform(),
        "candidates": None,
        "required": (),
        "forbidden": (),
    },
    "shotgun_search": {
        "table": TABLE,
        "steps": 2,
        "rng": RNG,
        "power": 0.2,
        "patience": 2,
        "chains": 2,
        "keep": 10,
        "start": DAG,
    },
    "tan": {"data": DATA, "target": 0},
    "upper_bound": {"log_weights": np.zeros(20), "delta": 0.1, "bins": 2},
}
# The parts of settings, and the functions of the modules.
GOOD |= {
    "BDeu": {"ess": 1.0},
    "EdgePenalty": {"nats": 1.0},
    "EdgeBeliefs": {"beliefs": np.full((5, 5), 0.5), "strength": 1.0},
    "Linear": {"steps": 3},
    "Harmonic": {"steps": 3},
    "Betas": {"inverse_temperatures": (0.0, 1.0)},
    "Moves": {"swap": 1.0, "adjacent": 0.0, "relocate": 0.0},
    "Global": {"matrix": np.full((5, 5), 0.5)},
    "EdgeReversal": {"share": 0.5},
    "CutPoints": {"points": [1.0]},
    "EqualWidth": {"bins": 2},
    "EqualFrequency": {"bins": 2},
    "LazyScores": {"data": DATA, "score": bn.BDeu(), "max_parents": 2, "prior": bn.Uniform()},
    "graphs.all_dags": {"n": 3},
    "graphs.ancestors": {"dag": DAG},
    "graphs.cpdag": {"dag": DAG},
    "graphs.from_adjacency": {"matrix": np.zeros((3, 3), int)},
    "graphs.from_edges": {"n": 3, "edges": [(0, 1)]},
    "graphs.layers": {"dag": DAG},
    "graphs.markov_blankets": {"dag": DAG},
    "graphs.markov_equivalent": {"dag": DAG, "dag_too": DAG},
    "graphs.near_ancestors": {"dag": DAG, "max_length": 2},
    "graphs.to_adjacency": {"dag": DAG},
    "graphs.to_edges": {"dag": DAG},
    "graphs.to_networkx": {"dag": DAG},
    "graphs.topological_order": {"dag": DAG},
    "graphs.v_structures": {"dag": DAG},
    "features.edge": {"u": 0, "v": 1},
    "features.path": {"u": 0, "v": 1},
    "features.limited_path": {"u": 0, "v": 1, "max_length": 2},
    "features.edges": lambda: {"draws_of": dags()},
    "features.paths": lambda: {"draws_of": dags(), "max_length": 2},
    "features.probability": lambda: {
        "draws_of": dags(),
        "feature": bn.features.edge(0, 1),
        "delta": 0.1,
    },
    "diagnostics.rhat": {"traces": np.arange(20.0).reshape(2, 10) % 3},
    "diagnostics.ess": {"traces": np.arange(20.0).reshape(2, 10) % 3},
    "diagnostics.weights_ess": {"log_weights": np.zeros(3)},
    "predict.log_density": lambda: {
        "draws_of": dags(),
        "data": DATA,
        "rows": DATA.prefix(2),
        "score": bn.BDeu(),
    },
    "predict.plug_in_log_density": {
        "dag": DAG,
        "data": DATA,
        "rows": DATA.prefix(2),
        "score": bn.BDeu(),
    },
    "predict.exact_log_density": {
        "data": DATA,
        "rows": DATA.prefix(2),
        "score": bn.BDeu(),
        "max_parents": 2,
        "prior": bn.Uniform(),
    },
    "predict.log_class_posterior": {
        "dag": DAG,
        "data": DATA,
        "target": 0,
        "rows": DATA.prefix(2),
        "score": bn.BDeu(),
    },
    "hidden.bipartite_structures": {"hidden": 1, "observed": 2},
    "hidden.exact_evidence": {"model": MODEL, "latent_data": LATENT},
    "hidden.estimate_evidence": {
        "model": MODEL,
        "latent_data": LATENT,
        "runs": 2,
        "rng": RNG,
        "method": HIDDEN_AIS,
    },
    "hidden.fit_em": {
        "model": MODEL,
        "latent_data": LATENT,
        "restarts": 1,
        "rng": RNG,
        "max_iterations": 3,
    },
    "hidden.fit_vb": {
        "model": MODEL,
        "latent_data": LATENT,
        "restarts": 1,
        "rng": RNG,
        "max_iterations": 3,
    },
    "hidden.dimension": {"model": MODEL, "rng": RNG},
    "linear_extensions.count_by_ideals": {"dag": DAG},
    "linear_extensions.estimate_linear_extensions": {
        "dag": DAG,
        "eps": 0.5,
        "delta": 0.5,
        "rng": RNG,
    },
    "linear_extensions.log_count": {"dag": DAG},
}
# They take no values, read files (fuzzed), write them, or take functions of the caller's.
ELSEWHERE = {"list_datasets", "list_networks", "read_bif", "read_csv", "read_scores"}
ELSEWHERE |= {"write_scores", "climb_perturbed"}


def good(name):
    return GOOD[name]() if callable(GOOD[name]) else GOOD[name]


def made(name, arguments):
    """The result of a call, by the kinds of its parameters."""
    function = attrgetter(name)(bn)
    kinds = [p.kind for p in inspect.signature(function).parameters.values()]
    positional = sum(kind is not inspect.Parameter.KEYWORD_ONLY for kind in kinds)
    values = list(arguments.items())
    result = function(*(v for _, v in values[:positional]), **dict(values[positional:]))
    return (
        list(zip(range(2), result, strict=False))
        if isinstance(result, types.GeneratorType)
        else result
    )


def test_every_function_is_here():
    functions = {name for name in bn.__all__ if inspect.isfunction(getattr(bn, name))}
    assert functions - GOOD.keys() == ELSEWHERE


@pytest.mark.parametrize("name", GOOD)
def test_good_values(name):
    made(name, good(name))


@pytest.mark.parametrize(
    ("name", "parameter"),
    [(name, parameter) for name in GOOD for parameter in good(name) if parameter in BAD],
)
def test_bad_values(name, parameter):
    wrong = []
    for value in BAD[parameter]:
        try:
            with at_most(20):
                made(name, good(name) | {parameter: value})
        except ValueError as error:
            if not str(error) or len(str(error)) > 1000 or "\n" in str(error):
                wrong.append(f"{value!r}: {str(error)[:300]}")
        except Exception as error:
            wrong.append(f"{value!r}: {type(error).__name__}: {str(error)[:300]}")
    assert not wrong, "\n".join(wrong)


SMALL = bn.Data.from_arrays(np.random.default_rng(1).integers(0, 2, (9, 3)))
REFUSED = {
    "edges of floats": lambda: bn.graphs.from_edges(3, [(0.0, 2.0)]),
    "moves that overflow": lambda: bn.sample_orders(
        TABLE, draws=1, rng=RNG, moves=bn.Moves(1e308, 1e308)
    ),
    "a feature that is nan": lambda: bn.features.probability(
        dags(), lambda masks: np.full(masks.shape[:-1], NAN)
    ),
    "half a draw": lambda: dags().prefix(1.5),
    "half a variable": lambda: posterior().log_alpha(1.5, [0]),
    "half a mask": lambda: posterior().log_alpha(0, [2.5]),
    "no seeds": lambda: bn.sample_orders(
        TABLE, draws=1, rng=np.random.Generator(np.random.RandomState(1)._bit_generator)
    ),
    "a cost that overflows": lambda: bn.EdgePenalty(1e308),
    "a strength that overflows": lambda: bn.EdgeBeliefs(np.full((3, 3), 0.9), 1e308),
    "masked codes": lambda: bn.Data.from_arrays(np.ma.masked_equal([[0, 1], [1, 2]], 2)),
    "no names": lambda: SMALL.select(None),
    "a checkpoint that is a device": lambda: bn.sample_orders(
        TABLE, draws=1, burn_in=1, rng=RNG, checkpoint=os.devnull
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_before_work_begins(name):
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        REFUSED[name]()


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="a folder that nobody can write to")
def test_a_checkpoint_that_cannot_be_written_is_told_before_work_begins():
    def progress(*_):
        pytest.fail("work began")

    with pytest.raises(ValueError, match="nothing can be written there"):
        bn.sample_orders(TABLE, draws=9, rng=RNG, checkpoint="/proc/run", progress=progress)


def test_numbers_of_any_kind():
    scores = bn.score_families(SMALL, bn.BDeu(Fraction(1, 2))).log_score
    assert (scores == bn.score_families(SMALL, bn.BDeu(0.5)).log_score).all()
    small = [np.int8(0), np.int8(8)], [np.int8(1), np.int8(8)]
    assert bn.graphs.from_edges(9, small)[8] == 3
    order = np.arange(5)
    for kind in (np.uint64, float):
        found = bn.best_dag_given_order(TABLE, order.astype(kind))
        assert (found == bn.best_dag_given_order(TABLE, order)).all()
    assert bn.random_network("child", np.random.default_rng(1), concentration=Fraction(1)).dag.size
    fit = bn.hidden.fit_em(
        MODEL, LATENT, restarts=1, rng=np.random.default_rng(1), max_iterations=np.uint64(3)
    )
    assert fit.trace.size <= 3
