"""Heat maps: a cell for each pair of variables."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.models import BasicTicker, ColorBar, LinearColorMapper
from bokeh.palettes import PuOr11
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from bnlab.plots.canvas import canvas, hover, shortened, write
from bnlab.plots.drawing import Columns, data_source, model, square
from bnlab.plots.looks import INK, PROBABILITY, RULE, SMALL_FONT_SIZE, Axis

FRAME = 340  # pixels, the side of the matrix
LONGEST = 22  # characters of a label
LETTER = 6.6  # pixels, mean width of a character of the axis labels
MAX_NUMBERED = 14  # variables: of more, a cell has no room for its number

SHADES = 7.0  # ln of 1 + nats, the strongest colour
EMPTY = "#f0f0f0"


def cells(
    names: Sequence[str],
    extra: Columns,
    /,
    *tips: tuple[str, str],
    name: str,
    title: str,
    alt: str,
    fill: Mapping[str, object],
    side: int = FRAME,
    **look: object,
) -> figure:
    """Draw a matrix with a cell for each ordered pair: `label` of the `extra` columns in `ink`."""
    n = len(names)
    longest = min(max(map(len, names)), LONGEST)
    slanted, room = n > 6 or longest > 6, round(LETTER * longest)
    size = side + 100 + room, side + 85 + (round(0.8 * room) if slanted else 0)
    x, y = Axis("child", list(names)), Axis("parent", list(reversed(names)))
    picture = canvas(title, alt, x, y, size=size)
    picture.frame_width = picture.frame_height = side
    pairs = np.argwhere(~np.eye(n, dtype=bool))
    data: Columns = {"parent": [names[u] for u, _ in pairs], "child": [names[v] for _, v in pairs]}
    source = data_source({**data, **extra}, name=name)
    place = {"x": "child", "y": "parent", "source": source, "fill_color": dict(fill)}
    drawn = picture.rect(**place, width=0.95, height=0.95, **look)
    hatch = {"hatch_pattern": "/", "hatch_color": "#cccccc", "hatch_scale": 8}
    diagonal = {"x": list(names), "y": list(names), "fill_color": EMPTY, "line_color": None}
    picture.rect(**diagonal, width=0.95, height=0.95, **hatch)
    letters = 13 if n <= 8 else 10
    write(picture, "child", "parent", "label", source=source, size=letters, colour="ink")
    picture.grid.grid_line_color = None
    picture.axis.axis_line_color = picture.axis.major_tick_line_color = None
    picture.axis.formatter = shortened(LONGEST)
    picture.xaxis.major_label_orientation = 0.9 if slanted else "horizontal"
    hover(picture, [drawn], *tips, outlined=[drawn])
    return picture


def heat_map(
    edges: ArrayLike,
    names: Sequence[str],
    /,
    *,
    name: str = "edges",
    title: str = "Probability of each edge",
    alt: str = "Heat map of edge probabilities, a row for each parent, a column for each child",
    side: int = FRAME,
) -> figure:
    """Draw edge probabilities as a heat map: the column `probability` of the source `name`.

    Its other columns are `parent`, `child` (names), `label` (the printed number, empty where there
    is no room or the probability is under 0.005) and `ink` (its colour).

    Parameters
    ----------
    edges : (n, n) floats in [0, 1]; entry [u, v] is the probability of the edge u -> v, nan where
        it is not known
    names : the n variable names
    name : the name of the source, by which labs and tests find it
    side : of the matrix, pixels
    """
    values = square(edges, names, "edges")
    chosen = values[~np.eye(len(names), dtype=bool)].tolist()
    columns: Columns = {
        "probability": list(chosen),
        "label": [_number(p) if len(names) <= MAX_NUMBERED else "" for p in chosen],
        "ink": ["#ffffff" if p > 0.6 else INK for p in chosen],
    }
    mapper = model(LinearColorMapper, palette=PROBABILITY, low=0, high=1, nan_color="#ffffff")
    look: dict[str, Any] = {"name": name, "title": title, "alt": alt, "side": side}
    look["fill"] = {"field": "probability", "transform": mapper}
    tips = ("edge", "@parent → @child"), ("probability", "@probability{0.000}")
    picture = cells(names, columns, *tips, **look, line_color=None)
    bar: dict[str, Any] = {"width": 12, "padding": 4, "bar_line_color": RULE}
    bar |= {"major_label_text_font_size": SMALL_FONT_SIZE, "major_label_text_color": INK}
    ticker = model(BasicTicker, desired_num_ticks=5)
    picture.add_layout(model(ColorBar, color_mapper=mapper, ticker=ticker, **bar), "right")
    return picture


def _number(probability: float) -> str:
    if not probability >= 0.005:  # nan too
        return ""
    return "1" if probability >= 0.995 else f"{probability:.2f}"[1:]


def move_gains(
    gains: ArrayLike,
    names: Sequence[str],
    /,
    *,
    title: str = "What the move at each pair gains (nats)",
) -> figure:
    """Draw a heat map of the gains of all next moves; the best is framed. Grey: no such move.

    The source "gains" has the columns `parent`, `child`, `gain` (0 where there is no move), `shade`
    (the sign times ln(1 + |gain|), nan for no move), `label`, `ink` and `edge` (the colour of the
    frame: of the move that gains most, if it gains).

    Parameters
    ----------
    gains : (n, n) nats; [u, v] of the move that brings the edge u -> v, or takes it away where it
        is there; nan where there is no such move
    names : the n variable names
    title : over the picture, where only some kinds of move are shown
    """
    alt = "Heat map of the gain of every next move; the best one has a frame"
    values = square(gains, names, "gains")
    chosen = values[~np.eye(len(names), dtype=bool)]
    shade = (np.sign(chosen) * np.log1p(np.abs(chosen))).tolist()
    frame = ["#ffffff"] * chosen.size
    if np.isfinite(chosen).any() and np.nanmax(chosen) > 1e-7:
        frame[int(np.nanargmax(chosen))] = INK
    numbered = len(names) <= MAX_NUMBERED
    columns: Columns = {
        "gain": np.where(np.isnan(chosen), 0.0, chosen).tolist(),
        "shade": shade,
        "label": [_signed(gain) if numbered else "" for gain in chosen.tolist()],
        "ink": ["#ffffff" if abs(x) > 0.72 * SHADES else INK for x in shade],
        "edge": list(frame),
    }
    # Purple to the eye is a gain, orange a loss: told apart with any colour vision.
    shades = {"palette": tuple(reversed(PuOr11)), "low": -SHADES, "high": SHADES}
    look: dict[str, Any] = {"title": title, "alt": alt, "line_color": "edge", "line_width": 2.5}
    mapper = model(LinearColorMapper, **shades, nan_color=EMPTY)
    look["fill"] = {"field": "shade", "transform": mapper}
    tips = ("pair", "@parent → @child"), ("gain", "@gain{0.000} nats")
    return cells(names, columns, *tips, name="gains", **look)


def _signed(gain: float) -> str:
    if np.isnan(gain):
        return ""
    if abs(gain) < 0.05:
        return "0"
    return f"{gain:+.1f}" if abs(gain) < 9.95 else f"{gain:+.0f}"
