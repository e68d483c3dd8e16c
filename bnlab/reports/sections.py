"""The sections of a report: what was read, how it was computed, what came out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from bnlab import graphs
from bnlab.checks import Floats
from bnlab.data.reader import ColumnReading, Reading
from bnlab.pages import Cell, Table, html, render, table
from bnlab.reports.analysis import Analysis
from bnlab.reports.assumptions import MOST_NAMED, arrows, given, in_words, of_holes
from bnlab.reports.credible import Credible, ranked
from bnlab.reports.pictures import EVEN_ODDS, SURE, Comparison, comparisons
from bnlab.reports.questions import told
from bnlab.reports.sensitivity import Sensitivity, nearest_one
from bnlab.results import LEAST_ESS, MOST_RHAT

LEAST = 0.05
"""Edges less probable than this are not listed."""

MOST_ROWS = 300
MOST_LEVELS = 12
MOVED = 0.1  # a change of this much is worth a word
LIKELY = 0.8  # a direction of this probability is worth a word
FEW_DRAWS = 100  # of a comparison of priors
Pairs = list[tuple[int, int]]

DIAGNOSTICS = {"rhat": "R-hat", "ess": "effective sample size of ln p(G, D)"}

OF_CHAINS = (
    f" To be trusted is one whose R-hat is at most {MOST_RHAT} and whose effective sample size "
    f"(ESS) is at least {LEAST_ESS}; the others may be far off: run longer."
)


def interval_sentence(credible: Credible, /) -> str:
    """What the columns low and high of these probabilities mean, and which are to be trusted."""
    chains = credible.rhat is not None
    return {
        "exact": "The probabilities are exact.",
        "sound": "The exact probability lies between low and high for certain.",
        "Hoeffding": "Each interval holds the exact probability with probability at least "
        f"{credible.confidence:g}.",
        "asymptotic": "Each interval holds the exact probability with probability about "
        f"{credible.confidence:g}, in the limit of many draws." + OF_CHAINS * chains,
        "none": "There is no error bar: the draws are too few, or depend on each other.",
    }[credible.kind]


def described(analysis: Analysis, credible: Credible, what: str, /, *, least: float = LEAST) -> str:
    """What a table lists, and what its numbers are worth."""
    if analysis.plan.posterior is None:
        return f"{what} of {analysis.best_is}. How sure each is, a search does not say."
    return (
        f"{what} of probability {least:g} or more, the likeliest first. "
        f"{interval_sentence(credible)}"
    )


def glance(
    analysis: Analysis, found: Sensitivity | None, /, picture: tuple[Markup, str] | None = None
) -> Markup:
    """The answer in three sentences and a captioned picture, after what speaks against it."""
    edges, (pairs, sure, likely) = analysis.edges, ranked_pairs(analysis)
    listed, many = edges.probability >= LEAST, len(sure) + len(likely)
    lost, gained = moved_pairs(found, pairs, many) if found else ([], [])
    answer = ""
    if len(analysis.what_if) == 1:  # somebody asked
        answer = told(analysis.what_if[0], analysis.data).replace("If", "if", 1)
    return render(
        "report.html",
        "glance",
        analysis=analysis,
        doubted=0 if edges.rhat is None else int((listed & ~edges.trusted).sum()),
        listed=int(listed.sum()),
        links=int(edges.probability.sum()),
        pairs=pairs,
        either=edges.probability + edges.probability.T,
        certain=f"almost certainly linked (probability {SURE:g} or more)",
        sure=sure,
        directions=_directions(analysis, sure),
        many=many,
        tried=found is not None,
        rough=found is not None and np.nanmin(found.effective) < FEW_DRAWS,
        lost=lost,
        gained=gained,
        named=partial(named_pairs, analysis),
        lines=[*of_holes(analysis), *given(analysis)],
        answer=answer,
        picture=picture,
    )


def ranked_pairs(analysis: Analysis, /) -> tuple[Pairs, Pairs, Pairs]:
    """Pairs without a required edge, the likeliest first; those surely linked; those probably."""
    n, edges = analysis.data.n, analysis.edges.probability
    either = edges + edges.T
    names, required = analysis.data.names, set(map(frozenset, analysis.known["required"]))
    pairs = [(u, v) for u in range(n) for v in range(u + 1, n)]
    pairs = [(u, v) for u, v in pairs if {names[u], names[v]} not in required]
    pairs.sort(key=lambda pair: -either[pair])
    sure = [pair for pair in pairs if either[pair] >= SURE]
    return pairs, sure, [pair for pair in pairs if EVEN_ODDS <= either[pair] < SURE]


def _directions(analysis: Analysis, sure: Pairs) -> str:
    if not sure:
        return "There may be no link, or too few rows to show one: the two look alike."
    names, edges = analysis.data.names, analysis.edges.probability
    likely, both = f"likely ({LIKELY:g} to {SURE:g}: ", [*sure, *((v, u) for u, v in sure)]
    kinds, rest = list[tuple[int, str]](), len(sure)
    for what, low, high in (("almost certain (", SURE, np.inf), (likely, LIKELY, SURE)):
        ways = [(names[u], names[v]) for u, v in both if low <= edges[u, v] < high]
        if ways:
            kinds.append((len(ways), f"{what}{arrows(ways, MOST_NAMED)})"))
            rest -= len(ways)
    if rest:
        kinds.append((rest, f"open (neither way has probability {LIKELY:g})"))
    if len(sure) == 1:
        return f"Which way it points is {kinds[0][1]}."
    told = [f"{many} {'is' if many == 1 else 'are'} {what}" for many, what in kinds]
    return f"Of their directions, {in_words(told, len(told))}."


def moved_pairs(found: Sensitivity, pairs: Pairs, many: int, /) -> tuple[Pairs, Pairs]:
    """Which of the first so many pairs some prior makes unlikely, and which others likely."""
    either = found.edges + found.edges.swapaxes(-1, -2)
    least, most = np.nanmin(either, axis=(0, 1)), np.nanmax(either, axis=(0, 1))
    gained = [pair for pair in pairs[many:] if most[pair] >= EVEN_ODDS]
    gained.sort(key=lambda pair: -most[pair])
    return [pair for pair in pairs[:many] if least[pair] < EVEN_ODDS], gained


def named_pairs(analysis: Analysis, pairs: Pairs, most: int = MOST_NAMED, /) -> str:
    """Pairs of variables in words, after so many their number."""
    names = analysis.data.names
    return in_words([f"{names[u]} with {names[v]}" for u, v in pairs], most)


def columns_table(reading: Reading, /) -> Table:
    """The table as it was understood, column by column."""
    rows: list[list[Cell]] = [
        [c.name, c.role, _kind(c), _levels(c), c.missing, c.note] for c in reading.columns
    ]
    return Table(
        "Columns of the table, and how each was used.",
        ["column", "role", "kind", "levels (rows)", "missing", "what was done, and why"],
        rows,
    )


def edges_told(analysis: Analysis, /) -> Markup:
    """What the first lines leave out: the pairs between sure and not, and how many to expect."""
    if analysis.plan.posterior is None:
        return Markup("")
    _, _, likely = ranked_pairs(analysis)
    return render(
        "report.html",
        "edges_told",
        analysis=analysis,
        likely=likely,
        named=named_pairs(analysis, likely) if likely else "",
        even=EVEN_ODDS,
        sure=SURE,
    )


def edges_table(analysis: Analysis, /) -> Markup:
    """The likeliest edges, to be sorted."""
    p = analysis.edges.probability
    note = ""
    if analysis.plan.posterior:
        note = "The last column is the probability of an edge in either direction."
        if analysis.completions is not None:
            if not np.isnan(analysis.completions.from_missing).all():
                note += (
                    " From holes: how much of the edge's uncertainty, p(1 - p), is because cells "
                    "are missing."
                )
            note += " R-hat and ESS are the worst of any edge."
        if required := analysis.known["required"]:
            note += f" Required, hence 1: {arrows(required, MOST_NAMED)}."
    return _pairs_table(
        analysis, analysis.edges, p >= LEAST, "Edges", "either direction", p + p.T, note
    )


def paths_table(analysis: Analysis, /) -> Markup:
    """The directed paths that the edges alone do not tell of."""
    p, edges = analysis.paths.probability, analysis.edges.probability
    beyond = f", likelier than the edge itself by {LEAST:g} or more"
    if analysis.plan.posterior is None:
        beyond = " without an edge"
    more = (p >= EVEN_ODDS) & (p - edges >= LEAST)
    what = f"Paths{beyond},"
    return _pairs_table(analysis, analysis.paths, more, what, "direct edge", edges, least=EVEN_ODDS)


def _pairs_table(
    analysis: Analysis,
    credible: Credible,
    listed: NDArray[np.bool_],
    what: str,
    last: str,
    other: Floats,
    note: str = "",
    least: float = LEAST,
) -> Markup:
    """Pairs with their probability, interval and diagnostics, and another number of them."""
    names = analysis.data.names
    pairs = [(u, v) for u, v in ranked(credible.probability) if u != v and listed[u, v]]
    told = _columns(analysis, credible)
    rows: list[list[Cell]] = []
    for u, v in pairs[:MOST_ROWS]:
        numbers: list[Cell] = [float(matrix[u, v]) for matrix in told.values()]
        if "ESS" in told:
            rhat, size = float(told["R-hat"][u, v]), float(told["ESS"][u, v])
            chains = [rhat, round(size)] if rhat == rhat else ["unknown", "unknown"]
            numbers[-2:] = [*chains, "yes" if credible.trusted[u, v] else "no"]
        rows.append([names[u], names[v], *numbers, *([float(other[u, v])] if told else [])])
    hidden = len(pairs) - MOST_ROWS
    shown = f"{hidden:,} more are not listed. " if hidden > 0 else ""
    heads = [*told, *["to be trusted"] * ("ESS" in told), *([last] if told else [])]
    caption = f"{described(analysis, credible, what, least=least)} {shown}{note}"
    return table(Table(caption, ["from", "to", *heads], rows, sortable=True))


def _columns(analysis: Analysis, credible: Credible) -> dict[str, Floats]:
    """What is known of each pair, by the heads of its columns."""
    if analysis.plan.posterior is None:
        return {}
    told = {"probability": credible.probability}
    if credible.kind not in ("exact", "none"):
        told |= {"low": credible.low, "high": credible.high}
    if credible is analysis.edges and analysis.completions is not None:
        shares = analysis.completions.from_missing
        told |= {} if np.isnan(shares).all() else {"from holes": shares}
    if credible.rhat is not None and credible.ess is not None:
        told |= {"R-hat": credible.rhat, "ESS": credible.ess}
    return told


def blankets_table(analysis: Analysis, /) -> Table:
    """For each variable the variables that may shield it from all others."""
    names, blankets = analysis.data.names, analysis.blankets
    rows: list[list[Cell]] = []
    for v, name in enumerate(names):
        order = np.argsort(-blankets.probability[:, v], kind="stable")
        members = [int(u) for u in order if u != v and blankets.probability[u, v] >= LEAST]
        likely = [u for u in members if blankets.probability[u, v] >= 0.5]
        rest = [u for u in members if blankets.probability[u, v] < 0.5]
        if members:
            rows.append([name, _members(analysis, likely, v), _members(analysis, rest, v)])
    alone = len(names) - len(rows)
    empty = f" Not listed: {alone} with a blanket that is probably empty." if alone else ""
    return Table(
        f"{_blankets_described(analysis)}{empty}",
        ["variable", "probably in its blanket", f"perhaps ({LEAST:g} to 0.5)"],
        rows,
    )


def _blankets_described(analysis: Analysis) -> str:
    blankets = analysis.blankets
    if analysis.plan.posterior is None:
        return described(analysis, blankets, "Members of blankets")
    wide = float((blankets.high - blankets.low).max())
    interval = f"Intervals around them are up to {wide:.2g} wide." if wide else ""
    doubt = "" if blankets.rhat is None else " A question mark: not to be trusted yet."
    return (
        f"Members of blankets with their probability, of {LEAST:g} or more, the likeliest first. "
        f"{interval}{doubt}"
    )


def best_table(analysis: Analysis, /) -> Table:
    """The parents of each variable in the best DAG."""
    names = analysis.data.names
    rows: list[list[Cell]] = [
        [name, ", ".join(names[u] for u in graphs.members(analysis.best[v])) or "none"]
        for v, name in enumerate(names)
    ]
    return Table(f"Parents in {analysis.best_is}.", ["variable", "parents"], rows)


def diagnostics_table(diagnostics: Mapping[str, float], /) -> Table:
    """The diagnostics of the draws."""
    rows: list[list[Cell]] = [
        [DIAGNOSTICS.get(name, name), f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"]
        for name, value in diagnostics.items()
    ]
    chains = " R-hat is near 1 where chains agree." if "rhat" in diagnostics else ""
    return Table(f"Diagnostics of the draws.{chains}", ["diagnostic", "value"], rows)


def sensitivity_section(
    analysis: Analysis,
    found: Sensitivity | None,
    drawn: Mapping[str, Markup],
    /,
    recut: Mapping[str, Any] | None = None,
) -> Markup:
    """What other priors say: two dot plots (`drawn`), words, numbers; and what other cuts say."""
    if found is None:
        return render("report.html", "sensitivity", found=None, recut=recut)
    by_ess, by_prior = comparisons(found)
    names, (pairs, sure, likely) = analysis.data.names, ranked_pairs(analysis)
    lost, gained = moved_pairs(found, pairs, len(sure) + len(likely))
    return render(
        "report.html",
        "sensitivity",
        analysis=analysis,
        found=found,
        drawn=drawn,
        by_ess=by_ess,
        by_prior=by_prior,
        base=f"{found.ess[nearest_one(found.ess)]:g}",
        moves=f"{_moves(by_ess, names)} {_moves(by_prior, names)}",
        even=EVEN_ODDS,
        lost=named_pairs(analysis, lost, MOST_ROWS) if lost else "",
        gained=named_pairs(analysis, gained, MOST_ROWS) if gained else "",
        worth=float(np.nanmin(found.effective)),
        few_draws=FEW_DRAWS,
        recut=recut,
    )


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


def _kind(column: ColumnReading) -> str:
    return column.kind if column.role in ("variable", "left out") else ""


def _levels(column: ColumnReading) -> Markup:
    pairs = list(zip(column.levels, column.counts, strict=True))
    shown = [f"{html(level)}&nbsp;({int(count):,})" for level, count in pairs[:MOST_LEVELS]]
    more = [f"and {len(pairs) - MOST_LEVELS} more"] if len(pairs) > MOST_LEVELS else []
    return Markup(", ".join([*shown, *more]))


def _members(analysis: Analysis, chosen: Sequence[int], v: int) -> str:
    """Names of variables in the blanket of v, with their probabilities."""
    blankets, told = analysis.blankets, []
    for u in chosen:
        p = f" {blankets.probability[u, v]:.2f}" if analysis.plan.posterior else ""
        doubt = "" if blankets.rhat is None or blankets.trusted[u, v] else "?"
        told.append(f"{analysis.data.names[u]}{p}{doubt}")
    return ", ".join(told) or "none"
