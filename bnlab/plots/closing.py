"""An interval that is certain, closing as draws grow, beside estimates and exact values."""

from collections.abc import Mapping

import numpy as np
from bokeh.models import (
    ColumnDataSource,
    FixedTicker,
    HoverTool,
    LegendItem,
    NumeralTickFormatter,
    Range1d,
)
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from bnlab.plots.canvas import CYCLE, INK, PALE, WIDTH, canvas, legend_below, vector
from bnlab.plots.edges import Columns

COLOURS = (CYCLE[0], CYCLE[3])
MARKERS = ("circle", "square")
DASHES = ("solid", "dotted")


def closing_data(
    draws: ArrayLike, low: ArrayLike, high: ArrayLike, estimates: Mapping[str, ArrayLike], /
) -> Columns:
    """Columns of the source of `closing`: one row for each number of draws.

    Parameters
    ----------
    draws : (k,) numbers of draws
    low, high : (k,) ends of the interval
    estimates : label -> (k,) estimates

    Returns
    -------
    dict
        Columns `draws`, `low`, `high`, and one for each estimate.

    Examples
    --------
    >>> closing_data([10], [0.1], [0.9], {"IW-DDS": [0.4]})
    {'draws': [10.0], 'low': [0.1], 'high': [0.9], 'IW-DDS': [0.4]}
    """
    sizes = np.asarray(draws, np.float64)
    columns: Columns = {"draws": sizes.tolist()}
    for label, values in {"low": low, "high": high, **estimates}.items():
        columns[label] = vector(values, len(sizes), label).tolist()
    return columns


def closing_levels(levels: Mapping[str, float], /) -> Columns:
    """Columns of the source of the horizontal lines of `closing`: one for each line, one row.

    Examples
    --------
    >>> closing_levels({"exact": 0.25})
    {'exact': [0.25]}
    """
    return {label: [float(value)] for label, value in levels.items()}


def closing(
    draws: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    estimates: Mapping[str, ArrayLike],
    levels: Mapping[str, float],
    /,
    *,
    most: int,
    name: str = "closing",
    title: str,
    alt: str,
) -> figure:
    """A band that holds a probability for certain, estimates in it, and exact values as lines.

    Parameters
    ----------
    draws, low, high, estimates : as in `closing_data`; source `name` holds that
    levels : label -> exact probability, horizontal lines; source `name` + "_levels" holds
        `closing_levels`
    most : right end of the axis of draws, so that it stays while draws come in

    Examples
    --------
    >>> picture = closing([1, 10], [0, 0.2], [1, 0.5], {"IW-DDS": [0.4, 0.3]}, {"exact": 0.25},
    ...     most=100, title="An edge", alt="Interval of an edge against draws")
    >>> picture.select_one({"name": "closing"}).data["high"]
    [1.0, 0.5]
    """
    picture = canvas(
        title=title,
        x_label="networks drawn",
        y_label="probability",
        alt=alt,
        width=WIDTH + 180,
        height=400,
        x_axis_type="log",
        x_range=Range1d(0.8, most * 1.3),
        y_range=Range1d(-0.02, 1.02),
    )
    source = ColumnDataSource(data=closing_data(draws, low, high, estimates), name=name)
    band = picture.varea("draws", "low", "high", source=source, fill_color=PALE, fill_alpha=0.7)
    ends = picture.segment(
        "draws", "low", "draws", "high", source=source, line_color=INK, line_width=1.5
    )
    items = [LegendItem(label="certain interval", renderers=[band, ends])]
    values = ColumnDataSource(data=closing_levels(levels), name=f"{name}_levels")
    for label, dash in zip(levels, DASHES, strict=False):
        line = picture.hspan(y=label, source=values, line_color=INK, line_width=2, line_dash=dash)
        items.append(LegendItem(label=label, renderers=[line]))
    for i, label in enumerate(estimates):
        line = picture.line("draws", label, source=source, line_color=COLOURS[i], line_width=2)
        dots = picture.scatter(
            "draws",
            label,
            source=source,
            marker=MARKERS[i],
            size=8,
            fill_color=COLOURS[i],
            line_color="#ffffff",
        )
        items.append(LegendItem(label=label, renderers=[line, dots]))
        tips = [("networks drawn", "@draws{0,0}"), (label, f"@{{{label}}}{{0.0000}}")]
        tips.append(("certain interval", "@low{0.0000} to @high{0.0000}"))
        picture.add_tools(HoverTool(renderers=[dots], tooltips=tips))
    legend_below(picture, items, columns=2)
    picture.xaxis.ticker = FixedTicker(ticks=[10.0**i for i in range(int(np.log10(most)) + 1)])
    picture.xaxis.formatter = NumeralTickFormatter(format="0,0")
    return picture
