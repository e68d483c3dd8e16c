"""Hidden variables: scores of all structures, curves against size or steps, hysteresis, labels."""

from collections.abc import Mapping, Sequence

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, HoverTool, NumeralTickFormatter, Range1d
from bokeh.plotting import figure
from numpy.typing import ArrayLike, NDArray

from bnlab.plots.canvas import CYCLE, INK, PALE, RULE, WIDTH, canvas, legend_above, vector
from bnlab.plots.edges import Columns

Floats = NDArray[np.float64]

COLOURS = (CYCLE[0], CYCLE[5], CYCLE[3], CYCLE[7], CYCLE[6], CYCLE[1])
MARKERS = ("circle", "square", "triangle", "diamond", "inverted_triangle", "hex")
DASHES = ("dashed", "dotted", "dotdash")


def structure_scores_data(parameters: ArrayLike, scores: ArrayLike, /) -> Columns:
    """Columns of the source of `structure_scores`: `number`, `parameters` and `score`.

    Examples
    --------
    >>> structure_scores_data([18, 27], [-9.0, -8.0])["score"]
    [-9.0, -8.0]
    """
    x = np.asarray(parameters, np.int64)
    y = vector(scores, x.size, "scores")
    return {"number": list(range(x.size)), "parameters": x.tolist(), "score": y.tolist()}


def structure_scores_marks(parameters: ArrayLike, scores: ArrayLike, truth: int, /) -> Columns:
    """Columns of the marks in `structure_scores`: the true structure, and the highest score.

    Examples
    --------
    >>> structure_scores_marks([18, 27], [-9.0, -8.0], 0)
    {'true_x': [18], 'true_y': [-9.0], 'best_x': [27], 'best_y': [-8.0]}
    """
    x, y = np.asarray(parameters, np.int64), np.asarray(scores, np.float64)
    best = truth if np.isnan(y).all() else int(np.nanargmax(y))
    return {
        "true_x": [int(x[truth])],
        "true_y": [float(y[truth])],
        "best_x": [int(x[best])],
        "best_y": [float(y[best])],
    }


def structure_scores(
    parameters: ArrayLike,
    scores: ArrayLike,
    truth: int,
    /,
    *,
    y_range: tuple[float, float],
    name: str,
    title: str,
    alt: str = "A dot for each structure: its score against its number of parameters",
) -> figure:
    """A dot for each structure, a circle around the true one, a cross on the highest.

    Sources: `name` holds `structure_scores_data`, `name` + "_marks" `structure_scores_marks`.

    Parameters
    ----------
    parameters : (N,) numbers of free parameters
    scores : (N,) nats; nan where there is none yet
    truth : which structure is the true one
    y_range : ends of the vertical axis, nats

    Examples
    --------
    >>> picture = structure_scores(
    ...     [18, 27], [-9.0, -8.0], 0, y_range=(-10, -7), name="vb", title="VB")
    >>> picture.select_one({"name": "vb_marks"}).data["best_x"]
    [27]
    """
    x = np.asarray(parameters, np.int64)
    picture = canvas(
        title=title,
        x_label="free parameters",
        y_label="score (nats)",
        alt=alt,
        width=300,
        height=290,
        x_range=Range1d(x.min() - 3, x.max() + 3),
        y_range=Range1d(*y_range),
    )
    source = ColumnDataSource(data=structure_scores_data(x, scores), name=name)
    dots = picture.scatter(
        "parameters", "score", source=source, size=5, fill_color=CYCLE[0], line_color=None
    )
    marks = ColumnDataSource(data=structure_scores_marks(x, scores, truth), name=f"{name}_marks")
    style = {"source": marks, "line_width": 2.5}
    picture.scatter("true_x", "true_y", size=15, fill_color=None, line_color=CYCLE[3], **style)
    picture.scatter("best_x", "best_y", size=12, marker="x", line_color=INK, **style)
    tips = [("structure", "@number"), ("parameters", "@parameters"), ("score", "@score{0.0}")]
    picture.add_tools(HoverTool(renderers=[dots], tooltips=tips))
    picture.yaxis.formatter = NumeralTickFormatter(format="0,0")
    picture.axis.minor_tick_line_color = None
    return picture


def log_curves_data(x: Sequence[float], lines: Mapping[str, ArrayLike], /) -> Columns:
    """Columns of the source of `log_curves`: `x`, and one for each line.

    Examples
    --------
    >>> log_curves_data([10, 100], {"VB": [3, 1]})
    {'x': [10.0, 100.0], 'VB': [3.0, 1.0]}
    """
    columns: Columns = {"x": [float(value) for value in x]}
    for label, values in lines.items():
        columns[label] = vector(values, len(x), label).tolist()
    return columns


