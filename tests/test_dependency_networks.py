"""Dependency networks: local conditionals, lookups, and the joint of the ordered Gibbs sampler."""

import itertools
import math
import pickle
from dataclasses import replace

import numpy as np
import oracles
import pytest

import bnlab as bn

UNIFORM, BDEU = bn.Uniform(), bn.BDeu()
EVERYTHING = bn.EdgePenalty(nats=-1e6)  # all the others are the best parents


def random_data(seed, n=3, m=60):
    rng = np.random.default_rng(seed)
    arities = rng.integers(2, 4, size=n)
    values = rng.integers(0, arities, size=(m, n))
    for v in range(1, n):
        copied = rng.random(m) < 0.5
        values[copied, v] = values[copied, rng.integers(v)] % arities[v]
    return bn.Data.from_arrays(values, arities=arities)


def fitted(data, k=None, prior=UNIFORM, score=BDEU):
    k = data.n - 1 if k is None else k
    table = bn.score_families(data, score, max_parents=k, prior=prior)
    return bn.fit_dependency_network(table, data, score=score)


def slow_conditional(data, parents, v, x, added):
    """(a + N_jk) / (r a + N_j) for each state, by counting; `added` is a, given r q."""
    rows = data.values.tolist()
    if data.intervened is not None:
        rows = [row for row, held in zip(rows, data.intervened[:, v], strict=True) if not held]
    above = oracles.members(parents)
    alike = [row for row in rows if all(row[u] == x[u] for u in above)]
    r = int(data.arities[v])
    a = added(r * math.prod(int(data.arities[u]) for u in above))
    return [(a + sum(row[v] == s for row in alike)) / (r * a + len(alike)) for s in range(r)]


def states_of(arities):
    return list(itertools.product(*map(range, arities)))


def stationary(net, order=None):
    """The joint of the ordered Gibbs sampler: the state after a sweep, by the power method."""
    states = states_of(net.arities)
    number = {x: i for i, x in enumerate(states)}
    sweep = np.eye(len(states))
    for v in range(len(net.names)) if order is None else order:
        step = np.zeros((len(states), len(states)))
        for x in states:
            p = net.conditional(v, [x])[0]
            for s in range(net.arities[v]):
                step[number[x], number[(*x[:v], s, *x[v + 1 :])]] = p[s]
        sweep = sweep @ step
    return np.linalg.matrix_power(sweep, 1 << 16)[0]


def counts_of(data):
    places = np.ravel_multi_index(data.values.T, data.arities)
    return np.bincount(places, minlength=math.prod(data.arities.tolist()))


# Fitting and looking up


def test_each_parent_set_is_the_best_of_its_node():
    for seed in range(20):
        data = random_data(seed, n=5)
        table = bn.score_families(data, bn.BDeu(), max_parents=2, prior=bn.Fair())
        net = bn.fit_dependency_network(table, data)
        for v, row in enumerate(oracles.families_of(table)):
            scores = dict(zip(row, table.log_phi[v], strict=True))
            assert scores[int(net.parents[v])] == max(scores.values())


@pytest.mark.parametrize(
    ("score", "added"),
    [(bn.BDeu(ess=3.0), lambda cells: 3.0 / cells), (bn.K2(), lambda cells: 1.0)],
    ids=["BDeu", "K2"],
)
def test_conditionals_by_counting(score, added):
    for seed in range(10):
        data = random_data(seed, n=4)
        held = np.random.default_rng(seed).random(data.values.shape) < 0.2
        for given in (data, replace(data, intervened=held)):
            net = fitted(given, k=2, score=score)
            states = states_of(data.arities)
            for v in range(4):
                found = net.conditional(v, states)
                assert found.shape == (len(states), data.arities[v])
                wanted = [slow_conditional(given, net.parents[v], v, x, added) for x in states]
                assert found == pytest.approx(np.array(wanted), abs=1e-12)


def test_equivalent_scores_give_cycles():
    data = random_data(3, n=2, m=200)
    net = fitted(data)
    assert net.parents.tolist() == [2, 1]
    assert repr(net) == "DependencyNetwork(2 variables, 2 parents)"


def test_the_cell_itself_is_not_looked_at():
    data = random_data(4, n=4)
    net = fitted(data)
    rows = data.values.copy()
    known = net.conditional("x2", rows)
    rows[:, 2] = -1
    assert np.array_equal(net.conditional(2, rows), known)
    assert np.array_equal(net.conditional(2, data), known)


def test_a_basket_in_collaborative_filtering():
    """p(x_i = 1 | what was bought, not the rest): who buys pasta and sauce buys cheese."""
    rng = np.random.default_rng(5)
    values = (rng.random((3000, 5)) < 0.3).astype(int)
    together = values[:, 0] & values[:, 1]
    values[:, 2] = np.where(rng.random(3000) < 0.9, together, values[:, 2])
    data = bn.Data.from_arrays(values, names=["pasta", "sauce", "cheese", "soap", "pen"])
    net = fitted(data, k=3)
    assert net.parents[2] == 0b11
    baskets = np.array([[1, 1, 0, 0, 0], [1, 0, 0, 1, 0]])
    assert net.conditional("cheese", baskets)[:, 1] == pytest.approx([0.93, 0.03], abs=0.03)


