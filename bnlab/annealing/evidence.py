"""The evidence by annealing."""

import math
from dataclasses import replace

import numpy as np

from bnlab.annealing.methods import AIS, DEFAULT
from bnlab.annealing.runs import anneal_orders
from bnlab.exact import log_prior_sum
from bnlab.results import Estimate
from bnlab.runs import Clock, Progress, check_counts
from bnlab.sampling import Executor
from bnlab.scores import ScoreTable


def estimate_evidence(
    table: ScoreTable,
    /,
    *,
    runs: int,
    rng: np.random.Generator,
    method: AIS = DEFAULT,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Estimate:
    """ln p(D) under the order-modular prior, by annealing [NiinimakiKoivisto2013, sec. 3.1].

    The estimate of p(D) is the mean of independent weights, hence unbiased; the standard error of
    its logarithm is by the delta method, and says nothing about peaks that no run has met.

    Parameters
    ----------
    table, rng, method, progress, executor : as in `anneal_orders`
    runs : number of runs, at least 2

    Returns
    -------
    Estimate
        kind "unbiased"; trace (runs,) is the estimate after each run.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu())
    >>> estimate = estimate_evidence(table, runs=9, rng=np.random.default_rng(1))
    >>> round(estimate.log_value, 4)
    -3.7534
    """
    check_counts(least=2, runs=runs)
    clock, log_prior_z = Clock(), log_prior_sum(table)
    draws = anneal_orders(
        table, runs=runs, rng=rng, method=method, progress=progress, executor=executor
    )
    log_p = draws.log_weight[0] - log_prior_z
    counts = np.arange(1, log_p.size + 1)
    trace = np.logaddexp.accumulate(log_p) - np.log(counts)
    relative = np.exp(log_p - trace[-1])
    stderr = relative.std(ddof=1) / math.sqrt(log_p.size) if log_p.size > 1 else math.inf
    return Estimate(
        float(trace[-1]),
        float(stderr),
        "unbiased",
        trace=trace,
        run=replace(draws.run, seconds=clock.seconds),
    )
