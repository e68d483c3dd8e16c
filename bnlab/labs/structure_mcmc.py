"""The view and the checks of notebooks/11_structure_mcmc.ipynb: chains, and where they stick."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import permutations, product
from operator import ne
from typing import Any

import numpy as np

import bnlab as bn
from bnlab import plots
from bnlab.checks import Bools, Floats, Ints
from bnlab.labs.board import (
    Told,
    bdeu_table,
    choice,
    dag_posterior,
    exercise,
    families as families,
    parent_sets,
    setup as setup,
    show as show,
)
from bnlab.labs.predict import predict as predict, review as review
from bnlab.labs.view import Board, View
from bnlab.sampling import structure_mcmc

SEED = 2007
MOST_DAGS = 5000
LOW, EXACT_DRAWS = 0.025, 20_000

Dag = tuple[frozenset[int], ...]  # the parents of each node
LogPhi = Sequence[Mapping[frozenset[int], float]]
Modes = Mapping[str, tuple[int, int]]  # name -> the edge (u, v) of its DAGs alone
Sampler = Callable[[bn.ScoreTable, np.random.Generator], Any]


def log_target(graph: Dag, log_phi: LogPhi) -> float:
    """ln p̃ of a graph given by the parents of each node; -inf if it has a cycle."""
    left = set(range(len(graph)))
    while left:
        roots = {v for v in left if not graph[v] & left}
        if not roots:
            return -np.inf
        left -= roots
    return sum(log_phi[v].get(parents, -np.inf) for v, parents in enumerate(graph))


def all_dags(log_phi: LogPhi) -> dict[Dag, float]:
    """Each DAG of a few nodes -> its ln p̃."""
    dags = map(parent_sets, bn.graphs.all_dags(len(log_phi)).tolist())
    return {dag: log_target(dag, log_phi) for dag in dags}


class Stuck(View):
    """Which mode each walk is in, and its ln p̃, by kind of walk.

    Control `walk`; panels `modes` and `trace`.

    Parameters
    ----------
    runs : kind of walk -> chains without burn-in
    exact : the posterior that they walk towards
    modes : up to eight, each by an edge that probable DAGs have in this mode alone
    walk : the kind to begin with
    """

    def __init__(
        self, runs: Mapping[str, bn.Draws], exact: bn.DagPosterior, modes: Modes, walk: str
    ) -> None:
        self._runs, self._modes = runs, modes
        self._band = np.quantile(_drawn(exact).log_target, (LOW, 1 - LOW)).tolist()
        super().__init__(walk=choice("walk", list(runs), walk))

    def draw(self, walk: str) -> Board:
        """The mode of each DAG of all walks of a kind, and ln p̃ of four."""
        draws, (low, high) = self._runs[walk], self._band
        inside = _inside(self._modes, draws.values, draws.log_target, low)
        made = inside.shape[1]
        late, met = draws.log_target[:, made // 2 :], _modes_met(inside[:, made // 2 :])
        trace = plots.traces(
            np.arange(1.0, made + 1),
            {f"walk {c + 1}": each for c, each in enumerate(draws.log_target[:4])},
            band=(low, high),
            x=plots.Axis("draws kept"),
            y=plots.Axis("ln p̃ (nats)", (min(low, float(late.min())) - 3, high + 3)),
            name="stuck",
            title="ln p̃ of the first four",
            alt="ln p̃ of the DAGs of four chains, with the range of exact draws shaded",
        )
        modes = np.where(inside.any(axis=-1), inside.argmax(axis=-1), -1)
        picture = plots.chain_modes(modes, list(self._modes), title="The mode of each DAG")
        said = f"{walk}: {met:.2f} modes met in the second half (mean). No mark: not probable."
        return {"modes": (picture, said), "trace": (trace, "Shaded: 95 % of exact draws.")}


def _inside(modes: Modes, dags: Ints, log_p: Floats, low: float) -> Bools:
    """Whether each of DAGs (chains, draws, n) is probable and has the edge of each mode."""
    u, v = zip(*modes.values(), strict=True)
    return np.asarray(bn.graphs.to_adjacency(dags)[..., u, v] & (log_p >= low)[..., np.newaxis])


def _modes_met(inside: Bools) -> float:
    """In how many modes a chain is at some time, on average."""
    return float(inside.any(axis=1).sum(axis=1).mean())


def compare(runs: Mapping[str, bn.Draws], exact: bn.DagPosterior, modes: Modes) -> dict[str, float]:
    """Show how the second halves of walks do; return how many modes a walk meets (see `Stuck`)."""
    low, met, rows = np.quantile(_drawn(exact).log_target, LOW), {}, []
    for walk, (dags, log_p) in _second_halves(runs, exact).items():
        met[walk] = _modes_met(_inside(modes, dags, log_p, low))
        edges = bn.graphs.to_adjacency(dags).mean(axis=1)  # of each walk
        off = np.mean([bn.diagnostics.sad(each, exact.edges) for each in edges])
        rows.append((walk, met[walk], f"{worst_rhat(dags):.3f}", off))
    show(["walk", "modes met", "worst R-hat", "SAD"], rows)
    return met


def _second_halves(
    runs: Mapping[str, bn.Draws], exact: bn.DagPosterior
) -> dict[str, tuple[Ints, Floats]]:
    """By kind of walk, as many exact draws last, DAGs and ln p̃."""
    late = {}
    for walk, run in runs.items():
        half = run.values.shape[1] // 2
        late[walk] = run.values[:, half:], run.log_target[:, half:]
    drawn, (chains, draws, n) = _drawn(exact), late[walk][0].shape
    few = drawn.values[0, : chains * draws], drawn.log_target[0, : chains * draws]
    late["exact draws"] = few[0].reshape(chains, draws, n), few[1].reshape(chains, draws)
    return late


@cache
def _drawn(exact: bn.DagPosterior) -> bn.Draws:
    """Exact draws: drawn once for the table and the widget."""
    return bn.sample_dags(exact, draws=EXACT_DRAWS, rng=np.random.default_rng(SEED))


def worst_rhat(dags: Ints) -> float:
    """R-hat of the edge on which the walks agree least, of DAGs (walks, draws, n)."""
    has_edge = bn.graphs.to_adjacency(dags).astype(float)
    ends = permutations(range(dags.shape[2]), 2)
    return max(bn.diagnostics.rhat(has_edge[..., u, v]) for u, v in ends)


@exercise(properties=4)
def check_accept(function: Callable[[float, float, float], float]) -> Told:
    """Exercise 1: `function(ratio, there, back)` is the probability of accepting a move."""
    cases = [(w, there, back) for w in (1 / 3, 3.0) for there, back in ((0.5, 0.2), (0.2, 0.5))]
    both = [
        (w, there, back, function(w, there, back), function(1 / w, back, there))
        for w, there, back in cases
    ]
    yield "a probability is at most 1"
    yield all(max(a, b) <= 1 for *_, a, b in both)
    yield "the larger of the two a must be 1"
    yield all(np.isclose(max(a, b), 1) for *_, a, b in both)
    yield "p̃(G) J a must be the same there and back: take J into account"
    yield all(np.isclose(there * a, w * back * b) for w, there, back, a, b in both)
    yield "a move that cannot be undone must never be made"
    yield function(2.0, 0.5, 0.0) == 0


@exercise(properties=4)
def check_parents_anew(function: Callable[[Dag, LogPhi], Any]) -> Told:
    """Exercise 2: `function(dag, log_phi)` is DAG -> chance, one node's parents drawn anew."""
    rng = np.random.default_rng(SEED)
    dags = [*map(parent_sets, bn.graphs.all_dags(3).tolist())]
    sets = [sorted({dag[v] for dag in dags}, key=sorted) for v in range(3)]
    log_phi = [dict(zip(some, rng.normal(size=len(some)), strict=True)) for some in sets]
    weight = [np.exp(sum(map(dict.__getitem__, log_phi, dag))) for dag in dags]
    pairs = list(product(range(len(dags)), repeat=2))
    near = {(i, j) for i, j in pairs if sum(map(ne, dags[i], dags[j])) <= 1}

    @cache
    def result(dag: Dag) -> dict[Dag, float]:
        found = dict(function(dag, log_phi)).items()
        return {tuple(map(frozenset, G)): float(p) for G, p in found}

    def flow(i: int, j: int) -> float:
        return float(weight[i] * result(dags[i])[dags[j]])

    yield "return a dict, DAG -> probability; the probabilities add up to 1"
    yield np.isclose(sum(result(dags[0]).values()), 1)
    yield "no graph that it proposes may have a cycle"
    yield all(set(result(dag)) <= set(dags) for dag in dags)
    yield "it leads to the DAGs that differ in the parents of one node at most, and nowhere else"
    yield all((dags[j] in result(dags[i])) == ((i, j) in near) for i, j in pairs)
    yield "as much probability must flow there as back: p̃(G) J(G' | G) = p̃(G') J(G | G')"
    yield all(np.isclose(flow(i, j), flow(j, i)) for i, j in near)


@exercise(properties=6)
def check_sampler(function: Sampler) -> Told:
    """Exercise 3: `function(table, rng)` draws well by chains on DAGs, at most 5,000 of them."""

    @cache
    def run(name: str) -> Any:
        return function(bdeu_table(name), np.random.default_rng(SEED))

    def near(name: str) -> bool:
        exact = dag_posterior(name).edges
        return bn.diagnostics.sad(bn.features.edges(run(name)), exact) <= 1

    yield "return Draws over DAGs"
    yield run("coronary").over == "dags"
    yield "they must belong to the structure-modular posterior (see .prior)"
    yield run("coronary").prior == "structure-modular"
    yield "they must be drawn by chains on DAGs (see .run.method)"
    yield run("coronary").run.method == structure_mcmc.METHOD
    yield f"keep at most {MOST_DAGS:,} DAGs"
    yield all(run(name).log_weight.size <= MOST_DAGS for name in ("coronary", "wine"))
    yield "coronary: the SAD must be at most 1"
    yield near("coronary")
    yield "wine: the SAD must be at most 1"
    yield near("wine")
