"""The 136 structures of the thesis, data from its tables, their scores, the true one's rank."""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

import bnlab as bn
from bnlab import plots
from bnlab.checks import Floats
from bnlab.hidden import SMC, estimate_structures, fit_vb
from bnlab.hidden.scoring import Score
from bnlab.kernels import latent
from bnlab.labs.board import size_slider
from bnlab.labs.view import Board, Experiment, Progress, View
from bnlab.papers.beal2003 import printed, world
from bnlab.papers.beal2003.annealing import true_model
from bnlab.papers.beal2003.world import ARITIES, models, truth
from bnlab.running import Stopped

SEED = 2003
"""Of the first data set; others have the seeds that follow."""

SIZES = (10, 40, 160, 480, 640, 960, 1280, 2560, 5120, 10_240)
"""Data sizes of the widgets; a smaller set of rows is part of the larger ones."""

SCORES: Mapping[str, Score] = {"MAP": "map", "BIC": "bic", "BICp": "bicp", "CS": "cs", "VB": "vb"}
"""Names on the page -> names in the package."""

RANKED = ("BIC", "BICp", "CS", "VB")
PARTICLES = 32
NAMES = ("s1", "s2", "y1", "y2", "y3", "y4")

TABLES = tuple([[p or printed.LEAST for p in row] for row in table] for table in printed.THETA)
"""The tables printed in sec. 6.4 of [Beal2003]: rows sum to 1 nearly; its .00 is here .0025."""

PRINTED_RANKS: Mapping[int, Mapping[str, int]] = {
    n: {
        label: int(
            printed.TABLE_6_1[printed.SIZES.index(n)][printed.RANK_SCORES.index(SCORES[label])]
        )
        for label in RANKED
    }
    for n in SIZES
}
"""Rank of the true structure in Table 6.1 of [Beal2003], alias-corrected, at `SIZES`."""

PRINTED_RUNS: Mapping[int, tuple[int, ...]] = {
    n: tuple(map(int, printed.TABLE_6_3[printed.SIZES.index(n)][:5]))
    for n in (10, 40, 480, 1280, 5120)
}
"""Rank of the true structure by five single annealing runs, Table 6.3 of [Beal2003]."""

structures, true_number = models, truth
"""As the lab calls them: the 136 structures, and which of them made the data: `true_model()`."""

SETS = (1, 2, 5, 10)
RANK_TICKS = (1, 2, 5, 10, 20, 50, 136)
RANK_SIZES = (10, 40, 160, 480, 1280, 2560, 5120, 10_240)
LABEL_SIZES = (10, 160, 480, 2560, 10_240)

Found = dict[int, dict[int, dict[str, int]]]
"""Data set -> rows -> score -> rank of the true structure."""


def thesis_tables() -> list[Floats]:
    """Tables of the thesis, one array (rows, states) a node, rows normalised."""
    return [np.array(t) / np.sum(t, axis=1, keepdims=True) for t in TABLES]


def causes_of(number: int) -> int:
    """How many hidden nodes of a structure have children."""
    return int(np.bitwise_or.reduce(structures()[number].parents)).bit_count()


@cache
def _all_rows(seed: int) -> bn.Data:
    levels = tuple(tuple(map(str, range(1, k + 1))) for k in ARITIES)
    about = true_model().parents, np.array(ARITIES), NAMES, levels
    net = bn.BayesNet(*about, tuple(thesis_tables()))
    return net.sample(max(SIZES), np.random.default_rng(seed)).select(NAMES[2:])


def rows(n: int, seed: int = SEED) -> bn.Data:
    """The first n of 10,240 rows simulated from the tables of the thesis, hidden nodes left out."""
    return _all_rows(seed).prefix(n)


def scored(n: int, seed: int = SEED) -> Mapping[str, Floats]:
    """Five scores of the 136 structures, nats; all but MAP with the alias term ln S.

    BIC and BICp count the parameters of hidden nodes without children, as the thesis does.

    Returns
    -------
    dict of score name to float64 (136,)
    """
    return _scored(n, seed)


