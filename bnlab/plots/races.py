"""Samplers beside each other: errors against time, errors of single chains, ROC curves."""

from collections.abc import Mapping, Sequence

import numpy as np
from bokeh.models import (
    ColumnDataSource,
    FixedTicker,
    HoverTool,
    LegendItem,
    PrintfTickFormatter,
    Range1d,
)
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from bnlab.plots.canvas import CYCLE, INK, RULE, canvas, legend_below
from bnlab.plots.edges import Columns

Points = Mapping[str, Sequence[tuple[float, ArrayLike]]]
"""Sampler -> (seconds, the errors of its chains at that time)."""

COLOURS = (CYCLE[0], CYCLE[5], CYCLE[3], CYCLE[4], CYCLE[6], CYCLE[1], RULE, INK)
MARKERS = (
    "circle",
    "square",
    "triangle",
    "diamond",
    "inverted_triangle",
    "hex",
    "star",
    "plus",
)
OUTSIDE = 1e-12
DASHES = ("solid", "dashed", "dotted", "dotdash")


def race_data(points: Points, /) -> Columns:
    """Columns of the source of the marks of `race`: one row a sampler and time.

    Returns
    -------
    dict
        Columns `sampler`, `seconds`, `mean`, `low` and `high` (over chains), `color`, `marker`.

    Examples
    --------
    >>> race_data({"local": [(0.1, [2.0, 4.0])]})["mean"]
    [3.0]
    """
    rows = [
        (label, float(seconds), np.asarray(errors, np.float64), colour, marker)
        for (label, found), colour, marker in zip(points.items(), COLOURS, MARKERS, strict=False)
        for seconds, errors in found
    ]
    return {
        "sampler": [row[0] for row in rows],
        "seconds": [row[1] for row in rows],
        "mean": [float(row[2].mean()) for row in rows],
        "low": [float(row[2].min()) for row in rows],
        "high": [float(row[2].max()) for row in rows],
        "color": [row[3] for row in rows],
        "marker": [row[4] for row in rows],
    }


def race_lines(points: Points, /) -> Columns:
    """Columns of the source of the lines of `race`, one row a sampler: `sampler`, `xs`, `ys`.

    Examples
    --------
    >>> race_lines({"local": [(0.1, [2.0, 4.0]), (0.2, [1.0])]})["ys"]
    [[3.0, 1.0]]
    """
    return {
        "sampler": list(points),
        "xs": [[float(seconds) for seconds, _ in found] for found in points.values()],
        "ys": [
            [float(np.asarray(errors).mean()) for _, errors in found] for found in points.values()
        ],
        "color": list(COLOURS[: len(points)]),
    }


def race(
    points: Points,
    ends: tuple[float, float],
    /,
    *,
    y_range: tuple[float, float] = (0.01, 100.0),
    x_label: str = "seconds of computing, all chains of a sampler together",
    y_label: str = "SAD from the exact edges",
    name: str = "race",
    title: str = "Error of the edges against time",
    alt: str = "Error of each sampler against its computing time, on logarithmic axes",
) -> figure:
    """A line for each of up to eight samplers, and a bar from its best chain to its worst.

    The sources `name` and `name` + "_lines" hold `race_data` and `race_lines`. Errors that are 0
    are below the axis.

    Parameters
    ----------
    points : sampler -> (seconds, errors of its chains); a sampler without points is in the legend
    ends : of the time axis, seconds

    Examples
    --------
    >>> picture = race({"local": [(0.1, [2.0, 4.0])], "hybrid": []}, (0.1, 1.0))
    >>> picture.select_one({"name": "race"}).data["high"]
    [4.0]
    """
    if len(points) > len(COLOURS):
        raise ValueError(f"{len(points)} samplers, but {len(COLOURS)} colours: show fewer")
    picture = canvas(
        title=title,
        x_label=x_label,
        y_label=y_label,
        alt=alt,
        width=640,
        height=500,
        x_axis_type="log",
        y_axis_type="log",
        x_range=Range1d(ends[0] / 1.3, ends[1] * 1.3),
        y_range=Range1d(*y_range),
    )
    lines = ColumnDataSource(data=race_lines(points), name=f"{name}_lines")
    marks = ColumnDataSource(data=race_data(points), name=name)
    picture.multi_line("xs", "ys", source=lines, line_color="color", line_width=2)
    picture.segment(
        "seconds", "low", "seconds", "high", source=marks, line_color="color", line_alpha=0.6
    )
    dots = picture.scatter(
        "seconds",
        "mean",
        source=marks,
        marker="marker",
        size=9,
        fill_color="color",
        line_color="color",
    )
    tips = [
        ("", "@sampler"),
        ("seconds", "@seconds{0.00}"),
        ("mean", "@mean{0.00}"),
        ("chains", "@low{0.00} to @high{0.00}"),
    ]
    picture.add_tools(HoverTool(renderers=[dots], tooltips=tips))
    items = [
        LegendItem(label=label, renderers=[_sample(picture, colour, marker)])
        for label, colour, marker in zip(points, COLOURS, MARKERS, strict=False)
    ]
    legend_below(picture, items, columns=4)
    for axis in (picture.xaxis, picture.yaxis):
        axis.ticker = FixedTicker(ticks=[a * 10.0**b for b in range(-3, 3) for a in (1, 2, 5)])
        axis.formatter = PrintfTickFormatter(format="%g")
    return picture


