"""Reports of tables with missing cells, and what they say of setting a variable."""

import csv
import html
import re
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from report_parts import part

import bnlab as bn
from bnlab.cli import main
from bnlab.predict import effects, log_density
from bnlab.reports import Analysis, Plan, analyse, choose_method, read_table, sensitivity
from bnlab.reports.analysis import COMPLETED, DAGS, TABLES, completed, from_missing
from bnlab.reports.answers import evenly
from bnlab.reports.assumptions import told_of
from bnlab.reports.page import page as page_of

NAMES = ("rain", "sprinkler", "wet")


def garden(m=60, holes=0.0, seed=1) -> bn.Data:
    """Wet grass, of rain or of a sprinkler; some cells missing."""
    rng = np.random.default_rng(seed)
    rain, sprinkler = rng.random((2, m)) < 0.4
    wet = (rain | sprinkler) ^ (rng.random(m) < 0.1)
    values = np.stack([rain, sprinkler, wet], axis=1).astype(int)
    values[rng.random(values.shape) < holes] = -1
    return bn.Data.from_arrays(values, names=NAMES, missing="keep" if holes else "error")


def few_cycles() -> Plan:
    return replace(choose_method(garden(holes=0.1)), draws=60, burn_in=20)


@pytest.fixture(scope="module")
def holed() -> Analysis:
    return analyse(garden(holes=0.1), rng=np.random.default_rng(1), plan=few_cycles())


def penguins(path: Path, m=150, holes=0.06, seed=5) -> Path:
    """A table of labels and measurements with holes, like that of the Palmer penguins."""
    rng = np.random.default_rng(seed)
    kind, sex = rng.integers(0, 3, m), rng.integers(0, 2, m)
    flipper = np.array([190, 196, 217])[kind] + 4 * sex + rng.normal(0, 5, m)
    mass = np.array([3600, 3700, 5000])[kind] + 600 * sex + rng.normal(0, 250, m)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["species", "sex", "flipper", "mass"])
        for row in zip(kind, sex, flipper, mass, strict=True):
            cells = ["Adelie Chinstrap Gentoo".split()[row[0]], "female male".split()[row[1]]]
            cells += [f"{row[2]:.1f}", f"{row[3]:.1f}"]
            writer.writerow(["" if rng.random() < holes else cell for cell in cells])
    return path


def text(page: str) -> str:
    """What is read on a page, without its pictures."""
    body = re.sub(r"<(script|style|svg)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", body)).split())


def test_edges_are_those_of_complete(holed: Analysis) -> None:
    data, plan = garden(holes=0.1), holed.plan
    assert plan.method == "completions" and holed.log_evidence is None
    lengths = {"draws": plan.draws, "chains": plan.chains, "burn_in": plan.burn_in}
    rng = np.random.default_rng(1)
    found = bn.complete(data, bn.BDeu(), max_parents=plan.max_parents, rng=rng, **lengths)
    assert holed.completions is not None
    assert np.array_equal(holed.edges.probability, found.edges)
    assert np.array_equal(holed.completions.from_missing, found.from_missing)
    assert 0 < found.from_missing.max() < 1
    assert (holed.edges.low <= found.edges).all() and (found.edges <= holed.edges.high).all()
    dags = found.dags.values.reshape(-1, 3)
    often = max((dags == dag).all(axis=1).sum() for dag in np.unique(dags, axis=0))
    assert (dags == holed.best).all(axis=1).sum() == often
    assert (
        not holed.whole.missing.any() and (holed.whole.values == data.values)[~data.missing].all()
    )


def test_knowledge_and_prior_are_kept(holed: Analysis) -> None:
    known = {"tiers": [["rain", "sprinkler"], ["wet"]], "forbidden": [("rain", "sprinkler")]}
    rng = np.random.default_rng(1)
    chosen = {"prior": bn.Fair(), "score": bn.K2(), "plan": few_cycles()}
    found = analyse(garden(holes=0.1), rng=rng, **chosen, **known)
    assert found.edges.probability[2].max() == found.edges.probability[0, 1] == 0
    assert found.completions is not None and "Fair" in found.run.settings["prior"]
    assert (sensitivity(found).edges[..., 2, :] == 0).all()


