"""Tables and figures of chapter 6 of [Beal2003]: published values beside a study's."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.models import FixedTicker
from numpy.typing import ArrayLike

from bnlab import plots
from bnlab.checks import Floats
from bnlab.hidden import Warped
from bnlab.papers.beal2003 import study, world
from bnlab.papers.beal2003.study import LADDER, Sides, mean_of, traced
from bnlab.papers.page import Page, Rows, pairs
from bnlab.plots.curves import log_curves
from bnlab.plots.drawing import data_source
from bnlab.plots.looks import INK, RULE, Axis

Lines = Mapping[str, tuple[Sequence[int], ArrayLike]]

page = Page()

LABELS = {"bic": "BIC", "bicp": "BICp", "cs": "CS", "csd": "CS†", "vb": "VB", "ais(5)": "AIS(5)"}
DRAWN = ("bic", "bicp", "cs", "vb")
PANEL = 58  # parameters from one panel of Figure 6.2 to the next
TICKS = (10, 40, 160, 640, 2560, 10240)
STEPS, ACCEPTED = Axis("annealing steps K"), Axis("accepted", (0, 1))
RANKS = Axis("rank of the true structure", (136, 1))
WHO = ("print", "ours")


@page.figure("figure_6_2")
def figure_6_2(known: study.Study | None = None, n: int = 10240) -> Any:
    """Figure 6.2: six scores of all structures. 10,240 rows. MAP rises with the number of
    parameters; VB and AIS do not. A ring marks the true structure, a cross the highest score."""
    known = known or study.saved()
    columns = dict(zip(world.SCORES, world.with_aliases(known.scores(n)).T, strict=True))
    del columns["csd_rank"]
    if n in known.sizes("ais"):  # else the last panel is CS-dagger
        del columns["csd"]
        columns["ais(5)"] = mean_of(known.batches(n).log_p)
    title = f"Figure 6.2, n = {n:,}"
    picture = plots.canvas(
        title,
        f"{title}: scores of 136 structures against their parameters, a panel for each score",
        Axis("free parameters, from 18 to 66 in each panel"),
        Axis("score (nats)", number="0,0"),
        size=(900, 260),
    )
    shifts = PANEL * np.arange(len(columns))
    points = {
        "x": np.concatenate([world.parameters() + shift for shift in shifts]).tolist(),
        "score": np.concatenate(list(columns.values())).round(1).tolist(),
    }
    source = data_source(points, name=f"scores_{n}")
    picture.scatter("x", "score", source=source, size=4, fill_color=plots.CYCLE[0], line_color=None)
    middles = {
        int(x) + 42: LABELS.get(name, name.upper()) for x, name in zip(shifts, columns, strict=True)
    }
    best = np.array([column.argmax() for column in columns.values()])
    for marked, colour, style in (
        (np.full_like(best, world.truth()), plots.CYCLE[3], {"size": 14, "marker": "circle"}),
        (best, INK, {"size": 11, "marker": "x"}),
    ):
        y = [column[i] for i, column in zip(marked, columns.values(), strict=True)]
        x = world.parameters()[marked] + shifts
        picture.scatter(x, y, line_color=colour, line_width=2.5, fill_color=None, **style)
    picture.vspan(x=[PANEL * place + 13 for place in range(1, 6)], line_color=RULE)
    picture.xaxis.ticker = FixedTicker(ticks=list(middles))
    picture.xaxis.major_label_overrides = middles
    picture.xgrid.visible = False
    return picture


@page.table(
    "table_6_1",
    *("n", "score", "print", "median", "lowest", "highest"),
    across="score",
    cell="{median:.0f} ({lowest}-{highest}) [{print}]",
)
def table_6_1(names: Iterable[str] = world.RANK_SCORES[:-1]) -> Rows:
    """Table 6.1: rank of the true structure, published parameters. Median and range of our ten data
    sets of each size, and the one of the thesis in brackets. An asterisk: without aliases."""
    columns = [world.RANK_SCORES.index(name) for name in names]
    for n in study.saved().sizes("rank print"):
        published = world.TABLE_6_1[world.SIZES.index(n)]
        ranks = study.score_ranks(study.saved(), n)
        for i in columns:
            name, ours = world.RANK_SCORES[i], ranks[:, i]
            yield n, name, published[i], np.median(ours), ours.min(), ours.max()


def _against_size(lines: Lines, y: Axis, /, *, title: str, alt: str) -> Any:
    """Draw lines over the number of rows, each with sizes of its own."""
    sizes = sorted({n for some, _ in lines.values() for n in some})
    filled = {}
    for label, (some, values) in lines.items():
        known = dict(zip(some, np.asarray(values, np.float64).tolist(), strict=True))
        filled[label] = np.array([known.get(n, np.nan) for n in sizes])
    x = Axis("rows n", ticks=TICKS)
    return log_curves(sizes, filled, {}, x=x, y=y, name="by_size", title=title, alt=alt)


def _of_scores(sizes: Sequence[int], values: Iterable[ArrayLike]) -> dict[str, Any]:
    """Return a line for each of the DRAWN scores from values (7,) at each size."""
    found = np.array(list(values))
    return {LABELS[name]: (sizes, found[:, world.SCORES.index(name)]) for name in DRAWN}


@page.figure("figure_6_3_print")
def figure_6_3_print() -> Any:
    """Figure 6.3 as printed. Ranks of the true structure against rows."""
    columns = zip(world.RANK_SCORES[5:], world.TABLE_6_1.T[5:], strict=True)
    lines = {LABELS[name]: (world.SIZES, column) for name, column in columns}
    title = "Figure 6.3, published"
    alt = f"{title}: rank of the true structure by five scores against the number of rows"
    return _against_size(lines, RANKS, title=title, alt=alt)


def _of_one_data_set(what: str, of_ais: Callable[[Floats], Any]) -> Lines:
    """Return a line for each of five scores: of ranks, or of gaps, those of AIS made here."""
    known = study.saved()
    sizes = known.sizes("rank print")
    lines = _of_scores(sizes, (getattr(known.standing("print", n), what)[0] for n in sizes))
    sizes = known.sizes("ais")
    return lines | {"AIS(5)": (sizes, [of_ais(mean_of(known.batches(n).log_p)) for n in sizes])}


@page.figure("figure_6_3")
def figure_6_3() -> Any:
    """Figure 6.3, ours. The same from one data set of ours."""
    lines, title = _of_one_data_set("rank", world.ranks), "Figure 6.3, here"
    alt = f"{title}: rank of the true structure by five scores against the number of rows"
    return _against_size(lines, RANKS, title=title, alt=alt)


@page.figure("figure_6_4")
def figure_6_4() -> Any:
    """Figure 6.4: difference from the highest score. The smallest difference throughout is VB's."""
    lines = _of_one_data_set("gap", world.gaps)
    alt = "Score of the true structure less the highest, by five scores, against rows"
    return _against_size(lines, Axis("difference (nats)"), title="Figure 6.4", alt=alt)


