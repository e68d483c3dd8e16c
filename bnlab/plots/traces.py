"""Markov chains on orders: one move, traces of the weight, acceptance, agreement of two chains."""

from collections.abc import Mapping, Sequence
from itertools import cycle

import numpy as np
from bokeh.models import (
    BoxAnnotation,
    ColumnDataSource,
    FactorRange,
    HoverTool,
    NumeralTickFormatter,
    Range1d,
)
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from bnlab.plots.canvas import CYCLE, INK, RULE, SMALL_FONT_SIZE, canvas, legend_above
from bnlab.plots.edges import Columns, square

MOST_POINTS = 500
"""Points of a trace that are drawn; a longer one is shown at evenly spaced places."""

ROWS = ("now", "proposed")
STAYS, MOVED = "#f0f0f0", "#e69f00"
LINES = (CYCLE[0], CYCLE[5], CYCLE[3], CYCLE[7])
USUAL = "#d9d9d9"
DASHES = ("solid", "dashed", "dotted", "dotdash")


def order_move_data(order: ArrayLike, proposed: ArrayLike, names: Sequence[str], /) -> Columns:
    """Columns of the source of `order_move`: one row a place of each of the two orders.

    Parameters
    ----------
    order, proposed : (n,) orders, first node first
    names : the n variable names, by node

    Returns
    -------
    dict
        Columns `place` (from 1), `row` ("now" or "proposed"), `node` (a name) and `fill`, a colour
        that marks the places where the orders differ.

    Examples
    --------
    >>> order_move_data([0, 1], [1, 0], ["rain", "wet"])["node"]
    ['rain', 'wet', 'wet', 'rain']
    """
    both = np.array([order, proposed], np.int64)
    if both.shape[1:] != (len(names),) or np.any(np.sort(both) != np.arange(len(names))):
        raise ValueError(f"orders {both.tolist()} are not two orders of {len(names)} nodes")
    moved = np.tile(both[0] != both[1], 2)
    return {
        "place": np.tile(np.arange(1, len(names) + 1), 2).tolist(),
        "row": [row for row in ROWS for _ in names],
        "node": [names[int(v)] for v in both.ravel()],
        "fill": [MOVED if differs else STAYS for differs in moved],
    }


def order_move(
    order: ArrayLike,
    proposed: ArrayLike,
    names: Sequence[str],
    /,
    *,
    name: str = "move",
    title: str = "The order now, and the proposed one",
    alt: str = "Two orders of the variables, one above the other, with the moved ones marked",
) -> figure:
    """Two orders as rows of boxes, first node on the left; source `name` as in `order_move_data`.

    Examples
    --------
    >>> picture = order_move([0, 1], [1, 0], ["rain", "wet"])
    >>> picture.select_one({"name": "move"}).data["place"]
    [1, 2, 1, 2]
    """
    n = len(names)
    picture = canvas(
        title=title,
        x_label="place in the order",
        y_label="",
        alt=alt,
        width=110 + n * max(60, 20 + 7 * max(map(len, names))),
        height=190,
        x_range=Range1d(0.5, n + 0.5),
        y_range=list(reversed(ROWS)),
    )
    source = ColumnDataSource(data=order_move_data(order, proposed, names), name=name)
    picture.rect(
        "place", "row", width=0.94, height=0.7, source=source, fill_color="fill", line_color=RULE
    )
    picture.text(
        "place",
        "row",
        text="node",
        source=source,
        text_align="center",
        text_baseline="middle",
        text_font_size="13px",
        text_color=INK,
    )
    picture.grid.grid_line_color = None
    picture.xaxis.ticker = list(range(1, n + 1))
    picture.axis.major_tick_line_color = None
    picture.axis.axis_line_color = None
    return picture


def traces_data(places: ArrayLike, chains: Mapping[str, ArrayLike], /) -> Columns:
    """Columns of the source of `traces`: `place`, and one for each chain.

    Examples
    --------
    >>> traces_data([1, 2], {"chain 1": [-9.0, -8.0]})
    {'place': [1.0, 2.0], 'chain 1': [-9.0, -8.0]}
    """
    x = np.asarray(places, np.float64)
    shown = np.unique(np.linspace(0, x.size - 1, min(x.size, MOST_POINTS)).astype(np.int64))
    columns: Columns = {"place": x[shown].tolist()}
    for label, values in chains.items():
        line = np.asarray(values, np.float64)
        if line.shape != x.shape:
            raise ValueError(f"{label} has shape {line.shape}, but there are {x.size} places")
        columns[label] = line[shown].round(3).tolist()
    return columns


