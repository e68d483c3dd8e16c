"""Tables and figures of [NiinimakiKoivisto2013]; all is made just now, by one of two plans."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from bokeh.layouts import row

import bnlab as bn
from bnlab import plots
from bnlab.checks import Floats
from bnlab.papers.nk2013 import study
from bnlab.papers.nk2013.study import DAGS, METHODS, SIZES, Counts, count
from bnlab.papers.page import Page, Rows
from bnlab.plots.looks import Axis

page = Page()

SHOWN = (8.0, 3.0)  # nats below and above the largest of the last medians, or the exact value
GROUPS = {"AIS": "AIS", "MC3": "MC³"}
Lines = dict[str, tuple[Floats, Floats]]
Curves = dict[str, Lines]


@cache
def exact() -> bn.OrderPosterior:
    """Return the exact posterior of MUSHROOM."""
    return bn.order_posterior(study.case("MUSHROOM").table)


@cache
def upper() -> bn.Estimate:
    """Return an upper bound on the evidence of MUSHROOM, from exact draws."""
    method = bn.AIS(bn.Linear(exact().table.n * 1000))
    return bn.estimate_upper_bound(exact(), runs=18, rng=np.random.default_rng(1), method=method)


@page.figure("figure_1_k{k}", each=[{"k": 3}, {"k": 6}])
def figure_1(k: int, plan: study.Plan = study.LAB, sizes: tuple[int, ...] = SIZES) -> Any:
    """Figure 1, in-degree {k}: counting linear extensions. Times and numbers of sets; lines end
    where a DAG was refused."""
    found = count(k, max_states=plan.max_states, sizes=sizes)
    shown = {method: np.clip(found.states[method], 1, found.max_states) for method in METHODS}
    time_title = f"Time of an exact count, in-degree at most {k}"
    sets_title = f"Sets in its table, in-degree at most {k}"
    return row(
        _growth(found, sizes, found.seconds, time_title, Axis("time (seconds)", (1e-5, 3e3))),
        _growth(found, sizes, shown, sets_title, Axis("number of sets", (1, 3e9))),
    )


def _growth(
    found: Counts, sizes: Sequence[int], values: Mapping[str, Floats], title: str, y: Axis
) -> Any:
    n = np.array(sizes, float)
    curves, counted, others = Lines(), Lines(), Lines()
    # A line has the colour of its points, which says enough: its name is blank.
    for method, shift in zip(METHODS, (0.4, -0.4), strict=True):
        # Sizes with a refusal have no mean, and come last: more nodes, more sets.
        refused = np.isinf(found.states[method])
        whole = ~refused.any(axis=1)
        last = whole.size if whole.all() else int(np.argmin(whole))
        if last:
            curves[" " * (1 + len(curves))] = (n[:last], values[method][:last].mean(axis=1))
        places = np.broadcast_to(n[:, None] + shift, refused.shape)
        counted[method] = (places[~refused], values[method][~refused])
        others[f"{method}: refused"] = (places[refused], values[method][refused])
    return plots.growth(
        curves,
        {**counted, **others},
        x=Axis("number of variables n", (6, 67)),
        y=y,
        title=title,
        alt=f"{title}: points for each of {DAGS} DAGs and a line at the mean, for numbers of nodes "
        "from 10 to 63",
    )


@page.table(
    "figure_1",
    *("k", "n", "ideals, median", "refused", "components, median", f"refused of {DAGS}"),
    form=",.0f",
)
def states(plan: study.Plan = study.LAB) -> Rows:
    """Figure 1 as numbers. Sets kept, of nine random DAGs each; refused: more than 100,000, or what
    the plan says."""
    for k in (3, 6):
        found = count(k, max_states=plan.max_states, sizes=SIZES)
        columns = [of(method) for method in METHODS for of in (found.median_states, found.refused)]
        yield from ((k, *line) for line in zip(SIZES, *columns, strict=True))


@page.figure("figure_2_{name}", each=[{"name": name} for name in study.NAMES])
def figure_2(name: str, plan: study.Plan = study.LAB) -> Any:
    """Figure 2: {name}. Evidence against processor time of one run, six samplers and a lower
    bound."""
    levels = {}
    if name == "MUSHROOM":
        levels = {"exact": exact().log_evidence, "upper bound": upper().log_value}
    return evidence_curves(name, study.race(study.case(name), plan), levels)


def evidence_curves(
    name: str,
    samplers: Sequence[study.Sampler],
    levels: Mapping[str, float],
    /,
    *,
    bound: str = "AISL",
    what: str = "Evidence",
) -> Any:
    """Draw medians of nine runs against time, and the lower bound of AIS with the medium r."""
    data = study.case(name)
    # Colours go by place: the bound keeps its own where no MC3 comes before it.
    groups: Curves = {group: {} for group in GROUPS.values()}
    last = []
    for sampler in samplers:
        median = np.median(study.evidence(sampler, data.table), axis=0)
        groups[GROUPS[sampler.method]][f"r = {sampler.r:,}"] = (study.seconds(sampler), median)
        if sampler.method == "AIS":
            last.append(float(median[-1]))
    chosen = study.medium(samplers)
    bounds = study.lower_bounds(chosen, data.table)
    groups[bound] = {f"r = {chosen.r:,}": (study.seconds(chosen), bounds)}
    middle = next(iter(levels.values())) if levels else max(last)
    title = f"{what} of {data.label}"
    return plots.time_curves(
        groups,
        levels,
        y=Axis("ln p(D), nats", (middle - SHOWN[0], middle + SHOWN[1])),
        title=title,
        alt=f"{title}: medians of nine runs of each sampler and a lower bound, against time",
    )


ESTIMATED = ("data", "method", "r", "ln p(D), median", "lowest run", "highest run")


def _estimates(name: str, samplers: Sequence[study.Sampler], label: str) -> Rows:
    table = study.case(name).table
    for each in samplers:
        last = study.evidence(each, table)[:, -1]
        yield name, each.method, each.r, np.median(last), last.min(), last.max()
    middle = study.medium(samplers)
    yield name, label, middle.r, study.lower_bounds(middle, table)[-1], "", ""


@page.table("figure_2", *ESTIMATED, form=".2f")
def estimates(plan: study.Plan = study.LAB) -> Rows:
    """Figure 2 as numbers. ln of the order-modular evidence, nats; nine runs each."""
    for name in study.NAMES:
        yield from _estimates(name, study.race(study.case(name), plan), "lower bound")


@page.table("hundred", "r", "ln p(D)", "standard error", "lower bound", form=".2f")
def hundred(steps: Sequence[int] = (925, 3_700)) -> Rows:
    """A bound from a hundred samples. ALARM, by steps r, nats."""
    table = study.case("ALARM").table
    for r in steps:
        rng, method = np.random.default_rng(r), bn.AIS(bn.Linear(r))
        draws = bn.anneal_orders(table, runs=100, rng=rng, method=method)
        found, bound = bn.evidence_from(draws, table=table), bn.lower_bound_from(draws, table=table)
        yield r, found.log_value, found.stderr, bound.log_value


@page.table("sides", "lower bound", "exact", "upper bound", form=".2f")
def sides(plan: study.Plan = study.LAB) -> Rows:
    """From above as well. MUSHROOM, ln of the evidence, nats."""
    draws = study.race(study.case("MUSHROOM"), plan)[1].draws
    lower = bn.lower_bound_from(draws, table=exact().table)
    yield lower.log_value, exact().log_evidence, upper().log_value


@page.figure("figure_3_left_{name}", each=[{"name": name} for name in study.NAMES])
def figure_3_left(name: str, plan: study.Plan = study.LAB) -> Any:
    """Figure 3, left: {name}. Evidence with every DAG counted once, against processor time of one
    run."""
    runs = study.without_bias(study.case(name), plan)
    return evidence_curves(name, runs, {}, bound="cAISL", what="Corrected evidence")


@page.table("figure_3_left", *ESTIMATED, form=".2f")
def corrected_estimates(plan: study.Plan = study.LAB) -> Rows:
    """Figure 3, left, as numbers. ln of the evidence with every DAG counted once, nats; nine runs
    each."""
    for name in study.NAMES:
        yield from _estimates(name, study.without_bias(study.case(name), plan), "lower bound, DAGs")


@page.table("board", "estimate", "standard error", "known", form=".2f")
def board() -> Rows:
    """The correction where the sum is known. Tic-tac-toe, nats."""
    table = study.tic_tac_toe()
    found = study.corrected(study.annealed(table, 9580, 191_600), table, each=10)
    estimate = bn.evidence_from(found.draws, table=table)
    log_z = estimate.log_value + bn.exact.log_dag_prior_sum(table)
    yield log_z, estimate.stderr, study.TIC_TAC_TOE_LOG_Z


@cache
def edge_curves(plan: study.Plan) -> list[Floats]:
    """Return the largest error of an edge of MUSHROOM, for each sampler, (runs, counts)."""
    mushroom = study.case("MUSHROOM")
    return [study.edge_errors(s, mushroom.table, exact().edges) for s in study.race(mushroom, plan)]


def chosen(plan: study.Plan) -> tuple[int, int]:
    """Return the best AIS and the best MC3 by the errors of edges, as places among samplers."""
    steps, curves = len(study.without_bias(study.case("MUSHROOM"), plan)), edge_curves(plan)
    return study.best(curves[:steps]), steps + study.best(curves[steps:])


@page.figure("figure_3_right")
def figure_3_right(plan: study.Plan = study.LAB) -> Any:
    """Figure 3, right: errors of edges. MUSHROOM, AIS and MC³ each with its best r, against the
    exact probabilities."""
    mushroom = study.case("MUSHROOM")
    curves = [("", study.race(mushroom, plan)[i], edge_curves(plan)[i]) for i in chosen(plan)]
    title = f"Edges of {mushroom.label}, not corrected"
    return edge_figure(curves, title=title, y_label="largest absolute error")


@page.table("figure_3_right_numbers", "method", "r", "largest absolute error", form=".3f")
def edges(plan: study.Plan = study.LAB) -> Rows:
    """Figure 3, right, as numbers. Largest absolute error of an edge at the end, median of nine
    runs."""
    for s, error in zip(study.race(study.case("MUSHROOM"), plan), edge_curves(plan), strict=True):
        yield s.method, s.r, np.median(error[:, -1])


@page.figure("agreement")
def agreement(plan: study.Plan = study.LAB) -> Any:
    """In place of the corrected errors: agreement of runs. Largest difference of an edge between
    one run and the eight others."""
    (ais, mc3), mushroom = chosen(plan), study.case("MUSHROOM")
    known = study.race(mushroom, plan)
    both = [
        ("", known[ais]),
        ("corrected", study.without_bias(mushroom, plan)[ais]),
        ("", known[mc3]),
        ("corrected", study.corrected(known[mc3], mushroom.table)),
    ]
    curves = [(label, s, study.disagreement(s, mushroom.table)) for label, s in both]
    title = f"Edges of {mushroom.label}, one run against eight"
    return edge_figure(curves, title=title, y_label="largest difference")


def edge_figure(
    curves: Sequence[tuple[str, study.Sampler, Floats]], /, *, title: str, y_label: str
) -> Any:
    """Draw medians of nine runs' largest differences of edges (runs, counts), by sampler."""
    groups: Curves = {group: {} for group in GROUPS.values()}
    for label, sampler, values in curves:
        curve = study.seconds(sampler, study.EDGE_POINTS), np.median(values, axis=0)
        groups[GROUPS[sampler.method]][f"r = {sampler.r:,} {label}".strip()] = curve
    return plots.time_curves(
        groups,
        y=Axis(y_label, (0.03, 1.2), log=True),
        title=title,
        alt=f"{title}: medians of nine runs of AIS and MC3, against time",
    )


@page.table("five", "draws", "from order-modular", "from uniform over DAGs", form=".3f")
def five(name: str = "MUSHROOM") -> Rows:
    """Five variables, where all DAGs can be listed. Largest error of an edge from the exact answers
    under both priors."""
    small = study.few(study.case(name))
    orders = study.annealed(small.table, 500, 500_000)
    for label, found in (("orders", orders), ("corrected", study.corrected(orders, small.table))):
        edges = bn.features.edges(found.draws, table=small.table)
        gaps = [bn.diagnostics.max_error(edges, e) for e in (small.edges_by_orders, small.edges)]
        yield (label, *gaps)
