"""The lab of a table of one's own: what is read, shown and written, and what is refused."""

import csv
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stills import ASKED, TRUE_SHARE, TRUTH, run

import bnlab as bn
from bnlab.labs import your_own_data as lab
from bnlab.labs.board import FADED
from bnlab.labs.your_own_data.view import edges_html
from bnlab.reports import Credible, read_table
from bnlab.reports.analysis import completed


@pytest.fixture
def garden(tmp_path: Path) -> Path:
    return lab.write_garden(tmp_path)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> lab.Study:
    """The garden without gaps, analysed; tests do not change it."""
    study = lab.Study(lab.Table(lab.write_garden(tmp_path_factory.mktemp("garden"), gaps=None)))
    study.runner.run_now()
    return study


def test_the_garden_is_untidy_and_the_same_each_time(garden: Path, tmp_path: Path) -> None:
    with garden.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file, delimiter=";"))
    assert rows[0] == ["plot", "soil", "slugs", "water", "growth", "flowers", "bees"]
    assert len(rows) == 241
    cells = [cell for row in rows for cell in row]
    assert {row[5] for row in rows if row[1] == "?"} == {"no"}  # noted where it flowers
    assert 60 < cells.count("?") == sum(row[1] == "?" for row in rows) < 90
    assert [sum(row[k] == "" for row in rows) for k in (3, 4)] == [3, 3] and cells.count("") == 6
    text = garden.read_text(encoding="utf-8")
    assert lab.write_garden(tmp_path).read_text(encoding="utf-8") == text
    assert lab.write_garden(tmp_path, seed=1).read_text(encoding="utf-8") != text


def test_soil_is_missing_for_the_reason_that_is_asked_for(tmp_path: Path) -> None:
    def columns(**asked: Any) -> tuple[np.ndarray, np.ndarray]:
        text = lab.write_garden(tmp_path, rows=2000, **asked).read_text(encoding="utf-8")
        return tuple(
            np.array([line.split(";")[k] for line in text.splitlines()[1:]]) for k in (1, 5)
        )

    soil, flowers = columns(gaps=None)
    assert set(soil) == {"clay", "sand"}
    for why, some in ("chance", soil != ""), ("clay", soil == "clay"), ("flowers", flowers == "no"):
        gone = columns(gaps=why)[0] == "?"
        assert not gone[~some].any()
        assert abs(gone[some].mean() - (1 / 3 if why == "chance" else 0.6)) < 0.05


def test_to_set_the_slugs_is_not_to_see_them(tmp_path: Path) -> None:
    """Plots without slugs flower less often than plots with many; setting shows the contrary."""

    def share(level: str, slugs: str | None = None) -> float:
        garden = lab.write_garden(tmp_path, rows=20_000, gaps=None, slugs=slugs)
        rows = [line.split(";") for line in garden.read_text(encoding="utf-8").splitlines()]
        flowers = [row[5] for row in rows if row[2] == level]
        return flowers.count("yes") / len(flowers)

    assert share("none") < share("many") - 0.02
    assert share("none", slugs="none") > share("many", slugs="many") + 0.25


@pytest.mark.slow
def test_gaps_are_averaged_over_if_asked(garden: Path) -> None:
    table = lab.Table(garden)
    table.missing.value = "average over them"
    study = lab.Study(table, seconds=5)
    study.runner.run_now()
    analysis = study.done()
    assert analysis.completions is not None
    assert analysis.data.missing.sum() > 60
    edges, index = analysis.edges.probability, analysis.data.index
    for parent, child in TRUTH:
        u, v = index(parent), index(child)
        assert edges[u, v] + edges[v, u] > 0.9, (parent, child)
    network = lab.Network(study)
    shown = network.panel.source("links").data["probability"]
    np.testing.assert_allclose(sorted(shown), sorted(edges[edges >= network.threshold.value]))
    picture, network.threshold.value = network.panel.figure.picture, 0.6
    assert network.panel.figure.picture is picture, "a new picture takes a third of a second"
    assert "interval (asymptotic)" in edges_html(analysis.edges, analysis.data.names, 0.6)
    parts = list(completed(analysis.completions))
    assert len(parts) == 100
    assert all(not whole.missing.any() for _, whole in parts)


