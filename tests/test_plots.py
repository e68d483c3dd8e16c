"""The columns behind the pictures, and the pictures' names, labels and alt texts."""

import asyncio
import math
import re
import sys
from collections.abc import Callable
from functools import partial
from itertools import product
from operator import attrgetter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from bokeh import layouts
from bokeh.models import BoxAnnotation, HoverTool
from pictures import check_plot, columns
from PIL import Image
from served import CHROMIUM

from bnlab import plots
from bnlab.plots.network import link_data, node_data

NAMES = ["rain", "sprinkler_of_the_garden", "wet", "slippery"]


@pytest.fixture
def edges() -> np.ndarray:
    out = np.zeros((4, 4))
    out[0, 1], out[1, 0], out[0, 2], out[1, 2], out[2, 3] = 0.6, 0.3, 0.9, 0.8, 0.999
    return out


def test_heat_map_has_every_ordered_pair_once(edges: np.ndarray) -> None:
    data = columns(plots.heat_map(edges, NAMES), "edges")
    pairs = list(zip(data["parent"], data["child"], strict=True))
    assert len(set(pairs)) == len(pairs) == 12
    for (parent, child), p in zip(pairs, data["probability"], strict=True):
        assert p == edges[NAMES.index(parent), NAMES.index(child)]
    assert data["label"][pairs.index(("rain", "wet"))] == ".90"
    assert data["label"][pairs.index(("wet", "slippery"))] == "1"
    assert data["label"][pairs.index(("slippery", "wet"))] == ""


def test_what_is_pointed_at_has_one_name_in_all_pictures(edges: np.ndarray) -> None:
    """By that of the first tip, the page finds it; a path is written with another arrow."""
    places, pairs = plots.network_positions(edges), ["rain → wet", "wet → slippery"]
    named = []
    for picture in (
        plots.heat_map(edges, NAMES),
        plots.move_gains(edges, NAMES),
        plots.network(edges, NAMES, places),
        plots.path_bars(edges, edges, NAMES),
        plots.answer_pairs([0.5] * 2, [0.2] * 2, pairs, posteriors=("a", "b"), title="t", alt="t"),
    ):
        tool = next(tool for tool in picture.select(HoverTool) if len(tool.tooltips) > 1)
        (drawn,), (_, text) = tool.renderers, tool.tooltips[0]
        data = drawn.data_source.data
        parts = [data.get(part[1:], [part] * 99) for part in re.split(r"(@\w+)", text)]
        named.append({"".join(row) for row in zip(*parts, strict=False)})
        outlines = [each for each in picture.renderers if each.hover_glyph]
        assert outlines and all(each.data_source is drawn.data_source for each in outlines[:2])
        assert "inspected" in tool.callback.code
    named[3] = {name.replace("⇝", "→") for name in named[3]}
    assert set.intersection(*named) == set(pairs)


def test_heat_map_prints_no_number_where_there_is_no_room() -> None:
    names = [f"X{i}" for i in range(20)]
    data = columns(plots.heat_map(np.full((20, 20), 0.5), names), "edges")
    assert set(data["label"]) == {""}


def test_heat_map_rows_are_parents_from_the_top(edges: np.ndarray) -> None:
    picture = plots.heat_map(edges, NAMES)
    assert picture.x_range.factors == NAMES
    assert picture.y_range.factors == NAMES[::-1]
    assert (picture.xaxis.axis_label, picture.yaxis.axis_label) == ("child", "parent")


def test_network_leaves_weak_edges_out_and_draws_strong_ones_last(edges: np.ndarray) -> None:
    places = plots.network_positions(edges)
    data = columns(plots.network(edges, NAMES, places, threshold=0.5), "links")
    assert data["probability"] == [0.6, 0.8, 0.9, 0.999]
    assert data["width"] == pytest.approx([8 * p for p in data["probability"]])
    assert (data["parent"][-1], data["child"][-1]) == ("wet", "slippery")


