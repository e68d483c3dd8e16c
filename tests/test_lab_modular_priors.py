"""Lab 02 without a browser: the enumeration, its pictures, its widgets, and its checks."""

import itertools
import math
from math import comb

import numpy as np
import pytest
from pictures import columns

import bnlab as bn
from bnlab import plots
from bnlab.labs import modular_priors as lab


def orders_by_listing(dag: np.ndarray) -> int:
    edges = bn.graphs.to_edges(dag)
    orders = itertools.permutations(range(len(dag)))
    return sum(all(o.index(u) < o.index(v) for u, v in edges) for o in orders)


@pytest.mark.parametrize(
    ("n", "dags", "classes", "shapes"),
    [(1, 1, 1, 1), (2, 3, 2, 2), (3, 25, 11, 6), (4, 543, 185, 31)],
)
def test_space_counts(n: int, dags: int, classes: int, shapes: int) -> None:
    everything = lab.space(n)
    assert everything.dags.shape == (dags, n)
    assert everything.orders.sum() == np.prod(np.arange(1, n + 1)) * 2 ** comb(n, 2)
    assert len(np.unique(everything.classes)) == classes
    assert len(np.unique(everything.shapes)) == shapes
    assert everything.orders.tolist() == [orders_by_listing(dag) for dag in everything.dags]


def test_space_of_five() -> None:
    everything = lab.space(5)
    assert len(np.unique(everything.classes)) == 8782
    assert len(np.unique(everything.shapes)) == 302
    assert np.bincount(everything.shapes).max() == 120
    with pytest.raises(ValueError, match="n=6"):
        lab.space(6)


def test_shapes_share_what_renaming_leaves() -> None:
    everything = lab.space(4)
    arrows = np.bitwise_count(everything.dags).sum(axis=1)
    pairs = np.column_stack([everything.shapes, everything.orders, arrows])
    assert len(np.unique(pairs, axis=0)) == 31


def test_equivalent_dags_have_the_same_score_and_numbers_of_parents() -> None:
    everything = lab.space(4)
    data = (
        bn.load_dataset("coronary").prefix(100).select(["Smoking", "P. Work", "Proteins", "Family"])
    )
    table = bn.score_families(data, bn.BDeu(1.0), max_parents=3)
    score = table.log_target(everything.dags)
    sizes = np.sort(np.bitwise_count(everything.dags), axis=1)
    first = np.unique(everything.classes, return_index=True)[1]
    np.testing.assert_allclose(score, score[first][everything.classes], atol=1e-9)
    np.testing.assert_array_equal(sizes, sizes[first][everything.classes])


def test_curve_keeps_the_ends_of_each_step() -> None:
    orders = lab.space(3).orders
    p = orders / orders.sum()
    data = columns(plots.prior_curve(p, {}, y_range=(0.01, 1)), "curve")
    assert data["rank"] == [1, 1, 2, 7, 8, 13, 14, 25]
    assert data["probability"] == pytest.approx(np.repeat([6, 3, 2, 1], 2) / 48)
    with pytest.raises(ValueError, match="positive"):
        plots.prior_curve([1.0, 0.0], {}, y_range=(0.01, 1))


def test_gallery_arrows_run_between_their_nodes() -> None:
    dags = [[0, 1, 2], [0, 0, 1], *[[0, 0, 0]] * 6]
    ratios, alike = [1124.4, 99.96, 28.59, 0.01084] * 2, [1, 5, 20, 120] * 2
    picture = plots.dag_gallery(dags, ratios, alike)
    data, labels = columns(picture, "arrows"), columns(picture, "shapes")
    assert len(data["xs"]) == len(data["head_ys"]) == 3
    texts = ["× 1,124\n1 DAG", "× 100\n5 DAGs", "× 28.6\n20 DAGs", "× 0.0108\n120 DAGs"]
    assert labels["label"] == texts * 2


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="holds 8 DAGs"):
        plots.dag_gallery([[0, 0]], [1.0], [1])
    with pytest.raises(ValueError, match="5 known priors"):
        plots.prior_curve([1.0], {str(i): [1.0] for i in range(5)}, y_range=(0.1, 1))
    look = {"posteriors": ("p", "q"), "title": "t", "alt": "a"}
    with pytest.raises(ValueError, match=r"shape \(1,\), but 2 values"):
        plots.answer_pairs([0.5], [0.5], ["a", "b"], **look)
    with pytest.raises(ValueError, match="not all different"):
        plots.answer_pairs([0.5] * 2, [0.5] * 2, ["a", "a"], **look)
    with pytest.raises(ValueError, match="7 rows"):
        plots.distances([0, 10], {"DAGs": [0.1, 0.2]}, 7)


