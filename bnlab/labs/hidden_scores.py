"""The views and the checks of notebooks/09_hidden_scores.ipynb.

The 136 structures of chapter 6 of [Beal2003], data from its tables, scores, the true one's rank.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import bnlab as bn
from bnlab import graphs, plots
from bnlab.checks import Floats, Ints
from bnlab.hidden import SMC, HiddenModel, estimate_evidence, exact_evidence
from bnlab.hidden.scoring import Score
from bnlab.kernels.latent import exp_digamma
from bnlab.labs.board import Told, exercise, if_right, setup as setup, side_by_side, size_slider
from bnlab.labs.predict import predict as predict, review as review
from bnlab.labs.view import Board, Experiment, Progress, View
from bnlab.papers.beal2003 import world
from bnlab.papers.beal2003.study import true_model as true_model
from bnlab.papers.beal2003.world import ARITIES, models, truth

SEED = 2003  # of the first data set; others have the seeds that follow
SIZES = (10, 40, 160, 480, 1280, 2560, 10_240)  # a smaller set of rows is part of the larger ones
# Names on the page -> names in the package.
SCORES: Mapping[str, Score] = {"MAP": "map", "BIC": "bic", "CS": "cs", "VB": "vb"}
RANKED = ("BIC", "CS", "VB")
NAMES = ("h1", "h2", "y1", "y2", "y3", "y4")

TABLES = tuple([[p or world.LEAST for p in row] for row in table] for table in world.THETA)
"""The tables of sec. 6.4 of [Beal2003]: rows sum to 1 nearly; its .00 is here .0025."""

PUBLISHED_RANKS: Mapping[str, Ints] = {
    label: world.TABLE_6_1[np.isin(world.SIZES, SIZES), world.RANK_SCORES.index(SCORES[label])]
    for label in RANKED
}
"""Ranks of the true structure in Table 6.1 of [Beal2003], alias-corrected, at `SIZES`."""

structures, true_number = models, truth
"""As the lab calls them: the 136 structures, and which of them made the data: `true_model()`."""

FIVE = ((0, 0), (0, 0), (1, 1), (2, 2), (2, 2))  # the rows of sections 1 to 4
PARTICLES = 50

Found = dict[int, dict[int, dict[str, int]]]  # data set -> rows -> score -> rank of the true one
_scored: dict[tuple[int, int], Mapping[str, Floats]] = {}  # by rows and seed


def thesis_tables() -> list[Floats]:
    """Tables of the thesis, one array (rows, states) a node, rows normalised."""
    return [np.array(t) / np.sum(t, axis=1, keepdims=True) for t in TABLES]


@cache
def _all_rows(seed: int) -> bn.Data:
    levels = tuple(tuple(map(str, range(1, k + 1))) for k in ARITIES)
    about = true_model().parents, np.array(ARITIES), NAMES, levels
    net = bn.BayesNet(*about, tuple(thesis_tables()))
    return net.sample(10_240, np.random.default_rng(seed)).select(NAMES[2:])


def rows(n: int, seed: int = SEED) -> bn.Data:
    """The first n of 10,240 rows simulated from the tables of the thesis, hidden nodes left out."""
    return _all_rows(seed).prefix(n)


def scored(n: int, seed: int = SEED, *, progress: Progress | None = None) -> Mapping[str, Floats]:
    """Four scores of the 136 structures, nats; all but MAP with the alias term ln A.

    BIC counts the parameters of hidden nodes without children, as the thesis does.
    """
    if (n, seed) not in _scored:
        data, names = rows(n, seed).values, tuple(SCORES.values())
        rng = np.random.default_rng([seed, n])
        values = world.scored(data, names, rng=rng, progress=progress)
        _scored[n, seed] = {
            label: values[:, place] + world.log_aliases() * (label != "MAP")
            for place, label in enumerate(SCORES)
        }
    return _scored[n, seed]


@cache
def evidence(n: int) -> bn.Estimate:
    """Evidence of the true structure, by the sum over completions up to 10 rows, else by SMC."""
    if n <= 10:
        return exact_evidence(true_model(), rows(n))
    rng, method = np.random.default_rng([SEED, n]), SMC(PARTICLES)
    return estimate_evidence(true_model(), rows(n), runs=4, rng=rng, method=method)


def gold(n: int, seed: int = SEED, *, run: int = 0) -> Floats:
    """Evidence of all 136 structures by sequential Monte Carlo, nats: (136,); each `run` anew."""
    rng = np.random.default_rng([seed, n, PARTICLES, run])
    with ThreadPoolExecutor(2) as executor:
        how: Any = {"runs": 1, "rng": rng, "method": SMC(PARTICLES), "executor": executor}
        found = bn.hidden.estimate_structures(structures(), rows(n, seed), **how)
    return np.array([estimate.log_value for estimate in found])


def rank(scores: ArrayLike, number: int | None = None) -> int:
    """How many structures score higher than this one, plus 1; the true one if none is given."""
    return int(world.ranks(np.asarray(scores, np.float64), number))


def drawing(model: HiddenModel, title: str, height: int = 225) -> Any:
    """The graph of a model: hidden nodes h1, h2, ... above observed ones y1, y2, ..."""
    names, places = [""] * model.n, np.empty((model.n, 2))
    for level, letter, nodes in ((1.0, "h", model.hidden), (0.0, "y", model.observed)):
        for i, v in enumerate(nodes):
            names[v], places[v] = f"{letter}{i + 1}", ((i + 0.5) / len(nodes), level)
    edges, alt = graphs.to_adjacency(model.parents), f"{title}: edges from causes"
    return plots.network(edges, names, places, height=height, title=title, alt=alt)


class Scores(View):
    """Four scores of the 136 structures; the true one, drawn, and what its scores are to bound."""

    beside = (("MAP", "BIC"), ("CS", "VB"), ("model", "bars"))

    def __init__(self, *, sizes: Sequence[int] = SIZES, size: int = 480) -> None:
        for n in sizes:  # now, so that the slider answers at once
            _ = scored(n), evidence(n)
        super().__init__(size=size_slider("rows", sizes, size))

    def arrange(self) -> list[Any]:
        """Return the controls, and the pairs of panels side by side as far as there is room."""
        controls, *pairs = super().arrange()
        return [controls, side_by_side(*pairs)]

    def draw(self, size: int) -> Board:
        """Each score against the number of parameters, on one vertical axis."""
        values = scored(size)
        everything = np.array([*values.values()])
        low, high = float(everything.min()), float(everything.max())
        room = 0.04 * (high - low)
        y, panels = plots.Axis("score (nats)", (low - room, high + room), number="0,0"), {}
        for name, scores in values.items():
            best = f"{world.parameters()[np.argmax(scores)]} parameters"
            winner = "the same" if rank(scores) == 1 else best
            said = f"True one (circle): rank {rank(scores)}; highest (cross): {winner}."
            shown = world.parameters(), scores, true_number()
            panels[name] = plots.structure_scores(*shown, y=y, title=name), said
        model = drawing(true_model(), "The true structure: h1 and h2 are hidden", 195)
        return panels | {"model": (model, ""), "bars": _bars(size)}


def _bars(n: int) -> tuple[Any, str]:
    """Scores of the true structure against its evidence, and what is proved of their order."""
    found, log_a = evidence(n), np.log(true_model().aliases)
    now = {name: values[true_number()] - found.log_value for name, values in scored(n).items()}
    gaps = [now["MAP"], 0.0, *(now[name] - log_a for name in ("VB", "CS", "BIC"))]
    labels = "MAP", "≥ ln p(D)", "≥ VB", "≥ CS", "BIC, no bound"
    picture = plots.evidence_bars(gaps, labels, sides=(2, 0), ends=(-140.0, 190.0))
    value = f"≈ {found.log_value:,.0f} (to a few nats)" if n > 10 else f"= {found.log_value:.1f}"
    return picture, (
        f"ln p(D) {value} lies in the grey if EM found the highest peak. CS ≤ VB: one climb of "
        "VB starts at EM's Q."
    )


class Ranks(Experiment):
    """Rank of the true structure against the rows of data, ours beside the thesis'."""

    def __init__(self, *, sizes: Sequence[int] = SIZES) -> None:
        self._sizes = sizes
        super().__init__(sets=size_slider("data sets", (1, 2, 5, 10)), nothing={}, unit="sizes")

    def compute(self, progress: Progress, /, sets: int) -> Found:
        """Return the ranks in data sets of other seeds, one size after the other."""
        found: Found = {}
        stops = list(product(range(SEED, SEED + sets), self._sizes))
        for done, (seed, n) in enumerate(stops):
            tell = partial(progress, done, len(stops), found)
            try:
                scores = scored(n, seed, progress=lambda *_, tell=tell: tell())
            except bn.Stopped:
                return found
            ranks = {name: rank(scores[name]) for name in RANKED}
            found = {**found, seed: {**found.get(seed, {}), n: ranks}}
            if not progress(done + 1, len(stops), found):
                break
        return found

    def draw(self, found: Found, sets: int) -> Board:
        """Medians over the data sets so far, and Table 6.1 of the thesis."""
        ours = {}
        for name in RANKED:
            of_size = [
                [known[n][name] for known in found.values() if n in known] for n in self._sizes
            ]
            ours[name] = np.array([np.median(r) if r else np.nan for r in of_size])
        whole = sum(len(known) == len(self._sizes) for known in found.values())
        said = f"{whole} complete data sets, medians. Rank 1: the true structure scores highest."
        picture = _ranks(self._sizes, ours, "ranks", "Ours")
        theirs = _ranks(SIZES, PUBLISHED_RANKS, "published_ranks", "Thesis, Table 6.1")
        return {
            "ours": (picture, said if found else "Not run yet: press Run."),
            "theirs": (theirs, "One data set, three restarts of each climb."),
        }


