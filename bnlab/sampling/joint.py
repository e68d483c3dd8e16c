"""Simulation from the model that the order-modular posterior assumes: order, network and data."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from bnlab.checks import Floats, Ints, check_counts, check_generator, checked
from bnlab.data import Data
from bnlab.exact.normalisers import factors_by_size, log_weights_of_sizes
from bnlab.graphs import members
from bnlab.networks import BayesNet
from bnlab.networks.bayesnet import check_table_size
from bnlab.priors import Prior, Uniform
from bnlab.results import Record, Run
from bnlab.running import Clock, seed_of
from bnlab.scores import K2, BDeu, score_families


@checked
@dataclass(frozen=True, slots=True, eq=False)
class Joint(Record):
    """A node order, a network consistent with it, and data of the network.

    Given the data, `order` is an exact draw from the posterior over orders, and `network.dag` from
    the order-modular posterior over DAGs. Make one with `sample_joint`.

    Attributes
    ----------
    order : int64 (n,), first node first
    network : BayesNet; `dag` is its DAG
    data : Data, m rows with the arities asked for; not every state need occur
    run : Run

    Examples
    --------
    >>> sample_joint([2, 3, 2], m=50, rng=np.random.default_rng(1))
    Joint(3 variables, 2 edges, 50 rows)
    """

    order: Ints
    network: BayesNet
    data: Data
    run: Run = field(default_factory=lambda: Run(""))

    def __repr__(self) -> str:
        edges = int(np.bitwise_count(self.dag).sum())
        return f"Joint({self.data.n} variables, {edges} edges, {self.data.m} rows)"

    @property
    def dag(self) -> Ints:
        """Parent masks (n,)."""
        return self.network.dag


@checked
def sample_joint(
    arities: ArrayLike,
    /,
    *,
    m: int,
    rng: np.random.Generator,
    score: BDeu | K2 = BDeu(),
    max_parents: int = 3,
    prior: Prior = Uniform(),
) -> Joint:
    """Draw order, DAG, tables and data from their joint prior.

    The order is uniform; each node's parents are drawn among its predecessors with probability
    proportional to the prior factor; each row of a table is Dirichlet with the pseudo-counts of
    the score; the rows of the data are independent. Whoever scores the data in the same way knows
    an exact draw from the posterior over orders, which `estimate_upper_bound` starts from for any
    number of variables [GrosseEtAl2015].

    Parameters
    ----------
    arities : (n,) integers of at least 2, n <= 63
    m : number of rows
    rng : the only source of randomness
    score : BDeu or K2: other scores are no marginal likelihood of such tables
    max_parents, prior : as in `score_families`; the prior factor must depend on the number of
        parents only, so that all orders are alike

    Raises
    ------
    ValueError
        If the score or prior is none of these, a table has more than 10,000,000 entries, or
        `score_families` would refuse.

    Examples
    --------
    >>> joint = sample_joint([2] * 40, m=100, rng=np.random.default_rng(1), max_parents=2)
    >>> table = score_families(joint.data, BDeu(), max_parents=2)
    >>> bool(np.isfinite(table.log_target(joint.dag)))
    True
    """
    check_generator(rng)
    check_counts(least=0, m=m)
    sizes = np.asarray(arities)
    if sizes.ndim != 1:
        raise ValueError(f"arities have shape {sizes.shape}: give one number for each variable")
    clock, seed = Clock(), seed_of(rng)
    described = Data.from_arrays(np.empty((0, sizes.size), np.int32), sizes)
    table = score_families(described, score, max_parents=max_parents, prior=prior)
    by_size = factors_by_size(table)
    if by_size is None:
        raise ValueError(
            f"prior={prior!r}: its factors differ for parent sets of equal size, and so do the "
            "weights of orders. Use Uniform, Fair or EdgePenalty"
        )
    order = rng.permutation(table.n)
    dag = _draw_dag(order, by_size, rng)
    tables = []
    for v, states in enumerate(described.arities.tolist()):
        rows = int(np.prod(described.arities[members(dag[v])], dtype=object))
        check_table_size(rows, states, described.names[v])
        pseudo_count = score.cell_counts(np.array([float(rows * states)]))[0]
        tables.append(rng.dirichlet(np.full(states, pseudo_count), size=rows))
    network = BayesNet(dag, described.arities, described.names, described.levels, tuple(tables))
    settings = {
        "m": m,
        "score": repr(score),
        "max_parents": table.max_parents,
        "prior": repr(prior),
    }
    data = network.sample(m, rng)
    return Joint(order, network, data, Run("joint prior", settings, seed, clock.seconds))


def _draw_dag(order: Ints, by_size: Floats, rng: np.random.Generator) -> Ints:
    """The number of parents first, then which of the predecessors."""
    dag = np.zeros(order.size, np.int64)
    for j, v in enumerate(order):
        log_weights = log_weights_of_sizes(by_size, j)
        shares = np.exp(log_weights - np.logaddexp.reduce(log_weights))
        size = rng.choice(shares.size, p=shares / shares.sum())
        parents = rng.choice(order[:j], size, replace=False, shuffle=False)
        dag[v] = np.bitwise_or.reduce(np.int64(1) << parents, initial=0)
    return dag
