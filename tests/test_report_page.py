"""The report of a table: one file that says all, loads nothing and escapes every name."""

import base64
import csv
import re
import sys
import uuid
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from markupsafe import Markup
from report_parts import part
from served import violations
from stopping import Stop

import bnlab as bn
from bnlab import plots
from bnlab.pages import PARTS, embedded, html
from bnlab.reports import (
    Analysis,
    Credible,
    Reading,
    Sensitivity,
    analyse,
    choose_method,
    read_table,
    sensitivity,
)
from bnlab.reports.exports import graphml_text, write
from bnlab.reports.page import page as page_of, write_page
from bnlab.reports.pictures import Comparison, best_picture, drawn_from, layout, pairs_picture
from bnlab.reports.sections import best_parents, links, seen
from bnlab.reports.sensitivity import averaged_cuts

COMMAND = "bnlab report 'my <table>.csv' --seed 1"
BAD_NAMES = ("<script>alert(1)</script>", "say \"hi\" & 'bye'", "prix_€_日本", "$$x^2$$")
PICTURES = 2  # heat map, sensitivity; the networks need no script
MOST_BYTES = 2_600_000


@pytest.fixture(scope="module")
def reading(tmp_path_factory: pytest.TempPathFactory) -> Reading:
    """400 rows of four variables with names and levels that no page may take for HTML."""
    path = tmp_path_factory.mktemp("report") / "bad <names>.csv"
    net = bn.BayesNet.random_tables(
        [0, 1, 3, 4], [2, 2, 3, 2], np.random.default_rng(3), concentration=1.0
    )
    labels = ("</td><b>low</b>", "high", "&amp;")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(BAD_NAMES)
        for row in net.sample(400, np.random.default_rng(4)).values:
            writer.writerow([labels[code] for code in row])
    return read_table(path)


@pytest.fixture(scope="module")
def analysis(reading: Reading) -> Analysis:
    return analyse(reading.data, rng=np.random.default_rng(1))


