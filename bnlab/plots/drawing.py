"""Sources of columns, and pictures on display drawn once more: what is new in them moves."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from bokeh.models import BoxAnnotation, ColumnDataSource, GlyphRenderer
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from bnlab.checks import Floats
from bnlab.plots.looks import Axis

Columns = dict[str, list[Any]]
Series = Mapping[str, tuple[ArrayLike, ArrayLike]]  # name of a curve -> its places and values
Size = tuple[int, int]  # width and height, pixels


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
        under_way.append(self)
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        under_way.pop()
        if kind is None and self.over is not None:
            if any(next(left, None) for each in self.made for left in vars(each)["_left"]):
                raise Differs

    def again(self, alt: str, axes: tuple[Axis, Axis], size: Size) -> Any:
        """Take the next picture, if it has such axes."""
        assert self.over is not None
        shown = next(self.over, None)
        if shown is None or _kinds(shown._axes) != _kinds(axes):
            raise Differs
        if shown._size != size:  # what is drawn may make it larger after that
            shown._size = shown.width, shown.height = size
        shown.html_attributes = {**shown.html_attributes, "aria-label": alt}
        for ends, axis in zip((shown.x_range, shown.y_range), axes, strict=True):
            if isinstance(axis.ends, tuple):
                ends.update(start=axis.ends[0], end=axis.ends[1])
            elif isinstance(axis.ends, list):
                ends.factors = axis.ends
        self.made.append(Again(shown))
        return self.made[-1]


def _kinds(axes: tuple[Axis, Axis]) -> list[tuple[bool, type]]:
    return [(axis.log, type(axis.ends)) for axis in axes]


under_way: list[Drawing] = []  # the one that is going on, if any, last


def drawing_over() -> bool:
    """Whether what is drawn moves pictures on display."""
    return bool(under_way) and under_way[-1].over is not None


class Again:
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
        elif new := {name: now for name, now in data.items() if now != old.data[name]}:
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


def model(kind: Callable[..., Any], /, **look: Any) -> Any:
    """Make a model of Bokeh, which is slow; over pictures that have theirs, what it would say."""
    return SimpleNamespace(**look) if drawing_over() else kind(**look)


def data_source(columns: Mapping[str, Any], /, name: str | None = None) -> ColumnDataSource:
    """Make the source of these columns, by whose name what draws it is found."""
    return model(ColumnDataSource, data=dict(columns), name=name)


def from_rows(names: str, rows: Sequence[Sequence[object]], /) -> Columns:
    """The columns of these names, which are parted by blanks, from rows."""
    return {name: [row[i] for row in rows] for i, name in enumerate(names.split())}


def vector(values: ArrayLike, size: int, what: str) -> Floats:
    """The values as floats (size,), or a ValueError that says what has another shape."""
    out = np.asarray(values, np.float64)
    if out.shape != (size,):
        raise ValueError(f"{what} has shape {out.shape}, but {size} values are needed")
    return out


def square(matrix: ArrayLike, names: Sequence[str], what: str, /) -> Floats:
    """`matrix` as floats (n, n) with n = len(names), or a ValueError that says which differs."""
    values = np.asarray(matrix, np.float64)
    if values.shape != (len(names), len(names)):
        raise ValueError(
            f"{what} has shape {values.shape}, but there are {len(names)} names: "
            "give one row and one column a name"
        )
    return values


def wide(over: str, x: ArrayLike, lines: Mapping[str, ArrayLike], /) -> Columns:
    """The columns of lines over the same places, numbers or words, which are the column `over`."""
    places = np.asarray(x)
    named = {label: vector(values, places.size, label) for label, values in lines.items()}
    return {over: places.tolist(), **{label: line.tolist() for label, line in named.items()}}


def interval(middle: ArrayLike, margin: float, /) -> Columns:
    """The ends of the interval of half width `margin` around probabilities."""
    low, high = (np.clip(np.asarray(middle) + way * margin, 0, 1) for way in (-1, 1))
    return {"low": low.tolist(), "high": high.tolist()}


def checked(what: str, log: str, /, *drawn: Series) -> None:
    """Refuse curves of other numbers of places than values, or not positive on a `log` axis."""
    for label, (x, y) in (pair for curves in drawn for pair in curves.items()):
        places, values = np.asarray(x, np.float64), np.asarray(y, np.float64)
        if places.shape != values.shape or places.ndim != 1:
            raise ValueError(f"{label!r} has {places.size} {what} and {values.size} values")
        shown = {"x": places, "y": values}
        bad = [float(value) for axis in log for value in shown[axis] if value <= 0]
        if bad:
            raise ValueError(f"{label!r} holds {bad[0]:g}: a logarithmic axis shows no such value")


def round_numbers(low: float, high: float, /) -> list[float]:
    """Powers of ten for a logarithmic axis, and 2 and 5 times these when there are few."""
    factors = (1, 2, 5) if high < 300 * low else (1,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [factor * 10.0**power for power in powers for factor in factors]
