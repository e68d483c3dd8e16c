"""Missing measurements: kept by readers, and averaged over by `complete`, against quadrature."""

import itertools
import math
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import oracles
import pandas as pd
import pytest

import bnlab as bn
from bnlab.scores.local import Units

NAN = math.nan
GAPS = bn.Data.from_arrays(
    [[0.5, 1.0], [1.5, NAN], [0.2, 0.1], [NAN, 1.1], [3.0, 2.0]], missing="keep"
)


def table_of(rng, m, n, gaps, *, held=None):
    """Columns that depend on each other in odd units, nan in the gaps [(row, variable)]."""
    values = rng.standard_normal((m, n))
    for v in range(1, n):
        values[:, v] += values[:, v - 1]
    values = 10.0 + 3.0 * values
    values[tuple(np.transpose(gaps))] = NAN
    return bn.Data.from_arrays(values, intervened=held, missing="keep")


def units(data, standardize):
    """Measurements less the means of the observed cells, and divided by their deviations."""
    off = data.measurements - np.nanmean(data.measurements, axis=0)
    return off / np.nanstd(off, axis=0, ddof=1) if standardize else off


def log_weights(tables, dags, held, alpha_mu=1.0):
    """BGe scores (dags, tables) of DAGs given tables (tables, m, n), alpha_w = n + alpha_mu + 1."""
    n = tables.shape[-1]
    prior = alpha_mu, alpha_mu + 1, alpha_mu * alpha_mu / (alpha_mu + 1)
    out = np.zeros((len(dags), len(tables)))
    for v, mask in sorted({(v, dag[v]) for dag in dags for v in range(n)}):
        parents, counted = oracles.members(mask), tables[:, ~held[:, v]]
        family = oracles.bge_marginal(counted[..., [*parents, v]], *prior)
        family = family - oracles.bge_marginal(counted[..., parents], *prior)
        out[[dag[v] == mask for dag in dags]] += family
    return out


def by_quadrature(data, standardize=True, allowed=lambda dag: True, points=41):
    """(edges, mean of each cell in those units) by the trapezoidal rule, cells being sinh of u."""
    table, gaps, n = units(data, standardize), data.missing, data.n
    u = np.linspace(-5, 5, points)
    scale = 1.0 if standardize else np.nanstd(table)
    cells = np.array(list(itertools.product(u, repeat=int(gaps.sum()))))
    tables = np.repeat(table[None], len(cells), axis=0)
    tables[:, gaps] = scale * np.sinh(cells)
    held = np.zeros(gaps.shape, bool) if data.intervened is None else data.intervened
    dags = [dag for dag in oracles.all_dags(n) if allowed(dag)]
    weights = log_weights(tables, dags, held) + np.log(np.cosh(cells)).sum(axis=1)
    weights = np.exp(weights - weights.max())
    weights /= weights.sum()
    adjacency = np.array([[[dag[v] >> u & 1 for v in range(n)] for u in range(n)] for dag in dags])
    return np.tensordot(weights.sum(axis=1), adjacency, 1), weights.sum(axis=0) @ tables[:, gaps]


HELD = np.zeros((9, 3), bool)
HELD[[1, 4, 6], [0, 1, 1]] = True
CASES = {
    "one of 2 variables": ((7, 2, [(3, 1)]), {}, {}, lambda dag: True),
    "2 in a row of 2": ((8, 2, [(3, 1), (3, 0), (5, 0)]), {}, {}, lambda dag: True),
    "3 variables": ((9, 3, [(1, 0), (1, 2), (4, 1)]), {}, {}, lambda dag: True),
    "interventions": ((9, 3, [(1, 1), (4, 0), (4, 2)]), {"held": HELD}, {}, lambda dag: True),
    "a required edge": (
        (8, 3, [(0, 2), (2, 0)]),
        {},
        {"required": [(2, 0)], "forbidden": [("x0", "x1")]},
        lambda dag: dag[0] >> 2 & 1 and not dag[1] & 1,
    ),
}


