"""The evidence of a model with hidden nodes by simulation."""

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from bnlab.data import Data
from bnlab.hidden.annealing import anneal
from bnlab.hidden.methods import AIS, SMC
from bnlab.hidden.model import HiddenModel
from bnlab.hidden.smc import log_estimates
from bnlab.results import Estimate, Run
from bnlab.runs import Clock, Executor, Progress, check_counts, check_generator, seed_of

DEFAULT = SMC()


def estimate_evidence(
    model: HiddenModel,
    data: Data | ArrayLike,
    /,
    *,
    runs: int,
    rng: np.random.Generator,
    method: AIS | SMC | Literal["ais", "smc"] = DEFAULT,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Estimate:
    """Ln p(data) in nats, the mean of independent unbiased estimates of p(data).

    SMC is the more exact by far at equal cost. The standard error of the logarithm is by the delta
    method from the spread of the runs; where that is many nats, few runs carry the mean, the
    standard error says little and the estimate is likely too low.

    Parameters
    ----------
    model : HiddenModel
    data : as in `complete`; missing cells are summed over
    runs : number of runs, at least 1; the standard error of one run is infinite
    rng : the only source of randomness; equal states give equal numbers for any executor
    method : SMC(particles), AIS(schedule, moves), or "smc" or "ais" for either as it comes
    progress : progress(done, total, None) after each run; False stops, and the runs done remain
    executor : where runs go; threads by default

    Returns
    -------
    Estimate
        kind "unbiased"; trace (runs,) is the estimate after each run.

    Examples
    --------
    >>> model = HiddenModel([0, 1], [2, 3], hidden=[0])
    >>> estimate = estimate_evidence(model, [[0], [1], [2]], runs=100, rng=np.random.default_rng(1))
    >>> round(estimate.log_value, 2)  # exactly -3.807
    -3.81
    """
    if isinstance(method, str):
        if method not in ("ais", "smc"):
            raise ValueError(
                f"method={method!r}: choose 'ais' or 'smc', or give AIS(..) or SMC(..)"
            )
        method = AIS() if method == "ais" else SMC()
    check_counts(runs=runs)
    check_generator(rng)
    clock, seed = Clock(), seed_of(rng)
    if isinstance(method, AIS):
        log_p = anneal(
            model, data, runs=runs, rng=rng, method=method, progress=progress, executor=executor
        ).log_weight
    else:
        log_p = log_estimates(model, data, method, rng.spawn(runs), progress, executor)
    trace = np.logaddexp.accumulate(log_p) - np.log(np.arange(1, log_p.size + 1))
    relative = np.exp(log_p - trace[-1])
    stderr = relative.std(ddof=1) / math.sqrt(log_p.size) if log_p.size > 1 else math.inf
    settings = {"runs": runs, "method": repr(method), "strength": model.strength}
    name = "AIS" if isinstance(method, AIS) else "SMC"
    run = Run(name, settings, seed, clock.seconds, stopped=log_p.size < runs)
    return Estimate(float(trace[-1]), float(stderr), "unbiased", trace=trace, run=run)
