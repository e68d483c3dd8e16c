"""The widgets of notebooks/05_direct_dag_sampling.ipynb.

A draw as a walk down the lattice of subsets, a hundred experiments of a chosen number of draws, and
what more rows change in draws and what they do not.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

import bnlab as bn
from bnlab import features, graphs, plots
from bnlab.checks import Bools, Floats, Ints
from bnlab.exact import order_paths
from bnlab.labs.board import choice, size_slider, step_slider
from bnlab.labs.view import Board, View

Parents = frozenset[int]

SEED = 2016
DELTA, EPS = 0.05, 0.02
T = 4612
EXPERIMENTS = 100
MOST_DAGS = 12


class WalkDown(View):
    """One draw, step by step: down the lattice of subsets to an order, then parents node by node.

    Controls `size` (rows used), `number` (of the draw) and `step`; panels `lattice` and `net`.

    Parameters
    ----------
    data : a table of at most four variables
    letters : a short name for each; the names of the table if not given
    """

    def __init__(self, data: bn.Data, letters: Sequence[str] | None = None) -> None:
        self._data, self._letters = data, list(letters or data.names)
        whole = bn.order_posterior(_table(data, data.m)).edges
        self._places = plots.network_positions(whole)
        super().__init__(
            size=size_slider("rows used", sorted({0, min(100, data.m), data.m}), data.m),
            number=step_slider("draw", 1, 1, 20, width="300px"),
            step=step_slider("step", 0, 0, 2 * data.n, width="300px"),
        )

    def draw(self, size: int, number: int, step: int) -> Board:
        """The walk so far, and the parents chosen so far."""
        walks = _walks(self._data, size)
        order, dag = walks.orders[number - 1].tolist(), walks.dags[number - 1].tolist()
        n, names = self._data.n, self._data.names
        down = min(step, n)
        walked = [sum(1 << v for v in order[: n - k]) for k in range(down + 1)]
        placed = ["·"] * (n - down) + [self._letters[v] for v in order[n - down :]]
        done = order[: max(0, step - n)]
        edges = graphs.to_adjacency([dag[v] if v in done else 0 for v in range(n)])
        key = ", ".join(f"{a} = {b}" for a, b in zip(self._letters, names, strict=True) if a != b)
        lattice = plots.walk_down(
            self._letters,
            walks.chances,
            walked,
            title=f"Step 1, an order from the back: {' '.join(placed)}",
        )
        net = plots.network(
            edges.astype(float),
            names,
            self._places,
            title="Step 2, parents given the order",
            width=310,
        )
        return {
            "lattice": (lattice, f"{self._last(walks, walked[-1])} {key}."),
            "net": (net, self._choice(walks, order, dag, step - n)),
        }

    def _last(self, walks: "Walks", here: int) -> str:
        if not here:
            return "The order is complete."
        told = [f"{self._letters[v]} {walks.chances[v, here & ~(1 << v)]:.4f}" for v in _in(here)]
        return f"Last among those left, with probability: {', '.join(told)}."

    def _choice(self, walks: "Walks", order: list[int], dag: list[int], step: int) -> str:
        if step < 1:
            return "No parents yet: first the order."
        v, before = order[step - 1], order[: step - 1]
        inside = {P: p for P, p in walks.phi[v].items() if P <= set(before)}
        total, names = sum(inside.values()), self._data.names
        told = [
            f"{' and '.join(names[u] for u in sorted(P)) or 'none'} {p / total:.4f}"
            for P, p in sorted(inside.items(), key=lambda item: -item[1])
        ]
        chosen = " and ".join(names[u] for u in _in(dag[v])) or "none"
        return f"Parents of {names[v]}: {chosen}. The choice was {', '.join(told)}."


class Walks(NamedTuple):
    """Orders and DAGs (20, n) of draws, and what they were drawn with.

    chances : [v, S], the probability that v is last in S + v
    phi : for each node, parent set -> family weight
    """

    orders: Ints
    dags: Ints
    chances: Floats
    phi: list[dict[Parents, float]]


@cache
def _walks(data: bn.Data, size: int) -> Walks:
    table = _table(data, size)
    lattice, n = bn.order_lattice(table), data.n
    chances = np.full((n, 1 << n), np.nan)
    for mask in range(1 << n):
        for v in _in(~mask & ((1 << n) - 1)):
            whole = lattice.log_forward[mask | 1 << v]
            chances[v, mask] = np.exp(
                lattice.log_alpha[v, mask] + lattice.log_forward[mask] - whole
            )
    rng = np.random.default_rng(SEED)
    orders = bn.sample_orders(bn.order_posterior(table), draws=20, rng=rng)
    dags = bn.sample_dags(orders, draws=1, table=table, rng=rng)
    phi = [
        {frozenset(_in(P)): float(np.exp(x - x_v.max())) for P, x in zip(P_v, x_v, strict=True)}
        for P_v, x_v in zip(table.parents, table.log_phi, strict=True)
    ]
    return Walks(orders.values[0], dags.values[0], chances, phi)


@cache
def _table(data: bn.Data, size: int) -> bn.ScoreTable:
    return bn.score_families(data.prefix(size), bn.BDeu(1.0), max_parents=min(5, data.n - 1))


def _in(mask: int) -> list[int]:
    return [int(v) for v in graphs.members(mask)]


class Hundred(View):
    """A hundred experiments: each estimates a probability from as many draws.

    Controls `drawn`, the number of draws of each (prefixes of one set), and `question`; panel
    `panel`.

    Parameters
    ----------
    posterior : to draw DAGs from
    u, v : two variables: the questions are the path and the edge from u to v
    stops : numbers of draws
    """

    def __init__(
        self,
        posterior: bn.OrderPosterior,
        u: int,
        v: int,
        *,
        stops: Sequence[int] = (100, 300, 1000, T),
    ) -> None:
        names, rng = posterior.table.names, np.random.default_rng(SEED)
        dags = bn.sample_dags(posterior, draws=EXPERIMENTS * stops[-1], rng=rng).values[0]
        asked = {
            f"path {names[u]} ⇝ {names[v]}": (features.path(u, v), order_paths(posterior)[u, v]),
            f"edge {names[u]} → {names[v]}": (features.edge(u, v), posterior.edges[u, v]),
        }
        self._asked = {
            name: (np.asarray(has(dags)).reshape(EXPERIMENTS, stops[-1]), float(exact))
            for name, (has, exact) in asked.items()
        }
        super().__init__(
            drawn=size_slider("draws in each", stops),
            question=choice("question", list(asked)),
        )

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

    Controls `size` (rows), `drawn` and `question`; panels `estimates` and `dags`.

    Parameters
    ----------
    data : a table
    start, via, end : three names: asked are the path start ⇝ end, the edge start → via, and whether
        via and end are joined
    """

    def __init__(self, data: bn.Data, start: str, via: str, end: str) -> None:
        self._data, self._sizes = data, _sizes(data.m)
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
        most = _most_drawn(self._data, size, drawn)
        dags = plots.share_bars(
            most.shares,
            most.exact,
            [f"DAG {k}" for k in range(1, MOST_DAGS + 1)],
            largest=0.2,
            name="most_drawn",
            title=f"DAGs most often drawn, of {most.distinct:,} distinct",
            alt="Bars of the shares of the DAGs drawn most often",
        )
        return {
            "estimates": (
                plots.share_bars(
                    shares,
                    exact,
                    [f"{m:,} rows" for m in self._sizes],
                    margin=spread,
                    title="Share of the draws, interval, exact (diamond)",
                    alt="Bars of a probability at each number of rows, with intervals",
                ),
                f"{question}: {found[-1][0]:.4f} ± {spread:.4f} with {size:,} rows and {drawn:,} "
                f"draws; exact {found[-1][1]:.4f}.",
            ),
            "dags": (dags, f"{drawn:,} draws with {size:,} rows: {most.distinct:,} distinct DAGs."),
        }


