"""Curves with places of their own: over time, cores or variables, of samplers or priors."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from bokeh.models import LegendItem
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from bnlab.plots.canvas import canvas, hover, legend, row_entries, write
from bnlab.plots.curves import rules
from bnlab.plots.drawing import Series, checked, data_source, from_rows, round_numbers
from bnlab.plots.looks import BROKEN, COLOURS, CYCLE, INK, MARKERS, RULE, Axis, Looks, cycled

MARK = {"fill_color": "color", "line_color": "color", "marker": "marker", "fill_alpha": 0.7}
LINE = {"line_color": "color", "line_dash": "dash", "line_width": 2}

TIME = Axis("time of one run on one core (seconds)")

Groups = Mapping[str, Series]
"""Method -> setting -> (seconds, values): a colour for each method, a marker for each setting."""


def series(
    picture: figure,
    curves: Series,
    points: Series,
    /,
    *,
    names: tuple[str, str],
    looks: Looks,
    value: str = "value",
) -> Any:
    """Draw curves and points that each have places of their own; return what draws the curves.

    Of the two sources the curves' has a row for each, `label`, `xs`, `ys`, `color` and `dash`, the
    points' a row for each point, `label`, `x`, `y`, `color` and `marker`. Points tell a `value`.
    """
    drawn = [
        (label, *(np.asarray(part, np.float64).tolist() for part in both), *looks[label][:2])
        for label, both in curves.items()
    ]
    marks = [
        (label, float(a), float(b), looks[label][0], looks[label][2])
        for label, (x, y) in points.items()
        for a, b in zip(np.asarray(x).tolist(), np.asarray(y).tolist(), strict=True)
    ]
    kept = data_source(from_rows("label xs ys color dash", drawn), name=names[0])
    dots = data_source(from_rows("label x y color marker", marks), name=names[1])
    curve = picture.multi_line("xs", "ys", source=kept, **LINE)
    mark = picture.scatter("x", "y", source=dots, size=9, **MARK)
    hover(picture, [mark], ("", "@label"), (picture.xaxis.axis_label, "@x"), (value, "@y"))
    return curve


def key(picture: figure, labels: Iterable[str], looks: Looks, /) -> list[LegendItem]:
    """Draw a legend of labels by their colours and markers, whether or not they have points yet."""
    shown = {label: looks[label] for label in labels}
    rows = [(math.nan, math.nan, colour, marker) for colour, _, marker in shown.values()]
    source = data_source(from_rows("x y color marker", rows))
    drawn = picture.scatter("x", "y", source=source, size=9, **MARK)
    return row_entries(drawn, shown)


def time_curves(
    groups: Groups,
    levels: Mapping[str, float] | None = None,
    /,
    *,
    x: Axis = TIME,
    y: Axis,
    name: str = "curves",
    title: str,
    alt: str,
) -> figure:
    """Draw curves over a logarithmic time axis, and level lines for exact values and bounds.

    Sources: `name`, `name` + "_points" as of `series`, and `name` + "_rules".

    Parameters
    ----------
    groups : method -> setting -> (seconds, values); nan leaves a gap
    levels : label -> value of a horizontal line
    y : what lies outside its ends is cut off

    Raises
    ------
    ValueError
        If a curve has other numbers of seconds and values, or a time that is not positive.
    """
    looks: Looks = {}
    curves: dict[str, tuple[ArrayLike, ArrayLike]] = {}
    for (method, settings), colour in zip(groups.items(), COLOURS, strict=False):
        for (setting, both), marker in zip(settings.items(), MARKERS, strict=False):
            label = f"{method} {setting}".strip()
            looks[label], curves[label] = (colour, "solid", marker), both
    checked("times", "x", curves)
    every = np.concatenate([np.asarray(times, np.float64) for times, _ in curves.values()])
    low, high = float(every.min()), float(every.max())
    x = x._replace(ends=(low / 1.25, high * 1.25), log=True, ticks=round_numbers(low, high))
    if y.log and isinstance(y.ends, tuple):
        y = y._replace(ticks=round_numbers(*y.ends))
    picture = canvas(title, alt, x, y, size=(520, 420))
    items = rules(picture, levels or {}, name=f"{name}_rules")
    series(picture, curves, curves, names=(name, f"{name}_points"), looks=looks)
    legend(picture, items + key(picture, curves, looks), columns=3)
    return picture


def growth(
    curves: Series, points: Series | None = None, /, *, x: Axis, y: Axis, title: str, alt: str
) -> figure:
    """Draw curves named at their ends, and points with a legend, over numbers of variables.

    Sources: `curves` and `points`, as of `series`, and `ends`, a row for the end of each curve.

    Parameters
    ----------
    curves, points : series of positive values; either may be empty
    x, y : have ends, so that a moving point does not move them
    """
    points = points or {}
    checked("numbers of variables", "y", curves, points)
    picture = canvas(title, alt, x, y._replace(log=True), size=(420, 400))
    looks = {**cycled(curves), **cycled(points)}
    series(picture, curves, points, names=("curves", "points"), looks=looks)
    ends = [
        (label, float(np.ravel(x)[-1]), float(np.ravel(y)[-1]), looks[label][0])
        for label, (x, y) in curves.items()
    ]
    look: dict[str, Any] = {"bold": True, "align": "right", "baseline": "bottom", "colour": "color"}
    source = data_source(from_rows("label x y color", ends), name="ends")
    write(picture, "x", "y", "label", source=source, **look)
    legend(picture, key(picture, points, looks), columns=2)
    return picture


def core_curves(
    cores: ArrayLike,
    curves: Mapping[str, ArrayLike],
    point: tuple[str, float, float],
    /,
    *,
    y: Axis,
    name: str,
    title: str,
) -> figure:
    """Draw curves over the number of cores, the first one broken, and a point.

    Sources: `name` and `name` + "_points", as of `series`.

    Parameters
    ----------
    cores : (k,) numbers of cores
    curves : name -> (k,) positive values
    point : its name, number of cores and value
    y : has ends, so that moving curves do not move it

    Raises
    ------
    ValueError
        If there are other numbers of cores than values, or one that is not positive.
    """
    alt = f"{title}, by number of cores: {', '.join(curves)}"
    label, *place = point
    drawn: Series = {curve: (cores, values) for curve, values in curves.items()}
    points: Series = {label: ([place[0]], [place[1]])}
    checked("numbers of cores", "xy", drawn, points)
    x = Axis("cores", (0.9, 1.1 * np.max(cores)), log=True, number="%g")
    picture = canvas(title, alt, x, y._replace(log=True, number="%g"), size=(460, 420))
    ideal, *others = [*curves] or [""]
    looks = {ideal: (INK, BROKEN[0], MARKERS[0]), **cycled(others), **cycled(points, skip=1)}
    names = name, f"{name}_points"
    line = series(picture, drawn, points, names=names, looks=looks, value=y.label)
    legend(picture, row_entries(line, curves) + key(picture, points, looks), columns=2)
    return picture


def roc_curves(
    curves: Series,
    /,
    *,
    name: str = "roc",
    title: str = "ROC",
    alt: str = "Share of present pairs found against share of absent pairs called present",
) -> figure:
    """Draw curves of `diagnostics.roc`: label -> (false positive rates, true positive rates).

    The source `name` has a row a curve, as of `series`.
    """
    labels = "share of absent pairs called present", "share of present pairs found"
    axes = (Axis(label, (-0.02, 1.02)) for label in labels)
    picture = canvas(title, alt, *axes, size=(400, 480))
    picture.line([0, 1], [0, 1], line_color=RULE, line_dash="dashed")
    looks = cycled(curves, dashes=4)
    drawn = series(picture, curves, {}, names=(name, f"{name}_points"), looks=looks)
    legend(picture, row_entries(drawn, curves), columns=2)
    return picture


def prior_curve(
    probabilities: ArrayLike,
    others: Mapping[str, ArrayLike],
    /,
    *,
    y_range: tuple[float, float],
    title: str = "All DAGs, from the most to the least probable",
    alt: str = "Probability of every DAG, largest first, with four known priors for comparison",
) -> figure:
    """Draw the sorted probabilities of all DAGs, on two log axes, over those of known priors.

    The source "curve" has the columns `rank` (1 to N) and `probability`; a step has its first and
    its last rank only. The known priors are in "curve_known", as of `series`.

    Parameters
    ----------
    probabilities : (N,), the wide curve, which moves
    others : name -> (N,): at most four thin curves, which stay
    y_range : ends of the axis of probabilities, so that a moving curve does not move it
    """
    if len(others) > 4:
        raise ValueError(f"{len(others)} known priors, but dashes for 4")
    x = Axis("rank of the DAG", (0.8, 1.25 * np.asarray(probabilities).size), log=True)
    picture = canvas(title, alt, x, Axis("prior probability", y_range, log=True))
    rank, probability = _stairs(probabilities)
    source = data_source({"rank": rank, "probability": probability}, name="curve")
    look = {"line_width": 7, "line_color": CYCLE[4], "line_alpha": 0.65}
    wide = picture.line("rank", "probability", source=source, **look)
    looks = cycled(others, dashes=4)
    known = {label: _stairs(values) for label, values in others.items()}
    drawn = series(picture, known, {}, names=("curve_known", "curve_points"), looks=looks)
    legend(picture, row_entries(drawn, others), columns=2)
    told = ("rank", "@rank{0,0}"), ("probability", "@probability{0.00e+0}")
    hover(picture, [wide], *told, mode="vline")
    return picture


def _stairs(probabilities: ArrayLike) -> tuple[list[float], list[float]]:
    """Ranks and values at both ends of each step of the probabilities, largest first."""
    p = -np.sort(-np.asarray(probabilities, np.float64))
    if p.ndim != 1 or not p.size or not p[-1] > 0:
        raise ValueError("probabilities are (N,) positive numbers: a log axis shows no others")
    # Sums in another order differ in their last digits; that is not a step.
    last = np.append(np.flatnonzero(np.diff(np.log(p)) < -1e-9), p.size - 1)
    first = np.append(0, last[:-1] + 1)
    ranks = np.column_stack([first, last]).ravel() + 1.0
    return ranks.tolist(), np.column_stack([p[first], p[last]]).ravel().tolist()
