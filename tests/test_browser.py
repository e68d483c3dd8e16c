"""A real Chromium opens the labs in JupyterLab, moves controls and reads what the page shows.

One line in `LABS` a lab. They stand one after the other in one notebook, each with its first cell
and those that make its widgets.
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pytest
from films import FILMS
from served import (
    PATIENCE,
    SOURCES,
    dragged,
    faults,
    jupyterlab,
    open_and_run,
    outlined,
    shortened,
)

import bnlab as bn
from bnlab.labs import (
    annealed_importance_sampling,
    bayesian_networks,
    beliefs_and_interventions,
    direct_dag_sampling,
    dynamic_programming,
    hidden_annealing,
    hidden_scores,
    landscape,
    linear_extensions,
    modular_priors,
    scaling_out,
    start_here,
    structure_search,
    your_own_data,
)
from bnlab.labs.board import DEAD, LIVE, look, stops

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("browser")]


# When the data of the source with this name change.
COUNT_DATA = """name => {
    window.seen = [];
    for (const document of window.Bokeh.documents)
        document.get_model_by_name(name)?.properties.data.change
            .connect(() => seen.push(performance.now()));
}"""

# What the page tells the kernel of its pictures.
LISTEN = """() => {
    window.told = [];
    const send = WebSocket.prototype.send;
    WebSocket.prototype.send = function(message) {
        const text = typeof message === 'string'
            ? message : new TextDecoder('latin1').decode(message);
        if (text.includes('jsevent')) told.push(text);
        return send.call(this, message);
    };
}"""


# The last line of each cell that shows a widget of this class, and the height of the widget.
HEIGHTS = """async live => {
    const {content} = window.jupyterapp.shell.currentWidget;
    const found = [];
    for (const [i, cell] of content.widgets.entries()) {
        const outputs = cell.model.outputs?.toJSON() ?? [];
        if (!outputs.some(each => "application/vnd.jupyter.widget-view+json" in (each.data ?? {})))
            continue;
        await content.scrollToItem(i);
        let high, before, looks = 0;
        do {  // until it is as high as a fifth of a second before
            before = high;
            await new Promise(resolve => setTimeout(resolve, 200));
            high = cell.node.querySelector("." + live)?.getBoundingClientRect().height;
        } while ((high === undefined || before !== high) && ++looks < 5);
        const code = cell.model.sharedModel.getSource().split("\\n").at(-1);
        if (high !== undefined) found.push([code, high]);
    }
    return found;
}"""

# What cells say that failed.
ERRORS = """() => window.jupyterapp.shell.currentWidget.content.widgets
    .flatMap(cell => cell.model.outputs?.toJSON() ?? [])
    .filter(each => each.output_type === "error").map(each => each.evalue)"""

# When an element has stayed in its place for half a second.
SETTLED = """async node => {
    let before;
    do {
        before = node.getBoundingClientRect().y;
        await new Promise(resolve => setTimeout(resolve, 500));
    } while (node.getBoundingClientRect().y !== before);
}"""

# To the cell of this number.
SCROLL = "i => window.jupyterapp.shell.currentWidget.content.scrollToItem(i)"


# Run the cell of this number, on the screen.
RUN_ONE = """async i => {
    const {content} = window.jupyterapp.shell.currentWidget;
    document.activeElement.blur();  // the cell with the focus would become active again
    await content.scrollToItem(i);
    content.activeCellIndex = i;  // now: a cell scrolled into view may take the focus
    await window.jupyterapp.commands.execute('notebook:run-cell');
}"""


@dataclass(frozen=True, slots=True)
class Lab:
    """A lab, what a person does to the first slider of its widget, and what must then be shown."""

    notebook: str
    cells: tuple[str, ...]  # how the code cells begin that make the widget
    keys: tuple[str, ...]  # pressed on the slider's handle
    source: str  # the name of a ColumnDataSource
    column: str
    expected: Callable[[], list[float]]  # computed here, by the package
    slider: int = 0  # which one in the last of the cells

    def __str__(self) -> str:
        return self.notebook.removesuffix(".ipynb")


def _coronary_edges(stop: int) -> list[float]:
    data = start_here.table("coronary")
    edges = start_here.posterior(data, stops(start_here.STEPS, data.m)[stop]).edges
    return list(edges[~np.eye(data.n, dtype=bool)])


def _bold_links(steps: int) -> list[float]:
    walk = dynamic_programming.Walk(bn.load_network("cancer").sample(20, np.random.default_rng(1)))
    walk.step.value = steps
    return list(walk.panel.source("links").data["width"])


def _experiments(draws: int) -> list[float]:
    workers = bn.load_dataset("coronary").shuffled(np.random.default_rng(1))
    names = ["M. Work", "P. Work", "Pressure", "Proteins"]
    table = bn.score_families(workers.select(names), bn.BDeu(1.0), max_parents=3)
    hundred = direct_dag_sampling.Hundred(bn.order_posterior(table), 1, 3)
    hundred.drawn.value = draws
    return list(hundred.panel.source("experiments").data["estimate"])


def _certain(rows: int) -> list[float]:
    certain = linear_extensions.Certain()
    certain.size.value = rows
    return list(certain.panel.source("closing").data["low"])


def _probable(rows: int) -> list[float]:
    orders = landscape.Landscape()
    orders.rows.value = rows
    return list(orders.shares.source("shares").data["exact"])


def _weights(steps: int) -> list[float]:
    fans = annealed_importance_sampling.Paths()
    fans.steps.value = steps
    return list(fans.shares.source("heaviest").data["share"])


def _variational_bounds(rows: int) -> list[float]:
    return hidden_scores.scored(rows)["VB"].tolist()


def _slopes(steps: int) -> list[float]:
    loops = hidden_annealing.Loops()
    loops.steps.value = steps
    return list(loops.ratios.source("ratios").data["upward"])


def _told(rows: int) -> list[float]:
    return list(beliefs_and_interventions.directed(0, rows)[~np.eye(4, dtype=bool)])


def _gains(steps: int) -> list[float]:
    shown = structure_search.Steps()
    shown.step.value = steps
    return list(shown.gains.source("gains").data["gain"])


def _likely_edges(threshold: float, folder: str) -> list[float]:
    table = your_own_data.Table(your_own_data.write_garden(folder))
    table.missing.value = "average over them"
    study = your_own_data.Study(table, seconds=5)
    study.runner.run_now()
    edges = study.done().edges.probability
    return sorted(edges[edges >= threshold].tolist())


def _cost(jobs: int) -> list[float]:
    shown = scaling_out.SpeedUp()
    shown.jobs.value = jobs
    return list(shown.cost.source("cost_points").data["y"])


def _gains_of_an_edge(difference: float) -> list[float]:
    gains = [bayesian_networks.gains(difference, m) for m in bayesian_networks.SIZES]
    return list(np.median(gains, axis=1))


def _ratios(divisor: int) -> list[float]:
    explorer = modular_priors.PriorExplorer()
    explorer.divisor.value = divisor
    return list(explorer.gallery.source("shapes").data["ratio"])


LABS = [
    Lab(
        notebook="00_start_here.ipynb",
        cells=("explorer = ",),
        keys=("ArrowLeft", "ArrowLeft"),
        source="edges",
        column="probability",
        expected=lambda: _coronary_edges(-3),
    ),
    Lab(
        notebook="01_bayesian_networks.ipynb",
        cells=("growth = ",),
        keys=("ArrowRight",),  # 0.1, 0.2
        source="gains",
        column="middle",
        expected=lambda: _gains_of_an_edge(0.2),
    ),
    Lab(
        notebook="02_modular_priors.ipynb",
        cells=("explorer = ",),
        keys=("ArrowRight", "ArrowRight"),
        source="shapes",
        column="ratio",
        expected=lambda: _ratios(3),
    ),
    Lab(
        notebook="03_dynamic_programming.ipynb",
        cells=("data = ", "walk = "),
        keys=("ArrowRight",) * 17,  # g({A,B}), from two links
        source="links",
        column="width",
        expected=lambda: _bold_links(17),
        slider=1,
    ),
    Lab(
        notebook="04_order_mcmc.ipynb",
        cells=("landscape = ",),
        keys=("ArrowLeft", "ArrowLeft"),  # 800, 400, 200 rows
        source="shares",
        column="exact",
        expected=lambda: _probable(200),
    ),
    Lab(
        notebook="05_direct_dag_sampling.ipynb",
        cells=("workers = ", "hundred = "),
        keys=("ArrowRight", "ArrowRight"),  # 100, 300, 1000
        source="experiments",
        column="estimate",
        expected=lambda: _experiments(1000),
    ),
    Lab(
        notebook="06_linear_extensions.ipynb",
        cells=("certain = ",),
        keys=("ArrowRight", "ArrowRight"),  # 0, 50, 200 rows
        source="closing",
        column="low",
        expected=lambda: _certain(200),
    ),
    Lab(
        notebook="07_annealed_importance_sampling.ipynb",
        cells=("fans = ",),
        keys=("ArrowRight",) * 4,  # 30 to 3,000 steps
        source="heaviest",
        column="share",
        expected=lambda: _weights(3000),
    ),
    Lab(
        notebook="09_hidden_scores.ipynb",
        cells=("scores = lab",),
        keys=("ArrowLeft",),
        source="vb",
        column="score",
        expected=lambda: _variational_bounds(160),
    ),
    Lab(
        notebook="10_hidden_annealing.ipynb",
        cells=("loops = ",),
        keys=("ArrowLeft",),  # 256, 64 steps
        source="ratios",
        column="upward",
        expected=lambda: _slopes(64),
    ),
    Lab(
        notebook="12_beliefs_and_interventions.ipynb",
        cells=("doing = ",),
        keys=("ArrowRight", "ArrowLeft", "ArrowLeft"),  # 20, 40, 20, 10
        source="told",
        column="probability",
        expected=lambda: _told(10),
    ),
    Lab(
        notebook="13_structure_search.ipynb",
        cells=("steps = ",),
        keys=("ArrowRight",) * 4,
        source="gains",
        column="gain",
        expected=lambda: _gains(4),
    ),
    Lab(
        notebook="14_your_own_data.ipynb",
        cells=("path = ", "table = ", "study = "),
        keys=("ArrowRight",) * 4,  # 0.3, ..., 0.7
        source="links",
        column="probability",
        expected=lambda: _likely_edges(0.7, mkdtemp()),
    ),
    Lab(
        notebook="15_scaling_out.ipynb",
        cells=("speed = ",),
        keys=("ArrowLeft", "ArrowLeft"),  # 500, 100, 20 jobs
        source="cost_points",
        column="y",
        expected=lambda: _cost(20),
    ),
]


ASKING, FEW, EVERYTHING = "asking.ipynb", "few.ipynb", "all.ipynb"
ASKS = (
    "from bnlab.labs.predict import predict",
    "guess = predict('How probable?', between=(0, 1))",
    "guess.reveal(0.375)",
)


# What the widgets look like is the same with less of what takes seconds.
LESS = {"sizes=(10, 40, 160, 480, 1280)": "sizes=(160, 480)", '"draws": 100': '"draws": 10'}


@cache
def everything() -> dict[str, Any]:
    """A notebook with `LABS` and the main views of all labs, one after the other."""
    begun: dict[str, dict[str, None]] = {}  # notebook -> how its cells begin, each once
    for lab in LABS:
        begun.setdefault(lab.notebook, {}).update(dict.fromkeys(lab.cells))
    for film in FILMS.values():
        begun.setdefault(f"{film.notebook}.ipynb", {}).update(dict.fromkeys(film.cells))
    parts = {notebook: shortened(notebook, tuple(cells)) for notebook, cells in begun.items()}
    cells = [
        code(f"{notebook.removesuffix('.ipynb')}-{i}", "".join(cell["source"]))
        for notebook, part in parts.items()
        for i, cell in enumerate(part["cells"])
    ]
    for usual, less in LESS.items():
        (cell,) = (cell for cell in cells if usual in cell["source"])
        cell["source"] = cell["source"].replace(usual, less)
    return {**parts[LABS[0].notebook], "cells": cells}


def code(name: str, source: str) -> dict[str, Any]:
    """A cell that has not been run."""
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    return cell | {"id": name, "source": source}


def asking() -> dict[str, Any]:
    """A notebook with one prediction, and its outcome."""
    cells = [code(f"c{i}", source) for i, source in enumerate(ASKS)]
    return {**everything(), "cells": cells}


def few() -> dict[str, Any]:
    """A notebook with the explorer of the first lab and a question with a picture to click on."""
    explorer = shortened(LABS[0].notebook, LABS[0].cells)
    question = shortened("12_beliefs_and_interventions.ipynb", ("chain = np.eye",))
    parts = *explorer["cells"], question["cells"][1]
    cells = [code(f"c{i}", "".join(part["source"])) for i, part in enumerate(parts)]
    return {**explorer, "cells": cells}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], str]]:
    """A JupyterLab of its own on copies of the labs; gives the address of a notebook.

    No page saves a notebook that another test opens: it would show what the earlier run left until
    its cells have run again.
    """
    notebooks = {ASKING: asking(), FEW: few(), EVERYTHING: everything()}
    with jupyterlab(tmp_path_factory.mktemp("jupyter"), notebooks) as address:
        yield address


@pytest.fixture(scope="module")
def labs(server: Callable[[str], str], browser: Any) -> Iterator[Any]:
    """A page with `everything`, in a window of 1280 x 700 pixels, less 15 for a scroll bar."""
    page = open_and_run(browser, server(EVERYTHING), 1280 - 15, 700)
    assert page.evaluate(ERRORS) == []
    yield page
    page.close()


@pytest.fixture(scope="module")
def page(server: Callable[[str], str], browser: Any) -> Iterator[Any]:
    """A page with `few`."""
    opened = open_and_run(browser, server(FEW))
    yield opened
    opened.close()


@pytest.fixture
def explorer(page: Any) -> Any:
    """The first lab's explorer, its cell run afresh."""
    return run_again(page, 1, pictures=3)


