"""An empty picture in the style of the labs, and what goes into it: legends, tips, words, ticks."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bokeh import models
from bokeh.core.property.vectorization import value
from bokeh.plotting import figure

from bnlab.plots.drawing import Again, Size, drawing_over, model, under_way
from bnlab.plots.looks import HEIGHT, INK, OUTLINE, RULE, SMALL_FONT_SIZE, TELL, WIDER, WIDTH, Axis


def canvas(title: str, alt: str, x: Axis, y: Axis, /, *, size: Size = (WIDTH, HEIGHT)) -> figure:
    """Make an empty Bokeh figure in the style of the labs, without a tool bar.

    Parameters
    ----------
    alt : what a screen reader says in place of the picture
    size : width and height, pixels
    """
    out = under_way[-1].again(alt, (x, y), size) if drawing_over() else _blank(alt, (x, y), size)
    out.title.text = title
    for axis, given in ((out.xaxis, x), (out.yaxis, y)):
        axis.axis_label = given.label
        if given.ticks is not None:
            axis.ticker = model(models.FixedTicker, ticks=list(given.ticks))
        if given.number or given.ticks is not None:
            number = given.number or "%g"
            kinds = models.NumeralTickFormatter, models.PrintfTickFormatter
            axis.formatter = model(kinds[number.startswith("%")], format=number)
    return out


def _blank(alt: str, axes: tuple[Axis, Axis], size: Size) -> figure:
    kinds = {f"{of}_axis_type": "log" for of, axis in zip("xy", axes, strict=True) if axis.log}
    ends = {f"{of}_range": axis.ends for of, axis in zip("xy", axes, strict=True) if axis.ends}
    out = figure(
        width=size[0],
        height=size[1],
        toolbar_location=None,
        tools="",
        html_attributes={"role": "img", "aria-label": alt},
        **kinds,
        **ends,
    )
    out.title.text_font_size = "14px"
    out.title.text_color = INK
    out.axis.axis_label_text_font_size = "13px"
    out.axis.axis_label_text_font_style = "normal"
    out.axis.axis_label_text_color = INK
    out.axis.major_label_text_font_size = SMALL_FONT_SIZE
    out.axis.major_label_text_color = INK
    out.axis.axis_line_color = RULE
    out.axis.major_tick_line_color = RULE
    out.grid.grid_line_color = "#e3e3e3"
    out.axis.minor_tick_line_color = None
    out.outline_line_color = None
    out._axes, out._size = axes, size
    if under_way:
        under_way[-1].made.append(out)
    return out


def diagram(*, title: str, alt: str, width: int, height: int) -> figure:
    """An empty figure of so many pixels for boxes and links: coordinates in pixels, no axes."""
    size = (width + 10, height + 40)
    out = canvas(title, alt, Axis("", (0, width)), Axis("", (0, height)), size=size)
    out.frame_width, out.frame_height = width, height
    out.axis.visible = False
    out.grid.grid_line_color = None
    return out


def legend(picture: figure, items: Any, /, *, columns: int = 0) -> None:
    """Put a legend of these items in one line over a picture, or under it in so many columns."""
    look: dict[str, Any] = {"orientation": "horizontal", "padding": 2, "spacing": 14}
    if columns:
        look = {"ncols": columns, "location": "top_left", "padding": 4, "spacing": 8}
    if not isinstance(picture, Again):  # there the legend is there
        look |= {"label_text_font_size": SMALL_FONT_SIZE, "label_text_color": INK}
        items = models.Legend(items=items, margin=0, border_line_color=None, **look)
    picture.add_layout(items, "below" if columns else "above")


def entry(label: str, drawn: Any, /, index: int | None = None) -> models.LegendItem:
    """Make a legend entry for what is drawn, one thing or a list, or for one row of it."""
    renderers = drawn if isinstance(drawn, list) else [drawn]
    return model(models.LegendItem, label=value(label), renderers=renderers, index=index)


def entries(drawn: Mapping[str, Any], /) -> list[models.LegendItem]:
    """Legend entries: label -> what draws it, one thing or a list."""
    return [entry(label, glyphs) for label, glyphs in drawn.items()]


def row_entries(drawn: object, labels: Iterable[str], /) -> list[models.LegendItem]:
    """Legend entries for the rows of what is drawn."""
    return [entry(label, drawn, i) for i, label in enumerate(labels)]


def hover(
    picture: figure,
    drawn: Sequence[Any],
    /,
    *tips: tuple[str, str],
    outlined: Sequence[Any] = (),
    **how: str,
) -> None:
    """Tell these (label, "@column") pairs of what the pointer is over.

    The row of what is `outlined` has an outline, here and where the first tip of another picture of
    the widget calls it the same. Then `drawn` is one thing, all on its source.
    """
    if isinstance(picture, Again):
        return  # tools are there
    tool = models.HoverTool(renderers=list(drawn), tooltips=list(tips), **how)
    for each in outlined:
        tool.callback = models.CustomJS(code=TELL)
        now = each.glyph.line_width  # a column, or a number
        by = {"field": now, "transform": models.Dodge(value=WIDER)}
        width = by if isinstance(now, str) else now + WIDER
        look = {"line_color": OUTLINE, "line_alpha": 1, "line_width": width}
        each.hover_glyph = each.glyph.clone(**look)
    picture.add_tools(tool)


def write(
    picture: figure,
    x: object,
    y: object,
    text: object,
    /,
    *,
    source: models.ColumnDataSource | None = None,
    size: int = 12,
    bold: bool = False,
    align: str = "center",
    baseline: str = "middle",
    colour: str = INK,
) -> None:
    """Write text into a picture: columns of the source, or lists."""
    picture.text(
        x,
        y,
        text,
        **({} if source is None else {"source": source}),
        text_color=colour,
        text_align=align,
        text_baseline=baseline,
        text_font_size=f"{size}px",
        text_font_style="bold" if bold else "normal",
    )


def shortened(longest: int, /) -> Any:
    """Cut labels on an axis to so many characters."""
    code = "return tick.length > longest ? tick.slice(0, longest - 1) + '…' : tick"
    return model(models.CustomJSTickFormatter, args={"longest": longest}, code=code)
