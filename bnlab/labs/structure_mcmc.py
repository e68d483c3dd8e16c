"""The view and the checks of notebooks/11_structure_mcmc.ipynb.

Chains on DAGs, and where they get stuck.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import product
from operator import ne
from typing import Any

import numpy as np

import bnlab as bn
from bnlab import plots
from bnlab.checks import Floats
from bnlab.labs.board import (
    DATASETS,
    bdeu_table,
    check,
    choice,
    setup as setup,
    show as show,
    size_slider,
)
from bnlab.labs.predict import predict as predict, review as review
from bnlab.labs.view import Board, View
from bnlab.sampling import partition_mcmc, structure_mcmc

SEED = 2007
SHOWN = ("least SAD", "a third have less", "two thirds have less", "most SAD")
"""Of the chains in the order of their errors."""
DEPTH = 60.0  # nats shown below the exact draws
MOST_DAGS = 5000

Dag = tuple[frozenset[int], ...]
"""The parents of each node."""

LogPhi = Sequence[Mapping[frozenset[int], float]]
Sampler = Callable[[bn.ScoreTable, np.random.Generator], Any]


class Stuck(View):
    """Where single chains are, by kind of walk and by rows.

    Controls `walk` and `rows`; panels `errors` and `trace`.

    Parameters
    ----------
    runs : (rows, kind of walk) -> chains without burn-in
    exact : rows -> the posterior that the chains walk towards
    """

    def __init__(
        self, runs: Mapping[tuple[int, str], bn.Draws], exact: Mapping[int, bn.DagPosterior]
    ) -> None:
        self._runs = runs
        self._errors = {key: _errors(run, exact[key[0]]) for key, run in runs.items()}
        self._bands = {m: _band(each) for m, each in exact.items()}
        sizes = sorted(exact)
        super().__init__(
            walk=choice("walk", list(dict.fromkeys(walk for _, walk in runs))),
            rows=size_slider("rows", sizes, sizes[-1]),
        )

    def draw(self, walk: str, rows: int) -> Board:
        """The error of each chain for all numbers of rows, and four of the chains for this one."""
        draws, found = self._runs[rows, walk], self._errors[rows, walk]
        sizes = sorted(self._bands)
        low, high = self._bands[rows]
        made, chains = draws.values.shape[1], len(found)
        shown = np.argsort(found)[np.linspace(0, chains - 1, len(SHOWN)).astype(int)]
        trace = plots.traces(
            np.arange(1.0, made + 1),
            dict(zip(SHOWN, draws.log_target[shown], strict=True)),
            band=(low, high),
            x_label="DAGs kept",
            y_range=(low - DEPTH, high + 8),
            y_label="ln p̃ (nats)",
            name="stuck",
            title="Four of the chains, from the least SAD to the most",
            alt="ln p̃ of the DAGs of four chains, with the range of exact draws shaded",
        )
        rhat = bn.diagnostics.rhat(draws.log_target[:, made // 2 :])
        return {
            "errors": (
                plots.chain_errors(
                    sizes,
                    np.array([self._errors[m, walk] for m in sizes]),
                    rows,
                    x_label="rows",
                    y_range=(0.5, 50.0),
                    title=f"Error of each of {chains} chains, second half",
                ),
                f"{walk}, {rows:,} rows: SAD {found.min():.2f} to {found.max():.2f}, mean "
                f"{found.mean():.2f}.",
            ),
            "trace": (
                trace,
                "Shaded: 95 % of exact draws. R-hat of ln p̃ of all chains, second halves: "
                f"{rhat:.2f}.",
            ),
        }


def _errors(run: bn.Draws, exact: bn.DagPosterior) -> Floats:
    """Sums of absolute differences from the exact edges, of the second half of each chain."""
    late = run.values[:, run.values.shape[1] // 2 :]
    shares = bn.graphs.to_adjacency(late).mean(axis=1)
    return np.array([bn.diagnostics.sad(each, exact.edges) for each in shares])


def _band(exact: bn.DagPosterior) -> tuple[float, float]:
    """Return the range of ln p̃ that holds 95 % of exact draws, nats."""
    drawn = bn.sample_dags(exact, draws=1000, rng=np.random.default_rng(SEED))
    low, high = np.quantile(drawn.log_target, (0.025, 0.975))
    return float(low), float(high)


def check_accept(function: Callable[[float, float, float], float]) -> bool:
    """The first line: `function(ratio, there, back)` is the probability of accepting a move."""
    w, (there, back) = np.array([1.0, 3.0]), (0.5, 0.2)  # two states, and J from one to the other

    def flow(i: int, j: int, go: float, come: float) -> float:
        return float(w[i] * go * function(w[j] / w[i], go, come))

    return check(
        "Your line",
        "where J is the same there and back, it is Metropolis' rule",
        lambda: [function(ratio, 0.2, 0.2) for ratio in (0.5, 1.0, 3.0)] == [0.5, 1.0, 1.0],
        "a move that cannot be undone must never be made",
        lambda: function(2.0, 0.5, 0.0) == 0,
        "a probability is at most 1",
        lambda: function(2.0, 0.2, 0.5) == 1,
        "p̃(G) J a must be the same there and back",
        lambda: np.isclose(flow(0, 1, there, back), flow(1, 0, back, there)),
    )


def check_repair(function: Callable[[list[Any], Callable[[Any], int]], Any]) -> bool:
    """Exercise 1: `function(visited, neighbours)` is DAG -> probability, of uncorrected visits."""
    w = {"centre": 3.0, "a": 1.0, "b": 0.5, "c": 2.0}  # a star of four states
    degree = {"centre": 3, "a": 1, "b": 1, "c": 1}.__getitem__

    def result(visited: Sequence[str], neighbours: Any = degree) -> dict[str, float]:
        return {state: float(p) for state, p in dict(function(list(visited), neighbours)).items()}

    def exact() -> bool:
        rng, here, visited = np.random.default_rng(SEED), "centre", []
        for _ in range(40_000):
            new = str(rng.choice(["a", "b", "c"])) if here == "centre" else "centre"
            here = new if rng.random() < w[new] / w[here] else here
            visited.append(here)
        found = result(visited)
        return all(abs(found[state] - w[state] / sum(w.values())) < 0.02 for state in w)

    return check(
        "Exercise 1",
        "return a dict, DAG -> probability",
        lambda: set(result(["a", "a", "b"])) == {"a", "b"},
        "the probabilities add up to 1",
        lambda: np.isclose(sum(result(["a", "centre", "b", "a"]).values()), 1),
        "all with equally many neighbours: each has its share of the visits",
        lambda: np.isclose(result(["a", "a", "a", "b"])["a"], 3 / 4),
        "where the numbers of neighbours differ, the shares must change; which way?",
        lambda: result(["centre", "a"])["centre"] < 1 / 2,
        "on a star of four states, whose centre has three neighbours, the answer must be exact",
        exact,
    )


def check_parents_anew(function: Callable[[Dag, LogPhi], Any]) -> bool:
    """Exercise 2: `function(dag, log_phi)` is DAG -> chance, one node's parents drawn anew."""
    rng = np.random.default_rng(SEED)
    dags = [tuple(frozenset(bn.graphs.members(P)) for P in dag) for dag in bn.graphs.all_dags(3)]
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

    return check(
        "Exercise 2",
        "return a dict, DAG -> probability; the probabilities add up to 1",
        lambda: np.isclose(sum(result(dags[0]).values()), 1),
        "no graph that it proposes may have a cycle",
        lambda: all(set(result(dag)) <= set(dags) for dag in dags),
        "it leads to the DAGs that differ in the parents of one node at most, and nowhere else",
        lambda: all((dags[j] in result(dags[i])) == ((i, j) in near) for i, j in pairs),
        "as much probability must flow there as back: p̃(G) J(G' | G) = p̃(G') J(G | G')",
        lambda: all(np.isclose(flow(i, j), flow(j, i)) for i, j in near),
    )


def check_sampler(function: Sampler) -> bool:
    """Exercise 3: `function(table, rng)` draws well by chains, and keeps at most 5,000 DAGs."""

    @cache
    def run(name: str) -> Any:
        return function(bdeu_table(name), np.random.default_rng(SEED))

    def near(name: str) -> bool:
        exact = bn.dag_posterior(bdeu_table(name))
        return bn.diagnostics.sad(bn.features.edges(run(name)), exact.edges) <= 1

    return check(
        "Exercise 3",
        "return Draws over DAGs",
        lambda: run("coronary").over == "dags",
        "they must belong to the structure-modular posterior (see .prior)",
        lambda: run("coronary").prior == "structure-modular",
        "they must be drawn by chains (see .run.method)",
        lambda: run("coronary").run.method in (partition_mcmc.METHOD, structure_mcmc.METHOD),
        f"keep at most {MOST_DAGS:,} DAGs",
        lambda: all(run(name).log_weight.size <= MOST_DAGS for name in DATASETS),
        "coronary: the SAD must be at most 1",
        lambda: near("coronary"),
        "wine: the SAD must be at most 1",
        lambda: near("wine"),
        "tic-tac-toe: the SAD must be at most 1",
        lambda: near("tic-tac-toe"),
    )