@pytest.fixture
def question(page: Any) -> Any:
    """A question with a picture, its cell run afresh."""
    return run_again(page, 2, pictures=1)


def run_again(page: Any, number: int, pictures: int) -> Any:
    """The cell of this number, run, when what it shows has its place."""
    place = page.locator(f".jp-Cell[data-windowed-list-index='{number}']")
    drawn = place.locator(".bk-Canvas")
    for _ in range(5):  # the page may have made another cell active, or scrolled this one away
        page.evaluate(RUN_ONE, number)
        with suppress(playwright.TimeoutError):
            drawn.nth(pictures - 1).wait_for(timeout=PATIENCE / 5)
            drawn.last.evaluate(SETTLED)
            return place
    raise AssertionError(f"cell {number} shows no picture")


def reload(page: Any) -> None:
    """Save the notebook and load the page again; the kernel lives on."""
    page.evaluate("async () => { await window.jupyterapp.commands.execute('docmanager:save'); }")
    page.goto(page.url.replace("?reset", ""))


def shown(place: Any, source: str, column: str, expected: list[float]) -> bool:
    """Whether a source there of this name holds the expected values, within the time allowed."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        for data in place.evaluate(SOURCES, source):
            values = data.get(column, [])
            if len(values) == len(expected) and np.allclose(values, expected, atol=1e-9):
                return True
        place.page.wait_for_timeout(200)
    return False


def place_of(lab: Lab, page: Any) -> Any:
    """The last of a lab's cells, scrolled to."""
    number = next(
        i
        for i, cell in enumerate(everything()["cells"])
        if cell["id"].startswith(str(lab)) and "".join(cell["source"]).startswith(lab.cells[-1])
    )
    page.evaluate(SCROLL, number)
    return page.locator(f".jp-Cell[data-windowed-list-index='{number}']")


