"""`sample_structures`: Markov chains on DAGs, under the structure-modular posterior."""

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnlab.checkpoints import Kept, alike, dags_of, nats
from bnlab.checks import Floats, Ints, checked
from bnlab.kernels import counting, dag_jumps, dag_walks as kernels
from bnlab.priors import LARGEST_LOG
from bnlab.results import Draws, read_only
from bnlab.running import Executor, Progress
from bnlab.sampling.chains import Chains, ChainSettings, Layout, acceptance, blank
from bnlab.sampling.structure_kernels import (
    EdgeReversal,
    Gibbs,
    Global,
    Hybrid,
    Local,
    StructureKernel,
)
from bnlab.scores import ScoreTable, first_dags

LogPrior = Callable[[Ints], float]

METHOD = "structure-MCMC"
BURN_IN = 100_000
KINDS = ("local", "global", "gibbs", "reversal")
BLOCK_MOVES = 300_000  # local moves or Gibbs steps in about 100 ms
BLOCK_PAIRS = 10_000_000  # pairs or families that other moves look at in about 100 ms
ROUND_SECONDS = 0.1
STEP_SECONDS = 2e-5  # of a step, the moves and log_prior left out
SEARCH_STEPS = 10_000  # of a chain that looks for a first DAG with a finite log_prior