@pytest.mark.quick("2 in a row of 2-False-0", "3 variables-True-25", "interventions-True-0")
@pytest.mark.parametrize(("standardize", "moves"), [(True, 0), (False, 0), (True, 25)])
@pytest.mark.parametrize("name", CASES)
def test_edges_are_those_of_the_integral_over_cells_and_sum_over_dags(name, standardize, moves):
    shape, held, options, allowed = CASES[name]
    data = table_of(np.random.default_rng(5), *shape, **held)
    edges, means = by_quadrature(data, standardize, allowed)
    rng = np.random.default_rng(3)
    score = bn.BGe(standardize=standardize)
    found = bn.complete(data, score, draws=150, burn_in=30, rng=rng, moves=moves, **options)
    assert found.edges.std() > 0.03
    assert (np.abs(found.edges - edges) <= 4 * found.stderr + 1e-6).all()
    columns = np.argwhere(data.missing)[:, 1]
    numbers = data.measurements
    center, scale = np.nanmean(numbers, axis=0), np.nanstd(numbers, axis=0, ddof=1)
    for i, mean in enumerate(means):
        drawn = found.cells[:, :, i]
        error = drawn.std() / math.sqrt(bn.diagnostics.ess(drawn))
        v = columns[i]
        expected = center[v] + mean * (scale[v] if standardize else 1.0)
        assert abs(drawn.mean() - expected) <= 4 * error
    assert (found.dags.stats["changed"] == 1).all()
    shares = found.from_missing
    assert np.isnan(shares).all() if moves else (shares >= 0).all() and (shares <= 1).all()


def test_quadrature_has_converged():
    data = table_of(np.random.default_rng(5), 8, 2, [(3, 1), (5, 0)])
    few, many = by_quadrature(data), by_quadrature(data, points=121)
    assert few[0] == pytest.approx(many[0], abs=1e-6)
    assert few[1] == pytest.approx(many[1], abs=1e-5)


def test_what_is_averaged_belongs_together():
    data = table_of(np.random.default_rng(2), 12, 3, [(0, 0), (0, 1), (5, 2), (7, 2)])
    lengths = {"draws": 5, "burn_in": 10, "chains": 2, "thin": 3}
    found = bn.complete(data, bn.BGe(), rng=np.random.default_rng(3), **lengths)
    assert found.cells.shape == (2, 5, 4) and found.cells.dtype == np.float64
    dags = list(oracles.all_dags(3))
    adjacency = np.array([[[dag[v] >> u & 1 for v in range(3)] for u in range(3)] for dag in dags])
    center, scale = (f(data.measurements, axis=0) for f in (np.nanmean, np.nanstd))
    scale *= np.sqrt((~data.missing).sum(axis=0) / ((~data.missing).sum(axis=0) - 1))
    for i, table in enumerate(found):
        assert not table.missing.any()
        assert (table.measurements == data.measurements)[~data.missing].all()
        whole = (table.measurements - center) / scale
        weights = log_weights(whole[None], dags, np.zeros((12, 3), bool))[:, 0]
        shares = np.exp(weights - oracles.log_sum(weights))
        c, t = divmod(i, 5)
        assert found.given[c, t] == pytest.approx(np.tensordot(shares, adjacency, 1), abs=1e-9)
        drawn = dags.index(tuple(found.dags.values[c, t]))
        assert found.dags.log_target[c, t] == pytest.approx(weights[drawn], abs=1e-8)


def test_units_of_the_data_make_no_difference():
    other = bn.Data.from_arrays(1e6 + 1e-3 * GAPS.measurements, missing="keep")
    one, two = (
        bn.complete(data, bn.BGe(), draws=20, burn_in=5, rng=np.random.default_rng(1))
        for data in (GAPS, other)
    )
    assert one.edges == pytest.approx(two.edges, abs=1e-5)
    assert 1e6 + 1e-3 * one.cells == pytest.approx(two.cells, abs=1e-6)


