"""What a teacher hands out: copies of the labs, nbgrader's sources, web pages, the syllabus."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from films import FILMS, frame_of
from served import outlined, violations

import bnlab as bn
from bnlab.cli import main
from bnlab.course import (
    Page,
    exercises,
    lab_page,
    make_course,
    solved_copy,
    student_copy,
)
from bnlab.labs.predict import predict

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
LABS = sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))
PAPERS = sorted((NOTEBOOKS / "papers").glob("*.ipynb"))
TEXTS = sorted(NOTEBOOKS.glob("*.md"))
NOTES = sorted((NOTEBOOKS / "lecturers").glob("*.md"))
PICTURE = re.compile(r"\]\(images/([^)]+)\)")
NUMBER = r"[-−]?\d[\d,]*(?:\.\d+)?%?"
MOST_OF_A_PAGE = 1_500_000
WIDTHS = {"lecturers": 1280, "pages": 400}
NBGRADER = "nbgrader==0.9.6"

# What a picture on the page holds: [model, property, column or ""], as in a film.
HOLDS = """wanted => wanted.map(([model, property, column]) => {
    const found = Bokeh.documents.map(each => each.get_model_by_id(model)).find(each => each);
    const value = column ? found.data[column] : found[property];
    return ArrayBuffer.isView(value) ? Array.from(value) : value;
})"""

# When a film has drawn what was asked of it.
DRAWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"

every_lab = pytest.mark.parametrize("path", LABS, ids=lambda path: path.stem)


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def outline(lab):
    """Title, goals, needs and minutes of a lab, of its first cell."""
    top = "".join(lab["cells"][0]["source"])
    needs = re.search(r"^You need: (.+?)\. Time: (\d+) minutes\.", top, re.MULTILINE)
    goals = re.findall(r"^- (.+?)[;.]$", top, re.MULTILINE)
    return top.partition("\n")[0].removeprefix("# "), goals, needs[1], int(needs[2])


def row_of(path):
    """The line of a lab in the table of the syllabus."""
    lab, name = read(path), path.name
    title, goals, needs, minutes = outline(lab)
    told = f"{title} | {'; '.join(goals)} | {needs} | {minutes} | {len(exercises(lab))}"
    return f"| [{name[:2]}]({name}) | {told} |"


def lab_of(*cells):
    """A notebook of cells (source, *tags)."""
    made = [
        {"cell_type": "code", "metadata": {"tags": tags}, "source": source}
        | {"outputs": [], "execution_count": None}
        for source, *tags in cells
    ]
    return {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}


def code_of(lab):
    return ["".join(cell["source"]) for cell in lab["cells"] if cell["cell_type"] == "code"]


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stderr


def grades(lab):
    known = [
        cell["metadata"]["nbgrader"] for cell in lab["cells"] if "nbgrader" in cell["metadata"]
    ]
    return [(cell["grade_id"], cell["grade"], cell["solution"], cell["locked"]) for cell in known]


@every_lab
def test_students_get_the_exercises_without_their_solutions(path):
    lab = read(path)
    copy = student_copy(lab)
    assert lab == read(path)
    assert len(exercises(lab)) >= 3
    solved = [c for c in lab["cells"] if "solution" in c["metadata"].get("tags", [])]
    rest = [s for s in code_of(lab) if s not in code_of({"cells": solved})]
    assert [re.sub(r"reveal\(.*\)", "reveal()", s) for s in code_of(copy)] == [
        re.sub(r"reveal\(.*\)", "reveal()", s) for s in rest
    ]  # outcomes are sealed
    nbformat.validate(nbformat.reads(json.dumps(copy), as_version=4))


@every_lab
def test_answers_are_the_students_and_checks_are_locked(path):
    lab = read(path)
    copy = solved_copy(lab)
    names = [
        name for i in range(1, len(exercises(lab)) + 1) for name in (f"answer-{i}", f"check-{i}")
    ]
    roles = {"answer": (False, True, False), "check": (True, False, True)}
    assert grades(copy) == [(name, *roles[name.split("-")[0]]) for name in names]
    nbformat.validate(nbformat.reads(json.dumps(copy), as_version=4))
    marked = [source for source in code_of(copy) if "### BEGIN SOLUTION" in source]
    assert len(marked) == len(exercises(lab))
    assert all(source.endswith("### END SOLUTION") for source in marked)
    assert not re.search(r"\bsolved_\d", json.dumps(copy))


def test_answer_and_check_may_share_a_cell_or_not():
    solution = (
        "### BEGIN SOLUTION\ny = 4\nassert lab.check_x(y - 1, 2)\n### END SOLUTION",
        "solution",
    )
    together = lab_of(("a, b = 0, 0\n\n\nsolved_1 = lab.check_x(a, b)",), solution)
    apart = lab_of(("a, b = 0, 0",), ("solved_1 = lab.check_x(a, b)",), solution)
    for lab in (together, apart):
        assert code_of(student_copy(lab)) == code_of(lab)[:-1]
        given, check = code_of(solved_copy(lab))
        assert check == "assert lab.check_x(a, b)"
        answer = given.splitlines()
        assert answer[0] == "a, b = 0, 0"
        assert [line for line in answer[1:] if line] == [
            "### BEGIN SOLUTION",
            "y = 4",
            "a = y - 1",
            "b = 2",
            "### END SOLUTION",
        ]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([("x = 1\nsolved_1 = lab.check_x(x)",)], "has no solution after it"),
        ([("solved_1 = lab.check_x(x)",), ("assert lab.check_x(1)", "solution")], "no code before"),
        (
            [("x = 1\nsolved_1 = lab.check_x(x)",), ("assert lab.check_y(1)", "solution")],
            r"the solution does not assert lab.check_x\(...\)",
        ),
    ],
    ids=["no solution", "no answer", "another check"],
)
def test_exercises_that_are_not_whole_are_refused(cells, message):
    with pytest.raises(ValueError, match=message):
        solved_copy(lab_of(*cells))


def test_syllabus_says_what_the_labs_say():
    text = (NOTEBOOKS / "SYLLABUS.md").read_text(encoding="utf-8")
    table = text.split("<!-- labs -->\n")[1].split("<!-- end -->")[0].splitlines()
    assert table[0] == "| Lab | Question | Afterwards you can | You need | Minutes | Exercises |"
    assert table[1:] == ["|---|---|---|---|---:|---:|", *map(row_of, LABS)]
    assert all(outline(read(path))[1] for path in LABS)
    assert [path.name for path in LABS if text.count(f"({path.name})") < 2] == []
    assert [path.name for path in PAPERS if f"(papers/{path.name})" not in text] == []


FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$]*\$", re.DOTALL)  # counts as one word


def minutes_of(lab):
    """(heading, minutes) of each part of a lab by the rule of the syllabus, its opening first."""
    parts = [("# Opening", [], [])]
    for cell in lab["cells"]:
        source = "".join(cell["source"])
        if "solution" in cell["metadata"].get("tags", []):
            continue
        if cell["cell_type"] == "code":
            parts[-1][2].append(source)
            continue
        for text in re.split(r"^(?=##+ )", source, flags=re.MULTILINE):
            if text.startswith("##"):
                parts.append((text.split("\n")[0], [], []))
            parts[-1][1].append(text)
    return [(heading, minutes_for("\n".join(text), code)) for heading, text, code in parts]


def minutes_for(text, code):
    """What the rule gives for a text and the cells in it."""
    lines = sum(bool(line.strip()) for cell in code for line in cell.splitlines())
    asked = sum("lab.predict(" in cell or cell.rstrip().endswith(".widget") for cell in code)
    displayed = len(re.findall(r"\$\$.*?\$\$", text, re.DOTALL))
    return len(FORMULA.sub(" F ", text).split()) / 100 + lines / 4 + displayed + 3 * asked


@every_lab
def test_the_time_stated_follows_the_rule_of_the_syllabus(path):
    """Of all that is not optional; a section's part of it stands in its heading."""
    lab, total, skipped = read(path), 10, False
    section, sections = "# Opening", {"# Opening": 0}
    for heading, minutes in minutes_of(lab):
        if heading.startswith("## "):
            skipped = "(optional" in heading or heading == "## Exercises"
            section = heading
        elif exercise := re.match(r"### (\d)\. ", heading):
            skipped = exercise[1] != "1"
        total += 0 if skipped else minutes
        sections[section] = sections.get(section, 0) + minutes
    assert 45 <= outline(lab)[3] == 5 * round(total / 5) <= 60
    for heading, minutes in sections.items():
        if stated := re.search(r"\((?:optional, )?(\d+) minutes\)$", heading):
            assert abs(minutes - int(stated[1])) <= 1.5, heading
    text = (NOTEBOOKS / "SYLLABUS.md").read_text(encoding="utf-8")
    for said in ("a minute for 100 words", "a quarter of a minute for each line of code"):
        assert said in text
    assert "1 for each displayed formula, 3 for each prediction and each widget, and 10" in text


