"""Annealing on orders: weights, evidence, bounds, and how runs behave."""

import itertools
import math

import numpy as np
import oracles
import pytest
from tables import close, small_table

import bnlab as bn
from bnlab.exact import log_prior_sum

MIXTURE = bn.Moves(swap=2, adjacent=1, relocate=1)


# Schedules


@pytest.mark.parametrize(
    "schedule", [bn.Linear(7), bn.Harmonic(7), bn.Betas((0, 0.5, 0.5, 1)), bn.Linear(1)], ids=repr
)
def test_schedules_rise_from_0_to_1(schedule):
    betas = schedule.betas
    assert betas[0] == 0
    assert betas[-1] == 1
    assert (np.diff(betas) >= 0).all()


def test_harmonic_steps():
    assert bn.Harmonic(5).betas[1:] == pytest.approx([1 / (5 + 1 - i) for i in range(1, 6)])


@pytest.mark.parametrize(
    "values", [(), (0,), (0, 0.5), (0.1, 1), (0, 0.6, 0.5, 1), (0, math.nan, 1)]
)
def test_inverse_temperatures_are_checked(values):
    with pytest.raises(ValueError, match="rise from 0 to 1"):
        bn.Betas(values)
    with pytest.raises(ValueError, match="steps=0"):
        bn.Linear(0)
    with pytest.raises(ValueError, match=r"steps=2\.5"):
        bn.Harmonic(2.5)


# Weights


@pytest.mark.parametrize("schedule", [bn.Linear(12), bn.Harmonic(12), bn.Betas((0, 1))], ids=repr)
@pytest.mark.parametrize("moves", [bn.Moves(), MIXTURE], ids=repr)
def test_the_mean_weight_is_the_sum_over_orders(schedule, moves):
    table = small_table()
    log_z, edges, _ = oracles.order_modular_over_orders(oracles.families_of(table))
    draws = bn.anneal_orders(
        table, runs=4000, rng=np.random.default_rng(1), method=bn.AIS(schedule, moves)
    )
    assert close(draws.log_weight, log_z)
    assert np.abs(bn.features.edges(draws, table=table) - edges).max() < 0.05


def test_the_mean_inverse_weight_in_reverse_is_the_inverse_of_the_sum():
    posterior = bn.order_posterior(small_table())
    bound = bn.estimate_upper_bound(
        posterior, runs=4000, rng=np.random.default_rng(2), method=bn.AIS(bn.Linear(12)), bins=4000
    )
    assert close(-bound.trace, -posterior.log_evidence)


@pytest.mark.parametrize("prior", [bn.Uniform(), bn.Fair(), bn.EdgePenalty(0.7)], ids=repr)
def test_the_prior_sum_is_that_of_all_orders(prior):
    table = small_table(prior=prior, forbidden=[(0, 1)] if prior == bn.Uniform() else [])
    log_prior = [
        {int(m): float(q) for m, q in zip(table.parents[v], table.log_prior[v], strict=True)}
        for v in range(4)
    ]
    orders = itertools.permutations(range(4))
    expected = oracles.log_sum(oracles.order_log_weight(log_prior, order) for order in orders)
    assert log_prior_sum(table) == pytest.approx(expected)
    posterior = bn.order_posterior(table)
    assert posterior.log_z - posterior.log_evidence == pytest.approx(expected)


def test_the_mean_weight_over_1000_repeats_on_tic_tac_toe(tic_tac_toe):
    draws = bn.anneal_orders(
        tic_tac_toe.table,
        runs=1000,
        rng=np.random.default_rng(3),
        method=bn.AIS(bn.Linear(2000)),
    )
    assert close(draws.log_weight, tic_tac_toe.log_z)
    beta, acceptance = draws.stats["beta"], draws.stats["acceptance"]
    assert beta.shape == acceptance.shape == (100,)
    assert acceptance[0] > 0.9 > acceptance[-1]


def test_weights_by_families_have_the_same_mean(monkeypatch):
    monkeypatch.setattr("bnlab.sampling.order_target.MAX_DENSE_NODES", 0)
    table = small_table(n=6, k=3)
    draws = bn.anneal_orders(
        table, runs=2000, rng=np.random.default_rng(4), method=bn.AIS(bn.Linear(30), MIXTURE)
    )
    log_z, _ = oracles.order_dp(oracles.families_of(table))
    assert close(draws.log_weight, log_z)


def test_constraints_that_few_orders_meet_leave_finite_weights():
    table = small_table(n=5, required=[(0, 1), (1, 2), (2, 3)])
    draws = bn.anneal_orders(
        table, runs=50, rng=np.random.default_rng(0), method=bn.AIS(bn.Linear(50))
    )
    assert np.isfinite(draws.log_weight).all()
    assert np.isfinite(draws.log_target).all()


# Evidence and bounds


def test_evidence_and_its_error(tic_tac_toe):
    estimate = bn.estimate_evidence(
        tic_tac_toe.table, runs=200, rng=np.random.default_rng(5), method=bn.AIS(bn.Linear(3000))
    )
    assert estimate.kind == "unbiased"
    assert estimate.trace.shape == (200,)
    assert estimate.trace[-1] == estimate.log_value
    assert abs(estimate.log_value - tic_tac_toe.log_evidence) <= 4 * estimate.stderr
    assert 0 < estimate.stderr < 0.2


