"""Walks on orders: weights, proposals, acceptance, invariance, and chains as users call them."""

import itertools
import math
from collections import Counter

import numpy as np
import oracles
import pytest
from tables import requiring, small_table, uncompiled

import bnlab as bn
from bnlab.kernels import bits, order_walks
from bnlab.sampling import OrderWalker
from bnlab.sampling.order_target import Moves

KINDS = {
    "swap": order_walks.SWAP,
    "adjacent": order_walks.ADJACENT,
    "relocate": order_walks.RELOCATE,
}
MIXTURE = Moves(swap=2, adjacent=1, relocate=1)
DENSE = pytest.mark.parametrize("dense", [True, False], ids=["dense", "families"])


class Script:
    """A generator that says given uniform numbers."""

    def __init__(self, *numbers):
        self.numbers = list(numbers)

    def random(self):
        return self.numbers.pop(0)


# Weights


@DENSE
@pytest.mark.parametrize("k", [0, 1, 2, 3, 4, 5])
def test_weights_of_orders(dense, k):
    table = small_table(n=7, k=k, arity=3)
    orders = np.array([np.random.default_rng(t).permutation(7) for t in range(20)])
    log_phi = oracles.families_of(table)
    expected = [oracles.order_log_weight(log_phi, order.tolist()) for order in orders]
    walker = OrderWalker.of(table, dense=dense)
    assert walker.log_weights(orders) == pytest.approx(expected, abs=1e-9)


@DENSE
def test_weights_of_orders_where_scores_span_thousands_of_nats(dense):
    data = bn.random_network("child", rng=np.random.default_rng(1)).sample(
        5000, np.random.default_rng(2)
    )
    table = bn.score_families(data.select(data.names[:12]), bn.BDeu(), max_parents=3)
    orders = np.array([np.random.default_rng(t).permutation(12) for t in range(20)])
    log_phi = oracles.families_of(table)
    expected = [oracles.order_log_weight(log_phi, order.tolist()) for order in orders]
    assert np.ptp(table.log_phi, axis=1).max() > 2000
    walker = OrderWalker.of(table, dense=dense)
    assert walker.log_weights(orders) == pytest.approx(expected, abs=1e-8)


@DENSE
def test_an_impossible_order_weighs_next_to_nothing_and_is_left(dense):
    table = small_table(n=5, required=[(0, 1), (1, 2)])
    walker = OrderWalker.of(table, dense=dense)
    order = np.array([4, 3, 2, 1, 0])
    assert -1e6 < walker.log_weights(order[None])[0] < -1e5
    walk = walker.walk(order, np.ones(500), 10, MIXTURE, np.random.default_rng(0))
    position = np.argsort(walk.orders[100:], axis=1)
    assert (position[:, 0] < position[:, 1]).all()
    assert (position[:, 1] < position[:, 2]).all()


@pytest.mark.parametrize("n", [23, 40, 63])
def test_many_variables_by_families(n):
    rng = np.random.default_rng(n)
    table = bn.score_families(
        bn.Data.from_arrays(rng.integers(0, 2, size=(30, n))), bn.BDeu(), max_parents=2
    )
    walker = OrderWalker.of(table)
    order = rng.permutation(n)
    walk = walker.walk(order, np.ones(3), 50, MIXTURE, rng)
    log_phi = oracles.families_of(table)
    expected = [oracles.order_log_weight(log_phi, o.tolist()) for o in walk.orders]
    assert walk.log_weights == pytest.approx(expected, abs=1e-8)
    assert (np.sort(walk.orders, axis=1) == np.arange(n)).all()


@DENSE
def test_recorded_weights_are_those_of_the_recorded_orders(dense):
    walker = OrderWalker.of(small_table(n=6, k=3), dense=dense)
    rng = np.random.default_rng(0)
    walk = walker.walk(rng.permutation(6), np.linspace(0, 1, 200), 3, MIXTURE, rng, spans=4)
    assert (walk.log_weights == walker.log_weights(walk.orders)).all()
    assert walk.tally[:, :, 0].sum(axis=1).tolist() == [150] * 4
    assert (walk.tally[:, :, 1] <= walk.tally[:, :, 0]).all()


# Proposals and acceptance


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_every_proposal_is_made_as_often_as_it_should(kind, n, monkeypatch):
    """The kernel on all pairs of uniform numbers that lead to different positions."""
    uncompiled(monkeypatch, bits, order_walks)  # numbers from a `Script`
    order = np.random.default_rng(0).permutation(n)
    changed, made = np.empty(n, np.int64), Counter()
    firsts = n - 1 if kind == "adjacent" else n
    for i, j in itertools.product(range(firsts), range(1 if kind == "adjacent" else n - 1)):
        numbers = Script((i + 0.5) / firsts, (j + 0.5) / max(1, n - 1))
        lo, hi = order_walks.propose(order, KINDS[kind], numbers, changed)
        made[(*order[:lo].tolist(), *changed[lo : hi + 1].tolist(), *order[hi + 1 :].tolist())] += 1
    assert made == Counter(oracles.neighbours(order.tolist(), kind))


