"""The parts of chapter 6 of [Beal2003]: the long runs that come with the package beside print."""

from functools import partial
from typing import Any

import numpy as np

from bnlab.labs.papers.beal2003 import pictures, printed, tables
from bnlab.labs.papers.beal2003.scores import SCORES
from bnlab.labs.papers.beal2003.sizes import dimensions
from bnlab.labs.papers.beal2003.study import saved
from bnlab.labs.papers.beal2003.true_model import figure_6_10
from bnlab.labs.papers.beal2003.world import truth
from bnlab.labs.papers.contents import Part, Table, table


def ranks_of_print() -> Table:
    """Table 6.1: median, lowest and highest rank of ten data sets, and the printed rank.

    Examples
    --------
    >>> ranks_of_print().header
    ('n', 'score', 'print', 'median', 'lowest', 'highest')
    """
    long, rows = saved(), []
    for n in long.sizes("rank print"):
        row = printed.TABLE_6_1[printed.SIZES.index(n)]
        of_score = zip(printed.RANK_SCORES[:-1], tables.table_6_1(long, n).T, row[:-1], strict=True)
        for name, ranks, known in of_score:
            rows.append((n, name, known, np.median(ranks), ranks.min(), ranks.max()))
    return table(("n", "score", "print", "median", "lowest", "highest"), rows)


def shares() -> Table:
    """Table 6.2: how VB ranks the truth against every other score, percent.

    Examples
    --------
    >>> len(shares().rows) == len(printed.TABLE_6_2)
    True
    """
    header = ["score"] + [f"{kind}, {who}" for kind in ("worse", "same", "better") for who in WHO]
    rows = []
    for name, known in printed.TABLE_6_2.items():
        pairs = zip(known, tables.table_6_2(saved(), name), strict=True)
        rows.append((name, *(value for pair in pairs for value in pair)))
    return table(header, rows)


def ranks_of_sampler() -> Table:
    """Table 6.3: ranks by five runs of the thesis' sampler and by their mean, and by SMC.

    Examples
    --------
    >>> ranks_of_sampler().rows[0][:2]
    (10, 'run 1')
    """
    long, rows = saved(), []
    runs = [*(f"run {i + 1}" for i in range(5)), "mean of five"]
    for n in long.sizes("ais"):
        known = printed.TABLE_6_3[printed.SIZES.index(n)]
        rows += [(n, *row) for row in zip(runs, known, tables.table_6_3(long, n), strict=True)]
        if n in long.sizes("smc"):
            rows += [(n, "SMC", "", rank) for rank in tables.batch_ranks(long.particles(n))[:2]]
    return table(("n", "estimate", *WHO), rows)


def violations() -> Table:
    """Table 6.4: how often AIS is below the VB bound, and rejected moves, percent.

    Examples
    --------
    >>> violations().rows[-1][0]
    10240
    """
    names = [f"{name}, {who}" for name in VIOLATIONS for who in WHO]
    rows = []
    for n in saved().sizes("ais"):
        known = printed.TABLE_6_4.get(n) or ("",) * len(VIOLATIONS)
        pairs = zip(known, tables.table_6_4(saved(), n), strict=True)
        rows.append((n, *(value for pair in pairs for value in pair)))
    return table(("n", *names), rows)


def successes() -> Table:
    """Table 6.5: draws of parameters, of 106, with the true structure ranked first.

    Examples
    --------
    >>> successes().header
    ('n', 'score', 'print', 'ours', 'two runs differ by')
    """
    long, rows = saved(), []
    for n in long.sizes("rank draw"):
        row = printed.TABLE_6_5[printed.SIZES.index(n)]
        found = zip(printed.SUCCESS_SCORES, row, tables.table_6_5(long, n), strict=True)
        rows += [(n, name, known, ours, float(tables.band(known))) for name, known, ours in found]
    return table(("n", "score", *WHO, "two runs differ by"), rows)


def noise() -> Table:
    """Standard deviation of one run of AIS and of SMC, nats.

    Examples
    --------
    >>> noise().header
    ('n', 'AIS', 'SMC')
    """
    long = saved()
    both = sorted(set(long.sizes("ais")) & set(long.sizes("smc")))
    rows = [(n, *map(tables.spread, (long.batches(n).log_p, long.particles(n)))) for n in both]
    return table(("n", "AIS", "SMC"), rows)


def lost_parameters() -> Table:
    """How many of the parameters the data cannot tell, by the rank of the Jacobian.

    Examples
    --------
    >>> sum(count for _, count in lost_parameters().rows)
    136
    """
    sizes = dimensions()
    lost, counts = np.unique(sizes.complete - sizes.observed, return_counts=True)
    return table(("d' - d", "structures"), list(zip(lost, counts, strict=True)))


