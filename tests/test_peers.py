"""Independent implementations: pgmpy and pybnesian for scores, sumu's aps for exact posteriors.

They come with the `peers` extra, which needs a C++ compiler; without it these tests skip.
"""

import math

import numpy as np
import oracles
import pytest

import bnlab as bn


def random_data(seed, n=7, m=300):
    rng = np.random.default_rng(seed)
    arities = rng.integers(2, 5, size=n)
    values = (rng.random((m, n)) ** 1.5 * arities).astype(int)
    values[:, 3] = (values[:, 0] + values[:, 1]) % arities[3]
    values[:2] = [arities - 1, arities * 0]
    return bn.Data.from_arrays(values, arities=arities)


def frame_of(data):
    import pandas as pd

    return pd.DataFrame(
        {
            name: pd.Categorical(
                [data.levels[v][code] for code in data.values[:, v]], categories=data.levels[v]
            )
            for v, name in enumerate(data.names)
        }
    )


def random_families(table, count, seed):
    """(v, f, names of the parents) of families drawn at random."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        v, f = rng.integers(table.n), rng.integers(table.parents.shape[1])
        yield v, f, [table.names[u] for u in oracles.members(table.parents[v, f])]


PGMPY = {"BDeu": (bn.BDeu(3.0), {"equivalent_sample_size": 3.0}), "K2": (bn.K2(), {})}
PGMPY |= {"BIC": (bn.BIC(), {}), "AIC": (bn.AIC(), {}), "LogLikelihood": (bn.LogLikelihood(), {})}


@pytest.mark.quick("BDeu", "K2")
@pytest.mark.parametrize("name", PGMPY)
def test_scores_equal_pgmpys_on_random_families(name):
    peer = pytest.importorskip("pgmpy.structure_score", reason="needs the peers extra")
    score, options = PGMPY[name]
    data = random_data(1)
    theirs = getattr(peer, name)(frame_of(data), **options)
    table = bn.score_families(data, score)
    compared = 0
    for v, f, parents in random_families(table, 600, seed=2):
        columns = [data.index(name) for name in parents]
        configurations = len(np.unique(data.values[:, columns], axis=0))
        if name == "K2" and configurations < math.prod(data.arities[columns]):
            continue  # pgmpy adds ln G(r) for each parent configuration that never occurs
        expected = theirs.local_score(table.names[v], tuple(parents))
        assert table.log_score[v, f] == pytest.approx(expected, abs=1e-9)
        compared += 1
    assert compared >= 200


@pytest.mark.parametrize("name", ["BDeu", "BIC"])
def test_scores_equal_pybnesians_on_random_families(name):
    peer = pytest.importorskip("pybnesian", reason="needs the peers extra")
    data = random_data(3)
    frame = frame_of(data)
    ours, theirs = {
        "BDeu": (bn.BDeu(2.0), lambda: peer.BDe(frame, iss=2.0)),
        "BIC": (bn.BIC(), lambda: peer.BIC(frame)),
    }[name]
    scorer, network = theirs(), peer.DiscreteBN(list(data.names))
    table = bn.score_families(data, ours)
    for v, f, parents in random_families(table, 200, seed=4):
        expected = scorer.local_score(network, table.names[v], parents)
        assert table.log_score[v, f] == pytest.approx(expected, abs=1e-9)


def order_posterior_by_aps(table, aps):
    """Family posteriors (n, F) under the order-modular prior from sums over DAGs by sumu's aps.

    aps sums over DAGs without regard to orders. A node order is the DAG in which every node has all
    its predecessors as parents, the only DAGs with n (n - 1) / 2 edges: with weights
    alpha_v(S) e**(40 |S|) all others vanish, and aps gives the posterior of predecessor sets.
    """
    n, bonus = table.n, 40.0
    log_phi = oracles.families_of(table)
    sets = [[s for s in range(1 << n) if not s >> v & 1] for v in range(n)]
    alpha = [
        {s: oracles.log_sum(b for m, b in log_phi[v].items() if not m & ~s) for s in sets[v]}
        for v in range(n)
    ]
    weights = [[alpha[v][s] + bonus * s.bit_count() for s in sets[v]] for v in range(n)]
    before = np.exp(aps(np.array(weights), normalize=True))
    out = np.zeros(table.parents.shape)
    for v in range(n):
        for p, s in zip(before[v], sets[v], strict=True):
            for f, mask in enumerate(table.parents[v]):
                if not int(mask) & ~s:
                    out[v, f] += p * math.exp(log_phi[v][int(mask)] - alpha[v][s])
    return out


@pytest.mark.parametrize(("n", "k"), [(2, 1), (4, 3), (6, 2), (8, 3), (9, 2)])
def test_exact_posteriors_equal_those_made_with_aps(n, k):
    sumu = pytest.importorskip("sumu", reason="needs the peers extra")
    data = bn.Data.from_arrays(np.zeros((1, n), int), arities=[2] * n)
    shape = bn.score_families(data, bn.BDeu(), max_parents=k)
    scores = np.random.default_rng(n).normal(size=shape.parents.shape) * 3
    table = bn.ScoreTable(shape.parents, scores, shape.log_prior, shape.names, k)
    expected = order_posterior_by_aps(table, sumu.aps)
    assert bn.order_posterior(table).families == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("n", "k"), [(1, 0), (5, 4), (9, 3), (12, 2)])
def test_structure_modular_families_equal_those_of_aps(n, k):
    sumu = pytest.importorskip("sumu", reason="needs the peers extra")
    data = bn.Data.from_arrays(np.zeros((1, n), int), arities=[2] * n)
    shape = bn.score_families(data, bn.BDeu(), max_parents=k)
    scores = np.random.default_rng(n).normal(size=shape.parents.shape) * 3
    table = bn.ScoreTable(shape.parents, scores, shape.log_prior, shape.names, k)
    weights, compact = np.full((n, 1 << (n - 1)), -np.inf), np.empty(shape.parents.shape, int)
    for v in range(n):
        compact[v] = table.parents[v] % (1 << v) + (table.parents[v] >> (v + 1) << v)
        weights[v, compact[v]] = table.log_phi[v]
    expected = np.exp(np.take_along_axis(sumu.aps(weights, normalize=True), compact, 1))
    assert bn.dag_posterior(table).families == pytest.approx(expected, abs=1e-9)


def measurements(seed, n=6, m=80):
    """Standardised columns of a linear-Gaussian chain."""
    values = np.random.default_rng(seed).normal(size=(m, n)).cumsum(axis=1)
    return (values - values.mean(axis=0)) / values.std(axis=0, ddof=1)


def test_bge_equals_sumus():
    peer = pytest.importorskip("sumu.scorer", reason="needs the peers extra")
    compared = 0
    for seed, scale in enumerate((1.0, 20.0, 0.05)):
        values = measurements(seed) * scale
        table = bn.score_families(bn.Data.from_arrays(values), bn.BGe(standardize=scale == 1))
        theirs = peer.BGe(type("Table", (), {"n": 6, "N": 80, "data": values}), -1)
        for v in range(6):
            for f, mask in enumerate(table.parents[v]):
                expected = theirs.local(v, tuple(oracles.members(mask)))
                assert table.log_score[v, f] == pytest.approx(expected, abs=1e-9, rel=1e-12)
                compared += 1
    assert compared == 3 * 6 * 26


def test_bge_equals_pybnesians():
    peer = pytest.importorskip("pybnesian", reason="needs the peers extra")
    import pandas as pd

    values = measurements(3)
    table = bn.score_families(bn.Data.from_arrays(values), bn.BGe(alpha_mu=2.0, alpha_w=11.0))
    theirs = peer.BGe(pd.DataFrame(values, columns=table.names), 2.0, 11.0, np.zeros(6))
    network = peer.GaussianNetwork(list(table.names))
    for v, f, parents in random_families(table, 200, seed=4):
        expected = theirs.local_score(network, table.names[v], parents)
        assert table.log_score[v, f] == pytest.approx(expected, abs=1e-9, rel=1e-12)
