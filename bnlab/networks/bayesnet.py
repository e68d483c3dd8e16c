"""`BayesNet`: a DAG with conditional probability tables, to sample from and to score with."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab import memory
from bnlab.checks import Floats, Ints, Natural, Range, frozen
from bnlab.data import Data
from bnlab.files import write_text
from bnlab.graphs import check_dag, members, topological_order
from bnlab.networks.formats import bif_text, net_text, xdsl_text
from bnlab.records import WithDag
from bnlab.scores.local import BDeu, Score, check_pseudo_counts, pseudo_count

ROW_TOLERANCE = 1e-9
MAX_TABLE_ENTRIES = 10**7
Concentration = Annotated[float, Range(0, 1e300, "(]", "; rows of larger ones overflow")]


@frozen(repr=False)
class BayesNet(WithDag):
    """A Bayesian network over n discrete variables, checked once and read-only from then on.

    Row j of `tables[v]` is the distribution of v given the j-th configuration of its parents
    p_1 < ... < p_k, counted in mixed radix with the last parent running fastest:
    j = (...(x_1 r_2 + x_2) r_3 + ...) + x_k, as in `numpy.ravel_multi_index`.

    Attributes
    ----------
    dag : (n,) int64 parent masks, acyclic.
    arities : (n,) int64, number of states of each variable, at least 2.
    names : n distinct names.
    levels : for each variable the distinct labels of its states.
    tables : for each variable probabilities (q, r), q the product of the arities of its parents
        (1 without parents) and r its own arity; each row sums to 1 within 1e-9.

    Raises
    ------
    ValueError
        Naming the variable and what is wrong with it.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> BayesNet.random_tables([0, 1, 3], [2, 2, 3], rng)
    BayesNet: 3 nodes, 3 edges, 11 free parameters
    """

    dag: NDArray[np.int64]
    arities: NDArray[np.int64]
    names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    tables: tuple[NDArray[np.float64], ...]

    def __post_init__(self) -> None:
        dag = np.array(check_dag(self.dag))
        n = dag.size
        described = Data(np.empty((0, n), np.int32), self.arities, self.names, self.levels)
        if len(self.tables) != n:
            raise ValueError(f"{len(self.tables)} tables for {n} variables; give one for each")
        names, levels = described.names, described.levels
        self._set(dag=dag, arities=described.arities, names=names, levels=levels)
        self._set(tables=tuple(np.array(table, np.float64) for table in self.tables))
        for v, table in enumerate(self.tables):
            rows = math.prod(int(self.arities[p]) for p in members(dag[v]))
            _check_table(table, rows, int(self.arities[v]), names[v])

    def __repr__(self) -> str:
        edges = int(np.bitwise_count(self.dag).sum())
        return f"BayesNet: {self.n} nodes, {edges} edges, {self.free_parameters} free parameters"

    @property
    def free_parameters(self) -> int:
        """Number of free probabilities: the sum of q (r - 1) over the tables."""
        return sum(table.shape[0] * (table.shape[1] - 1) for table in self.tables)

    @classmethod
    def random_tables(
        cls,
        dag: ArrayLike,
        arities: Sequence[int] | NDArray[np.int64],
        rng: np.random.Generator,
        *,
        concentration: Concentration = 1.0,
        names: Sequence[str] | None = None,
        levels: Sequence[Sequence[str]] | None = None,
    ) -> BayesNet:
        """Make the network of `dag` with rows drawn from a symmetric Dirichlet distribution.

        Parameters
        ----------
        dag : (n,) parent masks.
        arities : (n,) integers, at least 2.
        concentration : Dirichlet parameter of each state, positive, at most 1e300; 1 is uniform
            over the simplex, smaller values make rows more deterministic.
        names, levels : by default x0, x1, ... and the codes 0, 1, ...

        Examples
        --------
        >>> net = BayesNet.random_tables([0, 1], [2, 2], np.random.default_rng(1))
        >>> net.tables[1].shape
        (2, 2)
        """
        masks = check_dag(dag)
        # An empty sample: names, arities and levels obey the same rules as those of Data.
        described = Data.from_arrays(np.empty((0, masks.size), np.int32), arities, names, levels)
        return drawn_network(masks, described, lambda cells: float(concentration), rng)

    @classmethod
    def fit(cls, dag: ArrayLike, data: Data, *, ess: float = 1.0) -> BayesNet:
        """Make the network of `dag` with the posterior mean tables given data.

        (ess / (q r) + N_jk) / (ess / q + N_j): the prior of `BDeu`, for q parent configurations and
        r states [HeckermanGeigerChickering1995]. Rows in which v was set by an intervention are not
        counted for v.

        Parameters
        ----------
        dag : (n,) parent masks over the variables of data.
        ess : equivalent sample size in rows, positive.

        Examples
        --------
        >>> data = Data.from_arrays([[0, 0], [0, 0], [1, 1], [1, 0]])
        >>> BayesNet.fit([0, 1], data).tables[1]
        array([[0.9, 0.1],
               [0.5, 0.5]])
        """
        return mean_network(dag, data, BDeu(ess))

    def sample(self, m: Natural, rng: np.random.Generator) -> Data:
        """Draw m independent rows, parents first.

        Equally seeded generators give nested samples: those of m = 100 begin those of m = 200.

        Examples
        --------
        >>> net = BayesNet.random_tables([0, 1], [2, 2], np.random.default_rng(1))
        >>> net.sample(5, np.random.default_rng(2)).values.shape
        (5, 2)
        """
        memory.require(m * self.n * 24, task=f"{m:,} rows", remedy="sample fewer at a time")
        uniforms = rng.random((m, self.n))
        values = np.zeros((m, self.n), np.int32)
        for v in topological_order(self.dag):
            cumulative = np.cumsum(self.tables[v], axis=1)
            # Scaled to end at exactly 1: rounding must not give a state of probability 0 a chance.
            cumulative /= cumulative[:, -1:]
            bounds = cumulative[table_rows(values, self.arities, self.dag[v]), :-1]
            values[:, v] = (uniforms[:, v, None] >= bounds).sum(axis=1)
        return Data(values, self.arities, self.names, self.levels)

    def log_likelihood(self, data: Data) -> NDArray[np.float64]:
        """Return the log probability (m,) of each row, in nats; -inf for impossible rows.

        A variable that was intervened on contributes no factor: its value was set, not drawn.

        Raises
        ------
        ValueError
            Unless `data` has the variables of the network, in its order and with its levels.

        Examples
        --------
        >>> net = BayesNet.random_tables([0], [2], np.random.default_rng(1))
        >>> net.log_likelihood(net.sample(4, np.random.default_rng(2))).shape
        (4,)
        """
        check_columns(self.names, data)
        if data.levels != self.levels:
            v = next(v for v in range(self.n) if data.levels[v] != self.levels[v])
            raise ValueError(
                f"variable {self.names[v]!r} has levels {data.levels[v]} in the data and "
                f"{self.levels[v]} in the network; declare the levels when reading the data"
            )
        total = np.zeros(data.m)
        for v in range(self.n):
            rows = table_rows(data.values, self.arities, self.dag[v])
            chosen = self.tables[v][rows, data.values[:, v]]
            terms = np.full(data.m, -np.inf)
            np.log(chosen, out=terms, where=chosen > 0)
            if data.intervened is not None:
                terms[data.intervened[:, v]] = 0.0
            total += terms
        return total

    def write_bif(self, path: str | os.PathLike[str]) -> None:
        """Write a BIF file (gzipped if `path` ends in .gz) that `read_bif` reads back exactly.

        Raises
        ------
        ValueError
            When a name or label holds a quotation mark or a line break, which BIF cannot write.

        Examples
        --------
        >>> import os, tempfile
        >>> net = BayesNet.random_tables([0, 1], [2, 2], np.random.default_rng(1))
        >>> net.write_bif(os.path.join(tempfile.mkdtemp(), "two.bif"))
        """
        write_text(path, bif_text(self, self.names, self.levels))

    def write_xdsl(self, path: str | os.PathLike[str]) -> None:
        """Write an XDSL file, for GeNIe and SMILE (gzipped if `path` ends in .gz).

        Names and labels become words, "wind, speed" wind_speed, which comments explain; GeNIe shows
        the names of nodes as they are.
        """
        write_text(path, xdsl_text(self))

    def write_net(self, path: str | os.PathLike[str]) -> None:
        """Write a NET file, for Hugin, with names and labels as in `write_xdsl`."""
        write_text(path, net_text(self))


def table_rows(values: NDArray[np.int32], arities: Ints, parents: int, /) -> Ints:
    """Which row of the table of a parent mask applies to each row of values (m, n)."""
    rows = np.zeros(len(values), np.int64)
    for p in members(parents):
        rows = rows * arities[p] + values[:, p]
    return rows


def check_columns(names: tuple[str, ...], data: Data, /) -> None:
    """Raise a ValueError unless data has the variables of a network, in its order."""
    if data.names != names:
        if set(data.names) >= set(names):
            raise ValueError("the columns are not those of the network: data.select(net.names)")
        absent = next(name for name in names if name not in data.names)
        raise ValueError(f"the data has no variable {absent!r}; it has {', '.join(data.names)}")


def drawn_network(
    dag: Ints, described: Data, parameter: Callable[[int], float], rng: np.random.Generator, /
) -> BayesNet:
    """A network of described variables with Dirichlet rows; `parameter` of one of so many cells."""
    sizes, tables = described.arities.tolist(), []
    for v, size in enumerate(sizes):
        rows = math.prod(sizes[p] for p in members(dag[v]))
        check_table_size(rows, size, described.names[v])
        tables.append(rng.dirichlet(np.full(size, parameter(rows * size)), size=rows))
    return BayesNet(dag, described.arities, described.names, described.levels, tuple(tables))


def dag_over(data: Data, dag: ArrayLike, /) -> Ints:
    """A DAG (n,), checked, or a ValueError unless it is over the variables of data."""
    masks = check_dag(dag)
    if masks.size != data.n:
        raise ValueError(f"a DAG of {masks.size} nodes for {data.n} variables")
    return masks


def mean_network(dag: ArrayLike, data: Data, score: Score, /) -> BayesNet:
    """The network of a DAG with posterior mean tables, (a_jk + N_jk) / (a_j + N_j)."""
    check_pseudo_counts(score)
    masks = dag_over(data, dag)
    tables = tuple(mean_table(data, v, int(masks[v]), score) for v in range(data.n))
    return BayesNet(masks, data.arities, data.names, data.levels, tables)


def mean_table(data: Data, v: int, parents: int, score: Score, /) -> Floats:
    """Posterior means (q, r) of p(x_v | parents)."""
    table = dirichlet_parameters(data, v, parents, score)
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def dirichlet_parameters(data: Data, v: int, parents: int, score: Score, /) -> Floats:
    """Pseudo-counts plus counts (q, r), as in a `BayesNet`'s table, of rows where v was not set."""
    columns = [*members(parents), v]
    shape = data.arities[columns].tolist()
    check_table_size(math.prod(shape[:-1]), shape[-1], data.names[v])
    seen = slice(None) if data.intervened is None else ~data.intervened[:, v]
    cells = np.ravel_multi_index(tuple(data.values[seen][:, columns].T), shape)
    counts = np.bincount(cells, minlength=math.prod(shape)).reshape(-1, shape[-1])
    return np.asarray(counts + pseudo_count(score, counts.size))


def check_table_size(rows: int, arity: int, name: str) -> None:
    """Refuse a table that no file or sampler could fill, before allocating it."""
    if rows * arity > MAX_TABLE_ENTRIES:
        raise ValueError(
            f"the table of {name!r} would have {rows} rows of {arity}, more than "
            f"{MAX_TABLE_ENTRIES} entries; give it fewer parents"
        )


def _check_table(table: Floats, rows: int, arity: int, name: str) -> None:
    if table.shape != (rows, arity):
        raise ValueError(
            f"the table of {name!r} has shape {table.shape}; its parents and states ask for "
            f"{(rows, arity)}"
        )
    for p in table[~((table >= 0) & (table <= 1 + ROW_TOLERANCE))]:
        raise ValueError(f"the table of {name!r} holds {p}: probabilities lie between 0 and 1")
    error = np.abs(table.sum(axis=1) - 1)
    if error.max() > ROW_TOLERANCE:
        row = int(error.argmax())
        raise ValueError(
            f"row {row} of the table of {name!r} sums to {table[row].sum():.10g}, not to 1; "
            "divide it by its sum"
        )
