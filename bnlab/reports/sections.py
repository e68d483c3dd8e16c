"""The sections of a report: what was read, how it was computed, what came out."""

from collections.abc import Mapping

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from bnlab import graphs
from bnlab.checks import Floats
from bnlab.data.columns import number_in
from bnlab.data.reader import ColumnReading, Reading
from bnlab.pages import Cell, html
from bnlab.reports.analysis import Analysis
from bnlab.reports.answers import Credible, ranked
from bnlab.reports.assumptions import MOST_NAMED, arrows, in_words
from bnlab.reports.pictures import EVEN_ODDS, SURE
from bnlab.reports.planning import MORE as MORE
from bnlab.reports.sensitivity import Sensitivity
from bnlab.results import LEAST_ESS as LEAST_ESS, MOST_RHAT as MOST_RHAT

LEAST = 0.05
"""Edges less probable than this are not listed."""

MOST_ROWS = 300
MOST_LEVELS = 12
MOVED = 0.1  # a correlation of this much is worth a word
LIKELY = 0.8  # a direction of this probability is worth a word
FEW_DRAWS = 100  # of a comparison of priors
MOST_GROUPS = 4
WAYS = "undecided", "settled here but not under other assumptions", "likely", "settled"
Pair = tuple[int, int]
Pairs = list[Pair]
Rows = list[list[Cell]]


def doubted(analysis: Analysis, /) -> tuple[int, int]:
    """How many edges are listed, and how many of these are not to be trusted yet."""
    edges = analysis.edges
    listed = edges.probability >= LEAST
    return int(listed.sum()), 0 if edges.rhat is None else int((listed & ~edges.trusted).sum())


def least_worth(found: Sensitivity, /) -> float:
    """The least number of effective draws of a comparison."""
    return float(np.nanmin(found.effective))


def linked_pairs(analysis: Analysis, /) -> tuple[Pairs, Pairs, Pairs]:
    """Pairs without a required edge, the likeliest first; those surely linked; those probably."""
    n, edges = analysis.data.n, analysis.edges.probability
    either = edges + edges.T
    names, required = analysis.data.names, set(map(frozenset, analysis.known["required"]))
    pairs = [(u, v) for u in range(n) for v in range(u + 1, n)]
    pairs = [(u, v) for u, v in pairs if {names[u], names[v]} not in required]
    pairs.sort(key=lambda pair: -either[pair])
    sure = [pair for pair in pairs if either[pair] >= SURE]
    return pairs, sure, [pair for pair in pairs if EVEN_ODDS <= either[pair] < SURE]


def directions(analysis: Analysis, found: Sensitivity | None, sure: Pairs, /) -> list[str]:
    """Which of the sure links have their direction in each of WAYS, and how many of several."""
    ways = {way: list[str]() for way in WAYS}
    for pair in sure:
        way, link, _ = _direction(analysis, found, pair)
        ways[way].append(link)
    return [
        f"{way}{f' for {len(links)}' if len(sure) > 1 else ''} ({in_words(links, MOST_NAMED)})"
        for way, links in ways.items()
        if links
    ]


def _direction(analysis: Analysis, found: Sensitivity | None, pair: Pair) -> tuple[str, str, Pair]:
    """Which of WAYS a link has, the link in words, and the likelier of its two directions."""
    p, names = analysis.edges.probability, analysis.data.names
    u, v = pair if p[pair] >= p[pair[::-1]] else pair[::-1]
    if p[u, v] < LIKELY:
        return WAYS[0], f"{names[u]} with {names[v]}", (u, v)
    fragile = found is not None and np.nanmin(found.edges[..., u, v]) < EVEN_ODDS
    way = WAYS[1 if fragile else 3 if p[u, v] >= SURE else 2]
    return way, f"{names[u]} → {names[v]}", (u, v)


