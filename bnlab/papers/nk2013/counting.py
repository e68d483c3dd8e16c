"""Figure 1: counting linear extensions of random DAGs, by the paper's method and by ours."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from bnlab import graphs
from bnlab.checks import Floats, Ints
from bnlab.linear_extensions import ideal_lattice
from bnlab.linear_extensions.counting import solve
from bnlab.papers.store import random_dag

SIZES = (10, 16, 22, 28, 34, 40, 46, 52, 58, 63)
"""Numbers of nodes; the paper's axis ends at 60 or so, and masks of 64 bits hold 63 nodes."""

DAGS = 9
IDEALS, COMPONENTS = "ideals", "components"
METHODS = (IDEALS, COMPONENTS)


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Exact counts for DAGS random DAGs of each size."""

    max_parents: int  # int
    max_states: int  # the cap, in sets
    # method -> (sizes, DAGS), processor time of each count, also of refused ones
    seconds: dict[str, Floats]
    # method -> (sizes, DAGS), sets kept in the table; inf where there were too many
    states: dict[str, Floats]

    def refused(self, method: str) -> NDArray[np.int64]:
        """Return how many of the DAGs of each size were refused, int64 (sizes,)."""
        return np.asarray(np.isinf(self.states[method]).sum(axis=1))

    def median_states(self, method: str) -> Floats:
        """Return median number of sets (sizes,); inf where more than half were refused."""
        return np.asarray(np.sort(self.states[method], axis=1)[:, DAGS // 2])

    def median_seconds(self, method: str) -> Floats:
        """Return median time of a count (sizes,); inf where more than half were refused."""
        counted = np.where(np.isinf(self.states[method]), np.inf, self.seconds[method])
        return np.asarray(np.sort(counted, axis=1)[:, DAGS // 2])


@cache
def count(
    max_parents: int, *, max_states: int, sizes: tuple[int, ...] = SIZES, seed: int = 2013
) -> Counts:
    """Count the linear extensions of DAGS random DAGs of each size, each with both methods."""
    works: dict[str, Callable[[Ints], int]] = {
        IDEALS: lambda dag: ideal_lattice(dag, max_ideals=max_states).size,
        COMPONENTS: lambda dag: solve(graphs.ancestors(dag), max_states).states,
    }
    seconds = {method: np.zeros((len(sizes), DAGS)) for method in works}
    states = {method: np.zeros((len(sizes), DAGS)) for method in works}
    for method, work in works.items():
        _timed(work, np.zeros(3, np.int64))  # compiles
        for i, n in enumerate(sizes):
            rng = np.random.default_rng([seed, n, max_parents])
            for j in range(DAGS):
                dag = random_dag(n, rng, max_parents)
                seconds[method][i, j], states[method][i, j] = _timed(work, dag)
    return Counts(max_parents, max_states, seconds, states)


def _timed(work: Callable[[Ints], int], dag: Ints) -> tuple[float, float]:
    start = time.process_time()
    try:
        states = float(work(dag))
    except ValueError:  # too many sets for the cap
        states = float("inf")
    return time.process_time() - start, states
