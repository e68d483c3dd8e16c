"""Chains coupled over temperatures (MC3): their law, what they estimate, where they run."""

import itertools
import math
import pickle
from collections import Counter
from dataclasses import replace

import numpy as np
import oracles
import pytest
from tables import uncompiled

import bnlab as bn
from bnlab.kernels import bits, order_walks
from bnlab.sampling import OrderWalker
from bnlab.sampling.order_target import Moves

MIXTURE = Moves(swap=2, adjacent=1, relocate=1)
SCHEDULE = bn.Betas((0.0, 0.3, 1.0))
DENSE = pytest.mark.parametrize("dense", [True, False], ids=["dense", "families"])


def small_table(n=4, k=2, m=12, seed=0):
    data = bn.Data.from_arrays(np.random.default_rng(seed).integers(0, 3, size=(m, n)))
    return bn.score_families(data, bn.BDeu(), max_parents=k)


PEAKS = ([0, 1, 2, 3, 4, 5], [2, 4, 0, 5, 1, 3])


def two_peaks(height=20.0):
    """Each variable likes all of those before it as parents, in one order or in the other.

    The peaks begin with different variables, weigh the same, and each swap on the way from one to
    the other leads through a valley that is `height` nats deep.
    """
    table = small_table(n=6, k=5)
    liked = np.zeros(table.parents.shape, bool)
    for order in PEAKS:
        for position in range(1, 6):
            before = sum(1 << u for u in order[:position])
            liked[order[position]] |= table.parents[order[position]] == before
    return replace(table, log_score=np.where(liked, height, 0.0), log_prior=np.zeros(liked.shape))


# The law


def joint_states(orders, chains):
    return list(itertools.product(range(len(orders)), repeat=chains))


def exchanges_matrix(log_weight, betas):
    """C - 1 proposals, one after the other, that two random neighbours exchange their orders."""
    states = joint_states(log_weight, len(betas))
    number, pairs = {state: i for i, state in enumerate(states)}, len(betas) - 1
    matrix = np.zeros((len(states), len(states)))
    for state, row in number.items():
        for i in range(pairs):
            j = i + 1
            swapped = list(state)
            swapped[i], swapped[j] = state[j], state[i]
            gain = (betas[i] - betas[j]) * (log_weight[state[j]] - log_weight[state[i]])
            p = min(1.0, math.exp(gain)) / pairs
            matrix[row, number[tuple(swapped)]] += p
            matrix[row, row] += 1 / pairs - p
    return np.linalg.matrix_power(matrix, pairs)


def joint_transition(table, betas, thin, weights):
    """(matrix, target) of coupled chains on all tuples of orders."""
    log_phi, moved, target = oracles.families_of(table), np.ones((1, 1)), np.ones(1)
    for beta in betas:
        _, matrix, log_weight = oracles.transition_matrix(log_phi, table.n, beta, weights)
        moved = np.kron(moved, np.linalg.matrix_power(matrix, thin))
        law = np.exp(beta * log_weight - oracles.log_sum(beta * log_weight))
        target = np.kron(target, law)
    return moved @ exchanges_matrix(log_weight, betas), target


@pytest.mark.parametrize("betas", [(0.2, 1.0), (0.0, 0.5, 1.0)], ids=len)
def test_the_exact_joint_transition_leaves_the_product_invariant(betas):
    table = small_table(n=3)
    matrix, target = joint_transition(table, betas, 2, {"swap": 1, "adjacent": 1})
    assert matrix.sum(axis=1) == pytest.approx(1)
    assert target @ matrix == pytest.approx(target, abs=1e-14)


@pytest.mark.quick("families")
@DENSE
def test_one_step_transitions_are_those_of_the_exact_matrix(dense):
    table, betas, moves = small_table(n=3), np.array([0.2, 1.0]), Moves(1, 1, 1)
    expected, _ = joint_transition(
        table, betas, 2, {kind: 1 for kind in ("swap", "adjacent", "relocate")}
    )
    orders = list(itertools.permutations(range(3)))
    number = {(*orders[a], *orders[b]): i for i, (a, b) in enumerate(joint_states(orders, 2))}
    walker, rng = OrderWalker.of(table, dense=dense), np.random.default_rng(1)
    states = np.array([[0, 1, 2], [2, 1, 0]])
    seen = []
    for _ in range(40_000):
        walk = walker.walk_coupled(states, betas, 1, 2, moves, rng)
        assert (walk.orders[0] == states[1]).all()
        seen.append(number[tuple(states.ravel().tolist())])
    counts = np.zeros(expected.shape)
    np.add.at(counts, (seen[:-1], seen[1:]), 1)
    assert not counts[expected == 0].any()
    mean = expected * counts.sum(axis=1, keepdims=True)
    error = np.sqrt(np.maximum(mean * (1 - expected), 1))
    assert (np.abs(counts - mean) <= 5 * error).all()


