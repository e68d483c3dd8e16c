"""The exact structure-modular posterior against enumeration, whole fractions and other ways."""

import math
import pickle
from fractions import Fraction

import numpy as np
import oracles
import pytest

import bnlab as bn
from bnlab.exact import log_dag_prior_sum
from bnlab.exact.dag import blocks


def shape_of(n, k, **options):
    data = bn.Data.from_arrays(np.zeros((0, n), int), arities=[2] * n)
    return bn.score_families(data, bn.BDeu(), max_parents=k, **options)


def random_table(seed, n, k, spread=4.0, **options):
    """A table of made-up scores: no data set has to be found that gives awkward numbers."""
    shape = shape_of(n, k, **options)
    scores = np.random.default_rng(seed).normal(size=shape.parents.shape) * spread
    return bn.ScoreTable(shape.parents, scores, shape.log_prior, shape.names, k)


def by_family(table, families):
    return np.array(
        [[families[v][int(m)] for m in table.parents[v]] for v in range(table.n)], float
    )


def assert_equals_enumeration(table, tolerance=1e-10):
    log_z, weights = oracles.structure_modular_over_dags(oracles.families_of(table))
    edges, ancestors, families = oracles.expectations_over_dags(weights, table.n)
    posterior = bn.dag_posterior(table)
    assert posterior.log_z == pytest.approx(log_z, abs=tolerance, rel=1e-14)
    assert posterior.edges == pytest.approx(edges, abs=tolerance)
    assert posterior.ancestors == pytest.approx(ancestors, abs=tolerance)
    assert posterior.families == pytest.approx(by_family(table, families), abs=tolerance)


@pytest.mark.quick(
    "4.0-0-1",
    "4.0-0-2",
    "4.0-0-3",
    "4.0-0-4",
    "4.0-1-1",
    "4.0-1-2",
    "4.0-1-3",
    "4.0-1-4",
    "4.0-2-",
    "4.0-4-1",
    "4.0-4-2",
    "4.0-4-3",
    "4.0-4-4",
    "3000.0-4-",
)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("k", [0, 1, 2, 4])
@pytest.mark.parametrize("spread", [4.0, 3000.0])
def test_against_enumeration_of_all_dags(n, k, spread):
    assert_equals_enumeration(random_table(10 * n + k, n, min(k, n - 1), spread))


@pytest.mark.quick("{'prior': Fair()", "{'required': [(0, 1), (1, 2)]")
@pytest.mark.parametrize(
    "options",
    [
        {"prior": bn.Fair()},
        {"prior": bn.EdgePenalty(40.0)},
        {"prior": bn.EdgePenalty(-300.0)},
        {"prior": bn.EdgeBeliefs(np.random.default_rng(0).random((5, 5)), 2.0)},
        {"required": [(0, 1), (1, 2)], "forbidden": [(3, 0), (4, 0), (2, 4)]},
        {"required": [(4, 3), (3, 2), (2, 1), (1, 0)]},
        {"forbidden": [(u, v) for u in range(5) for v in range(5) if u != v]},
    ],
    ids=str,
)
def test_priors_and_constraints_against_enumeration(options):
    assert_equals_enumeration(random_table(3, 5, 3, **options))


@pytest.mark.quick("9.0-3.0", "0.0-0.01")
@pytest.mark.parametrize("spread", [0.01, 3.0, 30.0])
@pytest.mark.parametrize("penalty", [0.0, 9.0])
def test_signed_sums_against_whole_fractions(spread, penalty):
    """Eight variables: 3**8 signed terms and nearly equal ones, without any rounding."""
    n = 8
    table = random_table(5, n, 3, spread, prior=bn.EdgePenalty(penalty))
    beta = [
        {m: Fraction(math.exp(b)) for m, b in family.items()}
        for family in oracles.families_of(table)
    ]
    z, families, ancestors = oracles.structure_modular_by_inclusion(beta)
    posterior = bn.dag_posterior(table)
    log_z = math.log(z.numerator) - math.log(z.denominator)
    assert posterior.log_z == pytest.approx(log_z, abs=1e-11)
    assert posterior.families == pytest.approx(by_family(table, families), abs=1e-12)
    assert posterior.ancestors == pytest.approx(np.array(ancestors, float), abs=1e-12)