def test_main_views_with_their_controls_fit_a_small_window(labs: Any) -> None:
    """No view is taller than the part of the window for the notebook."""
    cells = labs.evaluate(HEIGHTS, LIVE)
    assert {f"{film.widget}.widget" for film in FILMS.values()} <= {code for code, _ in cells}
    room = labs.locator(".jp-WindowedPanel-outer").bounding_box()["height"]
    assert [code for code, high in cells if high > room] == []


@pytest.fixture(scope="module")
def moved() -> dict[Lab, list[float]]:
    """What labs must show since their slider was moved."""
    return {}


@pytest.mark.parametrize("lab", LABS, ids=str)
def test_a_person_moves_the_slider(
    lab: Lab, labs: Any, moved: dict[Lab, list[float]], tmp_path: Path
) -> None:
    place = place_of(lab, labs)
    handle = place.locator(".widget-slider .noUi-handle").nth(lab.slider)
    handle.scroll_into_view_if_needed()
    expected = lab.expected()
    before = place.evaluate(SOURCES, lab.source)
    assert before, f"no source {lab.source!r} in the cell"
    assert not any(data[lab.column] == expected for data in before)
    for key in lab.keys:
        handle.focus()
        labs.keyboard.press(key)
    found = shown(place, lab.source, lab.column, expected)
    handle.evaluate("node => node.closest('.jp-OutputArea').scrollIntoView()")
    labs.screenshot(path=tmp_path / f"{lab}.png")
    assert found, json.dumps(place.evaluate(SOURCES, lab.source))[:2000]
    moved[lab] = expected


