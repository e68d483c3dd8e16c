"""The parts of section 4 of [HeTianWu2016]: the long runs that come with the package, and print."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

import bnlab as bn
from bnlab import plots
from bnlab.labs.papers.contents import Part, Table, table
from bnlab.labs.papers.htw2016.cases import case, dags
from bnlab.labs.papers.htw2016.guarantee import CURVE, SETTINGS, draws_for
from bnlab.labs.papers.htw2016.long_runs import Kept, kept
from bnlab.labs.papers.htw2016.nonmodular import FEATURES, SAMPLERS, Floats, beaten, errors
from bnlab.labs.papers.htw2016.pictures import figure_features, figure_table_1
from bnlab.labs.papers.htw2016.printed import NAMES, TABLE_3_DP
from bnlab.labs.papers.htw2016.tables import (
    Row,
    rows_1,
    rows_3,
    rows_3_mass,
    rows_times,
    spread,
)

SMALL = ("tic_tac_toe", "wine")  # whose sums over all DAGs take a second
FEW = ("iris", "coronary")  # where all DAGs can be listed


def compared(rows: Callable[[Kept], list[Row]], /) -> Table:
    """Tables 1 and 3.

    Examples
    --------
    >>> compared(rows_1).rows[1][:4]
    ('tic_tac_toe', 'DOS', 0.135, 0.0257)
    """
    header = ("data", "method", "print", "sd of print", "ours", "sd of ours", "runs", "within 2 sd")
    found = [(r.data, r.method, *r.printed, *r.ours, r.runs, r.agrees) for r in rows(kept())]
    return table(header, found)


def seconds() -> Table:
    """Tables 2 and 4.

    Examples
    --------
    >>> seconds().header
    ('data', 'method', 'print', 'ours', 'print / ours')
    """
    rows = [(*row, row.printed / row.ours) for row in rows_times(kept())]
    return table(("data", "method", "print", "ours", "print / ours"), rows)


def bias() -> Table:
    """Sums of absolute differences between the exact edges under the two priors, made here.

    Examples
    --------
    >>> [f"{printed:.4f} {ours:.4f}" for _, printed, ours in bias().rows]
    ['0.1651 0.1651', '1.4786 1.4786']
    """
    rows = [
        (name, TABLE_3_DP[name], bn.diagnostics.sad(case(name).by_bdeu.edges, dags(name).edges))
        for name in SMALL
    ]
    return table(("data", "print", "ours"), rows)


def corrections() -> Table:
    """IW-DDS beside weights of one over the number of linear extensions.

    Examples
    --------
    >>> corrections().header[:3]
    ('data', 'DP', 'IW-DDS')
    """
    rows = []
    for name in NAMES:
        pairs = [
            spread([t.sad for t in kept().trials[name, method]]) for method in ("IW-DDS", "1/l(G)")
        ]
        rows.append((name, kept().bias[name], *(value for pair in pairs for value in pair)))
    return table(("data", "DP", "IW-DDS", "sd of IW-DDS", "1/l(G)", "sd of 1/l(G)"), rows)


@cache
def features(name: str) -> dict[str, dict[str, Floats]]:
    """Errors of edges and of five features by the three samplers."""
    return {sampler: errors(name, sampler) for sampler in SAMPLERS}


def wins() -> Table:
    """At how many of five sizes IW-DDS is closer than another method."""
    rows = []
    for name in FEW:
        found = features(name)
        for other in SAMPLERS[1:]:
            count = beaten(found[SAMPLERS[0]], found[other])
            rows.append((name, other, *(count[feature] for feature in FEATURES)))
    return table(("data", "closer than", *FEATURES), rows)


def guarantee() -> Table:
    """How often an edge is missed by eps or more, and how often it may be.

    Examples
    --------
    >>> all(worst < allowed for _, _, allowed, worst, *_ in guarantee().rows)
    True
    """
    rows = []
    for eps, delta in SETTINGS.items():
        rates = kept().rates[eps][-1]
        never = int((rates == 0).sum())
        rows.append((eps, draws_for(eps), delta, rates.max(), rates.mean(), never, rates.size))
    return table(("eps", "draws", "allowed", "worst edge", "mean", "never missed", "edges"), rows)


def rates() -> Any:
    """Histogram of the share of runs that miss an edge."""
    return plots.rate_histogram(
        kept().rates[0.02][-1],
        0.05,
        title="90 edges of tic-tac-toe, ε = 0.02, 4,612 draws",
        alt="Histogram of the share of experiments that miss an edge, far left of the line at 0.05",
    )


def bound() -> Any:
    """Measured rates of misses against draws, and Hoeffding's bound."""
    hoeffding = np.minimum(1, 2 * np.exp(-2 * np.array(CURVE) * 0.02**2))
    measured = {
        "worst edge": kept().rates[0.02].max(axis=1),
        "mean over edges": kept().rates[0.02].mean(axis=1),
    }
    return plots.error_curve(
        CURVE,
        measured,
        {"Hoeffding: 2 exp(−2 T ε²)": hoeffding},
        y_label="share of runs",
        title="Share of 1,000 runs that miss by 0.02 or more",
    )


def _pictures(name: str, shown: Sequence[str]) -> Any:
    return figure_features(name, features(name), shown)


PARTS = (
    Part(
        "table_1",
        "Table 1: edges under the order-modular prior",
        partial(compared, rows_1),
        "Sum of absolute errors; K2 score, Fair prior. Ours: the long runs kept with the package.",
    ),
    Part(
        "figure_table_1",
        "Table 1 as a picture",
        lambda: figure_table_1(kept()),
        "Bars: printed mean and two standard deviations; below each, our runs.",
    ),
    Part(
        "tables_2_4",
        "Tables 2 and 4: seconds of one run",
        seconds,
        "With the dynamic program. Print: the authors' machine of the time.",
    ),
    Part(
        "table_3_dp",
        "Table 3, DP: what the order-modular prior costs",
        bias,
        "Sum of absolute differences of exact edges under the two priors, computed just now.",
    ),
    Part(
        "table_3",
        "Table 3: edges with every DAG counted once",
        partial(compared, rows_3),
        "Sum of absolute errors; BDeu. Ours: the long runs kept with the package.",
    ),
    Part(
        "table_3_mass",
        "Table 3, Δ: posterior probability of the DAGs found",
        partial(compared, rows_3_mass),
        "Of the k best DAGs, and of the distinct DAGs that IW-DDS has drawn.",
    ),
    Part(
        "corrections",
        "Two corrections of the order-modular prior",
        corrections,
        "Sum of absolute errors of IW-DDS and of weights 1/l(G), which is not in the paper.",
    ),
    *(
        Part(
            f"figures_{name}_{i + 1}",
            f"Section 4.3: {name}, edges and features, {i + 1} of 2",
            partial(_pictures, name, shown),
            "Sum of absolute errors against draws, or ten times k; made just now.",
        )
        for name in FEW
        for i, shown in enumerate((FEATURES[:3], FEATURES[3:]))
    ),
    Part(
        "section_4_3",
        "Section 4.3: where IW-DDS is closer",
        wins,
        "At how many of the five sizes, for edges and for the features f1 to f5.",
    ),
    Part(
        "section_4_4",
        "Section 4.4: the guarantee",
        guarantee,
        "Share of runs in which an edge of tic-tac-toe is off by eps or more.",
    ),
    Part("figure_rates", "Section 4.4: by edges", rates, "Most edges are never missed."),
    Part("figure_bound", "Section 4.4: by draws", bound, "The bound is far above what happens."),
)
"""All parts, in the order of the page."""
