"""Tables and figures of [EatonMurphy2007]: chains made just now, and stored long runs."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from bokeh.layouts import gridplot
from numpy.typing import ArrayLike

import bnlab as bn
from bnlab import plots
from bnlab.checks import Floats
from bnlab.papers.em2007 import cases, study
from bnlab.papers.page import Page, Rows
from bnlab.plots.drawing import data_source
from bnlab.plots.looks import CYCLE, INK, Axis
from bnlab.plots.series import TIME

page = Page()

CASES = ("cancer", "CHD")
CENSUS = ("synthetic", "tic-tac-toe")
PLACES = {
    "Local": ("local", ""),
    "Hybrid": ("DP + MCMC", "hybrid"),
    "Global": ("DP + MCMC", "global"),
    "Gibbs": ("Gibbs", ""),
    "Order": ("orders", ""),
}
"""Colour and marker of each sampler in the figures over time."""

NAMES = {"Local": "local", "Hybrid": "hybrid", "Global": "global", "Order": "order"}
POINTS = 100  # of a trace


@page.figure("figure_1")
def figure_1() -> Any:
    """Figure 1: priors. All 29,281 DAGs of five nodes."""
    return plots.prior_curve(
        cases.probabilities()["Modular flat"],
        cases.probabilities(),
        y_range=(1e-7, 0.1),
        title="Figure 1: four priors on all DAGs of 5 nodes",
        alt="Sorted probabilities of 29,281 DAGs under four priors; modular flat is the nearest to "
        "uniform, Koivisto's the furthest",
    )


@page.table("priors", "prior", "KL from uniform, nats", "largest probability")
def priors() -> Rows:
    """Distances of the priors from the uniform one. Five nodes."""
    for name, p in cases.probabilities().items():
        yield name, np.sum(p * np.log(p * p.size)), p.max()


@page.table("misprint", "proposal", "SAD in the limit", form=".4f")
def misprint() -> Rows:
    """The proposal as displayed and as described. By the formula as displayed a chain would settle
    beside the posterior; cancer, β = 0."""
    found = cases.limits(cases.case("cancer"))
    yield "as displayed", found.displayed
    yield "as described", found.corrected
    yield "the DP alone", found.dp


@cache
def chains(name: str) -> Mapping[str, study.Walk]:
    """Return 25 chains of each sampler on one of CASES."""
    table = cases.case(name).table
    return {s: study.walk(table, s, draws=32_768, chains=25) for s in study.SAMPLERS}


@cache
def errors(name: str) -> Mapping[tuple[str, str], Floats]:
    """Return SAD (chains, STOPS) of each sampler, and of the two corrections of orders."""
    out = {}
    for sampler, walked in chains(name).items():
        group, setting = PLACES[sampler]
        methods = {setting: study.edges_at}
        if walked.orders is not None:
            methods = {
                "as drawn": study.edges_at,
                "Ellis": study.ellis_edges_at,
                "1/l(G)": study.counted_edges_at,
            }
        for label, method in methods.items():
            out[group, label] = study.sad(method(walked, study.STOPS), cases.case(name).dags.edges)
    return out


@page.figure(
    "figure_{number}{more}",
    each=[
        {"number": number, "name": name, "more": more, "words": words}
        for number, name in ((2, "cancer"), (3, "CHD"))
        for more, words in (("", ""), ("_moves", ", by moves"))
    ],
)
def convergence(number: int, name: str, more: str, words: str) -> Any:
    """Figure {number}: {name}{words}. Mean over 25 chains of the sum of absolute differences from
    the exact edges."""
    groups = _groups()
    for sampler, (group, setting) in PLACES.items():
        for (one, label), values in errors(name).items():
            if one != group or (setting and label != setting):
                continue
            walked, moves = chains(name)[sampler], np.array(study.STOPS)
            x = moves if more else walked.setup + walked.seconds * moves / walked.size
            groups[group][label] = (x, values.mean(axis=0))
    title = f"Figure {number}: {name}{words}"
    over, exact = Axis("moves of one chain") if more else TIME, cases.case(name)
    return plots.time_curves(
        groups,
        {"DP alone": bn.diagnostics.sad(exact.orders.edges, exact.dags.edges)},
        x=over,
        y=Axis("SAD from the exact edges", (0.05, 12.0), log=True),
        title=title,
        alt=f"{title}: distance from the exact edge probabilities, a line for each sampler",
    )


@page.table(
    "figures_2_3",
    *("data", "sampler", *(f"{stop:,} moves" for stop in study.STOPS), "sd at the end"),
    form=".2f",
)
def distances() -> Rows:
    """Figures 2 and 3 as numbers. Sum of absolute differences from the exact edges; 25 chains, made
    just now."""
    for name in CASES:
        for label, found in errors(name).items():
            yield (name, " ".join(label).strip(), *found.mean(axis=0), found[:, -1].std())


def _areas(kind: str) -> dict[str, Floats]:
    """Return areas by method, one for each of ten data sets; of chains the mean of ten."""
    found, i = study.stored_found(), study.KINDS.index(kind)
    areas = dict(zip(study.SAMPLERS, found.by_chain.mean(axis=2)[..., i].T, strict=True))
    if kind == "edges":
        areas["DP, exact"] = found.dp
    return areas | {"DAGs by DP": found.direct[:, i], "each DAG once": found.distinct[:, i]}


@page.figure(
    "figure_{number}", each=[{"number": 4, "kind": "edges"}, {"number": 5, "kind": "paths"}]
)
def discovery(number: int, kind: str) -> Any:
    """Figure {number}: {kind}. Area under the ROC curve for the child network, a mark for each of
    ten data sets."""
    areas = {NAMES.get(name, name): values for name, values in _areas(kind).items()}
    title, least = f"Figure {number}: {kind}", min(values.min() for values in areas.values())
    picture = plots.canvas(
        title,
        f"{title}: area under the ROC curve of {kind}, a mark for each data set and method",
        Axis(f"area under the ROC curve, {kind}", (least - 0.01, 1.005)),
        Axis("", list(reversed(areas))),
        size=(520, 110 + 30 * len(areas)),
    )
    columns = {
        "method": [label for label, values in areas.items() for _ in values],
        "area": np.concatenate(list(areas.values())).tolist(),
    }
    source = data_source(columns, name=kind)
    look = {"size": 11, "fill_color": CYCLE[0], "fill_alpha": 0.45, "line_color": INK}
    picture.scatter("area", "method", source=source, **look)
    picture.ygrid.grid_line_color = None
    picture.xaxis.minor_tick_line_color = None
    return picture


@page.table("figures_4_5", "of", "method", "median area", "lowest", "highest", form=".3f")
def areas() -> Rows:
    """Figures 4 and 5 as numbers. Areas under the ROC curve; median, lowest and highest of ten data
    sets, kept."""
    for kind in study.KINDS:
        for name, values in _areas(kind).items():
            yield (kind, name, *np.quantile(values, (0.5, 0, 1)))


PREDICTED: Sequence[Mapping[str, Any]] = (
    {"number": 6, "name": "synthetic", "title": "Figure 6: synthetic, 15 nodes"},
    {"number": 7, "name": "tic-tac-toe", "title": "In place of Figure 7: tic-tac-toe"},
    {"number": 8, "name": "cells", "title": "Figure 8: T-cells"},
)
RANGES = {"synthetic": (1.0, 0.05), "tic-tac-toe": (0.5, 0.05), "cells": (0.05, 0.005)}
"""Nats below and above the DP on the axis."""


@page.figure("figure_{number}", each=PREDICTED)
def predicted(number: int, name: str, title: str, within: tuple[float, float] | None = None) -> Any:
    """{title}. Mean ln p of a held-out row against the time of a chain; ten folds, kept."""
    found, groups = study.stored_forecast(name), _groups()
    for sampler, (group, setting) in PLACES.items():
        place = study.SAMPLERS.index(sampler)
        mean = found.curves[:, place].mean(axis=(0, 1))
        running = found.seconds[place] * np.array(study.DRAWN) / study.DRAWN[-1]
        groups[group][setting] = (found.setup[place] + running, mean)
    below, above = within or RANGES[name]
    middle = found.dp.mean()
    levels = {"DP": middle, "MAP": found.plain[:, 1].mean()}
    if number == 6:
        levels["tree"] = found.plain[:, 2].mean()
    return plots.time_curves(
        groups,
        levels,
        y=Axis("mean ln p of a held-out row, nats", (middle - below, middle + above)),
        title=title,
        alt=f"{title}: mean log probability of held-out rows against time, a line for each sampler",
    )


@page.table(
    "figure_{number}_ends", "method", "nats below", "standard error", form=".5f", each=PREDICTED
)
def ends(number: int, name: str, title: str) -> Rows:
    """{title}, at the end. Nats a row below independent exact DAGs, at the end of the chains."""
    found = study.stored_forecast(name)
    methods: dict[str, Floats] = {
        s: found.curves[:, i, :, -1].mean(axis=1) for i, s in enumerate(study.SAMPLERS)
    }
    methods |= {"DP": found.dp} | dict(zip(study.PLAIN[1:], found.plain.T[1:], strict=True))
    if name == "cells":
        methods["ignoring the interventions"] = study.stored_cells()[1]
    for label, values in methods.items():
        yield (label, *study.margin(found.plain[:, 0], values))


@page.table("networks", "network", "nats below", "standard error", form=".4f")
def networks() -> Rows:
    """Figure 6: ten networks. The most probable DAG below the average of DAGs, nats a row."""
    for i, p in enumerate(study.stored_networks()):
        yield (i, *study.margin(p[:, 0], p[:, 1]))


@page.table(
    "t_cells",
    *("interventions", "edges expected", "AUC directed", "AUC either way", "SAD from used"),
    form=".3f",
)
def t_cells() -> Rows:
    """Figure 8: edges of the T-cells. Against the network that biologists agree on."""
    edges, truth = study.stored_cells()[0], study.cell_network()
    for name, p in zip(study.READINGS, edges, strict=True):
        directed = bn.diagnostics.auc(p, bn.graphs.to_adjacency(truth))
        yield name, p.sum(), directed, study.skeleton_auc(p, truth), float(study.sad(p, edges[0]))


@page.figure(
    "figure_8_{what}",
    each=[
        {"what": "used", "which": 0, "about": "Nearly all probabilities are near 0 or 1"},
        {"what": "ignored", "which": 2, "about": "Many probabilities are near one half"},
    ],
)
def heat_map(what: str, which: int, about: str) -> Any:
    """Figure 8: interventions {what}. {about}."""
    return plots.heat_map(
        study.stored_cells()[0][which], study.PROTEINS, title=f"Edges, interventions {what}"
    )


@cache
def starts(name: str) -> Mapping[str, study.Walk]:
    """Return four chains of each sampler, 5,000 moves from where they start."""
    scores = bn.score_families(study.rows(name), bn.BDeu(1.0), max_parents=3)
    return {s: study.walk(scores, s, draws=1000, chains=4, thin=5) for s in study.SAMPLERS}


@page.figure(
    "figure_9_{speed}",
    each=[
        {"speed": "slow", "samplers": ("Local", "Gibbs"), "words": "local and Gibbs moves"},
        {
            "speed": "fast",
            "samplers": ("Hybrid", "Global", "Order"),
            "words": "hybrid, global, orders",
        },
    ],
)
def traces(speed: str, samplers: Sequence[str], words: str) -> Any:
    """Figure 9: {words}. ln p(D | G) along four chains on tic-tac-toe."""
    found, pictures = starts("tic-tac-toe"), []
    top = max(each.draws.log_target.max() for each in found.values())
    for name in samplers:
        shown = slice(0, None, max(1, found[name].size // POINTS))
        moves = found[name].thin * np.arange(1, found[name].size + 1)[shown]
        lines = found[name].draws.log_target
        picture = plots.traces(
            moves,
            {f"chain {i + 1}": line[shown] for i, line in enumerate(lines)},
            y=Axis("ln p(D | G), nats", (top - 150, top + 10)),
            name=f"trace_{name}",
            title=name,
            alt=f"Figure 9, {name}: ln p(D | G) along four chains from different starts",
        )
        picture.width, picture.height = 380, 300
        pictures.append(picture)
    return gridplot(pictures, ncols=2, toolbar_location=None)


@page.table(
    "figure_9", *("data", "sampler", "lowest chain", "second", "third", "highest chain"), form=".1f"
)
def late() -> Rows:
    """Figure 9 as numbers. Means of ln p(D | G) over the last 2,500 of 5,000 moves, the chains in
    order."""
    for name in CENSUS:
        for sampler, found in starts(name).items():
            yield (name, sampler, *np.sort(found.draws.log_target[:, 500:].mean(axis=1)))


def _groups() -> dict[str, dict[str, tuple[ArrayLike, Floats]]]:
    # Colours go by place: each group keeps its own.
    return {"local": {}, "DP + MCMC": {}, "Gibbs": {}, "orders": {}}
