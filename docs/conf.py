"""Sphinx configuration: `uv run --extra docs sphinx-build -W docs docs/_build`.

Before the pages are read, the reference is written from the public names of bnlab, one page for
each package, and the course's web pages are made by `bnlab course`. Sections of the README, of
CONTRIBUTING and of NOTATION are taken from there, so that each text stands in one place.
"""

import gc
import inspect
import re
import shutil
import sys
import types
from pathlib import Path

import bnlab as bn
from bnlab.course import make_course

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))
from benchmark_page import page_of  # noqa: E402

gc.set_threshold(50_000, 50, 50)  # what a site is made of stays until it is written

SOURCE = "https://github.com/bnlab/bnlab/blob/main/"

project = "bnlab"
author = copyright = "The bnlab developers"
version = release = bn.__version__
extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx_design",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "sphinxcontrib.bibtex",
]
bibtex_bibfiles = ["../bnlab/references.bib"]
bibtex_default_style = "plain"
bibtex_reference_style = "author_year"
html_theme = "pydata_sphinx_theme"
html_title = "bnlab"
html_theme_options = {
    "github_url": "https://github.com/bnlab/bnlab",
    "header_links_before_dropdown": 3,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_extra_path = ["_extra"]
html_show_sourcelink = False
# Nothing to lead to beside a text: its sections are on the right.
html_sidebars = {path.stem: [] for path in HERE.glob("*.md")}
exclude_patterns = ["_build", "_extra", "paper"]
templates_path = ["_templates"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
# [text](course:00_start_here) is a page of the course, [text](source:tests/oracles.py) a file.
myst_url_schemes = {
    "http": None,
    "https": None,
    "course": "course/{{path}}.html",
    "source": SOURCE + "{{path}}",
}
autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
numpydoc_show_class_members = False
suppress_warnings = ["myst.header"]  # sections of other files begin at their own level

SPELLED = {"sec.": "section", "eq.": "equation", "fig.": "figure", "ch.": "chapter"}
KEYS = re.findall(r"^@\w+\{(\w+),", (ROOT / "bnlab" / "references.bib").read_text("utf-8"), re.M)
CITED = re.compile(rf"\[({'|'.join(KEYS)})(?:, ([^\]]*))?\](?!\()")

# Where the packages of the public names stand in the reference, in the order of a first analysis.
PACKAGES = {
    "data": "Tables of data",
    "networks": "Networks",
    "scores": "Family scores",
    "priors": "Structure priors",
    "exact": "Exact posteriors",
    "sampling": "Sampling orders and DAGs",
    "linear_extensions": "Linear extensions",
    "annealing": "Annealing, evidence and bounds",
    "weights": "Schedules and weights",
    "features": "Features: edges, paths and your own",
    "predict": "Predictions and effects",
    "search": "Structure search",
    "hidden": "Hidden variables",
    "graphs": "Graphs",
    "diagnostics": "Diagnostics",
    "results": "Results",
    "running": "Long runs",
}


def public_names() -> dict[str, list[str]]:
    """Package -> the dotted names of its public functions and classes, each once."""
    things = {name: getattr(bn, name) for name in bn.__all__}
    direct = [(f"bnlab.{name}", thing) for name, thing in things.items()]
    inner = [
        (f"{thing.__name__}.{name}", getattr(thing, name))
        for thing in things.values()
        if isinstance(thing, types.ModuleType)
        for name in getattr(thing, "__all__", dir(thing))
        if not name.startswith("_")
    ]
    found: dict[str, list[str]] = {package: [] for package in PACKAGES}
    seen: set[int] = set()
    for name, thing in direct + inner:
        home = (getattr(thing, "__module__", None) or "").split(".")
        if callable(thing) and home[0] == "bnlab" and home[1] in found and id(thing) not in seen:
            seen.add(id(thing))
            found[home[1]].append(name)
    return found


def write_reference(folder: Path) -> None:
    """Write one page for each package, and the page that leads to them."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for package, names in public_names().items():
        module = __import__(f"bnlab.{package}", fromlist=[""])
        about = cited(inspect.getdoc(module) or "", ":cite:p:")
        listed = "\n".join(f"   {name}" for name in sorted(names))
        title = PACKAGES[package]
        (folder / f"{package}.rst").write_text(
            f"{title}\n{'=' * len(title)}\n\n{about}\n\n"
            f".. autosummary::\n   :toctree: generated\n   :nosignatures:\n\n{listed}\n",
            encoding="utf-8",
        )
    pages = "\n".join(f"   {package}" for package in PACKAGES)
    (folder / "index.rst").write_text(
        "Reference\n=========\n\nAll public names, by package. Everything that is listed here is "
        "``bn.name`` after ``import bnlab as bn``, or ``bn.package.name``.\n\n"
        f".. toctree::\n   :maxdepth: 1\n\n{pages}\n",
        encoding="utf-8",
    )


def section(file: str, heading: str, start_at: str = "") -> str:
    """Return what stands under a heading of a file, or from a line on, its links led right.

    Of a stored run of benchmarks, its tables.
    """
    if file.endswith(".json"):
        return page_of(ROOT / file)
    text = (ROOT / file).read_text(encoding="utf-8")
    if heading:
        start = f"\n{text}".index(f"\n{heading}\n") + len(heading) + 1
        following = re.compile(r"^#{1,2} ", re.MULTILINE).search(text, start)
        text = text[start : following.start() if following else None]
    text = text[text.index(start_at) :]
    folder = Path(file).parent

    def lead(match: re.Match[str]) -> str:
        target, _, anchor = match[1].partition("#")
        if re.match(r"\w+:", match[1]) or not target:
            return match[0]
        path = (folder / target).as_posix()
        if path.endswith(".png"):
            return f"](../{path})"
        lab = re.fullmatch(r"notebooks/((?:papers/)?\w+)\.ipynb", path)
        if lab:
            return f"](course:{lab[1]})"
        return f"](source:{path}{'#' * bool(anchor)}{anchor})"

    return re.sub(r"\]\(([^)\s]+)\)", lead, text)


def take_sections(app: object, page: str, content: list[str]) -> None:
    """Replace lines such as `{{README.md ## Limits}}` by that section."""
    pattern = re.compile(r"^\{\{(\S+?)(?: (#.*?))?(?: (\|.*))?\}\}$", re.MULTILINE)
    content[0] = pattern.sub(lambda match: section(*match.groups("")), content[0])
    if Path(str(app.env.doc2path(page))).suffix == ".md":  # type: ignore[attr-defined]
        content[0] = cited(content[0], "{cite:p}")


def cited(text: str, role: str) -> str:
    """Let [Key] and [Key, sec. 2] lead to the references."""

    def led(match: re.Match[str]) -> str:
        where = match[2] or ""  # a full stop would end the summary of a name
        for short, long in SPELLED.items():
            where = where.replace(short, long)
        return f"{role}`{match[1]}{{{where}}}`" if where else f"{role}`{match[1]}`"

    return CITED.sub(led, text)


def cite(*args: object) -> None:
    """Let docstrings lead to the references."""
    lines = args[-1]
    assert isinstance(lines, list)
    lines[:] = cited("\n".join(lines), ":cite:p:").split("\n")


def describe(*args: object) -> None:
    """Let what follows "name : " be the description of a parameter, and not its type."""
    lines = args[-1]
    assert isinstance(lines, list)
    under = ""
    for i in range(len(lines) - 1, -1, -1):  # from the end: lines are put in
        sections = [j for j in range(i) if lines[j + 1].startswith("---")]
        under = lines[sections[-1]] if sections else ""
        entry = re.match(r"(\*{0,2}\w[\w, *]*) : (.*)", lines[i])
        if entry and under in ("Parameters", "Attributes"):
            lines[i : i + 1] = [entry[1], f"    {entry[2]}"]


def escape_bars(*args: object) -> None:
    """Let |G| be text in docstrings, not a substitution; examples stay as they are."""
    lines = args[-1]
    assert isinstance(lines, list)
    example = False
    for i, line in enumerate(lines):
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        if not example:
            lines[i] = line.replace("|", r"\|")


def spell_arrays(
    app: object, what: str, name: str, thing: object, options: object, signature: str, returns: str
) -> tuple[str, str] | None:
    """Spell the types of arrays in signatures of classes as they were written."""
    signature = re.sub(r"Annotated\[(\w+)[^\]]*\]", r"\1", signature or "")
    pattern = r"ndarray\[tuple\[Any, \.\.\.\], dtype\[(\w+)\]\]"
    return (re.sub(pattern, r"NDArray[\1]", signature), returns) if signature else None


def prepare(app: object, config: object) -> None:
    """Write the reference and the course's pages, and copy the pictures that pages show."""
    write_reference(HERE / "api")
    extra, notebooks = HERE / "_extra", ROOT / "notebooks"
    latest = max(path.stat().st_mtime for path in notebooks.rglob("*"))
    if extra.exists() and extra.stat().st_mtime > latest:
        return
    shutil.rmtree(extra, ignore_errors=True)
    make_course(notebooks, extra / "made")
    shutil.move(extra / "made" / "pages", extra / "course")
    shutil.rmtree(extra / "made")


def setup(app: object) -> None:
    """Join Sphinx's events."""
    app.connect("config-inited", prepare, priority=100)  # type: ignore[attr-defined]
    app.connect("autodoc-process-docstring", describe, priority=100)  # type: ignore[attr-defined]
    app.connect("autodoc-process-docstring", cite)  # type: ignore[attr-defined]
    app.connect("autodoc-process-docstring", escape_bars)  # type: ignore[attr-defined]
    app.connect("autodoc-process-signature", spell_arrays)  # type: ignore[attr-defined]
    app.connect("source-read", take_sections)  # type: ignore[attr-defined]
