"""Annealed runs: the bridge to the posterior, weights piling up, bounds closing, schedules."""

from collections.abc import Mapping, Sequence

import numpy as np
from bokeh.models import (
    ColumnDataSource,
    DataRange1d,
    FixedTicker,
    HoverTool,
    NumeralTickFormatter,
    Range1d,
)
from bokeh.plotting import figure
from numpy.typing import ArrayLike, NDArray

from bnlab.plots.canvas import CYCLE, INK, PALE, WIDTH, canvas, legend_above, vector
from bnlab.plots.edges import Columns

Floats = NDArray[np.float64]

HEIGHT = 330
COLOURS = (CYCLE[0], CYCLE[5], CYCLE[3], CYCLE[7], CYCLE[6], CYCLE[1])
DASHES = ("solid", "dashed", "dotted", "dotdash", "dashdot", "solid")
STEPS = "annealing steps of a run"


def bridge(
    betas: ArrayLike,
    lines: Mapping[str, ArrayLike],
    /,
    *,
    name: str = "bridge",
    title: str = "Probability of each order along the bridge",
    alt: str = "A line for each order: its probability as beta goes from 0, all equal, to 1",
) -> figure:
    """The probability of each of up to six orders at each inverse temperature.

    Parameters
    ----------
    betas : (k,) inverse temperatures
    lines : name of an order -> (k,) probabilities, columns of the source `name` beside `beta`

    Examples
    --------
    >>> picture = bridge([0, 1], {"A B": [0.5, 0.9], "B A": [0.5, 0.1]})
    >>> picture.select_one({"name": "bridge"}).data["B A"]
    array([0.5, 0.1])
    """
    picture = canvas(
        title=title,
        x_label="inverse temperature β: uniform at 0, posterior at 1",
        y_label="probability",
        alt=alt,
        width=WIDTH + 60,
        height=HEIGHT,
        x_range=Range1d(-0.01, 1.01),
        y_range=Range1d(0, 1),
    )
    x = np.asarray(betas, np.float64)
    columns = {label: vector(values, x.size, label) for label, values in lines.items()}
    source = ColumnDataSource(data={"beta": x, **columns}, name=name)
    for label, colour, dash in zip(lines, COLOURS, DASHES, strict=False):
        picture.line(
            "beta",
            label,
            source=source,
            line_color=colour,
            line_dash=dash,
            line_width=2.5,
            legend_label=label,
        )
    legend_above(picture)
    picture.axis.minor_tick_line_color = None
    return picture


def weight_pile_data(gaps: ArrayLike, ends: tuple[float, float], /, *, bins: int = 50) -> Columns:
    """Columns of the source of `weight_pile`: `left`, `right` (nats) and `runs` (a count).

    Parameters
    ----------
    gaps : (T,) ln weight of each run less ln Z, nats; those outside `ends` count at the ends
    ends : of the axis, nats

    Examples
    --------
    >>> weight_pile_data([-9, -1, 0], (-10, 10), bins=2)["runs"]
    [2, 1]
    """
    runs, edges = np.histogram(np.clip(gaps, *ends), bins=bins, range=ends)
    return {"left": edges[:-1].tolist(), "right": edges[1:].tolist(), "runs": runs.tolist()}


def weight_pile_marks(estimate: float, /) -> Columns:
    """Columns of the source of the line at the estimate in `weight_pile`.

    Examples
    --------
    >>> weight_pile_marks(-0.5)
    {'estimate': [-0.5]}
    """
    return {"estimate": [float(estimate)]}


def weight_pile(
    gaps: ArrayLike,
    estimate: float,
    ends: tuple[float, float],
    /,
    *,
    x_label: str = "ln weight of a run − exact ln Z (nats)",
    y_label: str = "runs",
    name: str = "weights",
    title: str = "Weights of the runs",
    alt: str = "Histogram of log weights of runs, with lines at the estimate and the exact value",
) -> figure:
    """Histogram of ln weights around the exact value 0, and a line at the estimate.

    Sources: `name` holds `weight_pile_data`, `name` + "_marks" holds `weight_pile_marks`.

    Parameters
    ----------
    gaps, ends : as in `weight_pile_data`
    estimate : ln of the mean weight, less ln Z, nats

    Examples
    --------
    >>> picture = weight_pile([-9, -1, 0], -0.9, (-10, 10))
    >>> sum(picture.select_one({"name": "weights"}).data["runs"])
    3
    """
    picture = canvas(
        title=title,
        x_label=x_label,
        y_label=y_label,
        alt=alt,
        width=WIDTH + 60,
        height=HEIGHT,
        x_range=Range1d(*ends),
        y_range=DataRange1d(start=0),
    )
    bars = picture.quad(
        left="left",
        right="right",
        bottom=0,
        top="runs",
        source=ColumnDataSource(data=weight_pile_data(gaps, ends), name=name),
        fill_color=PALE,
        line_color="#ffffff",
    )
    picture.vspan(x=[0], line_color=CYCLE[3], line_width=3, legend_label="exact")
    picture.vspan(
        x="estimate",
        source=ColumnDataSource(data=weight_pile_marks(estimate), name=f"{name}_marks"),
        line_color=INK,
        line_width=2,
        line_dash="dashed",
        legend_label="estimate: ln of the mean weight",
    )
    tips = [("from", "@left{0.0} nats"), ("to", "@right{0.0} nats"), (y_label, "@runs")]
    picture.add_tools(HoverTool(renderers=[bars], tooltips=tips))
    legend_above(picture)
    picture.axis.minor_tick_line_color = None
    return picture