def traces() -> Any:
    """Figure 6.10: the estimate against annealing steps, from the truth and from the prior."""
    vb, bic = saved().scores(480)[truth()][[SCORES.index("vb"), SCORES.index("bic")]]
    return pictures.figure_6_10(figure_6_10(480), vb, bic)


def over_draws(kind: str, what: str, title: str) -> Any:
    """Figures 6.5 to 6.9: a summary of 106 draws against the rows."""
    axis = _AXES["share" if what == "first" else kind]
    return pictures.over_draws(saved(), kind, _SUMMARIES[what], title=title, **axis)


_AXES: dict[str, dict[str, Any]] = {
    "rank": {"y_label": "rank of the true structure", "y_range": (136, 1)},
    "gap": {"y_label": "nats"},
    "share": {"y_label": "share", "y_range": (0, 1)},
}
_SUMMARIES: dict[str, Any] = {
    "median": lambda values: np.median(values, axis=0),
    "lowest": lambda values: values.min(axis=0),
    "highest": lambda values: values.max(axis=0),
    "first": lambda ranks: (ranks == 1).mean(axis=0),
}

WHO = ("print", "ours")
VIOLATIONS = ("one run < VB*", "one run < VB", "rejected", "mean < VB*", "mean < VB")
_DRAWS = (
    ("6_5", "rank", "median", "Figure 6.5: median rank of 106 draws"),
    ("6_6", "gap", "median", "Figure 6.6: median difference from the highest score"),
    ("6_7", "rank", "lowest", "Figure 6.7: best rank of 106 draws"),
    ("6_8", "gap", "highest", "Figure 6.8: smallest difference of 106 draws"),
    ("6_9", "rank", "first", "Figure 6.9: share of draws ranked first"),
)

PARTS = (
    Part(
        "figure_6_2",
        "Figure 6.2: six scores of all structures",
        lambda: pictures.figure_6_2(saved(), 10240),
        "10,240 rows. MAP rises with the number of parameters; VB and AIS do not.",
    ),
    Part(
        "table_6_1",
        "Table 6.1: rank of the true structure, printed parameters",
        ranks_of_print,
        "The thesis has one data set of each size, ours are ten. An asterisk: without aliases.",
    ),
    Part(
        "figure_6_3_print",
        "Figure 6.3 as printed",
        lambda: pictures.figure_6_3(None),
        "Ranks of the true structure against rows.",
    ),
    Part(
        "figure_6_3",
        "Figure 6.3, ours",
        lambda: pictures.figure_6_3(saved()),
        "The same from one data set of ours.",
    ),
    Part(
        "figure_6_4",
        "Figure 6.4: difference from the highest score",
        lambda: pictures.figure_6_4(saved()),
        "The smallest difference throughout is VB's.",
    ),
    Part(
        "table_6_5",
        "Table 6.5: draws of the parameters with the true structure first",
        successes,
        "Of 106. The last column: by how much two runs differ in 95 of 100 cases.",
    ),
    Part("table_6_2", "Table 6.2: VB against the other scores", shares, "Percent, all sizes."),
    *(
        Part(
            f"figure_{number}",
            title,
            partial(over_draws, kind, what, title),
            "VB is ahead from a few hundred rows on; then CS; BIC comes last.",
        )
        for number, kind, what, title in _DRAWS
    ),
    Part(
        "dimensions",
        "Parameters that the data cannot tell",
        lost_parameters,
        "The thesis has d' - d = |H|; by the rank of the Jacobian it varies with the structure.",
    ),
    Part(
        "figure_6_10",
        "Figure 6.10: AIS against annealing steps",
        traces,
        "Started at the truth short runs are too high; started at the prior, too low.",
    ),
    Part(
        "table_6_4",
        "Table 6.4: AIS below the VB bound, and rejected moves",
        violations,
        "Percent. Print names eight sizes from 640 rows on.",
    ),
    Part(
        "figure_6_11",
        "Figure 6.11: moves accepted",
        lambda: pictures.figure_6_11(saved()),
        "Mean over the structures, and one standard deviation to either side, against rows.",
    ),
    Part(
        "figure_6_12",
        "Figure 6.12: moves accepted, by quarters of the schedule",
        lambda: pictures.figure_6_12(saved()),
        "Against rows; the later a move, the colder the distribution it walks on.",
    ),
    Part(
        "figure_6_13",
        "Figure 6.13: annealing schedules",
        pictures.figure_6_13,
        "Six values of e; e = 0.2 is the choice of the thesis.",
    ),
    Part(
        "table_6_3",
        "Table 6.3: rank of the true structure by AIS",
        ranks_of_sampler,
        "Five runs of the thesis' sampler and their mean; beside them two runs of SMC.",
    ),
    Part(
        "noise",
        "Noise of one run",
        noise,
        "Standard deviation of ln p(data) of one run, nats, mean over the structures.",
    ),
)
"""All parts, in the order of the page."""
