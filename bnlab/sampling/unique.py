"""`reweight_unique`: the distinct DAGs among draws, each weighed by its own posterior weight."""

import numpy as np
from numpy.typing import NDArray

from bnlab import memory
from bnlab.results import Draws, Run, mass_of
from bnlab.runs import Clock

Ints = NDArray[np.int64]

KEY_BYTES = 150  # of each DAG in the dictionary of those that have appeared


def reweight_unique(draws: Draws, /, *, log_z: float | None = None) -> Draws:
    """The distinct DAGs of draws, each weighed by prior factor times likelihood: IW-DDS.

    With S the set of distinct DAGs, p-hat(f | D) = sum over G in S of f(G) p(G, D) / sum over G in
    S of p(G, D) [HeTianWu2016, eq. 24 and 25]. How often a DAG was drawn does not count, nor do
    weights of the draws. So the estimate is of the structure-modular posterior, whatever the draws
    come from, and it is exact once S holds every DAG: draws only have to find those of much weight.

    Delta = sum over G in S of p(G | D) is the posterior mass of S. With it the posterior of any
    feature lies within [Delta p-hat, Delta p-hat + 1 - Delta] for certain [HeTianWu2016, eq. 26]:
    see `features.probability` and `features.sound`. The distinct DAGs of `draws.prefix(t)` are
    nested, so Delta grows with t.

    Parameters
    ----------
    draws : Draws over "dags"
    log_z : nats, ln of the sum over all DAGs of prior factor times likelihood, such as
        DagPosterior.log_z; without it there is no Delta. A log_prior that the draws were made
        with is a part of their weights, so log_z must have it, too

    Returns
    -------
    Draws
        The U distinct DAGs in order of first appearance, chain by chain: values (1, U, n) parent
        masks, log_weight = log_target (1, U), structure-modular. They all form one group. Given
        log_z, stats has "mass" (1,), Delta within 0..1, and "log_z" (1,).

    Raises
    ------
    ValueError
        If these are no draws of DAGs, memory is short, a DAG has no weight (log_target is not
        finite), or log_z is less than the sum over the distinct DAGs alone.

    Examples
    --------
    >>> from bnlab import BDeu, Data, order_posterior, sample_dags, score_families
    >>> posterior = order_posterior(score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu()))
    >>> draws = sample_dags(posterior, draws=50, rng=np.random.default_rng(1))
    >>> reweight_unique(draws)  # no edge, and one either way
    Draws(3 dags of 2 variables, structure-modular)
    """
    if not isinstance(draws, Draws):
        raise ValueError(f"{type(draws).__name__}: pass draws of DAGs, such as sample_dags gives")
    if draws.over != "dags":
        raise ValueError("orders have no weight as DAGs: draw DAGs with sample_dags")
    if not np.isfinite(draws.log_target).all():
        raise ValueError(
            "log_target of a draw is not finite: a DAG of prior factor 0 has no place among draws "
            "from a posterior"
        )
    memory.require(
        draws.log_target.size * (8 * draws.values.shape[-1] + KEY_BYTES),
        task=f"finding the distinct ones of {draws.log_target.size:,} DAGs",
        remedy="take fewer (Draws.prefix)",
    )
    clock = Clock()
    flat = np.ascontiguousarray(draws.values.reshape(-1, draws.values.shape[-1]))
    first = _first_appearances(flat)
    log_target = draws.log_target.reshape(1, -1)[:, first]
    return Draws(
        flat[first][None],
        log_target,
        log_target,
        "dags",
        "structure-modular",
        draws.names,
        stats=mass_of(log_target, log_z),
        traces={"group": np.zeros(log_target.shape, np.int64)},
        run=Run(
            f"{draws.run.method}, distinct".removeprefix(", "),
            {**draws.run.settings, "drawn": len(flat)},
            draws.run.seed,
            draws.run.seconds + clock.seconds,
            stopped=draws.run.stopped,
        ),
    )


def _first_appearances(rows: Ints) -> Ints:
    """Where each distinct row of (T, n) appears first, ascending: (U,)."""
    keys = rows.view(f"V{rows.itemsize * rows.shape[1]}").ravel().tolist()  # bytes
    where = dict(zip(reversed(keys), range(len(keys) - 1, -1, -1), strict=True))
    return np.sort(np.fromiter(where.values(), np.int64, len(where)))