@pytest.fixture(scope="module")
def page(analysis: Analysis, reading: Reading, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_page(analysis, reading, path, command=COMMAND)
    return path


class Elements(HTMLParser):
    """Every start tag of a page with its attributes, and the text outside scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.cdata_elem is None:
            self.text.append(data)

    def named(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of all tags of this name."""
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture(scope="module")
def elements(page: Path) -> Elements:
    return Elements(page.read_text(encoding="utf-8"))


def test_nothing_is_loaded_from_elsewhere(page: Path, elements: Elements) -> None:
    for tag, attributes in elements.tags:
        for name in ("src", "href", "data", "action"):
            address = attributes.get(name)
            assert address is None or address.startswith(("#", "data:")), (tag, address)
    assert not any("src" in attributes for attributes in elements.named("script"))
    assert "default-src 'none'" in page.read_text(encoding="utf-8")
    assert page.stat().st_size < MOST_BYTES


def test_names_and_levels_are_text(elements: Elements) -> None:
    said = " ".join(elements.text)
    for word in (*BAD_NAMES, "</td><b>low</b>", "&amp;", "bad <names>.csv", COMMAND):
        assert word in said
    assert elements.named("b") == []
    assert len(elements.named("script")) == 3 + 1  # BokehJS and its log level, figures, sorting


def test_the_page_is_for_everybody(elements: Elements) -> None:
    assert elements.named("html") == [{"lang": "en"}]
    assert all(attributes.get("scope") in ("col", "row") for attributes in elements.named("th"))
    assert len(elements.named("caption")) == len(elements.named("table"))
    targets = {attributes.get("id") for _, attributes in elements.tags}
    links = [a["href"] for a in elements.named("a") if str(a["href"]).startswith("#")]
    assert len(links) >= 11
    assert {str(link)[1:] for link in links} <= targets
    levels = [int(tag[1]) for tag, _ in elements.tags if re.fullmatch("h[1-6]", tag)]
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_the_numbers_are_those_of_the_analysis(elements: Elements, analysis: Analysis) -> None:
    u, v = np.unravel_index(np.argmax(analysis.edges.probability), (4, 4))
    said = " ".join(elements.text)
    assert f"{analysis.edges.probability[u, v]:.3f}" in said
    assert analysis.log_evidence is not None
    assert f"{analysis.log_evidence.log_value:.2f}" in said
    for sentence in (*analysis.plan.why, *analysis.plan.guarantee):
        assert sentence in said
    assert f"version of numpy {np.__version__}" in re.sub(r"\s+", " ", said)


def test_files_in_the_page_are_those_of_the_exports(
    elements: Elements, analysis: Analysis, tmp_path: Path
) -> None:
    links = {a["download"]: str(a["href"]) for a in elements.named("a") if "download" in a}
    for name in ("edges.csv", "edges.graphml", "network.bif", "network.xdsl", "network.net"):
        write(analysis, tmp_path / name, name.partition(".")[2])
        content = base64.b64decode(links[name].partition("base64,")[2])
        assert content == (tmp_path / name).read_bytes()


def test_csv_has_every_pair_once(analysis: Analysis, tmp_path: Path) -> None:
    write(analysis, tmp_path / "edges.csv", "csv")
    with (tmp_path / "edges.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = analysis.data.names
    assert {(row["from"], row["to"]) for row in rows} == {
        (a, b) for a in names for b in names if a != b
    }
    for row in rows:
        u, v = names.index(row["from"]), names.index(row["to"])
        for column in ("probability", "low", "high"):
            value = getattr(analysis.edges, column)[u, v]
            assert float(row[column]) == pytest.approx(value, rel=1e-5, abs=1e-12)
    assert [float(row["probability"]) for row in rows] == sorted(
        (float(row["probability"]) for row in rows), reverse=True
    )


def test_graphml_has_the_credible_edges(analysis: Analysis, tmp_path: Path) -> None:
    path = tmp_path / "edges.graphml"
    path.write_text(graphml_text(analysis, at_least=0.3), encoding="utf-8")
    graph = nx.read_graphml(path)
    assert set(graph) == set(analysis.data.names)
    p = analysis.edges.probability
    assert graph.number_of_edges() == int((p >= 0.3).sum())
    for a, b, edge in graph.edges(data=True):
        u, v = analysis.data.index(a), analysis.data.index(b)
        assert edge["low"] <= edge["probability"] <= edge["high"]
        assert edge["probability"] == pytest.approx(p[u, v])


def test_bif_is_read_back(tmp_path: Path) -> None:
    data = bn.load_dataset("coronary")
    analysis = analyse(data, rng=np.random.default_rng(1))
    write(analysis, tmp_path / "best.bif", "bif")
    net = bn.read_bif(tmp_path / "best.bif")
    np.testing.assert_array_equal(net.dag, analysis.best)
    assert net.names == tuple(name.replace(" ", "_") for name in data.names)
    assert net.levels == data.levels


def test_what_a_format_cannot_hold_is_refused(analysis: Analysis, tmp_path: Path) -> None:
    data = replace(analysis.data, names=("bell\x07", "b", "c", "d"))
    with pytest.raises(ValueError, match="control character"):
        write(replace(analysis, data=data), tmp_path / "edges.graphml", "graphml")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["exact", "sound", "Hoeffding", "asymptotic", "none"])
def test_every_interval_is_explained(kind: Any, analysis: Analysis) -> None:
    changed = replace(analysis, edges=replace(analysis.edges, kind=kind))
    caption = re.findall("<caption>(.*?)</caption>", part("edges", changed), re.DOTALL)[0]
    assert re.search(
        "(probability|probabilities|interval|error).*[.] The last column",
        caption.split("first.")[1],
    )


def test_warnings_stand_out(analysis: Analysis, reading: Reading, tmp_path: Path) -> None:
    warned = replace(analysis, warnings=("R-hat is 1.3.", "p < 1."))
    write_page(warned, reading, tmp_path / "report.html", command=COMMAND)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert '<p class="warning">R-hat is 1.3. R-hat compares independent chains: 1 means' in text
    assert '<p class="warning">p &lt; 1.</p>' in text


def test_edges_of_chains_that_disagree_are_marked(analysis: Analysis, reading: Reading) -> None:
    plan = replace(choose_method(analysis.data, method="partitions"), draws=20, burn_in=0, thin=1)
    short = analyse(analysis.data, rng=np.random.default_rng(1), plan=plan)
    said = " ".join(Elements(part("glance", short)).text)
    assert re.match(r"\s*At a glance\s+Not to be trusted yet: all \d+ probabilities", said)
    assert "Publish none of them before" in said and "this page: --seconds 300." in said
    assert re.search(r"So far, of 6 pairs of variables|No pair of variables", said)
    cells = Elements(part("edges", short)).text
    assert {"R-hat", "ESS", "to be trusted", "no"} <= set(cells) and "yes" not in cells
    far = np.full((4, 4), 1.002)
    edges = replace(short.edges, rhat=far, ess=400_000 * far)
    assert "Not to be trusted" not in part("glance", replace(short, edges=edges))
    assert {"yes", "1.002"} <= set(Elements(part("edges", replace(short, edges=edges))).text)


def test_one_dag_is_not_called_probable(analysis: Analysis, reading: Reading) -> None:
    plan = choose_method(analysis.data, method="search", seconds=5)
    found = analyse(analysis.data, rng=np.random.default_rng(1), plan=plan)
    said = " ".join(Elements(page_of(found, reading, command=COMMAND)).text)
    assert "How sure each is, a search does not say" in said
    assert "of probability" not in said
    assert "either direction" not in said


def test_where_nothing_depends_on_anything(tmp_path: Path) -> None:
    path = tmp_path / "independent.csv"
    rows = "".join(f"{'xy'[i % 2]},{'uv'[i // 2 % 2]}\n" for i in range(2000))
    path.write_text(f"first,second\n{rows}", encoding="utf-8")
    reading = read_table(path)
    found = analyse(reading.data, rng=np.random.default_rng(1))
    said = " ".join(Elements(page_of(found, reading, command=COMMAND)).text)
    assert "No pair of variables is almost certainly linked (probability 0.95 or more)" in said
    assert said.count("There are none.") >= 3
    assert "first → first" not in said
    tried = sensitivity(found)
    assert "those that move most." in part("sensitivity", found, tried, drawn={"priors": ""})
    assert "those that move most." not in part("sensitivity", found, tried, drawn={})


def test_the_glance_tells_pairs_and_directions(analysis: Analysis) -> None:
    """One direction is sure, one pair is joined either way, one pair is not; then one likely."""
    edges = np.zeros((4, 4))
    edges[0, 1], edges[1, 2], edges[2, 1], edges[2, 3] = 0.97, 0.5, 0.48, 0.65
    changed = replace(analysis, edges=Credible.exact(edges))
    text = " ".join(Elements(part("glance", changed)).text)
    a, b, c, d = analysis.data.names
    assert "Of 6 pairs of variables, 2 are almost certainly linked (probability 0.95" in text
    assert f"{b} with {c} and {a} with {b}." in text
    told = f"undecided for 1 ({b} with {c}) and settled for 1 ({a} → {b})."
    assert f"Which way they point is {told}" in text
    edges[1, 2], edges[2, 1], edges[2, 3] = 0.12, 0.86, 0.96
    edges[0, 3] = edges[3, 0] = 0.48
    changed = replace(analysis, edges=Credible.exact(edges))
    text = " ".join(Elements(part("glance", changed)).text)
    assert f"Which way they point is undecided for 1 ({a} with {d}), " in text
    assert f"likely for 1 ({c} → {b}) and settled for 2 ({a} → {b} and {c} → {d})." in text
    for first, said in ((0.97, "settled"), (0.9, "likely"), (0.5, "undecided")):
        one = np.zeros((4, 4))
        one[0, 1], one[1, 0] = first, 0.98 - first
        text = " ".join(Elements(part("glance", replace(analysis, edges=Credible.exact(one)))).text)
        assert f"Which way it points is {said} ({a} {'→' if first > 0.5 else 'with'} {b})." in text


def test_directions_that_rest_on_assumptions_come_before_those_that_do_not(
    analysis: Analysis, reading: Reading
) -> None:
    a, b, c, d = analysis.data.names
    edges, found = np.zeros((4, 4)), sensitivity(reading.data, crossed=False)
    edges[0, 1], edges[1, 2], edges[2, 3], edges[3, 2] = 0.97, 0.98, 0.4, 0.3
    tried = np.broadcast_to(edges, found.edges.shape).copy()
    tried[-1, 0, 1, 2], tried[-1, 0, 2, 1] = 0.45, 0.5
    changed, found = replace(analysis, edges=Credible.exact(edges)), replace(found, edges=tried)
    fragile = "settled here but not under other assumptions"
    said = " ".join(Elements(part("glance", changed, found, reading)).text)
    assert f"{fragile} for 1 ({b} → {c}) and settled for 1 ({a} → {b})." in said
    rows = links(changed, found, reading)
    assert [row[:3] for row in rows] == [
        [f"{b} → {c}", 0.98, f"{fragile}: probability 0.98 one way, 0.00 the other"],
        [f"{a} → {b}", 0.97, "settled: probability 0.97 one way, 0.00 the other"],
        [f"{c} with {d}", 0.7, f"link uncertain (0.70); if linked, {c} → {d} (0.57)"],
    ]
    assert [row[3] for row in rows] == [seen(reading, u, u + 1) for u in (1, 0, 2)]


def test_what_the_table_shows_of_two_columns(tmp_path: Path) -> None:
    """Means, shares and rank correlations as pandas has them, cells that are missing left out."""
    rng = np.random.default_rng(1)
    m = 90
    kind, late = rng.integers(0, 3, m), rng.integers(0, 2, m)
    mass = 2000.0 + 900 * kind + rng.normal(0, 300, m).round(1)
    frame = pd.DataFrame({"mass": mass, "wing": (0.01 * mass + rng.normal(0, 2, m)).round(1)})
    frame["kind"], frame["stage"] = (
        np.array(["a", "b", "c"])[kind],
        mass.argsort().argsort() % 3,
    )
    frame["late"] = np.where(rng.random(m) < 0.3 + 0.2 * kind, "yes", "no")
    frame["fall"] = (5 - 0.001 * mass**3 * 1e-6 + 0.0 * late).round(3)
    frame = frame.mask(rng.random(frame.shape) < 0.1)
    frame.to_csv(tmp_path / "seen.csv", index=False)
    for missing in ("keep", "level"):
        reading = read_table(tmp_path / "seen.csv", missing=missing, drop=())
        assert reading.data.intervals[0] is not None

        def said(u: str, v: str, reading: Reading = reading) -> str:
            return seen(reading, reading.data.index(u), reading.data.index(v))

        r = frame["mass"].corr(frame["wing"], method="spearman")
        count = len(frame.dropna(subset=["mass", "wing"]))
        told = f"wing rises with mass: rank correlation {r:.2f} (rows: {count})"
        assert said("mass", "wing") == told
        assert said("mass", "fall").startswith("fall falls with mass: rank correlation -")
        if missing == "level":  # the gaps of kind are a level of their own there
            continue
        groups = frame.dropna(subset=["mass"]).groupby("kind")["mass"]
        means, counts = groups.mean(), groups.size()
        told = [f"{means[kind]:,.0f} where {kind} (rows: {counts[kind]})" for kind in "cba"]
        told[0] = told[0].replace("where", "where kind is")
        assert said("kind", "mass") == said("mass", "kind") == f"mean of mass: {', '.join(told)}"
        both = frame.dropna(subset=["late", "kind"])
        shares = (both["late"] == "yes").groupby(both["kind"]).mean().sort_values(ascending=False)
        counts = both.groupby("kind").size()
        told = [f"{share:.3g} where {k} (rows: {counts[k]})" for k, share in shares.items()]
        told[0] = told[0].replace("where", "where kind is")
        assert said("kind", "late") == f"share in which late is yes: {', '.join(told)}"
        r = frame["mass"].corr(frame["stage"], method="spearman")
        assert f": rank correlation {r:.2f} (rows: " in said("mass", "stage")
        assert abs(r) < 0.1 and "stage neither rises nor falls with" in said("mass", "stage")


def test_of_many_groups_the_first_and_the_last_are_told(tmp_path: Path) -> None:
    rows = "".join(f"{'abcdef'[i % 6]},{i % 6 + i / 1000}\n" for i in range(120))
    (tmp_path / "groups.csv").write_text(f"group,x\n{rows}")
    said = seen(read_table(tmp_path / "groups.csv"), 0, 1)
    shown = "5.06 where group is f, 4.06 where e, 3.06 where d, ..., 0.057 where a"
    assert said.replace(" (rows: 20)", "") == f"mean of x: {shown}"
    assert said.count(" (rows: 20)") == 4


def test_columns_that_no_row_has_both_of(tmp_path: Path) -> None:
    path = tmp_path / "apart.csv"
    path.write_text("x,y\n" + "a,\nb,\n,c\n,d\n" * 9)
    assert seen(read_table(path, missing="keep"), 0, 1) == "no row says both"


def test_pairs_that_other_priors_do_not_keep_are_named(
    analysis: Analysis, reading: Reading
) -> None:
    a, b, c, d = analysis.data.names
    edges, found = np.zeros((4, 4)), sensitivity(reading.data, crossed=False)
    edges[0, 1], edges[1, 2], edges[2, 3] = 0.97, 0.98, 0.65
    changed = replace(analysis, edges=Credible.exact(edges))
    tried = np.broadcast_to(edges, found.edges.shape).copy()

    def said() -> str:
        return " ".join(Elements(part("glance", changed, replace(found, edges=tried))).text)

    assert "3 pairs are more likely linked than not; all of them stay so when" in said()
    tried[0, 0, 2, 3] = 0.3
    tried[0, 0, 3, 2] = 0.1
    assert "2 of them stay so when" in said()
    assert f"(see Sensitivity), but {c} with {d} does not." in said()
    tried[1, 0, 0, 1] = 0.2
    assert "1 of them stay so when" in said()
    assert f"(see Sensitivity), but {a} with {b} and {c} with {d} do not." in said()
    parts = {"ess": "", "priors": ""}
    section = part("sensitivity", changed, replace(found, edges=tried), drawn=parts)
    named = f"less under at least one of these: {a} with {b} and {c} with {d}."
    assert named in " ".join(Elements(section).text)
    assert "but not above" not in section and "Other assumptions" not in said()
    tried[2, 0, 0, 3], tried[3, 0, 3, 1] = 0.6, 0.7
    added = f"{b} with {d} and {a} with {d}."
    assert (
        f"do not. Other assumptions make 2 further pairs more likely linked than not: {added}"
        in said()
    )
    section = part("sensitivity", changed, replace(found, edges=tried), drawn=parts)
    assert f"or more under at least one of these, but not above: {added}" in " ".join(
        Elements(section).text
    )
    changed = replace(analysis, edges=Credible.exact(0.1 * edges))
    assert (
        "No pair is more likely linked than not. Other assumptions make 5 further pairs" in said()
    )
    assert f"{b} with {c}, {a} with {b}, {b} with {d} and 2 more." in said()


def test_the_table_of_other_priors_says_how_many_edges_it_leaves_out() -> None:
    edges = np.full((2, 1, 12, 12), 0.4) * ~np.eye(12, dtype=np.bool_)
    edges[0, 0, 0] /= 2
    changed, exact = probable(3), np.full((2, 1), np.inf)

    def said() -> str:
        found = Sensitivity((1.0, 10.0), (bn.Uniform(),), edges, exact, "exact", 3, 0.0)
        return part("sensitivity", changed, found, drawn={})

    left = Comparison(("x", "y"), edges[:, 0]).chosen()
    assert 0 < len(left) < 132
    assert f"one of them. Of 132, the likeliest and those that move most: {len(left)}." in said()
    edges[:, :, 1:] = edges[:, :, :, 6:] = 0
    assert re.search(r"one of them\.\s*</caption>", said())


def test_a_bound_that_bounds_nothing_and_an_empty_section_are_left_out(
    analysis: Analysis, reading: Reading
) -> None:
    said = page_of(analysis, reading, command=COMMAND)
    assert "every variable has any number of parents, and" in said
    assert 'id="evidence"' in said and 'href="#evidence"' in said
    bounded = replace(analysis, plan=replace(analysis.plan, max_parents=2), log_evidence=None)
    said = page_of(bounded, reading, command=COMMAND)
    assert "every variable has at most 2 parents, and" in said
    assert "evidence" not in re.findall('(?:id|href)="#?([a-z]*)"', said)
    assert "; planned: " in " ".join(analysis.plan.why)


def test_the_answer_comes_first_then_how_to_read_it(page: Path, elements: Elements) -> None:
    sections = [str(attributes["id"]) for attributes in elements.named("section")]
    assert sections[:4] == ["glance", "meaning", "assumed", "edges"] and sections[-1] == "again"
    led_to = [str(a.get("href"))[1:] for a in elements.named("a")]
    led_to = led_to[led_to.index("meaning") :]  # the glance leads to what was assumed before that
    listed = [name for name in led_to if name in sections][: len(sections) - 1]
    assert listed == sections[1:]
    text = page.read_text(encoding="utf-8")
    order = ['<p class="lead">', "<svg", 'href="#meaning"', 'id="meaning"', 'id="edges"']
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    first = text[text.index('id="glance"') : text.index("<nav")]
    assert first.count('<p class="lead">') == 3 and first.count("<svg") == 1


def test_blankets_and_the_state_of_the_generator_are_folded(page: Path, analysis: Analysis) -> None:
    text = page.read_text(encoding="utf-8")
    folded = re.findall(r"<details><summary>.*?</details>", text, re.DOTALL)
    assert any("in its blanket" in part for part in folded)
    assert any(html(analysis.seed) in part for part in folded)
    left = re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL)
    assert "in its blanket" not in left and html(analysis.seed) not in left


