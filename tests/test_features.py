"""Features of DAGs, their posterior probabilities, and how far off they are."""

import math

import numpy as np
import oracles
import pytest

import bnlab as bn
from bnlab import features

DAGS = bn.graphs.all_dags(4)


@pytest.fixture(scope="module")
def posterior():
    data = bn.Data.from_arrays(np.random.default_rng(3).integers(0, 2, size=(20, 4)))
    return bn.order_posterior(bn.score_families(data, bn.BDeu()))


@pytest.fixture(scope="module")
def draws(posterior):
    return bn.sample_dags(posterior, draws=30_000, rng=np.random.default_rng(4))


FEATURES = {
    "edge": (features.edge(0, 2), lambda d: bool(d[2] & 1)),
    "path": (features.path(0, 3), lambda d: (0, 3) in oracles.paths(d, 4)),
    "limited": (
        features.limited_path(0, 3, max_length=2),
        lambda d: (0, 3) in oracles.paths(d, 2),
    ),
    "chain": (
        features.combined(features.path(0, 1), features.path(1, 2)),
        lambda d: {(0, 1), (1, 2)} <= oracles.paths(d, 4),
    ),
    "without": (
        features.combined(features.path(0, 1), absent=[features.path(0, 2)]),
        lambda d: (0, 1) in oracles.paths(d, 4) and (0, 2) not in oracles.paths(d, 4),
    ),
    "function": (
        features.function(lambda d: sum(int(m).bit_count() for m in d) == 3),
        lambda d: sum(int(m).bit_count() for m in d) == 3,
    ),
}


@pytest.mark.parametrize("name", FEATURES)
def test_features_hold_where_their_definition_does(name):
    feature, twin = FEATURES[name]
    expected = np.array([twin(dag.tolist()) for dag in DAGS])
    assert (feature(DAGS) == expected).all()
    assert (feature(DAGS[:540].reshape(2, 270, 4)).ravel() == expected[:540]).all()
    assert 0 < expected.sum() < len(expected)


@pytest.mark.parametrize("name", FEATURES)
def test_probabilities_are_within_four_standard_errors_of_enumeration(name, posterior, draws):
    feature, twin = FEATURES[name]
    *_, exact = oracles.order_modular_over_dags(oracles.families_of(posterior.table))
    p = sum(weight for dag, weight in exact.items() if twin(list(dag)))
    estimate = features.probability(draws, feature)
    assert abs(estimate.value - p) <= 4 * math.sqrt(p * (1 - p) / 30_000)
    assert estimate.stderr == pytest.approx(math.sqrt(p * (1 - p) / 30_000), rel=0.1)
    assert estimate.low <= p <= estimate.high


def test_the_interval_is_hoeffdings(draws):
    estimate = features.probability(draws, features.edge(0, 1), delta=0.01)
    half = math.sqrt(math.log(200) / 60_000)
    assert estimate.high - estimate.value == pytest.approx(half)
    assert estimate.confidence == 0.99
    assert (estimate.draws, estimate.prior) == (30_000, "order-modular")


def test_an_interval_of_a_share_stays_within_zero_and_one(draws):
    nothing = features.function(lambda d: False)
    estimate = features.probability(draws, nothing)
    assert (estimate.value, estimate.low) == (0.0, 0.0)
    assert 0 < estimate.high < 0.02


@pytest.mark.parametrize("eps", [0.02, 0.005])
@pytest.mark.parametrize("delta", [0.05, 1e-10])
def test_hoeffding_draws_are_the_fewest_that_suffice(eps, delta):
    total = bn.hoeffding_draws(eps, delta)
    assert 2 * math.exp(-2 * total * eps**2) <= delta < 2 * math.exp(-2 * (total - 1) * eps**2)


@pytest.mark.parametrize("eps", [0.1, 0.02, 0.003])
def test_the_margin_is_the_inverse_of_hoeffding_draws(eps):
    total = bn.hoeffding_draws(eps, 0.05)
    assert bn.hoeffding_margin(total, 0.05) <= eps < bn.hoeffding_margin(total - 1, 0.05)