def heaviest_data(log_weights: ArrayLike, /, *, most: int = 20) -> Columns:
    """Columns of the source of `heaviest`: `rank` (from 1) and `share` of the whole weight.

    Examples
    --------
    >>> heaviest_data(np.log([1, 3]))
    {'rank': [1, 2], 'share': [0.75, 0.25]}
    """
    values = np.asarray(log_weights, np.float64).ravel()
    shares = np.exp(np.sort(values)[::-1][:most] - np.logaddexp.reduce(values))
    return {"rank": list(range(1, shares.size + 1)), "share": shares.round(12).tolist()}


def heaviest(
    log_weights: ArrayLike,
    /,
    *,
    most: int = 20,
    name: str = "heaviest",
    title: str = "Share of the whole weight held by the heaviest runs",
    alt: str = "Bars of the share of the whole weight that each of the heaviest runs holds",
) -> figure:
    """A bar for each of the heaviest runs: a few high bars mean a few runs that count.

    Parameters
    ----------
    log_weights : (T,) nats
    most : number of bars; the source `name` holds `heaviest_data`

    Examples
    --------
    >>> picture = heaviest(np.log([1, 3]))
    >>> picture.select_one({"name": "heaviest"}).data["share"]
    [0.75, 0.25]
    """
    picture = canvas(
        title=title,
        x_label="runs, heaviest first",
        y_label="share of the whole weight",
        alt=alt,
        width=WIDTH,
        height=HEIGHT,
        x_range=Range1d(0.3, most + 0.7),
        y_range=Range1d(0, 1),
    )
    source = ColumnDataSource(data=heaviest_data(log_weights, most=most), name=name)
    bars = picture.vbar(
        "rank", top="share", width=0.8, source=source, fill_color=CYCLE[0], line_color=None
    )
    tips = [("run", "number @rank by weight"), ("share", "@share{0.000}")]
    picture.add_tools(HoverTool(renderers=[bars], tooltips=tips))
    picture.xaxis.ticker = FixedTicker(ticks=[1, *range(5, most + 1, 5)])
    picture.xgrid.grid_line_color = None
    picture.axis.minor_tick_line_color = None
    return picture


def evidence_bounds_data(steps: Sequence[int], lower: ArrayLike, upper: ArrayLike, /) -> Columns:
    """Columns of the source of `evidence_bounds`: `steps`, `lower` and `upper` (nats from exact).

    Examples
    --------
    >>> evidence_bounds_data([10, 100], [-3, -1], [2, 1])["lower"]
    [-3.0, -1.0]
    """
    return {
        "steps": [int(r) for r in steps],
        "lower": vector(lower, len(steps), "lower").tolist(),
        "upper": vector(upper, len(steps), "upper").tolist(),
    }


