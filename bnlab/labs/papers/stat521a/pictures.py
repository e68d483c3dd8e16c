"""The figures of the slides, drawn again."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.layouts import gridplot
from numpy.typing import NDArray

import bnlab as bn
from bnlab import plots
from bnlab.labs.papers.stat521a import (
    cells,
    chains,
    discovery,
    equivalence,
    forecasts,
    learning,
    sets,
)

Floats = NDArray[np.float64]

ROWS = "rows"
LEAST = 0.02  # of an edge that is drawn
ALONE = ("hill climbing", "GES", "MAP")


def members() -> Any:
    """The class of the cancer network, with each member's share under the order-modular prior.

    Examples
    --------
    >>> len(members().select_one({"name": "members"}).data["xs"])
    20
    """
    dags, log_orders = equivalence.everything()
    which = equivalence.true_class()
    shares, _ = equivalence.limits()
    counts = np.exp(log_orders[which]).round().astype(int)
    return plots.graph_gallery(
        bn.graphs.to_adjacency(dags[which]),
        bn.load_network("cancer").names,
        [f"{count} of 12: {share:.3f}" for count, share in zip(counts, shares, strict=True)],
        across=4,
        name="members",
        title="One class, four DAGs: orders, and share of the class",
        alt="Four equivalent networks of five nodes with 1, 2, 4 and 5 orders",
    )


def bias(found: equivalence.Bias, sizes: Sequence[int] = equivalence.SIZES, /) -> Any:
    """Probability of each member of the true class against the number of rows.

    Examples
    --------
    >>> picture = bias(equivalence.biases((10, 100), 1), (10, 100))
    >>> len(picture.select_one({"name": "bias"}).data["ys"])
    5
    """
    _, log_orders = equivalence.everything()
    counts = np.exp(log_orders[equivalence.true_class()]).round().astype(int)
    modular = {
        f"{count} order{'s' * bool(count > 1)}": (sizes, line)
        for count, line in zip(counts, found.modular.T, strict=True)
    }
    return plots.time_curves(
        {"each DAG alike": {"": (sizes, found.alike[:, 0])}, "order-modular,": modular},
        y_label="posterior probability of one DAG",
        y_range=(-0.01, 0.45),
        x_label=ROWS,
        name="bias",
        title="The four DAGs of the true class",
        alt="Posterior probability of each of four equivalent DAGs against rows: a quarter each, "
        "or one to five twelfths under the order-modular prior",
    )


def learned(found: learning.Distance, sizes: Sequence[int] = learning.SIZES, /) -> Any:
    """Distance from ALARM against rows, means over data sets.

    Examples
    --------
    >>> picture = learned(learning.distances((50, 100), 1, 100), (50, 100))
    >>> picture.select_one({"name": "learned"}).data["label"][0]
    'known structure'
    """
    lines = dict(zip(learning.WAYS, found.mean.mean(axis=0).T, strict=True))
    groups = {
        "known structure": ("known structure",),
        "learned:": ("tabu search", "GES"),
        "Chow-Liu tree": ("Chow-Liu tree",),
    }
    return plots.time_curves(
        {
            group: {"" if way == group else way: (sizes, lines[way]) for way in ways}
            for group, ways in groups.items()
        },
        y_label="KL(ALARM || learned), nats a row",
        y_range=(0.03, 10),
        y_axis_type="log",
        x_label=ROWS,
        name="learned",
        title="ALARM: parameters alone, or structure as well",
        alt="Distance from ALARM against rows: known structure lowest, then learned, then a tree",
    )


def traces(m: int, lines: Mapping[str, Floats], below: float = 300.0, /) -> Any:
    """ln p(D, G) along three chains, one point in ten; the axis ends so far below the top.

    Examples
    --------
    >>> traces(500, {"orders": np.arange(20.0)}).title.text
    'ALARM, 500 rows'
    """
    top = max(line.max() for line in lines.values())
    shown = slice(9, None, 10)
    places = np.arange(1, len(next(iter(lines.values()))) + 1)[shown]
    return plots.traces(
        places,
        {label: line[shown] for label, line in lines.items()},
        x_label="draws: 5000 local moves, or 20 of orders",
        y_label="ln p(D, G), nats",
        y_range=(top - below, top + below / 20),
        name=f"trace_{m}",
        title=f"ALARM, {m} rows",
        alt=f"ALARM, {m} rows: local moves from no edge end far below those from a search; orders "
        "reach the top",
    )


def scatter(runs: Mapping[str, Floats], names: Sequence[str], /, *, across: int = 2) -> Any:
    """Edges by one run against those by another, a picture for each label.

    Pairs that have less than 0.02 in both runs are left out.

    Examples
    --------
    >>> grid = scatter({"orders": np.full((2, 3, 3), 0.3)}, ["a", "b", "c"])
    >>> grid.children[0][0].title.text
    'orders: SAD 0.00'
    """
    pictures = []
    for place, (label, both) in enumerate(runs.items()):
        picture = plots.agreement(
            both[0].round(3),
            both[1].round(3),
            names,
            labels=("run 1", "run 2"),
            name=f"runs_{place}",
            title=f"{label}: SAD {chains.apart(both)[0]:.2f}",
            alt=f"Edge probabilities by two runs, {label}",
        )
        source = picture.select_one({"name": f"runs_{place}"})
        pairs = zip(source.data["first"], source.data["second"], strict=True)
        drawn = [i for i, pair in enumerate(pairs) if max(pair) >= LEAST]
        source.data = {key: [column[i] for i in drawn] for key, column in source.data.items()}
        picture.width = picture.height = 330
        pictures.append(picture)
    return gridplot(pictures, ncols=across, toolbar_location=None)


def roc(m: int, /) -> Any:
    """ROC curves of the T-cells under four priors.

    Examples
    --------
    >>> roc(90).title.text
    'T-cells, 90 rows'
    """
    curves = {
        label: bn.diagnostics.roc(edges, cells.truth()) for label, edges in cells.edges(m).items()
    }
    return plots.roc_curves(
        curves,
        name=f"roc_{m}",
        title=f"T-cells, {m:,} rows",
        alt=f"ROC curves of the edges of the T-cells from {m} rows under four priors",
    )


def strengths(kind: str, m: int, /) -> Any:
    """Area or evidence against the strength of beliefs, means over 20 subsets of m rows.

    Parameters
    ----------
    kind : "areas", or "evidence" in nats above that of no beliefs

    Examples
    --------
    >>> len(strengths("evidence", 90).select_one({"name": "evidence_90"}).data["ys"])
    3
    """
    values = cells.subsets()[kind][cells.SIZES.index(m)].mean(axis=0)
    blank = float(values[0, 0])
    y_label, y_range = "area under the ROC curve", (0.55, 1.01)
    if kind == "evidence":
        values, blank = values - blank, 0.0
        y_label, y_range = "ln p(D | strength), nats above none", (-40.0, 20.0)
    x = cells.STRENGTHS[1:]
    return plots.time_curves(
        {source: {"": (x, line[1:])} for source, line in zip(cells.SOURCES, values, strict=True)},
        {"no beliefs": blank},
        y_label=y_label,
        y_range=y_range,
        x_label="strength of the beliefs",
        name=f"{kind}_{m}",
        title=f"T-cells, {m:,} rows, mean of {cells.SUBSETS} subsets",
        alt=f"T-cells, {m} rows: {y_label} against the strength of right and of wrong beliefs",
    )


def found(kind: str, areas: Floats, /) -> Any:
    """Areas (sizes, data sets, METHODS, KINDS) of one of KINDS against rows, means of data sets.

    Examples
    --------
    >>> len(found("paths", discovery.discovered()).select_one({"name": "paths"}).data["ys"])
    6
    """
    means = areas.mean(axis=1)[..., discovery.KINDS.index(kind)]
    lines = {
        method: (discovery.SIZES, line)
        for method, line in zip(discovery.METHODS, means.T, strict=True)
    }
    groups = {
        "one DAG:": {method: lines[method] for method in ALONE},
        "class of the MAP": {"": lines["class of the MAP"]},
        "average over": {method: lines[method] for method in ("orders", "DAGs")},
    }
    return plots.time_curves(
        groups,
        y_label=f"area under the ROC curve, {kind}",
        y_range=(0.5, 1.01),
        x_label=ROWS,
        name=kind,
        title=f"Child structure, 20 nodes: {kind}",
        alt=f"Area under the ROC curve of {kind} against rows: averages above single DAGs",
    )


def predicted(losses: Floats, sizes: Sequence[int] = forecasts.SIZES, /) -> Any:
    """Losses (networks, sizes, WAYS) of predictions against rows, means over networks.

    Examples
    --------
    >>> losses, _ = forecasts.losses((20, 50), 1, 10)
    >>> len(predicted(losses, (20, 50)).select_one({"name": "predicted"}).data["ys"])
    6
    """
    lines = {
        way: (sizes, line) for way, line in zip(forecasts.WAYS, losses.mean(axis=0).T, strict=True)
    }
    groups = {
        "average over": forecasts.WAYS[:3],
        "one DAG:": forecasts.WAYS[3:5],
        "true structure": forecasts.WAYS[5:],
    }
    return plots.time_curves(
        {
            group: {"" if way == group else way: lines[way] for way in ways}
            for group, ways in groups.items()
        },
        y_label="KL(true || predicted), nats a row",
        y_range=(0.01, 3),
        y_axis_type="log",
        x_label=ROWS,
        name="predicted",
        title=f"Predictions, {losses.shape[0]} networks of {forecasts.NODES} nodes",
        alt="Loss of predictions against rows: averages below the best DAG while rows are few",
    )


def windows(seen: Mapping[str, Sequence[sets.Window]], /) -> Any:
    """Posterior probability in Occam's windows of FACTORS, found and exact, for each data set.

    Examples
    --------
    >>> picture = windows({"coronary": [sets.window("coronary", f) for f in sets.FACTORS]})
    >>> picture.select_one({"name": "windows"}).data["label"]
    ['coronary found', 'coronary exact']
    """
    groups = {
        name.replace("_", "-"): {
            "found": (sets.FACTORS, [one.mass for one in found]),
            "exact": (sets.FACTORS, [one.exact_mass for one in found]),
        }
        for name, found in seen.items()
    }
    return plots.time_curves(
        groups,
        y_label="posterior probability of the window",
        y_range=(0.0, 1.03),
        x_label="Bayes factor, best to last",
        name="windows",
        title="Occam's window: by beam search, and in truth",
        alt="Posterior probability in Occam's window against its Bayes factor, found and exact",
    )


def visits(name: str, errors: Mapping[str, Floats], /) -> Any:
    """Error of the edges against moves: visits counted, or distinct DAGs weighed.

    Examples
    --------
    >>> visits("wine", {"visits": np.ones((2, 6))}).title.text
    'wine: counted or weighed'
    """
    return plots.error_curve(
        sets.STOPS,
        {label: values.mean(axis=0) for label, values in errors.items()},
        {},
        x_label="local moves of one chain",
        y_label="SAD from the exact edges",
        y_range=(0.08, 24.0),
        name=f"visits_{name}",
        title=f"{name.replace('_', '-')}: counted or weighed",
        alt=f"{name}: error of the edges against moves, by counting visits and by weighing DAGs",
    )
