"""Posterior predictive densities of rows, averaged over weighted DAGs or by one DAG."""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab import memory
from bnlab.checks import checked
from bnlab.data import Data
from bnlab.data.fields import node_number
from bnlab.graphs import check_dag, check_dags, members
from bnlab.kernels import prediction as kernels
from bnlab.predict.marginals import connected_terms
from bnlab.predict.rows import Rows, check_rows, completed, missing_masks
from bnlab.predict.tables import Tables, posterior_tables
from bnlab.results import Draws
from bnlab.scores import BDeu, Score

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEW_STATES = 64  # joint states of missing cells that are listed, not summed DAG by DAG
BLOCK_TERMS = 1 << 23  # terms in memory at a time, 64 MB


@checked
def log_density(
    draws: Draws, data: Data, new_rows: Data | ArrayLike, /, *, score: Score = BDeu()
) -> Floats:
    """Return ln p(x | D) of each new row x, averaged over DAGs [EatonMurphy2007, sec. 5.3].

    p(x | D) = sum over G of w_G p(x | G, D), with the weights of the draws, and p(x | G, D) the
    product over nodes of the posterior mean (a_jk + N_jk) / (a_j + N_j), a the pseudo-counts of the
    score. It belongs to the posterior that the draws come from (`draws.prior`). Missing cells are
    summed out in every DAG. An intervened cell gives no factor: p(the others | do(x_v)).

    Parameters
    ----------
    draws : Draws over "dags": independent, weighted, or along chains
    data : Data, what the draws were given
    new_rows : (rows, n) integer codes with -1 for a missing cell, or Data of the same variables
    score : the score of the draws, BDeu or K2

    Returns
    -------
    float64 (rows,), nats

    Raises
    ------
    ValueError
        If draws, data and rows do not fit each other, no draw has weight, the score has no
        pseudo-counts, memory is short, or summing out missing cells takes tables of more than 4
        million joint states.

    Examples
    --------
    >>> from bnlab import order_posterior, sample_dags, score_families
    >>> data = Data.from_arrays([[0, 0], [0, 0], [1, 1]])
    >>> posterior = order_posterior(score_families(data, BDeu()))
    >>> dags = sample_dags(posterior, draws=1000, rng=np.random.default_rng(1))
    >>> np.exp(log_density(dags, data, [[0, 0], [0, 1], [0, -1]])).round(3)
    array([0.522, 0.103, 0.625])
    """
    rows = check_rows(data, new_rows)
    dags, log_weight = _weighted_dags(draws, data)
    return _mixture(dags, log_weight, posterior_tables(data, score), rows)


@checked
def plug_in_log_density(
    dag: ArrayLike, data: Data, new_rows: Data | ArrayLike, /, *, score: Score = BDeu()
) -> Floats:
    """Return ln p(x | G, D) of each new row x by one DAG G, such as the best or a Chow-Liu tree.

    The parameters are averaged, the structure is not. Rows, score and errors as in `log_density`.

    Parameters
    ----------
    dag : (n,) parent masks; all 0 is the factored model, where no variable depends on another

    Returns
    -------
    float64 (rows,), nats

    Examples
    --------
    >>> data = Data.from_arrays([[0, 0], [0, 0], [1, 1]])
    >>> np.exp(plug_in_log_density([0, 0], data, [[0, 0], [0, 1], [0, -1]])).round(3)
    array([0.391, 0.234, 0.625])
    """
    rows = check_rows(data, new_rows)
    masks = check_dag(dag)
    if masks.size != data.n:
        raise ValueError(f"a DAG of {masks.size} nodes for data of {data.n} variables")
    return _mixture(masks[None], np.zeros(1), posterior_tables(data, score), rows)


@checked
def log_class_posterior(
    dag: ArrayLike,
    data: Data,
    target: int | str,
    new_rows: Data | ArrayLike,
    /,
    *,
    score: Score = BDeu(),
) -> Floats:
    """Return ln p(class | other cells, G, D) of each new row by one DAG, such as that of `tan`.

    The joint densities of `plug_in_log_density` with every class in turn, normalised. The class of
    a new row is not looked at; other missing cells are summed out. The parameters are averaged, the
    structure is not.

    Parameters
    ----------
    dag : (n,) parent masks
    data : Data that the parameters are learned from
    target : the class, a name or a number
    new_rows : (rows, n) integer codes with -1 for a missing cell, or Data of the same variables
    score : BDeu or K2

    Returns
    -------
    float64 (rows, classes), nats; the largest in a row is the most probable class

    Raises
    ------
    ValueError
        As `plug_in_log_density` does, or if there is no such variable.

    Examples
    --------
    >>> data = Data.from_arrays([[0, 0], [0, 0], [1, 1]], names=["petal", "kind"])
    >>> np.exp(log_class_posterior([2, 0], data, "kind", [[0, -1]])).round(3)
    array([[0.9, 0.1]])
    """
    rows = check_rows(data, new_rows)
    c = node_number(data.names, target)
    joint = np.empty((len(rows.values), int(data.arities[c])))
    for state in range(joint.shape[1]):
        values = rows.values.copy()
        values[:, c] = state
        filled: Data | NDArray[np.int32] = values
        if isinstance(new_rows, Data):
            filled = replace(new_rows, values=values)
        joint[:, state] = plug_in_log_density(dag, data, filled, score=score)
    posterior: Floats = joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)
    return posterior


