"""The exact order-modular posterior against enumeration, and at sizes that break plain doubles."""

import math
from fractions import Fraction

import numpy as np
import oracles
import pytest
from tables import requiring

import bnlab as bn
from bnlab.exact import log_dag_prior_sum
from bnlab.exact.dag import _log_sum_by_layers

PRIORS = [bn.Uniform(), bn.Fair(), bn.EdgePenalty(0.7)]


def random_table(rng, n, k, spread=4.0, log_prior=None):
    """A table of made-up scores: no data set has to be found that gives awkward numbers."""
    data = bn.Data.from_arrays(np.zeros((1, n), int), arities=[2] * n)
    shape = bn.score_families(data, bn.BDeu(), max_parents=k)
    return bn.ScoreTable(
        shape.parents,
        rng.normal(size=shape.parents.shape) * spread,
        shape.log_prior if log_prior is None else log_prior(shape.parents),
        shape.names,
        shape.max_parents,
    )


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("k", [0, 1, 2, 4])
def test_against_enumeration_of_all_dags(n, k):
    table = random_table(np.random.default_rng(10 * n + k), n, k)
    log_z, edges, families, _ = oracles.order_modular_over_dags(oracles.families_of(table))
    posterior = bn.order_posterior(table)
    assert posterior.log_z == pytest.approx(log_z, abs=1e-10)
    assert posterior.edges == pytest.approx(edges, abs=1e-10)
    expected = [[families[v][int(m)] for m in table.parents[v]] for v in range(n)]
    assert posterior.families == pytest.approx(np.array(expected), abs=1e-10)


@pytest.mark.parametrize("k", [2, 5])
def test_against_enumeration_of_all_orders(k):
    table = random_table(np.random.default_rng(k), 6, k)
    log_z, edges, _ = oracles.order_modular_over_orders(oracles.families_of(table))
    posterior = bn.order_posterior(table)
    assert posterior.log_z == pytest.approx(log_z, abs=1e-10)
    assert posterior.edges == pytest.approx(edges, abs=1e-10)


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
def test_evidence_is_z_over_its_prior_value(prior):
    data = bn.Data.from_arrays(np.random.default_rng(4).integers(0, 3, size=(50, 4)))
    table = bn.score_families(data, bn.BDeu(), max_parents=2, prior=prior)
    empty = bn.ScoreTable(
        table.parents, np.zeros(table.parents.shape), table.log_prior, table.names, 2
    )
    likelihood_one, *_ = oracles.order_modular_over_dags(oracles.families_of(empty))
    posterior = bn.order_posterior(table)
    assert posterior.log_evidence == pytest.approx(posterior.log_z - likelihood_one, abs=1e-9)


def test_evidence_under_edge_constraints_sums_over_the_allowed_dags():
    data = bn.Data.from_arrays(np.random.default_rng(4).integers(0, 3, size=(50, 4)))
    table = bn.score_families(data, bn.BDeu(), required=[(0, 2)], forbidden=[(1, 3), (3, 1)])
    empty = bn.ScoreTable(
        table.parents, np.zeros(table.parents.shape), table.log_prior, table.names, 3
    )
    allowed, *_ = oracles.order_modular_over_dags(oracles.families_of(empty))
    posterior = bn.order_posterior(table)
    assert posterior.log_evidence == pytest.approx(posterior.log_z - allowed, abs=1e-9)
    assert posterior.edges[0, 2] == pytest.approx(1.0, abs=1e-12)
    assert posterior.edges[1, 3] == posterior.edges[3, 1] == 0.0


def test_evidence_without_rows_is_one():
    data = bn.Data.from_arrays(np.zeros((0, 8), int), arities=[2] * 8)
    for prior in [*PRIORS, bn.EdgeBeliefs(np.random.default_rng(0).random((8, 8)), 2.0)]:
        posterior = bn.order_posterior(bn.score_families(data, bn.BDeu(), prior=prior))
        assert posterior.log_evidence == pytest.approx(0.0, abs=1e-9)


