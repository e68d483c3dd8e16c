"""The look that all pictures share: sizes, fonts, colours and marks that all can tell apart."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from bokeh.palettes import Blues256, Colorblind

WIDTH, HEIGHT = 420, 420  # pixels
INK = "#1a1a1a"
RULE = "#8c8c8c"
PALE = "#a6cee3"
SMALL_FONT_SIZE = "12px"

CYCLE: tuple[str, ...] = tuple(Colorblind[8])
"""Line and marker colours (Okabe and Ito's eight), told apart with any colour vision."""

PROBABILITY = tuple(reversed(Blues256))  # one hue from light (0) to dark (1): the same in grey

COLOURS = (*(CYCLE[i] for i in (0, 5, 3, 6, 1, 4, 7)), RULE)
"""Colours of lines and marks in the order in which a chart takes them."""

MARKERS = ("circle", "square", "triangle", "diamond", "inverted_triangle", "hex", "star", "plus")
DASHES = ("solid", "dashed", "dotted", "dotdash", "dashdot")
BROKEN = DASHES[1:]  # of lines that are not data: exact values, bounds, the ideal

OUTLINE, WIDER = CYCLE[5], 3  # pixels
"""Of what is pointed at, and of what has its name in the pictures beside it."""

TELL = (Path(__file__).parents[1] / "templates" / "tell.js").read_text(encoding="utf-8")
"""What is pointed at is outlined in the other pictures of a widget or a film as well. A thing has
the name that the first tip gives; a path has that of the edge, a level that of the variable."""

BOUNDS = ("inverted_triangle", "triangle")

BETWEEN = {"fill_color": PALE, "fill_alpha": 0.4, "level": "underlay"}
"""The look of what is between two lines."""

DIAMOND = {"marker": "diamond", "size": 12, "fill_color": CYCLE[3], "line_color": INK}
"""The look of what is exact, published or direct, beside what was drawn or computed here."""

BOX = {"fill_color": "#ffffff", "line_color": RULE, "line_width": 1.5}  # the look of a node

Looks = dict[str, tuple[str, str, str]]  # label -> its colour, its dash and its marker


def cycled(labels: Iterable[str], /, *, skip: int = 0, dashes: int = 1) -> Looks:
    """A colour, one of so many dashes and a marker for each label, in turn, after some others."""
    return {
        label: (COLOURS[i % 8], DASHES[i % dashes], MARKERS[i % 8])
        for i, label in enumerate(labels, skip)
    }


class Axis(NamedTuple):
    """An axis of a picture. What a chart settles itself, as a logarithmic scale, need not be given.

    Attributes
    ----------
    label : what it shows; names the unit, as in "data size (rows)"
    ends : a pair, or a list of factors; None fits the data
    log : whether it is logarithmic
    ticks : the marked places; None for those of Bokeh
    number : how numbers are written there, as "0,0"; "" for Bokeh's way, or %g if there are `ticks`
    """

    label: str = ""
    ends: tuple[float, float] | list[str] | None = None
    log: bool = False
    ticks: Sequence[float] | None = None
    number: str = ""