@page.table(
    "table_6_5",
    *("n", "score", *WHO, "two runs differ by"),
    across="score",
    cell="{ours} [{print}] ±{two runs differ by:.0f}",
)
def table_6_5() -> Rows:
    """Table 6.5: draws of the parameters with the true structure first. Of 106: ours, the thesis'
    in brackets, and by how much two runs differ in 95 of 100 cases."""
    known = study.saved()
    for n in known.sizes("rank draw"):
        published, ours = world.TABLE_6_5[world.SIZES.index(n)], study.first_ranks(known, n)
        for name, theirs, count in zip(world.SUCCESS_SCORES, published, ours, strict=True):
            yield n, name, theirs, count, float(study.band(theirs))


@page.table(
    "table_6_2",
    *("score", *(f"{kind}, {who}" for kind in ("worse", "same", "better") for who in WHO)),
    form=".1f",
)
def table_6_2() -> Rows:
    """Table 6.2: VB against the other scores. Percent, all sizes."""
    for name, published in world.TABLE_6_2.items():
        yield (name, *pairs(published, study.compared(study.saved(), name)))


_SUMMARIES: Mapping[str, Any] = {
    "median": lambda values: np.median(values, axis=0),
    "lowest": lambda values: values.min(axis=0),
    "highest": lambda values: values.max(axis=0),
    "first": lambda values: (values == 1).mean(axis=0),
}


