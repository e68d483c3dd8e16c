"""The views and the checks of notebooks/03_dynamic_programming.ipynb.

The lattice of subsets filled in one term at a time, and the same sums on twenty variables.
"""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np

import bnlab as bn
from bnlab import plots
from bnlab.checks import Floats
from bnlab.labs import board
from bnlab.labs.board import Told, choice, exercise, setup as setup, size_slider, step_slider
from bnlab.labs.predict import predict as predict, review as review
from bnlab.labs.view import Board, Experiment, Progress, View
from bnlab.plots.lattice import Link, set_name

SEED = 2016
MAX_PARENTS = 3
STOPS = (0, 10, 20, 50, 100, 200, 500)  # rows of the lattice
SIZES = (100, 1000, 5000)  # rows at full speed
MOST = 22  # variables at full speed


class Relative(NamedTuple):
    """Weights of families, and alpha, g and b, in units of the DAG without edges."""

    phi: tuple[dict[int, float], ...]  # of each variable: parent mask -> phi_v(P) / phi_v({})
    alpha: Floats  # (n, 2**n), nan where the set holds the variable itself
    forward: Floats  # (2**n,), g
    backward: Floats  # (2**n,), b

    @property
    def shares(self) -> Floats:
        """(n, 2**n): the posterior probability that exactly the set S comes before v."""
        sets, v = np.arange(self.forward.size), np.arange(len(self.alpha))[:, None]
        weights = self.forward * self.alpha * self.backward[sets | 1 << v]
        return np.asarray(np.nan_to_num(weights / self.forward[-1]))


class Step(NamedTuple):
    """One value filled in: which, from what, and the term of the recurrence with its numbers."""

    phase: str  # "alpha", "g", "b" or "shares"
    text: str  # the term
    now: int | None = None  # mask of the set whose box is worked on
    used: tuple[int, ...] = ()  # masks of the sets whose values it takes
    links: tuple[Link, ...] = ()  # the links (v, S) that it fills in or takes


def relative(table: bn.ScoreTable) -> Relative:
    """The lattice of a table, in units of the weight of the DAG without edges."""
    lattice = bn.order_lattice(table)
    nothing = table.log_phi[:, :1]  # the first family of each row has no parents
    n = table.n
    inside = ((np.arange(1 << n) >> np.arange(n)[:, None]) & 1) * nothing
    alpha = np.exp(lattice.log_alpha - nothing)
    alpha[np.isneginf(lattice.log_alpha)] = np.nan
    families = zip(table.parents.tolist(), np.exp(table.log_phi - nothing).tolist(), strict=True)
    return Relative(
        tuple(dict(zip(masks, weights, strict=True)) for masks, weights in families),
        alpha,
        np.exp(lattice.log_forward - inside.sum(axis=0)),
        np.exp(lattice.log_backward - nothing.sum() + inside.sum(axis=0)),
    )


def steps(values: Relative, names: Sequence[str]) -> list[Step]:
    """Every step of the dynamic program: alpha, then g from the bottom, then b from the top."""
    by_size = sorted(range(1 << len(names)), key=int.bit_count)
    links = [(v, s) for s in by_size for v in range(len(names)) if not s >> v & 1]
    text = (
        f"g at the top = b at the bottom = {number(values.forward[-1])}, the sum over all orders "
        "and DAGs. Each link is now as wide as the probability that an order takes it: "
        "g(S) · α_v(S) · b(S with v) / total."
    )
    return [
        *(_alpha_step(values, names, link) for link in links),
        *(_sum_step(values, names, "g", s) for s in by_size),
        *(_sum_step(values, names, "b", s) for s in reversed(by_size)),
        Step("shares", text),
    ]


def _alpha_step(values: Relative, names: Sequence[str], link: Link) -> Step:
    v, s = link
    families = sorted((mask for mask in values.phi[v] if mask & ~s == 0), key=int.bit_count)
    terms = " + ".join(f"φ({set_name(mask, names)})" for mask in families)
    numbers = " + ".join(number(values.phi[v][mask]) for mask in families)
    text = f"α_{names[v]}({set_name(s, names)}) = {terms} = {numbers}"
    if len(families) > 1:
        text += f" = {number(values.alpha[link])}"
    return Step("alpha", text, None, tuple(families), (link,))


def _sum_step(values: Relative, names: Sequence[str], letter: str, s: int) -> Step:
    """One sum over the links below (g) or above (b) the set s, in letters and in numbers."""
    up = letter == "g"
    known, head = values.forward if up else values.backward, f"{letter}({set_name(s, names)})"
    taken = [(v, s & ~(1 << v)) for v in range(len(names)) if bool(s >> v & 1) == up]
    used = [below if up else s | 1 << v for v, below in taken]
    if not taken:
        why = "nothing is placed, in one way" if up else "nothing is left to place"
        return Step(letter, f"{head} = 1: {why}.", s)
    terms, numbers = [], []
    for (v, below), other in zip(taken, used, strict=True):
        terms.append(f"α_{names[v]}({set_name(below, names)}) · {letter}({set_name(other, names)})")
        numbers.append(f"{number(values.alpha[v, below])} · {number(known[other])}")
    text = f"{head} = {' + '.join(terms)} = {' + '.join(numbers)} = {number(known[s])}"
    return Step(letter, text, s, tuple(used), tuple(taken))


