"""Posterior predictive densities of rows: averaged over weighted DAGs, by one DAG, or exact."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from bnlab import memory
from bnlab.checks import Floats, Ints, checked
from bnlab.data import AnyCells, Data
from bnlab.data.table import node_number, rows_of
from bnlab.exact import DagPosterior, OrderPosterior, order_posterior
from bnlab.graphs import check_dags, members
from bnlab.kernels import counting as kernels
from bnlab.networks.bayesnet import dag_over
from bnlab.predict.tables import (
    Parameters,
    check_rows,
    completed,
    connected_terms,
    missing_masks,
    parameters_of,
)
from bnlab.priors import Prior, Uniform
from bnlab.records import altered, check_alike
from bnlab.results import DagDraws, Draws
from bnlab.running import Progress, Steps
from bnlab.scores import AnyData, AnyScore, BDeu, ScoreTable, score_families
from bnlab.weights import heaviest

FEW_STATES = 64  # joint states of missing cells that are listed, not summed DAG by DAG
MAX_RUNS = 1 << 16  # of the dynamic program of an exact density
BLOCK_TERMS = 1 << 23  # terms in memory at a time, 64 MB


@checked
def log_density(
    draws: DagDraws, data: AnyData, new_rows: AnyCells | ArrayLike, /, *, score: AnyScore = BDeu()
) -> Floats:
    """Return ln p(x | D) of each new row x, averaged over DAGs [EatonMurphy2007, sec. 5.3].

    p(x | D) = sum over G of w_G p(x | G, D), with the weights of the draws, and p(x | G, D) the
    product over nodes of the posterior mean (a_jk + N_jk) / (a_j + N_j), a the pseudo-counts of the
    score. It belongs to the posterior that the draws come from (`draws.prior`). Missing cells are
    summed out in every DAG. An intervened cell gives no factor: p(the others | do(x_v)).

    A measured variable has a Student t density in place of the mean, that of its regression given
    D: together they are the ratio of the marginal likelihoods of BGe with the row and without it
    [GeigerHeckerman2002], in the units that `data` have.

    Parameters
    ----------
    draws : Draws over "dags": independent, weighted, or along chains
    data : Data, what the draws were given
    new_rows : (rows, n) integer codes with -1 for a missing cell, or Data of the same variables;
        measured cells are given, and beside them at most 64 joint states missing
    score : the score of the draws: BDeu, K2, BGe or ConditionalGaussian

    Returns
    -------
    float64 (rows,), nats; of measured variables nats a unit

    Raises
    ------
    ValueError
        If draws, data and rows do not fit each other, no draw has weight, the score has no
        pseudo-counts, memory is short, measurements are missing, or summing out missing cells takes
        tables of more than 4 million joint states.

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
    return _mixture(*_weighted_dags(draws, data), parameters_of(data, score), rows)


