"""Line charts: lines over the same places, with bands, horizontal rules and logarithmic axes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.models import BoxAnnotation, ColumnDataSource, LegendItem
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from bnlab.plots.canvas import canvas, entries, entry, hover, legend
from bnlab.plots.drawing import data_source, from_rows, round_numbers, wide
from bnlab.plots.looks import BETWEEN, BOUNDS, BROKEN, COLOURS, CYCLE, DASHES, INK, MARKERS, Axis

MOST_POINTS = 500  # of a trace that are drawn; a longer one is shown at evenly spaced places


def rules(
    picture: figure, levels: Mapping[str, float], /, *, name: str, dashes: Sequence[str] = BROKEN
) -> list[LegendItem]:
    """Draw a broken horizontal line at each level; the source has a column for each."""
    source = data_source({key: [float(y)] for key, y in levels.items()}, name=name)
    look = {"source": source, "line_color": INK, "line_width": 2}
    pairs = zip(levels, dashes, strict=False)
    return entries({key: picture.hspan(y=key, line_dash=dash, **look) for key, dash in pairs})


def lines(
    picture: figure,
    source: ColumnDataSource,
    /,
    *,
    columns: Iterable[str] = (),
    labels: Sequence[str] = (),
    colours: Sequence[str] = COLOURS,
    markers: Sequence[str] = (),
    dashes: Sequence[str] = DASHES[:1],
    width: float = 2.0,
    number: str = "0.00",
) -> list[LegendItem]:
    """Draw lines over the first column; return their legend. Markers tell a `number` so."""
    over, *every = source.data
    columns = list(columns) or every
    items = []
    for i, (column, label) in enumerate(zip(columns, labels or columns, strict=True)):
        colour = colours[i % len(colours)]
        look: dict[str, Any] = {"source": source, "line_color": colour}
        dash = dashes[i % len(dashes)]
        drawn = [picture.line(over, column, line_dash=dash, line_width=width, **look)]
        if markers:
            marker = markers[i % len(markers)]
            look |= {"marker": marker, "size": 8, "fill_color": colour}
            drawn.append(picture.scatter(over, column, **look))
        items.append(entry(label, drawn))
    if markers:
        tips = [(column, f"@{{{column}}}{{{number}}}") for column in columns]
        place = (picture.xaxis.axis_label, f"@{{{over}}}{{0,0.[000]}}")
        hover(picture, [item.renderers[-1] for item in items], place, *tips)
    return items


def error_curve(
    draws: ArrayLike,
    measured: Mapping[str, ArrayLike],
    bounds: Mapping[str, ArrayLike],
    /,
    *,
    x: Axis = Axis("number of draws"),
    y: Axis = Axis("error"),
    name: str = "measured",
    title: str = "Error against number of draws",
    alt: str = "Error against the number of draws, on logarithmic axes, with its bounds",
) -> figure:
    """Draw what was measured at each number of draws beside its bounds, on logarithmic axes.

    Sources: `name` and `name` + "_bounds", columns `draws` and the labels. Values that a
    logarithmic axis cannot show (0) are nan.

    Parameters
    ----------
    draws : (k,) numbers of draws, at least 1
    measured : label -> (k,) values, lines with markers
    bounds : label -> (k,) values, broken lines without markers
    """
    sizes = np.asarray(draws, np.float64)
    low, high = sizes.min() / 1.3, sizes.max() * 1.3
    ticks = x.ticks or [tick for tick in round_numbers(low, high) if low <= tick <= high]
    x = x._replace(ends=(low, high), log=True, ticks=ticks, number="0,0")
    picture = canvas(title, alt, x, y._replace(log=True), size=(480, 420))
    limits = data_source(wide("draws", sizes, _positive(bounds)), name=f"{name}_bounds")
    found = data_source(wide("draws", sizes, _positive(measured)), name=name)
    items = lines(picture, limits, colours=[INK], dashes=BROKEN)
    items += lines(picture, found, markers=MARKERS, number="0.0000")
    legend(picture, items, columns=2)
    return picture


def _positive(lines: Mapping[str, ArrayLike]) -> dict[str, ArrayLike]:
    return {label: np.where(np.greater(y, 0), y, np.nan) for label, y in lines.items()}


def log_curves(
    places: Sequence[float],
    shown: Mapping[str, ArrayLike],
    levels: Mapping[str, float],
    /,
    *,
    x: Axis,
    y: Axis,
    title: str,
    alt: str,
    name: str,
    band: tuple[str, str] | None = None,
) -> figure:
    """Draw up to eight lines with markers over a logarithmic axis, and up to four horizontal lines.

    Sources: `name`, columns `x` and the labels, and `name` + "_rules", a column for each level.

    Parameters
    ----------
    places : k positive numbers, which are marked on the axis unless it has other ticks
    shown : label -> (k,) values, nan where there is none
    levels : label -> the height of a broken line
    band : labels of two lines with a shade between them
    """
    if len(shown) > len(MARKERS) or len(levels) > len(BROKEN):
        raise ValueError(
            f"{len(shown)} lines and {len(levels)} rules: at most {len(MARKERS)} and "
            f"{len(BROKEN)} can be told apart"
        )
    ends = min(places) / 1.5, max(places) * 1.5
    x = x._replace(ends=ends, log=True, ticks=x.ticks or places, number="0,0")
    picture = canvas(title, alt, x, y, size=(500, 420))
    source = data_source(wide("x", places, shown), name=name)
    items = rules(picture, levels, name=f"{name}_rules") + lines(picture, source, markers=MARKERS)
    if band is not None:
        picture.varea("x", *band, source=source, **BETWEEN)
    picture.xaxis.major_label_orientation = 0.8
    legend(picture, items)
    return picture


def traces(
    places: ArrayLike,
    chains: Mapping[str, ArrayLike],
    /,
    *,
    band: tuple[float, float] | None = None,
    x: Axis = Axis("moves"),
    y: Axis = Axis("ln weight of the order (nats)"),
    name: str = "trace",
    title: str = "Trace of each chain",
    alt: str = "Log weight of the current order of each chain, move by move",
) -> figure:
    """Draw a line for each of up to four chains.

    The source `name` has `place` and a column a chain, of 500 evenly spaced places of a longer one.

    Parameters
    ----------
    places : (T,) what the horizontal axis shows
    chains : label -> (T,) values
    band : a usual range of values, shaded
    """
    if len(chains) > 4:
        raise ValueError(f"{len(chains)} chains, but 4 colours: show fewer")
    axes = x._replace(number="0,0"), y._replace(number="0,0.[00]")
    picture = canvas(title, alt, *axes, size=(560, 400))
    if band is not None:
        look = {"fill_color": "#d9d9d9", "fill_alpha": 0.5, "level": "underlay"}
        picture.add_layout(BoxAnnotation(bottom=band[0], top=band[1], **look))
    rounded = {key: np.asarray(line, np.float64).round(3) for key, line in chains.items()}
    data = wide("place", places, rounded)
    size = len(data["place"])
    shown = np.unique(np.linspace(0, size - 1, min(size, MOST_POINTS)).astype(np.int64))
    data = {key: np.array(values)[shown].tolist() for key, values in data.items()}
    source = data_source(data, name=name)
    legend(picture, lines(picture, source, dashes=DASHES[:4], width=1.6))
    return picture


def closing(
    draws: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    estimates: Mapping[str, ArrayLike],
    levels: Mapping[str, float],
    /,
    *,
    most: int,
) -> figure:
    """Draw a band that holds a probability for certain, estimates in it, and exact values as lines.

    Sources: "closing", columns `draws`, `low`, `high` and the estimates, and "closing_levels".

    Parameters
    ----------
    draws : (k,) numbers of draws
    low, high : (k,) ends of the interval
    estimates : label -> (k,) estimates
    levels : label -> exact probability, horizontal lines
    most : right end of the axis of draws, so that it stays while draws come in
    """
    title = "What the distinct DAGs leave open"
    alt = "A band that holds a probability for certain, against the number of DAGs drawn"
    ends, ticks = (0.8, most * 1.3), round_numbers(1, most)
    x = Axis("DAGs drawn", ends, log=True, ticks=ticks, number="0,0")
    picture = canvas(title, alt, x, Axis("probability", (-0.02, 1.02)), size=(600, 400))
    data = wide("draws", draws, {"low": low, "high": high, **estimates})
    source = data_source(data, name="closing")
    items = rules(picture, levels, name="closing_levels", dashes=("solid", "dotted"))
    items += lines(picture, source, columns=estimates, markers=MARKERS, number="0.0000")
    band = picture.varea("draws", "low", "high", source=source, **BETWEEN)
    look = {"source": source, "line_color": INK, "line_width": 1.5}
    bars = picture.segment("draws", "low", "draws", "high", **look)
    items = entries({"sound interval": [band, bars]}) + items
    certain = ("sound interval", "@low{0.0000} to @high{0.0000}")
    hover(picture, [bars], ("DAGs drawn", "@draws{0,0}"), certain)
    legend(picture, items, columns=2)
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
    ends = min(steps) / 1.5, max(steps) * 1.5
    x = Axis("annealing steps of a run", ends, log=True, ticks=steps, number="0,0")
    picture = canvas(title, alt, x, Axis("bound − ln p(D) (nats)"), size=(480, 420))
    data = wide("steps", steps, {"upper": upper, "lower": lower})
    source = data_source(data, name="bounds")
    labels, colours = ("upper bound", "lower bound"), (CYCLE[3], CYCLE[0])
    items = lines(picture, source, labels=labels, colours=colours, markers=BOUNDS)
    picture.varea("steps", "lower", "upper", source=source, **BETWEEN)
    legend(picture, items + rules(picture, {"exact": 0.0}, name="bounds_rules"))
    return picture


def hysteresis(upward: ArrayLike, reverse: ArrayLike, /) -> figure:
    """Draw what upward and reverse runs say of each part of a schedule; their gap is shaded.

    The source "ratios" has the columns `part` (from 1), `upward` and `reverse`.

    Parameters
    ----------
    upward, reverse : (k,) ln ratios of the parts over their widths in β
    """
    title = "Slope of ln Z in each part of the schedule"
    alt = "Slope of ln Z by upward and by reverse runs in each part of the schedule"
    parts = np.arange(1, np.asarray(upward).size + 1)
    x = Axis("part of the schedule, from prior to posterior", (0.5, parts.size + 0.5))
    picture = canvas(title, alt, x, Axis("ln ratio ÷ width in β (nats)"), size=(480, 380))
    data = wide("part", parts, {"upward": upward, "reverse": reverse})
    source, colours = data_source(data, name="ratios"), (CYCLE[0], CYCLE[3])
    legend(picture, lines(picture, source, colours=colours, markers=BOUNDS[::-1]))
    picture.varea("part", "upward", "reverse", source=source, **BETWEEN)
    return picture


def annealing_paths(
    betas: ArrayLike,
    upward: ArrayLike,
    backward: ArrayLike,
    means: Mapping[str, ArrayLike],
    /,
    *,
    y_range: tuple[float, float],
    title: str,
) -> figure:
    """Draw what runs of annealing weigh on the way, less the exact value, and means of them.

    Sources: "upward" and "backward", a row for each run, `betas` and `gaps` (lists, nats), `last`
    (its gap at the end of its way) and `end` (the β there); "means", columns `beta` and the labels.

    Parameters
    ----------
    betas : (k,) from 0 to 1
    upward : (R, k) nats; runs from β = 0 to 1
    backward : (R, k) nats; runs from β = 1 to 0
    means : the labels of two lines, of the upward runs and of the others -> (k,) nats
    y_range : ends of the vertical axis, nats
    """
    alt = "Log weights of upward runs, opening to the right below the exact value, and of backward "
    alt += "runs, opening to the left above it; thick lines at their means"
    places = np.asarray(betas, np.float64).tolist()
    x = Axis("inverse temperature β", (-0.03, 1.03))
    y = Axis("ln w so far − exact value (nats)", y_range)
    picture = canvas(title, alt, x, y, size=(560, 430))
    exact = picture.hspan(y=[0.0], line_color=INK, line_width=2, line_dash="dashed")
    drawn: dict[str, Any] = {}
    sides = ("upward", upward, -1), ("backward", backward, 0)
    for (name, gaps, end), colour, marker in zip(sides, COLOURS, BOUNDS[::-1], strict=False):
        runs = [(places, run, run[end], places[end]) for run in np.asarray(gaps, float).tolist()]
        source = data_source(from_rows("betas gaps last end", runs), name=name)
        look: dict[str, Any] = {"source": source, "line_color": colour, "line_alpha": 0.45}
        way = picture.multi_line("betas", "gaps", **look)
        look |= {"marker": marker, "size": 9, "fill_color": colour, "fill_alpha": 0.6}
        ends = picture.scatter("end", "last", **look)
        hover(picture, [ends], (f"{name} run", "@last{0.00} nats from exact"))
        drawn[f"{name} runs"] = [way, ends]
    source = data_source(wide("beta", places, means), name="means")
    items = lines(picture, source, width=4.0, dashes=("solid", "dotted"))
    legend(picture, entries({**drawn, "exact": exact}) + items, columns=2)
    return picture
