"""Numbers behind the figures of the lecture on structure search and averaging (Stat 521A)."""

import itertools
import math
import runpy
from pathlib import Path

import numpy as np
import pytest
from bokeh.embed import json_item

import bnlab as bn
from bnlab import graphs
from bnlab.papers.em2007.study import rows as em_rows
from bnlab.papers.page import stored
from bnlab.papers.stat521a import page, search, study

STORED = runpy.run_path(str(Path(__file__).parents[1] / "benchmarks" / "stored.py"))


def count_orders(dag: np.ndarray) -> int:
    """Orders that agree with a DAG, by trying all."""
    parents = [set(graphs.members(int(mask))) for mask in dag]
    return sum(
        all(parents[v] <= set(order[:place]) for place, v in enumerate(order))
        for order in itertools.permutations(range(len(dag)))
    )


# Misprints


def test_the_fork_and_the_chain_of_the_slide_are_not_equivalent():
    fork, chain, right_chain = [0, 1, 1], [0, 1, 2], [2, 0, 1]
    assert not graphs.markov_equivalent(fork, chain)
    assert graphs.markov_equivalent(fork, right_chain)
    assert [count_orders(np.array(dag)) for dag in (fork, chain, right_chain)] == [2, 1, 1]


def test_parent_sets_of_the_last_node():
    sizes = [len(list(itertools.combinations(range(10), size))) for size in range(4)]
    nothing = bn.Data.from_arrays(np.zeros((0, 11), np.int32), arities=[2] * 11)
    table = bn.score_families(nothing, bn.BDeu(1.0), max_parents=3)
    assert table.parents.shape[1] == sum(sizes) == 176
    assert sum(sizes) - sizes[1] == 166  # without sets of one, as displayed


def test_weights_of_the_slide_lack_a_constant():
    """p*(G) / p(G) is the ratio of the normalisers over l(G), for every DAG."""
    dags = graphs.all_dags(4)
    orders = np.array([count_orders(dag) for dag in dags])
    ratio = (1 / len(dags)) / (orders / orders.sum())
    np.testing.assert_allclose(ratio * orders, 1536 / 543)
    assert orders.sum() == math.factorial(4) * 2 ** math.comb(4, 2)


def test_neighbours_of_one_member_are_not_those_of_the_class():
    """The same by looking at all pairs of DAGs of three nodes that differ by one edge."""
    dags = graphs.all_dags(3)
    keys = [matrix.tobytes() for matrix in graphs.cpdag(dags)]
    edges = graphs.to_adjacency(dags)
    differ = np.abs(edges[:, None].astype(int) - edges[None]).sum(axis=(2, 3)) == 1
    shares = []
    for key in sorted(set(keys)):
        members = [i for i, other in enumerate(keys) if other == key]
        near = [{keys[j] for j in np.flatnonzero(differ[i])} for i in members]
        assert len(study.neighbours(dags[members])) == len(set().union(*near))
        assert len(study.neighbours(dags[members[:1]])) == len(near[0])
        shares.append(1 - len(near[0]) / len(set().union(*near)))
    mean, largest, classes = study.missed(3)
    assert (mean, largest, classes) == (pytest.approx(np.mean(shares)), max(shares), 11)
    assert 0 < mean < study.missed(4)[0]


# Equivalence and the order-modular prior


def test_the_true_class_by_hand():
    """The v-structure B -> D <- C stays; B - A - C - E is a path with any of the four as root."""
    dags, log_orders = study.everything()
    members = study.true_class()
    a, b, c, d, e = range(5)
    fixed = [(b, d), (c, d)]
    roots = [
        [(e, c), (c, a), (a, b)],
        [(b, a), (a, c), (c, e)],
        [(c, a), (a, b), (c, e)],
        [(a, b), (a, c), (c, e)],
    ]
    expected = [graphs.from_edges(5, fixed + edges).tolist() for edges in roots]
    assert dags[members].tolist() == expected
    counted = [count_orders(dag) for dag in dags[members]]
    assert counted == np.exp(log_orders[members]).round().tolist() == [1, 2, 4, 5]


@pytest.fixture(scope="module")
def bias() -> study.Bias:
    return study.bias(3)


def test_shares_inside_the_class_do_not_depend_on_data(bias):
    shares, _ = study.limits()
    inside = bias.modular / bias.modular.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(inside, np.tile([1 / 12, 2 / 12, 4 / 12, 5 / 12], (9, 1)), rtol=1e-6)
    np.testing.assert_allclose(shares, [1 / 12, 2 / 12, 4 / 12, 5 / 12])
    np.testing.assert_allclose(bias.alike, bias.alike[:, :1] * np.ones(4), rtol=1e-6)


def test_both_posteriors_find_the_class_and_the_bias_stays(bias):
    assert bias.alike[-1].sum() > 0.99 and bias.modular[-1].sum() > 0.99
    assert bias.alike[0].sum() < 0.01
    _, limit = study.limits()
    assert limit == pytest.approx(2 / 3)
    assert bias.sad[-1] == pytest.approx(limit, abs=0.01)


