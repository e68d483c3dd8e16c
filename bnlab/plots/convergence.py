"""Draws piling up: shares beside exact values, error against draws, ours beside the published."""

from collections.abc import Mapping, Sequence

import numpy as np
from bokeh.models import (
    BasicTicker,
    ColumnDataSource,
    Dodge,
    FixedTicker,
    HoverTool,
    LegendItem,
    NumeralTickFormatter,
    Range1d,
)
from bokeh.plotting import figure
from numpy.typing import ArrayLike, NDArray

from bnlab.plots.canvas import CYCLE, INK, PALE, RULE, WIDTH, canvas, legend_below, vector
from bnlab.plots.edges import Columns

Floats = NDArray[np.float64]

FRAME_WIDTH = 300  # pixels, of pictures with a label to each row
LETTER = 6.6  # pixels, mean width of a character of the axis labels
DASHES = ("dashed", "dotted", "dotdash")


def share_bars_data(
    shares: ArrayLike, exact: ArrayLike, labels: Sequence[str], /, *, margin: float = 0.0
) -> Columns:
    """Columns of the source of `share_bars`: one row a label.

    Parameters
    ----------
    shares : (k,) the share of the draws that have each thing
    exact : (k,) its exact probability, nan where that is not known
    labels : k different names
    margin : half width of the interval around each share, which is cut to [0, 1]

    Returns
    -------
    dict
        Columns `label`, `share`, `exact`, `low` and `high`.

    Examples
    --------
    >>> share_bars_data([0.5], [0.45], ["rain → wet"], margin=0.1)["high"]
    [0.6]
    """
    share, truth = vector(shares, len(labels), "shares"), vector(exact, len(labels), "exact")
    return {
        "label": list(labels),
        "share": share.tolist(),
        "exact": truth.tolist(),
        "low": np.clip(share - margin, 0, 1).tolist(),
        "high": np.clip(share + margin, 0, 1).tolist(),
    }


def share_bars(
    shares: ArrayLike,
    exact: ArrayLike,
    labels: Sequence[str],
    /,
    *,
    margin: float = 0.0,
    largest: float = 1.0,
    name: str = "shares",
    title: str = "Share of the draws (bar) and exact probability (diamond)",
    alt: str = "Bars of the share of draws that have each thing, diamonds at its exact probability",
) -> figure:
    """Bars of shares among draws, diamonds at exact probabilities; source `name` as above.

    Parameters
    ----------
    shares, exact, labels, margin : as in `share_bars_data`; first label on top
    largest : right end of the axis

    Examples
    --------
    >>> picture = share_bars([0.5], [0.45], ["rain → wet"])
    >>> picture.select_one({"name": "shares"}).data["share"]
    [0.5]
    """
    picture = _rows(labels, title=title, x_label="probability", alt=alt, row=22)
    picture.x_range = Range1d(-0.02 * largest, largest * 1.03)  # room for a diamond at 0
    source = ColumnDataSource(data=share_bars_data(shares, exact, labels, margin=margin), name=name)
    bars = picture.hbar(
        y="label", right="share", height=0.66, source=source, fill_color=PALE, line_color=None
    )
    if margin:
        picture.segment(
            "low", "label", "high", "label", source=source, line_color=INK, line_width=1.5
        )
    picture.scatter(
        "exact",
        "label",
        source=source,
        marker="diamond",
        size=10,
        fill_color=CYCLE[3],
        line_color=INK,
    )
    tips = [("", "@label"), ("share of the draws", "@share{0.0000}"), ("exact", "@exact{0.0000}")]
    picture.add_tools(HoverTool(renderers=[bars], tooltips=tips))
    return picture


def error_curve_data(draws: ArrayLike, measured: Mapping[str, ArrayLike], /) -> Columns:
    """Columns of the source of `error_curve`: `draws`, and one for each measured line.

    Values that a logarithmic axis cannot show (0) become nan.

    Examples
    --------
    >>> error_curve_data([1, 10], {"error": [0.5, 0.1]})
    {'draws': [1.0, 10.0], 'error': [0.5, 0.1]}
    """
    sizes = np.asarray(draws, np.float64)
    columns: Columns = {"draws": sizes.tolist()}
    for label, values in measured.items():
        line = vector(values, len(sizes), label)
        columns[label] = np.where(line > 0, line, np.nan).tolist()
    return columns