# The joint distribution


def test_the_joint_of_complete_conditionals_is_the_posterior_mean_joint():
    """With all others as parents the conditionals are those of (a + N_x) / (a cells + m)."""
    data = random_data(6, n=3, m=80)
    net = fitted(data, prior=EVERYTHING)
    assert net.parents.tolist() == [6, 5, 3]
    cells = math.prod(data.arities.tolist())
    joint = (1 / cells + counts_of(data)) / (1 + data.m)
    assert stationary(net) == pytest.approx(joint, abs=1e-9)
    m = 20_000
    drawn = net.sample(m, np.random.default_rng(1), sweeps=150)
    assert oracles.chi_square(counts_of(drawn), m * joint) > 1e-4


def test_the_joint_of_a_chain_is_that_of_its_network():
    """The conditionals are those of a Markov chain a - b - c - d, from very many rows."""
    rng = np.random.default_rng(7)
    net = bn.BayesNet.random_tables([0, 1, 2, 4], [2, 3, 2, 3], rng, concentration=3.0)
    data = net.sample(400_000, rng)
    local = fitted(data)
    assert local.parents.tolist() == [0b10, 0b101, 0b1010, 0b100]
    every = bn.Data.from_arrays(states_of(net.arities), net.arities)
    joint = np.exp(net.log_likelihood(every))
    assert stationary(local) == pytest.approx(joint, abs=2e-3)
    m = 10_000
    drawn = local.sample(m, np.random.default_rng(2), sweeps=60)
    assert oracles.chi_square(counts_of(drawn), m * joint) > 1e-4


def test_conditionals_of_no_joint_still_define_one():
    rng = np.random.default_rng(8)
    net = fitted(random_data(8), prior=EVERYTHING)
    tables = tuple(rng.dirichlet(np.ones(t.shape[1]), len(t)) for t in net.tables)
    net = replace(net, tables=tables)
    joint = stationary(net)
    assert abs(stationary(net, order=[2, 1, 0]) - joint).max() > 0.01  # it depends on the order
    m = 20_000
    drawn = net.sample(m, np.random.default_rng(3), sweeps=100)
    assert oracles.chi_square(counts_of(drawn), m * joint) > 1e-4


def test_sampling_is_repeatable_and_keeps_the_variables():
    data = random_data(9, n=4)
    net = fitted(data)
    first, second = (net.sample(50, np.random.default_rng(4), sweeps=3) for _ in range(2))
    assert np.array_equal(first.values, second.values)
    assert (first.names, first.levels) == (data.names, data.levels)
    assert net.sample(0, np.random.default_rng(4)).m == 0


# Promises


def test_the_result_is_read_only_and_pickles():
    data = random_data(10)
    net = fitted(data)
    copy = pickle.loads(pickle.dumps(net))
    for kept in (net, copy):
        with pytest.raises(ValueError, match="read-only"):
            kept.parents[0] = 0
        with pytest.raises(ValueError, match="read-only"):
            kept.tables[0][0] = 0
    assert all(map(np.array_equal, net.tables, copy.tables))
    assert not data.arities.flags.writeable


def test_what_does_not_fit_is_refused():
    data = random_data(11)
    table = bn.score_families(data, bn.BDeu())
    with pytest.raises(ValueError, match="no ScoreTable"):
        bn.fit_dependency_network(data, data)
    with pytest.raises(ValueError, match="make it a Data"):
        bn.fit_dependency_network(table, data.values)
    with pytest.raises(
        ValueError, match="the scores are of the variables x0, x1, x2, the data of x1, x0, x2"
    ):
        bn.fit_dependency_network(table, data.select(["x1", "x0", "x2"]))
    with pytest.raises(ValueError, match="no pseudo-counts"):
        bn.fit_dependency_network(table, data, score=bn.BIC())
    with pytest.raises(ValueError, match="pass an instance"):
        bn.fit_dependency_network(table, data, score=bn.BDeu)
    net = bn.fit_dependency_network(table, data)
    with pytest.raises(ValueError, match="node 3"):
        net.conditional(3, data)
    with pytest.raises(ValueError, match="no variable 'x9'"):
        net.conditional("x9", data)
    with pytest.raises(ValueError, match="code -1 is negative"):
        net.conditional(0, [[0, -1, 0]])
    for rows in ([0, 1, 0], [[0, 1]], np.zeros((1, 3))):
        with pytest.raises(ValueError, match=r"array|columns|codes"):
            net.conditional(0, rows)
    with pytest.raises(ValueError, match="are not of the variables"):
        net.conditional(0, random_data(12, n=4))
    rng = np.random.default_rng(1)
    for options in ({"m": -1}, {"m": 3, "sweeps": 0}):
        with pytest.raises(ValueError, match=r"m=-1|sweeps=0"):
            net.sample(options.pop("m"), rng, **options)
    with pytest.raises(ValueError, match="no generator"):
        net.sample(3, 1)


def test_tables_that_are_too_large_are_refused():
    data = bn.Data.from_arrays(np.zeros((0, 4), int), arities=[300] * 4)
    table = bn.score_families(data, bn.BDeu(), max_parents=3, prior=EVERYTHING)
    with pytest.raises(ValueError, match="entries"):
        bn.fit_dependency_network(table, data)
