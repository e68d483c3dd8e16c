"""Pictures as files: drawn by a browser, with what they show written into them.

What a picture shows is a list of facts, as `"Line line_color=#0072b2 x[7] y[7]"` with numbers that
sum up its columns. They say what has changed, and hold on other processors: numbers need to agree
to a few thousandths of their range only, or to one in the last place of a text.
"""

import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import ipywidgets
import numpy as np
from bokeh.core.property.vectorization import Field, Value
from bokeh.models import (
    Annotation,
    Axis,
    ColorBar,
    ColumnDataSource,
    FactorRange,
    FixedTicker,
    GlyphRenderer,
    LayoutDOM,
    Legend,
    LegendItem,
    Plot,
    Range1d,
    Title,
)
from bokeh.resources import Resources
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from bnlab.labs.board import Figure
from bnlab.pages import embedded

SHOWS = "shows"  # the text in a file
AGREE = 3e-3  # of the range of a column
WIDE = 100.0  # from here on the range of a column is taken in logarithms
NUMBER = re.compile(r"[-−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?|[-−]?\.\d+")
COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
STYLE = """
body { margin: 0; background: white; color: #1a1a1a; font: 14px Arial, sans-serif; }
#all { display: inline-flex; }
.row { display: flex; flex-flow: row nowrap; gap: 12px; align-items: flex-start; }
.column { display: flex; flex-flow: column; gap: 4px; align-items: flex-start; }
.head { font-size: 15px; margin: 4px 6px; }
.control { display: inline-flex; gap: 8px; align-items: center; margin: 2px 12px 2px 2px; }
.wide { max-width: 1400px; flex-flow: row wrap; }
select, input[type=text] { font: inherit; padding: 3px; min-width: 150px; }
input[type=range], progress { width: 230px; accent-color: #1976d2; }
button { font: inherit; padding: 5px 22px; border: 0; background: #eee; }
button.primary { background: #1976d2; color: white; }
td, th { vertical-align: top; padding: 1px 8px 1px 0; }
"""

Facts = list[tuple[str, list[tuple[float, float]]]]
"""Texts, each with (number, how far off it may be)."""


def rows(part: Any) -> Iterator[Any]:
    """Figures and texts from top to bottom: of lists, of widgets."""
    if isinstance(part, list | tuple):
        for each in part:
            yield from rows(each)
    elif isinstance(part, Figure):
        yield part.picture
    elif isinstance(part, ipywidgets.Widget):
        if part.layout is None or part.layout.display != "none":
            yield from rows(getattr(part, "children", None) or said(part))
    elif part:
        yield part


def said(control: ipywidgets.Widget) -> str:
    """What a control says."""
    if isinstance(control, ipywidgets.SelectionSlider):
        return f"{control.description}: {control.label}"
    if isinstance(control, ipywidgets.IntProgress | ipywidgets.FileUpload | ipywidgets.Button):
        return str(control.description)
    value = getattr(control, "value", "") or getattr(control, "placeholder", "")
    if isinstance(control, ipywidgets.HTML | ipywidgets.Label):
        return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", str(value))).strip()
    return f"{getattr(control, 'description', '')}: {value}"


def facts(part: Any) -> Facts:
    """What there is to see."""
    out: Facts = []
    for each in rows(part):
        if isinstance(each, LayoutDOM):
            for model in sorted(each.references(), key=lambda model: str(model.id)):
                out += [(text, numbers) for text, numbers in _model(model) if text]
        else:
            out.append(_words(str(each)))
    return sorted(out, key=lambda fact: fact[0])


def numbers(part: Any) -> np.ndarray:
    """All numbers to see: in the columns of pictures, at the ends of their axes, and in texts."""
    found: list[Any] = []
    for each in rows(part):
        for model in each.references() if isinstance(each, LayoutDOM) else [each]:
            if isinstance(model, ColumnDataSource):
                found += model.data.values()
            elif isinstance(model, Range1d):
                found += [model.start, model.end]
            elif isinstance(model, FixedTicker):
                found += model.ticks
            elif isinstance(model, LegendItem):
                found.append(_plain(model.label))
            else:
                names = ("text", "axis_label", "factors", "major_label_overrides", "location")
                found += [getattr(model, name) for name in names if hasattr(type(model), name)]
                found += [model] if isinstance(model, str) else []
    flat: list[float] = []
    while found:
        each = found.pop()
        if isinstance(each, str):
            flat += [number for number, _ in _words(each)[1]]
        elif isinstance(each, dict):
            found += each.values()
        elif isinstance(each, np.ndarray | list | tuple | set):
            found += list(each)
        else:
            flat.append(_number(each))
    x = np.array(flat)
    return x[np.isfinite(x)]


