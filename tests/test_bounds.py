"""Bounds on the evidence and on edges: what they are made of, that they hold, what they refuse."""

import math
import pickle
from dataclasses import replace

import numpy as np
import oracles
import pytest
from tables import close, small_table

import bnlab as bn
from bnlab.exact import log_prior_sum

SHORT = bn.AIS(bn.Linear(12))


@pytest.fixture(scope="module")
def table():
    return small_table()


@pytest.fixture(scope="module")
def posterior(table):
    return bn.order_posterior(table)


def anneal(table, runs=90, method=SHORT, seed=1):
    return bn.anneal_orders(table, runs=runs, rng=np.random.default_rng(seed), method=method)


# From draws


def test_the_bound_from_draws_is_the_bound_from_weights(table):
    draws = anneal(table)
    bound = bn.lower_bound_from(draws, table=table, delta=0.1, bins=7)
    plain = bn.lower_bound(draws.log_weight, delta=0.1, bins=7)
    assert bound.log_value == pytest.approx(plain.log_value - log_prior_sum(table))
    assert bound.kind == "lower_bound"
    assert bound.confidence == 0.9
    again = bn.estimate_lower_bound(
        table, runs=90, rng=np.random.default_rng(1), method=SHORT, delta=0.1, bins=7
    )
    assert again.log_value == bound.log_value
    assert (again.trace == bound.trace).all()


def test_draws_of_one_run_count_once(table, posterior):
    """SMC with a schedule: a run is a group, however many its particles."""
    draws = anneal(table, runs=300, method=bn.SMC(particles=4, schedule=bn.Linear(5)))
    bound = bn.lower_bound_from(draws, table=table, bins=300)
    assert np.exp(bound.trace + log_prior_sum(table)) == pytest.approx(
        np.exp(draws.log_weight).mean(axis=1)
    )
    assert close(bound.trace, posterior.log_evidence)
    with pytest.raises(ValueError, match="runs=300 cannot fill bins=301"):
        bn.lower_bound_from(draws, table=table, bins=301)


@pytest.mark.parametrize("prior", [bn.Uniform(), bn.Fair()], ids=repr)
def test_weights_over_extensions_bound_the_structure_modular_evidence(prior):
    table = small_table(prior=prior)
    rng = np.random.default_rng(2)
    dags = bn.sample_dags(anneal(table, runs=3000), draws=2, rng=rng, table=table)
    log_z, _ = oracles.structure_modular_over_dags(oracles.families_of(table))
    evidence = log_z - bn.exact.log_dag_prior_sum(table)
    bound = bn.lower_bound_from(bn.reweight_by_extensions(dags), table=table, bins=3000)
    assert close(bound.trace, evidence)
    plain = bn.lower_bound_from(dags, table=table, bins=3000)
    assert close(plain.trace, bn.order_posterior(table).log_evidence)


def test_weights_that_do_not_average_to_z_bound_nothing(table, posterior):
    rng = np.random.default_rng(3)
    chains = bn.sample_orders(table, draws=9, burn_in=9, rng=rng)
    coupled = bn.sample_orders(table, draws=9, burn_in=9, rng=rng, schedule=bn.Linear(3))
    corrected = bn.reweight_by_extensions(bn.sample_dags(posterior, draws=9, rng=rng))
    for draws in (chains, coupled, corrected):
        with pytest.raises(ValueError, match="do not average to Z"):
            bn.lower_bound_from(draws, table=table)
    chosen = bn.SMC(particles=10)
    with pytest.raises(ValueError, match="chose themselves are biased"):
        bn.lower_bound_from(anneal(table, method=chosen), table=table)
    with pytest.raises(ValueError, match="chose themselves are biased"):
        bn.estimate_lower_bound(table, runs=9, rng=rng, method=chosen)
    with pytest.raises(ValueError, match="x3, x4, the draws of x0, x1, x2, x3: pass"):
        bn.lower_bound_from(anneal(table), table=small_table(n=5))


# Above, from one exact draw