def test_paths_tell_what_edges_do_not(analysis: Analysis) -> None:
    edges, paths = np.zeros((4, 4)), np.zeros((4, 4))
    edges[0, 1] = edges[1, 2] = paths[0, 1] = paths[1, 2] = paths[0, 2] = 0.9
    changed = replace(analysis, edges=Credible.exact(edges), paths=Credible.exact(paths))
    rows = re.findall(r'<th scope="row">(.*?)</th><td>(.*?)</td>', part("paths", changed))
    assert rows == [(html(analysis.data.names[0]), html(analysis.data.names[2]))]
    assert "of probability 0.5 or more" in part("paths", changed)
    paths[0, 2] = 0.45
    assert "<table" not in part("paths", replace(changed, paths=Credible.exact(paths)))


def probable(pairs: int) -> Analysis:
    """An analysis of 12 variables that links so many pairs, each more probable than the last."""
    data = bn.Data.from_arrays(np.random.default_rng(1).integers(0, 2, (30, 12)))
    found = analyse(data, rng=np.random.default_rng(1), plan=small_plan(data))
    edges = np.zeros((12, 12))
    upper = np.triu_indices(12, 1)
    share = np.linspace(0.5, 1.0, pairs)
    edges[upper[0][:pairs], upper[1][:pairs]] = 0.6 * share
    edges[upper[1][:pairs], upper[0][:pairs]] = 0.4 * share
    return replace(found, edges=Credible.exact(edges))


