"""What priors do: orders inside a class of equivalent DAGs, and beliefs in edges of T-cells."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

import bnlab as bn
from bnlab import graphs
from bnlab.checks import Bools, Floats, Ints
from bnlab.linear_extensions import log_count
from bnlab.papers.em2007.study import PROTEINS, cell_network
from bnlab.papers.stat521a.search import BDEU, MAX_PARENTS, stream
from bnlab.papers.store import normalised, stored

Class = tuple[tuple[bool, ...], ...]

CLASS_SIZES = (10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)
DATA_SETS = 10


@cache
def everything() -> tuple[Ints, Floats]:
    """Return all DAGs of five nodes (29281, 5), and ln of the number of orders of each."""
    dags = graphs.all_dags(5)
    return dags, log_count(dags)


@cache
def true_class() -> Ints:
    """Return which of them are equivalent to the cancer network, by the number of their orders."""
    dags, log_orders = everything()
    found = np.flatnonzero(graphs.markov_equivalent(bn.load_network("cancer").dag, dags))
    return np.asarray(found[np.argsort(log_orders[found], kind="stable")])


def orders() -> list[int]:
    """Return the number of orders of each member of the true class."""
    return [int(count) for count in np.exp(everything()[1][true_class()]).round()]


class Bias(NamedTuple):
    """Exact posteriors of one data set, by sums over all DAGs; the last axis is the members."""

    alike: Floats  # (sizes, 4), p(G | D) of each member of the true class, each DAG alike
    modular: Floats  # (sizes, 4), the same under the order-modular prior
    sad: Floats  # (sizes,), edge probabilities of one from those of the other


def bias(number: int, /) -> Bias:
    """Return the posteriors for growing parts of data set `number` of the cancer network."""
    rows = bn.load_network("cancer").sample(CLASS_SIZES[-1], stream(1, number))
    dags, log_orders = everything()
    edges, members = graphs.to_adjacency(dags), true_class()
    alike, modular, sad = [], [], []
    for m in CLASS_SIZES:
        table = bn.score_families(rows.prefix(m), BDEU, max_parents=4)
        log_p = table.log_target(dags)
        both = [normalised(log_p), normalised(log_p + log_orders)]
        alike.append(both[0][members])
        modular.append(both[1][members])
        sad.append(np.abs(np.tensordot(both[0] - both[1], edges, axes=1)).sum())
    return Bias(np.array(alike), np.array(modular), np.array(sad))


@cache
def biases() -> Bias:
    """Return the means over data sets."""
    found = [bias(number) for number in range(DATA_SETS)]
    return Bias(*(np.mean(part, axis=0) for part in zip(*found, strict=True)))


def limits() -> tuple[Floats, float]:
    """Return shares of the members (4,) as rows grow without end, and the SAD of the edges then.

    Members have equal scores, so their shares are those of their numbers of orders.
    """
    dags, log_orders = everything()
    members = true_class()
    shares = normalised(log_orders[members])
    edges = graphs.to_adjacency(dags[members])
    return shares, float(np.abs(np.tensordot(shares - 1 / len(shares), edges, axes=1)).sum())


def neighbours(dags: ArrayLike, /) -> set[Class]:
    """Return the classes, as CPDAGs, of DAGs that differ from DAGs (k, n) by one edge."""
    near = []
    for dag in np.asarray(dags, np.int64):
        for u, v in np.argwhere(~np.eye(dag.size, dtype=bool)):
            other = dag.copy()
            other[v] ^= np.int64(1) << u
            if other[v] < dag[v] or not graphs.ancestors(dag)[u] >> v & 1:
                near.append(other)
    matrices = np.unique(graphs.cpdag(np.array(near)), axis=0)
    return {tuple(map(tuple, matrix.tolist())) for matrix in matrices}


def missed(n: int, /) -> tuple[float, float, int]:
    """Return mean and largest share of neighbouring classes that one member misses, and classes."""
    dags = graphs.all_dags(n)
    _, which = np.unique(graphs.cpdag(dags).reshape(len(dags), -1), axis=0, return_inverse=True)
    shares = []
    for c in range(which.max() + 1):
        members = dags[which == c]
        shares.append(1 - len(neighbours(members[:1])) / len(neighbours(members)))
    return float(np.mean(shares)), max(shares), len(shares)


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