@page.figure(
    "figure_6_{number}",
    each=[
        {"number": number, "kind": kind, "what": what, "words": words}
        for number, kind, what, words in (
            (5, "rank", "median", "median rank of 106 draws"),
            (6, "gap", "median", "median difference from the highest score"),
            (7, "rank", "lowest", "best rank of 106 draws"),
            (8, "gap", "highest", "smallest difference of 106 draws"),
            (9, "rank", "first", "share of draws ranked first"),
        )
    ],
)
def over_draws(number: int, kind: str, what: str, words: str) -> Any:
    """Figure 6.{number}: {words}. VB is ahead from a few hundred rows on; then CS; BIC comes
    last."""
    sizes, title = study.saved().sizes("rank draw"), f"Figure 6.{number}: {words}"
    values = (_SUMMARIES[what](getattr(study.saved().standing("draw", n), kind)) for n in sizes)
    axis = RANKS if kind == "rank" else Axis("nats")
    if what == "first":
        axis = Axis("share", (0, 1))
    alt = f"{title}: BIC, BICp, CS and VB against the number of rows"
    return _against_size(_of_scores(sizes, values), axis, title=title, alt=alt)


@page.table("dimensions", "d' - d", "structures")
def lost_parameters() -> Rows:
    """Parameters that the data cannot tell. The thesis has d' - d = |H|; by the rank of the
    Jacobian it varies with the structure."""
    sizes = world.dimensions()
    lost, counts = np.unique(sizes.complete - sizes.observed, return_counts=True)
    yield from zip(lost, counts, strict=True)


@page.figure("figure_6_10")
def figure_6_10(n: int = 480) -> Any:
    """Figure 6.10: AIS against annealing steps. Started at the truth short runs are too high;
    started at the prior, too low."""
    found = traced(n)
    scores = dict(zip(world.SCORES, study.saved().scores(n)[world.truth()], strict=True))
    lines = {"from the truth": found.from_truth}
    lines |= {f"from the prior {i + 1}": trace for i, trace in enumerate(found.from_prior[:5])}
    return log_curves(
        LADDER,
        lines,
        {"VB": scores["vb"], "BIC": scores["bic"]},
        x=STEPS,
        y=Axis("ln p(data), nats", (scores["vb"] - 150, scores["vb"] + 80)),
        title="Figure 6.10",
        alt="Estimates of AIS against the number of steps from six starts, with VB and BIC",
        name="traces",
    )


def closing_band(found: Sides, gold: float, /, *, title: str) -> Any:
    """Draw the band between upward and reverse runs against the number of steps, and SMC."""
    return log_curves(
        LADDER,
        {"upward": found.lower, "in reverse": found.upper},
        {"SMC": gold},
        x=STEPS,
        y=Axis("ln p(data), nats"),
        title=title,
        alt=f"{title}: mean ln weights of runs upward and in reverse, which close in on SMC",
        name="sides",
        band=("upward", "in reverse"),
    )


VIOLATIONS = ("one run < VB*", "one run < VB", "rejected", "mean < VB*", "mean < VB")


