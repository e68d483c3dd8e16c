"""T-cells: uniform, order-modular and informative priors, from all 5,400 rows or from few."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

import bnlab as bn
from bnlab import graphs
from bnlab.checks import Bools, Floats
from bnlab.papers.em2007.study import PROTEINS, cell_network
from bnlab.papers.stat521a.search import BDEU, MAX_PARENTS, stream
from bnlab.papers.store import stored

N = 11
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


def subsets() -> Mapping[str, Floats]:
    """Return what 20 subsets of the rows give, of each of SIZES but the last.

    "areas" and "evidence" are (sizes, subsets, sources, strengths), "alike" and "orders" (sizes,
    subsets) areas under the two priors that know nothing.
    """
    names: Sequence[str] = ("areas", "evidence", "alike", "orders")
    return {name: stored("stat521a")[f"cells {name}"].astype(np.float64) for name in names}