@DENSE
@pytest.mark.parametrize("moves", [Moves(), Moves(0, 0, 1)], ids=repr)
@pytest.mark.parametrize("beta", [1.0, 0.3])
def test_moves_are_accepted_with_the_metropolis_probability(dense, beta, moves, monkeypatch):
    """Just below the probability of the oracle a move is made, just above it is not."""
    table = small_table(n=4)
    walker = OrderWalker.of(table, dense=dense)
    uncompiled(monkeypatch, bits, order_walks)  # numbers from a `Script`
    log_phi, rng = oracles.families_of(table), np.random.default_rng(0)
    for _ in range(60):
        start, numbers = rng.permutation(4), rng.random(3)
        proposal = walker.walk(start.copy(), np.zeros(1), 1, moves, Script(*numbers, 0.0)).orders[0]
        gain = beta * (
            oracles.order_log_weight(log_phi, proposal.tolist())
            - oracles.order_log_weight(log_phi, start.tolist())
        )
        for u, expected in (
            (math.exp(min(gain, 0)) * (1 - 1e-9), proposal),
            (math.exp(gain) * (1 + 1e-9), start) if gain < -1e-8 else (1 - 1e-7, proposal),
        ):
            walk = walker.walk(start.copy(), np.full(1, beta), 1, moves, Script(*numbers, u))
            assert (walk.orders[0] == expected).all()


@pytest.mark.parametrize("beta", [1.0, 0.5, 0.0])
@pytest.mark.parametrize("weights", [{"swap": 1}, {"adjacent": 1}, {"relocate": 1, "swap": 2}])
def test_the_exact_transition_matrix_leaves_the_target_invariant(beta, weights):
    log_phi = oracles.families_of(small_table(n=4))
    _, matrix, log_weight = oracles.transition_matrix(log_phi, 4, beta, weights)
    target = np.exp(beta * (log_weight - log_weight.max()))
    target /= target.sum()
    assert target @ matrix == pytest.approx(target, abs=1e-14)


@DENSE
@pytest.mark.parametrize("moves", [Moves(), Moves(0, 1), Moves(0, 0, 1), MIXTURE], ids=repr)
def test_one_step_transitions_are_those_of_the_exact_matrix(dense, moves):
    """240,000 single moves along a chain, from each of the 24 orders: rows of the matrix."""
    table = small_table(n=4, m=12)
    weights = {kind: getattr(moves, kind) for kind in KINDS}
    orders, matrix, _ = oracles.transition_matrix(oracles.families_of(table), 4, 0.7, weights)
    number = {order: i for i, order in enumerate(orders)}
    rng = np.random.default_rng(4)
    walk = OrderWalker.of(table, dense=dense).walk(
        rng.permutation(4), np.full(240_000, 0.7), 1, moves, rng
    )
    states = np.array([number[tuple(order)] for order in walk.orders.tolist()])
    counts = np.zeros((24, 24))
    np.add.at(counts, (states[:-1], states[1:]), 1)
    assert not counts[matrix == 0].any()
    expected = matrix * counts.sum(axis=1, keepdims=True)
    error = np.sqrt(np.maximum(expected * (1 - matrix), 1))
    assert (np.abs(counts - expected) <= 5 * error).all()


@DENSE
@pytest.mark.parametrize(("n", "beta"), [(4, 1.0), (5, 0.3)])
def test_frequencies_of_all_orders_pass_a_chi_square_test(dense, n, beta):
    table = small_table(n=n, m=12, arity=3)
    log_phi = oracles.families_of(table)
    orders = list(itertools.permutations(range(n)))
    target = np.array([beta * oracles.order_log_weight(log_phi, order) for order in orders])
    target = np.exp(target - oracles.log_sum(target))
    rng, total = np.random.default_rng(6), 30_000
    walk = OrderWalker.of(table, dense=dense).walk(
        rng.permutation(n), np.full(total, beta), 40, MIXTURE, rng
    )
    seen = Counter(map(tuple, walk.orders.tolist()))
    counts = np.array([seen[order] for order in orders])
    expected = total * target
    statistic = ((counts - expected) ** 2 / expected).sum()
    degrees = len(orders) - 1
    assert statistic < degrees + 5 * math.sqrt(2 * degrees)


def test_one_variable_stays_where_it_is():
    table = bn.score_families(bn.Data.from_arrays([[0], [1]]), bn.BDeu())
    draws = bn.sample_orders(table, draws=3, rng=np.random.default_rng(0), moves=MIXTURE)
    assert draws.values.shape == (4, 3, 1)
    assert not draws.values.any()


# Step by step


