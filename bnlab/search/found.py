"""`FoundDags`: distinct DAGs that a search met, as weighted draws for averaging over them."""

from dataclasses import dataclass, field

import numpy as np

from bnlab import memory
from bnlab.checks import Floats, Ints, checked
from bnlab.kernels import dag_sets as kernels
from bnlab.results import Draws, Record, Run, distinct_draws
from bnlab.scores import ScoreTable

BLOCK = 10_000  # DAGs that are scored at a time


@checked
@dataclass(frozen=True, slots=True, eq=False)
class FoundDags(Record):
    """Distinct DAGs of high posterior probability. `occams_window` and `shotgun_search` make them.

    Structure-modular: the posterior is proportional to exp(log_target), each DAG counted once.

    Attributes
    ----------
    dags : int64 (U, n) parent masks, all distinct, best first
    log_target : float64 (U,), nats, decreasing; ln of prior factor times likelihood
    trace : float64 (chains, T), nats, how the search went: see the search
    names : the n variable names
    run : Run

    Examples
    --------
    >>> FoundDags(np.zeros((1, 2), np.int64), np.zeros(1), np.zeros((1, 1)), ("a", "b"))
    FoundDags(1 of 2 variables, ln target 0.0000 to 0.0000)
    """

    dags: Ints
    log_target: Floats
    trace: Floats
    names: tuple[str, ...]
    run: Run = field(default_factory=lambda: Run(""))

    def __repr__(self) -> str:
        stopped = ", stopped early" if self.run.stopped else ""
        return (
            f"FoundDags({len(self.dags)} of {len(self.names)} variables, "
            f"ln target {self.log_target[0]:.4f} to {self.log_target[-1]:.4f}{stopped})"
        )

    @property
    def dag(self) -> Ints:
        """The best DAG (n,)."""
        best: Ints = self.dags[0]
        return best

    @property
    def log_mass(self) -> float:
        """ln of the sum of exp(log_target), nats: a lower bound on DagPosterior.log_z.

        Examples
        --------
        >>> found = FoundDags(np.zeros((1, 2), np.int64), np.zeros(1), np.zeros((1, 1)), ("a", "b"))
        >>> found.log_mass
        0.0
        """
        return float(np.logaddexp.reduce(self.log_target))

    def as_draws(self, *, log_z: float | None = None) -> Draws:
        """Return the DAGs as weighted draws, for `features`: Bayesian averaging over them.

        Weights are renormalised over the set. Given log_z, the sum over all DAGs under the same
        prior (DagPosterior.log_z), nats, stats["mass"] (1,) is Delta, the posterior probability of
        all these DAGs together, and intervals of features are certain, as after `reweight_unique`.

        Raises
        ------
        ValueError
            If log_z is less than `log_mass`.

        Examples
        --------
        >>> from bnlab import BDeu, Data, features, score_families
        >>> from bnlab.search import occams_window
        >>> table = score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu())
        >>> draws = occams_window(table, factor=1.5).as_draws(log_z=-2.549445)
        >>> features.probability(draws, features.edge(0, 1))
        p = 0.5000, in [0.4000, 0.6000] for certain (2 distinct DAGs)
        """
        return distinct_draws(self.dags, self.log_target, self.names, self.run, log_z=log_z)


def ranked(table: ScoreTable, dags: Ints, /) -> tuple[Ints, Floats]:
    """Distinct DAGs (U, n), best first, with their log_target (U,), summed anew by the table."""
    blocks = range(0, len(dags), BLOCK)
    log_target = np.concatenate([table.log_target(dags[i : i + BLOCK]) for i in blocks])
    ranking = np.lexsort((*dags.T[::-1], log_target))[::-1]
    return dags[ranking], log_target[ranking]


def stored(dags: Ints, scores: Floats, rows: int, /) -> kernels.Store:
    """A store of distinct DAGs (T, n) that has room for so many.

    Raises
    ------
    ValueError
        If memory is short.
    """
    n = dags.shape[1]
    memory.require(
        store_bytes(n, rows),
        task=f"a set of {rows:,} DAGs of n={n} variables",
        remedy="ask for fewer DAGs, or for a narrower window",
    )
    slots = np.full(1 << rows.bit_length() + 1, -1, np.int64)
    store = kernels.Store(
        slots, np.empty((rows, n), np.int64), np.empty(rows), np.zeros(1, np.int64)
    )
    kernels.fill(store, dags, scores)
    return store


def store_bytes(n: int, rows: int, /) -> int:
    """Bytes that `stored` takes for so many DAGs."""
    return 8 * (rows * (n + 1) + (1 << rows.bit_length() + 1))