@pytest.mark.quick("dense")
@DENSE
def test_every_temperature_visits_all_orders_as_it_should(dense):
    """A chi-square test of each chain, from the coldest to the hottest."""
    n, total = 4, 20_000
    table = small_table(n=n)
    walker, rng = OrderWalker.of(table, dense=dense), np.random.default_rng(6)
    betas = SCHEDULE.betas
    states = np.array([rng.permutation(n) for _ in betas])
    seen = [Counter() for _ in betas]
    for _ in range(total):
        walker.walk_coupled(states, betas, 1, 30, MIXTURE, rng)
        for c, order in enumerate(states.tolist()):
            seen[c][tuple(order)] += 1
    orders = list(itertools.permutations(range(n)))
    log_phi = oracles.families_of(table)
    log_weight = np.array([oracles.order_log_weight(log_phi, order) for order in orders])
    degrees = len(orders) - 1
    for beta, counter in zip(betas, seen, strict=True):
        expected = total * np.exp(beta * log_weight - oracles.log_sum(beta * log_weight))
        counts = np.array([counter[order] for order in orders])
        statistic = ((counts - expected) ** 2 / expected).sum()
        assert statistic < degrees + 5 * math.sqrt(2 * degrees)


@DENSE
def test_records_are_those_of_the_states(dense):
    """Weights go with the orders when these are exchanged, and coupled chains of one are a walk."""
    walker = OrderWalker.of(small_table(n=6), dense=dense)
    states = np.array([np.random.default_rng(c).permutation(6) for c in range(5)])
    rng, betas = np.random.default_rng(0), bn.Harmonic(4).betas
    walk = walker.walk_coupled(states, betas, 300, 3, MIXTURE, rng)
    assert (walk.orders[-1] == states[-1]).all()
    assert (walk.log_weights[-1] == walker.log_weights(states)).all()
    assert (walk.log_weights[:, -1] == walker.log_weights(walk.orders)).all()
    assert (walk.tally[0, :, :, 0].sum(axis=1) == 900).all()
    assert walk.tally[0, 0, :, 0].tolist() == walk.tally[0, 0, :, 1].tolist()  # uniform at beta 0
    assert walk.exchanges[:, 0].sum() == 4 * 300
    assert (walk.exchanges[:, 1] <= walk.exchanges[:, 0]).all()

    one, same = states[:1].copy(), states[0].copy()
    coupled = walker.walk_coupled(one, np.ones(1), 50, 2, MIXTURE, np.random.default_rng(5))
    alone = walker.walk(same, np.ones(50), 2, MIXTURE, np.random.default_rng(5))
    assert (coupled.orders == alone.orders).all()
    assert (coupled.log_weights[:, 0] == alone.log_weights).all()


@DENSE
def test_compiled_coupled_chains_equal_their_python_source(dense, monkeypatch):
    walker = OrderWalker.of(small_table(n=5), dense=dense)

    def walk():
        states, rng = np.array([np.arange(5)] * 3), np.random.default_rng(2)
        return walker.walk_coupled(states, SCHEDULE.betas, 40, 2, MIXTURE, rng)

    compiled = walk()
    uncompiled(monkeypatch, bits, order_walks)
    for fast, slow in zip(compiled, walk(), strict=True):
        assert fast == pytest.approx(slow, abs=1e-12)


# What they estimate


def telescoped(draws):
    """ln Z of each ensemble, from the orders at each temperature [NiinimakiKoivisto2013]."""
    steps = np.diff(draws.stats["beta"])
    log_terms = draws.traces["tempered"][:, :, :-1] * steps
    means = np.logaddexp.reduce(log_terms, axis=1) - math.log(log_terms.shape[1])
    return means.sum(axis=1) + math.lgamma(draws.values.shape[2] + 1)


@pytest.mark.parametrize("schedule", [bn.Linear(6), bn.Harmonic(6), SCHEDULE], ids=repr)
def test_the_telescoped_evidence_of_a_small_table(schedule):
    table = small_table(n=5, k=3, m=40)
    draws = bn.sample_orders(
        table,
        draws=2000,
        chains=30,
        burn_in=200,
        moves=MIXTURE,
        schedule=schedule,
        rng=np.random.default_rng(3),
    )
    log_z = telescoped(draws)
    stderr = log_z.std(ddof=1) / math.sqrt(log_z.size)
    assert stderr < 0.02
    assert abs(log_z.mean() - bn.order_posterior(table).log_z) < 4 * stderr


