"""`sample_orders`: independent orders from an exact posterior, or Markov chains on orders."""

import numpy as np

from bnlab.exact import OrderPosterior
from bnlab.results import Draws, Run
from bnlab.runs import Clock, Executor, Progress, check_counts, check_generator, seed_of
from bnlab.sampling.direct import order_block, sample
from bnlab.sampling.walks import KINDS, ChainPlan, Moves, OrderWalker, run_chains
from bnlab.scores import ScoreTable

CHAINS = 4
BURN_IN = 10_000


def sample_orders(
    target: OrderPosterior | ScoreTable,
    /,
    *,
    draws: int,
    rng: np.random.Generator,
    chains: int | None = None,
    burn_in: int | None = None,
    thin: int | None = None,
    moves: Moves | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Draws:
    """Node orders from the posterior over orders: independent draws, or Markov chains.

    From an `OrderPosterior` the draws are independent (DOS) [HeTianWu2016, sec. 3.1]. From a
    `ScoreTable` they come along Metropolis chains (order-MCMC) [FriedmanKoller2003], which need no
    exact posterior and reach 63 variables. Order-modular: p(order | D) is proportional to the sum
    over the DAGs that agree with it of prior factor times likelihood.

    Parameters
    ----------
    target : OrderPosterior or ScoreTable
    draws : number of orders (of each chain), at least 1
    rng : the only source of randomness; equal states give equal draws for any executor
    chains : number of chains, each from its own random order and random stream; 4 by default
    burn_in : moves of each chain before its first draw; 10,000 by default
    thin : moves before each draw; n by default
    moves : Moves, what is proposed; swaps of two nodes by default
    progress : progress(done, total, None) after each block of draws (of moves, for chains); False
        stops, and what is drawn remains, equally many draws of each chain
    executor : where blocks of draws or chains run; threads by default

    Returns
    -------
    Draws
        over "orders": values (chains, draws, n), first node first, chains = 1 for independent
        draws; log_target (chains, draws) is ln of the order's unnormalised posterior, so
        log_target - posterior.log_z is ln p(order | D). stats of chains: "acceptance_swap" and so
        on (chains,), the accepted fraction of the kinds of move that were tried.

    Raises
    ------
    ValueError
        If an option is out of its range, chains are asked of an exact posterior, or memory is
        short.
    Stopped
        If `progress` returned False before the first draw.

    Examples
    --------
    >>> from bnlab import BDeu, Data, order_posterior, score_families
    >>> table = score_families(Data.from_arrays([[0, 0], [1, 1]]), BDeu())
    >>> sample_orders(table, draws=5, rng=np.random.default_rng(1))
    Draws(4 x 5 orders of 2 variables, order-modular)
    """
    if isinstance(target, OrderPosterior):
        options = {"chains": chains, "burn_in": burn_in, "thin": thin, "moves": moves}
        for name, value in options.items():
            if value is not None:
                raise ValueError(
                    f"{name}={value!r}: draws from an exact posterior are independent and need no "
                    "chains. Leave it out, or pass the posterior's table"
                )
        return sample(target, order_block, "orders", "DOS", draws, rng, progress, executor)
    if not isinstance(target, ScoreTable):
        raise ValueError(f"{type(target).__name__}: pass an OrderPosterior or a ScoreTable")
    return _by_chains(
        target,
        ChainPlan(
            draws,
            BURN_IN if burn_in is None else burn_in,
            target.n if thin is None else thin,
            Moves() if moves is None else moves,
        ),
        CHAINS if chains is None else chains,
        rng,
        progress,
        executor,
    )


def _by_chains(
    table: ScoreTable,
    plan: ChainPlan,
    chains: int,
    rng: np.random.Generator,
    progress: Progress | None,
    executor: Executor | None,
) -> Draws:
    check_counts(draws=plan.draws, thin=plan.thin, chains=chains)
    check_counts(least=0, burn_in=plan.burn_in)
    check_generator(rng)
    clock, seed = Clock(), seed_of(rng)
    rngs = rng.spawn(chains)
    rounds = run_chains(OrderWalker.of(table), plan, rngs, progress, executor)
    settings = {
        "draws": plan.draws,
        "chains": chains,
        "burn_in": plan.burn_in,
        "thin": plan.thin,
        "moves": repr(plan.moves),
        "max_parents": table.max_parents,
    }
    tried, accepted = rounds.tally[:, :, 0], rounds.tally[:, :, 1]
    return Draws(
        rounds.orders,
        np.zeros(rounds.log_weights.shape),
        rounds.log_weights,
        "orders",
        "order-modular",
        table.names,
        stats={
            f"acceptance_{kind}": accepted[:, i] / np.maximum(tried[:, i], 1)
            for i, kind in enumerate(KINDS)
            if getattr(plan.moves, kind) > 0
        },
        run=Run("order-MCMC", settings, seed, clock.seconds, stopped=rounds.stopped),
    )