class Drawn(NamedTuple):
    """The DAGs drawn most often: shares of the draws, exact probabilities, how many distinct."""

    shares: Floats
    exact: Floats
    distinct: int


def _sizes(m: int) -> tuple[int, ...]:
    return (*(size for size in (0, 50, 100, 200, 400, 800) if size < m), m)


@cache
def _exact(data: bn.Data, size: int) -> bn.OrderPosterior:
    return bn.order_posterior(_table(data, size))


@cache
def _draws(data: bn.Data, size: int) -> bn.Draws:
    rng = np.random.default_rng(size)
    return bn.sample_dags(_exact(data, size), draws=20_000, rng=rng)


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
def _most_drawn(data: bn.Data, size: int, drawn: int) -> Drawn:
    draws = _draws(data, size)
    rows, first, counts = np.unique(
        draws.values[0, :drawn], axis=0, return_index=True, return_counts=True
    )
    most = np.argsort(-counts, kind="stable")[:MOST_DAGS]
    log_p = draws.log_target[0, first[most]] + bn.linear_extensions.log_count(rows[most])
    empty = np.full(MOST_DAGS - len(most), np.nan)
    return Drawn(
        np.append(counts[most] / drawn, empty),
        np.append(np.exp(log_p - _exact(data, size).log_z), empty),
        len(rows),
    )