def test_scores_that_span_thousands_of_nats_within_a_node():
    """Plain doubles end at 745 nats: 12 variables whose families differ by up to 4000."""
    rng = np.random.default_rng(11)
    table = random_table(rng, 12, 2)
    wide = np.where(table.parents == 0, -4000.0, -rng.random(table.parents.shape) * 4000)
    table = bn.ScoreTable(table.parents, wide, table.log_prior, table.names, 2)
    log_z, edges = oracles.order_dp(oracles.families_of(table))
    posterior = bn.order_posterior(table)
    assert np.isfinite(posterior.log_z)
    assert posterior.log_z == pytest.approx(log_z, abs=1e-8)
    assert posterior.edges == pytest.approx(edges, abs=1e-8)


@pytest.mark.slow
def test_child_structure_with_five_thousand_rows():
    network = bn.random_network("child", rng=np.random.default_rng(1))
    data = network.sample(5000, np.random.default_rng(2))
    table = bn.score_families(data, bn.BDeu(), max_parents=5)
    log_z, edges = oracles.order_dp(oracles.families_of(table))
    posterior = bn.order_posterior(table)
    assert np.isfinite(posterior.edges).all()
    assert posterior.log_z == pytest.approx(log_z, abs=1e-8)
    assert posterior.edges == pytest.approx(edges, abs=1e-8)


def test_families_and_edges_are_probabilities():
    table = random_table(np.random.default_rng(2), 12, 3, spread=30.0)
    posterior = bn.order_posterior(table)
    assert posterior.families.sum(axis=1) == pytest.approx(np.ones(12), abs=1e-11)
    assert (posterior.edges >= 0).all()
    assert (posterior.edges <= 1).all()
    assert (np.diagonal(posterior.edges) == 0).all()
    both = posterior.edges + posterior.edges.T
    assert both.max() <= 1 + 1e-11


def test_log_alpha_sums_the_families_within_a_set():
    table = random_table(np.random.default_rng(3), 5, 2)
    log_phi = oracles.families_of(table)
    posterior = bn.order_posterior(table)
    for v in range(5):
        sets = [s for s in range(32) if not s >> v & 1]
        expected = [oracles.log_sum(b for m, b in log_phi[v].items() if not m & ~s) for s in sets]
        assert posterior.log_alpha(v, sets) == pytest.approx(expected, abs=1e-11)
        for wrong in ([1 << v], [-1], [32]):
            with pytest.raises(ValueError, match="predecessors among the others"):
                posterior.log_alpha(v, wrong)


def test_the_lattice_holds_every_quantity_of_the_recurrences():
    n = 4
    table = random_table(np.random.default_rng(6), n, 2)
    log_phi = oracles.families_of(table)
    lattice = bn.order_lattice(table)
    for s in range(1 << n):
        inside, outside = oracles.members(s), oracles.members(15 ^ s)
        alpha = lattice.log_alpha[:, s]
        assert (alpha[inside] == -math.inf).all()
        for v in outside:
            direct = oracles.log_sum(b for m, b in log_phi[v].items() if not m & ~s)
            assert alpha[v] == pytest.approx(direct, abs=1e-11)
        if s:
            g = [lattice.log_alpha[i, s ^ 1 << i] + lattice.log_forward[s ^ 1 << i] for i in inside]
            assert lattice.log_forward[s] == pytest.approx(oracles.log_sum(g), abs=1e-11)
        if s != 15:
            b = [alpha[i] + lattice.log_backward[s | 1 << i] for i in outside]
            assert lattice.log_backward[s] == pytest.approx(oracles.log_sum(b), abs=1e-11)
    assert lattice.log_forward[0] == lattice.log_backward[15] == 0.0
    with pytest.raises(ValueError, match="n=13: the whole lattice is kept for n <= 12"):
        bn.order_lattice(random_table(np.random.default_rng(0), 13, 1))


def test_a_machine_without_the_memory_is_told_at_once(monkeypatch):
    table = random_table(np.random.default_rng(0), 30, 1)
    monkeypatch.setattr("bnlab.memory.free_bytes", lambda: 24 * 10**9)

    def never(*args, **kwargs):
        raise AssertionError("memory was taken")

    monkeypatch.setattr("bnlab.exact.order.np.empty", never)
    with pytest.raises(ValueError) as error:
        bn.order_posterior(table)
    message = str(error.value)
    assert "n=30: the exact DP over orders needs 150,323,884,160 bytes (150.3 GB)" in message
    assert "24,000,000,000 bytes (24.0 GB) free" in message
    assert "it reaches n=27 here" in message
    assert "Data.select" in message


