"""Are the stated errors the real ones? Many repeats; slow."""

import math

import numpy as np
import oracles
import pytest

import bnlab as bn

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def posterior():
    data = bn.Data.from_arrays(np.random.default_rng(5).integers(0, 3, size=(15, 4)))
    return bn.order_posterior(bn.score_families(data, bn.BDeu(), prior=bn.Fair()))


def test_dag_draws_pass_a_chi_square_test_over_all_543_dags(posterior):
    *_, exact = oracles.order_modular_over_dags(oracles.families_of(posterior.table))
    number = {dag: i for i, dag in enumerate(exact)}
    draws = bn.sample_dags(posterior, draws=400_000, rng=np.random.default_rng(1)).values[0]
    distinct, times = np.unique(draws, axis=0, return_counts=True)
    counts = np.zeros(len(exact))
    counts[[number[tuple(dag)] for dag in distinct.tolist()]] = times
    assert oracles.chi_square(counts, 400_000 * np.array(list(exact.values()))) > 1e-4


def test_order_draws_pass_a_chi_square_test_over_all_24_orders(posterior):
    _, _, exact = oracles.order_modular_over_orders(oracles.families_of(posterior.table))
    number = {order: i for i, order in enumerate(exact)}
    draws = bn.sample_orders(posterior, draws=200_000, rng=np.random.default_rng(2)).values[0]
    counts = np.bincount([number[tuple(order)] for order in draws.tolist()], minlength=24)
    assert oracles.chi_square(counts, 200_000 * np.array(list(exact.values()))) > 1e-4


def test_the_chi_square_test_sees_a_wrong_posterior(posterior):
    """The test above could not fail if it missed an error of a few percent."""
    _, _, exact = oracles.order_modular_over_orders(oracles.families_of(posterior.table))
    tilted = np.array(list(exact.values())) * np.linspace(0.95, 1.05, 24)
    counts = np.random.default_rng(0).multinomial(200_000, tilted / tilted.sum())
    assert oracles.chi_square(counts, 200_000 * np.array(list(exact.values()))) < 1e-6


def test_standard_errors_are_the_spread_of_repeated_estimates(posterior):
    u, v = np.unravel_index(np.abs(posterior.edges - 0.3).argmin(), (4, 4))
    feature = bn.features.edge(int(u), int(v))
    estimates = [
        bn.features.probability(bn.sample_dags(posterior, draws=500, rng=rng), feature)
        for rng in np.random.default_rng(3).spawn(400)
    ]
    spread = np.std([e.value for e in estimates])
    assert np.mean([e.stderr for e in estimates]) == pytest.approx(spread, rel=0.15)


def test_hoeffding_misses_are_rarer_than_promised():
    """Section 4.4 of the 2016 paper: T from (eps, delta), violations per edge far below delta."""
    eps, delta, runs = 0.05, 0.1, 300
    table = bn.score_families(bn.load_dataset("tic_tac_toe"), bn.K2(), prior=bn.Fair())
    posterior = bn.order_posterior(table)
    total = bn.hoeffding_draws(eps, delta)
    misses = np.zeros((10, 10))
    for rng in np.random.default_rng(4).spawn(runs):
        edges = bn.features.edges(bn.sample_dags(posterior, draws=total, rng=rng))
        misses += np.abs(edges - posterior.edges) >= eps
    assert misses.max() / runs < delta
    assert total == 600


def test_edge_probabilities_are_calibrated_over_the_joint_prior():
    """DAG, parameters and data simulated from the model that the posterior assumes.

    Then E[edge - p] = 0 and E[p (edge - p)] = 0 for p = p(edge | D).
    """
    rng = np.random.default_rng(6)
    n, excess, second = 3, [], []
    flat = bn.order_posterior(
        bn.score_families(bn.Data.from_arrays(np.zeros((0, n), int), arities=[2] * n), bn.BDeu())
    )
    for dag in bn.sample_dags(flat, draws=1500, rng=rng).values[0]:
        # BDeu with ess 8: Dirichlet parameters 8 / (q r) in every row.
        data = bnet_with_bdeu_tables(dag, 8.0, rng).sample(30, rng)
        posterior = bn.order_posterior(bn.score_families(data, bn.BDeu(ess=8.0)))
        difference = bn.graphs.to_adjacency(dag) - posterior.edges
        excess.append(difference.sum())
        second.append((difference * posterior.edges).sum())
    for values in (excess, second):
        assert abs(np.mean(values)) <= 4 * np.std(values) / math.sqrt(len(values))


