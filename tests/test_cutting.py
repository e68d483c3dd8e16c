"""`average_cuts`: cuts of measured columns and DAGs, against the sum over all of both."""

import itertools
import math
import re
import tracemalloc
from dataclasses import replace

import numpy as np
import oracles
import pytest

import bnlab as bn
from bnlab.predict import typed_row
from bnlab.sampling.cutting import candidate_cuts


def table_of(rng, m, n, *, held=None, states=(), ties=()):
    """Columns that depend on each other; some with three states, some rounded to few numbers."""
    values = rng.standard_normal((m, n))
    for v in range(1, n):
        values[:, v] += values[:, v - 1]
    for v in (*states, *ties):
        values[:, v] = np.clip(np.round(values[:, v]), -1, 1) + 1
    arities = [3 if v in states else 0 for v in range(n)]
    return bn.Data.from_arrays(values, arities=arities, intervened=held)


def averaged(data, seed=1, **options):
    options = {"draws": 60, "burn_in": 20, **options}
    return bn.average_cuts(data, bn.BDeu(), rng=np.random.default_rng(seed), **options)


# The density


@pytest.mark.parametrize("dag", [(0, 0), (0, 1), (2, 0)])
def test_densities_of_ranks_integrate_to_one_for_any_cuts(dag):
    """Exactly: they are constant between the points of a grid, on which all borders lie."""
    grid = [(i + 0.5) / 4 for i in range(4)]
    for borders in ([[0, 0.25, 1], [0, 0.5, 0.75, 1]], [[0, 0.5, 1], [0, 0.75, 1]]):
        total = 0.0
        for cells in itertools.product(grid, repeat=4):
            rows = [cells[:2], cells[2:]]
            total += math.exp(oracles.log_rank_density(rows, borders, dag, oracles.bdeu))
        assert total / 4**4 == pytest.approx(1, abs=1e-12)


CASES = {
    "measured": ({}, bn.BDeu(), oracles.bdeu),
    "K2": ({}, bn.K2(), oracles.k2),
    "with states": ({"states": (1,)}, bn.BDeu(), oracles.bdeu),
    "with ties": ({"ties": (0, 2)}, bn.BDeu(), oracles.bdeu),
    "interventions": ({"held": True}, bn.BDeu(), oracles.bdeu),
}


def case(name, m=25):
    rng = np.random.default_rng(5)
    options, score, slow = CASES[name]
    held = rng.random((m, 3)) < 0.2 if "held" in options else None
    data = table_of(rng, m, 3, **{**options, "held": held})
    return data, score, slow, held


def whole_table(data):
    return np.where(data.measured, data.measurements, data.values)


@pytest.mark.parametrize("name", CASES)
def test_log_targets_are_densities_of_ranks(name):
    data, score, slow, held = case(name)
    cuts = bn.average_cuts(data, score, draws=5, rng=np.random.default_rng(1), burn_in=2, chains=2)
    table, measured = whole_table(data), np.flatnonzero(data.measured).tolist()
    ranks = np.array(table, float)
    for v in measured:
        ranks[:, v] = (table[:, v] <= table[:, v, None]).mean(axis=1)
    for c, t in np.ndindex(2, 5):
        borders = data.arities.tolist()
        for i, v in enumerate(measured):
            points = cuts.cut_points[i][cuts.choices[c, t, i]]
            borders[v] = [0, *((table[:, v] <= x).mean() for x in points), 1]
        dag = cuts.dags.values[c, t].tolist()
        expected = oracles.log_rank_density(ranks.tolist(), borders, dag, slow, held)
        assert cuts.dags.log_target[c, t] == pytest.approx(expected, abs=1e-9)


@pytest.mark.quick("interventions")
@pytest.mark.parametrize("name", CASES)
def test_edges_and_cuts_agree_with_the_sum_over_all_cuts_and_dags(name):
    data, score, slow, held = case(name)
    options = {"bins": (2, 3, 5), "rng": np.random.default_rng(2), "burn_in": 50}
    cuts = bn.average_cuts(data, score, draws=300, **options)
    expected, shares = oracles.posterior_over_cuts(
        whole_table(data), data.arities, (2, 3, 5), slow, held
    )
    assert (cuts.stderr < 0.03).all()
    assert (np.abs(cuts.edges - expected) <= 4 * cuts.stderr + 1e-9).all()
    for i, v in enumerate(np.flatnonzero(data.measured)):
        assert len(cuts.cut_points[i]) == len(shares[v])
        for c, share in enumerate(shares[v]):
            chosen = (cuts.choices[..., i] == c).astype(float)
            size = bn.diagnostics.ess(chosen) if np.ptp(chosen) else chosen.size
            error = math.sqrt(share * (1 - share) / size)
            assert abs(chosen.mean() - share) <= 4 * error + 1e-9


# What does not matter


def test_units_and_monotone_functions_change_nothing():
    data = table_of(np.random.default_rng(3), 40, 3)
    other = bn.Data.from_arrays(np.exp(data.measurements) * [1, 1e-6, 1e6])
    one, two = (averaged(each, draws=15, burn_in=5) for each in (data, other))
    assert (one.edges == two.edges).all()
    assert (one.dags.log_target == two.dags.log_target).all()


