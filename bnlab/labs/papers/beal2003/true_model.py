"""One structure looked at closely: Figure 6.10, and bounds from both sides."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnlab.hidden import (
    AIS,
    HiddenModel,
    JointDirichlet,
    RowDirichlet,
    Warped,
    anneal,
    estimate_evidence,
)
from bnlab.labs.papers.beal2003.world import (
    data_of_draw,
    data_of_print,
    drawn_network,
    models,
    stream,
    thesis_network,
    truth,
)

Floats = NDArray[np.float64]

STEPS = tuple(2**k for k in range(6, 15))
"""K of Figure 6.10, from 64 to 16384; the thesis names 1000, 5000, 2^13 and 2^14."""

TRACES = 8

LEAST = 0.0025
"""What a printed .00 is taken for as a start: a walk never leaves a cell that is 0."""


class Traces(NamedTuple):
    """AIS against the number of steps, nats: Figure 6.10.

    Attributes
    ----------
    from_truth : (steps,), all runs started at the parameters that made the data
    from_prior : (traces, steps), each trace from parameters of its own, drawn from the prior
    """

    from_truth: Floats
    from_prior: Floats


def true_model() -> HiddenModel:
    """Figure 6.1.

    Examples
    --------
    >>> true_model().aliases
    8
    """
    return models()[truth()]


def figure_6_10(n: int = 480, /, *, steps: Sequence[int] = STEPS, traces: int = TRACES) -> Traces:
    """The thesis' sampler on the true structure, n rows from the printed parameters.

    Examples
    --------
    >>> figure_6_10(10, steps=[4, 8], traces=3).from_prior.shape
    (3, 2)
    """
    tables = [np.maximum(table, LEAST) for table in thesis_network().tables]
    tables = [table / table.sum(axis=1, keepdims=True) for table in tables]
    tables = [np.repeat(table[None], traces + 1, axis=0) for table in tables]
    rng = stream(8, n)
    for table in tables:
        rows, states = table.shape[1:]
        table[1:] = rng.dirichlet(np.ones(states), size=(traces, rows))
    rows, found = data_of_print(0)[:n], []
    for k in steps:
        method = AIS(Warped(k), JointDirichlet())
        runs = anneal(true_model(), rows, runs=traces + 1, rng=rng, method=method, start=tables)
        found.append(runs.log_weight)
    by_trace = np.array(found).T
    return Traces(by_trace[0], by_trace[1:])


class Sides(NamedTuple):
    """Ln weights of runs from the prior and back from the truth, nats, (runs, steps) each."""

    upward: Floats
    reverse: Floats

    @property
    def lower(self) -> Floats:
        """Mean ln weight (steps,): on average below ln p(data).

        Examples
        --------
        >>> Sides(np.zeros((2, 1)), np.zeros((2, 1))).lower
        array([0.])
        """
        out: Floats = self.upward.mean(axis=0)
        return out

    @property
    def upper(self) -> Floats:
        """Mean ln weight (steps,) in reverse: on average above ln p(data).

        Examples
        --------
        >>> Sides(np.zeros((2, 1)), np.ones((2, 1))).upper
        array([1.])
        """
        out: Floats = self.reverse.mean(axis=0)
        return out


def both_sides(n: int, /, *, steps: Sequence[int] = STEPS, runs: int = 20) -> Sides:
    """Row-wise AIS upward, and in reverse from the parameters that made the data.

    The parameters are the first draw from the prior, so that they are an exact draw from their
    posterior given the data [GrosseEtAl2015]; the printed ones are rounded.

    Examples
    --------
    >>> both_sides(10, steps=[4, 8], runs=3).upper.shape
    (2,)
    """
    rows, start = data_of_draw(0)[:n], drawn_network(0).tables
    model, rng = true_model(), stream(9, n)
    found = []
    for k in steps:
        method = AIS(Warped(k), RowDirichlet())
        upward = anneal(model, rows, runs=runs, rng=rng, method=method)
        back = anneal(model, rows, runs=runs, rng=rng, method=method, start=start, reverse=True)
        found.append((upward.log_weight, back.log_weight))
    ahead, behind = np.array(found).transpose(1, 2, 0)
    return Sides(ahead, behind)


def gold(n: int, /, *, runs: int = 4) -> float:
    """ln p(data) of the true structure by SMC, on the rows of `both_sides`, nats.

    Examples
    --------
    >>> round(gold(4), 1)
    -24.5
    """
    rows = data_of_draw(0)[:n]
    return estimate_evidence(true_model(), rows, runs=runs, rng=stream(10, n)).log_value