def test_scores_that_span_thousands_of_nats_within_a_node():
    """Far from one another, the scores leave one DAG: the heaviest one, found the long way."""
    n = 7
    table = random_table(11, n, 2, spread=4000.0)
    posterior = bn.dag_posterior(table)
    assert posterior.families.max(axis=1) == pytest.approx(np.ones(n), abs=1e-12)
    dag = np.take_along_axis(table.parents, posterior.families.argmax(axis=1)[:, None], 1)[:, 0]
    assert posterior.log_z == pytest.approx(float(table.log_target(dag)), rel=1e-13)
    above = bn.graphs.ancestors(dag)
    expected = above >> np.arange(n)[:, None] & 1
    assert posterior.ancestors == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("nats", [1e5, 1e8])
def test_scores_beyond_any_range_of_numbers(nats):
    """Every DAG has a node without parents; those with one only are as likely as one another."""
    shape = shape_of(4, 2)
    absurd = np.where(shape.parents == 0, -nats, 0.0)
    table = bn.ScoreTable(shape.parents, absurd, shape.log_prior, shape.names, 2)
    dags = [d for d in oracles.all_dags(4) if sum(m == 0 for m in d) == 1]
    dags = [d for d in dags if max(m.bit_count() for m in d) <= 2]
    edges, ancestors, _ = oracles.expectations_over_dags(dict.fromkeys(dags, 1 / len(dags)), 4)
    posterior = bn.dag_posterior(table)
    assert posterior.log_z == pytest.approx(math.log(len(dags)) - nats, rel=1e-15)
    assert posterior.edges == pytest.approx(edges, abs=1e-12)
    assert posterior.ancestors == pytest.approx(ancestors, abs=1e-12)


@pytest.mark.parametrize("n", [6, 11])
def test_under_a_known_order_each_node_stands_for_itself(n):
    """Parent sets among the nodes before, independent of one another."""
    order = np.random.default_rng(n).permutation(n)
    place = np.argsort(order)
    backwards = [(u, v) for u in range(n) for v in range(n) if place[u] > place[v]]
    table = random_table(n, n, 3, forbidden=backwards)
    posterior = bn.dag_posterior(table)
    expected = sum(
        oracles.log_sum(b for b in family.values()) for family in oracles.families_of(table)
    )
    assert posterior.log_z == pytest.approx(expected, abs=1e-11)
    free = np.exp(table.log_phi - np.logaddexp.reduce(table.log_phi, axis=1, keepdims=True))
    assert posterior.families == pytest.approx(free, abs=1e-12)


def test_five_thousand_rows_and_draws_reweighted_from_orders():
    """Independent DAGs from the order-modular posterior, each given its own weight, agree."""
    network = bn.random_network("child", rng=np.random.default_rng(1))
    data = network.sample(5000, np.random.default_rng(2))
    data = data.select(list(data.names[:9]))
    table = bn.score_families(data, bn.BDeu(), max_parents=4)
    posterior = bn.dag_posterior(table)
    for name in ("edges", "ancestors", "families"):
        assert np.isfinite(getattr(posterior, name)).all()
    draws = bn.sample_dags(bn.order_posterior(table), draws=4000, rng=np.random.default_rng(3))
    dags = np.unique(draws.values[0], axis=0)
    log_target = table.log_target(dags)
    mass = np.exp(log_target - posterior.log_z)
    assert 0.9 < mass.sum() <= 1 + 1e-9
    missed = 1 - mass.sum()
    for v in range(table.n):
        for u in range(table.n):
            share = mass[dags[:, v] >> u & 1 == 1].sum()
            assert -1e-9 <= posterior.edges[u, v] - share <= missed + 1e-9


def test_interventions_orient_an_edge():
    rng = np.random.default_rng(0)
    cause = rng.integers(0, 2, 400)
    cause[200:] = 1
    effect = np.where(rng.random(400) < 0.9, cause, 1 - cause)
    rows = np.stack([cause, effect], axis=1)
    mask = np.zeros((400, 2), bool)
    mask[200:, 0] = True
    seen = bn.dag_posterior(bn.score_families(bn.Data.from_arrays(rows[:200]), bn.BDeu()))
    done = bn.dag_posterior(
        bn.score_families(bn.Data.from_arrays(rows, intervened=mask), bn.BDeu())
    )
    assert seen.edges[0, 1] == pytest.approx(seen.edges[1, 0], abs=1e-9)
    assert done.edges[0, 1] > 0.99


