"""Exact ancestor probabilities under the order-modular prior: `order_paths`."""

import os

import numpy as np
from numpy.typing import NDArray

from bnlab import memory
from bnlab.checkpoints import Checkpoint, fingerprint
from bnlab.exact.order import OrderPosterior
from bnlab.exact.steps import Steps
from bnlab.kernels import paths as kernels
from bnlab.results import package_versions
from bnlab.runs import Progress

Floats = NDArray[np.float64]


def order_paths(
    posterior: OrderPosterior,
    /,
    *,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Floats:
    """Posterior probabilities (n, n) of paths, [u, v] = p(u is a proper ancestor of v | D).

    Under the order-modular prior, by a dynamic program over pairs of a set of nodes and its members
    that descend from u, for each u in turn [ParviainenKoivisto2011]. Takes O(n**2 3**n) time and
    8 * 3**(n-1) bytes: 13 MB for n = 14, 115 MB for n = 16, 1.0 GB for n = 18. All terms are
    positive, so the rounding error is that of `order_posterior`, about 1e-11.

    Parameters
    ----------
    posterior : OrderPosterior from `order_posterior`
    checkpoint : a file for the sources that are done, saved every 10 seconds or so, and at a stop.
        If it is there, the same call goes on from it
    progress : called as progress(done, total, None) after each source node u; False stops

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
    if not isinstance(posterior, OrderPosterior):
        raise ValueError(
            f"{type(posterior).__name__} is no OrderPosterior: make one with order_posterior"
        )
    table, n = posterior.table, posterior.table.n
    memory.require(
        8 * (3 ** (n - 1) + 2 ** (n - 1)),
        task=f"n={n}: exact paths under the order-modular prior",
        remedy="choose fewer variables with Data.select, or draw DAGs with sample_dags and use "
        "features.paths",
    )
    out, steps, file = np.zeros((n, n)), Steps(progress, total=n), None
    if checkpoint is not None:
        identity = fingerprint(table.parents, table.log_score, table.log_prior)
        versions = {"bnlab": package_versions()["bnlab"]}
        file = Checkpoint(checkpoint, {**versions, "method": "order paths", "table": identity})
        saved = file.load() or {"paths": out[:0]}
        steps.done = len(saved["paths"])
        out[: steps.done] = saved["paths"]
    if steps.done < n:
        try:
            _fill(out, posterior, steps, file)
        finally:
            if file is not None:
                file.save({"paths": out[: steps.done]})
    return np.minimum(out, 1.0)


def _fill(out: Floats, posterior: OrderPosterior, steps: Steps, file: Checkpoint | None) -> None:
    """The rows (n, n) that are not done yet; a row counts as done once it is whole."""
    n = len(out)
    first = np.empty(1 << (n - 1), np.int64)
    share = np.empty(kernels.first_states(first))
    for u in range(steps.done, n):
        kernels.descendants(u, posterior._alpha, posterior._g, first, share, out[u])
        steps.tick()
        if file is not None and file.due:
            file.save({"paths": out[: steps.done]})
