"""The views and the checks of notebooks/05_direct_dag_sampling.ipynb.

A draw as a walk down the lattice of subsets, a hundred experiments of a chosen number of draws, and
what more rows change in draws and what they do not.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import permutations
from math import exp, prod, sqrt
from random import Random
from typing import Any

import numpy as np

import bnlab as bn
from bnlab import features, graphs, plots
from bnlab.checks import Bools, Floats, Ints
from bnlab.exact import order_paths
from bnlab.labs import board
from bnlab.labs.board import (
    Told,
    choice,
    exercise,
    families,
    parent_sets,
    setup as setup,
    size_slider,
    step_slider,
)
from bnlab.labs.predict import predict as predict, review as review
from bnlab.labs.view import Board, View

Parents = frozenset[int]
Dag = tuple[Parents, ...]
Draw = tuple[list[int], Dag]  # an order, and parents given it
Has = Callable[[Dag], bool]  # whether a DAG has a feature
DrawOrder = Callable[[Parents, Random], list[int]]
Weights = Sequence[Mapping[Parents, float]]  # phi: for each node, parent set -> family weight

SEED = 2016
DELTA, EPS = 0.05, 0.02
T, EXPERIMENTS = 4612, 100  # draws of an experiment, and experiments
STOPS = (100, 300, 1000, T)
MOST_DAGS = 12
SIZES = (0, 50, 100, 200, 400, 800)  # rows
SETTLED, OPEN = 0.05, 0.2  # a probability this near to 0 or 1; one further from both
WORST = 3.719  # standard normal quantile that right draws exceed once in 10,000 times

_table = partial(board.bdeu_table, most=5)
_exact = partial(board.order_posterior, most=5)


class WalkDown(View):
    """One draw, step by step: down the lattice of subsets to an order, then parents node by node.

    Parameters
    ----------
    data : a table of at most four variables
    letters : a short name for each; the names of the table if not given
    """

    def __init__(self, data: bn.Data, letters: Sequence[str] | None = None) -> None:
        self._data, self._letters = data, list(letters or data.names)
        self._places = plots.network_positions(_exact(data, data.m).edges)
        super().__init__(
            size=size_slider("rows used", board.stops((0, 100), data.m), data.m),
            number=step_slider("draw", 1, 1, 20, width="300px"),
            step=step_slider("step", 0, 0, 2 * data.n, width="300px"),
        )

    def draw(self, size: int, number: int, step: int) -> Board:
        """The walk so far, and the parents chosen so far."""
        orders, dags, chances, phi = _walks(self._data, size)
        order, dag = orders[number - 1].tolist(), dags[number - 1].tolist()
        n, names = self._data.n, self._data.names
        down = min(step, n)
        walked = [sum(1 << v for v in order[: n - k]) for k in range(down + 1)]
        placed = ["·"] * (n - down) + [self._letters[v] for v in order[n - down :]]
        done = order[: max(0, step - n)]
        edges = graphs.to_adjacency([dag[v] if v in done else 0 for v in range(n)])
        key = ", ".join(f"{a} = {b}" for a, b in zip(self._letters, names, strict=True) if a != b)
        title = f"Step 1, an order from the back: {' '.join(placed)}"
        lattice = plots.walk_down(self._letters, chances, walked, title=title)
        title = "Step 2, parents given the order"
        net = plots.network(edges, names, self._places, title=title, width=310)
        return {
            "lattice": (lattice, f"{self._last(chances, walked[-1])} {key}."),
            "net": (net, self._choice(phi, order, dag, step - n)),
        }

    def _last(self, chances: Floats, here: int) -> str:
        if not here:
            return "The order is complete."
        last = [(v, chances[v, here & ~(1 << v)]) for v in graphs.members(here)]
        told = ", ".join(f"{self._letters[v]} {p:.4f}" for v, p in last)
        return f"Last among those left, with probability: {told}."

    def _choice(self, phi: Weights, order: list[int], dag: list[int], step: int) -> str:
        if step < 1:
            return "No parents yet: first the order."
        v, before = order[step - 1], order[: step - 1]
        inside = {P: p for P, p in phi[v].items() if P <= set(before)}
        total, names = sum(inside.values()), self._data.names
        told = [
            f"{' and '.join(names[u] for u in sorted(P)) or 'none'} {p / total:.4f}"
            for P, p in sorted(inside.items(), key=lambda item: -item[1])
        ]
        chosen = " and ".join(names[u] for u in graphs.members(dag[v])) or "none"
        return f"Parents of {names[v]}: {chosen}. The choice was {', '.join(told)}."


@cache
def _walks(data: bn.Data, size: int) -> tuple[Ints, Ints, Floats, Weights]:
    """Return orders and DAGs (20, n) of draws; [v, S], the chance that v is last in S + v; phi."""
    table = _table(data, size)
    lattice, sets, v = bn.order_lattice(table), np.arange(1 << data.n), np.arange(data.n)[:, None]
    log_p = lattice.log_alpha + lattice.log_forward - lattice.log_forward[sets | 1 << v]
    chances = np.where(sets >> v & 1, np.nan, np.exp(log_p))
    rng = np.random.default_rng(SEED)
    orders = bn.sample_orders(_exact(data, size), draws=20, rng=rng)
    dags = bn.sample_dags(orders, draws=1, table=table, rng=rng)
    return orders.values[0], dags.values[0], chances, weights(table)


def weights(table: bn.ScoreTable) -> list[dict[Parents, float]]:
    """Return phi: for each node, parent set -> family weight, divided by the node's largest."""
    tops = ((of_v, max(of_v.values())) for of_v in families(table))
    return [{P: exp(w - top) for P, w in of_v.items()} for of_v, top in tops]