def text_of(lab):
    return "\n".join("".join(c["source"]) for c in lab["cells"] if c["cell_type"] == "markdown")


def sections_of(lab):
    """(heading, minutes) of the parts of a lab that have minutes."""
    minutes = r"^## (\d+\. .+) \((?:optional, )?(\d+) minutes\)$"
    return re.findall(minutes, text_of(lab), re.MULTILINE)


@every_lab
def test_notes_for_the_lecturer_fit_the_lab(path):
    """Its sections and minutes, predictions, exercises, numbers that it shows; a lecture before."""
    lab, text = read(path), (NOTEBOOKS / "lecturers" / f"{path.stem}.md").read_text("utf-8")
    code = "\n".join(code_of(lab))
    assert f"[Lab {path.stem[:2]}](../{path.name}), {outline(lab)[3]} minutes." in text
    assert re.findall(r"^\| (\d+\. .+?) \| (\d+) \|", text, re.MULTILINE) == sections_of(lab)
    told = dict(re.findall(r"^- `(\w+)`: (.+)$", text, re.MULTILINE))
    assert [*told] == re.findall(r"(\w+) = lab\.predict\(", code)
    for name, outcome in re.findall(r"(\w+)\.reveal\((.*)\)", code):
        said = re.findall(r'"([^"]+)"', outcome)
        assert [each for each in said if each.lower() not in told[name].lower()] == []
    solved = re.findall(r"^(\d)\. \*(.+?)\*: .{30,}$", text, re.MULTILINE)
    assert solved == re.findall(r"^### (\d)\. (.+)$", text_of(lab), re.MULTILINE)
    outputs = [output for cell in lab["cells"] for output in cell.get("outputs", [])]
    printed = "".join("".join(output.get("text", "")) for output in outputs)
    shown = set(re.findall(NUMBER, printed))
    quoted = re.findall(rf"`\+?({NUMBER})`", text)
    assert [number for number in quoted if number not in shown] == []
    parts = re.split(r"^## In the lecture\n|^(?=## Section by)", text, flags=re.MULTILINE)
    assert 450 <= words_of(parts[0] + parts[-1]) <= 600
    lecture = parts[1]
    assert 60 <= words_of(lecture) <= 100
    lines = lecture.split("\n- ")[1:]
    assert 3 <= len(lines) <= 6 and sum(line.startswith("**Board**: ") for line in lines) == 1
    assert lines[-1].startswith("**Keep for the lab**: ")
    assert [n for n in re.findall(NUMBER, lecture) if "." in n] == []  # nothing that a lab prints


