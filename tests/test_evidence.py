"""Evidence from draws: annealed, coupled, of orders and of DAGs; its error, and its refusals."""

import itertools
import math

import numpy as np
import oracles
import pytest
from tables import uneven_table

import bnlab as bn
from bnlab.exact import log_dag_prior_sum, log_prior_sum

RNG = np.random.default_rng


@pytest.fixture(scope="module")
def posterior():
    return bn.order_posterior(uneven_table())


def dag_evidence(table):
    """ln of the structure-modular evidence, over all DAGs."""
    log_z, _ = oracles.structure_modular_over_dags(oracles.families_of(table))
    log_prior = [
        {int(m): float(q) for m, q in zip(table.parents[v], table.log_prior[v], strict=True)}
        for v in range(table.n)
    ]
    return log_z - oracles.structure_modular_over_dags(log_prior)[0]


def tempered(table, betas, chains, draws, rng):
    """Draws as coupled chains give them, but independent at each temperature, by enumeration."""
    orders = list(itertools.permutations(range(table.n)))
    log_phi = oracles.families_of(table)
    log_w = np.array([oracles.order_log_weight(log_phi, order) for order in orders])
    trace = np.empty((chains, draws, len(betas)))
    for i, beta in enumerate(betas):
        p = np.exp(beta * (log_w - log_w.max()))
        chosen = rng.choice(len(orders), size=(chains, draws), p=p / p.sum())
        trace[:, :, i] = log_w[chosen]
    return bn.Draws(
        np.array(orders)[chosen],
        np.zeros((chains, draws)),
        trace[:, :, -1],
        "orders",
        "order-modular",
        table.names,
        stats={"beta": np.asarray(betas)},
        traces={"tempered": trace},
    )


# Annealed draws


def test_evidence_of_independent_weights_is_their_mean(posterior):
    draws = bn.anneal_orders(posterior.table, runs=50, rng=RNG(1), method=bn.AIS(bn.Linear(8)))
    estimate = bn.evidence_from(draws, table=posterior.table)
    weights = np.exp(draws.log_weight[0] - log_prior_sum(posterior.table))
    assert estimate.log_value == pytest.approx(math.log(weights.mean()))
    assert estimate.stderr == pytest.approx(weights.std(ddof=1) / math.sqrt(50) / weights.mean())
    assert estimate.kind == "unbiased"
    assert np.exp(estimate.trace) == pytest.approx(weights.cumsum() / np.arange(1, 51))
    same = bn.estimate_evidence(posterior.table, runs=50, rng=RNG(1), method=bn.AIS(bn.Linear(8)))
    assert (same.log_value, same.stderr) == (estimate.log_value, estimate.stderr)
    assert same.run.method == "AIS"


@pytest.mark.parametrize("method", [bn.SMC(10, bn.Linear(3)), bn.SMC(10, share=0.7)], ids=repr)
def test_particles_of_a_run_are_averaged_first(method, posterior):
    draws = bn.anneal_orders(posterior.table, runs=50, rng=RNG(1), method=method)
    estimate = bn.evidence_from(draws, table=posterior.table)
    weights = np.exp(draws.log_weight - log_prior_sum(posterior.table)).mean(axis=1)
    assert estimate.log_value == pytest.approx(math.log(weights.mean()))
    assert estimate.stderr == pytest.approx(weights.std(ddof=1) / math.sqrt(50) / weights.mean())
    assert estimate.trace.shape == (50,)
    assert estimate.kind == ("unbiased" if method.schedule else "asymptotic")


@pytest.mark.quick("Uniform()-AIS", "Fair()-AIS", "Fair()-SMC(particles=20")
@pytest.mark.parametrize(
    "method", [bn.AIS(bn.Linear(20)), bn.SMC(20, bn.Linear(5)), bn.SMC(50)], ids=repr
)
@pytest.mark.parametrize("prior", [bn.Uniform(), bn.Fair()], ids=repr)
def test_evidence_of_both_priors(method, prior):
    table = uneven_table(prior=prior)
    orders = bn.anneal_orders(table, runs=400, rng=RNG(2), method=method)
    exact = bn.order_posterior(table).log_evidence
    order_modular = bn.evidence_from(orders, table=table)
    assert abs(order_modular.log_value - exact) <= 4 * order_modular.stderr
    dags = bn.sample_dags(orders, draws=3, table=table, rng=RNG(3))
    of_dags = bn.evidence_from(dags, table=table)
    assert of_dags.log_value == pytest.approx(order_modular.log_value)
    assert of_dags.stderr == pytest.approx(order_modular.stderr)
    corrected = bn.evidence_from(bn.reweight_by_extensions(dags), table=table)
    assert abs(corrected.log_value - dag_evidence(table)) <= 4 * corrected.stderr
    assert corrected.kind == order_modular.kind
    assert corrected.stderr < 0.3
    assert abs(exact - dag_evidence(table)) > 0.3  # the two are told apart


def test_one_run_has_no_error_to_tell(posterior):
    draws = bn.anneal_orders(posterior.table, runs=1, rng=RNG(0), method=bn.SMC(5))
    assert bn.evidence_from(draws, table=posterior.table).stderr == math.inf
    stopped = bn.estimate_evidence(
        posterior.table, runs=2000, rng=RNG(0), method=bn.SMC(500), progress=lambda *_: False
    )
    assert stopped.run.stopped


# Coupled chains


