"""Every public function told nonsense: one line that names it, never a crash or a wrong answer."""

import dataclasses
import inspect
import json
import math
import os
import pathlib
import time
import types
from fractions import Fraction
from functools import cache, partial
from operator import attrgetter

import calls
import networkx as nx
import nonsense
import numpy as np
import pandas as pd
import pytest
from fuzzing import at_most

import bnlab as bn
from bnlab import course
from bnlab.errors import Note

NAN = math.nan
RNG = np.random.default_rng(1)
DATA = bn.Data.from_arrays(np.random.default_rng(3).integers(0, 2, (30, 5)))
TABLE = calls.table(5)
GAPS, TO_CUT = calls.holes()[0], calls.to_cut()[0]
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
SETTINGS = [{}, 3, "x0", {"x9": 1}, {"x0": 7}, {"x3": 0}, {0: 1}]
METHODS = ["ais", None, bn.AIS, 3]
PRIORS = [None, "x", bn.Uniform, 3]

BAD = {
    **dict.fromkeys(("table", "data", "draws_of", "target", "upper", "orders", "score"), THINGS),
    **dict.fromkeys(("gapped", "dirichlet"), THINGS),
    **dict.fromkeys(
        ("runs", "draws", "chains", "burn_in", "thin", "steps", "width", "most"), COUNTS
    ),
    **dict.fromkeys(("max_parents", "k", "bucket", "bins", "tabu", "patience"), COUNTS),
    **dict.fromkeys(("keep", "restarts", "perturb", "components", "max_iterations", "m"), COUNTS),
    **dict.fromkeys(("max_dags", "max_states", "count", "max_length", "tables"), COUNTS),
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
    **dict.fromkeys(("do", "against"), SETTINGS),
    "on": NODES,
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
    "average_cuts": {
        "gapped": TO_CUT,
        "dirichlet": bn.BDeu(),
        **CHAINS,
        "bins": (2, 3),
        "max_parents": 2,
        "prior": bn.Uniform(),
        "candidates": None,
        "required": (),
        "forbidden": (),
        "tiers": (),
    },
    "bound_edges": lambda: {
        "draws_of": annealed(),
        "table": TABLE,
        "upper": least_evidence(),
        "delta": 0.1,
        "bins": 2,
    },
    "candidate_parents": {"data": DATA, "count": 2},
    "chow_liu": {"data": DATA},
    "complete": {
        "gapped": GAPS,
        "dirichlet": bn.BDeu(),
        **CHAINS,
        "max_parents": 2,
        "prior": bn.Uniform(),
        "candidates": None,
        "required": (),
        "forbidden": (),
        "tiers": (),
    },
    "count_linear_extensions": {"dag": DAG, "max_states": 1000},
    "dag_posterior": {"table": TABLE},
    "discretize": {"values": [1.0, 2.0, 3.0], "rule": bn.EqualWidth(2)},
    "each_order": {"table": TABLE, "rng": RNG, "start": [0, 1, 2, 3, 4], "moves": bn.Moves()},
    "ellis_wong_dags": lambda: {
        "orders": calls.orders(),
        "table": TABLE,
        "eps": 0.2,
        "rng": RNG,
        "max_dags": 1000,
    },
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
        "tiers": (),
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
    "BGe": {"alpha_mu": 1.0, "alpha_w": None, "standardize": True},
    "ConditionalGaussian": {"discrete": bn.BDeu(), "measured": bn.BGe()},
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
    "graphs.to_dot": {"dag": DAG},
    "graphs.to_model_string": {"dag": DAG},
    "graphs.topological_order": {"dag": DAG},
    "graphs.v_structures": {"dag": DAG},
    "features.edge": {"u": 0, "v": 1},
    "features.path": {"u": 0, "v": 1},
    "features.limited_path": {"u": 0, "v": 1, "max_length": 2},
    "features.edges": lambda: {"draws_of": dags()},
    "features.edge_table": lambda: {"draws_of": dags(), "delta": 0.1},
    "features.paths": lambda: {"draws_of": dags(), "max_length": 2},
    "features.probability": lambda: {
        "draws_of": dags(),
        "feature": bn.features.edge(0, 1),
        "delta": 0.1,
    },
    "diagnostics.rhat": {"traces": np.arange(20.0).reshape(2, 10) % 3},
    "diagnostics.ess": {"traces": np.arange(20.0).reshape(2, 10) % 3},
    "diagnostics.weights_ess": {"log_weights": np.zeros(3)},
    "effects": lambda: {
        "draws_of": dags(),
        "data": DATA,
        "do": {"x0": 1},
        "on": 3,
        "against": {"x0": 0},
        "score": bn.BDeu(),
        "tables": 9,
        "delta": 0.1,
        "rng": RNG,
    },
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
BY_KIND = list(GOOD)
# More of the modules, and the methods of the classes: "self" first.
TABLES = [np.full(shape, 1 / shape[1]) for shape in [(1, 2), (2, 2), (2, 2)]]
NET = bn.load_network("cancer")
PLANTS = bn.Data.from_arrays([[1.0, 2.0], [2.0, 4.5], [3.0, 5.5]])
GAUSSIAN = bn.GaussianNet.fit([0, 1], PLANTS)
LAB = json.loads(
    (pathlib.Path(__file__).parents[1] / "notebooks/02_modular_priors.ipynb").read_text()
)
CELLS = {"values": [[0, 1], [1, 0]], "arities": [2, 2], "names": ["a", "b"]}
SMALL = bn.Data.from_arrays(np.random.default_rng(1).integers(0, 2, (9, 3)))
LATENT_RUN = {"model": MODEL, "latent_data": LATENT, "runs": 2, "rng": RNG}


@cache
def analysis():
    return bn.reports.analyse(SMALL, rng=np.random.default_rng(1), seconds=0.5)


@cache
def mixture():
    return bn.fit_tree_mixture(DATA, components=2, restarts=1, rng=np.random.default_rng(1))


@cache
def conditionals():
    return bn.fit_dependency_network(TABLE, DATA, score=bn.BDeu())


@cache
def validated():
    return bn.predict.cross_validate(
        SMALL, {"a": rates, "b": rates}, folds=2, rng=np.random.default_rng(1)
    )


def rates(train, test):
    return np.linspace(-1.0, -0.5, test.m)


def joined(masks):
    return bool(masks[0])


def each_factor(v, parents):
    return np.zeros(len(parents))


def perturbed(share, rng):
    return TABLE


GOOD |= {
    "climb_perturbed": {
        "table": TABLE,
        "perturbed": perturbed,
        "rng": RNG,
        "rounds": 2,
        "share": 0.5,
        "start": DAG,
    },
    "read_bif": {"path": "no.bif"},
    "read_csv": {
        "path": "no.csv",
        "delimiter": ",",
        "decimal": ".",
        "skip": 0,
        "header": True,
        "names": ["a"],
        "letters": [],
        "drop": ["a"],
        "levels": {"a": ["0", "1"]},
        "discretize": bn.EqualWidth(2),
        "count": None,
        "intervention": None,
        "missing": "drop",
        "missing_markers": ["?"],
        "max_levels": 9,
        "encoding": "utf-8",
    },
    "read_knowledge": {"path": "no.toml", "data": DATA},
    "read_scores": {"path": "no.jkl"},
    "write_scores": {"table": TABLE, "path": "out.jkl"},
    "graphs.check_dag": {"dag": DAG},
    "graphs.check_dags": {"dag": [DAG, DAG]},
    "graphs.check_matrix": {"matrix": np.zeros((3, 3), int)},
    "graphs.consistent_extension": {"matrix": np.zeros((3, 3), int)},
    "graphs.from_networkx": {"graph": nx.DiGraph([("a", "b")]), "names": ["a", "b"]},
    "graphs.members": {"mask": 5},
    "graphs.predecessor_masks": {"order": np.array([0, 1, 2, 3, 4])},
    "exact.log_dag_prior_sum": {"table": TABLE},
    "exact.log_prior_sum": {"table": TABLE},
    "exact.order_paths": lambda: {"target": posterior()},
    "exact.order_posterior_bytes": {"n": 5, "max_parents": 2},
    "features.combined": {"feature": bn.features.edge(0, 1)},
    "features.function": {"function": joined},
    "features.modular_probability": lambda: {
        "draws_of": calls.orders(),
        "factor_of": each_factor,
        "table": TABLE,
    },
    "features.sound": lambda: {"matrix": np.full((5, 5), 0.5), "draws_of": distinct()},
    "diagnostics.sad": {"matrix": np.zeros((5, 5)), "matrix_too": np.ones((5, 5))},
    "diagnostics.max_error": {"matrix": np.zeros((5, 5)), "matrix_too": np.ones((5, 5))},
    "diagnostics.roc": {"matrix": np.full((5, 5), 0.5), "matrix_too": np.eye(5)[::-1] > 0},
    "diagnostics.auc": {"matrix": np.full((5, 5), 0.5), "matrix_too": np.eye(5)[::-1] > 0},
    "predict.cross_validate": {"data": SMALL, "methods": {"a": rates}, "folds": 2, "rng": RNG},
    "predict.typed_row": {"data": DATA, "cells": {"x0": "0"}},
    "hidden.anneal": {**LATENT_RUN, "method": HIDDEN_AIS, "start": TABLES, "reverse": False},
    "hidden.complete": {"model": MODEL, "latent_data": LATENT},
    "hidden.estimate_lower_bound": {**LATENT_RUN, "method": HIDDEN_AIS, "delta": 0.5, "bins": 1},
    "hidden.estimate_upper_bound": {
        "model": MODEL,
        "latent_data": LATENT,
        "start": TABLES,
        "runs": 20,
        "rng": RNG,
        "method": HIDDEN_AIS,
        "delta": 0.5,
        "bins": 1,
    },
    "hidden.estimate_structures": {
        "models": [MODEL],
        "latent_data": LATENT,
        "runs": 2,
        "rng": RNG,
        "method": HIDDEN_AIS,
    },
    "hidden.components": {"model": MODEL},
    "hidden.perturbation_dimensions": {
        "model": MODEL,
        "latent_data": LATENT,
        "tables": TABLES,
        "draws": 9,
        "rng": RNG,
        "eps": 1e-5,
        "tolerance": 1e-4,
    },
    "hidden.score": {
        "model": MODEL,
        "latent_data": LATENT,
        "scores": ["bic", "vb"],
        "restarts": 1,
        "rng": RNG,
        "alias": False,
        "basis": "probability",
        "max_iterations": 9,
    },
    "hidden.score_structures": {
        "models": [MODEL],
        "latent_data": LATENT,
        "scores": ["bic", "vb"],
        "restarts": 1,
        "rng": RNG,
        "alias": False,
        "basis": "probability",
        "max_iterations": 9,
    },
    "hidden.search_structures": {
        "model": MODEL,
        "latent_data": LATENT,
        "rng": RNG,
        "component_score": bn.hidden.Fitted("vb", restarts=1),
        "changes": bn.hidden.Changes(states=(2,), children=(2,)),
        "max_steps": 1,
    },
    "linear_extensions.ideal_lattice": {"dag": DAG, "max_ideals": 100},
    "reports.analyse": lambda: {
        "data": SMALL,
        "rng": RNG,
        "score": bn.BDeu(),
        "prior": bn.Uniform(),
        "required": [(0, 1)],
        "forbidden": (),
        "tiers": (),
        "plan": analysis().plan,
        "seconds": 0.5,
    },
    "reports.choose_method": {
        "data": SMALL,
        "score": bn.BDeu(),
        "max_parents": 2,
        "seconds": 1.0,
        "free": 10**9,
        "method": "exact DAGs",
    },
    "reports.read_table": {
        "path": "no.csv",
        "header": True,
        "delimiter": ",",
        "decimal": ".",
        "skip": 0,
        "letters": [],
        "drop": ["a"],
        "levels": {"a": ["0", "1"]},
    },
    "reports.sensitivity": lambda: {
        "data": SMALL,
        "ess": [1.0],
        "priors": [bn.Uniform()],
        "crossed": False,
    },
    "course.exercises": {"lab": LAB},
    "course.lab_page": {"lab": LAB, "page": course.Page("A")},
    "course.make_course": {"labs": "nowhere", "folder": "there"},
    "course.solved_copy": {"lab": LAB},
    "course.student_copy": {"lab": LAB},
    "course.text_page": {"markdown": "# A", "page": course.Page("A")},
    "BDeu.cell_counts": {"self": bn.BDeu(), "cells": np.ones(3)},
    "BDeu.parent_counts": {"self": bn.BDeu(), "cells": np.ones(3), "arity": 2},
    "BDeu.penalty": {"self": bn.BDeu(), "m": 3, "cells": np.ones(3)},
    "K2.cell_counts": {"self": bn.K2(), "cells": np.ones(3)},
    "K2.parent_counts": {"self": bn.K2(), "cells": np.ones(3), "arity": 2},
    "K2.penalty": {"self": bn.K2(), "m": 3, "cells": np.ones(3)},
    **{
        f"{name}.{method}": {"self": getattr(bn, name)(), **arguments}
        for name in ("AIC", "BIC", "LogLikelihood")
        for method, arguments in {
            "cell_counts": {"cells": np.ones(3)},
            "parent_counts": {"cells": np.ones(3), "arity": 2},
            "penalty": {"m": 3, "cells": np.ones(3)},
        }.items()
    },
    **{
        f"{name}.log_factor": {"self": prior, "n": 5, "v": 1, "masks": np.array([0, 1, 4])}
        for name, prior in {
            "Uniform": bn.Uniform(),
            "Fair": bn.Fair(),
            "EdgePenalty": bn.EdgePenalty(1.0),
            "EdgeBeliefs": bn.EdgeBeliefs(np.full((5, 5), 0.5), 1.0),
        }.items()
    },
    **{
        f"{name}.cut_points": {"self": rule, "values": np.array([0.0, 1.0, 2.0, 5.0])}
        for name, rule in {
            "CutPoints": bn.CutPoints([1.0]),
            "EqualWidth": bn.EqualWidth(2),
            "EqualFrequency": bn.EqualFrequency(2),
        }.items()
    },
    "BayesNet.log_likelihood": {"self": NET, "data": NET.sample(5, np.random.default_rng(1))},
    "BayesNet.random_tables": {
        "dag": [0, 1],
        "arities": [2, 3],
        "rng": RNG,
        "concentration": 1.0,
        "names": ["a", "b"],
        "levels": [["x", "y"], ["1", "2", "3"]],
    },
    "BayesNet.fit": {"dag": DAG, "data": DATA, "ess": 1.0},
    "BayesNet.sample": {"self": NET, "m": 3, "rng": RNG},
    "BayesNet.write_bif": {"self": NET, "path": "out.bif"},
    "GaussianNet.fit": {"dag": [0, 1], "measured_data": PLANTS, "score": bn.BGe()},
    "GaussianNet.log_likelihood": {"self": GAUSSIAN, "data": PLANTS},
    "GaussianNet.random_coefficients": {
        "dag": [0, 1],
        "rng": RNG,
        "least": 0.1,
        "most": 0.2,
        "names": ["a", "b"],
    },
    "GaussianNet.sample": {"self": GAUSSIAN, "m": 3, "rng": RNG},
    "BayesNet.write_xdsl": {"self": NET, "path": "out.xdsl"},
    "BayesNet.write_net": {"self": NET, "path": "out.net"},
    "BestDags.as_draws": lambda: {"self": bn.k_best_dags(TABLE, 2), "log_z": 0.0},
    "predict.CrossValidation.difference": lambda: {"self": validated(), "one": "a", "other": "b"},
    "Data.from_arrays": {
        **CELLS,
        "levels": [["0", "1"], ["x", "y"]],
        "intervened": np.zeros((2, 2), bool),
    },
    "Data.from_frame": {
        "frame": pd.DataFrame({"a": ["x", "y"], "b": [0, 1]}),
        "count": None,
        "intervention": None,
        "missing": "drop",
        "discretize": None,
        "max_levels": 9,
    },
    "Data.index": {"self": DATA, "name": "x1"},
    "Data.prefix": {"self": DATA, "m": 3},
    "Data.select": {"self": DATA, "names": ["x1", "x0"]},
    "Data.shuffled": {"self": DATA, "rng": RNG},
    "Data.subsample": {"self": DATA, "m": 3, "rng": RNG},
    "DependencyNetwork.conditional": lambda: {"self": conditionals(), "v": 1, "rows": DATA},
    "DependencyNetwork.sample": lambda: {"self": conditionals(), "m": 3, "rng": RNG, "sweeps": 2},
    "Draws.prefix": lambda: {"self": dags(), "draws": 2},
    "LazyScores.log_target": {"self": bn.LazyScores(DATA, bn.BDeu(), 2), "dag": DAG},
    "ScoreTable.log_target": {"self": TABLE, "dag": DAG},
    "OrderPosterior.log_alpha": lambda: {"self": posterior(), "v": 1, "masks": [0, 1]},
    "TreeMixture.log_density": lambda: {"self": mixture(), "rows": DATA},
    "TreeMixture.responsibilities": lambda: {"self": mixture(), "rows": DATA},
    "hidden.Changes.of": {"self": bn.hidden.Changes(), "model": MODEL},
    "hidden.Fitted.__call__": {
        "self": bn.hidden.Fitted("vb", 1),
        "model": MODEL,
        "latent": LATENT,
        "rng": RNG,
    },
    "hidden.Simulated.__call__": {
        "self": bn.hidden.Simulated(bn.hidden.SMC(9)),
        "model": MODEL,
        "latent": LATENT,
        "rng": RNG,
    },
    "hidden.HiddenModel": {
        "masks": [0, 1, 1],
        "arities": [2, 2, 2],
        "hidden": [0],
        "strength": 1.0,
    },
    "hidden.HiddenModel.rows": {"self": MODEL, "v": 1},
    "hidden.Warped": {"steps": 5, "e": 0.2},
    "hidden.JointDirichlet": {"strength": 2000.0},
    "hidden.RowDirichlet": {"growth": 0.3},
    "reports.Analysis.predict": lambda: {"self": analysis(), "row": {"x0": "0"}, "target": "x1"},
    "reports.Reading.spelled": {
        "self": bn.reports.Reading("a", SMALL, (), 9, 9, True, ",", (), {}),
        "spell": lambda part: str(part),
    },
    "reports.Credible.exact": {"matrix": np.full((3, 3), 0.5)},
    "AIS": {"schedule": bn.Linear(3), "moves": bn.Moves()},
    "SMC": {
        "particles": 9,
        "schedule": bn.Linear(3),
        "share": 0.9,
        "resample": 0.5,
        "moves_each": 1,
        "moves": bn.Moves(),
    },
    "MC3": {"schedule": bn.Linear(3), "draws": 9, "burn_in": 1, "thin": 1, "moves": bn.Moves()},
    "Hybrid": {"matrix": np.full((5, 5), 0.5), "local": 0.1},
    "hidden.AIS": {"schedule": bn.hidden.Warped(5), "moves": bn.hidden.RowDirichlet()},
    "hidden.SMC": {"particles": 9},
    "hidden.Simulated": {"method": bn.hidden.SMC(9), "runs": 2},
    "hidden.Fitted": {"name": "vb", "restarts": 3},
    "hidden.Changes": {
        "states": (2, 3),
        "children": (2,),
        "max_hidden": 2,
        "max_parents": 3,
        "edges": ("hidden-observed",),
    },
}


class Patience:
    """A progress that soon asks to stop: what is asked for may take years."""

    def __init__(self):
        self.start = time.process_time()

    def __call__(self, *_):
        return time.process_time() < self.start + 0.3


EVERYWHERE = {"executor": None, "checkpoint": None}


@cache
def distinct():
    return bn.k_best_dags(TABLE, 5).as_draws(log_z=posterior().log_z)


def _fields(record):
    return {f.name: getattr(record, f.name) for f in dataclasses.fields(record) if f.init}


# One result of every class: its fields are a good call of the constructor.
RESULTS = {
    "BayesNet": lambda: NET,
    "BestDags": lambda: bn.k_best_dags(TABLE, 2),
    "Completions": lambda: bn.complete(
        GAPS, bn.BDeu(), draws=5, burn_in=1, rng=np.random.default_rng(1)
    ),
    "Cuts": lambda: bn.average_cuts(
        TO_CUT, bn.BDeu(), draws=5, burn_in=1, rng=np.random.default_rng(1)
    ),
    "Climb": lambda: bn.hill_climb(TABLE, rng=np.random.default_rng(1)),
    "DagPosterior": lambda: bn.dag_posterior(TABLE),
    "Data": lambda: SMALL,
    "DependencyNetwork": conditionals,
    "Draws": dags,
    "EdgeBounds": lambda: bn.bound_edges(
        annealed(), table=TABLE, upper=least_evidence(), delta=0.1, bins=2
    ),
    "Effects": lambda: bn.effects(
        dags(), DATA, do={"x0": 1}, on=3, tables=9, rng=np.random.default_rng(1)
    ),
    "EquivalenceSearch": lambda: bn.ges(TABLE),
    "Estimate": least_evidence,
    "GaussianNet": lambda: GAUSSIAN,
    "FeatureEstimate": lambda: bn.features.probability(dags(), bn.features.edge(0, 1)),
    "Joint": lambda: bn.sample_joint([2, 2], m=3, rng=np.random.default_rng(1)),
    "OrderPosterior": posterior,
    "Run": lambda: bn.Run("x", {"a": 1}),
    "ScoreTable": lambda: TABLE,
    "TreeMixture": mixture,
    "exact.Lattice": lambda: bn.order_lattice(calls.table(3)),
    "hidden.Annealed": lambda: bn.hidden.anneal(
        MODEL, LATENT, runs=2, rng=np.random.default_rng(1), method=HIDDEN_AIS
    ),
    "hidden.Fit": lambda: bn.hidden.fit_em(MODEL, LATENT, rng=np.random.default_rng(1)),
    "hidden.Search": lambda: bn.hidden.search_structures(
        MODEL, LATENT, rng=np.random.default_rng(1), max_steps=1
    ),
    "linear_extensions.IdealLattice": lambda: bn.linear_extensions.ideal_lattice(DAG),
    "predict.CrossValidation": validated,
    "reports.Analysis": analysis,
    "reports.ColumnReading": lambda: bn.reports.ColumnReading(
        "a", "variable", "labels", ("x", "y"), (1, 2), 0, Note("")
    ),
    "reports.Credible": lambda: bn.reports.Credible.exact(np.full((3, 3), 0.5)),
    "reports.Plan": lambda: analysis().plan,
    "reports.Reading": lambda: bn.reports.Reading("a", SMALL, (), 9, 9, True, ",", (), {}),
    "reports.Sensitivity": lambda: bn.reports.sensitivity(SMALL, ess=[1.0], crossed=False),
    "course.Exercise": lambda: course.exercises(LAB)[0],
    "course.Page": lambda: course.Page("A"),
}
GOOD |= {name: (lambda make=make: _fields(make())) for name, make in RESULTS.items()}
# They take no values; abstract ones; named tuples, which hold what they are given.
ELSEWHERE = {"list_datasets", "list_networks", "Stopped"}
ELSEWHERE |= {"BayesNet.to_dot", "GaussianNet.to_dot", "BestDags.to_dot"}
ELSEWHERE |= {
    "BestDags.to_frame",
    "Effects.to_frame",
    "DagPosterior.to_frame",
    "OrderPosterior.to_frame",
}
ELSEWHERE |= {"AIC", "BIC", "K2", "LogLikelihood", "Fair", "Gibbs", "Local", "Uniform"}
ELSEWHERE |= {"hidden.CompletionGibbs", "hidden.TemperedGibbs"}
ELSEWHERE |= {
    "Prior",
    "Score",
    "hidden.ComponentScore",
}
ELSEWHERE |= {"hidden.Completions", "hidden.Dimensions"}


ABSENT = {"read_bif", "read_csv", "read_knowledge", "read_scores", "reports.read_table"}
ABSENT |= {"course.make_course"}


def good(name):
    return GOOD[name]() if callable(GOOD[name]) else GOOD[name]


def arguments_of(name):
    """A good call, with what every call of that signature may have besides."""
    known = inspect.signature(attrgetter(name)(bn)).parameters
    everywhere = {"progress": Patience(), **EVERYWHERE}
    return good(name) | {key: value for key, value in everywhere.items() if key in known}


def made(name, arguments):
    """The result of a call, by the kinds of its parameters."""
    function = attrgetter(name)(bn)
    kinds = [p.kind for p in inspect.signature(function).parameters.values()]
    positional = sum(kind is not inspect.Parameter.KEYWORD_ONLY for kind in kinds)
    values = list(arguments.items())
    positional = min(positional, len(values))
    result = function(*(v for _, v in values[:positional]), **dict(values[positional:]))
    return (
        list(zip(range(2), result, strict=False))
        if isinstance(result, types.GeneratorType)
        else result
    )


MODULES = ["", "diagnostics", "exact", "features", "graphs", "hidden", "linear_extensions"]
MODULES += ["predict", "reports", "course"]


def public():
    """The name of every public callable and method."""
    seen = set()
    for prefix in MODULES:
        module = getattr(bn, prefix) if prefix else bn
        for name in getattr(module, "__all__", vars(module)):
            thing = getattr(module, name)
            foreign = not str(getattr(thing, "__module__", "")).startswith("bnlab")
            if not callable(thing) or foreign or name.startswith("_") or id(thing) in seen:
                continue
            if prefix == "diagnostics" and thing.__module__ != "bnlab.diagnostics":
                continue
            seen.add(id(thing))
            path = f"{prefix}.{name}" if prefix else name
            yield path
            plain = inspect.isclass(thing) and not issubclass(thing, (tuple, Exception))
            if plain and not getattr(thing, "_is_protocol", False):
                for method, _ in inspect.getmembers(thing, inspect.isroutine):
                    if not method.startswith("_") or (
                        method == "__call__" and method in vars(thing)
                    ):
                        yield f"{path}.{method}"


def test_every_function_is_here():
    assert set(public()) - GOOD.keys() == ELSEWHERE


@pytest.mark.parametrize("name", GOOD)
def test_good_values(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if name in ABSENT:
        with pytest.raises((FileNotFoundError, ValueError), match=r"no\.|nowhere"):
            made(name, good(name))
    else:
        made(name, good(name))


QUICK_CALLS, CALLS = 4, 20  # of each function, in the quick run and in the full one


@pytest.mark.skipif(not hasattr(os, "fork"), reason="bad calls are made in a process that may die")
@pytest.mark.parametrize("name", GOOD)
def test_nonsense(name, request):
    """The goal is none wrong of 200: BNLAB_NONSENSE_CALLS=200."""
    usual = QUICK_CALLS if request.config.option.markexpr == "not slow" else CALLS
    calls = int(os.environ.get("BNLAB_NONSENSE_CALLS", usual))
    found = nonsense.failures(name, partial(arguments_of, name), made, calls)
    assert [f"{name}({parameter}={value}): {wrong}" for parameter, value, wrong in found] == []


def test_only_checked_functions_of_graphs_are_public():
    assert not {"cpdag_masks", "extend_masks"} & set(vars(bn.graphs))
    assert not hasattr(bn.graphs, "cpdag_masks") and not hasattr(bn.graphs, "extend_masks")
    for masks in (CYCLE, LOOP, [2**40] * 5, [[0, 1, 64]]):
        with pytest.raises(ValueError, match=r"cycle|outside"):
            bn.graphs.cpdag(masks)


@pytest.mark.parametrize("name", BY_KIND)
def test_bad_values(name):
    wrong = []
    for parameter, value in ((p, value) for p in good(name) for value in BAD.get(p, ())):
        told = f"{parameter}={value!r}"
        try:
            with at_most(20):
                made(name, good(name) | {parameter: value})
        except ValueError as error:
            if not str(error) or len(str(error)) > 1000 or "\n" in str(error):
                wrong.append(f"{told}: {str(error)[:300]}")
        except Exception as error:
            wrong.append(f"{told}: {type(error).__name__}: {str(error)[:300]}")
    assert not wrong, "\n".join(wrong)


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