def _ranks(sizes: Sequence[int], lines: Mapping[str, ArrayLike], name: str, title: str) -> Any:
    label, ticks = "rank of the true structure (1 is best)", (1, 2, 5, 10, 20, 50, 136)
    return plots.log_curves(
        sizes,
        lines,
        {},
        x=plots.Axis("rows of data m"),
        y=plots.Axis(label, (180.0, 0.8), log=True, ticks=ticks, number="0,0.[0]"),
        title=f"{title}: rank of the true structure among 136",
        alt=f"{title}: rank of the true structure against rows of data, for three scores",
        name=name,
    )


def vb_step(counts: list[Floats]) -> list[Floats]:
    """The tables of exercise 1: each cell e to the slope of ln p(completed rows) in its count."""
    lines = [n.sum(axis=1, keepdims=True) + n.shape[1] for n in counts]
    power = np.vectorize(exp_digamma, otypes=[np.float64])
    return [power(1 + n) / power(line) for n, line in zip(counts, lines, strict=True)]


def right_step(function: Callable[[list[Floats]], Any]) -> Callable[[list[Floats]], Any]:
    """The student's function if it is the step, else the lab's."""
    return if_right(function, _is_step, vb_step)


def _is_step(function: Callable[[list[Floats]], Any]) -> bool:
    """Whether the function's cells are those of the step, whatever the counts."""
    return all(_agrees(function, counts) for counts in _some_counts())