def traces(
    places: ArrayLike,
    chains: Mapping[str, ArrayLike],
    /,
    *,
    colours: Sequence[str] = LINES,
    band: tuple[float, float] | None = None,
    x_label: str = "moves",
    y_label: str = "ln weight of the order (nats)",
    y_range: tuple[float, float] | None = None,
    name: str = "trace",
    title: str = "Trace of each chain",
    alt: str = "Log weight of the current order of each chain, move by move",
) -> figure:
    """A line for each chain, as many as there are colours; source `name` holds `traces_data`.

    Parameters
    ----------
    places : (T,) what the horizontal axis shows, such as moves made
    chains : label -> (T,) log weights
    colours : of the lines, in turn; four of them unless given
    band : a range to shade, such as where exact draws lie
    y_range : ends of the vertical axis; fits the data if None

    Examples
    --------
    >>> picture = traces([1, 2], {"chain 1": [-9.0, -8.0]}, band=(-8.5, -7.5))
    >>> picture.select_one({"name": "trace"}).data["chain 1"]
    [-9.0, -8.0]
    """
    if len(chains) > len(colours):
        raise ValueError(f"{len(chains)} chains, but {len(colours)} colours: show fewer")
    picture = canvas(
        title=title,
        x_label=x_label,
        y_label=y_label,
        alt=alt,
        width=560,
        height=400,
        y_range=None if y_range is None else Range1d(*y_range),
    )
    source = ColumnDataSource(data=traces_data(places, chains), name=name)
    if band is not None:
        picture.add_layout(
            BoxAnnotation(
                bottom=band[0], top=band[1], fill_color=USUAL, fill_alpha=0.5, level="underlay"
            )
        )
    for label, colour, dash in zip(chains, colours, cycle(DASHES), strict=False):
        picture.line(
            "place",
            label,
            source=source,
            line_color=colour,
            line_dash=dash,
            line_width=1.6,
            legend_label=label,
        )
    picture.xaxis.formatter = NumeralTickFormatter(format="0,0")
    picture.yaxis.formatter = NumeralTickFormatter(format="0,0.[00]")
    legend_above(picture)
    picture.axis.minor_tick_line_color = None
    return picture


def acceptance_bars_data(rates: Mapping[str, Mapping[str, float]], /) -> Columns:
    """Columns of the source of `acceptance_bars`: `place` (group, kind) and `rate`.

    Examples
    --------
    >>> acceptance_bars_data({"wine": {"swap": 0.5}})
    {'place': [('wine', 'swap')], 'rate': [0.5]}
    """
    return {
        "place": [(group, kind) for group, kinds in rates.items() for kind in kinds],
        "rate": [float(rate) for kinds in rates.values() for rate in kinds.values()],
    }


def acceptance_bars(
    rates: Mapping[str, Mapping[str, float]],
    /,
    *,
    name: str = "acceptance",
    title: str = "Accepted share of the proposed moves",
    alt: str = "Bars of the accepted share of each kind of move, in groups",
) -> figure:
    """Bars of acceptance in groups, as group -> kind of move -> share; source `name` as above.

    Examples
    --------
    >>> picture = acceptance_bars({"wine": {"swap": 0.5, "adjacent": 0.8}})
    >>> picture.select_one({"name": "acceptance"}).data["rate"]
    [0.5, 0.8]
    """
    data = acceptance_bars_data(rates)
    picture = canvas(
        title=title,
        x_label="",
        y_label="accepted share",
        alt=alt,
        width=max(360, 110 + 85 * len(data["rate"])),
        height=320,
        x_range=FactorRange(*data["place"], range_padding=0.05),
        y_range=Range1d(0, 1),
    )
    source = ColumnDataSource(data=data, name=name)
    bars = picture.vbar(
        "place", top="rate", width=0.8, source=source, fill_color=CYCLE[0], line_color=None
    )
    picture.add_tools(
        HoverTool(renderers=[bars], tooltips=[("", "@place"), ("accepted", "@rate{0.000}")])
    )
    picture.xgrid.grid_line_color = None
    picture.axis.minor_tick_line_color = None
    picture.xaxis.group_text_font_size = SMALL_FONT_SIZE
    picture.xaxis.group_text_color = INK
    return picture


def agreement_data(first: ArrayLike, second: ArrayLike, names: Sequence[str], /) -> Columns:
    """Columns of the source of `agreement`: one row an ordered pair of variables.

    Parameters
    ----------
    first, second : (n, n) edge probabilities of two runs
    names : the n variable names

    Returns
    -------
    dict
        Columns `edge` (as "rain → wet"), `first` and `second`.

    Examples
    --------
    >>> agreement_data([[0, 0.9], [0.1, 0]], [[0, 0.8], [0.2, 0]], ["rain", "wet"])["second"]
    [0.8, 0.2]
    """
    off = ~np.eye(len(names), dtype=bool)
    return {
        "edge": [f"{names[u]} → {names[v]}" for u, v in np.argwhere(off)],
        "first": square(first, names, "first")[off].tolist(),
        "second": square(second, names, "second")[off].tolist(),
    }


def agreement(
    first: ArrayLike,
    second: ArrayLike,
    names: Sequence[str],
    /,
    *,
    labels: tuple[str, str] = ("chain 1", "chain 2"),
    name: str = "agreement",
    title: str = "Edge probabilities of the two chains",
    alt: str = "Edge probabilities of one run against those of another, with the diagonal",
) -> figure:
    """A point for each edge, on the diagonal where two runs agree; source as `agreement_data`.

    Examples
    --------
    >>> picture = agreement([[0, 0.9], [0.1, 0]], [[0, 0.8], [0.2, 0]], ["rain", "wet"])
    >>> picture.select_one({"name": "agreement"}).data["first"]
    [0.9, 0.1]
    """
    picture = canvas(
        title=title,
        x_label=f"probability by {labels[0]}",
        y_label=f"probability by {labels[1]}",
        alt=alt,
        width=400,
        height=400,
        x_range=Range1d(-0.04, 1.04),
        y_range=Range1d(-0.04, 1.04),
    )
    picture.line([0, 1], [0, 1], line_color=RULE, line_dash="dashed", line_width=1.5)
    source = ColumnDataSource(data=agreement_data(first, second, names), name=name)
    picture.axis.minor_tick_line_color = None
    dots = picture.scatter(
        "first",
        "second",
        source=source,
        size=9,
        fill_color=CYCLE[0],
        fill_alpha=0.55,
        line_color=CYCLE[0],
    )
    tips = [("edge", "@edge"), (labels[0], "@first{0.000}"), (labels[1], "@second{0.000}")]
    picture.add_tools(HoverTool(renderers=[dots], tooltips=tips))
    return picture