def test_prefixes_of_draws_are_nested(draws):
    few = draws.prefix(10)
    assert (few.values == draws.values[:, :10]).all()
    assert features.probability(few, features.edge(0, 1)).draws == 10
    for bad in (0, 30_001):
        with pytest.raises(ValueError, match=f"draws={bad}"):
            draws.prefix(bad)


def test_matrices_equal_the_features_one_by_one(draws):
    edges, paths = features.edges(draws), features.paths(draws)
    short = features.paths(draws, max_length=2)
    for u in range(4):
        for v in range(4):
            if u == v:
                assert edges[u, v] == paths[u, v] == short[u, v] == 0
                continue
            for matrix, feature in (
                (edges, features.edge(u, v)),
                (paths, features.path(u, v)),
                (short, features.limited_path(u, v, max_length=2)),
            ):
                value = features.probability(draws, feature).value
                assert matrix[u, v] == pytest.approx(value, abs=1e-12)
    assert (edges <= short + 1e-12).all()
    assert (short <= paths + 1e-12).all()


def test_edges_of_orders_average_the_exact_expectations(posterior):
    orders = bn.sample_orders(posterior, draws=200, rng=np.random.default_rng(0))
    log_beta = oracles.families_of(posterior.table)
    expected = np.zeros((4, 4))
    for order in orders.values[0].tolist():
        for v, _, before in oracles.order_log_alphas(log_beta, order):
            expected[:, v] += oracles.edges_given_predecessors(log_beta[v], before, 4) / 200
    assert features.edges(orders, table=posterior.table) == pytest.approx(expected, abs=1e-12)


def test_weights_count(draws):
    weighted = bn.Draws(
        draws.values[:, :3],
        np.log([[1.0, 2.0, 5.0]]),
        draws.log_target[:, :3],
        "dags",
        "order-modular",
        draws.names,
    )
    adjacency = bn.graphs.to_adjacency(draws.values[0, :3])
    expected = (adjacency * np.array([1, 2, 5])[:, None, None]).sum(axis=0) / 8
    assert features.edges(weighted) == pytest.approx(expected)
    estimate = features.probability(weighted, features.edge(0, 1))
    assert estimate.value == pytest.approx(expected[0, 1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d, o: features.edge(1, 1), "nodes 1 and 1"),
        (lambda d, o: features.path(-1, 1), "nodes -1 and 1"),
        (lambda d, o: features.limited_path(0, 1, max_length=0), "max_length=0"),
        (lambda d, o: features.combined(), "at least one"),
        (lambda d, o: features.probability(d, features.edge(0, 9)), "node 9 is outside 0..3"),
        (lambda d, o: features.probability(d, features.edge(0, 1), delta=0), "delta=0"),
        (lambda d, o: features.probability(d, lambda dags: True), "one truth value"),
        (lambda d, o: features.probability(o, features.edge(0, 1)), "sample_dags, not orders"),
        (lambda d, o: features.paths(o), "an order has none"),
        (lambda d, o: features.edges(o), "pass table="),
        (lambda d, o: bn.hoeffding_draws(0, 0.1), "eps=0"),
        (lambda d, o: bn.hoeffding_draws(1e-200, 0.1), "eps=1e-200"),
        (lambda d, o: bn.hoeffding_draws(0.1, 1), "delta=1"),
        (lambda d, o: bn.hoeffding_margin(0, 0.1), "draws=0"),
    ],
)
def test_bad_input_says_what_is_wrong(call, message, posterior, draws):
    orders = bn.sample_orders(posterior, draws=5, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match=message):
        call(draws, orders)


def test_sad_and_max_error():
    a = np.array([[9.0, 0.5], [0.25, 9.0]])
    b = np.array([[0.0, 0.75], [0.0, 0.0]])
    assert bn.diagnostics.sad(a, b) == 0.5
    assert bn.diagnostics.max_error(a, b) == 0.25
    np.fill_diagonal(b, math.nan)
    assert bn.diagnostics.sad(a, b) == 0.5
    for bad in (np.zeros((3, 3)), np.zeros(4), [[0, math.nan], [0, 0]]):
        with pytest.raises(ValueError):
            bn.diagnostics.sad(a, bad)
