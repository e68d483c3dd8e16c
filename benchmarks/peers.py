"""One package at one task, in a process of its own that imports no other: `page.py` starts it.

    python peers.py PACKAGE TASK inputs.npz answer.npy LIMIT

It pins itself to one processor, imports the package, reads the inputs, and says so by a line of
JSON. For each line that it is then sent it does the task once, stores the answer, and answers with
the processor time and the memory above what it had before the first. Each function below makes what
is timed from the inputs, in the form that the package takes. Objects that remember scores are made
anew inside it.
"""

import importlib
import importlib.metadata
import json
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

Inputs = Mapping[str, np.ndarray]
Work = Callable[[], Any]

MODULES = {"causal-learn": "causallearn"}


def families(n: int, k: int) -> list[tuple[int, tuple[int, ...]]]:
    """Every node with every set of up to k parents."""
    return [
        (v, parents)
        for v in range(n)
        for size in range(k + 1)
        for parents in combinations([u for u in range(n) if u != v], size)
    ]


def mask_of(parents: Iterable[int]) -> int:
    return sum(1 << int(u) for u in parents)


def parents_of(dag: np.ndarray) -> list[tuple[int, list[int]]]:
    """Nodes with their parents, from parent masks."""
    return [(v, [u for u in range(len(dag)) if dag[v] >> u & 1]) for v in range(len(dag))]


def names_of(inputs: Inputs) -> list[str]:
    return [f"x{v}" for v in range(inputs["values"].shape[1])]


def frame_of(inputs: Inputs) -> Any:
    """Return a data frame of the table, whose cells are levels or, if they are floats, numbers."""
    import pandas as pd

    columns = dict(zip(names_of(inputs), inputs["values"].T, strict=True))
    if inputs["values"].dtype.kind == "f":
        return pd.DataFrame(columns)
    return pd.DataFrame({name: pd.Categorical(x.astype(str)) for name, x in columns.items()})


def masks(names: list[str], edges: Iterable[tuple[str, str]]) -> np.ndarray:
    """Parent masks of edges between names."""
    out = np.zeros(len(names), np.int64)
    for u, v in edges:
        out[names.index(v)] |= np.int64(1) << names.index(u)
    return out


def bnlab_(task: str, inputs: Inputs) -> Work:
    """Everything on one thread."""
    import bnlab as bn

    if "log_phi" in inputs:  # a table of scores that was made before
        n, k = len(inputs["log_phi"]), int(inputs["k"])
        scores, names = inputs["log_phi"], tuple(f"x{v}" for v in range(n))
        table = bn.ScoreTable(inputs["parents"], scores, np.zeros_like(scores), names, k)
    else:
        data, k = bn.Data.from_arrays(inputs["values"]), int(inputs.get("k", 3))
        n = data.n

    def one(work: Callable[..., Any], *args: Any, **options: Any) -> Any:
        with ThreadPoolExecutor(1) as executor:
            return work(*args, executor=executor, rng=np.random.default_rng(0), **options)

    def climbed(score: Any) -> np.ndarray:
        return one(bn.hill_climb, bn.LazyScores(data, score, max_parents=k)).dag

    def scored_one_by_one() -> list[float]:
        scores = bn.LazyScores(data, bn.BDeu(), max_parents=k)
        return [float(scores.log_target(dag)) for dag in inputs["dags"]]

    def best_by_regression() -> np.ndarray:
        return bn.map_dag(bn.ScoreTable(*gaussian_bic(inputs["values"], k))).dags[0]

    return {
        "bdeu": lambda: bn.score_families(data, bn.BDeu(), max_parents=k),
        "bge": lambda: bn.score_families(data, bn.BGe(standardize=False), max_parents=k),
        "dags": scored_one_by_one,
        "climb-bdeu": lambda: climbed(bn.BDeu()),
        "climb-bic": lambda: climbed(bn.BIC()),
        "ges": lambda: bn.ges(bn.LazyScores(data, bn.BDeu(), max_parents=k)).dag,
        "tree": lambda: bn.chow_liu(data),
        "best": best_by_regression,
        "edges": lambda: bn.dag_posterior(table).edges,
        "orders": lambda: bn.order_posterior(bn.score_families(data, bn.BDeu())).edges,
        "draws": lambda: one(bn.sample_dags, bn.dag_posterior(table), draws=1000).values.reshape(
            -1, n
        ),
        "many": lambda: one(bn.sample_dags, bn.order_posterior(table), draws=20_000).values.reshape(
            -1, n
        ),
    }[task]