@DENSE
@pytest.mark.parametrize("moves", [Moves(), Moves(0, 1), Moves(0, 0, 1), MIXTURE], ids=repr)
def test_single_steps_lead_where_the_walk_leads(dense, moves, monkeypatch):
    if not dense:
        monkeypatch.setattr("bnlab.sampling.order_target.MAX_DENSE_NODES", 0)
    table = small_table(n=9, k=3)
    walker, start = OrderWalker.of(table), np.random.default_rng(1).permutation(9)
    rngs = np.random.default_rng(2), np.random.default_rng(2)
    walk = walker.walk(start.copy(), np.ones(400), 1, moves, rngs[0])
    given = start.copy()
    steps = [*itertools.islice(bn.each_order(table, rng=rngs[1], start=given, moves=moves), 400)]
    assert (given == start).all()
    assert (np.array([step.order for step in steps]) == walk.orders).all()
    assert [step.log_weight for step in steps] == walk.log_weights.tolist()
    assert rngs[0].bit_generator.state == rngs[1].bit_generator.state
    for kind, (tried, accepted) in zip(KINDS, walk.tally[0].tolist(), strict=True):
        assert sum(step.kind == kind for step in steps) == tried
        assert sum(step.kind == kind and step.accepted for step in steps) == accepted
    before = start
    for step in steps:
        assert tuple(step.proposed.tolist()) in oracles.neighbours(before.tolist(), step.kind)
        assert (step.order == (step.proposed if step.accepted else before)).all()
        before = step.order


def test_single_steps_are_those_of_a_chain():
    """The first chain of `sample_orders` and its child stream, from its own random order."""
    table = small_table(n=5)
    draws = bn.sample_orders(
        table, draws=20, chains=1, burn_in=0, thin=1, rng=np.random.default_rng(3)
    )
    (child,) = np.random.default_rng(3).spawn(1)
    steps = itertools.islice(bn.each_order(table, rng=child), 20)
    assert [step.order.tolist() for step in steps] == draws.values[0].tolist()


@pytest.mark.parametrize("start", [[0, 1], [0, 1, 2, 2], [1, 2, 3, 4], [[0, 1, 2, 3]], "abcd"])
def test_steps_start_at_an_order(start):
    wanted = "of numbers" if isinstance(start, str) else "give each of the 4 variables a place"
    with pytest.raises(ValueError, match=wanted):
        bn.each_order(small_table(), rng=np.random.default_rng(0), start=start)


# Chains


def chains(target, executor=None, **options):
    settings = {"draws": 200, "chains": 3, "burn_in": 500} | options
    return bn.sample_orders(target, rng=np.random.default_rng(8), executor=executor, **settings)


def test_edges_along_chains_approach_the_exact_ones():
    table = small_table(n=6, k=3, m=60)
    draws = chains(table, draws=4000, moves=MIXTURE)
    edges = bn.features.edges(draws, table=table)
    assert bn.diagnostics.max_error(edges, bn.order_posterior(table).edges) < 0.02
    assert set(draws.stats) == {"acceptance_swap", "acceptance_adjacent", "acceptance_relocate"}
    assert all((0.1 < share).all() and (share <= 1).all() for share in draws.stats.values())
    assert not draws.independent
    assert not draws.log_weight.any()


def test_draws_carry_their_log_targets_and_settings():
    table = small_table(n=5)
    draws = chains(table)
    log_phi = oracles.families_of(table)
    expected = [oracles.order_log_weight(log_phi, order) for order in draws.values[1].tolist()]
    assert draws.log_target[1] == pytest.approx(expected, abs=1e-10)
    assert draws.run.settings["thin"] == 5
    assert draws.run.settings["moves"] == repr(Moves())
    assert set(draws.stats) == {"acceptance_swap"}


@pytest.mark.parametrize("option", ["chains", "burn_in", "thin", "moves"])
def test_independent_draws_take_no_options_of_chains(option):
    posterior = bn.order_posterior(small_table())
    value = Moves() if option == "moves" else 3
    with pytest.raises(ValueError, match=f"{option}=.*independent"):
        bn.sample_orders(posterior, draws=5, rng=np.random.default_rng(0), **{option: value})


@pytest.mark.parametrize("weights", [(0, 0, 0), (-1, 2, 0), (math.inf, 0, 0), (math.nan, 1, 1)])
def test_moves_need_weights(weights):
    with pytest.raises(ValueError, match="weights"):
        Moves(*weights)


def test_memory_is_checked_before_it_is_taken(monkeypatch):
    table = small_table(n=6)
    monkeypatch.setattr("bnlab.memory.free_bytes", lambda: 1000)
    with pytest.raises(ValueError, match="walking on orders needs"):
        chains(table)


@pytest.mark.parametrize("schedule", [None, bn.Linear(2)], ids=["alone", "coupled"])
def test_chains_that_meet_no_order_with_a_dag_are_refused(schedule):
    data = bn.Data.from_arrays(np.random.default_rng(0).integers(0, 2, size=(9, 3)))
    table = requiring(bn.score_families(data, bn.BDeu()), (0, 1), (1, 0))
    with pytest.raises(ValueError, match="leave no DAG"):
        bn.sample_orders(
            table, draws=5, burn_in=20, rng=np.random.default_rng(1), schedule=schedule
        )


def test_too_many_chains_are_refused_at_once():
    with pytest.raises(ValueError, match="1000000000000 x 1 draws"):
        bn.sample_orders(small_table(), draws=1, chains=10**12, rng=np.random.default_rng(1))
