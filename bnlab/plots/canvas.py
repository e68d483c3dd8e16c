"""The look that all pictures share: sizes, fonts and colours that everybody can tell apart."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from bokeh.core.property.vectorization import value
from bokeh.models import (
    BoxAnnotation,
    ColumnDataSource,
    CustomJS,
    Dodge,
    FixedTicker,
    GlyphRenderer,
    HoverTool,
    Legend,
    LegendItem,
    NumeralTickFormatter,
    PrintfTickFormatter,
)
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

COLOURS = (*(CYCLE[i] for i in (0, 5, 3, 6, 1, 4, 7)), RULE)
"""Colours of lines and marks in the order in which a chart takes them."""

MARKERS = ("circle", "square", "triangle", "diamond", "inverted_triangle", "hex", "star", "plus")
DASHES = ("solid", "dashed", "dotted", "dotdash", "dashdot")
BROKEN = DASHES[1:]
"""Of lines that are not data: exact values, bounds, the ideal."""

OUTLINE, WIDER = CYCLE[5], 3  # pixels
"""Of what is pointed at, and of what has its name in the pictures beside it."""

TELL = """
const place = view => view.el.closest(".bnlab-live, figure.film");
const named = ({tooltips: [[, text]]}, {data}, i) => text
  .replace(/@(\\w+)/g, (_, of) => data[of][i])
  .replace("⇝", "→").replace(/ = .*/, "");
const drawn = ({model}) => model.toolbar.tools.filter(tool => tool.callback)
  .flatMap(tool => tool.renderers.map(each => [tool, each, each.data_source]));
const views = [...cb_context.index.roots].filter(view => view.model.toolbar);
const here = views.find(view => view.model.toolbar.tools.includes(cb_obj));
const names = new Set(drawn(here).flatMap(([tool, each, source]) =>
  (each.get_selection_manager().inspectors.get(each)?.indices ?? [])
    .map(i => named(tool, source, i))));
