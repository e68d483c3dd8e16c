"""Walks on bucket orders: weights, proposals, invariance, draws, and chains as users call them."""

import itertools
import math
from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import oracles
import pytest
from tables import small_table, uncompiled

import bnlab as bn
from bnlab.kernels import bits, bucket_walks
from bnlab.sampling import OrderWalker
from bnlab.sampling.order_mcmc import PartialOrderWalker

DENSE = pytest.mark.parametrize("dense", [True, False], ids=["dense", "families"])


# The slow twins: a bucket order is a tuple of frozensets


def buckets_of(order, size):
    return tuple(frozenset(order[i : i + size]) for i in range(0, len(order), size))


def extensions(buckets):
    """Every linear order of a bucket order."""
    for parts in itertools.product(*(itertools.permutations(sorted(b)) for b in buckets)):
        yield tuple(itertools.chain(*parts))


def log_weight(log_phi, buckets):
    return oracles.log_sum([oracles.order_log_weight(log_phi, o) for o in extensions(buckets)])


def proposals(buckets):
    """Probability of each proposal: a node, and then one of the nodes of the other buckets."""
    out, nodes = defaultdict(float), [v for bucket in buckets for v in bucket]
    for first in buckets:
        for i, j in itertools.product(first, [v for v in nodes if v not in first]):
            swapped = tuple(frozenset({i: j, j: i}.get(v, v) for v in b) for b in buckets)
            out[swapped] += 1 / len(nodes) / (len(nodes) - len(first))
    return out


def transition_matrix(log_phi, n, size):
    """(bucket orders, matrix, posterior): Metropolis, written out."""
    states = sorted({buckets_of(o, size) for o in itertools.permutations(range(n))}, key=str)
    log_weights = np.array([log_weight(log_phi, state) for state in states])
    number = {state: i for i, state in enumerate(states)}
    matrix = np.zeros((len(states), len(states)))
    for i, state in enumerate(states):
        for other, p in proposals(state).items():
            j = number[other]
            matrix[i, j] += p * math.exp(min(0.0, log_weights[j] - log_weights[i]))
        matrix[i, i] += 1 - matrix[i].sum()
    return states, matrix, np.exp(log_weights - oracles.log_sum(log_weights))


# Weights


@DENSE
@pytest.mark.parametrize("size", [1, 2, 3, 4, 6])
def test_weights_of_bucket_orders(dense, size):
    table = small_table(n=6, k=3, arity=3)
    log_phi = oracles.families_of(table)
    walker = PartialOrderWalker(OrderWalker.of(table, dense=dense), size)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        order = rng.permutation(6)
        orders, log_targets, log_weights, _ = walker.walk(order, 5, 2, 3, rng)
        expected = log_weight(log_phi, buckets_of(order.tolist(), size))
        assert log_weights[-1] == pytest.approx(expected, abs=1e-9)
        assert buckets_of(orders[-1].tolist(), size) == buckets_of(order.tolist(), size)
        expected = [oracles.order_log_weight(log_phi, o) for o in orders.tolist()]
        assert log_targets == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("k", [0, 1, 2, 4, 5])
def test_weights_by_families_of_any_size_are_those_of_the_table(k):
    table, weights = small_table(n=7, k=k, arity=3), []
    for dense in (True, False):
        walker = PartialOrderWalker(OrderWalker.of(table, dense=dense), 3)
        weights.append(walker.walk(np.arange(7), 3, 20, 2, np.random.default_rng(0))[2])
    assert weights[0] == pytest.approx(weights[1], abs=1e-9)


@DENSE
def test_weights_where_scores_span_thousands_of_nats(dense):
    data = bn.random_network("child", rng=np.random.default_rng(1)).sample(
        5000, np.random.default_rng(2)
    )
    table = bn.score_families(data.select(data.names[:12]), bn.BDeu(), max_parents=3)
    log_phi = oracles.families_of(table)
    walker = PartialOrderWalker(OrderWalker.of(table, dense=dense), 3)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        order = rng.permutation(12)
        weight = walker.walk(order, 0, 1, 1, rng)[2][0]
        expected = sum(
            oracles.log_sum(
                sum(
                    a
                    for v, a, _ in oracles.order_log_alphas(log_phi, [*before, *inner])
                    if v in inner
                )
                for inner in itertools.permutations(bucket)
            )
            for before, bucket in (
                (order[:i].tolist(), order[i : i + 3].tolist()) for i in range(0, 12, 3)
            )
        )
        assert weight == pytest.approx(expected, abs=1e-8)