def test_the_bias_is_that_of_the_dynamic_programs(bias):
    sizes = study.CLASS_SIZES
    rows = bn.load_network("cancer").sample(sizes[-1], np.random.default_rng([521, 1, 3]))
    for place in (0, 4):
        table = bn.score_families(rows.prefix(sizes[place]), bn.BDeu(1.0), max_parents=4)
        exact = bn.diagnostics.sad(bn.dag_posterior(table).edges, bn.order_posterior(table).edges)
        assert bias.sad[place] == pytest.approx(exact, abs=1e-9)


# ALARM


def test_the_kept_alarm_is_the_published_one(data_dir):
    kept, published = search.alarm(), bn.load_network("alarm")
    assert kept.names == published.names
    np.testing.assert_array_equal(kept.dag, published.dag)
    for one, other in zip(kept.tables, published.tables, strict=True):
        np.testing.assert_array_equal(one, other)


def test_known_structure_is_nearest_and_a_tree_stops_learning():
    found = search.distances((50, 500, 5000), 1)
    known, tabu, ges, tree = found.mean[0].T
    assert (known < np.minimum(tabu, np.minimum(ges, tree))).all()
    assert (np.diff(known) < 0).all() and (found.mean > -3 * found.error).all()
    assert tree[0] < min(tabu[0], ges[0]) and tree[-1] > 1 > 5 * max(tabu[-1], ges[-1])


@pytest.mark.quick("500")
@pytest.mark.parametrize("m", [500, 1000])
def test_searches_on_alarm(m):
    found = search.scores(m)
    top = found.pop("tabu and restarts")
    assert all(score < top for score in found.values())
    for name in ("tabu list", "50 restarts", "50 perturbed DAGs", "10 perturbed data"):
        assert found[name] >= found["best-first"]
    assert min(found, key=found.get) == "first-best"


def test_two_runs_may_agree_and_both_be_wrong():
    table = search.census("tic-tac-toe")
    runs = {sampler: search.two_runs(table, sampler) for sampler in ("Hybrid", "Order")}
    gaps = {sampler: search.apart(both)[0] for sampler, both in runs.items()}
    errors = {s: min(search.from_exact(table, s, both)) for s, both in runs.items()}
    assert gaps["Hybrid"] < gaps["Order"] and errors["Hybrid"] > 2 * errors["Order"]


# T-cells


def test_a_prior_on_kept_scores_is_that_of_a_table_scored_with_it():
    rows = bn.Data.from_arrays(
        np.random.default_rng(1).integers(0, 3, (50, 11)), arities=[3] * 11, names=study.PROTEINS
    )
    prior = bn.EdgeBeliefs(study.beliefs("the literature"), 2.0)
    whole = bn.score_families(rows, bn.BDeu(1.0), max_parents=3, prior=prior)
    rebuilt = study.with_prior(whole.log_score, prior)
    for name in ("parents", "log_score", "log_prior"):
        np.testing.assert_array_equal(getattr(rebuilt, name), getattr(whole, name))


def test_sources_of_beliefs():
    believed = [study.beliefs(source) > 0.5 for source in study.SOURCES]
    truth = study.truth()
    np.testing.assert_array_equal(believed[0], truth)
    assert 0.1 < (believed[1] != truth).sum() / 110 < 0.3
    assert believed[2].sum() == 17 and not np.array_equal(believed[2], truth)
    with pytest.raises(ValueError, match="no source 'rumour'"):
        study.beliefs("rumour")


@pytest.mark.parametrize("source", study.SOURCES)
def test_the_evidence_of_a_strength_rises_with_the_energy_that_data_save(source):
    """d ln p(D | b) / d b is the mean energy under the prior less that under the posterior."""
    matrix = study.beliefs(source)

    def energy(log_score: np.ndarray, strength: float) -> float:
        table = study.with_prior(log_score, bn.EdgeBeliefs(matrix, strength))
        edges = bn.dag_posterior(table).edges
        return float((edges * (1 - 2 * matrix)).sum())

    def evidence(strength: float) -> float:
        table = study.with_prior(scores, bn.EdgeBeliefs(matrix, strength))
        return bn.dag_posterior(table).log_z - bn.exact.log_dag_prior_sum(table)

    scores, step = study.table(90).log_score, 1e-3
    slope = (evidence(2 + step) - evidence(2 - step)) / (2 * step)
    saved = energy(np.zeros_like(scores), 2.0) - energy(scores, 2.0)
    assert slope == pytest.approx(saved, abs=1e-3)