class Hundred(View):
    """A hundred experiments: each estimates a probability from as many draws.

    Parameters
    ----------
    posterior : to draw DAGs from
    u, v : two variables: the questions are the path and the edge from u to v
    stops : numbers of draws
    """

    def __init__(
        self, posterior: bn.OrderPosterior, u: int, v: int, *, stops: Sequence[int] = STOPS
    ) -> None:
        names, rng = posterior.table.names, np.random.default_rng(SEED)
        dags = bn.sample_dags(posterior, draws=EXPERIMENTS * stops[-1], rng=rng).values
        dags = dags.reshape(EXPERIMENTS, stops[-1], len(names))
        path, edge = order_paths(posterior)[u, v], posterior.edges[u, v]
        self._asked = {
            f"path {names[u]} ⇝ {names[v]}": (features.path(u, v)(dags), float(path)),
            f"edge {names[u]} → {names[v]}": (features.edge(u, v)(dags), float(edge)),
        }
        question = choice("question", list(self._asked))
        super().__init__(drawn=size_slider("draws in each", stops), question=question)

    def draw(self, drawn: int, question: str) -> Board:
        """A dot for each experiment."""
        hits, exact = self._asked[question]
        estimates = hits[:, :drawn].mean(axis=1)
        outside = int((np.abs(estimates - exact) >= EPS).sum())
        bound = min(1.0, 2 * float(np.exp(-2 * drawn * EPS**2)))
        promised = f"{EXPERIMENTS * bound:.3g}" if bound < 1 else "nothing"
        return {
            "panel": (
                plots.experiments(estimates, exact, EPS, title=f"{question}, {drawn:,} draws each"),
                f"Exact: {exact:.4f}. Off by {EPS} or more: {outside} of {EXPERIMENTS}; Hoeffding "
                f"promises {promised if bound == 1 else f'at most {promised} on average'}.",
            )
        }


class MoreRows(View):
    """Estimates and distinct DAGs as rows come in, and as draws do.

    Parameters
    ----------
    data : a table
    start, via, end : three names: asked are the path start ⇝ end, the edge start → via, and whether
        via and end are joined
    """

    def __init__(self, data: bn.Data, start: str, via: str, end: str) -> None:
        self._data, self._sizes = data, board.stops(SIZES, data.m)
        u, w, v = (data.index(name) for name in (start, via, end))
        self._asked = {
            f"path {start} ⇝ {end}": ("path", u, v),
            f"edge {start} → {via}": ("edge", u, w),
            f"{via} and {end} joined": ("joined", w, v),
        }
        super().__init__(
            size=size_slider("rows", self._sizes, data.m),
            drawn=size_slider("draws", (500, T, 20_000), T),
            question=choice("question", list(self._asked)),
        )

    def draw(self, size: int, drawn: int, question: str) -> Board:
        """The estimates up to this number of rows, and the DAGs most often drawn at it."""
        kind, u, v = self._asked[question]
        shown = [m for m in self._sizes if m <= size]
        known = [_has(self._data, m, kind, u, v) for m in shown]
        found = [(float(has[:drawn].mean()), exact) for has, exact in known]
        room = [(np.nan, np.nan)] * (len(self._sizes) - len(shown))
        shares, exact = np.transpose(found + room)
        spread = bn.hoeffding_margin(drawn, DELTA)
        often, likely, distinct = _most_drawn(self._data, size, drawn)
        labels = [f"{m:,} rows" for m in self._sizes]
        title = "Share of the draws, interval, exact (diamond)"
        alt = "Bars of a probability at each number of rows, with intervals"
        estimates = plots.share_bars(shares, exact, labels, margin=spread, title=title, alt=alt)
        labels = [f"DAG {k}" for k in range(1, MOST_DAGS + 1)]
        look: Any = {"largest": 0.2, "title": f"DAGs most often drawn, of {distinct:,} distinct"}
        alt = "Bars of the shares of the DAGs drawn most often"
        dags = plots.share_bars(often, likely, labels, name="most_drawn", alt=alt, **look)
        return {
            "estimates": (
                estimates,
                f"{question}: {found[-1][0]:.4f} ± {spread:.4f} with {size:,} rows and {drawn:,} "
                f"draws; exact {found[-1][1]:.4f}.",
            ),
            "dags": (dags, f"{drawn:,} draws with {size:,} rows: {distinct:,} distinct DAGs."),
        }


