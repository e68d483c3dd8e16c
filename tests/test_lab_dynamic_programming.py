"""Lab 03 without a browser: its pictures, its steps, its widgets, its checks."""

import asyncio
import math
from itertools import permutations

import numpy as np
import pytest
from pictures import columns

import bnlab as bn
from bnlab import plots
from bnlab.labs import dynamic_programming as lab
from bnlab.networks import load_network, random_network

NAN = math.nan


@pytest.fixture
def data() -> bn.Data:
    return load_network("cancer").sample(20, np.random.default_rng(1))


@pytest.fixture
def four(data: bn.Data) -> bn.ScoreTable:
    return bn.score_families(data.select(data.names[:4]), bn.BDeu(), max_parents=3)


def test_lattice_has_every_set_and_every_link_once() -> None:
    picture = plots.lattice("ABC", np.ones((3, 8)), np.arange(8.0), None)
    cells, links = columns(picture, "cells"), columns(picture, "links")
    assert cells["set"] == ["∅", "{A}", "{B}", "{A,B}", "{C}", "{A,C}", "{B,C}", "{A,B,C}"]
    assert cells["g"] == list("01234567")
    assert cells["b"] == ["·"] * 8
    assert len(set(zip(cells["x"], cells["y"], strict=True))) == 8
    assert len(set(links["link"])) == 12
    assert "{C} → {B,C}" in links["link"]


def test_boxes_of_the_lattice_do_not_overlap() -> None:
    cells = columns(plots.lattice("ABCD"), "cells")
    for i in range(16):
        for j in range(i):
            across = abs(cells["x"][i] - cells["x"][j])
            up = abs(cells["y"][i] - cells["y"][j])
            assert across > 110 or up > 60


def test_lattice_marks_what_is_worked_on() -> None:
    alpha, g = [[5, NAN, 6, NAN], [NAN] * 4], [1, 2, NAN, NAN]
    picture = plots.lattice("AB", alpha, g, now=1, used=(0,), links=[(0, 0)])
    cells, links = columns(picture, "cells"), columns(picture, "links")
    assert cells["outline_width"] == [2, 3, 1, 1]
    assert cells["g_fill"][1] != cells["g_fill"][2]
    assert links["label"][-1] == "A: 5"
    assert links["label"].count("") == 3
    shares = np.full((2, 4), 0.25)
    wide = columns(plots.lattice("AB", np.ones((2, 4)), shares=shares), "links")
    assert wide["share"] == ["0.250"] * 4


def test_lattice_refuses_what_it_cannot_draw() -> None:
    with pytest.raises(ValueError, match="5 variables: the lattice is drawn for 1 to 4"):
        plots.lattice("ABCDE")
    with pytest.raises(ValueError, match=r"shape \(4,\) for 3 variables: the lattice needs \(8,\)"):
        plots.lattice("ABC", None, np.zeros(4), np.zeros(8))


def test_growth_refuses_what_a_log_scale_cannot_show() -> None:
    look = {"x": plots.Axis("x", (1, 9)), "y": plots.Axis("y", (1, 9)), "title": "t", "alt": "a"}
    with pytest.raises(ValueError, match="'time' holds 0"):
        plots.growth({}, {"time": ([8], [0])}, **look)
    with pytest.raises(ValueError, match="'time' has 2 numbers of variables and 1 values"):
        plots.growth({"time": ([8, 9], [1])}, **look)


def test_g_counts_pairs_of_order_and_dag_without_rows(data: bn.Data) -> None:
    table = bn.score_families(data.prefix(0).select(list("ABCD")), bn.BDeu(), max_parents=3)
    sizes = [int(mask).bit_count() for mask in range(16)]
    counts = [1, 1, 4, 48, 1536]
    np.testing.assert_allclose(lab.relative(table).forward, [counts[size] for size in sizes])


