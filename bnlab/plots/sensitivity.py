"""How edge probabilities move with a setting: a row for each edge, a mark for each value."""

from collections.abc import Sequence

import numpy as np
from bokeh.models import (
    ColumnDataSource,
    CustomJSTickFormatter,
    FactorRange,
    HoverTool,
    LegendItem,
    Range1d,
)
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from bnlab.plots.canvas import CYCLE, FONT_SIZE, INK, RULE, canvas, legend_below
from bnlab.plots.edges import Columns

MARKERS = ("circle", "square", "triangle", "diamond", "inverted_triangle", "star", "hex", "plus")
ROW = 26  # pixels, the height of an edge
LETTER = 7.0  # pixels, mean width of a character of the labels
LONGEST = 44  # characters of a label


def sensitivity_data(
    probabilities: ArrayLike, labels: Sequence[str], settings: Sequence[str], /
) -> Columns:
    """Columns of the source of `sensitivity`: one row for each edge under each setting.

    Parameters
    ----------
    probabilities
        (settings, edges) floats in [0, 1].
    labels
        The edges, as in "rain → wet".
    settings
        What was changed, as in "ess 10"; at most eight.

    Returns
    -------
    dict
        Columns `edge`, `setting`, `probability`, `marker` and `colour`, setting by setting.

    Examples
    --------
    >>> sensitivity_data([[0.2], [0.7]], ["rain → wet"], ["ess 1", "ess 10"])["probability"]
    [0.2, 0.7]
    """
    values = np.asarray(probabilities, np.float64)
    if values.shape != (len(settings), len(labels)) or len(settings) > len(MARKERS):
        raise ValueError(
            f"probabilities has shape {values.shape} for {len(settings)} settings and "
            f"{len(labels)} edges: one row a setting, at most {len(MARKERS)}, one column an edge"
        )
    return {
        "edge": [label for _ in settings for label in labels],
        "setting": [setting for setting in settings for _ in labels],
        "marker": [marker for marker in MARKERS[: len(settings)] for _ in labels],
        "colour": [colour for colour in CYCLE[: len(settings)] for _ in labels],
        "probability": list(values.ravel().tolist()),
    }


def sensitivity(
    probabilities: ArrayLike,
    labels: Sequence[str],
    settings: Sequence[str],
    /,
    *,
    name: str = "sensitivity",
    title: str = "How edges move with the setting",
    alt: str = "Dot plot: a row for each edge, a mark for its probability under each setting",
) -> figure:
    """Dot plot of edges under several settings; its source is called `name`.

    Every setting has a colour and a shape of its own; a line joins the extremes of an edge.

    Examples
    --------
    >>> picture = sensitivity([[0.2], [0.7]], ["rain → wet"], ["ess 1", "ess 10"])
    >>> picture.select_one({"name": "sensitivity"}).data["setting"]
    ['ess 1', 'ess 10']
    """
    columns = sensitivity_data(probabilities, labels, settings)
    values = np.asarray(probabilities, np.float64)
    lines = -(-len(settings) // 4)
    picture = canvas(
        title=title,
        x_label="probability of the edge",
        y_label="",
        alt=alt,
        width=420 + round(LETTER * min(max(map(len, labels), default=0), LONGEST)),
        height=120 + ROW * len(labels) + 22 * lines,
        x_range=Range1d(-0.03, 1.03),
        y_range=FactorRange(*reversed(labels)),
    )
    picture.segment(
        x0=values.min(axis=0).tolist(),
        x1=values.max(axis=0).tolist(),
        y0=list(labels),
        y1=list(labels),
        line_color=RULE,
        line_width=2,
    )
    drawn = picture.scatter(
        "probability",
        "edge",
        source=ColumnDataSource(data=columns, name=name),
        marker="marker",
        fill_color="colour",
        fill_alpha=0.85,
        size=11,
        line_color=INK,
        line_width=0.8,
    )
    items = [
        LegendItem(label=setting, renderers=[drawn], index=i * len(labels))
        for i, setting in enumerate(settings)
    ]
    legend_below(picture, items, columns=4)
    picture.legend.label_text_font_size = FONT_SIZE
    picture.ygrid.grid_line_color = None
    picture.yaxis.formatter = CustomJSTickFormatter(
        args={"longest": LONGEST},
        code="return tick.length > longest ? tick.slice(0, longest - 1) + '…' : tick",
    )
    picture.add_tools(
        HoverTool(
            renderers=[drawn],
            tooltips=[
                ("edge", "@edge"),
                ("setting", "@setting"),
                ("probability", "@probability{0.000}"),
            ],
        )
    )
    return picture