def evidence_bounds(
    steps: Sequence[int],
    lower: ArrayLike,
    upper: ArrayLike,
    /,
    *,
    name: str = "bounds",
    title: str = "Bounds on the evidence",
    alt: str = "Lower and upper bounds on the evidence against annealing steps, and the exact line",
) -> figure:
    """A bound from below and one from above at each number of steps, with the exact value at 0.

    Parameters
    ----------
    steps : k numbers of annealing steps, at least 1
    lower, upper : (k,) ln of the bounds less the exact value, nats; nan where not computed. The
        source `name` holds `evidence_bounds_data`

    Examples
    --------
    >>> picture = evidence_bounds([10, 100], [-3, -1], [2, 1])
    >>> picture.select_one({"name": "bounds"}).data["upper"]
    [2.0, 1.0]
    """
    picture = canvas(
        title=title,
        x_label=STEPS,
        y_label="ln p(D) − exact value (nats)",
        alt=alt,
        width=WIDTH + 60,
        height=WIDTH,
        x_axis_type="log",
        x_range=Range1d(min(steps) / 1.5, max(steps) * 1.5),
    )
    picture.xaxis.ticker = FixedTicker(ticks=list(steps))
    picture.xaxis.formatter = NumeralTickFormatter(format="0,0")
    picture.axis.minor_tick_line_color = None
    source = ColumnDataSource(data=evidence_bounds_data(steps, lower, upper), name=name)
    picture.varea("steps", "lower", "upper", source=source, fill_color=PALE, fill_alpha=0.35)
    marks = []
    for column, marker, colour in (("upper", "inverted_triangle", 3), ("lower", "triangle", 0)):
        style = {"line_color": CYCLE[colour], "legend_label": f"{column} bound"}
        picture.line("steps", column, source=source, line_width=2, **style)
        marks.append(
            picture.scatter(
                "steps",
                column,
                source=source,
                marker=marker,
                size=12,
                fill_color=CYCLE[colour],
                **style,
            )
        )
    picture.hspan(y=[0], line_color=INK, line_dash="dashed", line_width=2, legend_label="exact")
    tips = [("steps", "@steps{0,0}"), ("upper", "@upper{0.00}"), ("lower", "@lower{0.00}")]
    picture.add_tools(HoverTool(renderers=marks, tooltips=tips))
    legend_above(picture)
    return picture


def acceptance_path_data(betas: ArrayLike, rates: ArrayLike, /) -> Columns:
    """Columns of the source of `acceptance_path`: `beta` and `rate`.

    Examples
    --------
    >>> acceptance_path_data([0, 0.5], [1, 0.4])
    {'beta': [0.0, 0.5], 'rate': [1.0, 0.4]}
    """
    x = np.asarray(betas, np.float64)
    return {"beta": x.tolist(), "rate": vector(rates, x.size, "rates").tolist()}


def acceptance_path(
    betas: ArrayLike,
    rates: ArrayLike,
    /,
    *,
    name: str = "acceptance_path",
    title: str = "Accepted share of the moves along the schedule",
    alt: str = "Accepted share of moves against beta; each mark stands for as many steps",
) -> figure:
    """A mark for each part of the schedule: where its steps are, and how many moves pass there.

    Parameters
    ----------
    betas, rates : (k,) inverse temperature and accepted share of each part; the source `name` holds
        `acceptance_path_data`

    Examples
    --------
    >>> picture = acceptance_path([0, 0.5], [1, 0.4])
    >>> picture.select_one({"name": "acceptance_path"}).data["rate"]
    [1.0, 0.4]
    """
    picture = canvas(
        title=title,
        x_label="inverse temperature β",
        y_label="accepted share",
        alt=alt,
        width=WIDTH,
        height=HEIGHT + 60,
        x_range=Range1d(-0.03, 1.03),
        y_range=Range1d(0, 1.04),
    )
    source = ColumnDataSource(data=acceptance_path_data(betas, rates), name=name)
    dots = picture.scatter(
        "beta", "rate", source=source, size=8, fill_color=CYCLE[0], fill_alpha=0.5, line_color=INK
    )
    tips = [("β", "@beta{0.000}"), ("accepted", "@rate{0.000}")]
    picture.add_tools(HoverTool(renderers=[dots], tooltips=tips))
    picture.axis.minor_tick_line_color = None
    return picture


def speed_up(
    workers: Sequence[int],
    seconds: ArrayLike,
    /,
    *,
    name: str = "speed_up",
    title: str = "Speed-up by more workers",
    alt: str = "Measured speed-up against the number of workers, beside the ideal line",
) -> figure:
    """seconds[0] / seconds against workers, beside the ideal; source columns `workers`, `times`.

    Examples
    --------
    >>> speed_up([1, 2], [3.0, 1.5]).select_one({"name": "speed_up"}).data["times"]
    [1.0, 2.0]
    """
    spent = vector(seconds, len(workers), "seconds")
    most = max(workers)
    picture = canvas(
        title=title,
        x_label="workers (threads)",
        y_label="times as fast as one",
        alt=alt,
        width=WIDTH,
        height=HEIGHT,
        x_range=Range1d(0, most + 0.5),
        y_range=Range1d(0, most + 0.5),
    )
    columns = {"workers": list(workers), "times": (spent[0] / spent).tolist()}
    source = ColumnDataSource(data=columns, name=name)
    picture.line(
        [0, most], [0, most], line_color=INK, line_dash="dashed", line_width=2, legend_label="ideal"
    )
    dots = picture.scatter(
        "workers", "times", source=source, size=12, fill_color=CYCLE[0], legend_label="measured"
    )
    picture.add_tools(
        HoverTool(renderers=[dots], tooltips=[("workers", "@workers"), ("times", "@times{0.00}")])
    )
    legend_above(picture)
    picture.axis.ticker = FixedTicker(ticks=[0, *workers])
    return picture