@page.table(
    "table_6_4", *("n", *(f"{name}, {who}" for name in VIOLATIONS for who in WHO)), form=".1f"
)
def table_6_4() -> Rows:
    """Table 6.4: AIS below the VB bound, and rejected moves. Percent. Print names eight sizes from
    640 rows on."""
    for n in study.saved().sizes("ais"):
        published: Iterable[Any] = world.TABLE_6_4.get(n) or ("",) * len(VIOLATIONS)
        yield (n, *pairs(published, study.violations(study.saved(), n)))


def _accepted(axis: int) -> tuple[list[int], Floats]:
    """Return sizes, and acceptance rates averaged over quarters (1) or structures (0)."""
    sizes = study.saved().sizes("ais")
    return sizes, np.array([study.saved().batches(n).acceptance.mean(axis=axis) for n in sizes])


@page.figure("figure_6_11")
def figure_6_11() -> Any:
    """Figure 6.11: moves accepted. Mean over the structures, and one standard deviation to either
    side, against rows."""
    sizes, rates = _accepted(1)
    mean, sd = rates.mean(axis=1), rates.std(axis=1)
    lines = {"mean": mean, "mean − sd": mean - sd, "mean + sd": mean + sd}
    return _against_size(
        {label: (sizes, line) for label, line in lines.items()},
        ACCEPTED,
        title="Figure 6.11",
        alt="Share of accepted proposals against the number of rows",
    )


@page.figure("figure_6_12")
def figure_6_12() -> Any:
    """Figure 6.12: moves accepted, by quarters of the schedule. Against rows; the later a move, the
    colder the distribution it walks on."""
    sizes, rates = _accepted(0)
    names = ("first quarter", "second", "third", "fourth")
    return _against_size(
        {name: (sizes, column) for name, column in zip(names, rates.T, strict=True)},
        ACCEPTED,
        title="Figure 6.12",
        alt="Share of accepted proposals in each quarter of the schedule against the number of "
        "rows",
    )


@page.figure("figure_6_13")
def figure_6_13(shapes: Sequence[float] = (0.05, 0.1, 0.2, 0.5, 1, 1e6)) -> Any:
    """Figure 6.13: annealing schedules. Six values of e, which are ours; e = 0.2 is the choice of
    the thesis."""
    picture = plots.canvas(
        "Figure 6.13",
        "Annealing schedules: the smaller e, the longer they stay near 0",
        Axis("share of the steps k / K"),
        Axis("inverse temperature τ"),
    )
    for shape, colour in zip(shapes, plots.CYCLE, strict=False):
        label = "linear" if shape > 100 else f"e = {shape:g}"
        betas = Warped(100, shape).betas
        width = 4 if shape == 0.2 else 2
        style = {"line_color": colour, "line_width": width, "legend_label": label}
        picture.line(np.linspace(0, 1, 101), betas, **style)
    picture.legend.location = "top_left"
    return picture


@page.table("table_6_3", "n", "estimate", *WHO, across="estimate", cell="{ours} [{print}]")
def table_6_3() -> Rows:
    """Table 6.3: rank of the true structure by AIS. Five runs of the thesis' sampler and their
    mean, the thesis' in brackets; beside them two runs of SMC."""
    names = [*(f"run {i + 1}" for i in range(5)), "mean of five"]
    for n in study.saved().sizes("ais"):
        ours = study.batch_ranks(study.saved().batches(n).log_p)
        for row in zip(names, world.TABLE_6_3[world.SIZES.index(n)], ours, strict=True):
            yield (n, *row)
        if n in study.saved().sizes("smc"):
            for rank in study.batch_ranks(study.saved().particles(n))[:2]:
                yield n, "SMC", "", rank


@page.table("noise", "n", "AIS", "SMC", form=".2f")
def noise() -> Rows:
    """Noise of one run. Standard deviation of ln p(data) of one run, nats, mean over the
    structures."""
    known = study.saved()
    for n in sorted({*known.sizes("ais")} & {*known.sizes("smc")}):
        yield n, study.spread(known.batches(n).log_p), study.spread(known.particles(n))