def number(value: float) -> str:
    """Four digits, without the zeros of an exponent."""
    return f"{value:.4g}".replace("e+0", "e").replace("e+", "e")


class Walk(View):
    """The lattice of the first 3 or 4 variables of a table, filled in step by step.

    Parameters
    ----------
    data : a table of at least 4 variables
    """

    def __init__(self, data: bn.Data) -> None:
        self._data = data
        variables = choice("variables", ["3", "4"])
        rows = size_slider("rows", [m for m in STOPS if m <= data.m])
        last = len(filled(data, variables.value, rows.value)[1])
        step = step_slider("steps done", 0, 0, last, "420px")
        super().__init__(variables=variables, rows=rows, step=step)

    def arrange(self) -> list[Any]:
        """Return what to display; the term stands over the picture: read it first."""
        (panel,) = self.panels.values()
        panel.children = panel.children[::-1]
        panel.children[0].layout.min_height = "66px"
        return super().arrange()

    def settle(self, moved: str) -> None:
        """Keep the share of the steps that is done."""
        variables, rows, step = self.controls.values()
        if moved != "step":
            share_done = step.value / step.max
            step.max = len(filled(self._data, variables.value, rows.value)[1])
            step.value = round(share_done * step.max)

    def draw(self, variables: str, rows: int, step: int) -> Board:
        """The lattice as far as it is filled in, and the last term."""
        names = self._data.names[: int(variables)]
        values, every = filled(self._data, variables, rows)
        alpha = np.full(values.alpha.shape, np.nan)
        g, b = np.full((2, 1 << len(names)), np.nan)
        for done in every[:step]:
            if done.phase == "alpha":
                alpha[done.links[0]] = values.alpha[done.links[0]]
            elif done.now is not None:
                cells, known = (g, values.forward) if done.phase == "g" else (b, values.backward)
                cells[done.now] = known[done.now]
        now = every[step - 1] if step else Step("", "Nothing is filled in yet. Press Step.")
        shares = values.shares if now.phase == "shares" else None
        last: dict[str, Any] = {"now": now.now, "used": now.used, "links": now.links}
        picture = plots.lattice(names, alpha, g, b, shares=shares, **last)
        phase = {"alpha": "α, link by link", "g": "g, upward", "b": "b, downward"}
        head = f"Step {step} of {len(every)} ({phase.get(now.phase, 'all')}). "
        return {"panel": (picture, (head if now.phase else "") + now.text)}


@cache
def filled(data: bn.Data, variables: str, rows: int) -> tuple[Relative, list[Step]]:
    """Return the lattice of the first variables, given the first rows, and its steps."""
    few = data.select(data.names[: int(variables)]).prefix(rows)
    values = relative(bn.score_families(few, bn.BDeu(ess=1.0), max_parents=few.n - 1))
    return values, steps(values, few.names)


class FullSpeed(Experiment):
    """The exact posterior of the first n variables of a table, with Run and Stop."""

    def __init__(self, data: bn.Data, *, start: int = 20, rows: int = 1000) -> None:
        self._data = data
        super().__init__(
            size=size_slider("variables", range(4, min(MOST, data.n) + 1), min(start, data.n)),
            rows=size_slider("rows", board.stops(SIZES, data.m), rows),
        )

    def compute(
        self, progress: Progress, /, size: int, rows: int
    ) -> bn.OrderPosterior | bn.Stopped:
        """Return the posterior, or that it was stopped."""
        data = self._data.select(self._data.names[:size]).prefix(rows)
        table = bn.score_families(data, bn.BDeu(ess=1.0), max_parents=MAX_PARENTS)
        try:
            return bn.order_posterior(table, progress=progress)
        except bn.Stopped as stopped:
            return stopped

    def draw(self, found: bn.OrderPosterior | bn.Stopped | None, size: int, rows: int) -> Board:
        """The edges, if they are there."""
        edges = np.full((size, size), np.nan)
        caption = "Press Run."
        if isinstance(found, bn.Stopped):
            caption = "Stopped: a sum is known when it is done, not before."
        elif found is not None:
            edges, seconds, links = found.edges, found.run.seconds, size << size - 1
            caption = (
                f"{size} variables, {rows:,} rows: ln p(D) = {found.log_evidence:.2f} and "
                f"{size * (size - 1)} edge probabilities in {seconds:.2g} s, "
                f"{1e9 * seconds / links:.3g} ns for each of {links:,} α."
            )
        return {"panel": (plots.heat_map(edges, self._data.names[:size]), caption)}


