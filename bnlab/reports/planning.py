"""`choose_method`: the best answer that memory and time allow, and what it is worth."""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from bnlab import memory
from bnlab.checks import check_counts, checked
from bnlab.data import Data, Gapped
from bnlab.errors import InputError, Public, Setting
from bnlab.exact import order_posterior_bytes
from bnlab.exact.dag import posterior_bytes
from bnlab.features import hoeffding_margin
from bnlab.files import packaged
from bnlab.results import PriorKind
from bnlab.running import spoken
from bnlab.sampling.averaging import BURN_IN, dag_moves
from bnlab.sampling.order_target import walker_bytes
from bnlab.sampling.partition_mcmc import block_moves, partition_walker_bytes
from bnlab.scores import BDeu, Score, family_count, scoring_bytes
from bnlab.scores.local import check_pseudo_counts

Method = Literal["exact DAGs", "exact orders", "partitions", "orders", "search", "completions"]
METHODS: tuple[Method, ...] = get_args(Method)[:-1]  # of tables without missing cells

LEAST_CYCLES, CYCLES = 200, 500 / 60  # of a chain over completions: kept at least, and a second

MAX_PARENTS, FEW = 3, 8  # of a node, as a rule; any number of them if there are few variables
INDEPENDENT = 20_000  # DAGs from the exact posterior over DAGs: within 0.01, by Hoeffding
WEIGHTED = 100_000  # DAGs from the one over orders, since their weights differ
CHAINS, KEPT = 4, 2_500
MORE = 5  # times the seconds, where chains do not agree
LEAST_MOVES, FEWEST_MOVES, MOST_MOVES = 50_000, 10_000, 400_000  # of a chain; most a minute
RESTARTS = 100
DELTA = 0.05

# Seconds, as measured on a machine of 2025 that did nothing else.
A_PAIR_OF_SETS = 8e-9  # of the sum over DAGs: 3**n
A_NODE_AND_SET = 2e-8  # of the sum over orders and the best DAG: n * 2**n
A_ROW, A_CELL = 3e-9, 5e-9  # of counting a set of variables
A_DRAW, A_CLIMB = 1e-4, 0.05
A_CYCLE, A_COMPARISON = 3e-3, 1.5e-8  # of `complete`, beside the sum over DAGs
A_FAMILY, A_MOVE = 2.5e-7, 2  # of walks on DAGs there: laid out; times that of one on partitions
WORKERS = 2  # that chains share, at least