@cache
def _draws(data: bn.Data, size: int) -> bn.Draws:
    return bn.sample_dags(_exact(data, size), draws=20_000, rng=np.random.default_rng(size))


@cache
def _has(data: bn.Data, size: int, kind: str, u: int, v: int) -> tuple[Bools, float]:
    """Return which of the draws have the feature, and its exact probability."""
    dags, exact = _draws(data, size).values[0], _exact(data, size)
    if kind == "path":
        return features.path(u, v)(dags), float(order_paths(exact)[u, v])
    there, back = features.edge(u, v)(dags), features.edge(v, u)(dags)
    if kind == "edge":
        return there, float(exact.edges[u, v])
    return there | back, float(exact.edges[u, v] + exact.edges[v, u])


@cache
def _most_drawn(data: bn.Data, size: int, drawn: int) -> tuple[Floats, Floats, int]:
    """Return shares and exact probabilities of the DAGs drawn most often; how many are distinct."""
    draws = _draws(data, size)
    wanted: Any = {"return_index": True, "return_counts": True}
    rows, first, counts = np.unique(draws.values[0, :drawn], axis=0, **wanted)
    most = np.argsort(-counts, kind="stable")[:MOST_DAGS]
    log_p = draws.log_target[0, first[most]] + bn.linear_extensions.log_count(rows[most])
    found = np.full((2, MOST_DAGS), np.nan)
    found[:, : len(most)] = counts[most] / drawn, np.exp(log_p - _exact(data, size).log_z)
    return found[0], found[1], len(rows)


@exercise(properties=6)
def check_draw_forward(
    b: Callable[[Parents], float], draw_forward: Callable[[Any], Draw], phi: Weights
) -> Told:
    """Exercise 2: orders drawn from the front with the backward sum b, and parents on the way."""
    orders = _order_weights(phi)
    total = sum(orders.values())

    def fits(order: Sequence[int], dag: Dag) -> bool:
        every = sorted(order) == list(range(len(phi)))
        return every and all(dag[v] <= set(order[:i]) for i, v in enumerate(order))

    yield "b of the empty set should be g of the full set"
    yield np.isclose(b(frozenset()), total)
    yield "b of the full set should be 1: nothing comes after it"
    yield b(frozenset(range(len(phi)))) == 1
    yield "each order should hold each node once, and its DAG be consistent with it"
    rng = Random(SEED)
    drawn = [draw_forward(rng) for _ in range(T)]
    yield all(fits(*each) for each in drawn[:200])
    yield "the first places differ from what orders drawn from the back have there"
    counts = Counter(order[0] for order, _ in drawn)
    exact = [sum(w for o, w in orders.items() if o[0] == v) / total for v in range(len(phi))]
    yield all(abs(counts[v] / T - p) < 0.03 for v, p in enumerate(exact))
    yield "draw_forward should choose each next node with b"
    counted: Any = b
    if hasattr(counted, "cache_clear"):
        counted.cache_clear()
    draw_forward(Random(SEED))
    yield not hasattr(counted, "cache_clear") or counted.cache_info().misses > 0
    yield f"chi-square of {T:,} draws against the list of all DAGs is too large: parents?"
    yield _good_fit([dag for _, dag in drawn], _dag_weights(phi))


