"""Exact ancestor probabilities under the order-modular prior."""

from dataclasses import replace

import numpy as np
import oracles
import pytest
from tables import small_table

import bnlab as bn
from bnlab import memory
from bnlab.exact import order_paths


def paths_by_enumeration(table):
    *_, posterior = oracles.order_modular_over_dags(oracles.families_of(table))
    out = np.zeros((table.n, table.n))
    for dag, p in posterior.items():
        for u, v in oracles.paths(dag, table.n):
            out[u, v] += p
    return out


@pytest.mark.parametrize(("n", "k"), [(1, 0), (2, 1), (3, 2), (3, 1), (4, 3), (4, 2), (4, 0)])
@pytest.mark.parametrize("prior", [bn.Uniform(), bn.Fair()], ids=["uniform", "fair"])
def test_equal_to_enumeration(n, k, prior):
    table = small_table(n, k, 30, seed=n + k, prior=prior)
    paths = order_paths(bn.order_posterior(table))
    assert paths == pytest.approx(paths_by_enumeration(table), abs=1e-10)
    assert not paths.diagonal().any()


def test_forbidden_and_required_edges():
    table = small_table(4, 3, 30, seed=9, required=[("x0", "x1")], forbidden=[("x1", "x2")])
    paths = order_paths(bn.order_posterior(table))
    assert paths == pytest.approx(paths_by_enumeration(table), abs=1e-10)
    assert paths[0, 1] == pytest.approx(1.0)
    assert paths[1, 0] == 0.0


def test_families_far_apart():
    """ln weights that differ by thousands, where a double alone would end in zeros."""
    table = small_table(4, 3, 5, seed=2)
    rng = np.random.default_rng(1)
    table = replace(table, log_score=table.log_score + 3000 * rng.integers(-1, 1, (4, 8)))
    paths = order_paths(bn.order_posterior(table))
    assert paths == pytest.approx(paths_by_enumeration(table), abs=1e-10)


def test_paths_are_at_least_as_likely_as_edges():
    posterior = bn.order_posterior(small_table(8, 3, 100, seed=4))
    paths = order_paths(posterior)
    assert (paths >= posterior.edges - 1e-10).all()
    assert (paths + paths.T <= 1 + 1e-10).all()
    assert paths.max() > 0.01


def test_paths_of_one_edge():
    """Nodes 0 to 2 may have no parents and the others only those: every path is an edge."""
    forbidden = [(f"x{u}", f"x{v}") for v in range(3) for u in range(6) if u != v]
    forbidden += [(f"x{u}", f"x{v}") for v in range(3, 6) for u in range(3, 6) if u != v]
    posterior = bn.order_posterior(small_table(6, 5, 100, seed=4, forbidden=forbidden))
    assert order_paths(posterior) == pytest.approx(posterior.edges, abs=1e-10)


def test_within_four_standard_errors_of_drawn_dags():
    posterior = bn.order_posterior(small_table(10, 3, 60, seed=5))
    draws = bn.sample_dags(posterior, draws=20_000, rng=np.random.default_rng(6))
    exact = order_paths(posterior)
    stderr = np.sqrt(exact * (1 - exact) / 20_000)
    assert (np.abs(bn.features.paths(draws) - exact) <= 4 * stderr + 1e-12).all()


def test_what_is_out_of_reach_is_refused(monkeypatch):
    table = small_table(4, 3, 30, seed=1)
    with pytest.raises(ValueError, match="ScoreTable is no OrderPosterior"):
        order_paths(table)
    posterior = bn.order_posterior(table)
    monkeypatch.setattr(memory, "free_bytes", lambda: 100)
    with pytest.raises(ValueError, match=r"n=4: exact paths .* features\.paths"):
        order_paths(posterior)
