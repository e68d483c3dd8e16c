"""Pictures as files and in words. Bokeh draws in a browser alone: one is needed here, unseen."""

import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from bokeh.embed import file_html
from bokeh.models import GlyphRenderer, LayoutDOM, Plot
from bokeh.resources import INLINE

from bnlab.checks import checked
from bnlab.files import check_place, write_whole

FORMATS = (".svg", ".png", ".pdf")
BROWSERS = ("chromium", "google-chrome", "chromium-browser", "chrome", "msedge")
SHARPNESS = 3  # pixels of a PNG for each of the picture's, across and up
DRAWN = "() => Bokeh.documents.length > 0 && Bokeh.documents.every(each => each.is_idle)"
TIME = re.compile(r"\b(time|seconds?|hours?|ms|µs|s)\b")
AS_SVG = '() => [...Bokeh.index.roots][0].export("svg").ctx.get_serialized_svg(true)'


@checked
def save(picture: LayoutDOM, path: str | os.PathLike[str], /) -> None:
    """Save a picture, or a layout of some, as SVG, PNG or PDF, which the end of the name says.

    Chromium or Chrome draws, without a window, in a few seconds. SVG and PDF are lines and letters;
    a PNG has three pixels for each of the picture's, across and up.

    Raises
    ------
    ValueError
        Unless `path` ends in .svg, .png or .pdf and something can be written there.
    ModuleNotFoundError, FileNotFoundError
        Without playwright (`pip install bnlab[figures]`) or a browser.
    """
    kind = Path(path).suffix.lower()
    if kind not in FORMATS:
        raise ValueError(f"{path}: a name that ends in {', '.join(FORMATS)} is needed")
    check_place(path)
    page = file_html(picture, INLINE, title="picture")
    # Notebooks run an event loop in this thread, which playwright's plain calls refuse.
    with ThreadPoolExecutor(1) as beside:
        write_whole(path, beside.submit(_drawn, page, kind).result())


def _drawn(html: str, kind: str) -> bytes:
    """What a browser makes of a page with one picture."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "pictures as files need playwright: pip install bnlab[figures], and then a browser, "
            "playwright install chromium. A page with the picture (bokeh.io.save) needs neither"
        ) from error
    with sync_playwright() as playwright:
        installed = next(filter(None, map(shutil.which, BROWSERS)), None)
        try:
            browser = playwright.chromium.launch(executable_path=installed)
        except Error as error:
            need = "pictures as files need a browser: playwright install chromium"
            raise FileNotFoundError(need) from error
        page = browser.new_page(device_scale_factor=SHARPNESS if kind == ".png" else 1)
        page.set_content(html)
        page.wait_for_function(DRAWN)
        svg: str = page.evaluate(AS_SVG)
        page.set_content(f"<style>body {{ margin: 0 }} svg {{ display: block }}</style>{svg}")
        drawn = page.locator("svg").first
        content = svg.encode() if kind == ".svg" else drawn.screenshot()
        if kind == ".pdf":
            width, height = (f"{drawn.get_attribute(side)}px" for side in ("width", "height"))
            content = page.pdf(width=width, height=height, print_background=True)
        browser.close()
    return content


def summary(picture: LayoutDOM, /) -> str:
    """What pictures show, a line each: marks and the range of each axis that is not of time.

    Times differ from machine to machine; all else is the same wherever the same run is made.
    """
    lines = []
    for plot in picture.select({"type": Plot}):
        drawn = [each for each in plot.renderers if each.visible and each.data_source.data]
        marks = sum(len(next(iter(each.data_source.data.values()))) for each in drawn)
        parts = [f"{marks:,} marks in {len(drawn)} series"]
        for axis, of in ((plot.xaxis[0], "x"), (plot.yaxis[0], "y")):
            found = np.array([v for each in drawn for v in _numbers(each, of)])
            if found.size and not TIME.search(str(axis.axis_label)):
                ends = " to ".join(f"{float(f'{v:.3g}'):,g}" for v in (found.min(), found.max()))
                parts.append(f"{axis.axis_label or of}: {ends}")
        lines.append(f"[{plot.title.text or 'no title'}: {'; '.join(parts)}]")
    return "\n".join(sorted(lines))


def _numbers(drawn: GlyphRenderer, of: str) -> list[float]:
    """The finite places of marks along one axis."""
    field = getattr(getattr(drawn.glyph, of, None), "field", None) or getattr(drawn.glyph, of, None)
    values = drawn.data_source.data.get(field, []) if isinstance(field, str) else []
    return [float(v) for v in values if isinstance(v, int | float | np.number) and np.isfinite(v)]
