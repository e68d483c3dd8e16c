"""Web pages from the templates in `bnlab/templates`; every text that goes in is escaped."""

import re
import shlex
from collections.abc import Mapping
from typing import Any

from bokeh.embed import components
from bokeh.resources import Resources
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

Cell = str | int | float

_PLACE = re.compile(r'id="([0-9a-f-]{36})"')
_DOCUMENT = re.compile(r'"docid":"([0-9a-f-]{36})"')


def html(value: Cell, /) -> Markup:
    """Return a value as HTML: numbers to three decimals, text escaped, `Markup` as it is.

    Only what is 1 up to rounding errors reads 1.000.
    """
    if isinstance(value, float) and 0.9995 <= value < 1 - 1e-9:
        return escape("> 0.999")
    if isinstance(value, float):
        return Markup(f"{value:.3f}")
    return escape(f"{value:,}" if isinstance(value, int) else value)


def render(template: str, /, block: str = "", **values: Any) -> Markup:
    """Return a template, or a block of it alone, filled in."""
    found = _TEMPLATES.get_template(template)
    if not block:
        return Markup(found.render(values))
    return Markup("".join(found.blocks[block](found.new_context(values))))


def embedded(figures: Mapping[str, Any], /) -> tuple[Markup, dict[str, Markup]]:
    """Return the script that draws Bokeh's figures, and the HTML of each: always the same bytes."""
    if not figures:
        return Markup(""), {}
    script, drawn = components(dict(figures))
    names = [*_DOCUMENT.findall(script), *_PLACE.findall("".join(drawn.values()))]
    for number, name in enumerate(dict.fromkeys(names)):
        script = script.replace(name, f"bokeh-{number}")
        drawn = {key: part.replace(name, f"bokeh-{number}") for key, part in drawn.items()}
    return Markup(script), {key: Markup(part) for key, part in drawn.items()}


_TEMPLATES = Environment(
    loader=PackageLoader("bnlab"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=StrictUndefined,
)
# A key is a number as the script that sorts tables reads it.
_TEMPLATES.filters |= {
    "html": html,
    "key": lambda number: repr(number).replace("inf", "Infinity"),
    "quote": shlex.quote,
}
PARTS: Any = _TEMPLATES.get_template("parts.html").module
_TEMPLATES.globals |= {
    "bokeh": lambda: Markup(Resources(mode="inline", components=["bokeh"]).render_js()),
    "parts": PARTS,
}