def test_thirty_variables_are_refused_on_this_machine():
    free = bn.memory.free_bytes()
    if free is not None and free > bn.exact.order_posterior_bytes(30):
        pytest.skip(f"{free} bytes are free: enough for n=30")
    with pytest.raises(ValueError, match="n=30: the exact DP over orders needs"):
        bn.order_posterior(random_table(np.random.default_rng(0), 30, 1))


def test_scores_beyond_the_packed_range_are_refused_not_wrong():
    table = random_table(np.random.default_rng(0), 4, 2)
    absurd = np.where(table.parents == 0, -1e6, 0.0)
    table = bn.ScoreTable(table.parents, absurd, table.log_prior, table.names, 2)
    with pytest.raises(ValueError, match="no order of the variables has a weight within"):
        bn.order_posterior(table)


def test_the_posterior_states_its_prior_and_is_read_only():
    posterior = bn.order_posterior(random_table(np.random.default_rng(0), 3, 2))
    assert posterior.prior == "order-modular"
    assert "order-modular" in repr(posterior)
    assert posterior.run.seconds > 0
    with pytest.raises(ValueError, match="read-only"):
        posterior.edges[0, 1] = 0.5


# Sums of prior factors over DAGs


def no_rows(n, k, **options):
    data = bn.Data.from_arrays(np.zeros((0, n), int), arities=[2] * n)
    return bn.score_families(data, bn.BDeu(), max_parents=k, **options)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("prior", [*PRIORS, bn.EdgePenalty(-300.0)], ids=repr)
def test_the_dag_prior_sum_is_that_of_all_dags(n, prior):
    for k in range(n):
        table = no_rows(n, k, prior=prior)
        log_factor = [
            dict(zip(table.parents[v].tolist(), table.log_prior[v].tolist(), strict=True))
            for v in range(n)
        ]
        dags = [d for d in oracles.all_dags(n) if all(d[v] in log_factor[v] for v in range(n))]
        expected = oracles.log_sum(oracles.dag_log_weight(log_factor, dag) for dag in dags)
        assert log_dag_prior_sum(table) == pytest.approx(expected, abs=1e-12, rel=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 12, 20])
def test_the_uniform_dag_prior_sum_is_the_number_of_dags(n):
    by_size = (0.0,) * n
    assert _log_sum_by_layers(n, by_size) == pytest.approx(math.log(oracles.robinson(n)), abs=1e-11)


@pytest.mark.parametrize("prior", [bn.Uniform(), bn.Fair()], ids=repr)
@pytest.mark.parametrize(("n", "k"), [(12, 3), (63, 4)])
def test_the_dag_prior_sum_is_robinsons_in_whole_numbers(n, k, prior):
    masks = np.array([(2 << i) - 2 for i in range(k + 1)])
    by_size = tuple(prior.log_factor(n, 0, masks))
    q = [Fraction(1, math.comb(n - 1, i) if prior == bn.Fair() else 1) for i in range(k + 1)]
    expected = oracles.robinson_by_size(n, q)
    log_expected = math.log(expected.numerator) - math.log(expected.denominator)
    assert _log_sum_by_layers(n, by_size) == pytest.approx(log_expected, abs=1e-10)


def test_dag_prior_sums_of_other_priors():
    beliefs = bn.EdgeBeliefs(np.random.default_rng(0).random((4, 4)), 2.0)
    for options in ({"prior": beliefs}, {"required": [(0, 1)], "forbidden": [(2, 3)]}):
        table = no_rows(4, 2, **options)
        expected, _ = oracles.structure_modular_over_dags(oracles.families_of(table))
        assert log_dag_prior_sum(table) == pytest.approx(expected, abs=1e-12)
    childless = no_rows(9, 3, forbidden=[(0, u) for u in range(1, 9)])  # 93 parent sets for node 0
    expected = log_dag_prior_sum(no_rows(8, 3)) + math.log(93)
    assert log_dag_prior_sum(childless) == pytest.approx(expected, abs=1e-12)
    with pytest.raises(ValueError, match="leave no DAG"):
        log_dag_prior_sum(requiring(no_rows(3, 2), (0, 1), (1, 2), (2, 0)))