def test_one_candidate_gives_the_exact_posterior():
    data = table_of(np.random.default_rng(3), 40, 4)
    cuts = averaged(data, draws=15, bins=[3])
    codes = [bn.discretize(x, bn.EqualFrequency(3)).codes for x in data.measurements.T]
    table = bn.score_families(bn.Data.from_arrays(np.column_stack(codes)), bn.BDeu())
    assert cuts.edges == pytest.approx(bn.dag_posterior(table).edges, abs=1e-12)
    assert (cuts.from_cuts < 1e-9).all()


def test_draws_are_tables_that_remember_how_they_were_cut():
    data = table_of(np.random.default_rng(3), 40, 3, states=(1,))
    cuts = averaged(data)
    assert len(cuts) == 240
    one = cuts[17]
    points = [each[c] for each, c in zip(cuts.cut_points, cuts.choices[0, 17], strict=True)]
    assert [each and each.cut_points for each in one.intervals] == [points[0], None, points[1]]
    assert (one.values[:, 1] == data.values[:, 1]).all()
    for v, cut_points in ((0, points[0]), (2, points[1])):
        expected = bn.discretize(data.measurements[:, v], bn.CutPoints(cut_points)).codes
        assert (one.values[:, v] == expected).all()
    lowest = float(data.measurements[:, 0].min())
    assert typed_row(one, {"x0": lowest})[0] == 0
    again = bn.score_families(one, bn.BDeu())
    given = bn.dag_posterior(again).edges
    assert cuts.given[0, 17] == pytest.approx(given, abs=1e-12)
    assert ((cuts.from_cuts >= 0) & (cuts.from_cuts <= 1)).all()
    assert cuts.from_cuts.max() > 0
    assert "60 of cuts of 2 columns, structure-modular, asymptotic" in repr(cuts)


# Candidates


@pytest.mark.parametrize(
    ("column", "bins", "expected"),
    [
        ([1, 2, 3, 4, 5, 6], (2, 3), (((3.0,), (2.0, 4.0)))),
        ([1, 2, 3, 4, 5, 6], (3, 2, 2), (((3.0,), (2.0, 4.0)))),
        ([1, 1, 1, 1, 2, 3], (2, 3, 4, 6), (((1.0,), (1.0, 2.0)))),
        ([0, 1, 1, 1, 1, 1], (2, 3, 4), ((0.0,),)),
        ([7, 7, 8, 8], (2, 3, 4), ((7.0,),)),
    ],
)
def test_ties_leave_fewer_candidates(column, bins, expected):
    data = bn.Data.from_arrays(np.array(column, float)[:, None])
    assert candidate_cuts(data, bins) == (expected,)
    found = {tuple(points) for points in oracles.rank_cuts(column, bins)}
    assert found == set(expected)


# Refusing

MEASURED = bn.Data.from_arrays(np.random.default_rng(1).random((20, 3)), names=["a", "b", "c"])


@pytest.mark.parametrize(
    ("data", "options", "match"),
    [
        (bn.Data.from_arrays([[0, 1], [1, 0]]), {}, "no measured column to cut"),
        (MEASURED.prefix(1), {}, "variable 'a' is constant"),
        (
            bn.Data.from_arrays([[0.5, 1.0], [np.nan, 2.0], [1.0, 3.0]], missing="keep"),
            {},
            "missing cells .*'x0'",
        ),
        (MEASURED, {"score": bn.BGe()}, "pass a BDeu or a K2"),
        (MEASURED, {"score": bn.BIC()}, "pass a BDeu or a K2"),
        (MEASURED, {"bins": ()}, "at least one number of intervals"),
        (MEASURED, {"bins": (2, 1)}, r"bins=\(2, 1\), of which 1: give an integer of at least 2"),
        (MEASURED, {"bins": 3}, "bins=3"),
        (MEASURED, {"draws": 0}, "draws=0"),
        (MEASURED, {"max_parents": -1}, "max_parents=-1"),
        (MEASURED, {"required": [("a", "b"), ("b", "a")]}, "make a cycle a -> b -> a"),
    ],
)
def test_nothing_is_drawn_of_what_cannot_be_cut(data, options, match):
    options = {"score": bn.BDeu(), "draws": 3, **options}
    with pytest.raises(ValueError, match=match):
        bn.average_cuts(data, options.pop("score"), rng=np.random.default_rng(1), **options)


def test_memory_is_checked_before_it_is_taken(monkeypatch):
    monkeypatch.setattr("bnlab.memory.free_bytes", lambda: 100)
    with pytest.raises(ValueError, match=r"3 cuts of 3 columns needs .* bytes"):
        averaged(MEASURED, draws=3)


def test_no_more_memory_is_taken_than_is_asked_for(monkeypatch):
    """Two exact posteriors at a time: that of the cuts and that of those proposed."""
    data = table_of(np.random.default_rng(1), 20, 14)
    lengths = {"draws": 2, "burn_in": 0, "chains": 1}
    averaged(data, **lengths)  # what is made once
    tracemalloc.start()
    averaged(data, **lengths)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    monkeypatch.setattr("bnlab.memory.free_bytes", lambda: 100)
    with pytest.raises(ValueError, match="needs") as refused:
        averaged(data, **lengths)
    asked = re.search(r"needs ([\d,]+) bytes", str(refused.value))[1]
    assert peak <= int(asked.replace(",", ""))


def test_knowledge_of_edges_holds_for_all_cuts():
    data = replace(MEASURED, names=("a", "b", "c"))
    cuts = averaged(data, required=[("a", "b")], tiers=[["a"], ["b", "c"]], bins=(2, 4))
    assert (cuts.edges[0, 1], cuts.edges[1, 0], cuts.edges[2, 0]) == (1, 0, 0)
