"""Mixtures of trees: EM against its definition, and what every fit promises."""

import itertools
import math
import pickle
from dataclasses import replace

import networkx as nx
import numpy as np
import oracles
import pytest

import bnlab as bn
from bnlab.search import mixtures


def generator(seed=1):
    return np.random.default_rng(seed)


def random_data(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 7)), int(rng.integers(1, 120))
    arities = rng.integers(2, 5, size=n)
    values = rng.integers(0, arities, size=(m, n))
    for v in range(1, n):
        copied = rng.random(m) < 0.6
        values[copied, v] = values[copied, rng.integers(v)] % arities[v]
    return bn.Data.from_arrays(values, arities=arities)


def value_of(mixture, data, ess):
    """What EM climbs, by listing all joint states."""
    value = mixture.log_density(data).sum()
    if ess:
        states = np.array(list(itertools.product(*map(range, data.arities))))
        every = bn.Data.from_arrays(states, arities=data.arities)
        for weight, tree in zip(mixture.weights, mixture.networks, strict=True):
            value += ess * (math.log(weight) + tree.log_likelihood(every).mean())
    return value


@pytest.mark.quick("0.0")
@pytest.mark.parametrize("ess", [0.0, 1.0])
def test_the_value_never_falls(ess):
    """On 40 random problems; it is what its definition says."""
    for seed in range(40):
        data = random_data(seed)
        mixture = bn.fit_tree_mixture(
            data, components=1 + seed % 4, restarts=1, rng=generator(seed), ess=ess
        )
        assert (np.diff(mixture.trace) >= -1e-9 * data.m).all()
        assert mixture.value == mixture.trace[-1] == mixture.values[0]
        assert mixture.value == pytest.approx(value_of(mixture, data, ess), abs=1e-8)
        assert mixture.weights.sum() == pytest.approx(1)
        assert (np.diff(mixture.weights) <= 0).all()
        for tree in mixture.networks:
            assert np.bitwise_count(tree.dag).tolist() == [0] + [1] * (data.n - 1)


def slow_m_step(values, arities, weights, ess):
    """The largest expected log probability of any tree, by its definition, and its tables."""
    n = len(arities)

    def count(wanted):
        """Weighted rows that agree, and the evenly spread ones."""
        evenly = ess / math.prod(int(arities[v]) for v in wanted)
        return evenly + math.fsum(
            w
            for row, w in zip(values, weights, strict=True)
            if all(row[v] == x for v, x in wanted.items())
        )

    def score(edges):
        total = math.fsum(
            c * math.log(c / count({})) for x in range(arities[0]) if (c := count({0: x}))
        )
        for u, v in edges:
            for a, b in itertools.product(range(arities[u]), range(arities[v])):
                both = count({u: a, v: b})
                total += both * math.log(both / count({u: a}))
        return total

    codes = itertools.product(range(n), repeat=n - 2)
    trees = [nx.bfs_tree(nx.from_prufer_sequence(list(code)), 0).edges for code in codes]
    return max(map(score, trees)), score


@pytest.mark.parametrize("n", [3, 4])
def test_the_m_step_finds_the_best_tree_and_tables(n):
    for seed in range(3):
        rng = generator(seed)
        arities = rng.integers(2, 4, size=n)
        values = rng.integers(0, arities, size=(12, n))
        data = bn.Data.from_arrays(values, arities=arities)
        problem = mixtures._problem(data, 1, 0.7, 10)
        rows = np.unique(values, axis=0).tolist()
        weights = rng.random(len(rows))
        tree = mixtures._tree(problem, weights)
        best, score = slow_m_step(rows, arities, weights.tolist(), 0.7)
        edges = [(int(u), v) for v, u in enumerate(tree.parents) if u != v]
        assert score(edges) == pytest.approx(best, abs=1e-9)
        log_p = np.empty(len(rows))
        mixtures._log_p(problem, tree, log_p)
        expected = (weights * log_p).sum()
        expected += 0.7 * sum(np.log(table).mean() for table in tree.tables)
        assert expected == pytest.approx(best, abs=1e-9)


