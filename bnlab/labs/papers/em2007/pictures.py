"""The figures of the paper, drawn again."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.layouts import gridplot
from bokeh.models import ColumnDataSource, NumeralTickFormatter, Range1d
from numpy.typing import NDArray

import bnlab as bn
from bnlab import plots
from bnlab.labs import modular_priors
from bnlab.labs.papers.em2007.cases import Case
from bnlab.labs.papers.em2007.convergence import (
    STOPS,
    counted_edges_at,
    edges_at,
    ellis_edges_at,
    sad,
)
from bnlab.labs.papers.em2007.discovery import KINDS, Found
from bnlab.labs.papers.em2007.forecasts import STOPS as DRAWN
from bnlab.labs.papers.em2007.forecasts import Forecast
from bnlab.labs.papers.em2007.walks import SAMPLERS, Walk
from bnlab.plots.canvas import CYCLE, INK

Floats = NDArray[np.float64]

PLACES = {
    "Local": ("local", ""),
    "Hybrid": ("DP + MCMC", "hybrid"),
    "Global": ("DP + MCMC", "global"),
    "Gibbs": ("Gibbs", ""),
    "Order": ("orders", ""),
}
"""Colour and marker of each sampler in the figures over time."""

NAMES = {"Local": "local", "Hybrid": "hybrid", "Global": "global", "Gibbs": "Gibbs"}
MOVES = "moves of one chain"
POINTS = 100  # of a trace


def figure_1() -> Any:
    """The four priors on all 29,281 DAGs of five nodes; the wide curve is the modular flat one.

    Examples
    --------
    >>> figure_1().title.text
    'Figure 1: four priors on all DAGs of 5 nodes'
    """
    space = modular_priors.space(5)
    curves = {
        name: modular_priors.normalised(modular_priors.log_prior(prior, space))
        for name, prior in modular_priors.PRIORS.items()
    }
    return plots.prior_curve(
        curves["Modular flat"],
        curves,
        y_range=(1e-7, 0.1),
        title="Figure 1: four priors on all DAGs of 5 nodes",
        alt="Sorted probabilities of 29,281 DAGs under four priors; modular flat is the nearest to "
        "uniform, Koivisto's the furthest",
    )


def errors(case: Case, walks: Mapping[str, Walk], /) -> dict[tuple[str, str], Floats]:
    """SAD (chains, STOPS) of each sampler, and of the two corrections of the order sampler.

    Examples
    --------
    >>> from bnlab.labs.papers.em2007 import cases, walks
    >>> case = cases.case("cancer")
    >>> walk = walks.walk(case.table, "Local", draws=32768, chains=2)
    >>> [(*place, found.shape) for place, found in errors(case, {"Local": walk}).items()]
    [('local', '', (2, 11))]
    """
    out = {}
    for name, walk in walks.items():
        group, setting = PLACES[name]
        methods = {setting: edges_at}
        if walk.orders is not None:
            methods = {"as drawn": edges_at, "Ellis": ellis_edges_at, "1/l(G)": counted_edges_at}
        for label, method in methods.items():
            out[group, label] = sad(method(walk, STOPS), case.dags.edges)
    return out


def convergence(
    title: str,
    case: Case,
    found: Mapping[tuple[str, str], Floats],
    walks: Mapping[str, Walk] | None = None,
    /,
) -> Any:
    """Figures 2 and 3: means of SAD over the chains, against time, or against moves without walks.

    Examples
    --------
    >>> from bnlab.labs.papers.em2007 import cases
    >>> case = cases.case("cancer")
    >>> picture = convergence("Figure 2", case, {("local", ""): np.ones((2, len(STOPS)))})
    >>> picture.select_one({"name": "curves"}).data["label"]
    ['local']
    """
    groups = _groups()
    for name, (group, setting) in PLACES.items():
        for (one, label), values in found.items():
            if one != group or (setting and label != setting):
                continue
            x = list(STOPS) if walks is None else walks[name].seconds_at(STOPS)
            groups[group][label] = (x, values.mean(axis=0))
    measure = {} if walks is not None else {"x_label": MOVES}
    return plots.time_curves(
        {group: curves for group, curves in groups.items() if curves},
        {"DP alone": bn.diagnostics.sad(case.orders.edges, case.dags.edges)},
        y_label="SAD from the exact edges",
        y_range=(0.05, 12.0),
        y_axis_type="log",
        title=title,
        alt=f"{title}: distance from the exact edge probabilities, a line for each sampler",
        **measure,
    )


def discovery(title: str, found: Found, kind: str, /) -> Any:
    """Figures 4 and 5: a mark for each data set, of chains the mean of all.

    Parameters
    ----------
    found : each array with the data sets in front
    kind : one of KINDS

    Examples
    --------
    >>> from bnlab.labs.papers.em2007.kept import saved
    >>> picture = discovery("Figure 4", saved().found(), "edges")
    >>> picture.select_one({"name": "edges"}).data["method"][0]
    'local'
    """
    place = KINDS.index(kind)
    labels = [NAMES.get(name, "order") for name in SAMPLERS]
    areas = dict(zip(labels, found.by_chain.mean(axis=2)[..., place].T, strict=True))
    if kind == "edges":
        areas["DP, exact"] = found.dp
    areas |= {"DAGs by DP": found.direct[:, place], "each DAG once": found.distinct[:, place]}
    picture = plots.canvas(
        title=title,
        x_label=f"area under the ROC curve, {kind}",
        y_label="",
        alt=f"{title}: area under the ROC curve of {kind}, a mark for each data set and method",
        width=520,
        height=110 + 30 * len(areas),
        x_range=Range1d(min(values.min() for values in areas.values()) - 0.01, 1.005),
        y_range=list(reversed(areas)),
    )
    columns = {
        "method": [label for label, values in areas.items() for _ in values],
        "area": np.concatenate(list(areas.values())).tolist(),
    }
    source = ColumnDataSource(data=columns, name=kind)
    look = {"size": 11, "fill_color": CYCLE[0], "fill_alpha": 0.45, "line_color": INK}
    picture.scatter("area", "method", source=source, **look)
    picture.ygrid.grid_line_color = None
    picture.xaxis.minor_tick_line_color = None
    return picture


def predictions(
    title: str,
    found: Forecast,
    levels: Mapping[str, float],
    /,
    *,
    y_range: tuple[float, float],
) -> Any:
    """Figures 6 to 8: mean ln p of a held-out row against the time of a chain.

    Examples
    --------
    >>> from bnlab.labs.papers.em2007.kept import saved
    >>> picture = predictions("Figure 6", saved().forecast("synthetic"), {}, y_range=(-13, -12))
    >>> picture.select_one({"name": "curves"}).data["label"][0]
    'local'
    """
    groups = _groups()
    for name, (group, setting) in PLACES.items():
        place = SAMPLERS.index(name)
        mean = found.curves[:, place].mean(axis=(0, 1))
        seconds = found.setup[place] + found.seconds[place] * np.array(DRAWN) / DRAWN[-1]
        groups[group][setting] = (seconds, mean)
    return plots.time_curves(
        groups,
        levels,
        y_label="mean ln p of a held-out row, nats",
        y_range=y_range,
        title=title,
        alt=f"{title}: mean log probability of held-out rows against time, a line for each sampler",
    )


def traces(walks: Mapping[str, Walk], y_range: tuple[float, float], /) -> Any:
    """Figure 9: ln p(D | G) along four chains of each sampler, side by side.

    Examples
    --------
    >>> from bnlab.labs.papers.em2007.walks import example, walk
    >>> grid = traces({"Local": walk(example(), "Local", draws=9, chains=4)}, (-9, 0))
    >>> grid.children[0][0].title.text
    'Local'
    """
    pictures = []
    for name, walk in walks.items():
        shown = slice(0, None, max(1, walk.size // POINTS))
        moves = walk.thin * np.arange(1, walk.size + 1)[shown]
        chains = {f"chain {i + 1}": line[shown] for i, line in enumerate(walk.draws.log_target)}
        picture = plots.traces(
            moves,
            chains,
            y_range=y_range,
            y_label="ln p(D | G), nats",
            name=f"trace_{name}",
            title=name,
            alt=f"Figure 9, {name}: ln p(D | G) along four chains from different starts",
        )
        picture.width, picture.height = 380, 300
        picture.xaxis.formatter = NumeralTickFormatter(format="0,0")
        pictures.append(picture)
    return gridplot(pictures, ncols=2, toolbar_location=None)


def _groups() -> dict[str, dict[str, tuple[Sequence[float], Floats]]]:
    # Colours go by place: each group keeps its own.
    return {"local": {}, "DP + MCMC": {}, "Gibbs": {}, "orders": {}}
