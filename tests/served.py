"""JupyterLab in a real Chromium, for tests and benchmarks: a server of its own, and pages on it."""

import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = "/usr/bin/chromium"
# Drawing without a card, and without imitating one: that takes a fifth of the browser's work.
NO_GRAPHICS_CARD = ["--disable-gpu", "--disable-software-rasterizer"]
NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
START = 120  # seconds, for the server
PATIENCE = 300_000  # milliseconds, for a lab that compiles its kernels first

NO_NEWS = '{"fetchNews": "false", "checkForUpdates": false}'

RUN_ALL = """async () => {
    const app = window.jupyterapp;
    await app.restored;
    const panel = app.shell.currentWidget;
    await panel.revealed;
    await panel.sessionContext.ready;
    await app.commands.execute('notebook:run-all-cells');
}"""

# The data of every source with this name in the pictures of this element.
SOURCES = """(within, name) => [...(window.Bokeh?.index.roots ?? [])]
    .filter(view => within.contains(view.el))
    .map(view => view.model.document.get_model_by_name(name))
    .filter(source => source != null)
    .map(source => Object.fromEntries(Object.entries(source.data)
        .map(([key, column]) => [key, Array.from(column)])))"""

# What axe-core finds; contrasts and links, which take it longest, in a few of all words that look
# alike: same letters, on the same backgrounds, links in text of the same colour. Of a single letter
# it does not tell the contrast. `before` says how many were looked at on other pages; so many are
# by now.
RUN_AXE = """async ([include, before]) => {
    const known = new Map([[null, '']]), seen = new Map(Object.entries(before));
    const ground = element => {
        if (!known.has(element)) {
            const {backgroundColor, backgroundImage, opacity, position} = getComputedStyle(element);
            const own = `${backgroundColor} ${backgroundImage} ${opacity} ${position}`;
            const over = own === 'rgba(0, 0, 0, 0) none 1 static' ? '' : `${own}; `;
            known.set(element, over + ground(element.parentElement));
        }
        return known.get(element);
    };
    for (const element of document.querySelectorAll('body *')) {
        delete element.dataset?.look;
        const link = element.closest('a');
        const own = [...element.childNodes].filter(node => node.nodeType === Node.TEXT_NODE);
        const letters = own.map(node => node.data).join('').trim().length;
        if (letters === 0 || !element.checkVisibility()) continue;
        const {color, fontSize, fontWeight, textShadow} = getComputedStyle(element);
        const text = link && getComputedStyle(link.parentElement).color;
        const look = [color, fontSize, fontWeight, textShadow, text, ground(element)].join();
        const alike = seen.get(look) ?? 0;
        if (letters === 1 || alike === 5) continue;
        seen.set(look, alike + 1);
        element.dataset.look = '';
        if (link) link.dataset.look = '';
    }
    // A selector: axe compares each element with all that are excluded, one by one.
    const selector = '[data-look], input, select, textarea';
    const links = {id: 'link-in-text-block', selector: 'a[data-look]'};
    axe.configure({rules: [{id: 'color-contrast', selector}, links]});
    const {violations} = await axe.run({include}, {resultTypes: ['violations']});
    return [violations, Object.fromEntries(seen)];
}"""

# Where the cell of this column and row is on the screen, in the picture with this source.
CELL = """([name, column, row]) => {
    const {el, frame} = [...window.Bokeh.index.roots].findLast(view => view.el.isConnected
        && view.model.renderers?.some(drawn => drawn.data_source.name === name));
    const {left, top} = el.getBoundingClientRect();
    return [left + frame.x_scale.compute(column), top + frame.y_scale.compute(row)];
}"""

# The rows of the source with this name that have an outline, as parent and child.
OUTLINED = """name => window.Bokeh.documents.map(document => document.get_model_by_name(name))
    .filter(source => source != null).flatMap(({inspected, data}) => inspected.indices
        .map(i => [(data.parent ?? data.start)[i], (data.child ?? data.end)[i]]))"""


def outlined(page: Any, sources: tuple[str, ...], parent: str, child: str) -> bool:
    """Whether that edge is outlined in all sources while the pointer is on it in the first one.

    Nothing is afterwards.
    """
    page.mouse.move(*page.evaluate(CELL, [sources[0], child, parent]))
    page.wait_for_timeout(200)
    found = [page.evaluate(OUTLINED, source) for source in sources]
    page.mouse.move(1, 1)
    page.wait_for_timeout(200)
    assert [page.evaluate(OUTLINED, source) for source in sources] == [[]] * len(sources)
    return found == [[[parent, child]]] * len(sources)


