"""What methods have reached against the time that they took, beside exact values and bounds."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from bokeh.models import (
    ColumnDataSource,
    FixedTicker,
    HoverTool,
    Legend,
    LegendItem,
    PrintfTickFormatter,
    Range1d,
)
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from bnlab.plots.canvas import CYCLE, INK, SMALL_FONT_SIZE, WIDTH, canvas
from bnlab.plots.edges import Columns

Groups = Mapping[str, Mapping[str, tuple[ArrayLike, ArrayLike]]]
"""Method -> setting -> (seconds, values): a colour for each method, a marker for each setting."""

COLOURS = (CYCLE[0], CYCLE[5], CYCLE[3], CYCLE[6])
MARKERS = ("circle", "square", "triangle", "diamond")
DASHES = ("solid", "dashed", "dotted")
EDGE = 1.25  # the time axis reaches so much further than the curves


def time_curves_lines(groups: Groups, /) -> Columns:
    """Columns of the source of the lines of `time_curves`: one row a curve.

    Examples
    --------
    >>> time_curves_lines({"AIS": {"r = 9": ([1, 2], [-3, -2])}})["ys"]
    [[-3.0, -2.0]]
    """
    rows = _rows(groups)
    return {
        "label": [label for label, *_ in rows],
        "xs": [x for _, x, *_ in rows],
        "ys": [y for _, _, y, *_ in rows],
        "color": [colour for *_, colour, _ in rows],
    }


def time_curves_points(groups: Groups, /) -> Columns:
    """Columns of the source of the points of `time_curves`: one row a point.

    Examples
    --------
    >>> time_curves_points({"AIS": {"r = 9": ([1, 2], [-3, -2])}})["label"]
    ['AIS r = 9', 'AIS r = 9']
    """
    points = [
        (label, a, b, colour, marker)
        for label, x, y, colour, marker in _rows(groups)
        for a, b in zip(x, y, strict=True)
    ]
    names = ("label", "x", "y", "color", "marker")
    return {name: [point[i] for point in points] for i, name in enumerate(names)}


def time_curves(
    groups: Groups,
    levels: Mapping[str, float] | None = None,
    /,
    *,
    y_label: str,
    y_range: tuple[float, float],
    y_axis_type: str = "linear",
    x_label: str = "time of one run on one core (seconds)",
    name: str = "curves",
    title: str,
    alt: str,
) -> figure:
    """Curves over a logarithmic time axis, and level lines for exact values and bounds.

    The sources `name` and `name` + "_points" take `time_curves_lines` and `time_curves_points`.

    Parameters
    ----------
    groups : method -> setting -> (seconds, values); nan leaves a gap
    levels : label -> value of a horizontal line
    y_range : ends of the vertical axis; what lies outside is cut off

    Raises
    ------
    ValueError
        If a curve has other numbers of seconds and values, or a time that is not positive.

    Examples
    --------
    >>> curves = {"AIS": {"r = 9": ([1, 2], [-3, -2])}}
    >>> picture = time_curves(curves, {"exact": -1.5}, y_label="nats", y_range=(-4, 0),
    ...     title="Evidence", alt="Evidence against time")
    >>> picture.select_one({"name": "curves"}).data["label"]
    ['AIS r = 9']
    """
    times = [t for _, x, *_ in _rows(groups) for t in x]
    picture = canvas(
        title=title,
        x_label=x_label,
        y_label=y_label,
        alt=alt,
        width=WIDTH + 100,
        x_axis_type="log",
        y_axis_type=y_axis_type,
        x_range=Range1d(min(times) / EDGE, max(times) * EDGE),
        y_range=Range1d(*y_range),
    )
    items = []
    for (label, value), dash in zip((levels or {}).items(), DASHES, strict=False):
        line = picture.hspan(y=[value], line_color=CYCLE[7], line_dash=dash, line_width=2)
        items.append(LegendItem(label=label, renderers=[line]))
    lines = ColumnDataSource(data=time_curves_lines(groups), name=name)
    points = ColumnDataSource(data=time_curves_points(groups), name=f"{name}_points")
    picture.multi_line("xs", "ys", source=lines, line_color="color", line_width=1.5)
    marks = picture.scatter(
        "x",
        "y",
        source=points,
        marker="marker",
        size=8,
        fill_color="color",
        fill_alpha=0.6,
        line_color="color",
    )
    picture.add_tools(
        HoverTool(renderers=[marks], tooltips=[("", "@label"), ("seconds", "@x"), ("value", "@y")])
    )
    firsts = {label: i for i, label in reversed(list(enumerate(points.data["label"])))}
    items += [
        LegendItem(label=label, renderers=[marks], index=firsts[label])
        for label in lines.data["label"]
    ]
    legend = Legend(
        items=items,
        ncols=3,
        location="top_left",
        margin=0,
        padding=4,
        spacing=4,
        border_line_color=None,
        label_text_font_size=SMALL_FONT_SIZE,
        label_text_color=INK,
    )
    picture.add_layout(legend, "below")
    _label(picture.xaxis, min(times), max(times))
    if y_axis_type == "log":
        _label(picture.yaxis, *y_range)
    return picture


def _label(axis: Any, low: float, high: float) -> None:
    axis.ticker = FixedTicker(ticks=_round_numbers(low, high))
    axis.formatter = PrintfTickFormatter(format="%g")


def _round_numbers(low: float, high: float) -> list[float]:
    """Powers of ten, and 2 and 5 times these when there are few."""
    factors = (1, 2, 5) if high < 300 * low else (1,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [factor * 10.0**power for power in powers for factor in factors]


def _rows(groups: Groups) -> list[tuple[str, list[float], list[float], str, str]]:
    """(label, seconds, values, colour, marker) of each curve."""
    rows = []
    for (method, settings), colour in zip(groups.items(), COLOURS, strict=False):
        for (setting, (seconds, values)), marker in zip(settings.items(), MARKERS, strict=False):
            x, y = np.asarray(seconds, np.float64), np.asarray(values, np.float64)
            if x.shape != y.shape or x.ndim != 1 or not (x > 0).all():
                raise ValueError(
                    f"{method} {setting}: seconds {x.shape} and values {y.shape} are vectors of "
                    "one length, and times are positive on a logarithmic axis"
                )
            label = f"{method} {setting}".strip()
            rows.append((label, x.tolist(), y.tolist(), colour, marker))
    return rows
