"""The landscape of orders: its picture, its made-up table, and its chain, which is lab 04's."""

from itertools import combinations, permutations
from math import factorial
from random import Random

import numpy as np
import pytest
from pictures import check_picture, columns
from stills import run

import bnlab as bn
from bnlab import plots
from bnlab.labs import landscape as lab
from bnlab.plots.lattice import DISC, corners, neighbours, order_name

MOST = 2
FIRST = ("ABCD", "ABDC", "BACD", "BADC"), ("CDAB", "CDBA", "DCAB", "DCBA")


def crossing(a, b, c, d) -> bool:
    """Whether the segments from a to b and from c to d cross."""

    def side(p, q, r) -> bool:
        return (q[0] - p[0]) * (r[1] - p[1]) > (q[1] - p[1]) * (r[0] - p[0])

    return side(a, b, c) != side(a, b, d) and side(c, d, a) != side(c, d, b)


@pytest.mark.parametrize(("n", "edges"), [(3, 6), (4, 36)])
def test_corners_are_apart_and_no_two_edges_cross(n: int, edges: int) -> None:
    places = corners(n)
    assert len(places) == factorial(n)
    assert all(np.hypot(*np.subtract(*pair)) > 40 for pair in combinations(places.values(), 2))
    found = neighbours(n)
    assert len(found) == edges
    degree = [sum(order in edge for edge in found) for order in places]
    assert set(degree) == {n - 1}
    for one, other in combinations(found, 2):
        if not set(one) & set(other):
            assert not crossing(*(places[order] for order in (*one, *other)))


def test_areas_are_probabilities_and_the_trail_ends_at_the_walker() -> None:
    chances, shares = np.arange(6) / 15, np.array([0.5, 0, 0.5, 0, 0, 0])
    trail = [(0, 1, 2), (1, 0, 2), (1, 0, 2)]
    picture = plots.order_landscape(3, chances, shares, trail, (1, 2, 0), title="Orders")
    check_picture(picture, "orders", "trail", "walker", "proposed")
    data = columns(picture, "orders")
    assert data["order"] == ["ABC", "ACB", "BAC", "BCA", "CAB", "CBA"]
    assert np.square(data["disc"]) == pytest.approx(DISC**2 * chances)
    assert np.square(data["ring"]) == pytest.approx(DISC**2 * shares)
    places = corners(3)
    way, now, tried = (columns(picture, name) for name in ("trail", "walker", "proposed"))
    assert (way["x0"], way["y1"]) == ([places[0, 1, 2][0]], [places[1, 0, 2][1]])
    assert (now["x"][0], now["y"][0]) == places[1, 0, 2] == (tried["x0"][0], tried["y0"][0])
    assert (tried["x1"][0], tried["y1"][0]) == places[1, 2, 0]
    with pytest.raises(ValueError, match="5 variables"):
        corners(5)


def test_either_pair_may_have_tossed_first() -> None:
    values = lab.copies(lab.ROW_STOPS[-1]).values
    for coin in (values // 2, values % 2):
        a, b, c, d = coin.T
        assert ((c == a) | (c == b)).all() and ((d == a) | (d == 1 - b)).all()
        # As likely if A and C, and B and D, change places: here, the same may happen.
        assert ((a == c) | (a == d)).all() and ((b == c) | (b == 1 - d)).all()


def test_two_modes_and_a_valley_between_them() -> None:
    p = dict(zip(map(order_name, permutations(range(4))), exact(800, 1), strict=True))
    first, second = (sum(p[order] for order in orders) for orders in FIRST)
    assert first + second > 0.999 and min(first, second) > 0.3
    assert exact(800, 0) == pytest.approx(np.full(24, 1 / 24))


def exact(rows: int, beta: float) -> np.ndarray:
    return lab.chances(lab.log_targets(lab.copies(rows)), beta)


def test_probabilities_are_those_of_the_package() -> None:
    data = lab.copies(200)
    posterior = bn.order_posterior(bn.score_families(data, bn.BDeu(1.0), max_parents=MOST))
    found = lab.log_targets(data)
    assert np.logaddexp.reduce([*found.values()]) == pytest.approx(posterior.log_z)
    draws = bn.sample_orders(posterior, draws=20_000, rng=np.random.default_rng(1)).values[0]
    shares = [(draws == order).all(axis=1).mean() for order in found]
    np.testing.assert_allclose(shares, exact(200, 1), atol=0.02)


@pytest.mark.parametrize("beta", [1, 0.1])
def test_the_chain_is_the_one_on_the_page(beta: float) -> None:
    page = run("04_order_mcmc", ("@cache\ndef log_alpha", "def metropolis"))
    data = lab.copies(400)
    table = bn.score_families(data, bn.BDeu(1.0), max_parents=MOST)
    rng = Random(lab.SEED)
    start = tuple(rng.sample(range(4), 4))
    here, proposals = lab.walk(data, "any two", beta)
    assert here == [start, *page["metropolis"](table, start, len(proposals), rng, beta)]


@pytest.mark.parametrize("kind", lab.KINDS)
def test_shares_of_visits_tend_to_the_probabilities(kind: str) -> None:
    (start, *visits), proposals = lab.walk(lab.copies(100), kind, 0.2)
    for before, proposed, after in zip([start, *visits[:-1]], proposals, visits, strict=True):
        apart = [i for i in range(4) if before[i] != proposed[i]]
        assert len(apart) == 2 and (kind == "any two" or apart[1] == apart[0] + 1)
        assert after in (before, proposed)
    shares = [visits.count(order) / len(visits) for order in permutations(range(4))]
    np.testing.assert_allclose(shares, exact(100, 0.2), atol=0.03)


def test_the_walker_stays_in_its_mode_at_beta_1_and_leaves_it_when_hot() -> None:
    view = lab.Landscape()
    view.step.value = lab.STEP_STOPS[-1]
    shown = view.shares.source("shares").data
    visited = {order for order, p in zip(shown["label"], shown["share"], strict=True) if p > 0}
    assert [bool(visited & set(orders)) for orders in FIRST] == [True, False]
    np.testing.assert_allclose(shown["exact"], exact(800, 1))
    assert view.orders.source("orders").data["share"] == shown["share"]
    view.beta.value = 0.1
    shown = view.shares.source("shares").data
    visited = {order for order, p in zip(shown["label"], shown["share"], strict=True) if p > 0}
    assert all(set(orders) <= visited for orders in FIRST)
    view.variables.value = "3"
    assert len(view.orders.source("orders").data["x"]) == 6
