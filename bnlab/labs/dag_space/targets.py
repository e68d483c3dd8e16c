"""The posteriors of the lab, exact under both readings of the prior, and chains towards them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import bnlab as bn
from bnlab.labs.datasets import Case, Floats, Ints, bdeu_table
from bnlab.papers.store import chain, normalised, taken
from bnlab.sampling import StructureKernel

SEED = 2007
USUAL_DRAWS = 4000


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """A data set with its exact posteriors: BDeu with ess 1, at most three parents, q = 1.

    Attributes
    ----------
    table : ScoreTable
    orders : OrderPosterior, order-modular
    dags : DagPosterior, structure-modular: what the samplers of the lab walk towards
    """

    table: bn.ScoreTable
    orders: bn.OrderPosterior
    dags: bn.DagPosterior

    def sad(self, edges: Floats, /) -> float:
        """Sum of absolute differences from the exact structure-modular edges."""
        return bn.diagnostics.sad(edges, self.dags.edges)


@cache
def target(case: Case) -> Target:
    """Return a data set, or a table of your own, with its posteriors."""
    table = bdeu_table(case)
    return Target(table, bn.order_posterior(table), bn.dag_posterior(table))


@cache
def usual_targets(case: Case) -> tuple[float, float]:
    """Mean and standard deviation of ln p(G, D) over the structure-modular posterior, nats.

    From the distinct DAGs of independent draws, which hold nearly all of it.
    """
    found = distinct(case)
    weight = normalised(found.log_weight[0])
    mean = weight @ found.log_target[0]
    return float(mean), float(np.sqrt(weight @ (found.log_target[0] - mean) ** 2))


@cache
def distinct(case: Case) -> bn.Draws:
    """The distinct DAGs of 4,000 independent draws, each with its own weight (IW-DDS)."""
    where, rng = target(case), np.random.default_rng(SEED)
    draws = bn.sample_dags(where.orders, draws=USUAL_DRAWS, rng=rng)
    return bn.reweight_unique(draws, log_z=where.dags.log_z)


def chain_sads(draws: bn.Draws, where: Target, /) -> list[float]:
    """The SAD of each chain alone from the exact edges."""
    chains = [chain(draws, c) for c in range(len(draws.values))]
    return [where.sad(bn.features.edges(alone)) for alone in chains]


def log_proposal(dags: Ints, chances: Floats, /) -> Floats:
    """ln q(G) of the global proposal, nats. It adds up to 1 over all graphs, cyclic ones too.

    Parameters
    ----------
    dags : (N, n) parent masks
    chances : (n, n), as `bn.Global(edges).chances`
    """
    edge = bn.graphs.to_adjacency(dags)
    neither = ~(edge | edge.transpose(0, 2, 1))
    upper = np.triu(np.ones(chances.shape, bool), 1)
    log_edge = np.log(chances + np.eye(len(chances)))  # the diagonal has no edge
    log_none = np.log(1 - chances - chances.T)
    terms = np.where(edge, log_edge, 0) + np.where(neither & upper, log_none, 0)
    total: Floats = terms.sum((1, 2))
    return total


def stays(case: Case, parts: Sequence[float], /) -> list[float]:
    """How long a chain of global moves stays, for these parts of the posterior.

    A global move leaves a DAG G with probability about q(G) / p(G | D), less if most proposals are
    bad; so it stays for about p(G | D) / q(G) moves, if that is above 1.

    Returns
    -------
    list of float
        For each part, the number of moves that DAGs with so much of the probability do not exceed.
    """
    where, found = target(case), distinct(case)
    log_p = found.log_weight[0] - where.dags.log_z
    chances = bn.Global(where.orders.edges).chances
    stay = np.exp(log_p - log_proposal(found.values[0], chances))
    rising = np.argsort(stay)
    share = np.cumsum(np.exp(log_p[rising])) / np.exp(log_p).sum()
    return [float(stay[rising][np.searchsorted(share, part)]) for part in parts]


@cache
def hybrid(case: Case, share: float, *, chains: int = 8, draws: int = 100) -> bn.Draws:
    """Chains from the empty graph with this share of local moves, n (n - 1) moves a draw.

    Nothing is left out as burn-in.
    """
    where = target(case)
    how: Any = {"kernel": bn.Hybrid(where.orders.edges, share), "rng": np.random.default_rng(SEED)}
    return bn.sample_structures(where.table, draws=draws, chains=chains, burn_in=0, **how)


def second_half(draws: bn.Draws, /) -> bn.Draws:
    """Draws without the first half of each chain, the burn-in."""
    return taken(draws, np.s_[:, draws.values.shape[1] // 2 :])


def mean_sads(
    case: Case, kernels: Mapping[str, StructureKernel], moves: Sequence[int], /
) -> dict[str, list[float]]:
    """Mean SAD of 8 chains after each number of moves, the first half of them left out."""
    where = target(case)
    thin = where.table.n * (where.table.n - 1)
    out = {}
    for label, kernel in kernels.items():
        draws = bn.sample_structures(
            where.table,
            draws=max(moves) // thin,
            rng=np.random.default_rng(SEED),
            kernel=kernel,
            chains=8,
            burn_in=0,
            thin=thin,
        )
        halves = [second_half(draws.prefix(max(2, count // thin))) for count in moves]
        out[label] = [float(np.mean(chain_sads(half, where))) for half in halves]
    return out