def test_predictions_average_over_completions(holed: Analysis) -> None:
    found, pairs = holed.predict({"rain": "1"}, "wet"), list(completed(holed.completions))
    assert len(pairs) == COMPLETED
    rows = np.array([[1, -1, 0], [1, -1, 1]])
    each = [np.exp(log_density(dag, data, rows)) for dag, data in pairs]
    joint = np.mean(each, axis=0)
    np.testing.assert_allclose(found, joint / joint.sum(), rtol=1e-12)


def test_the_network_has_mean_tables(holed: Analysis) -> None:
    net, dag = holed.network, holed.best
    for v, table in enumerate(net.tables):
        np.testing.assert_allclose(table.sum(axis=1), 1)
        seen = holed.data.values[~holed.data.missing[:, v], v]
        if not dag[v]:
            assert abs(table[0, 1] - seen.mean()) < 0.05


def test_effects_without_holes_are_those_of_effects() -> None:
    data, asked = garden(), {"do": {"rain": "1"}, "on": "wet"}
    found = analyse(data, rng=np.random.default_rng(2), **asked)
    (one,) = found.what_if
    rng = np.random.default_rng(2)
    again = analyse(data, rng=rng, **asked).what_if[0]
    assert np.array_equal(one.draws, again.draws) and one.mean.sum() == pytest.approx(1)
    some = evenly(found.draws, DAGS)
    same = effects(some, data, **asked, tables=TABLES, rng=np.random.default_rng(3))
    assert np.array_equal(one.mean, same.mean) and np.array_equal(one.between, same.between)
    np.testing.assert_allclose(one.low, same.low, atol=0.03)
    np.testing.assert_allclose(one.within, same.within, rtol=0.15)


def test_effects_with_holes_average_those_of_completions() -> None:
    holed = analyse(garden(holes=0.4), rng=np.random.default_rng(1), seconds=20)
    (rain,) = {name for one in holed.what_if for name in one.do}
    assert [one.do[rain] for one in holed.what_if] == ["0", "1"]
    one = holed.what_if[1]
    u, v = holed.data.index(rain), holed.data.index(one.on)
    assert holed.paths.probability[u, v] == holed.paths.probability.max()
    each, rng, dags = [], np.random.default_rng(4), bn.graphs.all_dags(3)
    for _, data in completed(holed.completions):
        table = bn.score_families(data, bn.BDeu(), max_parents=2)
        log_p = np.array([[table.log_target(dag) for dag in dags]])
        every = bn.Draws(dags[None], log_p, log_p, "dags", "structure-modular", NAMES)
        each.append(effects(every, data, do=one.do, on=one.on, tables=200, rng=rng))
    means, inside = np.array([found.mean for found in each]), [found.between**2 for found in each]
    noise = np.sqrt(np.max(np.mean(inside, axis=0)) / len(one.means))
    np.testing.assert_allclose(one.mean, means.mean(axis=0), atol=4 * noise)
    between = means.var(axis=0) + np.mean(inside, axis=0)
    np.testing.assert_allclose(one.between**2, between, rtol=0.15)
    within = np.mean([found.within**2 for found in each], axis=0)
    np.testing.assert_allclose(one.within**2, within, rtol=0.2)
    share = means.var(axis=0) / (between + within)
    assert (share > 0.05).all()
    np.testing.assert_allclose(from_missing(one, COMPLETED), share, rtol=0.3)
    pooled = np.concatenate([found.draws for found in each])
    np.testing.assert_allclose(one.low, np.quantile(pooled, 0.025, axis=0), atol=0.04)
    np.testing.assert_allclose(one.high, np.quantile(pooled, 0.975, axis=0), atol=0.04)
    assert one.draws.var(axis=0) == pytest.approx(one.between**2 + one.within**2, rel=0.15)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"do": {"rain": "1"}}, "give both of do= and on="),
        ({"on": "wet"}, "give both of do= and on="),
        ({"do": {"rain": "often"}, "on": "wet"}, "'rain' has no level 'often'"),
        ({"do": {"snow": "1"}, "on": "wet"}, "no variable 'snow'"),
        ({"do": {"rain": "1"}, "on": "mud"}, "no variable 'mud'"),
        ({"do": {"rain": "1"}, "on": "rain"}, "is set by do"),
    ],
)
@pytest.mark.parametrize("holes", [0.0, 0.1])
def test_questions_without_sense_are_refused_first(asked, told, holes) -> None:
    def progress(*_: object) -> bool:
        pytest.fail("work had begun")

    with pytest.raises(ValueError, match=told):
        analyse(garden(holes=holes), rng=np.random.default_rng(1), progress=progress, **asked)


