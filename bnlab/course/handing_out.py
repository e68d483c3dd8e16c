"""A folder for a class, from the folder of labs: copies, and labs as web pages that open offline.

Formulas become MathML, which browsers draw and screen readers read without a script. Figures of
Bokeh stay alive (hover, zoom) by the one script that is written beside the pages. Widgets need a
kernel: in their place stands a film, which shows by a slider what was computed beforehand, or else
a sentence, and the picture that every lab has below them.
"""

import copy
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import nbformat
from bokeh.util.paths import bokehjs_path
from latex2mathml.converter import convert
from markupsafe import Markup
from nbconvert import HTMLExporter, TemplateExporter
from nbconvert.filters import Highlight2HTML, clean_html
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments.formatters import HtmlFormatter

from bnlab.checks import checked, frozen
from bnlab.course.copies import (
    Cell,
    Notebook,
    cells_of,
    pictures_in,
    solved_copy,
    student_copy,
    written,
)
from bnlab.files import write_whole
from bnlab.pages import render
from bnlab.running import Progress, Steps

WIDGET = "application/vnd.jupyter.widget-view+json"
DRAWS_BOKEH = "application/vnd.bokehjs_exec.v0+json"
LOADS_BOKEH = "application/vnd.bokehjs_load.v0+json"
UNRUN = "<p class='widget'>Results are left out here: predict them, then run the lab.</p>"
INSTEAD = "<p class='widget'>Here the running lab has controls to move; a picture follows.</p>"
COLOURS = "xcode"  # of code: every colour contrasts with our background by 4.5 or more
BOKEH = "bokeh.min.js"
_WIDGET = re.compile(r"^(\w+)\.widget\s*\Z", re.MULTILINE)
_FILM = re.compile(r"<!--film (\w+)-->")
_BRACE = re.compile(r">\\([{}])<")
_HEADER = re.compile(r"<th(?=[ >])")
_SILENT = re.compile(r"<img(?![^>]*\salt=)")
_EMPTY_HEADER = re.compile(r"<th[^>]*></th>")
_LINK = re.compile(r'href="((?:\.\./)?[\w/]+)\.(?:ipynb|md)(#[^"]*)?"')
SYLLABUS, PLANS = "SYLLABUS", "PLANS"
NOTES = "lecturers"  # the folder of notes with answers, beside the labs

Make = Callable[[Notebook], Notebook]
Film = Mapping[str, Any]
"""What a widget shows at the stops of its controls, from `notebooks/images/LAB.WIDGET.json`."""


@frozen(eq=True)
class Page:
    """Where a page stands among the others.

    title : for the browser's tab
    root : relative way to the folder with the index and the script of Bokeh, "" or "../"
    before, after : (file, title) of its neighbours, if any
    notes : the page of notes for the lecturer, if any
    """

    title: str
    root: str = ""
    before: tuple[str, str] | None = None
    after: tuple[str, str] | None = None
    notes: str = ""


@checked
def make_course(
    labs: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    /,
    *,
    progress: Progress | None = None,
) -> None:
    """Write copies for students, sources for nbgrader, and web pages.

    - `students/`: labs and papers' pages by `student_copy`: no solutions, no results; the texts
      beside them
    - `source/`: one assignment a lab, solved, as `nbgrader generate_assignment` expects it
    - `pages/`: what students get, for a browser, from `index.html`, the syllabus
    - `lecturers/`: labs and papers for a browser, with solutions and results, and `notes/`: what
      `labs` has in its folder "lecturers"

    Parameters
    ----------
    labs : the folder of notebooks
    folder : where to write; it must not exist yet, or be empty

    Raises
    ------
    ValueError
        If `labs` holds none, or `folder` holds anything.
    bnlab.Stopped
        If `progress` returned False; `folder` is then removed again.
    """
    here, there = Path(labs), Path(os.path.realpath(folder))
    numbered = sorted(here.glob("[0-9][0-9]_*.ipynb"))
    if not numbered or not (here / f"{SYLLABUS}.md").is_file():
        raise ValueError(
            f"{here} holds no labs: name the folder of notebooks 00_..., 01_... and {SYLLABUS}.md"
        )
    if there.exists() and (not there.is_dir() or any(there.iterdir())):
        raise ValueError(f"{folder} is there already, and not empty: name another folder")
    papers = sorted((here / "papers").glob("*.ipynb"))
    works = list(_works(here, there, numbered, papers))
    was_there = there.exists()
    try:
        steps = Steps(progress, len(works), f"{folder} was not finished, and is removed")
        for work in works:
            work()
            steps.tick()
    except BaseException:
        shutil.rmtree(there, ignore_errors=True)
        if was_there:
            there.mkdir()
        raise


