"""Exact ancestor probabilities under the order-modular prior: `order_paths`."""

import os
from collections.abc import Generator

import numpy as np

from bnlab import memory
from bnlab.checkpoints import Arrays, Checkpoint, Kept, check, identity
from bnlab.checks import Floats, checked
from bnlab.exact.order import OrderPosterior
from bnlab.kernels import order_dp as kernels
from bnlab.running import Progress, Stopped, Work, run_steps


@checked
def order_paths(
    posterior: OrderPosterior,
    /,
    *,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Floats:
    """Compute posterior path probabilities (n, n), [u, v] = p(u is a proper ancestor of v | D).

    Under the order-modular prior, by a dynamic program over pairs of a set of nodes and its members
    that descend from u, for each u in turn [ParviainenKoivisto2011]. Takes O(n**2 3**n) time and
    8 * 3**(n-1) bytes: 13 MB for n = 14, 115 MB for n = 16, 1.0 GB for n = 18. All terms are
    positive, so the rounding error is that of `order_posterior`, about 1e-11.

    Parameters
    ----------
    posterior : OrderPosterior from `order_posterior`
    checkpoint : a file for the ancestors u that are done, saved every 10 seconds or so, and at a
        stop. If it is there, the same call goes on from it
    progress : called as progress(done, total, None) after each ancestor u; False stops

    Raises
    ------
    ValueError
        If the memory is not there (said before any is taken), this is no OrderPosterior, or the
        checkpoint is damaged or of another posterior: it is left as it is then.
    Stopped
        If `progress` returned False.

    Examples
    --------
    >>> from bnlab import BDeu, Data, order_posterior, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [0, 0], [1, 1], [1, 1]]), BDeu())
    >>> order_paths(order_posterior(table)).round(4)
    array([[0.    , 0.4405],
           [0.4405, 0.    ]])
    """
    table, n = posterior.table, posterior.table.n
    memory.require(
        8 * (3 ** (n - 1) + 2 ** (n - 1)),
        task=f"n={n}: exact paths under the order-modular prior",
        remedy="choose fewer variables with Data.select, or draw DAGs with sample_dags and use "
        "features.paths",
    )
    identified = identity("order paths", table=table)
    work = _Paths(posterior)
    if run_steps(work, Checkpoint.at(checkpoint, identified), progress):
        raise Stopped(f"stopped after step {work.done} of {n}: no result yet")
    return np.minimum(work.rows, 1.0)


class _Paths(Work):
    """The rows (n, n) of paths from each node u; a row counts as done once it is whole."""

    begun = False

    def __init__(self, posterior: OrderPosterior) -> None:
        self._posterior, n = posterior, posterior.table.n
        self.rows, self.done = np.zeros((n, n)), 0

    def steps(self) -> Generator[tuple[int, int], None, None]:
        n = len(self.rows)
        if self.done == n:
            return
        first = np.empty(1 << (n - 1), np.int64)
        share, sums = np.empty(kernels.first_states(first)), self._posterior.sums
        for u in range(self.done, n):
            kernels.descendants(u, sums.alpha, sums.g, first, share, self.rows[u])
            self.done = u + 1
            yield self.done, n

    def arrays(self) -> Arrays:
        return {"paths": self.rows[: self.done]}

    def restore(self, saved: Arrays) -> None:
        n = len(self.rows)
        check(saved, {"paths": Kept(np.float64, ("nodes", n), 0, 1 + 1e-6)}, nodes=n)
        self.done = len(saved["paths"])
        self.rows[: self.done] = saved["paths"]
