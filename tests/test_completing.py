"""Missing cells: kept by readers, refused where all are needed, averaged over by `complete`."""

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import oracles
import pandas as pd
import pytest

import bnlab as bn
from bnlab import reports
from bnlab.kernels import latent_particles

GAPS = bn.Data.from_arrays([[0, 1], [1, -1], [0, 0], [-1, 1]], missing="keep")


def with_gaps(rng, arities, m, gaps, *, intervened=False):
    """A table in which the columns depend on each other, with so many missing cells."""
    n = len(arities)
    values = rng.integers(0, arities, (m, n))
    for v in range(1, n):
        values[:, v] = np.where(rng.random(m) < 0.6, values[:, v - 1] % arities[v], values[:, v])
    held = rng.random((m, n)) < 0.1 if intervened else np.zeros((m, n), bool)
    free = np.flatnonzero(~held)
    values.flat[rng.choice(free, gaps, replace=False)] = -1
    mask = held if intervened else None
    return bn.Data.from_arrays(values, arities, intervened=mask, missing="keep"), held


# Reading


def test_readers_keep_missing_cells_if_told_to(tmp_path):
    path = tmp_path / "holes.csv"
    path.write_text("a,b,times\nx,1,2\ny,NA,1\n,2,3\nx,2,1\n")
    data = bn.read_csv(path, missing="keep", count="times")
    assert data.values.tolist() == [[0, 0]] * 2 + [[1, -1]] + [[-1, 1]] * 3 + [[0, 1]]
    assert data.levels == (("x", "y"), ("1", "2"))
    assert data.missing.sum() == 4
    assert repr(data) == "Data: 7 rows, 2 variables with 2 states (a, b), 4 missing cells"
    reading = reports.read_table(path, missing="keep", count="times")
    assert (reading.data.values == data.values).all()
    assert reading.columns[0].counts == (3, 1)
    frame = pd.DataFrame({"a": ["x", "y", None, "x"], "b": [1, np.nan, 2, 2]})
    assert (bn.Data.from_frame(frame, missing="keep").missing == frame.isna()).all(axis=None)


def test_parts_of_a_table_keep_its_gaps():
    assert GAPS.prefix(2).missing.sum() == 1
    assert GAPS.select(["x1"]).missing[:, 0].tolist() == [False, True, False, False]
    assert not GAPS.prefix(1).missing.any()


@pytest.mark.parametrize(
    ("values", "options", "match"),
    [
        ([[0, -1], [1, 0]], {}, "row 0, variable 'x1': code -1 is negative: pass missing="),
        ([[0, -2], [1, 0]], {"missing": "keep"}, "code -2 is negative"),
        ([[0, -1], [1, -1]], {"missing": "keep"}, "all cells of 'x1' are missing"),
        ([[0, 1], [-1, 1]], {"missing": "keep"}, "'x0' is constant"),
        (
            [[0, -1], [1, 0], [0, 1]],
            {"missing": "keep", "intervened": np.array([[0, 1], [0, 0], [0, 0]], bool)},
            "row 0, variable 'x1': set by an intervention, and missing",
        ),
    ],
)
def test_codes_that_cannot_be(values, options, match):
    with pytest.raises(ValueError, match=match):
        bn.Data.from_arrays(values, **options)


# Refusing


NEED_ALL = {
    "scores": lambda data: bn.score_families(data, bn.BDeu()),
    "BGe": lambda data: bn.score_families(data, bn.BGe()),
    "lazy scores": lambda data: bn.LazyScores(data, bn.BDeu(), 1),
    "Chow-Liu": bn.chow_liu,
    "fit": lambda data: bn.BayesNet.fit([0, 0], data),
    "candidates": lambda data: bn.candidate_parents(data, count=1),
    "densities": lambda data: bn.predict.exact_log_density(data, [[0, 1]]),
}


@pytest.mark.parametrize("name", NEED_ALL)
def test_what_needs_all_cells_names_a_variable_and_the_remedy(name):
    with pytest.raises(ValueError, match=r"^data=Data has missing cells \('x0'\).*complete"):
        NEED_ALL[name](GAPS)