def _works(
    here: Path, there: Path, labs: list[Path], papers: list[Path]
) -> Iterator[Callable[[], None]]:
    """What writes each file, with the pictures that it shows."""
    for path in (*labs, *papers):
        yield partial(_hand_out, student_copy, path, there / "students" / path.relative_to(here))
    for lab in labs:
        yield partial(_hand_out, solved_copy, lab, there / "source" / lab.stem / lab.name)
    texts, noted = sorted(here.glob("*.md")), sorted((here / NOTES).glob("*.md"))
    for text in texts:
        yield partial(_write, there / "students" / text.name, text.read_bytes())
    for text in noted:
        page = there / "lecturers" / "notes" / f"{text.stem}.html"
        yield partial(_hand_out_text, text, page, "../")
    script = (bokehjs_path() / "js" / BOKEH).read_bytes()
    makers: dict[str, Make] = {"pages": student_copy, "lecturers": lambda lab: lab}
    for folder, make in makers.items():
        pages = there / folder
        noting = noted if folder == "lecturers" else []
        notes = {text.stem: f"notes/{text.stem}.html" for text in noting}
        yield partial(_write, pages / BOKEH, script)
        for text in texts:
            beside = notes.get(PLANS, "") if text.stem == SYLLABUS else ""
            yield partial(_hand_out_text, text, pages / f"{_page_of(text.stem)}.html", "", beside)
        for root, group in (("", labs), ("../", papers)):
            names = [(path.with_suffix(".html").name, _title(path)) for path in group]
            places = [None, *names, None]
            for i, path in enumerate(group):
                beside = notes.get(path.stem, "")
                place = Page(names[i][1], root, places[i], places[i + 2], beside)
                yield partial(_hand_out, make, path, pages / path.relative_to(here), place)


def _hand_out(make: Make, lab: Path, path: Path, place: Page | None = None) -> None:
    """Write a copy of a lab, as a notebook or as a page at its place."""
    made = make(_read(lab))
    if place is None:
        _write(path, written(made))
    else:
        films = [_read(file) for file in sorted(lab.parent.glob(f"images/{lab.stem}.*.json"))]
        text = lab_page(made, place, films={film["widget"]: film for film in films})
        _write(path.with_suffix(".html"), text.encode())
    for cell in made["cells"]:
        for picture in pictures_in("".join(cell["source"])):
            _write(path.parent / picture, (lab.parent / picture).read_bytes())


def _hand_out_text(text: Path, path: Path, root: str, notes: str = "") -> None:
    """Write a text as a page, with the pictures that it shows."""
    markdown = text.read_text(encoding="utf-8")
    title = markdown.partition("\n")[0].removeprefix("# ")
    _write(path, text_page(markdown, Page(title, root, notes=notes)).encode())
    for picture in pictures_in(markdown):
        _write(path.parent / picture, (text.parent / picture).read_bytes())


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, content)


def _read(path: Path) -> Notebook:
    lab: Notebook = json.loads(path.read_text(encoding="utf-8"))
    return lab


def _title(path: Path) -> str:
    return "".join(_read(path)["cells"][0]["source"]).splitlines()[0].removeprefix("# ")


@checked
def lab_page(lab: Notebook, page: Page, /, *, films: Mapping[str, Film] | None = None) -> str:
    """Return a notebook as the text of a web page; links to notebooks become links to their pages.

    Parameters
    ----------
    lab : notebook in nbformat 4 with its stored results, as `json.load` reads it
    page : where it stands
    films : of widgets, by name; each stands where the widget is shown
    """
    films = films or {}
    cells_of(lab)
    try:
        nbformat.validate(lab, version=4)
        text = json.dumps(_without_widgets(lab, films))
        shown = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
    except (nbformat.ValidationError, AssertionError, ImportError):
        raise ValueError(
            "lab is no valid notebook in nbformat 4: open it in JupyterLab and save it"
        ) from None
    # Not HTMLExporter's own, which parses the page again; what it mends there, `_mended` does.
    body, _ = TemplateExporter.from_notebook_node(_exporter(), shown)
    unrun = not any(cell.get("outputs") for cell in lab["cells"])
    return _document(page, _with_films(_mended(UNRUN + body if unrun else body), films))


@checked
def text_page(markdown: str, page: Page, /) -> str:
    """Return a text in Markdown as the text of a web page."""
    return _document(page, _mended(_html(markdown)))