def test_dags_are_drawn_with_a_whole_table_each() -> None:
    tiers = [["soil"], ["slugs"]]
    for gaps, said in (("flowers", "chains"), (None, "exact")):
        path = lab.write_garden(rows=60, gaps=gaps)
        missing = "keep" if gaps else "drop"  # some cells of water and growth
        data = read_table(path, missing=missing, discretize=bn.EqualFrequency(2)).data
        dags, tables, origin = lab.draw(data, 1.0, tiers, 40, np.random.default_rng(1))
        assert dags.shape == (40, 6) and origin == said
        assert not (dags[:, SOIL] >> SLUGS & 1).any()
        tables = list(tables)
        assert len(tables) == 40 and not any(each.missing.any() for each in tables)
        assert all(each.arities.tolist() == data.arities.tolist() for each in tables)


def test_few_rows_carry_the_answer() -> None:
    values = cut_garden()
    soil, flower = values[values[:, SLUGS] == NO_SLUGS][:, [SOIL, FLOWERS]].T
    assert flower[soil == 0].tolist() == [1] * 10  # clay
    assert (soil[flower == 0] == 1).sum() == 22 and not (soil[flower == 0] == 0).any()


def test_the_truth_is_drawn_where_it_is() -> None:
    rng, rows = np.random.default_rng(1), 1_000_000
    clay, water = rng.random(rows) < 0.5, rng.uniform(0, 10, rows)
    growth = 12 + 6 * ((water > 3.5) & (water < 6.5)) + rng.normal(0, 1.5, rows)
    assert abs(np.mean(1 / (1 + np.exp(15 - 6 * clay - growth))) - TRUE_SHARE) < 0.002


def test_a_cell_is_drawn_again_by_the_score_of_the_whole_table() -> None:
    cells = run("14_your_own_data", ("def factor", "def redraw"))
    data = read_table(lab.write_garden(rows=60, gaps=None), discretize=bn.EqualFrequency(3)).data
    table = data.values
    for dag in ([0] * 6, [0, 1, 0, 6, 9, 16], [2, 0, 1, 7, 9, 16]):
        for x, i in product((SOIL, SLUGS, FLOWERS), (0, 17)):
            chances = cells["redraw"](table, i, x, dag, data.arities, Told())
            logs = []
            for level in range(data.arities[x]):
                other = table.copy()
                other[i, x] = level
                whole = bn.Data.from_arrays(other, data.arities)
                logs.append(bn.score_families(whole, bn.BDeu(ess=1), max_parents=3).log_target(dag))
            np.testing.assert_allclose(chances, np.exp(logs - np.logaddexp.reduce(logs)))


class Told:
    """In place of a generator: tells with which probabilities it was to draw."""

    def choice(self, levels: int, p: np.ndarray) -> np.ndarray:
        assert len(p) == levels
        return p


@pytest.mark.slow
def test_the_chain_on_the_page_has_the_answers_of_the_package() -> None:
    parts = ("tiers = ", "gappy = ", "ours = ", "def factor", "def redraw", "def augment")
    cells = run("14_your_own_data", (*ASKED, *parts))
    answers = cells["ours"][0]
    rng = np.random.default_rng(1)
    found = cells["augment"](cells["gappy"], 240, cells["tiers"], rng)
    drawn = [
        cells["if_set"](table.values, cells["QUESTION"], list(bn.graphs.members(dag[SLUGS])), rng)
        for dag, table in zip(*(each[40:] for each in found), strict=True)
    ]
    mine = np.array(drawn)
    assert abs(mine.mean() - answers.mean()) < 0.015
    assert abs(mine.std() - answers.std()) < 0.015


def test_slugs_in_the_shade_make_the_answer_too_high() -> None:
    """A cause of slugs that lowers flowering and is not in the table."""
    rng, m = np.random.default_rng(1), 100_000
    clay, shade = rng.random(m) < 0.5, rng.random(m) < 0.5
    slugs = rng.random(m) < 0.2 + 0.4 * clay + 0.2 * shade

    def flowers(slugs: Any) -> np.ndarray:
        return rng.random(m) < 0.5 + 0.3 * clay - 0.2 * shade - 0.2 * slugs

    seen = flowers(slugs)
    adjusted = np.mean([seen[(clay == soil) & ~slugs].mean() for soil in (False, True)])
    assert adjusted > flowers(0).mean() + 0.02


def test_answers_have_the_rhat_of_their_chains(capsys: pytest.CaptureFixture[str]) -> None:
    apart = np.repeat([0.2, 0.4, 0.6, 0.8], 50) + np.tile([0.0, 0.01], 100)
    alike = np.tile([0.2, 0.4, 0.6, 0.8, 0.5], 40)
    lab.show_answers({"a": (apart, "chains"), "b": (alike, "chains"), "c": (alike, "exact")})
    *_, a, b, c = (line.split() for line in capsys.readouterr().out.splitlines())
    assert float(a[-1]) > 2 and float(b[-1]) < 1.02 and c[-1] == "exact"
    assert b[1:-1] == c[1:-1] == ["0.50", "0.20", "to", "0.80"]