def test_the_telescoped_evidence_and_the_edges_of_tic_tac_toe():
    """A posterior whose peaks keep single chains apart."""
    table = bn.score_families(bn.load_dataset("tic_tac_toe"), bn.K2(), max_parents=3)
    posterior = bn.order_posterior(table)
    draws = bn.sample_orders(
        table,
        draws=4000,
        chains=8,
        burn_in=2000,
        schedule=bn.Linear(20),
        rng=np.random.default_rng(4),
    )
    log_z = telescoped(draws)
    stderr = log_z.std(ddof=1) / math.sqrt(log_z.size)
    assert stderr < 0.1
    assert abs(log_z.mean() - posterior.log_z) < 4 * stderr
    edges = bn.features.edges(draws, table=table)
    assert bn.diagnostics.max_error(edges, posterior.edges) < 0.05


def test_coupling_frees_chains_that_are_stuck():
    """A single chain stays on one of two peaks, a coupled one halves its time between them."""
    table = two_peaks()
    settings = {"draws": 5000, "chains": 6, "burn_in": 1000, "thin": 6}
    alone = bn.sample_orders(table, rng=np.random.default_rng(5), **settings)
    coupled = bn.sample_orders(
        table, rng=np.random.default_rng(5), schedule=bn.Linear(10), **settings
    )
    share_alone = (alone.values[:, :, 0] == PEAKS[0][0]).mean(axis=1)
    assert set(share_alone.tolist()) == {0.0, 1.0}
    share_coupled = (coupled.values[:, :, 0] == PEAKS[0][0]).mean(axis=1)
    assert share_coupled == pytest.approx(0.5, abs=0.2)
    edges = bn.features.edges(coupled, table=table)
    assert bn.diagnostics.max_error(edges, bn.order_posterior(table).edges) < 0.05


def test_chains_at_one_temperature_always_exchange():
    draws = chains(two_peaks(), schedule=bn.Betas((0, 0, 1, 1)))
    accepted = draws.stats["acceptance_exchange"]
    assert (accepted[:, [0, 2]] == 1).all()
    assert (accepted[:, 1] < 0.5).all()


# As users call them


def chains(table, executor=None, **options):
    settings = {"draws": 60, "chains": 3, "burn_in": 100, "schedule": SCHEDULE} | options
    return bn.sample_orders(table, rng=np.random.default_rng(8), executor=executor, **settings)


def same(one, other):
    return (
        (one.values == other.values).all()
        and (one.log_target == other.log_target).all()
        and (one.traces["tempered"] == other.traces["tempered"]).all()
        and all((one.stats[name] == other.stats[name]).all() for name in one.stats)
    )


def test_draws_are_of_the_coldest_chain_and_tell_of_the_others():
    table = small_table(n=5)
    draws = chains(table)
    assert draws.values.shape == (3, 60, 5)
    assert draws.traces["tempered"].shape == (3, 60, 3)
    assert (draws.log_target == draws.traces["tempered"][:, :, -1]).all()
    log_phi = oracles.families_of(table)
    expected = [oracles.order_log_weight(log_phi, order) for order in draws.values[1].tolist()]
    assert draws.log_target[1] == pytest.approx(expected, abs=1e-10)
    assert {name: value.shape for name, value in draws.stats.items()} == {
        "beta": (3,),
        "acceptance": (3, 3),
        "acceptance_exchange": (3, 2),
    }
    assert (draws.stats["beta"] == SCHEDULE.betas).all()
    assert (draws.stats["acceptance"][:, 0] == 1).all()
    assert draws.run.method == "MC3"
    assert draws.run.settings["schedule"] == repr(SCHEDULE)
    assert draws.groups.tolist() == [[0] * 60, [1] * 60, [2] * 60]
    assert draws.prefix(7).traces["tempered"].shape == (3, 7, 3)
    assert same(pickle.loads(pickle.dumps(draws)), draws)


class Falling:
    """A schedule of somebody's own that goes the wrong way."""

    betas = np.array([1.0, 0.0])

    def __repr__(self):  # a test's name must not hold an address
        return "Falling()"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"schedule": 3}, "schedule=3 is no Schedule: pass .* Linear"),
        ({"schedule": Falling()}, "rise from 0 to 1"),
        ({"draws": 10**15}, "walking on orders needs"),
        ({"schedule": bn.Linear(10**6), "draws": 10**6}, "walking on orders needs"),
    ],
    ids=str,
)
def test_bad_settings_say_what_is_wrong(options, message):
    with pytest.raises(ValueError, match=message):
        chains(small_table(), **options)


def test_one_variable_has_one_order():
    table = bn.score_families(bn.Data.from_arrays([[0], [1]]), bn.BDeu())
    draws = chains(table, moves=MIXTURE)
    assert not draws.values.any()
    assert telescoped(draws) == pytest.approx(bn.order_posterior(table).log_z)
