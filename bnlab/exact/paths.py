"""Exact ancestor probabilities under the order-modular prior: `order_paths`."""

import numpy as np
from numpy.typing import NDArray

from bnlab import memory
from bnlab.exact.order import OrderPosterior
from bnlab.exact.steps import Steps
from bnlab.kernels import paths as kernels
from bnlab.runs import Progress

Floats = NDArray[np.float64]


def order_paths(posterior: OrderPosterior, /, *, progress: Progress | None = None) -> Floats:
    """Posterior probabilities (n, n) of paths, [u, v] = p(u is a proper ancestor of v | D).

    Under the order-modular prior, by a dynamic program over pairs of a set of nodes and its members
    that descend from u, for each u in turn [ParviainenKoivisto2011]. Takes O(n**2 3**n) time and
    8 * 3**(n-1) bytes: 13 MB for n = 14, 115 MB for n = 16, 1.0 GB for n = 18. All terms are
    positive, so the rounding error is that of `order_posterior`, about 1e-11.

    Parameters
    ----------
    posterior : OrderPosterior from `order_posterior`
    progress : called as progress(done, total, None) after each source node u; False stops

    Raises
    ------
    ValueError
        If the memory is not there (said before any is taken), or this is no OrderPosterior.
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
    n = posterior.table.n
    memory.require(
        8 * (3 ** (n - 1) + 2 ** (n - 1)),
        task=f"n={n}: exact paths under the order-modular prior",
        remedy="choose fewer variables with Data.select, or draw DAGs with sample_dags and use "
        "features.paths",
    )
    first = np.empty(1 << (n - 1), np.int64)
    share = np.empty(kernels.first_states(first))
    out = np.empty((n, n))
    steps = Steps(progress, total=n)
    for u in range(n):
        kernels.descendants(u, posterior._alpha, posterior._g, first, share, out[u])
        steps.tick()
    return np.minimum(out, 1.0)
