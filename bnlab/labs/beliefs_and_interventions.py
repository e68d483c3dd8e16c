"""Exact edges under priors, and of a chain with rows that somebody set; their views.

Five variables have 29,281 DAGs, which are all summed. Data alone cannot direct the chain
A -> B -> C -> D; rows in which a variable was set can.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from itertools import product
from types import MappingProxyType

import numpy as np

import bnlab as bn
from bnlab import plots
from bnlab.checks import Floats, Ints
from bnlab.labs.board import choice, rows as rows_of, size_slider
from bnlab.labs.modular_priors import space
from bnlab.labs.view import Board, View
from bnlab.papers.em2007.cases import log_factor
from bnlab.papers.store import normalised

SIZES = (0, 20, 50, 100, 200, 500, 1000, 1841)
CAUSE, EFFECT = 1, 0  # M. Work and Smoking
PATH_NATS = 5.0
MOST_EDGES = 4
ROWS = 400
NAMES = ("A", "B", "C", "D")
NOISE = 0.2
SEED = 2007
SET_ROWS = (0, 1, 2, 5, 10, 20, 40, 80, 200)
MOST_PAIRS = 8
PLAIN = "each DAG alike"


@cache
def five(data: bn.Data | None = None) -> bn.Data:
    """Return five variables of the coronary data, or of a table, in a random order of the rows."""
    data = rows_of("coronary") if data is None else data
    return data.select(data.names[:5]).shuffled(np.random.default_rng(SEED))


def sizes(data: bn.Data | None = None) -> tuple[int, ...]:
    """Return the stops of the slider of rows for the coronary data, or for a table."""
    m = five(data).m
    return (*(size for size in SIZES if size < m), m)


def no_path(dag: Ints, /) -> float:
    """ln of a prior factor: 5 nats against any path from M. Work to Smoking."""
    return float(-PATH_NATS * (bn.graphs.ancestors(dag)[EFFECT] >> CAUSE & 1))


def few_edges(dag: Ints, /) -> float:
    """ln of a prior factor: at most four edges."""
    return 0.0 if np.bitwise_count(dag).sum() <= MOST_EDGES else -np.inf


def _of_each(log_prior: Callable[[Ints], float]) -> Callable[[], Floats]:
    return lambda: np.array([log_prior(dag) for dag in space(5).dags])


PRIORS: Mapping[str, Callable[[], Floats]] = MappingProxyType(
    {
        PLAIN: lambda: np.zeros(len(space(5).dags)),
        "order-modular": lambda: np.log(space(5).orders),
        "Fair": lambda: log_factor(bn.Fair(), space(5).dags),
        "at most 4 edges": _of_each(few_edges),
        "no path M. Work → Smoking": _of_each(no_path),
    }
)
"""Priors on the DAGs: name -> function that gives ln of the factor of each DAG, (29281,)."""


@cache
def log_factors(prior: str) -> Floats:
    """ln of the prior factor of each of the 29,281 DAGs, up to a constant."""
    return PRIORS[prior]()


def five_table(m: int, data: bn.Data | None = None, /) -> bn.ScoreTable:
    """Return the BDeu scores of the first rows of `five(data)`, up to four parents, q = 1."""
    return bn.score_families(five(data).prefix(m), bn.BDeu(1.0), max_parents=4)


@cache
def log_likelihoods(m: int, data: bn.Data | None = None) -> Floats:
    """Return ln p(D | G) of each DAG for the first rows of `five(data)`, nats."""
    return five_table(m, data).log_target(space(5).dags)


@cache
def believed(prior: str, rows: int, data: bn.Data | None = None) -> Floats:
    """Return (5, 5) edge probabilities by the sum over all DAGs."""
    p = normalised(log_factors(prior) + log_likelihoods(rows, data))
    edges: Floats = np.tensordot(p, _adjacency(), axes=1)
    return edges


@cache
def _adjacency() -> Floats:
    return bn.graphs.to_adjacency(space(5).dags).astype(np.float64)


@cache
def chain_network() -> bn.BayesNet:
    """A -> B -> C -> D; each copies its parent with probability 0.8."""
    copy = np.array([[1 - NOISE, NOISE], [NOISE, 1 - NOISE]])
    coin = np.array([[0.5, 0.5]])
    levels = (("0", "1"),) * 4
    dag, arities = np.array([0, 1, 2, 4]), np.full(4, 2)
    return bn.BayesNet(dag, arities, NAMES, levels, (coin, copy, copy, copy))


def after_setting(net: bn.BayesNet, v: int, m: int, rng: np.random.Generator, /) -> bn.Data:
    """m rows in which v was set to a random state: it listens to no parent, others listen to it."""
    dag, tables = net.dag.copy(), list(net.tables)
    arity = int(net.arities[v])
    dag[v], tables[v] = 0, np.full((1, arity), 1 / arity)
    rows = replace(net, dag=dag, tables=tuple(tables)).sample(m, rng)
    return replace(rows, intervened=np.broadcast_to(np.arange(net.n) == v, rows.values.shape))


@cache
def mixed(v: int, many: int, net: bn.BayesNet | None = None) -> bn.Data:
    """Return 400 rows of the chain, or of a network, in the last `many` of which v was set."""
    net = net or chain_network()
    watched, doing = np.random.default_rng(SEED).spawn(2)
    seen = net.sample(ROWS - many, watched)
    done = after_setting(net, v, many, doing)
    held = np.zeros((ROWS, seen.n), bool)
    held[ROWS - many :, v] = True
    return replace(seen, values=np.concatenate([seen.values, done.values]), intervened=held)


@cache
def directed(v: int, many: int, *, told: bool = True, net: bn.BayesNet | None = None) -> Floats:
    """Return the exact structure-modular edges given `mixed(v, many, net)`, (n, n).

    With `told` False the model takes all rows for observed.
    """
    data = mixed(v, many, net) if told else replace(mixed(v, many, net), intervened=None)
    return bn.dag_posterior(bn.score_families(data, bn.BDeu(1.0))).edges


class Beliefs(View):
    """The same rows under five priors: five variables, exact, by the sum over 29,281 DAGs.

    Controls `prior` and `rows`; panels `heat` and `moved`.

    Parameters
    ----------
    data : a table of your own, of which the first five variables are taken
    """

    def __init__(self, data: bn.Data | None = None) -> None:
        self._own, stops = data, sizes(data)
        for prior, m in product(PRIORS, stops):  # now, so that the controls answer at once
            believed(prior, m, data)
        super().__init__(
            prior=choice("prior", list(PRIORS), "order-modular"),
            rows=size_slider("rows", stops, 200 if 200 in stops else stops[-1]),
        )

    def draw(self, prior: str, rows: int) -> Board:
        """The edges under the prior, and those that it moves most."""
        names, plain = five(self._own).names, believed(PLAIN, rows, self._own)
        edges = believed(prior, rows, self._own)
        gap = np.abs(edges - plain) - np.eye(5)  # edges only
        most = np.argsort(-gap, axis=None, kind="stable")[:MOST_PAIRS]
        pairs = plots.answer_pairs(
            plain.ravel()[most],
            edges.ravel()[most],
            [f"{names[i // 5]} → {names[i % 5]}" for i in most],
            posteriors=(PLAIN, "the prior chosen"),
            title="The edges that move most",
            alt="Probabilities of the eight edges that the prior moves most, under both priors",
        )
        said = f"{rows:,} rows" if rows else "No rows, the prior itself"
        return {
            "heat": (
                plots.heat_map(edges, names, name="believed"),
                f"{prior}. {said}, {edges.sum():.2f} edges expected.",
            ),
            "moved": (pairs, f"SAD from “{PLAIN}”: {bn.diagnostics.sad(edges, plain):.2f}."),
        }


class Doing(View):
    """A -> B -> C -> D with some rows in which one variable was set: what the model sees in it.

    Controls `which` and `rows`, of 400, in which that variable was set; panels `told` and `untold`.

    Parameters
    ----------
    net : a network of your own, in the place of the chain
    """

    def __init__(self, net: bn.BayesNet | None = None) -> None:
        self._net = chain_network() if net is None else net
        for v, many, told in product(range(len(self._net.names)), SET_ROWS, (True, False)):
            directed(v, many, told=told, net=self._net)
        super().__init__(
            which=choice("set the variable", self._net.names),
            rows=size_slider("rows with it set", SET_ROWS, 20),
        )

    def draw(self, which: str, rows: int) -> Board:
        """The edges, by a model that knows which cells were set, and by one that does not."""
        names, arrows = self._net.names, bn.graphs.to_edges(self._net.dag)
        listed = ", ".join(f"{names[u]} → {names[v]}" for u, v in arrows)
        titles = {"told": "The model knows which cells were set", "untold": "Nobody told the model"}
        said = {
            "told": f"{which} set in {rows} of {ROWS} rows. The least probable of {listed} has ",
            "untold": "The same rows, taken for observed: ",
        }
        board = {}
        for name, heading in titles.items():
            edges = directed(names.index(which), rows, told=name == "told", net=self._net)
            least = min(edges[u, v] for u, v in arrows)
            picture = plots.heat_map(edges, names, name=name, title=heading)
            board[name] = picture, f"{said[name]}{least:.2f}."
        return board