def links(analysis: Analysis, found: Sensitivity | None, reading: Reading, /) -> Rows:
    """The links that are likelier than not: direction, and what their columns look like."""
    rows, p, names = Rows(), analysis.edges.probability, analysis.data.names
    _, sure, likely = linked_pairs(analysis)
    for pair in [*sure, *likely]:
        way, link, (u, v) = _direction(analysis, found, pair)
        either, arrow = float(p[u, v] + p[v, u]), arrows([(names[u], names[v])], 1)
        way += f": probability {p[u, v]:.2f} one way, {p[v, u]:.2f} the other"
        if either < SURE:
            way = f"link uncertain ({either:.2f}); if linked, {arrow} ({p[u, v] / either:.2f})"
        rows.append([link, either, way, seen(reading, u, v)])
    searched = analysis.plan.posterior is None
    return [[row[0], row[-1]] for row in rows] if searched else rows


def seen(reading: Reading, u: int, v: int, /) -> str:
    """What two columns look like in the rows that say both: a correlation, means or shares."""
    data, both = reading.data, (reading.data.values[:, [u, v]] >= 0).all(axis=1)
    x, y = _numbers(reading, u), _numbers(reading, v)
    for each in (x, y):
        both &= True if each is None else ~np.isnan(each)
    if not both.any():
        return "no row says both"
    if x is not None and y is not None:
        ranks = [np.unique(column[both], return_inverse=True)[1] for column in (x, y)]
        middles = [(np.cumsum(np.bincount(r)) - (np.bincount(r) - 1) / 2)[r] for r in ranks]
        with np.errstate(invalid="ignore"):  # where all are alike
            r = float(np.nan_to_num(np.corrcoef(middles))[0, 1])
        how = "rises" if r >= MOVED else "falls" if r <= -MOVED else "neither rises nor falls"
        how += f" with {data.names[u]}: rank correlation {r:.2f} (rows: {both.sum():,})"
        return f"{data.names[v]} {how}"
    if x is not None:
        u, v, y = v, u, x
    codes, level, what = np.unique(data.values[both, u]), 0, f"mean of {data.names[v]}"
    states = np.arange(data.arities[v])[:, None]
    shown = (data.values[:, v] == states) * 1.0 if y is None else y[None]
    groups = [both & (data.values[:, u] == code) for code in codes]
    means = np.array([shown[:, rows].mean(axis=1) for rows in groups])
    if y is None:  # the level whose share differs most
        level = -1 - int(np.ptp(means, axis=0).round(9)[::-1].argmax())
        what = f"share in which {data.names[v]} is {data.levels[v][level]}"
    order = np.argsort(-means[:, level], kind="stable")
    counts = [f"(rows: {rows.sum():,})" for rows in groups]
    told = [
        f"{_rounded(means[i, level])} where {data.levels[u][codes[i]]} {counts[i]}" for i in order
    ]
    told[0] = told[0].replace(" where ", f" where {data.names[u]} is ", 1)
    told = told if len(told) <= MOST_GROUPS else [*told[: MOST_GROUPS - 1], f"..., {told[-1]}"]
    return f"{what}: {', '.join(told)}"


def _numbers(reading: Reading, v: int) -> Floats | None:
    """The numbers of a column, nan where they are missing; None of labels, or of two levels."""
    whole = reading.uncut
    if whole is not None and whole.measurements is not None and whole.measured[v]:
        return whole.measurements[:, v]
    scale = [number_in(level) for level in reading.data.levels[v]]
    if len(scale) < 3 or None in scale:
        return None
    return np.array([*scale, np.nan], float)[reading.data.values[:, v]]


def _rounded(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.3g}"


def moved_pairs(analysis: Analysis, found: Sensitivity, /) -> tuple[Pairs, Pairs]:
    """Which of the likely pairs some prior makes unlikely, and which others likely."""
    pairs, sure, likely = linked_pairs(analysis)
    many = [*sure, *likely]
    either = found.edges + found.edges.swapaxes(-1, -2)
    least, most = np.nanmin(either, axis=(0, 1)), np.nanmax(either, axis=(0, 1))
    gained = [pair for pair in pairs[len(many) :] if most[pair] >= EVEN_ODDS]
    gained.sort(key=lambda pair: -most[pair])
    return [pair for pair in many if least[pair] < EVEN_ODDS], gained


def named_pairs(analysis: Analysis, pairs: Pairs, most: int = MOST_NAMED, /) -> str:
    """Pairs of variables in words, after so many their number."""
    names = analysis.data.names
    return in_words([f"{names[u]} with {names[v]}" for u, v in pairs], most)