def test_pairs_are_one_line_that_keeps_off_the_boxes_of_others(edges: np.ndarray) -> None:
    places = [[0.0, 1.0], [1.0, 0.5], [0.0, 0.5], [0.0, 0.0]]
    data = link_data(edges, NAMES, places, joined=True, threshold=0.0, sure=0.9)
    assert len(data["parent"]) == 6
    assert len({frozenset(pair) for pair in zip(data["parent"], data["child"], strict=True)}) == 6
    boxes = node_data(NAMES, places)
    for parent, child, p, width, xs, ys, head in zip(
        *(data[key] for key in ("parent", "child", "probability", "width", "xs", "ys", "head_xs")),
        strict=True,
    ):
        u, v = NAMES.index(parent), NAMES.index(child)
        assert edges[u, v] >= edges[v, u]
        assert p == pytest.approx(min(1, edges[u, v] + edges[v, u]))
        assert width == pytest.approx(5 * p)
        assert bool(head) == (edges[u, v] >= 0.9)
        for w in {0, 1, 2, 3} - {u, v}:
            far_x = np.abs(np.array(xs) - boxes["x"][w]) > boxes["width"][w] / 2
            far_y = np.abs(np.array(ys) - boxes["y"][w]) > boxes["height"][w] / 2
            assert (far_x | far_y).all()


def test_network_puts_causes_above_effects(edges: np.ndarray) -> None:
    height = plots.network_positions(edges)[:, 1]
    assert height[0] > height[1] > height[2] > height[3]


def test_network_positions_accept_cyclic_and_empty_marginals() -> None:
    cycle = np.zeros((3, 3))
    cycle[0, 1] = cycle[1, 2] = cycle[2, 0] = 0.6
    for edges in (cycle, np.zeros((3, 3)), np.zeros((1, 1))):
        places = plots.network_positions(edges)
        assert places.min() >= 0
        assert places.max() <= 1


def test_boxes_of_a_row_do_not_touch() -> None:
    rng = np.random.default_rng(1)
    edges = rng.random((13, 13)) * (rng.random((13, 13)) < 0.2)
    np.fill_diagonal(edges, 0)
    names = [f"a_rather_long_name_{i}" for i in range(13)]
    nodes = plots.network(edges, names, plots.network_positions(edges))
    data = nodes.select_one({"name": "nodes"}).data
    x, y, width, height = (np.array(data[key]) for key in ("x", "y", "width", "height"))
    for i in range(13):
        for j in range(i):
            across = abs(x[i] - x[j]) >= (width[i] + width[j]) / 2
            up = abs(y[i] - y[j]) >= (height[i] + height[j]) / 2
            assert across or up


def test_links_start_and_end_at_the_boxes(edges: np.ndarray) -> None:
    places = plots.network_positions(edges)
    picture = plots.network(edges, NAMES, places)
    nodes, data = columns(picture, "nodes"), columns(picture, "links")
    for row, child in enumerate(data["child"]):
        v = NAMES.index(child)
        tip = np.array([data["head_xs"][row][0], data["head_ys"][row][0]])
        away = np.abs(tip - [nodes["x"][v], nodes["y"][v]])
        half = np.array([nodes["width"][v], nodes["height"][v]]) / 2
        assert np.any(away > half)
        assert np.all(away < half + 15)


def test_path_bars_come_best_first(edges: np.ndarray) -> None:
    paths = np.array(edges)
    paths[0, 3] = 0.95
    data = columns(plots.path_bars(paths, edges, NAMES, top=3, margin=0.03), "paths")
    assert data["label"] == ["wet ⇝ slippery", "rain ⇝ slippery", "rain ⇝ wet"]
    assert data["edge"] == [0.999, 0.0, 0.9]
    assert data["high"][0] == 1
    assert data["low"] == pytest.approx([0.969, 0.92, 0.87])


def test_path_bars_of_two_variables_are_two() -> None:
    picture = plots.path_bars([[0, 0.9], [0.1, 0]], [[0, 0.9], [0.1, 0]], ["a", "b"])
    data = columns(picture, "paths")
    assert data["path"] == [0.9, 0.1]


PICTURES = {
    "roc": lambda: plots.roc_curves({"exact": ([0, 1], [0, 1])}),
    "ratios": lambda: plots.hysteresis([-5, -1], [-3, -1]),
    "modes": lambda: plots.chain_modes([[0, -1, 1]], ["left", "right"], title="Modes"),
}


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_of_no_widget_are_complete(name: str) -> None:
    """Or of one that takes long; test_widgets.py looks at all the others."""
    check_plot(PICTURES[name](), name)


@pytest.mark.parametrize("call", [plots.heat_map, lambda e, n: plots.path_bars(e, e, n)])
def test_a_matrix_that_does_not_fit_the_names_is_refused(call, edges: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"shape \(4, 4\), but there are 2 names"):
        call(edges, ["a", "b"])


def test_traces_refuse_a_line_without_a_colour() -> None:
    with pytest.raises(ValueError, match="5 chains, but 4 colours"):
        plots.traces([1], {f"chain {i}": [0.0] for i in range(5)})