@cache
def _scored(n: int, seed: int) -> Mapping[str, Floats]:
    names = tuple(SCORES.values())
    values = world.scored(rows(n, seed).values, names, rng=np.random.default_rng([seed, n]))
    return {
        label: values[:, place] + world.log_aliases() * (label != "MAP")
        for place, label in enumerate(SCORES)
    }


class Gold(NamedTuple):
    """Evidence of the 136 structures by SMC, nats: (136,) values and standard errors."""

    log_value: Floats
    stderr: Floats


def gold(n: int, /, *, progress: Progress | None = None) -> Gold:
    """The evidence of all 136 structures by sequential Monte Carlo over rows: the gold standard.

    Raises
    ------
    Stopped
        If `progress` returned False.
    """
    rng = np.random.default_rng([SEED, n, PARTICLES])
    found = estimate_structures(
        structures(), rows(n), runs=2, rng=rng, method=SMC(PARTICLES), progress=progress
    )
    return Gold(np.array([e.log_value for e in found]), np.array([e.stderr for e in found]))


def rank(scores: ArrayLike, number: int | None = None) -> int:
    """How many structures score higher than this one, plus 1; the true one if none is given."""
    return int(world.ranks(np.asarray(scores, np.float64), number))


def exp_digamma(x: ArrayLike) -> Floats:
    """exp of the derivative of ln Gamma; about x - 1/2."""
    values = np.asarray(x, np.float64)
    return np.array([latent.exp_digamma(v) for v in values.ravel()]).reshape(values.shape)


def log_completed(counts: ArrayLike) -> float:
    """ln probability of completed rows given by counts (rows of a table, states), strength 1.

    Each row of the table is integrated out: (k - 1)! prod_i N_i! / (N + k - 1)!.
    """
    total = 0.0
    for row in np.asarray(counts, np.float64):
        total += math.lgamma(row.size) - math.lgamma(row.sum() + row.size)
        total += sum(math.lgamma(count + 1) for count in row)
    return total


@cache
def ends(n: int, climbs: int = 60) -> tuple[Floats, Floats]:
    """p(s1 = 1) and p(s2 = 1), (climbs,) each, where variational climbs from random tables end."""
    counts = [
        fit_vb(true_model(), rows(n), restarts=1, rng=rng).counts[:2]
        for rng in np.random.default_rng([SEED, n]).spawn(climbs)
    ]
    first, second = ((np.array([c[v][0, 0] for c in counts]) + 1) / (n + 2) for v in (0, 1))
    return first, second


class Scores(Experiment):
    """Six scores of the 136 structures, the true one and the winner marked.

    Control `size`, the rows of data; `panels` by score; `found` is the evidence by SMC, a Gold, or
    None before Run.
    """

    def __init__(self, *, sizes: Sequence[int] = SIZES, size: int = 480) -> None:
        for n in sizes:  # now, so that the slider answers at once
            scored(n)
        super().__init__(size=size_slider("rows", sizes, size), label="Run SMC", unit="components")

    def compute(self, progress: Progress, /, size: int) -> Gold | None:
        """Return the evidence of all structures; stopped, what was known before."""
        try:
            return gold(size, progress=progress)
        except Stopped:
            return self.results.get((size,))

    def draw(self, found: Gold | None, size: int) -> Board:
        """Each score against the number of parameters, on one vertical axis."""
        values = {**scored(size), "SMC": np.full(len(world.parameters()), np.nan)}
        if found is not None:
            values["SMC"] = found.log_value
        everything = np.concatenate(list(values.values()))
        low, high = float(np.nanmin(everything)), float(np.nanmax(everything))
        room = 0.04 * (high - low)
        return {
            name: (
                plots.structure_scores(
                    world.parameters(),
                    scores,
                    true_number(),
                    y_range=(low - room, high + room),
                    name=name.lower(),
                    title="SMC: the evidence" if name == "SMC" else name,
                    alt=f"{name} of each structure against its parameters, the true and best "
                    "marked",
                ),
                _ranked(scores),
            )
            for name, scores in values.items()
        }


