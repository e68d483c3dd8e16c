"""What chapter 6 prints; the 136 structures, data from the true one, and scores of all."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab.checks import Floats, Ints
from bnlab.files import packaged
from bnlab.hidden import HiddenModel, bipartite_structures, components, score_structures
from bnlab.hidden.scoring import Score
from bnlab.papers.page import streams
from bnlab.running import Progress

_PRINTED = packaged("papers/beal2003/printed.toml")

SIZES: tuple[int, ...] = tuple(_PRINTED["sizes"])
"""Rows of data n [sec. 6.4]; each data set begins the next."""

THETA: Sequence[Sequence[Sequence[float]]] = _PRINTED["theta"]
"""The parameters of the one true model, to two digits: their rows sum to .99 to 1.01."""

LEAST = 0.0025
"""What a printed .00 is taken for as a start: a walk never leaves a cell that is 0."""

RANK_SCORES = ("map", "bic*", "bicp*", "cs*", "vb*", "bic", "bicp", "cs", "vb", "ais(5)")
"""Columns of Table 6.1; an asterisk stands for scores without the alias term."""

DRAWS = 106
"""Draws of parameters from their prior in Table 6.5."""

SUCCESS_SCORES = ("bic", "bicp", "cs", "csd", "vb")
"""Columns of Table 6.5; "csd" is CS with a dagger."""


class Pooled(NamedTuple):
    """A column of Table 6.2: how often, in percent, VB ranks the truth worse, same or better."""

    worse: float
    same: float
    better: float


TABLE_6_2 = {name: Pooled(*column) for name, column in _PRINTED["table_6_2"].items()}
"""Ranks over all draws and sizes; an asterisk stands for both scores without the alias term."""


class Violations(NamedTuple):
    """A column of Table 6.4, percent of 136 structures, or of proposals."""

    single_plain: float  # one AIS run below VB*
    single: float  # one AIS run below VB
    rejected: float
    averaged_plain: float  # the mean of runs, below VB*
    averaged: float


TABLE_6_4 = {int(n): Violations(*column) for n, column in _PRINTED["table_6_4"].items()}
"""For smaller n the thesis prints bounds: at most 5.7, 7.5, 40.3, 0 and 1.9."""

TABLE_6_1: Ints = np.array(_PRINTED["table_6_1"])
"""Ranks (20, 10) of the true structure, by SIZES and RANK_SCORES."""

TABLE_6_3: Ints = np.array(_PRINTED["table_6_3"])
"""Ranks (20, 6) by AIS: five single runs, and their mean."""

TABLE_6_5: Ints = np.array(_PRINTED["table_6_5"])
"""How often (20, 5) of 106 each of SUCCESS_SCORES ranks the true structure first."""


Rows = NDArray[np.int64] | NDArray[np.int32]


stream = streams(2003)  # chosen before the first run, and kept

ARITIES = (2, 2, 5, 5, 5, 5)
TRUE_PARENTS = (0, 0, 0b01, 0b11, 0b11, 0b10)
"""Figure 6.1: both hidden nodes have three of the four observed nodes as children."""


@cache
def models() -> tuple[HiddenModel, ...]:
    """Return the 136 structures, two binary hidden and four five-valued nodes, lambda = 1."""
    return tuple(HiddenModel(p, ARITIES, hidden=[0, 1]) for p in bipartite_structures())


@cache
def truth() -> int:
    """Return the place of the true structure among `models`."""
    return [tuple(model.parents.tolist()) for model in models()].index(TRUE_PARENTS)


@cache
def parameters() -> Ints:
    """Return free parameters (136,) of each structure, from 18 to 66."""
    return np.array([model.free_parameters for model in models()])


@cache
def unused_parameters() -> Ints:
    """Return the free parameters (136,) of hidden nodes without children.

    Eq. 6.24 counts them in d, so the thesis' BIC does, and the package's does not.
    """
    used = [sum(one.model.free_parameters for one in components(model)) for model in models()]
    return parameters() - used


@cache
def log_aliases() -> Floats:
    """Return ln S (136,): S = 8, 2 or 1 for two, one or no hidden nodes with children."""
    return np.log([model.aliases for model in models()])


@cache
def thesis_network() -> bn.BayesNet:
    """Return the true structure with the published parameters, rows divided by their sums."""
    tables = [np.array(table) for table in THETA]
    tables = [table / table.sum(axis=1, keepdims=True) for table in tables]
    blank = bn.BayesNet.random_tables(TRUE_PARENTS, ARITIES, np.random.default_rng(0))
    return bn.BayesNet(blank.dag, blank.arities, blank.names, blank.levels, tuple(tables))


def drawn_network(draw: int, /) -> bn.BayesNet:
    """Return the true structure with parameters drawn from their prior, by number."""
    return bn.BayesNet.random_tables(TRUE_PARENTS, ARITIES, stream(1, draw))


def data_of_print(number: int, /) -> Ints:
    """Return observed columns (10240, 4) from the published parameters; smaller sets begin them."""
    return _observed(thesis_network(), stream(0, number))


def data_of_draw(draw: int, /) -> Ints:
    """Return observed columns (10240, 4) from the parameters of `drawn_network`."""
    return _observed(drawn_network(draw), stream(2, draw))


def _observed(network: bn.BayesNet, rng: np.random.Generator) -> Ints:
    return network.sample(SIZES[-1], rng).values[:, 2:].astype(np.int64)


class Larger(NamedTuple):
    """Structures that have more parameters than the true one."""

    all: tuple[int, ...]  # parameters of each, ascending
    # of those that have all edges of the true structure and more
    with_truth_inside: tuple[int, ...]


def larger_structures() -> Larger:
    """Return the structures of which the thesis says that there are three [Beal2003, sec. 6.4]."""
    own, found = _edges(models()[truth()]), []
    for model in models():
        edges = _edges(model)
        if any(own < each for each in (edges, {(1 - h, v) for h, v in edges})):
            found.append(model.free_parameters)
    sizes = parameters()
    return Larger(tuple(np.sort(sizes[sizes > sizes[truth()]]).tolist()), tuple(sorted(found)))


class Dimensions(NamedTuple):
    """Of each structure (136,): counted in the tables, and of the observed nodes' distributions."""

    complete: Ints
    observed: Ints
    hidden: Ints  # hidden nodes with children


