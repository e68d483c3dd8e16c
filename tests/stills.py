"""The pictures of the notebooks: how each comes from the cells before it, and a way to redraw them.

    uv run --extra test python tests/stills.py [NAME ...]    # all, or those named

A function below makes a picture of its name. Its arguments are names of the notebook, once the
first code cell and those that begin as given have run; `shown` is what these cells have shown. It
returns a row of figures, widgets and texts; lists in it are columns, lists in those rows again.

A picture that the notes for lecturers show is drawn a second time for them, twice as sharp.
"""

import argparse
import inspect
import json
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from drawing import check_font, write
from served import chromium

from bnlab import graphs, plots
from bnlab.plots.canvas import canvas, entries, legend, write as letter
from bnlab.plots.looks import COLOURS, INK, Axis

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "notebooks"
NOTES = NOTEBOOKS / "lecturers"


@dataclass(frozen=True, slots=True)
class Still:
    """A picture. `loose`: its numbers are those of one machine. `slow`: made in over a second.

    `real`: drawn of the real data files, not of what stands in for them.
    """

    name: str
    notebook: str
    make: Callable[..., Any]
    cells: tuple[str, ...] = ()
    slow: bool = False
    loose: bool = False
    real: bool = False

    @property
    def file(self) -> Path:
        return (NOTEBOOKS / self.notebook).parent / "images" / f"{self.name}.png"

    @property
    def slide(self) -> Path:
        return NOTES / "images" / self.file.name

    def parts(self, *, long: bool = False) -> Any:
        """What is drawn."""
        names = {"long": long, **run(self.notebook, self.cells)}
        wanted = inspect.signature(self.make).parameters
        return self.make(**{name: names[name] for name in wanted if name in names})


STILLS: dict[str, Still] = {}


def of(notebook: str, *cells: str, **settings: bool) -> Callable[[Any], Any]:
    """Enter a function in the table."""

    def enter(make: Any) -> Any:
        STILLS[make.__name__] = Still(make.__name__, notebook, make, cells, **settings)
        return make

    return enter


def run(notebook: str, cells: tuple[str, ...]) -> dict[str, Any]:
    """The names that cells of a notebook define; `shown`, what they have shown."""
    sources = sources_of(notebook)
    first = next(iter(sources)).replace("lab.setup()", "").replace("setup()", "")
    shown: list[Any] = []
    names: dict[str, Any] = {"__name__": notebook}
    exec(first, names)
    names |= {"show": shown.append, "shown": shown}
    for start in cells:
        source = [text for text in sources if text.startswith(start)]
        assert len(source) == 1, f"{len(source)} cells of {notebook} begin with {start!r}"
        exec(source[0], names)
    return names