@checked
@dataclass(frozen=True, slots=True)
class Plan:
    """How to analyse a table. Make it with `choose_method`.

    Attributes
    ----------
    method : "exact DAGs" (`dag_posterior`), "exact orders" (`order_posterior`, and draws with the
        bias of orders taken out), "partitions" (`sample_partitions`), "orders" (`sample_orders`,
        and the same correction), "search" (`hill_climb`); or for a table with missing
        cells, and for no other, "completions" (`complete`)
    why : sentences with the numbers that decided
    guarantee : sentences on what the answer is worth
    max_parents : of each node
    needed_bytes : what the method says it takes
    seconds : about how long it takes on an idle machine
    posterior : "structure-modular": every DAG counts once; None when there is no posterior (search)
    draws : DAGs to draw (of each chain), or restarts of the search
    rejected : (method, reason) of those that come before it in the list above
    chains, burn_in, thin : of Markov chains, as in `sample_partitions`; 1, 0, 1 for others
    budget : the seconds that were allowed
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
    chains: int = 1
    burn_in: int = 0
    thin: int = 1
    budget: float = 60.0

    def __repr__(self) -> str:
        return f"Plan({self.method}, up to {self.max_parents} parents, {self.seconds:.2g} s)"


class _Cost(NamedTuple):
    """What a method takes, as in a `Plan`, and the `moves` of a chain if it walks."""

    needed_bytes: int
    seconds: float
    draws: int
    chains: int = 1
    burn_in: int = 0
    thin: int = 1
    moves: int = 0


@checked
def choose_method(
    data: Gapped,
    /,
    *,
    score: Score = BDeu(),
    max_parents: int | None = None,
    seconds: float = 60.0,
    free: int | None = None,
    method: Method | None = None,
) -> Plan:
    """Choose the first method of the list in `Plan` that fits into memory and time.

    The bytes are those by which the methods themselves refuse. The seconds are rough: of an idle
    machine with two cores. A plan depends on the table, the arguments and the free memory only, not
    on how fast or how busy the machine is.

    Parameters
    ----------
    data : Data; with missing cells "completions" is the only method
    score : one with pseudo-counts, BDeu or K2, since predictions need them
    max_parents : of each node; by default 3 (or any number, for up to 8 variables), and fewer if
        scoring the families, or walking on them, would take too much memory or time
    seconds : for the whole analysis, about
    free : bytes that may be taken; by default what the machine, or its container, has free
    method : one of the list, instead of the first that fits; its time is then not limited

    Raises
    ------
    ValueError
        If there is one variable only or no row, the score has no pseudo-counts, an argument is out
        of its range, the memory for the method asked for is not there, missing cells take too long
        to average over, or a method does not take them.
    """
    if data.n < 2 or data.m < 1:
        raise ValueError(
            f"{data.n} variables and {data.m} rows: give at least two variables and one row"
        )
    if max_parents is not None:
        check_counts(max_parents=max_parents)
    if not 0 < seconds < math.inf:
        raise InputError(Setting("seconds", seconds), ": give a positive, finite number of seconds")
    check_pseudo_counts(score)
    n = data.n
    free = memory.free_bytes() if free is None else free
    free = free if free is not None else 1 << 62
    k, why = _parents(data, max_parents, seconds, free)
    names, chosen = METHODS, method
    if data.missing.any() or method == "completions":
        names, chosen = ("completions",), "completions"
        while max_parents is None and dag_moves(n) and k > 1:
            if _reason(_cost(chosen, data, k, seconds), seconds, free) is None:
                break
            k -= 1
            why = (*why, f"With {k + 1} parents, filling the cells would take too long: up to {k}.")
        _check_holes(data, _cost(chosen, data, k, seconds), method, seconds, free)
    costs = {name: _cost(name, data, k, seconds) for name in names}
    if chosen in (None, "partitions", "orders") and max_parents is None:
        exact = None in [_reason(costs[name], seconds, free) for name in METHODS[:2]]
        while k > 1 and (method or not exact) and costs["partitions"].moves < LEAST_MOVES:
            k -= 1
            costs = {name: _cost(name, data, k, seconds) for name in names}
            why = (*why, f"With {k + 1} parents, chains would make too few moves: up to {k}.")
    rejected: list[tuple[Method, str]] = []
    for name in names:
        reason = _reason(costs[name], seconds, free)
        if chosen is None and (reason is None or name == "search"):
            chosen = name
        if name == chosen:
            if costs[name].needed_bytes > free:
                raise InputError(
                    f"n={n}, ", Setting("method", name), f": {reason}. Ask for no method"
                )
            break
        rejected.append((name, reason or "it fits, but another was asked for"))
    assert chosen is not None
    cost = costs[chosen]
    size = f"{n} variables, {data.m:,} rows, families of up to {k} parents"
    takes, guarantee = _told(chosen, n, k, cost)
    has = f" of {memory.sized(free)} that are free" if free < 1 << 62 else ""
    needed = f"{spoken(cost.seconds)} in all, and {memory.sized(cost.needed_bytes)}{has}"
    planned = cost._asdict()
    del planned["moves"]
    return Plan(
        chosen,
        (f"{size}.", *why, f"{takes}; planned: {needed}."),
        guarantee,
        k,
        posterior=None if chosen == "search" else "structure-modular",
        rejected=tuple(rejected),
        budget=seconds,
        **planned,
    )


def _check_holes(data: Data, cost: _Cost, method: Method | None, seconds: float, free: int) -> None:
    """Refuse, with what to do instead, holes that cannot be averaged over, or a lack of any."""
    cells = int(data.missing.sum())
    if not cells:
        raise InputError(Setting("method", method), ": no cell is missing. Ask for no method")
    reason = _reason(cost, math.inf if method else seconds, free)
    if method not in (None, "completions"):
        reason = f"the method {method!r} needs all cells"
    if reason is not None:
        raise InputError(
            f"{cells:,} cells of {data.n} variables are missing, and are not averaged over: "
            f"{reason}. Give more seconds (",
            *(Setting("seconds"), "), leave columns out (", Public("Data.select")),
            *("), or read with ", Setting("missing", "drop"), " or ", Setting("missing", "level")),
        )


def _parents(
    data: Data, max_parents: int | None, seconds: float, free: int
) -> tuple[int, tuple[str, ...]]:
    """Largest number of parents whose scoring fits, and why it is less than usual."""
    n = data.n
    if max_parents is not None:
        return min(max_parents, n - 1), ()
    usual = min(n - 1, MAX_PARENTS if n > FEW else FEW)
    k = usual
    while k > 1 and (scoring_bytes(n, k) > free or scoring_seconds(data, k) > seconds / 4):
        k -= 1
    if k == usual:
        return k, ()
    takes = f"{memory.sized(scoring_bytes(n, k + 1))} and {spoken(scoring_seconds(data, k + 1))}"
    return k, (f"Scoring families of {k + 1} parents would take {takes}, so up to {k}.",)


def scoring_seconds(data: Data, max_parents: int, /) -> float:
    """Estimate the time of `score_families`: rows and cells of all sets of up to k + 1 nodes."""
    cells = [1.0] + [0.0] * (max_parents + 1)  # sums of products of arities, by size of the set
    for arity in data.arities.tolist():
        for size in range(max_parents + 1, 0, -1):
            cells[size] += arity * cells[size - 1]
    sets = sum(math.comb(data.n, size) for size in range(max_parents + 2))
    return A_ROW * sets * data.m + A_CELL * sum(cells)


def _cost(method: Method, data: Data, k: int, seconds: float) -> _Cost:
    n, first = data.n, scoring_seconds(data, k)
    if method == "completions":
        compared = int(data.missing.sum()) * data.m
        cycle, moves = A_CYCLE + A_COMPARISON * compared + first, dag_moves(n)
        if moves:
            cycle += A_MOVE * moves / (10 * block_moves(n, k)) + A_FAMILY * n * family_count(n, k)
            needed = partition_walker_bytes(n, k)
        else:
            cycle += A_PAIR_OF_SETS * 3.0**n
            needed = posterior_bytes(n, max_parents=k)
        cycle *= CHAINS / WORKERS
        kept = max(LEAST_CYCLES, int(seconds * min(CYCLES, 0.5 / cycle)))
        needed = WORKERS * (needed + scoring_bytes(n, k, m=data.m))
        return _Cost(needed, (kept + BURN_IN) * cycle, kept, CHAINS, BURN_IN)
    if method == "exact DAGs":
        time = A_PAIR_OF_SETS * 3.0**n + A_DRAW * INDEPENDENT
        return _Cost(posterior_bytes(n, max_parents=k), first + time, INDEPENDENT)
    if method == "exact orders":
        time = A_NODE_AND_SET * n * 2.0**n + A_DRAW * WEIGHTED
        return _Cost(order_posterior_bytes(n, max_parents=k), first + time, WEIGHTED)
    if method == "search":
        return _Cost(scoring_bytes(n, k), first + A_CLIMB * RESTARTS, RESTARTS)
    a_second = 10 * block_moves(n, k) * WORKERS / CHAINS
    moves = int(min(MOST_MOVES * max(1, seconds / 60), 0.3 * seconds * a_second))
    needed = partition_walker_bytes(n, k) if method == "partitions" else walker_bytes(n, k)
    time = first + moves / a_second + A_DRAW * CHAINS * KEPT
    burn_in = moves // 4
    return _Cost(needed, time, KEPT, CHAINS, burn_in, max(1, (moves - burn_in) // KEPT), moves)


def _reason(cost: _Cost, seconds: float, free: int) -> str | None:
    """Why a method does not fit, or None."""
    if cost.needed_bytes > free:
        return f"it needs {memory.sized(cost.needed_bytes)}, and {memory.sized(free)} are free"
    if cost.moves and cost.moves < FEWEST_MOVES:
        return f"each chain would make {cost.moves:,} moves only in {seconds:g} s"
    if cost.seconds > seconds:
        return f"it would take {spoken(cost.seconds)}, more than {seconds:g} s"
    return None


def _told(method: Method, n: int, k: int, cost: _Cost) -> tuple[str, tuple[str, ...]]:
    """What the method takes, and what its answer is worth, in the words of `plan.toml`."""
    said, walked = packaged("templates/plan.toml"), dag_moves(n)
    numbers: dict[str, object] = {"n": n, "k": k, "subsets": 3**n, "steps": n << n}
    numbers |= {"chains": CHAINS, "draws": cost.draws, "moves": cost.moves, "walked": walked}
    numbers["margin"] = hoeffding_margin(cost.draws, DELTA)
    numbers |= {name: text.format(**numbers) for name, text in said["shared"].items()}
    how = "completions by walks" if method == "completions" and walked else method
    guarantee = (sentence.format(**numbers) for sentence in said["guarantee"][how])
    return said["takes"][method].format(**numbers), tuple(guarantee)
