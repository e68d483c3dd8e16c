"""The data sets of the page with their exact posteriors, as far as their files are at hand."""

from dataclasses import dataclass
from functools import cache

import bnlab as bn
from bnlab.labs.papers.htw2016.printed import NAMES

MAX_PARENTS = 5


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A data set, scored in the two ways of the paper.

    Attributes
    ----------
    name : one of printed.NAMES
    data : Data
    by_k2 : order-modular posterior; K2 score, Fair prior (Tables 1 and 2)
    by_bdeu : order-modular posterior; BDeu with equivalent sample size 1, factor 1 (Tables 3 and 4)
    """

    name: str
    data: bn.Data
    by_k2: bn.OrderPosterior
    by_bdeu: bn.OrderPosterior

    def __repr__(self) -> str:
        return f"{self.name}: n={self.data.n}, m={self.data.m}"


@cache
def case(name: str, /) -> Case:
    """A data set with its order-modular posteriors, at most 5 parents.

    Raises
    ------
    ValueError
        For a name that is not in printed.NAMES.
    FileNotFoundError
        When its file is not at hand and cannot be downloaded; the message says where to put it.

    Examples
    --------
    >>> case("wine")
    wine: n=13, m=178
    """
    if name not in NAMES:
        raise ValueError(f"no data set {name!r}; there are {', '.join(NAMES)}")
    data = bn.load_dataset(name)
    by_k2 = bn.score_families(data, bn.K2(), max_parents=MAX_PARENTS, prior=bn.Fair())
    by_bdeu = bn.score_families(data, bn.BDeu(1.0), max_parents=MAX_PARENTS)
    return Case(name, data, bn.order_posterior(by_k2), bn.order_posterior(by_bdeu))


@cache
def dags(name: str, /) -> bn.DagPosterior:
    """The exact structure-modular posterior of the BDeu scores: O(3**n), minutes for german.

    Examples
    --------
    >>> round(dags("wine").log_z, 4)
    -1762.5891
    """
    return bn.dag_posterior(case(name).by_bdeu.table)


def at_hand(name: str, /) -> str:
    """The size of a data set, or why it cannot be had.

    Examples
    --------
    >>> at_hand("wine")
    'wine: n=13, m=178'
    """
    try:
        return repr(case(name))
    except (FileNotFoundError, ModuleNotFoundError) as error:
        return f"{name}: {error}"