def small_plan(data: bn.Data) -> Any:
    return replace(choose_method(data, method="partitions"), draws=8, burn_in=0, thin=1)


def lines(picture: Markup) -> list[tuple[float, float, float, int]]:
    """Of each line of a drawing: its probability, its width, its opacity, its arrow heads."""
    return [
        (
            float(re.findall(r"linked with probability ([\d.]+)", link)[0]),
            float(re.findall(r'stroke-width="([\d.]+)"', link)[0]),
            float(re.findall(r'opacity="([\d.]+)"', link)[0]),
            link.count("<polygon"),
        )
        for link in re.findall(r'<g class="link".*?</g>', picture, re.DOTALL)
    ]


def test_width_and_opacity_mean_the_same_however_many_pairs_are_drawn() -> None:
    """One line a pair; equal probabilities look the same, higher ones wider and darker."""
    seen = {}
    for count in (5, 24, 25, 60):
        many = probable(count)
        drawn = lines(pairs_picture(many, layout(many), threshold=drawn_from(many)))
        assert len(drawn) == count
        assert drawn == sorted(drawn)
        assert len({width for _, width, _, _ in drawn}) == count
        seen[count] = (drawn[0], drawn[-1])
    assert len(set(seen.values())) == 1
    assert seen[5][1][1:] == (5.0, 1.0, 0)


