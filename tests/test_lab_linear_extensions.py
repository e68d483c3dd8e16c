"""Lab 06 without a browser: its widgets and its checks."""

from functools import cache

import numpy as np
import pytest

import bnlab as bn
from bnlab.exact import order_paths
from bnlab.labs import linear_extensions as lab


def boards(m: int) -> bn.ScoreTable:
    data = bn.load_dataset("tic_tac_toe").shuffled(np.random.default_rng(1)).prefix(m)
    return bn.score_families(data, bn.BDeu(1.0), max_parents=5)


@pytest.mark.quick("N", "tree")
@pytest.mark.parametrize("shape", lab.SHAPES)
def test_down_sets_carry_their_counts(shape: str) -> None:
    shown = lab.Extensions()
    shown.shape.value = shape
    dag = bn.graphs.from_edges(4, lab.SHAPES[shape])
    labels = shown.lattice.source("sets").data["set"]
    assert labels[15].endswith(f": {bn.count_linear_extensions(dag)}")
    for mask, label in enumerate(labels):
        inside = [v for v in range(4) if mask >> v & 1]
        assert (":" in label) == all(dag[v] & ~mask == 0 for v in inside)


@pytest.mark.slow
def test_an_extension_is_drawn_from_the_back() -> None:
    shown = lab.Extensions()
    for number in (1, 5, 20):
        shown.number.value = number
        for step in range(5):
            shown.step.value = step
            visited = [w > 1 for w in shown.lattice.source("sets").data["outline_width"]]
            assert sum(visited) == 1 + step
        order = shown.lattice.figure.picture.title.text.split(": ")[1].split(" ")
        assert order[0] == "A"
        assert order.index("C") < order.index("D")


@pytest.mark.slow
def test_certain_interval_is_that_of_the_package() -> None:
    certain = lab.Certain()
    certain.size.value = 50
    certain.drawn.value = 1000
    certain.question.value = "class → middle-middle"
    table = boards(50)
    by_order, by_dag = bn.order_posterior(table), bn.dag_posterior(table)
    u, v = (table.names.index(name) for name in ("class", "middle-middle-square"))
    draws = bn.sample_dags(by_order, draws=20_000, rng=np.random.default_rng(2013))
    edge = bn.features.edge(u, v)
    unique = bn.reweight_unique(draws.prefix(1000), log_z=by_dag.log_z)
    expected = bn.features.probability(unique, edge)
    shown = certain.panel.source("closing").data
    assert shown["draws"][-1] == 1000
    assert (shown["low"][-1], shown["high"][-1]) == (expected.low, expected.high)
    assert shown["distinct DAGs"][-1] == expected.value
    weighted = bn.features.probability(bn.reweight_by_extensions(draws).prefix(1000), edge)
    assert shown["weights 1/ℓ(G)"][-1] == pytest.approx(weighted.value)
    levels = certain.panel.source("closing_levels").data
    assert levels["structure-modular, exact"] == [by_dag.edges[u, v]]
    assert levels["order-modular, exact"] == [by_order.edges[u, v]]
    low, high, level = shown["low"], shown["high"], by_dag.edges[u, v]
    assert all(a <= level <= b for a, b in zip(low, high, strict=True))
    assert np.all(np.diff(np.subtract(high, low)) <= 1e-12)


def test_certain_asks_what_the_two_posteriors_differ_about() -> None:
    certain = lab.Certain()
    table = boards(958)
    by_order, by_dag = bn.order_posterior(table), bn.dag_posterior(table)
    gap = np.abs(by_dag.ancestors - order_paths(by_order))
    names = [name.removesuffix("-square") for name in table.names]
    u, v = (names.index(name) for name in certain.question.options[0].split(" ⇝ "))
    assert gap[u, v] == gap.max()
    assert certain.question.value == certain.question.options[0]


def counter(dag):
    @cache
    def ell(S):
        last = [v for v in S if not any(v in dag[child] for child in S)]
        return sum(ell(S - {v}) for v in last) if S else 1

    return ell


def places(dag, v):
    """By adding v's place as a chain: orders of the others, v in between."""
    n, out = len(dag), [0.0] * len(dag)
    ell, V = counter(dag), frozenset(range(len(dag)))

    @cache
    def after(S):
        following = [u for u in range(n) if u not in S and dag[u] <= S]
        return sum(after(S | {u}) for u in following) if len(S) < n else 1

    seen, waiting = {frozenset()}, [frozenset()]
    while waiting:
        S = waiting.pop()
        following = [u for u in range(n) if u not in S and dag[u] <= S]
        if v in following:
            out[len(S)] += ell(S) * after(S | {v}) / ell(V)
        more = {S | {u} for u in following} - seen
        seen |= more
        waiting += more
    return out


def test_check_of_places(capsys: pytest.CaptureFixture[str]) -> None:
    def any_place(dag, v):
        return [1 / len(dag)] * len(dag)

    def by_position(dag, v):  # right for chains and without edges
        depth = len(dag[v]) and 1
        return np.eye(len(dag))[depth] if any(dag) else any_place(dag, v)

    assert lab.check_places(places)
    for wrong in (lambda dag, v: None, any_place, by_position):
        assert not lab.check_places(wrong)
    assert not lab.check_places(lambda dag, v: places(dag, v)[::-1])
    assert capsys.readouterr().out.count("not yet") == 4


def distinct_interval(draws, feature, log_z):
    _, first = np.unique(draws.values[0], axis=0, return_index=True)
    p = np.exp(draws.log_target[0, first] - log_z)
    inside = p[feature(draws.values[0, first])].sum()
    return inside / p.sum(), inside, inside + 1 - p.sum()


def test_check_of_the_certain_interval(capsys: pytest.CaptureFixture[str]) -> None:
    def as_drawn(draws, feature, log_z):
        p = np.exp(draws.log_target[0] - log_z)
        has = feature(draws.values[0])
        return has.mean(), p[has].sum(), 1 - p[~has].sum()

    def equal(draws, feature, log_z):  # right where all DAGs are equally probable
        _, low, high = distinct_interval(draws, feature, log_z)
        return feature(np.unique(draws.values[0], axis=0)).mean(), low, high

    def around(draws, feature, log_z):
        value, low, high = distinct_interval(draws, feature, log_z)
        return value, value - (high - low) / 2, value + (high - low) / 2

    assert lab.check_distinct_interval(distinct_interval)
    for wrong in (lambda *given: None, as_drawn, equal, around):
        assert not lab.check_distinct_interval(wrong)
    assert capsys.readouterr().out.count("not yet") == 4


@pytest.mark.slow
def test_check_of_both_corrections_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    def by_weights(draws, feature, log_z):
        return bn.features.probability(bn.reweight_by_extensions(draws), feature).value

    def by_distinct(draws, feature, log_z):
        return bn.features.probability(bn.reweight_unique(draws, log_z=log_z), feature).value

    def by_the_rule(draws, feature, log_z):
        size = bn.reweight_by_extensions(draws).stats["effective_sample_size"][0]
        missing = 1 - bn.reweight_unique(draws, log_z=log_z).stats["mass"].item()
        keep = missing < size**-0.5
        return (by_distinct if keep else by_weights)(draws, feature, log_z)

    assert lab.check_both(by_the_rule)
    wrong = (by_weights, by_distinct, lambda draws, feature, log_z: feature(draws.values[0]).mean())
    for function in wrong:
        assert not lab.check_both(function)
    said = capsys.readouterr().out
    assert "far above those of weighted draws" in said
    assert said.count("not yet") == 3
