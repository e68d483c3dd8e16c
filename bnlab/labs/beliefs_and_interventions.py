"""The views and the checks of notebooks/12_beliefs_and_interventions.ipynb.

Exact edges under priors of any form, by the sum over all 29,281 DAGs of five variables, and of a
chain A -> B -> C -> D, which observed rows cannot direct and rows in which a variable was set can.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from itertools import combinations, permutations, product
from typing import Any

import numpy as np

import bnlab as bn
from bnlab import plots
from bnlab.checks import Bools, Floats, Ints
from bnlab.labs import board
from bnlab.labs.board import Case, Told, choice, exercise, setup as setup, size_slider
from bnlab.labs.modular_priors import space
from bnlab.labs.predict import predict as predict, review as review
from bnlab.labs.view import Board, View
from bnlab.papers.em2007.cases import log_factor
from bnlab.papers.page import normalised

SIZES = (0, 20, 50, 100, 200, 500, 1000, 1841)
CAUSE, EFFECT = 1, 0  # M. Work and Smoking
PATH_NATS = 5.0
MOST_EDGES = 4
BELIEVED = ((2, 3), (2, 1))  # P. Work -> Pressure and P. Work -> M. Work
STRENGTH = 3.0
ROWS = 400
NAMES = ("A", "B", "C", "D")
NOISE = 0.2
SEED = 2007
SET_ROWS = (0, 1, 2, 5, 10, 20, 40, 80, 200)
MOST_PAIRS = 8
SIDE, NET = 245, 340  # pixels: three pictures stand beside each other
FAINT = 0.15  # width of an edge that is cut
PLAIN = "uniform prior"
DOUBT = "no path M. Work → Smoking"
EXPERT = "expert on P. Work"
FEW = "at most 4 edges"


@cache
def five(case: Case = "coronary") -> bn.Data:
    """Return five variables of the coronary data, or of a table, in a random order of the rows."""
    data = board.rows(case)
    return data.select(data.names[:5]).shuffled(np.random.default_rng(SEED))


def no_path(dag: Ints, /) -> float:
    """ln of a prior factor: 5 nats against any path from M. Work to Smoking."""
    return float(-PATH_NATS * (bn.graphs.ancestors(dag)[EFFECT] >> CAUSE & 1))


def few_edges(dag: Ints, /) -> float:
    """ln of a prior factor: at most four edges."""
    return 0.0 if np.bitwise_count(dag).sum() <= MOST_EDGES else -np.inf


def _of_each(log_prior: Callable[[Ints], float]) -> Callable[[], Floats]:
    return cache(lambda: np.array([log_prior(dag) for dag in space(5).dags]))


def edge_beliefs() -> bn.EdgeBeliefs:
    """Return an expert's belief in two edges, 3 nats each; of the others they say nothing."""
    matrix = np.full((5, 5), 0.5)
    for u, v in BELIEVED:
        matrix[u, v] = 1.0
    return bn.EdgeBeliefs(matrix, STRENGTH)


PRIORS: Mapping[str, Callable[[], Floats]] = {
    PLAIN: lambda: np.zeros(len(space(5).dags)),
    DOUBT: _of_each(no_path),
    EXPERT: lambda: log_factor(edge_beliefs(), space(5).dags),
    FEW: _of_each(few_edges),
}
"""Priors on the DAGs: name -> function that gives ln of the factor of each DAG, (29281,)."""


@cache
def log_likelihoods(m: int, case: Case = "coronary") -> Floats:
    """Return ln p(D | G) of each DAG for the first rows of `five(case)`, nats."""
    return board.bdeu_table(five(case), m, most=4).log_target(space(5).dags)


@cache
def believed(prior: str, rows: int, case: Case = "coronary") -> Floats:
    """Return (5, 5) edge probabilities by the sum over all DAGs."""
    p = normalised(PRIORS[prior]() + log_likelihoods(rows, case))
    return np.asarray(np.tensordot(p, space(5).edges, axes=1))


@cache
def chain_network() -> bn.BayesNet:
    """A -> B -> C -> D; each copies its parent with probability 0.8."""
    coin, copy = np.array([[0.5, 0.5]]), np.array([[1 - NOISE, NOISE], [NOISE, 1 - NOISE]])
    about = np.array([0, 1, 2, 4]), np.full(4, 2), NAMES, (("0", "1"),) * 4
    return bn.BayesNet(*about, (coin, copy, copy, copy))


