"""Annealed runs: the bridge to the posterior, weights piling up, bounds closing, schedules."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, DataRange1d
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from bnlab.checks import Floats
from bnlab.plots.canvas import (
    COLOURS,
    CYCLE,
    DASHES,
    INK,
    PALE,
    Columns,
    canvas,
    entries,
    hover,
    legend_above,
    legend_below,
    set_ticks,
    vector,
)
from bnlab.plots.curves import lines, rules, shade, wide

HEIGHT = 330
BETA = "inverse temperature β: uniform at 0, posterior at 1"
BOUNDS = ("inverted_triangle", "triangle")


def bridge(betas: ArrayLike, orders: Mapping[str, ArrayLike], /) -> figure:
    """Draw the probability of each of up to eight orders at each inverse temperature.

    Parameters
    ----------
    betas : (k,) inverse temperatures
    orders : name of an order -> (k,) probabilities, columns of the source "bridge" beside `beta`
    """
    title = "Probability of each order along the bridge"
    alt = "A line for each order: its probability as beta goes from 0, all equal, to 1"
    picture = canvas(title, alt, BETA, "probability", size=(480, 330), x=(-0.01, 1.01), y=(0, 1))
    data = wide("beta", betas, orders)
    legend_above(picture, lines(picture, data, name="bridge", dashes=DASHES, width=2.5))
    return picture


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
    """Draw a histogram of ln weights around the exact value 0, and a line at the estimate.

    Sources: `name`, columns `left`, `right` (nats) and `runs`, and `name` + "_marks", `estimate`.

    Parameters
    ----------
    gaps : (T,) ln weight of each run less ln Z, nats; those outside `ends` count at the ends
    estimate : ln of the mean weight, less ln Z, nats
    ends : of the axis, nats
    """
    picture = canvas(title, alt, x_label, y_label, size=(480, 330), x=ends, y=DataRange1d(start=0))
    counts, edges = np.histogram(np.clip(gaps, *ends), bins=50, range=ends)
    bars = histogram(picture, counts, edges, name=name, count="runs", fill_color=PALE)
    marks = ColumnDataSource(data={"estimate": [float(estimate)]}, name=f"{name}_marks")
    exact = picture.vspan(x=[0], line_color=CYCLE[3], line_width=3)
    look = {"line_color": INK, "line_width": 2, "line_dash": "dashed"}
    mean = picture.vspan(x="estimate", source=marks, **look)
    legend_above(picture, entries({"exact": exact, "estimate: ln of the mean weight": mean}))
    tips = ("from", "@left{0.0} nats"), ("to", "@right{0.0} nats"), (y_label, "@runs")
    hover(picture, [bars], *tips)
    return picture


def histogram(
    picture: figure, counts: ArrayLike, edges: Floats, /, *, name: str, count: str, **look: object
) -> object:
    """Draw the bars of a histogram; the source has `left`, `right` and the `count`."""
    columns: Columns = {"left": edges[:-1].tolist(), "right": edges[1:].tolist()}
    columns[count] = np.asarray(counts).tolist()
    source = ColumnDataSource(data=columns, name=name)
    look = {"source": source, "line_color": "#ffffff", **look}
    return picture.quad(left="left", right="right", bottom=0, top=count, **look)


def heaviest(log_weights: ArrayLike, /, *, most: int = 20) -> figure:
    """Draw a bar for each of the heaviest runs: a few high bars mean a few runs that count.

    The source "heaviest" has `rank` (from 1) and `share` of the whole weight.

    Parameters
    ----------
    log_weights : (T,) nats
    most : number of bars
    """
    title = "Share of the whole weight held by the heaviest runs"
    alt = "Bars of the share of the whole weight that each of the heaviest runs holds"
    axes = "runs, heaviest first", "share of the whole weight"
    picture = canvas(title, alt, *axes, size=(420, 330), x=(0.3, most + 0.7), y=(0, 1))
    values = np.asarray(log_weights, np.float64).ravel()
    shares = np.exp(np.sort(values)[::-1][:most] - np.logaddexp.reduce(values)).round(12)
    columns = {"rank": list(range(1, shares.size + 1)), "share": shares.tolist()}
    source = ColumnDataSource(data=columns, name="heaviest")
    look = {"source": source, "width": 0.8, "fill_color": CYCLE[0], "line_color": None}
    bars = picture.vbar("rank", top="share", **look)
    hover(picture, [bars], ("run", "number @rank by weight"), ("share", "@share{0.000}"))
    set_ticks(picture.xaxis, [1, *range(5, most + 1, 5)])
    picture.xgrid.grid_line_color = None
    return picture


def evidence_bounds(steps: Sequence[int], lower: ArrayLike, upper: ArrayLike, /) -> figure:
    """Draw bounds from below and above at each number of steps, with the exact value at 0.

    The source "bounds" has the columns `steps`, `upper` and `lower`.

    Parameters
    ----------
    steps : k numbers of annealing steps, at least 1
    lower, upper : (k,) ln of the bounds less the exact value, nats; nan where not computed
    """
    title = "Bounds on the evidence"
    alt = "Lower and upper bounds on the evidence against annealing steps, and the exact line"
    axes = "annealing steps of a run", "ln p(D) − exact value (nats)"
    picture = canvas(
        title, alt, *axes, log="x", size=(480, 420), x=(min(steps) / 1.5, max(steps) * 1.5)
    )
    data = wide("steps", steps, {"upper": upper, "lower": lower})
    labels, colours = ("upper bound", "lower bound"), (CYCLE[3], CYCLE[0])
    items = lines(picture, data, name="bounds", labels=labels, colours=colours, markers=BOUNDS)
    shade(picture, "steps", "lower", "upper", name="bounds")
    legend_above(picture, items + rules(picture, {"exact": 0.0}, name="bounds_rules"))
    set_ticks(picture.xaxis, steps, number="0,0")
    return picture


def hysteresis(upward: ArrayLike, reverse: ArrayLike, /) -> figure:
    """Draw what upward and reverse runs say of each part of a schedule; their gap is shaded.

    The source "ratios" has the columns `part` (from 1), `upward` and `reverse`.

    Parameters
    ----------
    upward, reverse : (k,) ln ratios of the parts over their widths in τ
    """
    title = "Slope of ln Z in each part of the schedule"
    alt = "Slope of ln Z by upward and by reverse runs in each part of the schedule"
    parts = np.arange(1, np.asarray(upward).size + 1)
    axes = "part of the schedule, from prior to posterior", "ln ratio ÷ width in τ (nats)"
    picture = canvas(title, alt, *axes, size=(480, 380), x=(0.5, parts.size + 0.5))
    data = wide("part", parts, {"upward": upward, "reverse": reverse})
    colours = (CYCLE[0], CYCLE[3])
    items = lines(picture, data, name="ratios", colours=colours, markers=BOUNDS[::-1])
    legend_above(picture, items)
    shade(picture, "part", "upward", "reverse", name="ratios")
    return picture


def acceptance_path(betas: ArrayLike, rates: ArrayLike, /) -> figure:
    """Draw a mark for each part of the schedule: where its steps are, and how many moves pass.

    Parameters
    ----------
    betas, rates : (k,) inverse temperature and accepted share of each part, columns `beta` and
        `rate` of the source "acceptance_path"
    """
    title = "Accepted share of the moves along the schedule"
    alt = "Accepted share of moves against beta; each mark stands for as many steps"
    axes = "inverse temperature β", "accepted share"
    picture = canvas(title, alt, *axes, size=(420, 390), x=(-0.03, 1.03), y=(0, 1.04))
    source = ColumnDataSource(data=wide("beta", betas, {"rate": rates}), name="acceptance_path")
    look = {"size": 8, "fill_color": CYCLE[0], "fill_alpha": 0.5, "line_color": INK}
    dots = picture.scatter("beta", "rate", source=source, **look)
    hover(picture, [dots], ("β", "@beta{0.000}"), ("accepted", "@rate{0.000}"))
    return picture


def speed_up(workers: Sequence[int], seconds: ArrayLike, /) -> figure:
    """Draw seconds[0] / seconds by workers, beside the ideal; source columns `workers`, `times`."""
    title = "Speed-up by more workers"
    alt = "Measured speed-up against the number of workers, beside the ideal line"
    spent = vector(seconds, len(workers), "seconds")
    most = max(workers)
    axes = "workers (threads)", "times as fast as one"
    picture = canvas(title, alt, *axes, size=(420, 330), x=(0, most + 0.5), y=(0, most + 0.5))
    data = {"workers": list(workers), "times": (spent[0] / spent).tolist()}
    look = {"line_color": INK, "line_dash": "dashed", "line_width": 2}
    ideal = picture.line([0, most], [0, most], **look)
    source = ColumnDataSource(data=data, name="speed_up")
    dots = picture.scatter("workers", "times", source=source, size=12, fill_color=CYCLE[0])
    hover(picture, [dots], ("workers", "@workers"), ("times", "@times{0.00}"))
    legend_above(picture, entries({"ideal": ideal, "measured": dots}))
    for axis in (picture.xaxis, picture.yaxis):
        set_ticks(axis, [0, *workers])
    return picture


def rate_histogram(
    rates: ArrayLike,
    allowed: float,
    /,
    *,
    title: str,
    alt: str,
) -> figure:
    """Draw a histogram of the rates of edges, with a line at the rate allowed.

    The source "rates" has `left`, `right` and `count` of each bin. Bins begin at 0 and reach past
    the rate allowed and the largest of all.

    Parameters
    ----------
    rates : any shape, within 0..1
    allowed : the rate that none may exceed
    """
    values = np.asarray(rates, np.float64).ravel()
    reach = 1.1 * max(allowed, float(values.max(initial=0.0)))
    counts, ends = np.histogram(values, bins=24, range=(0, reach))
    axes = "share of runs that miss", "edges"
    picture = canvas(
        title, alt, *axes, size=(480, 300), x=(0, reach), y=(0, 1.1 * max(int(counts.max()), 1))
    )
    look: dict[str, Any] = {"fill_color": COLOURS[0], "fill_alpha": 0.6}
    bars = histogram(picture, counts, ends, name="rates", count="count", **look)
    limit = picture.vspan(x=[allowed], line_color=INK, line_width=2, line_dash="dashed")
    legend_below(picture, entries({"edges": bars, f"allowed: {allowed:g}": limit}), columns=2)
    return picture