def _weighted_dags(draws: Draws, data: Data) -> tuple[Ints, Floats]:
    """Distinct DAGs (U, n) of positive weight, and ln of their shares (U,)."""
    if not isinstance(draws, Draws) or draws.over != "dags":
        what = "orders" if isinstance(draws, Draws) else f"a {type(draws).__name__}"
        raise ValueError(f"prediction averages over draws of DAGs, not {what}: use sample_dags")
    if draws.names != data.names:
        raise ValueError(
            f"the draws are of the variables {', '.join(draws.names)}, the data of "
            f"{', '.join(data.names)}: pass the data that the draws were given"
        )
    log_weight = draws.log_weight.ravel()
    if not (log_weight < math.inf).all():  # nan, too
        raise ValueError("a log weight is nan or infinite: no average has such weights")
    kept = log_weight > -math.inf
    if not kept.any():
        raise ValueError("all log weights are -inf: there is nothing to average")
    dags = draws.values.reshape(-1, data.n)[kept]
    memory.require(
        26 * dags.size, task=f"averaging {len(dags):,} DAGs", remedy="take fewer (Draws.prefix)"
    )
    distinct, group = np.unique(dags, axis=0, return_inverse=True)
    ranking = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[ranking], np.arange(len(distinct)))
    shares = np.logaddexp.reduceat(log_weight[kept][ranking], starts)
    return check_dags(distinct), shares - np.logaddexp.reduce(shares)


class Families(NamedTuple):
    """The distinct families of DAGs: parent masks of each node, and which of all each DAG has."""

    masks: list[Ints]
    parts: Ints  # (U, n), counted through all nodes


def _distinct_families(dags: Ints) -> Families:
    masks, parts, count = [], np.empty(dags.shape, np.int64), 0
    for v in range(dags.shape[1]):
        distinct, which = np.unique(dags[:, v], return_inverse=True)
        masks.append(distinct)
        parts[:, v] = which + count
        count += distinct.size
    return Families(masks, parts)


def _mixture(dags: Ints, log_weight: Floats, tables: Tables, rows: Rows) -> Floats:
    """ln of the average density of each row, by the pattern of its missing cells."""
    out = np.empty(len(rows.values))
    masks = missing_masks(rows)
    families = _distinct_families(dags)
    for mask in np.unique(masks):
        which = np.flatnonzero(masks == mask)
        some, nodes = rows.take(which), members(mask)
        states = math.prod(int(tables.arities[v]) for v in nodes)
        if states > FEW_STATES:
            parts, terms = connected_terms(dags, int(mask), tables, some)
            log_p = np.empty(which.size)
            kernels.log_mixture(log_weight, parts, terms, log_p)
        else:
            memory.require(
                8 * states * some.values.size,
                task=f"listing {states} completions of {which.size:,} rows",
                remedy="predict fewer rows at a time",
            )
            full = completed(some, nodes, tables.arities)
            log_p = _complete_mixture(families, log_weight, tables, full)
            log_p = np.logaddexp.reduce(log_p.reshape(which.size, states), axis=1)
        out[which] = log_p
    return out


def _complete_mixture(families: Families, log_weight: Floats, tables: Tables, rows: Rows) -> Floats:
    """ln of the average density of rows without missing cells."""
    count = sum(masks.size for masks in families.masks)
    block = max(1, BLOCK_TERMS // count)
    memory.require(
        16 * count * min(block, len(rows.values)),
        task=f"predicting by {count:,} families",
        remedy="average fewer DAGs (Draws.prefix)",
    )
    out = np.empty(len(rows.values))
    for start in range(0, len(out), block):
        some = rows.take(slice(start, start + block))
        columns = np.ascontiguousarray(some.values.T)
        terms = [tables.log_means(v, masks, columns) for v, masks in enumerate(families.masks)]
        if some.intervened is not None:
            for v, term in enumerate(terms):
                term[:, some.intervened[:, v]] = 0.0
        kernels.log_mixture(
            log_weight, families.parts, np.concatenate(terms), out[start : start + block]
        )
    return out