@pytest.mark.slow
def test_without_tiers_each_direction_has_half_of_the_dags() -> None:
    data = read_table(lab.write_garden(), discretize=bn.EqualFrequency(3), missing="keep").data
    dags, _, _ = lab.draw(data, 1.0, (), 1000, np.random.default_rng(2))
    assert set(dags[:, SLUGS].tolist()) == {0, 1 << SOIL}  # not adjusted, or for the soil
    for parent, child in TRUTH[1:]:  # the rows settle all other edges
        assert np.mean(dags[:, NAMES.index(child)] >> NAMES.index(parent) & 1) > 0.95
    assert abs((dags[:, SLUGS] == 0).mean() - 0.5) < 0.05


def cut_garden(levels: int = 3, **asked: Any) -> np.ndarray:
    garden = lab.write_garden(**asked)
    return read_table(garden, discretize=bn.EqualFrequency(levels), missing="keep").data.values


SOIL, SLUGS, WATER, GROWTH, FLOWERS = range(5)
NO_SLUGS = 2  # "none" comes after "few" and "many"


@pytest.mark.slow
def test_of_many_complete_gardens_the_intervals_hold_the_truth_nearly_often_enough() -> None:
    rng, extra, means, held, rare = np.random.default_rng(5), 1 / 12, [], [], []
    for seed in range(1, 241):
        values = cut_garden(seed=seed, gaps=None)
        soil, none = values[:, SOIL], values[:, SLUGS] == NO_SLUGS
        weights = rng.dirichlet(np.bincount(soil) + 1 / 2, 2000)
        counts = [np.bincount(values[none & (soil == s), FLOWERS], minlength=2) for s in (0, 1)]
        shares = [rng.beta(yes + extra, no + extra, 2000) for no, yes in counts]
        answers = (weights * np.transpose(shares)).sum(axis=1)
        low, high = np.quantile(answers, [0.025, 0.975])
        means.append(answers.mean())
        held.append(low <= 0.64 <= high)
        rare.append(counts[0].sum())
    assert round(float(np.mean(means)), 2) == 0.63
    assert round(float(np.mean(means[:20])), 2) == 0.62  # those of the lab
    assert round(float(np.std(means[:20]) / 20**0.5), 2) == 0.01
    assert 0.91 < np.mean(held) < 0.94
    assert round(float(np.mean(rare))) == 12


@pytest.mark.slow
def test_without_incomplete_rows_a_false_link_takes_the_place_of_a_true_one(garden: Path) -> None:
    table = lab.Table(garden)
    table.missing.value = "leave the row out"
    study = lab.Study(table)
    study.runner.run_now()
    edges = study.done().edges.probability
    links = edges + edges.T
    assert links[SLUGS, GROWTH] < 0.3 and links[SOIL, GROWTH] > 0.9
    kept = [links[NAMES.index(u), NAMES.index(v)] > 0.9 for u, v in TRUTH]
    assert kept.count(False) == 1


def test_the_table_is_read_without_help(garden: Path) -> None:
    table = lab.Table(garden)
    roles = {column.name: column.role for column in table.reading.columns}
    assert [name for name, role in roles.items() if role == "left out"] == ["plot"]
    assert table.reading.data.names == ("soil", "slugs", "water", "growth", "flowers", "bees")
    assert table.reading.rows_read == 240
    again = bn.read_csv(garden, **table.reading.options)
    np.testing.assert_array_equal(again.values, table.reading.data.values)


def test_controls_read_the_table_anew(tmp_path: Path) -> None:
    table, seen = lab.Table(lab.write_garden(tmp_path, gaps=None)), []
    table.watch(lambda reading: seen.append(reading.data.levels))
    table.rule.value = "equally full levels"
    table.bins.value = 2
    data = table.reading.data
    assert len(data.levels[data.index("water")]) == 2
    table.use(lab.write_garden(tmp_path))
    table.missing.value = "leave the row out"
    assert table.reading.rows_kept < 180
    table.missing.value = "a level of its own"
    assert table.reading.rows_kept == 240
    assert "missing" in table.reading.data.levels[0]
    assert seen[-1] == table.reading.data.levels
    table.rule.value = "as proposed"
    assert table.bins.disabled