def _some_counts() -> list[list[Floats]]:
    """Counts of the five rows by three random Q, shapes (1, 2), (2, 3), (2, 3)."""
    shares, columns = np.random.default_rng(2).dirichlet([1.0, 1.0], size=(3, 5)), np.array(FIVE).T
    return [[q.sum(axis=0)[None], *(q.T @ np.eye(3)[column] for column in columns)] for q in shares]


def _agrees(function: Callable[[list[Floats]], Any], counts: list[Floats]) -> bool:
    found = function([n.copy() for n in counts])
    return all(np.allclose(*pair, rtol=1e-4) for pair in zip(found, vb_step(counts), strict=True))


@exercise(properties=5)
def check_step(function: Callable[[list[Floats]], Any]) -> Told:
    """Exercise 1: `function(N)` makes VB's tables from counts N of the five rows."""
    some = _some_counts()
    given = [n.copy() for n in some[0]]
    tables = function(given)
    yield "return one table for each of N, of the same shape"
    yield [np.shape(table) for table in tables] == [n.shape for n in given]
    yield "N is as it was before"
    yield all(map(np.array_equal, given, some[0]))
    yield "a cell is e to the slope: above 0; and lines add up to less than 1"
    yield all((np.array(t) > 0).all() and (np.sum(t, axis=1) < 1).all() for t in tables)
    yield "no rows: ln p has the slope -1 in a line of two cells, -1.5 in a line of three"
    yield _agrees(function, [np.zeros(n.shape) for n in given])
    yield "each slope belongs to its own count, the others as they are; move it by little"
    yield _is_step(function)


