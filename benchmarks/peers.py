"""Searches by other packages: pgmpy, pybnesian, pyagrum and causal-learn.

Those that are not installed are left out. The last two are in no extra: pip install pyagrum
causal-learn. `search.py --peers` and `alarm.py` run them.
"""

import importlib.util
import time
import warnings
from collections.abc import Callable, Iterable

import numpy as np
from timing import report, seconds

import bnlab as bn


def installed(peer: str) -> bool:
    """Whether a peer can be imported; says so if not."""
    if importlib.util.find_spec(peer) is None:
        print(f"{peer} is not installed: left out")
        return False
    return True


def climbs_of_peers(data: bn.Data, score: str, k: int) -> dict[str, Callable[[], np.ndarray]]:
    """Hill climbing by "BDeu" or "BIC": pybnesian and pyAgrum in C++, pgmpy in Python.

    All of them score the families that they ask for. Each returns parent masks; reading the data
    frame is part of the work.
    """
    import pandas as pd

    names = list(data.names)
    frame = pd.DataFrame(
        {name: pd.Categorical(data.values[:, v].astype(str)) for v, name in enumerate(names)}
    )

    def masks(edges: Iterable[tuple[str, str]]) -> np.ndarray:
        return bn.graphs.from_edges(data.n, [(names.index(u), names.index(v)) for u, v in edges])

    def by_pybnesian() -> np.ndarray:
        import pybnesian

        kind = {"BDeu": lambda: pybnesian.BDe(frame, iss=1.0), "BIC": lambda: pybnesian.BIC(frame)}
        network = pybnesian.GreedyHillClimbing().estimate(
            pybnesian.ArcOperatorSet(max_indegree=k), kind[score](), pybnesian.DiscreteBN(names)
        )
        return masks(network.arcs())

    def by_pyagrum(*tabu: int) -> np.ndarray:
        import pyagrum

        learner = pyagrum.BNLearner(frame)
        {"BDeu": learner.useScoreBDeu, "BIC": learner.useScoreBIC}[score]()
        learner.useNoPrior()
        learner.setMaxIndegree(k)
        learner.setNumberOfThreads(1)
        if tabu:
            learner.useLocalSearchWithTabuList(*tabu)
        else:
            learner.useGreedyHillClimbing()
        found = learner.names()
        return masks((found[u], found[v]) for u, v in learner.learnDAG().arcs())

    def by_pgmpy(tabu: int) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pgmpy import structure_score
            from pgmpy.causal_discovery import HillClimbSearch

            options = {"equivalent_sample_size": 1.0} if score == "BDeu" else {}
            search = HillClimbSearch(
                scoring_method=getattr(structure_score, score)(frame, **options),
                max_indegree=k,
                tabu_length=tabu,
                return_type="dag",
                show_progress=False,
            )
            return masks(search.fit(frame).causal_graph_.edges())

    ways = {}
    if installed("pybnesian"):
        ways["pybnesian, hill climbing"] = by_pybnesian
    if installed("pyagrum"):
        ways["pyagrum, hill climbing"] = by_pyagrum
        ways["pyagrum, tabu=100"] = lambda: by_pyagrum(100, 2)
    if installed("pgmpy"):
        ways["pgmpy, hill climbing"] = lambda: by_pgmpy(0)
        ways["pgmpy, tabu=100"] = lambda: by_pgmpy(100)
    return ways


def hill_climbing_of_peers(data: bn.Data) -> None:
    """The same data, score and number of parents as in `hill_climbing`."""
    table = bn.score_families(data, bn.BDeu())
    for name, work in climbs_of_peers(data, "BDeu", 3).items():
        score = float(table.log_target(work()))
        took = seconds(work, 1 if name.startswith("pgmpy") else 5)
        what = f"{name} n={data.n} m={data.m} k=3"
        report(what, took, f"ln target {score:.2f}, scoring included")


def trees_of_peers(data: bn.Data) -> None:
    """pgmpy's Chow-Liu and TAN, with the likelihood of each tree."""
    import pandas as pd

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgmpy.estimators import TreeSearch

    names = list(data.names)
    frame = pd.DataFrame(data.values, columns=names)
    table = bn.score_families(data, bn.LogLikelihood(), max_parents=2)
    options = {"class_node": names[0], "show_progress": False}
    ways = {
        "chow-liu": (bn.chow_liu(data), TreeSearch(frame, root_node=names[0], n_jobs=1)),
        "tan": (bn.tan(data, 0), TreeSearch(frame, root_node=names[1], n_jobs=1)),
    }
    for kind, (ours, search) in ways.items():
        found = search.estimate(estimator_type=kind, **options)
        edges = [(names.index(u), names.index(v)) for u, v in found.edges()]
        theirs = float(table.log_target(bn.graphs.from_edges(data.n, edges)))
        took = seconds(lambda s=search, k=kind: s.estimate(estimator_type=k, **options), 1)
        note = f"ln likelihood {theirs:.4f}, ours {float(table.log_target(ours)):.4f}"
        report(f"{kind} by pgmpy n={data.n} m={data.m}", took, note)


def equivalence_of_peers(data: bn.Data) -> None:
    """causal-learn's GES by BDeu, up to 3 parents: a minute."""
    if not installed("causallearn"):
        return
    from causallearn.search.ScoreBased.GES import ges

    table = bn.score_families(data, bn.BDeu())
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ges(data.values, score_func="local_score_BDeu", maxP=3)["G"].graph
    took = time.process_time() - start
    arrows = (found == -1) & (found.T == 1)
    lines = (found == -1) & (found.T == -1)
    score = float(table.log_target(bn.graphs.consistent_extension(arrows | lines)))
    report(f"GES by causal-learn n={data.n} m={data.m} k=3", took, f"ln target {score:.2f}")
