"""The sections of a report: what was read, how it was computed, what came out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bnlab import graphs
from bnlab.reports.analysis import Analysis
from bnlab.reports.credible import Credible
from bnlab.reports.markup import Cell, Html, bullets, html, paragraph, section, table
from bnlab.reports.reading import ColumnReading, Reading
from bnlab.reports.sensitivity import Sensitivity

Floats = NDArray[np.float64]

LEAST = 0.05
"""Edges and paths less probable than this are not listed."""

MOST_ROWS = 300
MOST_LEVELS = 12
MOST_NAMED = 8
SURE, EVEN_ODDS = 0.95, 0.5
UNTOLD = "the data tell that the two are joined, and not which way"
NOT_CAUSAL = Html(
    "An edge says that two variables go together whatever else is known. It does not say that one "
    'causes the other: see <a href="#meaning">How to read it</a>.'
)

METHODS = {
    "exact DAGs": "exact sums over all DAGs",
    "exact orders": "exact sums over orders, and DAGs drawn from them, the bias of orders removed",
    "partitions": "a random walk on ordered partitions of the variables (partition MCMC)",
    "orders": "a random walk on orders of the variables, the bias of orders removed",
    "search": "a search for one good DAG, without probabilities",
}

DIAGNOSTICS = {"rhat": "R-hat", "ess": "effective sample size of ln p(G, D)"}


def interval_sentence(credible: Credible, /) -> str:
    """What the columns low and high of these probabilities mean."""
    return {
        "exact": "The probabilities are exact.",
        "sound": "The exact probability lies between low and high for certain.",
        "Hoeffding": "Each interval holds the exact probability with probability at least "
        f"{credible.confidence:g}.",
        "asymptotic": "Each interval holds the exact probability with probability about "
        f"{credible.confidence:g}, in the limit of many draws.",
        "none": "There is no error bar: the draws are too few, or depend on each other.",
    }[credible.kind]


def described(analysis: Analysis, credible: Credible, what: str, /) -> str:
    """What a table lists, and what its numbers are worth."""
    if analysis.plan.posterior is None:
        return f"{what} of {analysis.best_is}. How sure each is, a search does not say."
    return (
        f"{what} of probability {LEAST:g} or more, the likeliest first. "
        f"{interval_sentence(credible)}"
    )


def glance(analysis: Analysis, found: Sensitivity | None, /) -> str:
    """The answer in a few lines, after what speaks against it; `found` is what other priors say."""
    if analysis.plan.posterior is None:
        count = int(analysis.edges.probability.sum())
        lines = [f"A search found one good DAG, of {count} edges. Nothing says how sure they are."]
    else:
        lines = _joined(analysis, found)
    warnings = [paragraph(text, "warning") for text in analysis.warnings]
    return section("glance", "At a glance", *warnings, bullets([*lines, NOT_CAUSAL]))


def _joined(analysis: Analysis, found: Sensitivity | None) -> list[str]:
    """Which pairs have an edge, in which direction, and how far priors matter."""
    n, edges = analysis.data.n, analysis.edges.probability
    either = edges + edges.T
    pairs = [(u, v) for u in range(n) for v in range(u + 1, n)]
    pairs.sort(key=lambda pair: -either[pair])
    sure = [pair for pair in pairs if either[pair] >= SURE]
    likely = [pair for pair in pairs if EVEN_ODDS <= either[pair] < SURE]
    named = _named(analysis, sure or pairs[:1], either)
    if sure:
        lines = [
            f"{len(sure)} of {len(pairs):,} {_plural(len(pairs), 'pair')} of variables "
            f"{'is' if len(sure) == 1 else 'are'} joined by an edge with probability {SURE:g} or "
            f"more: {named}.",
            _directions(analysis, sure),
        ]
    else:
        lines = [
            f"No pair of variables is joined by an edge with probability {SURE:g} or more. The "
            f"likeliest is {named}."
        ]
    if likely:
        lines.append(f"More probably joined than not: {_named(analysis, likely, either)}.")
    lines.append(f"{edges.sum():.1f} edges are expected in all.")
    if (sure or likely) and found is not None:
        least = np.nanmin(found.edges + found.edges.swapaxes(-1, -2), axis=(0, 1))
        kept = sum(bool(least[pair] >= EVEN_ODDS) for pair in (*sure, *likely))
        many = len(sure) + len(likely)
        lines.append(
            f"Of the {many} {_plural(many, 'pair')} of probability {EVEN_ODDS:g} or more, "
            f"{'all' if kept == many else kept} keep it under every prior that was tried "
            "(Sensitivity)."
        )
    return [*lines, *analysis.plan.guarantee[:1]]


def _directions(analysis: Analysis, sure: Sequence[tuple[int, int]]) -> str:
    names, edges = analysis.data.names, analysis.edges.probability
    arrows = [(u, v) for a, b in sure for u, v in ((a, b), (b, a)) if edges[u, v] >= SURE]
    if not arrows:
        return f"For none of these is one direction as sure: {UNTOLD}."
    listed = _first([f"{names[u]} → {names[v]}" for u, v in arrows])
    rest = len(sure) - len(arrows)
    share = f"{len(arrows)} of" if rest else "all"
    others = f" For the other {rest}: {UNTOLD}." if rest else ""
    return f"The direction is as sure for {share} these: {listed}.{others}"


def _named(analysis: Analysis, pairs: Sequence[tuple[int, int]], either: Floats) -> str:
    names = analysis.data.names
    return _first([f"{names[u]} with {names[v]} ({either[u, v]:.3f})" for u, v in pairs])


def _first(items: Sequence[str]) -> str:
    more = f" and {len(items) - MOST_NAMED} more" if len(items) > MOST_NAMED else ""
    return f"{', '.join(items[:MOST_NAMED])}{more}"


def _plural(count: int, word: str) -> str:
    return word if count == 1 else f"{word}s"


def was_read(reading: Reading, /) -> str:
    """The table as it was understood, column by column."""
    rows: list[list[Cell]] = [
        [c.name, c.role, _kind(c), _levels(c), c.missing, c.note] for c in reading.columns
    ]
    kept = "all" if reading.rows_kept == reading.rows_read else f"{reading.rows_kept:,}"
    of_columns = {column.note for column in reading.columns}
    lines = [
        f"Source: {reading.source}.",
        f"{reading.rows_read:,} rows were read, and {kept} of them kept.",
        *(note for note in reading.notes if note not in of_columns),
    ]
    return section(
        "read",
        "What was read",
        bullets(lines),
        table(
            "Columns of the table, and how each was used.",
            ["column", "role", "kind", "levels (rows)", "missing", "what was done, and why"],
            rows,
        ),
    )


def how(analysis: Analysis, /) -> str:
    """The method, why it was chosen, what it guarantees and whether it settled."""
    plan = analysis.plan
    posterior = f" Posterior: {plan.posterior}." if plan.posterior else ""
    rejected: list[list[Cell]] = [[method, reason] for method, reason in plan.rejected]
    return section(
        "method",
        "How it was computed",
        paragraph(f"Method: {METHODS[plan.method]}.{posterior}", "lead"),
        bullets(list(plan.why)),
        "<h3>What it guarantees</h3>",
        bullets(list(plan.guarantee)),
        _told(analysis.diagnostics),
        table("Methods that were not taken.", ["method", "why not"], rejected) if rejected else "",
    )


def edges_table(analysis: Analysis, /) -> str:
    """The likeliest edges, to be sorted."""
    names, edges = analysis.data.names, analysis.edges
    either = edges.probability + edges.probability.T
    ranked = _ranked(edges)
    rows: list[list[Cell]] = [
        [names[u], names[v], *_numbers(analysis, edges, u, v, float(either[u, v]))]
        for u, v in ranked[:MOST_ROWS]
    ]
    note = ""
    if analysis.plan.posterior:
        note = "The last column is the probability of an edge in either direction."
    return table(
        f"{described(analysis, edges, 'Edges')} {_shown(ranked)}{note}",
        ["from", "to", *_heads(analysis, edges, "either direction")],
        rows,
        sortable=True,
    )


def paths_table(analysis: Analysis, /) -> str:
    """The likeliest directed paths."""
    names, paths, edges = analysis.data.names, analysis.paths, analysis.edges.probability
    ranked = _ranked(paths)
    rows: list[list[Cell]] = [
        [names[u], names[v], *_numbers(analysis, paths, u, v, float(edges[u, v]))]
        for u, v in ranked[:MOST_ROWS]
    ]
    return section(
        "paths",
        "Paths",
        paragraph(
            "A directed path is a chain of arrows from one variable to another. Where the "
            "direction of its edges is open, so is the path; it is a way of influence only if all "
            "of them are causal."
        ),
        table(
            f"{described(analysis, paths, 'Paths')} {_shown(ranked)}",
            ["from", "to", *_heads(analysis, paths, "direct edge")],
            rows,
            sortable=True,
        ),
    )


def blankets_table(analysis: Analysis, /) -> str:
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
    return section(
        "blankets",
        "Markov blankets",
        paragraph(
            "The Markov blanket of a variable is the set of variables that tell all that the "
            "others could tell of it: its parents, its children and the other parents of its "
            "children. To predict a variable, measure its blanket."
        ),
        table(
            f"{described(analysis, blankets, 'Members of blankets')}{empty}",
            ["variable", "probably in its blanket", f"perhaps ({LEAST:g} to 0.5)"],
            rows,
        ),
    )


def best_table(analysis: Analysis, /) -> str:
    """The parents of each variable in the best DAG."""
    names = analysis.data.names
    rows: list[list[Cell]] = [
        [name, ", ".join(names[u] for u in graphs.members(analysis.best[v])) or "none"]
        for v, name in enumerate(names)
    ]
    return table(f"Parents in {analysis.best_is}.", ["variable", "parents"], rows)


def evidence(analysis: Analysis, /) -> str:
    """The log evidence, where the method gives it."""
    found = analysis.log_evidence
    if found is None:
        lines = [paragraph("This method does not give the evidence.")]
    else:
        error = "" if found.kind == "exact" else f" ± {found.stderr:.2g}"
        kind = found.kind.replace("_", " ")
        lines = [
            paragraph(f"ln p(D) = {found.log_value:.2f}{error} nats ({kind}).", "lead"),
            paragraph(
                "The probability of the whole table under the model, averaged over all DAGs and "
                "parameters. It has no meaning by itself: compare it with that of another score "
                "or prior on the same rows, columns and levels. With other cut points the table is "
                "another one, and so is its probability: the two cannot be compared."
            ),
        ]
    return section("evidence", "Evidence", *lines)


def _told(diagnostics: Mapping[str, float]) -> str:
    rows: list[list[Cell]] = [
        [DIAGNOSTICS.get(name, name), f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"]
        for name, value in diagnostics.items()
    ]
    if not rows:
        return ""
    chains = " R-hat is near 1 where chains agree." if "rhat" in diagnostics else ""
    caption = f"Diagnostics of the draws.{chains}"
    return table(caption, ["diagnostic", "value"], rows)


def _kind(column: ColumnReading) -> str:
    return column.kind if column.role in ("variable", "left out") else ""


def _levels(column: ColumnReading) -> Html:
    pairs = list(zip(column.levels, column.counts, strict=True))
    shown = [f"{html(level)}&nbsp;({int(count):,})" for level, count in pairs[:MOST_LEVELS]]
    more = [f"and {len(pairs) - MOST_LEVELS} more"] if len(pairs) > MOST_LEVELS else []
    return Html(", ".join([*shown, *more]))


def _shown(ranked: Sequence[object]) -> str:
    hidden = len(ranked) - MOST_ROWS
    return f"{hidden:,} more are not listed. " if hidden > 0 else ""


def _ranked(credible: Credible) -> list[tuple[int, int]]:
    values = credible.probability
    order = np.argsort(-values, axis=None, kind="stable")
    pairs = [divmod(int(i), len(values)) for i in order]
    return [(u, v) for u, v in pairs if u != v and values[u, v] >= LEAST]


def _heads(analysis: Analysis, credible: Credible, last: str) -> list[str]:
    """The heads above `_numbers`."""
    if analysis.plan.posterior is None:
        return []
    bounds = [] if credible.kind in ("exact", "none") else ["low", "high"]
    return ["probability", *bounds, last]


def _numbers(
    analysis: Analysis, credible: Credible, u: int, v: int, last: float
) -> tuple[float, ...]:
    """A probability, its interval if it has one, and the number of the last column."""
    p, low, high = (
        float(matrix[u, v]) for matrix in (credible.probability, credible.low, credible.high)
    )
    if analysis.plan.posterior is None:
        return ()
    return (p, last) if credible.kind in ("exact", "none") else (p, low, high, last)


def _members(analysis: Analysis, chosen: Sequence[int], v: int) -> str:
    """Names of variables in the blanket of v, with their probabilities."""
    told = []
    for u in chosen:
        numbers = _numbers(analysis, analysis.blankets, u, v, 0.0)[:-1]
        p = f" {numbers[0]:.2f}" if numbers else ""
        bounds = numbers[1:]
        wide = bounds and not math.isclose(*bounds, abs_tol=5e-3)
        interval = f" [{bounds[0]:.2f}, {bounds[1]:.2f}]" if wide else ""
        told.append(f"{analysis.data.names[u]}{p}{interval}")
    return ", ".join(told) or "none"
