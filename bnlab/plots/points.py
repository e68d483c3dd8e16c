"""Scatter plots and bars: a point or bar for each chain, run, structure or edge."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from bnlab.plots.canvas import canvas, entries, hover, legend
from bnlab.plots.curves import lines
from bnlab.plots.drawing import Columns, data_source, from_rows, square, vector, wide
from bnlab.plots.looks import COLOURS, CYCLE, INK, PALE, RULE, Axis


def agreement(
    first: ArrayLike,
    second: ArrayLike,
    names: Sequence[str],
    /,
    *,
    labels: tuple[str, str] = ("chain 1", "chain 2"),
    name: str = "agreement",
    title: str = "Edge probabilities of the two chains",
    alt: str = "Edge probabilities of one run against those of another, with the diagonal",
) -> figure:
    """Draw a point for each edge, on the diagonal where two runs agree.

    The source `name` has the columns `edge` (as "rain → wet"), `first` and `second`.

    Parameters
    ----------
    first, second, names : (n, n) edge probabilities of two runs, and the n variable names
    labels : of the two runs, for the axes
    """
    off = ~np.eye(len(names), dtype=bool)
    columns: Columns = {
        "edge": [f"{names[u]} → {names[v]}" for u, v in np.argwhere(off)],
        "first": square(first, names, "first")[off].tolist(),
        "second": square(second, names, "second")[off].tolist(),
    }
    picture = _beside(title, alt, *(f"probability by {label}" for label in labels))
    look = {"size": 9, "fill_color": CYCLE[0], "fill_alpha": 0.55, "line_color": CYCLE[0]}
    source = data_source(columns, name=name)
    dots = picture.scatter("first", "second", source=source, **look)
    tips = [("edge", "@edge"), (labels[0], "@first{0.000}"), (labels[1], "@second{0.000}")]
    hover(picture, [dots], *tips)
    return picture


def calibration(
    probabilities: ArrayLike,
    outcomes: ArrayLike,
    /,
    *,
    bins: int = 10,
    delta: float = 0.05,
    title: str = "Are the probabilities right?",
    alt: str = "Share that came true against predicted probability, with what chance allows",
) -> figure:
    """Draw how often predictions of about the same probability came true.

    The source "calibration" has a row for each of `bins` equally wide intervals of the probability
    that is not empty: `predicted`, the mean probability, `observed`, the share that came true,
    `count`, and `low` and `high`, between which that share lies with probability 1 - delta at least
    if p is right for every case (Binomial of the mean probability, which is not narrower than the
    exact distribution).

    Parameters
    ----------
    probabilities : (N,) of an event, of N cases
    outcomes : (N,) whether it came true: bools, or 0 and 1
    """
    p = np.asarray(probabilities, np.float64).ravel()
    true = vector(outcomes, p.size, "outcomes")
    if not p.size or not ((p >= 0) & (p <= 1)).all() or not np.isin(true, (0, 1)).all():
        raise ValueError("give one or more probabilities from 0 to 1, and outcomes that are 0 or 1")
    place, rows = np.minimum((p * bins).astype(int), bins - 1), []
    for here in (place == i for i in np.unique(place)):
        count, mean = int(here.sum()), float(p[here].mean())
        ends = np.array(_binomial_ends(count, mean, delta)) / count
        rows.append([mean, float(true[here].mean()), count, *ends.tolist()])
    picture = _beside(title, alt, "predicted probability", "share that came true")
    source = data_source(from_rows("predicted observed count low high", rows), name="calibration")
    look: dict[str, Any] = {"line_color": PALE, "line_width": 9}
    picture.segment("predicted", "low", "predicted", "high", source=source, **look)
    look = {"size": 9, "fill_color": CYCLE[0], "line_color": CYCLE[0]}
    dots = picture.scatter("predicted", "observed", source=source, **look)
    tips = [("predicted", "@predicted{0.000}"), ("came true", "@observed{0.000} of @count{0,0}")]
    hover(picture, [dots], *tips, ("by chance", "@low{0.000} to @high{0.000}"))
    return picture


def _beside(title: str, alt: str, *labels: str) -> figure:
    """A canvas for two probabilities, with a line where they are equal."""
    axes = (Axis(label, (-0.04, 1.04)) for label in labels)
    picture = canvas(title, alt, *axes, size=(400, 400))
    picture.line([0, 1], [0, 1], line_color=RULE, line_dash="dashed", line_width=1.5)
    return picture


def _binomial_ends(count: int, p: float, delta: float) -> tuple[int, int]:
    """The delta/2 and 1 - delta/2 quantiles of a Binomial distribution."""
    if not 0 < p < 1:
        return (count, count) if p else (0, 0)
    k = np.arange(count + 1)
    steps = np.log(count - k[:-1]) - np.log(k[1:]) + math.log(p) - math.log1p(-p)
    log_odds = np.append(0.0, np.cumsum(steps))
    log_cdf = np.logaddexp.accumulate(log_odds) - np.logaddexp.reduce(log_odds)
    low, high = np.searchsorted(log_cdf, np.log([delta / 2, 1 - delta / 2])).tolist()
    return low, min(high, count)


def structure_scores(
    parameters: ArrayLike, scores: ArrayLike, truth: int, /, *, y: Axis, title: str
) -> figure:
    """Draw a dot for each structure, a circle around the true one, a cross on the highest.

    Sources: the title in lower case, columns `number`, `parameters` and `score`; this + "_marks",
    with `true_x`, `true_y`, `best_x` and `best_y`.

    Parameters
    ----------
    parameters : (N,) numbers of free parameters
    scores : (N,) nats; nan where there is none yet
    truth : which structure is the true one
    title : what the score is called
    """
    alt = f"{title} of each structure against its parameters, the true and best marked"
    sizes, name = np.asarray(parameters, np.int64), title.lower()
    values = vector(scores, sizes.size, "scores")
    best = truth if np.isnan(values).all() else int(np.nanargmax(values))
    x = Axis("free parameters", (int(sizes.min()) - 3, int(sizes.max()) + 3))
    picture = canvas(title, alt, x, y, size=(255, 235))
    columns = {"number": list(range(sizes.size)), "parameters": sizes.tolist()}
    columns["score"] = values.tolist()
    source = data_source(columns, name=name)
    look = {"size": 5, "fill_color": CYCLE[0], "line_color": None}
    dots = picture.scatter("parameters", "score", source=source, **look)
    marked = {"true": truth, "best": best}
    columns = {f"{key}_x": [int(sizes[i])] for key, i in marked.items()}
    columns |= {f"{key}_y": [float(values[i])] for key, i in marked.items()}
    marks = data_source(columns, name=f"{name}_marks")
    look = {"source": marks, "line_width": 2.5}
    picture.scatter("true_x", "true_y", size=15, fill_color=None, line_color=CYCLE[3], **look)
    picture.scatter("best_x", "best_y", size=12, marker="x", line_color=INK, **look)
    tips = [("structure", "@number"), ("parameters", "@parameters"), ("score", "@score{0.0}")]
    hover(picture, [dots], *tips)
    return picture


def distances(stops: Sequence[int], found: Mapping[str, ArrayLike], stop: int, /) -> figure:
    """Draw total variation distances of two posteriors at a few data sizes, evenly spaced.

    The source "distances" has `rows` and a column a line; the source "now" of the large marks, at
    the size `stop`, has `rows`, `distance` and `line`.

    Parameters
    ----------
    stops : numbers of rows
    found : name -> one distance a stop
    stop : one of the stops
    """
    if stop not in stops:
        raise ValueError(f"{stop} rows are not among the stops {list(stops)}")
    title = "How far apart the two posteriors are"
    alt = "Total variation distance of the two posteriors as rows are added"
    sizes, y = [f"{size:,}" for size in stops], Axis("total variation distance", (-0.02, 0.4))
    picture = canvas(title, alt, Axis("rows", sizes), y, size=(300, 370))
    data = wide("rows", sizes, found)
    source = data_source(data, name="distances")
    items = lines(picture, source, dashes=("solid", "dashed"), width=3)
    marks = [(f"{stop:,}", data[label][list(stops).index(stop)], label) for label in found]
    now = data_source(from_rows("rows distance line", marks), name="now")
    look = {"size": 13, "fill_color": "#ffffff", "line_color": INK, "line_width": 2}
    drawn = picture.scatter("rows", "distance", source=now, **look)
    tips = [("", "@line"), ("rows", "@rows"), ("distance", "@distance{0.000}")]
    hover(picture, [drawn], *tips)
    legend(picture, items)
    picture.xaxis.major_label_orientation = 0.9
    picture.xgrid.grid_line_color = None
    return picture


def heaviest(log_weights: ArrayLike, /, *, most: int = 20) -> figure:
    """Draw a bar for each of the heaviest runs: a few high bars mean a few runs that count.

    The source "heaviest" has `rank` (from 1) and `share` of the whole weight.

    Parameters
    ----------
    log_weights : (T,) nats
    most : number of bars
    """
    title = "Share of the whole weight held by the heaviest runs"
    alt = "Bars of the share of the whole weight that each of the heaviest runs holds"
    ticks = [1, *range(5, most + 1, 5)]
    x = Axis("runs, heaviest first", (0.3, most + 0.7), ticks=ticks)
    picture = canvas(title, alt, x, Axis("share of the whole weight", (0, 1)), size=(420, 330))
    values = np.asarray(log_weights, np.float64).ravel()
    shares = np.exp(np.sort(values)[::-1][:most] - np.logaddexp.reduce(values)).round(12)
    columns = {"rank": list(range(1, shares.size + 1)), "share": shares.tolist()}
    source = data_source(columns, name="heaviest")
    look = {"source": source, "width": 0.8, "fill_color": CYCLE[0], "line_color": None}
    bars = picture.vbar("rank", top="share", **look)
    hover(picture, [bars], ("run", "number @rank by weight"), ("share", "@share{0.000}"))
    picture.xgrid.grid_line_color = None
    return picture


def experiments(estimates: ArrayLike, exact: float, eps: float, /, *, title: str) -> figure:
    """Draw a dot for the estimate of each experiment, and a band of +/- eps around the exact value.

    Sources: "experiments", columns `experiment` (from 1), `estimate` and `color`, and
    "experiments_exact", columns `low`, `exact`, `high` and `top`.

    Parameters
    ----------
    estimates : (k,) estimates of one probability
    exact : that probability
    eps : the error allowed
    """
    found = np.asarray(estimates, np.float64)
    alt = "A dot for each experiment at its estimate, a line at the exact value, a band around it"
    reach = max(8 * eps, 1.1 * float(np.abs(found - exact).max()))
    ends, top = (exact - reach, exact + reach), len(found) + 1
    axes = Axis("share of the draws", ends), Axis("experiment", (0, top))
    picture = canvas(title, alt, *axes, size=(600, 400))
    level = {"low": [exact - eps], "exact": [exact], "high": [exact + eps], "top": [top]}
    truth = data_source(level, name="experiments_exact")
    look: dict[str, Any] = {"fill_color": PALE, "fill_alpha": 0.5, "line_color": None}
    band = picture.quad("low", "high", top="top", bottom=0, source=truth, **look)
    line = picture.vspan("exact", source=truth, line_color=INK, line_width=2)
    rows = [
        (number, estimate, COLOURS[1] if abs(estimate - exact) >= eps else COLOURS[0])
        for number, estimate in enumerate(found.tolist(), 1)
    ]
    source = data_source(from_rows("experiment estimate color", rows), name="experiments")
    look = {"size": 7, "fill_color": "color", "line_color": None}
    dots = picture.scatter("estimate", "experiment", source=source, **look)
    items = {"experiment": dots, f"within {eps:g}": band, "exact": line}
    legend(picture, entries(items), columns=3)
    hover(picture, [dots], ("experiment", "@experiment"), ("estimate", "@estimate{0.0000}"))
    return picture


def acceptance_path(betas: ArrayLike, rates: ArrayLike, /) -> figure:
    """Draw a mark for each part of the schedule: where its steps are, and how many moves pass.

    Parameters
    ----------
    betas, rates : (k,) inverse temperature and accepted share of each part, columns `beta` and
        `rate` of the source "acceptance_path"
    """
    title = "Accepted share of the moves along the schedule"
    alt = "Accepted share of moves against beta; each mark stands for as many steps"
    axes = Axis("inverse temperature β", (-0.03, 1.03)), Axis("accepted share", (0, 1.04))
    picture = canvas(title, alt, *axes, size=(420, 390))
    source = data_source(wide("beta", betas, {"rate": rates}), name="acceptance_path")
    look = {"size": 8, "fill_color": CYCLE[0], "fill_alpha": 0.5, "line_color": INK}
    dots = picture.scatter("beta", "rate", source=source, **look)
    hover(picture, [dots], ("β", "@beta{0.000}"), ("accepted", "@rate{0.000}"))
    return picture