def test_bucket_orders_of_one_size_divide_the_orders_among_them():
    """So their weights add up to the same sum, whatever the size."""
    log_phi = oracles.families_of(small_table(n=5))
    orders = list(itertools.permutations(range(5)))
    for size, count in ((1, 120), (2, 30), (3, 10), (4, 5), (5, 1)):
        states = {buckets_of(order, size) for order in orders}
        assert len(states) == count
        log_z = oracles.log_sum([log_weight(log_phi, state) for state in states])
        assert log_z == pytest.approx(oracles.order_modular_over_orders(log_phi)[0], abs=1e-10)


def test_many_variables():
    rng = np.random.default_rng(0)
    data = bn.Data.from_arrays(rng.integers(0, 2, size=(30, 40)))
    table = bn.score_families(data, bn.BDeu(), max_parents=2)
    draws = bn.sample_partial_orders(table, draws=2, burn_in=20, chains=2, bucket=3, rng=rng)
    log_phi = oracles.families_of(table)
    expected = [oracles.order_log_weight(log_phi, o) for o in draws.values[1].tolist()]
    assert draws.log_target[1] == pytest.approx(expected, abs=1e-8)
    assert (draws.traces["log_partial_order"] > draws.log_target).all()


# Moves


@pytest.mark.parametrize(("n", "size"), [(2, 1), (4, 1), (4, 2), (4, 3), (5, 2)])
def test_proposals(n, size):
    rng, each = np.random.default_rng(0), 20_000
    order = list(range(n))
    expected, counts = proposals(buckets_of(order, size)), Counter()
    for _ in range(each):
        i, j = bucket_walks.propose(n, size, rng)
        swapped = list(order)
        swapped[i], swapped[j] = order[j], order[i]
        counts[buckets_of(swapped, size)] += 1
    assert counts.keys() == expected.keys()
    for other, p in expected.items():
        assert abs(counts[other] - each * p) <= 5 * math.sqrt(each * p * (1 - p)) + 1e-6


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_exact_transition_matrix_is_in_detailed_balance(size):
    _, matrix, target = transition_matrix(oracles.families_of(small_table()), 4, size)
    flow = target[:, None] * matrix
    assert flow == pytest.approx(flow.T, abs=1e-15)
    assert target @ matrix == pytest.approx(target, abs=1e-14)


def test_buckets_of_one_make_the_matrix_of_order_mcmc():
    log_phi = oracles.families_of(small_table())
    states, matrix, _ = transition_matrix(log_phi, 4, 1)
    orders, by_orders, _ = oracles.transition_matrix(log_phi, 4, 1.0, {"swap": 1})
    place = [states.index(buckets_of(order, 1)) for order in orders]
    assert matrix[np.ix_(place, place)] == pytest.approx(by_orders, abs=1e-14)


@DENSE
@pytest.mark.parametrize("size", [1, 2, 3])
def test_one_step_transitions_are_those_of_the_exact_matrix(dense, size):
    table = small_table(m=12)
    states, matrix, _ = transition_matrix(oracles.families_of(table), 4, size)
    number = {state: i for i, state in enumerate(states)}
    walker = PartialOrderWalker(OrderWalker.of(table, dense=dense), size)
    rng = np.random.default_rng(4)
    orders, *_ = walker.walk(rng.permutation(4), 0, 60_000, 1, rng)
    seen = np.array([number[buckets_of(order, size)] for order in map(tuple, orders.tolist())])
    counts = np.zeros(matrix.shape)
    np.add.at(counts, (seen[:-1], seen[1:]), 1)
    expected = matrix * counts.sum(axis=1, keepdims=True)
    assert not counts[matrix == 0].any()
    error = np.sqrt(np.maximum(expected * (1 - matrix), 1))
    assert (np.abs(counts - expected) <= 5 * error).all()


