"""Estimates of nine runs as they grow: evidence, its lower bound, and errors of edges."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import bnlab as bn
from bnlab import diagnostics, features
from bnlab.labs.papers.nk2013.samplers import RUNS, Sampler

Floats = NDArray[np.float64]

POINTS, EDGE_POINTS = 10, 5
SPAN = 50  # the first estimate is made of no less than this part of the orders


def counts(sampler: Sampler, points: int = POINTS, /) -> list[int]:
    """Up to so many numbers of orders in a geometric row, the last of them all.

    Examples
    --------
    >>> from bnlab.labs.papers.nk2013.samplers import annealed, example
    >>> counts(annealed(example(), 4, 200))
    [1, 2, 4, 6, 9, 14, 21, 32, 50]
    """
    least = max(2 if sampler.method == "MC3" else 1, sampler.size // SPAN)
    spaced = np.geomspace(least, max(sampler.size, least), points).round().astype(int)
    return [int(count) for count in np.unique(spaced)]


def seconds(sampler: Sampler, points: int = POINTS, /) -> Floats:
    """Time of one run on one core up to each of the `counts`.

    Examples
    --------
    >>> from bnlab.labs.papers.nk2013.samplers import annealed, example
    >>> sampler = annealed(example(), 4, 200)
    >>> bool(np.isclose(seconds(sampler)[-1], sampler.seconds))
    True
    """
    out: Floats = np.array(counts(sampler, points)) * sampler.seconds / sampler.size
    return out


def evidence(sampler: Sampler, table: bn.ScoreTable, /) -> Floats:
    """ln p(D) (RUNS, counts) of each run, nats: order-modular, or corrected for DAGs.

    AIS: the mean weight [NiinimakiKoivisto2013, sec. 3.1, 3.2]. MC3: the telescoping product of
    the ratios of neighbouring chains, from the second half of the draws [sec. 2.3].

    Examples
    --------
    >>> from bnlab.labs.papers.nk2013.samplers import annealed, example
    >>> evidence(annealed(example(), 4, 200), example())[:, -1].std().round(9)
    np.float64(0.0)
    """
    found = [
        [bn.evidence_from(sampler.kept(count, [run]), table=table) for count in counts(sampler)]
        for run in range(RUNS)
    ]
    return np.array([[estimate.log_value for estimate in row] for row in found])


def lower_bounds(sampler: Sampler, table: bn.ScoreTable, /) -> Floats:
    """The 0.95 lower bound (counts,) on ln p(D), nats, with the nine runs as its nine bins.

    Examples
    --------
    >>> from bnlab.labs.papers.nk2013.samplers import annealed, example
    >>> bool((lower_bounds(annealed(example(), 4, 200), example()) < -3.75 - 0.33).all())
    True
    """
    kept = [sampler.kept(count) for count in counts(sampler)]
    return np.array([bn.lower_bound_from(k, table=table, bins=RUNS).log_value for k in kept])


def edges(sampler: Sampler, table: bn.ScoreTable, count: int, /) -> Floats:
    """Edge probabilities (RUNS, n, n) after so many orders of each run.

    Examples
    --------
    >>> from bnlab.labs.papers.nk2013.samplers import annealed, example
    >>> edges(annealed(example(), 4, 200), example(), 50)[0].sum().round(9)  # of both directions
    np.float64(0.666666667)
    """
    return np.stack(
        [features.edges(sampler.kept(count, [run]), table=table) for run in range(RUNS)]
    )


def edge_errors(sampler: Sampler, table: bn.ScoreTable, reference: Floats, /) -> Floats:
    """Largest absolute error (RUNS, counts) over all edges, against a reference (n, n).

    Examples
    --------
    >>> from bnlab.labs.papers.nk2013.samplers import annealed, example
    >>> edge_errors(annealed(example(), 4, 200), example(), np.zeros((2, 2))).shape
    (9, 5)
    """
    found = [edges(sampler, table, count) for count in counts(sampler, EDGE_POINTS)]
    return np.array([[diagnostics.max_error(e, reference) for e in runs] for runs in found]).T


def disagreement(sampler: Sampler, table: bn.ScoreTable, /) -> Floats:
    """Largest difference (RUNS, counts) over all edges between a run and the end of the others.

    What can be told of an error when no exact value is at hand; all nine may be wrong together.

    Examples
    --------
    >>> from bnlab.labs.papers.nk2013.samplers import annealed, example
    >>> disagreement(annealed(example(), 4, 200), example()).shape
    (9, 5)
    """
    others = [[other for other in range(RUNS) if other != run] for run in range(RUNS)]
    pools = [features.edges(sampler.kept(sampler.size, runs), table=table) for runs in others]
    found = [edges(sampler, table, count) for count in counts(sampler, EDGE_POINTS)]
    return np.array(
        [[diagnostics.max_error(*pair) for pair in zip(runs, pools, strict=True)] for runs in found]
    ).T


def best(errors: Sequence[Floats], /) -> int:
    """Whose errors (RUNS, counts) have the least median in the end.

    Examples
    --------
    >>> best([np.array([[0.5, 0.3]]), np.array([[0.5, 0.2]])])
    1
    """
    return int(np.argmin([np.median(error[:, -1]) for error in errors]))