def _dag_weights(phi: Weights) -> dict[Dag, float]:
    """DAG -> its weight, order-modular, of all DAGs."""
    dags = graphs.all_dags(len(phi))
    extensions = np.exp(bn.linear_extensions.log_count(dags))
    every = zip(map(parent_sets, dags), extensions, strict=True)
    return {G: count * prod(phi[v].get(P, 0.0) for v, P in enumerate(G)) for G, count in every}


def _good_fit(draws: Sequence[Any], weights: Mapping[Any, float]) -> bool:
    """Whether chi-square is at most what right draws exceed once in 10,000 times."""
    counts, size = Counter(draws), len(draws)
    times = size / sum(weights.values())
    common = [each for each, weight in weights.items() if times * weight >= 5]
    expected = times * np.array([weights[each] for each in common])
    observed = np.array([counts[each] for each in common])
    rest, left = size - expected.sum(), size - observed.sum()
    found = ((observed - expected) ** 2 / expected).sum() + (left - rest) ** 2 / rest
    spread = 2 / (9 * len(common))  # the cube root of chi-square is nearly normal
    return bool(found <= len(common) * (1 - spread + WORST * sqrt(spread)) ** 3)


def _alpha(phi_v: Mapping[Parents, float], S: Parents) -> float:
    """The weight of the parent sets of a node within S."""
    return sum(p for P, p in phi_v.items() if P <= S)


def _order_weights(phi: Weights) -> dict[tuple[int, ...], float]:
    """Order -> its weight, of all orders."""
    return {
        order: prod(_alpha(phi[v], frozenset(order[:i])) for i, v in enumerate(order))
        for order in permutations(range(len(phi)))
    }


def right_draw_order(function: DrawOrder, phi: Weights) -> DrawOrder:
    """The student's function if it is right, else the lab's."""

    @cache
    def terms(S: Parents) -> list[float]:  # as often is each node of S last
        return [_alpha(phi[v], S - {v}) * (sum(terms(S - {v})) or 1.0) for v in sorted(S)]

    def ours(S: Parents, rng: Random) -> list[int]:
        v = rng.choices(sorted(S), terms(S))[0]
        return [*(ours(S - {v}, rng) if len(S) > 1 else ()), v]

    return board.if_right(function, partial(_draws_orders, phi=phi), ours)


def _draws_orders(function: DrawOrder, phi: Weights) -> bool:
    """Whether a function draws orders with their probabilities."""
    rng, whole = Random(SEED), frozenset(range(len(phi)))
    return _good_fit([tuple(function(whole, rng)) for _ in range(T)], _order_weights(phi))


@exercise(properties=2)
def check_draw_order(function: DrawOrder, phi: Weights) -> Told:
    """Exercise 1: `function(S, rng)` draws an order of S, from the last place to the first."""
    yield "return a list with each node of S once"
    yield sorted(function(frozenset({0, 2, 3}), Random(SEED))) == [0, 2, 3]
    yield "orders do not come up as often as they should: is the last place that of the picture?"
    yield _draws_orders(function, phi)


@exercise(properties=4)
def check_settled(settled: Has, left_open: Has, data: bn.Data, guess: float | None) -> Told:
    """Exercise 3: of two features uncertain with 100 rows, all rows settle the first alone."""
    dags = graphs.all_dags(data.n)
    as_sets = [parent_sets(dag) for dag in dags]

    @cache
    def probability(rows: int, times: int) -> tuple[float, float]:
        many = np.tile(data.prefix(rows).values, (times, 1))
        table = bn.score_families(bn.Data.from_arrays(many, arities=data.arities), bn.BDeu(1.0))
        log_p = table.log_target(dags) + bn.linear_extensions.log_count(dags)
        p = np.exp(log_p - np.logaddexp.reduce(log_p))
        first, second = (float(p[list(map(has, as_sets))].sum()) for has in (settled, left_open))
        return first, second

    yield "both should be uncertain with 100 rows, between 0.2 and 0.8"
    yield all(OPEN < p < 1 - OPEN for p in probability(100, 1))
    yield "all rows should settle the first: below 0.05 or above 0.95"
    yield not SETTLED <= probability(data.m, 1)[0] <= 1 - SETTLED
    yield "all rows should leave the second open, between 0.2 and 0.8"
    yield OPEN < probability(data.m, 1)[1] < 1 - OPEN
    yield "write down my_guess, a probability, first"
    yield guess is not None and 0 <= guess <= 1
    print(f"Every row ten times: {probability(data.m, 10)[1]:.4f}. Your guess: {guess}")