def test_one_component_without_prior_is_the_chow_liu_tree():
    for seed in range(20):
        data = random_data(seed)
        mixture = bn.fit_tree_mixture(data, components=1, restarts=1, rng=generator(), ess=0.0)
        table = bn.score_families(data, bn.LogLikelihood(), max_parents=1)
        tree = bn.chow_liu(data)
        assert mixture.value == pytest.approx(table.log_target(tree), abs=1e-8)
        assert mixture.networks[0].dag.tolist() == tree.tolist()


def test_the_density_is_the_weighted_sum():
    data = random_data(11)
    mixture = bn.fit_tree_mixture(data, components=3, rng=generator())
    states = list(itertools.product(*map(range, data.arities)))
    p = [0.0] * len(states)
    for weight, tree in zip(mixture.weights, mixture.networks, strict=True):
        for i, x in enumerate(states):
            term = weight
            for v, table in enumerate(tree.tables):
                (u,) = oracles.members(tree.dag[v]) or [None]
                term *= table[0 if u is None else x[u]][x[v]]
            p[i] += term
    assert math.fsum(p) == pytest.approx(1)
    assert np.exp(mixture.log_density(states)) == pytest.approx(np.array(p), abs=1e-12)
    assert mixture.responsibilities(states).sum(axis=1) == pytest.approx(1)
    assert mixture.log_density(data).shape == (data.m,)


def two_trees():
    """A chain and a star of ten variables, 1200 and 800 rows, with the row's component."""
    rng, n = generator(3), 10
    chain, star = [0, *(1 << v for v in range(n - 1))], [0] + [1] * (n - 1)
    nets = [bn.BayesNet.random_tables(d, [3] * n, rng, concentration=0.3) for d in (chain, star)]
    samples = [net.sample(m, rng).values for net, m in zip(nets, (1200, 800), strict=True)]
    net = nets[0]
    data = bn.Data(np.vstack(samples), net.arities, net.names, net.levels)
    log_p = np.logaddexp(
        *(math.log(w) + net.log_likelihood(data) for net, w in zip(nets, (0.6, 0.4), strict=True))
    )
    return data, np.repeat([0, 1], [1200, 800]), log_p.sum()


def test_it_finds_two_trees():
    data, component, log_p = two_trees()
    mixture = bn.fit_tree_mixture(data, components=2, restarts=6, rng=generator())
    assert mixture.converged
    assert mixture.weights == pytest.approx([0.6, 0.4], abs=0.01)
    found = mixture.responsibilities(data).argmax(axis=1)
    assert (found == component).mean() > 0.98
    assert mixture.log_density(data).sum() > log_p
    one = bn.fit_tree_mixture(data, components=1, restarts=1, rng=generator())
    assert one.value < mixture.value - 1000


def arrays(mixture):
    tables = [table for tree in mixture.networks for table in (tree.dag, *tree.tables)]
    return [mixture.weights, mixture.trace, mixture.values, *tables]


def test_the_starts_of_another_fit_are_refused(tmp_path):
    path, usual = tmp_path / "starts", {"components": 2, "restarts": 2}
    bn.fit_tree_mixture(random_data(4), **usual, rng=generator(), checkpoint=path)
    for other, match in (
        ({"components": 3}, "its components is 2, here it is 3"),
        ({"ess": 2}, "its ess is 1.0, here it is 2.0"),
        ({"max_iterations": 5}, "its max_iterations is 1000"),
        ({"data": random_data(5)}, "its data is"),
    ):
        settings = {"data": random_data(4)} | usual | other
        with pytest.raises(ValueError, match=match):
            bn.fit_tree_mixture(settings.pop("data"), **settings, rng=generator(), checkpoint=path)


