"""The long runs that papers store, made again: the arrays of `bnlab/papers/PAPER/long.npz`.

    uv run --extra test python benchmarks/stored.py em2007 child      # some minutes a part
    uv run --extra test python benchmarks/stored.py stat521a          # all parts
    uv run --extra test python benchmarks/stored.py beal2003          # an hour

The parts are written to the file, and others in it stay. Some need the files of `bn.load_dataset`.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from functools import partial
from pathlib import Path

import numpy as np

import bnlab as bn
from bnlab import graphs
from bnlab.checks import Floats, Ints
from bnlab.exact import log_dag_prior_sum
from bnlab.papers.beal2003 import study as beal
from bnlab.papers.em2007 import cases, study as em
from bnlab.papers.htw2016 import study as htw
from bnlab.papers.page import Array
from bnlab.papers.stat521a import search, study

Arrays = dict[str, Array]

DATA_SETS = 10  # of the child structure, and synthetic networks
DRAWS = 2000  # of each chain
RUNS = 5  # chains of each sampler for one fold
EDGE_PARENTS = 5


def child() -> Arrays:
    """Figures 4 and 5 of EM."""
    columns = zip(*(em.discover(i, draws=DRAWS) for i in range(DATA_SETS)), strict=True)
    named = zip(em.Found._fields, columns, strict=True)
    return {f"child {name}": np.array(column, np.float32) for name, column in named}


def networks() -> Arrays:
    """Ten synthetic networks of EM, without chains."""
    key = em.KEYS["synthetic"]
    found = [without_chains(cases.synthetic(i)[1], key) for i in range(DATA_SETS)]
    return {"networks plain": np.array(found, np.float32)}


def without_chains(data: bn.Data, key: int) -> Floats:
    """`Forecast.plain` of all ten folds, (10, methods)."""
    out = []
    for fold in range(em.FOLDS):
        train, test = em.split(data, fold, key)
        table = bn.score_families(train, bn.BDeu(em.ESS), max_parents=em.MAX_PARENTS)
        out.append(em.plain(table, train, test, 100 * key + fold))
    return np.array(out)


def predicted(part: str) -> Arrays:
    """Figures 6 to 8 of EM."""
    data, key, folds = em.rows(part), em.KEYS[part], range(em.FOLDS)
    found = em.forecast(data, folds, runs=RUNS, key=key, dp=folds)
    named = [(each.name, getattr(found, each.name)) for each in fields(em.Forecast)]
    out = {f"{part} {name}": values.astype(np.float32) for name, values in named}
    if part == "cells":
        out["cells edges"] = cell_edges(data).astype(np.float32)
        out["cells network"] = consensus()
        out["cells ignored"] = np.array([ignoring(data, fold, key) for fold in folds], np.float32)
    return out


def cell_edges(data: bn.Data) -> Floats:
    """Exact edge probabilities (3, n, n), in the order of READINGS."""
    used, ignored = (
        bn.score_families(each, bn.BDeu(em.ESS), max_parents=min(data.n - 1, EDGE_PARENTS))
        for each in (data, replace(data, intervened=None))
    )
    found = bn.dag_posterior(used), bn.order_posterior(used), bn.dag_posterior(ignored)
    return np.array([posterior.edges for posterior in found])


def consensus() -> Ints:
    """The network that biologists agree on, parent masks (11,), nodes as PROTEINS."""
    network = bn.load_network("sachs")
    places = [em.PROTEINS.index(name) for name in network.names]
    edges = [(places[u], places[v]) for u, v in graphs.to_edges(network.dag)]
    return graphs.from_edges(len(em.PROTEINS), edges)


def ignoring(data: bn.Data, fold: int, key: int) -> float:
    """Mean ln p of a held-out row if training takes what was set from outside for observed.

    Held-out rows are judged as always: a protein that was set is no part of the prediction.
    """
    train, test = em.split(data, fold, key)
    train, score = replace(train, intervened=None), bn.BDeu(em.ESS)
    posterior = bn.dag_posterior(bn.score_families(train, score, max_parents=em.MAX_PARENTS))
    draws = bn.sample_dags(posterior, draws=em.EXACT_DRAWS, rng=cases.stream(9, key, fold))
    return float(bn.predict.log_density(draws, train, test, score=score).mean())


LONG = {"german": 5}  # runs of each method that are kept, where those of the paper take long
GUARANTEED = {0.02: 1000, 0.01: 500}  # eps -> runs of section 4.4


def trials(names: Sequence[str] = htw.NAMES, guaranteed: dict[float, int] = GUARANTEED) -> Arrays:
    """All of HTW, in ten minutes."""
    posteriors = [(htw.case(name), htw.dags(name)) for name in names]
    out: dict[str, object] = {
        "bias": [bn.diagnostics.sad(one.by_bdeu.edges, exact.edges) for one, exact in posteriors],
        "seconds": [
            [seconds(one.by_k2), seconds(one.by_bdeu), exact.run.seconds]
            for one, exact in posteriors
        ],
    }
    for name in names:
        for method, runs in htw.RUNS.items():
            kept = htw.trials(name, method, runs=min(runs, LONG.get(name, runs)))
            out[f"{name} {method}"] = [[run.sad, run.mass, run.seconds] for run in kept]
    sizes = {0.02: list(htw.CURVE), 0.01: [htw.draws_for(0.01)]}
    for eps, count in guaranteed.items():
        out[f"rates {eps}"] = htw.misses("tic_tac_toe", eps, sizes[eps], runs=count)
    return {name: np.array(values) for name, values in out.items()}


def seconds(exact: bn.OrderPosterior) -> float:
    """Processor time of the dynamic program."""
    start = time.process_time()
    bn.order_posterior(exact.table)
    return time.process_time() - start


CONDITIONS, EACH = 9, 600  # of the rows of the T-cells, one after the other


def network() -> Arrays:
    """What `search.alarm` reads."""
    alarm = bn.load_network("alarm")
    return {
        "alarm dag": alarm.dag,
        "alarm arities": alarm.arities,
        "alarm names": np.array(alarm.names),
        "alarm tables": np.concatenate([table.ravel() for table in alarm.tables]),
    }


def areas() -> Arrays:
    """(sizes, data sets, METHODS, KINDS), a minute or so."""
    found = [[study.discover(i, m) for i in range(DATA_SETS)] for m in study.CHILD_SIZES]
    return {"child areas": np.array(found, np.float32)}


def subsets(count: int = study.SUBSETS) -> Arrays:
    """Scores (11, 176) of two numbers of rows, and what `study.subsets` returns."""
    data = bn.load_dataset("sachs")
    out: Arrays = {f"cells {m}": scores(chosen_rows(data, m, 0)) for m in study.SHOWN}
    parts: dict[str, list[list[object]]] = {"areas": [], "evidence": [], "alike": [], "orders": []}
    for m in study.SIZES[:-1]:
        scored = [scores(chosen_rows(data, m, number)) for number in range(count)]
        both = [[by_strength(one, source) for source in study.SOURCES] for one in scored]
        parts["areas"].append([[areas for areas, _ in one] for one in both])
        parts["evidence"].append([[evidence for _, evidence in one] for one in both])
        plain = [study.with_prior(one) for one in scored]
        parts["alike"].append([area(bn.dag_posterior(one).edges) for one in plain])
        parts["orders"].append([area(bn.order_posterior(one).edges) for one in plain])
    return out | {f"cells {name}": np.array(part, np.float32) for name, part in parts.items()}


def chosen_rows(data: bn.Data, m: int, number: int) -> bn.Data:
    """m rows of the file, equally many of each of its nine conditions."""
    rng = search.stream(8, m, number)
    rows = [EACH * c + rng.permutation(EACH)[: m // CONDITIONS] for c in range(CONDITIONS)]
    return em.rows_of(data, np.sort(np.concatenate(rows)))


def by_strength(log_score: Floats, source: str) -> tuple[Floats, Floats]:
    """For each of STRENGTHS the area under the ROC curve, and exact ln p(D | strength)."""
    found, evidence, matrix = [], [], study.beliefs(source)
    for strength in study.STRENGTHS:
        informed = study.with_prior(log_score, bn.EdgeBeliefs(matrix, strength))
        posterior = bn.dag_posterior(informed)
        found.append(area(posterior.edges))
        evidence.append(posterior.log_z - log_dag_prior_sum(informed))
    return np.array(found), np.array(evidence)


def scores(data: bn.Data) -> Floats:
    return bn.score_families(data, search.BDEU, max_parents=search.MAX_PARENTS).log_score


def area(edges: Floats) -> float:
    return bn.diagnostics.auc(edges, study.truth())


PARTS: dict[str, dict[str, Callable[[], Arrays]]] = {
    "beal2003": {"all": lambda: dict(beal.made(beal.LONG).arrays)},
    "em2007": {
        "child": child,
        "networks": networks,
        **{part: partial(predicted, part) for part in em.KEYS},
    },
    "htw2016": {"all": trials},
    "stat521a": {"alarm": network, "cells": subsets, "child": areas},
}
"""Paper -> part -> what makes its arrays."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paper", choices=PARTS)
    parser.add_argument("part", nargs="*", help="all by default")
    given = parser.parse_args()
    makers = PARTS[given.paper]
    for part in given.part:
        if part not in makers:
            parser.error(f"no part {part!r}; there are {', '.join(makers)}")
    file = Path(bn.__file__).parent / "papers" / given.paper / "long.npz"
    with np.load(file) as kept:
        arrays = dict(kept)
    for part in given.part or makers:
        arrays |= makers[part]()
        np.savez_compressed(file, **arrays)
        print(f"{file}: {part}")


if __name__ == "__main__":
    main()