def test_the_mean_inverse_weight_from_one_exact_draw_is_the_inverse_of_the_sum(table, posterior):
    """Over the start and its runs together; the two runs from one start depend on each other."""
    rng = np.random.default_rng(4)
    starts = bn.sample_orders(posterior, draws=300, rng=rng).values[0]
    bounds = [
        bn.estimate_upper_bound(table, runs=2, rng=rng, start=start, method=SHORT)
        for start in starts
    ]
    assert close([-bound.trace[0] for bound in bounds], -posterior.log_evidence)
    last = bounds[-1]
    assert last.kind == "upper_bound"
    assert last.log_value == pytest.approx(last.trace[0] - math.log(0.05))


def test_bounds_from_simulated_data_fail_no_more_often_than_promised():
    """200 data sets, each with the order that it comes with; 12 steps, so that weights vary."""
    failures = 0
    for rng in np.random.default_rng(5).spawn(200):
        joint = bn.sample_joint([2, 2, 3, 2, 2], m=40, rng=rng, max_parents=2)
        table = bn.score_families(joint.data, bn.BDeu(), max_parents=2)
        bound = bn.estimate_upper_bound(
            table, runs=5, rng=rng, start=joint.order, method=SHORT, delta=0.3
        )
        failures += bound.log_value < bn.order_posterior(table).log_evidence
    assert failures <= 200 * 0.3


def test_more_variables_than_the_exact_posterior_reaches():
    rng = np.random.default_rng(6)
    joint = bn.sample_joint([2] * 30, m=60, rng=rng, max_parents=2)
    table = bn.score_families(joint.data, bn.BDeu(), max_parents=2)
    method = bn.AIS(bn.Linear(3000))
    low = bn.estimate_lower_bound(table, runs=18, rng=rng, method=method)
    high = bn.estimate_upper_bound(table, runs=18, rng=rng, method=method, start=joint.order)
    assert low.log_value < high.log_value < low.log_value + 20


def test_target_start_and_bins_must_fit(table, posterior):
    def bound(target, **options):
        bn.estimate_upper_bound(target, runs=9, rng=np.random.default_rng(0), **options)

    order = [2, 0, 3, 1]
    for target, options, message in [
        (posterior, {"start": order}, "leave start= out"),
        (table, {}, "sample_joint"),
        (table, {"start": order, "bins": 9}, "bins=9: all runs depend on the one start"),
        (table, {"start": [0, 1, 2]}, "no order of the nodes 0..3"),
        (table, {"start": [0, 1, 2, 2]}, "no order of the nodes 0..3"),
        (None, {}, "target=None: pass an OrderPosterior or a ScoreTable"),
        (posterior, {"method": bn.SMC()}, "only runs of AIS"),
    ]:
        with pytest.raises(ValueError, match=message):
            bound(target, **options)


# Edges


def edge_bounds_twin(draws, table, upper, delta, bins):
    """The definition, order by order."""
    log_phi, n = oracles.families_of(table), table.n
    log_u = upper.log_value + log_prior_sum(table)
    low, high = np.full((n, n), math.inf), np.full((n, n), -math.inf)
    weights = np.exp(draws.log_weight[0] - log_u)
    for rows in np.array_split(np.arange(weights.size), bins):
        present, absent = np.zeros((n, n)), np.zeros((n, n))
        for t in rows:
            order = draws.values[0, t].tolist()
            for v in range(n):
                before = sum(1 << u for u in order[: order.index(v)])
                p = np.asarray(oracles.edges_given_predecessors(log_phi[v], before, n))
                present[:, v] += weights[t] * p / rows.size
                absent[:, v] += weights[t] * (1 - p) / rows.size
        factor = (delta / 2) ** (1 / bins)
        low, high = np.minimum(low, factor * present), np.maximum(high, 1 - factor * absent)
    np.fill_diagonal(high, 0)
    return low, high


def test_edge_bounds_are_their_definition(table, posterior):
    upper = bn.Estimate(posterior.log_evidence + 0.1, 0.0, "upper_bound", 0.9)
    draws = anneal(table, runs=25)
    bounds = bn.bound_edges(draws, table=table, upper=upper, delta=0.2, bins=4)
    low, high = edge_bounds_twin(draws, table, upper, 0.2, 4)
    assert bounds.low == pytest.approx(low, abs=1e-12)
    assert bounds.high == pytest.approx(high, abs=1e-12)
    assert bounds.confidence == pytest.approx(0.7)
    assert bounds.prior == "order-modular"
    copy = pickle.loads(pickle.dumps(bounds))
    with pytest.raises(ValueError, match="read-only"):
        copy.low[0, 1] = 0.5