def test_values_are_those_of_all_orders_and_dags(four: bn.ScoreTable) -> None:
    values = lab.relative(four)
    total = 0.0
    for order in permutations(range(4)):
        before = {v: sum(1 << u for u in order[:i]) for i, v in enumerate(order)}
        total += math.prod(
            sum(weight for mask, weight in values.phi[v].items() if mask & ~before[v] == 0)
            for v in order
        )
    assert values.forward[-1] == pytest.approx(total)
    assert values.backward[0] == pytest.approx(total)
    by_size = np.zeros(4)
    for s in range(15):
        by_size[s.bit_count()] += values.shares[:, s].sum()
    np.testing.assert_allclose(by_size, 1)


def test_steps_fill_every_cell_once_in_an_order_that_can_be_computed(four: bn.ScoreTable) -> None:
    steps = lab.steps(lab.relative(four), "ABCD")
    assert [len([s for s in steps if s.phase == p]) for p in ("alpha", "g", "b")] == [32, 16, 16]
    assert steps[-1].phase == "shares"
    for phase in ("g", "b"):
        done: set[int | None] = set()
        for step in steps:
            if step.phase == phase:
                assert set(step.used) <= done
                assert step.now not in done
                done.add(step.now)


@pytest.mark.slow
def test_walk_goes_back_and_forth(data: bn.Data) -> None:
    walk = lab.Walk(data)
    back, forth, play, _ = walk.widget.children[0].children[-1].children
    back.click()
    assert walk.step.value == 0
    for _ in range(13):
        forth.click()
    assert (
        walk.panel.caption == "Step 13 of 29 (g, upward). g(∅) = 1: nothing is placed, in one way."
    )
    assert walk.panel.source("cells").data["g"] == ["1", *"·······"]
    back.click()
    assert walk.panel.source("cells").data["g"] == ["·"] * 8
    for _ in range(99):
        forth.click()
    assert walk.step.value == walk.step.max == play.max == 29
    assert (
        walk.panel.source("cells").data["g"][-1] == walk.panel.source("cells").data["b"][0] == "48"
    )


@pytest.mark.slow
def test_walk_follows_its_lists(data: bn.Data) -> None:
    walk = lab.Walk(data)
    walk.step.value = 29
    walk.variables.value = "4"
    assert walk.step.value == walk.step.max == 65
    assert walk.panel.source("cells").data["g"][-1] == "1536"
    walk.rows.value = 20
    assert walk.step.value == 65
    table = bn.score_families(data.select(list("ABCD")), bn.BDeu(), max_parents=3)
    values, _ = lab.filled(data, walk.variables.value, walk.rows.value)
    assert values.forward[-1] == pytest.approx(lab.relative(table).forward[-1])
    shares = [float(share) for share in walk.panel.source("links").data["share"]]
    assert sum(shares) == pytest.approx(4, abs=0.02)


def test_full_speed_shows_the_posterior() -> None:
    rows = random_network("child", np.random.default_rng(0)).sample(50, np.random.default_rng(1))
    speed = lab.FullSpeed(rows, start=6)
    speed.runner.run_now()
    names = rows.names[:6]
    table = bn.score_families(rows.select(names), bn.BDeu(), max_parents=3)
    expected = bn.order_posterior(table).edges[~np.eye(6, dtype=bool)]
    np.testing.assert_allclose(speed.panel.source("edges").data["probability"], expected)
    assert "6 variables, 50 rows" in speed.panel.caption
    assert speed.rows.value == 50


def test_full_speed_takes_the_rows_that_are_chosen() -> None:
    rows = random_network("child", np.random.default_rng(0)).sample(300, np.random.default_rng(1))
    speed = lab.FullSpeed(rows, start=5, rows=100)
    speed.runner.run_now()
    few = rows.select(rows.names[:5]).prefix(100)
    exact = bn.order_posterior(bn.score_families(few, bn.BDeu(), max_parents=3))
    assert speed.found.log_evidence == pytest.approx(exact.log_evidence)
    speed.rows.value = 300
    assert speed.found is None
    assert "For the earlier setting (variables 5, rows 100)" in speed.panel.children[1].value