@exercise(properties=7)
def check_row_by_row(function: Callable[[list[tuple[int, ...]], int], Any]) -> Told:
    """Exercise 2: `function(rows, states)` is ln p(rows), columns of three values, one cause."""
    few: list[tuple[int, ...]] = list(FIVE)
    twelve: list[tuple[int, ...]] = [(0, 1), (1, 1), (2, 0)] * 4

    def result(rows: list[tuple[int, ...]], states: int) -> float:
        return float(function(list(rows), states))

    def exact(rows: list[tuple[int, ...]], states: int) -> float:
        model = HiddenModel([0, 1, 1], [states, 3, 3], hidden=[0])
        return exact_evidence(model, np.array(rows)).log_value

    alone = bn.score_families(bn.Data.from_arrays(few), bn.K2(), max_parents=0).log_score.sum()
    yield "return one number"
    yield np.isfinite(result(few[:1], 2))
    yield "no rows: nothing is predicted, ln 1 = 0"
    yield np.isclose(result([], 2), 0)
    yield "one row of two columns: 1/9, whatever the number of states"
    yield np.allclose([result([(0, 2)], 2), result([(1, 1)], 3)], -np.log(9))
    yield "a cause with one state explains nothing: the columns alone, as in lab 01"
    yield np.isclose(result(few, 1), alone)
    yield "the five rows: the sum over all 32 completions"
    yield np.isclose(result(few, 2), exact(few, 2))
    yield "the order of the rows changes nothing"
    yield np.isclose(result(few[::-1], 2), result(few, 2))
    yield "three states and twelve rows, 531,441 completions: add up those with equal counts"
    yield np.isclose(result(twelve, 3), exact(twelve, 3))


@exercise(properties=5)
def check_culprit(fit: Any, culprit: str) -> Told:
    """Exercise 3: a variational fit of the true structure to 10,240 rows, and what was at fault."""
    before, shapes = scored(10_240)["VB"], [table.shape for table in thesis_tables()]
    gain = 0.0 if fit is None else fit.value + np.log(true_model().aliases) - before[true_number()]
    yield "culprit is 'bound', 'rows' or 'optimiser'"
    yield culprit in ("bound", "rows", "optimiser")
    yield "fit is what bn.hidden.fit_vb returns for lab.true_model() and lab.rows(10_240)"
    yield [n.shape for n in fit.counts] == shapes and round(fit.counts[2].sum()) == 10_240
    yield "a bound more than 10 nats above the one behind the rank"
    yield gain > 10
    yield "with it the true structure has rank 1"
    after = before.copy()
    after[true_number()] += gain
    yield rank(after) == 1
    yield "same rows, same bound as a function of Q, another end of the climb: who is left?"
    yield culprit == "optimiser"
