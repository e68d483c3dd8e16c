"""The best parents of each variable by itself: dependency networks, and DAGs given an order."""

import math
from dataclasses import field
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab.checks import Floats, Ints, Natural, checked, frozen, shown
from bnlab.data import Data
from bnlab.data.table import node_number
from bnlab.kernels.greedy import TIE
from bnlab.networks.bayesnet import mean_table, table_rows
from bnlab.records import check_alike
from bnlab.results import Record, Run
from bnlab.running import Clock
from bnlab.scores import BDeu, Score, ScoreTable
from bnlab.scores.local import check_pseudo_counts
from bnlab.scores.table import log_phi_within

Sweeps = Annotated[int, 1, 100_000]


@frozen()
class DependencyNetwork(Record):
    """A conditional p(x_v | parents) for each variable, cycles allowed [HeckermanEtAl2000].

    The conditionals are learned one by one, so there need be no joint distribution that has them
    all; the ordered Gibbs sampler defines one in any case. Make it with `fit_dependency_network`.

    Attributes
    ----------
    parents : int64 (n,), masks, as of a DAG but for cycles
    arities : int64 (n,)
    names, levels : of the variables and their states
    tables : for each variable probabilities (q, r), rows in mixed radix with the last parent
        running fastest, as in `BayesNet`
    run : Run

    Examples
    --------
    >>> from bnlab import score_families
    >>> data = Data.from_arrays([[0, 0], [0, 0], [1, 1], [1, 1]])
    >>> fit_dependency_network(score_families(data, BDeu()), data)
    DependencyNetwork(2 variables, 2 parents)
    """

    parents: Ints
    arities: Ints
    names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    tables: tuple[Floats, ...]
    run: Run = field(default_factory=lambda: Run(""))

    def __repr__(self) -> str:
        total = int(np.bitwise_count(self.parents).sum())
        return f"DependencyNetwork({len(self.names)} variables, {total} parents)"

    def conditional(self, v: int | str, rows: Data | ArrayLike, /) -> Floats:
        """Look up p(x_v | all the others) for each row: (rows, arity of v).

        In collaborative filtering x_u = 1 says that item u was bought; a row of the basket, 1 for
        what is in it and 0 for the rest, gives the probability that v is bought as well.

        Parameters
        ----------
        v : the variable, a name or a number
        rows : Data of the same variables, or (rows, n) codes; column v is not looked at

        Raises
        ------
        ValueError
            If there is no such variable, or a code is out of range.

        Examples
        --------
        >>> from bnlab import score_families
        >>> data = Data.from_arrays([[0, 0], [0, 0], [1, 1], [1, 1]])
        >>> net = fit_dependency_network(score_families(data, BDeu()), data)
        >>> net.conditional(1, [[1, 0]]).round(3)
        array([[0.1, 0.9]])
        """
        v = node_number(self.names, v)
        if isinstance(rows, Data):
            if (rows.names, rows.levels) != (self.names, self.levels):
                raise ValueError(
                    f"the rows are not of the variables {', '.join(self.names)} with the same "
                    "levels: take those of the data, in their order (Data.select)"
                )
            values = rows.values
        else:
            codes = np.array(rows)
            if codes.ndim == 2 and codes.shape[1] == len(self.names):
                codes[:, v] = 0
            values = Data.from_arrays(codes, self.arities.tolist(), self.names, self.levels).values
        return np.asarray(self.tables[v][table_rows(values, self.arities, self.parents[v])])

    def sample(self, m: Natural, rng: np.random.Generator, *, sweeps: Sweeps = 100) -> Data:
        """Draw m rows, each the end of an ordered pseudo-Gibbs chain of its own.

        A chain starts at independent uniform states; a sweep draws every variable in the order of
        their numbers, given all others as they stand. After many sweeps rows are draws from the
        joint distribution that this sampler defines [HeckermanEtAl2000, sec. 3]; with conditionals
        of one joint it is that one, and else it depends on the order.

        Parameters
        ----------
        m : number of rows, at least 0
        rng : the only source of randomness
        sweeps : how often each variable is drawn, from 1 to 100,000

        Examples
        --------
        >>> from bnlab import score_families
        >>> data = Data.from_arrays([[0, 0], [0, 0], [1, 1], [1, 1]])
        >>> net = fit_dependency_network(score_families(data, BDeu()), data)
        >>> net.sample(5, np.random.default_rng(1)).values.shape
        (5, 2)
        """
        values = rng.integers(0, self.arities, size=(m, self.arities.size)).astype(np.int32)
        cumulative = [np.cumsum(table, axis=1) for table in self.tables]
        for _ in range(sweeps):
            uniforms = rng.random(values.shape)
            for v, table in enumerate(cumulative):
                # Scaled to end at exactly 1: rounding must not reach beyond the last state.
                bounds = (table[:, :-1] / table[:, -1:])[
                    table_rows(values, self.arities, self.parents[v])
                ]
                values[:, v] = (uniforms[:, v, None] >= bounds).sum(axis=1)
        return Data(values, self.arities, self.names, self.levels)


