"""The pictures of a report: figures of `bnlab.plots`, and networks as SVG, sharp on any screen."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from bnlab import graphs, plots
from bnlab.checks import Floats
from bnlab.pages import Cell, render
from bnlab.plots.looks import CYCLE, INK, RULE, WIDTH
from bnlab.plots.network import LINE_HEIGHT, link_data, network_height, node_data
from bnlab.reports.analysis import Analysis
from bnlab.reports.answers import ranked
from bnlab.reports.exports import CREDIBLE
from bnlab.reports.sensitivity import Sensitivity, nearest_one as nearest_one

ALL_SHOWN = 12  # variables
SURE, EVEN_ODDS = 0.95, 0.5
MOST_DRAWN = 40  # pairs; if there are more, only those of even odds are drawn
EVEN = 0.4  # the width of a line where nothing says how wide, as a share of the widest
LEAST_DRAWN = 0.1  # of the widest, so that it can be seen
LIKELIEST, MOST_MOVING = 6, 8  # edges in a comparison of priors
LEAST = 0.1  # edges that never reach this are left out of it
CELL = 13  # pixels, the least side of a cell of the heat map, so that its names can be read


def shown_names(names: Sequence[str], /) -> list[str]:
    """The names as BokehJS may draw them: it takes text between $$ for mathematics."""
    return [name.replace("$$", "$\u200b$") for name in names]


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Which variables a network drawing shows, and where. Make it with `layout`."""

    shown: NDArray[np.int64]  # numbers of the variables drawn, rising
    names: list[str]  # of these
    places: Floats  # as of `plots.network_positions`


def layout(analysis: Analysis, /, *, least: float = CREDIBLE) -> Layout:
    """Places for all variables, or if they are many, for those in the best DAG or a likely link."""
    probability = analysis.edges.probability
    linked = (probability + probability.T >= least) | (graphs.to_adjacency(analysis.best) > 0)
    shown = np.flatnonzero(linked.any(axis=0) | linked.any(axis=1))
    if len(probability) <= ALL_SHOWN or len(shown) < 2:
        shown = np.arange(len(probability))
    names = [analysis.data.names[v] for v in shown]
    return Layout(shown, names, plots.network_positions(probability[np.ix_(shown, shown)]))


def drawn_from(analysis: Analysis, /) -> float:
    """The probability from which pairs are drawn: higher where too many would cross each other."""
    many = _linked(analysis.edges.probability, CREDIBLE)
    return CREDIBLE if many <= MOST_DRAWN else EVEN_ODDS


def _linked(edges: Floats, least: float) -> int:
    """How many pairs have at least this probability of an edge either way."""
    return int((np.triu(edges + edges.T, 1) >= least).sum())


def pairs_picture(analysis: Analysis, drawn: Layout, /, *, threshold: float = CREDIBLE) -> Markup:
    """Lines for pairs of probability `threshold` or more, with heads where directions are SURE."""
    if analysis.plan.posterior is None:
        return best_picture(analysis, drawn)
    edges = analysis.edges.probability[np.ix_(drawn.shown, drawn.shown)]
    alt = (
        f"Network of {len(drawn.names)} variables with {_linked(edges, threshold)} links; the "
        f"wider a line, the more probable the link. {_strongest(edges, drawn.names)}"
    )
    return _drawing(analysis, drawn, edges, threshold, alt)


def best_picture(analysis: Analysis, drawn: Layout, /) -> Markup:
    """The best DAG at the same places, its lines as wide and with heads as in `pairs_picture`."""
    some, searched = np.ix_(drawn.shown, drawn.shown), analysis.plan.posterior is None
    dag, edges = graphs.to_adjacency(analysis.best)[some], analysis.edges.probability[some]
    either = EVEN if searched else np.clip(edges + edges.T, LEAST_DRAWN, 1.0)
    half = 0.5 * dag * (edges < SURE)  # of a line without a head, in either direction
    widths = either * (dag * (edges >= SURE) + half + half.T)
    alt = f"Drawing of {analysis.best_is}: {int(dag.sum())} edges, listed in the table of parents"
    return _drawing(analysis, drawn, widths, 0.5 * LEAST_DRAWN, alt)


def _drawing(analysis: Analysis, drawn: Layout, widths: Floats, least: float, alt: str) -> Markup:
    """Draw the variables as boxes and the links as lines, which tell something when pointed at."""
    how: Any = {"threshold": least, "sure": SURE if analysis.plan.posterior else 0.0}
    links = link_data(widths, drawn.names, drawn.places, joined=True, **how)
    index, edges = analysis.data.index, analysis.edges
    pairs = [(index(u), index(v)) for u, v in zip(links["parent"], links["child"], strict=True)]
    sure = edges.trusted & edges.trusted.T
    return render(
        "network.svg",
        alt=alt,
        width=WIDTH,
        height=network_height(drawn.places),
        line=LINE_HEIGHT,
        links=links,
        told=[_pair_told(analysis, u, v) for u, v in pairs],
        dashed=[edges.rhat is not None and not sure[pair] for pair in pairs],
        boxes=node_data(drawn.names, drawn.places),
        color=CYCLE[0],
        ink=INK,
        rule=RULE,
    )