def test_what_cannot_be_averaged_over_is_refused_with_the_remedy() -> None:
    rng = np.random.default_rng(1)
    values = rng.integers(0, 2, (50, 18))
    values[3, 4] = -1
    wide = bn.Data.from_arrays(values, missing="keep")
    remedies = r"1 cells of 18 variables are missing.*seconds=.*Data.select.*missing=.drop"
    with pytest.raises(ValueError, match=remedies):
        analyse(wide, rng=rng, seconds=1)
    with pytest.raises(ValueError, match="the method 'partitions' needs all cells"):
        choose_method(garden(holes=0.1), method="partitions")
    with pytest.raises(ValueError, match="no cell is missing"):
        choose_method(garden(), method="completions")


@pytest.mark.slow
def test_one_command_from_file_to_page(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    penguins(Path("penguins.csv"))
    asked = ["--do", "species=Gentoo", "--on", "mass", "--seed", "1", "--seconds", "3"]
    assert main(["report", "penguins.csv", *asked]) == 0
    capsys.readouterr()
    page = Path("penguins-report.html").read_text(encoding="utf-8")
    said = text(page)
    reading = read_table("penguins.csv", missing="keep")
    gaps = reading.data.missing
    for sentence in (
        f"{gaps.sum()} of {gaps.size} cells are missing. No row was dropped for that",
        "of the uncertainty about edges comes from these holes",
        "missing at random: whether one is missing may depend on what the other cells",
        "no hidden common causes (see What if): if we set species to Gentoo, then mass is",
        "If we set species to Gentoo, then mass is",
        "spread between networks",
        "spread within",
        "one answer for all rows together, averaged over the other columns (sex and flipper)",
        f"the {COMPLETED} ways to fill the missing cells that are averaged here",
    ):
        assert sentence in said
    assert said.index("no hidden common causes") < said.index("If we set species to Gentoo")
    again = re.search("(bnlab report penguins.csv [^<]*)</code>", page)
    assert again is not None
    command = shlex.split(html.unescape(again[1]))
    assert {"--do", "species=Gentoo", "--on", "mass", "completions"} <= {*command}
    data = reading.data
    plan = choose_method(data, seconds=3, method="completions", max_parents=3)
    asked_in_python = {"do": {"species": "Gentoo"}, "on": "mass"}
    found = analyse(data, rng=np.random.default_rng(1), plan=plan, **asked_in_python)
    (one,) = found.what_if
    y = int(one.mean.argmax())
    told = f"{one.mean[y]:.2f} ({one.low[y]:.2f} to {one.high[y]:.2f})"
    assert f"then mass is {one.levels[y]} with probability {told}" in said
    p, holes = found.edges.probability, found.completions.from_missing
    share = (holes * p * (1 - p)).sum() / (p * (1 - p)).sum()
    number = f"a share of {share:.2g}" if share >= 0.01 else "less than 0.01"
    assert f"{number} of the uncertainty about edges comes" in said
    share = from_missing(one, COMPLETED)[y]
    number = f"a share of {share:.2g}" if share >= 0.01 else "less than 0.01"
    assert f"Of all this uncertainty, {number} comes from missing cells." in said
    assert text(page_of(found, reading, command="again")).count("If we set species to Gentoo") == 1


def test_setting_is_held_against_the_share_of_all_rows() -> None:
    data = garden()
    (one,) = analyse(data, rng=np.random.default_rng(2), do={"rain": "1"}, on="wet").what_if
    for do, unaffected in ((one.do, 0.04), (one.do, 0.95), ({"rain": "1", "sprinkler": "0"}, 0.5)):
        changed = replace(one, unaffected=unaffected, do=do)
        y = int(one.mean.argmax())
        said = told_of(changed, data)
        assert f", against {(data.values[:, 2] == y).mean():.2f} in all rows" in said
        nothing = f": setting {' and '.join(do)} probably changes nothing ({unaffected:.2f})."
        assert said.endswith(nothing if unaffected >= 0.5 else "in all rows.")


def test_shares_are_of_the_rows_that_say_them(holed: Analysis) -> None:
    values = holed.data.values
    seen = values[values[:, 2] >= 0, 2]
    page = part("whatif", holed)
    assert page.count(f">{(seen == 1).mean():.3f}</td>") >= 2  # of each of two settings
    heads = re.findall('<th scope="col">(.*?)</th>', page)
    assert heads[-2:] == ["in all rows", "seen in such rows"]
    rows = re.findall("<tr><th.*?</tr>", page, re.DOTALL)
    for setting, shown in zip(holed.what_if, (rows[2], rows[4]), strict=True):
        ((name, level),) = setting.do.items()
        such = values[values[:, holed.data.index(name)] == int(level), holed.data.index(setting.on)]
        share = (such[such >= 0] == 1).mean()
        assert re.findall(r">([\d.]+)</td>", shown)[-1] == f"{share:.3f}"


def test_a_method_that_needs_all_cells_says_what_became_of_the_others(
    tmp_path, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    penguins(Path("penguins.csv"))
    options = ["--method", "exact-dags", "--seed", "1"]
    assert main(["report", "penguins.csv", *options]) == 0
    told = "Missing cells were not averaged over (--missing keep)"
    assert told in capsys.readouterr().err
    said = text(Path("penguins-report.html").read_text(encoding="utf-8"))
    assert told in said and '"missing" is a level of its own' in said
    assert main(["report", "penguins.csv", *options, "--missing", "keep"]) != 0
    error = capsys.readouterr().err
    assert "--seconds" in error and "--missing drop" in error and "--drop COLUMN" in error


def test_many_columns_have_their_networks_drawn_by_moves() -> None:
    rng = np.random.default_rng(3)
    values = np.repeat(rng.integers(0, 2, (80, 8)), 2, axis=1)
    values ^= rng.random(values.shape) < 0.1
    values[rng.random(values.shape) < 0.05] = -1
    data = bn.Data.from_arrays(values, arities=[2] * 16, missing="keep")
    plan = choose_method(data)
    assert plan.method == "completions" and "800 moves" in plan.guarantee[0]
    assert choose_method(data, seconds=5).max_parents < plan.max_parents == 3
    plan = replace(plan, draws=25, burn_in=2, max_parents=2)
    found = analyse(data, rng=np.random.default_rng(1), plan=plan)
    lengths = {"draws": 25, "burn_in": 2, "max_parents": 2}
    same = bn.complete(data, bn.BDeu(), rng=np.random.default_rng(1), **lengths)
    assert np.array_equal(found.edges.probability, same.edges)
    drawn = bn.graphs.to_adjacency(same.dags.values.reshape(-1, 16))
    best = bn.graphs.to_adjacency(found.best)
    far = ((drawn - same.edges) ** 2).sum(axis=(1, 2))
    assert ((best - same.edges) ** 2).sum() == pytest.approx(far.min(), abs=1e-9)
    assert np.isnan(from_missing(found.what_if[0], COMPLETED)).all()
    assert "Of all this uncertainty" not in part("whatif", found)
    said = part("glance", found)
    assert "how much of the uncertainty about edges comes from these holes is not known" in said
    table = str(part("edges", found))
    assert "R-hat" in table and "from holes" not in table and "nan" not in table


def test_without_holes_nothing_is_said_of_them() -> None:
    found = analyse(garden(), rng=np.random.default_rng(1))
    assert found.completions is None and found.whole is found.data
    assert len(found.what_if) == 2
    search = analyse(
        garden(),
        rng=np.random.default_rng(1),
        plan=choose_method(garden(), method="search"),
        do={"rain": "1"},
        on="wet",
    )
    assert not search.what_if and "a search has no probabilities" in search.warnings[-1]
