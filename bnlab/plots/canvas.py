"""The look that all pictures share: sizes, fonts and colours that everybody can tell apart."""

import numpy as np
from bokeh.models import Legend, LegendItem, Range1d
from bokeh.palettes import Blues256, Colorblind
from bokeh.plotting import figure
from numpy.typing import ArrayLike, NDArray

WIDTH = 420
HEIGHT = 420
INK = "#1a1a1a"
RULE = "#8c8c8c"
PALE = "#a6cee3"
FONT_SIZE = "13px"
SMALL_FONT_SIZE = "12px"

CYCLE: tuple[str, ...] = tuple(Colorblind[8])
"""Line and marker colours (Okabe and Ito's eight), told apart with any colour vision."""

PROBABILITY: tuple[str, ...] = tuple(reversed(Blues256))
"""One hue from light (0) to dark (1): it reads the same in grey."""


def canvas(
    *,
    title: str,
    x_label: str,
    y_label: str,
    alt: str,
    width: int = WIDTH,
    height: int = HEIGHT,
    x_axis_type: str = "auto",
    y_axis_type: str = "auto",
    x_range: object = None,
    y_range: object = None,
) -> figure:
    """An empty Bokeh figure in the style of the labs, without a tool bar.

    Parameters
    ----------
    x_label, y_label
        Axis labels; name the unit, as in "data size (rows)".
    alt
        What a screen reader says in place of the picture.
    width, height
        Pixels.
    x_axis_type, y_axis_type
        "linear", "log", or "auto", which follows the range.
    x_range, y_range
        Anything Bokeh takes as a range: a pair, a list of factors, a Range; None fits the data.

    Examples
    --------
    >>> picture = canvas(title="Error", x_label="draws", y_label="error", alt="Error and draws")
    >>> picture.xaxis.axis_label
    'draws'
    """
    ranges = {"x_range": x_range, "y_range": y_range}
    out = figure(
        title=title,
        width=width,
        height=height,
        x_axis_type=x_axis_type,
        y_axis_type=y_axis_type,
        toolbar_location=None,
        tools="",
        background_fill_color="#ffffff",
        html_attributes={"role": "img", "aria-label": alt},
        **{key: value for key, value in ranges.items() if value is not None},
    )
    out.title.text_font_size = "14px"
    out.title.text_color = INK
    out.axis.axis_label = ""
    out.xaxis.axis_label = x_label
    out.yaxis.axis_label = y_label
    out.axis.axis_label_text_font_size = FONT_SIZE
    out.axis.axis_label_text_font_style = "normal"
    out.axis.axis_label_text_color = INK
    out.axis.major_label_text_font_size = SMALL_FONT_SIZE
    out.axis.major_label_text_color = INK
    out.axis.axis_line_color = RULE
    out.axis.major_tick_line_color = RULE
    out.grid.grid_line_color = "#e3e3e3"
    out.outline_line_color = None
    return out


def diagram(*, title: str, alt: str, width: int, height: int) -> figure:
    """An empty figure of so many pixels for boxes and links: coordinates in pixels, no axes.

    Examples
    --------
    >>> diagram(title="Network", alt="Boxes and links", width=300, height=200).frame_width
    300
    """
    out = canvas(
        title=title,
        x_label="",
        y_label="",
        alt=alt,
        width=width + 10,
        height=height + 40,
        x_range=Range1d(0, width),
        y_range=Range1d(0, height),
    )
    out.frame_width, out.frame_height = width, height
    out.axis.visible = False
    out.grid.grid_line_color = None
    return out


def legend_above(picture: figure, /) -> None:
    """Move the legend of a picture out of its frame, to one line above it.

    Examples
    --------
    >>> picture = canvas(title="Error", x_label="draws", y_label="error", alt="Error and draws")
    >>> _ = picture.line([0, 1], [1, 0], legend_label="mean")
    >>> legend_above(picture)
    >>> picture.legend[0].orientation
    'horizontal'
    """
    legend = picture.legend[0]
    picture.add_layout(legend, "above")
    legend.orientation = "horizontal"
    legend.label_text_font_size = SMALL_FONT_SIZE
    legend.border_line_color = None
    legend.padding = 2
    legend.margin = 0
    legend.spacing = 14


def legend_below(picture: figure, items: list[LegendItem], /, *, columns: int) -> None:
    """A legend of these items under a picture, in so many columns.

    Examples
    --------
    >>> picture = canvas(title="Error", x_label="draws", y_label="error", alt="Error and draws")
    >>> line = picture.line([0, 1], [1, 0])
    >>> legend_below(picture, [LegendItem(label="mean", renderers=[line])], columns=2)
    >>> picture.legend[0].ncols
    2
    """
    legend = Legend(
        items=items,
        ncols=columns,
        location="top_left",
        margin=0,
        padding=4,
        spacing=8,
        border_line_color=None,
        label_text_font_size=SMALL_FONT_SIZE,
        label_text_color=INK,
    )
    picture.add_layout(legend, "below")


def vector(values: ArrayLike, size: int, what: str) -> NDArray[np.float64]:
    """The values as floats (size,), or a ValueError that says what has another shape.

    Examples
    --------
    >>> vector([1, 2], 2, "errors")
    array([1., 2.])
    """
    out = np.asarray(values, np.float64)
    if out.shape != (size,):
        raise ValueError(f"{what} has shape {out.shape}, but {size} values are needed")
    return out
