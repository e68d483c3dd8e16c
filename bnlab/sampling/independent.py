"""Independent draws: from an exact posterior, and of order, network and data from their prior."""

from collections.abc import Callable
from dataclasses import field
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from bnlab import memory
from bnlab.checkpoints import Arrays
from bnlab.checks import Floats, Ints, Natural, checked, frozen
from bnlab.data import Data
from bnlab.exact import DagPosterior, OrderPosterior
from bnlab.exact.dag import factors_by_size, log_weights_of_sizes
from bnlab.graphs import predecessor_masks
from bnlab.kernels import dag_dp, families as kernels, order_dp
from bnlab.networks import BayesNet
from bnlab.networks.bayesnet import drawn_network
from bnlab.priors import Prior, Uniform
from bnlab.results import Draws, Over, Record, Run
from bnlab.running import MANY_PARTS, Batch, Clock, Executor, Progress, run_steps, seed_of
from bnlab.scores import K2, BDeu, ScoreTable, score_families
from bnlab.scores.local import pseudo_count

Families = list[tuple[Ints, Floats]]  # of each node, as from `families_by_weight`
Posterior = TypeVar("Posterior", OrderPosterior, DagPosterior)

BLOCK_DRAWS = 8192
NO_DAG = "an order has no DAG that the constraints allow: take more steps, to reach one that has"
ROUNDED = (
    "rounding has led to a set of nodes that no layer can follow (a chance of about 1e-13 a draw): "
    "draw again with another state of rng"
)
ROUND_BLOCKS = 32  # handed out together: their uniform numbers are all that waits in memory


def batch_bytes(rows: int, draws: int, uniforms: int) -> int:
    """Bytes of draws in blocks: so many numbers each, and uniform ones of a round of blocks."""
    kept, waiting = rows * draws, uniforms * min(draws, ROUND_BLOCKS * BLOCK_DRAWS)
    many = draws > MANY_PARTS * BLOCK_DRAWS
    return 8 * (2 * kept + waiting if many else kept + max(kept, waiting))


def families_by_weight(table: ScoreTable, v: int, /) -> tuple[Ints, Floats]:
    """Allowed parent masks of node v and their ln beta (nats), heaviest first."""
    log_phi = table.log_prior[v] + table.log_score[v]
    ranking = np.argsort(-log_phi, kind="stable")
    ranking = ranking[log_phi[ranking] > -np.inf]
    return table.parents[v][ranking], log_phi[ranking]


def sample(
    posterior: Posterior,
    draw_block: Callable[[tuple[Posterior, Floats]], Arrays],
    over: Over,
    method: str,
    draws: int,
    rng: np.random.Generator,
    progress: Progress | None,
    executor: Executor | None,
) -> Draws:
    """Draws in blocks, each from its own uniform numbers, wherever they are made."""
    n = posterior.table.n
    memory.require(
        batch_bytes(n + 1, draws, 2 * n),
        task=f"{draws:,} draws, n={n}",
        remedy="draw fewer at a time",
    )
    clock, seed = Clock(), str(rng.bit_generator.state)
    # A row uses the uniform numbers of its own, so neither blocks nor executors change it.
    batch = Batch(
        draw_block,
        lambda part: (posterior, rng.random((part.stop - part.start, 2 * n))),
        draws,
        executor,
        size=BLOCK_DRAWS,
        ahead=ROUND_BLOCKS,
    )
    stopped, rows = run_steps(batch, None, progress), batch.arrays()
    values, log_target = rows["values"][None], rows["log_target"][None]
    settings = {"draws": draws, "max_parents": posterior.table.max_parents}
    run = Run(method, settings, seed, clock.seconds, stopped=stopped)
    about, no_weight = (over, posterior.prior, posterior.table.names), np.zeros(log_target.shape)
    return Draws(values, no_weight, log_target, *about, independent=True, run=run)


def order_block(job: tuple[OrderPosterior, Floats]) -> Arrays:
    """Orders from the back: the last node of the full set, then of the rest, and so on."""
    posterior, uniforms = job
    draws, n = len(uniforms), posterior.table.n
    orders = np.empty((draws, n), np.int64)
    remaining = np.full(draws, (1 << n) - 1, np.int64)
    last, scratch = np.empty(draws, np.int64), np.empty(n)
    for position in range(n - 1, -1, -1):
        by_set = np.argsort(remaining, kind="stable")
        sets, which = np.unique(remaining[by_set], return_inverse=True)
        u = uniforms[by_set, position]
        order_dp.last_nodes(posterior.sums.alpha, posterior.sums.g, sets, which, u, scratch, last)
        orders[by_set, position] = last
        remaining[by_set] ^= np.int64(1) << last
    masks = predecessor_masks(orders)
    log_target = np.zeros(draws)
    for v in range(n):
        log_target += posterior.log_alpha(v, masks[:, v])
    return {"values": orders, "log_target": log_target}


