"""Dots and bars with a label to each row: answers, shares, published values, paths, settings."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.models import BasicTicker, BoxAnnotation, Dodge
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from bnlab.plots.canvas import canvas, entries, hover, legend, shortened, write
from bnlab.plots.drawing import Columns, data_source, from_rows, interval, model, square, wide
from bnlab.plots.looks import COLOURS, CYCLE, DIAMOND, INK, MARKERS, PALE, RULE, WIDTH, Axis, cycled
from bnlab.plots.series import key

LETTER = 7.0  # pixels, mean width of a character of the axis labels
LONGEST = 44  # characters of a label
SHARES = -0.03, 1.03  # ends of an axis of probabilities


def rows(
    title: str,
    alt: str,
    x: Axis,
    labels: Sequence[str],
    /,
    *,
    row: int,
    frame_width: int = 300,
    room: int = 100,
) -> figure:
    """A canvas with a label to each row of `row` pixels, first on top, and `room` for the rest."""
    if len(set(labels)) < len(labels):
        raise ValueError(f"labels {list(labels)} are not all different: each row needs its own")
    longest = min(max(map(len, labels), default=0), LONGEST)
    size = frame_width + round(LETTER * longest) + 50, row * len(labels) + room
    picture = canvas(title, alt, x, Axis("", list(reversed(labels))), size=size)
    picture.frame_width, picture.frame_height = frame_width, max(row * len(labels), 1)
    picture.xaxis.ticker = model(BasicTicker, desired_num_ticks=5)
    picture.ygrid.grid_line_color = None
    picture.yaxis.axis_line_color = picture.yaxis.major_tick_line_color = None
    picture.yaxis.formatter = shortened(LONGEST)
    return picture


def share_bars(
    shares: ArrayLike,
    exact: ArrayLike,
    labels: Sequence[str],
    /,
    *,
    margin: float = 0.0,
    largest: float = 1.0,
    row: int = 22,
    name: str = "shares",
    title: str = "Share of the draws (bar) and exact probability (diamond)",
    alt: str = "Bars of the share of draws that have each thing, diamonds at its exact probability",
) -> figure:
    """Draw bars of shares among draws, diamonds at exact probabilities.

    The source `name` has the columns `label`, `share`, `exact`, `low` and `high`.

    Parameters
    ----------
    shares : (k,) the share of the draws that have each thing
    exact : (k,) its exact probability, nan where that is not known
    labels : k different names, the first on top
    margin : half width of the interval around each share, which is cut to [0, 1]
    largest : right end of the axis
    row : height of a bar and its gap, pixels
    """
    columns = wide("label", labels, {"share": shares, "exact": exact})
    columns |= interval(columns["share"], margin)
    x = Axis("probability", (-0.02 * largest, largest * 1.03))  # room for a diamond at 0
    picture = rows(title, alt, x, labels, row=row)
    source = data_source(columns, name=name)
    look = {"source": source, "height": 0.66, "fill_color": PALE, "line_color": None}
    bars = picture.hbar(y="label", right="share", **look)
    whisker = picture.segment("low", "label", "high", "label", source=source, line_color=INK)
    whisker.visible = bool(margin)
    exactly = picture.scatter("exact", "label", source=source, **DIAMOND)
    tips = ("share of the draws", "@share{0.0000}"), ("exact", "@exact{0.0000}")
    hover(picture, [bars], ("", "@label"), *tips, outlined=[bars, exactly], mode="hline")
    return picture


def evidence_bars(
    gaps: ArrayLike, labels: Sequence[str], /, *, sides: tuple[int, int], ends: tuple[float, float]
) -> figure:
    """Draw bars from the log evidence (diamond) to bounds and scores; shade what bounds leave.

    The source "gaps" has the columns `label`, `gap`, and a `text` at `place`.

    Parameters
    ----------
    gaps : (k,) nats above the log evidence, whose own gap is 0
    labels : k different names, the first on top
    sides : which of them are the best lower bound and the upper bound
    ends : of the axis, nats
    """
    title = "The true structure: scores without ln A"
    alt = "Bars from ln p(D) to MAP on the right, and to VB, CS and BIC on the left"
    columns = wide("label", labels, {"gap": gaps})
    values = columns["gap"]
    columns["text"] = [f"{gap:+.0f}".replace("-", "−") if gap else "" for gap in values]
    source = data_source(columns | {"place": [ends[1]] * len(values)}, name="gaps")
    picture = rows(title, alt, Axis("nats above ln p(D)", ends), labels, row=24, room=85)
    left, right = (values[side] for side in sides)
    look: dict[str, Any] = {"fill_color": "#d9d9d9", "fill_alpha": 0.5, "level": "underlay"}
    picture.add_layout(BoxAnnotation(left=left, right=right, **look))
    look = {"source": source, "height": 0.5, "fill_color": PALE, "line_color": INK}
    bars = picture.hbar(y="label", right="gap", **look)
    picture.scatter([0.0], [labels[values.index(0.0)]], **DIAMOND)
    write(picture, "place", "label", "text", source=source, size=13, align="right")
    hover(picture, [bars], ("", "@label"), ("nats above ln p(D)", "@gap{0.00}"))
    return picture


def published(
    printed: ArrayLike, ours: Sequence[ArrayLike], labels: Sequence[str], /, *, title: str
) -> figure:
    """Draw published values (diamond, bar of +/- 2 sd), with our runs and mean below each.

    Sources: "published", columns `label`, `mean`, `sd`, `low`, `high` (published mean +/- 2 sd) and
    `ours` (our mean), and "published_runs" with the `place` and the `value` of each run.

    Parameters
    ----------
    printed : (k, 2) published means and standard deviations
    ours : k arrays of runs, empty where there are none
    labels : k different names
    """
    alt = "Published means with bars of two standard deviations, our single runs below each"
    values = np.asarray(printed, np.float64)
    if values.shape != (len(labels), 2) or len(ours) != len(labels):
        raise ValueError(
            f"published has shape {values.shape} and ours {len(ours)} entries, but there are "
            f"{len(labels)} labels: give each a mean, a standard deviation and its runs"
        )
    mean, sd = values.T
    runs = [np.asarray(found, np.float64) for found in ours]
    means = [found.mean() if found.size else np.nan for found in runs]
    numbers = np.column_stack([mean, sd, mean - 2 * sd, mean + 2 * sd, means]).tolist()
    columns = {"label": list(labels)} | from_rows("mean sd low high ours", numbers)
    heights = (-0.28, -0.2, -0.12)  # to tell runs apart
    dots = [
        ((label, heights[run % 3]), value)
        for label, found in zip(labels, runs, strict=True)
        for run, value in enumerate(found.tolist())
    ]
    ends = 0.0, 1.05 * float((values @ (1, 2)).max())
    x = Axis("SAD: sum of absolute errors over all edges", ends)
    picture = rows(title, alt, x, labels, row=52, frame_width=520)
    source = data_source(columns, name="published")
    single = data_source(from_rows("place value", dots), name="published_runs")
    place, below = (
        {"field": "label", "transform": Dodge(value=by, range=picture.y_range)}
        for by in (0.15, -0.2)
    )
    bar = picture.segment("low", place, "high", place, source=source, line_color=INK, line_width=2)
    diamond = picture.scatter("mean", place, source=source, **DIAMOND)
    look = {"size": 7, "fill_color": CYCLE[0], "fill_alpha": 0.4, "line_color": None}
    drawn = picture.scatter("value", "place", source=single, **look)
    look = {"marker": "dash", "angle": np.pi / 2, "size": 22, "line_color": CYCLE[0]}
    our_mean = picture.scatter("ours", below, source=source, **look)
    our_mean.glyph.line_width = 3
    items = {"published": [bar, diamond], "our runs and their mean": [drawn, our_mean]}
    legend(picture, entries(items), columns=2)
    tips = ("published", "@mean{0.0000} (@sd{0.0000})"), ("ours", "@ours{0.0000}")
    hover(picture, [diamond, our_mean], ("", "@label"), *tips)
    return picture


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
    frame_width: int = 300,
) -> figure:
    """Draw two answers to each question, joined by a line: the longer, the more they disagree.

    The source `name` has the columns `label`, `first` and `second`.

    Parameters
    ----------
    first, second : (K,) probabilities, the answers of the two posteriors
    labels : K different labels, the first on top
    posteriors : names of the two posteriors, for the legend
    frame_width : pixels
    """
    columns = wide("label", labels, {"first": first, "second": second})
    x = Axis(x_label, SHARES)
    picture = rows(title, alt, x, labels, row=30, room=130, frame_width=frame_width)
    source = data_source(columns, name=name)
    look = {"source": source, "line_width": 5, "line_color": "#c9c9c9"}
    apart = picture.segment("first", "label", "second", "label", **look)
    drawn = {}
    for i, (column, label) in enumerate(zip(("first", "second"), posteriors, strict=True)):
        look = {"marker": ("circle", "diamond")[i], "size": 12 + 3 * i, "fill_color": COLOURS[i]}
        look |= {"source": source, "line_color": "#ffffff"}
        drawn[label] = picture.scatter(column, "label", **look)
    legend(picture, entries(drawn))
    tips = (posteriors[0], "@first{0.000}"), (posteriors[1], "@second{0.000}")
    look = {"outlined": [apart, *drawn.values()], "mode": "hline"}
    hover(picture, [drawn[posteriors[0]]], ("", "@label"), *tips, **look)
    return picture


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
    """Draw a dot plot of edges under several settings.

    Every setting has a colour and a shape of its own; a line joins the extremes of an edge. The
    source `name` has the columns `edge`, `setting`, `probability`, `marker` and `colour`.

    Parameters
    ----------
    probabilities : (settings, edges) floats in [0, 1]
    labels : the edges, as in "rain → wet"
    settings : what was changed, as in "ess 10"; at most eight
    """
    values = np.asarray(probabilities, np.float64)
    if values.shape != (len(settings), len(labels)) or len(settings) > len(MARKERS):
        raise ValueError(
            f"probabilities has shape {values.shape} for {len(settings)} settings and "
            f"{len(labels)} edges: one row a setting, at most {len(MARKERS)}, one column an edge"
        )
    looks = cycled(settings)
    points = [
        (label, setting, *looks[setting], p)
        for setting, line in zip(settings, values.tolist(), strict=True)
        for label, p in zip(labels, line, strict=True)
    ]
    x, room = Axis("probability of the edge", SHARES), 120 + 22 * -(-len(settings) // 4)
    picture = rows(title, alt, x, labels, row=26, frame_width=WIDTH - 50, room=room)
    low, high = values.min(axis=0).tolist(), values.max(axis=0).tolist()
    picture.segment(low, [*labels], high, [*labels], line_color=RULE, line_width=2)
    columns = from_rows("edge setting colour dash marker probability", points)
    source = data_source(columns, name=name)
    look = {"size": 11, "fill_alpha": 0.85, "line_color": INK, "line_width": 0.8}
    look |= {"source": source, "marker": "marker", "fill_color": "colour"}
    drawn = picture.scatter("probability", "edge", **look)
    legend(picture, key(picture, settings, looks), columns=4)
    tips = ("setting", "@setting"), ("probability", "@probability{0.000}")
    hover(picture, [drawn], ("edge", "@edge"), *tips)
    return picture


def path_bars(
    paths: ArrayLike,
    edges: ArrayLike,
    names: Sequence[str],
    /,
    *,
    top: int = 8,
    margin: float = 0.0,
    width: int = 390,
) -> figure:
    """Draw bars of the `top` most probable paths, best first.

    A bar is the probability of a path by any route, its whisker the interval, and the diamond the
    probability of the direct edge. Labels stand over the bars, so they change with the source
    "paths": `label`, `start`, `end` (names), `path`, `edge`, `low`, `high` (probabilities) and the
    heights of bar and label, `place` and `label_place`.

    Parameters
    ----------
    paths, edges : (n, n) probabilities of a directed path u ~> v of any length, and of the edge u
        -> v
    names : the n variable names
    margin : half width of the interval around each path probability, as from Hoeffding's
        inequality; the interval is cut to [0, 1]
    width : pixels
    """
    title = "Most probable paths, by any route"
    alt = "Bars of the most probable directed paths, with the probability of the edge alone"
    reach, direct = square(paths, names, "paths"), square(edges, names, "edges")
    n = len(names)
    pairs = [(u, v) for u in range(n) for v in range(n) if u != v]
    best = sorted(pairs, key=lambda pair: (-reach[pair], pair))[:top]
    columns: Columns = {
        "place": [top - i - 0.16 for i in range(len(best))],
        "label_place": [top - i + 0.26 for i in range(len(best))],
        "label": [f"{names[u]} ⇝ {names[v]}" for u, v in best],
        "start": [names[u] for u, _ in best],
        "end": [names[v] for _, v in best],
        "path": [float(reach[pair]) for pair in best],
        "edge": [float(direct[pair]) for pair in best],
    }
    columns |= interval(columns["path"], margin)
    shown = min(top, len(pairs))
    x = Axis("probability (diamond: the edge alone)", (0, 1.02))
    y = Axis("", (top - shown + 0.4, top + 0.6))
    picture = canvas(title, alt, x, y, size=(width, 46 * shown + 80))
    source = data_source(columns, name="paths")
    look = {"height": 0.4, "fill_color": PALE, "line_color": None}
    bars = picture.hbar(y="place", right="path", source=source, **look)
    picture.segment("low", "place", "high", "place", source=source, line_color=INK, line_width=1.5)
    edge = picture.scatter("edge", "place", source=source, **DIAMOND)
    write(picture, 0.006, "label_place", "label", source=source, size=13, align="left")
    tips = ("any route", "@path{0.000} (@low{0.00} to @high{0.00})"), ("edge alone", "@edge{0.000}")
    hover(picture, [bars], ("path", "@label"), *tips, outlined=[bars, edge], mode="hline")
    picture.yaxis.visible = False
    picture.ygrid.grid_line_color = None
    return picture


def chain_modes(modes: ArrayLike, labels: Sequence[str], /, *, title: str) -> figure:
    """Draw a row for each chain, with a mark for the mode of each draw, if it is in one.

    The source "modes" has the columns `draw`, `chain`, `mode`, `colour`, `dash` and `marker`.

    Parameters
    ----------
    modes : (chains, draws) numbers of labels, -1 for none
    labels : of the modes, up to eight
    """
    found, looks = np.asarray(modes), cycled(labels)
    chains = [f"walk {c + 1}" for c in range(len(found))]
    points = [
        (t + 1, chains[c], labels[k], *looks[labels[k]])
        for (c, t), k in np.ndenumerate(found)
        if k >= 0
    ]
    alt = "A row for each chain, with a mark for the mode of each of its draws"
    x = Axis("draws kept", (0.0, found.shape[1] + 1.0))
    picture = rows(title, alt, x, chains, row=30, frame_width=240, room=140)
    source = data_source(from_rows("draw chain mode colour dash marker", points), name="modes")
    look = {"size": 6, "marker": "marker", "color": "colour"}
    dots = picture.scatter("draw", "chain", source=source, **look)
    legend(picture, key(picture, labels, looks), columns=2)
    hover(picture, [dots], ("chain", "@chain"), ("draw", "@draw"), ("mode", "@mode"))
    return picture