def test_an_arrow_head_is_drawn_where_the_direction_is_sure(analysis: Analysis) -> None:
    edges = np.zeros((4, 4))
    edges[0, 1], edges[1, 2], edges[2, 1], edges[2, 3] = 0.95, 0.5, 0.48, 0.94
    changed = replace(analysis, edges=Credible.exact(edges))
    drawn = lines(pairs_picture(changed, layout(changed)))
    assert [(p, heads) for p, _, _, heads in drawn] == [(0.94, 0), (0.95, 1), (0.98, 0)]
    best = replace(changed, best=bn.graphs.from_edges(4, [(0, 1), (2, 1), (2, 3)]))
    drawn = lines(best_picture(best, layout(best)))
    assert [(p, heads) for p, _, _, heads in drawn] == [(0.94, 0), (0.95, 1), (0.98, 0)]
    a, b, c, d = analysis.data.names
    assert best_parents(best) == [
        *([a, "none", "none"], [b, a, c], [c, "none", "none"], [d, "none", c]),
    ]
    search = replace(best, plan=replace(best.plan, posterior=None))
    assert best_picture(search, layout(search)).count("<polygon") == 3


def test_lines_of_chains_that_disagree_are_broken(analysis: Analysis) -> None:
    short = analyse(analysis.data, rng=np.random.default_rng(1), plan=small_plan(analysis.data))
    picture = pairs_picture(short, layout(short))
    assert picture.count('stroke-dasharray="') == len(lines(Markup(picture))) > 0
    assert "stroke-dasharray" not in pairs_picture(analysis, layout(analysis))