def unseen(text: str, seen: np.ndarray) -> list[str]:
    """The numbers of a text that no number seen in the picture is rounded to.

    A percentage stands for a share, too; closing noughts of a whole number need not be exact.
    """
    out = []
    for found in re.finditer(f"({NUMBER.pattern})(%?)", text):
        plain = re.sub("[,−]", "", found[1]).lstrip("-")
        digits, _, power = plain.partition("e")
        whole, _, places = digits.partition(".")
        last = -len(places) if places else len(whole) - len(whole.rstrip("0"))
        off = 0.5001 * 10.0 ** (last + int(power or 0))
        shown = np.abs(100 * seen if found[2] else seen)
        if not (np.abs(shown - float(plain)) <= off).any():
            out.append(found[0])
    return out


def _model(model: Any) -> Iterator[tuple[str, list[tuple[float, float]]]]:
    kind = type(model).__name__
    if isinstance(model, GlyphRenderer):
        if model.visible:
            yield _properties(model.glyph, model.data_source.data)
    elif isinstance(model, Plot):
        yield f"{kind} {model.width} x {model.height}", []
    elif isinstance(model, Title):
        yield _words(model.text or "")
    elif isinstance(model, Axis):
        if model.visible:
            yield f"{kind}: {model.axis_label or ''}", []
    elif isinstance(model, LegendItem):
        yield f"legend: {_plain(model.label)}", []
    elif isinstance(model, FactorRange):
        yield f"factors: {', '.join(map(str, model.factors))}", []
    elif isinstance(model, Range1d):
        yield kind, _summed([_number(model.start), _number(model.end)])
    elif isinstance(model, Annotation) and not isinstance(model, ColorBar | Legend):
        source = getattr(model, "source", None)
        yield _properties(model, source.data if source else {})


def _properties(model: Any, data: Any) -> tuple[str, list[tuple[float, float]]]:
    text, numbers = [type(model).__name__], []
    for name, value in sorted(model.properties_with_values(include_defaults=False).items()):
        if name in ("name", "tags", "subscribed_events", "level", "editable", "x_range_name"):
            continue
        value = value.value if isinstance(value, Value) else value
        column = value.field if isinstance(value, Field) else None
        if column in data:
            word, more = _column(data[column])
            text.append(f"{name}={word}")
            numbers += more
        elif isinstance(value, bool | str) or value is None:
            text.append(f"{name}={value}")
        elif isinstance(value, int | float):
            text.append(name)
            numbers.append((float(value), AGREE * abs(value)))
    return " ".join(text), numbers


def _column(values: Any) -> tuple[str, list[tuple[float, float]]]:
    """A column in a word and some numbers; one of lists is all of them together."""
    flat: list[Any] = []
    stack = [values]
    while stack:
        each = stack.pop()
        if isinstance(each, np.ndarray | list | tuple):
            stack += list(each)[::-1]
        else:
            flat.append(each)
    if all(isinstance(each, int | float | np.number) or each is None for each in flat):
        return f"[{len(flat)}]", _summed([_number(each) for each in flat])
    counts = Counter(_words(str(each))[0] for each in flat)
    found = [number for each in flat for number, _ in _words(str(each))[1]]
    return json.dumps(sorted(counts.items()), ensure_ascii=False), _summed(found)


def _summed(values: list[float]) -> list[tuple[float, float]]:
    """How many are finite, their ends, mean, deviation and trend."""
    x = np.array(values, float)
    x = x[np.isfinite(x)]
    if len(x) == 0:
        return []
    if x.min() > 0 and x.max() > WIDE * x.min():
        x = np.log(x)
    off = AGREE * max(float(np.abs(x).max()), 1e-9)
    trend = float(np.mean(x * np.linspace(-1, 1, len(x))))
    found = [float(len(x)), float(x.min()), float(x.max()), float(x.mean()), float(x.std()), trend]
    return [(float(f"{value:.5g}"), float(f"{off:.2g}")) for value in found]


def _words(text: str) -> tuple[str, list[tuple[float, float]]]:
    """A text without its numbers, and those."""
    if COLOUR.fullmatch(text):
        return text, []
    numbers = []
    for found in NUMBER.findall(text):
        plain = found.replace(",", "").replace("−", "-")
        places = len(plain.partition(".")[2].partition("e")[0])
        numbers.append((float(plain), 1.01 * 10.0**-places if places else 0.0))
    return NUMBER.sub("#", text), numbers


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float | np.number) else float("nan")


def _plain(value: Any) -> str:
    return str(getattr(value, "value", None) or getattr(value, "field", value))


def stale(old: Facts, new: Facts, *, loose: bool = False) -> list[str]:
    """What has changed, in a line each; with `loose` words only, without numbers."""
    if loose:
        before, after = ({(word, ()) for word in _said(each)} for each in (old, new))
        gone, come = sorted(before - after), sorted(after - before)
    else:
        gone, come = [(text, tuple(numbers)) for text, numbers in old], []
        for text, numbers in new:
            for fact in gone:
                if fact[0] == text and _close(fact[1], numbers):
                    gone.remove(fact)
                    break
            else:
                come.append((text, tuple(numbers)))
    return [
        f"{sign} {text} {[number for number, _ in numbers]}"
        for sign, facts_ in (("-", gone), ("+", come))
        for text, numbers in facts_
    ]