def test_edge_bounds_average_the_particles_of_a_run(table, posterior):
    """With as many bins as runs, the twin on runs whose particles are averaged by hand."""
    upper = bn.Estimate(posterior.log_evidence, 0.0, "exact")
    method = bn.SMC(particles=5, schedule=bn.Linear(8))
    draws = anneal(table, runs=6, method=method)
    bounds = bn.bound_edges(draws, table=table, upper=upper, bins=6)
    low, high = np.full((4, 4), math.inf), np.full((4, 4), -math.inf)
    for run in range(6):
        one = bn.Draws(
            draws.values[run : run + 1],
            draws.log_weight[run : run + 1],
            draws.log_target[run : run + 1],
            "orders",
            "order-modular",
            draws.names,
        )
        # A single bin has factor delta / 2; six have its sixth root.
        ends = edge_bounds_twin(one, table, upper, 2 * (0.05 / 2) ** (1 / 6), 1)
        low, high = np.minimum(low, ends[0]), np.maximum(high, ends[1])
    assert bounds.low == pytest.approx(low, abs=1e-12)
    assert bounds.high == pytest.approx(high, abs=1e-12)


def test_edge_intervals_fail_no_more_often_than_promised():
    """200 repeats of 18 runs of few steps at delta = 0.3, above and below each."""
    posterior = bn.order_posterior(small_table(n=5, m=40))
    low = anneal(posterior.table, runs=200 * 18)
    high = bn.estimate_upper_bound(
        posterior, runs=200 * 18, rng=np.random.default_rng(8), method=SHORT, bins=200 * 18
    )
    failures = np.zeros((5, 5))
    for repeat in range(200):
        rows = slice(18 * repeat, 18 * repeat + 18)
        upper = bn.upper_bound(high.trace[rows], delta=0.3)
        draws = bn.Draws(
            low.values[:, rows],
            low.log_weight[:, rows],
            low.log_target[:, rows],
            "orders",
            "order-modular",
            low.names,
            stats=low.stats,
            traces={"group": low.groups[:, rows]},
        )
        bounds = bn.bound_edges(draws, table=posterior.table, upper=upper, delta=0.3)
        failures += (posterior.edges < bounds.low - 1e-12) | (posterior.edges > bounds.high + 1e-12)
    assert failures.max() <= 200 * 0.6


def test_edge_intervals_shrink_with_steps_and_hold_on_tic_tac_toe():
    posterior = bn.order_posterior(bn.score_families(bn.load_dataset("tic_tac_toe"), bn.BDeu()))
    widths = []
    for steps in (1000, 16_000):
        method, rng = bn.AIS(bn.Linear(steps)), np.random.default_rng(9)
        upper = bn.estimate_upper_bound(posterior, runs=90, rng=rng, method=method)
        draws = bn.anneal_orders(posterior.table, runs=90, rng=rng, method=method)
        bounds = bn.bound_edges(draws, table=posterior.table, upper=upper)
        assert (bounds.low <= posterior.edges).all()
        assert (posterior.edges <= bounds.high).all()
        assert bounds.confidence == pytest.approx(0.9)
        widths.append((bounds.high - bounds.low).sum() / 90)
    assert widths[1] < 0.8 < widths[0]


def test_edges_that_constraints_decide(table):
    """Required edges have high = 1, forbidden ones low = 0, whatever the weights."""
    table = small_table(required=[(0, 1)], forbidden=[(2, 3)])
    upper = bn.Estimate(bn.order_posterior(table).log_evidence, 0.0, "exact")
    bounds = bn.bound_edges(anneal(table, method=bn.AIS(bn.Linear(200))), table=table, upper=upper)
    assert bounds.high[0, 1] == 1
    assert bounds.low[0, 1] > 0.4
    assert bounds.low[2, 3] == bounds.low[1, 0] == 0
    assert bounds.high[2, 3] < 0.6
    assert (np.diagonal(bounds.high) == 0).all()