def test_the_same_bits_for_any_workers_blocks_and_after_a_resume(monkeypatch, tmp_path):
    data = table_of(np.random.default_rng(5), 20, 3, [(0, 0), (0, 1), (5, 2), (7, 2), (8, 0)])

    def run(**options):
        rng = np.random.default_rng(1)
        return bn.complete(data, bn.BGe(), draws=9, thin=2, burn_in=7, rng=rng, **options)

    plain = run()
    monkeypatch.setattr("bnlab.sampling.averaging.BLOCK_CYCLES", 1)
    file = tmp_path / "chains"
    stopped = run(checkpoint=file, progress=lambda done, total, _: done < total // 2)
    assert stopped.run.stopped and stopped.cells.shape[1] < 9
    with ThreadPoolExecutor(3) as executor:
        for other in (run(), run(executor=executor), run(checkpoint=file)):
            assert (other.cells == plain.cells).all()
            assert (other.given == plain.given).all()
            assert (other.dags.values == plain.dags.values).all()


# Reading and refusing


def test_readers_keep_missing_measurements_if_told_to(tmp_path):
    path = tmp_path / "holes.csv"
    path.write_text("a,b,times\n0.5,1,2\n1.5,NA,1\n,2,3\n2.5,2,1\n")
    options = {"missing": "keep", "continuous": ["a", "b"]}
    data = bn.read_csv(path, count="times", **options)
    assert data.missing.sum() == 4
    assert np.array_equal(data.missing, np.isnan(data.measurements))
    assert repr(data) == "Data: 7 rows, 2 variables measured (a, b), 4 missing cells"
    frame = pd.DataFrame({"a": [0.5, None, 2.5], "b": ["x", "y", None]})
    both = bn.Data.from_frame(frame, missing="keep", continuous=["a"])
    assert (both.missing == frame.isna().to_numpy()).all()
    assert data.prefix(3).missing.sum() == 1 and not data.select(["a"]).prefix(3).missing.any()
    with pytest.raises(ValueError, match=r"lacks 1 cells.*missing=\"keep\""):
        bn.Data.from_frame(frame[:2], missing="level", continuous=["a"])


@pytest.mark.parametrize(
    ("values", "options", "match"),
    [
        ([[0.0, NAN], [1.0, 0.5]], {}, r"row 0, variable 'x1': nan is no measurement.*\"keep\""),
        ([[0.0, NAN], [1.0, NAN]], {"missing": "keep"}, "'x1' holds no number at all"),
        ([[0.0, 0.5], [NAN, 1.5]], {"missing": "keep"}, "'x0' is constant"),
        ([[0.0, math.inf], [1.0, 0.5]], {"missing": "keep"}, "inf is no measurement"),
    ],
)
def test_measurements_that_cannot_be(values, options, match):
    with pytest.raises(ValueError, match=match):
        bn.Data.from_arrays(values, **options)


MIXED = bn.Data.from_arrays(
    np.array([[0, 0.5], [1, 1.5], [-1, 2.5]]), arities=[2, 0], missing="keep"
)
STATES = bn.Data.from_arrays([[0, 1], [1, -1], [0, 0]], missing="keep")


@pytest.mark.parametrize(
    ("data", "score", "match"),
    [
        (MIXED, bn.BGe(), "'x0' has states: use ConditionalGaussian"),
        (
            MIXED,
            bn.BDeu(),
            r"has measurements \('x1'\), and this needs states: .*ConditionalGaussian\(\)",
        ),
        (MIXED, bn.ConditionalGaussian(bn.BIC()), "discrete=BIC.* is no marginal likelihood"),
        (GAPS, bn.BDeu(), r"has measurements \('x0'\), and this needs states: .*score=BGe\(\)"),
        (STATES, bn.BGe(), "is for measurements, and 'x0' has states"),
        (GAPS, bn.BIC(), "pass a BDeu or a K2 or a BGe or a ConditionalGaussian"),
        (GAPS, bn.BGe(alpha_w=2.5), "alpha_w=2.5: more than n \\+ 1 = 3"),
        (GAPS.prefix(2).select(["x1"]).prefix(1), bn.BGe(), "no missing cells"),
        (bn.Data.from_arrays([[0.0, 1.0], [1.0, 2.0]]), bn.BGe(), "no missing cells"),
    ],
)
def test_nothing_is_drawn_of_what_cannot_be_averaged_over(data, score, match):
    with pytest.raises(ValueError, match=match):
        bn.complete(data, score, draws=3, rng=np.random.default_rng(1))


def test_a_column_without_any_measurement_is_named():
    rows = bn.Data.from_arrays([[0.0, NAN], [1.0, NAN], [0.5, 1.0], [0.7, 2.0]], missing="keep")
    with pytest.raises(ValueError, match="all cells of 'x1' are missing"):
        bn.complete(rows.prefix(2), bn.BGe(), draws=3, rng=np.random.default_rng(1))


def test_what_needs_all_measurements_refuses_gaps():
    whole = bn.Data.from_arrays([[0.0, 1.0], [1.0, 2.0], [0.5, 1.7]])
    with pytest.raises(ValueError, match=r"has missing cells \('x0'\).*complete"):
        bn.score_families(GAPS, bn.BGe())
    with pytest.raises(ValueError, match=r"has missing cells \('x0'\)"):
        bn.GaussianNet.fit([0, 1], GAPS)
    with pytest.raises(ValueError, match="row 1, variable 'x1': a measurement is missing"):
        bn.predict.plug_in_log_density([0, 1], whole, GAPS, score=bn.BGe())


# Calibration


@pytest.mark.slow
def test_the_truth_is_ranked_evenly_among_draws_given_what_is_left_of_it(monkeypatch):
    """Simulation-based calibration: DAG, regressions, rows, gaps that depend on an observed cell.

    Units are held fixed: those of data that are not simulated would not be the prior's.
    """
    n, m, kept, repeats, alpha_mu = 3, 10, 9, 150, 1.0
    fixed = Units(np.zeros(n), np.ones(n))
    monkeypatch.setattr("bnlab.sampling.completing.units_of", lambda score, data: fixed)
    rng, dags, t = np.random.default_rng(12), list(oracles.all_dags(n)), 0.5
    ranks = {"ln p": np.zeros(kept + 1), "edges": np.zeros(kept + 1), "cells": np.zeros(kept + 1)}
    for i in rng.integers(0, len(dags), repeats):
        dag, values = dags[i], np.zeros((m, n))
        for v in bn.graphs.topological_order(np.array(dag)):
            parents = oracles.members(dag[v])
            variance = t / rng.chisquare(alpha_mu + 2 + len(parents))
            slopes = rng.normal(0, math.sqrt(variance / t), len(parents))
            height = rng.normal(0, math.sqrt(variance / alpha_mu))
            noise = rng.normal(0, math.sqrt(variance), m)
            values[:, v] = height + values[:, parents] @ slopes + noise
        likely = np.where(values[:, :1] > 0, 0.5, 0.1)  # x0 is always observed
        gaps = (rng.random((m, n)) < likely) & (np.arange(n) > 0)
        gaps[0, 1], gaps[1:3] = True, False
        data = bn.Data.from_arrays(np.where(gaps, NAN, values), missing="keep")
        found = bn.complete(
            data, bn.BGe(), draws=kept, thin=3, burn_in=12, chains=1, rng=rng.spawn(1)[0]
        )
        edges = np.bitwise_count(found.dags.values[0]).sum(axis=1)
        log_p = log_weights(values[None], [dag], np.zeros((m, n), bool))[0, 0]
        drawn = {
            "ln p": (log_p, found.dags.log_target[0]),
            "edges": (np.bitwise_count(np.array(dag)).sum(), edges),
            "cells": (values[gaps].sum(), found.cells[0].sum(axis=1)),
        }
        for name, (true, others) in drawn.items():
            below, equal = (others < true - 1e-9).sum(), (np.abs(others - true) <= 1e-9).sum()
            ranks[name][below + rng.integers(0, equal + 1)] += 1
    for counts in ranks.values():
        assert oracles.chi_square(counts, np.full(kept + 1, repeats / (kept + 1))) > 1e-3


def test_a_sum_of_other_columns_is_named() -> None:
    """As where no cell is missing; not where whole rows are too few to tell."""
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(40, 3))
    rows[:, 2] = rows[:, 0] + 2 * rows[:, 1] + 5
    rows[rng.random(rows.shape) < 0.1] = np.nan
    data = bn.Data.from_arrays(rows, missing="keep")
    with pytest.warns(UserWarning, match="'x2' is a sum of multiples"):
        bn.complete(data, bn.BGe(), draws=2, burn_in=2, rng=rng)
    rows[3:, 0] = np.where(np.arange(37) < 5, rows[3:, 0], np.nan)
    rows[:8, 1] = np.nan
    few = bn.Data.from_arrays(rows, missing="keep")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bn.complete(few, bn.BGe(), draws=2, burn_in=2, rng=rng)