def after_setting(net: bn.BayesNet, v: int, m: int, rng: np.random.Generator, /) -> bn.Data:
    """m rows in which v was set to a random state: without parents; its children depend on it."""
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
    seen, done = net.sample(ROWS - many, watched), after_setting(net, v, many, doing)
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
    """The same rows under four priors: five variables, exact, by the sum over 29,281 DAGs.

    Parameters
    ----------
    data : a table of your own, of which the first five variables are taken
    """

    def __init__(self, data: bn.Data | None = None) -> None:
        self._case: Case = "coronary" if data is None else data
        stops = board.stops(SIZES, five(self._case).m)
        for prior, m in product(PRIORS, stops):  # now, so that the controls answer at once
            believed(prior, m, self._case)
        super().__init__(
            prior=choice("prior", list(PRIORS), EXPERT), rows=size_slider("rows", stops, 200)
        )

    def draw(self, prior: str, rows: int) -> Board:
        """The edges under the prior, and those that it moves most."""
        names, plain = five(self._case).names, believed(PLAIN, rows, self._case)
        edges = believed(prior, rows, self._case)
        gap = np.abs(edges - plain) - np.eye(5)  # edges only
        most = np.argsort(-gap, axis=None, kind="stable")[:MOST_PAIRS]
        labels = [f"{names[i // 5]} → {names[i % 5]}" for i in most]
        alt = "Probabilities of the eight edges that the prior moves most, under both priors"
        look: Any = {"posteriors": (PLAIN, "the prior chosen"), "title": "The edges that move most"}
        both = plain.ravel()[most], edges.ravel()[most]
        pairs = plots.answer_pairs(*both, labels, alt=alt, **look)
        said = f"{rows:,} rows" if rows else "No rows, the prior itself"
        heat = plots.heat_map(edges, names, name="believed")
        return {
            "heat": (heat, f"{prior}. {said}, {edges.sum():.2f} edges expected."),
            "moved": (pairs, f"SAD from “{PLAIN}”: {bn.diagnostics.sad(edges, plain):.2f}."),
        }


class Doing(View):
    """A -> B -> C -> D with some rows in which one variable was set: what the model sees in it.

    Parameters
    ----------
    net : a network of your own, in the place of the chain
    """

    def __init__(self, net: bn.BayesNet | None = None) -> None:
        self._net = chain_network() if net is None else net
        for v, many, told in product(range(len(self._net.names)), SET_ROWS, (True, False)):
            directed(v, many, told=told, net=self._net)
        self._places = plots.network_positions(bn.graphs.to_adjacency(self._net.dag))
        super().__init__(
            which=choice("set the variable", self._net.names),
            rows=size_slider("rows with it set", SET_ROWS, 20),
        )

    def draw(self, which: str, rows: int) -> Board:
        """The edges, by a model that knows which cells were set, and by one that does not."""
        names, true = self._net.names, bn.graphs.to_edges(self._net.dag)
        listed = ", ".join(f"{names[u]} → {names[v]}" for u, v in true)
        titles = {"told": "The model knows which cells were set", "untold": "The model is not told"}
        said = {
            "told": f"{which} set in {rows} of {ROWS} rows. The least probable of {listed} has ",
            "untold": "The same rows, taken for observed: ",
        }
        wide = bn.graphs.to_adjacency(self._net.dag).astype(float)
        wide[:, names.index(which)] *= FAINT
        title, alt = f"Where {which} is set", f"The network, its edges into {which} faint"
        cut = plots.network(wide, names, self._places, title=title, alt=alt, width=NET)
        faint = f"Faint: edges into {which}, which has no parents in the rows where it is set."
        shown: dict[str, Any] = {"cut": (cut, faint)}
        for name, heading in titles.items():
            edges = directed(names.index(which), rows, told=name == "told", net=self._net)
            least = min(edges[u, v] for u, v in true)
            picture = plots.heat_map(edges, names, name=name, title=heading, side=SIDE)
            shown[name] = picture, f"{said[name]}{least:.2f}."
        return shown


