"""The parts of [NiinimakiKoivisto2013], by the short plan: everything is made just now."""

from functools import cache, partial
from typing import Any

import numpy as np

import bnlab as bn
from bnlab.labs.papers.contents import Part, Table, table
from bnlab.labs.papers.nk2013 import pictures
from bnlab.labs.papers.nk2013.cases import NAMES, case
from bnlab.labs.papers.nk2013.counting import COMPONENTS, IDEALS, SIZES, Counts, count, figure_1
from bnlab.labs.papers.nk2013.curves import best, disagreement, edge_errors, evidence, lower_bounds
from bnlab.labs.papers.nk2013.samplers import LAB, Sampler, annealed, corrected, race
from bnlab.labs.papers.nk2013.small import TIC_TAC_TOE_LOG_Z, few, tic_tac_toe

EACH = {"MUSHROOM": 10, "ALARM": 1, "PROMOTERS": 1}
"""DAGs given each order, as in print."""


@cache
def counts(max_parents: int) -> Counts:
    """Linear extensions of random DAGs."""
    return count(max_parents, max_states=LAB.max_states)


@cache
def samplers(name: str) -> list[Sampler]:
    """The six samplers on a data set: AIS, then MC3."""
    return race(case(name), LAB)


@cache
def without_bias(name: str) -> list[Sampler]:
    """AIS with DAGs given the orders, weighed by 1 / l(G)."""
    table = case(name).table
    return [corrected(s, table, each=EACH[name]) for s in samplers(name) if s.method == "AIS"]


@cache
def exact() -> bn.OrderPosterior:
    """The exact posterior of MUSHROOM."""
    return bn.order_posterior(case("MUSHROOM").table)


@cache
def upper() -> bn.Estimate:
    """An upper bound on the evidence of MUSHROOM, from exact draws."""
    method = bn.AIS(bn.Linear(exact().table.n * 1000))
    return bn.estimate_upper_bound(exact(), runs=18, rng=np.random.default_rng(1), method=method)


def speeds(max_parents: int) -> Any:
    """Figure 1 for one in-degree."""
    return figure_1(counts(max_parents))


def states() -> Table:
    """How many sets a count of linear extensions keeps, and how many are refused."""
    rows = []
    for k in (3, 6):
        found = [
            column
            for method in (IDEALS, COMPONENTS)
            for column in (counts(k).median_states(method), counts(k).refused(method))
        ]
        rows += [(k, *row) for row in zip(SIZES, *found, strict=True)]
    header = ("k", "n", "ideals, median", "refused", "components, median", "refused of 9")
    return table(header, rows)


def estimates(*, bias: bool) -> Table:
    """Figures 2 and 3, left, as numbers: nine runs of each sampler, and the lower bound."""
    rows: list[tuple[Any, ...]] = []
    for name in NAMES:
        scores, runs = case(name).table, samplers(name) if bias else without_bias(name)
        for each in runs:
            last = evidence(each, scores)[:, -1]
            rows.append((name, each.method, each.r, np.median(last), last.min(), last.max()))
        middle = pictures.medium(runs)
        bound = lower_bounds(middle, scores)[-1]
        rows.append((name, "lower bound" if bias else "lower bound, DAGs", middle.r, bound, "", ""))
    return table(("data", "method", "r", "ln p(D), median", "lowest run", "highest run"), rows)


def hundred() -> Table:
    """A bound from a hundred samples of ALARM, by steps of the schedule."""
    rows = []
    for r in (925, 3_700):
        rng, method = np.random.default_rng(r), bn.AIS(bn.Linear(r))
        draws = bn.anneal_orders(case("ALARM").table, runs=100, rng=rng, method=method)
        found = bn.evidence_from(draws, table=case("ALARM").table)
        bound = bn.lower_bound_from(draws, table=case("ALARM").table)
        rows.append((r, found.log_value, found.stderr, bound.log_value))
    return table(("r", "ln p(D)", "standard error", "lower bound"), rows)


def sides() -> Table:
    """MUSHROOM from both sides, and its exact evidence."""
    lower = bn.lower_bound_from(samplers("MUSHROOM")[1].draws, table=exact().table)
    row = (lower.log_value, exact().log_evidence, upper().log_value)
    return table(("lower bound", "exact", "upper bound"), [row])


def board() -> Table:
    """ln of the sum over all DAGs of tic-tac-toe, estimated and known."""
    scores = tic_tac_toe()
    found = corrected(annealed(scores, 9580, 191_600), scores, each=10)
    estimate = bn.evidence_from(found.draws, table=scores)
    log_z = estimate.log_value + bn.exact.log_dag_prior_sum(scores)
    row = (log_z, estimate.stderr, TIC_TAC_TOE_LOG_Z)
    return table(("estimate", "standard error", "known"), [row])


