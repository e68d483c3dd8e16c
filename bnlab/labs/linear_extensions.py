"""The views and the checks of notebooks/06_linear_extensions.ipynb.

Down-sets and uniform orders of small DAGs, and the interval that is certain once distinct DAGs hold
much of the posterior.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import permutations

import numpy as np

import bnlab as bn
from bnlab import features, graphs, plots
from bnlab.checks import Floats, Ints
from bnlab.exact import order_paths
from bnlab.labs import board
from bnlab.labs.board import Case, Told, choice, exercise, rows, setup as setup, size_slider
from bnlab.labs.predict import predict as predict, review as review
from bnlab.labs.view import Board, View

Sets = Sequence[frozenset[int]]

SEED = 2013
NAMES = "ABCD"
PLACES = np.array([[0.1, 1.0], [0.9, 0.67], [0.1, 0.33], [0.9, 0.0]])
DRAWS = 20_000
STOPS = (1, 10, 100, 500, 1000, 2000, 5000, 10_000, DRAWS)
MOST_PARENTS = 5
SIZES = (0, 50, 200)

SHAPES: dict[str, list[tuple[int, int]]] = {
    "tree": [(0, 1), (0, 2), (2, 3)],
    "no edges": [],
    "chain": [(0, 1), (1, 2), (2, 3)],
    "fork": [(0, 1), (0, 2), (0, 3)],
    "two chains": [(0, 1), (2, 3)],
    "N": [(0, 2), (1, 2), (1, 3)],
    "diamond": [(0, 1), (0, 2), (1, 3), (2, 3)],
}

_table = partial(board.bdeu_table, seed=1, most=MOST_PARENTS)


class Extensions(View):
    """The down-sets of a DAG of four nodes, and draws of its linear extensions, from the back."""

    def __init__(self) -> None:
        super().__init__(
            shape=choice("DAG", list(SHAPES)),
            number=board.step_slider("draw", 1, 1, 20, width="300px"),
            step=board.step_slider("step", 0, 0, 4, width="300px"),
        )

    def draw(self, shape: str, number: int, step: int) -> Board:
        """The counts of all down-sets, and the walk so far."""
        dag = graphs.from_edges(4, SHAPES[shape])
        counts, chances, orders = _walks(shape)
        order = orders[number - 1].tolist()
        walked = [sum(1 << v for v in order[: 4 - k]) for k in range(step + 1)]
        placed = ["·"] * (4 - step) + [NAMES[v] for v in order[4 - step :]]
        net = plots.network(graphs.to_adjacency(dag), NAMES, PLACES, title="The DAG", width=310)
        title = f"Down-sets and their ℓ(S); order from the back: {' '.join(placed)}"
        return {
            "lattice": (
                plots.walk_down(NAMES, chances, walked, counts=counts, title=title),
                f"{shape}: {counts[-1]} linear extensions, {sum(c > 0 for c in counts)} down-sets. "
                "Sets without a number are none.",
            ),
            "net": (net, "A linear extension has all parents before their children."),
        }


@cache
def _walks(shape: str) -> tuple[list[int], Floats, Ints]:
    """Return l(S) of each set, 0 where it is no down-set; [v, S], the chance of v last; draws."""
    dag = graphs.from_edges(4, SHAPES[shape])
    ideals = bn.linear_extensions.ideal_lattice(dag)
    counts, chances = np.zeros(16, int), np.full((4, 16), np.nan)
    for masks, values in zip(ideals.levels, ideals.counts, strict=True):
        counts[masks] = values.round()
    for v, s in np.ndindex(4, 16):
        whole = s | 1 << v
        if whole != s and counts[s] and counts[whole]:
            chances[v, s] = counts[s] / counts[whole]
    orders = bn.sample_linear_extensions(dag, draws=20, rng=np.random.default_rng(SEED))
    return counts.tolist(), chances, orders


def _sample(table: bn.ScoreTable, draws: int) -> bn.Draws:
    rng = np.random.default_rng(SEED)
    return bn.sample_dags(bn.order_posterior(table), draws=draws, rng=rng)


class Certain(View):
    """The interval that is certain, closing as distinct DAGs come in [HeTianWu2016, eq. 26].

    Parameters
    ----------
    data : a table of your own, of at most 12 variables; tic-tac-toe without it
    """

    def __init__(self, data: bn.Data | None = None) -> None:
        self._case: Case = "tic-tac-toe" if data is None else data
        self._sizes = board.stops(SIZES, rows(self._case).m)
        self._asked = _questions(self._case)
        for size in self._sizes:
            _drawn(self._case, size)
        super().__init__(
            size=size_slider("rows used", self._sizes),
            drawn=size_slider("DAGs drawn", STOPS, 1000),
            question=choice("question", list(self._asked)),
        )

    def draw(self, size: int, drawn: int, question: str) -> Board:
        """What the distinct DAGs so far leave open."""
        kind, u, v = self._asked[question]
        truth, other = _exact(self._case, size)[kind][:, u, v].tolist()
        shown = STOPS.index(drawn) + 1
        every, weighted = _answers(self._case, size, kind, u, v)
        sound, now = every[:shown], every[shown - 1]
        distinct = _drawn(self._case, size)[0][shown - 1]
        picture = plots.closing(
            STOPS[:shown],
            [each.low for each in sound],
            [each.high for each in sound],
            {"distinct DAGs": [each.value for each in sound], "weights 1/ℓ(G)": weighted[:shown]},
            {"structure-modular, exact": truth, "order-modular, exact": other},
            most=STOPS[-1],
        )
        return {
            "panel": (
                picture,
                f"{question}, {size:,} rows: {drawn:,} DAGs, {distinct.values.shape[1]:,} distinct,"
                f" Δ = {distinct.stats['mass'].item():.3f}. For certain {now.low:.3f} to "
                f"{now.high:.3f}. Distinct DAGs say {now.value:.3f}, weights 1/ℓ(G) say "
                f"{weighted[shown - 1]:.3f}; exact is {truth:.3f}, order-modular {other:.3f}.",
            )
        }


@cache
def _posteriors(case: Case, size: int) -> tuple[bn.OrderPosterior, bn.DagPosterior]:
    table = _table(case, size)
    return bn.order_posterior(table), bn.dag_posterior(table)


@cache
def _exact(case: Case, size: int) -> dict[str, Floats]:
    """Return kind of question -> (2, n, n) exact probabilities, structure- and order-modular."""
    by_order, by_dag = _posteriors(case, size)
    return {
        "→": np.stack([by_dag.edges, by_order.edges]),
        "⇝": np.stack([by_dag.ancestors, order_paths(by_order)]),
    }


@cache
def _questions(case: Case) -> dict[str, tuple[str, int, int]]:
    """Return the path and the edge about which the posteriors differ most, at each size."""
    names = [name.removesuffix("-square") for name in rows(case).names]
    out = {}
    for kind in ("⇝", "→"):
        for size in reversed(board.stops(SIZES[1:], rows(case).m)):
            gap = np.abs(np.diff(_exact(case, size)[kind], axis=0)[0])
            u, v = (int(place) for place in np.unravel_index(gap.argmax(), gap.shape))
            out[f"{names[u]} {kind} {names[v]}"] = kind, u, v
    return out


@cache
def _drawn(case: Case, size: int) -> tuple[list[bn.Draws], bn.Draws]:
    """Return the distinct DAGs among the draws at each stop, and the draws weighted by 1 / ℓ(G)."""
    by_order, by_dag = _posteriors(case, size)
    draws = bn.sample_dags(by_order, draws=DRAWS, rng=np.random.default_rng(SEED))
    unique = [bn.reweight_unique(draws.prefix(stop), log_z=by_dag.log_z) for stop in STOPS]
    return unique, bn.reweight_by_extensions(draws)


@cache
def _answers(
    case: Case, size: int, kind: str, u: int, v: int
) -> tuple[list[bn.FeatureEstimate], list[float]]:
    """Return the answer by the distinct DAGs at each stop, and that by weights of 1 / ℓ(G)."""
    feature = (features.edge if kind == "→" else features.path)(u, v)
    unique, weighted = _drawn(case, size)
    has, w = feature(weighted.values[0]), np.exp(weighted.log_weight[0])
    by_weights = (np.cumsum(w * has) / np.cumsum(w))[np.array(STOPS) - 1].tolist()
    return [features.probability(each, feature) for each in unique], by_weights


@exercise(properties=4)
def check_distinct_interval(
    function: Callable[[bn.Draws, features.Feature, float], Sequence[float]],
) -> Told:
    """Exercise 1: `function(draws, feature, log_z)` gives an estimate and the sound interval."""
    data, edge = rows("tic-tac-toe"), features.edge(0, 1)
    draws = _sample(_table(data.select(data.names[:3]), 0), 2000)

    def told(draws: bn.Draws, log_z: float = float(np.log(25))) -> Floats:
        return np.asarray(function(draws, edge, log_z), float)

    yield "return three numbers: the estimate, the lower end, the upper end"
    yield told(draws).shape == (3,)
    yield "all 25 DAGs on three nodes were drawn, and 8 have the edge: it is 8/25 for certain"
    yield np.allclose(told(draws), 8 / 25)
    yield "five of the 25 were drawn, one of them twice, and one has the edge: 1/5, 1/25 and 21/25"
    yield np.allclose(told(draws.prefix(6)), [1 / 5, 1 / 25, 21 / 25])
    yield "tic-tac-toe with 50 and 958 rows: your numbers differ from those of the package"
    found, expected = [], []
    for size in (50, 958):
        log_z, draws = _posteriors("tic-tac-toe", size)[1].log_z, _drawn("tic-tac-toe", size)[1]
        each = features.probability(bn.reweight_unique(draws, log_z=log_z), edge)
        found.append(told(draws, log_z))
        expected.append([each.value, each.low, each.high])
    yield np.allclose(found, expected)


@exercise(properties=5)
def check_places(function: Callable[[Sets, int], Sequence[float]]) -> Told:
    """Exercise 2: `function(dag, v)` says where v stands in a uniform linear extension."""
    fork, chain = _sets([0, 1, 1]), _sets([0, 1, 2, 4])
    wide = _sets([1 << (v - 3) if v > 2 else 0 for v in range(14)])  # three chains
    six = _sets([0, 0, 3, 2, 4, 8])

    def result(dag: Sets, v: int) -> Floats:
        return np.asarray(function(list(dag), v), float)

    def listed(dag: Sets, v: int) -> Floats:
        n = len(dag)
        found = [
            order.index(v)
            for order in permutations(range(n))
            if all(dag[u] <= set(order[:i]) for i, u in enumerate(order))
        ]
        return np.bincount(found, minlength=n) / len(found)

    yield "return n numbers that sum to 1"
    yield result(fork, 1).shape == (3,) and np.isclose(result(fork, 1).sum(), 1)
    yield "a chain leaves its nodes no choice"
    yield all(np.allclose(result(chain, v), np.eye(4)[v]) for v in range(4))
    yield "without edges every place is as likely"
    yield np.allclose(result(_sets([0] * 5), 2), 1 / 5)
    yield "your answer differs from a list of all orders of a DAG on six nodes"
    yield all(np.allclose(result(six, v), listed(six, v)) for v in range(6))
    yield "14 nodes: each place holds one node, so the probabilities of a place sum to 1"
    yield np.allclose(sum(result(wide, v) for v in range(14)), 1)


def _sets(masks: Sequence[int]) -> list[frozenset[int]]:
    return [frozenset(graphs.members(mask)) for mask in masks]


@exercise(properties=3)
def check_both(function: Callable[[bn.Draws, features.Feature, float], float]) -> Told:
    """Exercise 3: `function(draws, feature, log_z)` joins the two corrections."""

    @cache
    def errors(size: int) -> Floats:
        by_order, by_dag = _posteriors("tic-tac-toe", size)
        out = np.zeros(3)  # of the answer, of the distinct DAGs, of the weights
        far = np.abs(by_dag.edges - by_order.edges).argsort(axis=None)[-3:]
        for seed in range(3):
            draws = bn.sample_dags(by_order, draws=DRAWS, rng=np.random.default_rng(seed))
            unique = bn.reweight_unique(draws, log_z=by_dag.log_z)
            weighted = bn.reweight_by_extensions(draws)
            for u, v in zip(*np.unravel_index(far, by_dag.edges.shape), strict=True):
                edge = features.edge(int(u), int(v))
                both = float(function(draws, edge, by_dag.log_z))
                told = [both, *(features.probability(x, edge).value for x in (unique, weighted))]
                out += np.abs(np.array(told) - by_dag.edges[u, v])
        return out

    yield "if all 25 DAGs on three nodes were drawn, nothing is left to estimate"
    data = rows("tic-tac-toe")
    draws = _sample(_table(data.select(data.names[:3]), 0), 2000)
    yield np.isclose(function(draws, features.edge(0, 1), float(np.log(25))), 8 / 25)
    yield "50 rows: your errors are far above those of weighted draws"
    yield errors(50)[0] <= 1.5 * errors(50)[1:].min()
    yield "958 rows: your errors are far above those of the distinct DAGs"
    yield errors(958)[0] <= 1.5 * errors(958)[1:].min()