def dag_block(job: tuple[OrderPosterior, Floats]) -> Arrays:
    """One DAG for each order: a parent set for each node among its predecessors."""
    posterior, uniforms = job
    n = posterior.table.n
    masks = predecessor_masks(order_block(job)["values"])
    families = [families_by_weight(posterior.table, v) for v in range(n)]
    return dags_given(families, masks, uniforms[:, n:])


def dags_given(
    families: Families, masks: Ints, uniforms: Floats, touched: Ints | None = None
) -> Arrays:
    """One DAG for each row of predecessor masks (T, n), from uniform numbers (T, n).

    touched (T, n): masks of nodes of which one must be a parent. log_target is -inf without family.
    """
    touched = np.zeros_like(masks) if touched is None else touched
    dags, log_target = np.empty_like(masks), np.zeros(len(masks))
    chosen, log_chosen = np.empty(len(masks), np.int64), np.empty(len(masks))
    for v, family in enumerate(families):
        ranking = np.lexsort((uniforms[:, v], touched[:, v], masks[:, v]))
        given = masks[ranking, v], touched[ranking, v], uniforms[ranking, v]
        kernels.parent_sets(*family, *given, chosen, log_chosen)
        dags[ranking, v] = chosen
        log_target[ranking] += log_chosen
    return {"values": dags, "log_target": log_target}


def edges_given(families: Families, masks: Ints, weights: Floats) -> Floats:
    """Sum over predecessor masks (T, n) of weights (T,) times p(u -> v | order): (n, n), [u, v]."""
    out = np.zeros((len(families), len(families)))
    for v, family in enumerate(families):
        distinct, which = np.unique(masks[:, v], return_inverse=True)
        kernels.parent_expectations(*family, distinct, np.bincount(which, weights), out[v])
    if np.isnan(out).any():
        raise ValueError(NO_DAG)
    return out.T


def layer_block(job: tuple[DagPosterior, Floats]) -> Arrays:
    """One DAG for each row of uniform numbers (T, 2n): n for the layers, n for parent sets."""
    posterior, uniforms = job
    n = posterior.table.n
    within, touched = _layers(posterior, uniforms[:, :n])
    families = [families_by_weight(posterior.table, v) for v in range(n)]
    block = dags_given(families, within, uniforms[:, n:], touched)
    if (block["log_target"] == -np.inf).any():
        raise ValueError(ROUNDED)
    return block


def _layers(posterior: DagPosterior, uniforms: Floats) -> tuple[Ints, Ints]:
    """Masks (T, n) of the nodes placed before each node, and of the layer before it."""
    draws, n = uniforms.shape
    within, touched = np.empty((draws, n), np.int64), np.empty((draws, n), np.int64)
    placed, last = np.zeros(draws, np.int64), np.zeros(draws, np.int64)
    going, layer = np.arange(draws), np.empty(draws, np.int64)
    for depth in range(n):
        if not going.size:
            break
        going = going[np.lexsort((last[going], placed[going]))]
        before, latest = placed[going], last[going]
        new = np.append(True, np.diff(before).astype(bool) | np.diff(latest).astype(bool))
        which = np.cumsum(new) - 1
        chosen = layer[: going.size]
        u = uniforms[going, depth]
        dag_dp.next_layers(before[new], latest[new], which, u, tuple(posterior.sums), chosen)
        if not chosen.all():
            raise ValueError(ROUNDED)
        row, v = np.nonzero(chosen[:, None] >> np.arange(n) & 1)
        within[going[row], v], touched[going[row], v] = before[row], latest[row]
        placed[going] |= chosen
        last[going] = chosen
        going = going[placed[going] != (1 << n) - 1]
    return within, touched


@frozen()
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
    m: Natural,
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
    network = drawn_network(dag, described, lambda cells: pseudo_count(score, cells), rng)
    settings = {"m": m, "score": repr(score), "max_parents": table.max_parents}
    settings |= {"prior": repr(prior)}
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
