"""Lab 05 without a browser: its widgets and its checks."""

from functools import cache
from random import Random

import numpy as np
import pytest

import bnlab as bn
from bnlab.labs import direct_dag_sampling as lab

NAMES = ["M. Work", "P. Work", "Pressure", "Proteins"]


@cache
def workers() -> bn.Data:
    return bn.load_dataset("coronary").shuffled(np.random.default_rng(1))


@cache
def table() -> bn.ScoreTable:
    return bn.score_families(workers().select(NAMES), bn.BDeu(1.0))


@cache
def phi() -> tuple[dict[frozenset[int], float], ...]:
    return tuple(
        {
            frozenset(bn.graphs.members(P)): float(np.exp(x - x_v.max()))
            for P, x in zip(P_v, x_v, strict=True)
        }
        for P_v, x_v in zip(table().parents, table().log_phi, strict=True)
    )


@pytest.mark.slow
def test_a_walk_ends_in_an_order_and_a_dag_consistent_with_it() -> None:
    walk = lab.WalkDown(workers().select(NAMES), "MWBP")
    for number in (1, 7, 20):
        walk.number.value = number
        for step in range(9):
            walk.step.value = step
            left = walk.lattice.source("sets").data["outline_width"]
            assert sum(width > 1 for width in left) == 1 + min(step, 4)
        order = walk.lattice.figure.picture.title.text.split(": ")[1].split(" ")
        assert sorted(order) == sorted("MWBP")
        links = walk.net.source("links").data
        place = dict(zip(NAMES, (order.index(letter) for letter in "MWBP"), strict=True))
        assert all(
            place[u] < place[v] for u, v in zip(links["parent"], links["child"], strict=True)
        )


def test_links_carry_the_probability_of_the_last_place() -> None:
    walk = lab.WalkDown(workers().select(NAMES), "MWBP")
    down = walk.lattice.source("down").data
    labels = dict(label.split() for label in down["label"] if label)
    orders = bn.sample_orders(
        bn.order_posterior(table()), draws=20_000, rng=np.random.default_rng(1)
    ).values[0]
    for v, letter in enumerate("MWBP"):
        assert float(labels[letter]) == pytest.approx((orders[:, -1] == v).mean(), abs=0.015)
    walk.size.value = 0
    labels = [label.split()[1] for label in walk.lattice.source("down").data["label"] if label]
    assert labels == ["0.2500"] * 4


def test_experiments_are_prefixes_of_one_set_of_draws() -> None:
    posterior = bn.order_posterior(table())
    hundred = lab.Hundred(posterior, 1, 3, stops=(300, 1000))
    draws = bn.sample_dags(posterior, draws=100 * 1000, rng=np.random.default_rng(2016))
    has = bn.features.path(1, 3)(draws.values[0]).reshape(100, 1000)
    shown = hundred.panel.source("experiments").data["estimate"]
    np.testing.assert_allclose(shown, has[:, :300].mean(axis=1))
    truth = hundred.panel.source("experiments_exact").data["exact"]
    assert truth == [bn.exact.order_paths(posterior)[1, 3]]
    hundred.drawn.value = 1000
    assert "at most 89.9 on average" in hundred.panel.caption


@pytest.mark.slow
def test_more_rows_move_the_diamonds_and_more_draws_the_whiskers() -> None:
    more = lab.MoreRows(workers(), "P. Work", "M. Work", "Proteins")
    u, v = workers().index("P. Work"), workers().index("Proteins")
    posterior = bn.order_posterior(bn.score_families(workers(), bn.BDeu(1.0), max_parents=5))
    draws = bn.sample_dags(posterior, draws=20_000, rng=np.random.default_rng(1841)).prefix(4612)
    path = bn.features.probability(draws, bn.features.path(u, v))
    shown = dict(more.estimates.source("shares").data)
    assert shown["share"][-1] == path.value
    assert (shown["low"][-1], shown["high"][-1]) == pytest.approx((path.low, path.high))
    assert shown["exact"][-1] == bn.exact.order_paths(posterior)[u, v]
    assert f"{len(np.unique(draws.values[0], axis=0))} distinct" in more.dags.caption
    most = dict(more.dags.source("most_drawn").data)
    np.testing.assert_allclose(most["share"], most["exact"], atol=0.02)
    more.drawn.value = 20_000
    now = more.estimates.source("shares").data
    assert now["exact"] == shown["exact"]
    assert now["high"][-1] - now["low"][-1] < shown["high"][-1] - shown["low"][-1]
    more.size.value = 0
    assert np.isnan(more.estimates.source("shares").data["share"][1:]).all()