def _said(told: Facts) -> set[str]:
    """The words of all facts and their colours, without numbers."""
    words = {word for text, _ in told for word in re.split(r'[\s\[\],"=:]+', text)}
    return {word for word in words if COLOUR.fullmatch(word) or not re.search(r"[\d#]", word)}


def _close(old: Any, new: Any) -> bool:
    return len(old) == len(new) and all(
        abs(a - b) <= off + 1e-12 for (a, off), (b, _) in zip(old, new, strict=True)
    )


def read(file: Path) -> Facts:
    """The facts in a file."""
    with Image.open(file) as image:
        texts = dict(image.text)
    return [
        (text, [(a, b) for a, b in numbers]) for text, numbers in json.loads(texts.get(SHOWS, "[]"))
    ]


def check_font() -> None:
    """End the program if the browser would not have the font of all pictures."""
    font = subprocess.run(["fc-match", "Helvetica"], capture_output=True, text=True, check=True)
    if "Liberation" not in font.stdout:
        raise SystemExit("the font Liberation Sans is missing: apt-get install fonts-liberation")


def write(file: Path, part: Any, browser: Any, scale: int = 1) -> None:
    """Draw lists of figures, widgets and texts into a file: a row, whose lists are columns."""
    told = facts(part)
    pictures: dict[str, Any] = {}
    body = _html(part, pictures, "row")
    script, drawn = embedded(pictures)
    for name, place in drawn.items():
        body = body.replace(f"<!--{name}-->", str(place))
    page = browser.new_page(viewport={"width": 1800, "height": 1600}, device_scale_factor=scale)
    bokeh = Resources(mode="inline", components=["bokeh"]).render_js()
    page.set_content(
        f"<!doctype html><meta charset=utf-8><style>{STYLE}</style>{bokeh}{script}"
        f'<div id="all">{body}</div>'
    )
    if pictures:
        page.wait_for_function(
            "() => Bokeh.documents.length > 0 && Bokeh.documents.every(each => each.is_idle)"
        )
    page.wait_for_timeout(400)
    file.parent.mkdir(exist_ok=True)
    page.locator("#all").screenshot(path=file)
    page.close()
    texts = PngInfo()
    texts.add_text(SHOWS, json.dumps(told), zip=True)
    with Image.open(file) as image:
        few = image.convert("RGB").quantize(256, method=Image.Quantize.MEDIANCUT, dither=0)
    few.save(file, optimize=True, pnginfo=texts)


def _html(part: Any, pictures: dict[str, Any], flow: str) -> str:
    """Lists in turn as rows and columns, widgets as plain HTML, figures as places to fill."""
    if isinstance(part, list | tuple):
        inner = "column" if flow == "row" else "row"
        return f'<div class="{flow}">{"".join(_html(p, pictures, inner) for p in part)}</div>'
    if isinstance(part, str):
        return f'<div class="head">{escape(part)}</div>'
    if isinstance(part, Figure):
        part = part.picture
    if isinstance(part, LayoutDOM):
        name = f"picture-{len(pictures)}"
        pictures[name] = part
        return f"<div><!--{name}--></div>"
    if part.layout is not None and part.layout.display == "none":
        return ""
    if hasattr(part, "children"):
        inside = "".join(_html(child, pictures, flow) for child in part.children)
        across = "row wide" if part.layout.display == "flex" else "column"
        width = "" if across != "column" else f' style="width:{part.layout.width or "auto"}"'
        return f'<div class="{across}"{width}>{inside}</div>'
    return f'<div class="control">{_control(part)}</div>'


def _control(part: Any) -> str:
    name = escape(str(getattr(part, "description", "") or ""))
    if isinstance(part, ipywidgets.HTML):
        return f"<div>{part.value}</div>"
    if isinstance(part, ipywidgets.Label):
        return escape(part.value)
    if isinstance(part, ipywidgets.Dropdown):
        return f"{name} <select><option>{escape(str(part.label))}</select>"
    if isinstance(part, ipywidgets.SelectionSlider):
        places = f'max="{len(part.options) - 1}" value="{part.index}"'
        return f'{name} <input type="range" {places}> {escape(part.label)}'
    if isinstance(part, ipywidgets.IntSlider):
        places = f'min="{part.min}" max="{part.max}" value="{part.value}"'
        return f'{name} <input type="range" {places}> {part.value}'
    if isinstance(part, ipywidgets.IntProgress):
        return f'<progress max="{part.max}" value="{part.value}"></progress>'
    if isinstance(part, ipywidgets.Button | ipywidgets.FileUpload):
        return f'<button class="{part.button_style}">{name}</button>'
    off = " disabled" if part.disabled else ""
    value, hint = escape(part.value), escape(part.placeholder)
    return f'{name} <input type="text" value="{value}" placeholder="{hint}"{off}>'
