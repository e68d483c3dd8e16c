"""Mixtures of trees, fitted by EM."""

import math
import os
from dataclasses import field
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab import memory
from bnlab.checkpoints import Arrays, Checkpoint, Kept, check, identity, nats
from bnlab.checks import Count, Floats, Ints, checked, frozen, real
from bnlab.data import Data
from bnlab.graphs import check_dags
from bnlab.kernels import counting as kernels
from bnlab.networks import BayesNet
from bnlab.results import Record, Run
from bnlab.running import Batch, Clock, Executor, Progress, run_steps, seed_of, spawn
from bnlab.search.trees import FEWER_STATES, check_observed, masks_of, spanning_tree
from bnlab.weights import safe_log

METHOD = "EM"
BLOCK = 10_000  # rows whose first responsibilities are drawn at a time
PER_ROW = 1e-6  # a gain below this, in nats a row, is the end
MAX_ITERATIONS = 1000
MANY = 100  # components that may be more than rows
ESS = (1e-100, 1e100)


@frozen()
class TreeMixture(Record):
    """p(x) = sum over k of weights[k] p(x | networks[k]), each network a tree [MeilaJordan2000].

    Make it with `fit_tree_mixture`.

    Attributes
    ----------
    weights : float64 (components,), decreasing, of sum 1
    networks : a BayesNet for each component, with `dag` and `tables`
    value : float, nats; what EM made as large as it could, see `fit_tree_mixture`
    trace : float64 (iterations,), the value at each iteration of the best climb
    converged : whether that climb ended by itself, rather than at the largest iteration
    values : float64 (restarts,), where each start ended
    run : Run

    Examples
    --------
    >>> data = Data.from_arrays([[0, 0], [1, 1], [0, 1]])
    >>> fit_tree_mixture(data, components=1, rng=np.random.default_rng(1))
    TreeMixture(1 tree of 2 variables, weights 1, value -5.05)
    """

    weights: Floats
    networks: tuple[BayesNet, ...]
    value: float
    trace: Floats
    converged: bool
    values: Floats
    run: Run = field(default_factory=lambda: Run(""))

    def __repr__(self) -> str:
        count = len(self.networks)
        shares = ", ".join(f"{weight:.3g}" for weight in self.weights)
        return (
            f"TreeMixture({count} tree{'' if count == 1 else 's'} of {self.networks[0].n} "
            f"variables, weights {shares}, value {self.value:.2f})"
        )

    def log_density(self, rows: Data | ArrayLike, /) -> Floats:
        """Return ln p(x) of each row, (rows,), nats.

        Parameters
        ----------
        rows : Data of the same variables, or (rows, n) codes; an intervened cell gives no factor

        Examples
        --------
        >>> data = Data.from_arrays([[0, 0], [1, 1], [0, 1]])
        >>> mixture = fit_tree_mixture(data, components=2, rng=np.random.default_rng(1))
        >>> p = np.exp(mixture.log_density([[0, 0], [0, 1], [1, 0], [1, 1]]))
        >>> print(p.sum().round(12))
        1.0
        """
        return np.asarray(np.logaddexp.reduce(self._log_joint(rows), axis=0))

    def responsibilities(self, rows: Data | ArrayLike, /) -> Floats:
        """Return p(component | x) of each row, (rows, components): a soft clustering.

        A row of density 0 is answered with the weights.

        Examples
        --------
        >>> data = Data.from_arrays([[0, 0], [1, 1], [0, 1]])
        >>> mixture = fit_tree_mixture(data, components=2, rng=np.random.default_rng(1))
        >>> mixture.responsibilities(data).sum(axis=1).round(12)
        array([1., 1., 1.])
        """
        log_joint = self._log_joint(rows)
        total = np.logaddexp.reduce(log_joint, axis=0)
        known = total > -math.inf
        out = np.tile(self.weights, (total.size, 1))
        out[known] = np.exp(log_joint[:, known] - total[known]).T
        return out

    def _log_joint(self, rows: Data | ArrayLike) -> Floats:
        """ln p(component, x), (components, rows)."""
        if not isinstance(rows, Data):
            tree = self.networks[0]
            rows = Data.from_arrays(rows, tree.arities, tree.names, tree.levels)
        terms = [tree.log_likelihood(rows) for tree in self.networks]
        return safe_log(self.weights)[:, None] + np.array(terms)