def log_curves_rules(rules: Mapping[str, float], /) -> Columns:
    """Columns of the source of the horizontal lines of `log_curves`, one column a line.

    Examples
    --------
    >>> log_curves_rules({"VB": -2.5})
    {'VB': [-2.5]}
    """
    return {label: [float(value)] for label, value in rules.items()}


def log_curves(
    x: Sequence[float],
    lines: Mapping[str, ArrayLike],
    rules: Mapping[str, float],
    /,
    *,
    x_label: str,
    y_label: str,
    title: str,
    alt: str,
    name: str,
    y_range: tuple[float, float] | None = None,
    y_axis_type: str = "linear",
    band: tuple[str, str] | None = None,
    ticks: Sequence[float] | None = None,
    x_ticks: Sequence[float] | None = None,
) -> figure:
    """Up to six lines with markers over a logarithmic axis, and up to three horizontal lines.

    Sources: `name` holds `log_curves_data`, `name` + "_rules" holds `log_curves_rules`.

    Parameters
    ----------
    x : k positive numbers
    lines : label -> (k,) values, nan where there is none
    rules : label -> the height of a broken line
    y_range : ends of the vertical axis, fits the data if None
    y_axis_type : "linear" or "log"
    band : labels of two lines with a shade between them
    ticks, x_ticks : of the vertical axis, and of the other (x if None)

    Examples
    --------
    >>> picture = log_curves([10, 100], {"AIS": [-9.0, -8.0]}, {"VB": -8.2}, x_label="steps",
    ...     y_label="nats", title="AIS", alt="AIS against steps", name="steps")
    >>> picture.select_one({"name": "steps_rules"}).data["VB"]
    [-8.2]
    """
    if len(lines) > len(COLOURS) or len(rules) > len(DASHES):
        raise ValueError(
            f"{len(lines)} lines and {len(rules)} rules: at most {len(COLOURS)} and "
            f"{len(DASHES)} can be told apart"
        )
    picture = canvas(
        title=title,
        x_label=x_label,
        y_label=y_label,
        alt=alt,
        width=WIDTH + 80,
        height=WIDTH,
        x_axis_type="log",
        y_axis_type=y_axis_type,
        x_range=Range1d(min(x) / 1.5, max(x) * 1.5),
        y_range=None if y_range is None else Range1d(*y_range),
    )
    source = ColumnDataSource(data=log_curves_data(x, lines), name=name)
    if band is not None:
        picture.varea("x", *band, source=source, fill_color=PALE, fill_alpha=0.35)
    levels = ColumnDataSource(data=log_curves_rules(rules), name=f"{name}_rules")
    for label, dash in zip(rules, DASHES, strict=False):
        picture.hspan(
            y=label,
            source=levels,
            line_color=INK,
            line_dash=dash,
            line_width=2,
            legend_label=label,
        )
    dots = []
    for label, colour, marker in zip(lines, COLOURS, MARKERS, strict=False):
        style = {"source": source, "legend_label": label, "line_color": colour}
        picture.line("x", label, line_width=2, **style)
        dots.append(picture.scatter("x", label, marker=marker, size=8, fill_color=colour, **style))
    tips = [(x_label, "@x{0,0}"), *((label, f"@{{{label}}}{{0.00}}") for label in lines)]
    picture.add_tools(HoverTool(renderers=dots, tooltips=tips))
    picture.xaxis.ticker = FixedTicker(ticks=list(x if x_ticks is None else x_ticks))
    picture.xaxis.formatter = NumeralTickFormatter(format="0,0")
    picture.xaxis.major_label_orientation = 0.8
    picture.yaxis.formatter = NumeralTickFormatter(format="0,0.[0]")
    if ticks is not None:
        picture.yaxis.ticker = FixedTicker(ticks=list(ticks))
    legend_above(picture)
    picture.legend[0].spacing = 8
    picture.axis.minor_tick_line_color = None
    return picture


def hysteresis_data(upward: ArrayLike, reverse: ArrayLike, /) -> Columns:
    """Columns of the source of `hysteresis`: `part` (from 1), `upward` and `reverse`.

    Examples
    --------
    >>> hysteresis_data([-5, -1], [-3, -1])["reverse"]
    [-3.0, -1.0]
    """
    y = np.asarray(upward, np.float64)
    other = vector(reverse, y.size, "reverse")
    return {"part": list(range(1, y.size + 1)), "upward": y.tolist(), "reverse": other.tolist()}