class _Renderer(IPythonRenderer):
    """Markdown to HTML, formulas to MathML."""

    def inline_math(self, body: str) -> str:
        return _formula(body, "inline")

    def block_math(self, body: str) -> str:
        return f'<div class="scroll" tabindex="0">{_formula(body, "block")}</div>'


def _formula(tex: str, display: str) -> str:
    """A formula as MathML; "aligned" and large braces are unknown to the converter."""
    found = str(convert(tex.replace("{aligned}", "{split}"), display=display))
    return _BRACE.sub(r">\1<", found)


@cache
def _exporter() -> HTMLExporter:
    """One for all pages, which compiles its templates once, and writes once what two pages show."""
    highlight: Any = Highlight2HTML(pygments_lexer="python")  # type: ignore[no-untyped-call]
    coloured, clean = cache(lambda code: Markup(highlight(code))), cache(clean_html)
    filters: dict[str, Any] = {"highlight_code": lambda code, **_: coloured(code)}  # and escaped
    filters["clean_html"] = lambda text: text if isinstance(text, Markup) else clean(text)
    filters["markdown2html"] = _html  # with our formulas
    options = {"exclude_input_prompt": True, "exclude_output_prompt": True}
    return HTMLExporter(template_name="basic", filters=filters, **options)  # type: ignore[no-untyped-call]


@cache
def _html(markdown: str) -> str:
    renderer = _Renderer(escape=False, exclude_anchor_links=True)
    return str(MarkdownWithMath(renderer=renderer).render(markdown))


def _without_widgets(lab: Notebook, films: Mapping[str, Film]) -> Notebook:
    """The notebook with a film or a sentence for each widget; nothing loads Bokeh from afar."""
    shown, cells = copy.deepcopy(lab), list[Cell]()
    for cell in shown["cells"]:
        cells.append(cell)
        if "outputs" not in cell:
            continue
        outputs = [output for output in cell["outputs"] if not _loads_bokeh(output)]
        found = _WIDGET.search("".join(cell["source"]))
        if found is not None and found[1] in films:
            outputs = [output for output in outputs if WIDGET not in output.get("data", {})]
            place = f"<!--film {found[1]}-->"
            cells.append(
                {"cell_type": "markdown", "id": f"film-{found[1]}", "metadata": {}, "source": place}
            )
        cell["outputs"] = [_still(output) for output in outputs]
    return shown | {"cells": cells}


def _with_films(body: str, films: Mapping[str, Film]) -> str:
    """The text of a page with films in their places; no still stands beside its film."""
    for film in films.values():
        picture = f'src="images/{film["still"]}.png"'
        body = body.replace(picture, f'class="still" {picture}')
    return _FILM.sub(lambda found: _film(films[found[1]]), body)


def _film(film: Film) -> str:
    text = json.dumps(film, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return render("film.html", film=film, text=Markup(text), instead=Markup(INSTEAD))


def _loads_bokeh(output: Cell) -> bool:
    data = output.get("data", {})
    return LOADS_BOKEH in data or "bk-notebook-logo" in "".join(data.get("text/html", ""))


def _still(output: Cell) -> Cell:
    """What shows as well without a kernel: a sentence for a widget, a script for a figure."""
    data = output.get("data", {})
    if WIDGET in data:
        shown = INSTEAD
    elif DRAWS_BOKEH in data:
        shown = f"<script>{''.join(data['application/javascript'])}</script>"
    else:
        return output
    return {"output_type": "display_data", "metadata": {}, "data": {"text/html": shown}}


def _mended(body: str) -> str:
    """Links to pages, columns with headers, words for pictures, and code that keys can scroll."""
    body = _SILENT.sub('<img alt="A picture without a description"', body)
    body = _LINK.sub(lambda found: f'href="{_page_of(found[1])}.html{found[2] or ""}"', body)
    body = _EMPTY_HEADER.sub("<td></td>", body)
    body = _HEADER.sub('<th scope="col"', body)
    return re.sub("<(pre|table)>", r'<\1 tabindex="0">', body)


def _page_of(name: str) -> str:
    """The page of a notebook or text: pages begin with the syllabus."""
    return re.sub(rf"\b{SYLLABUS}$", "index", name)


def _document(page: Page, body: str) -> str:
    colours = Markup(HtmlFormatter(style=COLOURS).get_style_defs(".highlight"))
    return render(
        "lab.html", title=page.title, page=page, body=Markup(body), colours=colours, bokeh=BOKEH
    )