def alpha(v: int, S: frozenset[int]) -> float:
    return sum(weight for P, weight in phi()[v].items() if P <= S)


@cache
def b(S: frozenset[int]) -> float:
    return sum(alpha(v, S) * b(S | {v}) for v in range(4) if v not in S) if len(S) < 4 else 1.0


def forward(rng, backward=b, parents_of=lambda v, S: S):
    order, dag, S = [], [None] * 4, frozenset()
    while len(order) < 4:
        nodes = [v for v in range(4) if v not in S]
        v = rng.choices(nodes, [alpha(v, S) * backward(S | {v}) for v in nodes])[0]
        inside = [P for P in phi()[v] if P <= parents_of(v, S)]
        dag[v] = rng.choices(inside, [phi()[v][P] for P in inside])[0]
        order, S = [*order, v], S | {v}
    return order, tuple(dag)


@pytest.mark.slow
def test_check_of_draws_from_the_front(capsys: pytest.CaptureFixture[str]) -> None:
    def anywhere(rng):
        return forward(rng, parents_of=lambda v, S: frozenset(range(4)) - {v})

    def first_at_random(rng):
        return forward(rng, backward=lambda S: 1.0)

    def no_parents(rng):
        return forward(rng, parents_of=lambda v, S: frozenset())

    assert lab.check_draw_forward(b, forward, phi())
    assert not lab.check_draw_forward(lambda S: None, forward, phi())
    assert not lab.check_draw_forward(lambda S: b(S) if not S else 2.0, forward, phi())
    assert not lab.check_draw_forward(b, anywhere, phi())
    assert not lab.check_draw_forward(b, first_at_random, phi())
    assert not lab.check_draw_forward(b, no_parents, phi())
    assert not lab.check_draw_forward(cache(lambda S: b(S)), forward, phi())  # another b
    said = capsys.readouterr().out
    assert said.count("not yet") == 6
    assert "first places" in said
    assert "chi-square" in said


def test_distribution_is_that_of_the_package() -> None:
    weights = lab._dag_weights(phi())
    total = sum(weights.values())
    exact = {dag: weight / total for dag, weight in weights.items()}
    edges = np.zeros((4, 4))
    for dag, p in exact.items():
        for v, P in enumerate(dag):
            edges[list(P), v] += p
    np.testing.assert_allclose(edges, bn.order_posterior(table()).edges, atol=1e-9)


def test_check_of_orders_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    @cache
    def g(S):
        return sum(alpha(v, S - {v}) * g(S - {v}) for v in S) if S else 1.0

    def drawer(weigh):
        def draw(S, rng):
            order = []
            while S:
                nodes = sorted(S)
                v = rng.choices(nodes, [weigh(v, S) for v in nodes])[0]
                order, S = [v, *order], S - {v}
            return order

        return draw

    right = drawer(lambda v, S: alpha(v, S - {v}) * g(S - {v}))
    wrong = (
        drawer(lambda v, S: 1),
        drawer(lambda v, S: g(S - {v})),
        drawer(lambda v, S: 1 if len(S) < 4 else alpha(v, S - {v}) * g(S - {v})),
        lambda S, rng: right(S, rng)[::-1],
        lambda S, rng: [],
    )
    assert lab.check_draw_order(right, phi())
    assert lab.right_draw_order(right, phi()) is right
    for each in wrong:
        assert not lab.check_draw_order(each, phi())
        one, two = Random(1), Random(1)
        ours = lab.right_draw_order(each, phi())
        for _ in range(100):
            assert ours(frozenset(range(4)), one) == right(frozenset(range(4)), two)
    assert capsys.readouterr().out.count("not yet") == 5


def test_weights_are_family_weights_by_parent_sets() -> None:
    assert [each.keys() for each in lab.weights(table())] == [each.keys() for each in phi()]
    for ours, each in zip(lab.weights(table()), phi(), strict=True):
        assert ours == pytest.approx(each)


def test_check_of_what_rows_settle(capsys: pytest.CaptureFixture[str]) -> None:
    data = workers().select(NAMES)

    def joined(dag):
        return 0 in dag[3] or 3 in dag[0]

    def direction(dag):
        return 1 in dag[0]

    assert lab.check_settled(joined, direction, data, 0.4)
    assert not lab.check_settled(joined, direction, data, None)
    assert not lab.check_settled(direction, joined, data, 0.4)
    assert not lab.check_settled(lambda dag: True, direction, data, 0.4)
    assert "0.9978" in capsys.readouterr().out
