"""Independent DAGs from the exact structure-modular posterior, layer by layer."""

import os

import numpy as np
from numpy.typing import NDArray

from bnlab import memory
from bnlab.exact import DagPosterior
from bnlab.kernels import draws as kernels
from bnlab.kernels import layers
from bnlab.results import Draws
from bnlab.runs import Executor, Progress, check_counts
from bnlab.sampling.direct import BLOCK_DRAWS, Block, families_by_weight, sample

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

METHOD = "exact DAGs by layers"
ROUNDED = (
    "rounding has led to a set of nodes that no layer can follow (a chance of about 1e-13 a draw): "
    "draw again with another state of rng"
)


def sample_by_layers(
    posterior: DagPosterior,
    draws: int,
    rng: np.random.Generator,
    progress: Progress | None,
    executor: Executor | None,
    /,
) -> Draws:
    """Independent DAGs from p(G | D), structure-modular [TalvitieEtAl2019].

    Every set of placed nodes that a draw comes by costs a sum over the subsets of the others, once
    for each block of draws: the time is at most O(n 2**n) a layer, and far less once the posterior
    is concentrated on few first layers. Each worker takes 24 * 2**n bytes.

    Examples
    --------
    >>> from bnlab import BDeu, Data, dag_posterior, score_families
    >>> posterior = dag_posterior(score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu()))
    >>> sample_by_layers(posterior, 5, np.random.default_rng(1), None, None)
    Draws(5 dags of 2 variables, structure-modular)
    """
    n = posterior.table.n
    (draws,) = check_counts(draws=draws)
    workers = min(os.cpu_count() or 1, -(-draws // BLOCK_DRAWS))
    memory.require(
        24 * workers << n,
        task=f"drawing DAGs of {n} variables by {workers} workers",
        remedy=f"draw at most {BLOCK_DRAWS:,} at a time, for one worker, or choose fewer variables "
        "(Data.select)",
    )
    return sample(posterior, layer_block, "dags", METHOD, draws, rng, progress, executor)


def layer_block(posterior: DagPosterior, uniforms: Floats) -> Block:
    """One DAG for each row of uniform numbers (T, 2n): n for the layers, n for parent sets."""
    n = posterior.table.n
    within, touched = _layers(posterior, uniforms[:, :n])
    dags, log_target = np.empty_like(within), np.zeros(len(within))
    chosen, log_chosen = np.empty(len(within), np.int64), np.empty(len(within))
    for v in range(n):
        u = uniforms[:, n + v]
        ranking = np.lexsort((u, touched[:, v], within[:, v]))
        kernels.parent_sets(
            *families_by_weight(posterior.table, v),
            within[ranking, v],
            touched[ranking, v],
            u[ranking],
            chosen,
            log_chosen,
        )
        dags[ranking, v] = chosen
        log_target[ranking] += log_chosen
    if (log_target == -np.inf).any():
        raise ValueError(ROUNDED)
    return Block(dags, log_target)


def _layers(posterior: DagPosterior, uniforms: Floats) -> tuple[Ints, Ints]:
    """Masks (T, n) of the nodes placed before each node, and of the layer before it."""
    draws, n = uniforms.shape
    sums = (posterior._alpha, posterior._exponents, posterior._b, posterior._completing)
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
        layers.next_layers(before[new], latest[new], which, u, sums, chosen)
        if not chosen.all():
            raise ValueError(ROUNDED)
        row, v = np.nonzero(chosen[:, None] >> np.arange(n) & 1)
        within[going[row], v], touched[going[row], v] = before[row], latest[row]
        placed[going] |= chosen
        last[going] = chosen
        going = going[placed[going] != (1 << n) - 1]
    return within, touched
