"""The documentation site: it builds without a warning, its links and names lead somewhere."""

import importlib.util
import re
import subprocess
import sys
from functools import cache
from html import unescape
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote

import pytest
from served import CHROMIUM, violations

import bnlab as bn

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
TEXTS = sorted(DOCS.glob("*.md"))


@pytest.fixture(scope="module")
def conf() -> ModuleType:
    """The configuration of Sphinx, which lists the names of the reference."""
    pytest.importorskip("latex2mathml", reason="the extra `docs` brings it")
    spec = importlib.util.spec_from_file_location("conf", DOCS / "conf.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site."""
    if importlib.util.find_spec("sphinx") is None:
        pytest.skip("sphinx is not installed; the extra `docs` brings it")
    built = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "docs", str(built)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[-3000:]
    return built


class _Links:
    """Where a page leads, what can be led to on it, and its pictures without a text."""

    def __init__(self, text: str) -> None:
        self.links: list[str] = []
        self.places: set[str] = {""}
        self.silent: list[str] = []
        for tag in re.findall(r"<[a-z][^>]*>", text):  # sites are as Sphinx and we write them
            found = dict(re.findall(r'\s(id|name|href|src|alt)="([^"]*)"', tag))
            self.places |= {found.get("id", ""), found.get("name", "")}
            self.links += [unescape(found[each]) for each in ("href", "src") if found.get(each)]
            if tag.startswith("<img") and not found.get("alt"):
                self.silent.append(found.get("src", ""))


def test_every_public_name_is_in_the_reference(conf: ModuleType) -> None:
    listed = [name for names in conf.public_names().values() for name in names]
    shown = {id(attrgetter(name.removeprefix("bnlab."))(bn)) for name in listed}
    assert len(listed) == len(shown), "each name once"
    ours = [getattr(bn, name) for name in bn.__all__]
    homes = {thing.__name__.split(".")[1] for thing in ours if isinstance(thing, ModuleType)}
    assert homes <= set(conf.PACKAGES)
    plain = [thing for thing in ours if callable(thing) and hasattr(thing, "__module__")]
    assert {id(thing) for thing in plain} <= shown


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.stem)
def test_names_in_the_texts_exist(text: Path) -> None:
    for name in re.findall(r"(?<![:\w])bn\.(\w+(?:\.\w+)*)", text.read_text(encoding="utf-8")):
        if name != "name":
            assert attrgetter(name)(bn) is not None


def test_every_promise_names_tests_that_exist() -> None:
    promises = re.findall(r"`(tests/\w+\.py)(?:::(\w+))?`", (DOCS / "guarantees.md").read_text())
    assert len(promises) > 20
    for file, test in promises:
        assert f"def {test}" in (ROOT / file).read_text(encoding="utf-8"), (file, test)


def _bibliography(path: Path) -> dict[str, str]:
    """Key -> entry of a BibTeX file."""
    text = path.read_text(encoding="utf-8")
    found = re.findall(r"^(@\w+\{(\w+),\n.*?^\})$", text, re.MULTILINE | re.DOTALL)
    assert len(found) == text.count("\n@"), f"{path}: an entry that cannot be read"
    return {key: entry for entry, key in found}


def test_the_papers_references_are_those_that_it_cites() -> None:
    cited = re.findall(r"@([A-Z]\w+\d{4})", (DOCS / "paper" / "paper.md").read_text("utf-8"))
    entries = _bibliography(DOCS / "paper" / "paper.bib")
    assert set(entries) == set(cited)
    ours = _bibliography(ROOT / "bnlab" / "references.bib")
    assert len(ours.keys() & entries.keys()) > 5
    assert [key for key in ours.keys() & entries.keys() if ours[key] != entries[key]] == []
    dois = re.findall(r"\bdoi *= *\{(.*)\}", "\n".join([*ours.values(), *entries.values()]))
    assert len(dois) > 10
    assert [doi for doi in dois if not re.fullmatch(r"10\.\d{4,9}/[-._;()/:A-Za-z0-9]+", doi)] == []


def test_the_paper_has_the_front_matter_and_sections_of_its_journal() -> None:
    text = (DOCS / "paper" / "paper.md").read_text(encoding="utf-8")
    _, front, body = text.split("---\n", 2)
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    title = re.search(r'^title: "(.*)"$', citation, re.MULTILINE)
    assert title and f"title: '{title[1]}'" in front
    for author in re.findall(r"^  - name: (.*)$", citation, re.MULTILINE):
        assert f"  - name: {author}\n    affiliation: 1\n" in front
    assert "\nbibliography: paper.bib\n" in front
    sections = re.findall(r"^# (.*)$", body, re.MULTILINE)
    assert sections[:2] == ["Summary", "Statement of need"]
    assert {"Experience of use", "Story of the project", "References"} <= set(sections)
    assert len(body.split()) < 1300


@cache
def _file(folder: Path, target: str) -> Path | None:
    """Where a link leads, if it does."""
    there = (folder / target).resolve()
    there = there / "index.html" if there.is_dir() else there
    return there if there.exists() else None


@pytest.mark.slow
def test_links_of_the_site_lead_somewhere(site: Path) -> None:
    found = [path for path in site.rglob("*.html") if "_static" not in path.parts]
    pages = {path: _Links(path.read_text(encoding="utf-8")) for path in found}
    assert len(pages) > 200
    for path, page in pages.items():
        if "course" not in path.relative_to(site).parts:
            assert not page.silent, f"{path}: pictures without a text"
        for link in page.links:
            target, _, place = unquote(link).partition("#")
            if re.match(r"\w+:|//", target):
                continue
            there = _file(path.parent, target.split("?")[0]) if target else path
            assert there is not None, f"{path.name}: {link}"
            if there in pages and not {"_modules"} & {*there.parts, *path.parts}:
                assert place in pages[there].places, f"{path.name}: {link}"


@pytest.mark.slow
@pytest.mark.parametrize("page", ["index", "methods", "guarantees", "api/generated/bnlab.Data"])
def test_pages_of_the_site_are_accessible(site: Path, browser, page: str) -> None:
    assert Path(CHROMIUM).exists()
    opened = browser.new_page()
    opened.goto((site / f"{page}.html").as_uri())
    serious = [one["id"] for one in violations(opened) if one["impact"] in ("serious", "critical")]
    opened.close()
    assert serious == []