@pytest.mark.parametrize("n", [9, 12])
def test_what_must_hold_at_any_size(n):
    posterior = bn.dag_posterior(random_table(n, n, 3))
    assert posterior.families.sum(axis=1) == pytest.approx(np.ones(n), abs=1e-11)
    assert (np.diagonal(posterior.edges) == 0).all()
    assert (np.diagonal(posterior.ancestors) == 0).all()
    assert (posterior.edges <= posterior.ancestors + 1e-12).all()
    assert (posterior.ancestors + posterior.ancestors.T <= 1 + 1e-12).all()
    assert ((posterior.families >= 0) & (posterior.families <= 1)).all()


def test_no_rows_leave_every_dag_alike():
    """Edges and paths by the numbers of DAGs, at a size where the signs cancel most."""
    n = 12
    posterior = bn.dag_posterior(shape_of(n, n - 1))
    assert posterior.log_z == pytest.approx(math.log(oracles.robinson(n)), abs=1e-11)
    assert posterior.log_evidence == pytest.approx(0.0, abs=1e-11)
    off = ~np.eye(n, dtype=bool)
    for matrix in (posterior.edges[off], posterior.ancestors[off]):
        assert matrix == pytest.approx(np.full(matrix.size, matrix[0]), abs=1e-11)


@pytest.mark.parametrize(
    "options", [{"prior": bn.Fair()}, {"forbidden": [(0, 1), (2, 3)]}], ids=str
)
def test_the_evidence_is_z_over_its_prior_value(options):
    table = random_table(1, 7, 3, **options)
    posterior = bn.dag_posterior(table)
    assert posterior.log_evidence == posterior.log_z - log_dag_prior_sum(table)


def test_blocks_cover_all_sets_in_order(monkeypatch):
    monkeypatch.setattr("bnlab.exact.dag.BLOCK_PAIRS", 50)
    for n in (1, 2, 5, 7):
        for upwards in (True, False):
            parts = blocks(n, upwards=upwards)
            assert [s for first, last in parts for s in range(first, last)] == list(range(1 << n))
    table = random_table(2, 7, 3)
    small = bn.dag_posterior(table)
    monkeypatch.undo()
    assert len(blocks(7, upwards=True)) == 1
    assert (bn.dag_posterior(table).families == small.families).all()


def test_progress_is_told_and_can_stop(monkeypatch):
    monkeypatch.setattr("bnlab.exact.dag.BLOCK_PAIRS", 50)
    for options in ({}, {"forbidden": [(0, 1)]}):
        table = random_table(0, 6, 2, **options)
        seen = []
        bn.dag_posterior(table, progress=lambda done, total, _: seen.append((done, total)))  # noqa: B023
        assert seen == [(i + 1, seen[0][1]) for i in range(seen[0][1])]
        with pytest.raises(bn.Stopped, match="stopped after step 3"):
            bn.dag_posterior(table, progress=lambda done, total, _: done < 3)
    with pytest.raises(ValueError, match="Data is no ScoreTable"):
        bn.dag_posterior(bn.load_dataset("coronary"))


@pytest.mark.parametrize(("work", "fits"), [(bn.dag_posterior, 21), (log_dag_prior_sum, 22)])
def test_a_machine_without_the_memory_is_told_at_once(work, fits, monkeypatch):
    table = random_table(0, 25, 1, forbidden=[(0, 1)])
    monkeypatch.setattr("bnlab.memory.free_bytes", lambda: 10**9)

    def never(*args, **kwargs):
        raise AssertionError("memory was taken")

    monkeypatch.setattr("bnlab.exact.dag.np.empty", never)
    with pytest.raises(ValueError, match="n=25: the exact sum over DAGs needs") as error:
        work(table)
    for part in (
        f"it reaches n={fits} here",
        "Data.select",
        "sample_partitions",
        "reweight_unique",
    ):
        assert part in str(error.value)


def test_sums_that_lost_their_digits_are_refused(monkeypatch):
    monkeypatch.setattr("bnlab.exact.dag.MOST_ROUNDING", 0.0)
    with pytest.raises(ValueError, match="n=9: the signed sums over DAGs lose too many digits"):
        bn.dag_posterior(random_table(0, 9, 3))


def test_the_posterior_states_its_prior_pickles_and_is_read_only():
    posterior = bn.dag_posterior(random_table(0, 4, 2))
    assert posterior.prior == "structure-modular"
    assert "structure-modular" in repr(posterior)
    assert posterior.run.seconds > 0
    copy = pickle.loads(pickle.dumps(posterior))
    assert isinstance(copy, bn.DagPosterior)
    for name in ("edges", "ancestors", "families"):
        array = getattr(copy, name)
        assert (array == getattr(posterior, name)).all()
        with pytest.raises(ValueError, match="read-only"):
            array[0, 1] = 0.5