@pytest.mark.parametrize("name", lab.PRIORS)
def test_explorer_shows_the_prior_that_is_chosen(name: str) -> None:
    explorer = lab.PriorExplorer()
    explorer.prior.value = name
    explorer.divisor.value = 3
    everything, prior = lab.space(5), lab.PRIORS[name]
    arrows = np.bitwise_count(everything.dags).sum(axis=1)
    weight = np.exp(lab.log_factor(prior.factor, everything.dags)) / 3.0**arrows
    weight *= everything.orders if prior.by_orders else 1
    p = weight / weight.sum()
    np.testing.assert_allclose(lab.prior_probabilities(**explorer.values()), p, rtol=1e-9)
    shown = explorer.curve.source("curve").data
    assert shown["probability"][0] == pytest.approx(p.max())
    assert shown["probability"][-1] == pytest.approx(p.min())
    assert shown["rank"][-1] == 29281
    ratios = explorer.gallery.source("shapes").data["ratio"]
    assert ratios[0] == pytest.approx(29281 * p.max())
    assert ratios[-1] == pytest.approx(29281 * p.min())
    assert name in explorer.curve.caption


def test_explorer_says_when_all_are_alike() -> None:
    explorer = lab.PriorExplorer()
    assert "120 DAGs" in explorer.gallery.source("shapes").data["label"][-1]
    explorer.prior.value = "Uniform"
    assert "any eight would do" in explorer.gallery.caption
    assert "0.0000 nats" in explorer.curve.caption


@pytest.mark.slow
def test_washout_is_the_package_and_never_moves_within_the_class() -> None:
    washout = lab.Washout()
    for rows in (0, 500, 100_000):
        washout.size.value = rows
        table = bn.score_families(lab.cancer().prefix(rows), bn.BDeu(1.0), max_parents=4)
        exact = bn.order_posterior(table).edges
        shown = washout.edges.source("edges").data
        pairs = [["ABCDE".index(x) for x in label.split(" → ")] for label in shown["label"]]
        np.testing.assert_allclose(shown["first"], [exact[u, v] for u, v in pairs], atol=1e-9)
        members = washout.members.source("members").data
        odds = np.array(members["first"][:4]) / members["first"][3]
        np.testing.assert_allclose(odds, [5, 4, 2, 1], rtol=1e-6)
        np.testing.assert_allclose(members["second"][:4], members["second"][0], rtol=1e-6)
        assert sum(members["first"]) == pytest.approx(1)
        assert "5 (order-modular), 1 (structure-modular)" in washout.members.caption
    distance = washout.lines.source("now").data["distance"]
    np.testing.assert_allclose(distance, [0.25, 0], atol=0.001)


def prior(dag: list[frozenset[int]], rho: list[float], *, orders: bool = True) -> float:
    n = len(dag)
    total = math.prod(sum(comb(k, j) * rho[j] for j in range(k + 1)) for k in range(n))
    ell = sum(
        all(dag[v] <= set(order[:i]) for i, v in enumerate(order))
        for order in itertools.permutations(range(n))
    )
    weight = math.prod(rho[len(parents)] for parents in dag)
    return weight * (ell if orders else 1) / (math.factorial(n) * total)


def test_check_of_priors(capsys: pytest.CaptureFixture[str]) -> None:
    assert not lab.check_prior(lambda dag, rho: None)
    assert not lab.check_prior(lambda dag, rho: 1 / 4)
    assert not lab.check_prior(lambda dag, rho: prior(dag, rho, orders=False))
    assert not lab.check_prior(lambda dag, rho: prior(dag, [1] * len(rho)))
    assert lab.check_prior(prior)
    assert capsys.readouterr().out.count("not yet") == 4


def test_check_of_factors(capsys: pytest.CaptureFixture[str]) -> None:
    assert not lab.check_against(lambda k: None)
    assert not lab.check_against(lambda k: 1)
    assert not lab.check_against(lambda k: 2**k)
    assert not lab.check_against(lambda k: 2 if k else 1)
    assert lab.check_against(lambda k: 1 + k)
    assert capsys.readouterr().out.count("not yet") == 4


def test_k2_is_bdeu_with_an_imagined_row_in_each_cell() -> None:
    """What the lab says of families with k parents, all with two values."""
    data = bn.load_dataset("coronary")
    k2 = bn.score_families(data, bn.K2(), max_parents=5)
    for k in range(6):
        bdeu = bn.score_families(data, bn.BDeu(2.0 ** (k + 1)), max_parents=5)
        has = np.bitwise_count(k2.parents) == k
        np.testing.assert_allclose(k2.log_score[has], bdeu.log_score[has], rtol=1e-12)


def test_check_of_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    path = [(i, i + 1) for i in range(5)]
    star = [(0, i) for i in range(1, 6)]
    leaf = [(1, 0)] + [(0, i) for i in range(2, 6)]
    middle = [(2, 1), (1, 0), (2, 3), (3, 4), (4, 5)]
    assert not lab.check_pair([(0, 1), (1, 0)], path)
    assert not lab.check_pair(star, path)
    assert not lab.check_pair(path, middle)
    assert not lab.check_pair(star, leaf)
    assert lab.check_pair(middle, path)
    said = capsys.readouterr().out
    assert said.count("not yet") == 4
    assert "Odds 10" in said