def error_curve(
    draws: ArrayLike,
    measured: Mapping[str, ArrayLike],
    bounds: Mapping[str, ArrayLike],
    /,
    *,
    x_label: str = "number of draws",
    y_label: str = "error",
    y_range: tuple[float, float] | None = None,
    name: str = "measured",
    title: str = "Error against number of draws",
    alt: str = "Error against the number of draws, on logarithmic axes, with its bounds",
) -> figure:
    """What was measured at each number of draws beside its bounds, on logarithmic axes.

    Parameters
    ----------
    draws : (k,) numbers of draws, at least 1
    measured : label -> (k,) values, lines with markers; source `name` holds `error_curve_data`
    bounds : label -> (k,) values, broken lines without markers
    y_range : ends of the vertical axis; fits the data if None

    Examples
    --------
    >>> picture = error_curve([1, 10], {"largest": [0.5, 0.1]}, {"bound": [1, 0.4]})
    >>> picture.select_one({"name": "measured"}).data["largest"]
    [0.5, 0.1]
    """
    sizes = np.asarray(draws, np.float64)
    picture = canvas(
        title=title,
        x_label=x_label,
        y_label=y_label,
        alt=alt,
        width=WIDTH + 60,
        x_axis_type="log",
        y_axis_type="log",
        x_range=Range1d(sizes.min() / 1.3, sizes.max() * 1.3),
        y_range=None if y_range is None else Range1d(*y_range),
    )
    source = ColumnDataSource(data=error_curve_data(sizes, measured), name=name)
    limits = ColumnDataSource(data=error_curve_data(sizes, bounds), name=f"{name}_bounds")
    items = []
    for label, dash in zip(bounds, DASHES, strict=False):
        line = picture.line(
            "draws", label, source=limits, line_dash=dash, line_color=INK, line_width=2
        )
        items.append(LegendItem(label=label, renderers=[line]))
    for i, label in enumerate(measured):
        colour = CYCLE[(0, 3, 2)[i % 3]]
        line = picture.line("draws", label, source=source, line_color=colour, line_width=2)
        dots = picture.scatter(
            "draws",
            label,
            source=source,
            marker=("circle", "square", "triangle")[i % 3],
            size=7,
            fill_color=colour,
            line_color=colour,
        )
        items.append(LegendItem(label=label, renderers=[line, dots]))
        tips = [(x_label, "@draws{0,0}"), (label, f"@{{{label}}}{{0.0000}}")]
        picture.add_tools(HoverTool(renderers=[dots], tooltips=tips))
    legend_below(picture, items, columns=2)
    picture.xaxis.ticker = FixedTicker(ticks=_round_numbers(sizes))
    picture.xaxis.formatter = NumeralTickFormatter(format="0,0")
    return picture


def published_data(
    published: ArrayLike, ours: Sequence[ArrayLike], labels: Sequence[str], /
) -> Columns:
    """Columns of the source of `published`: one row a label.

    Parameters
    ----------
    published : (k, 2) printed means and standard deviations
    ours : k arrays of runs, empty where there are none
    labels : k different names

    Returns
    -------
    dict
        Columns `label`, `mean`, `sd`, `low`, `high` (printed mean +/- 2 sd) and `ours` (our mean).

    Examples
    --------
    >>> published_data([(0.5, 0.1)], [[0.4, 0.5]], ["DDS"])["ours"]
    [0.45]
    """
    printed = np.asarray(published, np.float64)
    if printed.shape != (len(labels), 2) or len(ours) != len(labels):
        raise ValueError(
            f"published has shape {printed.shape} and ours {len(ours)} entries, but there are "
            f"{len(labels)} labels: give each a mean, a standard deviation and its runs"
        )
    runs = [np.asarray(values, np.float64) for values in ours]
    return {
        "label": list(labels),
        "mean": printed[:, 0].tolist(),
        "sd": printed[:, 1].tolist(),
        "low": (printed[:, 0] - 2 * printed[:, 1]).tolist(),
        "high": (printed[:, 0] + 2 * printed[:, 1]).tolist(),
        "ours": [float(values.mean()) if values.size else float("nan") for values in runs],
    }