def test_what_sums_over_missing_cells_takes_them():
    model = bn.hidden.HiddenModel([0, 1], [2, 2], hidden=[])
    kept, codes = (bn.hidden.exact_evidence(model, each) for each in (GAPS, GAPS.values))
    assert kept.log_value == codes.log_value
    whole = bn.Data.from_arrays([[0, 1], [1, 0], [1, 1]])
    assert np.array_equal(
        *(bn.predict.exact_log_density(whole, each) for each in (GAPS, GAPS.values))
    )


def test_knowledge_is_read_for_a_table_with_gaps(tmp_path):
    path = tmp_path / "known.toml"
    path.write_text('forbidden = ["x0 -> x1"]')
    known = bn.read_knowledge(path, GAPS)
    found = bn.complete(GAPS, bn.BDeu(), draws=5, rng=np.random.default_rng(1), **known)
    assert found.edges[0, 1] == 0 < found.edges[1, 0]


def mixed():
    values = np.array([[0, 0.5], [1, 1.5], [-1, 2.5], [0, 3.5]])
    return bn.Data.from_arrays(values, arities=[2, 0], missing="keep")


@pytest.mark.parametrize(
    ("data", "options", "match"),
    [
        (bn.Data.from_arrays([[0, 1], [1, 0]]), {}, "no missing cells: use dag_posterior"),
        (replace(GAPS, values=[[0, -1], [1, -1]]), {}, "all cells of 'x1' are missing"),
        (mixed(), {}, "and this needs states: .*ConditionalGaussian"),
        (GAPS, {"score": bn.BIC()}, "pass a BDeu or a K2"),
        (GAPS, {"draws": 0}, "draws=0"),
        (GAPS, {"max_parents": -1}, "max_parents=-1"),
        (GAPS, {"moves": -1}, "moves=-1"),
        (GAPS, {"required": [(0, 1), (1, 0)]}, "make a cycle x0 -> x1 -> x0"),
        (GAPS, {"tiers": 3}, "tiers=3"),
    ],
)
def test_nothing_is_drawn_of_what_cannot_be_averaged_over(data, options, match):
    options = {"score": bn.BDeu(), "draws": 3, **options}
    with pytest.raises(ValueError, match=match):
        bn.complete(data, options.pop("score"), rng=np.random.default_rng(1), **options)


def test_memory_is_checked_before_it_is_taken(monkeypatch):
    monkeypatch.setattr("bnlab.memory.free_bytes", lambda: 100)
    with pytest.raises(ValueError, match=r"completions of 2 cells needs .* bytes"):
        bn.complete(GAPS, bn.BDeu(), draws=3, rng=np.random.default_rng(1))


# Drawing

ARITIES = np.array([2, 3, 2, 4])


@pytest.mark.parametrize("intervened", [False, True])
@pytest.mark.parametrize(("score", "slow"), [(bn.BDeu(3.0), oracles.bdeu), (bn.K2(), oracles.k2)])
def test_a_cell_given_all_others_is_a_ratio_of_scores_of_tables(score, slow, intervened):
    rng = np.random.default_rng(8)
    data, held = with_gaps(rng, ARITIES, 25, 1, intervened=intervened)
    slow_score = (lambda *a: slow(*a, 3.0)) if slow is oracles.bdeu else slow
    columns, counted = np.array(data.values.T, order="C"), np.array(~held.T, order="C")
    row, v = np.argwhere(data.missing)[0]
    scores = [
        oracles.families_without(table, ARITIES, slow_score, held)
        for table in oracles.fillings(data.values, ARITIES)
    ]
    dags = list(oracles.all_dags(4))
    for i in rng.choice(len(dags), 60):
        dag = np.array(dags[i])
        expected = np.array([oracles.dag_log_weight(log_phi, dag) for log_phi in scores])
        cells = [math.prod(ARITIES[[u, *oracles.members(dag[u])]]) for u in range(4)]
        pseudo_counts, found = score.cell_counts(np.array(cells, float)), np.empty(4)
        latent_particles.log_shares(
            columns, (row, v), dag, pseudo_counts, ARITIES, counted, np.empty((0, 0, 0)), found
        )
        found = found[: ARITIES[v]]
        assert found - found[0] == pytest.approx(expected - expected[0], abs=1e-10)


def exactly(data, held, score, allowed=lambda dag: True):
    return oracles.posterior_with_gaps(data.values, data.arities, score, held, allowed)