def test_memory_for_rows_and_for_fits_is_refused_before_it_is_taken(monkeypatch):
    data = random_data(4)
    for free, match in ((10, "finding the distinct ones of"), (10_000, "fitting 100 trees from 2")):
        monkeypatch.setattr("bnlab.memory.free_bytes", lambda free=free: free)
        with pytest.raises(ValueError, match=match):
            bn.fit_tree_mixture(data, components=100, restarts=2, rng=generator())


def test_iterations_may_be_limited():
    mixture = bn.fit_tree_mixture(random_data(5), components=2, rng=generator(), max_iterations=2)
    assert mixture.trace.size == 2
    assert not mixture.converged


def test_the_run_is_on_record_and_the_result_read_only():
    data = random_data(6)
    before = pickle.dumps(data)
    mixture = bn.fit_tree_mixture(data, components=2, rng=generator())
    assert pickle.dumps(data) == before
    assert mixture.run.method == "EM"
    assert mixture.run.settings["components"] == 2
    assert "PCG64" in mixture.run.seed
    copy = pickle.loads(pickle.dumps(mixture))
    for kept in (mixture, copy):
        with pytest.raises(ValueError, match="read-only"):
            kept.weights[0] = 0
    assert all(map(np.array_equal, arrays(mixture), arrays(copy)))


def test_more_components_than_rows_and_rows_of_density_0():
    data = bn.Data.from_arrays([[0, 0], [1, 1]])
    for ess in (0.0, 1e-100, 1.0, 1e100):
        mixture = bn.fit_tree_mixture(data, components=4, rng=generator(), ess=ess)
        assert np.isfinite(mixture.value)
        assert np.isfinite(mixture.log_density(data)).all()
    mixture = bn.fit_tree_mixture(data, components=2, rng=generator(), ess=0.0)
    assert mixture.value == pytest.approx(-2 * math.log(2), abs=1e-4)
    one = bn.fit_tree_mixture(data, components=1, rng=generator(), ess=0.0)
    assert one.log_density([[0, 1], [0, 0]]).tolist() == [-math.inf, math.log(0.5)]
    assert one.responsibilities([[0, 1], [0, 0]]).tolist() == [[1.0], [1.0]]


def test_what_cannot_be_fitted_is_refused():
    data = random_data(7)
    fit = bn.fit_tree_mixture
    with pytest.raises(ValueError, match="components=0"):
        fit(data, components=0, rng=generator())
    with pytest.raises(ValueError, match="restarts=0"):
        fit(data, components=2, restarts=0, rng=generator())
    with pytest.raises(ValueError, match="max_iterations=0"):
        fit(data, components=2, max_iterations=0, rng=generator())
    for ess in (-1.0, math.nan, math.inf, 1e-200):
        with pytest.raises(ValueError, match="equivalent sample size"):
            fit(data, components=2, ess=ess, rng=generator())
    with pytest.raises(ValueError, match="no generator"):
        fit(data, components=2, rng=1)
    with pytest.raises(ValueError, match="make it a Data"):
        fit(data.values, components=2, rng=generator())
    with pytest.raises(ValueError, match="mixture of trees is for observations"):
        held = replace(data, intervened=np.zeros(data.values.shape, bool))
        fit(held, components=2, rng=generator())
    with pytest.raises(ValueError, match="no rows"):
        fit(data.prefix(0), components=2, rng=generator())
    with pytest.raises(ValueError, match="bytes"):
        fit(data, components=10**13, rng=generator())
    with pytest.raises(ValueError, match=f"at most one to each of {data.m} rows, or 100"):
        fit(data, components=max(data.m, 100) + 1, rng=generator())
    mixture = fit(data, components=2, rng=generator())
    with pytest.raises(ValueError, match="code"):
        mixture.log_density(data.values - 1)
    with pytest.raises(ValueError, match="variable"):
        mixture.log_density(random_data(11))