@pytest.mark.parametrize("name", ["tic_tac_toe", "wine"])
def test_exact_evidence_lies_between_the_bounds(name):
    data = bn.load_dataset(name)
    posterior = bn.order_posterior(bn.score_families(data, bn.BDeu(), max_parents=2))
    method, rng = bn.AIS(bn.Linear(4000)), np.random.default_rng(6)
    low = bn.estimate_lower_bound(posterior.table, runs=90, rng=rng, method=method)
    high = bn.estimate_upper_bound(posterior, runs=90, rng=rng, method=method)
    assert low.kind == "lower_bound"
    assert high.kind == "upper_bound"
    assert low.confidence == high.confidence == 0.95
    assert low.log_value < posterior.log_evidence < high.log_value < low.log_value + 3


@pytest.mark.quick("5")
@pytest.mark.parametrize("bins", [1, 5, 9])
def test_bounds_fail_no_more_often_than_promised(bins):
    """200 repeats of 18 runs; few steps, so that weights vary widely."""
    posterior = bn.order_posterior(small_table(n=5, m=40))
    options = {"runs": 18, "method": bn.AIS(bn.Linear(10)), "delta": 0.3, "bins": bins}
    failures = np.zeros(2)
    for rng in np.random.default_rng(7).spawn(200):
        low = bn.estimate_lower_bound(posterior.table, rng=rng, **options)
        high = bn.estimate_upper_bound(posterior, rng=rng, **options)
        exact = posterior.log_evidence
        failures += [low.log_value > exact, high.log_value < exact]
    assert (failures <= 200 * 0.3).all()


def test_bounds_from_weights_are_the_formula():
    log_weights = np.log([[3.0, 5.0, 1.0, 2.0, 8.0, 8.0]])
    low = bn.lower_bound(log_weights, delta=0.1, bins=3)
    assert low.log_value == pytest.approx(math.log(0.1 ** (1 / 3) * 1.5))
    assert np.exp(low.trace) == pytest.approx([4.0, 1.5, 8.0])
    high = bn.upper_bound(log_weights, delta=0.1, bins=3)
    assert high.log_value == pytest.approx(math.log(0.1 ** (-1 / 3) * 8))
    assert high.confidence == low.confidence == 0.9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delta": 0.0}, "delta=0.0"),
        ({"delta": 1}, "delta=1"),
        ({"bins": 0}, "bins=0"),
        ({"bins": 7}, "runs=6"),
    ],
)
def test_bounds_check_their_options(options, message):
    for bound in (bn.lower_bound, bn.upper_bound):
        with pytest.raises(ValueError, match=message):
            bound(np.zeros(6), **options)
    with pytest.raises(ValueError, match=message):
        bn.estimate_lower_bound(small_table(), runs=6, rng=np.random.default_rng(0), **options)


# Runs


def test_a_schedule_must_be_one():
    class Falling:
        betas = np.array([1.0, 0.0])

    with pytest.raises(ValueError, match="rise from 0 to 1"):
        bn.AIS(Falling())
    with pytest.raises(ValueError, match="schedule=100"):
        bn.AIS(100)
    with pytest.raises(ValueError, match="AIS"):
        bn.anneal_orders(small_table(), runs=1, rng=np.random.default_rng(0), method=bn.MC3())


# Checkpoints


def anneal(path, method):
    rng = np.random.default_rng(8)
    return bn.anneal_orders(small_table(n=6), runs=3, rng=rng, method=method, checkpoint=path)


class Mine:
    """A schedule of one's own, with the default repr."""

    def __init__(self, steps):
        self.betas = np.linspace(0, 1, steps + 1) ** 2


@pytest.mark.parametrize("method", [bn.AIS, lambda schedule: bn.SMC(5, schedule)], ids=[0, 1])
def test_a_schedule_of_ones_own_is_known_by_its_temperatures(method, tmp_path):
    first, again = (anneal(tmp_path / "mine.ckpt", method(Mine(9))) for _ in range(2))
    assert np.array_equal(again.log_weight, first.log_weight)
    with pytest.raises(ValueError, match="its schedule is"):
        anneal(tmp_path / "mine.ckpt", method(Mine(10)))


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (bn.AIS(bn.Linear(51)), "its schedule is"),
        (bn.AIS(bn.Linear(50), MIXTURE), "its moves is"),
        (bn.SMC(3), "its method is 'AIS', here it is 'SMC'"),
    ],
    ids=repr,
)
def test_the_checkpoint_of_another_method_is_refused(method, message, tmp_path, monkeypatch):
    path = tmp_path / "runs.ckpt"
    anneal(path, bn.AIS(bn.Linear(50)))
    before = path.read_bytes()
    monkeypatch.setattr(bn.sampling.OrderWalker, "of", lambda _: pytest.fail("work has begun"))
    with pytest.raises(ValueError, match=message):
        anneal(path, method)
    assert path.read_bytes() == before
