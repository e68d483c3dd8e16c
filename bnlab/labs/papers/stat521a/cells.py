"""T-cells: uniform, order-modular and informative priors, from all 5,400 rows or from few.

The rows are a file that is not part of the package; their scores are kept in it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab import graphs
from bnlab.exact import log_dag_prior_sum
from bnlab.labs.papers import em2007
from bnlab.labs.papers.stat521a.stored import Array, stored
from bnlab.labs.papers.stat521a.world import BDEU, MAX_PARENTS, stream

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

N = 11
NAMES = em2007.cells.NAMES
CONDITIONS, EACH = 9, 600  # of the rows, one after the other
SIZES = (90, 270, 900, 5400)
SHOWN = (90, 5400)
SUBSETS = 20
STRENGTHS = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
SOURCES = ("the literature", "one word in five wrong", "names mixed up")
BELIEVED, DOUBTED = 0.9, 0.1
WRONG = 0.2


@cache
def truth() -> Bools:
    """The 17 edges that biologists agree on, (11, 11), as kept by the page on [EatonMurphy2007].

    Examples
    --------
    >>> int(truth().sum())
    17
    """
    return graphs.to_adjacency(em2007.saved().arrays["cells network"])


def beliefs(source: str, /) -> Floats:
    """Degrees of belief in each edge (11, 11): 0.9 where a source names it and 0.1 elsewhere.

    The literature names `truth()`; the second source has one pair in five wrong, at random; the
    third has the edges of the literature between proteins whose names are mixed up.

    Raises
    ------
    ValueError
        For a source that is not in SOURCES.

    Examples
    --------
    >>> int((beliefs("names mixed up") == 0.9).sum())
    17
    """
    if source not in SOURCES:
        raise ValueError(f"no source {source!r}; there are {', '.join(SOURCES)}")
    named, rng = truth(), stream(7)
    wrong = rng.random((N, N)) < WRONG
    mixed = rng.permutation(N)
    if source == SOURCES[1]:
        named = named ^ wrong
    elif source == SOURCES[2]:
        named = named[np.ix_(mixed, mixed)]
    out = np.where(named, BELIEVED, DOUBTED)
    np.fill_diagonal(out, 0.0)
    return out


def table(m: int, /, prior: bn.Prior | None = None) -> bn.ScoreTable:
    """BDeu scores of one of SHOWN numbers of rows, as kept, with a prior; up to three parents.

    Examples
    --------
    >>> table(90).n
    11
    """
    return with_prior(stored()[f"cells {m}"], prior)


def with_prior(log_score: Floats, prior: bn.Prior | None = None, /) -> bn.ScoreTable:
    """A table of scores (11, F) of families of up to three parents, uniform over DAGs by default.

    Examples
    --------
    >>> with_prior(np.zeros((11, 176)), bn.EdgePenalty(1.0)).log_prior.min()
    np.float64(-3.0)
    """
    nothing = bn.Data.from_arrays(np.zeros((0, N), np.int32), arities=[3] * N, names=NAMES)
    chosen = bn.Uniform() if prior is None else prior
    blank = bn.score_families(nothing, BDEU, max_parents=MAX_PARENTS, prior=chosen)
    return replace(blank, log_score=log_score)


def edges(m: int, /, strength: float = 4.0) -> dict[str, Floats]:
    """Exact edge probabilities under four priors, label -> (11, 11).

    Examples
    --------
    >>> list(edges(90))[:2]
    ['each DAG alike', 'order-modular']
    """
    out = {
        "each DAG alike": bn.dag_posterior(table(m)).edges,
        "order-modular": bn.order_posterior(table(m)).edges,
    }
    for source in (SOURCES[0], SOURCES[2]):
        informed = table(m, bn.EdgeBeliefs(beliefs(source), strength))
        out[source] = bn.dag_posterior(informed).edges
    return out


def by_strength(log_score: Floats, source: str, /) -> tuple[Floats, Floats]:
    """For each of STRENGTHS: the area under the ROC curve, and ln p(D | strength), nats.

    Exact: the sum over all DAGs, divided by that of the prior alone.

    Examples
    --------
    >>> areas, evidence = by_strength(table(90).log_score, "the literature")
    >>> bool(areas[-1] > areas[0])
    True
    """
    areas, evidence, matrix = [], [], beliefs(source)
    for strength in STRENGTHS:
        informed = with_prior(log_score, bn.EdgeBeliefs(matrix, strength))
        posterior = bn.dag_posterior(informed)
        areas.append(bn.diagnostics.auc(posterior.edges, truth()))
        evidence.append(posterior.log_z - log_dag_prior_sum(informed))
    return np.array(areas), np.array(evidence)


def chosen_rows(data: bn.Data, m: int, number: int, /) -> bn.Data:
    """m rows of the file, equally many of each of its nine conditions.

    Examples
    --------
    >>> blank = bn.Data.from_arrays(np.zeros((5400, 2), np.int32), arities=[3, 3])
    >>> chosen_rows(replace(blank, intervened=np.zeros((5400, 2), bool)), 90, 0).m
    90
    """
    rng = stream(8, m, number)
    rows = [EACH * c + rng.permutation(EACH)[: m // CONDITIONS] for c in range(CONDITIONS)]
    which = np.sort(np.concatenate(rows))
    marks = None if data.intervened is None else data.intervened[which]
    return replace(data, values=data.values[which], intervened=marks)


def cells_arrays(data: bn.Data, subsets: int = SUBSETS) -> dict[str, Array]:
    """The kept arrays from the file of `load_dataset("sachs")`.

    "cells 90" and "cells 5400" are scores (11, 176). "cells areas" and "cells evidence" are (sizes,
    subsets, sources, strengths), "cells alike" and "cells orders" (sizes, subsets) the areas under
    the two priors that know nothing, for SIZES without the last.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> blank = bn.Data.from_arrays(rng.integers(0, 3, (5400, 11)), arities=[3] * 11, names=NAMES)
    >>> made = cells_arrays(replace(blank, intervened=np.zeros((5400, 11), bool)), 1)
    >>> made["cells areas"].shape
    (3, 1, 3, 8)
    """
    out: dict[str, Array] = {f"cells {m}": _scores(chosen_rows(data, m, 0)) for m in SHOWN}
    parts: dict[str, list[list[object]]] = {"areas": [], "evidence": [], "alike": [], "orders": []}
    for m in SIZES[:-1]:
        scored = [_scores(chosen_rows(data, m, number)) for number in range(subsets)]
        both = [[by_strength(one, source) for source in SOURCES] for one in scored]
        parts["areas"].append([[areas for areas, _ in one] for one in both])
        parts["evidence"].append([[evidence for _, evidence in one] for one in both])
        plain = [with_prior(one) for one in scored]
        parts["alike"].append([_area(bn.dag_posterior(one).edges) for one in plain])
        parts["orders"].append([_area(bn.order_posterior(one).edges) for one in plain])
    return out | {f"cells {name}": np.array(part, np.float32) for name, part in parts.items()}


def subsets() -> Mapping[str, Floats]:
    """The kept results of 20 subsets of each size; see `cells_arrays`.

    Examples
    --------
    >>> subsets()["areas"].shape
    (3, 20, 3, 8)
    """
    names: Sequence[str] = ("areas", "evidence", "alike", "orders")
    return {name: stored()[f"cells {name}"].astype(np.float64) for name in names}


def _scores(data: bn.Data) -> Floats:
    return bn.score_families(data, BDEU, max_parents=MAX_PARENTS).log_score


def _area(edges: Floats) -> float:
    return bn.diagnostics.auc(edges, truth())