@pytest.mark.parametrize("chains", [1, 2, 5])
def test_telescoping_is_the_formula(chains, posterior):
    betas = np.array([0, 0.3, 0.4, 1])
    draws = tempered(posterior.table, betas, chains, 30, RNG(1))
    estimate = bn.evidence_from(draws, table=posterior.table)
    total = math.log(24) - log_prior_sum(posterior.table)
    for i in range(3):
        ratios = np.exp((betas[i + 1] - betas[i]) * draws.traces["tempered"][..., i])
        total += math.log(ratios.mean())
    assert estimate.log_value == pytest.approx(total)
    assert estimate.trace[-1] == estimate.log_value
    assert estimate.trace[9] == pytest.approx(
        bn.evidence_from(draws.prefix(10), table=posterior.table).log_value
    )
    assert estimate.kind == "asymptotic"


@pytest.mark.quick("1-2000")
@pytest.mark.parametrize(("chains", "draws"), [(1, 2000), (8, 250)])
def test_the_jackknife_is_the_spread_of_repeats(chains, draws, posterior):
    betas = bn.Linear(6).betas
    estimates = [
        bn.evidence_from(
            tempered(posterior.table, betas, chains, draws, rng), table=posterior.table
        )
        for rng in RNG(2).spawn(200)
    ]
    values = np.array([estimate.log_value for estimate in estimates])
    spread = values.std()
    assert abs(values.mean() - posterior.log_evidence) < 4 * spread / math.sqrt(200) + spread / 10
    assert np.mean([e.stderr for e in estimates]) == pytest.approx(spread, rel=0.2)


def test_coupled_dags_reweighted(posterior):
    table = posterior.table
    orders = tempered(table, bn.Linear(8).betas, 6, 500, RNG(4))
    dags = bn.sample_dags(orders, draws=2, table=table, rng=RNG(5))
    same = bn.evidence_from(orders, table=table)
    assert bn.evidence_from(dags, table=table).log_value == pytest.approx(same.log_value)
    corrected = bn.evidence_from(bn.reweight_by_extensions(dags), table=table)
    assert abs(corrected.log_value - dag_evidence(table)) <= 4 * corrected.stderr < 0.5


def test_one_draw_of_one_chain_has_no_error_to_tell(posterior):
    draws = tempered(posterior.table, [0, 1], 1, 1, RNG(0))
    assert bn.evidence_from(draws, table=posterior.table).stderr == math.inf


@pytest.mark.parametrize("runs", [2, 8])
def test_coupled_chains_on_tic_tac_toe(runs, tic_tac_toe):
    method = bn.MC3(bn.Linear(12), draws=8000 // runs, burn_in=500)
    estimate = bn.estimate_evidence(tic_tac_toe.table, runs=runs, rng=RNG(3), method=method)
    assert abs(estimate.log_value - tic_tac_toe.log_evidence) < 0.1
    if runs == 8:
        assert abs(estimate.log_value - tic_tac_toe.log_evidence) <= 4 * estimate.stderr < 0.3
    assert estimate.trace.shape == (8000 // runs,)
    assert (estimate.rhat <= 1.01 and estimate.ess >= 400) == estimate.trusted
    assert f"R-hat {estimate.rhat:.3f}, ESS {estimate.ess:.0f}" in repr(estimate)


def test_short_coupled_chains_say_that_they_are_not_to_be_trusted(posterior):
    table = posterior.table
    few = bn.evidence_from(tempered(table, [0, 1], 4, 20, RNG(0)), table=table)
    assert not few.trusted and repr(few).endswith(": not to be trusted, run longer)")
    one = bn.evidence_from(tempered(table, [0, 1], 1, 2000, RNG(0)), table=table)
    assert math.isnan(one.rhat) and not one.trusted and "no R-hat" in repr(one)
    annealed = bn.estimate_evidence(table, runs=4, rng=RNG(0), method=bn.AIS(bn.Linear(9)))
    assert annealed.rhat is None and annealed.trusted and "R-hat" not in repr(annealed)


# Refusals


def test_draws_that_do_not_tell_the_evidence(posterior):
    table = posterior.table
    chains = bn.sample_orders(table, draws=5, burn_in=5, rng=RNG(0))
    dags = bn.sample_dags(posterior, draws=5, rng=RNG(0))
    for draws in (
        chains,
        bn.sample_orders(posterior, draws=5, rng=RNG(0)),
        dags,
        bn.reweight_by_extensions(dags),
        bn.sample_dags(chains, draws=2, table=table, rng=RNG(0)),
    ):
        with pytest.raises(ValueError, match="log_evidence"):
            bn.evidence_from(draws, table=table)


def test_the_table_must_fit(posterior):
    draws = bn.anneal_orders(posterior.table, runs=2, rng=RNG(0), method=bn.AIS(bn.Linear(3)))
    other = bn.score_families(bn.Data.from_arrays([[0, 1], [1, 0]]), bn.BDeu())
    with pytest.raises(
        ValueError, match="the scores are of the variables x0, x1, the draws of x0, x1, x2, x3"
    ):
        bn.evidence_from(draws, table=other)
    assert log_dag_prior_sum(posterior.table) < log_prior_sum(posterior.table)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"draws": 0}, "draws=0"), ({"schedule": 3}, "schedule=3")],
    ids=str,
)
def test_coupled_chains_check_their_settings(options, message):
    with pytest.raises(ValueError, match=message):
        bn.MC3(**options)
    with pytest.raises(ValueError, match="runs=1"):
        bn.estimate_evidence(uneven_table(), runs=1, rng=RNG(0))