def test_pages_loaded_again_show_what_was_chosen(labs: Any, moved: dict[Lab, list[float]]) -> None:
    assert moved, "no slider has been moved"
    reload(labs)
    labs.wait_for_function("() => window.jupyterapp?.shell?.currentWidget?.content != null")
    for lab, expected in moved.items():
        place = place_of(lab, labs)
        handle = place.locator(".widget-slider .noUi-handle").nth(lab.slider)
        handle.wait_for(state="attached")
        assert shown(place, lab.source, lab.column, expected), f"{lab} shows older data"
        readout = place.locator(".widget-slider .widget-readout").nth(lab.slider).text_content()
        assert handle.get_attribute("aria-valuetext") == readout
    assert faults(labs) == []


# How often styles of Bokeh are looked up, and how many there are.
STYLES = """() => {
    const {prototype} = CSSStyleDeclaration, usual = prototype.getPropertyValue;
    const visuals = Bokeh.require("core/visuals/visual").VisualProperties.prototype;
    const asked = visuals._get_css_value;
    Object.assign(window, {asked: 0, looked: 0});
    prototype.getPropertyValue = function(name) {
        looked += name.startsWith("--bk-");
        return usual.call(this, name);
    };
    visuals._get_css_value = function(name) { window.asked++; return asked.call(this, name); };
}"""


