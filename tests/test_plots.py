"""The columns behind the pictures, and the pictures' names, labels and alt texts."""

import numpy as np
import pytest
from pictures import check_plot

from bnlab import plots

NAMES = ["rain", "sprinkler_of_the_garden", "wet", "slippery"]


@pytest.fixture
def edges() -> np.ndarray:
    out = np.zeros((4, 4))
    out[0, 1], out[1, 0], out[0, 2], out[1, 2], out[2, 3] = 0.6, 0.3, 0.9, 0.8, 0.999
    return out


def test_heat_map_has_every_ordered_pair_once(edges: np.ndarray) -> None:
    data = plots.heat_map_data(edges, NAMES)
    pairs = list(zip(data["parent"], data["child"], strict=True))
    assert len(set(pairs)) == len(pairs) == 12
    for (parent, child), p in zip(pairs, data["probability"], strict=True):
        assert p == edges[NAMES.index(parent), NAMES.index(child)]
    assert data["label"][pairs.index(("rain", "wet"))] == ".90"
    assert data["label"][pairs.index(("wet", "slippery"))] == "1"
    assert data["label"][pairs.index(("slippery", "wet"))] == ""


def test_heat_map_prints_no_number_where_there_is_no_room() -> None:
    names = [f"X{i}" for i in range(20)]
    assert set(plots.heat_map_data(np.full((20, 20), 0.5), names)["label"]) == {""}


def test_heat_map_rows_are_parents_from_the_top(edges: np.ndarray) -> None:
    picture = plots.heat_map(edges, NAMES)
    assert picture.x_range.factors == NAMES
    assert picture.y_range.factors == NAMES[::-1]
    assert (picture.xaxis.axis_label, picture.yaxis.axis_label) == ("child", "parent")


def test_network_leaves_weak_edges_out_and_draws_strong_ones_last(edges: np.ndarray) -> None:
    places = plots.network_positions(edges)
    data = plots.network_data(edges, NAMES, places, threshold=0.5)
    assert data["probability"] == [0.6, 0.8, 0.9, 0.999]
    assert data["width"] == pytest.approx([8 * p for p in data["probability"]])
    assert (data["parent"][-1], data["child"][-1]) == ("wet", "slippery")


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
    nodes = plots.network(edges, NAMES, places).select_one({"name": "nodes"}).data
    data = plots.network_data(edges, NAMES, places)
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
    data = plots.path_bars_data(paths, edges, NAMES, top=3, margin=0.03)
    assert data["label"] == ["wet ⇝ slippery", "rain ⇝ slippery", "rain ⇝ wet"]
    assert data["edge"] == [0.999, 0.0, 0.9]
    assert data["high"][0] == 1
    assert data["low"] == pytest.approx([0.969, 0.92, 0.87])


def test_path_bars_of_two_variables_are_two() -> None:
    data = plots.path_bars_data([[0, 0.9], [0.1, 0]], [[0, 0.9], [0.1, 0]], ["a", "b"])
    assert data["path"] == [0.9, 0.1]


@pytest.mark.parametrize("name", ["edges", "links", "paths", "tempered_acceptance", "tempered"])
def test_pictures_are_complete(edges: np.ndarray, name: str) -> None:
    betas, rates = [0, 0.5, 1], np.full((2, 3), 0.4)
    picture = {
        "tempered_acceptance": lambda: plots.tempered_acceptance(betas, rates, rates[:, :2]),
        "tempered": lambda: plots.tempered_traces([1, 2], betas, rates),
        "edges": lambda: plots.heat_map(edges, NAMES),
        "links": lambda: plots.network(edges, NAMES, plots.network_positions(edges)),
        "paths": lambda: plots.path_bars(edges, edges, NAMES),
    }[name]()
    check_plot(picture, name)


@pytest.mark.parametrize("call", [plots.heat_map_data, lambda e, n: plots.path_bars_data(e, e, n)])
def test_a_matrix_that_does_not_fit_the_names_is_refused(call, edges: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"shape \(4, 4\), but there are 2 names"):
        call(edges, ["a", "b"])