CASES = {
    "3 variables": ([2, 3, 2], False, {}, lambda dag: True),
    "interventions": ([2, 2, 3], True, {}, lambda dag: True),
    "4 variables": ([2, 2, 2, 2], False, {}, lambda dag: True),
    "a required edge": (
        [2, 2, 2],
        False,
        {"required": [(2, 0)], "forbidden": [("x0", "x1")]},
        lambda dag: dag[0] >> 2 & 1 and not dag[1] & 1,
    ),
}


@pytest.mark.quick("interventions-0", "a required edge-45")
@pytest.mark.parametrize("moves", [0, 45])
@pytest.mark.parametrize("name", CASES)
def test_edges_are_those_of_the_sum_over_completions_and_dags(name, moves):
    arities, intervened, options, allowed = CASES[name]
    data, held = with_gaps(np.random.default_rng(2), arities, 12, 8, intervened=intervened)
    edges, states = exactly(data, held, oracles.bdeu, allowed)
    rng = np.random.default_rng(3)
    found = bn.complete(data, bn.BDeu(), draws=300, burn_in=50, rng=rng, moves=moves, **options)
    assert found.edges.std() > 0.05
    assert (np.abs(found.edges - edges) <= 4 * found.stderr + 1e-9).all()
    for cell, mean in enumerate(states):
        drawn = found.cells[:, :, cell]
        error = drawn.std() / math.sqrt(bn.diagnostics.ess(drawn))
        assert abs(drawn.mean() - mean) <= 4 * error
    counted = bn.features.edges(found.dags)
    assert np.abs(counted - edges).max() < 0.08
    shares = found.from_missing
    assert np.isnan(shares).all() if moves else (shares >= 0).all() and (shares <= 1).all()
    assert found.rhat < 1.05 and found.ess > 200


def test_many_variables_have_their_dags_by_moves():
    """As many as the columns of a small table, doubled: each is most like its copy."""
    rng = np.random.default_rng(4)
    values = np.repeat(rng.integers(0, 3, (60, 8)), 2, axis=1)
    values = np.where(rng.random(values.shape) < 0.1, rng.integers(0, 3, values.shape), values)
    values[rng.random(values.shape) < 0.05] = -1
    data = bn.Data.from_arrays(values, [3] * 16, missing="keep")
    found = bn.complete(data, bn.BDeu(), draws=60, burn_in=20, rng=rng, max_parents=2)
    assert found.run.settings["moves"] == 800
    either = found.edges + found.edges.T
    copies = np.zeros((16, 16), bool)
    copies[np.arange(16), np.arange(16) ^ 1] = True
    assert either[copies].min() > 0.9 > either[~copies].max()
    assert (found.stderr[~np.eye(16, dtype=bool)] > 0).all() and not found.stderr.diagonal().any()


def test_edges_that_no_draw_decides_have_no_error_of_nothing():
    data, _ = with_gaps(np.random.default_rng(2), [2, 2, 2], 40, 3)
    rng, known = np.random.default_rng(1), {"required": [(2, 0)], "forbidden": [(0, 1)]}
    found = bn.complete(data, bn.BDeu(), draws=10, moves=1, rng=rng, **known)
    decided = np.eye(3, dtype=bool)
    decided[[2, 0, 0], [0, 2, 1]] = True
    assert found.edges[2, 0] == 1 and found.edges[0, 1] == 0
    assert ((found.stderr == 0) == decided).all()


def test_what_is_averaged_belongs_together():
    data, _ = with_gaps(np.random.default_rng(2), [2, 3, 2], 12, 8)
    found = bn.complete(
        data, bn.K2(), draws=5, chains=2, thin=3, rng=np.random.default_rng(3), max_parents=1
    )
    assert (found.prior, found.kind, found.assumption) == (
        "structure-modular",
        "asymptotic",
        "missing at random",
    )
    assert "missing at random, structure-modular, asymptotic" in repr(found)
    assert "not to be trusted" in repr(found)
    given, dags = found.given.reshape(-1, 3, 3), found.dags.values.reshape(-1, 3)
    log_target = found.dags.log_target.ravel()
    assert len(found) == len(list(found)) == 10
    for i, table in enumerate(found):
        assert not table.missing.any()
        assert (table.values == data.values)[~data.missing].all()
        scored = bn.score_families(table, bn.K2(), max_parents=1)
        assert (bn.dag_posterior(scored).edges == given[i]).all()
        assert scored.log_target(dags[i]) == pytest.approx(log_target[i], abs=1e-9)
    assert found.edges == pytest.approx(given.mean(axis=0), abs=1e-15)
    whole = given.mean(axis=0) * (1 - given.mean(axis=0))
    within = (given * (1 - given)).mean(axis=0)
    assert found.from_missing * whole == pytest.approx(whole - within, abs=1e-12)