@checked
def plug_in_log_density(
    dag: ArrayLike, data: AnyData, new_rows: AnyCells | ArrayLike, /, *, score: AnyScore = BDeu()
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
    >>> from bnlab import BGe
    >>> plants = Data.from_arrays([[1.0, 2.0], [2.0, 4.5], [3.0, 5.5]])
    >>> plug_in_log_density([0, 1], plants, [[2.0, 4.0], [2.0, 9.0]], score=BGe()).round(3)
    array([-1.313, -9.21 ])
    """
    rows = check_rows(data, new_rows)
    return _mixture(*_weighted_dags(dag, data), parameters_of(data, score), rows)


@checked
def log_class_posterior(
    dag: DagDraws | ArrayLike,
    data: AnyData,
    target: int | str,
    new_rows: AnyCells | ArrayLike,
    /,
    *,
    score: AnyScore = BDeu(),
) -> Floats:
    """Return ln p(class | other cells, D) of each new row, averaged over DAGs or by one of them.

    The joint densities of `log_density`, or of `plug_in_log_density` for one DAG such as that of
    `tan`, with every class in turn, normalised. The class of a new row is not looked at; other
    missing cells are summed out. The parameters are averaged; the structure is, if draws are given.

    Parameters
    ----------
    dag : Draws over "dags", or the parent masks (n,) of one DAG
    data : Data that the parameters are learned from
    target : the class, a name or a number of a variable with states
    new_rows : as in `log_density`; in place of a class -1 will do
    score : BDeu or K2, or ConditionalGaussian where some are measured

    Returns
    -------
    float64 (rows, classes), nats; the largest in a row is the most probable class

    Raises
    ------
    ValueError
        As `log_density` does, or if there is no such variable.

    Examples
    --------
    >>> data = Data.from_arrays([[0, 0], [0, 0], [1, 1]], names=["petal", "kind"])
    >>> np.exp(log_class_posterior([2, 0], data, "kind", [[0, -1]])).round(3)
    array([[0.9, 0.1]])
    """
    rows = check_rows(data, new_rows)
    c = node_number(data.names, target)
    if data.measured[c]:
        raise ValueError(f"{data.names[c]!r} is measured: a class is a variable with states")
    weighted, parameters = _weighted_dags(dag, data), parameters_of(data, score)
    joint = np.empty((rows.m, int(data.arities[c])))
    for state in range(joint.shape[1]):
        values = rows.values.copy()
        values[:, c] = state
        joint[:, state] = _mixture(*weighted, parameters, altered(rows, values=values))
    return np.asarray(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))


@checked
def exact_log_density(
    data: AnyData,
    new_rows: AnyCells | ArrayLike,
    /,
    *,
    score: AnyScore = BDeu(),
    max_parents: int = 3,
    prior: Prior = Uniform(),
    posterior: Callable[[ScoreTable], DagPosterior | OrderPosterior] = order_posterior,
    progress: Progress | None = None,
) -> Floats:
    """Return ln p(x | D) = ln p(x, D) - ln p(D) of each new row x [EatonMurphy2007, sec. 2].

    The posterior runs once for the data and once more for every different row added to them; a row
    with missing cells is a sum over all its completions. Intervened cells, measurements and their
    units as in `log_density`: BGe's units are those of the data without the new row.

    Parameters
    ----------
    data : Data, m rows of n variables
    new_rows : as in `log_density`
    score, max_parents, prior : as in `score_families`; not BIC or another without pseudo-counts
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
    rows, parameters = check_rows(data, new_rows), parameters_of(data, score)
    if not rows.m:
        return np.empty(0)
    complete, starts = _completions(rows)
    parts = complete.values, complete.intervened, complete.measurements
    cells = np.nan_to_num(np.hstack([part for part in parts if part is not None]).astype(float))
    _, first, which = np.unique(cells, return_index=True, return_inverse=True, axis=0)
    table = score_families(data, score, max_parents=max_parents, prior=prior)
    log_p, steps = np.empty(first.size), Steps(progress, first.size)
    log_z_data = posterior(table).log_z
    # The families' scores with the row are those without it and its density in each of them.
    allowed = table.log_prior > -math.inf
    families = [masks[kept] for masks, kept in zip(table.parents, allowed, strict=True)]
    for block, terms in _terms_in_blocks(families, parameters, rows_of(complete, first)):
        for i, term in enumerate(terms.T, block.start):
            log_score = table.log_score.copy()
            log_score[allowed] += term
            log_p[i] = posterior(replace(table, log_score=log_score)).log_z - log_z_data
            steps.tick()
    return np.asarray(np.logaddexp.reduceat(log_p[which.ravel()], starts))


def _weighted_dags(draws: Draws | ArrayLike, data: Data) -> tuple[Ints, Floats]:
    """Distinct DAGs (U, n) of positive weight, and ln of their shares (U,); or one DAG."""
    if not isinstance(draws, Draws):
        return dag_over(data, draws)[None], np.zeros(1)
    check_alike("the draws", draws.names, "the data", data.names)
    log_weight = draws.log_weight.ravel()
    heaviest(log_weight)  # finite, or a ValueError
    kept = log_weight > -math.inf
    dags = draws.values.reshape(-1, data.n)[kept]
    memory.require(
        26 * dags.size, task=f"averaging {len(dags):,} DAGs", remedy="take fewer (Draws.prefix)"
    )
    distinct, group = np.unique(dags, axis=0, return_inverse=True)
    shares = np.full(len(distinct), -math.inf)
    np.logaddexp.at(shares, group.ravel(), log_weight[kept])
    return check_dags(distinct), shares - np.logaddexp.reduce(shares)


def _distinct_families(dags: Ints) -> tuple[list[Ints], Ints]:
    """Parent masks of each node, and which of them, counted through all nodes, each DAG has."""
    masks, parts, count = [], np.empty(dags.shape, np.int64), 0
    for v in range(dags.shape[1]):
        distinct, which = np.unique(dags[:, v], return_inverse=True)
        masks.append(distinct)
        parts[:, v] = which + count
        count += distinct.size
    return masks, parts


def _mixture(dags: Ints, log_weight: Floats, tables: Parameters, rows: Data) -> Floats:
    """ln of the average density of each row, by the pattern of its missing cells."""
    gaps = missing_masks(rows)
    families, of_dags = _distinct_families(dags)
    out = np.empty(rows.m)
    for mask in np.unique(gaps):
        which = np.flatnonzero(gaps == mask)
        some, nodes = rows_of(rows, which), members(mask)
        states = math.prod(rows.arities[nodes].tolist())
        if states > FEW_STATES:
            if rows.measured.any():
                raise ValueError(
                    f"row {which[0]} has {states:,} completions; beside measurements at most "
                    f"{FEW_STATES} are summed: give more of its cells"
                )
            parts, terms = connected_terms(dags, int(mask), tables, some)
            log_p = np.empty(which.size)
            kernels.log_mixture(log_weight, parts, terms, log_p)
        else:
            memory.require(
                8 * states * some.values.size,
                task=f"listing {states} completions of {which.size:,} rows",
                remedy="predict fewer rows at a time",
            )
            full = completed(some, nodes)
            log_p = np.empty(full.m)
            for block, terms in _terms_in_blocks(families, tables, full):
                kernels.log_mixture(log_weight, of_dags, terms, log_p[block])
            log_p = np.logaddexp.reduce(log_p.reshape(which.size, states), axis=1)
        out[which] = log_p
    return out


def _terms_in_blocks(
    masks: list[Ints], tables: Parameters, rows: Data
) -> Iterator[tuple[slice, Floats]]:
    """ln of densities (families, rows), node by node, of complete rows in blocks; 0 where set."""
    count = sum(some.size for some in masks)
    size = max(1, BLOCK_TERMS // count)
    memory.require(
        16 * count * min(size, rows.m),
        task=f"predicting by {count:,} families",
        remedy="average fewer DAGs (Draws.prefix)",
    )
    for start in range(0, rows.m, size):
        block = slice(start, start + size)
        some = rows_of(rows, block)
        terms = tables.log_densities(masks, some)
        if some.intervened is not None:
            for v, term in enumerate(terms):
                term[:, some.intervened[:, v]] = 0.0
        yield block, np.concatenate(terms)


def _completions(rows: Data) -> tuple[Data, Ints]:
    """All completions of all rows, and where those of each row begin."""
    nodes = [members(mask) for mask in missing_masks(rows)]
    counts = [math.prod(rows.arities[some].tolist()) for some in nodes]
    if (runs := sum(counts)) > MAX_RUNS:
        raise ValueError(
            f"the rows have {runs:,} completions, each a run of the dynamic program, and at most "
            f"{MAX_RUNS:,} are handled: use log_density with draws"
        )
    every = rows_of(rows, np.repeat(np.arange(rows.m), counts))
    alone = [rows_of(rows, slice(t, t + 1)) for t in range(rows.m)]
    full = [completed(row, some).values for row, some in zip(alone, nodes, strict=True)]
    return altered(every, values=np.concatenate(full)), np.cumsum(counts) - counts