def words_of(text):
    words = re.sub(r"!\[[^\]]*\]|\]\([^)]*\)", " ", text).split()
    return sum(bool(re.search(r"\w", word)) for word in words)


def test_plans_state_the_points_that_their_tables_add_up_to():
    plans = (NOTEBOOKS / "lecturers" / "PLANS.md").read_text(encoding="utf-8")
    parts = {part.split("\n")[0]: part for part in re.split(r"^## ", plans, flags=re.MULTILINE)}
    worth, one_open, report = {"1": 1, "2": 1, "3": 3}, 3, 10
    two, six = (
        re.findall(r"^\| \d+ \|.*\|$", parts[name], re.MULTILINE)
        for name in ("Two weeks", "Six weeks")
    )
    of_two = sum("exercise 1" in row.split("|")[-2] for row in two) + one_open + report
    asked = re.findall(r"exercise (\d)", "".join(six))
    of_six = "".join(six).count(".md)") + sum(worth[each] for each in asked) + report
    of_term = len(LABS[:-1]) + one_open + report
    said = f"{of_two} points in two weeks, {of_six} in six, {of_term} in a term"
    assert said in parts["What to assess"]


@pytest.mark.slow
def test_notes_for_the_lecturer_lead_to_each_other_and_reach_nobody_else(course, copied):
    assert {f"{path.stem}.html" for path in NOTES} == {
        page.name for page in (course / "lecturers" / "notes").glob("*.html")
    }
    plans = (NOTEBOOKS / "lecturers" / "PLANS.md").read_text(encoding="utf-8")
    assert [path.name for path in NOTES if f"({path.name})" not in plans] == ["PLANS.md"]
    for path in NOTES:
        text = path.read_text(encoding="utf-8")
        near = [place for place in re.findall(r"\]\(([^)#]+)", text) if "://" not in place]
        assert [place for place in near if not (path.parent / place).exists()] == []
    for name in ("index", *(path.stem for path in NOTES if path.stem != "PLANS")):
        page = (course / "lecturers" / f"{name}.html").read_text(encoding="utf-8")
        assert f'href="notes/{name.replace("index", "PLANS")}.html">Notes for the lecturer' in page
    lines = {line for path in NOTES for line in path.read_text("utf-8").splitlines()}
    answers = {line.strip("- ")[:60] for line in lines if re.match(r"- `|\d\. \*", line)}
    labs = [read(path) for path in LABS]
    asked = sum("\n".join(code_of(lab)).count("lab.predict(") + len(exercises(lab)) for lab in labs)
    assert len(answers) == asked
    for folder in (copied, course / "students", course / "source", course / "pages"):
        files = [path for path in folder.rglob("*") if path.suffix in (".md", ".ipynb", ".html")]
        assert not {"lecturers", "notes"} & {part for path in files for part in path.parts[-3:-1]}
        assert len(files) >= len(LABS)
        for path in files:
            text = path.read_text(encoding="utf-8")
            assert "Notes for the lecturer" not in text
            assert [answer for answer in answers if answer in text] == []


