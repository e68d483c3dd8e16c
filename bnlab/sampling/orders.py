"""`sample_orders`: independent orders from an exact posterior, or Markov chains on orders."""

import os
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bnlab.checkpoints import Checkpoint, fingerprint
from bnlab.exact import OrderPosterior
from bnlab.results import Draws, Run, package_versions
from bnlab.runs import Executor, Progress, check_counts, check_generator, seed_of
from bnlab.sampling.chains import ChainPlan, Chains, run_chains
from bnlab.sampling.direct import order_block, sample
from bnlab.sampling.rounds import BURN_IN, CHAINS, share
from bnlab.sampling.schedules import Betas, Schedule
from bnlab.sampling.walks import KINDS, Moves, check_weight
from bnlab.scores import ScoreTable

Floats = NDArray[np.float64]


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
    schedule: Schedule | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Draws:
    """Node orders from the posterior over orders: independent draws, or Markov chains.

    From an `OrderPosterior` the draws are independent (DOS) [HeTianWu2016, sec. 3.1]. From a
    `ScoreTable` they come along Metropolis chains (order-MCMC) [FriedmanKoller2003], which need no
    exact posterior and reach 63 variables. With a schedule of temperatures each is coupled with
    hotter ones (MC3), which free it where it would be stuck [NiinimakiKoivisto2013, sec. 2.3].
    Order-modular: p(order | D) is proportional to the sum over the DAGs that agree with it of prior
    factor times likelihood.

    Parameters
    ----------
    target : OrderPosterior or ScoreTable
    draws : number of orders (of each chain), at least 1
    rng : the only source of randomness; equal states give equal draws for any executor
    chains : number of chains, each from its own random order and random stream; 4 by default
    burn_in : moves of each chain before its first draw; 10,000 by default
    thin : moves before each draw; n by default
    moves : Moves, what is proposed; swaps of two nodes by default
    schedule : Linear, Harmonic, Betas: inverse temperatures (r + 1,) from 0 to 1. Each chain is
        then coupled with r hotter ones: after every `thin` moves of each, r times a random one and
        the next colder propose to exchange their orders. The draws are those of the coldest
    checkpoint : path of a file that keeps the chains. It is saved every 10 seconds or so, and when
        they stop or end. The same call with the same seed goes on from there, wherever it runs, and
        ends as if it had never stopped
    progress : progress(done, total, None) after each block of draws (of moves, for chains); False
        stops, and what is drawn remains, equally many draws of each chain
    executor : where blocks of draws or chains run; threads by default

    Returns
    -------
    Draws
        over "orders": values (chains, draws, n), first node first, chains = 1 for independent
        draws; log_target (chains, draws) is ln of the order's unnormalised posterior, so
        log_target - posterior.log_z is ln p(order | D). stats of chains: "acceptance_swap" and so
        on (chains,), the accepted fraction of the kinds of move that were tried. With a schedule:
        "beta" (r + 1,), "acceptance" (chains, r + 1) of moves by temperature, and
        "acceptance_exchange" (chains, r); traces: "tempered" (chains, draws, r + 1), ln weight at
        beta = 1 of the order at each temperature, nats.

    Raises
    ------
    ValueError
        If an option is out of its range, chains are asked of an exact posterior, memory is short,
        or the checkpoint is damaged or of another run; or if no order that the chains have met has
        a weight: the constraints allow it no DAG, or there are too many rows.
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
        options = {
            "chains": chains,
            "burn_in": burn_in,
            "thin": thin,
            "moves": moves,
            "schedule": schedule,
            "checkpoint": checkpoint,
        }
        for name, value in options.items():
            if value is not None:
                raise ValueError(
                    f"{name}={value!r}: draws from an exact posterior are independent and need no "
                    "chains. Leave it out, or pass the posterior's table"
                )
        return sample(target, order_block, "orders", "DOS", draws, rng, progress, executor)
    if not isinstance(target, ScoreTable):
        raise ValueError(f"{type(target).__name__}: pass an OrderPosterior or a ScoreTable")
    plan = ChainPlan(
        draws,
        BURN_IN if burn_in is None else burn_in,
        target.n if thin is None else thin,
        Moves() if moves is None else moves,
        _betas(schedule),
    )
    chains = CHAINS if chains is None else chains
    return _by_chains(target, plan, chains, schedule, rng, checkpoint, progress, executor)


def _by_chains(
    table: ScoreTable,
    plan: ChainPlan,
    chains: int,
    schedule: Schedule | None,
    rng: np.random.Generator,
    checkpoint: str | os.PathLike[str] | None,
    progress: Progress | None,
    executor: Executor | None,
) -> Draws:
    draws, thin, chains = check_counts(draws=plan.draws, thin=plan.thin, chains=chains)
    (burn_in,) = check_counts(least=0, burn_in=plan.burn_in)
    plan = replace(plan, draws=draws, thin=thin, burn_in=burn_in)
    check_generator(rng)
    settings: dict[str, object] = {
        "draws": draws,
        "chains": chains,
        "burn_in": burn_in,
        "thin": thin,
        "moves": repr(plan.moves),
        "max_parents": table.max_parents,
    }
    if schedule is not None:
        settings["schedule"] = repr(schedule)
    method, seed = "order-MCMC" if schedule is None else "MC3", seed_of(rng)
    saver = None
    if checkpoint is not None:
        identity = {
            "bnlab": package_versions()["bnlab"],
            "method": method,
            **settings,
            "schedule": fingerprint(plan.betas),
            "table": fingerprint(table.parents, table.log_score, table.log_prior),
            "seed": seed,
        }
        saver = Checkpoint(checkpoint, identity)
    ran = run_chains(table, plan, rng, chains, saver, progress, executor)
    orders, log_weights = ran.orders[:, : ran.kept], ran.log_weights[:, : ran.kept]
    check_weight(table, orders, log_weights[:, :, -1])
    return Draws(
        orders,
        np.zeros(orders.shape[:2]),
        log_weights[:, :, -1],
        "orders",
        "order-modular",
        table.names,
        stats=_acceptance_by_kind(ran) if schedule is None else _acceptance_by_temperature(ran),
        traces={} if schedule is None else {"tempered": log_weights},
        run=Run(method, settings, seed, ran.seconds, stopped=not ran.finished),
    )


def _betas(schedule: Schedule | None) -> Floats:
    if schedule is None:
        return np.ones(1)
    if not hasattr(schedule, "betas"):
        raise ValueError(f"schedule={schedule!r}: pass Linear, Harmonic or Betas")
    return Betas(tuple(schedule.betas)).betas


def _acceptance_by_kind(ran: Chains) -> dict[str, Floats]:
    return {
        f"acceptance_{kind}": share(ran.at.tally[:, 0, i])
        for i, kind in enumerate(KINDS)
        if getattr(ran.plan.moves, kind) > 0
    }


def _acceptance_by_temperature(ran: Chains) -> dict[str, Floats]:
    return {
        "beta": ran.plan.betas,
        "acceptance": share(ran.at.tally.sum(axis=2)),
        "acceptance_exchange": share(ran.at.exchanges),
    }
