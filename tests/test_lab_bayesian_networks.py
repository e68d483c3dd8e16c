"""Lab 01: what its pictures and its checks of exercises say."""

from collections import Counter
from math import lgamma
from typing import Any

import networkx as nx
import numpy as np
import pytest

import bnlab as bn
from bnlab import graphs
from bnlab.labs import bayesian_networks as lab


@pytest.mark.parametrize("seed", range(20))
def test_open_paths_are_those_that_do_not_d_separate(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dag = graphs.all_dags(5)[rng.integers(29_281)]
    graph = graphs.to_networkx(dag)
    asked, *others = rng.permutation(5).tolist()
    known = set(others[: rng.integers(4)])
    reached, paths = lab.flow(dag, asked, known)
    apart = {
        v
        for v in set(others) - known
        if nx.is_d_separator(graph, {asked}, {v}, {int(u) for u in known})
    }
    assert reached == set(others) - known - apart
    assert not (paths > graphs.to_adjacency(dag)).any()
    ends = paths.any(axis=0) | paths.any(axis=1)
    assert all(ends[v] for v in reached)


def test_probabilities_are_sums_of_the_product_of_the_tables() -> None:
    net = bn.load_network("asia")
    joint = lab.joint(net)
    data = net.sample(50, np.random.default_rng(1))
    log_p = [np.log(joint[tuple(row)]) for row in data.values]
    assert np.allclose(log_p, net.log_likelihood(data))
    assert joint.sum() == pytest.approx(1)
    shares = lab.first_levels(joint, {3: 1})
    assert shares[3] == 0
    assert shares[0] == pytest.approx(joint[0, :, :, 1].sum() / joint[:, :, :, 1].sum())


def test_networks_of_too_many_states_are_refused() -> None:
    with pytest.raises(ValueError, match="joint states"):
        lab.Evidence(bn.random_network("child", np.random.default_rng(1)))


def test_gain_is_a_ratio_of_marginal_likelihoods() -> None:
    small, large = lab.gains(0.0, 1000), lab.gains(0.4, 1000)
    assert (small < 0).any()
    assert (large > 0).all()
    assert (lab.gains(0.4, 10) != large).all()
    rng, place = np.random.default_rng([lab.SEED, 3]), 3
    x = rng.random(lab.SIZES[-1])[:1000] < 0.5
    y = rng.random(lab.SIZES[-1])[:1000] < 0.5 + 0.4 * (x - 0.5)
    alone, joint = (
        score([(0, int(v)) for v in y], 1, 2, 1),
        score([*zip(x, y, strict=True)], 2, 2, 1),
    )
    assert large[place] == pytest.approx(joint - alone)


def score(columns: list[Any], q: int, r: int, ess: float) -> float:
    counts, totals = Counter(columns), Counter(j for j, _ in columns)
    out = sum(lgamma(ess / (q * r) + n) - lgamma(ess / (q * r)) for n in counts.values())
    return out + sum(lgamma(ess / q) - lgamma(ess / q + n) for n in totals.values())


def gain(counts: Any, ess: float, q: int | None = None, r: int | None = None) -> float:
    rows = [cell for cell, n in np.ndenumerate(counts) for _ in range(n)]
    q, r = q or counts.shape[0], r or counts.shape[1]
    return score(rows, q, r, ess) - score([(0, c) for _, c in rows], 1, r, ess)


def listed(dag: list[int]) -> list[list[int]]:
    dags = graphs.all_dags(len(dag))
    return dags[graphs.markov_equivalent(dags, dag)].tolist()


def equivalent(dag: list[int]) -> list[list[int]]:
    """All that one gets to by turning covered edges."""
    found = waiting = {tuple(dag)}
    while waiting:
        turned = set()
        for here in waiting:
            for u, v in graphs.to_edges(here):
                if here[v] == here[u] | 1 << u:
                    new = list(here)
                    new[u], new[v] = here[u] | 1 << v, here[u]
                    turned.add(tuple(new))
        waiting = turned - found
        found = found | waiting
    return [list(each) for each in found]


@pytest.mark.slow
def test_checks_turn_wrong_answers_down(capsys: pytest.CaptureFixture[str]) -> None:
    assert lab.check_gain(gain)
    assert not lab.check_gain(lambda counts, ess: None)
    assert not lab.check_gain(lambda counts, ess: 0.0)
    assert not lab.check_gain(lambda counts, ess: gain(counts, 1.0))
    assert not lab.check_gain(lambda counts, ess: gain(counts, counts.size))
    assert not lab.check_gain(lambda counts, ess: gain(counts, ess, q=1))
    assert not lab.check_gain(lambda counts, ess: gain(counts, ess, r=2))
    assert lab.check_equivalent(equivalent)
    assert not lab.check_equivalent(listed)
    assert not lab.check_equivalent(lambda dag: [])
    assert not lab.check_equivalent(lambda dag: [dag])
    assert not lab.check_equivalent(lambda dag: equivalent(dag) * 2)
    assert not lab.check_equivalent(
        lambda dag: [
            each
            for each in graphs.all_dags(len(dag)).tolist()
            if (
                graphs.cpdag(each) | graphs.cpdag(each).T == graphs.cpdag(dag) | graphs.cpdag(dag).T
            ).all()
        ]
    )
    xor = [(a, b, a ^ b) for a in (0, 1) for b in (0, 1)]
    assert lab.check_together(xor * 10)
    assert not lab.check_together([])
    assert not lab.check_together(xor)
    assert not lab.check_together([(a, b, a | b) for a, b, _ in xor * 10])
    assert not lab.check_together([(0, 1, 2)])
    assert capsys.readouterr().out.count("not yet") == 15