for (const view of views) {
  if (view === here || !place(view) || place(view) !== place(here)) continue;
  for (const [tool, each, source] of drawn(view)) {
    const rows = Array.from({length: source.get_length() ?? 0}, (_, i) => i);
    const indices = rows.filter(i => names.has(named(tool, source, i)));
    if (String(indices) === String(source.inspected.indices)) continue;
    source.setv({inspected: new source.inspected.constructor({indices})}, {silent: true});
    source.inspect.emit([each, {geometry: {}}]);
  }
}
"""
"""What is pointed at is outlined in the other pictures of a widget or a film as well. A thing has
the name that the first tip gives; a path has that of the edge, a level that of the variable."""

Columns = dict[str, list[Any]]

Size = tuple[int, int]
"""Width and height, pixels."""


def canvas(
    title: str,
    alt: str,
    x_label: str,
    y_label: str,
    *,
    size: Size = (WIDTH, HEIGHT),
    log: str = "",
    x: object = None,
    y: object = None,
) -> figure:
    """Make an empty Bokeh figure in the style of the labs, without a tool bar.

    Parameters
    ----------
    alt : what a screen reader says in place of the picture
    x_label, y_label : axis labels; name the unit, as in "data size (rows)"
    size : width and height, pixels
    log : which axes are logarithmic: "", "x", "y" or "xy"
    x, y : ranges of the axes: a pair, a list of factors, a Range of Bokeh; None fits the data
    """
    frame = log, type(x), type(y)
    if _drawing_over():
        return _drawing[-1].again(frame, size, title, alt, (x_label, y_label), (x, y))
    kinds = {f"{axis}_axis_type": "log" if axis in log else "auto" for axis in "xy"}
    ranges = {"x_range": x, "y_range": y}
    out = figure(
        title=title,
        width=size[0],
        height=size[1],
        toolbar_location=None,
        tools="",
        background_fill_color="#ffffff",
        html_attributes={"role": "img", "aria-label": alt},
        **kinds,
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
    out.axis.minor_tick_line_color = None
    out.outline_line_color = None
    out._frame, out._size = frame, size
    if _drawing:
        _drawing[-1].made.append(out)
    return out


def diagram(*, title: str, alt: str, width: int, height: int) -> figure:
    """An empty figure of so many pixels for boxes and links: coordinates in pixels, no axes."""
    size = (width + 10, height + 40)
    out = canvas(title, alt, "", "", size=size, x=(0, width), y=(0, height))
    out.frame_width, out.frame_height = width, height
    out.axis.visible = False
    out.grid.grid_line_color = None
    return out


def legend(picture: figure, items: Any, /, *, columns: int = 0) -> None:
    """Put a legend of these items in one line over a picture, or under it in so many columns."""
    look: dict[str, Any] = {"orientation": "horizontal", "padding": 2, "spacing": 14}
    if columns:
        look = {"ncols": columns, "location": "top_left", "padding": 4, "spacing": 8}
    if not isinstance(picture, _Again):  # there the legend is there
        look |= {"label_text_font_size": SMALL_FONT_SIZE, "label_text_color": INK}
        items = Legend(items=items, margin=0, border_line_color=None, **look)
    picture.add_layout(items, "below" if columns else "above")


def entry(label: str, drawn: Sequence[Any], /, index: int | None = None) -> LegendItem:
    """Make a legend entry for what is drawn, or for one row of it."""
    return model(LegendItem, label=value(label), renderers=list(drawn), index=index)


def entries(drawn: Mapping[str, Any], /) -> list[LegendItem]:
    """Legend entries: label -> what draws it, one thing or a list."""
    return [
        entry(label, glyphs if isinstance(glyphs, list) else [glyphs])
        for label, glyphs in drawn.items()
    ]


def row_entries(drawn: object, labels: Iterable[str], /) -> list[LegendItem]:
    """Legend entries for the rows of what is drawn."""
    return [entry(label, [drawn], i) for i, label in enumerate(labels)]


def model(kind: Callable[..., Any], /, **look: Any) -> Any:
    """Make a model of Bokeh; over pictures on display, which have theirs, only what it would say.

    Models take time.
    """
    return SimpleNamespace(**look) if _drawing_over() else kind(**look)


def data_source(columns: Mapping[str, Any], /, name: str | None = None) -> ColumnDataSource:
    """Make the source of these columns, by whose name what draws it is found."""
    return model(ColumnDataSource, data=dict(columns), name=name)


def hover(
    picture: figure,
    drawn: Sequence[Any],
    /,
    *tips: tuple[str, str],
    outlined: Sequence[Any] = (),
    **how: str,
) -> None:
    """Tell these (label, "@column") pairs of what the pointer is over.

    Of what is `outlined` the row that the pointer is over has an outline, and so has what the first
    tip calls the same in the other pictures of the widget. Then `drawn` is one thing, all on its
    source.
    """
    if isinstance(picture, _Again):
        return  # tools are there
    tool = HoverTool(renderers=list(drawn), tooltips=list(tips), **how)
    for each in outlined:
        tool.callback = CustomJS(code=TELL)
        now = each.glyph.line_width  # a column, or a number
        by = {"field": now, "transform": Dodge(value=WIDER)}
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
    source: ColumnDataSource | None = None,
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


def set_ticks(axis: Any, places: Sequence[float], /, *, number: str = "%g") -> None:
    """Mark these places on an axis, as %g or in another format, as "0,0"."""
    axis.ticker = model(FixedTicker, ticks=list(places))
    plain = number.startswith("%")
    axis.formatter = model(PrintfTickFormatter if plain else NumeralTickFormatter, format=number)


def round_numbers(low: float, high: float, /) -> list[float]:
    """Powers of ten for a logarithmic axis, and 2 and 5 times these when there are few."""
    factors = (1, 2, 5) if high < 300 * low else (1,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [factor * 10.0**power for power in powers for factor in factors]


def from_rows(names: str, rows: Sequence[Sequence[object]], /) -> Columns:
    """The columns of these names, which are parted by blanks, from rows."""
    return {name: [row[i] for row in rows] for i, name in enumerate(names.split())}


class Differs(Exception):
    """What is drawn differs in more than its numbers from the pictures that it is drawn over."""


class Drawing:
    """Pictures that are being drawn: new ones, or those on display once more, which is fast.

    Over pictures on display, `canvas` takes one after the other, and what is drawn there moves what
    is there: the data of sources, sizes, the ends of ranges and bands, categories, ticks, titles,
    labels of axes and legends, the alt text, looks that are numbers or words. All else is taken to
    be as it was; what shows that it is not raises `Differs`, with pictures half moved. Then they
    must be drawn anew.

        with Drawing() as first: picture = plots.heat_map(...)
        with Drawing(first.made): plots.heat_map(...)
    """

    def __init__(self, over: Iterable[figure] | None = None) -> None:
        self.made: list[Any] = []
        self.over = None if over is None else iter(list(over))

    def __enter__(self) -> "Drawing":
        _drawing.append(self)
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        _drawing.pop()
        if kind is None and self.over is not None:
            if any(next(left, None) for each in self.made for left in vars(each)["_left"]):
                raise Differs

    def again(
        self, frame: object, size: Size, title: str, alt: str, labels: Any, ranges: Any
    ) -> Any:
        """Take the next picture, if it has this frame."""
        assert self.over is not None
        shown = next(self.over, None)
        if shown is None or shown._frame != frame:
            raise Differs
        if shown._size != size:  # what is drawn may make it larger after that
            shown._size = shown.width, shown.height = size
        shown.title.text = title
        shown.html_attributes = {**shown.html_attributes, "aria-label": alt}
        for axes, ends, label, new in zip(
            (shown.xaxis, shown.yaxis), (shown.x_range, shown.y_range), labels, ranges, strict=True
        ):
            axes[0].axis_label = label
            if isinstance(new, tuple):
                ends.update(start=new[0], end=new[1])
            elif isinstance(new, list):
                ends.factors = new
        self.made.append(_Again(shown))
        return self.made[-1]


_drawing: list[Drawing] = []


def _drawing_over() -> bool:
    return bool(_drawing) and _drawing[-1].over is not None


class _Again:
    """Stands for a picture on display while it is drawn once more."""

    def __init__(self, shown: figure) -> None:
        bands = [part for part in shown.center if isinstance(part, BoxAnnotation)]
        left = iter(list(shown.renderers)), iter(bands), iter(list(shown.legend))
        vars(self).update(shown=shown, _left=left)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.shown, name)
        if name.endswith(("axis", "grid")):
            return _Axes(found)
        if name == "select_one" or not callable(found):
            return found
        return partial(self._glyph, name.replace("_", ""))

    def __setattr__(self, name: str, value: object) -> None:
        _look(self.shown, {name: value})

    def _next(self, of: int) -> Any:
        """Take the next renderer, band or legend."""
        found = next(self._left[of], None)
        if found is None:
            raise Differs
        return found

    def _glyph(
        self, kind: str, *given: Any, source: ColumnDataSource | None = None, **look: Any
    ) -> GlyphRenderer:
        drawn: GlyphRenderer = self._next(0)
        if type(drawn.glyph).__name__.lower() != kind:
            raise Differs
        old = drawn.data_source
        if source is None:
            look |= dict(zip(drawn.glyph._args, given, strict=False))
            data = {name: look[name] for name in old.data if name in look}
        else:
            data = source.data
        if set(data) != set(old.data) or (source is not None and source.name != old.name):
            raise Differs
        if any(len(data[name]) != len(column) for name, column in old.data.items()):
            old.data = dict(data)
        elif new := {name: now for name, now in data.items() if not _same(now, old.data[name])}:
            old.data.update(new)
        others = drawn.nonselection_glyph, drawn.muted_glyph, drawn.hover_glyph
        _look(drawn.glyph, {name: now for name, now in look.items() if name not in data}, *others)
        return drawn

    def add_layout(self, part: object, *_: object) -> None:
        if isinstance(part, BoxAnnotation):
            sides = ("bottom", "top", "left", "right")
            _look(self._next(1), {side: getattr(part, side) for side in sides})
        elif isinstance(part, list):
            shown = self._next(2)
            if [item.index for item in shown.items] != [item.index for item in part]:
                raise Differs
            for old, new in zip(shown.items, part, strict=True):
                if str(old.label) != str(new.label):
                    old.label = new.label


def _same(column: Any, other: Any) -> bool:
    return isinstance(column, list) and column == other


def _look(shown: Any, look: Mapping[str, Any], *others: Any) -> None:
    """Change what is not as it was, of numbers and words, also in others where they are alike."""
    for name, now in look.items():
        old = getattr(shown, name, now)
        if isinstance(now, str | int | float | None) and old != now:
            for each in (shown, *others):
                if getattr(each, name, now) == old:
                    setattr(each, name, now)


class _Axes:
    """Stands for the axes of a picture on display: their ticks move, and numbers and words."""

    def __init__(self, shown: Any) -> None:
        vars(self).update(shown=shown)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.shown, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "ticker" and hasattr(value, "ticks"):
            for axis in self.shown:
                axis.ticker.ticks = list(value.ticks)
        for axis in self.shown:
            _look(axis, {name: value})


def vector(values: ArrayLike, size: int, what: str) -> NDArray[np.float64]:
    """The values as floats (size,), or a ValueError that says what has another shape."""
    out = np.asarray(values, np.float64)
    if out.shape != (size,):
        raise ValueError(f"{what} has shape {out.shape}, but {size} values are needed")
    return out