@exercise(properties=4)
def check_edge(function: Callable[..., float]) -> Told:
    """Exercise 1: `function(u, v, phi, g, b)` is p(u -> v | D), from the sums over subsets."""

    def result(table: bn.ScoreTable) -> Floats:
        n, lattice = table.n, bn.order_lattice(table)
        phi = np.zeros((n, 1 << n))
        np.put_along_axis(phi, table.parents, np.exp(table.log_phi), axis=1)
        g, b = np.exp(lattice.log_forward).tolist(), np.exp(lattice.log_backward).tolist()
        return np.array([[float(function(u, v, phi, g, b)) for v in range(n)] for u in range(n)])

    cancer = bn.load_network("cancer").sample(40, np.random.default_rng(SEED))
    three, table = board.bdeu_table(cancer.select(list("ABC")), 0), board.bdeu_table(cancer)
    yield "a probability lies between 0 and 1: is the sum divided by Z = g[-1]?"
    without = result(three)
    yield np.all((without >= 0) & (without <= 1))
    yield "among A, B, C without rows 12 of the 48 pairs have the edge A → B"
    yield np.isclose(without[0, 1], 1 / 4)
    yield "and so it is with each of the six edges: is S a set without v, and does P hold u?"
    yield np.allclose(without[~np.eye(3, dtype=bool)], 1 / 4)
    yield "with 40 rows some edge has another probability in the package"
    edges, off = bn.order_posterior(table).edges, ~np.eye(table.n, dtype=bool)
    yield np.allclose(result(table)[off], edges[off])


class _Read(np.ndarray):
    """An array that counts how often one looks into it."""

    reads = 0

    def __getitem__(self, key: Any) -> Any:
        _Read.reads += 1
        return super().__getitem__(key)


@exercise(properties=4)
def check_best_order(function: Callable[[Floats], Sequence[int]]) -> Told:
    """Exercise 2: `function(log_alpha)` is the order of the largest weight, first node first."""
    cancer = bn.load_network("cancer").sample(40, np.random.default_rng(SEED))
    lattices = [bn.order_lattice(board.bdeu_table(case)).log_alpha for case in (cancer, "coronary")]

    def weight(log_alpha: Floats, order: Sequence[int]) -> float:
        total, before = 0.0, 0
        for v in order:
            total += float(log_alpha[v, before])
            before |= 1 << v
        return total

    def result(log_alpha: Floats) -> list[int]:
        return [int(v) for v in function(log_alpha.copy())]

    def best(log_alpha: Floats) -> float:
        return max(weight(log_alpha, order) for order in permutations(range(len(log_alpha))))

    yield "return each of the numbers 0 to n-1 once, as a list"
    yield all(sorted(result(a)) == list(range(len(a))) for a in lattices)
    yield "the reverse of your order should not weigh more: is the first node first?"
    yield all(weight(a, result(a)) >= weight(a, result(a)[::-1]) for a in lattices)
    yield "some of the 120 orders of 5 variables, or of the 720 of 6, weighs more than yours"
    yield all(weight(a, result(a)) > best(a) - 1e-9 for a in lattices)
    yield "right, but slow: do not list orders. For 7 variables, 7 * 2**6 = 448 looks into "
    yield "log_alpha are enough (leave room for three times as many)"
    _Read.reads = 0
    function(np.random.default_rng(SEED).normal(size=(7, 2**7)).view(_Read))
    yield _Read.reads <= 1344


@exercise(properties=4)
def check_blocked_edge(pair: Sequence[str], blocker: str) -> Told:
    """Exercise 3: the pair of coronary variables whose link `max_parents` changes most, and why."""
    data = bn.load_dataset("coronary")

    def linked(chosen: bn.Data, k: int) -> Floats:
        edges = bn.order_posterior(bn.score_families(chosen, bn.BDeu(ess=1.0), max_parents=k)).edges
        return edges + edges.T

    yield f"name two of {', '.join(data.names)}"
    yield len(set(pair)) == 2 and set(pair) <= set(data.names)
    yield "some pair changes more between max_parents = 1 and 4. Add the two directions: "
    yield "edges + edges.T"
    change = np.ptp([linked(data, k) for k in range(1, 5)], axis=0)
    yield change[data.index(pair[0]), data.index(pair[1])] >= change.max() - 1e-9
    yield "the blocker is a third variable"
    yield blocker in data.names and blocker not in pair
    yield "leave your blocker out of the table: with one parent each, the link should be there "
    yield "now. With one parent each, a DAG has no triangle. Which triangle was it?"
    rest = data.select([name for name in data.names if name != blocker])
    yield linked(rest, 1)[rest.index(pair[0]), rest.index(pair[1])] > 0.9