def test_full_speed_can_be_stopped() -> None:
    rows = random_network("child", np.random.default_rng(0)).sample(50, np.random.default_rng(1))
    speed = lab.FullSpeed(rows, start=20)

    async def click_run_then_stop() -> None:
        speed.runner.run_button.click()
        speed.runner.stop_button.click()
        await speed.runner.task

    asyncio.run(click_run_then_stop())
    assert isinstance(speed.found, bn.Stopped)
    assert speed.panel.caption.startswith("Stopped")
    assert speed.runner.status.value.startswith("stopped at")


def edge(u: int, v: int, phi: np.ndarray, g: list[float], b: list[float]) -> float:
    sets = range(len(g))
    return sum(
        g[s] * phi[v][p] * b[s | 1 << v] / g[-1]
        for s in sets
        for p in sets
        if not s >> v & 1 and p >> u & 1 and p & ~s == 0
    )


@pytest.mark.slow
def test_checks_turn_wrong_answers_down(capsys: pytest.CaptureFixture[str]) -> None:
    assert not lab.check_edge(lambda u, v, phi, g, b: None)
    assert not lab.check_edge(lambda u, v, phi, g, b: edge(u, v, phi, g, b) * g[-1])
    assert not lab.check_edge(lambda u, v, phi, g, b: 0.5)
    assert not lab.check_edge(lambda u, v, phi, g, b: 0.25)
    assert not lab.check_best_order(lambda log_alpha: None)
    assert not lab.check_best_order(lambda log_alpha: [0] * len(log_alpha))
    assert not lab.check_best_order(lambda log_alpha: list(range(len(log_alpha))))
    assert not lab.check_best_order(best_of_all)
    assert not lab.check_blocked_edge(("", ""), "")
    assert not lab.check_blocked_edge(("Smoking", "Family"), "M. Work")
    assert not lab.check_blocked_edge(("Smoking", "P. Work"), "Smoking")
    assert not lab.check_blocked_edge(("Smoking", "P. Work"), "Family")
    said = capsys.readouterr().out
    assert said.count("not yet") == 12
    assert said.count("right, but slow") == 1


def best_of_all(log_alpha: np.ndarray) -> tuple[int, ...]:
    def weight(order: tuple[int, ...]) -> float:
        masks = np.cumsum([0, *(1 << v for v in order[:-1])])
        return float(log_alpha[list(order), masks].sum())

    return max(permutations(range(len(log_alpha))), key=weight)


def best_by_sets(log_alpha: np.ndarray) -> list[int]:
    n = len(log_alpha)
    found: list[tuple[float, list[int]]] = [(0.0, [])]
    for s in range(1, 1 << n):
        before = [(found[s ^ 1 << v], v) for v in range(n) if s >> v & 1]
        found.append(max((g + log_alpha[v, s ^ 1 << v], [*order, v]) for (g, order), v in before))
    return found[-1][1]


def test_checks_accept_right_answers() -> None:
    assert lab.check_edge(edge)
    assert lab.check_best_order(best_by_sets)
    assert lab.check_blocked_edge(("P. Work", "Smoking"), "M. Work")


@pytest.mark.slow
def test_a_moved_slider_moves_the_lattice(data: bn.Data) -> None:
    walk = lab.Walk(data)
    walk.variables.value, walk.rows.value = "4", 20
    walk.step.value = 46
    caption, g = walk.panel.caption, walk.panel.source("cells").data["g"]
    table = bn.score_families(data.select(list("ABCD")), bn.BDeu(), max_parents=3)
    expected = lab.relative(table).forward[0b1101]
    assert caption.startswith("Step 46 of 65 (g, upward). g({A,C,D}) = ")
    assert float(caption.rsplit("= ", 1)[1]) == pytest.approx(expected, rel=1e-3)
    assert float(g[0b1101]) == pytest.approx(expected, rel=1e-2)
    assert g[0b1110] == "·"
