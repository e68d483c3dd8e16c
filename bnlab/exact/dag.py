"""The exact structure-modular posterior, by signed sums over subsets of variables."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bnlab.checks import Floats, Ints, checked
from bnlab.exact.order import edge_sums
from bnlab.exact.over_dags import (
    blocks,
    dag_alphas,
    factors_by_size,
    log_dag_prior_sum,
    log_sum_over_dags,
    require_memory,
    sums_inside,
)
from bnlab.kernels import dag_dp
from bnlab.records import Columns, Tabular, ranked_pairs
from bnlab.results import PriorKind, Run
from bnlab.running import Clock, Progress, Steps
from bnlab.scores import ScoreTable

MOST_ROUNDING = 1e-6  # sums that must be 1 may differ from it by this much


class LayerSums(NamedTuple):
    """alpha (n, 2**(n-1)), compact, times 2**exponents, row v over its heaviest family.

    b (2**n,) times 2**completing: the weight of all ways to go on, by nodes to come.
    """

    alpha: Floats
    exponents: Ints
    b: Floats
    completing: Ints


@checked
@dataclass(frozen=True, slots=True, eq=False)
class DagPosterior(Tabular):
    """The exact posterior under a structure-modular prior: p(G) proportional to rho(G).

    Every DAG counts once, however many orders it is consistent with. Make one with `dag_posterior`.

    Attributes
    ----------
    table : ScoreTable
    log_z : float, nats; ln of the sum over all DAGs of prior factor times likelihood
    log_evidence : float, nats; ln p(D) = log_z less the same sum with likelihood 1
    edges : float64 (n, n), [u, v] = p(u -> v | D)
    ancestors : float64 (n, n), [u, v] = p(a directed path leads from u to v | D)
    families : float64 (n, F), p(the parents of v are table.parents[v, f] | D)
    prior : "structure-modular"
    run : Run
    sums : LayerSums, what draws are made from

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [0, 0], [1, 1], [1, 1]]), BDeu())
    >>> dag_posterior(table).ancestors.round(4)
    array([[0.    , 0.4684],
           [0.4684, 0.    ]])
    """

    table: ScoreTable
    log_z: float
    log_evidence: float
    edges: Floats
    ancestors: Floats
    families: Floats
    run: Run
    sums: LayerSums
    prior: PriorKind = "structure-modular"

    def __repr__(self) -> str:
        return (
            f"DagPosterior({self.table.n} variables, log p(D) = {self.log_evidence:.4f}, "
            f"exact, {self.prior}, {self.run.seconds:.2g} s)"
        )

    def _columns(self) -> Columns:
        return ranked_pairs(self.table.names, probability=self.edges, path=self.ancestors)


@checked
def dag_posterior(table: ScoreTable, /, *, progress: Progress | None = None) -> DagPosterior:
    """Compute the exact posterior over DAGs, each counted once [TianHe2009].

    The prior is structure-modular: p(G) is proportional to the prior factor alone, so with
    `Uniform` all DAGs are alike before the data. Takes O(3**n) time and 2**(n-1) * (24 n + 88)
    bytes: 1 s and 0.03 GB for n = 17, half a minute and 0.3 GB for n = 20. Scores may span any
    range. There is no checkpoint, as the file would hold nearly all this memory. Rounding leaves
    errors of about 1e-13. The worst case is that of hardly any edge: where each has a probability
    of 1e-9, the errors are of that size too (1.5e-9 for n = 18).

    For S the nodes that do not descend from v, p(S | D) = R(S) alpha_v(S) gamma_v(S) / Z: R sums
    over the DAGs on S, gamma over the parents of the rest, so that all of it descends. Families are
    a zeta transform of that away, and paths from v are what S leaves out. All gamma_v(S) of one S
    are parts of one sum, so together they cost no more than R.

    Parameters
    ----------
    table : ScoreTable from `score_families`
    progress : called as progress(done, total, None) between steps of about 100 ms; False stops

    Raises
    ------
    ValueError
        If the memory is not there (said before any is taken), the constraints leave no DAG, or
        rounding leaves fewer than six digits.
    Stopped
        If `progress` returned False.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [0, 0], [1, 1], [1, 1]]), BDeu())
    >>> dag_posterior(table).edges.round(4)
    array([[0.    , 0.4684],
           [0.4684, 0.    ]])
    """
    require_memory(table, whole=True)
    clock, n = Clock(), table.n
    up, down = blocks(n, upwards=True), blocks(n, upwards=False)
    closed = factors_by_size(table) is not None
    prior_steps = 0 if closed else n + len(up)
    steps = Steps(progress, prior_steps + 2 * n + len(up) + len(down))
    log_prior_z = (
        log_dag_prior_sum(table) if closed else log_sum_over_dags(table, table.log_prior, steps)
    )
    log_phi = table.log_phi
    alphas = dag_alphas(table, log_phi, steps)
    b, shares = np.ones(1 << n), np.empty(alphas.values.shape)
    sums = alphas.values, alphas.exponents, b, alphas.completing, shares
    for first, last in down:
        dag_dp.backward(*sums, max(first, 1), last)
        steps.tick()
    log_z = alphas.log_z(float(b[-1]))
    r = sums_inside(alphas, steps)
    families, ancestors = np.empty(table.parents.shape), np.empty((n, n))
    for v in range(n):
        dag_dp.share(r, alphas.inside, b, alphas.completing, v, shares[v])
        _check_rounding(table, float(shares[v].sum()), float(r[-1] / b[-1]))
        np.maximum(shares[v], 0.0, out=shares[v])
        of_v = table.parents[v], log_phi[v] - alphas.log_scale[v]
        alpha = alphas.values[v], alphas.exponents[v]
        dag_dp.family_posteriors(v, *of_v, *alpha, shares[v], families[v])
        dag_dp.descendants(v, shares[v], ancestors[v])
        steps.tick()
    np.minimum(families, 1.0, out=families)
    np.minimum(ancestors, 1.0, out=ancestors)
    run = Run("exact sum over DAGs", {"max_parents": table.max_parents}, seconds=clock.seconds)
    return DagPosterior(
        table,
        log_z,
        log_z - log_prior_z,
        edge_sums(table, families),
        ancestors,
        families,
        run,
        LayerSums(alphas.values, alphas.exponents, b, alphas.completing),
    )


def _check_rounding(table: ScoreTable, *ones: float) -> None:
    """Sums that are 1 but for rounding: R(V) / B(V), and the probabilities of all sets."""
    worst = max(abs(one - 1.0) if math.isfinite(one) else math.inf for one in ones)
    if worst > MOST_ROUNDING:
        raise ValueError(
            f"n={table.n}: the signed sums over DAGs lose too many digits (a sum that is 1 differs "
            f"by {worst:.1g}). Choose fewer variables with Data.select, or walk with "
            "sample_partitions(table, ...)"
        )
