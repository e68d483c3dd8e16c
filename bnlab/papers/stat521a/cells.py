"""T-cells: uniform, order-modular and informative priors, from all 5,400 rows or from few."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

import bnlab as bn
from bnlab import graphs
from bnlab.checks import Bools, Floats
from bnlab.exact import log_dag_prior_sum
from bnlab.papers.em2007.study import PROTEINS, cell_network, rows_of
from bnlab.papers.stat521a.averages import child_arrays
from bnlab.papers.stat521a.search import BDEU, MAX_PARENTS, alarm_arrays, stream
from bnlab.papers.store import Array, stored

N = 11
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
    """Return the 17 edges that biologists agree on, (11, 11)."""
    return graphs.to_adjacency(cell_network())


def beliefs(source: str, /) -> Floats:
    """Return degrees of belief in each edge (11, 11): 0.9 where a source names it, else 0.1.

    The literature names `truth()`; the second source has one pair in five wrong, at random; the
    third has the edges of the literature between proteins whose names are mixed up.
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
    """Return stored BDeu scores of one of SHOWN numbers of rows, with a prior."""
    return with_prior(stored("stat521a")[f"cells {m}"], prior)


def with_prior(log_score: Floats, prior: bn.Prior | None = None, /) -> bn.ScoreTable:
    """Return scores (11, F) of families of up to three parents as a table with a prior."""
    nothing = bn.Data.from_arrays(np.zeros((0, N), np.int32), arities=[3] * N, names=PROTEINS)
    chosen = bn.Uniform() if prior is None else prior
    blank = bn.score_families(nothing, BDEU, max_parents=MAX_PARENTS, prior=chosen)
    return replace(blank, log_score=log_score)


def edges(m: int, /, strength: float = 4.0) -> dict[str, Floats]:
    """Return exact edge probabilities under four priors, label -> (11, 11)."""
    out = {
        "each DAG alike": bn.dag_posterior(table(m)).edges,
        "order-modular": bn.order_posterior(table(m)).edges,
    }
    for source in (SOURCES[0], SOURCES[2]):
        informed = table(m, bn.EdgeBeliefs(beliefs(source), strength))
        out[source] = bn.dag_posterior(informed).edges
    return out


def by_strength(log_score: Floats, source: str, /) -> tuple[Floats, Floats]:
    """Return for each of STRENGTHS the area under the ROC curve, and exact ln p(D | strength)."""
    areas, evidence, matrix = [], [], beliefs(source)
    for strength in STRENGTHS:
        informed = with_prior(log_score, bn.EdgeBeliefs(matrix, strength))
        posterior = bn.dag_posterior(informed)
        areas.append(bn.diagnostics.auc(posterior.edges, truth()))
        evidence.append(posterior.log_z - log_dag_prior_sum(informed))
    return np.array(areas), np.array(evidence)


def chosen_rows(data: bn.Data, m: int, number: int, /) -> bn.Data:
    """Return m rows of the file, equally many of each of its nine conditions."""
    rng = stream(8, m, number)
    rows = [EACH * c + rng.permutation(EACH)[: m // CONDITIONS] for c in range(CONDITIONS)]
    return rows_of(data, np.sort(np.concatenate(rows)))


def cells_arrays(data: bn.Data, subsets: int = SUBSETS) -> dict[str, Array]:
    """Compute the stored arrays from the file of `load_dataset("sachs")`.

    "cells 90" and "cells 5400" are scores (11, 176). "cells areas" and "cells evidence" are (sizes,
    subsets, sources, strengths), "cells alike" and "cells orders" (sizes, subsets) areas under the
    two priors that know nothing, for SIZES without the last.
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
    """Return the kept results of 20 subsets of each size; see `cells_arrays`."""
    names: Sequence[str] = ("areas", "evidence", "alike", "orders")
    return {name: stored("stat521a")[f"cells {name}"].astype(np.float64) for name in names}


def _scores(data: bn.Data) -> Floats:
    return bn.score_families(data, BDEU, max_parents=MAX_PARENTS).log_score


def _area(edges: Floats) -> float:
    return bn.diagnostics.auc(edges, truth())


PARTS = ("alarm", "cells", "child")


def made(part: str, /) -> dict[str, Array]:
    """Compute one of PARTS of the stored arrays: "child" in a minute, the others from files."""
    if part == "alarm":
        return alarm_arrays(bn.load_network("alarm"))
    if part == "cells":
        return cells_arrays(bn.load_dataset("sachs"))
    if part == "child":
        return child_arrays()
    raise ValueError(f"no part {part!r}; there are {', '.join(PARTS)}")