def test_priors_need_not_be_crossed(reading: Reading) -> None:
    whole, few = sensitivity(reading.data), sensitivity(reading.data, crossed=False)
    base = whole.ess.index(1.0)
    np.testing.assert_array_equal(few.edges[:, 0], whole.edges[:, 0])
    np.testing.assert_array_equal(few.edges[base], whole.edges[base])
    others = [a for a in range(len(few.ess)) if a != base]
    assert np.isnan(few.edges[others, 1]).all()


def test_many_variables_are_drawn_only_if_linked(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    values = rng.integers(0, 2, (200, 14))
    values[:, 5] = values[:, 3] ^ (rng.random(200) < 0.1)
    data = bn.Data.from_arrays(values)
    drawn = layout(analyse(data, rng=rng, plan=choose_method(data, method="search", seconds=5)))
    assert {3, 5} <= set(drawn.shown.tolist())
    assert len(drawn.shown) == len(drawn.places) < 14


def shown(number: float) -> str:
    return str(PARTS.table("T.", ["a", "b"], [["x", number]]))


def test_cells_are_escaped() -> None:
    assert html("<&\"'") == "&lt;&amp;&#34;&#39;"
    assert html(Markup("<b>")) == "<b>"
    assert 'data-value="0.25"' in shown(0.25)
    assert [html(p) for p in (0.9994, 0.9996, 1.0, 1 - 1e-12)] == [
        *("0.999", "&gt; 0.999", "1.000", "1.000")
    ]
    assert 'data-value="Infinity">inf<' in shown(float("inf"))


@pytest.fixture(scope="module")
def opened(browser: Any, page: Path) -> tuple[Any, list[str]]:
    """The page in a Chromium without a network, and what its console says."""
    tab = browser.new_context(offline=True).new_page()
    said: list[str] = []
    tab.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
    tab.on("pageerror", lambda error: said.append(f"error: {error}"))
    tab.on("request", lambda request: said.append(f"request: {request.url[:100]}"))
    tab.on("dialog", lambda dialog: said.append("error: a dialog opened"))
    tab.goto(page.as_uri())
    tab.wait_for_function(f"() => window.Bokeh && [...Bokeh.index].length >= {PICTURES}")
    return tab, said


def test_it_opens_offline_and_draws(opened: tuple[Any, list[str]], page: Path) -> None:
    tab, said = opened
    tab.wait_for_timeout(500)
    elsewhere = [line for line in said if line.startswith("request") and "file:" not in line]
    assert elsewhere == []
    assert [line for line in said if line.startswith(("error", "warning"))] == []
    drawn = tab.evaluate(
        """() => [...document.querySelectorAll("[data-root-id]")].map(place => {
            const view = Bokeh.index.get_by_id(place.dataset.rootId);
            const canvas = view.el.shadowRoot.querySelector(".bk-Canvas").shadowRoot
                .querySelector("canvas");
            const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            return data.some((value, i) => value !== data[i % 4]);
        })"""
    )
    assert drawn == [True] * PICTURES
    tab.screenshot(path=page.with_suffix(".png"), full_page=True)


def test_the_keyboard_sorts_the_table(opened: tuple[Any, list[str]]) -> None:
    tab, _ = opened
    column = (
        "[...document.querySelectorAll('#edges table tbody tr')].map(r => r.cells[2].innerText)"
    )
    before = tab.evaluate(column)
    assert before == sorted(before, reverse=True)
    button = tab.locator("#edges th button").nth(2)
    button.focus()
    for order, state in ((True, "descending"), (False, "ascending")):
        tab.keyboard.press("Enter")
        assert tab.evaluate(column) == sorted(before, reverse=order)
        assert tab.locator("#edges th").nth(2).get_attribute("aria-sort") == state


def test_nothing_overflows_on_a_telephone(opened: tuple[Any, list[str]], page: Path) -> None:
    """The page is no wider than the screen; pictures are drawn whole, and scroll as tables do."""
    tab = opened[0].context.new_page()
    tab.set_viewport_size({"width": 400, "height": 800})
    tab.goto(page.as_uri())
    tab.wait_for_function(f"() => window.Bokeh && [...Bokeh.index].length >= {PICTURES}")
    tab.wait_for_timeout(500)
    assert tab.evaluate("document.documentElement.scrollWidth") == 400
    boxes = tab.evaluate(
        """() => [...document.querySelectorAll("figure .scroll")].map(box => {
            const view = Bokeh.index.get_by_id(box.querySelector("[data-root-id]")?.dataset.rootId);
            const drawn = view?.el.shadowRoot.querySelector(".bk-Canvas").shadowRoot
                .querySelector("canvas").getBoundingClientRect().width;
            return [box.clientWidth, box.scrollWidth, view?.el.offsetWidth, drawn,
                getComputedStyle(box).overflowX];
        })"""
    )
    assert sum(wide is not None for _, _, wide, _, _ in boxes) == PICTURES
    assert len(boxes) == PICTURES + 2
    for box, inside, wide, drawn, over in boxes:
        assert box <= 400
        assert over == "auto"
        assert inside <= box if wide is None else abs(drawn - wide) <= 1, (wide, drawn)
    tab.locator("summary").first.click()
    assert tab.evaluate("document.documentElement.scrollWidth") == 400
    tab.close()


def test_axe_finds_nothing(opened: tuple[Any, list[str]]) -> None:
    tab, _ = opened
    assert [(one["id"], one["help"]) for one in violations(tab)] == []


def test_without_javascript_the_networks_are_drawn(
    opened: tuple[Any, list[str]], page: Path
) -> None:
    tab = opened[0].context.browser.new_context(java_script_enabled=False).new_page()
    tab.goto(page.as_uri())
    folded = tab.locator("#blankets table")
    assert all(tab.locator("figure svg").nth(i).is_visible() for i in range(2))
    assert not folded.is_visible()
    tab.locator("#blankets summary").click()
    assert folded.is_visible()


def test_figures_are_embedded_the_same_each_time() -> None:
    name = str(uuid.uuid4())  # like the names that Bokeh makes up
    picture = plots.heat_map([[0, 0.9], [0.1, 0]], [name, "wet"])
    first, again = embedded({"edges": picture}), embedded({"edges": picture})
    assert first == again
    assert name in first[0]


@pytest.mark.parametrize("how", ["returns False", "interrupts"])
def test_a_page_without_the_other_priors_when_they_are_stopped(
    analysis: Analysis, reading: Reading, tmp_path: Path, how: str
) -> None:
    path = tmp_path / "report.html"
    write_page(analysis, reading, path, command=COMMAND, progress=Stop(how, share=0.3))
    text = path.read_text(encoding="utf-8")
    assert "Stopped before other priors were compared." in text
    assert 'id="sensitivity"' in text
    assert "Equivalent sample size: " not in text


@pytest.fixture(scope="module")
def waves(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """y says in which sixth of its range x lies: three intervals of x cannot show it."""
    path = tmp_path_factory.mktemp("waves") / "waves.csv"
    rng = np.random.default_rng(1)
    x = rng.random(300)
    rows = np.column_stack([x, np.floor(6 * x) % 2, rng.random(300)])
    np.savetxt(path, rows, fmt=["%.6f", "%d", "%.6f"], delimiter=",", header="x,y,z", comments="")
    return path


@pytest.fixture
def few_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Averages over cuts of as few draws as a page may show."""
    monkeypatch.setattr(sys.modules["bnlab.reports.sensitivity"], "MOST_CUTS", 50)


def recut(reading: Reading, *, plan: Any = None, progress: Any = None) -> str:
    analysis = analyse(reading.data, rng=np.random.default_rng(1), plan=plan)
    text = page_of(analysis, reading, command=COMMAND, progress=progress)
    return text[text.index("Where columns of measurements were cut") :].split("</p>")[0]


def test_pairs_that_other_cuts_link_are_named(waves: Path, few_cuts: None) -> None:
    reading = read_table(waves)
    assert reading.uncut is not None
    assert reading.uncut.measured.tolist() == [True, False, True]
    assert (reading.uncut.values[:, 1] == reading.data.values[:, 1]).all()
    said = recut(reading)
    named = re.search(r"More likely linked than not only there: x with y \(([\d.]+), 1.00\)", said)
    assert named
    assert float(named[1]) < 0.5
    assert "above, but not there" not in said
    assert "average" in said
    assert recut(reading) == said


def test_other_cuts_that_were_not_tried_are_told(waves: Path, reading: Reading) -> None:
    cut = read_table(waves)
    searched = choose_method(cut.data, method="search")
    assert "was not tried" in recut(cut, plan=searched)
    gaps = waves.with_name("gaps.csv")
    gaps.write_text(waves.read_text() + ",1,0.5\n" * 20)
    for missing in ("keep", "level"):
        holed = read_table(gaps, missing=missing)
        assert np.isnan(holed.uncut.measurements[300:, 0]).all()
        plan = choose_method(holed.data)
        if plan.method == "completions":
            plan = replace(plan, draws=10, burn_in=5)
        found = analyse(holed.data, rng=np.random.default_rng(1), plan=plan)
        assert "was not tried" in page_of(found, holed, command=COMMAND)
    dropped = read_table(gaps, missing="drop")
    assert dropped.uncut is not None
    assert dropped.uncut.m == dropped.data.m == 300
    assert reading.uncut is None  # nothing was cut
    many = np.random.default_rng(1).random((100, 20))
    wide = waves.with_name("wide.csv")
    np.savetxt(wide, many, delimiter=",", header=",".join(f"v{i}" for i in range(20)), comments="")
    found = read_table(wide)
    assert found.uncut is not None
    analysis = analyse(found.data, rng=np.random.default_rng(1), plan=small_plan(found.data))
    assert averaged_cuts(analysis, found.uncut) is None
