"""From the press of a key to the picture, for every control of every lab, in a real Chromium.

    uv run --extra test python benchmarks/controls.py [NN ...] [--moves 20] [--width 1280]
    uv run --extra test python benchmarks/controls.py 04 13 --only variables "data set" --drag 0

A table: median and 95th percentile, milliseconds, of the whole way; of the kernel, from the message
that it gets to the last that it sends; of the browser and the wires, the rest. Then how long a
picture still moves after some seconds of dragging, and from a click on Stop to the end of the work.
About 2 minutes a lab, 15 seconds a control without dragging; wants an idle machine.
"""

import argparse
import ast
import json
import math
import os
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from served import NOTEBOOKS, chromium, dragged, jupyterlab, open_and_run

QUIET = 400  # milliseconds without a message or a stroke: the move is over

# When a key was pressed, a message came, a canvas was drawn on; and the kernel's own times.
WATCH = """() => {
    const seen = window.seen = {};
    const now = () => performance.now();
    window.begin = () => Object.assign(seen,
        {pressed: null, drawn: null, heard: null, busy: null, idle: null});
    window.begin();
    addEventListener('keydown', () => { seen.pressed ??= now(); }, true);
    const context = CanvasRenderingContext2D.prototype;
    for (const name of ['clearRect', 'fill', 'stroke', 'fillText', 'fillRect', 'drawImage']) {
        const usual = context[name];
        context[name] = function(...given) { seen.drawn = now(); return usual.apply(this, given); };
    }
    const time = text => Date.parse(text) + Number('0.' + text.match(/[.]\\d{3}(\\d*)/)?.[1]);
    const Usual = window.WebSocket;
    window.WebSocket = class extends Usual {
        constructor(...given) {
            super(...given);
            this.addEventListener('message', event => {
                if (seen.pressed === null) return;
                const text = typeof event.data === 'string'
                    ? event.data : new TextDecoder('latin1').decode(event.data);
                const date = text.match(/"date": ?"([^"]+)"/)?.[1];
                if (date === undefined) return;
                seen.heard = now();
                if (/"execution_state": ?"busy"/.test(text)) seen.busy ??= time(date);
                if (/"execution_state": ?"idle"/.test(text)) seen.idle = time(date);
            });
        }
    };
}"""

CONTROLS = ".widget-slider .noUi-handle, .widget-dropdown select"
LABEL = """node => node.closest('.widget-inline-hbox').querySelector('.widget-label')
    .textContent"""

# Milliseconds from a click on Stop to the end of the work.
STOP = """button => new Promise(done => {
    const begun = performance.now();
    const look = () => button.disabled ? done(performance.now() - begun) : setTimeout(look, 5);
    button.click();
    look();
})"""
AFTER = (200, 500, 1000, 2000)  # milliseconds from Run to Stop


