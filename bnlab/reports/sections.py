"""The sections of a report: what was read, how it was computed, what came out."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from bnlab import graphs
from bnlab.checks import Floats
from bnlab.data.columns import number_in
from bnlab.data.reader import ColumnReading, Reading
from bnlab.pages import Cell, Table, html, render, table
from bnlab.reports import assumptions
from bnlab.reports.analysis import Analysis
from bnlab.reports.answers import Credible, ranked
from bnlab.reports.assumptions import MOST_NAMED, arrows, in_words
from bnlab.reports.pictures import EVEN_ODDS, SURE, comparison
from bnlab.reports.planning import MORE
from bnlab.reports.sensitivity import Sensitivity, nearest_one
from bnlab.results import LEAST_ESS, MOST_RHAT

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
    analysis: Analysis,
    found: Sensitivity | None,
    reading: Reading | None = None,
    /,
    **drawn: object,
) -> Markup:
    """The answer in three sentences, a picture (`drawn`) and a table, after what speaks against."""
    edges, (pairs, sure, likely) = analysis.edges, linked_pairs(analysis)
    listed, many = edges.probability >= LEAST, len(sure) + len(likely)
    lost, gained = moved_pairs(analysis, found) if found else ([], [])
    return render(
        "report.html",
        "glance",
        analysis=analysis,
        doubted=0 if edges.rhat is None else int((listed & ~edges.trusted).sum()),
        listed=int(listed.sum()),
        pairs=pairs,
        either=edges.probability + edges.probability.T,
        sureness=SURE,
        sure=sure,
        directions=_directions(analysis, found, sure),
        many=many,
        found=found,
        rough=found is not None and np.nanmin(found.effective) < FEW_DRAWS,
        lost=lost,
        gained=gained,
        more=MORE * analysis.plan.budget,
        named=partial(named_pairs, analysis),
        assumptions=assumptions,
        **drawn,
        listing=links_table(analysis, found, reading) if reading and many else None,
    )


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


def _directions(analysis: Analysis, found: Sensitivity | None, sure: Pairs) -> str:
    """Which directions of the sure links are open, first of all, and which are not."""
    if not sure:
        return "There may be no link, or too few rows to show one: the two look alike."
    one, ways = len(sure) == 1, {way: list[str]() for way in WAYS}
    for pair in sure:
        way, link, _ = _direction(analysis, found, pair)
        ways[way].append(link)
    told = [
        f"{way}{'' if one else f' for {len(some)}'} ({in_words(some, MOST_NAMED)})"
        for way, some in ways.items()
        if some
    ]
    return f"Which way {'it points' if one else 'they point'} is {in_words(told, len(told))}."


def _direction(analysis: Analysis, found: Sensitivity | None, pair: Pair) -> tuple[str, str, Pair]:
    """Which of WAYS a link has, the link in words, and the likelier of its two directions."""
    p, names = analysis.edges.probability, analysis.data.names
    u, v = pair if p[pair] >= p[pair[::-1]] else pair[::-1]
    if p[u, v] < LIKELY:
        return WAYS[0], f"{names[u]} with {names[v]}", (u, v)
    fragile = found is not None and np.nanmin(found.edges[..., u, v]) < EVEN_ODDS
    way = WAYS[1 if fragile else 3 if p[u, v] >= SURE else 2]
    return way, f"{names[u]} → {names[v]}", (u, v)


def links_table(analysis: Analysis, found: Sensitivity | None, reading: Reading, /) -> Table:
    """The links that are likelier than not: direction, and what their columns look like."""
    rows, p, names = list[list[Cell]](), analysis.edges.probability, analysis.data.names
    _, sure, likely = linked_pairs(analysis)
    for pair in [*sure, *likely]:
        way, link, (u, v) = _direction(analysis, found, pair)
        either, arrow = float(p[u, v] + p[v, u]), arrows([(names[u], names[v])], 1)
        way += f": probability {p[u, v]:.2f} one way, {p[v, u]:.2f} the other"
        if either < SURE:
            way = f"link uncertain ({either:.2f}); if linked, {arrow} ({p[u, v] / either:.2f})"
        rows.append([link, either, way, seen(reading, u, v)])
    heads = ["link", "probability", "direction", "what the table shows"]
    if analysis.plan.posterior is None:
        heads, rows = [heads[0], heads[-1]], [[row[0], row[-1]] for row in rows]
    return Table(
        "Links and what the table shows of them: of these two columns alone, in the rows that say "
        "both. That is what is seen, not what one does to the other; a third column may be behind.",
        heads,
        rows,
    )


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


def columns_table(reading: Reading, /) -> Table:
    """The table as it was understood, column by column."""
    shown = ("variable", "left out")
    rows: list[list[Cell]] = [
        [c.name, c.role, c.kind if c.role in shown else "", _levels(c), c.missing, c.note]
        for c in reading.columns
    ]
    return Table(
        "Columns of the table, and how each was used.",
        ["column", "role", "kind", "levels (rows)", "missing", "what was done, and why"],
        rows,
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
        p = blankets.probability[:, v]
        told = [_member(analysis, u, v) for u in np.argsort(-p, kind="stable") if p[u] >= LEAST]
        if told:
            rows.append([name, ", ".join(told)])
    alone = len(names) - len(rows)
    caption = described(analysis, blankets, "Members of blankets")
    caption += " A question mark: not to be trusted yet." * (blankets.rhat is not None)
    caption += f" Not listed: {alone} with a blanket that is probably empty." * bool(alone)
    return Table(caption, ["variable", "in its blanket"], rows)


def best_table(analysis: Analysis, /) -> Table:
    """The parents of each variable in the best DAG, those by settled directions apart."""
    names, p = analysis.data.names, analysis.edges.probability
    heads, rows = ["variable", "parents", "parents, direction not settled"], list[list[Cell]]()
    for v, name in enumerate(names):
        parents = graphs.members(analysis.best[v])
        kinds = [[names[u] for u in parents if (p[u, v] >= SURE) == sure] for sure in (True, False)]
        rows.append([name, *(", ".join(kind) or "none" for kind in kinds)])
    if analysis.plan.posterior is None:
        heads, rows = heads[:2], [row[:2] for row in rows]
    return Table(f"Parents in {analysis.best_is}.", heads, rows)


def diagnostics_table(diagnostics: Mapping[str, float], /) -> Table:
    """The diagnostics of the draws."""
    rows: list[list[Cell]] = [
        [DIAGNOSTICS.get(name, name), f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"]
        for name, value in diagnostics.items()
    ]
    return Table("Diagnostics of the draws.", ["diagnostic", "value"], rows)


def sensitivity_section(
    analysis: Analysis,
    found: Sensitivity | None,
    drawn: Mapping[str, Markup],
    /,
    recut: Mapping[str, Any] | None = None,
) -> Markup:
    """What other priors say: a dot plot (`drawn`), words, numbers; and what other cuts say."""
    if found is None:
        return render("report.html", "sensitivity", found=None, recut=recut)
    lost, gained = moved_pairs(analysis, found)
    return render(
        "report.html",
        "sensitivity",
        analysis=analysis,
        found=found,
        drawn=drawn,
        numbers=comparison(found).table(analysis.data.names),
        base=f"{found.ess[nearest_one(found.ess)]:g}",
        even=EVEN_ODDS,
        lost=named_pairs(analysis, lost, MOST_ROWS) if lost else "",
        gained=named_pairs(analysis, gained, MOST_ROWS) if gained else "",
        worth=float(np.nanmin(found.effective)),
        few_draws=FEW_DRAWS,
        recut=recut,
    )


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