def test_audit_of_beliefs():
    """Right beliefs help where rows are few, and the evidence tells them from wrong ones."""
    seen = study.subsets()
    right, partly, wrong = seen["areas"].mean(axis=1)[0]
    assert (np.diff(right) > 0).all() and right[-1] > 0.99
    assert partly[4] > partly[0] > wrong[4] and (wrong[1:] < wrong[0]).all()
    few, many = (np.abs(seen["areas"][i, :, 0] - seen["alike"][i][:, None]).mean() for i in (0, 2))
    assert few > 4 * many
    gain = (seen["evidence"] - seen["evidence"][..., :1]).mean(axis=1)
    best = gain.max(axis=-1)
    assert (best[:, 0] > 5).all() and (best[:, 0] > best[:, 1] + 3).all()
    assert (best[:, 1] > best[:, 2]).all() and (best[:, 2] < 2).all()
    assert (gain[:, 2, 3:] < -5).all()


def test_beliefs_do_not_matter_where_rows_are_many():
    whole = study.edges(5400)
    assert np.ptp([bn.diagnostics.auc(edges, study.truth()) for edges in whole.values()]) < 0.01


def test_kept_scores_and_subsets_are_made_again(data_dir):
    again = STORED["subsets"](1)
    for name in ("cells 90", "cells 5400"):
        np.testing.assert_allclose(again[name], stored("stat521a")[name], atol=1e-9)
    for name in ("areas", "evidence", "alike", "orders"):
        kept = study.subsets()[name][:, :1]
        np.testing.assert_allclose(again[f"cells {name}"], kept, rtol=1e-5)


# Child, predictions, sets


def test_areas_of_the_truth_its_reverse_and_its_class():
    truth = np.array([0, 1, 2])
    assert study.areas([truth], truth, directed=True).tolist() == [1, 1]
    assert study.areas([[2, 4, 0]], truth, directed=True)[1] == 0
    members = [dag for dag in graphs.all_dags(3) if graphs.markov_equivalent(dag, truth)]
    # Of three members each edge has two thirds or one third one way: (2 > 1, 1 > 0) by hand.
    believed = graphs.to_adjacency(np.array(members)).mean(axis=0)
    by_hand = bn.diagnostics.auc(believed, graphs.to_adjacency(truth))
    assert study.areas(members, truth, directed=True)[0] == by_hand < 1


def test_a_saved_data_set_is_found_again():
    np.testing.assert_allclose(study.discover(1, 1000), study.discovered()[1, 1], atol=1e-6)


def test_audit_of_the_edges_found():
    found = study.discovered().mean(axis=1)
    single, average = found[:, :3].max(axis=1), found[:, 4:].min(axis=1)
    assert (average > single).all()
    assert (average - single)[0].min() > 0.08
    edges = found[..., 0]
    assert (edges[:, 3] > edges[:, 2]).all() and (edges[:, 3] < average[:, 0]).all()
    assert np.abs(edges[:, 4] - edges[:, 5]).max() < 0.01


@pytest.mark.quick("coronary", "tic")
@pytest.mark.parametrize("name", study.DATASETS)
def test_windows_by_beam_and_in_truth(name):
    for factor in study.FACTORS:
        seen = study.window(name, factor)
        assert seen.found <= seen.exact < study.LISTED and seen.mass <= seen.exact_mass + 1e-9
        if name == "tic_tac_toe":
            assert seen.mass < 0.6 * seen.exact_mass
        else:
            assert (seen.found, seen.mass) == (seen.exact, pytest.approx(seen.exact_mass))


def test_weighing_distinct_dags_beats_counting_visits():
    errors = study.errors("coronary")
    assert (errors["distinct"].mean(axis=0) < errors["visits"].mean(axis=0)).all()
    assert errors["distinct"][:, -1].mean() < errors["visits"][:, -1].mean() / 4
    stuck = study.errors("tic_tac_toe")
    assert min(values.mean(axis=0)[-1] for values in stuck.values()) > 10


# The page


def test_pictures_hold_the_numbers():
    make = {name: part.make for name, part in page.page.parts.items()}
    found = study.discovered()
    lines = make["found_paths"]().select_one({"name": "paths"}).data
    orders = lines["ys"][lines["label"].index("average over orders")]
    assert orders == found.mean(axis=1)[:, 4, 1].tolist()
    evidence = make["beliefs_evidence"](m=270).select_one({"name": "evidence_270"}).data
    gain = study.subsets()["evidence"][1].mean(axis=0)
    assert evidence["ys"][0] == (gain - gain[0, 0])[0, 1:].tolist()
    curve = make["roc_5400"]().select_one({"name": "roc_5400"}).data
    assert np.trapezoid(curve["ys"][0], curve["xs"][0]) == pytest.approx(
        bn.diagnostics.auc(study.edges(5400)["each DAG alike"], study.truth())
    )
    assert json_item(make["members"]()) and json_item(make["roc_90"]())


def test_the_kept_arrays_are_small():
    assert set(name.split()[0] for name in stored("stat521a")) == set(STORED["PARTS"]["stat521a"])
    assert sum(array.nbytes for array in stored("stat521a").values()) < 60_000


def test_the_stand_ins_are_those_of_another_page():
    assert search.census("synthetic").names == em_rows("synthetic").names