def bnet_with_bdeu_tables(dag, ess, rng):
    tables = []
    for v in range(len(dag)):
        q = 2 ** len(oracles.members(dag[v]))
        tables.append(rng.dirichlet([ess / (2 * q)] * 2, size=q))
    n = len(dag)
    return bn.BayesNet(
        dag=dag,
        arities=np.full(n, 2),
        names=tuple(f"x{v}" for v in range(n)),
        levels=(("0", "1"),) * n,
        tables=tuple(tables),
    )


# Walks and annealing on orders


@pytest.mark.parametrize("n", [4, 5])
@pytest.mark.parametrize(
    "moves", [bn.Moves(), bn.Moves(0, 1), bn.Moves(0, 0, 1), bn.Moves(2, 1, 1)], ids=repr
)
def test_each_kind_of_move_passes_a_chi_square_test_over_all_orders(moves, n):
    data = bn.Data.from_arrays(np.random.default_rng(7).integers(0, 3, size=(12, n)))
    table = bn.score_families(data, bn.BDeu(), max_parents=2)
    _, _, exact = oracles.order_modular_over_orders(oracles.families_of(table))
    number = {order: i for i, order in enumerate(exact)}
    draws = bn.sample_orders(
        table, draws=20_000, thin=60, burn_in=1000, rng=np.random.default_rng(8), moves=moves
    )
    drawn = [number[tuple(order)] for order in draws.values.reshape(-1, n).tolist()]
    counts = np.bincount(drawn, minlength=len(exact))
    assert oracles.chi_square(counts, counts.sum() * np.array(list(exact.values()))) > 1e-4


REPEATS, RUNS = 200, 9


@pytest.fixture(scope="module", params=["tic_tac_toe", "wine", "child"])
def annealed(request):
    """(exact ln p(D), 200 x 9 estimates of it by AIS, as many in reverse), by runs of n m steps."""
    if request.param == "child":
        network = bn.random_network("child", rng=np.random.default_rng(1))
        data, k = network.sample(250, np.random.default_rng(2)), 3
    else:
        data, k = bn.load_dataset(request.param), 3
    posterior = bn.order_posterior(bn.score_families(data, bn.BDeu(), max_parents=k))
    total = REPEATS * RUNS
    options = {"runs": total, "method": bn.AIS(bn.Linear(data.n * data.m)), "bins": total}
    rng = np.random.default_rng(9)
    low = bn.estimate_lower_bound(posterior.table, rng=rng, **options)
    high = bn.estimate_upper_bound(posterior, rng=rng, **options)
    shape = (REPEATS, RUNS)
    return posterior.log_evidence, low.trace.reshape(shape), high.trace.reshape(shape)


@pytest.mark.parametrize("bins", [1, 9])
def test_bounds_of_confidence_095_fail_in_few_of_200_repeats(annealed, bins):
    """At most 200 * 0.05 = 10 failures, without any tolerance: the bounds are cautious."""
    exact, below, above = annealed
    lows = np.array([bn.lower_bound(w, bins=bins).log_value for w in below])
    highs = np.array([bn.upper_bound(w, bins=bins).log_value for w in above])
    assert (lows > exact).sum() <= 0.05 * REPEATS
    assert (highs < exact).sum() <= 0.05 * REPEATS


def test_all_runs_together_close_in_on_the_evidence(annealed):
    """1800 runs each way: the exact value between the bounds, and means within 4 errors of it."""
    exact, below, above = annealed
    low, high = bn.lower_bound(below).log_value, bn.upper_bound(above).log_value
    assert low < exact < high < low + 1.5
    for weights in (np.exp(below - exact), np.exp(exact - above)):
        assert abs(weights.mean() - 1) <= 4 * weights.std() / math.sqrt(weights.size)
