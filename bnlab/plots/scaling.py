"""What more cores bring and cost: curves over the number of cores, both axes logarithmic."""

from collections.abc import Mapping, Sequence

from bokeh.models import (
    ColumnDataSource,
    HoverTool,
    LegendItem,
    PrintfTickFormatter,
    Range1d,
    Span,
)
from bokeh.plotting import figure

from bnlab.plots.canvas import CYCLE, INK, RULE, WIDTH, canvas, legend_below
from bnlab.plots.edges import Columns

Curves = Mapping[str, tuple[Sequence[float], Sequence[float]]]
"""Name -> (numbers of cores, positive values)."""

COLOURS = (CYCLE[7], CYCLE[0], CYCLE[5], CYCLE[3], CYCLE[6])
MARKERS = ("circle", "diamond", "square", "triangle")
DASHES = ("dashed", "solid", "solid", "solid", "solid")


def core_lines(curves: Curves, /) -> Columns:
    """Columns of the source of the lines of `core_curves`: one row a curve.

    Examples
    --------
    >>> core_lines({"ideal": ([1, 2], [1, 2])})["ys"]
    [[1.0, 2.0]]
    """
    _check(curves)
    return {
        "label": list(curves),
        "xs": [list(map(float, x)) for x, _ in curves.values()],
        "ys": [list(map(float, y)) for _, y in curves.values()],
        "color": [COLOURS[i % len(COLOURS)] for i in range(len(curves))],
        "dash": [DASHES[i % len(DASHES)] for i in range(len(curves))],
    }


def core_points(points: Curves, /) -> Columns:
    """Columns of the source of the points of `core_curves`: one row a point.

    Examples
    --------
    >>> core_points({"threads": ([1, 2], [1, 1.9]), "MPI": ([2], [1.8])})["marker"]
    ['circle', 'circle', 'diamond']
    """
    _check(points)
    rows = [
        (label, float(a), float(b), MARKERS[i % len(MARKERS)], COLOURS[(i + 2) % len(COLOURS)])
        for i, (label, (x, y)) in enumerate(points.items())
        for a, b in zip(x, y, strict=True)
    ]
    names = ("label", "x", "y", "marker", "color")
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def core_curves(
    curves: Curves,
    points: Curves,
    /,
    *,
    y_label: str,
    y_range: tuple[float, float],
    name: str,
    title: str,
    alt: str,
) -> figure:
    """Curves over the number of cores, and points on them or measured.

    The sources `name` and `name` + "_points" take `core_lines` and `core_points`.

    Parameters
    ----------
    curves, points : name -> (numbers of cores, positive values)
    y_label : with the unit, as in "time (hours)"
    y_range : ends of the vertical axis, so that moving curves do not move it

    Raises
    ------
    ValueError
        If a series has other numbers of cores than values, or one that is not positive.

    Examples
    --------
    >>> picture = core_curves({"ideal": ([1, 2], [1, 2])}, {}, y_label="speed-up",
    ...     y_range=(1, 4), name="speed", title="Speed-up", alt="Speed-up by cores")
    >>> picture.select_one({"name": "speed"}).data["label"]
    ['ideal']
    """
    most = max((max(x) for x, _ in curves.values()), default=2)
    picture = canvas(
        title=title,
        x_label="cores",
        y_label=y_label,
        alt=alt,
        width=WIDTH + 40,
        x_axis_type="log",
        y_axis_type="log",
        x_range=Range1d(0.9, 1.1 * most),
        y_range=Range1d(*y_range),
    )
    lines = ColumnDataSource(data=core_lines(curves), name=name)
    dots = ColumnDataSource(data=core_points(points), name=f"{name}_points")
    drawn = picture.multi_line(
        "xs", "ys", source=lines, line_color="color", line_dash="dash", line_width=2
    )
    marks = picture.scatter(
        "x", "y", source=dots, marker="marker", size=10, fill_color="color", line_color=INK
    )
    picture.add_tools(
        HoverTool(renderers=[marks], tooltips=[("", "@label"), ("cores", "@x"), (y_label, "@y")])
    )
    picture.xaxis.formatter = PrintfTickFormatter(format="%g")
    picture.yaxis.formatter = PrintfTickFormatter(format="%g")
    firsts = {label: i for i, label in reversed(list(enumerate(dots.data["label"])))}
    items = [
        *(LegendItem(label=label, renderers=[drawn], index=i) for i, label in enumerate(curves)),
        *(LegendItem(label=label, renderers=[marks], index=i) for label, i in firsts.items()),
    ]
    legend_below(picture, items, columns=2)
    return picture


def place_speeds(
    speeds: Mapping[str, Mapping[str, float]], /, *, workers: int, title: str, alt: str
) -> figure:
    """Measured speed-ups: a row of points for each place, and a kind of point for each call.

    Lines mark no gain, and the number of workers, which is all that can be hoped for. The source
    "speeds" has one row a point.

    Parameters
    ----------
    speeds : call -> place -> how many times faster than one worker
    workers : how many there were

    Examples
    --------
    >>> picture = place_speeds({"long runs": {"threads": 1.9, "MPI": 1.8}}, workers=2,
    ...     title="Two workers", alt="Speed-up of two workers by place")
    >>> picture.select_one({"name": "speeds"}).data["x"]
    [1.9, 1.8]
    """
    places = list(dict.fromkeys(place for row in speeds.values() for place in row))
    apart = 0.5 / max(1, len(speeds) - 1)  # so that points at the same speed-up stay apart
    rows = [
        (call, (place, 0.25 - i * apart), speed, MARKERS[i % len(MARKERS)], COLOURS[(i + 1) % 5])
        for i, (call, row) in enumerate(speeds.items())
        for place, speed in row.items()
    ]
    most = max([workers, *(row[2] for row in rows)])
    picture = canvas(
        title=title,
        x_label="times faster than one worker",
        y_label="",
        alt=alt,
        width=WIDTH + 140,
        height=110 + 50 * len(places),
        x_range=Range1d(0, 1.1 * most),
        y_range=list(reversed(places)),
    )
    for value, dash in ((1, "dotted"), (workers, "dashed")):
        picture.add_layout(
            Span(location=value, dimension="height", line_color=RULE, line_dash=dash)
        )
    names = ("label", "y", "x", "marker", "color")
    source = ColumnDataSource(
        data={name: [row[i] for row in rows] for i, name in enumerate(names)}, name="speeds"
    )
    marks = picture.scatter(
        "x", "y", source=source, marker="marker", size=11, fill_color="color", line_color=INK
    )
    picture.add_tools(HoverTool(tooltips=[("", "@label"), ("times faster", "@x{0.00}")]))
    firsts = {label: i for i, label in reversed(list(enumerate(source.data["label"])))}
    items = [LegendItem(label=call, renderers=[marks], index=firsts[call]) for call in speeds]
    legend_below(picture, items, columns=2)
    return picture


def _check(series: Curves) -> None:
    for label, (x, y) in series.items():
        if len(x) != len(y):
            raise ValueError(f"{label!r} has {len(x)} numbers of cores and {len(y)} values")
        bad = [value for value in [*x, *y] if not value > 0]
        if bad:
            raise ValueError(f"{label!r} holds {bad[0]}: logarithmic axes show positive values")
