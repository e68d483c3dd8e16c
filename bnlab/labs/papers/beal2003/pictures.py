"""Figures 6.2 to 6.13 from a study."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, NumeralTickFormatter
from numpy.typing import ArrayLike, NDArray

from bnlab import plots
from bnlab.hidden import Warped
from bnlab.labs.papers.beal2003.annealed import mean_of
from bnlab.labs.papers.beal2003.printed import RANK_SCORES, SIZES, TABLE_6_1
from bnlab.labs.papers.beal2003.scores import SCORES, with_aliases
from bnlab.labs.papers.beal2003.study import Study
from bnlab.labs.papers.beal2003.true_model import STEPS, Sides, Traces
from bnlab.labs.papers.beal2003.world import parameters, truth
from bnlab.plots.canvas import INK, RULE
from bnlab.plots.hidden import log_curves

Floats = NDArray[np.float64]

LABELS = {"bic": "BIC", "bicp": "BICp", "cs": "CS", "csd": "CS†", "vb": "VB", "ais(5)": "AIS(5)"}
DRAWN = ("bic", "bicp", "cs", "vb")
PANEL = 58  # parameters from one panel of Figure 6.2 to the next
TICKS = (10, 40, 160, 640, 2560, 10240)
RANK_AXIS: dict[str, Any] = {"y_label": "rank of the true structure", "y_range": (136, 1)}


def figure_6_2(study: Study, n: int, /) -> Any:
    """Scores of all structures against their parameters, side by side on one axis.

    The last panel is AIS where the study has it, else CS-dagger. A ring marks the true structure, a
    cross the highest score.

    Examples
    --------
    >>> from bnlab.labs.papers.beal2003.study import saved
    >>> figure_6_2(saved(), 640).title.text
    'Figure 6.2, n = 640'
    """
    columns = dict(zip(SCORES, with_aliases(study.scores(n)).T, strict=True))
    del columns["csd_rank"]
    if n in study.sizes("ais"):
        del columns["csd"]
        columns["ais(5)"] = mean_of(study.batches(n).log_p)
    title = f"Figure 6.2, n = {n:,}"
    picture = plots.canvas(
        title=title,
        x_label="free parameters, from 18 to 66 in each panel",
        y_label="score (nats)",
        alt=f"{title}: scores of 136 structures against their parameters, a panel for each score",
        width=900,
        height=260,
    )
    source = ColumnDataSource(data=figure_6_2_data(columns), name=f"scores_{n}")
    picture.scatter("x", "score", source=source, size=4, fill_color=plots.CYCLE[0], line_color=None)
    shifts = PANEL * np.arange(len(columns))
    middles = {
        int(x) + 42: LABELS.get(name, name.upper()) for x, name in zip(shifts, columns, strict=True)
    }
    best = np.array([column.argmax() for column in columns.values()])
    for marked, colour, style in (
        (np.full_like(best, truth()), plots.CYCLE[3], {"size": 14, "marker": "circle"}),
        (best, INK, {"size": 11, "marker": "x"}),
    ):
        y = [column[i] for i, column in zip(marked, columns.values(), strict=True)]
        x = parameters()[marked] + shifts
        picture.scatter(x, y, line_color=colour, line_width=2.5, fill_color=None, **style)
    picture.vspan(x=[PANEL * place + 13 for place in range(1, 6)], line_color=RULE)
    picture.xaxis.ticker = FixedTicker(ticks=list(middles))
    picture.xaxis.major_label_overrides = middles
    picture.xgrid.visible = False
    picture.yaxis.formatter = NumeralTickFormatter(format="0,0")
    return picture


def figure_6_2_data(columns: Mapping[str, Floats], /) -> dict[str, list[float]]:
    """Columns of the source of `figure_6_2`: `x`, shifted by panels, and `score`.

    Examples
    --------
    >>> len(figure_6_2_data({"VB": np.zeros(136), "BIC": np.zeros(136)})["x"])
    272
    """
    shifted = [parameters() + PANEL * place for place in range(len(columns))]
    scores = np.concatenate(list(columns.values())).round(1)
    return {"x": np.concatenate(shifted).tolist(), "score": scores.tolist()}


def against_size(
    lines: Mapping[str, tuple[Sequence[int], ArrayLike]], /, *, title: str, alt: str, **axis: Any
) -> Any:
    """Lines over the number of rows, each with sizes of its own.

    Examples
    --------
    >>> picture = against_size(
    ...     {"VB": ([10, 20], [3, 1])}, title="Ranks", alt="Ranks against rows", y_label="rank")
    >>> picture.select_one({"name": "by_size"}).data["VB"]
    [3.0, 1.0]
    """
    sizes = sorted({n for some, _ in lines.values() for n in some})
    filled = {}
    for label, (some, values) in lines.items():
        known = dict(zip(some, np.asarray(values, np.float64).tolist(), strict=True))
        filled[label] = np.array([known.get(n, np.nan) for n in sizes])
    settings = {"x_label": "rows n", "name": "by_size", **axis}
    picture = log_curves(sizes, filled, {}, title=title, alt=alt, **settings)
    picture.xaxis.ticker = FixedTicker(ticks=list(TICKS))
    return picture


def figure_6_3(study: Study | None, /) -> Any:
    """Ranks of the true structure on one data set: ours, or those in print (None).

    Examples
    --------
    >>> figure_6_3(None).title.text
    'Figure 6.3, in print'
    """
    lines: dict[str, tuple[Sequence[int], ArrayLike]]
    if study is None:
        names = RANK_SCORES[5:]
        columns = TABLE_6_1.T[5:]
        lines = {LABELS[name]: (SIZES, c) for name, c in zip(names, columns, strict=True)}
    else:
        sizes = study.sizes("rank print")
        found = np.array([study.standing("print", n).rank[0] for n in sizes])
        lines = {LABELS[name]: (sizes, found[:, SCORES.index(name)]) for name in DRAWN}
        sizes = study.sizes("ais")
        ranked = [mean_of(study.batches(n).log_p) for n in sizes]
        lines["AIS(5)"] = (sizes, [1 + (each > each[truth()]).sum() for each in ranked])
    title = f"Figure 6.3, {'in print' if study is None else 'here'}"
    alt = f"{title}: rank of the true structure by five scores against the number of rows"
    return against_size(lines, title=title, alt=alt, **RANK_AXIS)


def figure_6_4(study: Study, /) -> Any:
    """Scores of the true structure less the highest, on one data set.

    Examples
    --------
    >>> from bnlab.labs.papers.beal2003.study import saved
    >>> figure_6_4(saved()).title.text
    'Figure 6.4'
    """
    sizes = study.sizes("rank print")
    found = np.array([study.standing("print", n).gap[0] for n in sizes])
    lines: dict[str, tuple[Sequence[int], ArrayLike]]
    lines = {LABELS[name]: (sizes, found[:, SCORES.index(name)]) for name in DRAWN}
    sizes = study.sizes("ais")
    means = [mean_of(study.batches(n).log_p) for n in sizes]
    lines["AIS(5)"] = (sizes, [each[truth()] - each.max() for each in means])
    alt = "Score of the true structure less the highest, by five scores, against rows"
    return against_size(lines, title="Figure 6.4", alt=alt, y_label="difference (nats)")


def over_draws(
    study: Study, what: str, reduce: Callable[[Floats], Floats], /, *, title: str, **axis: Any
) -> Any:
    """Ranks or gaps of all draws of parameters, reduced to a number for each size and score.

    Parameters
    ----------
    what : "rank" or "gap"
    reduce : (draws, 7) to (7,)

    Examples
    --------
    >>> from bnlab.labs.papers.beal2003.study import saved
    >>> best = over_draws(saved(), "rank", lambda r: r.min(axis=0), title="Best", y_label="rank")
    >>> best.select_one({"name": "by_size"}).data["VB"][-1]
    1.0
    """
    sizes = study.sizes("rank draw")
    found = np.array([reduce(getattr(study.standing("draw", n), what)) for n in sizes])
    lines = {LABELS[name]: (sizes, found[:, SCORES.index(name)]) for name in DRAWN}
    alt = f"{title}: BIC, BICp, CS and VB against the number of rows"
    return against_size(lines, title=title, alt=alt, **axis)


def figure_6_10(found: Traces, vb: float, bic: float, /, *, steps: Sequence[int] = STEPS) -> Any:
    """AIS against the number of steps, started at the truth and from the prior.

    Examples
    --------
    >>> found = Traces(np.zeros(2), np.ones((5, 2)))
    >>> figure_6_10(found, -1.0, -2.0, steps=[4, 8]).title.text
    'Figure 6.10'
    """
    lines = {"from the truth": found.from_truth}
    lines |= {f"from the prior {i + 1}": trace for i, trace in enumerate(found.from_prior[:5])}
    return log_curves(
        steps,
        lines,
        {"VB": vb, "BIC": bic},
        x_label="annealing steps K",
        y_label="ln p(data), nats",
        title="Figure 6.10",
        alt="Estimates of AIS against the number of steps from six starts, with VB and BIC",
        name="traces",
        y_range=(vb - 150, vb + 80),
    )


def closing_band(found: Sides, gold: float, /, *, title: str, steps: Sequence[int] = STEPS) -> Any:
    """The band between upward and reverse runs against the number of steps, and SMC.

    Examples
    --------
    >>> sides = Sides(np.zeros((3, 2)), np.ones((3, 2)))
    >>> closing_band(sides, 0.5, title="Both sides", steps=[4, 8]).title.text
    'Both sides'
    """
    lines = {"upward": found.lower, "in reverse": found.upper}
    return log_curves(
        steps,
        lines,
        {"SMC": gold},
        x_label="annealing steps K",
        y_label="ln p(data), nats",
        title=title,
        alt=f"{title}: mean ln weights of runs upward and in reverse, which close in on SMC",
        name="sides",
        band=("upward", "in reverse"),
    )


def figure_6_11(study: Study, /) -> Any:
    """Mean acceptance over all structures, and one standard deviation to either side.

    Examples
    --------
    >>> from bnlab.labs.papers.beal2003.study import saved
    >>> figure_6_11(saved()).title.text
    'Figure 6.11'
    """
    sizes = study.sizes("ais")
    rates = np.array([study.batches(n).acceptance.mean(axis=1) for n in sizes])
    mean, sd = rates.mean(axis=1), rates.std(axis=1)
    lines = {
        "mean": (sizes, mean),
        "mean − sd": (sizes, mean - sd),
        "mean + sd": (sizes, mean + sd),
    }
    alt = "Share of accepted proposals against the number of rows"
    axis: dict[str, Any] = {"y_label": "accepted", "y_range": (0, 1)}
    return against_size(lines, title="Figure 6.11", alt=alt, **axis)


def figure_6_12(study: Study, /) -> Any:
    """Mean acceptance over all structures by quarters of the schedule.

    Examples
    --------
    >>> from bnlab.labs.papers.beal2003.study import saved
    >>> figure_6_12(saved()).title.text
    'Figure 6.12'
    """
    sizes = study.sizes("ais")
    rates = np.array([study.batches(n).acceptance.mean(axis=0) for n in sizes])
    names = ("first quarter", "second", "third", "fourth")
    lines = {name: (sizes, column) for name, column in zip(names, rates.T, strict=True)}
    alt = "Share of accepted proposals in each quarter of the schedule against the number of rows"
    axis: dict[str, Any] = {"y_label": "accepted", "y_range": (0, 1)}
    return against_size(lines, title="Figure 6.12", alt=alt, **axis)


def figure_6_13(shapes: Sequence[float] = (0.05, 0.1, 0.2, 0.5, 1, 1e6), /) -> Any:
    """Schedules (6.73) of six shapes; the thesis does not print its six.

    Examples
    --------
    >>> figure_6_13().title.text
    'Figure 6.13'
    """
    picture = plots.canvas(
        title="Figure 6.13",
        x_label="share of the steps k / K",
        y_label="inverse temperature τ",
        alt="Annealing schedules: the smaller e, the longer they stay near 0",
    )
    for shape, colour in zip(shapes, plots.CYCLE, strict=False):
        label = "linear" if shape > 100 else f"e = {shape:g}"
        betas = Warped(100, shape).betas
        width = 4 if shape == 0.2 else 2
        style = {"line_color": colour, "line_width": width, "legend_label": label}
        picture.line(np.linspace(0, 1, 101), betas, **style)
    picture.legend.location = "top_left"
    return picture
