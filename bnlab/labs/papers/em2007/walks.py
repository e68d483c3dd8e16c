"""The samplers that the paper compares, as DAGs along chains with a time for one chain."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import bnlab as bn
from bnlab.labs.papers.em2007.cases import random_dag, stream

SAMPLERS = ("Local", "Gibbs", "Hybrid", "Global", "Order")
"""beta = 1, Gibbs, beta = 0.1 and beta = 0 walk on DAGs; the last walks on orders."""


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """Chains of one sampler, all from different starts, nothing left out.

    Attributes
    ----------
    sampler : one of SAMPLERS
    draws : over "dags", values (chains, T, n); of the order sampler one DAG given each order
    orders : over "orders", values (chains, T, n), of the order sampler alone
    thin : moves before each draw
    setup : processor time before the first move: the dynamic program, where it proposes
    seconds : processor time of the moves of one chain on one core
    """

    sampler: str
    draws: bn.Draws
    orders: bn.Draws | None
    thin: int
    setup: float
    seconds: float

    @property
    def size(self) -> int:
        """T, draws of a chain.

        Examples
        --------
        >>> walk(example(), "Local", draws=5, chains=2).size
        5
        """
        return int(self.draws.values.shape[1])

    def seconds_at(self, stops: Sequence[int], /) -> list[float]:
        """Time after so many draws: `setup`, and `seconds` in proportion.

        Examples
        --------
        >>> some = walk(example(), "Local", draws=4, chains=2)
        >>> some.seconds_at([4]) == [some.setup + some.seconds]
        True
        """
        return [self.setup + self.seconds * stop / self.size for stop in stops]


def walk(
    table: bn.ScoreTable, sampler: str, /, *, draws: int, chains: int, thin: int = 1, key: int = 0
) -> Walk:
    """Chains of one of SAMPLERS from random DAGs, or from random orders.

    Parameters
    ----------
    draws : of each chain; the moves are `thin` times as many
    key : another number gives other chains

    Raises
    ------
    ValueError
        For a sampler that is not in SAMPLERS.

    Examples
    --------
    >>> walk(example(), "Order", draws=5, chains=2).draws
    Draws(2 x 5 dags of 2 variables, order-modular)
    """
    if sampler not in SAMPLERS:
        raise ValueError(f"no sampler {sampler!r}; there are {', '.join(SAMPLERS)}")
    rng, begun = stream(1, SAMPLERS.index(sampler), key), time.process_time()
    kernel = None if sampler == "Order" else _kernel(table, sampler)
    setup, orders = time.process_time() - begun, None
    if kernel is None:
        orders = bn.sample_orders(table, draws=draws, rng=rng, chains=chains, burn_in=0, thin=thin)
        found = bn.sample_dags(orders, draws=1, table=table, rng=rng)
    else:
        starts = [random_dag(table.n, rng, table.max_parents) for _ in range(chains)]
        found = bn.sample_structures(
            table,
            draws=draws,
            rng=rng,
            kernel=kernel,
            chains=chains,
            burn_in=0,
            thin=thin,
            start=starts,
        )
    seconds = (time.process_time() - begun - setup) / chains
    return Walk(sampler, found, orders, thin, setup, seconds)


def _kernel(table: bn.ScoreTable, sampler: str) -> bn.Local | bn.Gibbs | bn.Hybrid | bn.Global:
    if sampler == "Local":
        return bn.Local()
    if sampler == "Gibbs":
        return bn.Gibbs()
    edges = bn.order_posterior(table).edges
    return bn.Hybrid(edges, local=0.1) if sampler == "Hybrid" else bn.Global(edges)


def example() -> bn.ScoreTable:
    """The scores of two variables, for examples.

    Examples
    --------
    >>> example().n
    2
    """
    return bn.score_families(bn.Data.from_arrays([[0, 0], [1, 1]]), bn.BDeu(1.0))