def test_sensitivity_has_a_mark_for_each_edge_and_setting() -> None:
    picture = plots.sensitivity([[0.1, 0.9], [0.4, 0.8]], ["a → b", "b → a"], ["1", "10"])
    data = columns(picture, "sensitivity")
    assert data["edge"] == ["a → b", "b → a"] * 2
    assert data["setting"] == ["1", "1", "10", "10"]
    assert data["probability"] == [0.1, 0.9, 0.4, 0.8]
    assert len(set(zip(data["setting"], data["marker"], data["colour"], strict=True))) == 2
    assert picture.y_range.factors == ["b → a", "a → b"]
    assert [item.label.value for item in picture.legend[0].items] == ["1", "10"]


def test_sensitivity_of_nothing_is_empty() -> None:
    picture = plots.sensitivity(np.empty((2, 0)), [], ["1", "10"])
    assert picture.select_one({"name": "sensitivity"}).data["edge"] == []


def test_sensitivity_refuses_what_does_not_fit() -> None:
    with pytest.raises(ValueError, match="one row a setting"):
        plots.sensitivity([[0.1]], ["a → b"], ["1", "10"])
    with pytest.raises(ValueError, match="at most 8"):
        plots.sensitivity(np.zeros((9, 1)), ["a → b"], [str(i) for i in range(9)])


def test_boxes_of_a_network_do_not_overlap() -> None:
    names = ["nonflavanoid-phenols", "proanthocyanins", "alcalinity-of-ash"]
    edges = np.zeros((3, 3))
    places = np.array([[0.3, 0.5], [0.45, 0.5], [0.6, 0.5]])
    nodes = plots.network(edges, names, places).select_one({"name": "nodes"}).data
    centres, halves = np.array(nodes["x"]), np.array(nodes["width"]) / 2
    assert np.all(np.diff(centres) >= halves[1:] + halves[:-1])
    assert np.all((centres - halves >= 0) & (centres + halves <= 420))


def test_what_is_not_known_has_no_number() -> None:
    picture = plots.heat_map([[0, np.nan], [0.1, 0]], ["a", "b"])
    assert picture.select_one({"name": "edges"}).data["label"] == ["", ".10"]


def test_calibration_counts_what_came_true_beside_what_chance_allows() -> None:
    p = np.array([0.02, 0.04, 0.55, 0.55, 0.55, 0.55, 1.0, 1.0])
    picture = plots.calibration(p, [0, 1, 1, 1, 0, 0, 1, 1], delta=0.1)
    check_plot(picture, "calibration")
    data = columns(picture, "calibration")
    assert data["count"] == [2, 4, 2]
    assert data["predicted"] == pytest.approx([0.03, 0.55, 1])
    assert data["observed"] == [0.5, 0.5, 1]
    for i, count in enumerate(data["count"]):  # the quantiles, from all ways in which it can end
        mean = data["predicted"][i]
        ways = product((0, 1), repeat=count)
        chance = sorted((sum(way), math.prod(mean if x else 1 - mean for x in way)) for way in ways)
        ends = [
            next(k for j, (k, _) in enumerate(chance) if sum(q for _, q in chance[: j + 1]) >= end)
            for end in (0.05, 0.95 - 1e-12)
        ]
        assert [data["low"][i] * count, data["high"][i] * count] == pytest.approx(ends)


def test_right_probabilities_lie_within_the_bands() -> None:
    """Over 60 tables of 1,000 cases with p right for each, and with p too sure."""
    rng, outside = np.random.default_rng(1), []
    for sharpness in (1, 3):
        missed, all_bins = 0, 0
        for _ in range(60):
            p = rng.random(1000)
            true = rng.random(1000) < p
            sure = p**sharpness / (p**sharpness + (1 - p) ** sharpness)
            data = columns(plots.calibration(sure, true), "calibration")
            low, seen, high = (np.array(data[key]) for key in ("low", "observed", "high"))
            missed, all_bins = missed + ((seen < low) | (seen > high)).sum(), all_bins + seen.size
        outside.append(missed / all_bins)
    assert outside[0] < 0.05
    assert outside[1] > 0.5


def test_no_probabilities_are_refused() -> None:
    for p, true in ([[], []], [[1.2], [1]], [[0.5], [0.5]], [[np.nan], [1]]):
        with pytest.raises(ValueError, match="probabilities from 0 to 1, and outcomes"):
            plots.calibration(p, true)
    with pytest.raises(ValueError, match="outcomes has shape"):
        plots.calibration([0.5], [1, 0])


