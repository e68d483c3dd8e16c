"""Tables and figures of a lecture (Stat 521A, 22), whose slides print hardly a number."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.layouts import gridplot

import bnlab as bn
from bnlab import plots
from bnlab.checks import Floats
from bnlab.papers.page import Page, Rows
from bnlab.papers.stat521a import search, study
from bnlab.plots.looks import Axis

page = Page()

ROWS = (500, 1000)  # of ALARM
LEAST = 0.02  # of an edge that is drawn
BELOW = 300.0  # nats below the top that traces show


def _grouped(
    x: Sequence[int], names: Sequence[str], values: Floats, groups: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, tuple[Sequence[int], Floats]]]:
    """Sort named lines, values (x, names), into groups, which have colours of their own."""
    lines = dict(zip(names, values.T, strict=True))
    return {
        group: {"" if label == group else label: (x, lines[label]) for label in labels}
        for group, labels in groups.items()
    }


@page.table("missed", "n", "classes", "share missed, mean", "share missed, worst", form=".3f")
def missed() -> Rows:
    """Neighbours of a class that one member misses. Shares of classes."""
    for n in (3, 4):
        mean, worst, classes = study.missed(n)
        yield n, classes, mean, worst


@page.table("learned_numbers", "rows", *search.WAYS, form=".3f")
def distances() -> Rows:
    """Parameters, or structure as well? Distance from ALARM, nats a row, the mean of three data
    sets."""
    for m, means in zip(search.SIZES, search.distances().mean.mean(axis=0), strict=True):
        yield (m, *means)


@page.figure("learned")
def figure_learned() -> Any:
    """Parameters, or structure as well, drawn. Not knowing the structure costs a factor of
    1.2 to 1.6 from 500 rows on."""
    groups = {
        "known structure": ("known structure",),
        "learned:": ("tabu search", "GES"),
        "Chow-Liu tree": ("Chow-Liu tree",),
    }
    return plots.time_curves(
        _grouped(search.SIZES, search.WAYS, search.distances().mean.mean(axis=0), groups),
        x=Axis("rows"),
        y=Axis("KL(ALARM || learned), nats a row", (0.03, 10), log=True),
        name="learned",
        title="ALARM: parameters alone, or structure as well",
        alt="Distance from ALARM against rows: known structure lowest, then learned, then a tree",
    )


@page.table("searches", "rows", "search", "nats below the best", form=".1f")
def searches() -> Rows:
    """Searches on ALARM. How far below the best search each is."""
    for m in ROWS:
        found = search.scores(m)
        for name, score in found.items():
            yield m, name, max(found.values()) - score


@page.figure("traces_{m}", each=[{"m": m} for m in ROWS])
def traces(m: int) -> Any:
    """Two starts, {m} rows. A flat trace proves nothing; two from different starts can prove
    trouble."""
    lines = search.starts(m)
    top = max(line.max() for line in lines.values())
    shown = slice(9, None, 10)  # one point in ten
    places = np.arange(1, search.DRAWS + 1)[shown]
    return plots.traces(
        places,
        {label: line[shown] for label, line in lines.items()},
        x=Axis("draws: 5000 local moves, or 20 of orders"),
        y=Axis("ln p(D, G), nats", (top - BELOW, top + BELOW / 20)),
        name=f"trace_{m}",
        title=f"ALARM, {m} rows",
        alt=f"ALARM, {m} rows: local moves from no edge end far below those from a search; orders "
        "reach the top",
    )


@page.table("traces", "rows", "chain", "mean ln p(D, G)", form=".0f")
def second_halves() -> Rows:
    """Two starts as numbers. Mean of the second half of a chain."""
    for m in ROWS:
        for name, line in search.starts(m).items():
            yield m, name, line[500:].mean()


@page.figure("two_runs_{m}", each=[{"m": m} for m in ROWS])
def scatter_alarm(m: int) -> Any:
    """Two runs, {m} rows. Edge probabilities by one run against those by another."""
    return _scatter(search.alarm_runs(m), search.alarm().names, across=2)


@page.table(
    "two_runs", "runs", "SAD", "largest gap", "edges that differ by more than 1/2", form=".2f"
)
def apart() -> Rows:
    """Two runs as numbers. ALARM: how far two runs are apart."""
    for m in ROWS:
        for label, both in search.alarm_runs(m).items():
            yield (label, *search.apart(both))


@page.figure("census_{name}", each=[{"name": name} for name in search.STAND_INS])
def scatter_census(name: str) -> Any:
    """In place of the census: {name}. Two runs of each sampler against each other."""
    return _scatter(search.census_runs(name), search.census(name).names, across=3)


@page.table("census", "runs", "SAD of the two", "first from exact", "second from exact", form=".2f")
def census() -> Rows:
    """In place of the census, as numbers. Runs that agree may be wrong."""
    for name in search.STAND_INS:
        runs = search.census_runs(name)
        for kind, (label, both) in zip(search.SAMPLERS.values(), runs.items(), strict=True):
            wrong = search.from_exact(search.census(name), kind, both)
            yield (label, search.apart(both)[0], *wrong)


def _scatter(runs: Mapping[str, Floats], names: tuple[str, ...], *, across: int) -> Any:
    """Draw edges by one run against those by another; pairs below 0.02 in both are left out."""
    pictures = []
    for place, (label, both) in enumerate(runs.items()):
        picture = plots.agreement(
            both[0].round(3),
            both[1].round(3),
            names,
            labels=("run 1", "run 2"),
            name=f"runs_{place}",
            title=f"{label}: SAD {search.apart(both)[0]:.2f}",
            alt=f"Edge probabilities by two runs, {label}",
        )
        source = picture.select_one({"name": f"runs_{place}"})
        pairs = zip(source.data["first"], source.data["second"], strict=True)
        drawn = [i for i, pair in enumerate(pairs) if max(pair) >= LEAST]
        source.data = {key: [column[i] for i in drawn] for key, column in source.data.items()}
        picture.width = picture.height = 330
        pictures.append(picture)
    return gridplot(pictures, ncols=across, toolbar_location=None)


@page.figure("members")
def members() -> Any:
    """The members of a class. Four equivalent DAGs, and with how many orders each is compatible."""
    dags = study.everything()[0][study.true_class()]
    shares, _ = study.limits()
    return plots.graph_gallery(
        bn.graphs.to_adjacency(dags),
        bn.load_network("cancer").names,
        [
            f"{count} of 12: {share:.3f}"
            for count, share in zip(study.orders(), shares, strict=True)
        ],
        across=4,
        name="members",
        title="One class, four DAGs: orders, and share of the class",
        alt="Four equivalent networks of five nodes with 1, 2, 4 and 5 orders",
    )


@page.figure("bias")
def bias() -> Any:
    """Does the bias go away with more rows? Inside the class the shares stay those of the prior,
    whatever the number of rows."""
    found, sizes = study.biases(), study.CLASS_SIZES
    modular = {
        f"{count} order{'s' * bool(count > 1)}": (sizes, line)
        for count, line in zip(study.orders(), found.modular.T, strict=True)
    }
    return plots.time_curves(
        {"each DAG alike": {"": (sizes, found.alike[:, 0])}, "order-modular,": modular},
        x=Axis("rows"),
        y=Axis("posterior probability of one DAG", (-0.01, 0.45)),
        name="bias",
        title="The four DAGs of the true class",
        alt="Posterior probability of each of four equivalent DAGs against rows: a quarter each, "
        "or one to five twelfths under the order-modular prior",
    )


@page.table(
    "bias_numbers",
    *("rows", "class, each DAG alike", "class, order-modular", "SAD of the edges"),
    form=".4f",
)
def inside() -> Rows:
    """The bias as numbers. Posterior probability of the true class; exact sums, means of ten data
    sets."""
    for m, alike, modular, sad in zip(study.CLASS_SIZES, *study.biases(), strict=True):
        yield m, alike.sum(), modular.sum(), sad


@page.figure("roc_{m}", each=[{"m": m} for m in study.SHOWN])
def roc(m: int) -> Any:
    """T-cells, {m:,} rows. ROC curves of the edges under four priors."""
    curves = {
        label: bn.diagnostics.roc(edges, study.truth()) for label, edges in study.edges(m).items()
    }
    return plots.roc_curves(
        curves,
        name=f"roc_{m}",
        title=f"T-cells, {m:,} rows",
        alt=f"ROC curves of the edges of the T-cells from {m} rows under four priors",
    )


@page.table("roc", "rows", "prior", "area", form=".3f")
def areas() -> Rows:
    """T-cells as numbers. Area under the ROC curve of the edges."""
    for m in study.SHOWN:
        for name, p in study.edges(m).items():
            yield m, name, bn.diagnostics.auc(p, study.truth())


@page.figure("beliefs_{kind}", each=[{"kind": kind} for kind in ("areas", "evidence")])
def strengths(kind: str, m: int = 90) -> Any:
    """T-cells: {kind} by strength of belief. 90 rows; right beliefs help, and the evidence tells
    right from wrong."""
    values = study.subsets()[kind][study.SIZES.index(m)].mean(axis=0)
    blank = float(values[0, 0])
    y = Axis("area under the ROC curve", (0.55, 1.01))
    if kind == "evidence":
        values, blank = values - blank, 0.0
        y = Axis("ln p(D | strength), nats above none", (-40.0, 20.0))
    x = study.STRENGTHS[1:]
    return plots.time_curves(
        {source: {"": (x, line[1:])} for source, line in zip(study.SOURCES, values, strict=True)},
        {"no beliefs": blank},
        x=Axis("strength of the beliefs"),
        y=y,
        name=f"{kind}_{m}",
        title=f"T-cells, {m:,} rows, mean of {study.SUBSETS} subsets",
        alt=f"T-cells, {m} rows: {y.label} against the strength of right and of wrong beliefs",
    )


@page.table("beliefs", "rows", "source", *(f"strength {s:g}" for s in study.STRENGTHS), form=".3f")
def beliefs() -> Rows:
    """Beliefs as numbers. Mean areas of twenty subsets of the rows."""
    for m, found in zip(study.SIZES, study.subsets()["areas"].mean(axis=1), strict=False):
        for source, line in zip(study.SOURCES, found, strict=True):
            yield (m, source, *line)


@page.figure("found_{kind}", each=[{"kind": kind} for kind in study.KINDS])
def figure_found(kind: str) -> Any:
    """Child: {kind} found. Averages are above single DAGs; for edges the class of the best DAG is
    between."""
    means = study.discovered().mean(axis=1)[..., study.KINDS.index(kind)]
    groups = {
        "one DAG:": ("hill climbing", "GES", "MAP"),
        "class of the MAP": ("class of the MAP",),
        "average over": ("orders", "DAGs"),
    }
    return plots.time_curves(
        _grouped(study.CHILD_SIZES, study.METHODS, means, groups),
        x=Axis("rows"),
        y=Axis(f"area under the ROC curve, {kind}", (0.5, 1.01)),
        name=kind,
        title=f"Child structure, 20 nodes: {kind}",
        alt=f"Area under the ROC curve of {kind} against rows: averages above single DAGs",
    )


@page.table("found", "of", "method", *(f"{m:,} rows" for m in study.CHILD_SIZES), form=".3f")
def found() -> Rows:
    """Child as numbers. Area under the ROC curve, means of ten data sets."""
    for place, kind in enumerate(study.KINDS):
        means = study.discovered().mean(axis=1)[..., place].T
        for name, line in zip(study.METHODS, means, strict=True):
            yield (kind, name, *line)


@page.figure("predicted")
def predicted() -> Any:
    """Averages against one network. Loss of predictions; averages are ahead as long as rows are
    few."""
    values = study.losses()[0]
    groups = {
        "average over": study.WAYS[:3],
        "one DAG:": study.WAYS[3:5],
        "true structure": study.WAYS[5:],
    }
    return plots.time_curves(
        _grouped(study.LOSS_SIZES, study.WAYS, values.mean(axis=0), groups),
        x=Axis("rows"),
        y=Axis("KL(true || predicted), nats a row", (0.01, 3), log=True),
        name="predicted",
        title=f"Predictions, {values.shape[0]} networks of {study.NODES} nodes",
        alt="Loss of predictions against rows: averages below the best DAG while rows are few",
    )


@page.table(
    "predicted_numbers",
    *("rows", *study.WAYS, "MAP worse by", "standard error", "mass of the 100 best"),
    form=".3f",
)
def predictions() -> Rows:
    """Averages as numbers. Loss, nats a row."""
    values, masses = study.losses()
    gain = values[:, :, 3] - values[:, :, 0]
    error = gain.std(axis=0, ddof=1) / len(gain) ** 0.5
    for i, m in enumerate(study.LOSS_SIZES):
        means = values[:, i].mean(axis=0)
        yield (m, *means, gain[:, i].mean(), error[i], masses[:, i].mean())


@page.figure("windows")
def figure_windows() -> Any:
    """Occam's window. The posterior probability of each window, and of what a beam finds of it."""
    groups = {
        name.replace("_", "-"): {
            "found": (study.FACTORS, [one.mass for one in seen]),
            "exact": (study.FACTORS, [one.exact_mass for one in seen]),
        }
        for name, seen in study.windows().items()
    }
    return plots.time_curves(
        groups,
        x=Axis("Bayes factor, best to last"),
        y=Axis("posterior probability of the window", (0.0, 1.03)),
        name="windows",
        title="Occam's window: by beam search, and in truth",
        alt="Posterior probability in Occam's window against its Bayes factor, found and exact",
    )


