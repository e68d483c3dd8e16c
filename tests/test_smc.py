"""Sequential Monte Carlo on orders: weights, expectations, temperatures, resampling, runs."""

import math

import numpy as np
import oracles
import pytest
from tables import close, small_table, uneven_table

import bnlab as bn
from bnlab.annealing.runs import anneal_cloud, next_beta
from bnlab.sampling import OrderWalker
from bnlab.weights import conditional_ess, resample_particles

MIXTURE = bn.Moves(swap=2, adjacent=1, relocate=1)


def run_means(draws):
    """ln of the mean weight of each run."""
    return np.logaddexp.reduce(draws.log_weight, axis=1) - math.log(draws.log_weight.shape[1])


# Weights


@pytest.mark.quick(
    "4-SMC(particles=8, schedule=Linear(steps=3)", "5-SMC(particles=5", "5-SMC(particles=2"
)
@pytest.mark.parametrize(
    "method",
    [
        bn.SMC(8, bn.Linear(3)),
        bn.SMC(8, bn.Linear(6), resample=0.9, moves_each=1),
        bn.SMC(5, bn.Betas((0, 0.1, 0.1, 1, 1)), resample=0.99, moves=MIXTURE),
        bn.SMC(2, bn.Linear(1)),
    ],
    ids=repr,
)
@pytest.mark.parametrize("n", [4, 5])
def test_the_mean_weight_under_a_given_schedule_is_the_sum_over_orders(method, n):
    table = uneven_table(n)
    log_z, edges, _ = oracles.order_modular_over_orders(oracles.families_of(table))
    draws = bn.anneal_orders(table, runs=2000, rng=np.random.default_rng(1), method=method)
    assert draws.values.shape == (2000, method.particles, n)
    assert close(run_means(draws), log_z)
    assert np.abs(bn.features.edges(draws, table=table) - edges).max() < 0.05


@pytest.mark.quick("dense")
@pytest.mark.parametrize("families", [False, True], ids=["dense", "families"])
def test_particles_pass_a_test_over_all_24_orders(families, monkeypatch):
    """Hotelling's test: the total weight of each order is Z times its posterior, on average."""
    if families:
        monkeypatch.setattr("bnlab.sampling.order_target.MAX_DENSE_NODES", 0)
    table = uneven_table()
    log_z, _, posterior = oracles.order_modular_over_orders(oracles.families_of(table))
    method = bn.SMC(30, bn.Linear(4), resample=0.8, moves=MIXTURE)
    draws = bn.anneal_orders(table, runs=3000, rng=np.random.default_rng(2), method=method)
    likely = [order for order, p in posterior.items() if p > 0.002]
    cell = {order: i for i, order in enumerate(likely)}
    cells = [cell.get(tuple(order), len(likely)) for order in draws.values.reshape(-1, 4).tolist()]
    totals = np.zeros((3000, len(likely) + 1))
    shares = np.exp(draws.log_weight - log_z).ravel() / 30
    np.add.at(totals, (np.repeat(np.arange(3000), 30), cells), shares)
    expected = [posterior[order] for order in likely]
    excess = totals.mean(axis=0) - [*expected, 1 - sum(expected)]
    statistic = 3000 * excess @ np.linalg.solve(np.cov(totals.T), excess)
    assert len(likely) == 12
    assert statistic < 40  # chi-square of 13 degrees: beyond once in 7000 times


@pytest.mark.slow
def test_any_few_of_the_particles_stand_for_all():
    table = uneven_table()
    log_z, *_ = oracles.order_modular_over_orders(oracles.families_of(table))
    method = bn.SMC(20, bn.Linear(3), resample=0.9)
    draws = bn.anneal_orders(table, runs=4000, rng=np.random.default_rng(3), method=method)
    assert close(draws.prefix(1).log_weight.ravel(), log_z)
    assert close(draws.log_weight[:, -1], log_z)


@pytest.mark.slow
def test_chosen_temperatures_on_tic_tac_toe(tic_tac_toe):
    table = tic_tac_toe.table
    estimate = bn.estimate_evidence(
        table, runs=40, rng=np.random.default_rng(4), method=bn.SMC(200)
    )
    assert estimate.kind == "asymptotic"
    assert abs(estimate.log_value - tic_tac_toe.log_evidence) <= 4 * estimate.stderr
    assert 0 < estimate.stderr < 0.1
    draws = bn.anneal_orders(table, runs=40, rng=np.random.default_rng(4), method=bn.SMC(200))
    assert np.abs(bn.features.edges(draws, table=table) - tic_tac_toe.edges).max() < 0.1
    beta, size = draws.stats["beta"], draws.stats["effective_sample_size"]
    assert beta.shape == size.shape == draws.stats["acceptance"].shape
    assert (np.nanmax(beta, axis=1) == 1).all()
    assert (np.isnan(beta) == np.isnan(size)).all()
    assert 0 < np.nanmin(size) and np.nanmax(size) <= 200.001