def test_notation_is_linked_and_defines_each_word_once():
    text = (NOTEBOOKS / "NOTATION.md").read_text(encoding="utf-8")
    for path in (NOTEBOOKS / "SYLLABUS.md", LABS[0]):
        assert "(NOTATION.md)" in path.read_text(encoding="utf-8")
    words = re.findall(r"^\*\*([^*]+)\*\*", text, re.MULTILINE)
    assert {"nat", "kernel", "burn-in", "mode", "draw", "run", "step"} <= set(words)
    assert len(words) == len(set(words)) >= 20 and words == sorted(words, key=str.lower)
    symbols = re.findall(r"^\| (.*?) \|.*\| \d\d \|$", text, re.MULTILINE)
    letters = [letter for cell in symbols for letter in re.findall(r"\$[^$]+\$", cell)]
    assert len(letters) == len(set(letters)) > 30


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    """The folder that the command makes, what it says, and the progress that it tells."""
    folder = tmp_path_factory.mktemp("course") / "out"
    with redirect_stdout(StringIO()) as said, redirect_stderr(StringIO()) as told:
        assert main(["course", str(folder)]) == 0
    return folder, said.getvalue(), told.getvalue()


@pytest.fixture(scope="module")
def course(command):
    return command[0]


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """The folder that `bnlab labs` makes."""
    folder = tmp_path_factory.mktemp("labs") / "out"
    with redirect_stdout(StringIO()):
        assert main(["labs", str(folder), "--no-open"]) == 0
    return folder