def drawn(draw: Callable[[], Any], over: Any = None) -> Any:
    with plots.Drawing(over and [over]) as drawing:
        draw()
    return drawing.made[0]


def test_a_picture_that_is_drawn_over_equals_a_fresh_one() -> None:
    def draw(chains: dict[str, list[float]], low: float) -> Any:
        look = {"band": (low, 0), "y": plots.Axis("y", (low, 0)), "title": f"From {low}"}
        return lambda: plots.traces([1, 2], chains, **look)

    shown = drawn(draw({"a": [-5, -1]}, -6))
    drawn(draw({"a": [-9, -3]}, -10), shown)
    assert shown.select_one({"name": "trace"}).data["a"] == [-9, -3]
    assert (shown.y_range.start, shown.title.text) == (-10, "From -10")
    assert shown.select_one(BoxAnnotation).bottom == -10
    for other in ({"b": [-5, -1]}, {"a": [-5, -1], "b": [-5, -1]}):
        with pytest.raises(plots.Differs):
            drawn(draw(other, -6), shown)
    plain = drawn(lambda: plots.traces([1, 2], {"a": [-5, -1]}, y=plots.Axis("y", (-6, 0))))
    with pytest.raises(plots.Differs):
        drawn(draw({"a": [-5, -1]}, -6), plain)


def test_a_picture_is_drawn_over_with_other_categories_and_more_of_them(edges: np.ndarray) -> None:
    shown = drawn(lambda: plots.heat_map(edges, NAMES))
    drawn(lambda: plots.heat_map(edges / 2, NAMES, title="Half", alt="Half the edges"), shown)
    assert shown.html_attributes["aria-label"] == "Half the edges"
    assert max(shown.select_one({"name": "edges"}).data["probability"]) == 0.999 / 2
    drawn(lambda: plots.heat_map(edges, NAMES[::-1]), shown)
    assert shown.x_range.factors == list(NAMES[::-1])
    many = ["a long name of a variable", *map(str, range(11))]
    draw = partial(plots.heat_map, np.full((12, 12), 0.5), many, side=500)
    drawn(draw, shown)
    fresh = drawn(draw)
    for look in ("width", "height", "frame_width", "frame_height", "x_range.factors"):
        assert attrgetter(look)(shown) == attrgetter(look)(fresh)
    assert shown.xaxis[0].major_label_orientation == fresh.xaxis[0].major_label_orientation == 0.9
    assert shown.select_one({"name": "edges"}).data == fresh.select_one({"name": "edges"}).data
    letters = [each.glyph.text_font_size for each in shown.renderers if hasattr(each.glyph, "text")]
    assert letters == ["10px"]


BARS = ["rain → wet", "wet → rain"]


def test_share_bars_cut_their_whiskers_to_probabilities() -> None:
    data = columns(plots.share_bars([0.95, 0.02], [0.9, float("nan")], BARS, margin=0.1), "shares")
    assert data["label"] == BARS
    assert data["low"] == pytest.approx([0.85, 0])
    assert data["high"] == pytest.approx([1, 0.12])
    assert np.isnan(data["exact"][1])


def test_error_curve_leaves_out_what_a_logarithmic_axis_cannot_show() -> None:
    data = columns(plots.error_curve([10, 100], {"worst": [0.5, 0.0]}, {}), "measured")
    assert data["draws"] == [10, 100]
    assert data["worst"][0] == 0.5
    assert np.isnan(data["worst"][1])


def test_published_data_has_two_standard_deviations_and_our_means() -> None:
    picture = plots.published([(0.5, 0.1), (0.2, 0.05)], [[], [0.1, 0.2]], ["a", "b"], title="t")
    assert columns(picture, "published_runs")["value"] == [0.1, 0.2]
    data = columns(picture, "published")
    assert data["low"] == pytest.approx([0.3, 0.1])
    assert data["high"] == pytest.approx([0.7, 0.3])
    assert np.isnan(data["ours"][0])
    assert data["ours"][1] == pytest.approx(0.15)


def test_bars_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match=r"share has shape \(1,\), but 2 values"):
        plots.share_bars([0.5], [0.5, 0.5], BARS)
    with pytest.raises(ValueError, match="not all different"):
        plots.share_bars([0.5, 0.5], [0.5, 0.5], ["a", "a"])
    with pytest.raises(ValueError, match="3 labels"):
        plots.published([(0.5, 0.1)], [[0.5]], ["a", "b", "c"], title="t")