def five() -> Table:
    """Largest error of an edge on five variables, before and after the correction."""
    small = few(case("MUSHROOM"))
    orders = annealed(small.table, 500, 500_000)
    rows = []
    for label, found in (("orders", orders), ("corrected", corrected(orders, small.table))):
        edges = bn.features.edges(found.draws, table=small.table)
        gaps = [bn.diagnostics.max_error(edges, e) for e in (small.edges_by_orders, small.edges)]
        rows.append((label, *gaps))
    return table(("draws", "from order-modular", "from uniform over DAGs"), rows)


@cache
def edge_curves() -> list[Any]:
    """Largest error of an edge of MUSHROOM, for each sampler, (runs, counts)."""
    scores = case("MUSHROOM").table
    return [edge_errors(s, scores, exact().edges) for s in samplers("MUSHROOM")]


def edges() -> Table:
    """Figure 3, right, as numbers: median over nine runs, at their end."""
    pairs = zip(samplers("MUSHROOM"), edge_curves(), strict=True)
    rows = [(s.method, s.r, np.median(error[:, -1])) for s, error in pairs]
    return table(("method", "r", "largest absolute error"), rows)


def chosen() -> tuple[int, int]:
    """The best AIS and the best MC3 by the errors of edges, as places in the list of samplers."""
    steps = len(without_bias("MUSHROOM"))
    return best(edge_curves()[:steps]), steps + best(edge_curves()[steps:])


def figure_2(name: str) -> Any:
    """Evidence against time."""
    levels = {}
    if name == "MUSHROOM":
        levels = {"exact": exact().log_evidence, "upper bound": upper().log_value}
    return pictures.figure_2(case(name), samplers(name), levels)


def figure_3_left(name: str) -> Any:
    """Corrected evidence against time."""
    what = "Corrected evidence"
    return pictures.figure_2(case(name), without_bias(name), bound="cAISL", what=what)


def figure_3_right() -> Any:
    """Largest error of an edge against time."""
    curves = [("", samplers("MUSHROOM")[i], edge_curves()[i]) for i in chosen()]
    title = f"Edges of {case('MUSHROOM').label}, not corrected"
    return pictures.figure_3_right(curves, title=title, y_label="largest absolute error")


def agreement() -> Any:
    """How far a run is from the eight others, with and without the correction."""
    (ais, mc3), scores = chosen(), case("MUSHROOM").table
    known = samplers("MUSHROOM")
    both = [
        ("", known[ais]),
        ("corrected", without_bias("MUSHROOM")[ais]),
        ("", known[mc3]),
        ("corrected", corrected(known[mc3], scores)),
    ]
    curves = [(label, s, disagreement(s, scores)) for label, s in both]
    title = f"Edges of {case('MUSHROOM').label}, one run against eight"
    return pictures.figure_3_right(curves, title=title, y_label="largest difference")


PARTS = (
    *(
        Part(
            f"figure_1_k{k}",
            f"Figure 1, in-degree {k}: counting linear extensions",
            partial(speeds, k),
            "Times and numbers of sets; lines end where a DAG was refused.",
        )
        for k in (3, 6)
    ),
    Part(
        "figure_1",
        "Figure 1 as numbers",
        states,
        f"Sets kept, of nine random DAGs each; refused: more than {LAB.max_states:,}.",
    ),
    *(
        Part(
            f"figure_2_{name.lower()}",
            f"Figure 2: {name}",
            partial(figure_2, name),
            "Evidence against processor time of one run, six samplers and a lower bound.",
        )
        for name in NAMES
    ),
    Part(
        "figure_2",
        "Figure 2 as numbers",
        partial(estimates, bias=True),
        "ln of the order-modular evidence, nats; nine runs each.",
    ),
    Part("hundred", "A bound from a hundred samples", hundred, "ALARM, by steps r, nats."),
    Part("sides", "From above as well", sides, "MUSHROOM, ln of the evidence, nats."),
    *(
        Part(
            f"figure_3_left_{name.lower()}",
            f"Figure 3, left: {name}",
            partial(figure_3_left, name),
            "Evidence with every DAG counted once, against processor time of one run.",
        )
        for name in NAMES
    ),
    Part(
        "figure_3_left",
        "Figure 3, left, as numbers",
        partial(estimates, bias=False),
        "ln of the evidence with every DAG counted once, nats; nine runs each.",
    ),
    Part("board", "The correction where the sum is known", board, "Tic-tac-toe, nats."),
    Part(
        "figure_3_right",
        "Figure 3, right: errors of edges",
        figure_3_right,
        "MUSHROOM, AIS and MC³ each with its best r, against the exact probabilities.",
    ),
    Part(
        "figure_3_right_numbers",
        "Figure 3, right, as numbers",
        edges,
        "Largest absolute error of an edge at the end, median of nine runs.",
    ),
    Part(
        "agreement",
        "In place of the corrected errors: agreement of runs",
        agreement,
        "Largest difference of an edge between one run and the eight others.",
    ),
    Part(
        "five",
        "Five variables, where all DAGs can be listed",
        five,
        "Largest error of an edge from the exact answers under both priors.",
    ),
)
"""All parts, in the order of the page."""
