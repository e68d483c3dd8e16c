"""What a report says of what was known, or believed, before the data; and of a "what if"."""

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnlab import graphs
from bnlab.checks import Floats
from bnlab.data import Data
from bnlab.pages import Cell
from bnlab.predict import Effects, typed_row
from bnlab.priors import EdgeBeliefs
from bnlab.reports.analysis import COMPLETED, Analysis, from_missing
from bnlab.reports.pictures import EVEN_ODDS, SURE
from bnlab.sampling.completing import Completions
from bnlab.sampling.cutting import Cuts
from bnlab.scores import edge_masks

MOST_NAMED = 8
MOST_ANSWERS = 6  # levels of what is looked at
LEAST_SHARE = 0.01  # of the uncertainty, that is told as a number


def beliefs(analysis: Analysis, /) -> list[tuple[str, str, float, str]]:
    """Edges that were believed in or not: parent, child, belief, factor of a DAG with the edge."""
    if not isinstance(analysis.prior, EdgeBeliefs):
        return []
    said, names, matrix = [], analysis.data.names, np.asarray(analysis.prior.beliefs)
    for u, v in np.argwhere((matrix != 0.5) & ~np.eye(len(names), dtype=np.bool_)):
        belief = float(matrix[u, v])
        nats = float(analysis.prior.strength) * (2 * belief - 1)
        factor = f"{math.exp(nats):.3g}" if abs(nats) < 50 else f"e^{nats:.3g}"
        said.append((names[u], names[v], belief, factor))
    return said


def of_cuts(analysis: Analysis, found: Cuts | None, /) -> dict[str, Any]:
    """How far links depend on where columns of measurements were cut."""
    if found is None:
        return {"found": None}
    names, here, there = analysis.data.names, analysis.edges.probability, found.edges
    here, there = here + here.T, there + there.T

    def named(u: int, v: int) -> tuple[str, float, float]:
        return f"{names[u]} with {names[v]}", float(here[u, v]), float(there[u, v])

    def moved(low: Floats, high: Floats) -> str:
        lost = np.argwhere(np.triu((high >= EVEN_ODDS) & (low < EVEN_ODDS), 1))
        lost = lost[np.argsort((low - high)[tuple(lost.T)], kind="stable")]
        told = ["{} ({:.2f}, {:.2f})".format(*named(u, v)) for u, v in lost]
        return in_words(told, MOST_NAMED) if told else ""

    most = named(*divmod(int(np.abs(there - here).argmax()), len(names)))
    share = in_number(mean_share(found.edges, found.from_cuts))
    both = {"lost": moved(there, here), "gained": moved(here, there)}
    return {"found": found, **both, "most": most, "share": share}


def mean_share(edges: Floats, shares: Floats) -> float:
    """Of the variance p(1 - p) of all edges, the part that has these shares in each."""
    variance = edges * (1 - edges)
    return float((shares * variance).sum() / max(variance.sum(), 1e-300))


def in_number(share: float, /) -> str:
    """A share of the uncertainty, as all of a page from 0 to 1; nothing if it is not known."""
    if math.isnan(share):
        return ""
    return f"a share of {share:.2g}" if share >= LEAST_SHARE else f"less than {LEAST_SHARE:g}"


def early(analysis: Analysis, pairs: Sequence[tuple[int, int]], /) -> tuple[str, str] | None:
    """Two columns whose order in time would tell most: of the first pair without a direction."""
    names, edges = analysis.data.names, analysis.edges.probability
    for u, v in sorted(pairs, key=lambda pair: max(edges[pair], edges[pair[::-1]]) >= SURE):
        if not {*",:"} & {*names[u], *names[v]}:
            return names[u], names[v]
    return None


def given(analysis: Analysis, /) -> list[str]:
    """What was assumed, so is no finding, in words."""
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
    return said


def arrows(edges: Sequence[tuple[str, str]], most: int, /) -> str:
    """Edges as in a sentence, after so many their number."""
    return in_words([f"{u} → {v}" for u, v in edges], most)


def in_words(items: Sequence[str], most: int, /) -> str:
    """A list as in a sentence, after so many items their number."""
    shown = [*items[:most], *([f"{len(items) - most} more"] if len(items) > most else [])]
    return " and ".join([*([", ".join(shown[:-1])] if len(shown) > 1 else []), shown[-1]])


def of_holes(one: Effects, filled: Completions | None, /) -> tuple[int, str]:
    """Over how many ways to fill the cells an answer averages, and their share of its doubts."""
    if filled is None:
        return 0, ""
    ways = min(COMPLETED, len(filled))
    return ways, in_number(float(from_missing(one, ways)[one.mean.argmax()]))


def told_of(one: Effects, data: Data, /) -> str:
    """Return the answer to one setting: its likeliest level, beside the share of all rows."""
    y, nothing = int(one.mean.argmax()), ""
    if one.unaffected >= EVEN_ODDS:
        what = " and ".join(one.do)
        nothing = f": setting {what} probably changes nothing ({one.unaffected:.2f})"
    sentence = (
        f"If we set {_setting(one)}, then {one.on} is {one.levels[y]} with probability "
        f"{one.mean[y]:.2f} ({one.low[y]:.2f} to {one.high[y]:.2f}), against "
        f"{shares(one, data)[y]:.2f} in all rows{nothing}."
    )
    return re.sub(r"\(([^\s(]+), (\S+)\]", r"\g<0> (above \1, up to \2)", sentence, count=1)


def shares(one: Effects, data: Data, where: NDArray[np.bool_] | None = None, /) -> Floats:
    """Return the share of each level of `on` among the rows that say it; nan of none."""
    seen = data.values[:, data.index(one.on)]
    counts = np.bincount(seen[(seen >= 0) & (where is None or where)], minlength=len(one.levels))
    return counts / (counts.sum() or np.nan)


def _setting(one: Effects) -> str:
    return " and ".join(f"{name} to {level}" for name, level in one.do.items())


def answers(found: Sequence[Effects], data: Data, /) -> list[list[Cell]]:
    """The answer to each setting, level by level, beside the shares in the table."""
    rows: list[list[Cell]] = []
    for one in found:
        codes = typed_row(data, one.do)
        where = (data.values == codes)[:, codes >= 0].all(axis=1)
        such, of_all = shares(one, data, where), shares(one, data)
        for y in np.sort(np.argsort(-one.mean, kind="stable")[:MOST_ANSWERS]).tolist():
            told = (one.mean, one.low, one.high, one.between, one.within, of_all)
            numbers: list[Cell] = [float(column[y]) for column in told]
            share: Cell = float(such[y]) if such[y] >= 0 else "no such row"
            rows.append([_setting(one), one.levels[y], *numbers, share])
    return rows