def gaussian_bic(values: np.ndarray, k: int) -> tuple[Any, ...]:
    """Return the parts of a table of linear-Gaussian BIC: causal-learn's, halved and negated."""
    m, n = values.shape
    products = values.T @ values
    parents = np.array([[mask_of(U) for u, U in families(n, k) if u == v] for v in range(n)])
    parents = np.array([sorted(row, key=lambda x: (int(x).bit_count(), x)) for row in parents])
    scores = np.empty(parents.shape)
    for v, row in enumerate(parents):
        for f, mask in enumerate(row):
            U = [u for u in range(n) if mask >> u & 1]
            fitted = products[v, U] @ np.linalg.solve(products[np.ix_(U, U)], products[U, v])
            scores[v, f] = -m / 2 * np.log((products[v, v] - fitted) / m) - len(U) / 2 * np.log(m)
    return parents, scores, np.zeros_like(scores), tuple(f"x{v}" for v in range(n)), k


def sumu_(task: str, inputs: Inputs) -> Work:
    """Score by its C++ through Python, family by family; sum over DAGs by aps."""
    import sumu

    if task == "edges":
        n, parents = len(inputs["log_phi"]), inputs["parents"]
        nodes = np.arange(n)[:, None]
        places = parents % (1 << nodes) + (parents >> (nodes + 1) << nodes)
        weights = np.full((n, 1 << (n - 1)), -np.inf)
        np.put_along_axis(weights, places, inputs["log_phi"], 1)

        def edges() -> np.ndarray:
            p = np.exp(np.take_along_axis(sumu.aps(weights, normalize=True), places, 1))
            there = parents[:, :, None] >> np.arange(n) & 1
            return np.einsum("vf,vfu->uv", p, there)

        return edges
    values, k = inputs["values"], int(inputs.get("k", 3))
    table = values.astype(np.int32)  # its C++ reads these

    def scorer() -> Any:
        if task == "bge":
            return sumu.scorer.BGe(sumu.Data(values, discrete=False), -1)
        made = sumu.scorer.BDeu(k)
        made.read(table)
        made.set_ess(1.0)
        return made

    if task == "dags":

        def scored() -> list[float]:
            local = scorer().local
            arrays = [[(v, np.array(U, np.int32)) for v, U in dag] for dag in dags]
            return [sum(local(v, U) for v, U in dag) for dag in arrays]

        dags = [parents_of(dag) for dag in inputs["dags"]]
        return scored
    asked = [(v, np.array(U, np.int32)) for v, U in families(values.shape[1], k)]

    def scores() -> list[float]:
        local = scorer().local
        return [local(v, U) for v, U in asked]

    return scores


def pgmpy_(task: str, inputs: Inputs) -> Work:
    """Python and pandas."""
    from pgmpy import structure_score

    names, frame, k = names_of(inputs), frame_of(inputs), int(inputs.get("k", 3))

    def scorer(score: str) -> Any:
        options = {"equivalent_sample_size": 1.0} if score == "BDeu" else {}
        return getattr(structure_score, score)(frame, **options)

    def scores(asked: Iterable[tuple[int, Iterable[int]]]) -> list[float]:
        local = scorer("BDeu").local_score
        return [local(names[v], tuple(names[u] for u in U)) for v, U in asked]

    def climbed(score: str) -> np.ndarray:
        from pgmpy.causal_discovery import HillClimbSearch

        limits = {"max_indegree": k, "tabu_length": 0, "return_type": "dag", "show_progress": False}
        search = HillClimbSearch(scoring_method=scorer(score), **limits)
        return masks(names, search.fit(frame).causal_graph_.edges())

    def tree() -> np.ndarray:
        from pgmpy.estimators import TreeSearch

        search = TreeSearch(frame, root_node=names[0], n_jobs=1)
        found = search.estimate(estimator_type="chow-liu", show_progress=False)
        return masks(names, found.edges())

    return {
        "bdeu": lambda: scores(families(len(names), k)),
        "dags": lambda: by_dag(scores, inputs),
        "climb-bdeu": lambda: climbed("BDeu"),
        "climb-bic": lambda: climbed("BIC"),
        "tree": tree,
    }[task]


def by_dag(scores: Callable[..., list[float]], inputs: Inputs) -> list[float]:
    """Sum the scores of families over each DAG."""
    found = scores([family for dag in inputs["dags"] for family in parents_of(dag)])
    return np.reshape(found, inputs["dags"].shape).sum(axis=1).tolist()


def pybnesian_(task: str, inputs: Inputs) -> Work:
    """C++; families scored one by one through Python."""
    import pybnesian

    names, frame, k = names_of(inputs), frame_of(inputs), int(inputs.get("k", 3))
    n = len(names)

    def scores(asked: Iterable[tuple[int, Iterable[int]]]) -> list[float]:
        if task == "bge":
            local = pybnesian.BGe(frame, 1.0, n + 2.0, np.zeros(n)).local_score
            network = pybnesian.GaussianNetwork(names)
        else:
            local, network = pybnesian.BDe(frame, iss=1.0).local_score, pybnesian.DiscreteBN(names)
        return [local(network, names[v], [names[u] for u in U]) for v, U in asked]

    def climbed() -> np.ndarray:
        made = pybnesian.BIC(frame) if task == "climb-bic" else pybnesian.BDe(frame, iss=1.0)
        moves = pybnesian.ArcOperatorSet(max_indegree=k)
        start = pybnesian.DiscreteBN(names)
        return masks(names, pybnesian.GreedyHillClimbing().estimate(moves, made, start).arcs())

    if task.startswith("climb"):
        return climbed
    return lambda: by_dag(scores, inputs) if task == "dags" else scores(families(n, k))


