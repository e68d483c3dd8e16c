"""Figure 1: counting linear extensions of random DAGs, by the paper's method and by ours."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from bokeh.layouts import row
from numpy.typing import NDArray

from bnlab import graphs, plots
from bnlab.linear_extensions import ideal_lattice
from bnlab.linear_extensions.counting import solve

Masks = NDArray[np.int64]
Floats = NDArray[np.float64]

SIZES = (10, 16, 22, 28, 34, 40, 46, 52, 58, 63)
"""Numbers of nodes; the paper's axis ends at 60 or so, and masks of 64 bits hold 63 nodes."""

DAGS = 9
IDEALS, COMPONENTS = "ideals", "components"
METHODS = (IDEALS, COMPONENTS)


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Exact counts for DAGS random DAGs of each size.

    Attributes
    ----------
    max_parents : int
    max_states : the cap, in sets
    seconds : method -> (sizes, DAGS), processor time of each count, also of refused ones
    states : method -> (sizes, DAGS), sets kept in the table; inf where there were too many
    """

    max_parents: int
    max_states: int
    seconds: dict[str, Floats]
    states: dict[str, Floats]

    def refused(self, method: str) -> NDArray[np.int64]:
        """How many of the DAGs of each size were refused, int64 (sizes,).

        Examples
        --------
        >>> count(3, max_states=2000, sizes=(10, 46)).refused(IDEALS)
        array([0, 9])
        """
        refused: NDArray[np.int64] = np.isinf(self.states[method]).sum(axis=1)
        return refused

    def median_states(self, method: str) -> Floats:
        """Median number of sets (sizes,); inf where more than half were refused.

        Examples
        --------
        >>> count(3, max_states=2000, sizes=(10, 46)).median_states(IDEALS) <= 2**10
        array([ True, False])
        """
        medians: Floats = np.sort(self.states[method], axis=1)[:, DAGS // 2]
        return medians

    def median_seconds(self, method: str) -> Floats:
        """Median time of a count (sizes,); inf where more than half were refused.

        Examples
        --------
        >>> np.isinf(count(3, max_states=2000, sizes=(10, 46)).median_seconds(IDEALS))
        array([False,  True])
        """
        counted = np.where(np.isinf(self.states[method]), np.inf, self.seconds[method])
        medians: Floats = np.sort(counted, axis=1)[:, DAGS // 2]
        return medians


def random_dag(n: int, max_parents: int, rng: np.random.Generator) -> Masks:
    """A random DAG (n,) as in figure 1: parents drawn among the nodes before, in a random order.

    The in-degree is uniform in 0..min(max_parents, place); the paper does not print its law.

    Examples
    --------
    >>> int(np.bitwise_count(random_dag(40, 3, np.random.default_rng(1))).max())
    3
    """
    order, dag = rng.permutation(n), np.zeros(n, np.int64)
    for place, v in enumerate(order):
        size = rng.integers(0, min(max_parents, place) + 1)
        for u in rng.choice(order[:place], size=size, replace=False):
            dag[v] |= np.int64(1) << u
    return dag


def count(
    max_parents: int, *, max_states: int, sizes: tuple[int, ...] = SIZES, seed: int = 2013
) -> Counts:
    """Count the linear extensions of DAGS random DAGs of each size, each with both methods.

    Parameters
    ----------
    max_states : sets that a count may keep; beyond, the DAG is refused

    Examples
    --------
    >>> found = count(6, max_states=1000, sizes=(10,))
    >>> bool((found.states[COMPONENTS] <= found.states[IDEALS]).all())
    True
    """
    works: dict[str, Callable[[Masks], int]] = {
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
                dag = random_dag(n, max_parents, rng)
                seconds[method][i, j], states[method][i, j] = _timed(work, dag)
    return Counts(max_parents, max_states, seconds, states)


def figure_1(found: Counts, /, sizes: tuple[int, ...] = SIZES) -> Any:
    """Times and numbers of sets, side by side; a line ends where a DAG is refused, as in print.

    Examples
    --------
    >>> len(figure_1(count(3, max_states=100, sizes=(10, 16)), sizes=(10, 16)).children)
    2
    """
    n, k = np.array(sizes, float), found.max_parents
    refused = {method: np.isinf(found.states[method]) for method in METHODS}
    shown = {method: np.clip(found.states[method], 1, found.max_states) for method in METHODS}
    time_title = f"Time of an exact count, in-degree at most {k}"
    sets_title = f"Sets in its table, in-degree at most {k}"
    return row(
        _picture(n, found.seconds, refused, time_title, "time (seconds)", (1e-5, 3e3)),
        _picture(n, shown, refused, sets_title, "number of sets", (1, 3e9)),
    )


def _picture(
    n: Floats,
    values: dict[str, Floats],
    refused: dict[str, NDArray[np.bool_]],
    title: str,
    y_label: str,
    y_range: tuple[float, float],
) -> Any:
    Series = dict[str, tuple[list[float], list[float]]]
    curves: Series = {}
    counted: Series = {}
    others: Series = {}
    # A line has the colour of its points, which says enough: its name is blank.
    for method, shift in zip(METHODS, (0.4, -0.4), strict=True):
        # Sizes with a refusal have no mean, and come last: more nodes, more sets.
        whole = ~refused[method].any(axis=1)
        last = whole.size if whole.all() else int(np.argmin(whole))
        if last:
            means = values[method][:last].mean(axis=1)
            curves[" " * (1 + len(curves))] = (n[:last].tolist(), means.tolist())
        places = np.broadcast_to(n[:, None] + shift, refused[method].shape)
        taken, left = ~refused[method], refused[method]
        counted[method] = (places[taken].tolist(), values[method][taken].tolist())
        others[f"{method}: refused"] = (places[left].tolist(), values[method][left].tolist())
    return plots.growth(
        curves,
        {**counted, **others},
        title=title,
        y_label=y_label,
        x_range=(6, 67),
        y_range=y_range,
        alt=f"{title}: points for each of {DAGS} DAGs and a line at the mean, for numbers of nodes "
        "from 10 to 63",
    )


def _timed(work: Callable[[Masks], int], dag: Masks) -> tuple[float, float]:
    start = time.process_time()
    try:
        states = float(work(dag))
    except ValueError:  # too many sets for the cap
        states = float("inf")
    return time.process_time() - start, states