def hysteresis(
    upward: ArrayLike,
    reverse: ArrayLike,
    /,
    *,
    name: str = "ratios",
    title: str = "Slope of ln Z in each part of the schedule",
    alt: str = "Slope of ln Z by upward and by reverse runs in each part of the schedule",
) -> figure:
    """What upward and reverse runs say of each part of a schedule; their gap is shaded.

    Parameters
    ----------
    upward, reverse : (k,) ln ratios of the parts over their widths in τ; the source `name` holds
        `hysteresis_data`

    Examples
    --------
    >>> hysteresis([-5, -1], [-3, -1]).select_one({"name": "ratios"}).data["upward"]
    [-5.0, -1.0]
    """
    data = hysteresis_data(upward, reverse)
    picture = canvas(
        title=title,
        x_label="part of the schedule, from prior to posterior",
        y_label="ln ratio ÷ width in τ (nats)",
        alt=alt,
        width=WIDTH + 60,
        height=WIDTH - 40,
        x_range=Range1d(0.5, len(data["part"]) + 0.5),
    )
    source = ColumnDataSource(data=data, name=name)
    picture.varea("part", "upward", "reverse", source=source, fill_color=PALE, fill_alpha=0.5)
    marks = []
    for column, marker, colour in (("upward", "triangle", 0), ("reverse", "inverted_triangle", 3)):
        style = {"source": source, "line_color": CYCLE[colour], "legend_label": column}
        picture.line("part", column, line_width=2, **style)
        fill = CYCLE[colour]
        marks.append(
            picture.scatter("part", column, marker=marker, size=9, fill_color=fill, **style)
        )
    tips = [("part", "@part"), ("upward", "@upward{0.0}"), ("reverse", "@reverse{0.0}")]
    picture.add_tools(HoverTool(renderers=marks, tooltips=tips))
    picture.axis.minor_tick_line_color = None
    legend_above(picture)
    return picture


def label_map_data(first: ArrayLike, second: ArrayLike, /) -> Columns:
    """Columns of the source of `label_map`: `first` and `second`, one row a climb.

    Examples
    --------
    >>> label_map_data([0.1, 0.9], [0.2, 0.2])["first"]
    [0.1, 0.9]
    """
    x = np.asarray(first, np.float64)
    return {"first": x.tolist(), "second": vector(second, x.size, "second").tolist()}


def label_map(
    first: ArrayLike,
    second: ArrayLike,
    true: tuple[float, float],
    /,
    *,
    name: str = "labels",
    title: str = "Where the climbs ended: one dot a climb",
    alt: str = "A dot for each climb: probability of state 1 of the two hidden nodes; true crosses",
) -> figure:
    """Where climbs ended, by the probabilities that two hidden nodes are in their first state.

    Parameters
    ----------
    first, second : (N,) probabilities; the source `name` holds `label_map_data`
    true : the two probabilities of the simulation, marked with all renamings of states

    Examples
    --------
    >>> picture = label_map([0.1, 0.9], [0.2, 0.2], (0.12, 0.08))
    >>> picture.select_one({"name": "labels"}).data["second"]
    [0.2, 0.2]
    """
    picture = canvas(
        title=title,
        x_label="p(s1 = 1)",
        y_label="p(s2 = 1)",
        alt=alt,
        x_range=Range1d(-0.02, 1.02),
        y_range=Range1d(-0.02, 1.02),
    )
    picture.line([0.5, 0.5], [0, 1], line_color=RULE, line_dash="dotted")
    picture.line([0, 1], [0.5, 0.5], line_color=RULE, line_dash="dotted")
    source = ColumnDataSource(data=label_map_data(first, second), name=name)
    dots = picture.scatter(
        "first",
        "second",
        source=source,
        size=7,
        fill_color=CYCLE[0],
        fill_alpha=0.5,
        line_color=None,
        legend_label="climb",
    )
    a, b = true
    picture.scatter(
        [a, 1 - a, a, 1 - a],
        [b, b, 1 - b, 1 - b],
        marker="x",
        size=14,
        line_color=CYCLE[3],
        line_width=3,
        legend_label="true tables, states renamed",
    )
    tips = [("p(s1 = 1)", "@first{0.00}"), ("p(s2 = 1)", "@second{0.00}")]
    picture.add_tools(HoverTool(renderers=[dots], tooltips=tips))
    legend_above(picture)
    picture.axis.minor_tick_line_color = None
    return picture