@exercise(properties=5)
def check_score(function: Callable[..., Any]) -> Told:
    """Exercise 1: `function(v, parents, rows, marks)` is the BDeu score of a family, ess = 1."""

    def result(*was_set: tuple[int, int]) -> float:
        rows = ((1, 1), (0, 0), (0, 1), (0, 1))
        return float(np.exp(function(1, [0], rows[: len(was_set)], was_set)))

    no, set_a, set_b = (0, 0), (1, 0), (0, 1)
    yield "three rows by hand, none set: p = 1/4 times 1/6"
    yield np.isclose(result(no, no, no), 1 / 24)
    yield "B set in the third of them: p = 1/4"
    yield np.isclose(result(no, no, set_b), 1 / 4)
    yield "A, the parent, set in the third: does B still depend on it?"
    yield np.isclose(result(no, no, set_a), 1 / 24)
    yield "B set in the third of four rows: the fourth is predicted from those that count"
    yield np.isclose(result(no, no, set_b, no), 1 / 24)
    yield "all families of the chain, 400 rows, B set in 80: as in the package"
    data = mixed(1, 80)
    table, given = bn.score_families(data, bn.BDeu(1.0)), (data.values.tolist(), data.intervened)
    each = [[bn.graphs.members(P) for P in parents] for parents in table.parents]
    ours = [[function(v, P, *given) for P in each[v]] for v in range(4)]
    yield np.allclose(ours, table.log_score)


@exercise(properties=6)
def check_detours(function: Callable[[Ints], Any]) -> Told:
    """Exercise 2: `function(dag)` is minus the number of pairs with a path but no edge."""

    def result(*parents: int) -> float:
        return float(function(np.array(parents)))

    yield "no edges, nothing to pay: 0"
    yield result(0, 0, 0) == 0
    yield "0 -> 1 -> 2 has one such pair: -1"
    yield result(0, 1, 2) == -1
    yield "with 0 -> 2 as well it has none: 0"
    yield result(0, 1, 3) == 0
    yield "0 -> 1 -> 2 -> 3 has three: -3"
    yield result(0, 1, 2, 4) == -3
    yield "the names of the nodes must not matter"
    edges = [(0, 2), (2, 3), (1, 3)]
    names = [[(p[u], p[v]) for u, v in edges] for p in permutations(range(4))]
    yield {float(function(bn.graphs.from_edges(4, each))) for each in names} == {-1.0}
    yield "a walk with it must agree with the sum over all DAGs of four variables"
    data, dags = bn.load_dataset("coronary"), space(4).dags
    table = bn.score_families(data.select(data.names[:4]).prefix(100), bn.BDeu(1.0))
    log_p = table.log_target(dags) + [float(function(dag.copy())) for dag in dags]
    exact = np.tensordot(normalised(log_p), bn.graphs.to_adjacency(dags), axes=1)
    walk: Any = {"draws": 2000, "burn_in": 500, "thin": 20, "log_prior": function}
    draws = bn.sample_structures(table, rng=np.random.default_rng(SEED), **walk)
    yield bn.diagnostics.max_error(bn.features.edges(draws), exact) < 0.06


@cache
def singled_out(chosen: frozenset[int], /) -> Bools:
    """Return which DAGs of four nodes are alone with what seeing and setting these say of them."""
    dags = space(4).dags
    cuts = [np.where(np.arange(4) == v, 0, dags) for v in chosen]
    said = np.hstack([bn.graphs.cpdag(each).reshape(len(dags), -1) for each in (dags, *cuts)])
    _, which, counts = np.unique(said, axis=0, return_inverse=True, return_counts=True)
    return np.asarray(counts[which.reshape(len(dags))] == 1)


def fewest() -> Ints:
    """Return how many variables must be set, at least, for each DAG of four nodes."""
    need = np.full(len(space(4).dags), 4)
    for size in (3, 2, 1, 0):
        for chosen in combinations(range(4), size):
            need[singled_out(frozenset(chosen))] = size
    return need


@exercise(properties=5)
def check_experiment(function: Callable[[Any], Any]) -> Told:
    """Exercise 3: `function(dag)` lists variables that, once set, leave no other DAG."""
    yield "return nodes, each from 0 to 3"
    chosen = [frozenset(map(int, function(dag.copy()))) for dag in space(4).dags]
    yield all(held <= {0, 1, 2, 3} for held in chosen)
    yield "for some of the 543 DAGs on four nodes another DAG is left"
    yield all(singled_out(held)[i] for i, held in enumerate(chosen))
    yield "setting everything is never needed: set three of four at most"
    yield max(map(len, chosen)) <= 3
    yield "on average you set more than one variable above what is needed"
    excess = np.mean([len(held) for held in chosen]) - fewest().mean()
    yield excess <= 1
    yield "on average you set more than a tenth of a variable above what is needed"
    yield excess <= 0.1
