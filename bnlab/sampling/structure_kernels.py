"""How walks on DAGs move: one frozen record for each kernel of `sample_structures`."""

from dataclasses import field
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from bnlab.checks import Floats, Range, Share, frozen
from bnlab.results import Record

CLIP = 1e-4  # least probability of each way to join a pair [EatonMurphy2007, sec. 4]
ROUNDING = 1e-9  # by which p(u -> v) + p(v -> u) may exceed 1


@frozen(eq=True)
class Local:
    """Add, delete or reverse one edge [MadiganYork1995, GiudiciCastelo2003].

    A random ordered pair of nodes (u, v) is taken: an edge u -> v is deleted, an edge v -> u
    reversed, else u -> v added; what would close a cycle or give too many parents stays. This
    proposal is symmetric, so the numbers of neighbours, which differ between DAGs, are not needed.
    Moves that would be rejected are counted, not made: how long the chain stays at a DAG is drawn
    at once. A kept DAG is still that after every `thin` moves, rejected ones among them.

    Examples
    --------
    >>> Local()
    Local()
    """


@frozen()
class Global(Record):
    """A whole DAG at a time from probabilities of edges, an independence sampler.

    Each pair of nodes is joined u -> v, v -> u or not at all, with the probabilities p(u -> v),
    p(v -> u) and the rest, each at least 1e-4; cycles are rejected [EatonMurphy2007, sec. 4]. The
    proposal q counts the pairs that are not joined too, which the display in that paper leaves out.

    Attributes
    ----------
    edges : (n, n) probabilities of u -> v, such as `order_posterior(table).edges`

    Raises
    ------
    ValueError
        If `edges` is no square matrix of probabilities, or those of a pair add up to more than 1.

    Examples
    --------
    >>> Global([[0, 0.5], [0.2, 0]]).chances
    array([[0. , 0.5],
           [0.2, 0. ]])
    """

    edges: ArrayLike = field(repr=False)

    def __post_init__(self) -> None:
        self._set(edges=_edge_probabilities(self.edges))

    @property
    def chances(self) -> Floats:
        """(n, n) q(u -> v): `edges` clipped, each pair made to add up to 1 again."""
        edges = np.asarray(self.edges)
        ways = np.stack([edges, edges.T, 1 - edges - edges.T]).clip(CLIP, 1 - CLIP)
        chances: Floats = ways[0] / ways.sum(axis=0)
        np.fill_diagonal(chances, 0.0)
        return chances


@frozen()
class Hybrid(Global):
    """A local move with probability `local`, else a global one [EatonMurphy2007, sec. 4].

    Each kind is accepted by its own ratio, so that it leaves the posterior as it is by itself.

    Attributes
    ----------
    edges, chances : (n, n), as in `Global`
    local : share of local moves, 0 to 1; beta in the paper

    Examples
    --------
    >>> Hybrid([[0, 0.5], [0.2, 0]])
    Hybrid(local=0.1)
    """

    local: Annotated[float, Range(0, 1, "[]")] = 0.1


@frozen(eq=True)
class Gibbs:
    """A random pair of nodes joined anew: not at all, u -> v or v -> u, given all other edges.

    Gibbs sampling of the adjacency matrix; what would close a cycle is left out.

    Examples
    --------
    >>> Gibbs()
    Gibbs()
    """


@frozen(eq=True)
class EdgeReversal:
    """Local moves, and the edge reversal of [GrzegorczykHusmeier2008] with probability `share`.

    The reversal turns a random edge u -> v round and draws new parents of both nodes from their
    weights, all at once.

    Attributes
    ----------
    share : of reversals, above 0 and below 1, since they never leave the empty graph; 1/15 in the
        paper

    Examples
    --------
    >>> EdgeReversal(share=0.1)
    EdgeReversal(share=0.1)
    """

    share: Share = 1 / 15


StructureKernel = Local | Global | Hybrid | Gibbs | EdgeReversal


def _edge_probabilities(edges: ArrayLike) -> Floats:
    matrix = np.array(edges, float)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"edges are an (n, n) matrix of probabilities; got shape {matrix.shape}")
    np.fill_diagonal(matrix, 0.0)
    bad = ~((matrix >= 0) & (matrix + matrix.T <= 1 + ROUNDING))
    if bad.any():
        u, v = np.argwhere(bad)[0]
        raise ValueError(
            f"edges[{u}, {v}] = {matrix[u, v]} and edges[{v}, {u}] = {matrix[v, u]}: probabilities "
            "of u -> v and v -> u are at least 0 and add up to at most 1"
        )
    return matrix
