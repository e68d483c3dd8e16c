"""How a lab looks on the page: stored results, short cells, a place in the README.

That the labs run, and give the results that they store, is checked by running them (`--nbval`).
"""

import itertools
import json
import re
import statistics
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = [
    *sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")),
    *sorted((ROOT / "notebooks" / "papers").glob("*.ipynb")),
]
README = (ROOT / "README.md").read_text(encoding="utf-8")

LONGEST_OUTPUT = 50_000  # bytes: a static figure fits, a copy of BokehJS does not
LONGEST_CELL = 25  # lines: an algorithm, whole
MOST_CELLS = 40
MOST_WORDS, MOST_OF_EACH, FIRST_DECISION = 2000, 3, 5  # of a lab
FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$]*\$", re.DOTALL)
NUMBER = re.compile(r"[-−]?\d[\d,]*(?:\.\d+)?%?")
SILENCERS = ("filterwarnings", "simplefilter", "catch_warnings", "%%capture")

every_lab = pytest.mark.parametrize("path", NOTEBOOKS[:-5], ids=lambda path: path.stem)
every_notebook = pytest.mark.parametrize(
    "path", NOTEBOOKS, ids=lambda path: path.relative_to(ROOT).as_posix()
)


def _cells(path: Path, kind: str) -> list[dict[str, Any]]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == kind and "".join(cell["source"]).strip()]


def test_every_notebook_is_among_them() -> None:
    assert [path.name[:2] for path in NOTEBOOKS[:-5]] == [f"{k:02d}" for k in range(16)]
    assert {path.parent.name for path in NOTEBOOKS[-5:]} == {"papers"}


@every_notebook
def test_stored_results_are_there_to_compare_with(path: Path) -> None:
    """A cell without a count is not compared by nbval: stripped notebooks would pass vacuously."""
    counts = [cell["execution_count"] for cell in _cells(path, "code")]
    assert counts == list(range(1, len(counts) + 1))


@every_notebook
def test_two_thirds_of_the_cells_are_compared(path: Path) -> None:
    tags = [cell["metadata"].get("tags", []) for cell in _cells(path, "code")]
    assert 3 * sum("nbval-ignore-output" not in each for each in tags) >= 2 * len(tags)


@every_notebook
def test_no_stored_errors(path: Path) -> None:
    outputs = [output for cell in _cells(path, "code") for output in cell["outputs"]]
    assert [output["ename"] for output in outputs if output["output_type"] == "error"] == []
    assert [output["text"] for output in outputs if output.get("name") == "stderr"] == []


@every_notebook
def test_outputs_are_small(path: Path) -> None:
    sizes = {
        cell["execution_count"]: len(json.dumps(output).encode())
        for cell in _cells(path, "code")
        for output in cell["outputs"]
    }
    assert {count: size for count, size in sizes.items() if size > LONGEST_OUTPUT} == {}


@every_notebook
def test_code_cells_are_short(path: Path) -> None:
    lengths = [len("".join(cell["source"]).splitlines()) for cell in _cells(path, "code")]
    assert len(lengths) <= MOST_CELLS
    assert max(lengths) <= LONGEST_CELL
    assert statistics.median(lengths) <= 5


@every_lab
def test_a_lab_is_one_hour_and_begins_with_a_decision(path: Path) -> None:
    """Words of the text (a formula is one), questions, widgets, the cell of the first question."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells]
    text = " ".join("".join(cell["source"]) for cell in _cells(path, "markdown"))
    code = ["".join(cell["source"]) for cell in _cells(path, "code")]
    assert len(FORMULA.sub(" F ", text).split()) <= MOST_WORDS
    assert 1 <= sum("lab.predict(" in source for source in code) <= MOST_OF_EACH
    assert sum(source.endswith(".widget") for source in code) <= MOST_OF_EACH
    assert next(i for i, source in enumerate(sources) if "lab.predict(" in source) <= FIRST_DECISION
    asked = sum(source.count("lab.predict(") for source in code)
    assert sum(source.count(".reveal(") for source in code) == asked
    assert "lab.review(" in " ".join(code)


@pytest.mark.parametrize("path", NOTEBOOKS[-5:], ids=lambda path: path.stem)
def test_every_part_of_a_paper_is_shown(path: Path) -> None:
    """So each comes out whenever the notebook runs."""
    code = "\n".join("".join(cell["source"]) for cell in _cells(path, "code"))
    page = import_module(f"bnlab.papers.{path.stem}.page").page
    assert set(page.parts) <= set(re.findall(r'page\.show\("(\w+)"', code))


@every_notebook
def test_no_warning_is_silenced(path: Path) -> None:
    code = "\n".join("".join(cell["source"]) for cell in _cells(path, "code"))
    assert [word for word in SILENCERS if word in code] == []


@every_notebook
def test_title_is_a_question(path: Path) -> None:
    title = "".join(_cells(path, "markdown")[0]["source"]).splitlines()[0]
    assert title.startswith("# ")
    assert title.rstrip().endswith("?")


@every_notebook
def test_readme_lists_the_notebook(path: Path) -> None:
    assert f"({path.relative_to(ROOT).as_posix()})" in README


@every_notebook
def test_pictures_are_there_and_described(path: Path) -> None:
    """A picture that is missing leaves its text alone; one without text leaves out some readers."""
    text = "\n".join("".join(cell["source"]) for cell in _cells(path, "markdown"))
    pictures = re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", text)
    assert [name for _, name in pictures if not (path.parent / name).is_file()] == []
    assert [name for said, name in pictures if len(said) < 40] == []


@every_notebook
def test_headings_go_down_one_step_at_a_time(path: Path) -> None:
    """Readers who hear a page find their way by its headings."""
    text = "\n".join("".join(cell["source"]) for cell in _cells(path, "markdown"))
    levels = [len(marks) for marks in re.findall(r"^(#{1,6}) ", text, re.MULTILINE)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


@every_notebook
def test_links_lead_somewhere(path: Path) -> None:
    text = "\n".join("".join(cell["source"]) for cell in _cells(path, "markdown"))
    targets = re.findall(r"(?<!!)\[[^\]]*\]\(([^)#\s]+)", text)
    near = [target for target in targets if "://" not in target]
    assert [target for target in near if not (path.parent / target).exists()] == []


@every_lab
def test_numbers_quoted_in_the_text_are_those_of_the_outputs(path: Path) -> None:
    """A number that quotes an output stands in backticks; so do all with three decimals."""
    text = "\n".join("".join(cell["source"]) for cell in _cells(path, "markdown"))
    printed = " ".join(_printed(cell) for cell in _cells(path, "code"))
    outputs = set(NUMBER.findall(printed))
    quoted = [
        n for code in re.findall(r"`([^`]+)`", text) for n in NUMBER.findall(code) if n == code
    ]
    assert quoted
    assert [number for number in quoted if number not in outputs] == []
    prose = re.sub(
        r"\$\$.*?\$\$|\$[^$]*\$|`[^`]*`|\]\([^)]*\)|!\[[^\]]*\]", " ", text, flags=re.DOTALL
    )
    assert re.findall(r"\d+\.\d{3,}", prose) == []


def _printed(cell: dict[str, Any]) -> str:
    texts = [
        output.get("text") or output.get("data", {}).get("text/plain", "")
        for output in cell["outputs"]
    ]
    return " ".join("".join(text) for text in texts)
