"""Two posteriors side by side: what each says, and how far apart they are as data grow."""

from collections.abc import Mapping, Sequence

import numpy as np
from bokeh.models import ColumnDataSource, HoverTool
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from bnlab.plots.canvas import CYCLE, INK, RULE, canvas, legend_above
from bnlab.plots.edges import Columns

COLOURS = (CYCLE[0], CYCLE[5])
MARKERS = ("circle", "diamond")
DASHES = ("solid", "dashed")
HEIGHT = 370  # pixels
LETTER = 7.0  # pixels, mean width of a character of the axis labels


def answer_pairs_data(first: ArrayLike, second: ArrayLike, labels: Sequence[str], /) -> Columns:
    """Columns of the source of `answer_pairs`: one row a question.

    Parameters
    ----------
    first, second
        (K,) probabilities, the answers of the two posteriors.
    labels
        K different labels, the first on top.

    Returns
    -------
    dict
        Columns `label`, `first`, `second`.

    Examples
    --------
    >>> answer_pairs_data([0.83], [0.75], ["A → B"])
    {'label': ['A → B'], 'first': [0.83], 'second': [0.75]}
    """
    answers = [np.asarray(values, np.float64) for values in (first, second)]
    if any(values.shape != (len(labels),) for values in answers):
        shapes = " and ".join(str(values.shape) for values in answers)
        raise ValueError(f"answers of shapes {shapes}, but {len(labels)} labels")
    return {
        "label": list(labels),
        "first": answers[0].tolist(),
        "second": answers[1].tolist(),
    }


def answer_pairs(
    first: ArrayLike,
    second: ArrayLike,
    labels: Sequence[str],
    /,
    *,
    posteriors: tuple[str, str],
    name: str = "answers",
    title: str,
    x_label: str = "posterior probability",
    alt: str,
) -> figure:
    """Two answers to each question, joined by a line: the longer, the more they disagree.

    Its source is called `name` and holds `answer_pairs_data`.

    Parameters
    ----------
    posteriors
        Names of the two posteriors, for the legend.

    Examples
    --------
    >>> picture = answer_pairs([0.83], [0.75], ["A → B"], posteriors=("orders", "DAGs"),
    ...     title="Edges", alt="Probability of an edge under two priors")
    >>> picture.select_one({"name": "answers"}).data["second"]
    [0.75]
    """
    if len(set(labels)) < len(labels):
        raise ValueError(f"labels {list(labels)} are not all different")
    picture = canvas(
        title=title,
        x_label=x_label,
        y_label="",
        alt=alt,
        width=330 + round(LETTER * max(map(len, labels))),
        height=max(HEIGHT, 130 + 30 * len(labels)),
        x_range=(-0.03, 1.03),
        y_range=list(reversed(labels)),
    )
    source = ColumnDataSource(data=answer_pairs_data(first, second, labels), name=name)
    picture.segment(
        "first", "label", "second", "label", source=source, line_width=5, line_color="#c9c9c9"
    )
    marks = [
        picture.scatter(
            column,
            "label",
            source=source,
            marker=marker,
            size=12 if marker == "circle" else 15,
            fill_color=colour,
            fill_alpha=0.85,
            line_color="#ffffff",
            legend_label=label,
        )
        for column, marker, colour, label in zip(
            ("first", "second"), MARKERS, COLOURS, posteriors, strict=True
        )
    ]
    tips = [("", "@label"), (posteriors[0], "@first{0.000}"), (posteriors[1], "@second{0.000}")]
    picture.add_tools(HoverTool(renderers=marks, tooltips=tips))
    picture.ygrid.grid_line_color = None
    _framed(picture)
    return picture


def distances_now(stops: Sequence[int], lines: Mapping[str, ArrayLike], stop: int, /) -> Columns:
    """Columns of the source `now` of `distances`: one row a line, at the number of rows `stop`.

    Examples
    --------
    >>> distances_now([0, 10], {"DAGs": [0.4, 0.25]}, 10)
    {'rows': ['10'], 'distance': [0.25], 'line': ['DAGs']}
    """
    if stop not in stops:
        raise ValueError(f"{stop} rows are not among the stops {list(stops)}")
    place = list(stops).index(stop)
    return {
        "rows": [f"{stop:,}" for _ in lines],
        "distance": [float(np.asarray(values)[place]) for values in lines.values()],
        "line": list(lines),
    }


def distances(
    stops: Sequence[int],
    lines: Mapping[str, ArrayLike],
    stop: int,
    /,
    *,
    title: str,
    y_label: str,
    y_range: tuple[float, float],
    alt: str,
) -> figure:
    """Distances of two posteriors at each of a few data sizes, evenly spaced as on a slider.

    Its source of large marks, at the size `stop`, is called `now` and holds `distances_now`.

    Parameters
    ----------
    lines
        Name -> one distance a stop; at most two lines.

    Examples
    --------
    >>> picture = distances([0, 10], {"DAGs": [0.4, 0.25]}, 10, title="Distance",
    ...     y_label="distance", y_range=(0, 1), alt="Distance of two posteriors as data grow")
    >>> picture.select_one({"name": "now"}).data["distance"]
    [0.25]
    """
    picture = canvas(
        title=title,
        x_label="rows",
        y_label=y_label,
        alt=alt,
        width=400,
        height=HEIGHT,
        x_range=[f"{size:,}" for size in stops],
        y_range=y_range,
    )
    for i, (label, values) in enumerate(lines.items()):
        points = {
            "rows": [f"{size:,}" for size in stops],
            "distance": np.asarray(values, np.float64).tolist(),
        }
        source = ColumnDataSource(data=points)
        picture.line(
            "rows",
            "distance",
            source=source,
            line_width=3,
            line_color=COLOURS[i],
            line_dash=DASHES[i],
            legend_label=label,
        )
    now = ColumnDataSource(data=distances_now(stops, lines, stop), name="now")
    marks = picture.scatter(
        "rows", "distance", source=now, size=13, fill_color="#ffffff", line_color=INK, line_width=2
    )
    tips = [("", "@line"), ("rows", "@rows"), ("distance", "@distance{0.000}")]
    picture.add_tools(HoverTool(renderers=[marks], tooltips=tips))
    picture.xaxis.major_label_orientation = 0.9
    picture.xgrid.grid_line_color = None
    _framed(picture)
    return picture


def _framed(picture: figure) -> None:
    legend_above(picture)
    picture.axis.minor_tick_line_color = None
    picture.outline_line_color = RULE
    picture.outline_line_alpha = 0.3
