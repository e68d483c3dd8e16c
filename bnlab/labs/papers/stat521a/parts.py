"""The parts of the lecture's page: its slides print hardly a number, so the tables are ours."""

from collections.abc import Mapping
from functools import cache, partial
from typing import Any

import bnlab as bn
from bnlab.labs.papers.contents import Part, Table, table
from bnlab.labs.papers.stat521a import (
    cells,
    chains,
    discovery,
    equivalence,
    forecasts,
    learning,
    pictures,
    searches,
    sets,
)
from bnlab.labs.papers.stat521a.world import alarm, alarm_table

ROWS = (500, 1000)  # of ALARM
KINDS = {"DAGs": "Local", "orders": "Order"}
SAMPLERS = {"hybrid": "Hybrid", **KINDS}

learned = cache(learning.distances)
starts = cache(chains.starts)
biases = cache(equivalence.biases)
losses = cache(forecasts.losses)
errors = cache(sets.errors)


@cache
def windows() -> Mapping[str, list[sets.Window]]:
    """Occam's window of each factor, by data set."""
    return {name: [sets.window(name, f) for f in sets.FACTORS] for name in sets.DATASETS}


@cache
def alarm_runs(m: int) -> dict[str, Any]:
    """Edges of ALARM by two runs of DAGs and of orders."""
    return {
        f"{m} rows, {label}": chains.two_runs(alarm_table(m), sampler)
        for label, sampler in KINDS.items()
    }


@cache
def census_runs(name: str) -> dict[str, Any]:
    """Edges of a stand-in for the census by two runs of each sampler."""
    return {
        f"{name}, {label}": chains.two_runs(chains.census(name), sampler)
        for label, sampler in SAMPLERS.items()
    }


def missed() -> Table:
    """What one member of a class does not see of the classes around it.

    Examples
    --------
    >>> missed().rows[0][:2]
    (3, 11)
    """
    rows = []
    for n in (3, 4):
        mean, worst, classes = equivalence.missed(n)
        rows.append((n, classes, mean, worst))
    return table(("n", "classes", "share missed, mean", "share missed, worst"), rows)


def distances() -> Table:
    """Distance from ALARM, nats a row, by rows and by what is known."""
    means = learned().mean.mean(axis=0)
    return table(("rows", *learning.WAYS), [(m, *row) for m, row in _pairs(learning.SIZES, means)])


def below_the_best() -> Table:
    """How far each search ends below the best of them, nats."""
    rows = []
    for m in ROWS:
        found = searches.scores(m)
        rows += [(m, name, max(found.values()) - score) for name, score in found.items()]
    return table(("rows", "search", "nats below the best"), rows)


def second_halves() -> Table:
    """Mean ln p(D, G) of the second half of each chain."""
    rows = [(m, name, line[500:].mean()) for m in ROWS for name, line in starts(m).items()]
    return table(("rows", "chain", "mean ln p(D, G)"), rows)


def apart() -> Table:
    """How far two runs on ALARM are apart."""
    rows = [(label, *chains.apart(both)) for m in ROWS for label, both in alarm_runs(m).items()]
    return table(("runs", "SAD", "largest gap", "edges that differ by more than 1/2"), rows)


def census() -> Table:
    """How far two runs are apart, and each from the exact edges."""
    rows = []
    for name in chains.STAND_INS:
        for sampler, (label, both) in zip(
            SAMPLERS.values(), census_runs(name).items(), strict=True
        ):
            wrong = chains.from_exact(chains.census(name), sampler, both)
            rows.append((label, chains.apart(both)[0], *wrong))
    return table(("runs", "SAD of the two", "first from exact", "second from exact"), rows)


def inside() -> Table:
    """The posterior probability of the true class, and what stays wrong inside it."""
    found = biases()
    rows = [
        (m, found.alike[i].sum(), found.modular[i].sum(), found.sad[i])
        for i, m in enumerate(equivalence.SIZES)
    ]
    header = ("rows", "class, each DAG alike", "class, order-modular", "SAD of the edges")
    return table(header, rows)


def areas() -> Table:
    """Areas under the ROC curve of the T-cells, by rows and prior."""
    rows = [
        (m, name, bn.diagnostics.auc(p, cells.truth()))
        for m in cells.SHOWN
        for name, p in cells.edges(m).items()
    ]
    return table(("rows", "prior", "area"), rows)


def beliefs() -> Table:
    """Mean areas of subsets of the T-cells, by source and strength of belief."""
    seen = cells.subsets()
    rows = [
        (m, source, *line)
        for m, found in zip(cells.SIZES, seen["areas"].mean(axis=1), strict=False)
        for source, line in zip(cells.SOURCES, found, strict=True)
    ]
    return table(("rows", "source", *(f"strength {s:g}" for s in cells.STRENGTHS)), rows)


def found() -> Table:
    """Areas under the ROC curve for child, means of ten data sets."""
    rows = []
    for place, kind in enumerate(discovery.KINDS):
        means = discovery.discovered().mean(axis=1)[..., place].T
        rows += [(kind, name, *line) for name, line in zip(discovery.METHODS, means, strict=True)]
    return table(("of", "method", *(f"{m:,} rows" for m in discovery.SIZES)), rows)