@cache
def dimensions() -> Dimensions:
    """Return d' and d of every structure, d by the rank of the Jacobian [Beal2003, sec. 6.5.2]."""
    hidden = [len({h for h, _ in _edges(model)}) for model in models()]
    observed = [_dimension(_kind(model)) for model in models()]
    return Dimensions(parameters() - unused_parameters(), np.array(observed), np.array(hidden))


@cache
def _dimension(masks: tuple[int, ...]) -> int:
    model = HiddenModel((0, 0, *masks), ARITIES, hidden=[0, 1])
    return bn.hidden.dimension(model, rng=stream(7, *masks))


def _kind(model: HiddenModel) -> tuple[int, ...]:
    """Return parents of the observed nodes up to the order of nodes and the names of parents."""
    masks = model.parents[2:].tolist()
    swapped = [(mask >> 1) | (mask & 1) << 1 for mask in masks]
    return min(tuple(sorted(masks)), tuple(sorted(swapped)))


def _edges(model: HiddenModel) -> set[tuple[int, int]]:
    return {(h, v) for v in range(2, 6) for h in (0, 1) if model.parents[v] >> h & 1}


OF_THE_THESIS: tuple[Score, ...] = ("map", "bic", "bicp", "cs", "csd", "vb")
SCORES = (*OF_THE_THESIS, "csd_rank")
"""Beside the thesis' six: "csd_rank" is CS with d from the rank of the Jacobian (eq. 6.30)."""

RESTARTS = 3


def scored(
    rows: Rows,
    names: Sequence[Score],
    /,
    *,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> Floats:
    """Return scores (136, names) of one data set, nats, without aliases; BIC as eq. 6.24 has it."""
    found = score_structures(models(), rows, names, restarts=RESTARTS, rng=rng, progress=progress)
    values = np.array([[each[name].log_value for name in names] for each in found])
    unused = unused_parameters() / 2 * np.log(len(rows))
    values -= unused[:, None] * np.isin(names, ("bic", "bicp"))
    return values


def all_scores(rows: Rows, /, *, rng: np.random.Generator) -> Floats:
    """Return SCORES (136, 7) of one data set, nats, without the alias term."""
    values = scored(rows, OF_THE_THESIS, rng=rng)
    sizes = dimensions()
    added = (sizes.complete - sizes.observed) / 2 * np.log(len(rows))
    return np.column_stack([values, values[:, OF_THE_THESIS.index("cs")] + added])


def with_aliases(scores: Floats, /) -> Floats:
    """Return scores (..., 136, 7) plus ln S, but for the MAP score [Beal2003, eq. 6.26]."""
    adds = np.array([name != "map" for name in SCORES])
    return np.asarray(scores + log_aliases()[:, None] * adds)


def ranks(scores: Floats, number: int | None = None, /) -> Ints:
    """Return ranks (...,) of a structure, the true one by default, from scores (..., 136)."""
    out: Ints = 1 + (scores > scores[..., [truth() if number is None else number]]).sum(axis=-1)
    return out


def gaps(scores: Floats, /) -> Floats:
    """Return score of the true structure less the highest, (...,) from (..., 136): at most 0."""
    return np.asarray(scores[..., truth()] - scores.max(axis=-1))


class Standing(NamedTuple):
    """Of the true structure, by SCORES."""

    plain: Ints  # ranks (7,) without the alias term
    rank: Ints  # ranks (7,) with it
    gap: Floats  # nats (7,), with it


def scores_of_draw(draw: int, n: int, /) -> Floats:
    """Return `all_scores` after n rows from one draw of parameters."""
    return all_scores(data_of_draw(draw)[:n], rng=stream(3, draw, n))


def scores_of_print(number: int, n: int, /) -> Floats:
    """Return `all_scores` after n rows of one data set from the published parameters."""
    return all_scores(data_of_print(number)[:n], rng=stream(4, number, n))


def standing_in(scores: Floats, /) -> Standing:
    """Return ranks and gaps of the true structure in scores (136, 7) without the alias term."""
    corrected = with_aliases(scores)
    return Standing(ranks(scores.T), ranks(corrected.T), gaps(corrected.T))