def test_walk_down_marks_the_way_and_what_is_next() -> None:
    chances = np.full((2, 4), np.nan)
    chances[0, 0b10], chances[1, 0b01], chances[0, 0], chances[1, 0] = 0.25, 0.75, 1.0, 1.0
    data = columns(plots.walk_down("ab", chances, [0b11, 0b01], title="Walk"), "down")
    rows = dict(zip(data["link"], zip(data["label"], data["color"], strict=True), strict=True))
    assert rows["{a} to ∅: a last"][0] == "a 1.0000"
    assert [label for label, _ in rows.values()].count("") == 3
    assert len({colour for _, colour in rows.values()}) == 3  # walked, next, neither
    sets = columns(plots.walk_down("ab", chances, [0b11], title="Walk"), "sets")
    assert sets["set"] == ["∅", "{a}", "{b}", "{a,b}"]
    assert sets["outline_width"] == [1.0, 1.0, 1.0, 3.0]
    assert sets["y"] == sorted(sets["y"])


def test_experiments_outside_the_band_have_another_colour() -> None:
    picture = plots.experiments([0.5, 0.53, 0.4], 0.5, 0.05, title="Three")
    data = columns(picture, "experiments")
    assert data["estimate"] == [0.5, 0.53, 0.4]
    assert data["color"][0] == data["color"][1] != data["color"][2]
    band = columns(picture, "experiments_exact")
    assert (band["low"], band["exact"], band["high"]) == ([0.45], [0.5], [0.55])
    check_plot(picture, "experiments", "experiments_exact")


def test_a_summary_counts_marks_and_tells_ranges_but_no_times() -> None:
    curves = {"a": np.array([0.5, 0.25]), "b": np.array([2.0, np.nan])}
    shown = plots.error_curve([10, 2000], curves, {}, y=plots.Axis("error"), title="Errors")
    marks, x, y = plots.summary(shown).strip("[]").split("; ")
    assert marks == f"Errors: {2 * len(shown.renderers)} marks in {len(shown.renderers)} series"
    assert x.endswith("10 to 2,000")
    assert y == "error: 0.25 to 2"
    shown.xaxis.axis_label = "processor time (s)"
    assert "2,000" not in plots.summary(shown)


@pytest.mark.slow
def test_pictures_are_saved_sharp(edges: np.ndarray, tmp_path: Path) -> None:
    """Through a browser, from a thread with a running event loop, as in notebooks."""
    if not Path(CHROMIUM).exists():
        pytest.skip(f"{CHROMIUM} is missing: apt-get install chromium")
    places = plots.network_positions(edges)
    picture = plots.network(edges, NAMES, places, title="Who & whom")
    beside = layouts.row(*(plots.heat_map(edges, NAMES) for _ in range(2)))

    async def save() -> None:
        for kind in ("svg", "png", "pdf"):
            plots.save(picture, tmp_path / f"one.{kind}")
        plots.save(beside, tmp_path / "two.svg")

    asyncio.run(save())
    root = ElementTree.parse(tmp_path / "one.svg").getroot()
    said = " ".join(root.itertext())
    assert "Who & whom" in said and all(name in said for name in ("rain", "wet", "slippery"))
    width, height = int(root.attrib["width"]), int(root.attrib["height"])
    with Image.open(tmp_path / "one.png") as image:
        assert image.size == (3 * width, 3 * height)
        assert len(image.convert("RGB").getcolors(2**24) or []) > 50
    content = (tmp_path / "one.pdf").read_bytes()
    assert content.startswith(b"%PDF") and len(re.findall(rb"/Type\s*/Page\b", content)) == 1
    assert b"/Subtype /Image" not in content and b"/FontName" in content  # lines and letters
    assert int(ElementTree.parse(tmp_path / "two.svg").getroot().attrib["width"]) > 1.5 * width


def test_what_cannot_be_saved_is_told(
    edges: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = plots.heat_map(edges, NAMES)
    with pytest.raises(ValueError, match=r"ends in \.svg, \.png, \.pdf"):
        plots.save(picture, tmp_path / "picture.jpg")
    with pytest.raises(ValueError, match="make the folder first"):
        plots.save(picture, tmp_path / "no" / "picture.svg")
    monkeypatch.setitem(sys.modules, "playwright.sync_api", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install bnlab\[figures\]"):
        plots.save(picture, tmp_path / "picture.svg")
    assert list(tmp_path.iterdir()) == []