def test_one_chain_has_no_rhat_and_few_draws_no_error():
    found = bn.complete(GAPS, bn.BDeu(), draws=3, chains=1, rng=np.random.default_rng(1))
    assert math.isnan(found.rhat) and not found.trusted
    assert np.isinf(found.stderr).all()
    more = bn.complete(GAPS, bn.BDeu(), draws=20, chains=1, rng=np.random.default_rng(1))
    assert math.isnan(more.rhat) and np.isfinite(more.stderr).all()
    assert (more.cells[:, :3] == found.cells).all()


def test_the_same_bits_for_any_workers_and_blocks(monkeypatch):
    data, _ = with_gaps(np.random.default_rng(5), [2, 3, 2], 20, 9)

    def run(**options):
        rng = np.random.default_rng(1)
        return bn.complete(data, bn.BDeu(), draws=9, thin=2, burn_in=7, rng=rng, **options)

    plain = run()
    monkeypatch.setattr("bnlab.sampling.averaging.BLOCK_CYCLES", 1)
    with ThreadPoolExecutor(3) as executor:
        for other in (run(), run(executor=executor)):
            assert (other.cells == plain.cells).all()
            assert (other.given == plain.given).all()
            assert (other.dags.values == plain.dags.values).all()


# Calibration


@pytest.mark.slow
def test_the_truth_is_ranked_evenly_among_draws_given_what_is_left_of_it():
    """Simulation-based calibration: DAG, tables, rows, and gaps that depend on an observed cell.

    If the draws are of the posterior, the rank of what is true among them, ties broken by chance,
    is uniform (Talts et al. 2018).
    """
    rng, n, m, kept, repeats = np.random.default_rng(11), 3, 14, 9, 300
    flat = bn.dag_posterior(
        bn.score_families(bn.Data.from_arrays(np.zeros((0, n), int), arities=[2] * n), bn.BDeu())
    )
    ranks = {"ln p": np.zeros(kept + 1), "edges": np.zeros(kept + 1), "states": np.zeros(kept + 1)}
    for dag in bn.sample_dags(flat, draws=repeats, rng=rng).values[0]:
        values = sampled(dag, 4.0, m, rng)
        likely = np.where(values[:, :1] == 1, 0.5, 0.1)  # x0 is always observed
        gaps = (rng.random((m, n)) < likely) & (np.arange(n) > 0)
        gaps[0, 1], gaps[1:3] = True, False
        data = bn.Data.from_arrays(np.where(gaps, -1, values), [2] * n, missing="keep")
        found = bn.complete(
            data, bn.BDeu(4.0), draws=kept, thin=3, burn_in=12, chains=1, rng=rng.spawn(1)[0]
        )
        truth = bn.Data.from_arrays(values, [2] * n)
        log_p = bn.score_families(truth, bn.BDeu(4.0)).log_target(dag)
        drawn = {
            "ln p": (log_p, found.dags.log_target[0]),
            "edges": (
                np.bitwise_count(dag).sum(),
                np.bitwise_count(found.dags.values[0]).sum(axis=1),
            ),
            "states": (values[gaps].sum(), found.cells[0].sum(axis=1)),
        }
        for name, (true, others) in drawn.items():
            below, equal = (others < true - 1e-9).sum(), (np.abs(others - true) <= 1e-9).sum()
            ranks[name][below + rng.integers(0, equal + 1)] += 1
    for counts in ranks.values():
        assert oracles.chi_square(counts, np.full(kept + 1, repeats / (kept + 1))) > 1e-3


def sampled(dag, ess, m, rng):
    """Rows of a network whose tables have the prior of BDeu(ess), binary variables."""
    values = np.zeros((m, len(dag)), np.int64)
    for v in bn.graphs.topological_order(dag):
        parents = oracles.members(dag[v])
        p = rng.beta(*[ess / 2 ** (len(parents) + 1)] * 2, size=2 ** len(parents))
        values[:, v] = rng.random(m) < p[values[:, parents] @ (1 << np.arange(len(parents)))]
    return values