def violations(page: Any, *parts: str, looks: dict[str, int] | None = None) -> list[dict[str, Any]]:
    """What axe-core finds in a page, or in those parts of it; of words that look alike, in a few.

    With `looks`, in a few of all pages that are given the same dictionary.
    """
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe is not installed"
    )
    page.evaluate(axe.Axe().axe_script)
    include = [[part] for part in parts or ("html",)]
    found: list[dict[str, Any]]
    found, seen = page.evaluate(RUN_AXE, [include, looks or {}])
    if looks is not None:
        looks.update(seen)
    return found


def faults(page: Any) -> list[str]:
    """What axe-core finds in the outputs and texts of a notebook."""
    found = violations(page, ".jp-OutputArea-output", ".jp-RenderedMarkdown")
    return [f"{fault['id']}: {node['html']}" for fault in found for node in fault["nodes"]]


@contextmanager
def jupyterlab(home: Path, notebooks: Mapping[str, Any]) -> Iterator[Callable[[str], str]]:
    """A server on these notebooks, file name -> notebook; gives the address of each."""
    (home / "notebooks").mkdir()
    for name, notebook in notebooks.items():
        (home / "notebooks" / name).write_text(json.dumps(notebook))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token = secrets.token_hex(16)
    places = {
        f"{name}_DIR": str(home / name)
        for name in ("JUPYTER_CONFIG", "JUPYTER_DATA", "JUPYTER_RUNTIME", "JUPYTERLAB_SETTINGS")
    }
    quiet = home / "JUPYTERLAB_SETTINGS" / "@jupyterlab" / "apputils-extension"
    quiet.mkdir(parents=True)
    (quiet / "notification.jupyterlab-settings").write_text(NO_NEWS)
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", f"--port={port}"),
        *("--allow-root", "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}"),
        *(f"--ServerApp.root_dir={home / 'notebooks'}", "--LabApp.expose_app_in_browser=True"),
    ]
    log = (home / "log").open("w+")
    process = subprocess.Popen(
        command, env={**os.environ, **places}, stdout=log, stderr=subprocess.STDOUT
    )
    try:
        _wait_for(f"http://127.0.0.1:{port}/api/status?token={token}", process, home / "log")
        yield lambda name: f"http://127.0.0.1:{port}/doc/tree/{name}?reset&token={token}"
    finally:
        process.terminate()
        process.wait(30)
        log.close()


def _wait_for(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.3)
    raise AssertionError(f"JupyterLab did not start:\n{log.read_text(errors='replace')}")


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-dev-shm-usage", *NO_GRAPHICS_CARD],
        )
        yield browser
        browser.close()


def open_and_run(
    browser: Any, address: str, width: int = 1600, height: int = 1100, watch: str = ""
) -> Any:
    """A page with the lab on it, all cells run; `watch` is a function that runs before them."""
    page = browser.new_page(viewport={"width": width, "height": height})
    page.set_default_timeout(PATIENCE)
    if watch:
        page.add_init_script(f"({watch})()")
    page.goto(address)
    page.wait_for_function("() => window.jupyterapp?.shell?.currentWidget?.sessionContext != null")
    page.evaluate(RUN_ALL)
    return page


@contextmanager
def dragged(page: Any, handle: Any, seconds: float) -> Iterator[None]:
    """Drag the handle of a slider to and fro, a third of the way short of its end at last."""
    handle.scroll_into_view_if_needed()
    held = handle.bounding_box()
    track = handle.locator("xpath=ancestor::*[contains(@class, 'noUi-target')]").bounding_box()
    y, left, wide = held["y"] + held["height"] / 2, track["x"], track["width"]
    page.mouse.move(held["x"] + held["width"] / 2, y)
    page.mouse.down()
    end = time.monotonic() + seconds
    while (rest := end - time.monotonic()) > 0:
        page.mouse.move(left + wide * abs((rest + 2 / 3) % 2 - 1), y)
        page.wait_for_timeout(1000 / 60)
    yield
    page.mouse.up()


def shortened(notebook: str, cells: tuple[str, ...]) -> dict[str, Any]:
    """The first code cell of a lab, and those that begin like `cells`."""
    whole = json.loads((NOTEBOOKS / notebook).read_text(encoding="utf-8"))
    first = next(cell for cell in whole["cells"] if cell["cell_type"] == "code")
    sources = ["".join(cell["source"]) for cell in whole["cells"]]
    kept = [
        cell
        for cell, source in zip(whole["cells"], sources, strict=True)
        if cell is first or (cell["cell_type"] == "code" and source.startswith(cells))
    ]
    assert len(kept) == 1 + len(cells)
    return {**whole, "cells": kept}