@DENSE
@pytest.mark.parametrize(("n", "size"), [(3, 2), (4, 1), (4, 2), (4, 3), (4, 4)])
def test_frequencies_of_all_orders_pass_a_chi_square_test(dense, n, size, monkeypatch):
    if not dense:
        monkeypatch.setattr("bnlab.sampling.order_target.MAX_DENSE_NODES", 0)
    table = small_table(n=n, m=12, arity=3)
    _, _, posterior = oracles.order_modular_over_orders(oracles.families_of(table))
    found = bn.sample_partial_orders(
        table,
        draws=20_000,
        bucket=size,
        chains=1,
        burn_in=100,
        thin=20,
        rng=np.random.default_rng(5),
    )
    seen = Counter(map(tuple, found.values[0].tolist()))
    counts = np.array([seen[order] for order in posterior])
    expected = 20_000 * np.array(list(posterior.values()))
    statistic, degrees = ((counts - expected) ** 2 / expected).sum(), len(posterior) - 1
    assert counts.sum() == 20_000
    assert statistic < degrees + 5 * math.sqrt(2 * degrees)
    assert found.independent == (size == n)


@DENSE
def test_required_edges_and_interventions(dense, monkeypatch):
    if not dense:
        monkeypatch.setattr("bnlab.sampling.order_target.MAX_DENSE_NODES", 0)
    rng = np.random.default_rng(2)
    values = rng.integers(0, 2, size=(30, 4))
    data = bn.Data.from_arrays(values, intervened=rng.random(values.shape) < 0.3)
    table = bn.score_families(data, bn.BDeu(), required=[(0, 1), (2, 3)], forbidden=[(1, 3)])
    found = chains(table, bucket=2, draws=2000, thin=10)
    position = np.argsort(found.values, axis=2)
    assert (position[..., 0] < position[..., 1]).all()
    assert (position[..., 2] < position[..., 3]).all()
    edges = bn.features.edges(found, table=table)
    assert bn.diagnostics.max_error(edges, bn.order_posterior(table).edges) < 0.03


# Chains


def chains(target, executor=None, **options):
    settings = {"draws": 200, "chains": 3, "burn_in": 500, "bucket": 2} | options
    rng = np.random.default_rng(8)
    return bn.sample_partial_orders(target, rng=rng, executor=executor, **settings)


def test_edges_are_within_their_error_of_the_exact_ones():
    """Tic-tac-toe endgames: 10 variables, dependent through the outcome."""
    table = bn.score_families(bn.load_dataset("tic_tac_toe"), bn.BDeu(), max_parents=3)
    exact = bn.order_posterior(table)
    draws = chains(table, chains=16, draws=1000, thin=100, burn_in=5000, bucket=3)
    by_chain = np.array([bn.features.edges(one, table=table) for one in each_chain(draws)])
    error = by_chain.std(axis=0, ddof=1) / 4
    floor = math.sqrt((error**2).mean())  # 16 values do not tell a rare edge's error
    assert floor < 0.01
    assert (np.abs(by_chain.mean(axis=0) - exact.edges) <= 4 * np.maximum(error, floor)).all()


def each_chain(draws):
    for c in range(len(draws.values)):
        rows = {
            name: getattr(draws, name)[c : c + 1] for name in ("values", "log_weight", "log_target")
        }
        yield replace(draws, **rows, traces={})


def test_draws_say_what_they_are():
    draws = chains(small_table(n=5))
    assert draws.over == "orders"
    assert draws.prior == "order-modular"
    assert draws.run.settings["bucket"] == 2
    assert draws.run.settings["thin"] == 5
    assert (0.1 < draws.stats["acceptance"]).all()
    assert not draws.log_weight.any()


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("bucket", [1, 2, 7])
def test_one_and_two_variables(n, bucket):
    draws = chains(small_table(n=n, k=n - 1), bucket=bucket)
    assert draws.values.shape == (3, 200, n)
    assert len(np.unique(draws.values.reshape(-1, n), axis=0)) == n
    assert draws.independent == (n <= bucket)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bucket": 0}, "bucket=0"),
        ({"bucket": 2.5}, "bucket=2.5"),
        ({"bucket": 17}, "bucket=17: give an integer of at most 16"),
    ],
)
def test_bad_settings_say_what_is_wrong(options, message):
    with pytest.raises(ValueError, match=message):
        chains(small_table(), **options)


def test_compiled_kernels_equal_their_python_source(monkeypatch):
    table = small_table(n=5, k=3)
    compiled = chains(table, draws=5, burn_in=20)
    uncompiled(monkeypatch, bits, bucket_walks)
    plain = chains(table, draws=5, burn_in=20)
    assert (plain.values == compiled.values).all()
    assert plain.log_target == pytest.approx(compiled.log_target, abs=1e-12)
