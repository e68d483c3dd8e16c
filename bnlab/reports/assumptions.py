"""What a report says of the edges that were known, or believed in, before the data."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bnlab import graphs
from bnlab.priors import EdgeBeliefs
from bnlab.reports.analysis import Analysis
from bnlab.reports.pictures import EVEN_ODDS, SURE
from bnlab.sampling.cutting import Cuts
from bnlab.scores import edge_masks

MOST_NAMED = 8
LEAST_SHARE = 0.01  # of the uncertainty, that is told as a number


def assumed(analysis: Analysis, /) -> list[str]:
    """What was known of edges, or believed, before the data: sentences."""
    known, names, said = analysis.known, analysis.data.names, list[str]()
    if placed := [tier for tier in known["tiers"] if tier]:
        said.append(
            f"In time, the earliest first: {'; then '.join(', '.join(tier) for tier in placed)}. "
            "No edge leads from a variable to an earlier one."
        )
        if free := [name for name in names if not any(name in tier for tier in placed)]:
            said.append(f"Anywhere in time: {', '.join(free)}.")
    for kind, what in (("required", "Required, so in every DAG"), ("forbidden", "Forbidden")):
        if edges := known[kind]:
            said.append(f"{what}, whatever the table says: {arrows(edges, len(edges))}.")
    if isinstance(analysis.prior, EdgeBeliefs):
        beliefs = np.asarray(analysis.prior.beliefs)
        for u, v in np.argwhere((beliefs != 0.5) & ~np.eye(len(names), dtype=np.bool_)):
            nats = float(analysis.prior.strength) * (2 * float(beliefs[u, v]) - 1)
            factor = f"{math.exp(nats):.3g}" if abs(nats) < 50 else f"e^{nats:.3g}"
            said.append(
                f"Belief {beliefs[u, v]:g} in {names[u]} → {names[v]}: a DAG with this edge counts "
                f"{factor} times as much as the same DAG without it, beside what the table says."
            )
    said = said or ["No edge was required, forbidden or believed in; no order in time was given."]
    if analysis.completions is not None:
        said.append(
            "Cells are missing at random: whether one is missing may depend on what the other "
            "cells of its row say, and not on what it would say itself. Where people leave out an "
            "answer because of the answer, as a high income, that is wrong, and no table shows it."
        )
    return said


def of_holes(analysis: Analysis, /) -> list[str]:
    """What missing cells mean for the answer, if there are any: a sentence or two."""
    found = analysis.completions
    if found is None:
        return []
    gaps, whole = analysis.data.missing, (found.edges * (1 - found.edges)).sum()
    share = (found.from_missing * found.edges * (1 - found.edges)).sum() / max(whole, 1e-300)
    percent = f"{100 * share:.2g}" if share >= LEAST_SHARE else f"less than {100 * LEAST_SHARE:g}"
    told = f"{percent} % of the uncertainty about edges comes from these holes"
    if math.isnan(share):
        told = (
            "how much of the uncertainty about edges comes from these holes is not known, since "
            "with so many columns networks are drawn, not summed up"
        )
    return [
        f"{gaps.sum():,} of {gaps.size:,} cells are missing. No row was dropped for that: the "
        f"probabilities of links average over {len(found):,} ways to fill them, drawn as the other "
        f"cells suggest, and {told}. That takes for granted that cells are missing at random, not "
        "because of what they would say."
    ]


def of_cuts(analysis: Analysis, found: Cuts | None, /) -> list[str]:
    """How far links depend on where columns of measurements were cut: sentences."""
    if found is None:
        return [
            "Where columns of measurements were cut was a choice, too. How far links depend on it "
            "was not tried: that takes complete rows, and few enough variables and rows for some "
            "seconds (bn.average_cuts takes longer)."
        ]
    names, here, there = analysis.data.names, analysis.edges.probability, found.edges
    here, there = here + here.T, there + there.T
    said = [
        "Where columns of measurements were cut was a choice, too. Here links are averaged over "
        f"{len(found):,} other ways to cut them, drawn the more often the better they fit: into 2 "
        "to 8 intervals of equally many rows, for each column by itself."
    ]
    for way, (low, high) in {"not there": (there, here), "only there": (here, there)}.items():
        lost = np.argwhere(np.triu((high >= EVEN_ODDS) & (low < EVEN_ODDS), 1))
        lost = lost[np.argsort((low - high)[tuple(lost.T)], kind="stable")]
        told = [
            f"{names[u]} with {names[v]} ({here[u, v]:.2f}, {there[u, v]:.2f})" for u, v in lost
        ]
        if told:
            where = "above, but " + way if way == "not there" else way
            said.append(f"More likely linked than not {where}: {in_words(told, MOST_NAMED)}.")
    if len(said) == 1:
        u, v = np.unravel_index(np.abs(there - here).argmax(), here.shape)
        said.append(
            "The same pairs are more likely linked than not. The probability of a link moves most "
            f"for {names[u]} with {names[v]}: from {here[u, v]:.2f} to {there[u, v]:.2f}."
        )
    else:
        said.append("In brackets: the probability of a link above, and on average over cuts.")
    whole = (found.edges * (1 - found.edges)).sum()
    share = (found.from_cuts * found.edges * (1 - found.edges)).sum() / max(whole, 1e-300)
    said.append(
        f"Of the uncertainty about edges that is left then, {100 * share:.2g} % is about cuts."
    )
    if not found.trusted:
        said.append("The chains over cuts are short and do not agree well yet: take this as rough.")
    return said


def given(analysis: Analysis, /) -> list[str]:
    """A sentence on what is no finding, if there is anything."""
    names, known, n = analysis.data.names, analysis.known, analysis.data.n
    allowed, _ = edge_masks(analysis.data, analysis.plan.max_parents, **known)
    barred = ~graphs.to_adjacency(allowed) & ~np.eye(n, dtype=np.bool_)
    said = []
    if known["required"]:
        said.append(f"the required {arrows(known['required'], MOST_NAMED)}")
    sure = np.argwhere(barred.T & (analysis.edges.probability >= SURE))
    if forced := {(names[u], names[v]) for u, v in sure} - {*known["required"]}:
        said.append(f"the direction of {arrows(sorted(forced), MOST_NAMED)}")
    if barred.any():
        said.append(f"the absence of {barred.sum()} of {n * (n - 1):,} possible edges")
    return [f"Assumed, so no finding: {'; '.join(said)}."] if said else []


def arrows(edges: Sequence[tuple[str, str]], most: int, /) -> str:
    """Edges as in a sentence, after so many their number."""
    return in_words([f"{u} → {v}" for u, v in edges], most)


def in_words(items: Sequence[str], most: int, /) -> str:
    """A list as in a sentence, after so many items their number."""
    shown = [*items[:most], *([f"{len(items) - most} more"] if len(items) > most else [])]
    return " and ".join([*([", ".join(shown[:-1])] if len(shown) > 1 else []), shown[-1]])