def _ranked(scores: Floats) -> str:
    if np.isnan(scores).all():
        return "Not run yet for these rows: press Run SMC."
    best = world.parameters()[int(np.argmax(scores))]
    winner = "the true one" if rank(scores) == 1 else f"one with {best} parameters"
    return f"True structure (circle): rank {rank(scores)}; highest score (cross): {winner}."


class Ranks(Experiment):
    """Rank of the true structure against the rows of data, ours beside the thesis'.

    Control `sets`, the number of data sets; panels `ours` and `theirs`; `found` is data set ->
    {rows: {score: rank}}.
    """

    def __init__(self, *, sizes: Sequence[int] = SIZES) -> None:
        self._sizes = sizes
        super().__init__(sets=size_slider("data sets", SETS, 1), nothing={}, unit="sizes")

    def compute(self, progress: Progress, /, sets: int) -> Found:
        """Return the ranks in data sets of other seeds, one size after the other."""
        found: Found = {}
        stops = list(product(range(SEED, SEED + sets), self._sizes))
        for done, (seed, n) in enumerate(stops, start=1):
            ranks = {name: rank(scores) for name, scores in scored(n, seed).items()}
            found = {**found, seed: {**found.get(seed, {}), n: ranks}}
            if not progress(done, len(stops), found):
                break
        return found

    def draw(self, found: Found, sets: int) -> Board:
        """Medians over the data sets so far, and Table 6.1 of the thesis."""
        ours, printed = {}, {}
        for name in RANKED:
            of_size = [
                [known[n][name] for known in found.values() if n in known] for n in self._sizes
            ]
            ours[name] = np.array([np.median(r) if r else np.nan for r in of_size])
            printed[name] = np.array([PRINTED_RANKS[n][name] for n in SIZES], float)
        whole = sum(len(known) == len(self._sizes) for known in found.values())
        said = f"{whole} complete data sets, medians. Rank 1: the true structure scores highest."
        return {
            "ours": (
                _ranks(self._sizes, ours, "ranks", "Ours"),
                said if found else "Not run yet: press Run.",
            ),
            "theirs": (
                _ranks(SIZES, printed, "printed_ranks", "Thesis, Table 6.1"),
                "One data set, three restarts of each climb.",
            ),
        }


def _ranks(sizes: Sequence[int], lines: dict[str, Floats], name: str, title: str) -> Any:
    return plots.log_curves(
        sizes,
        lines,
        {},
        x_label="rows of data n",
        y_label="rank of the true structure (1 is best)",
        title=f"{title}: rank of the true structure among 136",
        alt=f"{title}: rank of the true structure against rows of data, for four scores",
        name=name,
        y_axis_type="log",
        y_range=(180.0, 0.8),
        ticks=RANK_TICKS,
        x_ticks=RANK_SIZES,
    )


class Labels(View):
    """Where climbs ended: hidden states have no names, so each climb picks its own.

    Control `size`, the rows of data; panel `panel`.
    """

    def __init__(self) -> None:
        for n in LABEL_SIZES:  # now, so that the slider answers at once
            ends(n)
        super().__init__(size=size_slider("rows", LABEL_SIZES, 10))

    def draw(self, size: int) -> Board:
        """The probabilities of both hidden causes where each climb ended."""
        first, second = (p < 0.5 for p in ends(size))
        quarters = [int((a & b).sum()) for a, b in product((first, ~first), (second, ~second))]
        return {
            "panel": (
                plots.label_map(*ends(size), (TABLES[0][0][0], TABLES[1][0][0])),
                f"{size:,} rows: {', '.join(map(str, quarters))} of {first.size} climbs in the "
                "four quarters.",
            )
        }