@checked
def fit_tree_mixture(
    data: Data,
    /,
    *,
    components: Count,
    restarts: Count = 5,
    rng: np.random.Generator,
    ess: float = 1.0,
    max_iterations: Count = MAX_ITERATIONS,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> TreeMixture:
    """Fit a mixture of trees by EM, a Chow-Liu tree in every M step [MeilaJordan2000, sec. 3].

    The M step takes the rows of each component, weighted by its responsibilities, and `ess` rows
    more, spread evenly over all joint states: it finds the best tree and tables exactly. So the
    value never falls:

    value = ln p(data) + ess sum over k of (ln weight_k + mean over all joint states of ln p(x | k))

    which for ess = 0 is the log likelihood. A climb ends when an iteration gains less than 1e-6
    nats a row. The trees are rooted at node 0; components come by decreasing weight.

    Parameters
    ----------
    data : Data, at least one row, without interventions
    components : number of trees
    restarts : number of starts from random responsibilities; the best end is kept
    rng : the only source of randomness
    ess : equivalent sample size of the prior of each component, in rows: 0, or 1e-100 to 1e100
    max_iterations : iterations after which a climb ends in any case
    checkpoint : a file for the starts that are done, saved every 10 seconds or so, and at a stop.
        If it is there, the same call goes on from it, to the very same end
    progress : progress(done, total, None) after each start; False stops with the starts done
    executor : where starts run; threads by default

    Raises
    ------
    ValueError
        If an option is out of range, the data have interventions or no row, memory is short, or the
        checkpoint is damaged or of another fit.

    Examples
    --------
    >>> data = Data.from_arrays([[0, 0, 0], [1, 1, 0], [0, 1, 1], [1, 0, 1]] * 25)
    >>> mixture = fit_tree_mixture(data, components=2, rng=np.random.default_rng(1))
    >>> print(mixture.log_density(data).mean().round(1))  # one tree: -ln 8 = -2.1
    -1.4
    """
    check_observed(data, "a mixture of trees is")
    if real(ess) != 0 and not ESS[0] <= real(ess) <= ESS[1]:
        raise ValueError(
            f"ess={ess}: the equivalent sample size is 0, or lies between 1e-100 and 1e100"
        )
    if not data.m:
        raise ValueError("the data have no rows: there is nothing to fit a mixture to")
    clock, seed = Clock(), seed_of(rng)
    settings = {"components": components, "restarts": restarts, "ess": real(ess)}
    settings["max_iterations"] = max_iterations
    identified = identity(METHOD, data=[data.values, data.arities], seed=seed, **settings)
    problem = _problem(data, components, real(ess), max_iterations)
    file = Checkpoint.at(checkpoint, identified)
    _require_memory(problem, restarts)
    if components > max(data.m, MANY):
        raise ValueError(
            f"components={components}: give at most one to each of {data.m} rows, or {MANY}"
        )
    rngs = spawn(rng, restarts)
    fits = partial(_check_ends, data, problem, restarts)
    batch = Batch(_climb, lambda part: (problem, rngs[part.start]), restarts, executor, fits=fits)
    stopped = run_steps(batch, file, progress)
    run = Run(METHOD, settings, seed, clock.seconds, stopped=stopped)
    return _mixture(data, batch.arrays(), run)


class Problem(NamedTuple):
    """What every climb of a fit shares."""

    columns: NDArray[np.int32]  # (n, rows), the distinct rows
    counts: Floats  # (rows,), how often each occurs
    first: Ints  # (n + 1,), where the states of each variable begin
    components: int
    ess: float
    max_iterations: int


class Tree(NamedTuple):
    """A tree with its tables."""

    parents: Ints  # (n,), the root its own
    tables: list[Floats]  # (q, r) of each node


def _problem(data: Data, components: int, ess: float, max_iterations: int) -> Problem:
    memory.require(
        8 * data.values.size + 32 * data.m,
        task=f"finding the distinct ones of {data.m:,} rows",
        remedy="take fewer rows (Data.prefix)",
    )
    rows, counts = np.unique(data.values, axis=0, return_counts=True)
    columns = np.ascontiguousarray(rows.T)
    first = np.append(0, np.cumsum(data.arities))
    return Problem(columns, counts.astype(np.float64), first, components, ess, max_iterations)


def _climb(job: tuple[Problem, np.random.Generator]) -> Arrays:
    """EM from random responsibilities. Its end, and as (1, ...) what `_mixture` finds it by."""
    problem, rng = job
    terms = _random_shares(problem, rng)  # each step puts its own terms in the place of the last
    least = PER_ROW * problem.counts.sum()
    trace: list[float] = []
    converged = False
    while len(trace) < problem.max_iterations and not converged:
        terms *= problem.counts
        weights = terms.sum(axis=1) + problem.ess
        weights /= weights.sum()
        trees = [_tree(problem, of_one) for of_one in terms]
        for log_joint, tree, log_weight in zip(terms, trees, safe_log(weights), strict=True):
            _log_p(problem, tree, log_joint)
            log_joint += log_weight
        log_rows = np.logaddexp.reduce(terms, axis=0)
        value = float(problem.counts @ log_rows) + _log_prior(problem, weights, trees)
        trace.append(value)
        converged = len(trace) > 1 and trace[-1] - trace[-2] < least
        terms -= log_rows
        np.exp(terms, out=terms)
    tables = [table.ravel() for tree in trees for table in tree.tables]
    return {
        "weights": weights[None],
        "parents": np.array([[tree.parents for tree in trees]]),
        "converged": np.array([converged]),
        "iterations": np.array([len(trace)]),
        "trace": np.array(trace),
        "tables": np.concatenate(tables),
    }


def _random_shares(problem: Problem, rng: np.random.Generator) -> Floats:
    """Random responsibilities (components, rows)."""
    even, rows = np.ones(problem.components), problem.counts.size
    shares = np.empty((even.size, rows))
    for start in range(0, rows, BLOCK):
        block = shares[:, start : start + BLOCK]
        block[:] = rng.dirichlet(even, size=block.shape[1]).T
    return shares


def _check_ends(data: Data, problem: Problem, restarts: int, saved: Arrays) -> None:
    """Raise a ValueError for what is not the ends of some starts, as `_climb` returns them."""
    n, components = data.n, problem.components
    share = partial(Kept, np.float64, low=0, high=1 + 1e-9)
    kept = {
        "weights": share(("starts", components)),
        "parents": Kept(np.int64, ("starts", components, n), 0, n - 1),
        "converged": Kept(np.bool_, ("starts",)),
        "iterations": Kept(np.int64, ("starts",), 1, problem.max_iterations),
        "trace": nats("iterations"),
        "tables": share(("cells",)),
    }
    check(saved, kept, starts=restarts)
    parents = saved["parents"]
    rises = np.diff(saved["trace"]) > -1e-6 * (1 + np.abs(saved["trace"][1:]))
    rises[np.cumsum(saved["iterations"])[:-1] - 1] = True  # another start
    if not (
        len(saved["trace"]) == saved["iterations"].sum()
        and len(saved["tables"]) == _sizes(data, parents).sum()
        and rises.all()
        and np.allclose(saved["weights"].sum(axis=1), 1)
        and check_dags(masks_of(parents)).size == parents.size
    ):
        raise ValueError("these are no trees with tables, weights and a trace for each")


def _sizes(data: Data, parents: Ints) -> Ints:
    """How many cells (..., n) the tables of trees have."""
    return data.arities * np.where(parents == np.arange(data.n), 1, data.arities[parents])


def _mixture(data: Data, ends: Arrays, run: Run) -> TreeMixture:
    """The best of the ends of some starts, which are put together as in `_climb`."""
    stops = np.cumsum(ends["iterations"])
    values = ends["trace"][stops - 1]
    best = int(values.argmax())
    trace = ends["trace"][stops[best] - ends["iterations"][best] : stops[best]]
    sizes = _sizes(data, ends["parents"])
    from_best = ends["tables"][sizes[:best].sum() :]
    cells = iter(np.split(from_best, np.cumsum(sizes[best])))
    networks = []
    for dag in masks_of(ends["parents"][best]):
        tables = tuple(next(cells).reshape(-1, arity) for arity in data.arities)
        networks.append(BayesNet(dag, data.arities, data.names, data.levels, tables))
    value, converged = float(values[best]), bool(ends["converged"][best])
    weights = ends["weights"][best]
    ranking = np.argsort(-weights, kind="stable")
    trees = tuple(networks[k] for k in ranking)
    return TreeMixture(weights[ranking], trees, value, trace, converged, values, run)


def _tree(problem: Problem, weights: Floats) -> Tree:
    """The best tree and tables for weighted rows and `ess` evenly spread ones."""
    first = problem.first
    arities = np.diff(first)
    share = np.repeat(1.0 / arities, arities)
    pairs = np.outer(problem.ess * share, share)
    np.fill_diagonal(pairs, problem.ess * share)
    kernels.pair_counts(problem.columns, weights, first, pairs)
    gain = np.empty((arities.size, arities.size))
    kernels.information(pairs, first, gain)
    parents = spanning_tree(gain)
    tables = []
    for v, u in enumerate(parents):
        of_v = slice(first[v], first[v + 1])
        of_u = slice(first[u], first[u + 1])
        counts = pairs[of_v, of_v].diagonal()[None] if u == v else pairs[of_u, of_v]
        total = counts.sum(axis=1, keepdims=True)
        even = np.full(counts.shape, 1.0 / arities[v])  # where no row tells anything
        tables.append(np.divide(counts, total, out=even, where=total > 0))
    return Tree(parents, tables)


def _log_p(problem: Problem, tree: Tree, out: Floats) -> None:
    """ln p(x | tree) of the distinct rows, (rows,), nats."""
    out[:] = 0.0
    for v, u in enumerate(tree.parents):  # the table of the root has one row
        out += safe_log(tree.tables[v])[0 if u == v else problem.columns[u], problem.columns[v]]


def _log_prior(problem: Problem, weights: Floats, trees: list[Tree]) -> float:
    """What the evenly spread rows add to the value."""
    if not problem.ess:
        return 0.0
    means = [safe_log(table).mean() for tree in trees for table in tree.tables]
    return float(problem.ess * (np.log(weights).sum() + math.fsum(means)))


def _require_memory(problem: Problem, restarts: int) -> None:
    states, rows, k = int(problem.first[-1]), problem.counts.size, problem.components
    tree = states * int(np.diff(problem.first).max())
    each = (k + 2) * rows + states**2 + (2 * k - 1) * tree  # the trees of two iterations
    at_once = min(restarts, os.cpu_count() or 1)
    while_climbing = at_once * each + (restarts - at_once) * k * tree
    memory.require(
        8 * max(while_climbing, (2 * restarts + 1) * k * tree),
        task=f"fitting {k} trees from {restarts} starts",
        remedy=f"take fewer components or restarts, or {FEWER_STATES}",
    )
