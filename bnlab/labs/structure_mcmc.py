"""The view and the checks of notebooks/11_structure_mcmc.ipynb.

Chains on DAGs: where they get stuck, and whether the package makes the moves of the page.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np

import bnlab as bn
from bnlab import plots
from bnlab.checks import Floats
from bnlab.labs.board import DATASETS, Case, check, rows as rows_of, setup as setup, size_slider
from bnlab.labs.predict import predict as predict, review as review
from bnlab.labs.view import Board, View
from bnlab.sampling import partition_mcmc, structure_mcmc
from bnlab.sampling.structure_kernels import StructureKernel

SEED = 2007
WALKS = 64  # chains whose errors are compared
SIZES = (20, 50, 100)  # rows, and all of them
SHARES = (0.0, 0.1, 0.9, 1.0)  # of local moves
SHOWN_CHAINS = 4
DEPTH = 60.0  # nats shown below the exact draws
MOST_DAGS = 5000
MOST_PARTITIONS = 75  # of four nodes

Dag = Sequence[frozenset[int]]
Partition = tuple[frozenset[int], ...]
Sampler = Callable[[bn.ScoreTable, np.random.Generator], Any]


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """A data set with its exact posteriors: BDeu with ess 1, at most three parents, ρ = 1."""

    table: bn.ScoreTable
    orders: bn.OrderPosterior  # order-modular
    dags: bn.DagPosterior  # structure-modular: what the chains of the lab walk towards

    def sad(self, edges: Floats, /) -> float:
        """Sum of absolute differences from the exact structure-modular edges."""
        return bn.diagnostics.sad(edges, self.dags.edges)


@cache
def target(case: Case, m: int | None = None) -> Target:
    """Return a data set, or a table of your own: all rows, or the first m in a random order."""
    data = rows_of(case).shuffled(np.random.default_rng(SEED))
    table = bn.score_families(data.prefix(data.m if m is None else m), bn.BDeu(1.0), max_parents=3)
    return Target(table, bn.order_posterior(table), bn.dag_posterior(table))


def sizes(case: Case) -> tuple[int, ...]:
    """Return the stops of the slider of rows."""
    m = rows_of(case).m
    return (*(size for size in SIZES if size < m), m)


@cache
def walked(case: Case, m: int, share: float) -> tuple[bn.Draws, tuple[float, ...]]:
    """Return 64 chains from the empty graph with this share of local moves, and their errors.

    100 draws, n (n - 1) moves apart; the errors are those of the second half.
    """
    where, rng = target(case, m), np.random.default_rng(1)
    n = where.table.n
    how: Any = {"kernel": bn.Hybrid(where.orders.edges, share), "burn_in": 0, "rng": rng}
    draws = bn.sample_structures(where.table, draws=100, thin=n * (n - 1), chains=WALKS, **how)
    late = bn.graphs.to_adjacency(draws.values[:, 50:]).mean(axis=1)
    return draws, tuple(map(where.sad, late))


@cache
def band(case: Case, m: int) -> tuple[float, float]:
    """Return the range of log targets that holds 95 % of exact draws, nats."""
    rng = np.random.default_rng(SEED)
    exact = bn.sample_dags(target(case, m).dags, draws=1000, rng=rng)
    low, high = np.quantile(exact.log_target, (0.025, 0.975))
    return float(low), float(high)


def gap(table: bn.ScoreTable, kernel: StructureKernel, dags: Sequence[Dag], K: Floats, /) -> str:
    """Compare 50,000 moves of the package with K, at DAGs that it visits over 1,000 times."""
    how: Any = {"draws": 50_000, "chains": 1, "burn_in": 0, "thin": 1}
    walk = bn.sample_structures(table, kernel=kernel, rng=np.random.default_rng(1), **how)
    place = {tuple(sum(1 << u for u in P) for P in dag): i for i, dag in enumerate(dags)}
    at, counts = [place[tuple(dag)] for dag in walk.values[0].tolist()], np.zeros_like(K)
    np.add.at(counts, (at[:-1], at[1:]), 1)
    visits = counts.sum(axis=1)
    often = visits > 1000
    off = np.abs(counts[often] / visits[often, None] - K[often])
    return f"package and K differ by at most {off.max():.3f}, at {often.sum()} DAGs"


class Stuck(View):
    """64 chains on DAGs by rows and by their share of local moves.

    Controls `share` and `rows`; panels `errors` and `trace`.

    Parameters
    ----------
    data : a table of your own, in the place of wine
    """

    def __init__(self, data: bn.Data | None = None) -> None:
        self._case: Case = "wine" if data is None else data
        self._sizes = sizes(self._case)
        for m, share in product(self._sizes, SHARES):  # now, so that the controls answer at once
            walked(self._case, m, share)
        super().__init__(
            share=size_slider("share of local moves η", SHARES, 1.0),
            rows=size_slider("rows", self._sizes, self._sizes[-1]),
        )

    def draw(self, share: float, rows: int) -> Board:
        """The error of each chain for all numbers of rows, and four of the chains for this one."""
        draws, found = walked(self._case, rows, share)
        errors = np.array([walked(self._case, m, share)[1] for m in self._sizes])
        low, high = band(self._case, rows)
        n, made = draws.values.shape[2], draws.values.shape[1]
        trace = plots.traces(
            n * (n - 1) * np.arange(1.0, made + 1),
            {f"chain {c}": line for c, line in enumerate(draws.log_target[:SHOWN_CHAINS], 1)},
            band=(low, high),
            y_range=(low - DEPTH, high + 8),
            y_label="log target (nats)",
            name="stuck",
            title="Four of the chains",
            alt="Log target of the DAGs of four chains, with the range of exact draws shaded",
        )
        rhat = bn.diagnostics.rhat(draws.log_target[:SHOWN_CHAINS, made // 2 :])
        rates = [
            f"{draws.stats[key].mean():.2%} of the {kind} moves accepted"
            for kind in ("local", "global")
            if (key := f"acceptance_{kind}") in draws.stats
        ]
        said = f"η = {share:g}, {rows:,} rows: SAD {min(found):.2f} to {max(found):.2f}, mean "
        return {
            "errors": (
                plots.chain_errors(
                    self._sizes,
                    errors,
                    rows,
                    x_label="rows",
                    y_range=(0.5, 50.0),
                    title=f"Error of each of {WALKS} chains, second half",
                ),
                f"{said}{np.mean(found):.2f}.",
            ),
            "trace": (
                trace,
                f"{', '.join(rates)}. Shaded: 95 % of exact draws. R-hat of the second halves of "
                f"the four: {rhat:.2f}.",
            ),
        }


def check_accept(function: Callable[[float, float, float], float]) -> bool:
    """The first line: `function(ratio, there, back)` is the probability of accepting a move."""
    w, (there, back) = np.array([1.0, 3.0]), (0.5, 0.2)  # two states, and J from one to the other

    def flow(i: int, j: int, go: float, come: float) -> float:
        return float(w[i] * go * function(w[j] / w[i], go, come))

    return check(
        "Your line",
        "where J is the same there and back, it is Metropolis' rule",
        lambda: [function(ratio, 0.2, 0.2) for ratio in (0.5, 1.0, 3.0)] == [0.5, 1.0, 1.0],
        "a move that cannot be undone is never made",
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


def check_relocate(function: Callable[[Partition], Any]) -> bool:
    """Exercise 2: `function(A)` is partition -> chance of the moves of one node."""

    @cache
    def result(*layers: frozenset[int]) -> dict[Partition, float]:
        return {tuple(map(frozenset, B)): p for B, p in dict(function(layers)).items()}

    @cache
    def reached() -> list[Partition]:
        found: list[Partition] = [(frozenset(range(4)),)]
        for here in found:
            found += [B for B in result(*here) if B not in found]
            if len(found) > MOST_PARTITIONS:
                break
        return found

    def apart(A: Partition, B: Partition) -> bool:  # by the place of one node
        rests = [[[layer - {v} for layer in C if layer - {v}] for v in range(4)] for C in (A, B)]
        return A != B and any(map(list.__eq__, *rests))

    pair, zero, one, two = frozenset([0, 1]), frozenset([0]), frozenset([1]), frozenset([2])
    return check(
        "Exercise 2",
        "return a dict, partition -> chance; the chances add up to 1",
        lambda: np.isclose(sum(result(pair, two).values()), 1),
        "all chances are equal",
        lambda: len({round(chance, 9) for chance in result(pair, two).values()}) == 1,
        "({0, 1}) leads to ({0}, {1}) and to ({1}, {0}), and nowhere else",
        lambda: set(result(pair)) == {(zero, one), (one, zero)},
        "on four nodes all 75 partitions are reached",
        lambda: len(reached()) == MOST_PARTITIONS,
        "from each it leads wherever one node can go, and nowhere that takes two moves",
        lambda: all((B in result(*A)) == apart(A, B) for A in reached() for B in reached()),
    )


def check_sampler(function: Sampler) -> bool:
    """Exercise 3: `function(table, rng)` draws well by chains, and keeps at most 5,000 DAGs."""

    @cache
    def run(name: str) -> Any:
        return function(target(name).table, np.random.default_rng(SEED))

    def near(name: str) -> bool:
        return target(name).sad(bn.features.edges(run(name))) <= 1

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