@pytest.mark.parametrize(("n", "share"), [(37, 0.9), (58, 0.5)])
def test_many_variables_by_families(n, share):
    rng = np.random.default_rng(n)
    data = bn.Data.from_arrays(rng.integers(0, 2, size=(40, n)))
    table = bn.score_families(data, bn.BDeu(), max_parents=1)
    method = bn.SMC(20, share=share, moves_each=20)
    draws = bn.anneal_orders(table, runs=2, rng=rng, method=method)
    assert np.isfinite(draws.log_weight).all()
    walker = OrderWalker.of(table)
    assert walker.log_weights(draws.values[0]) == pytest.approx(draws.log_target[0])
    estimate = bn.evidence_from(draws, table=table)
    assert 0 < estimate.stderr < 10


def test_constraints_that_few_orders_meet_leave_finite_weights():
    table = small_table(n=5, required=[(0, 1), (1, 2), (2, 3)])
    log_z, *_ = oracles.order_modular_over_orders(oracles.families_of(table))
    rng = np.random.default_rng(0)
    draws = bn.anneal_orders(table, runs=50, rng=rng, method=bn.SMC(300))
    assert np.isfinite(draws.log_weight).all()
    assert np.isfinite(draws.log_target).all()
    assert np.log(np.exp(run_means(draws) - log_z).mean()) == pytest.approx(0, abs=0.1)
    given = bn.anneal_orders(table, runs=5, rng=rng, method=bn.SMC(20, bn.Linear(5)))
    assert np.isfinite(given.log_weight).all()


@pytest.mark.parametrize("names", [["a"], ["a", "b"]], ids=len)
def test_one_or_two_variables(names):
    data = bn.Data.from_arrays(np.zeros((3, len(names)), int), arities=[2] * len(names))
    posterior = bn.order_posterior(bn.score_families(data, bn.BDeu()))
    draws = bn.anneal_orders(
        posterior.table, runs=2, rng=np.random.default_rng(0), method=bn.SMC(4)
    )
    assert run_means(draws) == pytest.approx([posterior.log_z] * 2)


# Parts


def test_the_next_temperature_has_the_conditional_effective_sample_size():
    rng = np.random.default_rng(5)
    log_w, log_target = rng.normal(size=100), rng.normal(-500, 20, size=100)
    beta = next_beta(0.25, log_w, log_target, 0.9)
    weights = np.exp(log_w) / np.exp(log_w).sum()
    grown = np.exp((beta - 0.25) * (log_target - log_target.max()))
    assert 100 * (weights @ grown) ** 2 / (weights @ grown**2) == pytest.approx(90)
    assert next_beta(0.25, log_w, np.full(100, -500.0), 0.9) == 1
    assert next_beta(1 - 1e-16, log_w, 1e30 * log_target, 0.9) == 1
    assert next_beta(0.5, log_w, 1e30 * log_target, 0.9) > 0.5


def test_the_effective_sample_size_of_weights_far_apart():
    assert conditional_ess(np.zeros(4), np.array([0.0, -1e5, -1e5, -1e5])) == pytest.approx(1)
    # The particle with the largest factor has no weight left.
    assert conditional_ess(np.array([0.0, -1e5]), np.array([0.0, 1e3])) == pytest.approx(2)


def test_resampling_keeps_the_shares():
    rng = np.random.default_rng(6)
    log_w = np.log([0.5, 0.26, 0.2, 0.04]) - 1000
    chosen = np.array([resample_particles(log_w, rng) for _ in range(2000)])
    times = np.array([np.bincount(numbers, minlength=4) for numbers in chosen])
    assert (times.sum(axis=1) == 4).all()
    assert (times[:, 0] == 2).all()
    assert times[:, 1].min() == 1 and times[:, 3].max() == 1
    assert times.mean(axis=0) == pytest.approx([2, 1.04, 0.8, 0.16], abs=0.05)
    for place in range(4):  # at any place, each particle as often as it weighs
        shares = np.bincount(chosen[:, place], minlength=4) / 2000
        assert shares == pytest.approx([0.5, 0.26, 0.2, 0.04], abs=0.05)


def test_unequal_weights_are_resampled_and_equal_ones_are_not():
    table = uneven_table()
    walker = OrderWalker.of(table)
    cloud = anneal_cloud(walker, bn.SMC(50, bn.Linear(1), resample=0.999), np.random.default_rng(0))
    assert np.ptp(cloud.log_w) == 0
    cloud = anneal_cloud(walker, bn.SMC(50, bn.Linear(1), resample=0.001), np.random.default_rng(0))
    assert np.ptp(cloud.log_w) > 5


# Runs


def anneal(executor=None, runs=12, progress=None, method=bn.SMC(20, share=0.8)):  # noqa: B008
    return bn.anneal_orders(
        uneven_table(n=6),
        runs=runs,
        rng=np.random.default_rng(8),
        method=method,
        progress=progress,
        executor=executor,
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"particles": 1}, "particles=1"),
        ({"moves_each": 0}, "moves_each=0"),
        ({"share": 1}, "share=1"),
        ({"share": math.nan}, "share=nan"),
        ({"resample": 0}, "resample=0"),
        ({"schedule": 5}, "schedule=5"),
    ],
)
def test_bad_settings_say_what_is_wrong(options, message):
    with pytest.raises(ValueError, match=message):
        bn.SMC(**options)


def test_too_many_particles_are_refused():
    with pytest.raises(ValueError, match="take fewer particles"):
        anneal(method=bn.SMC(10**12))
    with pytest.raises(ValueError, match="runs=0"):
        anneal(runs=0)
    with pytest.raises(ValueError, match="AIS"):
        anneal(method="SMC")