@checked
def sample_structures(
    table: ScoreTable,
    /,
    *,
    draws: int,
    rng: np.random.Generator,
    kernel: StructureKernel = Local(),
    chains: int = 4,
    burn_in: int = BURN_IN,
    thin: int | None = None,
    log_prior: LogPrior | None = None,
    start: ArrayLike | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Draws:
    """Draw DAGs along Markov chains on DAGs (structure MCMC).

    Structure-modular: p(G | D) is proportional to prior factor times likelihood, each DAG once,
    times exp(log_prior(G)) if that is given. Up to 63 variables. Neighbouring draws resemble each
    other: look at `diagnostics` before you trust them. Required and forbidden edges are kept. But
    under a prior that forbids all families on the way, such as those of one parent but not of two,
    only `Global` and `Hybrid` reach every DAG; `sample_partitions` does, too.

    With a `log_prior` the `thin` moves before a draw, which know nothing of it, are the proposal of
    one Metropolis step that is accepted with the ratio of exp(log_prior) alone. That is exact, as
    every kernel is reversible. Choose `thin` smaller where few of these steps are accepted.

    Parameters
    ----------
    table : ScoreTable
    draws : number of DAGs of each chain, at least 1
    kernel : Local, Global, Hybrid, Gibbs or EdgeReversal, how the chains move
    chains : number of chains, each with its own random stream
    burn_in : moves of each chain before its first draw
    thin : moves before each draw; n (n - 1) by default
    log_prior : log_prior(dag) for parent masks (n,), nats: ln of one more prior factor, any
        function of the whole DAG; -inf forbids it
    start : first DAGs, (n,) or (chains, n); the empty graph by default, or a small DAG where that
        is forbidden
    checkpoint : a file that keeps the chains, as in `sample_orders`. A log_prior is known there by
        its name and its values for the first DAGs: name another file when you change it
    rng, progress, executor : as in `sample_orders`

    Returns
    -------
    Draws
        over "dags": values (chains, draws, n) parent masks; log_target, nats, ln of prior factor
        times likelihood, with log_prior if given; stats "acceptance_<kind>" (chains,) of the moves
        of each kind (local, global, gibbs, reversal) that changed the DAG, and "acceptance_prior"
        of the steps that log_prior let pass, all after the burn-in.

    Raises
    ------
    ValueError
        If an option is out of its range, memory is short, `start` or the constraints allow no DAG,
        log_prior gives nan or +inf, no DAG with a finite one is found to start from, or the
        checkpoint is damaged or of another run.
    Stopped
        If `progress` returned False before the first draw.

    Examples
    --------
    >>> from bnlab import BDeu, Data, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu())
    >>> sample_structures(table, draws=5, rng=np.random.default_rng(1))
    Draws(4 x 5 dags of 2 variables, structure-modular)
    """
    pairs = max(1, table.n * (table.n - 1))
    plan = ChainSettings.of(draws, burn_in, pairs if thin is None else thin, chains, table.n)
    jumping = _shares(kernel)[1] == 0
    chain_bytes = 16 * table.n * table.n * dag_jumps.REMEMBERED if jumping else 0
    walking = table.log_score.nbytes * (4 if isinstance(kernel, EdgeReversal) else 1)
    walking += plan.chains * chain_bytes
    fewer = "keep fewer draws, with more moves between them (thin=)"
    plan.require(walking, (table.n, 1), checkpoint, table.n, "draws: walking on DAGs", fewer)
    told = {"kernel": repr(kernel), "max_parents": table.max_parents}
    run = Chains(METHOD, plan, rng, executor, **told)
    starts = first_dags(table, start, plan.chains)
    modular = StructureWalker.of(table, kernel)
    target: dict[str, object] = {"kernel edges": modular.kernel[2]}
    walker: StructureWalker | PriorWalker = modular
    if log_prior is not None:
        walker = PriorWalker.of(modular, log_prior, plan.thin, starts[0])
        for dag, child in zip(starts, run.rngs, strict=True):
            walker.search(dag, child, SEARCH_STEPS if start is None else 0)
        run.settings["log_prior"] = getattr(log_prior, "__name__", type(log_prior).__name__)
        target["log_prior of starts"] = [walker.evaluate(dag) for dag in starts]
        run.plan = ChainSettings(plan.draws, -(-plan.burn_in // plan.thin), 1, plan.chains)
    else:
        starts = np.pad(starts, ((0, 0), (0, 1)), constant_values=-1)
    target |= {"starts": starts, "table": table}
    layout = _layout(table, modular=log_prior is None)
    dags, log_target, tally = run.walk(lambda: walker, starts, layout, target, checkpoint, progress)
    return run.draws(dags, log_target, "dags", table.names, stats=_acceptance(tally))


@dataclass(frozen=True, slots=True, eq=False)
class StructureWalker:
    """The families of a score table, laid out for walks on DAGs; pickled as their weights alone."""

    n: int
    source: tuple[NDArray[np.generic], ...]
    kernel: tuple[int, float, Floats, Ints, Floats]

    def __reduce__(self) -> tuple[object, ...]:
        return _laid_out, (self.source, *self.kernel[:3])

    @classmethod
    def of(cls, table: ScoreTable, kernel: StructureKernel, /) -> "StructureWalker":
        """Lay out a table, as `kernels.dag_walks.walk` reads it."""
        n, k = table.n, table.max_parents
        other, probability = _shares(kernel)
        chances = np.empty((0, 0))
        if isinstance(kernel, Global):
            chances = kernel.chances
            if chances.shape != (n, n):
                raise ValueError(
                    f"edges {chances.shape} of {kernel!r} for a table of {n} variables"
                )
        source = table.log_phi, counting.binomials(n - 1, k), counting.first_ranks(n - 1, k)
        return _laid_out(source, other, probability, chances)

    def walk(
        self, state: Ints, lead: int, records: int, thin: int, rng: np.random.Generator
    ) -> tuple[NDArray[Any], ...]:
        """Move `state` along in place: DAGs (T, n), ln of their targets (T,), tally (4, 2).

        state (n + 1,): a DAG, and how many local moves it stays (`kernels.dag_jumps`), at first -1.
        """
        record = blank(records, self.n, 1, len(KINDS), 2)
        dag, plan = state[: self.n], (lead, thin)
        if self.kernel[1] == 0:
            dag_jumps.walk(dag, state[self.n :], self.source, plan, rng, record)
        else:
            kernels.walk(dag, self.source, self.kernel, plan, rng, record)
        return record

    def step(
        self, dag: Ints, moves: int, rng: np.random.Generator, /
    ) -> tuple[float, NDArray[np.int64]]:
        """Move `dag` (n,) along in place, each move by itself: ln of its target, tally (4, 2)."""
        record = blank(1, self.n, 1, len(KINDS), 2)
        kernels.walk(dag, self.source, self.kernel, (0, moves), rng, record)
        return float(record[1][0]), record[2]

    @property
    def block_moves(self) -> int:
        other, probability, _, parents, _ = self.kernel
        looked_at = {kernels.GLOBAL: self.n * self.n / 2, kernels.REVERSAL: 4 * parents.shape[1]}
        blocks = (1 - probability) / BLOCK_MOVES + probability / (
            BLOCK_PAIRS / looked_at[other] if other in looked_at else BLOCK_MOVES
        )
        return max(1, int(1 / blocks))


@dataclass(frozen=True, slots=True, eq=False)
class PriorWalker:
    """Steps of `thin` moves of `modular`, each accepted by one more factor, exp(log_prior)."""

    modular: StructureWalker
    log_prior: LogPrior
    thin: int
    block_moves: int

    @classmethod
    def of(
        cls, modular: StructureWalker, log_prior: LogPrior, thin: int, dag: Ints, /
    ) -> "PriorWalker":
        """With blocks of about 100 ms, by the time that log_prior takes for `dag`."""
        begun = time.perf_counter()
        log_prior(read_only(dag.copy()))
        step = time.perf_counter() - begun + STEP_SECONDS
        step += thin * ROUND_SECONDS / modular.block_moves
        return cls(modular, log_prior, thin, max(1, int(ROUND_SECONDS / step)))

    def walk(
        self, state: Ints, lead: int, records: int, thin: int, rng: np.random.Generator
    ) -> tuple[NDArray[Any], ...]:
        """As `StructureWalker.walk`, with log_prior; tally (5, 2): last, steps accepted."""
        dags, log_targets, tally = blank(records, self.modular.n, 1, len(KINDS) + 1, 2)
        log_modular, _ = self.modular.step(state, 0, rng)
        log_factor = self.evaluate(state)
        for step in range(lead + records * thin):
            proposed = state.copy()
            log_proposed, moves = self.modular.step(proposed, self.thin, rng)
            changed = (proposed != state).any()
            fresh = self.evaluate(proposed) if changed else log_factor
            accepted = fresh >= log_factor or rng.random() < math.exp(fresh - log_factor)
            if accepted:
                state[:], log_modular, log_factor = proposed, log_proposed, fresh
            tally[:-1] += moves
            tally[-1] += (1, accepted)
            record, rest = divmod(step - lead + 1, thin)
            if record > 0 and rest == 0:
                dags[record - 1], log_targets[record - 1] = state, log_modular + log_factor
        return dags, log_targets, tally

    def evaluate(self, dag: Ints, /) -> float:
        """log_prior of a DAG (n,), nats; a ValueError unless it is -inf or within +-1e8."""
        value = float(self.log_prior(read_only(dag.copy())))
        if not (abs(value) <= LARGEST_LOG or value == -math.inf):
            raise ValueError(
                f"log_prior={value} for the DAG {dag.tolist()}: give ln of a factor, finite and "
                "within +-1e8 nats, or -inf to forbid the DAG"
            )
        return value

    def search(self, dag: Ints, rng: np.random.Generator, steps: int, /) -> None:
        """Move `dag` along, by up to so many steps, to where log_prior is finite."""
        for _ in range(steps):
            if self.evaluate(dag) > -math.inf:
                return
            self.modular.step(dag, self.thin, rng)
        if self.evaluate(dag) == -math.inf:
            raise ValueError(
                f"log_prior is -inf at the first DAG{f' and {steps:,} later ones' * (steps > 0)}, "
                f"{dag.tolist()}: pass start=, a DAG that it allows"
            )


def _laid_out(
    source: tuple[NDArray[Any], ...], other: int, probability: float, chances: Floats
) -> StructureWalker:
    """With the families of each node by weight, if there are edge reversals."""
    log_phi, choose = source[:2]
    n, parents, sorted_beta = len(log_phi), np.empty((0, 0), np.int64), np.empty((0, 0))
    if other == kernels.REVERSAL:
        ranking = np.argsort(-log_phi, axis=1, kind="stable")
        listed = np.empty(log_phi.shape, np.int64)
        counting.family_masks(n, choose.shape[1] - 1, listed)
        parents = np.take_along_axis(listed, ranking, axis=1)
        del listed  # so that no more than four tables stand in memory at once
        sorted_beta = np.take_along_axis(log_phi, ranking, axis=1)
    return StructureWalker(n, source, (other, probability, chances, parents, sorted_beta))


def _layout(table: ScoreTable, *, modular: bool) -> Layout:
    """What chains hold: DAGs that the table allows, and in their states how long they stay."""

    def allowed(states: Ints) -> bool:
        dags, stays = states[:, : table.n], states[:, table.n :]
        return bool((table.log_target(dags) > -math.inf).all() and (stays >= -1).all())

    def weigh(dags: Ints, log_targets: Floats) -> bool:
        found = table.log_target(dags)  # without one more prior
        return alike(log_targets, found) if modular else bool((found > -math.inf).all())

    state = Kept(np.int64, (table.n + modular,), -1, holds=allowed)
    tally = (len(KINDS) + (not modular), 2)
    return Layout(state, (dags_of(table.n), nats()), tally, weigh)


def _shares(kernel: StructureKernel) -> tuple[int, float]:
    """The kind of moves other than local ones, and their share."""
    match kernel:
        case Local():
            return kernels.GIBBS, 0.0
        case Hybrid():
            return kernels.GLOBAL, 1.0 - kernel.local
        case Global():
            return kernels.GLOBAL, 1.0
        case Gibbs():
            return kernels.GIBBS, 1.0
        case EdgeReversal():
            return kernels.REVERSAL, kernel.share


def _acceptance(tally: Ints) -> dict[str, Floats]:
    """Shares (chains,) accepted, of the kinds that were tried."""
    kinds = (*KINDS, "prior")[: tally.shape[1]]
    return {
        f"acceptance_{kind}": acceptance(tally[:, i])
        for i, kind in enumerate(kinds)
        if (tally[:, i, 0] > 0).any()
    }