def columns(reading: Reading, /) -> Rows:
    """The table as it was understood, column by column."""
    shown = ("variable", "left out")
    return [
        [c.name, c.role, c.kind if c.role in shown else "", _levels(c), c.missing, c.note]
        for c in reading.columns
    ]


def edges(analysis: Analysis, /) -> tuple[list[str], Rows, int]:
    """The likeliest edges: heads, rows, and how many more there are."""
    p = analysis.edges.probability
    return _pairs(analysis, analysis.edges, p >= LEAST, p + p.T)


def paths(analysis: Analysis, /) -> tuple[list[str], Rows, int]:
    """The same of the directed paths that the edges alone do not tell of."""
    p, edges = analysis.paths.probability, analysis.edges.probability
    return _pairs(analysis, analysis.paths, (p >= EVEN_ODDS) & (p - edges >= LEAST), edges)


def _pairs(
    analysis: Analysis, credible: Credible, listed: NDArray[np.bool_], other: Floats
) -> tuple[list[str], Rows, int]:
    """Pairs with their probability, interval and diagnostics, and another number of them."""
    names = analysis.data.names
    pairs = [(u, v) for u, v in ranked(credible.probability) if u != v and listed[u, v]]
    told = _columns(analysis, credible)
    rows: Rows = []
    for u, v in pairs[:MOST_ROWS]:
        numbers: list[Cell] = [float(matrix[u, v]) for matrix in told.values()]
        if "ESS" in told:
            rhat, size = float(told["R-hat"][u, v]), float(told["ESS"][u, v])
            chains = [rhat, round(size)] if rhat == rhat else ["unknown", "unknown"]
            numbers[-2:] = [*chains, "yes" if credible.trusted[u, v] else "no"]
        rows.append([names[u], names[v], *numbers, *([float(other[u, v])] if told else [])])
    heads = [*told, *["to be trusted"] * ("ESS" in told)]
    return heads, rows, max(0, len(pairs) - MOST_ROWS)


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


def blankets(analysis: Analysis, /) -> Rows:
    """For each variable the variables that may shield it from all others, if there are any."""
    rows: Rows = []
    for v, name in enumerate(analysis.data.names):
        p = analysis.blankets.probability[:, v]
        told = [_member(analysis, u, v) for u in np.argsort(-p, kind="stable") if p[u] >= LEAST]
        if told:
            rows.append([name, ", ".join(told)])
    return rows


def best_parents(analysis: Analysis, /) -> Rows:
    """The parents of each variable in the best DAG, those by settled directions apart."""
    names, p, rows = analysis.data.names, analysis.edges.probability, Rows()
    for v, name in enumerate(names):
        parents = graphs.members(analysis.best[v])
        kinds = [[names[u] for u in parents if (p[u, v] >= SURE) == sure] for sure in (True, False)]
        rows.append([name, *(", ".join(kind) or "none" for kind in kinds)])
    return [row[:2] for row in rows] if analysis.plan.posterior is None else rows


def diagnostics(told: Mapping[str, float], /) -> Rows:
    """The diagnostics of the draws."""
    names = {"rhat": "R-hat", "ess": "effective sample size of ln p(G, D)"}
    return [
        [names.get(name, name), f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"]
        for name, value in told.items()
    ]


def _levels(column: ColumnReading) -> Markup:
    pairs = list(zip(column.levels, column.counts, strict=True))
    shown = [f"{html(level)}&nbsp;({int(count):,})" for level, count in pairs[:MOST_LEVELS]]
    more = [f"and {len(pairs) - MOST_LEVELS} more"] if len(pairs) > MOST_LEVELS else []
    return Markup(", ".join([*shown, *more]))


def _member(analysis: Analysis, u: int, v: int) -> str:
    """The name of a variable in the blanket of v, with its probability."""
    blankets, name = analysis.blankets, analysis.data.names[u]
    p = f" {blankets.probability[u, v]:.2f}" if analysis.plan.posterior else ""
    return f"{name}{p}{'' if blankets.rhat is None or blankets.trusted[u, v] else '?'}"