def solution_lines(lab, shortest=1):
    """The lines that only solutions have."""
    cells = [(c, "".join(c["source"]).splitlines()) for c in lab["cells"]]
    solved = [lines for c, lines in cells if "solution" in c["metadata"].get("tags", [])]
    given = {x.strip() for c, lines in cells if lines not in solved for x in lines}
    lines = {line.strip() for cell in solved for line in cell}
    return {line for line in lines - given if len(line) >= shortest and "SOLUTION" not in line}


def answers_in_pictures(lab):
    """The pictures in text between a prediction and its outcome."""
    found, waiting = [], set()
    for cell in lab["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "code":
            waiting |= set(re.findall(r"(\w+) = lab\.predict\(", text))
            waiting -= set(re.findall(r"(\w+)\.reveal\(", text))
            continue
        if waiting:
            found += PICTURE.findall(text)
    return found


@pytest.mark.slow
def test_no_copy_holds_an_answer(course, copied):
    """Neither learners' copies nor students' nor nbgrader's sources; the first two no solution."""
    for path in (*LABS, *PAPERS):
        lab, name = read(path), path.relative_to(NOTEBOOKS)
        copies = [read(copied / name), read(course / "students" / name)]
        lines = solution_lines(lab)
        assert len(lines) >= 3 or path in PAPERS
        for copy in copies:
            assert not lines & {line.strip() for s in code_of(copy) for line in s.splitlines()}
            assert "SOLUTION" not in json.dumps(copy)
        if path in LABS:
            copies.append(read(course / "source" / path.stem / path.name))
        for copy in copies:
            assert "widgets" not in copy["metadata"]
            for cell in copy["cells"]:
                assert "attachments" not in cell
                assert cell.get("outputs", []) == []
                assert cell.get("execution_count") is None
                assert set(cell["metadata"]) <= {"tags", "nbgrader"}
            assert answers_in_pictures(copy) == []
            assert re.findall(r"\.reveal\((?!sealed=)[\"'\d-].*", "\n".join(code_of(copy))) == []


@pytest.mark.slow
def test_pages_for_students_hold_no_answers_and_those_for_lecturers_all(course):
    for path in (*LABS, *PAPERS):
        lab, name = read(path), path.relative_to(NOTEBOOKS)
        shown = {
            folder: (course / folder / name).with_suffix(".html").read_text(encoding="utf-8")
            for folder in ("pages", "lecturers")
        }
        plain = {
            folder: html.unescape(re.sub(r"<[^>]*>", "", page)) for folder, page in shown.items()
        }
        lines = solution_lines(lab, shortest=9)  # shorter ones stand within others
        assert "output_area" not in shown["pages"].split("</style>")[1]
        assert "Results are left out" in shown["pages"]
        assert [line for line in lines if line in plain["pages"]] == []
        assert shown["lecturers"].split("</style>")[1].count("output_area") >= 10
        assert [line for line in lines if line not in plain["lecturers"]] == []
        assert PICTURE.findall(json.dumps(lab)) == re.findall(
            r'src="images/([^"]+)"', shown["lecturers"]
        )


def test_pictures_of_outcomes_wait_for_all_that_is_asked():
    pictures = [f"Text.\n\n![{name}](images/{name}.png)\n\n*So.*\n\nMore." for name in "abcd"]
    codes = ["x = lab.predict(", "y = lab.predict(1)\nx.reveal(2)", "y.reveal(3)"]
    lab = lab_of(*((code,) for code in codes))
    for place, text in zip((0, 2, 4, 6), pictures, strict=True):
        lab["cells"].insert(place, {"cell_type": "markdown", "metadata": {}, "source": text})
    folded = (
        "<details open><summary>Seen</summary>\n\n![e](images/e.png)\n\n*So.*\n\n</details>\n\n"
    )
    lab["cells"][2]["source"] = folded + pictures[1]
    kept = [cell["source"] for cell in student_copy(lab)["cells"][::2]]
    assert kept == [pictures[0], "Text.\n\nMore.", "Text.\n\nMore.", pictures[3]]


def test_outcomes_in_the_code_are_sealed():
    code = "asked.reveal(-0.4, 'naïve', within=2)\nother.reveal(f(3), 2)\nasked.reveal()"
    (cell,) = student_copy(lab_of((code,)))["cells"]
    first, *rest = cell["source"].splitlines()
    assert rest == code.splitlines()[1:]
    asked = SimpleNamespace(reveal=lambda **given: given)
    given = eval(first, {"asked": asked})
    assert given.pop("within") == 2
    guess = predict("How far, and which?", parts=["how far", "which"])
    guess.reveal(**given)
    assert guess.outcomes == {"how far": -0.4, "which": "naïve"}
    (magic,) = student_copy(lab_of(("%time asked.reveal(3)",)))["cells"]
    assert magic["source"] == "%time asked.reveal(3)"


@pytest.mark.slow
def test_pages_are_whole(course):
    """Each link and picture leads to a file beside it, nothing comes from a network."""
    pages = sorted([*(course / "pages").rglob("*.html"), *(course / "lecturers").rglob("*.html")])
    assert len(pages) == 2 * (len(TEXTS) + len(LABS) + len(PAPERS)) + len(NOTES)
    for page in pages:
        text = page.read_text(encoding="utf-8")
        used = re.findall(r'(?:src|href)="([^"#]+)(?:#[^"]*)?"', text)
        near = [place for place in used if not place.startswith(("http", "data:"))]
        assert [place for place in near if not (page.parent / place).exists()] == []
        assert not re.search(r'(?:src|<link[^>]*href)="(?:https?:)?//', text)
        assert "SOLUTION" not in text or "lecturers" in page.parts
        assert "$$" not in text


@pytest.mark.slow
def test_copies_bring_the_pictures_that_they_show(course):
    for path in [*(course / "students").rglob("*.ipynb"), *(course / "source").rglob("*.ipynb")]:
        shown = set(PICTURE.findall(path.read_text(encoding="utf-8")))
        beside = {file.name for file in (path.parent / "images").glob("*")}
        assert shown <= beside
        assert shown == beside or "source" not in path.parts
    for folder in ("students", "students/papers"):
        copies = [path.read_text(encoding="utf-8") for path in (course / folder).glob("*.ipynb")]
        beside = {file.name for file in (course / folder / "images").glob("*")}
        assert beside == {name for copy in copies for name in PICTURE.findall(copy)}


def test_formulas_widgets_and_names_on_a_page():
    lab = lab_of(("f(x)",))
    widget = {"application/vnd.jupyter.widget-view+json": {}, "text/plain": "VBox()"}
    lab["cells"][0]["outputs"] = [
        {"output_type": "display_data", "metadata": {}, "data": widget},
        {"output_type": "stream", "name": "stdout", "text": "3 < 4\n"},
        {"output_type": "display_data", "metadata": {}, "data": {"image/png": "iVBORw0KGgo="}},
    ]
    text = "# T\n\n$\\frac{1}{2}$ [on](01_x.ipynb#a) [paper](papers/y.ipynb) [up](../SYLLABUS.md)"
    text += " [a](A_B.md)\n\n| a |\n|---|\n| b |"
    lab["cells"].insert(0, {"cell_type": "markdown", "metadata": {}, "source": text})
    page = lab_page(lab, Page("a < b", "../", None, ("next.html", "Q & A")))
    for part in ("<mfrac>", 'href="01_x.html#a"', 'href="papers/y.html"', '<th scope="col">'):
        assert part in page
    for part in ('href="../index.html"', 'href="A_B.html"'):
        assert part in page
    assert '<img alt="A picture without a description" src="data:image/png' in page
    for part in ("a &lt; b</title>", "Q &amp; A", "3 &lt; 4", "controls to move", "../index.html"):
        assert part in page
    assert "VBox" not in page


@pytest.fixture(scope="module")
def looks():
    """How often axe-core has looked at words that look alike, on pages of both folders."""
    return {}


@pytest.mark.slow
@pytest.mark.parametrize("folder", WIDTHS)
def test_pages_are_accessible_and_move_offline(course, browser, folder, looks):
    """axe-core finds nothing of weight, every figure is drawn, no script complains.

    By keyboard alone the pictures move, and what is said of them; nothing goes beyond the window.
    """
    window = {"width": WIDTHS[folder], "height": 900}
    page, complaints = browser.new_context(offline=True, viewport=window).new_page(), []
    page.on("console", lambda m: m.type == "error" and complaints.append(m.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    for path in sorted((course / folder).rglob("*.html")):
        page.goto(path.as_uri())
        figures = path.read_text(encoding="utf-8").count("embed_items_notebook")
        if figures:
            page.wait_for_function(f"Bokeh.documents.length >= {figures}")
        serious = []
        if folder == "lecturers":  # students' pages have no more
            page.set_viewport_size(window | {"width": max(WIDTHS.values())})
            found = violations(page, looks=looks)
            serious = [fault["id"] for fault in found if fault["impact"] != "minor"]
            page.set_viewport_size(window)
        if path.parent == course / folder:  # no paper, no notes
            for number, film in enumerate(FILMS.values()):  # each at one of the two widths
                if film.notebook == path.stem and number % 2 == (folder == "pages"):
                    moves(page, json.loads(film.file.read_text(encoding="utf-8")))
            for box in page.locator("figure.film .scroll").all():
                assert box.evaluate("box => box.scrollWidth <= box.clientWidth + 1")
            assert page.evaluate("document.documentElement.scrollWidth") == window["width"]
            assert path.stat().st_size <= MOST_OF_A_PAGE
        assert (path.name, complaints, serious) == (path.name, [], [])
    page.close()


def moves(page, film):
    """Each control of a film, by keys, brings what the film has for its last stop, or its first."""
    place = page.locator("figure.film", has=page.locator(f"#{film['panels'][0]['root']}"))
    place.locator(".bk-Canvas, canvas").first.wait_for()
    asked = [(track["model"], track["property"], track["column"]) for track in film["tracks"]]
    stops = [control["at"] for control in film["controls"]]
    for i, control in enumerate(film["controls"]):
        last = len(control["stops"]) - 1
        key, stops[i] = ("Home", 0) if stops[i] == last else ("End", last)
        handle = place.locator("input, select").nth(i)
        handle.focus()
        page.keyboard.press(key)
        number = frame_of(film["controls"], stops)
        page.evaluate(DRAWN)
        captions = [panel["captions"][number] for panel in film["panels"]]
        assert place.locator("[role=status]").all_inner_texts() == captions
        if not control["choice"]:
            assert handle.get_attribute("aria-valuetext") == control["stops"][stops[i]]
        wanted = [track["values"][track["frames"][number]] for track in film["tracks"]]
        assert [without_nan(each) for each in page.evaluate(HOLDS, asked)] == wanted
    if any(control["steps"] for control in film["controls"]):
        play, handle = place.locator("button").first, place.locator("input").last
        page.keyboard.press("Home")
        play.press("Enter")
        page.wait_for_function("input => input.value >= 2", arg=handle.element_handle())
        assert play.inner_text() == "Pause"
        play.press("Enter")
        assert play.inner_text() == "Play"


@pytest.mark.slow
def test_what_is_pointed_at_is_outlined_in_the_other_picture(course, browser):
    page = browser.new_page()
    page.goto((course / "lecturers" / "00_start_here.html").as_uri())
    page.locator("figure.film .bk-Canvas").nth(1).wait_for()
    page.locator("figure.film").first.scroll_into_view_if_needed()
    page.wait_for_timeout(500)
    assert outlined(page, ("edges", "links"), "M. Work", "Proteins")
    page.close()


def without_nan(value):
    """A value as a film has it."""
    if isinstance(value, list):
        return [without_nan(each) for each in value]
    return None if value != value else value


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("uv") is None, reason="uv makes nbgrader's environment")
def test_nbgrader_marks_what_comes_back(course, tmp_path):
    """Its release has no solutions; a solved submission gets all points, an unsolved one none."""
    name = LABS[0].stem
    shutil.copytree(course / "source" / name, tmp_path / "source" / name)
    (tmp_path / "nbgrader_config.py").write_text(
        "c = get_config()\nc.CourseDirectory.course_id = 'c'\n"
    )
    environment = tmp_path / "environment"
    lab = ["-e", f"{NOTEBOOKS.parent}[lab]", NBGRADER]
    run("uv", "venv", "--quiet", "--python", sys.executable, environment)
    run("uv", "pip", "install", "--quiet", "--python", environment, *lab)

    tools = environment / ("Scripts" if os.name == "nt" else "bin")
    variables = os.environ | {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}

    def nbgrader(*arguments):
        run(tools / "nbgrader", *arguments, cwd=tmp_path, env=variables)

    nbgrader("generate_assignment", name)
    release = tmp_path / "release" / name / f"{name}.ipynb"
    assert "SOLUTION" not in release.read_text(encoding="utf-8")
    for student, handed_in in (
        ("ann", course / "source" / name / f"{name}.ipynb"),
        ("bob", release),
    ):
        folder = tmp_path / "submitted" / student / name
        folder.mkdir(parents=True)
        shutil.copy(handed_in, folder / f"{name}.ipynb")
    nbgrader("autograde", name)
    nbgrader("export", "--to", "grades.csv")
    header, *rows = (line.split(",") for line in (tmp_path / "grades.csv").read_text().splitlines())
    score = {row[header.index("student_id")]: float(row[header.index("score")]) for row in rows}
    assert score == {"ann": len(exercises(read(LABS[0]))), "bob": 0}


def test_a_course_is_made_whole_or_not_at_all(tmp_path):
    with pytest.raises(ValueError, match="holds no labs"):
        make_course(tmp_path, tmp_path / "out")
    (tmp_path / "file").write_text("kept")
    for place in (tmp_path, tmp_path / "file"):
        with pytest.raises(ValueError, match="name another folder"):
            make_course(NOTEBOOKS, place)
    told = []
    with pytest.raises(bn.Stopped, match="was not finished"):
        make_course(
            NOTEBOOKS, tmp_path / "out", progress=lambda done, *_: told.append(done) or done < 3
        )
    assert told == [1, 2, 3]
    assert not (tmp_path / "out").exists()
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.slow
def test_command_makes_a_course(command, capsys):
    folder, said, told = command
    assert said == f"{folder}: students/, source/, pages/index.html, lecturers/index.html\n"
    done = [tuple(map(int, pair)) for pair in re.findall(r": (\d+) of (\d+)$", told, re.MULTILINE)]
    assert done == sorted(done) and done[-1][0] == done[-1][1] >= 2 * len(LABS)
    assert main(["course", str(folder)]) == 1
    assert "name another folder" in capsys.readouterr().err