def chain_errors_data(stops: Sequence[float], errors: ArrayLike, stop: float, /) -> Columns:
    """Columns of the source of `chain_errors`: one row a chain, those at `stop` darker.

    Parameters
    ----------
    stops : (k,) settings
    errors : (k, chains)
    stop : one of the settings, the one to mark

    Examples
    --------
    >>> chain_errors_data([0.1, 1], [[2, 3], [4, 5]], 1)["place"]
    ['0.1', '0.1', '1', '1']
    """
    values = np.asarray(errors, np.float64)
    if values.ndim != 2 or len(values) != len(stops):
        raise ValueError(f"errors have shape {values.shape}, but there are {len(stops)} settings")
    if stop not in stops:
        raise ValueError(f"{stop} is not among the settings {list(stops)}")
    columns: Columns = {
        "place": [f"{setting:g}" for setting in stops for _ in values[0]],
        "error": [float(error) for error in values.ravel()],
        "alpha": [0.95 if setting == stop else 0.25 for setting in stops for _ in values[0]],
    }
    return columns


def chain_errors(
    stops: Sequence[float],
    errors: ArrayLike,
    stop: float,
    /,
    *,
    x_label: str,
    y_label: str = "SAD from the exact edges",
    y_range: tuple[float, float],
    name: str = "chain_errors",
    title: str = "Error of each chain",
    alt: str = "The error of each chain at each setting, on a logarithmic axis",
) -> figure:
    """A dot for the error of each chain at each setting; source `name` as above.

    Examples
    --------
    >>> picture = chain_errors([0.1, 1], [[2, 3], [4, 5]], 1, x_label="share", y_range=(1, 10))
    >>> picture.select_one({"name": "chain_errors"}).data["error"]
    [2.0, 3.0, 4.0, 5.0]
    """
    picture = canvas(
        title=title,
        x_label=x_label,
        y_label=y_label,
        alt=alt,
        width=440,
        height=400,
        y_axis_type="log",
        x_range=[f"{setting:g}" for setting in stops],
        y_range=Range1d(*y_range),
    )
    source = ColumnDataSource(data=chain_errors_data(stops, errors, stop), name=name)
    dots = picture.scatter(
        "place",
        "error",
        source=source,
        size=11,
        fill_color=CYCLE[0],
        fill_alpha="alpha",
        line_color=CYCLE[0],
        line_alpha="alpha",
    )
    tips = [(x_label, "@place"), (y_label, "@error{0.00}")]
    picture.add_tools(HoverTool(renderers=[dots], tooltips=tips))
    picture.yaxis.formatter = PrintfTickFormatter(format="%g")
    picture.yaxis.ticker = FixedTicker(ticks=[a * 10.0**b for b in range(-3, 3) for a in (1, 2, 5)])
    picture.xgrid.grid_line_color = None
    return picture


def roc_curves(
    curves: Mapping[str, tuple[ArrayLike, ArrayLike]],
    /,
    *,
    name: str = "roc",
    title: str = "ROC",
    alt: str = "Share of present pairs found against share of absent pairs called present",
) -> figure:
    """Curves of `diagnostics.roc`: label -> (false positive rates, true positive rates).

    The source `name` has a row a curve: `label`, `xs`, `ys`, `color`, `dash`.

    Examples
    --------
    >>> picture = roc_curves({"exact": ([0, 0, 1], [0, 1, 1])})
    >>> picture.select_one({"name": "roc"}).data["ys"]
    [[0.0, 1.0, 1.0]]
    """
    picture = canvas(
        title=title,
        x_label="share of absent pairs called present",
        y_label="share of present pairs found",
        alt=alt,
        width=400,
        height=480,
        x_range=Range1d(-0.02, 1.02),
        y_range=Range1d(-0.02, 1.02),
    )
    picture.line([0, 1], [0, 1], line_color=RULE, line_dash="dashed")
    columns = [
        (label, *(np.asarray(rates, np.float64).tolist() for rates in both))
        for label, both in curves.items()
    ]
    colours = [COLOURS[i % len(COLOURS)] for i in range(len(columns))]
    dashes = [DASHES[i % len(DASHES)] for i in range(len(columns))]
    source = ColumnDataSource(
        data={
            "label": [column[0] for column in columns],
            "xs": [column[1] for column in columns],
            "ys": [column[2] for column in columns],
            "color": colours,
            "dash": dashes,
        },
        name=name,
    )
    lines = picture.multi_line(
        "xs", "ys", source=source, line_color="color", line_dash="dash", line_width=2.5
    )
    items = [
        LegendItem(label=label, renderers=[lines], index=i) for i, (label, *_) in enumerate(columns)
    ]
    legend_below(picture, items, columns=2)
    return picture


def _sample(picture: figure, colour: str, marker: str) -> object:
    """A mark in the look of a sampler, far outside the frame, for the legend."""
    return picture.scatter(
        [OUTSIDE], [OUTSIDE], marker=marker, size=9, fill_color=colour, line_color=colour
    )