def notebook_of(name: str) -> dict[str, Any]:
    """The cells of a lab that show a widget, and those that they need."""
    whole = json.loads((NOTEBOOKS / name).read_text(encoding="utf-8"))
    code = [cell for cell in whole["cells"] if cell["cell_type"] == "code"]
    wanted: set[str] = set()
    kept = []
    for cell in reversed(code[1:]):
        source = "".join(cell["source"])
        names = list(ast.walk(ast.parse(source)))
        made = {n.id for n in names if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        made |= {n.name for n in names if isinstance(n, ast.FunctionDef | ast.ClassDef)}
        if ".widget" in source or made & wanted:
            wanted |= {n.id for n in names if isinstance(n, ast.Name)}
            kept.append(cell | {"outputs": []})
    return {**whole, "cells": [code[0], *reversed(kept)]}


def settled(page: Any) -> dict[str, Any]:
    """What was seen of a move, once it is over."""
    page.wait_for_function(
        """quiet => seen.pressed !== null && (seen.busy === null || seen.idle !== null) &&
            performance.now() - Math.max(seen.pressed, seen.drawn ?? 0, seen.heard ?? 0) > quiet""",
        arg=QUIET,
        polling=20,
    )
    found: dict[str, Any] = page.evaluate("() => ({...seen})")
    return found


def moves(page: Any, control: Any, count: int) -> list[tuple[float, float]]:
    """(whole, kernel) milliseconds of each move of a control that has moved a picture."""
    control.scroll_into_view_if_needed()
    control.focus()
    found, key = [], "ArrowRight"
    choices = control.locator("option").count()
    for move in range(3 * count):
        if len(found) == count:
            break
        page.evaluate("() => begin()")
        if choices:
            page.evaluate("() => seen.pressed = performance.now()")
            control.select_option(index=(move + 1) % choices)
        else:
            page.keyboard.press(key)
        seen = settled(page)
        if seen["idle"] is None:  # the end of the slider
            key = "ArrowLeft" if key == "ArrowRight" else "ArrowRight"
        elif seen["drawn"] is not None and seen["drawn"] > seen["pressed"]:
            found.append((seen["drawn"] - seen["pressed"], seen["idle"] - seen["busy"]))
    return found


def lag(page: Any, handle: Any, seconds: float) -> float:
    """Milliseconds from the last move of a drag to and fro to the last stroke of the picture."""
    page.evaluate("() => begin()")
    with dragged(page, handle, seconds):
        last: float = page.evaluate("() => seen.pressed = performance.now()")
    return max(0.0, (settled(page)["drawn"] or last) - last)


def stops(page: Any, button: Any) -> list[float]:
    """Milliseconds that Stop took each time that it came before the end of the work."""
    found, enabled = [], "button => !button.disabled"
    run = button.locator("xpath=preceding-sibling::button")
    for wait in AFTER:
        page.wait_for_function(enabled, arg=run.element_handle())
        run.click()
        page.wait_for_timeout(wait)
        if button.is_enabled():
            found.append(button.evaluate(STOP))
    return found


def percentile(values: list[float], share: float) -> float:
    """The least value that at least this share of them do not exceed."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("labs", nargs="*", metavar="NN")
    parser.add_argument("--moves", type=int, default=20)
    parser.add_argument("--drag", type=float, default=10, help="seconds; 0 for none")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--only", nargs="+", default=[""], help="labels that begin so; Stop is one")
    given = parser.parse_args()
    os.environ.setdefault("BOKEH_RESOURCES", "inline")
    os.environ["BNLAB_COMPILE_AHEAD"] = "0"
    names = [
        path.name
        for path in sorted(NOTEBOOKS.glob("[0-9]*.ipynb"))
        if not given.labs or path.name[:2] in given.labs
    ]
    notebooks = {name: notebook_of(name) for name in names}
    print(f"{'lab, control':<44}{'median':>8}{'95 %':>8}{'kernel':>14}{'rest':>14}{'drag':>8}")
    with (
        TemporaryDirectory() as home,
        jupyterlab(Path(home), notebooks) as address,
        chromium() as browser,
    ):
        for name in names:
            page = open_and_run(browser, address(name), given.width, 900, WATCH)
            page.wait_for_timeout(2000)
            for control in page.locator(CONTROLS).all():
                if not control.is_visible():
                    continue
                label = control.evaluate(LABEL)
                if not label.startswith(tuple(given.only)):
                    continue
                if not (found := moves(page, control, given.moves)):
                    print(f"{name[:2]} {label:<41}  moves no picture", flush=True)
                    continue
                line = f"{name[:2]} {label:<41}"
                total = [whole for whole, _ in found]
                line += f"{median(total):8.0f}{percentile(total, 0.95):8.0f}"
                for part in ([kernel for _, kernel in found], [a - b for a, b in found]):
                    line += f"{median(part):8.0f}{percentile(part, 0.95):6.0f}"
                if given.drag and control.evaluate("node => node.matches('.noUi-handle')"):
                    line += f"{lag(page, control, given.drag):8.0f}"
                print(line, flush=True)
            for button in page.locator(".jupyter-button:has-text('Stop')").all():
                if not "Stop".startswith(tuple(given.only)):
                    break
                told = " ".join(f"{taken:.0f}" for taken in stops(page, button))
                print(f"{name[:2]} Stop, ms: {told or 'the work was over before'}", flush=True)
            page.close()


if __name__ == "__main__":
    main()
