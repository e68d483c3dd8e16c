"""How a count, a time or a memory grows with the number of variables, on a log scale."""

from collections.abc import Mapping, Sequence

from bokeh.models import ColumnDataSource, HoverTool, LabelSet
from bokeh.plotting import figure

from bnlab.plots.canvas import CYCLE, INK, SMALL_FONT_SIZE, canvas
from bnlab.plots.edges import Columns

Series = Mapping[str, tuple[Sequence[float], Sequence[float]]]
"""Name -> (numbers of variables, positive values)."""

MARKERS = ("circle", "diamond", "square", "triangle", "star", "plus")
COLOURS = (CYCLE[0], CYCLE[5], CYCLE[3], CYCLE[6], CYCLE[1], CYCLE[7])


def growth_curves(series: Series, /) -> Columns:
    """Columns of the source `curves` of `growth`: one row a curve.

    Examples
    --------
    >>> growth_curves({"subsets": ([1, 2], [2, 4])})["label"]
    ['subsets']
    """
    _check(series)
    return {
        "label": list(series),
        "xs": [list(map(float, x)) for x, _ in series.values()],
        "ys": [list(map(float, y)) for _, y in series.values()],
        "color": [COLOURS[i % len(COLOURS)] for i in range(len(series))],
        "end_x": [float(x[-1]) for x, _ in series.values()],
        "end_y": [float(y[-1]) for _, y in series.values()],
    }


def growth_points(series: Series, /) -> Columns:
    """Columns of the source `points` of `growth`: one row a point; each series has its marker.

    Examples
    --------
    >>> growth_points({"measured": ([8, 9], [0.1, 0.2]), "guess": ([22], [1.0])})["marker"]
    ['circle', 'circle', 'diamond']
    """
    _check(series)
    rows = [
        (label, float(a), float(b), MARKERS[i % len(MARKERS)], COLOURS[i % len(COLOURS)])
        for i, (label, (x, y)) in enumerate(series.items())
        for a, b in zip(x, y, strict=True)
    ]
    names = ("label", "x", "y", "marker", "color")
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def growth(
    curves: Series,
    points: Series | None = None,
    /,
    *,
    title: str,
    y_label: str,
    x_range: tuple[float, float],
    y_range: tuple[float, float],
    alt: str,
) -> figure:
    """Curves with their names at their ends, and points with a legend, over numbers of variables.

    Its sources are called `curves` and `points` and take `growth_curves` and `growth_points`.

    Parameters
    ----------
    curves, points
        Series of positive values; either may be empty.
    y_label
        With the unit, as in "time (seconds)".
    x_range, y_range
        Ends of the axes, so that a moving point does not move them.

    Examples
    --------
    >>> picture = growth({"subsets": ([1, 2], [2, 4])}, title="Sets", y_label="number",
    ...     x_range=(1, 2), y_range=(1, 10), alt="Number of subsets")
    >>> picture.select_one({"name": "curves"}).data["end_y"]
    [4.0]
    """
    picture = canvas(
        title=title,
        x_label="number of variables n",
        y_label=y_label,
        alt=alt,
        height=360,
        y_axis_type="log",
        x_range=x_range,
        y_range=y_range,
    )
    lines = ColumnDataSource(data=growth_curves(curves), name="curves")
    dots = ColumnDataSource(data=growth_points(points or {}), name="points")
    picture.multi_line("xs", "ys", source=lines, line_color="color", line_width=2)
    marks = picture.scatter(
        "x",
        "y",
        source=dots,
        marker="marker",
        size=10,
        fill_color="color",
        line_color=INK,
        legend_field="label",
    )
    picture.add_layout(
        LabelSet(
            x="end_x",
            y="end_y",
            text="label",
            text_color="color",
            source=lines,
            x_offset=-6,
            y_offset=6,
            text_align="right",
            text_font_size=SMALL_FONT_SIZE,
            text_font_style="bold",
        )
    )
    picture.add_tools(
        HoverTool(renderers=[marks], tooltips=[("", "@label"), ("n", "@x"), ("value", "@y")])
    )
    picture.yaxis.minor_tick_line_color = None
    picture.legend.location = "top_left"
    picture.legend.label_text_font_size = SMALL_FONT_SIZE
    picture.legend.background_fill_alpha = 0
    picture.legend.border_line_color = None
    return picture


def _check(series: Series) -> None:
    for label, (x, y) in series.items():
        if len(x) != len(y):
            raise ValueError(f"{label!r} has {len(x)} numbers of variables and {len(y)} values")
        bad = [value for value in y if not value > 0]
        if bad:
            raise ValueError(f"{label!r} holds {bad[0]}: a log scale shows positive values only")