def test_a_drag_draws_on_the_way_and_leaves_no_queue(explorer: Any, page: Any) -> None:
    lab = LABS[0]
    page.evaluate(LISTEN)
    page.evaluate(COUNT_DATA, lab.source)
    page.evaluate(STYLES)
    handle = explorer.locator(".widget-slider .noUi-handle").first
    with dragged(page, handle, seconds=4):
        seen = page.evaluate("() => window.seen.length")
    page.wait_for_timeout(1000)
    rows = int(explorer.locator(".widget-readout").first.inner_text().replace(",", ""))
    coronary = start_here.table("coronary")
    edges = start_here.posterior(coronary, rows).edges[~np.eye(coronary.n, dtype=bool)]
    assert shown(explorer, lab.source, lab.column, list(edges))
    at_last = page.evaluate("() => seen.length")
    assert seen >= 5, f"{seen} pictures in 4 seconds of dragging"
    # One may be on its way, one wait for the kernel, and the mouse is let go.
    assert at_last - seen <= 4, "pictures of earlier values come after the drag"
    assert page.evaluate("() => told") == [], "the kernel's own changes go back to it"
    looked, asked = page.evaluate("() => [window.looked, window.asked]")
    assert looked == 0 < asked, "styles are looked up for every label"


SIZES = """() => Object.fromEntries(
    [...Bokeh.index.roots].filter(view => view.frame).map(({model, bbox, frame}) =>
        [model.id, [bbox.width, bbox.height, frame.bbox.width, frame.bbox.height]]))"""

COUNT_PAINTS = f"""
    const sizes = ({SIZES})();
    window.painted = {{}};
    const pictures = Bokeh.require("models/plots/plot_canvas").PlotView.prototype;
    const paint = pictures._paint_primary;
    pictures._paint_primary = function(...given) {{
        (painted[this.model.id] ??= [0, sizes[this.model.id]])[0]++;
        return paint.apply(this, given);
    }};
    window.taken = {{}};
    const drawn = Bokeh.require("models/renderers/glyph_renderer").GlyphRendererView.prototype;
    const take = drawn.set_data;
    drawn.set_data = function(...given) {{
        taken[this.model.id] = (taken[this.model.id] ?? 0) + 1;
        return take.apply(this, given);
    }};
"""


def test_pages_paint_a_picture_that_changes_its_size_once_and_keep_the_size_to_themselves(
    explorer: Any, page: Any
) -> None:
    lab = LABS[0]
    page.evaluate(LISTEN)
    page.evaluate(f"() => {{ {COUNT_PAINTS} }}")
    explorer.locator(".widget-dropdown select").first.select_option("tic_tac_toe")
    data = start_here.table("tic_tac_toe")
    edges = start_here.posterior(data, data.m).edges[~np.eye(data.n, dtype=bool)]
    assert shown(explorer, lab.source, lab.column, list(edges))
    page.wait_for_timeout(1000)
    assert page.evaluate("() => told") == []
    painted, sizes, taken = page.evaluate(f"() => [painted, ({SIZES})(), taken]")
    assert [count for count, _ in painted.values()] == [1, 1, 1]
    assert set(taken.values()) == {1}, "data are taken for each change of a message"
    assert any(before != sizes[name] for name, (_, before) in painted.items())
    for lay_out in "update_layout", "compute_layout":
        page.evaluate(f"() => {{ for (const view of Bokeh.index.roots) view.{lay_out}?.(); }}")
    assert page.evaluate(SIZES) == sizes, "a picture has not been laid out"


