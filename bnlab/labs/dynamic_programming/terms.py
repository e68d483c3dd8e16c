"""The dynamic program as a list of steps, each with its term of the recurrence in numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab.plots.lattice import set_name

Floats = NDArray[np.float64]
Link = tuple[int, int]
"""(v, S): variable v is placed after exactly those in the set S."""


@dataclass(frozen=True, slots=True)
class Relative:
    """Weights of families, and alpha, g and b, in units of the graph without arrows.

    Attributes
    ----------
    beta : for each variable, parent mask -> beta_v(G) / beta_v(no parents)
    alpha : float64 (n, 2**n), nan where the set holds the variable itself
    forward, backward : float64 (2**n,), g and b
    """

    beta: tuple[dict[int, float], ...]
    alpha: Floats
    forward: Floats
    backward: Floats

    @property
    def shares(self) -> Floats:
        """(n, 2**n): the posterior probability that exactly the set S comes before v."""
        out = np.zeros(self.alpha.shape)
        for v, s in links(len(out)):
            out[v, s] = self.forward[s] * self.alpha[v, s] * self.backward[s | 1 << v]
        out /= self.forward[-1]
        return out


@dataclass(frozen=True, slots=True)
class Step:
    """One value filled in: which, from what, and the term of the recurrence with its numbers.

    Attributes
    ----------
    phase : "alpha", "g", "b" or "shares"
    text : the term
    now : mask of the set whose box is worked on, or None
    used : masks of the sets whose values it takes
    links : the links (v, S) it fills in or takes
    """

    phase: str
    text: str
    now: int | None = None
    used: tuple[int, ...] = ()
    links: tuple[Link, ...] = ()


def relative(table: bn.ScoreTable) -> Relative:
    """The lattice of a table, in units of the weight of the graph without arrows."""
    lattice = bn.order_lattice(table)
    nothing = table.log_beta[:, 0]  # the first family of each row has no parents
    n = table.n
    inside = ((np.arange(1 << n) >> np.arange(n)[:, None]) & 1) * nothing[:, None]
    alpha = np.exp(lattice.log_alpha - nothing[:, None])
    alpha[np.isneginf(lattice.log_alpha)] = np.nan
    weights = np.exp(table.log_beta - nothing[:, None])
    return Relative(
        tuple(
            dict(zip(masks.tolist(), row.tolist(), strict=True))
            for masks, row in zip(table.parents, weights, strict=True)
        ),
        alpha,
        np.exp(lattice.log_forward - inside.sum(axis=0)),
        np.exp(lattice.log_backward - nothing.sum() + inside.sum(axis=0)),
    )


def links(n: int) -> list[Link]:
    """All links (v, S) of the lattice, by the size of S."""
    found = [(v, s) for s in range(1 << n) for v in range(n) if not s >> v & 1]
    return sorted(found, key=lambda link: link[1].bit_count())


def steps(values: Relative, names: Sequence[str]) -> list[Step]:
    """Every step of the dynamic program: alpha, then g from the bottom, then b from the top."""
    n = len(names)
    every = (1 << n) - 1
    by_size = sorted(range(1 << n), key=int.bit_count)
    out = [_alpha_step(values, names, link) for link in links(n)]
    for s in by_size:
        into = [(v, s ^ 1 << v) for v in range(n) if s >> v & 1]
        out.append(_sum_step("g", s, into, [below for _, below in into], values, names))
    for s in reversed(by_size):
        onward = [(v, s) for v in range(n) if not s >> v & 1]
        out.append(_sum_step("b", s, onward, [s | 1 << v for v, _ in onward], values, names))
    total = number(values.forward[every])
    return [
        *out,
        Step(
            "shares",
            f"g at the top = b at the bottom = {total}, the sum over all orders and graphs. "
            "Each link is now as wide as the probability that an order takes it: "
            "g(S) · α_v(S) · b(S with v) / total.",
        ),
    ]


def _alpha_step(values: Relative, names: Sequence[str], link: Link) -> Step:
    v, s = link
    families = sorted((mask for mask in values.beta[v] if mask & ~s == 0), key=int.bit_count)
    terms = " + ".join(f"β({set_name(mask, names)})" for mask in families)
    numbers = " + ".join(number(values.beta[v][mask]) for mask in families)
    text = f"α_{names[v]}({set_name(s, names)}) = {terms} = {numbers}"
    if len(families) > 1:
        text += f" = {number(values.alpha[link])}"
    return Step("alpha", text, None, tuple(families), (link,))


def _sum_step(
    letter: str,
    s: int,
    taken: list[Link],
    used: list[int],
    values: Relative,
    names: Sequence[str],
) -> Step:
    """One sum over the links below (g) or above (b) the set s, in letters and in numbers."""
    known = values.forward if letter == "g" else values.backward
    if not taken:
        why = "nothing is placed, in one way" if letter == "g" else "nothing is left to place"
        return Step(letter, f"{letter}({set_name(s, names)}) = 1: {why}.", s)
    terms = [
        f"α_{names[v]}({set_name(below, names)}) · {letter}({set_name(other, names)})"
        for (v, below), other in zip(taken, used, strict=True)
    ]
    numbers = [
        f"{number(values.alpha[link])} · {number(known[other])}"
        for link, other in zip(taken, used, strict=True)
    ]
    text = f"{letter}({set_name(s, names)}) = {' + '.join(terms)} = {' + '.join(numbers)}"
    return Step(letter, f"{text} = {number(known[s])}", s, tuple(used), tuple(taken))


def number(value: float) -> str:
    """Four digits, without the zeros of an exponent."""
    return f"{value:.4g}".replace("e+0", "e").replace("e+", "e")
