"""Section 4.4: does Hoeffding's bound hold, and how generous is it?"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bnlab import features
from bnlab.labs.direct_dag_sampling import repeated_edges
from bnlab.labs.papers.htw2016.cases import case

SEED = 44
CURVE = (500, 1000, 1500, 2000, 2500, 3000, 3500, 4000, 4612)
SETTINGS = {0.02: 0.05, 0.01: 0.02}
"""eps -> delta; 4,612 and 23,026 draws."""
LONG_RUNS = {0.02: 1000, 0.01: 500}

Floats = NDArray[np.float64]


def misses(name: str, eps: float, sizes: Sequence[int], /, *, runs: int) -> Floats:
    """Share of runs that miss each edge by eps or more: (len(sizes), n (n - 1)).

    Independent runs of DDS, each with its prefixes of the given numbers of draws.

    Examples
    --------
    >>> misses("wine", 0.02, [200, 400], runs=3).shape
    (2, 156)
    """
    exact = case(name).by_k2
    off = ~np.eye(exact.table.n, dtype=bool)
    rng = np.random.default_rng([SEED, round(1000 * eps)])
    total = np.zeros((len(sizes), int(off.sum())))
    for stream in rng.spawn(runs):
        found = repeated_edges(exact, sizes, runs=1, rng=stream)[0]
        total += np.abs(found - exact.edges)[:, off] >= eps
    return total / runs


def draws_for(eps: float, /) -> int:
    """How many draws the guarantee asks for at one of the SETTINGS.

    Examples
    --------
    >>> draws_for(0.02), draws_for(0.01)
    (4612, 23026)
    """
    return features.hoeffding_draws(eps, SETTINGS[eps])
