"""Edge probabilities as a heat map: rows are parents, columns are children."""

from collections.abc import Sequence

import numpy as np
from bokeh.models import (
    BasicTicker,
    ColorBar,
    ColumnDataSource,
    CustomJSTickFormatter,
    HoverTool,
    LinearColorMapper,
)
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from bnlab.plots.canvas import INK, PROBABILITY, RULE, SMALL_FONT_SIZE, canvas

Columns = dict[str, list[object]]

FRAME = 340  # pixels, the side of the matrix
LONGEST_LABEL = 22  # characters
LETTER = 6.6  # pixels, mean width of a character of the axis labels
MAX_NUMBERED = 14
"""Above this many variables a cell has no room for its number."""


def square(matrix: ArrayLike, names: Sequence[str], what: str) -> np.ndarray:
    """`matrix` as floats (n, n) with n = len(names), or a ValueError that says which differs."""
    values = np.asarray(matrix, np.float64)
    if values.shape != (len(names), len(names)):
        raise ValueError(
            f"{what} has shape {values.shape}, but there are {len(names)} names: "
            "give one row and one column a name"
        )
    return values


def heat_map_data(edges: ArrayLike, names: Sequence[str], /) -> Columns:
    """Columns of the source of `heat_map`: one row an ordered pair of variables, row by row.

    Parameters
    ----------
    edges
        (n, n) floats in [0, 1]; entry [u, v] is the probability of the edge u -> v.
    names
        The n variable names.

    Returns
    -------
    dict
        Columns `parent`, `child` (names), `probability`, `label` (the printed number, empty where
        there is no room or the probability is under 0.005) and `ink` (its colour).

    Examples
    --------
    >>> heat_map_data([[0, 0.9], [0.1, 0]], ["rain", "wet"])["label"]
    ['.90', '.10']
    """
    values = square(edges, names, "edges")
    n = len(names)
    pairs = [(u, v) for u in range(n) for v in range(n) if u != v]
    chosen = [float(values[u, v]) for u, v in pairs]
    return {
        "parent": [names[u] for u, _ in pairs],
        "child": [names[v] for _, v in pairs],
        "probability": list(chosen),
        "label": [_number(p) if n <= MAX_NUMBERED else "" for p in chosen],
        "ink": ["#ffffff" if p > 0.6 else INK for p in chosen],
    }


def heat_map(
    edges: ArrayLike,
    names: Sequence[str],
    /,
    *,
    name: str = "edges",
    title: str = "Probability of each edge",
    alt: str = "Heat map of edge probabilities, a row for each parent, a column for each child",
) -> figure:
    """Heat map of edge probabilities; its source is called `name` and holds `heat_map_data`.

    Parameters
    ----------
    edges, names
        As in `heat_map_data`.
    name
        The name of the source, by which labs and tests find it.

    Examples
    --------
    >>> picture = heat_map([[0, 0.9], [0.1, 0]], ["rain", "wet"])
    >>> picture.select_one({"name": "edges"}).data["probability"]
    [0.9, 0.1]
    """
    n = len(names)
    longest = min(max(len(label) for label in names), LONGEST_LABEL)
    slanted = n > 6 or longest > 6
    room = round(LETTER * longest)
    picture = canvas(
        title=title,
        x_label="child",
        y_label="parent",
        alt=alt,
        width=FRAME + 100 + room,
        height=FRAME + 85 + (round(0.8 * room) if slanted else 0),
        x_range=list(names),
        y_range=list(reversed(names)),
    )
    picture.frame_width = picture.frame_height = FRAME
    source = ColumnDataSource(data=heat_map_data(edges, names), name=name)
    mapper = LinearColorMapper(palette=PROBABILITY, low=0, high=1)
    cells = picture.rect(
        "child",
        "parent",
        width=0.96,
        height=0.96,
        source=source,
        fill_color={"field": "probability", "transform": mapper},
        line_color=None,
    )
    picture.rect(
        x=list(names),
        y=list(names),
        width=0.96,
        height=0.96,
        fill_color="#f0f0f0",
        line_color=None,
        hatch_pattern="/",
        hatch_color="#cccccc",
        hatch_scale=8,
    )
    picture.text(
        "child",
        "parent",
        text="label",
        text_color="ink",
        source=source,
        text_align="center",
        text_baseline="middle",
        text_font_size="13px" if n <= 8 else "10px",
    )
    picture.add_layout(
        ColorBar(
            color_mapper=mapper,
            ticker=BasicTicker(desired_num_ticks=5),
            width=12,
            padding=4,
            bar_line_color=RULE,
            major_label_text_font_size=SMALL_FONT_SIZE,
            major_label_text_color=INK,
            title_text_font_size=SMALL_FONT_SIZE,
        ),
        "right",
    )
    picture.add_tools(
        HoverTool(
            renderers=[cells],
            tooltips=[("edge", "@parent → @child"), ("probability", "@probability{0.000}")],
        )
    )
    picture.grid.grid_line_color = None
    picture.axis.axis_line_color = None
    picture.axis.major_tick_line_color = None
    picture.axis.formatter = CustomJSTickFormatter(
        args={"longest": LONGEST_LABEL},
        code="return tick.length > longest ? tick.slice(0, longest - 1) + '…' : tick",
    )
    if slanted:
        picture.xaxis.major_label_orientation = 0.9
    return picture


def _number(probability: float) -> str:
    if probability < 0.005:
        return ""
    return "1" if probability >= 0.995 else f"{probability:.2f}"[1:]