@checked
def fit_dependency_network(
    table: ScoreTable, data: Data, /, *, score: Score = BDeu()
) -> DependencyNetwork:
    """Find each variable's best parent set by itself, with posterior means of its probabilities.

    Parent sets are the best of the table, score and prior factor together, of equally good ones, up
    to rounding, the smallest. Probabilities are (a_jk + N_jk) / (a_j + N_j), a the pseudo-counts of
    `score`; rows in which v was intervened on are left out of v's counts.

    Parameters
    ----------
    table : ScoreTable of the data
    data : Data
    score : BDeu or K2, whose pseudo-counts the probabilities have

    Raises
    ------
    ValueError
        If the table is not of the data's variables, the score has no pseudo-counts, or a table of
        probabilities would have more than 10 million entries.

    Examples
    --------
    >>> from bnlab import score_families
    >>> data = Data.from_arrays([[0, 0], [0, 0], [1, 1], [1, 1]])
    >>> fit_dependency_network(score_families(data, BDeu()), data).parents
    array([2, 1])
    """
    check_alike("the scores", table.names, "the data", data.names)
    check_pseudo_counts(score)
    clock = Clock()
    best = first_best(table.log_phi)
    parents = table.parents[np.arange(table.n), best]
    tables = tuple(mean_table(data, v, int(parents[v]), score) for v in range(data.n))
    run = Run("best parent sets", {"score": repr(score)}, seconds=clock.seconds)
    return DependencyNetwork(parents, data.arities, data.names, data.levels, tables, run)


@checked
def best_dag_given_order(table: ScoreTable, order: ArrayLike, /) -> Ints:
    """Find the DAG of highest log_target consistent with `order`: parent masks (n,).

    Each node takes its best parent set among its predecessors, by itself [CooperHerskovits1992];
    of equally good ones, up to rounding, the smallest, then the first in colexicographic order.
    O(n F) for F families of a node.

    Parameters
    ----------
    table : ScoreTable
    order : (n,), all nodes, parents before children

    Raises
    ------
    ValueError
        If `order` does not name each node once, or leaves a node no allowed parent set.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [1, 1], [0, 0]]), BDeu())
    >>> best_dag_given_order(table, [1, 0])
    array([2, 0])
    """
    nodes = np.asarray(order)
    if nodes.ndim != 1 or sorted(nodes.tolist()) != list(range(table.n)):
        raise ValueError(f"order={shown(nodes.tolist())}: name each node 0..{table.n - 1} once")
    nodes = nodes.astype(np.int64)
    log_phi = log_phi_within(table, nodes)
    for v in nodes:
        if log_phi[v].max() == -math.inf:
            raise ValueError(
                f"no parent set of {table.names[v]!r} is allowed among its predecessors in the "
                "order: relax the required, forbidden or candidate edges, or change the order"
            )
    return np.asarray(table.parents[np.arange(table.n), first_best(log_phi)])


def first_best(log_phi: NDArray[np.float64], /) -> Ints:
    """The place along the last axis of the first family as good as the best, up to rounding."""
    best = log_phi.max(axis=-1, keepdims=True)
    tie = TIE * (1 + 1e-5 * np.abs(np.where(np.isfinite(best), best, 0.0)))
    return np.asarray((log_phi >= best - tie).argmax(axis=-1))