def test_tempered_acceptance_tells_the_mean_and_the_ends_over_chains() -> None:
    betas, moves = [0, 0.25, 1], [[1, 0.5, 0.25], [1, 0.75, 0.5]]
    picture = plots.tempered_acceptance(betas, moves, [[0.5, 0], [1, 0.5]])
    dots = picture.select_one({"name": "tempered_acceptance"}).data
    assert dots["beta"] == betas
    assert (dots["low"], dots["rate"], dots["high"]) == (moves[0], [1, 0.625, 0.375], moves[1])
    bars = picture.select_one({"name": "tempered_acceptance_exchanges"}).data
    assert (bars["left"], bars["right"]) == ([0, 0.25], [0.25, 1])
    assert (bars["low"], bars["rate"], bars["high"]) == ([0.5, 0], [0.75, 0.25], [1, 0.5])


def test_tempered_rates_that_do_not_fit_the_temperatures_are_refused() -> None:
    with pytest.raises(ValueError, match=r"acceptance has shape \(1, 2\), but \(chains, 3\)"):
        plots.tempered_moves_data([0, 0.5, 1], [[0.5, 0.5]])
    with pytest.raises(
        ValueError, match=r"acceptance_exchange has shape \(2,\), but \(chains, 2\)"
    ):
        plots.tempered_exchanges_data([0, 0.5, 1], [0.5, 0.5])
    with pytest.raises(ValueError, match=r"tempered has shape \(1, 2, 3\), but there are 3"):
        plots.tempered_lines([0, 0.5, 1], np.zeros((1, 2, 3)))


def test_tempered_lines_have_both_ends_of_a_long_ladder() -> None:
    betas = np.linspace(0, 1, 13)
    lines = plots.tempered_lines(betas, np.tile(np.arange(13.0), (4, 1)))
    assert list(lines) == ["β = 1", "β = 0.75", "β = 0.5", "β = 0.25", "β = 0"]
    assert [line[0] for line in lines.values()] == [12, 9, 6, 3, 0]


def test_traces_refuse_a_line_without_a_colour() -> None:
    with pytest.raises(ValueError, match="5 chains, but 4 colours"):
        plots.traces([1], {f"chain {i}": [0.0] for i in range(5)})


def test_sensitivity_has_a_mark_for_each_edge_and_setting() -> None:
    data = plots.sensitivity_data([[0.1, 0.9], [0.4, 0.8]], ["a → b", "b → a"], ["1", "10"])
    assert data["edge"] == ["a → b", "b → a"] * 2
    assert data["setting"] == ["1", "1", "10", "10"]
    assert data["probability"] == [0.1, 0.9, 0.4, 0.8]
    assert len(set(zip(data["setting"], data["marker"], data["colour"], strict=True))) == 2
    picture = plots.sensitivity([[0.1, 0.9], [0.4, 0.8]], ["a → b", "b → a"], ["1", "10"])
    assert picture.y_range.factors == ["b → a", "a → b"]
    assert [item.label.value for item in picture.legend[0].items] == ["1", "10"]


def test_sensitivity_of_nothing_is_empty() -> None:
    picture = plots.sensitivity(np.empty((2, 0)), [], ["1", "10"])
    assert picture.select_one({"name": "sensitivity"}).data["edge"] == []


def test_sensitivity_refuses_what_does_not_fit() -> None:
    with pytest.raises(ValueError, match="one row a setting"):
        plots.sensitivity_data([[0.1]], ["a → b"], ["1", "10"])
    with pytest.raises(ValueError, match="at most 8"):
        plots.sensitivity_data(np.zeros((9, 1)), ["a → b"], [str(i) for i in range(9)])


def test_boxes_of_a_network_do_not_overlap() -> None:
    names = ["nonflavanoid-phenols", "proanthocyanins", "alcalinity-of-ash"]
    edges = np.zeros((3, 3))
    places = np.array([[0.3, 0.5], [0.45, 0.5], [0.6, 0.5]])
    nodes = plots.network(edges, names, places).select_one({"name": "nodes"}).data
    centres, halves = np.array(nodes["x"]), np.array(nodes["width"]) / 2
    assert np.all(np.diff(centres) >= halves[1:] + halves[:-1])
    assert np.all((centres - halves >= 0) & (centres + halves <= 420))
