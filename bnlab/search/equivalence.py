"""Greedy equivalence search: from class to class of Markov-equivalent DAGs."""

import math
from collections.abc import Iterator
from dataclasses import field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bnlab.checks import Floats, Ints, checked, frozen
from bnlab.graphs import cpdag, members
from bnlab.graphs.equivalence import cpdag_masks, extend_masks
from bnlab.kernels import counting, dags, greedy as kernels
from bnlab.results import Record, Run
from bnlab.running import Clock, Progress, report_progress
from bnlab.scores import LazyScores, ScoreTable, Source, family_source

Kind = Literal["insert", "delete"]

PHASES: list[tuple[Kind, Any]] = [  # with what finds the best operator
    ("insert", kernels.best_insert),
    ("delete", kernels.best_delete),
]


@frozen(eq=True)
class Operator:
    """One step between classes [Chickering2002, definitions 12 and 13].

    Attributes
    ----------
    kind : "insert", x -> y is added, and t - y becomes t -> y for the nodes t; or "delete", the
        edge of x and y goes, and for the nodes h, y - h becomes y -> h and x - h becomes x -> h
    x, y : int
    nodes : tuple of int
    gain : float, nats
    """

    kind: Kind
    x: int
    y: int
    nodes: tuple[int, ...]
    gain: float

    def __repr__(self) -> str:
        nodes = ", ".join(map(str, self.nodes))
        return f"{self.kind}({self.x}, {self.y}, {{{nodes}}}) gains {self.gain:.4g}"


@frozen()
class EquivalenceSearch(Record):
    """Where a greedy equivalence search went. Make it with `ges`.

    Attributes
    ----------
    dags : int64 (S + 1, n) parent masks: a member of each class on the way, the empty graph first
    trace : float64 (S + 1,), nats; their ln of prior factor times likelihood
    steps : the S operators between them
    names : the n variable names
    run : Run

    Examples
    --------
    >>> EquivalenceSearch(np.zeros((1, 3), np.int64), np.zeros(1), (), ("a", "b", "c"))
    EquivalenceSearch(3 variables, 0 steps, ln weight 0.0000)
    """

    dags: Ints
    trace: Floats
    steps: tuple[Operator, ...]
    names: tuple[str, ...]
    run: Run = field(default_factory=lambda: Run(""))

    def __repr__(self) -> str:
        return (
            f"EquivalenceSearch({len(self.names)} variables, {len(self.steps)} steps, "
            f"ln weight {self.log_target:.4f})"
        )

    @property
    def dag(self) -> Ints:
        """A member (n,) of the class found."""
        return np.asarray(self.dags[-1])

    @property
    def cpdag(self) -> NDArray[np.bool_]:
        """The class found, (n, n): true both ways is undirected, as in `graphs.cpdag`."""
        return cpdag(self.dag)

    @property
    def log_target(self) -> float:
        """ln of prior factor times likelihood of `dag`, nats; structure-modular, each DAG once."""
        return float(self.trace[-1])


@checked
def ges(
    table: ScoreTable | LazyScores, /, *, progress: Progress | None = None
) -> EquivalenceSearch:
    """Search equivalence classes greedily from the empty graph, GES [Chickering2002].

    The best valid insertion is made as long as one gains, then the best valid deletion. Gains below
    1e-8 nats are taken for rounding; of equal ones the first counts, by y, then by x.

    The classes have one score each only under a score-equivalent score (BDeu, BIC, AIC and
    likelihood, not K2; without interventions) and a prior factor of the number of edges alone
    (Uniform, EdgePenalty). Then the search ends, as the data grow, in the class of a DAG that they
    come from and that is faithful to them. Under other scores the gains are those of one family
    each: they are honest steps, but their sum depends on the directions that no data tell.

    Operators that need a family beyond `max_parents` are not available. All DAGs of a class have
    the same largest number of parents [AnderssonMadiganPerlman1997], so a class is within reach as
    a whole or not at all; but the guarantee needs max_parents = n - 1, since the search may pass
    through more parents than the truth has.

    It is one climb, of seconds as a rule: there is no checkpoint.

    Parameters
    ----------
    table : ScoreTable from `score_families`, or LazyScores for one search of many variables; up to
        63 variables
    progress : called as progress(done, most, None) after each step; False stops

    Raises
    ------
    ValueError
        If a family is forbidden: the members of a class then do not have one score.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> rows = [[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]] * 50
    >>> ges(score_families(Data.from_arrays(rows), BDeu())).cpdag.astype(int).tolist()
    [[0, 0, 1], [0, 0, 1], [0, 0, 0]]
    """
    _check_classes(table)
    clock = Clock()
    empty, steps, stopped = np.zeros(table.n, np.int64), list[tuple[Operator, Ints]](), False
    most = 2 * sum(min(table.max_parents, place) for place in range(table.n))  # edges come and go
    try:
        for step in _climb(family_source(table), empty):
            steps.append(step)
            if not report_progress(progress, len(steps), most):
                stopped = True
                break
    except KeyboardInterrupt:
        stopped = True
    operators = tuple(operator for operator, _ in steps)
    classes = np.array([empty, *(dag for _, dag in steps)])
    settings = {"max_parents": table.max_parents}
    run = Run("greedy equivalence search", settings, "", clock.seconds, stopped=stopped)
    return EquivalenceSearch(classes, table.log_target(classes), operators, table.names, run)


def _check_classes(table: ScoreTable | LazyScores) -> None:
    (log_phi, *_), _ = family_source(table)
    if not (log_phi == -math.inf).any():
        return
    v, f = np.argwhere(log_phi == -math.inf)[0]
    parents = np.empty(log_phi.shape, np.int64)
    counting.family_masks(table.n, table.max_parents, parents)
    given = ", ".join(table.names[u] for u in members(parents[v, f])) or "no parents"
    raise ValueError(
        f"{table.names[v]!r} given {given} is forbidden, by what is known, by the prior, or since "
        "a parent is measured: a class then has no common score. Use another search (hill_climb)"
    )


def _climb(source: Source, dag: Ints) -> Iterator[tuple[Operator, Ints]]:
    """The best operators while one gains, first to insert, then to delete; a DAG after each."""
    for kind, find in PHASES:
        while True:
            directed, undirected = cpdag_masks(dag)
            graph = directed, undirected, *dags.relations(directed, undirected)
            gain, x, y, nodes = find(graph, source)
            if x < 0:
                break
            operator = Operator(kind, x, y, tuple(members(nodes)), gain)
            change(directed, undirected, operator)
            dag = extend_masks(directed, undirected)
            yield operator, dag


def change(directed: Ints, undirected: Ints, operator: Operator, /) -> None:
    """Make an operator's change to a class, masks (n,) as from `cpdag_masks`."""
    x, y, nodes = operator.x, operator.y, operator.nodes
    if operator.kind == "insert":
        pointed = [(u, y) for u in (x, *nodes)]
    else:
        directed[y] &= ~(1 << x)
        undirected[y] &= ~(1 << x)
        undirected[x] &= ~(1 << y)
        pointed = [(u, h) for u in (x, y) for h in nodes if undirected[u] >> h & 1]
    for u, v in pointed:  # from the first to the second
        directed[v] |= 1 << u
        undirected[v] &= ~(1 << u)
        undirected[u] &= ~(1 << v)
