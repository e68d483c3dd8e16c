"""Labs as web pages, for people without a kernel: text, code, pictures, results if any, offline.

Formulas become MathML, which browsers draw and screen readers read without a script. Figures of
Bokeh stay alive (hover, zoom) by the one script that is written beside the pages. Widgets need a
kernel: in their place stands a sentence, and the picture that every lab has below them.
"""

import copy
import json
import re
from dataclasses import dataclass
from typing import Any

import nbformat
from jinja2 import pass_context
from latex2mathml.converter import convert
from markupsafe import Markup
from nbconvert import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments.formatters import HtmlFormatter

from bnlab.checks import checked
from bnlab.course.copies import Cell, Notebook, cells_of
from bnlab.pages import render

WIDGET = "application/vnd.jupyter.widget-view+json"
DRAWS_BOKEH = "application/vnd.bokehjs_exec.v0+json"
LOADS_BOKEH = "application/vnd.bokehjs_load.v0+json"
UNRUN = "<p class='widget'>Results are left out here: predict them, then run the lab.</p>"
INSTEAD = "<p class='widget'>Here the running lab has controls to move; a picture follows.</p>"
COLOURS = "xcode"  # of code: every colour contrasts with our background by 4.5 or more
BOKEH = "bokeh.min.js"
_HEADER = re.compile(r"<th(?=[ >])")
_EMPTY_HEADER = re.compile(r"<th[^>]*></th>")
_LINK = re.compile(r'href="((?:\.\./)?[\w/]+)\.ipynb(#[^"]*)?"')


@checked
@dataclass(frozen=True, slots=True)
class Page:
    """Where a page stands among the others.

    title : for the browser's tab
    root : relative way to the folder with the index and the script of Bokeh, "" or "../"
    before, after : (file, title) of its neighbours, if any
    """

    title: str
    root: str = ""
    before: tuple[str, str] | None = None
    after: tuple[str, str] | None = None


@checked
def lab_page(lab: Notebook, page: Page, /) -> str:
    """Return a notebook as the text of a web page; links to notebooks become links to their pages.

    Parameters
    ----------
    lab : notebook in nbformat 4 with its stored results, as `json.load` reads it
    page : where it stands
    """
    cells_of(lab)
    try:
        nbformat.validate(lab, version=4)
        text = json.dumps(_without_widgets(lab))
        shown = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
    except (nbformat.ValidationError, AssertionError, ImportError):
        raise ValueError(
            "lab is no valid notebook in nbformat 4: open it in JupyterLab and save it"
        ) from None
    body, _ = _Exporter(
        template_name="basic", exclude_input_prompt=True, exclude_output_prompt=True
    ).from_notebook_node(shown)  # type: ignore[no-untyped-call]
    unrun = not any(cell.get("outputs") for cell in lab["cells"])
    return _document(page, _mended(UNRUN + body if unrun else body))


@checked
def text_page(markdown: str, page: Page, /) -> str:
    """Return a text in Markdown as the text of a web page."""
    return _document(page, _mended(_html(markdown)))


class _Renderer(IPythonRenderer):
    """Markdown to HTML, formulas to MathML."""

    def inline_math(self, body: str) -> str:
        return str(convert(body, display="inline"))

    def block_math(self, body: str) -> str:
        return str(convert(body, display="block"))


class _Exporter(HTMLExporter):
    """nbconvert's exporter with our formulas."""

    @pass_context
    def markdown2html(self, context: Any, source: str) -> str:
        return _html(source)


def _html(markdown: str) -> str:
    renderer = _Renderer(escape=False, exclude_anchor_links=True)
    return str(MarkdownWithMath(renderer=renderer).render(markdown))


def _without_widgets(lab: Notebook) -> Notebook:
    """The notebook with a sentence for each widget, and without what loads Bokeh from afar."""
    shown = copy.deepcopy(lab)
    for cell in shown["cells"]:
        if "outputs" in cell:
            outputs = [_still(output) for output in cell["outputs"] if not _loads_bokeh(output)]
            cell["outputs"] = outputs
    return shown


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
    """Links to pages, columns with headers, and code that a keyboard can scroll."""
    body = _LINK.sub(lambda found: f'href="{found[1]}.html{found[2] or ""}"', body)
    body = _EMPTY_HEADER.sub("<td></td>", body)
    body = _HEADER.sub('<th scope="col"', body)
    return body.replace("<pre>", '<pre tabindex="0">')


def _document(page: Page, body: str) -> str:
    colours = Markup(HtmlFormatter(style=COLOURS).get_style_defs(".highlight"))
    return render(
        "lab.html", title=page.title, page=page, body=Markup(body), colours=colours, bokeh=BOKEH
    )