def test_an_uploaded_file_takes_the_place_of_the_table(garden: Path) -> None:
    table = lab.Table(garden)
    content = b"rain,grass\nno,dry\nyes,wet\nno,dry\nyes,dry\n"
    table.upload.value = (
        {
            "name": "../weather.csv",
            "type": "text/csv",
            "size": len(content),
            "content": memoryview(content),
            "last_modified": datetime.now(UTC),
        },
    )
    assert table.reading.data.names == ("rain", "grass")
    assert Path(table.reading.source).name == "weather.csv"


def test_a_file_that_cannot_be_read_changes_nothing(garden: Path, tmp_path: Path) -> None:
    table = lab.Table(garden)
    bad = tmp_path / "bad.csv"
    bad.write_text("a,<b>\n1,2\n1\n", encoding="utf-8")
    table.use(bad)
    assert "Not read" in table.status.value
    assert "<b>Not" in table.status.value
    assert table.reading.data.n == 6
    table.use(tmp_path / "absent.csv")
    assert "absent.csv" in table.status.value
    table.missing.value = "leave the row out"  # reads the garden again
    assert table.status.value == ""


def test_the_study_follows_the_table(garden: Path) -> None:
    table = lab.Table(garden)
    study, seen = lab.Study(table, seconds=10), []
    with pytest.raises(ValueError, match="press Analyse"):
        study.done()
    with pytest.raises(ValueError, match="press Analyse"):
        lab.Network(study)
    study.watch(seen.append)
    study.runner.run_now()
    network = lab.Network(study)
    table.use(_two_columns(garden.parent))
    assert study.plan.max_parents == 1
    assert study.done().data.n == 6  # until Analyse is pressed
    study.runner.run_now()
    assert [analysis.data.n for analysis in seen] == [6, 2]
    assert set(network.panel.source("links").data["parent"]) <= {"rain", "grass"}


def test_what_is_shown_of_an_earlier_table_says_so(garden: Path) -> None:
    table = lab.Table(garden)
    study = lab.Study(table, seconds=10)
    study.runner.run_now()
    network = lab.Network(study)
    notice = network.widget.children[0]

    def grey() -> bool:
        return FADED in network.panel.figure._dom_classes

    assert notice.value == ""
    assert not grey()
    table.rule.value = "equally full levels"
    assert "The table has changed: press Analyse." in notice.value
    assert study.runner.status.value.endswith(", for the earlier setting")
    assert grey()
    network.threshold.value = 0.5
    assert grey()
    assert "The table has changed" in network.panel.children[1].value
    result = study._work(table.reading, study.plan, lambda done, total, snapshot: True)
    table.rule.value = "as proposed"  # while that runs
    study._finish(result)
    assert "The table has changed" in notice.value
    assert grey()
    assert "The table has changed" in study.widget.children[0].value
    study.runner.run_now()
    assert notice.value == ""
    assert not grey()


def _two_columns(folder: Path) -> Path:
    path = folder / "weather.csv"
    path.write_text("rain,grass\n" + "no,dry\nyes,wet\n" * 20, encoding="utf-8")
    return path


def test_a_run_stopped_before_it_had_anything_changes_nothing(study: lab.Study) -> None:
    before = study.done()
    study._finish(None)
    assert study.done() is before


def test_the_garden_says_what_is_true(study: lab.Study) -> None:
    analysis = study.done()
    edges, index = analysis.edges.probability, analysis.data.index
    for parent, child in TRUTH:
        u, v = index(parent), index(child)
        assert edges[u, v] + edges[v, u] > 0.9, (parent, child)


def test_the_network_shows_edges_from_the_threshold_up(study: lab.Study) -> None:
    network = lab.Network(study)
    edges = study.done().edges.probability
    for threshold in (0.05, 0.9):
        network.threshold.value = threshold
        shown = network.panel.source("links").data["probability"]
        np.testing.assert_allclose(sorted(shown), sorted(edges[edges >= threshold]))
        assert f"{threshold:g} or more" in network.panel.caption


def test_intervals_of_chains_are_listed_with_what_they_are_worth() -> None:
    half, far = np.full((2, 2), 0.5), np.full((2, 2), 1.3)
    found = Credible(half, 0 * half, 2 * half, "asymptotic", 0.95, far, 12 * half)
    said = edges_html(found, ("rain", "wet"), 0.1)
    assert "R-hat 1.300, ESS 6: not to be trusted, run longer" in said
    near = Credible(half, 0 * half, 2 * half, "asymptotic", 0.95, far / 1.3, 1200 * half)
    said = edges_html(near, ("rain", "wet"), 0.1)
    assert "interval (asymptotic)" in said and "0.000 to 1.000</td>" in said


