"""The section of a report on what other priors would have said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnlab import plots
from bnlab.priors import Prior
from bnlab.reports.markup import Cell, figure, folded, paragraph, section, table
from bnlab.reports.pictures import shown_names
from bnlab.reports.sensitivity import Sensitivity, nearest_one

Floats = NDArray[np.float64]

LIKELIEST = 6  # edges
MOST_MOVING = 8  # edges
LEAST = 0.1  # edges that never reach this are left out
MOVED = 0.1  # a change of this much is worth a word
FEW_DRAWS = 100


HOW = {
    "exact": "All of these are exact.",
    "draws": "Each of these averages DAGs drawn under its own prior, the bias of orders taken out.",
    "short chains": "Each of these is from short chains on partitions of the variables, with at "
    "most {max_parents} parents a node: good enough to see what moves.",
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """Edges under some settings: labels of the settings, and probabilities (settings, n, n)."""

    settings: tuple[str, ...]
    edges: Floats

    def chosen(self) -> list[tuple[int, int]]:
        """The likeliest edges and those that move most, the likeliest first."""
        mean, high = self.edges.mean(axis=0), self.edges.max(axis=0)
        spread = np.where(high >= LEAST, high - self.edges.min(axis=0), -1.0)
        pairs = [*_largest(mean, LIKELIEST), *_largest(spread, MOST_MOVING)]
        return sorted({pair for pair in pairs if high[pair] >= LEAST}, key=lambda p: (-mean[p], p))

    def picture(self, names: tuple[str, ...], name: str, title: str) -> Any:
        """The dot plot of these edges."""
        drawn, pairs = shown_names(names), self.chosen()
        return plots.sensitivity(
            [[float(edges[pair]) for pair in pairs] for edges in self.edges],
            [f"{drawn[u]} → {drawn[v]}" for u, v in pairs],
            self.settings,
            name=name,
            title=title,
            alt=f"{title}: the likeliest edges and those that move most, under "
            f"{len(self.settings)} settings. The table below has the numbers",
        )


def comparisons(found: Sensitivity, /) -> tuple[Comparison, Comparison]:
    """Under several equivalent sample sizes, and under several structure priors."""
    return (
        Comparison(tuple(f"ess {size:g}" for size in found.ess), found.edges[:, 0]),
        Comparison(
            tuple(prior_label(prior) for prior in found.priors), found.edges[nearest_one(found.ess)]
        ),
    )


def prior_label(prior: Prior, /) -> str:
    """A structure prior in a word or two.

    Examples
    --------
    >>> from bnlab import Fair, Uniform
    >>> prior_label(Uniform()), prior_label(Fair())
    ('Uniform', 'Fair')
    """
    return repr(prior).removesuffix("()")


def sensitivity_section(
    found: Sensitivity, names: tuple[str, ...], parts: dict[str, str], /
) -> str:
    """The section: two dot plots (`parts`, by the names "ess" and "priors"), in words, numbers."""
    by_ess, by_prior = comparisons(found)
    worth = float(np.nanmin(found.effective))
    few = (
        f"Some of these numbers rest on only {worth:.0f} effective draws: take them as rough."
        if worth < FEW_DRAWS
        else ""
    )
    return section(
        "sensitivity",
        "Sensitivity",
        paragraph(
            "Two choices were made before the data: the equivalent sample size of the BDeu score "
            "(ess: how many rows the prior on the parameters is worth) and the prior over DAGs. "
            "An edge that moves much when they do is more choice than data."
        ),
        paragraph(f"{_moves(by_ess, names)} {_moves(by_prior, names)}"),
        paragraph(few, "warning") if few else "",
        '<div class="side">',
        _picture(
            parts,
            "ess",
            "The likeliest edges and those that move most. Prior over DAGs: "
            f"{by_prior.settings[0]}.",
        ),
        _picture(
            parts, "priors", f"The same under each prior. Equivalent sample size: {_base(found)}."
        ),
        "</div>",
        folded(
            "The numbers of these drawings",
            _table(
                by_ess,
                names,
                f"Edges by equivalent sample size, {LEAST:g} or more under one of them.",
            ),
            _table(
                by_prior, names, f"Edges by prior over DAGs, {LEAST:g} or more under one of them."
            ),
        ),
        paragraph(HOW[found.how].format(max_parents=found.max_parents)),
    )


def _picture(parts: dict[str, str], name: str, caption: str) -> str:
    """A drawing with its caption; nothing where no edge is probable enough to be drawn."""
    return figure(parts[name], caption) if name in parts else ""


def _largest(values: Floats, count: int) -> list[tuple[int, int]]:
    order = np.argsort(-values, axis=None, kind="stable")[:count]
    return [divmod(int(i), len(values)) for i in order]


def _base(found: Sensitivity) -> str:
    return f"{found.ess[nearest_one(found.ess)]:g}"


def _moves(comparison: Comparison, names: tuple[str, ...]) -> str:
    spread = comparison.edges.max(axis=0) - comparison.edges.min(axis=0)
    u, v = divmod(int(spread.argmax()), len(names))
    moved = int((spread >= MOVED).sum())
    between = f"from {comparison.settings[0]} to {comparison.settings[-1]}"
    if not moved:
        return f"{between[0].upper()}{between[1:]}, no edge moves by {MOVED:g} or more."
    verb = "edge moves" if moved == 1 else "edges move"
    return (
        f"{between[0].upper()}{between[1:]}, {moved} {verb} by {MOVED:g} or more; most of all "
        f"{names[u]} → {names[v]}, by {spread[u, v]:.2f}."
    )


def _table(comparison: Comparison, names: tuple[str, ...], caption: str) -> str:
    rows: list[list[Cell]] = [
        [f"{names[u]} → {names[v]}", *(float(edges[u, v]) for edges in comparison.edges)]
        for u, v in comparison.chosen()
    ]
    return table(caption, ["edge", *comparison.settings], rows, sortable=True)
