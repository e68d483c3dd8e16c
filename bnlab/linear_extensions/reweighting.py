"""Draws from the order-modular posterior, made draws from the structure-modular one."""

import numpy as np

from bnlab.checks import checked
from bnlab.linear_extensions.counting import MAX_STATES, log_count
from bnlab.results import Draws, Run
from bnlab.running import Clock, Executor


@checked
def reweight_by_extensions(
    draws: Draws, /, *, max_states: int = MAX_STATES, executor: Executor | None = None
) -> Draws:
    """Weigh each DAG by 1 / l(G), one over its number of linear extensions.

    The bias correction of [NiinimakiKoivisto2013, sec. 3.2].
    The order-modular prior is q(G) l(G); the weights leave q(G), the structure-modular prior.
    Weighted averages over the draws then estimate structure-modular posterior probabilities, and
    posterior.log_z + ln(mean(exp(log_weight))) estimates ln of the sum over DAGs of q(G) p(D | G).

    Parameters
    ----------
    draws : Draws over "dags", order-modular
    max_states : how many components to keep at most for a DAG, as in `count_linear_extensions`
    executor : where blocks of DAGs are counted; threads by default

    Returns
    -------
    Draws
        The same DAGs, log_weight (chains, draws) less ln l(G), structure-modular, not independent
        draws from that posterior. traces has "log_extensions" (chains, draws), ln l(G) in nats;
        stats has "effective_sample_size" (chains,), (sum w)**2 / sum w**2, 0 without any weight.

    Raises
    ------
    ValueError
        If the draws are orders, or structure-modular already, or a DAG cannot be counted.

    Examples
    --------
    >>> from bnlab import BDeu, Data, order_posterior, sample_dags, score_families
    >>> posterior = order_posterior(score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu()))
    >>> draws = sample_dags(posterior, draws=5, rng=np.random.default_rng(1))
    >>> reweight_by_extensions(draws)
    Draws(5 dags of 2 variables, structure-modular)
    """
    if draws.over != "dags":
        raise ValueError("an order has no linear extensions to count: draw DAGs with sample_dags")
    if draws.prior != "order-modular":
        raise ValueError(
            f"the draws are {draws.prior}: 1 / l(G) corrects order-modular draws, and only once"
        )
    clock = Clock()
    log_extensions = log_count(draws.values, max_states=max_states, executor=executor)
    log_weight = draws.log_weight - log_extensions
    largest = log_weight.max(axis=1, keepdims=True)
    weights = np.exp(log_weight - np.where(largest > -np.inf, largest, 0.0))
    squares = (weights**2).sum(axis=1)
    sizes = np.divide(weights.sum(axis=1) ** 2, squares, np.zeros(len(squares)), where=squares > 0)
    traces = {**draws.traces, "log_extensions": log_extensions}
    if draws.independent:  # which weighted draws are not said to be
        traces["group"] = draws.groups
    # The mass of distinct DAGs is one under the other prior.
    stats = {name: value for name, value in draws.stats.items() if name not in ("mass", "log_z")}
    return Draws(
        draws.values,
        log_weight,
        draws.log_target,
        draws.over,
        "structure-modular",
        draws.names,
        independent=False,
        stats={**stats, "effective_sample_size": sizes},
        traces=traces,
        run=Run(
            f"{draws.run.method} / l(G)".strip(),
            draws.run.settings,
            draws.run.seed,
            draws.run.seconds + clock.seconds,
            stopped=draws.run.stopped,
        ),
    )