def _pair_told(analysis: Analysis, u: int, v: int) -> str:
    """A pair with its numbers, for who points at its line."""
    edges, names = analysis.edges, analysis.data.names
    if analysis.plan.posterior is None:
        return f"{names[u]} → {names[v]}"
    either = min(1.0, edges.probability[u, v] + edges.probability[v, u])
    lines = [f"{names[u]} with {names[v]}: linked with probability {either:.3f}"]
    for a, b in ((u, v), (v, u)):
        lines.append(f"{names[a]} → {names[b]} {edges.probability[a, b]:.3f}")
    return "\n".join(lines)


def network_picture(analysis: Analysis, drawn: Layout, /, *, threshold: float = CREDIBLE) -> Any:
    """The network of the edges that are credible, for a lab."""
    edges = analysis.edges.probability[np.ix_(drawn.shown, drawn.shown)]
    names = shown_names(drawn.names)
    return plots.network(
        edges,
        names,
        drawn.places,
        threshold=threshold,
        title=f"Edges of probability {threshold:g} or more"
        if analysis.plan.posterior
        else f"Edges of {analysis.best_is}",
        alt=f"Network of {len(names)} variables; the wider an arrow, the more probable its edge. "
        + _strongest(edges, names),
    )


def heat_picture(analysis: Analysis, /) -> Any:
    """The heat map of all edge probabilities."""
    names = shown_names(analysis.data.names)
    edges = analysis.edges.probability
    picture = plots.heat_map(
        edges,
        names,
        title="Probability of each edge" if analysis.plan.posterior else "Edges",
        alt=f"Heat map of edge probabilities, {len(names)} parents by {len(names)} children. "
        + _strongest(edges, names),
    )
    wider = CELL * len(names) - picture.frame_width
    if wider > 0:
        picture.frame_width = picture.frame_height = CELL * len(names)
        picture.width += wider
        picture.height += wider
        picture.axis.major_label_text_font_size = "11px"
    return picture


def _strongest(edges: Floats, names: Sequence[str]) -> str:
    """The three likeliest edges in words, and where the others are."""
    best = [f"{names[u]} to {names[v]} {edges[u, v]:.2f}" for u, v in ranked(edges)[:3]]
    return f"Most probable: {', '.join(best)}. The table of edges has the numbers"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Edges under some settings: labels of the settings, and probabilities (settings, n, n)."""

    settings: tuple[str, ...]
    edges: Floats

    def chosen(self) -> list[tuple[int, int]]:
        """The likeliest edges and those that move most, the likeliest first."""
        mean, high = self.edges.mean(axis=0), self.edges.max(axis=0)
        spread = np.where(high >= LEAST, high - self.edges.min(axis=0), -1.0)
        pairs = [*ranked(mean)[:LIKELIEST], *ranked(spread)[:MOST_MOVING]]
        return sorted({pair for pair in pairs if high[pair] >= LEAST}, key=lambda p: (-mean[p], p))

    def picture(self, names: tuple[str, ...]) -> Any:
        """The dot plot of these edges."""
        drawn, pairs, title = shown_names(names), self.chosen(), "Edges under other priors"
        return plots.sensitivity(
            [[float(edges[pair]) for pair in pairs] for edges in self.edges],
            [f"{drawn[u]} → {drawn[v]}" for u, v in pairs],
            self.settings,
            name="priors",
            title=title,
            alt=f"{title}: the likeliest edges and those that move most, under "
            f"{len(self.settings)} settings. The table below has the numbers",
        )

    def rows(self, names: tuple[str, ...]) -> list[tuple[Cell, ...]]:
        """Return the numbers of these edges."""
        return [
            (f"{names[u]} → {names[v]}", *(float(edges[u, v]) for edges in self.edges))
            for u, v in self.chosen()
        ]

    @property
    def many(self) -> int:
        """How many edges there are of a probability worth a row."""
        return int((self.edges.max(axis=0) >= LEAST).sum())


def comparison(found: Sensitivity, /) -> Comparison:
    """The equivalent sample sizes under the first structure prior, and the others at one near 1."""
    settings = [f"ess {size:g}" for size in found.ess]
    settings += [repr(prior).removesuffix("()") for prior in found.priors[1:]]
    others = found.edges[nearest_one(found.ess), 1:]
    return Comparison(tuple(settings), np.concatenate([found.edges[:, 0], others]))