def test_edge_bounds_say_what_they_need(table, posterior):
    exact = bn.Estimate(posterior.log_evidence, 0.0, "exact")
    draws, rng = anneal(table), np.random.default_rng(0)
    below = bn.lower_bound_from(draws, table=table)
    for given, upper, options, message in [
        (draws, below, {}, "upper is lower_bound"),
        (draws, exact, {"delta": 2}, "delta=2"),
        (draws, bn.upper_bound(np.zeros(9), delta=0.5), {"delta": 0.5}, "leave none"),
        (draws, exact, {"bins": 91}, "runs=90 cannot fill bins=91"),
        (bn.sample_orders(posterior, draws=9, rng=rng), exact, {}, "do not average to Z"),
        (bn.sample_dags(posterior, draws=9, rng=rng), exact, {}, "orders"),
        (draws, exact, {"table": small_table(n=5)}, "x3, x4, the orders of x0, x1, x2, x3: pass"),
    ]:
        with pytest.raises(ValueError, match=message):
            bn.bound_edges(given, upper=upper, **{"table": table, **options})


# What has no weight


def deterministic_table(m):
    """Two equal variables: whichever comes first pays for all rows."""
    score = -m * math.log(2)
    table = small_table(n=2, k=1)
    log_score = np.where(table.parents == 0, score, 0.0)
    return replace(table, log_score=log_score)


@pytest.mark.parametrize("method", [SHORT, bn.SMC(10)], ids=["AIS", "SMC"])
def test_weights_below_the_least_are_refused(method):
    assert anneal(deterministic_table(200_000), 3, method).log_target.max() < -138_000
    with pytest.raises(ValueError, match="no weight within"):
        anneal(deterministic_table(300_000), 3, method)
    with pytest.raises(ValueError, match="no weight within"):
        bn.estimate_lower_bound(
            deterministic_table(300_000), runs=9, rng=np.random.default_rng(1), method=SHORT
        )


def test_a_start_that_has_no_dag_bounds_nothing():
    table = small_table(required=[(0, 1)])
    with pytest.raises(ValueError, match="has no DAG"):
        bn.estimate_upper_bound(
            table, start=[1, 0, 2, 3], runs=3, rng=np.random.default_rng(1), method=SHORT
        )


def test_log_weights_that_bound_nothing_are_refused():
    for bound, weights in [
        (bn.lower_bound, [0.0, math.nan]),
        (bn.lower_bound, [0.0, math.inf]),
        (bn.upper_bound, [math.nan, 0.0]),
        (bn.upper_bound, [0.0, -math.inf]),
    ]:
        with pytest.raises(ValueError, match="nan or infinite"):
            bound(weights, bins=1)
    assert bn.lower_bound([0.0, -math.inf], bins=2).log_value == -math.inf


# Refused at once


@pytest.mark.parametrize("estimate", [bn.estimate_evidence, bn.estimate_lower_bound])
def test_a_prior_that_cannot_be_summed_is_refused_before_the_runs(estimate):
    table, told = small_table(n=45, k=1, required=[(0, 1)]), []
    with pytest.raises(ValueError, match="n=45: the exact DP"):
        estimate(
            table,
            runs=9,
            rng=np.random.default_rng(1),
            method=SHORT,
            progress=lambda done, total, snapshot: told.append(done),
        )
    assert not told


def test_too_many_runs_in_reverse_are_refused(table):
    with pytest.raises(ValueError, match=r"runs .* make fewer at a time"):
        bn.estimate_upper_bound(
            table, start=[0, 1, 2, 3], runs=10**12, rng=np.random.default_rng(1)
        )


@pytest.mark.parametrize(
    "estimate", [bn.anneal_orders, bn.estimate_evidence, bn.estimate_lower_bound]
)
def test_a_posterior_is_no_score_table(posterior, estimate):
    with pytest.raises(ValueError, match="pass a ScoreTable"):
        estimate(posterior, runs=9, rng=np.random.default_rng(1))