def pyagrum_(task: str, inputs: Inputs) -> Work:
    """C++; families scored one by one through Python."""
    import pyagrum

    names, frame, k = names_of(inputs), frame_of(inputs), int(inputs.get("k", 3))

    def learner() -> Any:
        made = pyagrum.BNLearner(frame)
        made.useScoreBIC() if task == "climb-bic" else made.useScoreBDeu()
        made.useNoPrior()
        made.setMaxIndegree(k)
        made.setNumberOfThreads(1)
        return made

    def scores(asked: Iterable[tuple[int, Iterable[int]]]) -> np.ndarray:
        local = learner().score
        found = [local(names[v], [names[u] for u in U]) for v, U in asked]
        return np.array(found) * np.log(2)  # it counts in bits

    def climbed() -> np.ndarray:
        made = learner()
        made.useGreedyHillClimbing()
        there = made.names()
        return masks(names, ((there[u], there[v]) for u, v in made.learnDAG().arcs()))

    if task.startswith("climb"):
        return climbed
    return lambda: by_dag(scores, inputs) if task == "dags" else scores(families(len(names), k))


def causal_learn_(task: str, inputs: Inputs) -> Work:
    """Python, NumPy and pandas."""
    values, k = inputs["values"], int(inputs.get("k", 3))
    n = values.shape[1]

    def best() -> np.ndarray:
        from causallearn.search.ScoreBased.ExactSearch import bic_exact_search

        found, _ = bic_exact_search(values, max_parents=k)
        return np.array([mask_of(np.flatnonzero(column)) for column in found.T])

    def classes() -> np.ndarray:
        """Arrows (bit 0) and lines (bit 1) of the class, (n, n)."""
        from causallearn.search.ScoreBased.GES import ges

        found = ges(values, score_func="local_score_BDeu", maxP=k)["G"].graph
        return ((found == -1) & (found.T == 1)) + 2 * ((found == -1) & (found.T == -1))

    def scores(asked: Iterable[tuple[int, list[int]]]) -> list[float]:
        from causallearn.score.LocalScoreFunction import local_score_BDeu

        def prior(size: int) -> float:
            """Return what it adds for one expected parent, the others absent."""
            return size * np.log(1 / (n - 1)) + (n - 1 - size) * np.log(1 - 1 / (n - 1))

        return [local_score_BDeu(values, v, U) - prior(len(U)) for v, U in asked]

    return {"best": best, "ges": classes, "dags": lambda: by_dag(scores, inputs)}[task]


WAYS = {
    "bnlab": bnlab_,
    "sumu": sumu_,
    "pgmpy": pgmpy_,
    "pybnesian": pybnesian_,
    "pyagrum": pyagrum_,
    "causal-learn": causal_learn_,
}


def stored(found: Any, inputs: Inputs) -> np.ndarray:
    """Return an answer as an array: scores in the order of `families`."""
    if not hasattr(found, "log_score"):
        return np.asarray(found)
    places = [{int(mask): f for f, mask in enumerate(row)} for row in found.parents]
    asked = families(found.n, found.max_parents)
    return np.array([found.log_score[v, places[v][mask_of(U)]] for v, U in asked])


def memory(which: str) -> int:
    """Bytes of this process: "VmRSS" now, "VmHWM" at most."""
    status = Path("/proc/self/status")
    if not status.exists():  # not Linux: at most, since it began
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
    line = next(x for x in status.read_text().splitlines() if x.startswith(which))
    return int(line.split()[1]) * 1024


def main(package: str, task: str, inputs: str, answer: str, limit: str) -> None:
    """Answer requests until there are no more; one that takes longer than `limit` is the last."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a package prints is not an answer
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    warnings.simplefilter("ignore")

    def say(**what: object) -> None:
        print(json.dumps(what), file=out, flush=True)

    begun = time.process_time()
    importlib.import_module(MODULES.get(package, package))
    imported = time.process_time() - begun
    with np.load(inputs) as file:
        given = dict(file)
    work = WAYS[package](task, given)
    if Path("/proc/self/clear_refs").exists():
        Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten
    before = memory("VmRSS")
    version = importlib.metadata.version(package)
    say(imported=imported, version=version, numpy=np.__version__)
    for request in sys.stdin:  # the least seconds to spend; short work is done again and again
        signal.setitimer(signal.ITIMER_PROF, float(limit))  # which ends the process
        begun, took, times = time.process_time(), 0.0, 0
        while times == 0 or took < float(request):
            found, times = work(), times + 1
            took = time.process_time() - begun
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        peak = memory("VmHWM") - before
        np.save(answer, stored(found, given))
        say(seconds=took / times, peak=peak)


if __name__ == "__main__":
    main(*sys.argv[1:])