def predictions() -> Table:
    """Loss of predictions, nats a row, and what the best DAG loses to the average."""
    values, masses = losses()
    gain, rows = values[:, :, 3] - values[:, :, 0], []
    for i, m in enumerate(forecasts.SIZES):
        error = gain[:, i].std(ddof=1) / len(gain) ** 0.5
        means = values[:, i].mean(axis=0)
        rows.append((m, *means, gain[:, i].mean(), error, masses[:, i].mean()))
    return table(
        ("rows", *forecasts.WAYS, "MAP worse by", "standard error", "mass of the 100 best"), rows
    )


def in_windows() -> Table:
    """What a beam finds of Occam's window."""
    rows = [
        (name, factor, one.found, one.exact, one.mass, one.exact_mass)
        for name, seen in windows().items()
        for factor, one in zip(sets.FACTORS, seen, strict=True)
    ]
    return table(("data", "factor", "found", "exact", "mass found", "mass exact"), rows)


def weighing() -> Table:
    """Sums of absolute errors of edges, counting visits and weighing distinct DAGs."""
    rows = [
        (name, label, *values.mean(axis=0))
        for name in sets.DATASETS
        for label, values in errors(name).items()
    ]
    return table(("data", "estimate", *(f"{stop:,} moves" for stop in sets.STOPS)), rows)


def _pairs(sizes: Any, rows: Any) -> list[tuple[int, Any]]:
    return list(zip(sizes, rows, strict=True))


def _traces(m: int) -> Any:
    return pictures.traces(m, starts(m))


def _found(kind: str) -> Any:
    return pictures.found(kind, discovery.discovered())


def _scatter_alarm(m: int) -> Any:
    return pictures.scatter(alarm_runs(m), alarm().names)


def _scatter_census(name: str) -> Any:
    return pictures.scatter(census_runs(name), chains.census(name).names, across=3)


PARTS = (
    Part("missed", "Neighbours of a class that one member misses", missed, "Shares of classes."),
    Part(
        "learned_numbers",
        "Parameters, or structure as well?",
        distances,
        "Distance from ALARM, nats a row, the mean of three data sets.",
    ),
    Part(
        "learned",
        "Parameters, or structure as well? The picture",
        lambda: pictures.learned(learned()),
        "Not knowing the structure costs a factor of 1.2 to 1.6 from 500 rows on.",
    ),
    Part("searches", "Searches on ALARM", below_the_best, "How far below the best search each is."),
    *(
        Part(
            f"traces_{m}",
            f"Two starts, {m} rows",
            partial(_traces, m),
            "A flat trace proves nothing; two from different starts can prove trouble.",
        )
        for m in ROWS
    ),
    Part("traces", "Two starts as numbers", second_halves, "Mean of the second half of a chain."),
    *(
        Part(
            f"two_runs_{m}",
            f"Two runs, {m} rows",
            partial(_scatter_alarm, m),
            "Edge probabilities by one run against those by another.",
        )
        for m in ROWS
    ),
    Part("two_runs", "Two runs as numbers", apart, "ALARM: how far two runs are apart."),
    *(
        Part(
            f"census_{name.replace('-', '_')}",
            f"In place of the census: {name}",
            partial(_scatter_census, name),
            "Two runs of each sampler against each other.",
        )
        for name in chains.STAND_INS
    ),
    Part("census", "In place of the census, as numbers", census, "Runs that agree may be wrong."),
    Part(
        "members",
        "The members of a class",
        pictures.members,
        "Four equivalent DAGs, and with how many orders each is compatible.",
    ),
    Part(
        "bias",
        "Does the bias go away with more rows?",
        lambda: pictures.bias(biases()),
        "Inside the class the shares stay those of the prior, whatever the number of rows.",
    ),
    Part("bias_numbers", "The bias as numbers", inside, "Exact sums, means of ten data sets."),
    *(
        Part(
            f"roc_{m}",
            f"T-cells, {m:,} rows",
            partial(pictures.roc, m),
            "ROC curves of the edges under four priors.",
        )
        for m in cells.SHOWN
    ),
    Part("roc", "T-cells as numbers", areas, "Area under the ROC curve of the edges."),
    *(
        Part(
            f"beliefs_{kind}",
            f"T-cells: {kind} by strength of belief",
            partial(pictures.strengths, kind, 90),
            "90 rows; right beliefs help, and the evidence tells right from wrong.",
        )
        for kind in ("areas", "evidence")
    ),
    Part("beliefs", "Beliefs as numbers", beliefs, "Mean areas of twenty subsets of the rows."),
    *(
        Part(
            f"found_{kind}",
            f"Child: {kind} found",
            partial(_found, kind),
            "Averages are above single DAGs; for edges the class of the best DAG is between.",
        )
        for kind in discovery.KINDS
    ),
    Part("found", "Child as numbers", found, "Area under the ROC curve, means of ten data sets."),
    Part(
        "predicted",
        "Averages against one network",
        lambda: pictures.predicted(losses()[0]),
        "Loss of predictions; averages are ahead as long as rows are few.",
    ),
    Part("predicted_numbers", "Averages as numbers", predictions, "Loss, nats a row."),
    Part(
        "windows",
        "Occam's window",
        lambda: pictures.windows(windows()),
        "The posterior probability of each window, and of what a beam finds of it.",
    ),
    Part("windows_numbers", "Occam's window as numbers", in_windows, "Posterior probabilities."),
    Part(
        "visits",
        "Visits, or distinct DAGs?",
        lambda: pictures.visits("coronary", errors("coronary")),
        "Weighing the DAGs that were seen comes nearer than counting visits.",
    ),
    Part("visits_numbers", "Visits as numbers", weighing, "Sums of absolute errors of edges."),
)
"""All parts, in the order of the page."""