def test_what_is_pointed_at_is_outlined_in_the_other_pictures(explorer: Any, page: Any) -> None:
    """At first, and when the pictures have been drawn over."""
    sources = "edges", "links", "paths"
    assert outlined(page, sources, "M. Work", "Proteins")
    explorer.locator(".widget-slider .noUi-handle").first.press("ArrowLeft")
    assert shown(explorer, "edges", "probability", _coronary_edges(-2))
    assert outlined(page, sources, "M. Work", "Proteins")


def tab_to(page: Any, place: str) -> None:
    """Press Tab until the focus is there."""
    for _ in range(40):
        if page.evaluate("place => document.activeElement.matches(place)", place):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not lead to {place}")


def test_a_prediction_by_keyboard_alone_outlives_a_reload(
    server: Callable[[str], str], browser: Any
) -> None:
    page = open_and_run(browser, server(ASKING))
    try:
        field, commit = ".widget-text input", "button.mod-primary"
        page.locator(field).wait_for()
        page.get_by_text("once you have committed").wait_for()
        assert "0.375" not in page.locator(".jp-OutputArea-output").all_inner_texts()[-1]
        page.evaluate("() => window.jupyterapp.commands.execute('notebook:move-cursor-up')")
        tab_to(page, field)
        page.keyboard.type("0.4")
        tab_to(page, f"{commit}, .widget-toggle-buttons button")
        page.keyboard.press("ArrowRight")
        tab_to(page, commit)
        page.keyboard.press("Space")
        for again in (False, True):
            if again:
                reload(page)
            page.get_by_text("Committed: 0.4").wait_for()
            outcome = page.locator("[role=status] table")
            outcome.wait_for()
            assert "0.375" in outcome.inner_text() and "right" in outcome.inner_text()
            assert page.locator(field).is_disabled() and page.locator(commit).is_disabled()
            assert faults(page) == []
    finally:
        page.close()


def test_a_click_on_a_mark_chooses_it(question: Any, page: Any) -> None:
    choices = question.locator("input[type=radio]")
    drawn = question.locator(".bk-Canvas").bounding_box()
    # A chain of four in a column: its last node.
    page.mouse.click(drawn["x"] + drawn["width"] / 2, drawn["y"] + 0.93 * drawn["height"])
    question.locator("input[type=radio]:checked").wait_for()
    assert [each.is_checked() for each in choices.all()] == [False, False, False, True]


@pytest.mark.parametrize("kind", [".widget-dropdown select", "input[type=radio]"])
def test_arrow_keys_choose_and_do_not_leave(
    kind: str, page: Any, request: pytest.FixtureRequest
) -> None:
    place = request.getfixturevalue("explorer" if "select" in kind else "question")
    choices = place.locator(f".{LIVE} {kind}")
    choices.first.focus()
    for _ in range(2):
        page.keyboard.press("ArrowDown")
    if "select" in kind:
        assert choices.evaluate("list => list.selectedIndex") == 2
    else:
        assert [each.is_checked() for each in choices.all()] == [False, False, True, False]
    assert page.evaluate("place => document.activeElement.matches(place)", kind)


def test_only_the_first_picture_after_a_widget_is_its_still(browser: Any) -> None:
    cells = f"<div class='jp-Cell'><div class='{LIVE}'></div></div><div class='jp-Cell'>"
    pictures = "<p><img></p><p>Words.</p><p><img></p>"
    page = browser.new_page()
    try:
        page.set_content(f"{look()}{cells}{pictures}</div>")
        said = "node => [getComputedStyle(node, '::before').content, "
        said += "getComputedStyle(node.querySelector('img')).opacity]"
        first, second = (place.evaluate(said) for place in page.locator("p:has(> img)").all())
        assert first == ['"Still picture of the above:"', "0.6"]
        assert second == ["none", "1"]
    finally:
        page.close()


def test_a_widget_without_its_kernel_says_which_cells_to_run(question: Any, page: Any) -> None:
    said = f"() => getComputedStyle(document.querySelector('.{LIVE}'), '::before').content"
    assert question.locator(f".{LIVE}").count() == 1
    assert page.evaluate(said) == "none"
    page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"
    )
    page.wait_for_function(f"({said})().includes('{DEAD}')")