def published_runs_data(ours: Sequence[ArrayLike], labels: Sequence[str], /) -> Columns:
    """Columns of the source of the single runs in `published`: `place` and `value`.

    Examples
    --------
    >>> published_runs_data([[0.4, 0.5]], ["DDS"])
    {'place': [('DDS', -0.28), ('DDS', -0.2)], 'value': [0.4, 0.5]}
    """
    places: list[object] = []
    found: list[object] = []
    for label, values in zip(labels, ours, strict=True):
        for run, value in enumerate(np.asarray(values, np.float64).tolist()):
            places.append((label, -0.28 + 0.08 * (run % 3)))  # three heights, to tell runs apart
            found.append(value)
    return {"place": places, "value": found}


def published(
    printed: ArrayLike,
    ours: Sequence[ArrayLike],
    labels: Sequence[str],
    /,
    *,
    x_label: str = "SAD over all edges",
    name: str = "published",
    title: str = "Published mean ± 2 sd, and our runs",
    alt: str = "Published means with bars of two standard deviations, our single runs below each",
) -> figure:
    """Published values (diamond, bar of +/- 2 sd) with our runs (dots) and mean (bar) below each.

    Sources: `name` holds `published_data`, `name` + "_runs" holds `published_runs_data`.

    Examples
    --------
    >>> picture = published([(0.5, 0.1)], [[0.4, 0.5]], ["DDS"])
    >>> picture.select_one({"name": "published"}).data["mean"]
    [0.5]
    """
    picture = _rows(labels, title=title, x_label=x_label, alt=alt, row=52, frame_width=520)
    columns = published_data(printed, ours, labels)
    picture.x_range = Range1d(0, 1.05 * float((np.asarray(printed) @ (1, 2)).max()))
    source = ColumnDataSource(data=columns, name=name)
    runs = ColumnDataSource(data=published_runs_data(ours, labels), name=f"{name}_runs")
    place = {"field": "label", "transform": Dodge(value=0.15, range=picture.y_range)}
    below = {"field": "label", "transform": Dodge(value=-0.2, range=picture.y_range)}
    bar = picture.segment("low", place, "high", place, source=source, line_color=INK, line_width=2)
    mean = picture.scatter(
        "mean", place, source=source, marker="diamond", size=12, fill_color=CYCLE[3], line_color=INK
    )
    dots = picture.scatter(
        "value", "place", source=runs, size=7, fill_color=CYCLE[0], fill_alpha=0.4, line_color=None
    )
    our_mean = picture.scatter(
        "ours", below, source=source, marker="dash", angle=np.pi / 2, size=22, line_color=CYCLE[0]
    )
    our_mean.glyph.line_width = 3
    items = [
        LegendItem(label="published", renderers=[bar, mean]),
        LegendItem(label="our runs and their mean", renderers=[dots, our_mean]),
    ]
    legend_below(picture, items, columns=2)
    tips = [("", "@label"), ("published", "@mean{0.0000} (@sd{0.0000})"), ("ours", "@ours{0.0000}")]
    picture.add_tools(HoverTool(renderers=[mean, our_mean], tooltips=tips))
    return picture


def _rows(
    labels: Sequence[str],
    *,
    title: str,
    x_label: str,
    alt: str,
    row: int,
    frame_width: int = FRAME_WIDTH,
) -> figure:
    """A canvas with a label to each row of `row` pixels, first on top."""
    if len(set(labels)) < len(labels):
        raise ValueError(f"labels {list(labels)} are not all different: each row needs its own")
    room = round(LETTER * max(len(label) for label in labels))
    picture = canvas(
        title=title,
        x_label=x_label,
        y_label="",
        alt=alt,
        width=frame_width + room + 50,
        height=row * len(labels) + 100,
        x_range=Range1d(0, 1),
        y_range=list(reversed(labels)),
    )
    picture.frame_width = frame_width
    picture.frame_height = row * len(labels)
    picture.xaxis.ticker = BasicTicker(desired_num_ticks=5)
    picture.ygrid.grid_line_color = None
    picture.yaxis.axis_line_color = None
    picture.yaxis.major_tick_line_color = None
    picture.xaxis.axis_line_color = RULE
    return picture


def _round_numbers(sizes: Floats) -> list[float]:
    """Powers of ten among the sizes, and 2 and 5 times these if there are few."""
    low, high = float(sizes.min()), float(sizes.max())
    factors = (1, 2, 5) if high < 100 * low else (1,)
    powers = 10.0 ** np.arange(np.floor(np.log10(low)), np.log10(high) + 1)
    ticks = [factor * float(power) for power in powers for factor in factors]
    return [tick for tick in ticks if low / 1.3 <= tick <= high * 1.3]
