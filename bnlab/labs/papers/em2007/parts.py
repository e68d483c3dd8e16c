"""The parts of [EatonMurphy2007]: chains made just now, and the long runs kept with the package."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import numpy as np

import bnlab as bn
from bnlab import plots
from bnlab.labs import modular_priors as priors
from bnlab.labs.papers.contents import Part, Table, table
from bnlab.labs.papers.em2007 import cells, pictures
from bnlab.labs.papers.em2007.cases import case
from bnlab.labs.papers.em2007.convergence import STOPS, sad
from bnlab.labs.papers.em2007.discovery import KINDS, skeleton_auc
from bnlab.labs.papers.em2007.forecasts import PLAIN, Forecast, margin
from bnlab.labs.papers.em2007.kept import rows as data_of
from bnlab.labs.papers.em2007.kept import saved
from bnlab.labs.papers.em2007.misprint import limits
from bnlab.labs.papers.em2007.walks import SAMPLERS, Walk, walk

CASES = ("cancer", "CHD")


def distances() -> Table:
    """How far three priors are from the uniform one over DAGs, of five nodes.

    Examples
    --------
    >>> distances().header
    ('prior', 'KL from uniform, nats', 'largest probability')
    """
    space, rows = priors.space(5), []
    for name, prior in priors.PRIORS.items():
        p = priors.normalised(priors.log_prior(prior, space))
        rows.append((name, float(priors.kl_to_uniform(p)), p.max()))
    return table(("prior", "KL from uniform, nats", "largest probability"), rows)


def misprint() -> Table:
    """Sums of absolute differences from the exact edges, after many moves.

    Examples
    --------
    >>> misprint().rows[1][1] < 1e-9
    True
    """
    found = limits(case("cancer"))
    rows = [("as displayed", found.displayed), ("as described", found.corrected)]
    return table(("proposal", "SAD in the limit"), [*rows, ("the DP alone", found.dp)])


@cache
def walks(name: str) -> Mapping[str, Walk]:
    """25 chains of each sampler on a small data set."""
    return {s: walk(case(name).table, s, draws=32_768, chains=25) for s in SAMPLERS}


@cache
def errors(name: str) -> Mapping[tuple[str, str], Any]:
    """Distances of all chains from the exact edges."""
    return pictures.errors(case(name), walks(name))


def convergence() -> Table:
    """Figures 2 and 3 as numbers: means over the chains of the sum of absolute differences.

    Examples
    --------
    >>> len(convergence().header) == 2 + len(STOPS) + 1
    True
    """
    rows = [
        (name, " ".join(label).strip(), *found.mean(axis=0), found[:, -1].std())
        for name in CASES
        for label, found in errors(name).items()
    ]
    return table(("data", "sampler", *(f"{stop:,} moves" for stop in STOPS), "sd at the end"), rows)


def areas() -> Table:
    """Figures 4 and 5 as numbers: ten data sets, of chains the mean of ten.

    Examples
    --------
    >>> areas().rows[0][:2]
    ('edges', 'Local')
    """
    found, rows = saved().found(), []
    for i, kind in enumerate(KINDS):
        each = dict(zip(SAMPLERS, found.by_chain.mean(axis=2)[..., i].T, strict=True))
        each |= {"DAGs by DP": found.direct[:, i], "each DAG once": found.distinct[:, i]}
        if kind == "edges":
            each["DP, exact"] = found.dp
        rows += [(kind, name, *np.quantile(each[name], (0.5, 0, 1))) for name in each]
    return table(("of", "sampler", "median area", "lowest", "highest"), rows)


def behind(name: str) -> Table:
    """How far predictions are below those of independent exact DAGs, ten folds.

    Examples
    --------
    >>> behind("cells").rows[-1][0]
    'ignoring the interventions'
    """
    found = saved().forecast(name)
    ends: dict[str, Any] = {
        s: found.curves[:, i, :, -1].mean(axis=1) for i, s in enumerate(SAMPLERS)
    }
    ends |= {"DP": found.dp} | dict(zip(PLAIN[1:], found.plain.T[1:], strict=True))
    if name == "cells":
        ends["ignoring the interventions"] = saved().cells()[1]
    rows = [(label, *margin(found.plain[:, 0], values)) for label, values in ends.items()]
    return table(("method", "nats below", "standard error"), rows)


def networks() -> Table:
    """How far the best DAG is below the average of DAGs, on ten synthetic networks.

    Examples
    --------
    >>> len(networks().rows)
    10
    """
    rows = [(i, *margin(p[:, 0], p[:, 1])) for i, p in enumerate(saved().networks())]
    return table(("network", "nats below", "standard error"), rows)


def t_cells() -> Table:
    """Edges of the T-cells, with the interventions used and ignored, against the known network.

    Examples
    --------
    >>> t_cells().rows[0][0]
    'used'
    """
    edges, _ = saved().cells()
    truth = saved().arrays["cells network"]
    rows = []
    for name, p in zip(("used", "used, by orders", "ignored"), edges, strict=True):
        directed = bn.diagnostics.auc(p, bn.graphs.to_adjacency(truth))
        rows.append((name, p.sum(), directed, skeleton_auc(p, truth), float(sad(p, edges[0]))))
    header = ("interventions", "edges expected", "AUC directed", "AUC either way", "SAD from used")
    return table(header, rows)


@cache
def starts(name: str) -> Mapping[str, Walk]:
    """Four chains of each sampler, 5,000 moves from where they start."""
    scores = bn.score_families(data_of(name), bn.BDeu(1.0), max_parents=3)
    return {s: walk(scores, s, draws=1000, chains=4, thin=5) for s in SAMPLERS}


def ends() -> Table:
    """Means of ln p(D | G) over the last half of each chain of figure 9."""
    rows = []
    for name in ("synthetic", "tic-tac-toe"):
        for sampler, found in starts(name).items():
            means = np.sort(found.draws.log_target[:, 500:].mean(axis=1))
            rows.append((name, sampler, *means))
    return table(("data", "sampler", "lowest chain", "second", "third", "highest chain"), rows)


def picture_of(name: str, title: str, *, moves: bool) -> Any:
    """Figures 2 and 3, against time or against moves."""
    return pictures.convergence(title, case(name), errors(name), None if moves else walks(name))


def discovered(title: str, kind: str) -> Any:
    """Figures 4 and 5."""
    return pictures.discovery(title, saved().found(), kind)


def predicted(name: str, title: str, below: float, above: float) -> Any:
    """Figures 6 to 8, with the levels of what needs no chain."""
    found: Forecast = saved().forecast(name)
    middle = found.dp.mean()
    levels = {"DP": middle, "MAP": found.plain[:, 1].mean()}
    return pictures.predictions(title, found, levels, y_range=(middle - below, middle + above))


def traces(*samplers: str) -> Any:
    """Figure 9, of some samplers."""
    found = starts("tic-tac-toe")
    top = max(each.draws.log_target.max() for each in found.values())
    return pictures.traces({s: found[s] for s in samplers}, (top - 150, top + 10))


def heat_map(which: int, title: str) -> Any:
    """Edge probabilities of the T-cells."""
    return plots.heat_map(saved().cells()[0][which], cells.NAMES, title=title)


def _convergences() -> list[Part]:
    known = (("figure_2", "Figure 2: cancer", "cancer"), ("figure_3", "Figure 3: CHD", "CHD"))
    about = "Mean over 25 chains of the sum of absolute differences from the exact edges."
    axes = {"": ("", False), "_moves": (", by moves", True)}
    return [
        Part(
            name + more,
            title + words,
            partial(picture_of, data, title + words, moves=moves),
            about,
        )
        for name, title, data in known
        for more, (words, moves) in axes.items()
    ]


def _predictions() -> list[Part]:
    known = (
        ("figure_6", "synthetic", "Figure 6: synthetic, 15 nodes", 1.0, 0.05),
        ("figure_7", "tic-tac-toe", "In place of Figure 7: tic-tac-toe", 0.5, 0.05),
        ("figure_8", "cells", "Figure 8: T-cells", 0.05, 0.005),
    )
    out = []
    for name, data, title, below, above in known:
        what = "Mean ln p of a held-out row against the time of a chain; ten folds, kept."
        out.append(Part(name, title, partial(predicted, data, title, below, above), what))
        what = "Nats a row below independent exact DAGs, at the end of the chains."
        make: Callable[[], Table] = partial(behind, data)
        out.append(Part(f"{name}_ends", f"{title}, at the end", make, what))
    return out


PARTS = (
    Part("figure_1", "Figure 1: priors", pictures.figure_1, "All 29,281 DAGs of five nodes."),
    Part("priors", "Distances of the priors from the uniform one", distances, "Five nodes."),
    Part(
        "misprint",
        "The proposal as displayed and as described",
        misprint,
        "By the formula as displayed a chain would settle beside the posterior; cancer, β = 0.",
    ),
    *_convergences(),
    Part(
        "figures_2_3",
        "Figures 2 and 3 as numbers",
        convergence,
        "Sum of absolute differences from the exact edges; 25 chains, made just now.",
    ),
    *(
        Part(
            f"figure_{number}",
            f"Figure {number}: {kind}",
            partial(discovered, f"Figure {number}: {kind}", kind),
            "Area under the ROC curve for the child network, a mark for each of ten data sets.",
        )
        for number, kind in ((4, "edges"), (5, "paths"))
    ),
    Part(
        "figures_4_5",
        "Figures 4 and 5 as numbers",
        areas,
        "Areas under the ROC curve; median, lowest and highest of ten data sets, kept.",
    ),
    *_predictions(),
    Part(
        "networks",
        "Figure 6: ten networks",
        networks,
        "The most probable DAG below the average of DAGs, nats a row.",
    ),
    Part(
        "t_cells",
        "Figure 8: edges of the T-cells",
        t_cells,
        "Against the network that biologists agree on.",
    ),
    Part(
        "figure_8_used",
        "Figure 8: interventions used",
        partial(heat_map, 0, "Edges, interventions used"),
        "Nearly all probabilities are near 0 or 1.",
    ),
    Part(
        "figure_8_ignored",
        "Figure 8: interventions ignored",
        partial(heat_map, 2, "Edges, interventions ignored"),
        "Many probabilities are near one half.",
    ),
    Part(
        "figure_9_slow",
        "Figure 9: local and Gibbs moves",
        partial(traces, "Local", "Gibbs"),
        "ln p(D | G) along four chains on tic-tac-toe.",
    ),
    Part(
        "figure_9_fast",
        "Figure 9: hybrid, global, orders",
        partial(traces, "Hybrid", "Global", "Order"),
        "ln p(D | G) along four chains on tic-tac-toe.",
    ),
    Part(
        "figure_9",
        "Figure 9 as numbers",
        ends,
        "Means of ln p(D | G) over the last 2,500 of 5,000 moves, the chains in order.",
    ),
)
"""All parts, in the order of the page."""
