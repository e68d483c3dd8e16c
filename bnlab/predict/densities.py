"""Posterior predictive densities of rows: averaged over weighted DAGs, by one DAG, or exact."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab import memory
from bnlab.checks import Bools, Floats, Ints, checked
from bnlab.data import Data
from bnlab.data.table import node_number
from bnlab.exact import order_posterior
from bnlab.graphs import check_dag, check_dags, members
from bnlab.kernels import counting as kernels
from bnlab.predict.tables import (
    Rows,
    Tables,
    check_rows,
    check_score,
    completed,
    connected_terms,
    missing_masks,
    posterior_tables,
)
from bnlab.priors import Prior, Uniform
from bnlab.results import Draws
from bnlab.running import Progress, Steps
from bnlab.scores import BDeu, Score, ScoreTable, score_families

FEW_STATES = 64  # joint states of missing cells that are listed, not summed DAG by DAG
MAX_RUNS = 1 << 16  # of the dynamic program of an exact density
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


class ExactPosterior(Protocol):
    """What `exact_log_density` asks of a posterior."""

    @property
    def log_z(self) -> float:
        """ln of the sum of prior factor times likelihood, nats."""
        ...


@checked
def exact_log_density(
    data: Data,
    new_rows: Data | ArrayLike,
    /,
    *,
    score: Score = BDeu(),
    max_parents: int = 3,
    prior: Prior = Uniform(),
    posterior: Callable[[ScoreTable], ExactPosterior] = order_posterior,
    progress: Progress | None = None,
) -> Floats:
    """Return ln p(x | D) = ln p(x, D) - ln p(D) of each new row x [EatonMurphy2007, sec. 2].

    The posterior runs once for the data and once more for every different row added to them; a row
    with missing cells is a sum over all its completions. Intervened cells as in `log_density`.

    Parameters
    ----------
    data : Data, m rows of n variables
    new_rows : (rows, n) integer codes with -1 for a missing cell, or Data of the same variables
    score, max_parents, prior : as in `score_families`; the score is BDeu or K2
    posterior : which exact posterior the density belongs to: `order_posterior` (order-modular), or
        `dag_posterior` (structure-modular)
    progress : called as progress(done, total, None) after each run of the posterior; False stops

    Returns
    -------
    float64 (rows,), nats

    Raises
    ------
    ValueError
        If rows do not fit the data, the score has no pseudo-counts, missing cells ask for more than
        65,536 runs, or the posterior refuses.
    Stopped
        If `progress` returned False.

    Examples
    --------
    >>> data = Data.from_arrays([[0, 0], [0, 0], [1, 1]])
    >>> np.exp(exact_log_density(data, [[0, 0], [0, 1], [0, -1]])).round(3)
    array([0.523, 0.102, 0.625])
    """
    rows = check_rows(data, new_rows)
    check_score(score)

    def log_z(extended: Data) -> float:
        table = score_families(extended, score, max_parents=max_parents, prior=prior)
        return posterior(table).log_z

    complete, owner = _completions(data, rows)
    held = np.zeros(complete.values.shape, bool)
    if complete.intervened is not None:
        held = complete.intervened
    distinct, which = np.unique(
        np.hstack([complete.values, held]).astype(np.int32), axis=0, return_inverse=True
    )
    log_p, steps = np.empty(len(distinct)), Steps(progress, len(distinct))
    log_z_data = log_z(data) if len(distinct) else 0.0
    for i, row in enumerate(distinct):
        log_p[i] = log_z(_with_row(data, row[: data.n], row[data.n :] == 1)) - log_z_data
        steps.tick()
    if not len(rows.values):
        return np.empty(0)
    starts = np.searchsorted(owner, np.arange(len(rows.values)))
    out: Floats = np.logaddexp.reduceat(log_p[which], starts)
    return out


def _weighted_dags(draws: Draws, data: Data) -> tuple[Ints, Floats]:
    """Distinct DAGs (U, n) of positive weight, and ln of their shares (U,)."""
    if draws.over != "dags":
        raise ValueError("prediction averages over draws of DAGs, not orders: use sample_dags")
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


def _with_row(data: Data, row: Ints, held: Bools) -> Data:
    """The data and one row more."""
    values = np.vstack([data.values, row])
    if data.intervened is None and not held.any():
        return replace(data, values=values)
    before = np.zeros(data.values.shape, bool) if data.intervened is None else data.intervened
    return replace(data, values=values, intervened=np.vstack([before, held]))


def _completions(data: Data, rows: Rows) -> tuple[Rows, Ints]:
    """All completions of all rows, and of which row each is one, ascending."""
    nodes = [members(mask) for mask in missing_masks(rows)]
    runs = sum(math.prod(int(data.arities[v]) for v in some) for some in nodes)
    if runs > MAX_RUNS:
        raise ValueError(
            f"the rows have {runs:,} completions, each a run of the dynamic program, and at most "
            f"{MAX_RUNS:,} are handled: use log_density with draws"
        )
    parts = [
        completed(rows.take(slice(t, t + 1)), some, data.arities) for t, some in enumerate(nodes)
    ]
    owner = np.repeat(np.arange(len(parts)), [len(part.values) for part in parts])
    values = np.concatenate([rows.values[:0], *(part.values for part in parts)])
    held = None if rows.intervened is None else rows.intervened[owner]
    return Rows(values, held), owner