@cache
def sources_of(notebook: str) -> list[str]:
    cells = json.loads((NOTEBOOKS / f"{notebook}.ipynb").read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def at(view: Any, *panels: str, **stops: Any) -> list[Any]:
    """Fresh pictures of a widget, its controls at these stops."""
    for control, stop in stops.items():
        view.controls[control].value = stop
    board = view.board()
    return [board[name][0] for name in panels or board]


TRIANGLE = ((0.1, 1.0), (0.9, 0.5), (0.1, 0.0))


def side_by_side(dags, names, places, width=240, height=150):
    """DAGs in a row, (text, edges) each, the text above."""
    drawn, look = [], {"width": width, "height": height, "title": "", "alt": "A DAG"}
    for said, pairs in dags:
        edges = graphs.to_adjacency(graphs.from_edges(len(names), pairs)).astype(float)
        drawn.append([said, plots.network(edges, list(names), places, **look)])
    return drawn


@of("00_start_here", "explorer = ")
def start_here(explorer):
    return explorer.widget


@of("00_start_here", "explorer = ")
def start_here_sizes(explorer):
    return [[f"{m:,} rows", *at(explorer, "heat", size=m)] for m in (0, 200, 1841)]


@of("00_start_here")
def start_here_directions():
    dags = [
        ("a → c → b", ((0, 2), (2, 1))),
        ("a ← c → b", ((2, 0), (2, 1))),
        ("a ← c ← b", ((1, 2), (2, 0))),
        ("a → c ← b", ((0, 2), (1, 2))),
    ]
    return side_by_side(dags, "abc", [(0.1, 1.0), (0.9, 1.0), (0.5, 0.0)])


@of("01_bayesian_networks", "net = ")
def bayesian_networks_earthquake(net):
    edges = graphs.to_adjacency(net.dag).astype(float)
    places = [(0.1, 1), (0.9, 1), (0.5, 0.5), (0.1, 0), (0.9, 0)]
    alt = "The five variables, an arrow from each parent to its child"
    return plots.network(edges, net.names, places, width=380, height=200, title="", alt=alt)


@of("01_bayesian_networks", "names = ")
def bayesian_networks_four(names, dags):
    edges = [[(u, v) for v, parents in enumerate(dag) for u in parents] for dag in dags]
    places = [(0.05, 1), (0.5, 0), (0.95, 1)]
    return side_by_side(zip(names, edges, strict=True), "ABC", places, width=180, height=130)


@of("01_bayesian_networks", "net = ", "evidence = ")
def bayesian_networks_evidence(evidence):
    return at(evidence, asked="Burglary")


@of("01_bayesian_networks", "growth = ")
def bayesian_networks_growth(growth):
    return at(growth)


@of("02_modular_priors", "data, five = ", slow=True)
def modular_priors_four(five, same):
    orders, dags = five.orders[same], five.dags[same]
    drawn = [
        (f"root {'ABCDE'[np.argmin(dags[i])]}: ℓ(G) = {orders[i]}", graphs.to_edges(dags[i]))
        for i in np.argsort(-orders)
    ]
    places = [(0.5, 1), (0.1, 0.5), (0.9, 0.5), (0.3, 0), (0.95, 0)]
    return side_by_side(drawn, "ABCDE", places, width=180, height=200)


@of("02_modular_priors", "explorer = ")
def prior_explorer(explorer):
    return at(explorer, prior="Koivisto")


@of("02_modular_priors", "washout = ", slow=True)
def washout(washout):
    return [[at(washout, size=m) for m in (200, 100_000)]]


@of("03_dynamic_programming", "data = ", "walk = ")
def dynamic_programming_lattice(walk):
    return at(walk, variables="4", rows=20, step=46)


@of("03_dynamic_programming", "data = ", "walk = ")
def dynamic_programming_edge(walk):
    return at(walk, variables="3", rows=0, step=29)


@of("03_dynamic_programming", "network = ", "found = ", slow=True)
def dynamic_programming_twenty(child, found):
    return [plots.heat_map(found.edges, child.names, title="Edges, 5,000 rows")]


CHAIN = ("@cache\ndef log_alpha", "def metropolis", "def edges_given")


@of("04_order_mcmc", "twice = ", *CHAIN, slow=True)
def order_mcmc_ladder(lab, twice, Random, log_target, metropolis, edges_given):
    betas, corners, rounds = [(i / 7) ** 2 for i in range(8)], (0, 2, 6, 8), 5000
    rng = Random(1)
    orders = [tuple(rng.sample(range(10), 10)) for _ in betas]
    who = list(range(8))  # which replica stands at each beta
    logs, places, mode = (np.zeros((rounds, 8)) for _ in range(3))
    for t in range(rounds):
        orders = [metropolis(twice, orders[i], 1, rng, betas[i])[0] for i in range(8)]
        now = [log_target(twice, order) for order in orders]
        for i in rng.choices(range(7), k=7):
            j = i + 1
            if rng.random() < lab.exchange_chance(now[i], now[j], betas[i], betas[j]):
                for each in (orders, now, who):
                    each[i], each[j] = each[j], each[i]
        logs[t] = now
        given = np.array([edges_given(twice, order)[4, corners] for order in orders])
        places[t, who] = range(8)
        mode[t, who] = np.where(given.max(axis=1) > 0.5, given.argmax(axis=1), 4)
    rows = list(range(8))
    axes = Axis("ln p̃, less its largest value"), Axis("β", (-0.6, 7.6), ticks=())
    ranges = canvas("ln p̃ at each β", "Eight bars", *axes, size=(400, 300))
    low, middle, high = np.quantile(logs[500:] - logs.max(), [0.05, 0.5, 0.95], axis=0).tolist()
    drawn = {"90% of draws": ranges.segment(low, rows, high, rows, line_width=6, color=COLOURS[0])}
    drawn["median"] = ranges.scatter(middle, rows, size=9, color=INK)
    legend(ranges, entries(drawn), columns=2)
    start, end, one = _trip(places[500:], mode[500:])
    x, y, what = np.arange(end - start), places[500:][start:end, one], mode[500:][start:end, one]
    axes = Axis("round", (0, end - start)), Axis("β", (-0.6, 7.6), ticks=())
    way = canvas("The way of one replica", "A path through eight rows", *axes, size=(460, 300))
    way.step(x.tolist(), y.tolist(), color="#c0c0c0", mode="after")
    drawn = {}
    for k, name in enumerate([*(f"corner {corner}" for corner in corners), "none"]):
        at = what == k
        if at.any():
            colour = [*COLOURS[:4], "#909090"][k]
            drawn[name] = way.scatter(x[at].tolist(), y[at].tolist(), size=5, color=colour)
    legend(way, entries(drawn), columns=5)
    for picture in (ranges, way):
        picture.yaxis.ticker = rows
        picture.yaxis.major_label_overrides = {i: f"{beta:.2f}" for i, beta in enumerate(betas)}
    return [ranges, way]


def _trip(places, mode):
    """The shortest way of a replica from beta = 1 to below 0.1 and back, to another corner."""
    best = (0, len(places), 0)
    for one in range(8):
        cold = np.flatnonzero((places[:, one] == 7) & (mode[:, one] < 4))
        for a, b in pairwise(cold):
            hot = (places[a:b, one] <= 2).any() and mode[a, one] != mode[b, one]
            if hot and b - a < best[1] - best[0]:
                best = (int(a), int(b) + 1, one)
    return best


@of("04_order_mcmc", "landscape = ")
def order_mcmc_landscape(landscape):
    return [at(landscape, "orders", beta=beta, step=2000)[0] for beta in (1, 0.1)]


@of("05_direct_dag_sampling", "workers = ", "walk = ")
def dds_walk_down(walk):
    return at(walk, "lattice", number=1, step=0) + at(walk, "net", number=4, step=8)


@of("05_direct_dag_sampling", "workers = ", "hundred = ", slow=True)
def dds_hundred_experiments(hundred):
    return [at(hundred, drawn=draws) for draws in (300, 4612)]


@of("05_direct_dag_sampling", "workers = ", "more = ", slow=True)
def dds_more_rows(more):
    return at(more, size=1841, drawn=4612)


@of("06_linear_extensions")
def linear_extensions_four():
    dags = [
        (f"ℓ = {2 if last else 6}", [(k, 0) if k == last else (0, k) for k in (1, 2, 3)])
        for last in range(4)  # the leaf whose edge is reversed; 0: none
    ]
    places = [(0.5, 1.0), (0.1, 0.0), (0.5, 0.0), (0.9, 0.0)]
    return side_by_side(dags, "ABCD", places, width=190)


@of("06_linear_extensions", "extensions = ")
def linear_extensions_down_sets(extensions):
    return at(extensions, shape="tree", number=1, step=0)


@of("06_linear_extensions", "certain = ", slow=True)
def certain_interval(certain):
    asked = {50: "top-right ⇝ middle-middle", 958: "top-middle ⇝ bottom-middle"}
    return [
        [f"{m} rows, {question}", *at(certain, size=m, drawn=20_000, question=question)]
        for m, question in asked.items()
    ]


@of("07_annealed_importance_sampling", slow=True)
def annealed_runs(lab):
    drawn = []
    for steps in (100, 1000):
        upward, _ = lab.paths(lab.GAME, 958, steps)
        axes = Axis("inverse temperature β", (-0.03, 1.03)), Axis("ln w so far − exact", (-42, 5))
        picture = canvas(f"20 runs of {steps:,} steps", "ln w over β", *axes, size=(430, 300))
        ways = [lab.BETAS.tolist()] * len(upward), upward.tolist()
        run = picture.multi_line(*ways, color=COLOURS[0], line_alpha=0.6, line_width=1.5)
        exact = picture.hspan([0], line_color=INK, line_dash="dashed", line_width=2)
        legend(picture, entries({"runs": run, "exact": exact}), columns=2)
        drawn.append(picture)
    return drawn


@of("07_annealed_importance_sampling", "fans = ", slow=True)
def annealed_paths(fans):
    return [[at(fans, steps=steps) for steps in (30, 1000)]]


@of("07_annealed_importance_sampling", "shapes = ", slow=True)
def annealed_schedules(shapes):
    return at(shapes, schedule="harmonic", steps=300)


@of("08_evidence_bounds", "def simulated", slow=True)
def evidence_simulated(bn, simulated):
    """Of the second table of section 6, with 100 steps, as the lab prints it."""
    scores, low, high = simulated([3] * 9 + [2], 958, 3, steps=100, seed=2)
    exact = bn.order_posterior(scores).log_evidence
    low, high = low - exact, high - exact
    axis = Axis("nats above ln p(D)", (-6.2, 5.2))
    picture = canvas(
        "A simulated table, 100 steps", "Bounds on an axis", axis, Axis(ends=(-3.3, 1.7))
    )
    picture.width, picture.height = 640, 230
    picture.yaxis.visible = picture.ygrid.visible = False
    marks = ("lower bound", low), ("ln p(D)", 0.0), ("upper bound", high)
    picture.segment([low], [0], [high], [0], line_width=2, color=INK)
    for i, (name, x) in enumerate(marks):
        picture.segment([x], [-2.8], [x], [0], color=INK, line_alpha=0.3, line_dash="dashed")
        picture.scatter([x], [0], size=11, color=COLOURS[i])
        letter(picture, [x], [1.2], [name], bold=True, size=11)
        letter(picture, [x], [0.6], [f"{x:.2f}".replace("-", "\u2212")], size=11)
    for name, y, x, to in (("shortfall", -1, low, 0.0), ("gap", -2.4, low, high)):
        picture.segment([x + 0.05], [y], [to - 0.05], [y], line_width=4, color=COLOURS[0])
        letter(picture, [(x + to) / 2], [y - 0.5], [name], size=11)
    return picture


@of("08_evidence_bounds", "closing = ", slow=True)
def evidence_bounds(closing):
    return at(closing)


@of("09_hidden_scores", "rows = ", "Y1, Y2", "def e_step", "question = ")
def hidden_widths(best, e_step):
    drawn = []
    for title, label, table, way, most in (
        ("A peak inside", "cell of state 0, in the cause's line", 0, (1, -1), 0.45),
        ("A peak on the border", "cell of answer 1 to y1, in state 0", 1, (-1, 1, 0), 0.85),
    ):
        axes = Axis(label, (-0.02, 0.87)), Axis("ln p(D | θ) − highest", (-4.2, 0.4))
        picture = canvas(title, "ln p(D | θ) against one cell", *axes, size=(430, 300))
        shifts = np.linspace(0 if table else -0.35, most, 201)
        heights = []
        for shift in shifts:
            moved = [cells.copy() for cells in best]
            moved[table][0] += shift * np.array(way)
            heights.append(e_step(moved)[1])
        heights, x = np.array(heights) - e_step(best)[1], best[table][0, table] + shifts
        look = {"line_width": 2.5, "color": COLOURS[0]}
        items = {"ln p(D | θ)": picture.line(x.tolist(), heights.tolist(), **look)}
        if not table:
            fall = -(2 / 0.4**2 + 3 / 0.6**2) / 2 * shifts**2
            look = {"line_width": 2, "color": COLOURS[1], "line_dash": "dashed"}
            items["parabola"] = picture.line(x.tolist(), fall.tolist(), **look)
        legend(picture, entries(items), columns=2)
        drawn.append(picture)
    return drawn


@of("09_hidden_scores", "def log_line")
def hidden_tangent(log_line):
    x, end = np.linspace(0, 2, 201), log_line(np.array([2.0, 0.0, 0.0]))
    curve = np.array([log_line(np.array([2.0, count, 0.0])) for count in x])
    slope = (log_line(np.array([2.0, 1e-6, 0.0])) - end) / 1e-6
    axes = Axis("count of the answer 1", (-0.05, 2.05)), Axis("g of the line", (-6.2, -1.5))
    alt = "g of a line against one of its counts"
    picture = canvas("State 0: counts 2, ?, 0", alt, *axes, size=(430, 300))
    items = {}
    for name, line, dash in (
        ("curve", curve, "solid"),
        (f"tangent at 0, slope {slope:.2f}", end + slope * x, "dashed"),
    ):
        look = {"line_width": 2.5, "color": COLOURS[len(items)], "line_dash": dash}
        items[name] = picture.line(x.tolist(), line.tolist(), **look)
    legend(picture, entries(items), columns=2)
    return picture


@of("09_hidden_scores", "rows = ")
def hidden_model(lab, cause):
    return [lab.drawing(lab.true_model(), "The questionnaire"), lab.drawing(cause, "Small model")]


@of("09_hidden_scores", "scores = lab", slow=True)
def hidden_scores(scores):
    board = at(scores)
    return [[board[:4], board[4:]]]


@of("09_hidden_scores", "ranks = ", slow=True)
def hidden_ranks(ranks):
    ranks.sets.value = 2
    ranks.runner.run_now()
    return at(ranks)


@of("10_hidden_annealing", "sides = ", slow=True)
def hidden_sides(sides):
    return at(sides)


@of("10_hidden_annealing", "loops = ", slow=True)
def hidden_loops(loops):
    return at(loops, shape="e = 0.2 (thesis)")


RACED = ("def race", "boards = ", "corners = ")


@of("11_structure_mcmc", *RACED, "stuck = ", slow=True)
def structure_mcmc_stuck(stuck):
    return [[walk, *at(stuck, "modes", walk=walk)] for walk in ("partition walk", "both")]


@of("11_structure_mcmc")
def structure_mcmc_neighbours():
    dags = [
        ("five neighbours: each proposed with 1/5", ((0, 1), (1, 2))),
        ("six neighbours: the way back with 1/6", ((0, 1),)),
    ]
    return side_by_side(dags, "uvw", TRIANGLE)


@of("11_structure_mcmc")
def structure_mcmc_layers():
    dag = np.zeros((4, 4))
    dag[[0, 1, 1, 2], [2, 2, 3, 3]] = 1
    partitions = {
        "A = ({u, v}, {w}, {x})": ((0, 0, 1, 2), (0.2, 0.8, 0.25, 0.7)),
        "v moved: ({u}, {w}, {v}, {x})": ((0, 2, 1, 3), (0.2, 0.8, 0.2, 0.8)),
        "w moved: ({u, v, w}, {x})": ((0, 0, 0, 1), (0.05, 0.5, 0.95, 0.5)),
    }
    drawn = [["A DAG", in_layers(0.6 * dag, *partitions["A = ({u, v}, {w}, {x})"])]]
    for said, (layer, across) in partitions.items():
        above = np.subtract.outer(layer, layer).T  # layers from u down to v
        allowed = np.where(above > 0, np.where(above == 1, 1, 0.3), 0)
        drawn.append([said, in_layers(allowed, layer, across)])
    return drawn


BOARDS = ("def changed", "def swapped", "def layers", "parents = ")


@of("11_structure_mcmc", *BOARDS)
def structure_mcmc_swap(first, layers, swapped):
    A = layers(first)
    return [
        ["before", on_board(A, [(4, 8)], (3, 5), (2, 8))],
        ["after", on_board(swapped(A, 2, 8), [(4, 2)], (3, 5), (2, 8))],
    ]


@of("11_structure_mcmc", *BOARDS)
def structure_mcmc_boards(first, second, third, layers):
    return [
        ["first", on_board(layers(first), [(5, 0), (0, 7), (4, 8)], (3, 5))],
        ["second: 5 → 0 reversed", on_board(layers(second), [(0, 5), (0, 7), (4, 8)], (0, 8))],
        ["third: 0 → 7 reversed, too", on_board(layers(third), [(0, 5), (7, 0), (4, 8)], (1, 7))],
    ]


def on_board(partition, pairs, axis, dots=()):
    """The nine squares with their layers, some edges, a mirror's line, a dot at some squares."""
    layer = {v: k for k, nodes in enumerate(partition, 1) for v in nodes}
    names = [f"{'● ' * (v in dots)}{v}: layer {layer[v]}" for v in range(9)]
    places = [(0.42 * (v % 3), 1 - 0.5 * (v // 3)) for v in range(9)]
    edges = np.zeros((9, 9))
    edges[tuple(zip(*pairs, strict=True))] = 1
    alt = "The nine squares of a board, with their layers, arrows, and a dashed line"
    drawn = plots.network(edges, names, places, width=330, height=200, title="", alt=alt)
    centres = drawn.select_one({"name": "nodes"}).data
    (x0, x1), (y0, y1) = ([centres[along][v] for v in axis] for along in "xy")
    ends = np.array([-0.3, 1.3])  # a little beyond the two squares
    line = {"line_color": INK, "line_dash": "dashed", "line_width": 2, "level": "underlay"}
    drawn.line(x0 + ends * (x1 - x0), y0 + ends * (y1 - y0), **line)
    return drawn


def in_layers(edges, layer, across):
    places = np.column_stack([across, 1 - np.array(layer) / max(layer)])
    alt = "Four nodes in layers, one below the other, with arrows downwards"
    return plots.network(edges, list("uvwx"), places, width=190, height=230, title="", alt=alt)


@of("12_beliefs_and_interventions")
def beliefs_cut():
    dags = ("seen", ((0, 1), (0, 2), (1, 2))), ("A set", ((0, 2), (1, 2)))
    return side_by_side(dags, ("B: sport", "A: vitamins", "C: well"), TRIANGLE)


@of("12_beliefs_and_interventions", "beliefs = ")
def beliefs_edges(beliefs):
    return at(beliefs, rows=200)


@of("12_beliefs_and_interventions", "doing = ")
def beliefs_doing(doing):
    return at(doing, which="C", rows=20)


@of("13_structure_search", "steps = ")
def search_steps(steps):
    return at(steps, dataset="coronary", step=4)


@of("13_structure_search")
def search_two(lab):
    """The class after five moves on coronary, a member with 3 → 1 added, and the class of that."""
    seven = graphs.to_adjacency(lab.classes("coronary")[5][6]).astype(bool)
    more = seven.copy()
    more[3, 1] = True
    before, after = (graphs.cpdag(graphs.from_adjacency(each)) for each in (seven, more))
    look = {"title": "A class, a member and its next class", "alt": "Two CPDAGs and a DAG"}
    told = ["CPDAG", "member 7 and 3 → 1", "CPDAG of this DAG"]
    marked = [before & before.T, before & before.T, after & after.T]
    drawn = [before, more, after]
    return [plots.graph_gallery(drawn, lab.names("coronary"), told, marked, **look)]


@of("13_structure_search", "data = ", 'table = tables["coronary"]')
def search_best(lab, listed):
    four = listed.dags[:4]
    whole = graphs.cpdag(four[0])
    drawn = [whole, *graphs.to_adjacency(four)]
    look = {"title": "The best class, and its members", "alt": "A CPDAG and four DAGs"}
    told, names = ["CPDAG", "first", "second", "third", "fourth"], lab.names("coronary")
    return [plots.graph_gallery(drawn, names, told, [whole & whole.T] * 5, across=5, **look)]


@of("13_structure_search", "members = ")
def search_members(members):
    return at(members, edges=5, member=1)


@of("13_structure_search", "averages = ", slow=True)
def search_averages(averages):
    return at(averages, dataset="coronary", count=300)


GARDEN = ("path = ", "table = ", "study = ")
SHARES = ("path = ", "soil, slugs", "def cut")


@of("14_your_own_data", *GARDEN[:2])
def own_table(table):
    return table.widget


TRUTH = (
    ("soil", "slugs"),
    ("slugs", "growth"),
    ("water", "growth"),
    ("growth", "flowers"),
    ("soil", "flowers"),
    ("flowers", "bees"),
)
"""The edges of the network that the garden follows."""


@of("14_your_own_data")
def own_set():
    names = ("soil", "slugs", "water", "growth", "flowers", "bees")
    seen = np.zeros((6, 6))
    for u, v in TRUTH:
        seen[names.index(u), names.index(v)] = 1
    done = seen.copy()
    done[:, names.index("slugs")] = 0
    places = plots.network_positions(seen)
    places[[names.index("slugs"), names.index("water")], 0] = 0.5, 0.85  # no edges cross
    alike = {"alt": "The network of the garden", "width": 330}
    titles = {"Seen": seen, "Slugs set: the edge into them is removed": done}
    return [plots.network(edges, names, places, title=t, **alike) for t, edges in titles.items()]


@of("14_your_own_data", *SHARES, slow=True)
def own_soils(lab, cut, soil, slugs, flowers):
    big = cut(lab.write_garden(rows=20_000, gaps=None)).values
    bloom, clay = big[:, flowers] == 1, big[:, soil] == 0
    having = {level: big[:, slugs] == k for level, k in (("none", 2), ("few", 0), ("many", 1))}
    shares = [[bloom[k].mean() for k in (h, h & clay, h & ~clay)] for h in having.values()]
    levels, (every, on_clay, on_sand) = list(having), map(list, zip(*shares, strict=True))
    share = [clay[here].mean() for here in having.values()]
    alt = "Share of plots that flower, by slugs: on clay, on sand, of all plots, and if set"
    axes = Axis("slugs", levels), Axis("share that flowers", (0, 1))
    picture = canvas("", alt, *axes, size=(460, 320))
    adjusted = np.average([on_clay, on_sand], axis=0, weights=[clay.mean(), 1 - clay.mean()])
    lines = {"on clay": on_clay, "on sand": on_sand, "all plots": every, "if set": adjusted}
    sizes = {"on clay": share, "on sand": [1 - each for each in share]}
    drawn = {}
    for (label, shares), colour in zip(lines.items(), (*COLOURS[:2], INK, INK), strict=True):
        look = {"line_color": colour, "line_dash": "dashed" if label == "if set" else "solid"}
        drawn[label] = [picture.line(levels, shares, line_width=2, **look)]
        if label in sizes:
            size = [6 + 18 * each for each in sizes[label]]
            drawn[label].append(picture.scatter(levels, shares, size=size, color=colour))
    legend(picture, entries(drawn))
    return [picture]


TRUE = {"line_color": INK, "line_dash": "dashed", "line_width": 2}  # of the line at the truth
TRUE_SHARE = 0.635
ASKED_FOR = "share that flowers without slugs"
ANSWERED = (*SHARES, "QUESTION", "def if_set")
TREATED = (*ANSWERED, "def fill", "rng, gardens = ")
ASKED = (*ANSWERED, "def ask(", "free = ")


@of("14_your_own_data", *TREATED, slow=True)
def own_missing(gardens):
    shown = {
        (f"{why}: {way}" if why != "none missing" else why): (colour, np.mean(drawn, axis=1))
        for why, both in gardens.items()
        for way, colour, drawn in zip(("left out", "average"), (COLOURS[0], INK), both, strict=True)
    }  # of the complete ones both are alike
    alt = "Answers of twenty gardens: a row for each reason and either way, a line at the truth"
    axes = (
        Axis(f"{ASKED_FOR} (dots: 20 gardens; dashed: the truth)", (0.3, 1)),
        Axis("", list(shown)[::-1]),
    )
    picture = canvas("", alt, *axes, size=(620, 270))
    picture.vspan([TRUE_SHARE], **TRUE)
    for label, (colour, means) in shown.items():
        picture.scatter(means, [label] * len(means), size=8, alpha=0.3, color=colour)
        look = {"size": 17, "marker": "diamond", "fill_color": colour, "line_color": "#ffffff"}
        picture.scatter([np.mean(means)], [label], **look)
    return [picture]


@of("14_your_own_data", *ASKED, slow=True)
def own_humps(free):
    bins = np.linspace(0.25, 0.85, 31)
    counts = np.histogram(free[0], bins)[0].tolist()
    alt = "Histogram of the answers of 400 DAGs without tiers"
    axes = Axis(ASKED_FOR), Axis("draws", (0, 60))
    picture = canvas("", alt, *axes, size=(420, 260))
    picture.quad(bins[:-1].tolist(), bins[1:].tolist(), counts, 0, color=COLOURS[0])
    for at_share, said, align in (0.42, "seen: 0.43 ", "right"), (0.65, " true: 0.64", "left"):
        letter(picture, [at_share], [56], [said], align=align)
    picture.vspan([0.43, TRUE_SHARE], **TRUE)
    return [picture]


@of("14_your_own_data", *GARDEN, slow=True)
def own_network(network):
    listed = network.widget.children[-1].children[-1]
    return [*at(network), listed]


@of("15_scaling_out", "speed = ")
def scaling_speed_up(speed):
    return at(speed)


# Papers: picture -> rows of figures of its page, which are named after the part of the name
# before "_".
PAGES = {
    "em2007_figure_1": [["figure_1"]],
    "em2007_figures_2_3": [["figure_2", "figure_2_moves"], ["figure_3", "figure_3_moves"]],
    "em2007_figures_4_5": [["figure_4", "figure_5"]],
    "em2007_figure_8_edges": [["figure_8_used", "figure_8_ignored"]],
    "em2007_figure_9": [["figure_9_slow"], ["figure_9_fast"]],
    "htw2016_table_1": [["figure_table_1"]],
    "htw2016_iris": [["figures_iris_1"], ["figures_iris_2"]],
    "htw2016_coronary": [["figures_coronary_1"], ["figures_coronary_2"]],
    "htw2016_guarantee": [["figure_rates", "figure_bound"]],
    "stat521a_learned": [["learned"]],
    "stat521a_traces": [["traces_500", "traces_1000"]],
    "stat521a_two_runs": [["two_runs_500"], ["two_runs_1000"]],
    "stat521a_census": [["census_synthetic"], ["census_tic_tac_toe"]],
    "stat521a_class": [["members"], ["bias"]],
    "stat521a_roc": [["roc_90", "roc_5400"]],
    "stat521a_beliefs": [["beliefs_areas", "beliefs_evidence"]],
    "stat521a_found": [["found_edges", "found_paths"]],
    "stat521a_predicted": [["predicted"]],
    "stat521a_sets": [["windows", "visits"]],
}
LONG_PAGES = {
    "nk2013_figure_1": [["figure_1_k3"], ["figure_1_k6"]],
    "nk2013_figure_2": [["figure_2_mushroom", "figure_2_alarm"], ["figure_2_promoters"]],
    "nk2013_figure_3_left": [
        ["figure_3_left_mushroom", "figure_3_left_alarm"],
        ["figure_3_left_promoters"],
    ],
    "nk2013_figure_3_right": [["figure_3_right", "agreement"]],
}


def of_page(page, rows, **settings):
    """Rows of figures of a page."""
    return [[[page.parts[name].make(**settings) for name in row] for row in rows]]


TIMED = ("em2007_figures_2_3",)  # chains are walked when they are drawn: their clock is loose
REAL = ("nk2013_figure_3_right",)
SLOW = (
    *TIMED,
    "em2007_figure_9",
    "htw2016_coronary",
    "htw2016_iris",
    "stat521a_learned",
    "stat521a_traces",
    "stat521a_two_runs",
    "stat521a_census",
    "stat521a_class",
    "stat521a_predicted",
    "stat521a_sets",
)

for _name, _rows in PAGES.items():
    STILLS[_name] = Still(
        _name,
        f"papers/{_name.partition('_')[0]}",
        lambda page, rows=_rows: of_page(page, rows),
        slow=_name in SLOW,
        loose=_name in TIMED,
    )


def fewest(study: Any) -> Any:
    """A plan of nk2013 that shows what the long one shows, but for the numbers."""
    return study.Plan(
        multiples=dict.fromkeys(study.NAMES, (1 / 1024, 1 / 256, 1 / 64)),
        moves={"MUSHROOM": 344, "ALARM": 232, "PROMOTERS": 154},
        thin=dict.fromkeys(study.NAMES, 1),
        max_states=10_000,
    )


for _name, _rows in LONG_PAGES.items():
    STILLS[_name] = Still(
        _name,
        "papers/nk2013",
        lambda page, study, long, rows=_rows: of_page(
            page, rows, plan=study.LONG if long else fewest(study)
        ),
        slow=True,
        loose=True,
        real=_name in REAL,
    )


@of("papers/em2007")
def em2007_figures_6_8(page):
    good = page.parts["figure_6"].make(title="Figure 6, the good ones", within=(0.02, 0.002))
    rows = of_page(page, [["figure_6"], ["figure_7", "figure_8"]])
    rows[0][0].append(good)
    return rows


@of("papers/htw2016", "sizes, left = ", slow=True)
def htw2016_delta(shown):
    return shown


@of("papers/beal2003", slow=True)
def beal2003_figure_6_2(page):
    sizes = (10, 160, 640, 1280, 2560, 5120, 10_240)
    column = [page.parts["figure_6_2"].make(n=n) for n in sizes]
    for picture in column:
        picture.height = 210
    for picture in column[:-1]:
        picture.xaxis.axis_label = None
    return [column]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="of pictures; all by default")
    given = parser.parse_args()
    notes, failed = "".join(text.read_text("utf-8") for text in NOTES.glob("*.md")), []
    check_font()
    with chromium() as browser:
        for name in given.names or STILLS:
            still, begun = STILLS[name], time.perf_counter()
            try:
                made = still.parts(long=True)
                write(still.file, made, browser)
                if f"(images/{name}.png)" in notes:
                    write(still.slide, made, browser, scale=2)
            except Exception:
                failed.append(name)
                traceback.print_exc()
                continue
            taken, size = time.perf_counter() - begun, still.file.stat().st_size
            print(f"{name}: {size / 1000:.0f} kB, {taken:.1f} s", flush=True)
    if failed:
        sys.exit(f"not drawn: {', '.join(failed)}")


if __name__ == "__main__":
    main()