@page.table(
    "windows_numbers", *("data", "factor", "found", "exact", "mass found", "mass exact"), form=".3f"
)
def in_windows() -> Rows:
    """Occam's window as numbers. DAGs, and their posterior probabilities."""
    for name, seen in study.windows().items():
        for factor, one in zip(study.FACTORS, seen, strict=True):
            yield name, factor, one.found, one.exact, one.mass, one.exact_mass


@page.figure("visits")
def visits(name: str = "coronary") -> Any:
    """Visits, or distinct DAGs? Weighing the DAGs that were seen comes nearer than counting
    visits."""
    return plots.error_curve(
        study.STOPS,
        {label: values.mean(axis=0) for label, values in study.errors(name).items()},
        {},
        x=Axis("local moves of one chain"),
        y=Axis("SAD from the exact edges", (0.08, 24.0)),
        name=f"visits_{name}",
        title=f"{name.replace('_', '-')}: counted or weighed",
        alt=f"{name}: error of the edges against moves, by counting visits and by weighing DAGs",
    )


@page.table(
    "visits_numbers", "data", "estimate", *(f"{s:,} moves" for s in study.STOPS), form=".2f"
)
def weighing() -> Rows:
    """Visits as numbers. Sums of absolute errors of edges."""
    for name in study.DATASETS:
        for label, values in study.errors(name).items():
            yield (name, label, *values.mean(axis=0))