def test_what_the_reader_asks_for_can_be_said(tmp_path: Path) -> None:
    path = tmp_path / "doubtful.csv"
    rows = "".join(f"{'fm'[i % 2]};{i % 7 + 0.5};x{i}\n" for i in range(30))
    path.write_text(f"sex;dose;remark\n{rows}", encoding="utf-8")
    with pytest.raises(ValueError, match=r"'remark' .* leave it out with drop="):
        lab.Table(path)
    table = lab.Table(path, {"drop": ["remark"], "discretize": {"dose": bn.CutPoints([3])}})
    assert table.reading.data.levels == (("f", "m"), ("<= 3", "> 3"))
    table.rule.value = "equally wide levels"
    assert len(table.reading.data.levels[1]) == 3
    table.rule.value = "as proposed"
    assert table.reading.data.levels[1] == ("<= 3", "> 3")


def test_checks_turn_wrong_answers_down(capsys: pytest.CaptureFixture[str]) -> None:
    def one_direction(path: Path, bins: Bins, sizes: Sizes, sure: float) -> list[Pair]:
        least = np.min([edges(path, *prior)[0] for prior in product(bins, sizes)], axis=0)
        return [(NAMES[u], NAMES[v]) for u, v in np.argwhere(np.triu(least >= sure, 1))]

    assert not lab.check_survivors(lambda path, bins, sizes, sure: None)
    assert not lab.check_survivors(lambda path, bins, sizes, sure: [])
    assert not lab.check_survivors(lambda path, bins, sizes, sure: linked(path, 3, 1.0, sure))
    assert not lab.check_survivors(lambda p, bins, sizes, sure: each(p, bins, sizes[:1], sure))
    assert not lab.check_survivors(lambda p, bins, sizes, sure: each(p, bins[:1], sizes, sure))
    assert not lab.check_survivors(lambda *asked: each(*asked, how=set.union))
    assert not lab.check_survivors(one_direction)
    assert not lab.check_setting(lambda *asked: None)
    assert not lab.check_setting(seen)
    assert not lab.check_setting(lambda values, asked, by: 1 - set_share(values, asked, by))
    assert not lab.check_setting(lambda values, asked, by: set_share(values, asked, [0]))
    assert not lab.check_cuts([])
    assert not lab.check_cuts([5.0])
    assert not lab.check_cuts([3.3, 6.6])
    assert not lab.check_cuts([6.0])  # in our garden only
    assert capsys.readouterr().out.count("not yet") == 15


NAMES = ("soil", "slugs", "water", "growth", "flowers", "bees")
Bins, Sizes, Pair = tuple[int, ...], tuple[float, ...], tuple[str, str]


def edges(path: Path, levels: int, ess: float) -> np.ndarray:
    data = read_table(path, discretize=bn.EqualFrequency(levels)).data
    found = bn.dag_posterior(bn.score_families(data, bn.BDeu(ess=ess), max_parents=5)).edges
    return np.stack([found, found + found.T])


def linked(path: Path, levels: int, ess: float, sure: float) -> set[Pair]:
    either = edges(path, levels, ess)[1]
    return {(NAMES[u], NAMES[v]) for v in range(6) for u in range(v) if either[u, v] >= sure}


def each(path: Path, bins: Bins, sizes: Sizes, sure: float, how: Any = set.intersection) -> Any:
    return how(*(linked(path, *prior, sure) for prior in product(bins, sizes)))


Question = tuple[int, int, int, int]


def seen(values: np.ndarray, question: Question, by: list[int]) -> float:
    x, a, y, b = question
    return float((values[values[:, x] == a, y] == b).mean())


def set_share(values: np.ndarray, question: Question, by: list[int]) -> float:
    """By weights of rows: one over the share of x = a among rows of the same kind."""
    x, a, y, b = question
    keys = [tuple(row) for row in values[:, by].tolist()]
    held, kinds = values[:, x] == a, sorted(set(keys))
    which = np.array([kinds.index(key) for key in keys])
    p = np.bincount(which, held) / np.bincount(which)
    yes = held & (values[:, y] == b)
    return float((1 / p[which[yes]]).sum() / len(values))


def test_checks_accept_other_ways_to_be_right() -> None:
    assert lab.check_survivors(lambda *asked: [pair[::-1] for pair in each(*asked)])
    assert lab.check_setting(set_share)
    for point in (3.0, 3.3, 3.5, 6.5, 6.7, 7.0):  # a hill has two sides
        assert lab.check_cuts([point])
